//! Links that a trace drives.

use crate::rig::{Flights, instant, row, says};
use espbench_model::sample::{Fate, Probe, Sample};
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use espbench_sim::lab::run::Lab;
use espbench_sim::lab::scene::{LinkTrace, TracePoint};
use std::sync::Arc;

const S: u64 = 1_000_000_000;

/// Pings between two devices a metre apart, whose link is as in a trace.
fn pings(points: &[(u64, f64)], delivery: Option<f64>, count: usize) -> Vec<Probe> {
    let point = |&(at_ns, rssi): &(u64, f64)| TracePoint { at_ns, rssi_dbm: Some(rssi), delivery };
    let links = [(("node0".into(), "node1".into()), points.iter().map(point).collect())];
    let trace = LinkTrace { links: links.into(), ..LinkTrace::default() };
    let mut scene = row(2, 1.0, instant());
    scene.link_trace = Some(Arc::new(trace));
    let mut lab = Lab::new(&scene, 1, Flights::default());
    says(&mut lab, 1, "espnow_iperf -s", "responder");
    let command = format!("espnow_iperf -c {} -p -C {count} -l 100", NodeId(1).mac());
    says(&mut lab, 0, &command, "packets transmitted");
    let probe = |sample| match sample {
        Sample::Probe(probe) => probe,
        Sample::Interval(_) => panic!("pings are probes"),
    };
    lab.take_samples(NodeId(0)).into_iter().map(probe).collect()
}

fn answered(all: &[Probe]) -> usize {
    all.iter().filter(|it| it.fate == Fate::Delivered).count()
}

#[test]
fn the_rssi_of_a_trace_decides() {
    let near = pings(&[(0, -61.0)], None, 50);
    assert_eq!(answered(&near), 50);
    // Nothing is heard that weak, although the devices are a metre apart.
    assert_eq!(answered(&pings(&[(0, -120.0)], None, 5)), 0);
}

#[test]
fn a_trace_loses_pings_when_its_link_was_lost_and_begins_again() {
    // Two seconds of a good link, one of none, and so on: the last measurement holds for a second.
    let points = [(0, -61.0), (2 * S, -120.0), (3 * S, -61.0)];
    let all = pings(&points, None, 2000);
    let lost: Vec<u64> = (all.iter().filter(|it| it.fate != Fate::Delivered))
        .filter_map(|it| it.sent.map(|it| it.as_nanos() % (4 * S) / S))
        .collect();
    assert!(!lost.is_empty());
    // A ping that was sent just before has its answer in the second that loses it.
    let early = lost.iter().filter(|second| **second == 1).count();
    assert!(
        lost.iter().all(|second| [1, 2].contains(second)) && 10 * early < lost.len(),
        "{lost:?}"
    );
}

#[test]
fn delivery_of_a_trace_costs_retries() {
    let retried = |delivery| {
        let all = pings(&[(0, -61.0)], delivery, 200);
        let times = all.iter().filter_map(|it| Some(it.received?.since(it.sent?).as_nanos()));
        let mut times: Vec<u128> = times.collect();
        times.sort_unstable();
        (answered(&all), times[times.len() / 2])
    };
    let (all, fast) = retried(None);
    let (some, slow) = retried(Some(0.6));
    assert_eq!(all, 200);
    assert!(some > 150 && slow > fast + 1_000_000, "{some} answered, {fast} and {slow} ns");
}

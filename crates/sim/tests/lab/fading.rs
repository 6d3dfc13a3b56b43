//! Fading: losses of a weak link come in runs, and are as many as its distribution says.

use crate::rig::{Flights, instant, row, says};
use espbench_model::sample::{Fate, Sample};
use espbench_sim::lab::nodes::{Conversation as _, NodeId};
use espbench_sim::lab::run::Lab;
use espbench_sim::lab::scene::{Environment, Scene};

const PACKETS: usize = 2000;

/// Returns two devices so far apart that a frame needs no more than some dB of what arrives.
fn pair(change: impl Fn(&mut Environment)) -> Scene {
    let mut scene = row(2, 240.0, instant());
    change(&mut scene.environment);
    scene
}

/// Returns for each ping whether an answer came.
fn answered(scene: &Scene, seed: u64) -> Vec<bool> {
    let mut lab = Lab::new(scene, seed, Flights::default());
    says(&mut lab, 1, "espnow_iperf -s", "responder");
    let command = format!("espnow_iperf -c {} -p -C {PACKETS}", NodeId(1).mac());
    says(&mut lab, 0, &command, "packets transmitted");
    let fate = |sample| match sample {
        Sample::Probe(probe) => probe.fate == Fate::Delivered,
        Sample::Interval(_) => panic!("pings are probes"),
    };
    lab.take_samples(NodeId(0)).into_iter().map(fate).collect()
}

/// Returns the share of losses, and that of losses among those that follow a loss.
fn shares(answered: &[bool]) -> (f64, f64) {
    let lost = answered.iter().filter(|it| !**it).count();
    let after = answered.windows(2).filter(|it| !it[0]).count();
    let both = answered.windows(2).filter(|it| !it[0] && !it[1]).count();
    (lost as f64 / answered.len() as f64, both as f64 / after.max(1) as f64)
}

#[test]
fn a_fade_loses_pings_in_a_row() {
    let steady = answered(&pair(|_| ()), 1);
    assert_eq!(shares(&steady).0, 0.0, "the link is good enough without fading");
    let fading = pair(|it| {
        it.nakagami_m = Some(1.0);
        it.fast_coherence_ms = Some(100.0);
    });
    let (lost, again) = shares(&answered(&fading, 1));
    assert!((0.01..0.5).contains(&lost), "{lost}");
    assert!(again > 2.0 * lost, "lost {lost}, after a loss {again}");
    // Another seed has other fades; the same seed has the same ones.
    assert_eq!(answered(&fading, 1), answered(&fading, 1));
    assert_ne!(answered(&fading, 1), answered(&fading, 2));
}

#[test]
fn less_fading_loses_less() {
    let lost = |m: f64| {
        let scene = pair(|it| {
            it.nakagami_m = Some(m);
            it.fast_coherence_ms = Some(50.0);
        });
        shares(&answered(&scene, 3)).0
    };
    let (rayleigh, rice) = (lost(1.0), lost(10.0));
    assert!(rayleigh > rice + 0.01, "m 1: {rayleigh}, m 10: {rice}");
}

#[test]
fn people_in_the_way_stay_for_a_while() {
    let scene = pair(|it| {
        it.slow_fading_db = Some(16.0);
        it.slow_coherence_s = Some(5.0);
    });
    let all: Vec<bool> = (0..6).flat_map(|seed| answered(&scene, seed)).collect();
    let (lost, again) = shares(&all);
    assert!(lost > 0.0 && again > 0.9, "lost {lost}, after a loss {again}");
}

use crate::node::app::testing::{Faults, Net, ms, run};
use crate::node::app::{Answerer, Collector, Commander, Endpoint, ReportSetup, Reporter};
use crate::sample::{Cause, Fate, Link, Probe};
use crate::time::Duration;
use crate::workload::Transport;
use proptest::prelude::*;
use std::vec::Vec;

const SETUP: ReportSetup = ReportSetup {
    transport: Transport::Udp,
    size: 40,
    every: Duration::from_millis(100),
    first: Duration::from_millis(30),
    count: 20,
    timeout: Duration::from_millis(500),
    link: Link(3),
};
const BOTH: [Transport; 2] = [Transport::Udp, Transport::Tcp];

fn report(setup: ReportSetup, faults: Faults) -> (Net, Vec<Probe>) {
    let mut net = Net::new(2, faults);
    let mut device = Reporter::<256>::new(setup, Endpoint::new([10, 0, 0, 2], 7));
    let mut pc = Collector::<256>::new(setup, 7);
    let done = run(&mut net, &mut [&mut device, &mut pc], ms(60_000));
    assert_eq!(done, [true, true], "{:?}", net.hosts[0].counts);
    let probes = net.hosts[1].probes();
    (net, probes)
}

fn command(setup: ReportSetup, faults: Faults) -> (Net, Vec<Probe>) {
    let mut net = Net::new(2, faults);
    let mut device = Answerer::<256>::new(setup.transport, 7);
    let mut pc = Commander::<256>::new(setup, Endpoint::new([10, 0, 0, 1], 7), 9);
    let done = run(&mut net, &mut [&mut device, &mut pc], ms(60_000));
    assert_eq!(done, [false, true]);
    let probes = net.hosts[1].probes();
    (net, probes)
}

#[test]
fn a_report_every_so_often_arrives_in_time() {
    for transport in BOTH {
        let (net, probes) = report(ReportSetup { transport, ..SETUP }, Faults::default());
        assert_eq!(probes.len(), 20);
        for (nth, p) in (0..).zip(&probes) {
            assert_eq!((p.seq, p.fate, p.link), (nth, Fate::Delivered, Link(3)));
            assert_eq!(p.due, ms(30 + nth * 100));
            // The first over TCP waits for nothing, either: the connection opens before.
            assert_eq!(p.received.unwrap().since(p.due), Duration::from_millis(1), "{transport:?}");
        }
        assert_eq!(net.hosts[0].counts.values().sum::<u64>(), 0);
    }
}

#[test]
fn reports_that_are_lost_are_known_at_the_end() {
    let (_, probes) = report(SETUP, Faults { lossy: 4, ..Faults::default() });
    let lost: Vec<_> =
        probes.iter().filter(|p| p.fate == Fate::Lost(Cause::Unknown)).map(|p| p.seq).collect();
    assert_eq!(lost, [3, 7, 11, 15, 19]);
    // Without a buffer it is tried again.
    let (net, probes) = report(SETUP, Faults { no_memory: 2, ..Faults::default() });
    assert!(probes.iter().all(|p| p.fate == Fate::Delivered));
    assert_eq!((net.hosts[0].sends, net.hosts[0].count("no-buffers")), (39, 0));
}

#[test]
fn commands_are_answered_over_both() {
    for transport in BOTH {
        let (_, probes) = command(ReportSetup { transport, ..SETUP }, Faults::default());
        assert_eq!(probes.len(), 20);
        for p in &probes {
            assert_eq!(p.fate, Fate::Delivered, "{transport:?}");
            let took = p.received.unwrap().since(p.due);
            assert!((2..4).contains(&took.as_millis()), "{transport:?} {took:?}");
        }
        // 100 ms apart.
        assert_eq!(probes[5].due.since(probes[4].due), SETUP.every);
    }
}

proptest! {
    #[test]
    fn one_fate_each_whatever_happens(
        tcp: bool, down: bool, short: u64, cut in 1u64..4000, lossy in 0u64..6, no_memory in 0u64..6,
    ) {
        let setup = ReportSetup { transport: BOTH[usize::from(tcp)], ..SETUP };
        let faults = Faults { short, cut: ms(cut), lossy, no_memory, ..Faults::default() };
        let (_, probes) = if down { command(setup, faults) } else { report(setup, faults) };
        let mut seqs: Vec<_> = probes.iter().map(|p| p.seq).collect();
        seqs.sort_unstable();
        seqs.dedup();
        prop_assert_eq!(seqs, (0..20).collect::<Vec<_>>());
        let firsts = probes.iter().filter(|p| p.fate != Fate::Duplicate).count();
        prop_assert_eq!(firsts, 20);
    }
}

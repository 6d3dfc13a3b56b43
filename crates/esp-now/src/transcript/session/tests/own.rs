//! The output of this crate's own node is read back, and agrees with the node's own record.

use crate::node::iperf::{IperfOptions, IperfTask};
use crate::node::tests::tasks::{Hop, TaskTestbed, mac, random_loss};
use crate::transcript::session::*;
use crate::transcript::{LineSplitter, TranscriptEntry, TranscriptItem};
use espbench_model::sample::{Fate, Interval, Probe};

/// Runs two nodes, node 0 the initiator; a message is lost with the probability `percent`.
fn run(options: IperfOptions, percent: u8, time: Duration) -> TaskTestbed<IperfTask> {
    let mut world = TaskTestbed::<IperfTask>::new(2, IperfTask::receive);
    let mut lose = random_loss(7, percent);
    world.rule = std::boxed::Box::new(move |flight| {
        // STOP and its answer get through, and message 0.
        let (kind, seq) = (flight.payload[0], &flight.payload[4..8]);
        let keep = matches!(kind, 1 | 2) || seq == [0; 4];
        if keep { Hop::Arrives } else { lose(flight) }
    });
    let respond = IperfOptions { responder: true, interval: 1, ..IperfOptions::default() };
    world.with(1, |iperf, cx| iperf.start(cx, &respond)).unwrap();
    let options = IperfOptions { initiator: Some(Ok(mac(1))), interval: 1, ..options };
    world.with(0, |iperf, cx| iperf.start(cx, &options)).unwrap();
    world.run_for(time);
    world
}

fn read(text: &str) -> (std::vec::Vec<Sample>, std::vec::Vec<TestResult>) {
    let (mut lines, mut session) = (LineSplitter::<512>::new(), TranscriptSession::<4>::new());
    let (mut samples, mut findings) = (std::vec::Vec::new(), std::vec::Vec::new());
    let mut rest = text.as_bytes();
    while let Some(piece) = lines.next(&mut rest) {
        let entry = TranscriptEntry::of(piece);
        assert!(entry.item != TranscriptItem::Other, "not known: {:?}", entry.line);
        let made = session.take(&entry);
        samples.extend(made.samples.into_iter().flatten());
        findings.extend(made.findings.into_iter().flatten());
    }
    (samples, findings)
}

fn probes(samples: &[Sample]) -> std::vec::Vec<Probe> {
    let probe = |s: &Sample| if let Sample::Probe(p) = s { Some(*p) } else { None };
    samples.iter().filter_map(probe).collect()
}

fn total(samples: &[Sample]) -> Interval {
    let total = |s: &Sample| match s {
        Sample::Interval(i) if i.total => Some(*i),
        _ => None,
    };
    samples.iter().find_map(total).expect("a total")
}

#[test]
fn pings_have_the_fates_that_the_node_recorded() {
    let options = IperfOptions {
        ping: true,
        count: 50,
        len: Some(10),
        broadcast: Some(1),
        ..IperfOptions::default()
    };
    let world = run(options, 10, Duration::from_secs(200));
    let mut own = probes(&world.nodes[0].samples);
    // The node holds a loss back for longer than the reader does.
    own.sort_by_key(|probe| probe.seq);
    let (samples, findings) = read(&world.nodes[0].printed);
    let read = probes(&samples);
    assert_eq!((own.len(), read.len()), (50, 50));
    let mut lost = 0;
    for (own, read) in own.iter().zip(&read) {
        let delivered = own.fate == Fate::Delivered;
        lost += u32::from(!delivered);
        assert_eq!((own.seq, delivered), (read.seq, read.fate == Fate::Delivered));
        if let (Some(sent), Some(received), true) = (own.sent, own.received, delivered) {
            let printed = read.received.unwrap().since(read.sent.unwrap());
            let within = Duration::from_millis(2);
            assert!(printed.abs_diff(received.since(sent)) < within, "{own:?} {read:?}");
        }
    }
    assert!(lost > 0, "the test is to lose some");
    let [TestResult::Ping(result)] = findings[..] else { panic!("{findings:?}") };
    assert_eq!((result.missing, result.unreachable, result.printed.received), (0, lost, 50 - lost));
}

#[test]
fn reports_put_right_agree_with_the_record() {
    let options =
        IperfOptions { time: 3, len: Some(100), broadcast: Some(1), ..IperfOptions::default() };
    let world = run(options, 5, Duration::from_secs(10));
    let record = total(&world.nodes[1].samples);
    let (samples, _) = read(&world.nodes[1].printed);
    let receiver = total(&samples);
    assert!(record.lost > Some(0), "the test is to lose some");
    assert_eq!((receiver.datagrams, receiver.lost), (record.datagrams, record.lost));
    assert!(receiver.bytes.abs_diff(record.bytes) <= 5_000, "{receiver:?} {record:?}");
    let (samples, _) = read(&world.nodes[0].printed);
    let (sender, record) = (total(&samples), total(&world.nodes[0].samples));
    assert_eq!((sender.datagrams, sender.bytes), (record.datagrams, record.bytes));
    assert_eq!(sender.lost, receiver.lost);
}

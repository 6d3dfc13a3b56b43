//! Consoles read as samples and findings.
//!
//! | module | contents |
//! |---|---|
//! | `own` | what this crate's own node prints agrees with its record |

mod own;

use super::super::{LineSplitter, TranscriptPiece};
use super::*;
use espbench_model::sample::{Cause, Fate, Link, Observer, Probe};
use proptest::prelude::*;
use std::format;
use std::string::String;

type Samples = std::vec::Vec<Sample>;
type Findings = std::vec::Vec<TestResult>;

const A: &str = "24:0a:c4:00:00:01";
const B: &str = "24:0a:c4:00:00:02";

fn read<const N: usize>(session: &mut TranscriptSession<N>, text: &str) -> (Samples, Findings) {
    let (mut samples, mut findings) = (Samples::new(), Findings::new());
    let mut keep = |made: SessionOutput| {
        samples.extend(made.samples.into_iter().flatten());
        findings.extend(made.findings.into_iter().flatten());
    };
    for line in text.lines() {
        keep(session.take(&TranscriptEntry::of(TranscriptPiece::Line { text: line, cut: false })));
    }
    while let Some(made) = session.finish() {
        keep(made);
    }
    (samples, findings)
}

fn probes(samples: &[Sample]) -> std::vec::Vec<Probe> {
    let probe = |sample: &Sample| match sample {
        Sample::Probe(probe) => Some(*probe),
        Sample::Interval(_) => None,
    };
    samples.iter().filter_map(probe).collect()
}

fn reply(ms: u32, seq: u32, time: u32) -> String {
    format!("I ({ms}) iperf_cmd: 10 bytes from {B}: seq={seq} rssi=-40 time={time} ms\n")
}

#[test]
fn a_round_trip_is_the_difference_of_its_timestamps() {
    let mut session = TranscriptSession::<4>::new();
    let (samples, _) = read(&mut session, &reply(3, 0, 5));
    let probe = probes(&samples)[0];
    // The printed time cannot be before the clock's start.
    assert_eq!((probe.sent, probe.received), (Some(Instant::ZERO), Some(milliseconds(3))));
    let (samples, _) = read(&mut session, &reply(1000, 1, 5));
    let probe = probes(&samples)[0];
    assert_eq!(probe.received.unwrap().since(probe.sent.unwrap()), Duration::from_millis(5));
    assert_eq!(Resolution::ROUND_TRIP.bounds(5_000_000), (5_000_000, 6_000_000));
    assert_eq!(Resolution::BYTES.bounds(230_000), (225_000, 235_000));
    assert_eq!(Resolution::ROUND_TRIP.bounds(i64::MAX), (i64::MAX, i64::MAX));
}

#[test]
fn every_ping_has_one_fate() {
    let lost = |ms, seq| format!("W ({ms}) iperf_cmd: seq={seq} Destination Host Unreachable\n");
    let stale = |ms, waiting, answered| {
        format!("W ({ms}) iperf_cmd: data_size: 10, send_seq: {waiting}, recv_seq: {answered}\n")
    };
    let mut session = TranscriptSession::<4>::new();
    let text = [
        lost(3000, 0),
        lost(6000, 1),
        // The answer to 1 turns its loss into a late probe; that to 0 comes after its loss was
        // reported.
        stale(6001, 2, 1),
        stale(6002, 2, 0),
        reply(6010, 2, 9),
        // A second answer to 2; and one to 4, whose line of loss was itself lost.
        stale(6011, 3, 2),
        stale(12_000, 5, 4),
        reply(12_010, 5, 3),
    ];
    let (samples, findings) = read(&mut session, &text.concat());
    let fates: std::vec::Vec<_> = probes(&samples).iter().map(|p| (p.seq, p.fate)).collect();
    let unknown = Fate::Lost(Cause::Unknown);
    let wanted = [
        (0, unknown),
        (1, Fate::Late),
        (2, Fate::Delivered),
        (4, Fate::Late),
        (5, Fate::Delivered),
    ];
    assert_eq!(fates, wanted);
    assert_eq!(session.counts().late_untold, 2);
    assert!(matches!(findings[..], [TestResult::Unfinished(Unfinished { lines: 4, .. })]));
}

#[test]
fn a_loss_printed_with_the_number_of_a_late_answer_is_of_the_ping_that_waited() {
    let text = [
        reply(1000, 12, 5),
        "W (1010) iperf_cmd: data_size: 10, send_seq: 14, recv_seq: 13\n".into(),
        "W (4010) iperf_cmd: seq=13 Destination Host Unreachable\n".into(),
        reply(4020, 15, 5),
    ];
    let (samples, findings) = read(&mut TranscriptSession::<4>::new(), &text.concat());
    let fates: std::vec::Vec<_> = probes(&samples).iter().map(|p| (p.seq, p.fate)).collect();
    let lost = Fate::Lost(Cause::Unknown);
    let (late, came) = (Fate::Late, Fate::Delivered);
    assert_eq!(fates, [(12, came), (13, late), (14, lost), (15, came)]);
    // The log ends within this run.
    assert!(matches!(findings[..], [TestResult::Unfinished(Unfinished { lines: 3, .. })]));
}

#[test]
fn a_run_whose_start_is_missing_goes_on_counting() {
    let mut session = TranscriptSession::<4>::new();
    let text = [reply(1000, 0, 5), reply(1010, 1, 5), reply(2000, 0, 5)].concat();
    let (samples, findings) = read(&mut session, &text);
    assert_eq!(probes(&samples).iter().map(|p| p.seq).collect::<std::vec::Vec<_>>(), [0, 1, 2]);
    assert_eq!(findings.len(), 2);
}

#[test]
fn a_clock_that_goes_back_is_a_restart_but_a_little_is_not() {
    let mut session = TranscriptSession::<4>::new();
    let text = [reply(50_000, 0, 5), reply(49_500, 1, 5), reply(300, 2, 5)].concat();
    let (_, findings) = read(&mut session, &text);
    assert_eq!(session.counts().restarts, 1);
    let TestResult::Unfinished(broken) = findings[0] else { panic!("{findings:?}") };
    assert_eq!((broken.why, broken.lines), (UnfinishedReason::Restarted, 2));
}

#[test]
fn two_devices_with_one_address_do_not_share_numbers() {
    let remote = format!("[{B}][1][-40]: ");
    let text = format!(
        "I (1) iperf_cmd: responder {B} listening\n{remote}{}{}{remote}{}",
        reply(1000, 1, 1),
        reply(1000, 2, 1),
        reply(1010, 2, 1)
    );
    let (samples, _) = read(&mut TranscriptSession::<4>::new(), &text);
    assert_eq!(probes(&samples).iter().map(|p| p.seq).collect::<std::vec::Vec<_>>(), [1, 4, 5]);
}

#[test]
fn tables_that_are_full_are_counted() {
    let mut session = TranscriptSession::<1>::new();
    let text = format!("[{A}][1][-40]: {}{}", reply(10, 0, 1), reply(20, 0, 1));
    assert_eq!(probes(&read(&mut session, &text).0).len(), 1);
    assert_eq!(session.counts().devices_full, 1);
    let other = reply(20, 1, 1).replace(B, "24:0a:c4:00:00:07");
    let (samples, _) = read(&mut session, &format!("[{A}][1][-40]: {other}"));
    assert!(samples.is_empty());
    assert!(session.counts().links_full > 0);
    assert_eq!(session.links().count(), 1);
}

fn report(line: &str) -> (Samples, ThroughputResult) {
    let mut session = TranscriptSession::<4>::new();
    let text = format!("I (9) iperf_cmd: responder {B} listening\nI (9999) iperf_cmd: {line}");
    let (samples, findings) = read(&mut session, &text);
    let Some(TestResult::Throughput(result)) =
        findings.iter().rev().find(|f| matches!(f, TestResult::Throughput(_)))
    else {
        panic!("{findings:?}")
    };
    (samples, *result)
}

#[test]
fn one_loss_too_many_is_taken_off_at_both_ends() {
    let figures = "0.10 MBytes    0.08 Mbps    9.01 ms    ";
    // The report's table: 13 of 22823 at the responder.
    let (samples, result) = report(&format!("[000]  0-10 sec    {figures}13/22823 (0.06%)"));
    assert_eq!((result.total, result.lost), (Some(22_822), Some(12)));
    let [Sample::Interval(total)] = samples[..] else { panic!("{samples:?}") };
    assert_eq!((total.datagrams, total.lost, total.jitter_ns), (Some(22_810), Some(12), None));
    assert_eq!((total.bytes, total.observer, total.total), (99_943, Observer::Receiver, true));
    assert_eq!(total.end.since(total.start), Duration::from_secs(10));
    let line = format!("[000]  0-10 sec    {figures}13/22823 (0.06%)    -40    1");
    let (_, result) = report(&line);
    assert_eq!((result.total, result.lost), (Some(22_823), Some(12)));
    assert_eq!(result.printed.spacing_ns, Some(9_010_000));
}

#[test]
fn a_responders_bytes_are_without_those_of_stop() {
    // Ten messages and STOP, of 10,000 bytes each.
    let line = "[000]  0-10 sec    0.11 MBytes    0.09 Mbps    9.01 ms    1/11 (9.09%)";
    let (samples, _) = report(line);
    let [Sample::Interval(total)] = samples[..] else { panic!("{samples:?}") };
    assert_eq!((total.datagrams, total.lost, total.bytes), (Some(10), Some(0), 100_000));
}

#[test]
fn figures_that_cannot_be_put_right_make_no_sample() {
    let figures = "0.10 MBytes    0.08 Mbps    9.01 ms    ";
    for (time, counts) in
        [(" 0-10", "0/101"), (" 0-10", "-4/101"), ("20-30", "2/101"), (" 0-10", "9/1")]
    {
        let (samples, result) = report(&format!("[000] {time} sec    {figures}{counts} (0.00%)"));
        assert_eq!((samples.len(), result.total, result.lost), (0, None, None), "{counts}");
        assert_eq!(result.continued, time == "20-30");
    }
    // Nothing came at all.
    let (_, result) =
        report("[000]  0- 0 sec    0.00 MBytes    nan Mbps    inf ms    1/1 (100.00%)");
    assert_eq!((result.printed.bits_per_second, result.printed.spacing_ns), (None, None));
    assert_eq!((result.total, result.lost), (Some(0), Some(0)));
}

#[test]
fn both_ends_of_one_link_are_one_link() {
    let mut session = TranscriptSession::<4>::new();
    let text = format!(
        "I (1) iperf_cmd: responder {B} listening\n\
         [{A}][1][-40]: I (3001) iperf_cmd: [{B}]   0- 3 sec  0.08 MBytes   1.00 Hz  0.20 Mbps\n\
         I (3000) iperf_cmd: [{A}]   0- 3 sec  0.08 MBytes  0.20 Mbps  -40 dbm\n"
    );
    let (samples, _) = read(&mut session, &text);
    let [Sample::Interval(sent), Sample::Interval(received)] = samples[..] else {
        panic!("{samples:?}")
    };
    assert_eq!((sent.link, received.link), (Link(0), Link(0)));
    assert_eq!((sent.seq, received.seq), (0, 0));
    assert_eq!((sent.observer, received.observer), (Observer::Sender, Observer::Receiver));
}

#[test]
fn sizes_are_known() {
    assert!(size_of::<LineSplitter<512>>() <= 640, "{}", size_of::<LineSplitter<512>>());
    assert!(
        size_of::<TranscriptSession<128>>() <= 56 * 1024,
        "{}",
        size_of::<TranscriptSession<128>>()
    );
}

proptest! {
    #[test]
    fn any_order_of_report_lines_is_survived(
        lines in proptest::collection::vec((0..10_usize, any::<u32>(), -2..6_i64, 0..3_u32), 0..60),
    ) {
        let mut session = TranscriptSession::<2>::new();
        let mut text = String::new();
        for (kind, ms, n, device) in lines {
            let prefix = match device {
                0 => String::new(),
                n => format!("[24:0a:c4:00:00:0{n}][1][-40]: "),
            };
            let line = match kind {
                0 => format!("initiator {A} send to {B}"),
                1 => format!("responder {B} listening"),
                2 => format!("10 bytes from {B}: seq={n} rssi=-40 time={} ms", ms / 7),
                3 => format!("seq={n} Destination Host Unreachable"),
                4 => format!("data_size: 10, send_seq: {}, recv_seq: {n}", ms % 7),
                5 => format!("[{B}]  {n:2}-{:2} sec  {n}.05 MBytes   1.00 Hz  0.20 Mbps", n + 3),
                6 => format!("[{A}]  {n:2}-{:2} sec  {n}.05 MBytes  0.20 Mbps  -4 dbm", ms % 7),
                7 => format!("[000]  {n:2}-{:2} sec  {n}.05 MBytes  0.2 Mbps  nan ms  {n}/{ms} (nan%)", n + 3),
                8 => format!("<ESP_FAIL> Receive responder response failed {n}"),
                _ => format!("{n} packets transmitted, {n} received, 0.00% packet loss, time: total 1 ms, max: 1, min: -1, average nan ms"),
            };
            let stamp = if ms % 11 == 0 { String::new() } else { format!("I ({ms}) iperf_cmd: ") };
            text += &format!("{prefix}{stamp}{line}\n");
        }
        let (samples, _) = read(&mut session, &text);
        let mut seen = std::collections::BTreeSet::new();
        for sample in samples {
            let key = match sample {
                Sample::Probe(p) => {
                    prop_assert!(p.sent <= p.received);
                    (p.link, p.seq, 0)
                }
                Sample::Interval(i) => {
                    prop_assert!(i.start <= i.end && i.jitter_ns.is_none());
                    (i.link, i.seq, if i.observer == Observer::Sender { 1 } else { 2 })
                }
            };
            prop_assert!(seen.insert(key), "told twice: {sample:?}");
        }
        prop_assert!(session.links().count() <= 2);
    }
}

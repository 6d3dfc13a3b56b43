//! iperf 2's newer parts: bursts of a TCP stream with trip times, requests and replies of a bounce-back
//! test, and reports that may be lies.

use espbench_model::sample::{Cause, Fate, Link, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{Bounceback, Iperf};
use espbench_proto::node::iperf::{BounceStep, Bouncer, BurstReader, Contradiction};
use espbench_proto::wire::iperf2::{BURST_HEADER, Bounce, Burst, REPORT, ServerReport, Stamp};

/// Reads a stream with trip times in pieces of any length: the pieces make no difference to the
/// bursts.
pub fn iperf_burst(data: &[u8]) {
    let [cut, rest @ ..] = data else { return };
    let _ = Burst::parse(rest);
    let times = |cut: usize| {
        let (mut reader, mut times) = (BurstReader::default(), Vec::new());
        for part in rest.chunks(cut) {
            reader.take(part, 1 << 40, &mut |ns| times.push(ns));
        }
        (times, reader.lost_track())
    };
    let whole = times(rest.len().max(1));
    assert_eq!(times(usize::from(*cut) + 1), whole);
    assert!(whole.0.len() <= rest.len() / BURST_HEADER);
}

/// Checks that a report is believed only where it is within the amount that was sent.
pub fn iperf_plausible(data: &[u8]) {
    let Some((head, body)) = data.split_at_checked(4) else { return };
    let (sent, length) = (u64::from(head[0]) << 4 | 1, u32::from(head[1]) + 16);
    let took = Duration::from_millis(u64::from(u16::from_be_bytes([head[2], head[3]])));
    let Ok(report) = ServerReport::parse(body) else { return };
    let mut out = [0; REPORT];
    report.emit(&mut out);
    let judged = Contradiction::of(&report, sent, length, took);
    match judged {
        Some(why) => assert!(!why.to_string().is_empty()),
        None => {
            assert!(report.datagrams <= sent && report.lost <= report.datagrams);
            assert!(report.bytes <= (sent + 3) * u64::from(length));
        }
    }
}

/// Runs a bounce-back client: time, true replies, and false ones.
pub fn iperf_bounce(data: &[u8]) {
    let [burst, period, rest @ ..] = data else { return };
    let _ = Bounce::parse(rest);
    let how = Bounceback {
        burst: u16::from(*burst),
        period: Duration::from_millis(u64::from(*period)),
        ..Bounceback::DEFAULT
    };
    let work = Iperf { length: 100, time: Duration::from_millis(500), ..Iperf::DEFAULT };
    let mut bouncer = Bouncer::new(&work, how, Link(0), Instant::ZERO, 1 << 60);
    let (mut now, mut request) = (Instant::ZERO, vec![0; 100]);
    let (mut requests, mut probes, mut totals) = (0u64, 0u64, 0);
    let mut poll = |bouncer: &mut Bouncer, now| loop {
        match bouncer.poll(now) {
            BounceStep::Sample(Sample::Probe(probe)) => {
                probes += 1;
                assert_eq!(probe.fate == Fate::Delivered, probe.received.is_some());
            }
            BounceStep::Sample(Sample::Interval(interval)) => totals += u32::from(interval.total),
            other => return (other, probes, totals),
        }
    };
    for (i, byte) in rest.iter().enumerate() {
        match (poll(&mut bouncer, now).0, byte & 3) {
            (BounceStep::Request, _) => {
                bouncer.request(now, &mut request);
                requests += 1;
            }
            (BounceStep::Reply, 0 | 1) => {
                Bounce::answer(&mut request, Stamp::default(), Stamp::default());
                assert!(bouncer.reply(now, &request));
            }
            (BounceStep::Reply, 2) => {
                bouncer.reply(now, &rest[i..]);
            }
            _ => {}
        }
        now = now + Duration::from_micros(u64::from(byte >> 2) * 500);
    }
    bouncer.stop(Cause::Stopped);
    let (last, probes, totals) = poll(&mut bouncer, now);
    assert_eq!((last, probes, totals), (BounceStep::Done, requests, 1));
    assert!(bouncer.replies() <= requests);
}

//! Tests with one device: delay, round trip, throughput, and the time of encryption.

use super::desk::{DEVICE, Desk, INITIATOR, intervals, probes};
use super::{SuiteError, secure};
use crate::lab::nodes::{Conversation as _, NodeId};
use crate::lab::run::{Lab, Tap};
use alloc::format;
use alloc::string::String;
use core::time::Duration;
use esp_now::node::security::crypto_bench;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{EspNow, EspNowCast};

/// `-G 17`: the pin that the oscilloscope is at.
const PIN: u8 = 17;
/// A ping waits for 3 s, and again for each stray answer; its sending takes less.
const PING_MOST: Duration = Duration::from_secs(7);
/// Lines at the end of a ping.
pub(super) const PING_END: &[&str] = &["packets transmitted"];
/// Lines at the end of a throughput test.
const STREAM_END: &[&str] = &["initiator Report:", "Receive responder response failed"];
/// For what comes before and behind a test.
const MARGIN: Duration = Duration::from_mins(1);

/// Returns the longest time of so many pings.
pub(super) fn pings_most(count: u32) -> Duration {
    PING_MOST.saturating_mul(count).saturating_add(MARGIN)
}

/// Returns the options `-b` and `-A`.
pub(super) fn flags(cast: EspNowCast) -> String {
    match cast {
        EspNowCast::Unicast => String::new(),
        EspNowCast::Broadcast { copies, ack } => {
            format!(" -b {copies}{}", if ack { " -A" } else { "" })
        }
    }
}

/// Types `espnow_iperf -s` at the device; returns the beginning of the initiator's command. Where
/// the cell is encrypted, both have agreed on a key before.
fn listen<W: Tap>(desk: &mut Desk<'_, W>, work: &EspNow, more: &str) -> Result<String, SuiteError> {
    if work.encrypted {
        secure::agree(desk)?;
    }
    let flags = flags(work.cast);
    desk.command(DEVICE, &format!("espnow_iperf -s{flags}{more}"))?;
    Ok(format!("espnow_iperf -c {}{flags}", DEVICE.mac()))
}

/// Measures one-way delay, as an oscilloscope shows it.
pub(super) fn one_way<W: Tap>(desk: &mut Desk<'_, W>, work: &EspNow) -> Result<(), SuiteError> {
    let pin = format!(" -G {PIN}");
    let begin = listen(desk, work, &pin)?;
    for seq in 0..work.count {
        desk.linger(Duration::from_secs(1))?;
        let from = desk.now();
        let taken = desk.lab.samples(INITIATOR).len();
        desk.command(INITIATOR, &format!("{begin} -p -C 1 -l {}{pin}", work.size))?;
        desk.line(INITIATOR, PING_END, pings_most(1))?;
        // What the node knows of it: of a lost packet, the cause.
        let own = desk.lab.samples(INITIATOR).get(taken..).unwrap_or_default();
        let cause = own.iter().find_map(|sample| match sample {
            Sample::Probe(Probe { fate: Fate::Lost(cause), .. }) => Some(*cause),
            _ => None,
        });
        let sent = falling(desk.lab, INITIATOR, from);
        let received = sent.and_then(|sent| falling(desk.lab, DEVICE, sent));
        let lost = Fate::Lost(cause.unwrap_or(Cause::Unknown));
        desk.sample(Sample::Probe(Probe {
            link: Link(DEVICE.0),
            seq: u64::from(seq),
            bytes: work.size,
            due: sent.unwrap_or(from),
            sent,
            received,
            fate: if received.is_some() { Fate::Delivered } else { lost },
            ..Probe::default()
        }));
    }
    Ok(())
}

/// Returns the first falling edge of the pin since `from`.
fn falling<W: Tap>(lab: &Lab<W>, node: NodeId, from: Instant) -> Option<Instant> {
    let edges = &lab.board(node).edges;
    let first = edges.iter().find(|edge| edge.pin == PIN && !edge.high && edge.at >= from);
    first.map(|edge| edge.at)
}

/// Measures round trips.
pub(super) fn ping<W: Tap>(desk: &mut Desk<'_, W>, work: &EspNow) -> Result<(), SuiteError> {
    let begin = listen(desk, work, "")?;
    desk.linger(Duration::from_secs(1))?;
    desk.keep(probes);
    desk.command(INITIATOR, &format!("{begin} -p -C {} -l {}", work.count, work.size))?;
    let report = desk.line(INITIATOR, PING_END, pings_most(work.count))?;
    desk.fact("printed", report.text);
    Ok(())
}

/// Measures throughput.
pub(super) fn throughput<W: Tap>(desk: &mut Desk<'_, W>, work: &EspNow) -> Result<(), SuiteError> {
    let begin = listen(desk, work, "")?;
    desk.linger(Duration::from_secs(1))?;
    desk.keep(intervals);
    let seconds = work.time.as_secs().max(1);
    // The command's own default is what the document uses.
    let time = if seconds == 60 { String::new() } else { format!(" -t {seconds}") };
    desk.command(INITIATOR, &format!("{begin} -l {}{time}", work.size))?;
    let end = desk.line(INITIATOR, STREAM_END, work.time + MARGIN)?;
    desk.fact("printed-by-initiator", end.text);
    let lines = desk.lab.lines(DEVICE);
    if let Some(line) = lines.iter().rev().find(|line| line.text.contains("[000]")) {
        let text = line.text.clone();
        desk.fact("printed", text);
    }
    // Where the end was not heard, the device records what it has.
    desk.command(DEVICE, "espnow_iperf -a")?;
    desk.pause(Duration::from_secs(1))
}

/// Measures the time of encryption and decryption on one device.
pub(super) fn crypto<W: Tap>(desk: &mut Desk<'_, W>, work: &EspNow) -> Result<(), SuiteError> {
    let start = desk.now();
    desk.command(INITIATOR, &format!("sec_test -C {} -l {}", work.count, work.size))?;
    let most = Duration::from_millis(100).saturating_mul(work.count) + MARGIN;
    let sealed = desk.line(INITIATOR, &["Encrypting data"], most)?;
    let opened = desk.line(INITIATOR, &["Decrypting data"], MARGIN)?;
    desk.fact("printed", format!("{}\n{}", sealed.text, opened.text));
    let samples = desk.lab.take_samples(INITIATOR);
    for link in [crypto_bench::SEAL, crypto_bench::OPEN] {
        let mut interval = Interval {
            link,
            total: true,
            observer: Observer::Sender,
            start,
            end: start,
            datagrams: Some(0),
            ..Interval::default()
        };
        for sample in &samples {
            let Sample::Probe(probe) = sample else { continue };
            let (Some(sent), Some(received)) = (probe.sent, probe.received) else { continue };
            if probe.link == link {
                interval.end = interval.end + received.since(sent);
                interval.bytes += u64::from(probe.bytes);
                interval.datagrams = interval.datagrams.map(|n| n + 1);
            }
        }
        desk.sample(Sample::Interval(interval));
    }
    Ok(())
}

//! Tests with one device: delay, round trip, throughput, and the time of encryption.

use super::desk::{DEVICE, Desk, INITIATOR, intervals, probes};
use super::{SuiteError, secure};
use crate::lab::nodes::{Conversation as _, NodeId};
use crate::lab::run::{Lab, Tap};
use crate::lab::suite::mark::{
    DECRYPTION_TIME, ENCRYPTION_TIME, LineMark, PING_REPORT, STREAM_REPORT,
};
use crate::lab::suite::procedure::{self, MARGIN, PIN, pings_most};
use alloc::format;
use core::time::Duration;
use esp_now::node::security::crypto_bench;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::EspNow;

/// Makes the device answer. Where the cell is encrypted, both have agreed on a key before.
fn listen<W: Tap>(desk: &mut Desk<'_, W>, work: &EspNow, more: &str) -> Result<(), SuiteError> {
    if work.encrypted {
        secure::agree(desk)?;
    }
    desk.command(DEVICE, &format!("{}{more}", procedure::listen(work.cast)))
}

/// Measures one-way delay, as an oscilloscope shows it.
pub(super) fn one_way<W: Tap>(desk: &mut Desk<'_, W>, work: &EspNow) -> Result<(), SuiteError> {
    listen(desk, work, &format!(" -G {PIN}"))?;
    for seq in 0..work.count {
        desk.linger(Duration::from_secs(1))?;
        let from = desk.now();
        let taken = desk.lab.samples(INITIATOR).len();
        desk.command(INITIATOR, &procedure::one_way(work, DEVICE.mac()))?;
        desk.line(INITIATOR, PING_REPORT, pings_most(1))?;
        // What the node knows of it: of a lost packet, the cause.
        let own = desk.lab.samples(INITIATOR).get(taken..).unwrap_or_default();
        let cause = own.iter().find_map(|sample| match sample {
            Sample::Probe(Probe { fate: Fate::Lost(cause), .. }) => Some(*cause),
            _ => None,
        });
        let sent = falling(desk.lab, INITIATOR, from);
        let received = sent.and_then(|sent| falling(desk.lab, DEVICE, sent));
        let lost = Fate::Lost(cause.unwrap_or(Cause::Unknown));
        desk.notes.sample(Sample::Probe(Probe {
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
    listen(desk, work, "")?;
    desk.linger(Duration::from_secs(1))?;
    desk.keep(probes);
    desk.command(INITIATOR, &procedure::ping(work, DEVICE.mac()))?;
    let report = desk.line(INITIATOR, PING_REPORT, pings_most(work.count))?;
    desk.notes.fact("printed", report.text);
    Ok(())
}

/// Measures throughput.
pub(super) fn throughput<W: Tap>(desk: &mut Desk<'_, W>, work: &EspNow) -> Result<(), SuiteError> {
    listen(desk, work, "")?;
    desk.linger(Duration::from_secs(1))?;
    desk.keep(intervals);
    desk.command(INITIATOR, &procedure::throughput(work, DEVICE.mac()))?;
    let end = desk.line(INITIATOR, STREAM_REPORT, work.time + MARGIN)?;
    desk.notes.fact("printed-by-initiator", end.text);
    let lines = desk.lab.lines(DEVICE);
    if let Some(line) =
        lines.iter().rev().find(|it| LineMark::of_text(&it.text) == LineMark::StreamEnd)
    {
        let text = line.text.clone();
        desk.notes.fact("printed", text);
    }
    // Where the end was not heard, the device records what it has.
    desk.command(DEVICE, "espnow_iperf -a")?;
    desk.pause(Duration::from_secs(1))
}

/// Measures the time of encryption and decryption on one device.
pub(super) fn crypto<W: Tap>(desk: &mut Desk<'_, W>, work: &EspNow) -> Result<(), SuiteError> {
    let start = desk.now();
    desk.command(INITIATOR, &procedure::crypto(work))?;
    let sealed = desk.line(INITIATOR, ENCRYPTION_TIME, procedure::crypto_most(work.count))?;
    let opened = desk.line(INITIATOR, DECRYPTION_TIME, MARGIN)?;
    desk.notes.fact("printed", format!("{}\n{}", sealed.text, opened.text));
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
        desk.notes.sample(Sample::Interval(interval));
    }
    Ok(())
}

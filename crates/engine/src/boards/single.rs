//! Tests with one device: delay, round trip, throughput, and the time of encryption.

use super::desk::{BoardDesk, DEVICE, INITIATOR};
use super::stamps::PingStamps;
use super::{BoardError, BoardSetup, secure};
use alloc::format;
use core::time::Duration;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::{EspNow, EspNowTest};
use espbench_sim::lab::suite::mark::{
    DECRYPTION_TIME, ENCRYPTION_TIME, LineMark, PING_REPORT, STREAM_FIGURES,
};
use espbench_sim::lab::suite::procedure::{self, MARGIN, pings_most};

/// Time in which a board that pings prints a line.
pub(super) const PING_QUIET: Duration = Duration::from_secs(30);

/// Returns the probes of a board, on the link of its number.
pub(super) fn probes(board: usize, sample: Sample) -> Option<Sample> {
    procedure::probe_of(u16::try_from(board).unwrap_or(u16::MAX), sample)
}

/// Returns the intervals of a board: both ends count one stream.
fn intervals(_: usize, sample: Sample) -> Option<Sample> {
    let Sample::Interval(mut interval) = sample else { return None };
    interval.link = Link(0);
    Some(Sample::Interval(interval))
}

/// Makes the device answer; returns its address. Where the cell is encrypted, both have agreed on a
/// key before.
fn listen(desk: &mut BoardDesk<'_>, work: &EspNow, more: &str) -> Result<Mac, BoardError> {
    desk.sound(INITIATOR)?;
    desk.sound(DEVICE)?;
    if work.encrypted {
        secure::agree(desk)?;
    }
    desk.command(DEVICE, &format!("{}{more}", procedure::listen(work.cast)))?;
    desk.mac(DEVICE)
}

/// Carries out one-way transmissions. Which packets arrived is printed; the delay is known where both boards print
/// when their pins fell, and otherwise to whoever captures the pins.
pub(super) fn one_way(
    desk: &mut BoardDesk<'_>,
    work: &EspNow,
    setup: &BoardSetup,
) -> Result<(), BoardError> {
    let pins = [INITIATOR, DEVICE].map(|board| pin(desk, board, setup));
    let mut stamps = PingStamps::begin(desk, pins)?;
    let [from, to] = pins;
    desk.notes.fact("pins", format!("GPIO {from} of the initiator, GPIO {to} of the device"));
    let device = listen(desk, work, &format!(" -G {to}"))?;
    let result = ping_one_by_one(desk, work, (device, from), &mut stamps);
    stamps.give(desk);
    result
}

/// Returns the pin of a board: what was said, or that of its chip as far as it told which one it is.
fn pin(desk: &BoardDesk<'_>, board: usize, setup: &BoardSetup) -> u8 {
    let chip = desk.console(board).learned().chip.as_deref().unwrap_or_default();
    let chip = chip.to_ascii_lowercase().replace('-', "");
    setup.pin.unwrap_or_else(|| procedure::pin_of(&chip))
}

fn ping_one_by_one(
    desk: &mut BoardDesk<'_>,
    work: &EspNow,
    (device, pin): (Mac, u8),
    stamps: &mut PingStamps,
) -> Result<(), BoardError> {
    for seq in 0..work.count {
        desk.linger(Duration::from_secs(1))?;
        desk.keep_none();
        desk.command(INITIATOR, &procedure::one_way_at(work, device, pin))?;
        desk.line(INITIATOR, PING_REPORT, (pings_most(1), PING_QUIET))?;
        stamps.take(desk, seq)?;
        desk.sound(DEVICE)?;
    }
    Ok(())
}

/// Measures round trips.
pub(super) fn ping(desk: &mut BoardDesk<'_>, work: &EspNow) -> Result<(), BoardError> {
    let device = listen(desk, work, "")?;
    desk.linger(Duration::from_secs(1))?;
    desk.keep(probes);
    desk.pings(INITIATOR, device, work.count);
    desk.command(INITIATOR, &procedure::ping(work, device))?;
    let most = (pings_most(work.count), PING_QUIET);
    let report = desk.line(INITIATOR, PING_REPORT, most)?;
    desk.notes.fact("printed", report.text);
    Ok(())
}

/// Measures throughput.
pub(super) fn throughput(desk: &mut BoardDesk<'_>, work: &EspNow) -> Result<(), BoardError> {
    let device = listen(desk, work, "")?;
    desk.linger(Duration::from_secs(1))?;
    desk.keep(intervals);
    desk.command(INITIATOR, &procedure::throughput(work, device))?;
    let most = (work.time + MARGIN, PING_QUIET);
    let end = desk.line(INITIATOR, STREAM_FIGURES, most)?;
    desk.notes.fact("printed-by-initiator", end.text.clone());
    let most = (Duration::from_secs(5), PING_QUIET);
    match desk.line(DEVICE, STREAM_FIGURES, most) {
        Ok(report) => desk.notes.fact("printed", report.text),
        // The device did not hear the end, and counts on: what it received is not known.
        Err(BoardError::NotPrinted { .. }) if end.mark == LineMark::NoReport => {
            desk.notes.count("reports-missing", 1);
        }
        Err(error) => return Err(error),
    }
    desk.command(DEVICE, "espnow_iperf -a")?;
    desk.pause(Duration::from_secs(1))
}

/// Measures the time of encryption and decryption on one device, which prints their means.
pub(super) fn crypto(desk: &mut BoardDesk<'_>, work: &EspNow) -> Result<(), BoardError> {
    desk.sound(INITIATOR)?;
    desk.command(INITIATOR, &procedure::crypto(work))?;
    let most = procedure::crypto_most(work.count);
    // Nothing is printed while it computes.
    let most = (most, most);
    let sealed = desk.line(INITIATOR, ENCRYPTION_TIME, most)?;
    let opened = desk.line(INITIATOR, DECRYPTION_TIME, most)?;
    for (link, line) in [(0, &sealed), (1, &opened)] {
        let (LineMark::Encrypted(us) | LineMark::Decrypted(us)) = line.mark else { continue };
        let us = u64::try_from(us).unwrap_or_default();
        let all = Duration::from_micros(us).saturating_mul(work.count);
        desk.notes.sample(Sample::Interval(Interval {
            link: Link(link),
            total: true,
            observer: Observer::Sender,
            end: Instant::ZERO + all,
            bytes: u64::from(work.size) * u64::from(work.count),
            datagrams: Some(work.count.into()),
            ..Interval::default()
        }));
    }
    desk.notes.fact("printed", format!("{}\n{}", sealed.text, opened.text));
    Ok(())
}

/// Gives the probes of which no line told as lost: with the cause of the board's fault, or by the
/// serial line where the board itself counted them.
pub(super) fn fill(desk: &mut BoardDesk<'_>, work: &EspNow) {
    let boards = match work.test {
        EspNowTest::OneWay | EspNowTest::Ping => INITIATOR..INITIATOR + 1,
        EspNowTest::MultiPing => DEVICE..desk.seats.len(),
        _ => return,
    };
    for board in boards {
        let own = desk.console(board).fault().map(super::BoardFault::cause);
        // A ping with a device that is gone is as lost as one of an initiator that is.
        let peer = if work.test == EspNowTest::MultiPing { INITIATOR } else { DEVICE };
        let peer = desk.console(peer).fault().map(super::BoardFault::cause);
        let told = core::mem::take(&mut desk.told[board]);
        let cause = match own.or(peer) {
            Some(cause) => cause,
            // A device that never began has no probes.
            None if told.is_empty() => continue,
            None => Cause::SerialLine,
        };
        let due = desk.now();
        for seq in (0..u64::from(work.count)).filter(|seq| !told.contains(seq)) {
            let lost =
                Probe { seq, bytes: work.size, due, fate: Fate::Lost(cause), ..Probe::default() };
            if let Some(sample) = probes(board, Sample::Probe(lost)) {
                desk.notes.sample(sample);
            }
        }
    }
}

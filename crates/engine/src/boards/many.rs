//! Tests with many devices, and how a job for all of them is recorded.

use super::desk::{BoardDesk, INITIATOR};
use super::single::{PING_QUIET, probes};
use super::{BoardError, BoardFault, BoardSetup};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use espbench_model::workload::{EspNow, EspNowCast};
use espbench_sim::lab::suite::mark::{LineMark, PING_BEGUN, PING_REPORT, SEEKS};
use espbench_sim::lab::suite::procedure::{
    HOLD, ServedDevice, TRIES, job_samples, listen, ping_of_all, pings_most, provision, to_all,
};

/// Boards, each with the time at which it was served.
pub(super) type ServedBoards = Vec<(usize, Option<Instant>)>;

/// Time from the last credentials until even the slowest device has joined or given up.
const JOIN_MOST: Duration = Duration::from_secs(20);
/// The payload that `espnow_iperf` uses where none is named.
const USUAL: u32 = 230;

/// Records a job that the report times from one instant to another: the total, and a probe for each
/// device.
pub(super) fn record_job(
    desk: &mut BoardDesk<'_>,
    (start, end): (Instant, Instant),
    bytes: u32,
    served: &ServedBoards,
) {
    let number = |(board, at): &(usize, Option<Instant>)| {
        let fault = desk.console(*board).fault().map(BoardFault::cause);
        let number = u16::try_from(*board).unwrap_or(u16::MAX);
        ServedDevice { number, at: *at, cause: fault.unwrap_or(Cause::Unknown) }
    };
    let served: Vec<ServedDevice> = served.iter().map(number).collect();
    job_samples((start, end), bytes, &served, &mut |sample| desk.notes.sample(sample));
}

/// Waits until boards print a line of that meaning; returns when each did.
pub(super) fn when(
    desk: &mut BoardDesk<'_>,
    boards: &[usize],
    wanted: fn(LineMark) -> bool,
    most: Duration,
) -> Result<ServedBoards, BoardError> {
    let mut served: ServedBoards = boards.iter().map(|board| (*board, None)).collect();
    desk.until(most, |desk| {
        for (board, at) in &mut served {
            if at.is_none() {
                *at = desk.read(*board, wanted).map(|line| line.at);
            }
        }
        let over = |(board, at): &(usize, Option<Instant>)| {
            at.is_some() || desk.console(*board).fault().is_some()
        };
        served.iter().all(over)
    })?;
    Ok(served)
}

/// Measures round trips that all devices ask for at once.
pub(super) fn ping(desk: &mut BoardDesk<'_>, work: &EspNow) -> Result<(), BoardError> {
    desk.sound(INITIATOR)?;
    let devices = desk.devices();
    desk.command(INITIATOR, &listen(EspNowCast::Unicast))?;
    desk.command(INITIATOR, &to_all("log -m espnow -l ERR"))?;
    desk.linger(Duration::from_secs(1))?;
    desk.keep(probes);
    let own = desk.mac(INITIATOR)?;
    devices.iter().for_each(|board| desk.pings(*board, own, work.count));
    desk.command(INITIATOR, &ping_of_all(work, own, USUAL))?;
    let time = Duration::from_secs(10);
    let begun = when(desk, &devices, PING_BEGUN.is, time)?;
    let begun: Vec<usize> =
        begun.into_iter().filter(|(_, at)| at.is_some()).map(|(board, _)| board).collect();
    if begun.is_empty() {
        return Err(desk.not_printed(devices[0], PING_BEGUN.what, time));
    }
    desk.notes.count("devices-not-started", devices.len() - begun.len());
    for &board in &begun {
        let most = (pings_most(work.count), PING_QUIET);
        // A fault of one board ends its part only.
        if let Err(error) = desk.line(board, PING_REPORT, most) {
            if error == BoardError::Cancelled {
                return Err(error);
            }
            desk.notes.count("devices-not-finished", 1);
        }
        desk.sound(INITIATOR)?;
    }
    Ok(())
}

/// Gives all devices Wi-Fi credentials. They are served when they have an address of the network,
/// where their firmware prints that, and otherwise when they have the credentials.
pub(super) fn provisioning(
    desk: &mut BoardDesk<'_>,
    _: &EspNow,
    setup: &BoardSetup,
) -> Result<(), BoardError> {
    let Some((ssid, password)) = setup.network.clone() else {
        return Err(BoardError::NotTold { what: "the network", flag: "--ssid NAME" });
    };
    desk.keep_out(&password);
    desk.sound(INITIATOR)?;
    let devices = desk.devices();
    desk.command(INITIATOR, &to_all("log -m espnow -l WARN"))?;
    seek(desk, &devices)?;
    desk.linger(Duration::from_secs(1))?;
    desk.secret_command(INITIATOR, &provision(&ssid, &password))?;
    let start = desk.now();
    let given = |mark: LineMark| mark == LineMark::Credentials || mark.is_joined();
    let mut served = when(desk, &devices, given, HOLD)?;
    desk.notes.count("without-credentials", served.iter().filter(|(_, at)| at.is_none()).count());
    let joined = when(desk, &devices, LineMark::is_joined, JOIN_MOST)?;
    let joins = joined.iter().any(|(_, at)| at.is_some());
    if joins {
        served = joined;
    }
    desk.notes.fact("served-at", if joins { "address" } else { "credentials" }.into());
    let all = served.iter().all(|(_, at)| at.is_some());
    let last = served.iter().filter_map(|(_, at)| *at).max();
    let end = last.filter(|_| all).unwrap_or_else(|| desk.now());
    record_job(desk, (start, end), 0, &served);
    Ok(())
}

/// Waits until the devices look for credentials.
fn seek(desk: &mut BoardDesk<'_>, devices: &[usize]) -> Result<(), BoardError> {
    let mut missing = devices.to_vec();
    for _ in 0..TRIES {
        desk.linger(Duration::from_secs(1))?;
        desk.command(INITIATOR, &to_all("provisioning -r"))?;
        missing = desk.wait(&missing, SEEKS.is, Duration::from_secs(3))?;
        missing.retain(|board| desk.console(*board).fault().is_none());
        if missing.is_empty() {
            return Ok(());
        }
    }
    if missing.len() == devices.len() {
        let time = Duration::from_secs(3) * TRIES;
        return Err(desk.not_printed(missing[0], SEEKS.what, time));
    }
    desk.notes.count("devices-not-started", missing.len());
    Ok(())
}

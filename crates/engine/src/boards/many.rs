//! Tests with many devices, and how a job for all of them is recorded.

use super::desk::{BoardDesk, EVERYBODY, INITIATOR};
use super::mark::LineMark;
use super::single::{PING_QUIET, PING_REPORT, flags, is_ping_end, pings_most, probes};
use super::{BoardError, BoardFault, BoardSetup};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_model::workload::EspNow;

/// Boards, each with the time at which it was served.
pub(super) type ServedBoards = Vec<(usize, Option<Instant>)>;

/// `provisioning -i 30000`.
const HOLD: Duration = Duration::from_secs(30);
/// Time from the last credentials until even the slowest device has joined or given up.
const JOIN_MOST: Duration = Duration::from_secs(20);
/// Number of times that a command to everybody is repeated until all carry it out.
const TRIES: u32 = 5;
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
    for (board, done) in served {
        let fault = desk.console(*board).fault().map(BoardFault::cause);
        let lost = Fate::Lost(fault.unwrap_or(Cause::Unknown));
        desk.sample(Sample::Probe(Probe {
            link: Link(u16::try_from(*board).unwrap_or(u16::MAX)),
            bytes,
            due: start,
            received: *done,
            fate: if done.is_some() { Fate::Delivered } else { lost },
            ..Probe::default()
        }));
    }
    let count = served.iter().filter(|(_, done)| done.is_some()).count() as u64;
    desk.sample(Sample::Interval(Interval {
        total: true,
        observer: Observer::Sender,
        start,
        end,
        bytes: u64::from(bytes) * count,
        datagrams: Some(count),
        lost: Some(served.len() as u64 - count),
        ..Interval::default()
    }));
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
    desk.command(INITIATOR, "espnow_iperf -s")?;
    desk.command(INITIATOR, &format!("command {EVERYBODY} \"log -m espnow -l ERR\""))?;
    desk.linger(Duration::from_secs(1))?;
    desk.keep(probes);
    // The document leaves the length at its default.
    let len = if work.size == USUAL { String::new() } else { format!(" -l {}", work.size) };
    let own = desk.mac(INITIATOR)?;
    let ping = format!("espnow_iperf -c {own}{} -C {} -p{len}", flags(work.cast), work.count);
    desk.command(INITIATOR, &format!("command {EVERYBODY} \"{ping}\""))?;
    let time = Duration::from_secs(10);
    let begun = when(desk, &devices, |mark| mark == LineMark::Begun, time)?;
    let begun: Vec<usize> =
        begun.into_iter().filter(|(_, at)| at.is_some()).map(|(board, _)| board).collect();
    if begun.is_empty() {
        return Err(desk.not_printed(devices[0], "that its ping began", time));
    }
    desk.count("devices-not-started", devices.len() - begun.len());
    for &board in &begun {
        let most = (pings_most(work.count), PING_QUIET);
        // A fault of one board ends its part only.
        if let Err(error) = desk.line(board, is_ping_end, most, PING_REPORT) {
            if error == BoardError::Cancelled {
                return Err(error);
            }
            desk.count("devices-not-finished", 1);
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
    desk.sound(INITIATOR)?;
    let devices = desk.devices();
    desk.command(INITIATOR, &format!("command {EVERYBODY} \"log -m espnow -l WARN\""))?;
    seek(desk, &devices)?;
    desk.linger(Duration::from_secs(1))?;
    let hold = HOLD.as_millis();
    desk.command(
        INITIATOR,
        &format!("provisioning -i {hold} {} {}", quoted(&ssid), quoted(&password)),
    )?;
    let start = desk.now();
    let given = |mark| matches!(mark, LineMark::Credentials | LineMark::Joined);
    let mut served = when(desk, &devices, given, HOLD)?;
    desk.count("without-credentials", served.iter().filter(|(_, at)| at.is_none()).count());
    let joined = when(desk, &devices, |mark| mark == LineMark::Joined, JOIN_MOST)?;
    let joins = joined.iter().any(|(_, at)| at.is_some());
    if joins {
        served = joined;
    }
    desk.fact("served-at", if joins { "address" } else { "credentials" }.into());
    let all = served.iter().all(|(_, at)| at.is_some());
    let last = served.iter().filter_map(|(_, at)| *at).max();
    let end = last.filter(|_| all).unwrap_or_else(|| desk.now());
    record_job(desk, (start, end), 0, &served);
    Ok(())
}

/// Returns a word as the console's parser takes it for one.
fn quoted(word: &str) -> String {
    let escaped = word.replace('\\', "\\\\").replace('"', "\\\"");
    if escaped == word && !word.is_empty() && !word.contains(' ') {
        escaped
    } else {
        format!("\"{escaped}\"")
    }
}

/// Waits until the devices look for credentials.
fn seek(desk: &mut BoardDesk<'_>, devices: &[usize]) -> Result<(), BoardError> {
    const SEEKS: fn(LineMark) -> bool = |mark| mark == LineMark::Seeks;
    let mut missing = devices.to_vec();
    for _ in 0..TRIES {
        desk.linger(Duration::from_secs(1))?;
        desk.command(INITIATOR, &format!("command {EVERYBODY} \"provisioning -r\""))?;
        missing = desk.wait(&missing, SEEKS, Duration::from_secs(3))?;
        missing.retain(|board| desk.console(*board).fault().is_none());
        if missing.is_empty() {
            return Ok(());
        }
    }
    if missing.len() == devices.len() {
        let time = Duration::from_secs(3) * TRIES;
        return Err(desk.not_printed(missing[0], "that it looks for credentials", time));
    }
    desk.count("devices-not-started", missing.len());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_are_quoted_where_the_console_would_split_them() {
        let words = ["home", "my home", "a\"b", "c\\d", ""].map(quoted);
        assert_eq!(words, ["home", "\"my home\"", "\"a\\\"b\"", "\"c\\\\d\"", "\"\""]);
    }
}

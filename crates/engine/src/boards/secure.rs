//! The handshake: the key for all devices, or for the two of a test.

use super::BoardError;
use super::desk::{BoardDesk, DEVICE, INITIATOR};
use super::many::{ServedBoards, record_job};
use super::start::{restart, settle};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::time::Instant;
use espbench_model::workload::EspNow;
use espbench_sim::lab::suite::mark::{KEY_GOT, KEY_HANDED_OUT, KEY_JOB, LineMark, MarkedLine};
use espbench_sim::lab::suite::procedure::{KEY_BYTES, LISTED_MAX, handshake_most, to_all};

/// Tries of two devices, each of which loses some frames.
const TRIES: u32 = 3;
/// Time in which an application that hands the key out at its start begins: its search takes 2.5 s,
/// and 7 s with a tick of 100 Hz.
const BY_ITSELF: Duration = Duration::from_secs(12);
/// Time in which copies of a command reach a device that has restarted by it, and restart it again.
const COPIES: Duration = Duration::from_secs(5);
/// Time from the command to erase the key until the devices run again.
const RESTART: Duration = Duration::from_secs(15);

/// A job of handing out the key: when it began and ended.
struct KeyJob {
    start: Instant,
    end: Instant,
    printed: String,
}

/// Restarts the initiator, whose application hands the key out at its start, as that of the example
/// `security` does; where it does not, types the commands, one for as many devices as a line has room for. Returns the
/// job, if there was one.
fn hand_out(desk: &mut BoardDesk<'_>, devices: &[usize]) -> Result<Option<KeyJob>, BoardError> {
    restart(desk, &[INITIATOR])?;
    desk.sound(INITIATOR)?;
    if let Some(line) = by_itself(desk)? {
        return Ok(match line.mark {
            LineMark::KeySent(ms) => {
                let took = Duration::from_millis(ms.into());
                Some(KeyJob { start: before(line.at, took), end: line.at, printed: line.text })
            }
            _ => None,
        });
    }
    let begun = desk.now();
    desk.command(INITIATOR, "security -f 3000")?;
    desk.until(handshake_most(0), |desk| {
        let console = desk.console(INITIATOR);
        console.has_prompt() || console.fault().is_some()
    })?;
    let macs: Result<Vec<_>, _> = devices.iter().map(|board| desk.mac(*board)).collect();
    let list: Vec<String> = macs?.iter().map(ToString::to_string).collect();
    let mut job = None;
    for some in list.chunks(LISTED_MAX) {
        desk.command(INITIATOR, &format!("security -s {}", some.join(",")))?;
        let most = handshake_most(some.len());
        let line = desk.line(INITIATOR, KEY_HANDED_OUT, (most, most))?;
        match line.mark {
            LineMark::KeySent(_) => {
                job = Some(KeyJob { start: begun, end: line.at, printed: line.text });
            }
            LineMark::NoKey => return Err(BoardError::NoKey { port: desk.name(INITIATOR) }),
            _ => {}
        }
    }
    Ok(job)
}

/// Waits until the application of the initiator has handed the key out after its start, and returns its last line;
/// nothing where it does not begin by itself.
fn by_itself(desk: &mut BoardDesk<'_>) -> Result<Option<MarkedLine>, BoardError> {
    let mut line = None;
    desk.until(BY_ITSELF, |desk| {
        line = desk.read(INITIATOR, KEY_JOB.is);
        line.is_some() || desk.console(INITIATOR).fault().is_some()
    })?;
    desk.sound(INITIATOR)?;
    let Some(MarkedLine { mark: LineMark::KeyFor(devices), .. }) = line else { return Ok(line) };
    let most = handshake_most(devices as usize);
    let end = desk.line(INITIATOR, KEY_HANDED_OUT, (most, most))?;
    Ok(Some(end))
}

/// Returns an instant so much earlier.
fn before(at: Instant, by: Duration) -> Instant {
    let ns = u64::try_from(by.as_nanos()).unwrap_or(u64::MAX);
    Instant::from_nanos(at.as_nanos().saturating_sub(ns))
}

/// Makes both devices agree on the key.
pub(super) fn agree(desk: &mut BoardDesk<'_>) -> Result<(), BoardError> {
    for _ in 0..TRIES {
        // An application that hands the key out at its start has perhaps done so.
        if !desk.console(DEVICE).has_key() {
            hand_out(desk, &[DEVICE])?;
        }
        // `Get APP key` stands on the device's console, perhaps a moment later.
        let got = desk.until(Duration::from_secs(1), |desk| desk.console(DEVICE).has_key())?;
        desk.sound(DEVICE)?;
        if got {
            return settle(desk, &[INITIATOR, DEVICE]);
        }
    }
    Err(desk.not_printed(DEVICE, KEY_GOT.what, handshake_most(1) * TRIES))
}

/// Hands the key to all devices.
pub(super) fn handshake(desk: &mut BoardDesk<'_>, _: &EspNow) -> Result<(), BoardError> {
    desk.sound(INITIATOR)?;
    let devices = desk.devices();
    desk.command(INITIATOR, &to_all("security -e"))?;
    let now = desk.now();
    for &board in &devices {
        if desk.console(board).fault().is_none() {
            desk.seats[board].console.restarts_until(now, now + COPIES);
        }
    }
    desk.until(RESTART, |desk| {
        devices.iter().all(|board| {
            let console = desk.console(*board);
            console.is_ready() || console.fault().is_some()
        })
    })?;
    let Some(job) = hand_out(desk, &devices)? else {
        return Err(desk.not_printed(INITIATOR, KEY_HANDED_OUT.what, BY_ITSELF));
    };
    desk.notes.fact("printed", job.printed);
    let most = Duration::from_secs(1);
    let served: ServedBoards = super::many::when(desk, &devices, KEY_GOT.is, most)?;
    record_job(desk, (job.start, job.end), KEY_BYTES, &served);
    Ok(())
}

//! The start of a test: boards are reset, show their prompts, and tell who they are.

use super::console::BoardConsole;
use super::desk::{BoardDesk, DEVICE, INITIATOR};
use super::learned::{idf_name, release_name};
use super::{BoardError, BoardMemory};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::fact;
use espbench_model::workload::{EspNow, EspNowTest};
use espbench_sim::lab::suite::mark::LineMark;
use espbench_sim::lab::suite::procedure::SETTLED;

/// Longest time in which all boards show their prompts, or are given up.
const START_MOST: Duration = Duration::from_secs(20);
/// Boards that are typed at side by side: all of them would print a megabyte of lists in half a second.
const AT_ONCE: usize = 16;
/// Time for an answer of a command that does nothing else.
const ANSWER: Duration = Duration::from_secs(3);

/// Returns the commands that the initiator of a test must have, and those of the other boards.
pub(super) const fn commands(
    test: EspNowTest,
    encrypted: bool,
) -> (&'static [&'static str], &'static [&'static str]) {
    match test {
        EspNowTest::OneWay | EspNowTest::Ping | EspNowTest::Throughput => {
            if encrypted {
                (&["espnow_iperf", "security"], &["espnow_iperf"])
            } else {
                (&["espnow_iperf"], &["espnow_iperf"])
            }
        }
        EspNowTest::Crypto => (&["sec_test"], &[]),
        EspNowTest::MultiPing => (&["espnow_iperf", "command"], &["espnow_iperf"]),
        EspNowTest::Ota => (&["ota"], &[]),
        EspNowTest::Handshake => (&["command"], &[]),
        EspNowTest::Provisioning => (&["provisioning", "command"], &["provisioning"]),
    }
}

/// Resets the boards, waits for their prompts, and learns who they are.
pub(super) fn start(desk: &mut BoardDesk<'_>, memory: &mut BoardMemory) -> Result<(), BoardError> {
    let boards: Vec<usize> = (0..desk.seats.len()).collect();
    reset(desk, &boards)?;
    learn(desk, memory, &boards)?;
    settle(desk, &boards)?;
    note(desk);
    Ok(())
}

/// Resets boards, or restarts them by their command, and waits for their prompts.
pub(super) fn reset(desk: &mut BoardDesk<'_>, boards: &[usize]) -> Result<(), BoardError> {
    desk.reset();
    await_prompts(desk, boards)?;
    // A port without the pins leaves the board as it was: it restarts by its own command.
    let attached: Vec<usize> =
        boards.iter().copied().filter(|it| desk.console(*it).learned().starts == 0).collect();
    restart(desk, &attached)
}

/// Waits until boards are ready or have a fault.
fn await_prompts(desk: &mut BoardDesk<'_>, boards: &[usize]) -> Result<(), BoardError> {
    let ready = |desk: &mut BoardDesk<'_>| {
        boards.iter().all(|it| {
            let console = desk.console(*it);
            console.is_ready() || console.fault().is_some()
        })
    };
    desk.until(START_MOST, ready).map(|_| ())
}

/// Restarts boards by their command, and waits until they run.
pub(super) fn restart(desk: &mut BoardDesk<'_>, boards: &[usize]) -> Result<(), BoardError> {
    for some in boards.chunks(AT_ONCE) {
        desk.command_at(some, "restart", BoardConsole::restarts)?;
    }
    await_prompts(desk, boards)
}

/// Waits until boards that have just started say nothing more by themselves.
pub(super) fn settle(desk: &mut BoardDesk<'_>, boards: &[usize]) -> Result<(), BoardError> {
    let mut talking: Vec<usize> = boards.to_vec();
    desk.until(SETTLED, |desk| {
        let now = desk.now();
        talking.retain(|board| {
            let seat = &desk.seats[*board];
            let told = seat.unread.iter().any(|line| line.mark == LineMark::Started);
            let late = now >= seat.console.started() + SETTLED;
            !(told || late || seat.console.fault().is_some())
        });
        talking.is_empty()
    })
    .map(|_| ())
}

/// Learns address, chip, releases and commands of boards; what was learned of a port before stays.
fn learn(
    desk: &mut BoardDesk<'_>,
    memory: &mut BoardMemory,
    boards: &[usize],
) -> Result<(), BoardError> {
    let mut unknown = boards.to_vec();
    unknown.retain(|&board| {
        // Another board may be on the port since.
        let known = memory.get(desk.seats[board].port);
        let known = known.filter(|known| known.mac == desk.console(board).learned().mac).cloned();
        if let Some(known) = &known {
            desk.seats[board].console.remember(known);
        }
        known.is_none() && desk.console(board).fault().is_none()
    });
    for some in unknown.chunks(AT_ONCE) {
        ask(desk, some)?;
    }
    for board in unknown {
        if desk.console(board).learned().mac.is_none() && desk.console(board).fault().is_none() {
            // The component's own line was compiled out: a responder says who it is.
            let _ = desk.command(board, "espnow_iperf -s");
            desk.wait(&[board], |mark| matches!(mark, LineMark::Listens(_)), ANSWER)?;
            let _ = desk.command(board, "espnow_iperf -a");
        }
        if desk.console(board).fault().is_none() {
            memory.put(desk.seats[board].port, desk.console(board).learned());
        }
    }
    Ok(())
}

/// Asks boards for their versions and their commands.
pub(super) fn ask(desk: &mut BoardDesk<'_>, boards: &[usize]) -> Result<(), BoardError> {
    for text in ["version", "help"] {
        desk.command_at(boards, text, |_, _| {})?;
        desk.until(ANSWER, |desk| {
            boards.iter().all(|board| {
                let console = desk.console(*board);
                console.has_prompt() || console.fault().is_some()
            })
        })?;
    }
    Ok(())
}

/// Records which boards take part, and what they are.
pub(super) fn note(desk: &mut BoardDesk<'_>) {
    let mut text = String::new();
    for board in 0..desk.seats.len() {
        let role = if board == INITIATOR { "initiator" } else { "device" };
        let learned = desk.console(board).learned();
        let mac = learned.mac.map_or_else(|| "?".into(), |mac| mac.to_string());
        let chip = learned.chip.as_deref().unwrap_or("?");
        text += &format!("{} {role} {mac} {chip}\n", desk.name(board));
    }
    desk.notes.fact("boards", text);
    let at = if desk.seats.len() > DEVICE { DEVICE } else { INITIATOR };
    let learned = desk.console(at).learned().clone();
    if let Some(chip) = learned.chip {
        desk.notes.fact(fact::CHIP, chip);
    }
    if let Some(release) = learned.release.and_then(release_name) {
        desk.notes.fact(fact::ESP_NOW_RELEASE, release.into());
    }
    if let Some(idf) = learned.idf.as_deref().and_then(idf_name) {
        desk.notes.fact(fact::IDF_RELEASE, idf.into());
    }
}

/// Checks that the boards have the commands of a test.
pub(super) fn able(desk: &BoardDesk<'_>, work: &EspNow) -> Result<(), BoardError> {
    let (first, others) = commands(work.test, work.encrypted);
    for board in 0..desk.seats.len() {
        let wanted = if board == INITIATOR { first } else { others };
        let learned = desk.console(board).learned();
        // One that failed before it had told its list takes no part.
        if desk.console(board).fault().is_some() {
            continue;
        }
        if let Some(command) = wanted.iter().find(|it| !learned.can(it)) {
            return Err(BoardError::NoCommand { port: desk.name(board), command });
        }
    }
    Ok(())
}

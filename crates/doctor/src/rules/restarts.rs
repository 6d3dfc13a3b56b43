//! Brown-outs, panics, watchdogs, memory, flash.

use super::finding;
use crate::finding::{CauseFinding, Certainty};
use crate::log::{LogEvent, LogSummary, ResetReason, WordCause};
use alloc::vec::Vec;
use espbench_model::sdkconfig::Chip;

/// Below this a heap is nearly used up: a TLS handshake takes some 40 KB, a buffer of Wi-Fi 1.6 KB, bytes.
const LEAST_HEAP: u32 = 10_000;

/// Restarts by a watchdog, without a word why, from which on they are a finding: one comes with some ways to flash.
const RESETS: u64 = 2;

pub(super) fn findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let brownout =
        |it: &LogEvent| matches!(it, LogEvent::Brownout | LogEvent::Reset(ResetReason::Brownout));
    out.extend(finding(log, "brown-out", brownout));
    silent(log, out);
    if !is_of_update(log) {
        // A flash that could not be read once, before a program that runs, is in order.
        let sure = if started(log) { Certainty::Low } else { Certainty::High };
        let unreadable = |it: &LogEvent| *it == LogEvent::FlashUnreadable;
        out.extend(finding(log, "flash", unreadable).map(|it| it.sure(sure)));
    }
    waits_for_download(log, out);
    watchdog(log, out);
    heap(log, out);
}

/// Lines behind an image that is refused within which an updater says that it failed.
const TELLS: u64 = 4;

/// Returns whether the image that could not be read is one that an updater has just written.
fn is_of_update(log: &LogSummary) -> bool {
    let image = |it: &LogEvent| *it == LogEvent::FlashUnreadable;
    let failed = |it: &LogEvent| {
        matches!(
            it,
            LogEvent::UpdateFailed | LogEvent::UpdateRefused | LogEvent::Words(WordCause::Update)
        )
    };
    let (first, last) = (log.places(image).first().map_or(0, |it| it.line), log.last_line(image));
    let told = log.places(failed);
    first == last && told.iter().any(|it| (last + 1..=last + TELLS).contains(&it.line))
}

/// Finds a chip that waits for a program to be written, with which its log ends.
fn waits_for_download(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let is = |it: &LogEvent| *it == LogEvent::WaitsForDownload;
    let start = |it: &LogEvent| is(it) || is_of_rom(it);
    if log.last_line(is) >= log.last_line(|it| !start(it)) {
        out.extend(finding(log, "flash-waits", is));
    }
}

/// Returns whether the ROM tells of an event at each start.
const fn is_of_rom(it: &LogEvent) -> bool {
    matches!(it, LogEvent::Reset(_) | LogEvent::Chip(_) | LogEvent::Entered)
}

/// Returns whether a program ran after the last time that no firmware could be read.
fn started(log: &LogSummary) -> bool {
    let last = log.places(|it| *it == LogEvent::FlashUnreadable).last().map(|it| it.line);
    let of_program = |it: &LogEvent| *it != LogEvent::FlashUnreadable && !is_of_rom(it);
    log.events
        .iter()
        .filter(|it| of_program(it.0))
        .any(|it| it.1.places.last().map(|it| it.line) > last)
}

/// Finds resets of the whole chip without a word: what the handler of brown-outs does since ESP-IDF 5, where its message
/// does not get out any more.
fn silent(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let crashed = log.count(|it| {
        matches!(
            it,
            LogEvent::Panic
                | LogEvent::Watchdog
                | LogEvent::StackOverflow
                | LogEvent::MemoryCorrupted
                | LogEvent::CrashOfMemory
                | LogEvent::Brownout
        )
    });
    if crashed > 0 {
        return;
    }
    let is = |it: &LogEvent| *it == LogEvent::Reset(ResetReason::Silent);
    let sure = if log.count(is) >= RESETS { Certainty::Medium } else { Certainty::Low };
    out.extend(finding(log, "brown-out-silent", is).map(|it| it.sure(sure)));
}

fn watchdog(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let told = |it: &LogEvent| *it == LogEvent::Watchdog;
    if let Some(it) = finding(log, "watchdog", told) {
        let named = |it: &LogEvent| matches!(it, LogEvent::Watchdog | LogEvent::WatchdogTask);
        let evidence = log.places(named).into_iter().cloned().collect();
        out.push(CauseFinding { evidence, ..it });
        return;
    }
    let reset = |it: &LogEvent| {
        matches!(it, LogEvent::Reset(ResetReason::Watchdog | ResetReason::RtcWatchdog))
    };
    let of_program = |it: &LogEvent| *it == LogEvent::Reset(ResetReason::Watchdog);
    // A flash that cannot be read ends in the same reset.
    if log.count(|it| *it == LogEvent::FlashUnreadable) > 0 {
        return;
    }
    // Early chips are reset once more at each power-on by the watchdog of the bootloader.
    let count = |of: ResetReason| log.count(|it| *it == LogEvent::Reset(of));
    let powered = count(ResetReason::PowerOn) + count(ResetReason::Silent);
    let started = count(ResetReason::RtcWatchdog).saturating_sub(powered);
    let repeated = count(ResetReason::Watchdog) + started >= RESETS;
    // Later chips are not, and one whose program says nothing behind it does not start.
    let later = log.count(|it| matches!(it, LogEvent::Chip(it) if *it != Chip::Esp32)) > 0;
    let silent = later && started > 0 && log.last == Some(LogEvent::Entered);
    if repeated || silent || log.count(of_program) > 0 {
        let sure = if repeated { Certainty::Medium } else { Certainty::Low };
        out.extend(finding(log, "watchdog-silent", reset).map(|it| it.sure(sure)));
    }
}

/// Returns what tells that memory could not be had. Where the driver's buffers are taken, frames are dropped for that.
pub(super) fn is_of_memory(log: &LogSummary) -> impl Fn(&LogEvent) -> bool + use<> {
    let buffers = log.count(|it| *it == LogEvent::SendBuffersFull) > 0;
    move |it| match it {
        LogEvent::NoMemory | LogEvent::CrashOfMemory => true,
        LogEvent::FrameDropped => !buffers,
        _ => false,
    }
}

fn heap(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let none = is_of_memory(log);
    // One allocation that failed, and nothing that followed, did no harm.
    let crashed = log.count(|it| *it == LogEvent::CrashOfMemory) > 0
        || log.count(|it| matches!(it, LogEvent::Reset(_))) > 1;
    let is_past = !crashed && log.is_long_past(&none);
    let none = if is_past { None } else { finding(log, "heap", none) };
    let low = |it: &LogEvent| matches!(it, LogEvent::FreeHeap(bytes) if *bytes < LEAST_HEAP);
    out.extend(none.or_else(|| finding(log, "heap-low", low)));
}

/// Finds a program in Python or Lua that ended by an exception which nothing else explains.
pub(super) fn python(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let [ended, interrupted] =
        [LogEvent::Traceback, LogEvent::Interrupted].map(|event| log.count(|it| *it == event));
    if ended <= interrupted {
        return;
    }
    let told = log.count(|it| {
        matches!(
            it,
            LogEvent::SocketError(_)
                | LogEvent::NameFailed
                | LogEvent::TlsFailed(_)
                | LogEvent::WifiCall
                | LogEvent::ConnectsTwice
                | LogEvent::EspNowUnheard
        )
    });
    if told > 0 {
        return;
    }
    let is = |it: &LogEvent| *it == LogEvent::Traceback;
    out.extend(finding(log, "exception", is));
}

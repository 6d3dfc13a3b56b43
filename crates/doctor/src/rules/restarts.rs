//! Brown-outs, panics, watchdogs, memory, flash.

use super::finding;
use crate::finding::{CauseFinding, Certainty, TroubleCause};
use crate::log::{LogEvent, LogSummary, ResetReason, WordCause};
use alloc::vec::Vec;
use espbench_model::sdkconfig::Chip;

/// Below this a heap is nearly used up: a TLS handshake takes some 40 KB, a buffer of Wi-Fi 1.6 KB, bytes.
const LEAST_HEAP: u32 = 10_000;

/// Restarts by a watchdog, without a word why, from which on they are a finding: one comes with some ways to flash.
const RESETS: u64 = 2;

/// Cause, certainty, the event that shows it, and title, remedy and confirmation.
type Restart = (TroubleCause, LogEvent, (&'static str, &'static str, &'static str));

const RESTARTS: [Restart; 4] = [
    (
        TroubleCause::StackOverflow,
        LogEvent::StackOverflow,
        (
            "a task's stack is too small, and the device restarts",
            "give the task that is named a larger stack, or keep large arrays off it",
            "uxTaskGetStackHighWaterMark() of that task",
        ),
    ),
    (
        TroubleCause::MemoryCorrupted,
        LogEvent::MemoryCorrupted,
        (
            "the program writes beyond its memory: the heap or a stack is damaged",
            "look for a buffer that is too short, a pointer used after free, or memory freed twice; comprehensive heap \
             poisoning (CONFIG_HEAP_POISONING_COMPREHENSIVE) finds the place sooner",
            "heap_caps_check_integrity_all(true) between suspects tells after which one it is damaged",
        ),
    ),
    (
        TroubleCause::Panic,
        LogEvent::Panic,
        (
            "the program is stopped by an exception or an assertion, and the device restarts",
            "decode the backtrace (espbench doctor LOG --elf FILE, or idf.py monitor), and mend what it names",
            "the restart comes again at the same place of the program",
        ),
    ),
    (
        TroubleCause::Flash,
        LogEvent::FlashUnreadable,
        (
            "the ROM or the bootloader finds no firmware that it can start",
            "erase the flash and write bootloader, partition table and program to the addresses of this chip, with its flash \
             mode and size; see that nothing pulls the strapping pins and the flash's pins, and that the supply is steady",
            "esptool verify_flash, and espbench board info, tell what is in the flash",
        ),
    ),
];

pub(super) fn findings(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let brownout =
        |it: &LogEvent| matches!(it, LogEvent::Brownout | LogEvent::Reset(ResetReason::Brownout));
    let words = (
        "the supply falls too low, and the device restarts",
        "use a supply and a cable for 500 mA and more, put 100 uF and more beside the module, or send with less power \
         (esp_wifi_set_max_tx_power)",
        "measure 3.3 V at the module with an oscilloscope while it sends",
    );
    out.extend(finding(log, TroubleCause::Brownout, Certainty::High, words, brownout));
    silent(log, out);
    for (cause, event, words) in RESTARTS {
        if cause == TroubleCause::Flash && is_of_update(log) {
            continue;
        }
        // A flash that could not be read once, before a program that runs, is in order.
        let sure = if cause == TroubleCause::Flash && started(log) {
            Certainty::Low
        } else {
            Certainty::High
        };
        out.extend(finding(log, cause, sure, words, |it| *it == event));
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
    let words = (
        "the chip waits for a program to be written: its strapping pin is low when it starts",
        "let go of the button BOOT, see that nothing pulls GPIO0 (GPIO9 on the C and H series) down, and press reset; a port of \
         USB that the monitor opens can hold it, too",
        "with the pin at 3.3 V the ROM says SPI_FAST_FLASH_BOOT",
    );
    let is = |it: &LogEvent| *it == LogEvent::WaitsForDownload;
    let start = |it: &LogEvent| is(it) || is_of_rom(it);
    if log.last_line(is) >= log.last_line(|it| !start(it)) {
        out.extend(finding(log, TroubleCause::Flash, Certainty::High, words, is));
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
    let words = (
        "the whole chip is reset without a word, mostly by a supply that falls too low",
        "use a supply and a cable for 500 mA and more, put 100 uF and more beside the module, or send with less power \
         (esp_wifi_set_max_tx_power)",
        "with another supply, or with the radio off, it does not restart",
    );
    let is = |it: &LogEvent| *it == LogEvent::Reset(ResetReason::Silent);
    let sure = if log.count(is) >= RESETS { Certainty::Medium } else { Certainty::Low };
    out.extend(finding(log, TroubleCause::Brownout, sure, words, is));
}

fn watchdog(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let words = (
        "a task does not let others run: a watchdog fires",
        "let the task that is named wait (vTaskDelay), or give it a lower priority; a handler of an interrupt must be short",
        "the same task is named each time",
    );
    let told = |it: &LogEvent| *it == LogEvent::Watchdog;
    if let Some(it) = finding(log, TroubleCause::Watchdog, Certainty::High, words, told) {
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
    let words = (
        "a watchdog of the hardware restarts the device, and nothing says why",
        "look for loops that never wait, for interrupts that stay off, and for a supply that falls too fast for the \
         brown-out detector",
        "with a delay in each loop, or another supply, it stays up",
    );
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
        out.extend(finding(log, TroubleCause::Watchdog, sure, words, reset));
    }
}

fn heap(log: &LogSummary, out: &mut Vec<CauseFinding>) {
    let words = (
        "the heap is used up",
        "free what is kept, use fewer or smaller buffers of Wi-Fi and TLS (espbench tune --want 'heap>=…'), or PSRAM",
        "esp_get_minimum_free_heap_size() falls with time or with load",
    );
    // Where the driver's buffers are taken, frames are dropped for that.
    let buffers = log.count(|it| *it == LogEvent::SendBuffersFull) > 0;
    let none = |it: &LogEvent| match it {
        LogEvent::NoMemory | LogEvent::CrashOfMemory => true,
        LogEvent::FrameDropped => !buffers,
        _ => false,
    };
    let none = finding(log, TroubleCause::Heap, Certainty::High, words, none);
    let low = |it: &LogEvent| matches!(it, LogEvent::FreeHeap(bytes) if *bytes < LEAST_HEAP);
    let words = ("the heap is nearly used up", words.1, words.2);
    let low = || finding(log, TroubleCause::Heap, Certainty::Medium, words, low);
    out.extend(none.or_else(low));
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
    let words = (
        "an exception that nothing catches ends the program (Python, Lua)",
        "read the line that names it, and catch it where the network may fail",
        "the same call in the REPL raises it, too",
    );
    let is = |it: &LogEvent| *it == LogEvent::Traceback;
    out.extend(finding(log, TroubleCause::Panic, Certainty::Medium, words, is));
}

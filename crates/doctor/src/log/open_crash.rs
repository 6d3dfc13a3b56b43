//! Lines of one crash, told once: a watchdog, its `abort()` and the panic handler speak of the same.

use super::event::{LogEvent, WordCause};
use super::record::{LogRecord, RecordLevel};
use super::summary::LogPlace;

/// Lines within which a crash is told to its end: two register dumps and a backtrace.
const NEAR: u64 = 80;

/// Time within which a crash is told to its end, in milliseconds.
const LASTS_MS: u64 = 5000;

/// Lines before a crash within which memory that could not be had is its cause.
const MEMORY: u64 = 30;

/// Lines behind a crash within which memory is named as its cause: a core dump has a head.
const AFTER: u64 = 8;

/// Lines between an error of a part and the check that stops the program for it.
const CHECKED: u64 = 4;

/// Lines behind a check that fails within which its expression stands: a monitor has the function's place between them.
const EXPRESSION: u64 = 6;

/// Returns whether an event is of a part that failed, for which a check of errors stops the program.
fn is_part(event: LogEvent) -> bool {
    matches!(event, LogEvent::Sign(sign) if sign.0.starts_with("esp-now-"))
        || matches!(
            event,
            LogEvent::StorageFailed
                | LogEvent::ExternalMemory
                | LogEvent::FileSystemFailed
                | LogEvent::UpdateRefused
                | LogEvent::FlashUnreadable
                | LogEvent::WifiCall
        )
}

/// Returns whether an event is of a part without which a program may give up by `abort()` or a check of an error. Another
/// crash behind it is a mistake of the program's own.
const fn is_given_up_for(event: LogEvent) -> bool {
    matches!(
        event,
        LogEvent::NameFailed
            | LogEvent::Words(WordCause::Names)
            | LogEvent::TlsFailed(_)
            | LogEvent::BrokerRefused
            | LogEvent::MountFailed
    )
}

/// Returns whether the first line of a crash is of a program that ends itself.
fn gives_up(text: &str) -> bool {
    ["Abort called", "abort() was called", "ESP_ERROR_CHECK failed", "panicked at "]
        .iter()
        .any(|it| text.contains(it))
}

/// Exceptions of the processor as other programs than ESP-IDF name them, which neither a watchdog raises nor a check of an error.
const EXCEPTIONS: [&str; 11] = [
    "LoadProhibited",
    "StoreProhibited",
    "InstrFetchProhibited",
    "InstructionFetchError",
    "LoadStoreError",
    "LoadStoreAlignment",
    "IllegalInstruction",
    "Illegal instruction",
    "IntegerDivideByZero",
    "access fault",
    "address misaligned",
];

/// Returns whether a text tells of an exception of the processor.
fn is_exception(text: &str) -> bool {
    let of_idf = text.split_once("panic'ed (").is_some_and(|(_, why)| {
        let why = why.to_ascii_lowercase();
        !["wdt", "watchdog", "abort"].iter().any(|it| why.contains(it))
    });
    of_idf || EXCEPTIONS.iter().any(|it| text.contains(it))
}

/// Returns whether a tag is of the bootloader: what it cannot read, no program checks.
fn is_bootloader(tag: &str) -> bool {
    tag.starts_with("boot") || tag == "esp_image"
}

/// A crash whose lines are still coming.
#[derive(Clone, Debug)]
struct Open {
    event: LogEvent,
    place: LogPlace,
    first: u64,
    last: u64,
    /// Whether a watchdog said that it stops the program: an exception behind that is of its end.
    aborts: bool,
}

/// The crash whose lines come, if any.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenCrash {
    open: Option<Open>,
    /// Last line that told of memory that could not be had.
    no_memory: Option<u64>,
    /// Last line that told of it as an error that a call returned: its program goes on.
    returned: Option<u64>,
    /// Last line that told of a part that failed, and what it told.
    part: Option<(u64, LogEvent)>,
    /// Last line that told of what a program may give up for, and what it told.
    needed: Option<(u64, LogEvent)>,
    /// Last line that told of what failed for want of a link.
    unlinked: Option<u64>,
}

/// Returns how much an event tells of a crash; none of events that tell nothing.
fn telling(event: LogEvent) -> Option<u8> {
    Some(match event {
        LogEvent::Panic => 0,
        LogEvent::Watchdog | LogEvent::WatchdogAborts => 1,
        LogEvent::MemoryCorrupted | LogEvent::CrashInAllocator => 2,
        LogEvent::StackOverflow => 3,
        _ => return None,
    })
}

/// Returns whether an event is of a crash.
pub(super) fn is_of_crash(event: LogEvent) -> bool {
    telling(event).is_some()
}

/// Returns the crash that an event tells of.
const fn as_kept(event: LogEvent) -> LogEvent {
    match event {
        LogEvent::WatchdogAborts => LogEvent::Watchdog,
        LogEvent::CrashInAllocator => LogEvent::MemoryCorrupted,
        event => event,
    }
}

impl OpenCrash {
    /// Notes what failed for want of a link: a program may give up for it.
    pub(super) const fn fails_unlinked(&mut self, line: u64) {
        self.unlinked = Some(line);
    }

    /// Notes a line that tells of an error which a call returned.
    pub(super) const fn returns(&mut self, line: u64) {
        self.returned = Some(line);
    }

    /// Takes an event in. Events of a crash are kept until all of it is told; returns the crash that is complete with
    /// this one, and whether the event is of a crash.
    pub(super) fn take(
        &mut self,
        event: LogEvent,
        place: &LogPlace,
        record: &LogRecord<'_>,
        now_ms: Option<u64>,
    ) -> (Option<(LogEvent, LogPlace)>, bool) {
        if matches!(event, LogEvent::NoMemory | LogEvent::Words(WordCause::Heap)) {
            self.no_memory = Some(place.line);
        }
        if is_part(event) && !(event == LogEvent::FlashUnreadable && is_bootloader(record.tag)) {
            self.part = Some((place.line, event));
        }
        let is_error_of_rule =
            matches!(event, LogEvent::Sign(_)) && record.level == Some(RecordLevel::Error);
        if is_given_up_for(event) || is_error_of_rule {
            self.needed = Some((place.line, event));
        }
        let Some(rank) = telling(event) else { return (None, false) };
        // A watchdog may interrupt the allocator as well as anything else.
        if event == LogEvent::CrashInAllocator
            && !self
                .open
                .as_ref()
                .is_some_and(|it| it.event == LogEvent::Panic && place.line <= it.last + NEAR)
        {
            return (None, true);
        }
        if let Some(open) = &mut self.open {
            // A watchdog that does not stop the program fires again and again.
            let again =
                event == LogEvent::Watchdog && open.event == event && place.line > open.last + 1;
            // Its lines come within a second or two; a program that goes on is stopped by something else.
            let since = now_ms.zip(open.place.uptime_ms).map(|(now, at)| now.abs_diff(at));
            let is_later = since.is_some_and(|it| it > LASTS_MS);
            let is_own = open.event == LogEvent::Watchdog
                && !open.aborts
                && event == LogEvent::Panic
                && (is_exception(record.text) || record.text.contains("assert failed"));
            let is_later = is_later || is_own;
            if place.line <= open.last + NEAR && !again && !is_later {
                if telling(open.event).is_none_or(|it| rank > it) {
                    (open.event, open.place) = (as_kept(event), place.clone());
                }
                open.aborts |= event == LogEvent::WatchdogAborts;
                open.last = place.line;
                return (None, true);
            }
        }
        let complete = self.close();
        let line = place.line;
        let aborts = event == LogEvent::WatchdogAborts;
        let event = as_kept(event);
        self.open = Some(Open { event, place: place.clone(), first: line, last: line, aborts });
        (complete, true)
    }

    /// Ends the crash, and returns it.
    pub(super) fn close(&mut self) -> Option<(LogEvent, LogPlace)> {
        let open = self.open.take()?;
        let of_memory =
            self.no_memory.is_some_and(|it| it + MEMORY >= open.first && it <= open.last + AFTER);
        // An exception has a cause of its own, unless an allocation failed right before it.
        let is_right_before = self.no_memory.is_some_and(|it| it + CHECKED >= open.first);
        let is_returned = self.no_memory.is_some() && self.no_memory == self.returned;
        let of_memory =
            of_memory && (!is_exception(&open.place.text) || (is_right_before && !is_returned));
        // A check of an error ends the program in the line of the error, or some lines behind it.
        let near = |line: u64| line + CHECKED >= open.first && line <= open.first + EXPRESSION;
        let is_check = !is_exception(&open.place.text);
        let of_part = self.part.filter(|it| is_check && near(it.0)).map(|it| it.1);
        let before = |line: u64| line + CHECKED >= open.first && line <= open.first;
        let needed = self.needed.filter(|it| before(it.0) && gives_up(&open.place.text));
        let unlinked = self.unlinked.is_some_and(near) && gives_up(&open.place.text);
        // A rule that knows the line before the check knows more than the name of the call.
        let sign = needed.map(|it| it.1).filter(|it| matches!(it, LogEvent::Sign(_)));
        let of_part = sign
            .or(of_part)
            .or(needed.map(|it| it.1))
            .or(unlinked.then_some(LogEvent::FailedUnlinked));
        let event = match (open.event, of_part) {
            (LogEvent::Panic, _) if of_memory => LogEvent::CrashOfMemory,
            // What is not mounted when the program ends is not formatted, either.
            (LogEvent::Panic, Some(LogEvent::MountFailed)) => LogEvent::FileSystemFailed,
            (LogEvent::Panic, Some(part)) => part,
            (event, _) => event,
        };
        Some((event, open.place))
    }

    /// Ends the crash where the device starts anew, and returns it: what failed before is over.
    pub(super) fn restart(&mut self) -> Option<(LogEvent, LogPlace)> {
        let complete = self.close();
        (self.part, self.needed, self.unlinked) = (None, None, None);
        complete
    }

    /// Ends the crash where its lines must have ended by that line.
    pub(super) fn close_before(&mut self, line: u64) -> Option<(LogEvent, LogPlace)> {
        if self.open.as_ref().is_some_and(|it| line > it.last + NEAR) { self.close() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{LogEvent, LogReader};
    use alloc::vec::Vec;

    fn told(log: &str) -> Vec<(LogEvent, u64)> {
        let mut reader = LogReader::new();
        reader.push(log.as_bytes());
        reader.finish().events.into_iter().map(|it| (it.0, it.1.count)).collect()
    }

    #[test]
    fn lines_of_one_crash_are_one() {
        use LogEvent::{MemoryCorrupted, StackOverflow, Watchdog};
        for (log, event, count) in [
            (
                "E (5) task_wdt: Task watchdog got triggered.\nabort() was called at PC 0x4\n",
                Watchdog,
                1,
            ),
            (
                "***ERROR*** A stack overflow in task a has been detected.\nabort() was called\nGuru Meditation Error: x\n",
                StackOverflow,
                1,
            ),
            // Its last line is of the same, and tells of it where the first is cut off.
            (
                "E (5) task_wdt: Task watchdog got triggered.\nx\nx\nE (5) task_wdt: Aborting.\nCore  0 register dump:\n",
                Watchdog,
                1,
            ),
            ("E (5) task_wdt: Aborting.\n\nCore  0 register dump:\n", Watchdog, 1),
            (
                "Reason: Fault - IllegalInstruction, core 0\n0x4038a211  __assert_func\n0x42007cbd  block_next / tlsf_free\n",
                MemoryCorrupted,
                1,
            ),
            // The watchdog interrupts whatever runs.
            (
                "E (5) task_wdt: Task watchdog got triggered.\n0x42007cbd: tlsf_free at heap/tlsf/tlsf.c:631\n",
                Watchdog,
                1,
            ),
            ("CORRUPT HEAP: Bad tail\nassert failed: y\nabort() was called\n", MemoryCorrupted, 1),
            // It fires again and again where it does not stop the program.
            (
                "E (5) task_wdt: Task watchdog got triggered.\nx\nx\nE (9) task_wdt: Task watchdog got triggered.\n",
                Watchdog,
                2,
            ),
        ] {
            assert_eq!(told(log), [(event, count)], "{log}");
        }
        let both = told(
            "E (5000) task_wdt: Task watchdog got triggered.\nI (90000) main: fine\nGuru Meditation Error: x\n",
        );
        assert!(both.contains(&(Watchdog, 1)) && both.contains(&(LogEvent::Panic, 1)), "{both:?}");
        // An exception is the program's own, however soon it comes.
        let soon = told(
            "E (5000) task_wdt: Task watchdog got triggered.\nBacktrace: 0x400d1f2a:0x3ffb1230\nGuru Meditation Error: Core  0 panic'ed (LoadProhibited). Exception was unhandled.\nBacktrace: 0x400d3a19:0x3ffb5c90\n",
        );
        assert!(soon.contains(&(Watchdog, 1)) && soon.contains(&(LogEvent::Panic, 1)), "{soon:?}");
        let stopped = told(
            "E (5000) task_wdt: Task watchdog got triggered.\nE (5000) task_wdt: Aborting.\nabort() was called at PC 0x4\nGuru Meditation Error: Core  0 panic'ed (LoadProhibited).\n",
        );
        assert_eq!(stopped, [(Watchdog, 1)]);
        let part = told(
            "E (570) app: nvs_flash_init failed: ESP_ERR_NVS_NO_FREE_PAGES\nGuru Meditation Error: Core  0 panic'ed (StoreProhibited). Exception was unhandled.\n",
        );
        assert!(part.contains(&(LogEvent::Panic, 1)), "{part:?}");
        let restarted = told(
            "Guru Meditation Error: x\nrst:0xc (SW_CPU_RESET),boot:0x13\nGuru Meditation Error: x\n",
        );
        assert!(restarted.contains(&(LogEvent::Panic, 2)), "{restarted:?}");
    }

    #[test]
    fn a_crash_after_memory_that_could_not_be_had_is_of_memory() {
        let log =
            "E (5) wifi:Expected to init 10 rx buffer, actual is 3\nabort() was called at PC 0x4\n";
        assert!(told(log).contains(&(LogEvent::CrashOfMemory, 1)), "{:?}", told(log));
        // Nothing tells that a pointer is wrong for want of memory.
        let exception = "E (5) esp-tls: start_ssl_client: -32512\nGuru Meditation Error: Core  1 panic'ed (LoadProhibited). Exception was unhandled.\n";
        assert!(told(exception).contains(&(LogEvent::Panic, 1)), "{:?}", told(exception));
        let far =
            alloc::format!("E (5) a: malloc failed\n{}abort() was called\n", "x\n".repeat(40));
        assert!(told(&far).contains(&(LogEvent::Panic, 1)), "{:?}", told(&far));
    }
}

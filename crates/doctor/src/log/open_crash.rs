//! Lines of one crash, told once: a watchdog, its `abort()` and the panic handler speak of the same.

use super::event::LogEvent;
use super::reader::LogPlace;

/// Lines within which a crash is told to its end: two register dumps and a backtrace.
const NEAR: u64 = 80;

/// Lines before a crash within which memory that could not be had is its cause.
const MEMORY: u64 = 30;

/// A crash whose lines are still coming.
#[derive(Clone, Debug)]
struct Open {
    event: LogEvent,
    place: LogPlace,
    first: u64,
    last: u64,
}

/// The crash whose lines come, if any.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenCrash {
    open: Option<Open>,
    /// Last line that told of memory that could not be had.
    no_memory: Option<u64>,
}

/// Returns how much an event tells of a crash; none of events that tell nothing.
fn telling(event: LogEvent) -> Option<u8> {
    Some(match event {
        LogEvent::Panic => 0,
        LogEvent::Watchdog => 1,
        LogEvent::MemoryCorrupted => 2,
        LogEvent::StackOverflow => 3,
        _ => return None,
    })
}

impl OpenCrash {
    /// Takes an event in. Events of a crash are kept until all of it is told; returns the crash that is complete with
    /// this one, and whether the event is of a crash.
    pub(super) fn take(&mut self, event: LogEvent, place: &LogPlace) -> (Option<(LogEvent, LogPlace)>, bool) {
        if event == LogEvent::NoMemory {
            self.no_memory = Some(place.line);
        }
        let Some(rank) = telling(event) else { return (None, false) };
        if let Some(open) = &mut self.open {
            // A watchdog that does not stop the program fires again and again.
            let again = event == LogEvent::Watchdog && open.event == event && place.line > open.last + 1;
            if place.line <= open.last + NEAR && !again {
                if telling(open.event).is_none_or(|it| rank > it) {
                    (open.event, open.place) = (event, place.clone());
                }
                open.last = place.line;
                return (None, true);
            }
        }
        let complete = self.close();
        let line = place.line;
        self.open = Some(Open { event, place: place.clone(), first: line, last: line });
        (complete, true)
    }

    /// Ends the crash, and returns it.
    pub(super) fn close(&mut self) -> Option<(LogEvent, LogPlace)> {
        let open = self.open.take()?;
        let of_memory = self.no_memory.is_some_and(|it| it + MEMORY >= open.first && it <= open.last + 3);
        let event = match open.event {
            LogEvent::Panic if of_memory => LogEvent::CrashOfMemory,
            event => event,
        };
        Some((event, open.place))
    }

    /// Ends the crash where its lines must have ended by that line.
    pub(super) fn close_before(&mut self, line: u64) -> Option<(LogEvent, LogPlace)> {
        if self.open.as_ref().is_some_and(|it| line > it.last + NEAR) { self.close() } else { None }
    }
}

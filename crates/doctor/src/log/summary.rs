//! Counts and settings of a whole log, with the places of its events.

use super::course::{CourseOf, PAST_MS, PartCourses};
use super::event::{LogEvent, ResetReason, TlsFailure, WordCause};
use crate::matcher::RulesOfLog;
use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use serde::Serialize;

/// Lines of one failure come within this time, in milliseconds.
const MOMENT_MS: u64 = 1000;

/// Lines of one failure follow each other within so many, where no time is known.
const MOMENT_LINES: u64 = 3;

/// Lines of one failure follow each other within so many, whatever their times.
const BURST_LINES: u64 = 12;

/// Lines behind it, where no time is known.
const PAST_LINES: u64 = 300;

/// Lines from a failure of TLS to what the server says of it.
const SERVER_LINES: u64 = 2;

/// Failures of TLS.
const OF_TLS: [LogEvent; 5] = [
    LogEvent::TlsFailed(TlsFailure::Certificate),
    LogEvent::TlsFailed(TlsFailure::Refused),
    LogEvent::TlsFailed(TlsFailure::Ended),
    LogEvent::TlsFailed(TlsFailure::Other),
    LogEvent::Words(WordCause::Tls),
];

/// Places kept of each event.
pub(super) const PLACES: usize = 8;

/// A kind of file that evidence is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EvidenceSource {
    /// A console log; its lines are numbered.
    Log,
    /// An `sdkconfig`; its lines are numbered.
    SdkConfig,
    /// A stored run; its samples are numbered within their cell.
    Run,
    /// A capture; its frames are numbered.
    Capture,
    /// A core dump, which has no lines.
    CoreDump,
}

/// A place in a log, an sdkconfig or a stored run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogPlace {
    /// Kind of the file.
    pub source: EvidenceSource,
    /// Number of the line or sample, from 1.
    pub line: u64,
    /// Time since the device started in milliseconds, where the record has it.
    pub uptime_ms: Option<u64>,
    /// Message of the record, cut to 120 characters and before a password.
    pub text: String,
}

/// How often an event came, and where first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EventCounts {
    /// Number of times.
    pub count: u64,
    /// The first places.
    pub places: Vec<LogPlace>,
    /// Number of the line of the last time.
    pub last: u64,
    /// Number of that of the time before.
    pub(super) former: u64,
}

/// Counts and settings of a whole log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSummary {
    /// Lines.
    pub lines: u64,
    /// Lines with a record of a known format.
    pub recorded: u64,
    /// Lines that were longer than 4096 bytes and cut.
    pub cut: u64,
    /// Events that found no room.
    pub dropped: u64,
    /// Events with their numbers and places.
    pub events: BTreeMap<LogEvent, EventCounts>,
    /// Whether there is a link at the end, where the log tells.
    pub linked: Option<bool>,
    /// The association that has no address at the end.
    pub waiting: Option<LogPlace>,
    /// The last event.
    pub last: Option<LogEvent>,
    /// Time of the device at the last record that has one, in milliseconds.
    pub last_ms: Option<u64>,
    /// Whether one of several sessions never reaches its server.
    pub has_dead_session: bool,
    /// How the parts of the device fared.
    pub courses: Box<PartCourses>,
    /// Rules that it was read with.
    pub rules: RulesOfLog,
}

impl LogSummary {
    /// Returns how long the device has waited for an address at the end, in milliseconds.
    pub fn waiting_ms(&self) -> Option<u64> {
        self.last_ms?.checked_sub(self.waiting.as_ref()?.uptime_ms?)
    }
}

impl LogSummary {
    /// Returns how often events came that a test picks.
    pub fn count(&self, is: impl Fn(&LogEvent) -> bool) -> u64 {
        self.events.iter().filter(|it| is(it.0)).map(|it| it.1.count).sum()
    }

    /// Returns how often events came that a test picks, those of one moment once: lines of one failure follow each other within a
    /// second, or where no time is known within three lines.
    pub fn moments(&self, is: impl Fn(&LogEvent) -> bool) -> u64 {
        let count = self.count(&is);
        let places = self.places(is);
        let known = places.len() as u64;
        if known == 0 {
            return count;
        }
        let is_next = |two: &&[&LogPlace]| match two[0].uptime_ms.zip(two[1].uptime_ms) {
            // A device that starts anew may be as old when it fails again.
            Some((before, at)) => {
                before.abs_diff(at) > MOMENT_MS || two[1].line > two[0].line + BURST_LINES
            }
            None => two[1].line > two[0].line + MOMENT_LINES,
        };
        let moments = 1 + places.windows(2).filter(is_next).count() as u64;
        // Of later ones the places are not known: they are taken for alike.
        (count * moments).div_ceil(known)
    }

    /// Returns whether what a test picks came at one moment alone, and the log of a device that is in its network, and has not
    /// started anew since, goes on for long without it: its program made it good.
    pub fn is_long_past(&self, is: impl Fn(&LogEvent) -> bool) -> bool {
        let (last, line) =
            (self.places(&is).last().and_then(|it| it.uptime_ms), self.last_line(&is));
        let goes_on = match self.last_ms.zip(last) {
            // No later line has a time.
            Some((now, at)) if now == at => self.lines >= line + PAST_LINES,
            Some((now, at)) => now.checked_sub(at).is_some_and(|it| it >= PAST_MS),
            None => self.lines >= line + PAST_LINES,
        };
        let restarted = self.last_line(|it| matches!(it, LogEvent::Reset(_))) > line;
        self.linked == Some(true) && !restarted && goes_on && self.moments(is) == 1
    }

    /// Returns whether a part of a device that is in its network failed, was made good each time, and fails no more often than is usual.
    pub fn is_well(&self, part: CourseOf) -> bool {
        let is_dead = part == CourseOf::Connections && self.has_dead_session;
        let is_there = self.linked == Some(true) || part == CourseOf::EspNow;
        // A device that starts anew behind it has made nothing good.
        let starts =
            |it: &LogEvent| matches!(it, LogEvent::Reset(it) if *it != ResetReason::DeepSleep);
        let is_left = self.last_line(starts) > self.courses.last_failure(part);
        is_there && !is_dead && !is_left && self.courses.is_well(part)
    }

    /// Takes back the last time of an event, where it is of that line.
    pub(super) fn take_back(&mut self, event: LogEvent, line: u64) {
        let Some(counts) = self.events.get_mut(&event).filter(|it| it.last == line) else { return };
        counts.places.retain(|it| it.line != line);
        counts.count -= 1;
        // Of the time before that the first places alone are known.
        counts.last = counts.former;
        let before = counts.places.iter().rev().find(|it| it.line < counts.former);
        counts.former = before.map_or(0, |it| it.line);
        if counts.count == 0 {
            self.events.remove(&event);
        }
    }

    /// Takes back what came last of some events, where it came within so many lines before one.
    pub(super) fn take_back_near(&mut self, events: &[LogEvent], within: u64, line: u64) {
        let lines = events.iter().filter_map(|it| Some((self.events.get(it)?.last, *it)));
        if let Some((last, event)) = lines.max().filter(|it| it.0 + within >= line) {
            self.take_back(event, last);
        }
    }

    /// Takes back the failure of TLS right before a line.
    pub(super) fn take_back_tls(&mut self, line: u64) {
        self.take_back_near(&OF_TLS, SERVER_LINES, line);
    }

    /// Returns the number of the last line with an event that a test picks, 0 where there is none.
    pub fn last_line(&self, is: impl Fn(&LogEvent) -> bool) -> u64 {
        self.events.iter().filter(|it| is(it.0)).map(|it| it.1.last).max().unwrap_or(0)
    }

    /// Returns the first places of events that a test picks, in the order of their lines.
    pub fn places(&self, is: impl Fn(&LogEvent) -> bool) -> Vec<&LogPlace> {
        let mut places: Vec<&LogPlace> =
            self.events.iter().filter(|it| is(it.0)).flat_map(|it| &it.1.places).collect();
        places.sort_by_key(|it| it.line);
        places.truncate(PLACES);
        places
    }
}

/// Returns a message as it may be shown: cut to 120 characters, and before a password.
pub(super) fn shown(text: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let secret = ["password", "passwd", "passphrase", "psk:", "psk="]
        .iter()
        .filter_map(|it| lower.find(it))
        .min();
    let end = secret.unwrap_or(text.len());
    let mut shown: String = text[..end].chars().take(120).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

//! A device that leaves its network by itself: what it closes for that, and what fails until it is back, is as it was asked for.

use super::course::{CourseOf, PartCourses};
use super::event::{LogEvent, ResetReason, SignName, WordCause};
use super::summary::LogSummary;
use alloc::vec::Vec;

/// `WIFI_REASON_ASSOC_LEAVE`
pub(super) const ASSOC_LEAVE: u8 = 8;

/// Sign of a program that ends the link by itself, or the device's run.
const PARTS: SignName = SignName("radio-off");

/// Sign of an update that ended well: the device starts anew.
const UPDATED: SignName = SignName("update-done");

/// Lines behind the end of a connection within which the program leaves the network, where it asked for both; lines behind its word
/// within which the link then goes; and lines behind that within which what else it had open ends.
const LINES: u64 = 8;

/// Failures that are kept until the link goes: a line may be of many records.
const MOST: usize = 16;

/// A failure, its line, and how the parts fared before.
type Failure = (LogEvent, u64, PartCourses);

/// Leaving of the network.
#[derive(Clone, Debug, Default)]
pub(super) struct Parting {
    /// The end of a connection that had worked.
    closed: Option<Failure>,
    /// Line with which the program said that it leaves, where the link has not gone yet.
    said: Option<u64>,
    /// Failures with that: as it was asked for, where the link goes.
    failed: Vec<Failure>,
    /// Line with which the link went.
    left: Option<u64>,
}

impl Parting {
    /// Returns whether the link has just gone as it was asked for.
    pub(super) fn is_away(&self, line: u64) -> bool {
        self.left.is_some_and(|it| line.saturating_sub(it) <= LINES)
    }

    /// Takes the end of a link in that a program tells in its own words. Returns whether it has asked for that.
    pub(super) fn ends(&mut self, line: u64, summary: &mut LogSummary) -> bool {
        if self.has_said(line) {
            self.leaves(line, summary);
        }
        self.is_away(line)
    }

    /// Takes the log's end in: a device that sleeps says no more.
    pub(super) fn end(&mut self, line: u64, summary: &mut LogSummary) {
        if self.has_said(line) {
            self.leaves(line, summary);
        }
    }

    /// Takes an event in, before a log keeps it.
    pub(super) fn see(&mut self, event: LogEvent, line: u64, text: &str, summary: &mut LogSummary) {
        match event {
            // Who only says so fails for another reason later.
            LogEvent::Sign(PARTS | UPDATED) if !self.has_said(line) => {
                self.said = Some(line);
                self.failed = self.soon(line).into_iter().collect();
            }
            LogEvent::Disconnected(ASSOC_LEAVE) => {
                if !self.has_said(line) {
                    self.failed = self.soon(line).into_iter().collect();
                }
                self.leaves(line, summary);
            }
            LogEvent::Reset(ResetReason::Software | ResetReason::DeepSleep)
            | LogEvent::Associated
            | LogEvent::GotIp => {
                if self.has_said(line) && matches!(event, LogEvent::Reset(_)) {
                    self.leaves(line, summary);
                }
                *self = Self::default();
            }
            LogEvent::Reset(_) => *self = Self::default(),
            LogEvent::ConnectionMade => {
                self.closed = None;
                self.failed = Vec::new();
            }
            _ if self.has_said(line) && needs_link(event, text) => {
                self.keep((event, line, *summary.courses));
            }
            // Without a word why, the program may have asked for it.
            LogEvent::ConnectionFailed | LogEvent::Words(WordCause::Connections) => {
                let was_up = summary.courses.is_reached(CourseOf::Connections);
                self.closed = was_up.then_some((event, line, *summary.courses));
            }
            LogEvent::SocketError(_) | LogEvent::ClientLeft => self.closed = None,
            _ => {}
        }
    }

    /// Keeps a failure until the link goes, where there is room.
    fn keep(&mut self, failure: Failure) {
        if self.failed.len() < MOST {
            self.failed.push(failure);
        }
    }

    /// Returns whether the program has just said that it leaves.
    fn has_said(&self, line: u64) -> bool {
        self.said.is_some_and(|it| line.saturating_sub(it) <= LINES)
    }

    /// Returns what was closed right before a line.
    fn soon(&mut self, line: u64) -> Option<Failure> {
        self.closed.take().filter(|it| line.saturating_sub(it.1) <= LINES)
    }

    /// Takes in that the link went as it was asked for: what failed with it is taken back.
    fn leaves(&mut self, line: u64, summary: &mut LogSummary) {
        if let Some((_, _, before)) = self.failed.first() {
            summary.courses.restore(before);
        }
        for (event, line, _) in core::mem::take(&mut self.failed).into_iter().rev() {
            summary.take_back(event, line);
        }
        (self.said, self.closed, self.left) = (None, None, Some(line));
    }
}

/// Returns whether an event is a failure that a link which is down explains. A handshake that its end breaks off asks for no
/// memory of its own.
pub(super) fn needs_link(event: LogEvent, text: &str) -> bool {
    match event {
        LogEvent::SocketError(_)
        | LogEvent::ConnectionFailed
        | LogEvent::ClientLeft
        | LogEvent::PingLost
        | LogEvent::NameFailed
        | LogEvent::TlsFailed(_) => true,
        LogEvent::NoMemory => text.contains("ssl_handshake"),
        _ => false,
    }
}

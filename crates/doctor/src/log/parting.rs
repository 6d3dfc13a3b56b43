//! A device that leaves its network by itself: what it closes for that, and what fails until it is back, is as it was asked for.

use super::course::{CourseOf, PartCourse};
use super::event::{LogEvent, SignName, WordCause};
use super::summary::LogSummary;

/// `WIFI_REASON_ASSOC_LEAVE`
pub(super) const ASSOC_LEAVE: u8 = 8;

/// Sign of a program that ends the link by itself, or the device's run.
const PARTS: SignName = SignName("radio-off");

/// Sign of an update that ended well: the device starts anew.
const UPDATED: SignName = SignName("update-done");

/// Lines behind the end of a connection within which the program leaves the network, where it asked for both, and lines behind that
/// within which what else it had open ends.
const LINES: u64 = 8;

/// Leaving of the network.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Parting {
    /// The end of a connection that had worked, its line, and how connections fared before.
    closed: Option<(LogEvent, u64, PartCourse)>,
    /// Line with which the program left, where it is not back.
    left: Option<u64>,
}

impl Parting {
    /// Returns whether the program has just left: who only says so fails for another reason later.
    pub(super) fn is_away(&self, line: u64) -> bool {
        self.left.is_some_and(|it| line.saturating_sub(it) <= LINES)
    }

    /// Takes an event in, before a log keeps it. What was closed right before the program leaves is taken back.
    pub(super) fn see(&mut self, event: LogEvent, line: u64, summary: &mut LogSummary) {
        match event {
            LogEvent::Sign(PARTS | UPDATED) | LogEvent::Disconnected(ASSOC_LEAVE) => {
                self.left = Some(line);
                let soon = self.closed.take().filter(|it| line.saturating_sub(it.1) <= LINES);
                if let Some((closed, at, before)) = soon {
                    summary.take_back(closed, at);
                    summary.courses.restore(CourseOf::Connections, before);
                }
            }
            LogEvent::Associated | LogEvent::GotIp | LogEvent::Reset(_) => self.left = None,
            // Without a word why, the program may have asked for it.
            LogEvent::ConnectionFailed | LogEvent::Words(WordCause::Connections) => {
                let before = summary.courses.of(CourseOf::Connections);
                self.closed = before.is_up().then_some((event, line, before));
            }
            LogEvent::SocketError(_) | LogEvent::ClientLeft | LogEvent::ConnectionMade => {
                self.closed = None;
            }
            _ => {}
        }
    }
}

/// Returns whether an event is a failure that a link which is down explains. A handshake that its end breaks off asks for no
/// memory of its own.
pub(super) fn needs_link(event: LogEvent, text: &str) -> bool {
    match event {
        LogEvent::SocketError(_)
        | LogEvent::ConnectionFailed
        | LogEvent::ClientLeft
        | LogEvent::NameFailed
        | LogEvent::TlsFailed(_) => true,
        LogEvent::NoMemory => text.contains("ssl_handshake"),
        _ => false,
    }
}

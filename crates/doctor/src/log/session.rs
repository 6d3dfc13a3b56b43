//! Sessions of a program, by the tags of its tasks: what one of them reaches makes nothing good for another, whose server is not
//! there.

use super::course::LogPoint;
use super::event::LogEvent;
use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::string::String;

/// Sessions that are followed at a time.
const SESSIONS: usize = 16;

/// Failures of a session that has never been well behind them from which on it is dead.
const DEAD: u64 = 3;

/// Returns whether an event of a tag is one of a session.
pub(super) const fn concerns(event: LogEvent, tag: &str) -> bool {
    let is_known = matches!(
        event,
        LogEvent::ConnectionMade | LogEvent::SocketError(_) | LogEvent::ConnectionFailed
    );
    is_known && !tag.is_empty()
}

/// Sessions, each with its failures since it last worked, and the place of the last one.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions(BTreeMap<String, (u64, LogPoint)>);

impl Sessions {
    /// Takes an event of a task in.
    pub(super) fn see(&mut self, event: LogEvent, tag: &str, at: LogPoint) {
        match event {
            LogEvent::ConnectionMade => {
                self.0.remove(tag);
            }
            LogEvent::SocketError(_) | LogEvent::ConnectionFailed
                if self.0.len() < SESSIONS || self.0.contains_key(tag) =>
            {
                let session = self.0.entry(tag.to_owned()).or_default();
                session.0 += u64::from(session.0 == 0 || !at.is_same_moment(session.1));
                session.1 = at;
            }
            _ => {}
        }
    }

    /// Returns whether one has failed again and again, and never worked behind that.
    pub(super) fn has_dead(&self) -> bool {
        self.0.values().any(|it| it.0 >= DEAD)
    }
}

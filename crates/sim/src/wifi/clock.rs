//! The deadlines of one station or access point, over one event of the room at a time.
//!
//! A deadline that moves away with every packet costs no event: the event that was asked for comes,
//! finds nothing due, and asks for the next.

use super::frame::MARK;
use crate::mac::Room;
use espbench_proto::time::Instant;

#[derive(Clone, Debug)]
pub(super) struct Clock<const N: usize> {
    due: [Instant; N],
    /// When the room will call, at the earliest.
    armed: Instant,
    token: u64,
}

impl<const N: usize> Clock<N> {
    /// For the station of that number.
    pub(super) const fn new(number: u32) -> Self {
        Self { due: [Instant::NEVER; N], armed: Instant::NEVER, token: MARK | number as u64 }
    }

    /// Sets a deadline; [`Instant::NEVER`] takes it back.
    pub(super) fn set(&mut self, room: &mut Room, what: usize, at: Instant) {
        self.due[what] = at;
        if at < self.armed {
            self.armed = at;
            room.wake_at(at, self.token);
        }
    }

    /// Takes a deadline back.
    pub(super) const fn stop(&mut self, what: usize) {
        self.due[what] = Instant::NEVER;
    }

    /// The first deadline that is due, which is taken back.
    pub(super) fn next_due(&mut self, now: Instant) -> Option<usize> {
        let what = self.due.iter().position(|&at| at <= now)?;
        self.due[what] = Instant::NEVER;
        Some(what)
    }

    /// The room has called, and nothing is due any more: it will call again for the next deadline.
    pub(super) fn rearm(&mut self, room: &mut Room) {
        if room.now() < self.armed {
            return;
        }
        self.armed = self.due.iter().copied().min().unwrap_or(Instant::NEVER);
        if self.armed != Instant::NEVER {
            room.wake_at(self.armed, self.token);
        }
    }
}

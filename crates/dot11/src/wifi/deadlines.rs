//! The deadlines of a station or access point, over one event of the medium at a time.
//!
//! A deadline that moves away with every packet costs no event: the scheduled event comes, finds
//! nothing due, and schedules the next one.

use super::frame::MARK;
use crate::mac::WirelessMedium;
use espbench_model::time::Instant;

#[derive(Clone, Debug)]
pub(super) struct Deadlines<const N: usize> {
    due: [Instant; N],
    /// The earliest time at which the medium will call.
    armed: Instant,
    token: u64,
}

impl<const N: usize> Deadlines<N> {
    /// Returns the clock of a station.
    pub(super) const fn new(number: u32) -> Self {
        Self { due: [Instant::NEVER; N], armed: Instant::NEVER, token: MARK | number as u64 }
    }

    /// Sets a deadline; [`Instant::NEVER`] cancels it.
    pub(super) fn set(&mut self, medium: &mut WirelessMedium, what: usize, at: Instant) {
        self.due[what] = at;
        if at < self.armed {
            self.armed = at;
            medium.wake_at(at, self.token);
        }
    }

    /// Cancels a deadline.
    pub(super) const fn stop(&mut self, what: usize) {
        self.due[what] = Instant::NEVER;
    }

    /// Returns the first deadline that is due, and cancels it.
    pub(super) fn next_due(&mut self, now: Instant) -> Option<usize> {
        let what = self.due.iter().position(|&at| at <= now)?;
        self.due[what] = Instant::NEVER;
        Some(what)
    }

    /// Asks the medium for the next deadline; call after a wake when nothing is due any more.
    pub(super) fn rearm(&mut self, medium: &mut WirelessMedium) {
        if medium.now() < self.armed {
            return;
        }
        self.armed = self.due.iter().copied().min().unwrap_or(Instant::NEVER);
        if self.armed != Instant::NEVER {
            medium.wake_at(self.armed, self.token);
        }
    }
}

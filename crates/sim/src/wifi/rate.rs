//! In which mode the next frame to a receiver goes.

use super::config::Rates;
use crate::radio::{Hr, Mode};
use alloc::vec::Vec;

/// How a sender sends to one receiver.
#[derive(Clone, Debug)]
pub(super) struct Rate {
    modes: Vec<Mode>,
    at: u8,
}

impl Rate {
    pub(super) fn new(rates: &Rates) -> Self {
        let modes = match rates {
            Rates::Fixed(mode) => [*mode].into(),
            Rates::Adaptive(modes) => modes.iter().copied().take(16).collect::<Vec<_>>(),
        };
        Self { at: modes.len().saturating_sub(1) as u8, modes }
    }

    /// The mode of the next frame, and its number among those of the sender.
    pub(super) fn pick(&self) -> (u8, Mode) {
        let mode = self.modes.get(usize::from(self.at));
        (self.at, mode.copied().unwrap_or(Mode::Hr(Hr::M1)))
    }

    /// What became of a frame.
    pub(super) const fn learn(&mut self, at: u8, attempts: u8, delivered: bool) {
        let _ = (at, attempts, delivered);
    }
}

//! The radio of a station, which is on while there is a reason for it.

use super::WifiStation;
use crate::mac::WirelessMedium;
use crate::wifi::upper::UpperLayer;
use espbench_model::time::Instant;

/// The station has told its access point that it is awake, or is not associated.
pub(super) const ACTIVE: u8 = 1;
/// The station waits for a beacon.
pub(super) const BEACON: u8 = 1 << 1;
/// The station waits for multicast.
pub(super) const GROUP: u8 = 1 << 2;
/// The station sends a frame without telling that it is awake.
pub(super) const SEND: u8 = 1 << 3;
/// The station waits for a frame that it has asked for with PS-Poll.
pub(super) const POLL: u8 = 1 << 4;

/// The station looks for its access point.
pub(super) const JOIN: u8 = 1 << 5;
/// A window of the connectionless modules is open.
pub(super) const WINDOW: u8 = 1 << 6;
/// Frames of no network are to be sent.
pub(super) const FOREIGN: u8 = 1 << 7;

/// All reasons.
pub(super) const ANY: u8 = u8::MAX;
/// The reasons that end with an association.
pub(super) const OF_A_LINK: u8 = BEACON | GROUP | SEND | POLL | JOIN;

/// The reasons for which the radio is on.
#[derive(Clone, Copy, Debug)]
pub(super) struct RadioUse {
    wants: u8,
    on: bool,
    /// Whether another protocol has the radio.
    taken: bool,
    /// The time of the last change.
    since: Instant,
}

impl Default for RadioUse {
    fn default() -> Self {
        Self { wants: ACTIVE, on: true, taken: false, since: Instant::ZERO }
    }
}

impl RadioUse {
    pub(super) const fn is_on(self) -> bool {
        self.on
    }

    /// Returns whether the radio is on, and was on at a time.
    pub(super) fn was_on(self, at: Instant) -> bool {
        self.on && self.since <= at
    }

    /// Returns whether the radio is on for one reason alone.
    pub(super) const fn wanted_only(self, what: u8) -> bool {
        self.on && self.wants == what
    }

    pub(super) const fn wanted(self, what: u8) -> bool {
        self.wants & what != 0
    }
}

impl WifiStation {
    /// Sets or clears a reason for which the radio is on.
    pub(super) fn want(
        &mut self,
        medium: &mut WirelessMedium,
        what: u8,
        wanted: bool,
        upper: &mut dyn UpperLayer,
    ) {
        if wanted {
            self.radio.wants |= what;
        } else {
            self.radio.wants &= !what;
        }
        self.update_radio(medium, upper);
    }

    /// Gives the radio to another protocol, or takes it back.
    pub(super) fn share(
        &mut self,
        medium: &mut WirelessMedium,
        taken: bool,
        upper: &mut dyn UpperLayer,
    ) {
        self.radio.taken = taken;
        self.update_radio(medium, upper);
    }

    fn update_radio(&mut self, medium: &mut WirelessMedium, upper: &mut dyn UpperLayer) {
        let on = self.radio.wants != 0 && !self.radio.taken;
        if on == self.radio.on {
            return;
        }
        (self.radio.on, self.radio.since) = (on, medium.now());
        if on {
            medium.wake_up(self.number);
        } else {
            medium.doze(self.number);
        }
        upper.on_awake(medium, self.number, on);
    }
}

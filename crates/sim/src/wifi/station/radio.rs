//! Whether the radio of a station is on: it is while anything wants it.

use super::Station;
use crate::mac::Room;
use crate::wifi::above::Above;
use espbench_proto::time::Instant;

/// The station has told its access point that it is awake, or is not associated.
pub(super) const ACTIVE: u8 = 1;
/// It waits for a beacon.
pub(super) const BEACON: u8 = 1 << 1;
/// It waits for multicast.
pub(super) const GROUP: u8 = 1 << 2;
/// It sends a frame without telling that it is awake.
pub(super) const SEND: u8 = 1 << 3;
/// It waits for what it has asked for with PS-Poll.
pub(super) const POLL: u8 = 1 << 4;

/// It looks for its access point.
pub(super) const JOIN: u8 = 1 << 5;
/// A window of the connectionless modules.
pub(super) const WINDOW: u8 = 1 << 6;
/// Frames of no network are to be sent.
pub(super) const FOREIGN: u8 = 1 << 7;

/// All of them.
pub(super) const ANY: u8 = u8::MAX;
/// What ends with an association.
pub(super) const OF_A_LINK: u8 = BEACON | GROUP | SEND | POLL | JOIN;

/// What the radio is on for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Radio {
    wants: u8,
    on: bool,
    /// Others have it.
    taken: bool,
    /// Since when.
    since: Instant,
}

impl Default for Radio {
    fn default() -> Self {
        Self { wants: ACTIVE, on: true, taken: false, since: Instant::ZERO }
    }
}

impl Radio {
    pub(super) const fn is_on(self) -> bool {
        self.on
    }

    /// Whether it is on, and was then.
    pub(super) fn was_on(self, at: Instant) -> bool {
        self.on && self.since <= at
    }

    pub(super) const fn wanted(self, what: u8) -> bool {
        self.wants & what != 0
    }
}

impl Station {
    /// Something wants the radio on, or no longer.
    pub(super) fn want(&mut self, room: &mut Room, what: u8, wanted: bool, above: &mut dyn Above) {
        if wanted {
            self.radio.wants |= what;
        } else {
            self.radio.wants &= !what;
        }
        self.turn(room, above);
    }

    /// The radio is given to others, or given back.
    pub(super) fn share(&mut self, room: &mut Room, taken: bool, above: &mut dyn Above) {
        self.radio.taken = taken;
        self.turn(room, above);
    }

    fn turn(&mut self, room: &mut Room, above: &mut dyn Above) {
        let on = self.radio.wants != 0 && !self.radio.taken;
        if on == self.radio.on {
            return;
        }
        (self.radio.on, self.radio.since) = (on, room.now());
        if on {
            room.rouse(self.number);
        } else {
            room.doze(self.number);
        }
        above.awake(room, self.number, on);
    }
}

//! Channel access of a station (10.3.4).
//!
//! Nothing is counted while the medium is idle: the state is the instant from which slots are
//! counted, and the number of slots left. When the medium becomes busy, the whole slots that have
//! gone by are subtracted, and the rest waits ("frozen"). So a station whose counter is above zero
//! when others send never sends in the first slot afterwards; one that has just sent may, because
//! it may draw zero.

use super::frame::Kind;
use crate::radio::Timing;

/// The effect of a busy medium on a back-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pause {
    /// The back-off is frozen; a running timer must be stopped.
    Frozen,
    /// The station has already turned to sending.
    Committed,
    /// The station wanted to send without back-off, and must draw one now (10.3.4.2).
    Draw,
}

/// The slots since an instant, kept for the next station that asks for the same.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Elapsed {
    base: u64,
    slot: u32,
    slots: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// The instant from which slots are counted while the medium is idle.
    base: u64,
    /// The network allocation vector: the time until which the medium is reserved (10.3.2.4).
    nav: u64,
    /// The end of an EIFS that has begun.
    eifs_until: u64,
    /// The slots left, counted from `base`.
    slots: u32,
    slot_ns: u32,
    difs_ns: u32,
    eifs_ns: u32,
    /// Whether a frame of this station waits for the medium.
    pub(crate) contending: bool,
    /// Whether a frame was sent and its response has not come.
    pub(crate) waiting: bool,
    /// The kind of response that the station waits for.
    pub(crate) expects: Kind,
    /// Whether a back-off was drawn and is not over.
    drawn: bool,
    /// Whether the last frame could not be read, so that EIFS follows it (10.3.2.3.7).
    error: bool,
}

impl Access {
    pub(crate) fn new(timing: Timing) -> Self {
        let difs_ns = timing.difs_ns() as u32;
        Self {
            base: u64::from(difs_ns),
            nav: 0,
            eifs_until: 0,
            slots: 0,
            slot_ns: timing.slot_ns as u32,
            difs_ns,
            eifs_ns: timing.eifs_ns() as u32,
            contending: false,
            waiting: false,
            expects: Kind::Ack,
            drawn: false,
            error: false,
        }
    }

    /// Returns the time at which the back-off ends if the medium stays idle.
    #[inline]
    pub(crate) const fn due(&self) -> u64 {
        self.base + self.slots as u64 * self.slot_ns as u64
    }

    /// Freezes the back-off because the medium becomes busy.
    #[inline]
    pub(crate) fn pause(&mut self, now: u64, turnaround: u64, cache: &mut Elapsed) -> Pause {
        if self.contending && self.due() <= now + turnaround {
            return Pause::Committed;
        }
        if !self.drawn {
            return if self.contending { Pause::Draw } else { Pause::Frozen };
        }
        if now > self.base {
            if cache.base != self.base || cache.slot != self.slot_ns {
                let slots = (now - self.base) / u64::from(self.slot_ns);
                let slots = u32::try_from(slots).unwrap_or(u32::MAX);
                *cache = Elapsed { base: self.base, slot: self.slot_ns, slots };
            }
            if !self.contending && cache.slots >= self.slots {
                self.drawn = false;
            }
            self.slots = self.slots.saturating_sub(cache.slots);
        }
        Pause::Frozen
    }

    /// Starts the back-off again because the medium becomes idle. Slots are counted from DIFS after
    /// now, or after the NAV, or from EIFS after a frame that could not be read, whichever is last.
    #[inline]
    pub(crate) fn resume(&mut self, now: u64) {
        if self.error {
            self.error = false;
            self.eifs_until = now + u64::from(self.eifs_ns);
        }
        self.base = (now.max(self.nav) + u64::from(self.difs_ns)).max(self.eifs_until);
    }

    /// Takes note of a frame that was read, which ends an EIFS (10.3.2.3.7). `duration` in
    /// nanoseconds is from its Duration field, zero if the frame is for this station (10.3.2.4).
    #[inline]
    pub(crate) fn correct(&mut self, now: u64, duration: u64) {
        self.error = false;
        self.eifs_until = 0;
        if duration > 0 {
            self.nav = self.nav.max(now + duration);
        }
    }

    /// Returns whether the network allocation vector reserves the medium for another exchange.
    pub(crate) const fn reserved(&self, now: u64) -> bool {
        self.nav > now
    }

    /// Takes note of a frame that could not be read.
    #[inline]
    pub(crate) const fn error(&mut self) {
        self.error = true;
    }

    /// Begins a back-off of `slots` slots (10.3.4.3), counted from now, or from when the medium has
    /// been idle long enough.
    pub(crate) fn back_off(&mut self, now: u64, slots: u32) {
        self.drawn = true;
        self.slots = slots;
        self.base = self.base.max(now);
    }

    /// Sets the back-off of a station whose medium is busy.
    pub(crate) const fn draw(&mut self, slots: u32) {
        self.drawn = true;
        self.slots = slots;
    }

    /// Asks for the medium because a frame comes to a station that had none. Returns whether a
    /// back-off must be drawn for it.
    pub(crate) fn contend(&mut self, now: u64, busy: bool) -> bool {
        self.contending = true;
        if busy {
            return !self.drawn;
        }
        if !(self.drawn && self.due() >= now) {
            // The medium is idle and no back-off is left: the station sends at once, or after DIFS
            // (10.3.4.2).
            self.drawn = false;
            self.slots = 0;
            self.base = self.base.max(now);
        }
        false
    }

    /// Takes note that the station sends its frame.
    pub(crate) const fn sends(&mut self) {
        self.contending = false;
        self.drawn = false;
        self.slots = 0;
    }
}

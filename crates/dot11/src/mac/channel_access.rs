//! Channel access of a station (10.3.4).
//!
//! Nothing is counted while the medium is idle: the state is the instant from which slots are
//! counted, and the number of slots left. When the medium becomes busy, the whole slots that have
//! gone by are subtracted, and the rest waits ("frozen"). So a station whose counter is above zero
//! when others send never sends in the first slot afterwards; one that has just sent may, because
//! it may draw zero.

use super::frame::FrameKind;
use crate::radio::Timing;

/// The effect of a busy medium on a back-off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BusyOutcome {
    /// The back-off is frozen; a running timer must be stopped.
    Frozen,
    /// The station has already turned to sending.
    Committed,
    /// The station wanted to send without back-off, and must draw one now (10.3.4.2).
    Draw,
}

/// The slots since an instant, kept for the next station that asks for the same.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ElapsedSlots {
    base: u64,
    slot: u32,
    slots: u32,
}

#[derive(Clone, Debug)]
pub(crate) struct ChannelAccess {
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
    pub(crate) awaiting_response: bool,
    /// The kind of response that the station waits for.
    pub(crate) expected_response: FrameKind,
    /// Whether a back-off was drawn and is not over.
    backoff_drawn: bool,
    /// Whether the last frame could not be read, so that EIFS follows it (10.3.2.3.7).
    eifs_needed: bool,
}

impl ChannelAccess {
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
            awaiting_response: false,
            expected_response: FrameKind::Ack,
            backoff_drawn: false,
            eifs_needed: false,
        }
    }

    /// Returns the time at which the back-off ends if the medium stays idle.
    #[inline]
    pub(crate) const fn backoff_end(&self) -> u64 {
        self.base + self.slots as u64 * self.slot_ns as u64
    }

    /// Freezes the back-off because the medium becomes busy.
    #[inline]
    pub(crate) fn on_medium_busy(
        &mut self,
        now: u64,
        turnaround: u64,
        cache: &mut ElapsedSlots,
    ) -> BusyOutcome {
        if self.contending && self.backoff_end() <= now + turnaround {
            return BusyOutcome::Committed;
        }
        if !self.backoff_drawn {
            return if self.contending { BusyOutcome::Draw } else { BusyOutcome::Frozen };
        }
        if now > self.base {
            if cache.base != self.base || cache.slot != self.slot_ns {
                let slots = (now - self.base) / u64::from(self.slot_ns);
                let slots = u32::try_from(slots).unwrap_or(u32::MAX);
                *cache = ElapsedSlots { base: self.base, slot: self.slot_ns, slots };
            }
            if !self.contending && cache.slots >= self.slots {
                self.backoff_drawn = false;
            }
            self.slots = self.slots.saturating_sub(cache.slots);
        }
        BusyOutcome::Frozen
    }

    /// Starts the back-off again because the medium becomes idle. Slots are counted from DIFS after
    /// now, or after the NAV, or from EIFS after a frame that could not be read, whichever is last.
    #[inline]
    pub(crate) fn on_medium_idle(&mut self, now: u64) {
        if self.eifs_needed {
            self.eifs_needed = false;
            self.eifs_until = now + u64::from(self.eifs_ns);
        }
        self.base = (now.max(self.nav) + u64::from(self.difs_ns)).max(self.eifs_until);
    }

    /// Takes note of a frame that was read, which ends an EIFS (10.3.2.3.7). `duration` in
    /// nanoseconds is from its Duration field, zero if the frame is for this station (10.3.2.4).
    #[inline]
    pub(crate) fn on_rx_ok(&mut self, now: u64, duration: u64) {
        self.eifs_needed = false;
        self.eifs_until = 0;
        if duration > 0 {
            self.nav = self.nav.max(now + duration);
        }
    }

    /// Returns whether the network allocation vector reserves the medium for another exchange.
    pub(crate) const fn nav_busy(&self, now: u64) -> bool {
        self.nav > now
    }

    /// Takes note of a frame that could not be read.
    #[inline]
    pub(crate) const fn on_rx_error(&mut self) {
        self.eifs_needed = true;
    }

    /// Begins a back-off of `slots` slots (10.3.4.3), counted from now, or from when the medium has
    /// been idle long enough.
    pub(crate) fn start_backoff(&mut self, now: u64, slots: u32) {
        self.backoff_drawn = true;
        self.slots = slots;
        self.base = self.base.max(now);
    }

    /// Sets the back-off of a station whose medium is busy.
    pub(crate) const fn set_backoff(&mut self, slots: u32) {
        self.backoff_drawn = true;
        self.slots = slots;
    }

    /// Asks for the medium because a frame comes to a station that had none. Returns whether a
    /// back-off must be drawn for it.
    pub(crate) fn request_access(&mut self, now: u64, busy: bool) -> bool {
        self.contending = true;
        if busy {
            return !self.backoff_drawn;
        }
        if !(self.backoff_drawn && self.backoff_end() >= now) {
            // The medium is idle and no back-off is left: the station sends at once, or after DIFS
            // (10.3.4.2).
            self.backoff_drawn = false;
            self.slots = 0;
            self.base = self.base.max(now);
        }
        false
    }

    /// Takes note that the station sends its frame.
    pub(crate) const fn on_tx_start(&mut self) {
        self.contending = false;
        self.backoff_drawn = false;
        self.slots = 0;
    }
}

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
    slot_us: u8,
    slots: u16,
}

/// A frame of this station waits for the medium.
const CONTENDING: u8 = 1;
/// A frame was sent and its response has not come.
const AWAITING_RESPONSE: u8 = 2;
/// A back-off was drawn and is not over.
const BACKOFF_DRAWN: u8 = 4;
/// The last frame could not be read, so that EIFS follows it (10.3.2.3.7).
const EIFS_NEEDED: u8 = 8;

/// The state of a station's channel access, in half a cache line. Its times are of whole
/// microseconds.
#[derive(Clone, Debug)]
pub(crate) struct ChannelAccess {
    /// The instant from which slots are counted while the medium is idle.
    base: u64,
    /// The network allocation vector: the time until which the medium is reserved (10.3.2.4).
    nav: u64,
    /// The end of an EIFS that has begun.
    eifs_until: u64,
    /// The slots left, counted from `base`.
    slots: u16,
    difs_us: u16,
    slot_us: u8,
    /// EIFS beyond DIFS, which is SIFS and an ACK at the lowest rate, in units of two microseconds.
    eifs_2_us: u8,
    /// The kind of response that the station waits for.
    pub(crate) expected_response: FrameKind,
    flags: u8,
}

const _: () = assert!(size_of::<ChannelAccess>() == 32);

impl ChannelAccess {
    pub(crate) const fn new(timing: Timing) -> Self {
        debug_assert!(timing.slot_ns.is_multiple_of(1000) && timing.sifs_ns.is_multiple_of(1000));
        Self {
            base: timing.difs_ns(),
            nav: 0,
            eifs_until: 0,
            slots: 0,
            difs_us: (timing.difs_ns() / 1000) as u16,
            slot_us: (timing.slot_ns / 1000) as u8,
            eifs_2_us: ((timing.eifs_ns() - timing.difs_ns()) / 2000) as u8,
            expected_response: FrameKind::Ack,
            flags: 0,
        }
    }

    #[inline]
    const fn set(&mut self, flag: u8, on: bool) {
        self.flags = if on { self.flags | flag } else { self.flags & !flag };
    }

    /// Returns whether a frame of this station waits for the medium.
    #[inline]
    pub(crate) const fn contending(&self) -> bool {
        self.flags & CONTENDING != 0
    }

    #[inline]
    pub(crate) const fn set_contending(&mut self, contending: bool) {
        self.set(CONTENDING, contending);
    }

    /// Returns whether a frame was sent and its response has not come.
    #[inline]
    pub(crate) const fn awaiting_response(&self) -> bool {
        self.flags & AWAITING_RESPONSE != 0
    }

    #[inline]
    pub(crate) const fn set_awaiting_response(&mut self, awaiting: bool) {
        self.set(AWAITING_RESPONSE, awaiting);
    }

    #[inline]
    const fn backoff_drawn(&self) -> bool {
        self.flags & BACKOFF_DRAWN != 0
    }

    #[inline]
    const fn difs_ns(&self) -> u64 {
        self.difs_us as u64 * 1000
    }

    const fn eifs_ns(&self) -> u64 {
        self.difs_ns() + self.eifs_2_us as u64 * 2000
    }

    /// Returns the time at which the back-off ends if the medium stays idle.
    #[inline]
    pub(crate) const fn backoff_end(&self) -> u64 {
        self.base + self.slots as u64 * self.slot_us as u64 * 1000
    }

    /// Returns whether a medium that becomes busy changes nothing: no frame waits, and no back-off
    /// was drawn.
    #[inline]
    pub(crate) const fn at_rest(&self) -> bool {
        self.flags & (CONTENDING | BACKOFF_DRAWN) == 0
    }

    /// Freezes the back-off because the medium becomes busy.
    #[inline]
    pub(crate) fn on_medium_busy(
        &mut self,
        now: u64,
        turnaround: u64,
        cache: &mut ElapsedSlots,
    ) -> BusyOutcome {
        if self.contending() && self.backoff_end() <= now + turnaround {
            return BusyOutcome::Committed;
        }
        if !self.backoff_drawn() {
            return if self.contending() { BusyOutcome::Draw } else { BusyOutcome::Frozen };
        }
        if now > self.base {
            if cache.base != self.base || cache.slot_us != self.slot_us {
                let slots = (now - self.base) / (u64::from(self.slot_us) * 1000);
                let slots = u16::try_from(slots).unwrap_or(u16::MAX);
                *cache = ElapsedSlots { base: self.base, slot_us: self.slot_us, slots };
            }
            if !self.contending() && cache.slots >= self.slots {
                self.set(BACKOFF_DRAWN, false);
            }
            self.slots = self.slots.saturating_sub(cache.slots);
        }
        BusyOutcome::Frozen
    }

    /// Starts the back-off again because the medium becomes idle. Slots are counted from DIFS after
    /// now, or after the NAV, or from EIFS after a frame that could not be read, whichever is last.
    #[inline]
    pub(crate) fn on_medium_idle(&mut self, now: u64) {
        if self.flags & EIFS_NEEDED != 0 {
            self.set(EIFS_NEEDED, false);
            self.eifs_until = now + self.eifs_ns();
        }
        self.base = (now.max(self.nav) + self.difs_ns()).max(self.eifs_until);
    }

    /// Takes note of a frame that was read, which ends an EIFS (10.3.2.3.7). `duration` in
    /// nanoseconds is from its Duration field, zero if the frame is for this station (10.3.2.4).
    #[inline]
    pub(crate) fn on_rx_ok(&mut self, now: u64, duration: u64) {
        self.set(EIFS_NEEDED, false);
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
        self.set(EIFS_NEEDED, true);
    }

    /// Begins a back-off of `slots` slots (10.3.4.3), counted from now, or from when the medium has
    /// been idle long enough.
    pub(crate) fn start_backoff(&mut self, now: u64, slots: u16) {
        self.set(BACKOFF_DRAWN, true);
        self.slots = slots;
        self.base = self.base.max(now);
    }

    /// Sets the back-off of a station whose medium is busy.
    pub(crate) const fn set_backoff(&mut self, slots: u16) {
        self.set(BACKOFF_DRAWN, true);
        self.slots = slots;
    }

    /// Asks for the medium because a frame comes to a station that had none. Returns whether a
    /// back-off must be drawn for it.
    pub(crate) fn request_access(&mut self, now: u64, busy: bool) -> bool {
        self.set(CONTENDING, true);
        if busy {
            return !self.backoff_drawn();
        }
        if !(self.backoff_drawn() && self.backoff_end() >= now) {
            // The medium is idle and no back-off is left: the station sends at once, or after DIFS
            // (10.3.4.2).
            self.set(BACKOFF_DRAWN, false);
            self.slots = 0;
            self.base = self.base.max(now);
        }
        false
    }

    /// Takes note that the station sends its frame.
    pub(crate) const fn on_tx_start(&mut self) {
        self.flags &= !(CONTENDING | BACKOFF_DRAWN);
        self.slots = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const US: u64 = 1000;
    const TURNAROUND: u64 = 5 * US;
    const DIFS: u64 = 50 * US;
    const EIFS: u64 = 364 * US;

    /// Returns the access of a station of clause 16 that has a frame to send from `now` on, and
    /// `slots` before it.
    fn waiting(now: u64, slots: u16) -> ChannelAccess {
        let mut access = ChannelAccess::new(Timing::HR);
        access.set_contending(true);
        access.start_backoff(now, slots);
        access
    }

    fn busy(access: &mut ChannelAccess, now: u64) -> BusyOutcome {
        access.on_medium_busy(now, TURNAROUND, &mut ElapsedSlots::default())
    }

    #[test]
    fn the_first_frame_waits_for_difs_at_most() {
        for (asks, sends) in [(0, DIFS), (30 * US, DIFS), (DIFS, DIFS), (70 * US, 70 * US)] {
            let mut access = ChannelAccess::new(Timing::HR);
            assert!(!access.request_access(asks, false), "no back-off is drawn");
            assert!(access.contending());
            assert_eq!(access.backoff_end(), sends);
        }
    }

    /// Of nine slots two are over when another station sends, then three, then the rest.
    #[test]
    fn whole_slots_that_have_gone_by_are_not_waited_for_again() {
        let mut access = waiting(1000 * US, 9);
        assert_eq!(access.backoff_end(), 1180 * US);
        for (from, until, left) in [(1047, 3000, 7), (3110, 4000, 4), (4050, 5000, 4)] {
            assert_eq!(busy(&mut access, from * US), BusyOutcome::Frozen);
            access.on_medium_idle(until * US);
            assert_eq!(access.backoff_end(), until * US + DIFS + left * 20 * US);
        }
        // Busy within DIFS: no slot has begun.
        assert_eq!(busy(&mut access, 5049 * US), BusyOutcome::Frozen);
        access.on_medium_idle(6000 * US);
        assert_eq!(access.backoff_end(), 6000 * US + DIFS + 80 * US);
        access.on_tx_start();
        assert!(!access.contending());
        assert_eq!(access.backoff_end(), 6000 * US + DIFS, "nothing is left of it");
    }

    /// A station needs 5 us to turn to sending, in which it does not hear others.
    #[test]
    fn who_has_turned_to_sending_sends() {
        let end = 1060 * US;
        for (now, outcome) in [
            (end - TURNAROUND - 1, BusyOutcome::Frozen),
            (end - TURNAROUND, BusyOutcome::Committed),
            (end, BusyOutcome::Committed),
        ] {
            assert_eq!(busy(&mut waiting(1000 * US, 3), now), outcome, "{now}");
        }
        // Who has nothing to send is not committed to anything.
        let mut idle = waiting(1000 * US, 3);
        idle.set_contending(false);
        assert_eq!(busy(&mut idle, end), BusyOutcome::Frozen);
    }

    #[test]
    fn who_wanted_to_send_without_back_off_draws_one() {
        let mut access = ChannelAccess::new(Timing::HR);
        assert_eq!(busy(&mut access, 10 * US), BusyOutcome::Frozen, "nothing to send");
        access.request_access(20 * US, false);
        assert_eq!(busy(&mut access, 30 * US), BusyOutcome::Draw);
        access.set_backoff(2);
        assert_eq!(busy(&mut access, 31 * US), BusyOutcome::Frozen, "it has one now");
        access.on_medium_idle(100 * US);
        assert_eq!(access.backoff_end(), 100 * US + DIFS + 40 * US);
    }

    /// The back-off after a transmission goes on with nothing to send (10.3.4.3): a frame that comes
    /// before its end waits for the rest, a later one does not.
    #[test]
    fn a_back_off_without_a_frame_ends_on_its_own() {
        let after = |slots: u16| {
            let mut access = waiting(1000 * US, slots);
            access.set_contending(false);
            access
        };
        for (asks, sends) in [(1010, 1060), (1060, 1060), (1061, 1061), (2000, 2000)] {
            let mut access = after(3);
            assert!(!access.request_access(asks * US, false));
            assert_eq!(access.backoff_end(), sends * US, "{asks}");
        }
        // While others send: is there a back-off already, or must one be drawn?
        for (until, slots, draws) in
            [(1059, 3, false), (1060, 3, true), (1080, 3, true), (1000, 0, false), (1001, 0, true)]
        {
            let mut access = after(slots);
            assert_eq!(busy(&mut access, until * US), BusyOutcome::Frozen);
            assert_eq!(access.request_access(3000 * US, true), draws, "{until}, {slots}");
            assert!(access.contending());
        }
    }

    #[test]
    fn after_a_frame_that_could_not_be_read_slots_begin_after_eifs() {
        let mut access = waiting(1000 * US, 4);
        assert_eq!(busy(&mut access, 1000 * US), BusyOutcome::Frozen);
        access.on_rx_error();
        access.on_medium_idle(2000 * US);
        assert_eq!(access.backoff_end(), 2000 * US + EIFS + 80 * US);
        // Energy that is no frame does not end it, nor make it begin again.
        assert_eq!(busy(&mut access, 2100 * US), BusyOutcome::Frozen);
        access.on_medium_idle(2200 * US);
        assert_eq!(access.backoff_end(), 2000 * US + EIFS + 80 * US);
        // A frame that is read does (10.3.2.3.7).
        assert_eq!(busy(&mut access, 2210 * US), BusyOutcome::Frozen);
        access.on_rx_ok(2300 * US, 0);
        access.on_medium_idle(2300 * US);
        assert_eq!(access.backoff_end(), 2300 * US + DIFS + 80 * US);
        // One that is read after one that is not, within one busy time.
        assert_eq!(busy(&mut access, 2310 * US), BusyOutcome::Frozen);
        access.on_rx_error();
        access.on_rx_ok(2400 * US, 0);
        access.on_medium_idle(2400 * US);
        assert_eq!(access.backoff_end(), 2400 * US + DIFS + 80 * US);
    }

    /// The vector is the longest of what was told; DIFS comes after it.
    #[test]
    fn the_network_allocation_vector_reserves_the_medium() {
        let mut access = waiting(1000 * US, 1);
        assert!(!access.nav_busy(0));
        assert_eq!(busy(&mut access, 1000 * US), BusyOutcome::Frozen);
        access.on_rx_ok(2000 * US, 500 * US);
        access.on_medium_idle(2000 * US);
        assert!(access.nav_busy(2499 * US) && !access.nav_busy(2500 * US));
        assert_eq!(access.backoff_end(), 2500 * US + DIFS + 20 * US);
        assert_eq!(busy(&mut access, 2100 * US), BusyOutcome::Frozen);
        access.on_rx_ok(2200 * US, 100 * US);
        access.on_medium_idle(2200 * US);
        assert_eq!(access.backoff_end(), 2500 * US + DIFS + 20 * US, "a shorter one");
        assert_eq!(busy(&mut access, 2300 * US), BusyOutcome::Frozen);
        access.on_rx_ok(2400 * US, 0);
        access.on_medium_idle(2600 * US);
        assert_eq!(access.backoff_end(), 2600 * US + DIFS + 20 * US, "it is over");
        // EIFS that ends after the vector, and before it.
        for (reserved, sends) in [(100, 3000 * US + EIFS), (900, 3900 * US + DIFS)] {
            let mut access = waiting(1000 * US, 0);
            access.on_rx_ok(3000 * US, reserved * US);
            access.on_rx_error();
            access.on_medium_idle(3000 * US);
            assert_eq!(access.backoff_end(), sends, "{reserved}");
        }
    }

    /// The slots of one station serve others, where they began at one time and are as long.
    #[test]
    fn slots_that_are_kept_serve_only_those_that_count_the_same() {
        let mut cache = ElapsedSlots::default();
        let stations = [
            (Timing::HR, 1000, 5),
            (Timing::HR, 1000, 5),
            (Timing::ERP_SHORT_SLOT, 1000, 11),
            (Timing::ERP_SHORT_SLOT, 1030, 7),
            (Timing::HR, 1030, 3),
        ];
        let left = stations.map(|(timing, from, _)| {
            let mut access = ChannelAccess::new(timing);
            access.set_contending(true);
            access.start_backoff(from * US, 20);
            assert_eq!(
                access.on_medium_busy(1100 * US, TURNAROUND, &mut cache),
                BusyOutcome::Frozen
            );
            access.on_medium_idle(2000 * US);
            (access.backoff_end() - 2000 * US - timing.difs_ns()) / timing.slot_ns
        });
        let gone: Vec<u64> = left.iter().map(|left| 20 - left).collect();
        assert_eq!(gone, stations.map(|(.., slots)| slots));
    }

    #[test]
    fn slots_are_counted_from_when_the_medium_has_been_idle_long_enough() {
        let mut access = ChannelAccess::new(Timing::HR);
        access.on_medium_idle(1000 * US);
        access.start_backoff(1010 * US, 2);
        assert_eq!(access.backoff_end(), 1000 * US + DIFS + 40 * US);
        access.start_backoff(1200 * US, 2);
        assert_eq!(access.backoff_end(), 1240 * US, "as after an ACK that did not come");
    }
}

//! A block-ack agreement between two stations (HT-immediate; 10.25.2, 10.25.6): the sequence
//! numbers of its originator, and the scoreboard and reorder buffer of its recipient.
//!
//! Scoreboard and reorder buffer are separate, as in the standard: the scoreboard gives what is
//! acknowledged, the reorder buffer what is handed up. Both count modulo 4096 and hold at most 64.

use super::frame::Ppdu;
use alloc::vec::Vec;

/// The mask of a sequence number, which has 12 bits.
const MASK: u16 = 0xFFF;
/// Half of the sequence number space: a number less than this ahead of another one is after it.
const HALF: u16 = 0x800;
/// The numbers that a compressed bitmap covers.
const BITS: u16 = 64;

/// The time for which an MPDU waits for a missing one before it, in nanoseconds: a lost frame whose
/// sender is gone must not hold up the rest for ever. The standard leaves it open; Linux's mac80211
/// has HZ / 10 (`HT_RX_REORDER_BUF_TIMEOUT`, net/mac80211/rx.c).
pub(crate) const REORDER_TIMEOUT_NS: u64 = 100_000_000;

/// Returns the sequence number `steps` after `number`.
pub(crate) const fn after(number: u16, steps: u16) -> u16 {
    number.wrapping_add(steps) & MASK
}

/// Returns how far `number` is ahead of `of`; a number behind is far ahead.
pub(crate) const fn ahead(number: u16, of: u16) -> u16 {
    number.wrapping_sub(of) & MASK
}

/// The place of a received MPDU in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MpduArrival {
    /// The next number: the MPDU is handed up.
    Next,
    /// A number before it is missing: the MPDU waits.
    Early,
    /// A number that was received before.
    Repeated,
    /// A new number, but later ones have been handed up already.
    Late,
}

/// An MPDU in the reorder buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferedMpdu {
    pub(crate) frame: Ppdu,
    pub(crate) rssi: i8,
}

#[derive(Clone, Debug)]
pub(crate) struct BlockAckAgreement {
    pub(crate) from: u32,
    pub(crate) to: u32,
    /// Whether both stations know the starting sequence number.
    pub(crate) agreed: bool,
    /// The next number that the originator gives.
    pub(crate) next: u16,
    /// Whether an event that looks for MPDUs that have waited too long is scheduled.
    pub(crate) timeout_scheduled: bool,
    /// The highest number received; `got` has a bit for each number up to it, the highest first.
    highest: u16,
    got: u64,
    /// The number that the reorder buffer waits for.
    start: u16,
    /// The number before which the reorder buffer does not wait any longer.
    floor: u16,
    /// The numbers that the reorder buffer spans.
    size: u16,
    /// The occupied places of `held`; a number has the place of its last six bits.
    taken: u64,
    held: Vec<BufferedMpdu>,
}

const fn place(number: u16) -> u16 {
    number % BITS
}

impl BlockAckAgreement {
    pub(crate) fn new(from: u32, to: u32, size: u8) -> Self {
        let size = u16::from(size).clamp(1, BITS);
        Self {
            from,
            to,
            agreed: false,
            next: 0,
            timeout_scheduled: false,
            highest: MASK,
            got: 0,
            start: 0,
            floor: 0,
            size,
            taken: 0,
            held: Vec::new(),
        }
    }

    /// Begins the agreement, or begins it again, with the number `first`. MPDUs in the reorder
    /// buffer are lost: take them out first ([`BlockAckAgreement::give_up_before`]).
    pub(crate) const fn begin(&mut self, first: u16) {
        self.agreed = true;
        self.highest = ahead(first, 1);
        self.got = 0;
        self.start = first;
        self.floor = first;
        self.taken = 0;
    }

    /// Forgets the recipient's state.
    pub(crate) const fn forget(&mut self) {
        self.agreed = false;
        self.taken = 0;
    }

    /// Returns whether an MPDU may be sent while the oldest one not acknowledged is `oldest`.
    pub(crate) const fn may_send(&self, number: u16, oldest: u16) -> bool {
        ahead(number, oldest) < self.size
    }

    /// Takes note of an MPDU that was received and will be acknowledged. After
    /// [`MpduArrival::Early`], call [`BlockAckAgreement::release`] until it returns `None`, then
    /// [`BlockAckAgreement::hold`]; after [`MpduArrival::Next`], [`BlockAckAgreement::release`]
    /// until it returns `None`.
    pub(crate) const fn receive(&mut self, number: u16) -> MpduArrival {
        let more = ahead(number, self.highest);
        if more == 0 || more >= HALF {
            let before = ahead(self.highest, number);
            if before >= BITS || self.got >> before & 1 == 1 {
                return MpduArrival::Repeated;
            }
            self.got |= 1 << before;
        } else {
            self.got = if more < BITS { self.got << more | 1 } else { 1 };
            self.highest = number;
        }
        let offset = ahead(number, self.start);
        if offset == 0 {
            self.start = after(number, 1);
            return MpduArrival::Next;
        }
        if offset >= HALF {
            return MpduArrival::Late;
        }
        if offset >= self.size {
            self.floor = after(ahead(number, self.size), 1);
        }
        MpduArrival::Early
    }

    /// Keeps an MPDU until those before it have come. Returns it if none are missing.
    pub(crate) fn hold(&mut self, held: BufferedMpdu) -> Option<BufferedMpdu> {
        let number = held.frame.sequence;
        if number == self.start {
            self.start = after(number, 1);
            return Some(held);
        }
        if self.held.is_empty() {
            self.held.resize(usize::from(BITS), held);
        }
        self.held[usize::from(place(number))] = held;
        self.taken |= 1 << place(number);
        None
    }

    /// Returns the next MPDU that need not wait any more; call until it returns `None`.
    pub(crate) fn release(&mut self) -> Option<BufferedMpdu> {
        loop {
            let at = place(self.start);
            let taken = self.taken >> at & 1 == 1;
            let skip = (1..HALF).contains(&ahead(self.floor, self.start));
            if !taken && !skip {
                self.floor = self.start;
                return None;
            }
            self.start = after(self.start, 1);
            if taken {
                self.taken &= !(1 << at);
                return self.held.get(usize::from(at)).copied();
            }
        }
    }

    /// Gives up the MPDUs before `number`, as the originator has done (10.25.6.6.3).
    pub(crate) const fn give_up_before(&mut self, number: u16) {
        if ahead(number, self.start) < HALF {
            self.floor = number;
        }
    }

    /// Gives up all missing MPDUs.
    pub(crate) const fn give_up(&mut self) {
        self.floor = after(self.highest, 1);
    }

    /// Returns the time at which the MPDU that waits longest must not wait any more.
    pub(crate) fn due(&self) -> Option<u64> {
        self.waiting().map(|held| held.frame.end + REORDER_TIMEOUT_NS).min()
    }

    /// Gives up the MPDUs that others have waited for long enough.
    pub(crate) fn give_up_overdue(&mut self, now: u64) {
        let late = self.waiting().filter(|held| held.frame.end + REORDER_TIMEOUT_NS <= now);
        let last = late.map(|held| held.frame.sequence).max_by_key(|&it| ahead(it, self.start));
        if let Some(last) = last {
            self.floor = after(last, 1);
        }
    }

    fn waiting(&self) -> impl Iterator<Item = &BufferedMpdu> {
        let taken = self.taken;
        self.held.iter().enumerate().filter(move |(at, _)| taken >> at & 1 == 1).map(|it| it.1)
    }

    /// Returns a block acknowledgement: its starting sequence number, and its bitmap.
    pub(crate) const fn answer(&self) -> (u16, u64) {
        (ahead(self.highest, BITS - 1), self.got.reverse_bits())
    }
}

/// Returns whether a block acknowledgement covers a number.
pub(crate) const fn acknowledges(answer: &Ppdu, number: u16) -> bool {
    let offset = ahead(number, answer.sequence);
    offset < BITS && answer.bitmap() >> offset & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::frame::FrameKind;
    use crate::radio::WifiMode;
    use crate::random::{Purpose, RngStream};
    use std::vec;

    fn frame(number: u16, end: u64) -> Ppdu {
        Ppdu {
            kind: FrameKind::Data,
            from: 0,
            to: 1,
            sequence: number,
            mpdus: 1,
            attempt: 1,
            channel: 1,
            mode: WifiMode::ESP_NOW,
            octets: 100,
            begin: 0,
            end,
            duration_ns: 0,
            tag: 0,
            repeated: false,
        }
    }

    /// Receives an MPDU, and returns the numbers that are handed up because of it.
    fn receive(it: &mut BlockAckAgreement, number: u16) -> (MpduArrival, Vec<u16>) {
        let mut up = Vec::new();
        let arrival = it.receive(number);
        match arrival {
            MpduArrival::Next => up.push(number),
            MpduArrival::Early => {
                up.extend(core::iter::from_fn(|| it.release()).map(|it| it.frame.sequence));
                let held = BufferedMpdu { frame: frame(number, 0), rssi: 0 };
                up.extend(it.hold(held).map(|it| it.frame.sequence));
            }
            MpduArrival::Repeated | MpduArrival::Late => return (arrival, up),
        }
        up.extend(core::iter::from_fn(|| it.release()).map(|it| it.frame.sequence));
        (arrival, up)
    }

    fn begun(size: u8, first: u16) -> BlockAckAgreement {
        let mut it = BlockAckAgreement::new(0, 1, size);
        it.begin(first);
        it
    }

    #[test]
    fn what_comes_early_waits_for_what_is_missing() {
        let mut it = begun(8, 4094);
        assert_eq!(receive(&mut it, 4094), (MpduArrival::Next, vec![4094]));
        assert_eq!(receive(&mut it, 1), (MpduArrival::Early, vec![]));
        assert_eq!(receive(&mut it, 0), (MpduArrival::Early, vec![]));
        assert_eq!(receive(&mut it, 1), (MpduArrival::Repeated, vec![]));
        let (start, bitmap) = it.answer();
        let mut answer = frame(start, 0);
        (answer.kind, answer.tag) = (FrameKind::BlockAck, bitmap);
        let has = [4093, 4094, 4095, 0, 1, 2].map(|number| acknowledges(&answer, number));
        assert_eq!(has, [false, true, false, true, true, false]);
        assert_eq!(receive(&mut it, 4095), (MpduArrival::Next, vec![4095, 0, 1]));
        assert_eq!(receive(&mut it, 4095), (MpduArrival::Repeated, vec![]));
    }

    #[test]
    fn a_number_beyond_the_window_moves_it() {
        let mut it = begun(4, 0);
        assert_eq!(receive(&mut it, 2), (MpduArrival::Early, vec![]));
        // The window is 0 to 3; number 6 moves it to 3 to 6.
        assert_eq!(receive(&mut it, 6), (MpduArrival::Early, vec![2]));
        assert_eq!(receive(&mut it, 1), (MpduArrival::Late, vec![]));
        assert_eq!(receive(&mut it, 3), (MpduArrival::Next, vec![3]));
        it.give_up_before(6);
        assert_eq!(it.release().map(|it| it.frame.sequence), Some(6));
        assert!(it.release().is_none());
        assert_eq!(receive(&mut it, 7), (MpduArrival::Next, vec![7]));
        // An MPDU that is old already.
        it.give_up_before(3);
        assert!(it.release().is_none());
        assert_eq!(receive(&mut it, 8), (MpduArrival::Next, vec![8]));
    }

    #[test]
    fn patience_has_an_end() {
        let mut it = begun(64, 0);
        for (number, end) in [(3, 5_000), (5, 9_000)] {
            assert_eq!(it.receive(number), MpduArrival::Early);
            assert!(it.hold(BufferedMpdu { frame: frame(number, end), rssi: 0 }).is_none());
        }
        assert_eq!(it.due(), Some(5_000 + REORDER_TIMEOUT_NS));
        it.give_up_overdue(5_000 + REORDER_TIMEOUT_NS);
        assert_eq!(it.release().map(|it| it.frame.sequence), Some(3));
        assert!(it.release().is_none());
        assert_eq!(it.due(), Some(9_000 + REORDER_TIMEOUT_NS));
    }

    /// Runs a sender with a window over a lossy medium for many rounds of numbers: every MPDU is
    /// handed up once and in order.
    #[test]
    fn all_goes_up_in_order() {
        for size in [1, 2, 7, 32, 64] {
            let mut random = RngStream::stream(u64::from(size), 0, Purpose::Board);
            let mut it = begun(size, 4000);
            let (mut waiting, mut next, mut expected) = (Vec::new(), 4000, 4000);
            for _ in 0..6_000 {
                while waiting.first().is_none_or(|&first| it.may_send(next, first)) {
                    waiting.push(next);
                    next = after(next, 1);
                }
                waiting.retain(|&number| {
                    if random.bits().is_multiple_of(3) {
                        return true;
                    }
                    for up in receive(&mut it, number).1 {
                        assert_eq!(up, expected);
                        expected = after(expected, 1);
                    }
                    // Some acknowledgements are lost.
                    random.bits().is_multiple_of(8)
                });
            }
        }
    }

    /// Returns the numbers that a block acknowledgement covers.
    fn covered(it: &BlockAckAgreement) -> Vec<u16> {
        let (start, bitmap) = it.answer();
        let mut answer = frame(start, 0);
        (answer.kind, answer.tag) = (FrameKind::BlockAck, bitmap);
        (0..4096).filter(|&number| acknowledges(&answer, number)).collect()
    }

    /// The scoreboard spans 64 numbers up to the highest received (10.25.6.3): it forgets what falls
    /// out, and acknowledges again what is in it.
    #[test]
    fn the_scoreboard_spans_64_numbers() {
        for ahead_by in [1, 2, 62, 63, 64, 65, 1000, 2047] {
            let mut it = begun(64, 100);
            assert_eq!(it.receive(100), MpduArrival::Next);
            assert_eq!(covered(&it), [100]);
            let to = 100 + ahead_by;
            assert_ne!(it.receive(to), MpduArrival::Repeated);
            let both = if ahead_by < 64 { vec![100, to] } else { vec![to] };
            assert_eq!(covered(&it), both, "{ahead_by}");
            let (start, bitmap) = it.answer();
            assert_eq!((start, bitmap >> 63), (to - 63, 1), "the highest is the last bit");
        }
        // Half of the numbers further on is a number behind, which changes nothing.
        let mut it = begun(64, 100);
        assert_eq!(it.receive(100), MpduArrival::Next);
        assert_eq!(it.receive(100 + 2048), MpduArrival::Repeated);
        assert_eq!(covered(&it), [100]);
    }

    #[test]
    fn a_number_behind_is_new_if_it_was_not_received_before() {
        let mut it = begun(64, 0);
        assert_eq!(it.receive(63), MpduArrival::Early);
        assert_eq!(it.receive(63), MpduArrival::Repeated);
        assert_eq!(it.receive(0), MpduArrival::Next, "the last one on the scoreboard");
        assert_eq!(it.receive(0), MpduArrival::Repeated);
        assert_eq!(covered(&it), [0, 63]);
        let mut it = begun(64, 0);
        assert_eq!(it.receive(64), MpduArrival::Early);
        assert_eq!(it.receive(0), MpduArrival::Repeated, "it is no longer known");
    }

    /// An agreement that begins again knows nothing of the time before.
    #[test]
    fn an_agreement_begins_anew() {
        let mut it = begun(8, 10);
        assert_eq!(receive(&mut it, 12), (MpduArrival::Early, vec![]));
        it.forget();
        assert!(!it.agreed && it.due().is_none(), "what waited is lost");
        assert!(it.release().is_none());
        it.begin(4095);
        assert!(it.agreed);
        assert_eq!(covered(&it), [0; 0]);
        assert_eq!(receive(&mut it, 4), (MpduArrival::Early, vec![]));
        assert_eq!(receive(&mut it, 4095), (MpduArrival::Next, vec![4095]));
        // What is given up before the end of the numbers releases what waits after it.
        it.give_up();
        let up: Vec<u16> =
            core::iter::from_fn(|| it.release()).map(|it| it.frame.sequence).collect();
        assert_eq!(up, [4]);
        assert_eq!(receive(&mut it, 5), (MpduArrival::Next, vec![5]));
    }

    /// The originator may send so many numbers from the oldest that was not acknowledged, over the
    /// end of the numbers, too.
    #[test]
    fn a_window_is_as_wide_as_agreed() {
        for (asked, size) in [(0, 1), (1, 1), (7, 7), (64, 64), (255, 64)] {
            let it = BlockAckAgreement::new(0, 1, asked);
            for oldest in [0, 100, 4090] {
                let may = (0..200).filter(|&steps| it.may_send(after(oldest, steps), oldest));
                assert_eq!(may.collect::<Vec<u16>>(), (0..size).collect::<Vec<u16>>());
            }
            assert!(!it.may_send(99, 100), "a number behind");
        }
    }

    /// A request moves the window to its number, if that is less than half of the numbers ahead
    /// (10.25.6.6.3); else it is an old one.
    #[test]
    fn a_request_moves_the_window_forward_only() {
        let start_after = |number: u16| {
            let mut it = begun(64, 100);
            it.give_up_before(number);
            assert!(it.release().is_none());
            it.start
        };
        for number in [101, 163, 500, 100 + 2047] {
            assert_eq!(start_after(number), number);
        }
        for number in [100, 99, 100 + 2048, 100 + 2049] {
            assert_eq!(start_after(number), 100, "{number}");
        }
    }

    /// A number beyond the window moves it so that the number is its last (10.25.6.6.2).
    #[test]
    fn the_last_number_of_the_window_moves_nothing() {
        for size in [1, 4, 64] {
            let mut it = begun(size, 0);
            let last = u16::from(size) - 1;
            if last > 0 {
                assert_eq!(receive(&mut it, last), (MpduArrival::Early, vec![]));
            }
            assert_eq!(receive(&mut it, 0).0, MpduArrival::Next, "0 is still waited for");
            let mut it = begun(size, 0);
            let up = if size == 1 { vec![1] } else { vec![] };
            assert_eq!(receive(&mut it, u16::from(size)), (MpduArrival::Early, up));
            // It is not any more; and the scoreboard does not know it if it spans no more than that.
            let late = if size == 64 { MpduArrival::Repeated } else { MpduArrival::Late };
            assert_eq!(receive(&mut it, 0), (late, vec![]));
        }
    }
}

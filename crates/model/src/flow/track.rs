//! Missing, repeated and late datagrams of a flow, by their numbers.

/// A jump ahead by more than this is believed only when the next datagram confirms it: one stray
/// datagram must not turn into a billion lost ones. The idea is that of RFC 3550 appendix A.1
/// (`MAX_DROPOUT`, "two in a row"); the bound is what a fast link loses in a second.
const JUMP: u64 = 1 << 20;

/// The place of a datagram's number in its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramOrder {
    /// The one expected next, or a later one: those between count as lost until they come.
    Ahead,
    /// One that was counted as lost.
    Late,
    /// One that had come already.
    Duplicate,
    /// Far ahead: counted when the next one confirms the jump.
    Doubtful,
    /// Not counted at all: the number is below zero.
    Invalid,
}

/// Follows the numbers of one flow.
///
/// Numbers start at 1 in iperf 2.1, at 0 in iperf 2.0 and on ESP-IDF: a 0 is expected by no one
/// and counted when it comes. iperf 2 counts each datagram that is not ahead as out of order and
/// takes it off the lost ones, so a duplicate hides a loss there; here the two are told apart as
/// far as 64 numbers back for each of `WORDS` (4096 by default). Older ones count as duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tracker<const WORDS: usize = 64> {
    next: u64,
    seen: [u64; WORDS],
    doubtful: Option<u64>,
    lost: u64,
    late: u64,
    duplicates: u64,
    received: u64,
}

impl<const WORDS: usize> Default for Tracker<WORDS> {
    fn default() -> Self {
        Self {
            next: 1,
            seen: [0; WORDS],
            doubtful: None,
            lost: 0,
            late: 0,
            duplicates: 0,
            received: 0,
        }
    }
}

impl<const WORDS: usize> Tracker<WORDS> {
    /// Numbers below the highest seen that are remembered one by one.
    const WINDOW: u64 = {
        assert!(WORDS > 0);
        WORDS as u64 * 64
    };

    /// Takes the next datagram's number.
    #[inline]
    pub fn take(&mut self, id: i64) -> DatagramOrder {
        let Ok(id) = u64::try_from(id) else { return DatagramOrder::Invalid };
        if id == self.next {
            self.doubtful = None;
            self.mark_next();
            DatagramOrder::Ahead
        } else if id > self.next {
            self.ahead(id)
        } else {
            self.behind(id)
        }
    }

    #[inline]
    fn mark_next(&mut self) {
        self.seen[Self::word_of(self.next)] |= bit_of(self.next);
        self.next += 1;
        // The slot that the next number will use still holds the one a window before it.
        self.seen[Self::word_of(self.next)] &= !bit_of(self.next);
        self.received += 1;
    }

    fn ahead(&mut self, id: u64) -> DatagramOrder {
        let gap = id - self.next;
        let mut missing_now = gap;
        if gap > JUMP {
            let confirmed = self.doubtful.is_some_and(|d| id > d && id - d <= JUMP);
            if !confirmed {
                self.doubtful = Some(id);
                return DatagramOrder::Doubtful;
            }
            // The doubtful one did come: it is one of those between, and it was received.
            missing_now -= 1;
            self.received += 1;
        }
        let doubtful = self.doubtful.take();
        if gap >= Self::WINDOW {
            self.seen = [0; WORDS];
        } else {
            for missing in self.next..=id {
                self.seen[Self::word_of(missing)] &= !bit_of(missing);
            }
        }
        self.lost += missing_now;
        self.next = id;
        self.mark_next();
        if let Some(earlier) = doubtful.filter(|d| gap > JUMP && id - d < Self::WINDOW) {
            self.seen[Self::word_of(earlier)] |= bit_of(earlier);
        }
        DatagramOrder::Ahead
    }

    fn behind(&mut self, id: u64) -> DatagramOrder {
        if id == 0 && self.seen_once(0) {
            // Not among the expected: iperf 2.0's and ESP-IDF's first.
            self.received += 1;
            if self.next > 1 {
                self.late += 1;
                return DatagramOrder::Late;
            }
            return DatagramOrder::Ahead;
        }
        if id != 0 && self.next - id < Self::WINDOW && self.seen_once(id) {
            self.lost = self.lost.saturating_sub(1);
            self.late += 1;
            self.received += 1;
            return DatagramOrder::Late;
        }
        self.duplicates += 1;
        DatagramOrder::Duplicate
    }

    /// Marks a number; true where it was not marked.
    fn seen_once(&mut self, id: u64) -> bool {
        let new = self.next - id < Self::WINDOW && self.seen[Self::word_of(id)] & bit_of(id) == 0;
        if new {
            self.seen[Self::word_of(id)] |= bit_of(id);
        }
        new
    }

    const fn word_of(id: u64) -> usize {
        ((id % Self::WINDOW) / 64) as usize
    }

    /// Returns one more than the highest number.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Returns how many numbers are missing now.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Datagrams that came after a later one.
    #[must_use]
    pub const fn out_of_order(&self) -> u64 {
        self.late
    }

    /// Returns how many datagrams were further copies, or too old to tell.
    #[must_use]
    pub const fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Returns how many different datagrams were received.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }
}

const fn bit_of(id: u64) -> u64 {
    1 << (id % 64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    const WINDOW: u64 = Tracker::<64>::WINDOW;

    fn counts(ids: &[i64]) -> (u64, u64, u64, u64) {
        let mut tracker = Tracker::<64>::default();
        for &id in ids {
            tracker.take(id);
        }
        (tracker.received(), tracker.lost(), tracker.out_of_order(), tracker.duplicates())
    }

    #[test]
    fn received_lost_late_twice() {
        assert_eq!(counts(&[1, 2, 3]), (3, 0, 0, 0));
        assert_eq!(counts(&[1, 4]), (2, 2, 0, 0));
        assert_eq!(counts(&[1, 4, 2, 3]), (4, 0, 2, 0));
        assert_eq!(counts(&[1, 2, 2, 2]), (2, 0, 0, 2), "iperf 2 says: two out of order");
        assert_eq!(counts(&[1, 3, 3]), (2, 1, 0, 1), "a duplicate hides no loss");
        assert_eq!(counts(&[3, 1, 2]), (3, 0, 2, 0));
        assert_eq!(counts(&[5]), (1, 4, 0, 0), "the first ones can be lost");
    }

    #[test]
    fn numbers_from_zero() {
        assert_eq!(counts(&[0, 1, 2]), (3, 0, 0, 0));
        assert_eq!(counts(&[1, 0, 2]), (3, 0, 1, 0));
        assert_eq!(counts(&[0, 0]), (1, 0, 0, 1));
    }

    #[test]
    fn a_stray_datagram_is_not_a_billion_lost() {
        assert_eq!(counts(&[1, 1 << 40, 2, 3, i64::MAX, 4]), (4, 0, 0, 0));
        assert_eq!(counts(&[1, -5, 2]), (2, 0, 0, 0));
    }

    #[test]
    fn a_confirmed_jump_counts() {
        let far = 10_000_000;
        assert_eq!(counts(&[1, far, far + 1]), (3, far as u64 - 2, 0, 0));
        assert_eq!(counts(&[1, far, far + 1, far]), (3, far as u64 - 2, 0, 1));
        assert_eq!(counts(&[1, far, far + 5]), (3, far as u64 - 2 + 4, 0, 0));
    }

    #[test]
    fn beyond_the_window_nothing_is_told_apart() {
        let window = WINDOW as i64;
        assert_eq!(counts(&[window + 10, 1]), (1, WINDOW + 9, 0, 1));
        assert_eq!(counts(&[window + 10, 12]), (2, WINDOW + 8, 1, 0));
    }

    proptest::proptest! {
        /// Compares the counts within the window with those of sets of numbers.
        #[test]
        fn agrees_with_sets(ids in proptest::collection::vec(1i64..600, 1..400)) {
            let (received, lost, late, duplicates) = counts(&ids);
            let mut set = BTreeSet::new();
            let mut highest = 0;
            let mut behind = 0;
            for &id in &ids {
                if set.insert(id) && id < highest {
                    behind += 1;
                }
                highest = highest.max(id);
            }
            let missing = (1..highest).filter(|id| !set.contains(id)).count() as u64;
            proptest::prop_assert_eq!(received, set.len() as u64);
            proptest::prop_assert_eq!(lost, missing);
            proptest::prop_assert_eq!(late, behind);
            proptest::prop_assert_eq!(duplicates, (ids.len() - set.len()) as u64);
        }

        /// Checks on any numbers that nothing panics, and that received and duplicates never exceed
        /// what came.
        #[test]
        fn any_numbers(ids in proptest::collection::vec(proptest::num::i64::ANY, 0..50)) {
            let (received, _, _, duplicates) = counts(&ids);
            proptest::prop_assert!(received + duplicates <= ids.len() as u64);
        }

        /// Checks that far jumps, confirmed or not, keep `lost + received` within the highest
        /// number.
        #[test]
        fn jumps(ids in proptest::collection::vec(0i64..1 << 33, 0..50)) {
            let (received, lost, ..) = counts(&ids);
            let highest = ids.iter().copied().max().unwrap_or(0) as u64;
            proptest::prop_assert!(lost + received <= highest + 1, "{} {}", lost, received);
            let sorted: Vec<i64> = { let mut s = ids.clone(); s.sort_unstable(); s };
            let (received, lost, ..) = counts(&sorted);
            proptest::prop_assert!(lost + received <= highest + 1);
        }
    }
}

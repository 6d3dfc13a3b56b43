//! Missing, repeated and reordered sequence numbers, by name, in bounded memory.

use core::ops::Range;

/// Ranges remembered. When one more opens, the oldest is given up: its numbers stay counted as
/// missing, and one that comes after all counts as a duplicate.
pub const REMEMBERED: usize = 64;

/// What an arrival is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The first of its number.
    New,
    /// The first of its number, after one with a higher number.
    Reordered,
    /// Its number came before.
    Duplicate,
}

/// The numbers that have not come, of those below the highest that has.
#[derive(Clone, Debug)]
pub struct Gaps {
    /// One more than the highest number that came.
    next: u64,
    open: [(u64, u64); REMEMBERED],
    len: usize,
    missing: u64,
    given_up: u64,
    duplicates: u64,
    reordered: u64,
}

impl Gaps {
    /// Nothing came yet; `first` is the number expected first.
    #[must_use]
    pub const fn new(first: u64) -> Self {
        let open = [(0, 0); REMEMBERED];
        Self { next: first, open, len: 0, missing: 0, given_up: 0, duplicates: 0, reordered: 0 }
    }

    /// Takes one arrival.
    pub fn arrive(&mut self, seq: u64) -> Arrival {
        if seq >= self.next {
            if seq > self.next {
                self.open(self.next, seq);
            }
            self.next = seq.saturating_add(1);
            return Arrival::New;
        }
        match self.open[..self.len].iter().position(|&(from, to)| (from..to).contains(&seq)) {
            Some(at) => {
                self.close(at, seq);
                self.reordered += 1;
                Arrival::Reordered
            }
            None => {
                self.duplicates += 1;
                Arrival::Duplicate
            }
        }
    }

    /// The missing ranges that are remembered, lowest first.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.open[..self.len].iter().map(|&(from, to)| from..to)
    }

    /// Numbers missing below the highest that came.
    #[must_use]
    pub const fn missing(&self) -> u64 {
        self.missing
    }

    /// Of those, the ones whose range is no longer remembered.
    #[must_use]
    pub const fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Arrivals whose number had come before.
    #[must_use]
    pub const fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Arrivals after one with a higher number.
    #[must_use]
    pub const fn reordered(&self) -> u64 {
        self.reordered
    }

    fn open(&mut self, from: u64, to: u64) {
        self.missing += to - from;
        if self.len == REMEMBERED {
            let (from, to) = self.open[0];
            self.given_up += to - from;
            self.open.copy_within(1.., 0);
            self.len -= 1;
        }
        self.open[self.len] = (from, to);
        self.len += 1;
    }

    /// Takes `seq` out of the range at `at`.
    fn close(&mut self, at: usize, seq: u64) {
        self.missing -= 1;
        let (from, to) = self.open[at];
        let (below, above) = ((from, seq), (seq + 1, to));
        self.open.copy_within(at + 1..self.len, at);
        self.len -= 1;
        for (from, to) in [above, below] {
            if from == to {
                continue;
            }
            if self.len == REMEMBERED {
                self.given_up += to - from;
                continue;
            }
            self.open.copy_within(at..self.len, at + 1);
            self.open[at] = (from, to);
            self.len += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use std::vec::Vec;

    #[test]
    fn names_what_is_missing() {
        let mut gaps = Gaps::new(0);
        for seq in [0, 1, 5, 3, 5, 9] {
            gaps.arrive(seq);
        }
        assert_eq!(gaps.ranges().collect::<Vec<_>>(), [2..3, 4..5, 6..9]);
        assert_eq!((gaps.missing(), gaps.duplicates(), gaps.reordered()), (5, 1, 1));
    }

    #[test]
    fn more_gaps_than_it_remembers_stay_counted() {
        let mut gaps = Gaps::new(0);
        for seq in 0..200 {
            gaps.arrive(2 * seq + 1);
        }
        assert_eq!((gaps.missing(), gaps.given_up()), (200, 200 - REMEMBERED as u64));
    }

    proptest! {
        #[test]
        fn agrees_with_a_set(seqs in prop::collection::vec(0..60u64, 0..150)) {
            let (mut gaps, mut seen) = (Gaps::new(0), BTreeSet::new());
            let (mut duplicates, mut reordered) = (0, 0);
            for &seq in &seqs {
                let highest = seen.last().copied();
                let expected = if !seen.insert(seq) {
                    duplicates += 1;
                    Arrival::Duplicate
                } else if highest.is_some_and(|h| seq < h) {
                    reordered += 1;
                    Arrival::Reordered
                } else {
                    Arrival::New
                };
                prop_assert_eq!(gaps.arrive(seq), expected);
            }
            let top = seen.last().map_or(0, |h| h + 1);
            let missing: Vec<u64> = (0..top).filter(|s| !seen.contains(s)).collect();
            prop_assert_eq!(gaps.ranges().flatten().collect::<Vec<_>>(), missing.clone());
            prop_assert_eq!(gaps.missing(), missing.len() as u64);
            prop_assert_eq!((gaps.duplicates(), gaps.reordered()), (duplicates, reordered));
        }
    }
}

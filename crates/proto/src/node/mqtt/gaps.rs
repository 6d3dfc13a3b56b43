//! Missing, repeated and reordered sequence numbers, by name, in bounded memory.

use core::ops::Range;
use espbench_model::time::Instant;

/// Ranges remembered. When one more opens, the oldest is given up: its numbers stay counted as
/// missing, and one that comes after all counts as a duplicate.
pub const REMEMBERED: usize = 64;

/// The order in which a sequence number arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceOrder {
    /// The first of its number.
    New,
    /// The first of its number, after one with a higher number.
    Reordered,
    /// The number came before.
    Duplicate,
}

/// Numbers in a row that have not come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// The first.
    pub from: u64,
    /// One more than the last.
    pub to: u64,
    /// When a higher number showed that they are missing.
    pub noticed: Instant,
}

impl Missing {
    const NONE: Self = Self { from: 0, to: 0, noticed: Instant::ZERO };
}

/// The numbers that have not come, of those below the highest that has.
#[derive(Clone, Debug)]
pub struct Gaps {
    /// One more than the highest number that came.
    next: u64,
    open: [Missing; REMEMBERED],
    len: usize,
    missing: u64,
    given_up: u64,
    /// Range that the last arrival pushed out.
    forgotten: Option<Missing>,
    duplicates: u64,
    reordered: u64,
}

impl Gaps {
    /// Creates an empty record; `first` is the number expected first.
    #[must_use]
    pub const fn new(first: u64) -> Self {
        Self {
            next: first,
            open: [Missing::NONE; REMEMBERED],
            len: 0,
            missing: 0,
            given_up: 0,
            forgotten: None,
            duplicates: 0,
            reordered: 0,
        }
    }

    /// Takes one arrival.
    pub fn arrive(&mut self, now: Instant, seq: u64) -> SequenceOrder {
        self.forgotten = None;
        if seq >= self.next {
            if seq > self.next {
                self.open(Missing { from: self.next, to: seq, noticed: now });
            }
            self.next = seq.saturating_add(1);
            return SequenceOrder::New;
        }
        match self.open[..self.len].iter().position(|m| (m.from..m.to).contains(&seq)) {
            Some(at) => {
                self.close(at, seq);
                self.reordered += 1;
                SequenceOrder::Reordered
            }
            None => {
                self.duplicates += 1;
                SequenceOrder::Duplicate
            }
        }
    }

    /// Lists the missing ranges that are remembered, lowest first.
    pub fn ranges(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.open[..self.len].iter().map(|m| m.from..m.to)
    }

    /// Tells whether a number is missing, of those that are remembered.
    #[must_use]
    pub fn is_missing(&self, seq: u64) -> bool {
        self.ranges().any(|it| it.contains(&seq))
    }

    /// Returns one more than the highest number that came.
    #[must_use]
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Takes the range that the last arrival pushed out: its numbers will not be looked for again.
    pub const fn take_forgotten(&mut self) -> Option<Missing> {
        self.forgotten.take()
    }

    /// Takes out the lowest range that is remembered.
    pub fn take_first(&mut self) -> Option<Missing> {
        let first = *self.open[..self.len].first()?;
        self.open.copy_within(1..self.len, 0);
        self.len -= 1;
        Some(first)
    }

    /// Returns how many numbers are missing below the highest that came.
    #[must_use]
    pub const fn missing(&self) -> u64 {
        self.missing
    }

    /// Returns how many missing numbers lie in ranges that are no longer remembered.
    #[must_use]
    pub const fn given_up(&self) -> u64 {
        self.given_up
    }

    /// Returns how many arrivals repeated a number.
    #[must_use]
    pub const fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Returns how many arrivals came after one with a higher number.
    #[must_use]
    pub const fn reordered(&self) -> u64 {
        self.reordered
    }

    fn open(&mut self, missing: Missing) {
        self.missing += missing.to - missing.from;
        if self.len == REMEMBERED
            && let Some(oldest) = self.take_first()
        {
            self.forget(oldest);
        }
        self.open[self.len] = missing;
        self.len += 1;
    }

    const fn forget(&mut self, missing: Missing) {
        self.given_up += missing.to - missing.from;
        self.forgotten = Some(missing);
    }

    /// Takes `seq` out of the range at `at`.
    fn close(&mut self, at: usize, seq: u64) {
        self.missing -= 1;
        let whole = self.open[at];
        let (below, above) = (Missing { to: seq, ..whole }, Missing { from: seq + 1, ..whole });
        self.open.copy_within(at + 1..self.len, at);
        self.len -= 1;
        for part in [above, below] {
            if part.from == part.to {
                continue;
            }
            if self.len == REMEMBERED {
                self.forget(part);
                continue;
            }
            self.open.copy_within(at..self.len, at + 1);
            self.open[at] = part;
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
            gaps.arrive(Instant::ZERO, seq);
        }
        assert_eq!(gaps.ranges().collect::<Vec<_>>(), [2..3, 4..5, 6..9]);
        assert_eq!((gaps.missing(), gaps.duplicates(), gaps.reordered()), (5, 1, 1));
    }

    #[test]
    fn more_gaps_than_it_remembers_stay_counted() {
        let mut gaps = Gaps::new(0);
        for seq in 0..200 {
            gaps.arrive(Instant::ZERO, 2 * seq + 1);
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
                    SequenceOrder::Duplicate
                } else if highest.is_some_and(|h| seq < h) {
                    reordered += 1;
                    SequenceOrder::Reordered
                } else {
                    SequenceOrder::New
                };
                prop_assert_eq!(gaps.arrive(Instant::ZERO, seq), expected);
            }
            let top = seen.last().map_or(0, |h| h + 1);
            let missing: Vec<u64> = (0..top).filter(|s| !seen.contains(s)).collect();
            prop_assert_eq!(gaps.ranges().flatten().collect::<Vec<_>>(), missing.clone());
            prop_assert_eq!(gaps.missing(), missing.len() as u64);
            prop_assert_eq!((gaps.duplicates(), gaps.reordered()), (duplicates, reordered));
        }
    }
}

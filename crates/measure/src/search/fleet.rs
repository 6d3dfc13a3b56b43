//! The search for the largest fleet that keeps its limits: which number of devices to try next,
//! and what the tries show.
//!
//! What is found out about a number is uncertain, so it falls into one of four classes
//! ([`Standing`]), and there are three borders to look for: the largest number that surely holds,
//! the largest that holds by its estimates, and the largest that does not surely fail. They share
//! their tries. The answer is the second one, between the first and the third.
//!
//! A search begins with a guess, a small number where time may run out: four times as many are tried next
//! while they hold. Where the guess fails the smallest number is tried at once, since no
//! other one holds where that does not; then the border is looked for by bisection, of the
//! logarithms while it may be anywhere. It ends where a border is known to a part of the number
//! ([`SHARE`]): nobody plans with 701 devices where 700 are uncertain by ten. More devices are taken to
//! be worse; where chance has it otherwise, a border is the first one from below, and the answer names
//! the largest that holds, too ([`Largest::last`]): no number that was tried contradicts it.

use alloc::collections::{BTreeMap, BTreeSet};

/// Standing of a number of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Standing {
    /// All limits hold, by the far ends of their intervals.
    Holds,
    /// All limits hold by their estimates.
    MayHold,
    /// One does not hold by its estimate.
    MayFail,
    /// One does not hold even by the near end of its interval.
    Fails,
}

/// Part of a number to which the answer is looked for, one in so many; the borders of its interval to
/// twice that part.
pub const SHARE: u32 = 50;

/// Times by which the borders of the interval are less exact than the answer.
const COARSER: u32 = 2;

/// Times as many are tried next where all so far hold.
const GROWTH: u32 = 4;

/// The state of a search. Whoever drives it tries what [`FleetSearch::next`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetSearch {
    low: u32,
    high: u32,
    guess: u32,
    /// All above `high` fail: nobody need try them.
    is_closed: bool,
    tried: BTreeMap<u32, Standing>,
}

/// Bound above which no number of devices is tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FleetBound {
    /// The largest number that may be tried.
    pub devices: u32,
    /// Devices whose messages take all of the channel's time, one after the other.
    pub capacity: u32,
    /// Air time of one message with its acknowledgement, in microseconds.
    pub exchange_us: f64,
}

impl FleetBound {
    /// Returns whether the channel is what bounds, not what was allowed.
    #[must_use]
    pub const fn is_capacity(&self) -> bool {
        self.devices == self.capacity
    }
}

/// End of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SearchEnd {
    /// The borders are known as far as the rooms allow.
    #[default]
    Found,
    /// Too short a time was left for the next number.
    OutOfTime,
    /// Somebody stopped it.
    Interrupted,
}

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Largest {
    /// The largest number that surely holds; `None`: not even the smallest that was tried.
    pub surely: Option<u32>,
    /// The largest that holds by its estimates, as all that were tried below it do.
    pub best: Option<u32>,
    /// The largest that was tried and holds by its estimates; above `best` where chance has it that one between
    /// them does not.
    pub last: Option<u32>,
    /// The largest that was tried and does not surely fail.
    pub at_most: Option<u32>,
    /// The smallest above `last` that was tried, which does not hold by its estimates; numbers between the two
    /// were not tried.
    pub fails: Option<u32>,
    /// Even the largest that was allowed holds by its estimates: there may be larger ones.
    pub open: bool,
}

impl FleetSearch {
    /// Creates a search from `low` to `high` devices, both included.
    #[must_use]
    pub fn new(low: u32, high: u32) -> Self {
        let low = low.max(1);
        let high = high.max(low);
        Self { low, high, guess: high, is_closed: false, tried: BTreeMap::new() }
    }

    /// Begins with this number.
    #[must_use]
    pub fn guessing(self, devices: u32) -> Self {
        Self { guess: devices.clamp(self.low, self.high), ..self }
    }

    /// Takes all numbers above the highest to fail.
    #[must_use]
    pub fn closed(self) -> Self {
        Self { is_closed: true, ..self }
    }

    /// Returns the number to try now; `None` at the end.
    #[must_use]
    pub fn next(&self) -> Option<u32> {
        BORDERS.into_iter().find_map(|(least, share)| self.next_of(least, share))
    }

    /// Returns about how many numbers are still to be tried: as if bisections were halvings.
    #[must_use]
    pub fn left(&self) -> u32 {
        let of = |(least, share)| {
            self.next_of(least, share)?;
            let (passed, failed) = self.border(least);
            Some((passed.unwrap_or(self.low), failed.unwrap_or(self.high), share))
        };
        // Borders in the same gap share its tries.
        let gaps: BTreeSet<(u32, u32, u32)> = BORDERS.into_iter().filter_map(of).collect();
        let halvings = |(passed, failed, share): (u32, u32, u32)| {
            let steps = (failed - passed) / resolution(passed.max(failed / 4), share);
            steps.max(2).next_power_of_two().ilog2()
        };
        gaps.into_iter().map(halvings).sum()
    }

    /// Takes what is known of a number now.
    pub fn record(&mut self, devices: u32, standing: Standing) {
        self.tried.insert(devices, standing);
    }

    /// Returns the numbers that were tried, with their standing.
    pub fn tried(&self) -> impl Iterator<Item = (u32, Standing)> {
        self.tried.iter().map(|(devices, standing)| (*devices, *standing))
    }

    /// Returns the largest numbers as far as they are known.
    #[must_use]
    pub fn largest(&self) -> Largest {
        let (best, failed) = self.border(Standing::MayHold);
        let last = self.last(Standing::MayHold);
        let is_passed = best.is_some() && failed.is_none();
        let above = |it: &&u32| last.is_none_or(|last| **it > last);
        Largest {
            surely: self.border(Standing::Holds).0,
            best,
            last,
            at_most: self.last(Standing::MayFail),
            fails: self.tried.keys().find(above).copied(),
            open: is_passed && self.next_of(Standing::MayHold, SHARE).is_none(),
        }
    }

    /// Returns the numbers that the answer rests on: each is worth as many rooms as any.
    pub fn deciding(&self) -> impl Iterator<Item = u32> {
        let Largest { last, at_most, fails, .. } = self.largest();
        let (best, failed) = self.border(Standing::MayHold);
        [best, failed, last, at_most, fails].into_iter().flatten()
    }

    /// Returns the largest number that stands at least so well.
    fn last(&self, least: Standing) -> Option<u32> {
        self.tried.iter().rev().find(|it| *it.1 <= least).map(|it| *it.0)
    }

    /// Returns the border of those that stand at least so well: the last below the first that does
    /// not, and that first one.
    fn border(&self, least: Standing) -> (Option<u32>, Option<u32>) {
        let failed = self.tried.iter().find(|it| *it.1 > least).map(|it| *it.0);
        let below = self.tried.range(..failed.unwrap_or(u32::MAX));
        (below.last().map(|it| *it.0), failed)
    }

    fn next_of(&self, least: Standing, share: u32) -> Option<u32> {
        match self.border(least) {
            (None, None) => Some(self.guess),
            (None, Some(failed)) => (failed > self.low).then_some(self.low),
            (Some(passed), None) => match passed.saturating_mul(GROWTH) {
                next if next <= self.high => Some(next),
                _ if self.is_closed => between(passed, self.high + 1, share),
                _ => (passed < self.high).then_some(self.high),
            },
            (Some(passed), Some(failed)) => between(passed, failed, share),
        }
    }
}

/// The borders that are looked for, each to one part in so many.
const BORDERS: [(Standing, u32); 3] = [
    (Standing::MayHold, SHARE),
    (Standing::Holds, SHARE / COARSER),
    (Standing::MayFail, SHARE / COARSER),
];

/// Returns how exactly a border at this number is looked for.
fn resolution(devices: u32, share: u32) -> u32 {
    (devices / share).max(1)
}

/// Returns the number to try between one that holds and one that fails; `None` where they are close.
fn between(passed: u32, failed: u32, share: u32) -> Option<u32> {
    if failed - passed <= resolution(passed, share) {
        return None;
    }
    if failed / 4 > passed {
        let product = u64::from(passed) * u64::from(failed);
        return Some((product.isqrt() as u32).max(passed + 1));
    }
    Some(passed + (failed - passed) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Searches where the standing of each number is known.
    fn search(began: FleetSearch, standing: impl Fn(u32) -> Standing) -> (Largest, usize) {
        let mut search = began;
        let mut tries = 0;
        while let Some(devices) = search.next() {
            assert!((search.low..=search.high).contains(&devices));
            assert!(search.tried().all(|it| it.0 != devices), "{devices} was tried");
            assert!((1..40).contains(&search.left()), "{}", search.left());
            search.record(devices, standing(devices));
            tries += 1;
        }
        assert_eq!(search.left(), 0, "nothing is left at the end");
        (search.largest(), tries)
    }

    fn borders(surely: u32, best: u32, at_most: u32) -> impl Fn(u32) -> Standing {
        move |devices| match devices {
            _ if devices <= surely => Standing::Holds,
            _ if devices <= best => Standing::MayHold,
            _ if devices <= at_most => Standing::MayFail,
            _ => Standing::Fails,
        }
    }

    #[test]
    fn the_borders_are_found_with_few_tries() {
        let (largest, tries) = search(FleetSearch::new(1, 200), borders(34, 36, 38));
        let Largest { surely, best, at_most, fails, open, .. } = largest;
        assert_eq!((surely, best, at_most, open), (Some(34), Some(36), Some(38), false));
        assert_eq!(fails, Some(37));
        assert!(tries <= 16, "{tries}");
        // Of hundreds the answer is known to a fiftieth.
        let guess = FleetSearch::new(1, 3000).closed().guessing(2100);
        let (many, tries) = search(guess, borders(1480, 1500, 1520));
        let (best, fails) = (many.best.unwrap(), many.fails.unwrap());
        assert!(best <= 1500 && fails > 1500 && fails - best <= 30, "{many:?}");
        assert!(tries <= 12, "{tries}");
    }

    #[test]
    fn there_may_be_no_border() {
        let (none, tries) = search(FleetSearch::new(5, 200), |_| Standing::Fails);
        assert_eq!((none.best, none.at_most, tries), (None, None, 2));
        let (all, tries) = search(FleetSearch::new(1, 200), |_| Standing::Holds);
        assert_eq!((all.surely, all.best, all.open), (Some(200), Some(200), true));
        assert_eq!(tries, 1, "the largest is the first guess");
        let (one, tries) = search(FleetSearch::new(7, 7), |_| Standing::MayHold);
        assert_eq!((one.surely, one.best, one.open, tries), (None, Some(7), true, 1));
        let closed = FleetSearch::new(1, 200).closed().guessing(140);
        let (all, tries) = search(closed, |_| Standing::Holds);
        assert!(all.open && all.best >= Some(197) && tries <= 6, "{all:?} {tries}");
        assert!(!FleetSearch::new(1, 9).largest().open, "nothing is known before the first try");
    }

    proptest! {
        #[test]
        fn any_borders_are_found(
            mut at in [0_u32..3000, 0..3000, 0..3000],
            high in 1_u32..3000,
            guess in 1_u32..3000,
        ) {
            at.sort_unstable();
            let began = FleetSearch::new(1, high).guessing(guess);
            let (largest, tries) = search(began, borders(at[0], at[1], at[2]));
            let found = [largest.surely, largest.best, largest.at_most];
            for ((found, border), share) in found.into_iter().zip(at).zip([25, 50, 25]) {
                let (found, border) = (found.unwrap_or(0), border.min(high));
                let near = if border == 0 { 0 } else { found + resolution(found, share) };
                prop_assert!(found <= border && (border < near || border == found));
            }
            prop_assert_eq!(largest.open, at[1] >= high);
            prop_assert!(tries <= 40);
        }

        #[test]
        fn it_ends_whatever_is_found(seed: u64, high in 1_u32..300, guess in 1_u32..300) {
            let mut random = espbench_model::random::Xoshiro256PlusPlus::new(seed);
            let chance: alloc::vec::Vec<u64> = (0..=high).map(|_| random.bits() % 4).collect();
            let (largest, _) = search(FleetSearch::new(1, high).guessing(guess), |devices| {
                match chance[devices as usize] {
                    0 => Standing::Holds,
                    1 => Standing::MayHold,
                    2 => Standing::MayFail,
                    _ => Standing::Fails,
                }
            });
            prop_assert!(largest.surely <= largest.best && largest.best <= largest.at_most);
            prop_assert!(largest.best <= largest.last && largest.last <= largest.at_most);
        }

        /// Whatever chance gives, no number that was tried is better than the answer says.
        #[test]
        fn no_number_that_was_tried_contradicts_the_answer(seed: u64, high in 1_u32..300) {
            let mut random = espbench_model::random::Xoshiro256PlusPlus::new(seed);
            let mut search = FleetSearch::new(1, high).guessing(1);
            while let Some(devices) = search.next() {
                // The more devices, the likelier one fails.
                let chance = random.bits() % 4 + u64::from(2 * devices / high);
                search.record(devices, match chance {
                    0 => Standing::Holds,
                    1 => Standing::MayHold,
                    2 => Standing::MayFail,
                    _ => Standing::Fails,
                });
            }
            let largest = search.largest();
            for (devices, standing) in search.tried() {
                let devices = Some(devices);
                prop_assert!(standing > Standing::MayHold || devices <= largest.last);
                prop_assert!(standing > Standing::MayFail || devices <= largest.at_most);
                prop_assert!(standing <= Standing::MayHold || devices > largest.best);
                prop_assert!(standing == Standing::Holds || devices > largest.surely);
            }
            prop_assert!(search.deciding().all(|it| search.tried().any(|tried| tried.0 == it)));
        }
    }
}

//! The search for the largest fleet that keeps its limits: which number of devices to try next,
//! and what the tries show.
//!
//! What is found out about a number is uncertain, so it falls into one of four classes
//! ([`Standing`]), and there are three borders to look for: the largest number that surely holds,
//! the largest that holds by its estimates, and the largest that does not surely fail. Each is found
//! by bisection on the numbers, from doublings on; they share their tries. The answer is the second
//! one, between the first and the third. More devices are taken to be worse; where chance has it
//! otherwise, a border is the first one from below.

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

/// The state of a search. Whoever drives it tries what [`FleetSearch::next`] says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetSearch {
    low: u32,
    high: u32,
    tried: BTreeMap<u32, Standing>,
}

/// Result of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Largest {
    /// The largest number that surely holds; `None`: not even the smallest that was tried.
    pub surely: Option<u32>,
    /// The largest that holds by its estimates.
    pub best: Option<u32>,
    /// The largest that does not surely fail.
    pub at_most: Option<u32>,
    /// Even the largest that was allowed holds by its estimates: there may be larger ones.
    pub open: bool,
}

impl FleetSearch {
    /// Creates a search from `low` to `high` devices, both included.
    #[must_use]
    pub fn new(low: u32, high: u32) -> Self {
        Self { low: low.max(1), high: high.max(low.max(1)), tried: BTreeMap::new() }
    }

    /// Returns the number to try now; `None` at the end.
    #[must_use]
    pub fn next(&self) -> Option<u32> {
        [Standing::MayHold, Standing::Holds, Standing::MayFail]
            .into_iter()
            .find_map(|least| self.next_of(least))
    }

    /// Returns about how many numbers are still to be tried: as if the borders that were not passed
    /// yet lay at the next doubling, and bisections were halvings.
    #[must_use]
    pub fn left(&self) -> u32 {
        let gap = |least| match self.border(least) {
            (None, None) => (self.high - self.low + 1).max(2),
            (None, Some(_)) => 1,
            (Some(passed), None) => 2 * passed.min(self.high.saturating_sub(passed)),
            (Some(passed), Some(failed)) => failed - passed,
        };
        // Borders in the same gap share its tries.
        let gaps: BTreeSet<u32> =
            [Standing::Holds, Standing::MayHold, Standing::MayFail].map(gap).into();
        gaps.into_iter()
            .filter_map(|gap| gap.max(1).checked_next_power_of_two())
            .map(u32::ilog2)
            .sum()
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
        let border = |least| self.border(least).0;
        let open =
            self.border(Standing::MayHold).1.is_none() && self.tried.contains_key(&self.high);
        Largest {
            surely: border(Standing::Holds),
            best: border(Standing::MayHold),
            at_most: border(Standing::MayFail),
            open,
        }
    }

    /// Returns the border of those that stand at least so well: the last below the first that does
    /// not, and that first one.
    fn border(&self, least: Standing) -> (Option<u32>, Option<u32>) {
        let failed = self.tried.iter().find(|it| *it.1 > least).map(|it| *it.0);
        let below = self.tried.range(..failed.unwrap_or(u32::MAX));
        (below.last().map(|it| *it.0), failed)
    }

    fn next_of(&self, least: Standing) -> Option<u32> {
        match self.border(least) {
            (None, None) => Some(self.low),
            // Even the smallest fails.
            (None, Some(_)) => None,
            (Some(passed), None) => {
                let next = passed.saturating_mul(2).min(self.high);
                (passed < self.high).then_some(next)
            }
            (Some(passed), Some(failed)) => {
                (failed - passed > 1).then_some(passed + (failed - passed) / 2)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Searches where the standing of each number is known.
    fn search(low: u32, high: u32, standing: impl Fn(u32) -> Standing) -> (Largest, usize) {
        let mut search = FleetSearch::new(low, high);
        let mut tries = 0;
        while let Some(devices) = search.next() {
            assert!(devices >= low && devices <= high);
            assert!(search.tried().all(|it| it.0 != devices), "{devices} was tried");
            // No more than doublings, and three bisections.
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
        let (largest, tries) = search(1, 200, borders(34, 36, 38));
        let Largest { surely, best, at_most, open } = largest;
        assert_eq!((surely, best, at_most, open), (Some(34), Some(36), Some(38), false));
        assert!(tries <= 15, "{tries}");
    }

    #[test]
    fn there_may_be_no_border() {
        let (none, tries) = search(5, 200, |_| Standing::Fails);
        assert_eq!((none.best, none.at_most, tries), (None, None, 1));
        let (all, _) = search(1, 200, |_| Standing::Holds);
        assert_eq!((all.surely, all.best, all.open), (Some(200), Some(200), true));
        let (one, tries) = search(7, 7, |_| Standing::MayHold);
        assert_eq!((one.surely, one.best, one.open, tries), (None, Some(7), true, 1));
    }

    proptest! {
        #[test]
        fn any_borders_are_found(mut at in [0_u32..300, 0..300, 0..300], high in 1_u32..300) {
            at.sort_unstable();
            let (largest, tries) = search(1, high, borders(at[0], at[1], at[2]));
            let wanted = at.map(|border| (border > 0).then_some(border.min(high)));
            prop_assert_eq!([largest.surely, largest.best, largest.at_most], wanted);
            prop_assert_eq!(largest.open, at[1] >= high);
            prop_assert!(tries <= 40);
        }

        #[test]
        fn it_ends_whatever_is_found(seed: u64, high in 1_u32..300) {
            let mut random = crate::random::Random::new(seed);
            let chance: alloc::vec::Vec<u64> = (0..=high).map(|_| random.bits() % 4).collect();
            let (largest, _) = search(1, high, |devices| match chance[devices as usize] {
                0 => Standing::Holds,
                1 => Standing::MayHold,
                2 => Standing::MayFail,
                _ => Standing::Fails,
            });
            prop_assert!(largest.surely <= largest.best && largest.best <= largest.at_most);
        }
    }
}

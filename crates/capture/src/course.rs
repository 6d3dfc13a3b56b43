//! Course of quantities over a capture of unknown length: steps that double where there are too many.

use alloc::vec::Vec;

/// The most steps.
const MOST: usize = 240;

/// The shortest step: a millisecond.
const SHORTEST_NS: u64 = 1_000_000;

/// Quantities of a step.
pub const LANES: usize = 4;

/// Sums of quantities by steps of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureCourse {
    begin_ns: Option<u64>,
    step_ns: u64,
    steps: Vec<[u64; LANES]>,
}

impl CaptureCourse {
    /// Adds to a quantity at a time. A time before the first counts for the first step.
    pub fn add(&mut self, at_ns: u64, lane: usize, amount: u64) {
        let begin = *self.begin_ns.get_or_insert(at_ns);
        self.step_ns = self.step_ns.max(SHORTEST_NS);
        let since = at_ns.saturating_sub(begin);
        while since / self.step_ns >= MOST as u64 {
            self.halve();
        }
        let at = (since / self.step_ns) as usize;
        if self.steps.len() <= at {
            self.steps.resize(at + 1, [0; LANES]);
        }
        if let Some(it) = self.steps.get_mut(at).and_then(|it| it.get_mut(lane)) {
            *it = it.saturating_add(amount);
        }
    }

    fn halve(&mut self) {
        let sum = |pair: &[[u64; LANES]]| {
            core::array::from_fn(|lane| {
                pair.iter().fold(0, |sum: u64, it| sum.saturating_add(it[lane]))
            })
        };
        self.steps = self.steps.chunks(2).map(sum).collect();
        self.step_ns = self.step_ns.saturating_mul(2);
    }

    /// Returns the length of a step in nanoseconds.
    #[must_use]
    pub const fn step_ns(&self) -> u64 {
        self.step_ns
    }

    /// Returns the steps.
    #[must_use]
    pub fn steps(&self) -> &[[u64; LANES]] {
        &self.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Nothing is lost, however far times are apart, and memory is bounded.
        #[test]
        fn sums_stay(all in prop::collection::vec((any::<u64>(), 0..LANES, 0_u64..1000), 0..60)) {
            let mut course = CaptureCourse::default();
            for (at, lane, amount) in &all {
                course.add(*at, *lane, *amount);
            }
            let sum: u64 = course.steps().iter().flatten().sum();
            prop_assert_eq!(sum, all.iter().map(|it| it.2).sum::<u64>());
            prop_assert!(course.steps().len() <= MOST);
        }
    }
}

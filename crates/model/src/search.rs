//! The search for the highest rate without loss: which rate to try next, and what the tries show.
//!
//! Bisection on a logarithmic scale. A rate passes when each of its repetitions came through without
//! a loss, and fails at the first loss. The answer is a bracket: the highest rate that passed and the
//! lowest that failed. How sure it is: without a loss in n messages the loss at the accepted rate is
//! below the upper end of the Wilson interval of 0 in n.

/// Repetitions that a rate must pass.
pub const REPETITIONS: u16 = 3;

/// The search ends once the failed rate is no more than this many times the passed one.
pub const RESOLUTION: f64 = 1.05;

/// The state of a search. Whoever carries out the tries drives it, and the summary replays it from the record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSearch {
    low: f64,
    high: f64,
    passed: Option<f64>,
    failed: Option<f64>,
    /// The rate that is being tried, and how often it came through.
    trying: Option<(f64, u16)>,
}

impl RateSearch {
    /// Creates a search between these rates.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Self {
        Self { low, high, passed: None, failed: None, trying: Some((low, 0)) }
    }

    /// Returns the rate to try now, and its repetition (from 0); `None` at the end.
    #[must_use]
    pub const fn next(&self) -> Option<(f64, u16)> {
        self.trying
    }

    /// Returns the highest rate that passed all its repetitions.
    #[must_use]
    pub const fn passed(&self) -> Option<f64> {
        self.passed
    }

    /// Returns the lowest rate that failed.
    #[must_use]
    pub const fn failed(&self) -> Option<f64> {
        self.failed
    }

    /// Takes the outcome of that try.
    pub fn record(&mut self, lossless: bool) {
        let Some((rate, repetition)) = self.trying else { return };
        if lossless && repetition + 1 < REPETITIONS {
            self.trying = Some((rate, repetition + 1));
            return;
        }
        if lossless {
            self.passed = Some(rate);
        } else {
            self.failed = Some(rate);
        }
        self.trying = self.choose().map(|rate| (rate, 0));
    }

    fn choose(&self) -> Option<f64> {
        match (self.passed, self.failed) {
            (None, None) => Some(self.low),
            // Even the lowest rate fails.
            (None, Some(_)) => None,
            (Some(passed), None) => (passed < self.high).then_some(self.high),
            (Some(passed), Some(failed)) if failed <= passed * RESOLUTION => None,
            (Some(passed), Some(failed)) => {
                let middle = rounded(libm::sqrt(passed * failed));
                (middle > passed && middle < failed).then_some(middle)
            }
        }
    }
}

/// Rounds to three significant digits: rates that can be said and typed.
fn rounded(rate: f64) -> f64 {
    let scale = libm::pow(10.0, libm::floor(libm::log10(rate)) - 2.0);
    libm::round(rate / scale) * scale
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(low: f64, high: f64, limit: f64) -> (RateSearch, u32) {
        let mut search = RateSearch::new(low, high);
        let mut tries = 0;
        while let Some((rate, _)) = search.next() {
            assert!((low..=high).contains(&rate));
            search.record(rate <= limit);
            tries += 1;
            assert!(tries < 200, "it ends");
        }
        (search, tries)
    }

    #[test]
    fn the_ends_are_tried_first() {
        let (search, tries) = run(10.0, 20_000.0, 5.0);
        assert_eq!((search.passed(), search.failed(), tries), (None, Some(10.0), 1));
        let (search, tries) = run(10.0, 20_000.0, 1e9);
        assert_eq!((search.passed(), search.failed(), tries), (Some(20_000.0), None, 6));
    }

    #[test]
    fn one_loss_in_any_repetition_fails_a_rate() {
        let mut search = RateSearch::new(10.0, 10.0);
        search.record(true);
        search.record(true);
        assert_eq!(search.next(), Some((10.0, 2)));
        search.record(false);
        assert_eq!((search.next(), search.failed()), (None, Some(10.0)));
    }

    proptest! {
        #[test]
        fn the_limit_is_within_the_bracket(limit in 11.0..19_000.0f64) {
            let (search, tries) = run(10.0, 20_000.0, limit);
            let (passed, failed) = (search.passed().unwrap(), search.failed().unwrap());
            prop_assert!(passed <= limit && limit < failed);
            // Three digits are coarser than the resolution near a power of ten only.
            prop_assert!(failed / passed < RESOLUTION * 1.01, "{} {}", passed, failed);
            prop_assert!(tries < 50);
        }
    }
}

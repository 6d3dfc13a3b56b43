//! Exact quantiles with distribution-free intervals.
//!
//! The estimate is the order statistic of rank ceil(q n) (Hyndman and Fan 1996, "Sample quantiles
//! in statistical packages", definition 1). The interval is the pair of order statistics whose
//! ranks enclose the quantile with at least the asked probability under the binomial distribution
//! (Hahn and Meeker 1991, "Statistical Intervals", section 5.2), so it assumes nothing about the
//! shape of the distribution. It does assume that the observations are independent: where one slow
//! reply makes the next one slow, the true interval is wider.

use crate::binomial;
use crate::estimate::Estimate;
use alloc::vec::Vec;

/// Observations in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts the observations; those that are not numbers are left out.
    #[must_use]
    pub fn new(mut values: Vec<f64>) -> Self {
        values.retain(|v| !v.is_nan());
        values.sort_unstable_by(f64::total_cmp);
        Self(values)
    }

    /// Returns the observations, in ascending order.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// Returns the quantile `q` (0 to 1) with its 95 % interval. An end that the sample is too
    /// small to enclose is `None`; the other end then still holds with 97.5 %.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Estimate {
        self.quantile_at(q, 0.95)
    }

    /// Returns the quantile `q` with its interval of that confidence (0 to 1, both tails alike).
    #[must_use]
    pub fn quantile_at(&self, q: f64, confidence: f64) -> Estimate {
        let n = self.0.len();
        if n == 0 || q.is_nan() {
            return Estimate { n: n as u64, ..Estimate::default() };
        }
        // q n may be a hair above a whole number that it stands for: 0.07 x 100 is 7.000000000000001.
        let rank = libm::ceil(q * n as f64 * (1.0 - 4.0 * f64::EPSILON)) as usize;
        let (low, high) = ranks(n as u64, q, confidence);
        let at = |rank: u64| self.0[rank as usize - 1];
        Estimate {
            value: Some(self.0[rank.clamp(1, n) - 1]),
            n: n as u64,
            low: low.map(at),
            high: high.map(at),
        }
    }

    /// Returns the smallest observation.
    #[must_use]
    pub fn min(&self) -> Estimate {
        self.0.first().map_or_else(Estimate::default, |&v| Estimate::exact(v, self.0.len() as u64))
    }

    /// Returns the largest observation.
    #[must_use]
    pub fn max(&self) -> Estimate {
        self.0.last().map_or_else(Estimate::default, |&v| Estimate::exact(v, self.0.len() as u64))
    }
}

/// Returns the ranks, from 1 to `n`, of the order statistics that enclose the quantile `q`; `None`
/// where the sample has no such rank.
///
/// With B binomial (n, q), the observation of rank l lies above the quantile with probability
/// P(B < l), and that of rank u below it with P(B >= u). The widest l and the smallest u are taken
/// for which neither exceeds half of what the confidence leaves.
#[must_use]
pub fn ranks(n: u64, q: f64, confidence: f64) -> (Option<u64>, Option<u64>) {
    if !(q > 0.0 && q < 1.0 && confidence > 0.0 && confidence < 1.0) {
        return (None, None);
    }
    let tail = 0.5 * (1.0 - confidence);
    let low = binomial::quantile(tail, n, q);
    let high = binomial::quantile(1.0 - tail, n, q) + 1;
    ((low >= 1).then_some(low), (high <= n).then_some(high))
}

/// Returns the smallest number of observations that encloses the quantile `q` from both sides with
/// 95 % confidence: the extremes must do it, (1 - tail) of the time on each side.
#[must_use]
pub fn needed(q: f64) -> u64 {
    if !(q > 0.0 && q < 1.0) {
        return u64::MAX;
    }
    // P(all n below the quantile) = q^n, and P(all above) = (1 - q)^n, must not exceed 2.5 %.
    let rarer = q.max(1.0 - q);
    libm::ceil(libm::log(0.025) / libm::log(rarer)) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use espbench_model::random::Xoshiro256PlusPlus;
    use proptest::prelude::*;

    #[test]
    fn ranks_as_scipy_stats_binom_ppf_1_17() {
        for (n, q, low, high) in [
            (5, 0.5, None, None),
            (6, 0.5, Some(1), Some(6)),
            (10, 0.5, Some(2), Some(9)),
            (20, 0.5, Some(6), Some(15)),
            (50, 0.9, Some(41), Some(50)),
            (100, 0.9, Some(84), Some(96)),
            (100, 0.99, Some(97), None),
            (371, 0.99, Some(363), Some(371)),
            (1000, 0.5, Some(469), Some(532)),
            (1000, 0.9, Some(881), Some(919)),
            (1000, 0.99, Some(983), Some(997)),
            (1000, 0.999, Some(997), None),
            (10_000, 0.999, Some(9983), Some(9997)),
            (1_000_000, 0.99, Some(989_805), Some(990_196)),
            (10_000_000, 0.5, Some(4_996_901), Some(5_003_100)),
            (10_000_000, 0.999, Some(9_989_804), Some(9_990_196)),
        ] {
            assert_eq!(ranks(n, q, 0.95), (low, high), "n {n}, q {q}");
        }
    }

    #[test]
    fn ranks_of_a_median_as_campbell_and_gardner() {
        // Campbell and Gardner 1988, "Calculating confidence intervals for some non-parametric
        // analyses", British Medical Journal 296: n/2 -+ 1.96 sqrt(n)/2, the upper one plus 1.
        assert_eq!(ranks(100, 0.5, 0.95), (Some(40), Some(61)));
    }

    #[test]
    fn needed_is_the_first_that_encloses() {
        for q in [0.1, 0.5, 0.9, 0.99, 0.999] {
            let n = needed(q);
            let (low, high) = ranks(n, q, 0.95);
            assert!(low.is_some() && high.is_some(), "{q} {n}");
            let (low, high) = ranks(n - 1, q, 0.95);
            assert!(low.is_none() || high.is_none(), "{q} {n}");
        }
        assert_eq!((needed(0.5), needed(0.99), needed(0.999)), (6, 368, 3688));
        assert_eq!(needed(1.0), u64::MAX);
    }

    #[test]
    fn nothing_encloses_the_ends_of_a_distribution() {
        for (q, confidence) in [(0.0, 0.95), (1.0, 0.95), (0.5, 0.0), (0.5, 1.0), (-1.0, 0.95)] {
            assert_eq!(ranks(10, q, confidence), (None, None), "{q} {confidence}");
        }
        assert_eq!((needed(0.0), needed(-1.0), needed(2.0)), (u64::MAX, u64::MAX, u64::MAX));
    }

    #[test]
    fn extremes_are_exact() {
        let sorted = Sorted::new(vec![3.0, 1.0, 2.0]);
        assert_eq!(
            (sorted.min(), sorted.max()),
            (Estimate::exact(1.0, 3), Estimate::exact(3.0, 3))
        );
        let none = Sorted::new(vec![]);
        assert_eq!((none.min(), none.max()), (Estimate::default(), Estimate::default()));
        let unknown = sorted.quantile(f64::NAN);
        assert_eq!((unknown.value, unknown.n), (None, 3), "the count is known");
    }

    #[test]
    fn a_rank_that_is_whole_stays_whole() {
        let values = (1..=100).map(f64::from).collect();
        let sorted = Sorted::new(values);
        for percent in 1..=100u32 {
            let got = sorted.quantile(f64::from(percent) / 100.0).value;
            assert_eq!(got, Some(f64::from(percent)));
        }
    }

    #[test]
    fn empty_and_strange_samples_answer() {
        assert_eq!(Sorted::new(vec![]).quantile(0.5), Estimate::default());
        assert_eq!(Sorted::new(vec![f64::NAN]).quantile(0.5).value, None);
        let infinite = Sorted::new(vec![1.0, f64::INFINITY, f64::NAN]);
        assert_eq!(infinite.quantile(0.5).value, Some(1.0));
        assert_eq!(infinite.quantile(f64::NAN).value, None);
        assert_eq!(infinite.quantile(-3.0).value, Some(1.0));
    }

    /// The interval must hold the true quantile in at least 95 % of samples, whatever the shape.
    #[test]
    fn coverage_is_at_least_what_is_promised() {
        const TRIALS: u32 = 2000;
        let mut random = Xoshiro256PlusPlus::new(7);
        for (q, n) in [(0.5, 25), (0.9, 60), (0.9, 15), (0.99, 400)] {
            let true_quantile = -libm::log(1.0 - q);
            let mut held = 0;
            for _ in 0..TRIALS {
                // Exponential, by inversion.
                let sample = (0..n).map(|_| -libm::log(1.0 - random.unit())).collect();
                let got = Sorted::new(sample).quantile(q);
                let above = got.low.is_none_or(|low| low <= true_quantile);
                let below = got.high.is_none_or(|high| high >= true_quantile);
                held += u32::from(above && below);
            }
            // Three standard deviations of the simulation below 95 %.
            assert!(held >= 1870, "q {q}, n {n}: {held} of {TRIALS}");
        }
    }

    proptest! {
        #[test]
        fn interval_holds_the_estimate_and_grows_with_confidence(
            values in prop::collection::vec(-1e6..1e6f64, 1..300),
            q in 0.0..=1.0f64,
        ) {
            let sorted = Sorted::new(values);
            let narrow = sorted.quantile_at(q, 0.8);
            let wide = sorted.quantile_at(q, 0.99);
            let value = narrow.value.unwrap();
            for end in [narrow.low, wide.low].into_iter().flatten() {
                prop_assert!(end <= value);
            }
            for end in [narrow.high, wide.high].into_iter().flatten() {
                prop_assert!(end >= value);
            }
            if let Some(low) = wide.low {
                prop_assert!(narrow.low.unwrap() >= low);
            }
            if let Some(high) = wide.high {
                prop_assert!(narrow.high.unwrap() <= high);
            }
        }

        #[test]
        fn order_does_not_matter(
            (values, shuffled) in prop::collection::vec(any::<f64>(), 0..100)
                .prop_flat_map(|v| (Just(v.clone()), Just(v).prop_shuffle())),
            q in 0.0..=1.0f64,
        ) {
            prop_assert_eq!(Sorted::new(values).quantile(q), Sorted::new(shuffled).quantile(q));
        }
    }
}

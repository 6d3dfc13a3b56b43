//! The mean of a skewed sample with a bootstrap interval.
//!
//! Round-trip times have a long right tail, so an interval for their mean must not be symmetric.
//! The BCa interval (Efron 1987, "Better bootstrap confidence intervals", Journal of the American
//! Statistical Association 82) corrects the bootstrap distribution for bias and skewness and is
//! second-order accurate.
//!
//! The observations are taken as independent. Round trips that follow each other closely often are
//! not (a queue that is full for one is full for the next); the true interval is then wider than
//! the one given, by about sqrt((1 + r) / (1 - r)) for a correlation r of neighbours (Wilks 2011,
//! "Statistical Methods in the Atmospheric Sciences", section 5.2.4).

use crate::estimate::Estimate;
use crate::interval;
use crate::special::{normal_cdf, normal_quantile};
use alloc::vec;
use alloc::vec::Vec;
use espbench_model::random::Xoshiro256PlusPlus;

/// Resamples drawn. With 1999 the ranks of a 95 % interval are whole numbers (Davison and Hinkley
/// 1997, "Bootstrap Methods and their Application", section 5.2).
pub const RESAMPLES: usize = 1999;

/// Up to so many observations are resampled. Beyond, the interval comes from the ABC formula, which
/// BCa approaches as the sample grows; so the cost of a cell is bounded by 10 million draws.
pub const RESAMPLED: usize = 5000;

/// Below so many observations a resample holds too few different values for the bootstrap
/// distribution to have tails; Student's t interval is used instead.
pub const FEWEST: usize = 10;

/// Returns the mean of `values` with its 95 % bootstrap interval; `seed` makes it repeatable.
#[must_use]
pub fn mean(values: &[f64], seed: u64) -> Estimate {
    mean_at(values, 0.95, seed)
}

/// Returns the mean as [`mean`] does, with another confidence, between 0 and 1.
#[must_use]
pub fn mean_at(values: &[f64], confidence: f64, seed: u64) -> Estimate {
    let (Some(m), Some(s)) = (interval::mean(values), interval::stddev(values)) else {
        return interval::mean_t_at(values, confidence);
    };
    let n = values.len();
    if n < FEWEST || s == 0.0 || !(confidence > 0.0 && confidence < 1.0) {
        return interval::mean_t_at(values, confidence);
    }
    let tail = 0.5 * (1.0 - confidence);
    let (low, high) = if n > RESAMPLED {
        approximate(values, m, tail)
    } else {
        let means = resampled_means(values, seed);
        let bias = bias(&means, m);
        let skew = acceleration(values, m);
        let end = |level: f64| percentile(&means, adjusted(level, bias, skew));
        (end(tail), end(1.0 - tail))
    };
    // With a sample of one far value and many alike, the adjusted levels can pass the mean.
    Estimate { value: Some(m), n: n as u64, low: Some(low.min(m)), high: Some(high.max(m)) }
}

/// Means of [`RESAMPLES`] samples drawn with replacement, in ascending order.
fn resampled_means(values: &[f64], seed: u64) -> Vec<f64> {
    let mut random = Xoshiro256PlusPlus::new(seed);
    let n = values.len();
    let mut drawn = vec![0; n];
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            // At most `RESAMPLED`, so this does not truncate.
            random.fill_below(n as u32, &mut drawn);
            let (mut first, mut second) = (0.0, 0.0);
            for pair in drawn.chunks(2) {
                first += values[pair[0]];
                second += pair.get(1).map_or(0.0, |&at| values[at]);
            }
            (first + second) / n as f64
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    means
}

/// Returns Efron's bias correction z0: how far the mean is from the bootstrap distribution's
/// middle, in standard deviations. Resamples equal to the mean count half.
fn bias(sorted_means: &[f64], m: f64) -> f64 {
    let below = sorted_means.partition_point(|&v| v < m);
    let not_above = sorted_means.partition_point(|&v| v <= m);
    let part = 0.5 * (below + not_above) as f64 / sorted_means.len() as f64;
    let edge = 0.5 / sorted_means.len() as f64;
    normal_quantile(part.clamp(edge, 1.0 - edge))
}

/// Returns Efron's acceleration, by the jackknife, which for a mean is a sixth of the skewness over
/// sqrt(n).
fn acceleration(values: &[f64], m: f64) -> f64 {
    let (mut squares, mut cubes) = (0.0, 0.0);
    for v in values {
        let d = v - m;
        squares += d * d;
        cubes += d * d * d;
    }
    let scale = squares * libm::sqrt(squares);
    if scale > 0.0 { cubes / (6.0 * scale) } else { 0.0 }
}

/// Returns the level of the bootstrap distribution that stands for `level` (Efron 1987).
fn adjusted(level: f64, bias: f64, acceleration: f64) -> f64 {
    let z = bias + normal_quantile(level);
    normal_cdf(bias + z / (1.0 - acceleration * z))
}

/// Returns the value at `level` of the bootstrap distribution, between its (B + 1) steps by
/// interpolation (Davison and Hinkley 1997, section 5.2).
fn percentile(sorted: &[f64], level: f64) -> f64 {
    let rank = (level * (sorted.len() + 1) as f64).clamp(1.0, sorted.len() as f64);
    let below = libm::floor(rank) as usize;
    let low = sorted[below - 1];
    let high = sorted[below.min(sorted.len() - 1)];
    low + (rank - below as f64) * (high - low)
}

/// Returns the ABC interval of a mean (`DiCiccio` and Efron 1996, "Bootstrap confidence intervals",
/// Statistical Science 11(3)): BCa's limit in closed form. For a mean its bias correction equals
/// its acceleration.
fn approximate(values: &[f64], m: f64, tail: f64) -> (f64, f64) {
    let a = acceleration(values, m);
    let n = values.len() as f64;
    let squares: f64 = values.iter().map(|v| (v - m) * (v - m)).sum();
    let error = libm::sqrt(squares) / n;
    let end = |level: f64| {
        let w = a + normal_quantile(level);
        m + error * w / ((1.0 - a * w) * (1.0 - a * w))
    };
    (end(tail), end(1.0 - tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn exponential_quantiles(n: u32) -> Vec<f64> {
        (0..n).map(|i| -libm::log(1.0 - (f64::from(i) + 0.5) / f64::from(n))).collect()
    }

    /// scipy.stats.bootstrap 1.17, method BCa, 99999 resamples, for the two samples. Ours has 1999,
    /// whose ends scatter by some 3 % of the interval's width.
    #[test]
    fn ends_as_scipy() {
        let squares: Vec<f64> = (1..=40).map(|i| 0.001 * f64::from(i * i)).collect();
        for (values, low, high) in
            [(exponential_quantiles(200), 0.872_687, 1.149_495), (squares, 0.413_700, 0.717_765)]
        {
            let got = mean(&values, 1);
            let (l, h) = (got.low.unwrap(), got.high.unwrap());
            let allowed = 0.06 * (high - low);
            assert!(libm::fabs(l - low) < allowed, "{got:?}, wanted {low}");
            assert!(libm::fabs(h - high) < allowed, "{got:?}, wanted {high}");
        }
    }

    /// By hand: deviations -1, -1, -1 and 3 have squares of 12 and cubes of 24; for the bias one of four
    /// is below the mean and one equal, (1 + 2) / 2 of 4 (scipy.stats.norm.ppf 1.17).
    #[test]
    fn corrections_by_hand() {
        let near =
            |got: f64, wanted: f64| assert!(libm::fabs(got - wanted) < 1e-12, "{got} {wanted}");
        near(acceleration(&[0.0, 0.0, 0.0, 4.0], 1.0), 24.0 / (6.0 * 12.0 * libm::sqrt(12.0)));
        near(acceleration(&[2.0, 2.0], 2.0), 0.0);
        near(bias(&[1.0, 2.0, 3.0, 4.0], 2.0), -0.318_639_363_964_375_15);
        near(bias(&[1.0, 2.0], 0.0), normal_quantile(0.25));
        near(bias(&[1.0, 2.0], 3.0), normal_quantile(0.75));
        // Efron 1987, (3.9): z0 + (z0 + z) / (1 - a (z0 + z)).
        let z = 0.3 + normal_quantile(0.975);
        near(adjusted(0.975, 0.3, 0.1), normal_cdf(0.3 + z / (1.0 - 0.1 * z)));
        near(adjusted(0.2, 0.0, 0.0), 0.2);
    }

    #[test]
    fn percentile_goes_between_the_steps() {
        let sorted = [1.0, 2.0, 4.0, 8.0];
        for (level, wanted) in
            [(0.0, 1.0), (0.2, 1.0), (0.3, 1.5), (0.5, 3.0), (0.7, 6.0), (0.8, 8.0), (1.0, 8.0)]
        {
            let got = percentile(&sorted, level);
            assert!(libm::fabs(got - wanted) < 1e-12, "{level}: {got}");
        }
    }

    /// `DiCiccio` and Efron 1996, (4.15) for a mean: by hand for twice the four values above.
    #[test]
    fn closed_form_by_hand() {
        let (a, error) = (24.0 / (72.0 * libm::sqrt(12.0)), libm::sqrt(48.0) / 4.0);
        let end = |z: f64| 2.0 + error * (a + z) / ((1.0 - a * (a + z)) * (1.0 - a * (a + z)));
        let (low, high) = approximate(&[0.0, 0.0, 0.0, 8.0], 2.0, 0.025);
        let z = 1.959_963_984_540_054;
        assert!(libm::fabs(low - end(-z)) < 1e-12 && libm::fabs(high - end(z)) < 1e-12);
        assert!(low < 0.6 && high > 5.0, "{low} {high}");
    }

    #[test]
    fn resamples_draw_as_many_as_there_are() {
        for n in [10, 11] {
            let means = resampled_means(&vec![3.0; n], 1);
            assert_eq!(means.len(), RESAMPLES);
            assert!(means.iter().all(|m| libm::fabs(m - 3.0) < 1e-12), "{n}");
        }
    }

    #[test]
    fn the_method_follows_the_number_of_values() {
        let values = exponential_quantiles(RESAMPLED as u32 + 1);
        let m = interval::mean(&values).unwrap();
        let (low, high) = approximate(&values, m, 0.025);
        let of = |got: Estimate| (got.low, got.high);
        assert_eq!(of(mean(&values, 1)), (Some(low), Some(high)));
        let fewer = &values[..RESAMPLED];
        let m = interval::mean(fewer).unwrap();
        assert_ne!(mean(fewer, 1).low, Some(approximate(fewer, m, 0.025).0));
        let few = &values[values.len() - FEWEST..];
        assert_ne!(mean(few, 1), interval::mean_t(few));
        assert_eq!(mean(&few[1..], 1), interval::mean_t(&few[1..]));
        for confidence in [0.0, 1.0] {
            let (got, t) = (mean_at(few, confidence, 1), interval::mean_t_at(few, confidence));
            assert_eq!(got, t, "{confidence}");
        }
    }

    #[test]
    fn closed_form_agrees_with_resampling() {
        let values = exponential_quantiles(4000);
        let m = interval::mean(&values).unwrap();
        let resampled = mean(&values, 3);
        let (low, high) = approximate(&values, m, 0.025);
        let width = high - low;
        assert!(libm::fabs(resampled.low.unwrap() - low) < 0.06 * width);
        assert!(libm::fabs(resampled.high.unwrap() - high) < 0.06 * width);
        // A long right tail makes the upper arm the longer one.
        assert!(high - m > m - low);
    }

    #[test]
    fn same_seed_same_interval() {
        let values = exponential_quantiles(100);
        assert_eq!(mean(&values, 5), mean(&values, 5));
        assert_ne!(mean(&values, 5), mean(&values, 6));
    }

    #[test]
    fn coverage_of_a_skewed_mean_is_near_what_is_promised() {
        const TRIALS: u32 = 400;
        let mut random = Xoshiro256PlusPlus::new(11);
        let mut held = 0;
        for trial in 0..TRIALS {
            let sample: Vec<f64> = (0..60).map(|_| -libm::log(1.0 - random.unit())).collect();
            let got = mean(&sample, u64::from(trial));
            held += u32::from(got.low.unwrap() <= 1.0 && got.high.unwrap() >= 1.0);
        }
        // 93 % is usual for 60 exponential values; 90 % is three deviations of 400 trials below.
        assert!(held >= 360, "{held} of {TRIALS}");
    }

    #[test]
    fn few_alike_and_strange_values() {
        assert_eq!(mean(&[], 1), Estimate::default());
        assert_eq!(mean(&[2.0], 1), Estimate::exact(2.0, 1));
        assert_eq!(mean(&[1.0, 2.0, 3.0], 1), interval::mean_t(&[1.0, 2.0, 3.0]));
        assert_eq!(mean(&[4.0; 20], 1).low, Some(4.0));
        let mut strange = vec![1.0; 20];
        strange[3] = f64::NAN;
        assert_eq!(mean(&strange, 1).value, None);
        strange[3] = f64::INFINITY;
        assert_eq!(mean(&strange, 1).value, None);
        // One far value among many alike.
        strange[3] = 1e12;
        let got = mean(&strange, 1);
        assert!(got.low <= got.value && got.value <= got.high);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn interval_holds_the_mean_and_grows_with_confidence(
            values in prop::collection::vec(0.0..1e3f64, 10..60),
            seed in any::<u64>(),
        ) {
            let narrow = mean_at(&values, 0.8, seed);
            let wide = mean_at(&values, 0.99, seed);
            prop_assert!(wide.low <= narrow.low && narrow.low <= narrow.value);
            prop_assert!(wide.high >= narrow.high && narrow.high >= narrow.value);
        }
    }
}

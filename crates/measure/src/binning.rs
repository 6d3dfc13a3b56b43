//! Distributions as few points: histograms and cumulative curves small enough for a report.

use crate::figure::{FigurePoint, Scale};
use alloc::vec::Vec;
use espbench_stats::quantile::Sorted;

/// Most bars of one histogram: more cannot be told apart at the width of a phone.
pub const MOST_BINS: usize = 60;

/// Most points of one cumulative curve.
pub const MOST_POINTS: usize = 200;

/// From this ratio of extremes on, equal steps would put nearly all observations into one bin, so
/// bins (and axes) have equal factors instead.
pub(crate) const SKEWED: f64 = 5.0;

/// Returns the division of an axis that suits these observations.
#[must_use]
pub fn scale(values: &Sorted) -> Scale {
    match (values.values().first(), values.values().last()) {
        (Some(&low), Some(&high)) if low > 0.0 && high / low >= SKEWED => Scale::Log,
        _ => Scale::Linear,
    }
}

/// Returns a histogram as corner points: `x` is the lower edge of a bin and `y` the share of all
/// observations in it, in percent; the last point closes the last bin with `y` = 0.
///
/// The width of a bin is 2 IQR / cube root of n (Freedman and Diaconis 1981, "On the histogram as
/// a density estimator: L2 theory"), taken on the logarithms for [`Scale::Log`]; where the
/// interquartile range is zero, the range over 1 + log2 n (Sturges 1926, "The choice of a class
/// interval"). Never more than [`MOST_BINS`]. Where the largest hundredth takes more of the range
/// than all others, it has one bin of its own: a few stalls would leave a single bar of the rest.
#[must_use]
pub fn histogram(values: &Sorted, scale: Scale) -> Vec<FigurePoint> {
    let seen = values.values();
    let (Some(&first), Some(&last)) = (seen.first(), seen.last()) else {
        return Vec::new();
    };
    let log = scale == Scale::Log && first > 0.0;
    let to = |v: f64| if log { libm::log10(v) } else { v };
    let from = |v: f64| if log { libm::pow(10.0, v) } else { v };
    let (low, end) = (to(first), to(last));
    let body = values.quantile(0.99).value.map_or(end, to);
    let high = if body > low && end - body > body - low { body } else { end };
    let bins = bins(values, to, high - low);
    // One value only: a bin around it, so that there is something to draw.
    let width = if high > low { (high - low) / bins as f64 } else { (low.abs() * 0.02).max(1e-9) };
    // The last count is that of the tail.
    let mut counts = alloc::vec![0_u64; bins + 1];
    for v in seen.iter().map(|&v| to(v)) {
        let at = libm::floor((v - low) / width) as usize;
        counts[if v > high { bins } else { at.min(bins - 1) }] += 1;
    }
    let share = |k: u64| 100.0 * k as f64 / seen.len() as f64;
    let edge = |i: usize| from(low + i as f64 * width);
    let mut points: Vec<FigurePoint> = counts[..bins]
        .iter()
        .enumerate()
        .map(|(i, &k)| FigurePoint::new(edge(i), share(k)))
        .collect();
    points.push(FigurePoint::new(edge(bins), share(counts[bins])));
    if counts[bins] > 0 {
        points.push(FigurePoint::new(last, 0.0));
    }
    points
}

fn bins(values: &Sorted, to: impl Fn(f64) -> f64, range: f64) -> usize {
    let n = values.values().len() as f64;
    if range.is_nan() || range <= 0.0 {
        return 1;
    }
    let quartile = |q| values.quantile(q).value.map_or(0.0, &to);
    let iqr = quartile(0.75) - quartile(0.25);
    let width = 2.0 * iqr / libm::cbrt(n);
    let wanted =
        if width > 0.0 { libm::ceil(range / width) } else { 1.0 + libm::ceil(libm::log2(n)) };
    (wanted as usize).clamp(1, MOST_BINS)
}

/// Returns the empirical distribution function, `y` in percent, thinned to [`MOST_POINTS`]: half of
/// the points at equal steps of rank, half at equal factors of what is left above, so that the tail
/// keeps its shape.
#[must_use]
pub fn cumulative(values: &Sorted) -> Vec<FigurePoint> {
    let seen = values.values();
    let n = seen.len();
    let half = MOST_POINTS / 2;
    let mut ranks: Vec<usize> = if n <= MOST_POINTS {
        (1..=n).collect()
    } else {
        let even = (1..=half).map(|i| 1 + (n - 1) * (i - 1) / (half - 1));
        let tail = (0..half).map(|i| {
            let left = libm::pow(n as f64, i as f64 / (half - 1) as f64);
            (n + 1).saturating_sub(libm::round(left) as usize).max(1)
        });
        even.chain(tail).collect()
    };
    ranks.sort_unstable();
    ranks.dedup();
    ranks.iter().map(|&k| FigurePoint::new(seen[k - 1], 100.0 * k as f64 / n as f64)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sorted(values: impl IntoIterator<Item = f64>) -> Sorted {
        Sorted::new(values.into_iter().collect())
    }

    #[test]
    fn freedman_diaconis_on_a_known_sample() {
        // 0..=999: IQR = 749 - 249 = 500, width = 1000 / 10 = 100, so ceil(999 / 100) bins.
        let points = histogram(&sorted((0..1000).map(f64::from)), Scale::Linear);
        assert_eq!(points.len(), 11);
        assert!((points[0].y - 10.0).abs() < 0.2, "{points:?}");
    }

    #[test]
    fn one_value_is_one_bin_and_none_is_nothing() {
        assert_eq!(histogram(&sorted([3.0; 9]), Scale::Linear)[0].y, 100.0);
        assert!(histogram(&sorted([]), Scale::Linear).is_empty());
        assert!(cumulative(&sorted([])).is_empty());
    }

    #[test]
    fn a_long_tail_asks_for_equal_factors() {
        let mut values: Vec<f64> = (0..990).map(|i| 10.0 + f64::from(i) / 990.0).collect();
        values.extend([90.0; 10]);
        let points = histogram(&sorted(values), Scale::Linear);
        let tail = &points[points.len() - 2..];
        assert!((tail[0].x - 11.0).abs() < 0.1 && tail[1].x == 90.0, "{points:?}");
        assert!((tail[0].y - 1.0).abs() < 1e-9, "{points:?}");
        assert_eq!(scale(&sorted([1.0, 2.0, 3.0])), Scale::Linear);
        assert_eq!(scale(&sorted([0.02, 0.03, 4.0])), Scale::Log);
        assert_eq!(scale(&sorted([0.0, 0.03, 4.0])), Scale::Linear);
    }

    proptest! {
        #[test]
        fn a_histogram_counts_everything_once(
            values in proptest::collection::vec(1e-6_f64..1e6, 1..500),
            log in any::<bool>(),
        ) {
            let scale = if log { Scale::Log } else { Scale::Linear };
            let points = histogram(&sorted(values), scale);
            let total: f64 = points.iter().map(|p| p.y).sum();
            prop_assert!((total - 100.0).abs() < 1e-6);
            prop_assert!(points.len() <= MOST_BINS + 2);
            prop_assert!(points.windows(2).all(|w| w[0].x < w[1].x));
        }

        #[test]
        fn a_cumulative_curve_rises_and_ends_at_the_largest(
            values in proptest::collection::vec(0.0_f64..1e6, 1..2000),
        ) {
            let sorted = sorted(values);
            let points = cumulative(&sorted);
            prop_assert!(points.len() <= MOST_POINTS);
            prop_assert!(points.windows(2).all(|w| w[0].x <= w[1].x && w[0].y < w[1].y));
            let last = points.last().unwrap();
            prop_assert_eq!(last.y, 100.0);
            prop_assert_eq!(Some(&last.x), sorted.values().last());
            prop_assert_eq!(points[0].x, sorted.values()[0]);
        }
    }
}

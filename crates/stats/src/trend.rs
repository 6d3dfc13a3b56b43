//! Trends: whether values grow or fall in the course of a cell.

use crate::quantile::Sorted;
use alloc::vec::Vec;

/// Fewer observations than this are not tested.
pub const FEWEST: usize = 10;

/// The two-sided 1 % critical value of the standard normal distribution.
const CRITICAL: f64 = 2.575_829_303_548_900_4;

/// The change that is worth a word: a tenth.
const WORTH: f64 = 1.1;

/// Level of a series at its start and at its end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// Median of the first block.
    pub first: f64,
    /// Median of the last one.
    pub last: f64,
}

impl Drift {
    /// Returns how many times its start the end is.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        self.last / self.first
    }
}

/// Returns the medians of the first and the last block, where the values drift; `None` where they do
/// not, or not by a tenth.
///
/// The Mann-Kendall test (Mann 1945, "Nonparametric tests against trend"; Kendall 1975, "Rank
/// Correlation Methods"), at 1 %, on the medians of blocks: 20 of them, or 10 where there are few
/// observations. It takes its values as independent. Neighbouring round trips are not, so they are not
/// tested themselves; medians of blocks that are long against a burst nearly are.
#[must_use]
pub fn drift(in_order: &[f64]) -> Option<Drift> {
    let n = in_order.len();
    if n < FEWEST || in_order.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let blocks = if n >= 100 { 20 } else { 10 };
    let medians: Vec<f64> = (0..blocks)
        .filter_map(|b| {
            let block = &in_order[b * n / blocks..(b + 1) * n / blocks];
            Sorted::new(block.to_vec()).quantile(0.5).value
        })
        .collect();
    if libm::fabs(mann_kendall(&medians)) < CRITICAL {
        return None;
    }
    let drift = Drift { first: *medians.first()?, last: *medians.last()? };
    let ratio = drift.ratio();
    let worth = drift.first > 0.0 && (ratio >= WORTH || ratio <= 1.0 / WORTH);
    worth.then_some(drift)
}

/// Returns the standardized Mann-Kendall statistic, corrected for ties and continuity (Kendall
/// 1975); 0 for values that are all alike. Above 0 the values grow.
#[must_use]
pub fn mann_kendall(values: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (i, a) in values.iter().enumerate() {
        for b in &values[i + 1..] {
            sum += f64::from(i8::from(b > a) - i8::from(b < a));
        }
    }
    let pairs = |n: f64| n * (n - 1.0) * (2.0 * n + 5.0);
    let sorted = Sorted::new(values.to_vec());
    let ties = sorted.values().chunk_by(|a, b| a == b).map(|tied| pairs(tied.len() as f64));
    let variance = (pairs(sorted.values().len() as f64) - ties.sum::<f64>()) / 18.0;
    if variance <= 0.0 || sum == 0.0 {
        return 0.0;
    }
    (sum - libm::copysign(1.0, sum)) / libm::sqrt(variance)
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::random::Xoshiro256PlusPlus;

    #[test]
    fn statistic_as_pymannkendall() {
        // pymannkendall 1.4, original_test.
        let plain = [1.0, 3.0, 2.0, 5.0, 4.0, 6.0, 8.0, 7.0, 9.0, 10.0];
        assert!(libm::fabs(mann_kendall(&plain) - 3.398_823_325_799_680_3) < 1e-12);
        let tied = [5.0, 5.0, 5.0, 6.0, 6.0, 7.0, 7.0, 7.0, 8.0, 8.0];
        assert!(libm::fabs(mann_kendall(&tied) - 3.347_328_927_818_215_7) < 1e-12);
        assert_eq!(mann_kendall(&[4.0; 12]), 0.0);
        assert_eq!(mann_kendall(&[]), 0.0);
    }

    fn series(n: usize, seed: u64, level: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut random = Xoshiro256PlusPlus::new(seed);
        let noise = |r: &mut Xoshiro256PlusPlus| -libm::log(1.0 - r.unit());
        (0..n).map(|i| level(i as f64 / n as f64) * (1.0 + noise(&mut random))).collect()
    }

    /// Medians of blocks by hand: of 5 values from 100 observations on, of 9 or 10 before.
    #[test]
    fn blocks_follow_the_number_of_values() {
        let up_to = |n: u32| (1..=n).map(f64::from).collect::<Vec<f64>>();
        assert_eq!(drift(&up_to(100)), Some(Drift { first: 3.0, last: 98.0 }));
        assert_eq!(drift(&up_to(99)), Some(Drift { first: 5.0, last: 94.0 }));
        assert_eq!(drift(&up_to(10)).map(|it| it.ratio()), Some(10.0));
        assert_eq!(drift(&up_to(9)), None);
        let from_zero: Vec<f64> = (0..10).map(f64::from).collect();
        assert_eq!(drift(&from_zero), None, "no ratio to nothing");
        let slightly: Vec<f64> = (0..100).map(|i| 1.0 - 0.0005 * f64::from(i)).collect();
        assert_eq!(drift(&slightly), None, "five percent less");
    }

    #[test]
    fn as_many_rises_as_falls_are_no_trend() {
        assert_eq!(mann_kendall(&[1.0, 2.0, 2.0, 1.0]), 0.0);
    }

    #[test]
    fn growth_is_seen_and_sized() {
        let ratio = drift(&series(1000, 1, |t| 5.0 * (1.0 + t))).unwrap().ratio();
        assert!((1.5..2.5).contains(&ratio), "{ratio}");
        let falling = drift(&series(1000, 1, |t| 5.0 * (2.0 - t))).unwrap().ratio();
        assert!((0.4..0.7).contains(&falling), "{falling}");
        // Seconds of a throughput test.
        let seconds: Vec<f64> = (0..12).map(|i| 40.0 - 2.0 * f64::from(i)).collect();
        assert!(drift(&seconds).is_some());
    }

    #[test]
    fn steady_values_raise_few_alarms() {
        let alarms = |n: usize, correlated: bool| {
            (0..200).filter(move |&seed| {
                let mut values = series(n, seed, |_| 5.0);
                if correlated {
                    // A first-order autoregression of 0.5, as of neighbouring round trips.
                    for i in 1..n {
                        values[i] = 0.5 * values[i - 1] + 0.5 * values[i];
                    }
                }
                drift(&values).is_some()
            })
        };
        assert!(alarms(1000, false).count() <= 6);
        assert!(alarms(1000, true).count() <= 10);
    }

    #[test]
    fn small_or_strange_series_answer() {
        assert_eq!(drift(&[1.0; 9]), None);
        assert_eq!(drift(&[0.0; 100]), None);
        assert_eq!(drift(&[f64::NAN; 100]), None);
        // Certain, but by a hundredth only.
        let slight: Vec<f64> = (0..1000).map(|i| 100.0 + f64::from(i) * 0.001).collect();
        assert_eq!(drift(&slight), None);
    }
}

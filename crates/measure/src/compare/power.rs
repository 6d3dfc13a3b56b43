//! How many repetitions a comparison needs to show a change, from the scatter of a run that has some.
//!
//! A pair is worse, or better, where the interval of its difference does not hold zero. With n repetitions on either
//! side and a standard deviation s between them, that interval reaches t s sqrt(2/n) to either side
//! (`mean_t` and [`difference`](espbench_stats::interval::difference)), t being Student's quantile of n - 1 degrees of freedom.
//! A true change d is shown with probability P where d is at least (t + t_P) s sqrt(2/n), t_P being the quantile at P of
//! the 2 (n - 1) degrees of freedom of both (Cohen 1988, "Statistical Power Analysis for the Behavioral Sciences",
//! chapter 2; Guenther 1981, "Sample size formulas for normal theory T tests").

use super::join::{groups, pool};
use crate::cell::Cell;
use alloc::vec::Vec;
use espbench_stats::interval::stddev;
use espbench_stats::special::student_quantile;
use serde::Serialize;

/// Probability with which the change is to be shown.
const POWER: f64 = 0.8;

/// Repetitions beyond this are no answer.
const MOST: u64 = 100_000;

/// A figure of a run, with what a comparison of two such runs can show.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PowerRow {
    /// The figure: a mean, where there are repetitions.
    pub cell: Cell,
    /// Repetitions behind it.
    pub repetitions: u64,
    /// Standard deviation between repetitions, as a part of the mean; `None` of fewer than two repetitions, or
    /// where the mean is 0.
    pub spread: Option<f64>,
    /// Least change, as a part of the mean, that so many repetitions on either side show.
    pub shown: Option<f64>,
    /// Repetitions on either side that show the change that was asked for; `None` where unknown, or where they are more
    /// than 100,000.
    pub needed: Option<u64>,
}

/// Returns for each figure how many repetitions show a change of this part of its value (0.05 is 5 %), with a
/// probability of 80 % at the 95 % of all intervals.
#[must_use]
pub fn power(cells: &[Cell], change: f64) -> Vec<PowerRow> {
    groups(cells).iter().filter_map(|group| row(group, change)).collect()
}

fn row(group: &[&Cell], change: f64) -> Option<PowerRow> {
    let cell = pool(group).or_else(|| Some((*group.first()?).clone()))?;
    let mean = cell.value.map(f64::abs).filter(|it| *it > 0.0);
    let (repetitions, scatter) = scatter(group);
    let spread = scatter.zip(mean).map(|(scatter, mean)| scatter / mean);
    let shown = spread.map(|spread| least(spread, repetitions));
    let needed = spread.and_then(|spread| needed(spread, change));
    Some(PowerRow { cell, repetitions, spread, shown, needed })
}

/// Returns the number of repetitions, and their standard deviation.
fn scatter(group: &[&Cell]) -> (u64, Option<f64>) {
    let values: Vec<f64> = group.iter().filter_map(|it| it.value).collect();
    if let ([cell], [mean]) = (group, values.as_slice())
        && let Some(n) = cell.test.repetitions.map(u64::from).filter(|n| *n >= 2)
        && cell.n == Some(n)
    {
        // A report has the mean of repetitions already: its interval, of which the lower end may be cut off at 0, is
        // Student's, or where all are alike that of each.
        let t = student_quantile(0.975, n as f64 - 1.0);
        return (n, cell.ci_high.map(|high| (high - mean) / t * libm::sqrt(n as f64)));
    }
    (values.len() as u64, stddev(&values))
}

/// Returns the least change that n repetitions on either side show, in the unit of the spread.
fn least(spread: f64, n: u64) -> f64 {
    if spread == 0.0 {
        return 0.0;
    }
    let (n, freedom) = (n as f64, n as f64 - 1.0);
    let t = student_quantile(0.975, freedom) + student_quantile(POWER, 2.0 * freedom);
    t * spread * libm::sqrt(2.0 / n)
}

/// Returns the fewest repetitions that show a change: more show less of it, so the answer is found by halving.
fn needed(spread: f64, change: f64) -> Option<u64> {
    let shows = |n: u64| least(spread, n) <= change;
    if !shows(MOST) {
        return None;
    }
    let (mut few, mut enough) = (1, MOST);
    while enough - few > 1 {
        let middle = u64::midpoint(few, enough);
        if middle >= 2 && shows(middle) {
            enough = middle;
        } else {
            few = middle;
        }
    }
    Some(enough)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Identity, Origin};
    use crate::compare::{Verdict, compare};
    use espbench_model::random::Xoshiro256PlusPlus;
    use espbench_stats::Estimate;
    use espbench_stats::special::normal_quantile;
    use proptest::prelude::*;

    fn cells(values: &[f64]) -> Vec<Cell> {
        let id = Identity { metric: "rtt_p50".into(), ..Identity::default() };
        let one = |value: &f64| {
            let estimate = Estimate { value: Some(*value), n: 100, ..Estimate::default() };
            Cell::of(estimate, id.clone(), "ms", Origin::Measured)
        };
        values.iter().map(one).collect()
    }

    /// Cohen's table 2.4.1 has 63.77 in each of two groups for an effect of half a deviation, with 80 % at 5 %; Student's
    /// quantiles of n - 1 instead of 2 n - 2 degrees of freedom, which intervals of two means have, add one.
    #[test]
    fn half_a_deviation_needs_sixty_four_or_five() {
        assert!(matches!(needed(1.0, 0.5), Some(64..=66)), "{:?}", needed(1.0, 0.5));
        assert!(matches!(needed(1.0, 1.0), Some(17..=19)), "{:?}", needed(1.0, 1.0));
        assert_eq!(needed(0.0, 0.05), Some(2));
        assert_eq!(needed(1.0, 1e-9), None);
    }

    #[test]
    fn means_of_repetitions_tell_as_much_as_these() {
        let values = [3.0, 3.5, 2.9, 3.2];
        let each = power(&cells(&values), 0.05);
        let mut pooled = pool(&cells(&values).iter().collect::<Vec<_>>()).unwrap();
        pooled.ci_low = Some(0.0);
        let mean = power(&[pooled], 0.05);
        assert_eq!((each[0].repetitions, each[0].needed), (4, mean[0].needed));
        assert!((each[0].spread.unwrap() - mean[0].spread.unwrap()).abs() < 1e-9);
    }

    #[test]
    fn one_repetition_tells_nothing() {
        let rows = power(&cells(&[3.0]), 0.05);
        assert_eq!((rows[0].repetitions, rows[0].spread, rows[0].needed), (1, None, None));
        assert_eq!(power(&cells(&[0.0, 0.0]), 0.05)[0].needed, None, "no part of nothing");
    }

    /// With as many repetitions as it says, the comparison shows the change in four of five pairs of runs.
    #[test]
    fn so_many_repetitions_show_the_change_as_often_as_promised() {
        let (spread, change) = (0.08, 0.1);
        let n = needed(spread, change).unwrap();
        let mut random = Xoshiro256PlusPlus::new(1);
        let mut run = |mean: f64| {
            let mut value =
                || mean * (1.0 + spread * normal_quantile(random.unit().clamp(1e-12, 1.0 - 1e-12)));
            let values: Vec<f64> = (0..n).map(|_| value()).collect();
            cells(&values)
        };
        let trials = 400;
        let shown = (0..trials).filter(|_| {
            let verdict = compare(&run(1.0 + change), &run(1.0))[0].verdict.clone();
            verdict == Verdict::Worse
        });
        let share = shown.count() as f64 / f64::from(trials);
        assert!((0.72..0.88).contains(&share), "{share} with {n}");
    }

    proptest! {
        #[test]
        fn fewer_repetitions_do_not_show_it(spread in 0.001_f64..2.0, change in 0.01_f64..1.0) {
            if let Some(n) = needed(spread, change) {
                prop_assert!(least(spread, n) <= change);
                prop_assert!(n == 2 || least(spread, n - 1) > change);
            }
        }
    }
}

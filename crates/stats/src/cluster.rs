//! Statistics of observations that come in groups: the messages of one simulated room.
//!
//! Messages of one room are alike: two devices that are near, or whose clocks are in phase, meet
//! again and again. So what was seen in one room is worth less than as many independent messages,
//! and an interval must come from how much the rooms differ. Each estimate here is made of all
//! observations, each with the same weight, and its variance of the groups, by linearization
//! (Cochran 1977, "Sampling Techniques", 3rd ed., sections 6.3 and 9A).
//!
//! A proportion has the interval of Wilson for the number of independent observations that would
//! vary as much (Korn and Graubard 1998, "Confidence intervals for proportions with small expected
//! number of positive counts estimated from survey data", Survey Methodology 24(2)); a quantile the
//! one that follows from the proportion below it (Woodruff 1952, "Confidence intervals for medians
//! and other position measures", Journal of the American Statistical Association 47).

use crate::estimate::Estimate;
use crate::interval::{Z95, wilson_share};
use crate::quantile::{Sorted, ranks};
use crate::special::student_quantile;
use alloc::vec::Vec;

/// Hits and observations of each group: the share of hits in all of them.
#[must_use]
pub fn proportion(groups: &[(u64, u64)]) -> Estimate {
    let hits: u64 = groups.iter().map(|it| it.0).sum();
    let all: u64 = groups.iter().map(|it| it.1).sum();
    if all == 0 || hits > all {
        return Estimate { n: all, ..Estimate::default() };
    }
    let share = hits as f64 / all as f64;
    let estimate = wilson_share(share, independent(groups), Z95);
    Estimate { n: all, ..estimate }
}

/// Returns how many independent observations would vary as much as these; never more than there
/// are.
fn independent(groups: &[(u64, u64)]) -> f64 {
    let hits: u64 = groups.iter().map(|it| it.0).sum();
    let all: u64 = groups.iter().map(|it| it.1).sum();
    let (n, share) = (all as f64, hits as f64 / all.max(1) as f64);
    let chance = share * (1.0 - share) / n;
    let groups: Vec<(f64, u64)> = groups.iter().map(|it| (it.0 as f64, it.1)).collect();
    let Some(variance) = variance(&groups, share) else { return n };
    if chance <= 0.0 || variance <= chance {
        return n;
    }
    // Few groups tell little of their variance: Student's quantile instead of the normal one.
    let filled = groups.iter().filter(|it| it.1 > 0).count();
    let t = student_quantile(0.975, (filled - 1) as f64);
    (n * chance / variance * (Z95 / t) * (Z95 / t)).max(1.0)
}

/// Returns the variance of the mean (sums over counts) of groups; `None` for fewer than two.
fn variance(groups: &[(f64, u64)], mean: f64) -> Option<f64> {
    let filled = groups.iter().filter(|it| it.1 > 0).count();
    if filled < 2 {
        return None;
    }
    let n: f64 = groups.iter().map(|it| it.1 as f64).sum();
    let squares: f64 = groups
        .iter()
        .map(|&(sum, count)| {
            let off = sum - mean * count as f64;
            off * off
        })
        .sum();
    let g = filled as f64;
    Some(g / (g - 1.0) * squares / (n * n))
}

/// Returns the mean of groups that are given as sum and number of their observations.
#[must_use]
pub fn mean(groups: &[(f64, u64)]) -> Estimate {
    let n: u64 = groups.iter().map(|it| it.1).sum();
    if n == 0 {
        return Estimate::default();
    }
    let value = groups.iter().map(|it| it.0).sum::<f64>() / n as f64;
    let filled = groups.iter().filter(|it| it.1 > 0).count();
    let half = variance(groups, value).map(|v| {
        // Below that it is rounding, not spread.
        if v > 1e-18 * value * value {
            student_quantile(0.975, (filled - 1) as f64) * libm::sqrt(v)
        } else {
            0.0
        }
    });
    let end = |sign: f64| half.map(|half| value + sign * half).filter(|end| end.is_finite());
    Estimate { value: Some(value), n, low: end(-1.0), high: end(1.0) }
}

/// Returns the quantile `q` of all observations; each group in any order.
#[must_use]
pub fn quantile(groups: &[Vec<f64>], q: f64) -> Estimate {
    let all = Sorted::new(groups.iter().flatten().copied().collect());
    let estimate = all.quantile(q);
    let Some(value) = estimate.value else { return estimate };
    let below = |group: &Vec<f64>| {
        (group.iter().filter(|v| **v <= value).count() as u64, group.len() as u64)
    };
    let counts: Vec<(u64, u64)> = groups.iter().map(below).collect();
    let n = all.values().len() as f64;
    let independent = libm::floor(independent(&counts)).max(1.0);
    // The ranks in a sample of that size, carried over to all observations.
    let (low, high) = ranks(independent as u64, q, 0.95);
    let at = |rank: u64, outwards: fn(f64) -> f64| {
        let rank = outwards(rank as f64 / independent * n).clamp(1.0, n);
        all.values()[rank as usize - 1]
    };
    Estimate {
        low: low.map(|rank| at(rank, libm::floor).min(value)),
        high: high.map(|rank| at(rank, libm::ceil).max(value)),
        ..estimate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interval::{mean_t, wilson};
    use espbench_model::random::Xoshiro256PlusPlus;
    use proptest::prelude::*;

    fn unit(random: &mut Xoshiro256PlusPlus) -> f64 {
        (random.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// By hand: the shares of four groups of 100 are off by 10, 10, 5 and 5 observations, so their mean
    /// has a variance of 4/3 x 250 / 400^2, three and a third times that of 400 throws of a coin. Student's
    /// quantile for three degrees of freedom is scipy.stats.t.ppf 1.17.
    #[test]
    fn groups_that_differ_count_as_fewer_observations() {
        let groups = [(40, 100), (60, 100), (45, 100), (55, 100)];
        let t = 3.182_446_305_284_263;
        let wanted =
            400.0 * (0.25 / 400.0) / (4.0 / 3.0 * 250.0 / 160_000.0) * (Z95 / t) * (Z95 / t);
        let near = |got: f64, wanted: f64| {
            assert!(libm::fabs(got / wanted - 1.0) < 1e-9, "{got} {wanted}")
        };
        near(independent(&groups), wanted);
        let quarter = [(10, 100), (40, 100), (20, 100), (30, 100)];
        let variance = 4.0 / 3.0 * 500.0 / 160_000.0;
        near(independent(&quarter), 0.25 * 0.75 / variance * (Z95 / t) * (Z95 / t));
        assert!(libm::fabs(independent(&[(5, 10), (5, 10)]) - 20.0) < 1e-9, "alike: all count");
    }

    #[test]
    fn groups_without_observations_change_nothing() {
        let (with, without) =
            ([(40, 100), (0, 0), (60, 100), (45, 100)], [(40, 100), (60, 100), (45, 100)]);
        assert_eq!(proportion(&with), proportion(&without));
        let sums = |groups: &[(u64, u64)]| groups.iter().map(|it| (it.0 as f64, it.1)).collect();
        let [a, b]: [Vec<(f64, u64)>; 2] = [sums(&with), sums(&without)];
        assert_eq!(mean(&a), mean(&b));
        assert_eq!(mean(&[(3.0, 2), (0.0, 0)]).low, None, "one group has no spread");
        assert_eq!(mean(&[(2.0, 2), (2.0, 2)]).low, Some(1.0));
    }

    #[test]
    fn a_share_of_none_of_all_and_of_too_many() {
        assert_eq!(proportion(&[(10, 10), (10, 10)]).value, Some(1.0));
        assert_eq!(proportion(&[(0, 10), (0, 10)]).value, Some(0.0));
        let impossible = proportion(&[(3, 2)]);
        assert_eq!((impossible.value, impossible.n), (None, 2));
    }

    #[test]
    fn groups_that_differ_no_more_than_chance_are_one_sample() {
        let groups = [(5, 100), (5, 100), (5, 100), (5, 100)];
        assert_eq!(proportion(&groups), wilson(20, 400));
        assert_eq!(proportion(&[(0, 50), (0, 50)]), wilson(0, 100));
        let values: Vec<Vec<f64>> =
            (0..4).map(|g| (0..250).map(|i| f64::from(4 * i + g)).collect()).collect();
        let whole = Sorted::new(values.concat()).quantile(0.9);
        assert_eq!(quantile(&values, 0.9), whole);
    }

    #[test]
    fn groups_that_differ_are_worth_their_number() {
        // All or nothing: as good as eight observations.
        let groups: Vec<(u64, u64)> =
            (0..8).map(|i| (if i < 4 { 1000 } else { 0 }, 1000)).collect();
        let estimate = proportion(&groups);
        let alone = wilson(4, 8);
        assert!(estimate.low.unwrap() < alone.low.unwrap() + 0.02, "{estimate:?} {alone:?}");
        assert!(estimate.low.unwrap() > 0.05 && estimate.n == 8000);
        // Groups of one size: Student's interval of their means.
        let means = [3.0, 5.0, 4.0, 9.0];
        let groups = means.map(|m| (m * 10.0, 10));
        let (ours, his) = (mean(&groups), mean_t(&means));
        assert!((ours.low.unwrap() - his.low.unwrap()).abs() < 1e-9, "{ours:?} {his:?}");
    }

    /// How often intervals hold the truth when groups have levels of their own.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        let mut random = Xoshiro256PlusPlus::new(7);
        let (mut shares, mut medians, tries) = (0, 0, 400);
        for _ in 0..tries {
            let mut counts = Vec::new();
            let mut values = Vec::new();
            for _ in 0..8 {
                let level = 0.1 + 0.2 * unit(&mut random);
                let hits = (0..200).filter(|_| unit(&mut random) < level).count();
                counts.push((hits as u64, 200));
                let shift = unit(&mut random);
                values.push((0..100).map(|_| shift + unit(&mut random)).collect::<Vec<f64>>());
            }
            let holds = |e: Estimate, truth: f64| {
                e.low.is_some_and(|low| low <= truth) && e.high.is_some_and(|high| truth <= high)
            };
            shares += u32::from(holds(proportion(&counts), 0.2));
            // The median of the sum of two uniform variables.
            medians += u32::from(holds(quantile(&values, 0.5), 1.0));
        }
        for held in [shares, medians] {
            assert!(held >= tries * 91 / 100, "{held} of {tries}");
        }
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_estimate(
            groups in proptest::collection::vec((0_u64..50, 50_u64..60), 0..10),
            values in proptest::collection::vec(proptest::collection::vec(-10.0..10.0_f64, 0..30), 0..6),
            q in 0.01..0.99_f64,
        ) {
            let sums: Vec<(f64, u64)> = groups.iter().map(|&(k, n)| (k as f64, n)).collect();
            for e in [proportion(&groups), mean(&sums), quantile(&values, q)] {
                if let Some(value) = e.value {
                    prop_assert!(e.low.is_none_or(|low| low <= value));
                    prop_assert!(e.high.is_none_or(|high| high >= value));
                }
            }
        }
    }
}

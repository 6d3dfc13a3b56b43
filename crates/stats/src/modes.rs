//! Whether a sample has two modes: Hartigan's dip test, and where the valley lies.

use alloc::vec::Vec;
use espbench_model::random::Xoshiro256PlusPlus;

/// Fewer observations than this are not tested.
pub const FEWEST: usize = 50;

/// Larger samples are thinned to so many order statistics, evenly. Thinning smooths the sample, so
/// it cannot make two modes of one.
const MOST: usize = 10_000;

/// The 1 % critical value of sqrt(n) times the dip for a uniform distribution, the worst of the
/// unimodal ones. In the table of R's package diptest, which extends that of Hartigan and Hartigan
/// 1985, it grows from 0.574 at n = 50 to 0.633 at n = 72,000; the largest serves for all.
const CRITICAL: f64 = 0.633;

/// Part of the sample that each mode must hold.
const SMALLEST_PART: f64 = 0.05;

/// Factor by which each mode must be denser than the valley between them.
const DEPTH: f64 = 2.0;

/// The upper mode must lie above the lower by so large a part of it.
const APART: f64 = 0.1;

/// Two modes of one sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// Centre of the densest part below the valley.
    pub low: f64,
    /// Centre of the densest part above it.
    pub high: f64,
}

/// Returns the two modes of a sample in ascending order, of values above 0; `None` where it shows
/// but one.
///
/// The dip test (Hartigan and Hartigan 1985, "The dip test of unimodality", Annals of Statistics
/// 13) decides whether there is more than one, with 1 % of false alarms at most: it holds for every
/// unimodal shape, so skewed samples do not mislead it. Ties do: clock steps look like as
/// many modes. So each value first gets uniform noise of one step, the smallest distance between two
/// different values, which makes a step-wise sample a histogram. Two modes of one value each that
/// are neighbours on that scale are therefore not told apart.
///
/// What is significant need not matter. The valley must also be deep, both sides must hold 5 % of
/// the sample, and lie 10 % apart.
#[must_use]
pub fn two_modes(sorted: &[f64], seed: u64) -> Option<Modes> {
    if sorted.len() < FEWEST || sorted.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let values = without_ties(&thinned(sorted), seed)?;
    let (modes, at) = groups(&values)?;
    // Two figures do not describe three groups and more.
    let (below, above) = values.split_at(at);
    let is_two = groups(below).is_none() && groups(above).is_none();
    (is_two && modes.low > 0.0 && modes.high - modes.low >= APART * modes.low).then_some(modes)
}

/// Returns the modes on both sides of the deepest valley, and how many values lie below that; `None` where the sample has
/// one mode, or too few values to tell.
fn groups(sorted: &[f64]) -> Option<(Modes, usize)> {
    let n = sorted.len();
    let are_several = n >= FEWEST && libm::sqrt(n as f64) * dip(sorted) > CRITICAL;
    if are_several { valley(sorted) } else { None }
}

fn thinned(sorted: &[f64]) -> Vec<f64> {
    if sorted.len() <= MOST {
        return sorted.to_vec();
    }
    (0..MOST).map(|i| sorted[(2 * i + 1) * sorted.len() / (2 * MOST)]).collect()
}

/// Returns the sample with noise of one step; `None` where all values are alike.
fn without_ties(sorted: &[f64], seed: u64) -> Option<Vec<f64>> {
    let steps = sorted.windows(2).map(|w| w[1] - w[0]);
    let step = steps.filter(|step| *step > 0.0).reduce(f64::min)?;
    let mut random = Xoshiro256PlusPlus::new(seed);
    let mut values: Vec<f64> = sorted.iter().map(|v| v + (random.unit() - 0.5) * step).collect();
    values.sort_unstable_by(f64::total_cmp);
    Some(values)
}

/// Returns the dip: the largest distance between the sample's distribution function and the nearest
/// unimodal one. Values ascend, with no two alike; 0 for fewer than two.
///
/// Their algorithm: between the current ends, take the greatest convex minorant and the least
/// concave majorant of the distribution function, and where they are farthest apart; narrow the
/// ends to that place; stop when the distance is no more than the deviation outside the ends.
#[must_use]
pub fn dip(sorted: &[f64]) -> f64 {
    let n = sorted.len();
    if n < 2 {
        return 0.0;
    }
    let (mut low, mut high) = (0, n - 1);
    // In counts; the distribution function jumps by one at each value.
    let mut deviation = 1.0;
    loop {
        let minorant = Hull::new(sorted, low, high, 1.0);
        let majorant = Hull::new(sorted, low, high, -1.0);
        let (gap, new_low, new_high) = widest(&minorant, &majorant);
        if gap <= deviation || (new_low, new_high) == (low, high) {
            break;
        }
        // Below the new ends the distribution is to be convex, above them concave.
        let below = (low..=new_low).map(|i| i as f64 + 1.0 - minorant.at(i));
        let above = (new_high..=high).map(|i| majorant.at(i) + 1.0 - i as f64);
        deviation = below.chain(above).fold(deviation, f64::max);
        (low, high) = (new_low, new_high);
    }
    deviation / (2.0 * n as f64)
}

/// A convex (or concave) chain under (over) the points (value, index) of a stretch of the sample.
struct Hull<'a> {
    sorted: &'a [f64],
    knots: Vec<usize>,
}

impl<'a> Hull<'a> {
    /// Builds the hull. `sign` is 1 for the greatest convex minorant, -1 for the least concave
    /// majorant. Andrew's monotone chain (Andrew 1979).
    fn new(sorted: &'a [f64], low: usize, high: usize, sign: f64) -> Self {
        let mut knots: Vec<usize> = Vec::new();
        for i in low..=high {
            while let [.., a, b] = knots[..] {
                let rise = (b - a) as f64 * (sorted[i] - sorted[a]);
                let line = (i - a) as f64 * (sorted[b] - sorted[a]);
                if sign * (rise - line) < 0.0 {
                    break;
                }
                knots.pop();
            }
            knots.push(i);
        }
        Self { sorted, knots }
    }

    /// Returns the height of the chain at the value of an index between its ends.
    fn at(&self, index: usize) -> f64 {
        let after = self.knots.partition_point(|&k| k < index);
        let right = self.knots[after];
        if right == index {
            return right as f64;
        }
        let left = self.knots[after - 1];
        let along =
            (self.sorted[index] - self.sorted[left]) / (self.sorted[right] - self.sorted[left]);
        left as f64 + along * (right - left) as f64
    }

    fn last_up_to(&self, index: usize) -> usize {
        self.knots[self.knots.partition_point(|&k| k <= index) - 1]
    }

    fn first_from(&self, index: usize) -> usize {
        self.knots[self.knots.partition_point(|&k| k < index)]
    }
}

/// Returns the largest distance between the chains, and the knots around it: the last of the
/// minorant up to there and the first of the majorant from there.
fn widest(minorant: &Hull<'_>, majorant: &Hull<'_>) -> (f64, usize, usize) {
    let knots = minorant.knots.iter().chain(&majorant.knots);
    let gap = |&k: &usize| majorant.at(k) + 1.0 - minorant.at(k);
    let first = minorant.knots[0];
    let start = (gap(&first), first);
    let (gap, place) = knots
        .map(|k| (gap(k), *k))
        .fold(start, |best, new| if new.0 > best.0 { new } else { best });
    (gap, minorant.last_up_to(place), majorant.first_from(place))
}

/// Returns the modes on both sides of the deepest valley, by the distance from each value to the
/// one that comes some ranks later: the longer, the emptier. With them comes the number of values below that valley.
fn valley(sorted: &[f64]) -> Option<(Modes, usize)> {
    let n = sorted.len();
    let span = (n / 20).max(5);
    let edge = libm::ceil(SMALLEST_PART * n as f64) as usize;
    let lengths: Vec<f64> = (0..n - span).map(|i| sorted[i + span] - sorted[i]).collect();
    let shorter = |a: usize, b: usize| if lengths[b] < lengths[a] { b } else { a };
    // The densest stretch that ends by, or begins from, each place.
    let mut from_right = alloc::vec![lengths.len() - 1; lengths.len()];
    for i in (0..lengths.len() - 1).rev() {
        from_right[i] = shorter(from_right[i + 1], i);
    }
    let mut from_left = 0;
    let mut deepest: Option<(f64, usize, usize, usize)> = None;
    for i in span.max(edge)..lengths.len().saturating_sub(span) {
        from_left = shorter(from_left, i - span);
        let right = from_right[i + span];
        let depth = lengths[i] / lengths[from_left].max(lengths[right]);
        if deepest.is_none_or(|(d, ..)| depth > d) {
            deepest = Some((depth, from_left, right, i));
        }
    }
    let (depth, left, right, at) = deepest?;
    let centre = |i: usize| sorted[i + span / 2];
    let modes = Modes { low: centre(left), high: centre(right) };
    let gap = |i: &usize| sorted[i + 1] - sorted[*i];
    let widest = (at..at + span).max_by(|a, b| gap(a).total_cmp(&gap(b)))?;
    (depth >= DEPTH).then_some((modes, widest + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(got: f64, wanted: f64) {
        assert!(libm::fabs(got - wanted) < 1e-12, "got {got}, wanted {wanted}");
    }

    fn modes_of(sorted: &[f64]) -> Option<Modes> {
        valley(sorted).map(|it| it.0)
    }

    fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut values: Vec<f64> = values.collect();
        values.sort_unstable_by(f64::total_cmp);
        values
    }

    #[test]
    fn dip_as_the_reference() {
        // diptest 0.12 from PyPI, a port of Hartigan's own code.
        let f = |i: i32| f64::from(i);
        close(dip(&sorted((0..10).map(|i| f(i * i)))), 0.05);
        close(
            dip(&sorted((0..50).map(|i| f(i % 2) * 100.0 + f(i) * 0.1))),
            0.238_011_988_011_987_97,
        );
        close(dip(&sorted((0..100).map(|i| -libm::log(1.0 - (f(i) + 0.5) / 100.0)))), 0.005);
        close(dip(&sorted((0..200).map(|i| f(if i < 150 { i } else { i + 300 })))), 0.1075);
        let three = (0..90).map(|i| f((i % 3) * (i % 3) * 40) + f(i * i) * 0.01);
        close(dip(&sorted(three)), 0.064_324_955_363_274_25);
        let waves = (0..300).map(|i| f(i) + 15.0 * libm::sin(f(i) * 0.7));
        close(dip(&sorted(waves)), 0.008_807_165_312_872_692);
        // Cubes modulo a prime, all different.
        for (n, wanted) in [
            (5, 0.139_130_434_782_608_7),
            (9, 0.1),
            (16, 0.054_166_666_666_666_67),
            (25, 0.066_122_448_979_591_82),
            (40, 0.037_5),
            (60, 0.027_777_777_777_777_77),
            (80, 0.018_287_037_037_037_04),
        ] {
            close(dip(&sorted((1..=n).map(|i: i32| f(i.pow(3) % 101)))), wanted);
        }
    }

    /// Returns a standard normal number, by Box and Muller 1958.
    fn normal(random: &mut Xoshiro256PlusPlus) -> f64 {
        let radius = libm::sqrt(-2.0 * libm::log(1.0 - random.unit()));
        radius * libm::cos(core::f64::consts::TAU * random.unit())
    }

    fn alarms(trials: u64, n: usize, draw: impl Fn(&mut Xoshiro256PlusPlus) -> f64) -> u64 {
        let found = (0..trials).filter(|&seed| {
            let mut random = Xoshiro256PlusPlus::new(seed);
            let values = sorted((0..n).map(|_| draw(&mut random)));
            two_modes(&values, seed).is_some()
        });
        found.count() as u64
    }

    #[test]
    fn one_mode_of_any_shape_raises_no_alarm() {
        let exponential = |r: &mut Xoshiro256PlusPlus| 3.0 - libm::log(1.0 - r.unit());
        let log_normal = |r: &mut Xoshiro256PlusPlus| 5.0 * libm::exp(0.8 * normal(r));
        let uniform = |r: &mut Xoshiro256PlusPlus| 10.0 + r.unit();
        let wide = |r: &mut Xoshiro256PlusPlus| 1.0 + 100.0 * r.unit();
        assert_eq!(alarms(60, 1000, exponential), 0);
        assert_eq!(alarms(60, 1000, log_normal), 0);
        assert_eq!(alarms(60, 200, log_normal), 0);
        assert_eq!(alarms(60, 1000, uniform), 0);
        assert!(alarms(100, 300, wide) <= 2);
    }

    #[test]
    fn steps_of_a_clock_raise_no_alarm() {
        let quantised = |step: f64| {
            move |r: &mut Xoshiro256PlusPlus| {
                libm::floor(5.0 * libm::exp(0.5 * normal(r)) / step) * step
            }
        };
        for step in [0.001, 0.5, 1.0, 4.0] {
            assert_eq!(alarms(40, 1000, quantised(step)), 0, "step {step}");
        }
        assert_eq!(two_modes(&[5.0; 100], 1), None);
    }

    #[test]
    fn two_modes_are_found_where_they_are() {
        let mix = |part: f64| {
            move |r: &mut Xoshiro256PlusPlus| {
                if r.unit() < part { 100.0 + 3.0 * normal(r) } else { 5.0 + 0.5 * normal(r) }
            }
        };
        assert_eq!(alarms(40, 1000, mix(0.3)), 40);
        assert_eq!(alarms(40, 1000, mix(0.1)), 40);
        let mut random = Xoshiro256PlusPlus::new(1);
        let values = sorted((0..1000).map(|_| mix(0.3)(&mut random)));
        let modes = two_modes(&values, 1).unwrap();
        assert!(libm::fabs(modes.low - 5.0) < 0.5, "{modes:?}");
        assert!(libm::fabs(modes.high - 100.0) < 3.0, "{modes:?}");
        // A hundred thousand are thinned, and still tell.
        let values = sorted((0..100_000).map(|_| mix(0.3)(&mut random)));
        assert!(two_modes(&values, 1).is_some());
    }

    /// A comb of humps 10 ms apart was called two groups, around the first and the second.
    #[test]
    fn more_than_two_groups_are_not_called_two() {
        let comb = |humps: u64| {
            let mut random = Xoshiro256PlusPlus::new(humps);
            sorted((0..1000).map(|i| 6.0 + 10.0 * (i % humps) as f64 + normal(&mut random) * 0.5))
        };
        assert!(two_modes(&comb(2), 1).is_some());
        for humps in 3..8 {
            assert_eq!(two_modes(&comb(humps), 1), None, "{humps} humps");
        }
    }

    #[test]
    fn strange_samples_answer() {
        assert_eq!(two_modes(&[], 1), None);
        assert_eq!(two_modes(&[1.0; 49], 1), None);
        let mut values = alloc::vec![1.0; 60];
        values.push(f64::INFINITY);
        assert_eq!(two_modes(&values, 1), None);
        assert_eq!(dip(&[]), 0.0);
        assert_eq!(dip(&[3.0]), 0.0);
    }

    /// Makes `n` values of a window of width 1 around `low`, and as many around `high`, evenly
    /// spaced.
    fn two_windows(n: usize, low: f64, high: f64) -> Vec<f64> {
        let around = |middle: f64| {
            (0..n).map(move |i| middle + (i as f64 + 0.5) / n as f64 - 0.5).collect::<Vec<f64>>()
        };
        [around(low), around(high)].concat()
    }

    #[test]
    fn fifty_values_are_enough_and_fewer_are_not() {
        let fifty = two_windows(25, 5.0, 100.0);
        assert!(two_modes(&fifty, 1).is_some());
        assert_eq!(two_modes(&fifty[..49], 1), None);
        assert_eq!(two_modes(&fifty[1..], 1), None);
    }

    #[test]
    fn a_value_without_end_leaves_no_answer() {
        for strange in [f64::INFINITY, f64::NAN] {
            let mut values = two_windows(100, 5.0, 100.0);
            assert!(two_modes(&values, 1).is_some());
            values.push(strange);
            assert_eq!(two_modes(&values, 1), None, "{strange}");
        }
    }

    /// Two modes must lie a tenth of the lower one apart, wherever they are.
    #[test]
    fn modes_that_are_close_for_their_size_are_one() {
        for (low, high, apart) in [
            (1000.0, 1200.0, true),
            (1000.0, 1105.0, true),
            (1000.0, 1095.0, false),
            (100.0, 105.0, false),
            (10.0, 12.0, true),
            (2.0, 4.0, true),
        ] {
            let found = two_modes(&two_windows(200, low, high), 1);
            assert_eq!(found.is_some(), apart, "{low} and {high}: {found:?}");
            if let Some(modes) = found {
                assert!(libm::fabs(modes.low - low) < 0.5, "{modes:?}");
                assert!(libm::fabs(modes.high - high) < 0.5, "{modes:?}");
            }
        }
        assert_eq!(two_modes(&two_windows(200, -100.0, 100.0), 1), None, "no times");
    }

    #[test]
    fn thinning_takes_the_middle_of_every_so_many() {
        let count = |n: usize| (0..n).map(|i| i as f64).collect::<Vec<f64>>();
        assert_eq!(thinned(&count(9_999)), count(9_999));
        assert_eq!(thinned(&count(10_000)), count(10_000));
        let third: Vec<f64> = (0..10_000).map(|i| f64::from(3 * i + 1)).collect();
        assert_eq!(thinned(&count(30_000)), third);
        // Of one more than fits, the place of each grows by a ten-thousandth.
        let one_more = thinned(&count(10_001));
        assert_eq!((one_more[0], one_more[4_999], one_more[5_000]), (0.0, 4_999.0, 5_001.0));
        assert_eq!(one_more[9_999], 10_000.0);
    }

    /// The noise of a tie is as wide as the smallest step, and centred: neighbours meet, and none
    /// crosses.
    #[test]
    fn ties_are_spread_over_one_step() {
        let ties = |value: f64| core::iter::repeat_n(value, 400);
        let sample: Vec<f64> = ties(10.0).chain(ties(10.5)).chain(ties(12.0)).collect();
        let spread = without_ties(&sample, 3).unwrap();
        assert_eq!(spread.len(), sample.len());
        assert!(spread.is_sorted() && spread.windows(2).all(|two| two[0] < two[1]));
        for (value, part) in [10.0, 10.5, 12.0].into_iter().zip(spread.chunks(400)) {
            let (first, last) = (part[0] - value, part[399] - value);
            assert!((-0.25..-0.24).contains(&first), "{value}: {first}");
            assert!((0.24..0.25).contains(&last), "{value}: {last}");
            let middle = (part[199] + part[200]) / 2.0 - value;
            assert!(libm::fabs(middle) < 0.03, "{value}: {middle}");
        }
        assert_eq!(without_ties(&[7.0; 80], 3), None, "no step");
    }

    /// The window between the modes that is as long as a twentieth of the sample decides: twice as
    /// long as that of the modes is a valley, less is not.
    #[test]
    fn a_valley_is_twice_as_empty() {
        let sample = |step: f64| stretches(&[(400, 1.0), (200, step), (400, 1.0)]);
        assert_eq!(modes_of(&sample(1.984_375)), None);
        // All stretches of a side are as dense: the outermost are taken, and of their 50 values the
        // middle.
        let high = 100.0 + 2.0 * 200.0 + 775.0;
        assert_eq!(modes_of(&sample(2.0)), Some(Modes { low: 101.0 + 25.0, high }));
    }

    /// Returns values from 100 on that are so many steps apart: of each pair, a number of values
    /// and their distance. Distances that are powers of two add up without rounding.
    fn stretches(of: &[(usize, f64)]) -> Vec<f64> {
        let steps = of.iter().flat_map(|&(n, step)| core::iter::repeat_n(step, n));
        let add = |at: &mut f64, step| {
            *at += step;
            Some(*at)
        };
        steps.scan(100.0, add).collect()
    }

    /// The densest twentieth of each side is its mode, wherever it lies there.
    #[test]
    fn modes_are_the_densest_places_of_both_sides() {
        let left = [(150, 1.0), (100, 0.25), (50, 1.0)];
        let right = [(200, 1.0), (100, 0.125), (300, 1.0)];
        let sample = stretches(&[&left[..], &[(100, 16.0)], &right[..]].concat());
        // Steps of 0.25 lead to values 151 to 250, steps of 0.125 to values 601 to 700, counted
        // from 1. The mode is the middle of the first 51 there on the left, of the last on the right.
        let modes = Modes { low: sample[149 + 25], high: sample[699 - 25] };
        assert_eq!(modes_of(&sample), Some(modes));
        let swapped = stretches(&[&right[..], &[(100, 16.0)], &left[..]].concat());
        let modes = Modes { low: swapped[199 + 25], high: swapped[949 - 25] };
        assert_eq!(modes_of(&swapped), Some(modes));
    }

    #[test]
    fn of_two_valleys_as_deep_the_first_counts() {
        let sample = stretches(&[(300, 1.0), (50, 8.0), (300, 0.5), (50, 8.0), (300, 1.0)]);
        let Modes { low, high } = modes_of(&sample).expect("two valleys");
        assert_eq!(low, sample[25]);
        assert_eq!(high, sample[649 - 25]);
    }

    /// A twentieth of 1019 is 51: the window of the valley begins after so many, and leaves as many.
    #[test]
    fn how_many_a_side_of_a_valley_holds() {
        let jump = |below: usize| stretches(&[(below, 0.125), (1, 4096.0), (1018 - below, 0.125)]);
        let found = |below: usize| modes_of(&jump(below)).is_some();
        assert_eq!([50, 51, 52, 53].map(found), [false, false, true, true]);
        assert_eq!([966, 967, 968, 969].map(found), [true, true, true, false]);
    }

    /// A few outliers are no mode: each side of the valley must hold a twentieth.
    #[test]
    fn a_side_of_a_valley_holds_a_twentieth() {
        let with_tail = |tail: usize, above: bool| {
            let body = (0..1000 - tail).map(|i| 1000.0 + i as f64 * 0.001);
            let far = (0..tail)
                .map(|i| if above { 2000.0 + i as f64 * 0.001 } else { 500.0 + i as f64 * 0.001 });
            sorted(body.chain(far))
        };
        for above in [true, false] {
            assert_eq!(modes_of(&with_tail(20, above)), None, "{above}");
            let modes = modes_of(&with_tail(150, above)).expect("two modes");
            let (low, high) = if above { (1000.0, 2000.0) } else { (500.0, 1000.0) };
            assert!((low..low + 1.0).contains(&modes.low), "{modes:?}");
            assert!((high..high + 1.0).contains(&modes.high), "{modes:?}");
        }
    }

    #[test]
    fn the_least_dip_is_half_a_step() {
        // No distribution function without jumps is nearer to one with jumps of 1/n.
        for n in [2_i32, 3, 10, 77] {
            close(dip(&sorted((0..n).map(f64::from))), 0.5 / f64::from(n));
        }
    }

    proptest! {
        /// The dip knows no direction and no unit: mirrored, moved or stretched, a sample keeps it.
        #[test]
        fn a_mirrored_sample_has_the_same_dip(
            values in prop::collection::btree_set(-100_000_i32..100_000, 2..80),
        ) {
            let values: Vec<f64> = values.into_iter().map(f64::from).collect();
            let dip_of = dip(&values);
            let mirrored = sorted(values.iter().map(|v| -v));
            prop_assert!(libm::fabs(dip(&mirrored) - dip_of) < 1e-12);
            let stretched = sorted(values.iter().map(|v| v * 0.25 + 7.0));
            prop_assert!(libm::fabs(dip(&stretched) - dip_of) < 1e-12);
            let n = values.len() as f64;
            prop_assert!((0.5 / n - 1e-12..=0.25 + 1e-12).contains(&dip_of), "{dip_of}");
        }
    }
}

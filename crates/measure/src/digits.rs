//! How many digits a number is worth, in one place, so that every drawing shows the same.
//!
//! With an interval, the value is rounded to the second significant digit of the interval's half
//! width: an uncertainty carries at most two significant digits, and the value is rounded to agree
//! with it (JCGM 100:2008, "Guide to the expression of uncertainty in measurement", 7.2.6).
//! Without one it shows four significant digits, as the published tables do, and its whole part
//! in full. Published values are shown as printed.

use crate::cell::{Cell, Origin};
use crate::kind::esp_now::document;
use alloc::format;
use alloc::string::{String, ToString};
use espbench_stats::Estimate;

/// Meaning of the marks of an interval with one end, wherever they are shown.
pub const ONE_END: &str = "≥ or ≤: only that end is known";

/// Most decimal places ever shown.
const MOST_DECIMALS: i32 = 6;

/// Units of things that are counted one by one: their numbers are exact.
const COUNTED: [&str; 9] = [
    "probes",
    "packets",
    "datagrams",
    "messages",
    "segments",
    "frames",
    "buffers",
    "bytes",
    "devices",
];

/// Prints a value without an interval.
#[must_use]
pub fn plain(value: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    rounded(value, 3 - magnitude(value).min(3))
}

/// Prints a value with the digits that its interval is worth.
#[must_use]
pub fn worth(value: f64, low: Option<f64>, high: Option<f64>) -> String {
    match step(low, high) {
        Some(decimals) => rounded(value, decimals),
        None => plain(value),
    }
}

/// Prints the interval, `6.51–6.95`; where the sample cannot bound one end, the other one alone, `≥ 6.512`.
/// `None` where there is no interval at all.
#[must_use]
pub fn interval(low: Option<f64>, high: Option<f64>) -> Option<String> {
    let decimals = step(low, high);
    let end = |end: f64| decimals.map_or_else(|| plain(end), |decimals| rounded(end, decimals));
    ends(low, high, &end)
}

/// Significant digits that a number on a first screen has at most.
const AT_A_GLANCE: i32 = 4;

/// Prints a value for a first screen: as [`worth`], with four significant digits at most.
#[must_use]
pub fn worth_at_a_glance(value: f64, low: Option<f64>, high: Option<f64>) -> String {
    step(low, high).map_or_else(|| plain(value), |decimals| capped(value, decimals))
}

/// Prints an interval for a first screen: as [`interval`], with four significant digits of each end at most.
#[must_use]
pub fn interval_at_a_glance(low: Option<f64>, high: Option<f64>) -> Option<String> {
    ends(low, high, &|end| worth_at_a_glance(end, low, high))
}

/// Prints an interval with that number of decimal places.
#[must_use]
pub fn interval_in_places(low: Option<f64>, high: Option<f64>, places: usize) -> Option<String> {
    ends(low, high, &|end| format!("{end:.places$}"))
}

fn capped(value: f64, decimals: i32) -> String {
    // A zero says by its places how fine it is.
    let most = if value == 0.0 { decimals } else { AT_A_GLANCE - 1 - magnitude(value) };
    rounded(value, decimals.min(most))
}

fn ends(low: Option<f64>, high: Option<f64>, end: &dyn Fn(f64) -> String) -> Option<String> {
    match (low, high) {
        (None, None) => None,
        (Some(low), Some(high)) => Some(format!("{}–{}", end(low), end(high))),
        (Some(low), None) => Some(format!("≥ {}", end(low))),
        (None, Some(high)) => Some(format!("≤ {}", end(high))),
    }
}

/// Sign behind a simulated value to a measurement of which the lab was fitted.
pub const FITTED: &str = "†";

/// Prints the value of a cell, with a sign where the lab was fitted to it; `None` stays unknown.
#[must_use]
pub fn value(cell: &Cell) -> Option<String> {
    let value = unmarked(cell)?;
    Some(if cell.test.fitted_run.is_some() { format!("{value} {FITTED}") } else { value })
}

/// Prints the value of a cell without a sign.
#[must_use]
pub fn unmarked(cell: &Cell) -> Option<String> {
    let value = cell.value?;
    Some(match cell.origin {
        Origin::Published => format!("{value}"),
        // The mean of several repetitions need not be whole.
        _ if COUNTED.contains(&cell.unit.as_str()) && libm::trunc(value) == value => {
            format!("{value}")
        }
        Origin::Measured | Origin::Live | Origin::Simulated => match document::decimals(cell) {
            Some(decimals) => format!("{value:.decimals$}"),
            None => worth(value, cell.ci_low, cell.ci_high),
        },
    })
}

/// Prints the value of an estimate.
#[must_use]
pub fn estimate(e: &Estimate) -> Option<String> {
    e.value.map(|v| worth(v, e.low, e.high))
}

/// Prints value, unit and interval for a sentence: `6.73 ms (6.51–6.95)`.
#[must_use]
pub fn sentence(cell: &Cell) -> Option<String> {
    let value = unmarked(cell)?;
    let unit = if cell.unit == "percent" { "%" } else { cell.unit.as_str() };
    let mark = if cell.test.fitted_run.is_some() { " †" } else { "" };
    Some(match interval(cell.ci_low, cell.ci_high) {
        Some(interval) => format!("{value} {unit} ({interval}){mark}"),
        None => format!("{value} {unit}{mark}"),
    })
}

/// Prints a count.
#[must_use]
pub fn count(n: u64) -> String {
    format!("{n}")
}

/// Returns the nearest number of six significant digits.
#[must_use]
pub fn six(value: f64) -> f64 {
    significant(value, 6)
}

/// Prints the nearest number of three significant digits, as short as it is written: for tables in
/// which many things stand beside each other.
#[must_use]
pub fn three(value: f64) -> String {
    significant(value, 3).to_string()
}

/// Prints a ratio to two decimal places, and where these are too few or too many of it, to three significant digits:
/// `1.02`, `0.0015`, `613`.
#[must_use]
pub fn ratio(value: f64) -> String {
    if (0.1..100.0).contains(&value) { format!("{value:.2}") } else { three(value) }
}

/// Prints the nearest number of two significant digits: what the currents and times of a datasheet are worth.
#[must_use]
pub fn two(value: f64) -> String {
    significant(value, 2).to_string()
}

/// Prints an interval with two significant digits of each end, `25–41`; where one end is open, the other one alone,
/// `≥ 25`.
#[must_use]
pub fn interval_in_two(low: Option<f64>, high: Option<f64>) -> Option<String> {
    ends(low, high, &two)
}

/// Prints a part of a whole that is told beside it, to three digits or as fine as the whole: never does the part
/// read larger than the whole.
#[must_use]
pub fn part_of(part: f64, whole: &Estimate) -> String {
    let Estimate { value, low, high, .. } = *whole;
    let all = value.unwrap_or(part);
    let part = part.min(all);
    if part == 0.0 {
        return "0".to_string();
    }
    let decimals = step(low, high).unwrap_or_else(|| 3 - magnitude(all).min(3));
    let text = rounded(part, decimals);
    let unit = libm::pow(10.0, f64::from(-decimals));
    let read = libm::round(all / unit) * unit;
    // As fine as the whole where both are nearly the same.
    if text == rounded(all, decimals) || significant(part, 3) > read {
        return text;
    }
    rounded(part, 2 - magnitude(part))
}

/// Returns the nearest number of so many significant digits.
#[must_use]
pub fn significant(value: f64, digits: usize) -> f64 {
    // Through decimal text, as the result has to be the shortest in JSON.
    format!("{value:.*e}", digits.saturating_sub(1)).parse().unwrap_or(value)
}

/// Returns the decimal places that an interval is worth; negative rounds left of the point. `None`
/// for an interval that is open or has no width (but for the rounding of what it was computed
/// with), which says nothing about digits.
///
/// An interval that reaches over a factor of three or more is long on one side only; rounded by
/// its width, its lower end would read 0. Such a one keeps one digit of its lower end.
fn step(low: Option<f64>, high: Option<f64>) -> Option<i32> {
    let (low, high) = (low?, high?);
    let half = (high - low) / 2.0;
    let keep = if low > 0.0 && half > low { -magnitude(low) } else { i32::MIN };
    let exact = half <= high.abs() * 1e-9;
    (half.is_finite() && !exact).then(|| keep.max(1 - magnitude(half)))
}

/// Returns the power of ten of the first significant digit.
fn magnitude(value: f64) -> i32 {
    let size = value.abs();
    if size > 0.0 && size.is_finite() { libm::floor(libm::log10(size)) as i32 } else { 0 }
}

fn rounded(value: f64, decimals: i32) -> String {
    if !value.is_finite() {
        return format!("{value}");
    }
    if decimals >= 0 {
        let text = format!("{value:.*}", decimals.min(MOST_DECIMALS) as usize);
        // A negative zero is a zero.
        return if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') {
            text.trim_start_matches('-').to_string()
        } else {
            text
        };
    }
    let unit = libm::pow(10.0, f64::from(-decimals));
    format!("{:.0}", libm::round(value / unit) * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_has_the_digits_that_tell_what_it_is() {
        for (value, text) in [
            (1.0, "1.00"),
            (0.974, "0.97"),
            (12.345, "12.35"),
            (612.75, "613"),
            (0.001_512, "0.00151"),
            (0.0015, "0.0015"),
            (0.0, "0"),
        ] {
            assert_eq!(ratio(value), text);
        }
    }

    #[test]
    fn a_mean_of_counts_has_the_digits_of_other_figures() {
        let of = |value| {
            let id = crate::cell::Identity::default();
            let estimate = Estimate { value: Some(value), ..Estimate::default() };
            unmarked(&Cell::of(estimate, id, "probes", Origin::Measured)).unwrap()
        };
        assert_eq!(of(1.0 / 3.0), "0.3333");
        assert_eq!(of(123_456.0), "123456");
        assert_eq!(of(0.0), "0");
    }

    #[test]
    fn a_first_screen_has_four_digits_at_most() {
        let (low, high) = (Some(0.20968), Some(0.21100));
        assert_eq!(worth(0.21046, low, high), "0.21046");
        assert_eq!(worth_at_a_glance(0.21046, low, high), "0.2105");
        assert_eq!(interval_at_a_glance(low, high).as_deref(), Some("0.2097–0.2110"));
        assert_eq!(worth_at_a_glance(87_187.0, Some(87_100.0), Some(87_280.0)), "87190");
        let wide = interval_at_a_glance(Some(0.001), Some(26.744));
        assert_eq!(wide.as_deref(), Some("0.001–26.74"));
        assert_eq!(worth_at_a_glance(0.0, Some(0.0), Some(0.0195)), "0.0000");
        assert_eq!(worth_at_a_glance(6.73, Some(6.51), Some(6.95)), "6.73", "as it is worth");
    }

    #[test]
    fn an_interval_decides_the_digits() {
        assert_eq!(worth(6.728_43, Some(6.5), Some(6.95)), "6.73");
        assert_eq!(worth(1_296_480.0, Some(1_284_000.0), Some(1_308_000.0)), "1296000");
        assert_eq!(interval(Some(6.512), Some(6.949)).as_deref(), Some("6.51–6.95"));
        assert_eq!(interval(Some(6.512), None).as_deref(), Some("≥ 6.512"));
        assert_eq!(interval(None, Some(6.512)).as_deref(), Some("≤ 6.512"));
        assert_eq!(interval(None, None), None);
        assert_eq!(worth(0.0459, Some(0.0231), Some(2.28)), "0.05", "not 0.0");
        assert_eq!(interval(Some(0.0231), Some(2.28)).as_deref(), Some("0.02–2.28"));
    }

    proptest::proptest! {
        /// A part reads no larger than the whole beside it.
        #[test]
        fn a_part_reads_no_larger_than_the_whole(
            whole in 0.001_f64..100.0,
            share in 0.0_f64..=1.0,
            near in proptest::bool::ANY,
            half in 0.0_f64..0.3,
        ) {
            let part = if near { whole * (1.0 - share / 1e4) } else { whole * share };
            let all = Estimate {
                value: Some(whole),
                n: 9,
                low: Some(whole * (1.0 - half)),
                high: Some(whole * (1.0 + half)),
            };
            for all in [all, Estimate { high: None, ..all }] {
                let (part, all) = (part_of(part, &all), estimate(&all).unwrap());
                let number = |text: &str| text.parse::<f64>().unwrap();
                proptest::prop_assert!(number(&part) <= number(&all), "{} of {}", part, all);
            }
        }
    }

    #[test]
    fn a_part_has_three_digits_or_those_of_the_whole() {
        let all = |value: f64, half: f64| Estimate {
            value: Some(value),
            n: 9,
            low: Some(value - half),
            high: Some(value + half),
        };
        assert_eq!(part_of(1.715, &all(21.71, 0.45)), "1.72");
        assert_eq!(part_of(78.17, &all(78.19, 0.45)), "78.17", "not 78.2");
        assert_eq!(part_of(77.948, &all(94.95, 0.06)), "77.9");
        assert_eq!(part_of(64.04, &all(64.04, 2.0)), "64.0");
        assert_eq!(part_of(0.0, &all(20.0, 2.0)), "0");
    }

    #[test]
    fn without_one_four_digits_and_the_whole_part() {
        assert_eq!(plain(6.728), "6.728");
        assert_eq!(plain(0.012_345_6), "0.01235");
        assert_eq!(plain(1_296_480.4), "1296480");
        assert_eq!(plain(0.0), "0");
        assert_eq!(plain(684.0), "684.0");
        // Zero width is no statement about precision.
        assert_eq!(worth(5.0, Some(5.0), Some(5.0)), "5.000");
        assert_eq!(worth(2.34, Some(2.34 - 4e-16), Some(2.34 + 4e-16)), "2.340");
    }

    #[test]
    fn six_digits_are_short_in_decimal() {
        assert_eq!(format!("{}", six(1.0 / 3.0)), "0.333333");
        assert_eq!(six(123_456_789.0), 123_457_000.0);
        assert_eq!(six(0.0), 0.0);
    }

    #[test]
    fn odd_numbers_do_not_break_it() {
        assert_eq!(plain(f64::NAN), "NaN");
        assert_eq!(plain(-0.000_000_01), "0.000000");
        assert_eq!(worth(1e300, Some(1e-300), Some(1e-299)), format!("{:.6}", 1e300));
        assert_eq!(plain(f64::INFINITY), "inf");
    }

    #[test]
    fn published_values_are_shown_as_printed() {
        let mut cell = Cell::of(
            Estimate::exact(13.6, 0),
            crate::cell::Identity::default(),
            "ms",
            Origin::Published,
        );
        assert_eq!(value(&cell).as_deref(), Some("13.6"));
        cell.value = None;
        assert_eq!(value(&cell), None);
    }
}

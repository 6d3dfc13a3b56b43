//! Figures and small bars as text, for lines of a terminal and for the page.

use espbench_measure::digits;
use espbench_measure::report::{GlanceGroup, GlanceMetric, GlanceRow, GlanceValue};
use espbench_measure::table::unit_sign;
use std::fmt::Write as _;

/// Metric of loss, by its name in a cell.
const LOSS: &str = "loss";

/// Heights of a histogram's bars.
const HEIGHTS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Marks of a bar that shows a ratio: the middle is 1, the ends are a half and the double.
pub(super) const RATIO: usize = 9;

/// Returns the heads of the columns. A quantity that stands in the head before is not said again.
pub(super) fn heads(metrics: &[GlanceMetric]) -> Vec<String> {
    let head = |(at, metric): (usize, &GlanceMetric)| {
        let before = at.checked_sub(1).map(|at| &metrics[at]);
        let again =
            before.is_some_and(|it| it.quantity == metric.quantity && it.unit == metric.unit);
        let unit = unit_sign(&metric.unit);
        match (again, metric.statistic.as_str()) {
            (true, statistic) if !statistic.is_empty() => statistic.to_string(),
            (_, statistic) => {
                let unit = if unit.is_empty() { String::new() } else { format!("({unit})") };
                let parts = [metric.quantity.as_str(), statistic, &unit];
                parts.iter().filter(|it| !it.is_empty()).copied().collect::<Vec<_>>().join(" ")
            }
        }
    };
    metrics.iter().enumerate().map(head).collect()
}

/// Prints the values of a row, that many of them with their intervals.
pub(super) fn values(row: &GlanceRow, intervals: usize) -> Vec<String> {
    let one = |(at, value): (usize, &Option<GlanceValue>)| match value {
        None => "-".into(),
        Some(it) if at < intervals => print(it),
        Some(it) => number(it),
    };
    row.values.iter().enumerate().map(one).collect()
}

/// Prints a value alone, with a sign where the lab was fitted to it.
pub(super) fn number(value: &GlanceValue) -> String {
    let mark = if value.fitted { digits::FITTED } else { "" };
    let is_count = value.ci_low.is_none() && value.ci_high.is_none() && value.value.fract() == 0.0;
    let of = value.of.map(|all| format!(" of {all}")).unwrap_or_default();
    if is_count {
        return format!("{}{of}{mark}", value.value);
    }
    digits::worth_at_a_glance(value.value, value.ci_low, value.ci_high) + &of + mark
}

/// Prints a value with its interval: `6.1 [5.9–6.4]`; a value that is no more than a lower bound as `≥ 6.1`.
pub(super) fn print(value: &GlanceValue) -> String {
    match figure(value) {
        (_, Some(interval)) if is_lower_bound(value) => interval,
        (number, Some(interval)) => format!("{number} [{interval}]"),
        (number, None) => number,
    }
}

/// Returns whether a value is no more than a lower bound: a search that ended at the end of its range.
fn is_lower_bound(value: &GlanceValue) -> bool {
    value.ci_high.is_none() && value.ci_low == Some(value.value)
}

/// Prints a value, and its interval where it has one with two ends that differ.
pub(super) fn figure(value: &GlanceValue) -> (String, Option<String>) {
    let number = number(value);
    let interval = digits::interval_at_a_glance(value.ci_low, value.ci_high);
    (number, interval.filter(|_| value.ci_low != value.ci_high))
}

/// Draws the shares as bars, the largest in full height.
pub(super) fn histogram(shares: &[f64]) -> String {
    let largest = shares.iter().copied().fold(0.0, f64::max);
    let bar = |share: &f64| {
        let height = (share / largest * 8.0).ceil();
        if height < 1.0 { ' ' } else { HEIGHTS[(height as usize).min(8) - 1] }
    };
    if largest > 0.0 { shares.iter().map(bar).collect() } else { String::new() }
}

/// Draws a ratio on a logarithmic axis around 1.
pub(super) fn bar(ratio: f64) -> String {
    let middle = RATIO / 2;
    let at = (middle as f64 + middle as f64 * ratio.log2()).round().clamp(0.0, (RATIO - 1) as f64);
    (0..RATIO)
        .map(|place| match place {
            _ if place == at as usize => '●',
            _ if place == middle => '│',
            _ => '·',
        })
        .collect()
}

/// Prints the range of a group's leading figure, with `≥` before an end that is a lower bound, and the largest loss.
pub(super) fn leading(group: &GlanceGroup) -> String {
    let Some(metric) = group.metrics.first() else { return String::new() };
    let values = |at: usize| group.rows.iter().filter_map(move |row| row.values.get(at)?.as_ref());
    let ends = |at: usize| {
        let order = |a: &&GlanceValue, b: &&GlanceValue| a.value.total_cmp(&b.value);
        values(at).min_by(order).zip(values(at).max_by(order))
    };
    let Some((low, high)) = ends(0) else { return String::new() };
    let of_both = low.of.filter(|_| low.of == high.of);
    let end = |it: &GlanceValue| {
        let sign = if is_lower_bound(it) { "≥ " } else { "" };
        let of = it.of.filter(|_| of_both.is_none()).map(|all| format!(" of {all}"));
        format!("{sign}{}{}", short(it.value), of.unwrap_or_default())
    };
    let (low, high) = (end(low), end(high));
    let figure = if low == high { low } else { format!("{low}–{high}") };
    let of = of_both.map(|all| format!(" of {all}")).unwrap_or_default();
    let mut text = format!("{} {figure}{of} {}", metric.quantity, unit_sign(&metric.unit));
    // Of streams in both directions each figure is of a part of the cells.
    let (told, all) = (values(0).count(), group.rows.len());
    if told < all {
        let _ = write!(text, " in {told} of {all} cells");
    }
    // What was lost is told beside a rate or a time of what arrived.
    let losses = group.metrics.iter().enumerate().skip(1).filter(|it| it.1.metric == LOSS);
    let lost = losses.filter_map(|(at, _)| Some(ends(at)?.1.value)).find(|it| *it > 0.0);
    if let Some(lost) = lost {
        let most = if group.rows.len() > 1 { "up to " } else { "" };
        let _ = write!(text, ", {most}{} % lost", short(lost));
    }
    text
}

pub(super) fn range(low: f64, high: f64) -> String {
    let (low, high) = (short(low), short(high));
    if low == high { low } else { format!("{low}–{high}") }
}

/// Prints three significant digits.
pub(super) fn short(value: f64) -> String {
    let decimals = match value.abs() {
        it if it >= 100.0 => 0,
        it if it >= 10.0 => 1,
        it if it >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{value:.decimals$}");
    if decimals == 0 { text } else { text.trim_end_matches('0').trim_end_matches('.').into() }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_stands_on_a_scale_from_a_half_to_the_double() {
        assert_eq!(bar(1.0), "····●····");
        assert_eq!(bar(2.0), "····│···●");
        assert_eq!(bar(0.01), "●···│····");
        assert_eq!(bar(1.16), "····│●···");
    }

    #[test]
    fn the_tallest_bar_has_full_height_and_none_is_blank() {
        assert_eq!(histogram(&[0.0, 0.5, 1.0, 0.01]), " ▄█▁");
        assert_eq!(histogram(&[0.0, 0.0]), "");
    }

    fn row(words: &[&str], values: Vec<Option<GlanceValue>>) -> GlanceRow {
        GlanceRow {
            place: words.join(", "),
            words: words.iter().map(ToString::to_string).collect(),
            values,
            published: None,
            printed: None,
            limit: None,
            histogram: Vec::new(),
            usual_line: None,
            leads: true,
            failed: false,
        }
    }

    #[test]
    fn what_has_one_bound_says_so() {
        let value = |ci_low, ci_high| GlanceValue {
            value: 5000.0,
            ci_low,
            ci_high,
            fitted: false,
            of: None,
        };
        assert_eq!(print(&value(Some(5000.0), None)), "≥ 5000", "the end of a search");
        assert_eq!(print(&value(Some(4000.0), None)), "5000 [≥ 4000]");
        assert_eq!(print(&value(None, None)), "5000");
        // How many were served says little without how many there are.
        let served = GlanceValue { of: Some(6000.0), ..value(Some(4000.0), Some(6000.0)) };
        assert_eq!(print(&served), "5000 of 6000 [4000–6000]");
    }

    #[test]
    fn a_line_for_a_kind_of_test_hides_no_loss_and_no_bound() {
        let metric = |metric: &str, quantity: &str, unit: &str| GlanceMetric {
            metric: metric.into(),
            quantity: quantity.into(),
            statistic: String::new(),
            unit: unit.into(),
        };
        let row = |rate, is_end: bool, loss| {
            let value = |value, is_end: bool| {
                let ci_low = is_end.then_some(value);
                Some(GlanceValue { value, ci_low, ci_high: None, fitted: false, of: None })
            };
            row(&[], vec![value(rate, is_end), value(loss, false)])
        };
        let mut group = GlanceGroup {
            name: "mix".into(),
            kind: "mqtt-rate".into(),
            goal: None,
            battery: None,
            metrics: vec![metric("rate", "rate", "messages/s"), metric("loss", "lost", "percent")],
            rows: vec![row(800.0, true, 0.0)],
            shared: String::new(),
            axis_ms: None,
            published: None,
            times_limit: None,
        };
        assert_eq!(leading(&group), "rate ≥ 800 messages/s");
        group.rows = vec![row(700.0, false, 43.6), row(800.0, false, 0.0)];
        assert_eq!(leading(&group), "rate 700–800 messages/s, up to 43.6 % lost");
        group.rows.push(row(900.0, true, 0.0));
        assert_eq!(leading(&group), "rate 700–≥ 900 messages/s, up to 43.6 % lost");
        group.rows = vec![row(500.0, true, 0.0), row(0.0, false, 0.0)];
        group.rows[1].values[0] = None;
        assert_eq!(leading(&group), "rate ≥ 500 messages/s in 1 of 2 cells");
    }

    #[test]
    fn three_digits_are_short() {
        assert_eq!(["0.5", "12.3", "123", "1.2"], [0.5, 12.34, 123.4, 1.2].map(short));
        assert_eq!(range(2.0, 2.0), "2");
    }
}

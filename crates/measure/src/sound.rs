//! Figures of one test that contradict each other. A sound report has none.

use crate::cell::Cell;
use crate::metric::{self, Statistic};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Rounding of sums.
const ROUNDING: f64 = 1e-9;

/// Returns a sentence for each pair of figures of one test of which not both can be right: statistics of a quantity
/// that are out of order, and figures beyond their theoretical limit.
#[must_use]
pub fn contradictions(cells: &[Cell]) -> Vec<String> {
    let mut found: Vec<String> = cells.iter().filter_map(beyond_limit).collect();
    for (at, one) in cells.iter().enumerate() {
        let others = cells[at + 1..].iter().filter(|other| is_of_same(one, other));
        found.extend(others.filter_map(|other| out_of_order(one, other)));
    }
    found
}

/// Returns whether two figures are statistics of one quantity in one test.
fn is_of_same(a: &Cell, b: &Cell) -> bool {
    let test = |it: &Cell| (it.test.number, it.test.repetition, it.test.trial);
    let id = |it: &Cell| {
        let mut id = it.id.clone();
        id.metric = metric::parse(&it.id.metric).0.into();
        id
    };
    a.unit == b.unit && test(a) == test(b) && id(a) == id(b) && a.settings == b.settings
}

fn out_of_order(a: &Cell, b: &Cell) -> Option<String> {
    let statistic = |it: &Cell| metric::parse(&it.id.metric).1;
    let place = |it: &Cell| match statistic(it) {
        // The best of parts is no extreme of the observations.
        Statistic::Best => None,
        other => other.place(),
    };
    let (low, high) = if place(a)? < place(b)? { (a, b) } else { (b, a) };
    let is_mean = [low, high].iter().any(|it| statistic(it) == Statistic::Mean);
    let is_end =
        [low, high].iter().any(|it| matches!(statistic(it), Statistic::Min | Statistic::Max));
    let (least, most) = (low.value?, high.value?);
    // A mean may lie on either side of a quantile.
    let wrong = (!is_mean || is_end) && least > most + ROUNDING * most.abs();
    wrong.then(|| format!("{} {least} is above {} {most}", low.id.metric, high.id.metric))
}

fn beyond_limit(cell: &Cell) -> Option<String> {
    let (value, limit) = (cell.value?, cell.limit?);
    let beyond = if metric::is_rate(&cell.unit) { value / limit } else { limit / value };
    (beyond > 1.0 + ROUNDING)
        .then(|| format!("{} {value} is beyond its limit {limit}", cell.id.metric))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Identity, Origin};
    use espbench_stats::Estimate;

    fn cell(metric: &str, unit: &str, value: f64, limit: Option<f64>) -> Cell {
        let id = Identity { metric: metric.into(), ..Identity::default() };
        let cell = Cell::of(Estimate::exact(value, 9), id, unit, Origin::Simulated);
        Cell { limit, ..cell }
    }

    #[test]
    fn order_and_limits_are_kept_or_told() {
        let of = |metric: &str, value| cell(metric, "ms", value, None);
        let sound =
            [of("rtt_min", 1.0), of("rtt_avg", 4.0), of("rtt_p50", 2.0), of("rtt_max", 9.0)];
        assert!(contradictions(&sound).is_empty());
        let cut = [of("rtt_min", 1.18), of("rtt_avg", 1.148)];
        assert_eq!(contradictions(&cut), ["rtt_min 1.18 is above rtt_avg 1.148"]);
        assert_eq!(contradictions(&[of("rtt_p99", 2.0), of("rtt_p50", 3.0)]).len(), 1);
        assert!(contradictions(&[of("rtt_min", 2.0), of("latency_max", 1.0)]).is_empty());
        for (unit, value, wrong) in
            [("ms", 0.9, true), ("ms", 1.0, false), ("Mbit/s", 1.1, true), ("Mbit/s", 1.0, false)]
        {
            let found = contradictions(&[cell("it", unit, value, Some(1.0))]);
            assert_eq!(!found.is_empty(), wrong, "{unit} {value}");
        }
    }
}

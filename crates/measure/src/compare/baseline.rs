//! A run against figures that were kept by name: what is worse, what is open, what is new, what has vanished.
//!
//! A figure is kept under what tells it from all others, its [`FigureKey`], which stays from run to run whatever else is
//! in the plan, and however its label is worded. It is decided as by [`gate`](super::gate()): the intervals of both sides, and the tolerance.

use super::gate::{Tolerance, is_shown};
use super::{Comparison, join, pair};
use crate::cell::{Cell, Identity, Origin};
use crate::label;
use crate::metric::{self, Better};
use crate::settings::Settings;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Identity and settings of a figure: what tells it from all others of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FigureKey {
    /// The identity columns.
    #[serde(flatten)]
    pub id: Identity,
    /// The settings.
    pub settings: Settings,
}

/// Figure that is kept.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KeptFigure {
    /// Label of the test, to be shown.
    pub test: String,
    /// Key that it is known by; none of a figure that an earlier version kept, which is known by label and metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<FigureKey>,
    /// The metric.
    pub metric: String,
    /// The value.
    pub value: f64,
    /// Unit of value and interval.
    pub unit: String,
    /// Observations behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// Lower end of the 95 % interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_low: Option<f64>,
    /// Upper end of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ci_high: Option<f64>,
    /// Origin of the value.
    pub origin: Origin,
    /// Seed of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Outcome for a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaselineVerdict {
    /// Within the tolerance, or better.
    Holds,
    /// Worse beyond the tolerance, and the intervals show it.
    Worse,
    /// Beyond the tolerance, and the intervals do not show that it is worse.
    Inconclusive,
    /// Not among the figures that were kept.
    New,
    /// Kept, and not measured any more.
    Missing,
    /// Not to be decided: an interval that was not bounded when it was kept, or none.
    LeftOut,
}

/// A figure with what became of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BaselineRow {
    /// The verdict.
    pub verdict: BaselineVerdict,
    /// The figure now; `None` of one that is missing.
    pub now: Option<KeptFigure>,
    /// The figure that was kept; `None` of a new one.
    pub before: Option<KeptFigure>,
    /// Worst value that passes, in the unit of now.
    pub allowed: Option<f64>,
}

/// Returns the figures to be kept of a run: those of which one direction is better, each of the metrics that are named or, where
/// none is, of all. Repetitions are their mean.
#[must_use]
pub fn to_keep(cells: &[Cell], metrics: &[String]) -> Vec<KeptFigure> {
    own(cells, metrics).iter().filter_map(kept).collect()
}

fn own(cells: &[Cell], metrics: &[String]) -> Vec<Cell> {
    let is_wanted = |it: &&Cell| {
        it.origin != Origin::Published
            && it.value.is_some()
            && decides(&it.id.metric, &it.unit)
            && (metrics.is_empty() || metrics.contains(&it.id.metric))
    };
    join::pool_all(&cells.iter().filter(is_wanted).cloned().collect::<Vec<_>>())
}

fn decides(metric: &str, unit: &str) -> bool {
    metric::better(metric, unit) != Better::Neither
}

fn kept(cell: &Cell) -> Option<KeptFigure> {
    let finite = |it: Option<f64>| it.filter(|it| it.is_finite());
    Some(KeptFigure {
        test: label::test(cell),
        key: Some(FigureKey { id: cell.id.clone(), settings: cell.settings.clone() }),
        metric: cell.id.metric.clone(),
        value: finite(cell.value)?,
        unit: cell.unit.clone(),
        n: cell.n,
        ci_low: finite(cell.ci_low),
        ci_high: finite(cell.ci_high),
        origin: cell.origin,
        seed: cell.test.seed,
    })
}

/// Holds a run against the figures that were kept of it. Where metrics are named these alone are looked at, and each is
/// decided; where none is, what was not bounded on both sides when it was kept is left out.
#[must_use]
pub fn baseline(
    cells: &[Cell],
    before: &[KeptFigure],
    metrics: &[String],
    tolerance: &Tolerance,
) -> Vec<BaselineRow> {
    let is_wanted = |it: &&KeptFigure| {
        decides(&it.metric, &it.unit) && (metrics.is_empty() || metrics.contains(&it.metric))
    };
    let mut left: Vec<&KeptFigure> = before.iter().filter(is_wanted).collect();
    let mut rows = Vec::new();
    for cell in own(cells, metrics) {
        let Some(now) = kept(&cell) else { continue };
        let same = |it: &&KeptFigure| match &it.key {
            Some(_) => it.key == now.key,
            None => it.test == now.test && it.metric == now.metric,
        };
        let Some(at) = left.iter().position(same) else {
            rows.push(BaselineRow {
                verdict: BaselineVerdict::New,
                now: Some(now),
                before: None,
                allowed: None,
            });
            continue;
        };
        rows.push(held(&cell, now, left.remove(at), !metrics.is_empty(), tolerance));
    }
    let missing = |it: &KeptFigure| BaselineRow {
        verdict: BaselineVerdict::Missing,
        now: None,
        before: Some(it.clone()),
        allowed: None,
    };
    rows.extend(left.into_iter().map(missing));
    rows
}

fn held(
    cell: &Cell,
    now: KeptFigure,
    before: &KeptFigure,
    is_named: bool,
    tolerance: &Tolerance,
) -> BaselineRow {
    let other = Cell {
        value: Some(before.value),
        unit: before.unit.clone(),
        n: before.n,
        ci_low: before.ci_low,
        ci_high: before.ci_high,
        origin: before.origin,
        ..cell.clone()
    };
    let compared = pair(cell, &other);
    let is_bounded = before.ci_low.is_some() && before.ci_high.is_some();
    let verdict = match is_bounded || is_named {
        true => verdict(&compared, tolerance),
        false => BaselineVerdict::LeftOut,
    };
    let allowed = tolerance.worst(&compared);
    BaselineRow { verdict, now: Some(now), before: Some(before.clone()), allowed }
}

fn verdict(compared: &Comparison, tolerance: &Tolerance) -> BaselineVerdict {
    if is_shown(compared, tolerance) {
        return BaselineVerdict::Worse;
    }
    match tolerance.worst(compared) {
        Some(_) if !tolerance.is_exceeded(compared) => BaselineVerdict::Holds,
        // Also where the units have no difference.
        _ => BaselineVerdict::Inconclusive,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::{MetricFacts, registry};
    use crate::settings::Setting;
    use alloc::string::ToString as _;
    use alloc::vec;
    use core::slice::from_ref;
    use espbench_stats::Estimate;

    const TOLERANCE: Tolerance = Tolerance { part: 0.1, points: Some(1.0) };

    fn cell(metric: &str, unit: &str, size: u32, ends: (f64, Option<f64>, Option<f64>)) -> Cell {
        let id = Identity {
            table: "udp-echo".into(),
            metric: metric.into(),
            payload_bytes: Some(size),
            ..Identity::default()
        };
        let estimate = Estimate { value: Some(ends.0), low: ends.1, high: ends.2, n: 1000 };
        Cell::of(estimate, id, unit, Origin::Measured)
    }

    /// Makes a figure whose interval is a hundredth of the tolerance.
    fn sharp(it: &MetricFacts, value: f64) -> Cell {
        let width = if it.is_share { 0.01 } else { 0.001 * value.abs() };
        cell(&it.name, it.unit, 20, (value, Some(value - width), Some(value + width)))
    }

    fn only(now: &Cell, before: &Cell) -> BaselineVerdict {
        let rows = baseline(from_ref(now), &to_keep(from_ref(before), &[]), &[], &TOLERANCE);
        assert_eq!(rows.len(), 1, "{rows:?}");
        rows[0].verdict
    }

    #[test]
    fn of_every_metric_worse_fails_better_and_equal_pass() {
        for it in registry() {
            let before = sharp(&it, 50.0);
            let by = 2.0 * if it.is_share { 1.0 } else { 5.0 };
            let (up, down) = (sharp(&it, 50.0 + by), sharp(&it, 50.0 - by));
            let (better, worse) = match it.better {
                Better::Higher => (up, down),
                Better::Lower => (down, up),
                Better::Neither => {
                    assert!(to_keep(&[before, up, down], &[]).is_empty(), "{} is kept", it.name);
                    continue;
                }
            };
            assert_eq!(only(&worse, &before), BaselineVerdict::Worse, "{}", it.name);
            assert_eq!(only(&better, &before), BaselineVerdict::Holds, "{}", it.name);
            assert_eq!(only(&before, &before), BaselineVerdict::Holds, "{}", it.name);
        }
    }

    #[test]
    fn negative_values_and_nothing_have_a_tolerance() {
        let jitter = |value: f64, low: f64, high: f64| {
            cell("jitter", "ms", 20, (value, Some(low), Some(high)))
        };
        let negative = jitter(-50.0, -50.1, -49.9);
        assert_eq!(only(&negative, &negative), BaselineVerdict::Holds);
        assert_eq!(only(&jitter(-40.0, -40.1, -39.9), &negative), BaselineVerdict::Worse);
        assert_eq!(only(&jitter(-60.0, -60.1, -59.9), &negative), BaselineVerdict::Holds);
        // No loss of 300 probes: Wilson's interval ends at 1.26 %.
        let none = cell("loss", "percent", 20, (0.0, Some(0.0), Some(1.264)));
        assert_eq!(only(&none, &none), BaselineVerdict::Holds);
        let lost = cell("loss", "percent", 20, (5.0, Some(3.0), Some(8.1)));
        assert_eq!(only(&lost, &none), BaselineVerdict::Worse);
        let idle = cell("queue_drop_rate", "messages/s", 20, (0.0, Some(0.0), Some(0.4)));
        let few = cell("queue_drop_rate", "messages/s", 20, (0.3, Some(0.1), Some(0.6)));
        let many = cell("queue_drop_rate", "messages/s", 20, (3.0, Some(2.0), Some(4.0)));
        assert_eq!(only(&few, &idle), BaselineVerdict::Holds);
        assert_eq!(only(&many, &idle), BaselineVerdict::Worse);
    }

    #[test]
    fn what_the_intervals_do_not_show_is_inconclusive() {
        let wide =
            |value: f64| cell("rtt_avg", "ms", 20, (value, Some(0.5 * value), Some(2.0 * value)));
        assert_eq!(only(&wide(12.0), &wide(10.0)), BaselineVerdict::Inconclusive);
        assert_eq!(only(&wide(10.5), &wide(10.0)), BaselineVerdict::Holds);
        let unbounded = cell("rtt_p99", "ms", 20, (10.0, Some(9.0), None));
        assert_eq!(only(&unbounded, &unbounded), BaselineVerdict::LeftOut);
        let named = ["rtt_p99".to_string()];
        let kept = to_keep(from_ref(&unbounded), &named);
        let rows = baseline(&[unbounded], &kept, &named, &TOLERANCE);
        assert_eq!(rows[0].verdict, BaselineVerdict::Holds, "what is named is decided");
    }

    #[test]
    fn a_kept_figure_is_known_however_its_label_is_worded() {
        let qos = |qos| {
            let mut cell = cell("rtt_avg", "ms", 20, (10.0, Some(9.9), Some(10.1)));
            cell.settings.set(Setting::Qos(qos));
            cell
        };
        let written: Vec<KeptFigure> = to_keep(&[qos(0), qos(1)], &[])
            .into_iter()
            .map(|it| KeptFigure { test: "in other words".into(), ..it })
            .collect();
        let text = serde_json::to_string(&written).unwrap();
        let read: Vec<KeptFigure> = serde_json::from_str(&text).unwrap();
        assert_eq!(read, written);
        let rows = baseline(&[qos(1)], &read, &[], &TOLERANCE);
        let verdicts: Vec<BaselineVerdict> = rows.iter().map(|it| it.verdict).collect();
        assert_eq!(verdicts, [BaselineVerdict::Holds, BaselineVerdict::Missing]);
        assert_eq!(rows[0].before.as_ref(), Some(&written[1]), "that of the same setting");
        // What an earlier version kept is known by its label.
        let earlier: Vec<KeptFigure> =
            to_keep(&[qos(1)], &[]).into_iter().map(|it| KeptFigure { key: None, ..it }).collect();
        assert_eq!(
            baseline(&[qos(1)], &earlier, &[], &TOLERANCE)[0].verdict,
            BaselineVerdict::Holds
        );
    }

    #[test]
    fn figures_are_known_by_their_test_and_missed() {
        let of = |size| cell("rtt_avg", "ms", size, (10.0, Some(9.9), Some(10.1)));
        let all = vec![of(10), of(100), of(230)];
        let verdicts = |now: &[Cell], before: &[Cell]| -> Vec<BaselineVerdict> {
            let rows = baseline(now, &to_keep(before, &[]), &[], &TOLERANCE);
            rows.iter().map(|it| it.verdict).collect()
        };
        use BaselineVerdict::{Holds, Missing, New};
        assert_eq!(verdicts(&all[..1], &all), [Holds, Missing, Missing]);
        assert_eq!(
            verdicts(&all[..2], &all[1..2]),
            [New, Holds],
            "a size before it changes nothing"
        );
    }
}

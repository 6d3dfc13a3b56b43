//! Measured, lab, published and limit in one figure.

use super::pairs::{PlannedTest, tests};
use super::{LabComparison, LabPair, SECTION};
use crate::cell::Origin;
use crate::figure::{Axis, Figure, FigurePoint, Mark, Scale, Series, SeriesMeaning, slug, spread};
use crate::label;
use crate::report::{GlanceGroup, GlanceValue, Report};
use crate::settings::{SettingKey, Settings};
use crate::table::unit_sign;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Settings that an axis may be of: keys, label and unit.
const AXES: [(&[SettingKey], &str, &str); 3] = [
    (&[SettingKey::Size], "payload", "B"),
    (&[SettingKey::Devices], "devices", ""),
    (&[SettingKey::Nearest, SettingKey::Farthest], "distance", "m"),
];

/// A figure of a test, with its settings.
struct Point<'a> {
    pair: &'a LabPair,
    test: &'a PlannedTest,
}

/// Draws the leading figure of each plan and kind.
pub(super) fn figures(report: &Report, comparison: &LabComparison) -> Vec<Figure> {
    let tests = tests(&report.run.plan_text);
    let groups = report.glance.iter();
    groups.flat_map(|group| of_group(report, group, comparison, &tests)).collect()
}

fn of_group<'a>(
    report: &Report,
    group: &GlanceGroup,
    comparison: &'a LabComparison,
    tests: &'a [PlannedTest],
) -> Vec<Figure> {
    let of_metric = |metric: &str| -> Vec<Point<'a>> {
        let is_own = |it: &&LabPair| {
            it.kind == group.kind
                && it.metric == metric
                && it.suite.as_deref().is_none_or(|it| it == group.name)
        };
        let point = |pair: &'a LabPair| {
            let test = tests.iter().find(|it| it.number == pair.cell)?;
            Some(Point { pair, test })
        };
        comparison.pairs.iter().filter(is_own).filter_map(point).collect()
    };
    let points = group.metrics.iter().map(|it| of_metric(&it.metric)).find(|it| !it.is_empty());
    let Some(points) = points else { return Vec::new() };
    let axis = AXES.iter().max_by_key(|it| distinct(&points, it.0)).copied();
    let mut rest: Vec<Point<'_>> = points;
    let mut figures = Vec::new();
    let mut alone = Vec::new();
    let frame = Frame { report, group, lab: &comparison.lab };
    while let Some(first) = rest.first() {
        let others = |it: &Point<'_>| axis.map(|(keys, ..)| it.test.settings.without(keys));
        let wanted = others(first);
        let (of_curve, left): (Vec<_>, Vec<_>) =
            rest.into_iter().partition(|it| others(it) == wanted);
        rest = left;
        match axis {
            Some(axis) if of_curve.len() > 1 && distinct(&of_curve, axis.0) == of_curve.len() => {
                figures.push(frame.curve(&of_curve, axis, figures.len()));
            }
            _ => alone.extend(of_curve),
        }
    }
    figures.extend((!alone.is_empty()).then(|| frame.bars(&alone)));
    figures
}

/// Returns how many values those settings have.
fn distinct(points: &[Point<'_>], keys: &[SettingKey]) -> usize {
    let mut values: Vec<Settings> = Vec::new();
    for point in points {
        let own = point.test.settings.only(keys);
        if own.iter().next().is_some() && !values.contains(&own) {
            values.push(own);
        }
    }
    values.len()
}

/// Properties that all figures of a group share.
struct Frame<'a> {
    report: &'a Report,
    group: &'a GlanceGroup,
    lab: &'a str,
}

impl Frame<'_> {
    /// Draws measured and simulated over a setting that is a number.
    fn curve(
        &self,
        points: &[Point<'_>],
        (keys, label, unit): (&[SettingKey], &str, &str),
        number: usize,
    ) -> Figure {
        let x = |it: &Point<'_>| {
            it.test.settings.get(keys[0]).and_then(|it| it.value().number()).unwrap_or_default()
        };
        let mut sorted: Vec<(f64, &LabPair)> = points.iter().map(|it| (x(it), it.pair)).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let test = points[0].test;
        let said = label::plan(&self.group.kind, &test.settings.without(keys), |_| true);
        let axis = Axis { label: label.into(), unit: unit.into(), ..Axis::default() };
        self.figure(&sorted, &said, axis, Mark::Line, number)
    }

    /// Draws measured and simulated side by side for each test.
    fn bars(&self, points: &[Point<'_>]) -> Figure {
        let sorted: Vec<(f64, &LabPair)> =
            points.iter().enumerate().map(|(at, it)| (at as f64, it.pair)).collect();
        let name = |it: &Point<'_>| {
            if it.pair.place.is_empty() { it.pair.kind.clone() } else { it.pair.place.clone() }
        };
        let axis = Axis {
            label: "test".into(),
            scale: Scale::Category,
            categories: points.iter().map(name).collect(),
            ..Axis::default()
        };
        self.figure(&sorted, "", axis, Mark::Bars, usize::MAX)
    }

    fn figure(
        &self,
        points: &[(f64, &LabPair)],
        said: &str,
        x: Axis,
        mark: Mark,
        number: usize,
    ) -> Figure {
        let first = points[0].1;
        let over = if mark == Mark::Bars { Mark::Bars } else { Mark::Points };
        let series =
            |name: &str, origin, mark, meaning, of: &dyn Fn(&LabPair) -> Option<FigureValue>| {
                let point = |(x, pair): &(f64, &LabPair)| {
                    let FigureValue(y, low, high) = of(pair)?;
                    Some(FigurePoint { x: *x, y, low, high }.rounded())
                };
                let points = points.iter().filter_map(point).collect();
                Series { name: name.into(), origin, mark, meaning, points }
            };
        let exact = |it: f64| FigureValue(it, None, None);
        let published = |is_fitted: bool| {
            move |it: &LabPair| it.published.filter(|_| it.published_fitted == is_fitted).map(exact)
        };
        let limit = Some(SeriesMeaning::Limit);
        let lab = format!("lab {}", self.lab);
        let fitted = "value †, the simulator was fitted to it";
        let mut all = alloc::vec![
            series("measured", Origin::Measured, mark, None, &|it| Some(FigureValue::of(
                &it.measured
            ))),
            series(&lab, Origin::Simulated, mark, None, &|it| Some(FigureValue::of(&it.simulated))),
            series("value", Origin::Published, over, None, &published(false)),
            series(fitted, Origin::Published, over, None, &published(true)),
            series("theoretical limit", Origin::Measured, mark, limit, &|it| {
                it.limit.filter(|it| *it > 0.0).map(exact)
            }),
        ];
        all.retain(|it| !it.points.is_empty());
        let values = all.iter().flat_map(|it| &it.points).map(|it| it.y);
        let y = Axis {
            label: first.figure.clone(),
            unit: unit_sign(&first.unit).into(),
            scale: spread(values),
            ..Axis::default()
        };
        let parts = [self.group.name.as_str(), said];
        let name = parts.iter().filter(|it| !it.is_empty()).map(ToString::to_string);
        let name = name.collect::<Vec<String>>().join(", ");
        let id = match number {
            usize::MAX => format!("beside-{}", slug(&self.group.name)),
            number => format!("beside-{}-{number}", slug(&self.group.name)),
        };
        Figure {
            id,
            section: SECTION.into(),
            title: format!("{name}: {}, measured and in the lab", first.figure),
            alt: self.told(points),
            x,
            y,
            series: all,
        }
    }

    fn told(&self, points: &[(f64, &LabPair)]) -> String {
        let one = |(_, it): &(f64, &LabPair)| {
            let place = if it.place.is_empty() { &it.kind } else { &it.place };
            format!("{place}: measured / lab {}", it.apart())
        };
        let all: Vec<String> = points.iter().map(one).collect();
        let run = &self.report.run.name;
        format!("The run {run} beside {}: {}.", self.lab, all.join("; "))
    }
}

/// Value and interval of a point.
struct FigureValue(f64, Option<f64>, Option<f64>);

impl FigureValue {
    const fn of(it: &GlanceValue) -> Self {
        Self(it.value, it.ci_low, it.ci_high)
    }
}

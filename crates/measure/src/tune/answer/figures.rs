//! The figures of an answer: each thing that is wanted over the heap that it costs.

use super::super::SECTION;
use super::super::want::Metric;
use super::super::words::number;
use super::{Evaluation, TestedCandidate, TuneAnswer};
use crate::cell::Origin;
use crate::figure::{Axis, Figure, FigurePoint, Mark, Series, SeriesMeaning};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

pub(super) fn of(answer: &TuneAnswer) -> Vec<Figure> {
    let metrics = answer.objectives.iter().filter(|it| **it != Metric::Heap);
    let mut figures: Vec<Figure> =
        metrics.filter_map(|it| figure(answer, *it, Metric::Heap)).collect();
    // What sleep costs.
    for latency in [Metric::UdpLatency, Metric::UdpLatencyP99] {
        for drawn in [Metric::Battery, Metric::Current] {
            if answer.objectives.contains(&latency) && answer.objectives.contains(&drawn) {
                figures.extend(figure(answer, drawn, latency));
            }
        }
    }
    figures
}

fn axis(metric: Metric) -> Axis {
    Axis { label: metric.words().into(), unit: metric.unit().into(), ..Axis::default() }
}

/// Returns the name of the firmware that the search began with.
fn given_name(answer: &TuneAnswer) -> String {
    let name = if answer.file.is_some() { "the file" } else { "the defaults" };
    name.into()
}

/// Returns the figure of one metric over the other.
fn figure(answer: &TuneAnswer, y: Metric, x: Metric) -> Option<Figure> {
    let dot = |it: &&TestedCandidate| {
        let point = FigurePoint::new(it.mean.value(x)?, it.mean.value(y)?);
        (point.x.is_finite() && point.y.is_finite()).then(|| point.rounded())
    };
    let points = |of: &dyn Fn(&TestedCandidate) -> bool| -> Vec<FigurePoint> {
        answer.tried.iter().filter(|it| of(it)).filter_map(|it| dot(&it)).collect()
    };
    let tried = points(&|it| !it.front);
    let front = points(&|it| it.front);
    let found = answer.recommended.as_ref().map(super::Recommendation::mean);
    let place = |it: &Evaluation| Some(FigurePoint::new(it.value(x)?, it.value(y)?).rounded());
    let best: Vec<FigurePoint> = found.iter().filter_map(place).collect();
    let first = best.first()?;
    let is_changed = answer.recommended.as_ref().is_some_and(|it| !it.changes.is_empty());
    let before = is_changed.then(|| Evaluation::mean(&answer.before));
    let given: Vec<FigurePoint> = before.iter().filter_map(place).collect();
    let all = || tried.iter().chain(&front).chain(&given).chain(&best);
    let ends = |of: fn(&FigurePoint) -> f64| {
        let values = all().map(of);
        values.clone().reduce(f64::min).zip(values.reduce(f64::max))
    };
    let (low, high) = ends(|it| it.x)?;
    let (bottom, top) = ends(|it| it.y)?;
    let series = |name: &str, mark, points| Series {
        name: name.into(),
        origin: Origin::Simulated,
        mark,
        points,
        ..Series::default()
    };
    let alt = format!(
        "{} over {} of {} candidates; the recommended one has {} {} and {} {}.",
        y.words(),
        x.words(),
        tried.len() + front.len(),
        number(first.y),
        y.unit(),
        number(first.x),
        x.unit()
    );
    let mut all = alloc::vec![
        series("tried", Mark::Points, tried),
        series("best trade-offs (Pareto front)", Mark::Points, front),
        series(&given_name(answer), Mark::Points, given),
        series("recommended", Mark::Points, best),
    ];
    all.retain(|it| !it.points.is_empty());
    let wanted = |metric| answer.wants.iter().find(|it| it.metric == metric).map(|it| it.value);
    let mut line = |metric: Metric, ends: [(f64, f64); 2]| {
        let points = ends.map(|(x, y)| FigurePoint::new(x, y).rounded()).into();
        let name = format!("wanted: {}", metric.words());
        let line = series(&name, Mark::Line, points);
        all.push(Series { meaning: Some(SeriesMeaning::Limit), ..line });
    };
    if let Some(least) = wanted(y) {
        line(y, [(low, least), (high, least)]);
    }
    if let Some(least) = wanted(x) {
        line(x, [(least, bottom), (least, top)]);
    }
    let title: String = format!("{} and {}", y.words(), x.words());
    Some(Figure {
        id: format!("tune-{}-{}", y.name(), x.name()),
        section: SECTION.into(),
        title,
        alt,
        x: axis(x),
        y: axis(y),
        series: all,
    })
}

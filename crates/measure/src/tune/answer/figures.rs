//! The figures of an answer: each thing that is wanted over the heap that it costs.

use super::super::SECTION;
use super::super::want::Metric;
use super::super::words::number;
use super::{Evaluation, TestedCandidate, TuneAnswer};
use crate::cell::Origin;
use crate::figure::{Axis, Figure, FigurePoint, Mark, Series};
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
    let all = || tried.iter().chain(&front).map(|it| it.x);
    let (low, high) = (all().reduce(f64::min)?, all().reduce(f64::max)?);
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
        series("Pareto front", Mark::Points, front),
        series("recommended", Mark::Points, best),
    ];
    all.retain(|it| !it.points.is_empty());
    if let Some(want) = answer.wants.iter().find(|it| it.metric == y) {
        let line = [low, high].map(|at| FigurePoint::new(at, want.value).rounded());
        all.push(series("wanted", Mark::Line, line.into()));
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

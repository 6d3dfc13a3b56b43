//! Figures of predictions.

use super::answer::devices;
use super::card::RowStanding;
use super::point::PointEstimates;
use super::report::{PredictAnswer, PredictQuestion};
use super::trial::MessageStage;
use super::{SECTION, limit};
use crate::cell::Origin;
use crate::digits;
use crate::figure::{Axis, Figure, FigurePoint as Dot, Mark, Scale, Series, SeriesMeaning, spread};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_stats::Estimate;

const ORIGIN: Origin = Origin::Simulated;

/// Most rows of bars.
const BARS: usize = 16;

pub(super) fn of(answer: &PredictAnswer) -> Vec<Figure> {
    if answer.points.is_empty() {
        return Vec::new();
    }
    if matches!(answer.question, PredictQuestion::Range(_)) {
        let mut figures = alloc::vec![super::range::reach(answer)];
        figures.extend(super::range::delivery(answer));
        for point in figures.iter_mut().flat_map(|it| &mut it.series).flat_map(|it| &mut it.points)
        {
            *point = point.rounded();
        }
        return figures;
    }
    let mut figures = match answer.question {
        PredictQuestion::Rate | PredictQuestion::OnAir(_) | PredictQuestion::Range(_) => {
            core::iter::once(latency_by_rate(answer)).chain(reach(answer)).collect()
        }
        PredictQuestion::Profiles => alloc::vec![by_profile(answer)],
        // One fleet is no curve.
        PredictQuestion::Fleet if answer.points.len() == 1 => Vec::new(),
        PredictQuestion::Fleet | PredictQuestion::LargestFleet(_) => {
            alloc::vec![loss(answer), latency(answer), busy(answer), rates(answer)]
        }
    };
    figures.push(stages(answer));
    figures.extend(causes(answer));
    for point in figures.iter_mut().flat_map(|f| &mut f.series).flat_map(|s| &mut s.points) {
        *point = point.rounded();
    }
    figures
}

pub(super) fn axis(label: &str, unit: &str) -> Axis {
    Axis { label: label.into(), unit: unit.into(), ..Axis::default() }
}

pub(super) fn figure(
    id: &str,
    title: &str,
    alt: String,
    axes: [Axis; 2],
    series: Vec<Series>,
) -> Figure {
    let [x, y] = axes;
    let title = title.into();
    Figure { id: id.into(), section: SECTION.into(), title, alt, x, y, series }
}

pub(super) fn series(name: &str, mark: Mark, points: Vec<Dot>) -> Series {
    Series { name: name.into(), origin: ORIGIN, mark, points, ..Series::default() }
}

fn dot(x: f64, estimate: &Estimate, factor: f64) -> Option<Dot> {
    let it = estimate.scaled(factor);
    Some(Dot { x, y: it.value?, low: it.low, high: it.high })
}

/// Returns a curve over the number of devices.
fn curve(
    answer: &PredictAnswer,
    name: &str,
    of: fn(&PointEstimates) -> &Estimate,
    factor: f64,
) -> Series {
    let dots = answer
        .points
        .iter()
        .filter_map(|it| dot(f64::from(it.setting.devices), of(it), factor))
        .collect();
    series(name, Mark::Line, dots)
}

/// Returns a limit as a horizontal line.
fn border(answer: &PredictAnswer, name: &str, at: Option<f64>) -> Option<Series> {
    let first = f64::from(answer.points.first()?.setting.devices);
    let last = f64::from(answer.points.last()?.setting.devices);
    let at = at?;
    let dots = alloc::vec![Dot::new(first, at), Dot::new(last, at)];
    Some(Series { meaning: Some(SeriesMeaning::Limit), ..series(name, Mark::Line, dots) })
}

fn numbers(answer: &PredictAnswer) -> Axis {
    let numbers = answer.points.iter().map(|it| f64::from(it.setting.devices));
    Axis { scale: spread(numbers), ..axis("devices that send", "") }
}

fn ends(answer: &PredictAnswer, of: impl Fn(&PointEstimates) -> Option<String>) -> String {
    let [first, .., last] = answer.points.as_slice() else {
        return answer.points.first().and_then(of).unwrap_or_default();
    };
    let word =
        |it: &PointEstimates| Some(format!("{} with {}", of(it)?, devices(it.setting.devices)));
    let words: Vec<String> = [first, last].into_iter().filter_map(word).collect();
    words.join(", ")
}

fn limits(answer: &PredictAnswer) -> (Option<f64>, Option<f64>) {
    (answer.limits.loss.map(|it| 100.0 * it), answer.limits.p99_ms)
}

fn loss(answer: &PredictAnswer) -> Figure {
    let mut all = alloc::vec![curve(answer, "lost", |it| &it.loss, 100.0)];
    all.extend(border(answer, "limit", limits(answer).0));
    let words = ends(answer, |it| {
        digits::estimate(&it.loss.scaled(100.0)).map(|loss| format!("{loss} % lost"))
    });
    let alt =
        format!("Share of the messages that were lost against the number of devices: {words}.");
    figure(
        "predict-loss",
        "Loss by the number of devices",
        alt,
        [numbers(answer), axis("messages lost", "%")],
        all,
    )
}

fn latency(answer: &PredictAnswer) -> Figure {
    let mut all = alloc::vec![
        curve(answer, "p99", |it| &it.p99, 1.0),
        curve(answer, "mean", |it| &it.mean, 1.0),
        curve(answer, "p50", |it| &it.p50, 1.0),
    ];
    if answer.points.iter().any(|it| it.setting.acknowledged) {
        all.push(curve(answer, "p99 until its sender knows", |it| &it.told_p99, 1.0));
    }
    all.extend(border(answer, "limit of p99", limits(answer).1));
    let values: Vec<f64> = all.iter().flat_map(|s| &s.points).map(|p| p.y).collect();
    let words = ends(answer, |it| digits::estimate(&it.p99).map(|p99| format!("p99 {p99} ms")));
    let alt =
        format!("Time from due to the other application against the number of devices: {words}.");
    figure(
        "predict-latency",
        "Latency by the number of devices",
        alt,
        [numbers(answer), Axis { scale: spread(values.into_iter()), ..axis("latency", "ms") }],
        all,
    )
}

fn busy(answer: &PredictAnswer) -> Figure {
    let parts = ["frames", "repetitions", "acknowledgements", "other people, beacons"];
    let mut all = alloc::vec![curve(answer, "somebody sends", |it| &it.busy, 100.0)];
    for (at, name) in parts.into_iter().enumerate() {
        let dots: Vec<Dot> = answer
            .points
            .iter()
            .map(|it| Dot::new(f64::from(it.setting.devices), 100.0 * it.airtime[at]))
            .collect();
        if dots.iter().any(|it| it.y > 0.0) {
            all.push(series(name, Mark::Line, dots));
        }
    }
    let words =
        ends(answer, |it| digits::estimate(&it.busy.scaled(100.0)).map(|busy| format!("{busy} %")));
    let alt = format!(
        "Share of the time in which the channel is busy, and what with (frames that overlap count \
         twice): {words}."
    );
    figure(
        "predict-busy",
        "Occupancy of the channel",
        alt,
        [numbers(answer), axis("of the time", "%")],
        all,
    )
}

fn rates(answer: &PredictAnswer) -> Figure {
    let due = answer
        .points
        .iter()
        .map(|it| Dot::new(f64::from(it.setting.devices), it.offered))
        .collect();
    let all = alloc::vec![
        curve(answer, "delivered", |it| &it.delivered, 1.0),
        series("due", Mark::Line, due),
    ];
    let words = ends(answer, |it| {
        digits::estimate(&it.delivered).map(|rate| format!("{rate} messages a second"))
    });
    let alt =
        format!("Messages delivered a second, by all devices together, beside those due: {words}.");
    figure(
        "predict-delivered",
        "Delivered against due",
        alt,
        [numbers(answer), axis("messages", "1/s")],
        all,
    )
}

/// Families of modes, in the order of the table.
pub(super) fn families(answer: &PredictAnswer) -> Vec<(String, Vec<&PointEstimates>)> {
    let mut families: Vec<(String, Vec<&PointEstimates>)> = Vec::new();
    for point in &answer.points {
        let name = &point.setting.family;
        match families.iter_mut().find(|it| it.0 == *name) {
            Some((_, points)) => points.push(point),
            None => families.push((name.clone(), alloc::vec![point])),
        }
    }
    families
}

fn latency_by_rate(answer: &PredictAnswer) -> Figure {
    let mut all = Vec::new();
    for (name, points) in families(answer) {
        let dots: Vec<Dot> = points
            .iter()
            .filter_map(|it| dot(f64::from(it.setting.kbit_s) / 1000.0, &it.p99, 1.0))
            .collect();
        all.push(series(&name, Mark::Line, dots));
    }
    let value = |it: &PointEstimates| it.p99.value;
    let known = |it: &&PointEstimates| !answer.lacks_rooms() && value(it).is_some();
    let best = answer
        .points
        .iter()
        .filter(known)
        .min_by(|a, b| value(a).unwrap_or(f64::MAX).total_cmp(&value(b).unwrap_or(f64::MAX)));
    let best = best.map_or_else(String::new, |it| format!(" Lowest: {}.", it.setting.rate));
    let values: Vec<f64> = all.iter().flat_map(|s| &s.points).map(|p| p.y).collect();
    figure(
        "predict-rate-latency",
        "99th percentile of the latency by PHY rate",
        format!(
            "99th percentile of the latency against the data rate, a curve for each family.{best}"
        ),
        [
            Axis { scale: Scale::Log, ..axis("PHY rate", "Mbit/s") },
            Axis { scale: spread(values.into_iter()), ..axis("p99", "ms") },
        ],
        all,
    )
}

/// Returns throughput against range, of the rates whose range the model of the place knows.
fn reach(answer: &PredictAnswer) -> Option<Figure> {
    let known = |it: &&PointEstimates| !it.setting.range_is_bounded;
    let all: Vec<Series> = families(answer)
        .into_iter()
        .map(|(name, points)| {
            let dots = points
                .iter()
                .copied()
                .filter(known)
                .filter_map(|it| {
                    let setting = &it.setting;
                    dot(setting.range_m?, setting.throughput.as_ref()?, 1.0)
                })
                .collect();
            series(&name, Mark::Line, dots)
        })
        .filter(|it| !it.points.is_empty())
        .collect();
    (!all.is_empty()).then(|| {
        figure(
            "predict-reach",
            "Throughput of one device against range",
            "Throughput of each mode against its range: up and to the right is better.".into(),
            [
                Axis { scale: Scale::Log, ..axis("range", "m") },
                Axis { scale: Scale::Log, ..axis("throughput", "Mbit/s") },
            ],
            all,
        )
    })
}

/// Points for bars: the first ones, evenly thinned.
fn thinned(answer: &PredictAnswer) -> Vec<&PointEstimates> {
    let every = answer.points.len().div_ceil(BARS).max(1);
    let last = answer.points.len() - 1;
    let kept = answer.points.iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last);
    kept.map(|it| it.1).collect()
}

fn named(answer: &PredictAnswer, points: &[&PointEstimates]) -> Axis {
    let name = |it: &&PointEstimates| match answer.question {
        PredictQuestion::Rate => it.setting.rate.clone(),
        PredictQuestion::Profiles => it.setting.profile.clone(),
        _ => devices(it.setting.devices),
    };
    let label = match answer.question {
        PredictQuestion::Rate => "PHY rate",
        PredictQuestion::Profiles => "profile",
        _ => "devices",
    };
    Axis {
        scale: Scale::Category,
        categories: points.iter().map(name).collect(),
        ..axis(label, "")
    }
}

/// Returns what ranks the profiles: how long the battery lasts, or the latency.
fn by_profile(answer: &PredictAnswer) -> Figure {
    let ranked = answer.ranked();
    let points: Vec<&PointEstimates> = ranked.iter().map(|it| it.0).collect();
    let battery = answer.battery.as_ref();
    let shown = |it: &PointEstimates| match (battery, &it.energy) {
        (Some(battery), Some(energy)) => energy.days(battery),
        _ => it.p99,
    };
    let dots = points.iter().enumerate().filter_map(|(at, it)| dot(at as f64, &shown(it), 1.0));
    let (name, title, unit) = match battery {
        Some(_) => ("battery", "Life of the battery by profile", "days"),
        None => ("p99", "99th percentile of the latency by profile", "ms"),
    };
    let best = ranked.iter().find(|it| it.1 == RowStanding::Best);
    let best = best.map_or_else(String::new, |it| format!(" Best: {}.", it.0.setting.profile));
    let all = alloc::vec![series(name, Mark::Points, dots.collect())];
    figure(
        "predict-profiles",
        title,
        format!("{title}, with intervals at 95 %.{best}"),
        [named(answer, &points), axis(name, unit)],
        all,
    )
}

fn stages(answer: &PredictAnswer) -> Figure {
    let points = thinned(answer);
    let slept = points.iter().any(|it| it.part(MessageStage::Start) > 0.0);
    let all = MessageStage::ALL
        .into_iter()
        .filter(|it| slept || *it != MessageStage::Start)
        .map(|stage| {
            let dots = points.iter().enumerate();
            let dots = dots.map(|(i, it)| Dot::new(i as f64, 100.0 * it.part(stage))).collect();
            series(stage.name(), Mark::Stacked, dots)
        })
        .collect();
    let most: Vec<String> = points
        .iter()
        .filter_map(|it| Some(format!("{}: {}", it.setting.devices, limit::of_time(it)?)))
        .collect();
    let most = match answer.question {
        PredictQuestion::Rate | PredictQuestion::Profiles => String::new(),
        _ => crate::figure::listed("The largest part at each number of devices", &most),
    };
    figure(
        "predict-stages",
        "Where the time goes",
        format!("Parts of the mean latency of delivered messages, stacked to 100 %.{most}"),
        [named(answer, &points), axis("of the mean latency", "%")],
        all,
    )
}

fn causes(answer: &PredictAnswer) -> Option<Figure> {
    let points = thinned(answer);
    let causes: BTreeSet<_> = points.iter().flat_map(|it| it.causes.keys().copied()).collect();
    let all: Vec<Series> = causes
        .into_iter()
        .map(|cause| {
            let share = |it: &PointEstimates| {
                let count = it.causes.get(&cause).copied().unwrap_or_default();
                100.0 * count as f64 / it.messages.max(1) as f64
            };
            let dots = points.iter().enumerate();
            let dots = dots.map(|(i, it)| Dot::new(i as f64, share(it))).collect();
            series(&limit::name(cause).to_string(), Mark::Stacked, dots)
        })
        .collect();
    (!all.is_empty()).then(|| {
        figure(
            "predict-causes",
            "What messages are lost by",
            "Share of the messages that were lost, stacked by cause.".into(),
            [named(answer, &points), axis("lost", "%")],
            all,
        )
    })
}

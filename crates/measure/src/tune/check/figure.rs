//! The figure of a check: throughput of each direction as the file has it and with the advised change,
//! beside its limit.

use super::super::SECTION;
use super::super::limit::DirectionLimits;
use super::super::words::number;
use super::Checked;
use crate::cell::Origin;
use crate::figure::{Axis, Figure, FigurePoint, Mark, Scale, Series, SeriesMeaning};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Returns the figure; none where nothing is known of any direction. Where the lab has tried some
/// directions, the bounds of the others are left to the table.
pub(super) fn of(checked: &Checked) -> Option<Figure> {
    let is_tried = |it: &&DirectionLimits| it.simulated_mbit_s.is_some();
    let tried: Vec<&DirectionLimits> = checked.limits.iter().filter(is_tried).collect();
    let shown = if tried.is_empty() { checked.limits.iter().collect() } else { tried };
    let rows = || shown.iter().enumerate().map(|(at, it)| (at as f64, *it));
    let given = rows().filter_map(|(at, it)| Some(FigurePoint::new(at, it.simulated_mbit_s?)));
    let most = rows().filter_map(|(at, it)| Some(FigurePoint::new(at, it.at_most_mbit_s()?)));
    let advice = checked.advice.as_ref();
    let changed = rows().filter_map(|(at, it)| {
        let [mean, low, high] = advice.filter(|to| to.metric == it.metric)?.after;
        Some(FigurePoint { x: at, y: mean, low: Some(low), high: Some(high) })
    });
    let series = |name: &str, meaning, points: Vec<FigurePoint>| Series {
        name: name.into(),
        origin: Origin::Simulated,
        mark: Mark::Bars,
        meaning,
        points: points.into_iter().map(FigurePoint::rounded).collect(),
    };
    let mut all = alloc::vec![
        series("the file", None, given.collect()),
        series("with the change", None, changed.collect()),
        series("limit of the file", Some(SeriesMeaning::Limit), most.collect()),
    ];
    all.retain(|it| !it.points.is_empty());
    let told = |name: &str, it: &Option<f64>| it.map(|it| format!("{name} {}", number(it)));
    let words: Vec<String> = shown
        .iter()
        .filter_map(|it| {
            let parts = [told("now", &it.simulated_mbit_s), told("at most", &it.at_most_mbit_s())];
            let parts: Vec<String> = parts.into_iter().flatten().collect();
            (!parts.is_empty()).then(|| format!("{} {}", it.metric.words(), parts.join(", ")))
        })
        .collect();
    let unit: String = "Mbit/s".into();
    let categories = shown.iter().map(|it| it.metric.words().into()).collect();
    (!all.is_empty()).then(|| Figure {
        id: "check-throughput".into(),
        section: SECTION.into(),
        title: "Throughput and its limits".into(),
        alt: format!("Throughput by direction in Mbit/s: {}.", words.join("; ")),
        x: Axis { scale: Scale::Category, categories, ..Axis::default() },
        y: Axis { label: "throughput".into(), unit, ..Axis::default() },
        series: all,
    })
}

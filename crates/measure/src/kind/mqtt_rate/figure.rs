//! Offered against delivered, and the stages of a message.

use super::KIND;
use super::table::STAGES;
use crate::figure::{Axis, Figure, FigurePoint, Mark, Scale, Series, SeriesMeaning};
use crate::report::digest::{Digest, Material};
use crate::settings::SettingKey;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::workload::IpTest;

/// Makes the figures of all cells of the kind.
pub(crate) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let digests = material.of_kind(KIND);
    let mut figures = Vec::new();
    figures.extend(delivered(material, &digests));
    figures.extend(stages(material, &digests));
    figures.extend(latency(material, &digests));
    figures
}

/// Returns the name of a cell's curve: cells that differ only by the offered rate share one.
fn curve_name(digest: &Digest) -> String {
    let words = digest.brief_but(&[SettingKey::Offered]);
    if words.is_empty() { "delivered".into() } else { words }
}

fn delivered(material: &Material<'_>, digests: &[&Digest]) -> Option<Figure> {
    let mut series: Vec<Series> = Vec::new();
    for digest in digests {
        let steps: Vec<FigurePoint> = digest
            .all("message_rate_offered")
            .zip(digest.all("message_rate"))
            .filter_map(|(offered, delivered)| {
                Some(FigurePoint {
                    x: offered.value?,
                    y: delivered.value?,
                    low: delivered.ci_low,
                    high: delivered.ci_high,
                })
            })
            .collect();
        let name = curve_name(digest);
        match series.iter_mut().find(|s| s.name == name) {
            Some(curve) => curve.points.extend(steps),
            None if steps.is_empty() => {}
            None => series.push(Series {
                name,
                origin: material.origin,
                mark: Mark::Line,
                points: steps,
                ..Series::default()
            }),
        }
    }
    for curve in &mut series {
        curve.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    }
    let ends: Vec<String> = series
        .iter()
        .filter_map(|s| s.points.last().map(|p| format!("{}: {:.0} of {:.0}", s.name, p.y, p.x)))
        .collect();
    let highest = series.iter().flat_map(|s| &s.points).map(|p| p.x).reduce(f64::max)?;
    series.push(Series {
        name: "all delivered".into(),
        origin: material.origin,
        mark: Mark::Line,
        meaning: Some(SeriesMeaning::Limit),
        points: alloc::vec![FigurePoint::new(0.0, 0.0), FigurePoint::new(highest, highest)],
    });
    let rate =
        |label: &str| Axis { label: label.into(), unit: "messages/s".into(), ..Axis::default() };
    Some(Figure {
        id: "mqtt-delivered".into(),
        section: KIND.into(),
        title: "MQTT: delivered against offered".into(),
        alt: format!(
            "Messages delivered a second against messages offered a second; on the diagonal all were delivered.{}",
            crate::figure::listed("At the highest rate", &ends)
        ),
        x: rate("offered"),
        y: rate("delivered"),
        series,
    })
}

fn stages(material: &Material<'_>, digests: &[&Digest]) -> Option<Figure> {
    let with: Vec<&&Digest> = digests
        .iter()
        .filter(|d| STAGES.iter().any(|(p50, ..)| d.cell(p50).is_some_and(|c| c.value.is_some())))
        .collect();
    let first = with.first()?;
    let unit =
        STAGES.iter().find_map(|(p50, ..)| first.cell(p50)).map_or("ms", |c| c.unit.as_str());
    let mut series = Vec::new();
    for (p50, _, name) in STAGES {
        let points: Vec<FigurePoint> = with
            .iter()
            .enumerate()
            .filter_map(|(i, d)| {
                let cell = d.cell(p50)?;
                Some(FigurePoint {
                    x: i as f64,
                    y: cell.value?,
                    low: cell.ci_low,
                    high: cell.ci_high,
                })
            })
            .collect();
        if !points.is_empty() {
            series.push(Series {
                name: name.into(),
                origin: material.origin,
                mark: Mark::Bars,
                points,
                ..Series::default()
            });
        }
    }
    Some(Figure {
        id: "mqtt-stages-figure".into(),
        section: KIND.into(),
        title: "MQTT: median time in each stage".into(),
        alt: "Median time that a message spends in each stage: in the client's queue, until it is written, until it is acknowledged, until the subscriber has it. One group of bars for each cell.".into(),
        x: Axis {
            label: "cell".into(),
            scale: Scale::Category,
            categories: with.iter().map(|d| d.brief()).collect(),
            ..Axis::default()
        },
        y: Axis {
            label: "time".into(),
            unit: unit.into(),
            scale: crate::figure::spread(series.iter().flat_map(|s| &s.points).map(|p| p.y)),
            ..Axis::default()
        },
        series,
    })
}

/// Draws the times from due to subscriber as cumulative curves; of a sweep, one curve for each
/// rate.
fn latency(material: &Material<'_>, digests: &[&Digest]) -> Option<Figure> {
    let with = digests.iter().filter(|d| d.distribution.is_some()).take(6);
    let mut log = false;
    let series: Vec<Series> = with
        .filter(|d| matches!(d.workload.ip(), Some(IpTest::MqttRate(_))))
        .filter_map(|d| {
            let distribution = d.distribution.as_ref()?;
            log |= distribution.scale == Scale::Log;
            Some(Series {
                name: d.brief(),
                origin: material.origin,
                mark: Mark::Step,
                points: distribution.cumulative.clone(),
                ..Series::default()
            })
        })
        .collect();
    (!series.is_empty()).then(|| Figure {
        id: "mqtt-latency-figure".into(),
        section: KIND.into(),
        title: "MQTT: latency, cumulative".into(),
        alt: "Share of the delivered messages that reached the subscriber within a time from when they were due.".into(),
        x: Axis {
            label: "from due to the subscriber".into(),
            unit: "ms".into(),
            scale: if log { Scale::Log } else { Scale::Linear },
            ..Axis::default()
        },
        y: Axis { label: "messages within".into(), unit: "%".into(), ..Axis::default() },
        series,
    })
}

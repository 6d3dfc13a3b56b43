//! Latency against current: what a device pays for being reached soon.

use super::{Axis, Figure, Mark, Point, Scale, Series};
use crate::report::digest::Material;
use crate::table::power::{SECTION, test, thrifty};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Means and 99th percentiles of latency over mean current, a series for each test.
pub(crate) fn figures(material: &Material<'_>) -> Option<Figure> {
    let mut series: Vec<Series> = Vec::new();
    let mut told: Vec<String> = Vec::new();
    for (digest, current) in thrifty(material) {
        for (metric, word) in [("response_avg", "mean"), ("response_p99", "p99")] {
            let Some(latency) = digest.cell(metric).and_then(|it| it.value) else { continue };
            let name = format!("{}: {word}", test(digest));
            let point = Point::new(current, latency);
            match series.iter_mut().find(|it| it.name == name) {
                Some(it) => it.points.push(point),
                None => series.push(Series {
                    name,
                    origin: material.origin,
                    mark: Mark::Line,
                    points: alloc::vec![point],
                }),
            }
            if metric == "response_avg" {
                let device = digest.workload.variant();
                let device = device.as_ref().map_or("?", |it| it.as_str());
                told.push(format!("{device}: {latency:.1} ms at {current:.2} mA"));
            }
        }
    }
    if series.iter().all(|it| it.points.len() < 2) {
        return None;
    }
    Some(Figure {
        id: "power-figure".into(),
        section: SECTION.into(),
        title: material.titled("Latency against current"),
        alt: format!("Latency over mean current.{}", super::listed("Mean latencies", &told)),
        x: Axis {
            label: "mean current".into(),
            unit: "mA".into(),
            scale: Scale::Log,
            ..Axis::default()
        },
        y: Axis {
            label: "latency".into(),
            unit: "ms".into(),
            scale: Scale::Log,
            ..Axis::default()
        },
        series,
    })
}

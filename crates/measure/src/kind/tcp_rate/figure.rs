//! The message rate of each run, and the published runs.

use super::KIND;
use super::table::{name, rates};
use crate::cell::Origin;
use crate::digits;
use crate::figure::{Axis, Figure, FigurePoint, Mark, Series};
use crate::report::digest::Material;
use crate::settings::Setting;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Makes the figures of all cells of the kind.
pub(crate) fn figures(material: &Material<'_>) -> Vec<Figure> {
    runs(material).into_iter().collect()
}

fn runs(material: &Material<'_>) -> Option<Figure> {
    let mut series = Vec::new();
    let mut means: Vec<String> = Vec::new();
    for digest in material.of_kind(KIND) {
        let name = name(digest);
        let points = numbered(rates(digest).into_iter());
        if points.is_empty() {
            continue;
        }
        let mean = digest.cell("message_rate_avg").and_then(digits::sentence);
        means.extend(mean.map(|mean| format!("{name}: {mean}")));
        series.push(Series {
            name,
            origin: material.origin,
            mark: Mark::Line,
            points,
            ..Series::default()
        });
    }
    if series.is_empty() {
        return None;
    }
    series.extend(published(material));
    Some(Figure {
        id: "tcp-rate-runs-figure".into(),
        section: KIND.into(),
        title: "TCP message rate in each run".into(),
        alt: format!("Messages a second in each run.{}", crate::figure::listed("Means", &means)),
        x: Axis { label: "run".into(), ..Axis::default() },
        y: Axis {
            label: "message rate".into(),
            unit: "messages/s".into(),
            scale: crate::figure::spread(series.iter().flat_map(|s| &s.points).map(|p| p.y)),
            ..Axis::default()
        },
        series,
    })
}

fn numbered(rates: impl Iterator<Item = f64>) -> Vec<FigurePoint> {
    rates.enumerate().map(|(i, rate)| FigurePoint::new((i + 1) as f64, rate)).collect()
}

/// Returns the document's runs, without those that it discarded.
fn published(material: &Material<'_>) -> Option<Series> {
    let kept = material.published.iter().filter(|p| {
        p.id.table == KIND
            && p.id.metric == "message_rate"
            && !p.settings.has(&Setting::Discarded(true))
    });
    let points = numbered(kept.filter_map(|p| p.value));
    (!points.is_empty()).then(|| Series {
        name: "ESP32, runs 3 to 12".into(),
        origin: Origin::Published,
        mark: Mark::Points,
        points,
        ..Series::default()
    })
}

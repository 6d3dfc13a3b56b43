//! The suites of the ESP-NOW report: each table's leading figure over what its columns are, with the
//! published points and the limit, and the distributions of round trips.

use super::KIND;
use super::table::{Across, DocumentTable, groups, leading, published, quantity, section, work};
use crate::cell::{Cell, Origin};
use crate::digits;
use crate::figure::{Axis, Figure, FigurePoint, Mark, Scale, Series, SeriesMeaning, spread};
use crate::report::digest::{Digest, Material};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Behind the name of published points that a constant was fitted to; tables have the same sign.
const FITTED: &str = " †, the simulator was fitted to it";

/// Makes the figures, table by table.
pub(crate) fn figures(material: &Material<'_>) -> Vec<Figure> {
    let digests = material.of_kind(KIND);
    let mut figures = Vec::new();
    for group in groups(&digests) {
        figures.extend(curve(material, &group));
        figures.extend(rows(material, &group));
    }
    figures
}

/// Draws the leading metric over the columns; `None` where there is only one column.
fn curve(material: &Material<'_>, group: &DocumentTable<'_>) -> Option<Figure> {
    let [metric, exact] = leading(material, group)?;
    let cells: Vec<(f64, &Cell)> =
        group.digests.iter().filter_map(|d| Some((abscissa(group, d)?, d.cell(metric)?))).collect();
    let ours: Vec<FigurePoint> = cells.iter().filter_map(|(x, cell)| point(*x, cell)).collect();
    if ours.len() < 2 {
        return None;
    }
    let mut series = Vec::new();
    let mut add = |name: &str, origin, mark, points: Vec<FigurePoint>| {
        if !points.is_empty() {
            series.push(Series { name: name.into(), origin, mark, points, ..Series::default() });
        }
    };
    // The table beside it has the exact one.
    let cut = if metric == exact { "" } else { ", as consoles print it" };
    add(&format!("{}{cut}", quantity(metric)), material.origin, Mark::Line, ours);
    for (fitted, mark) in [(false, ""), (true, FITTED)] {
        let theirs = cells.iter().filter_map(|(x, cell)| {
            let theirs = published(material, cell).filter(|p| p.fitted == fitted)?;
            Some(FigurePoint::new(*x, theirs.value?))
        });
        add(
            &format!("{}{mark}", quantity(metric)),
            Origin::Published,
            Mark::Points,
            theirs.collect(),
        );
    }
    let limits = group.digests.iter().filter_map(|digest| {
        Some(FigurePoint::new(abscissa(group, digest)?, digest.cell(exact)?.limit?))
    });
    // Encryption needs no frame: its limit is nothing.
    let limits: Vec<FigurePoint> = limits.filter(|p| p.y > 0.0).collect();
    if !limits.is_empty() {
        series.push(Series {
            name: "limit: air time of the needed frames alone".into(),
            origin: material.origin,
            mark: Mark::Line,
            meaning: Some(SeriesMeaning::Limit),
            points: limits,
        });
    }
    let first = cells.first()?.1;
    let told: Vec<String> =
        group.digests.iter().filter_map(|d| told(material, group, d, metric)).collect();
    let scale = spread(series.iter().flat_map(|s| &s.points).map(|p| p.y));
    Some(Figure {
        id: format!("{}-figure", group.id()),
        section: section(&group.work).into(),
        title: format!("{}: {}", group.title(), quantity(metric)),
        alt: format!("{}.", told.join("; ")),
        x: axis(group),
        y: Axis {
            label: quantity(metric).into(),
            unit: crate::table::unit_sign(&first.unit).into(),
            scale,
            ..Axis::default()
        },
        series,
    })
}

/// Returns a column's result in words, with the published one beside it.
fn told(
    material: &Material<'_>,
    group: &DocumentTable<'_>,
    digest: &Digest,
    metric: &str,
) -> Option<String> {
    let cell = digest.cell(metric)?;
    let column = group.told(&work(digest)?);
    let theirs = published(material, cell)
        .and_then(digits::value)
        .map(|value| format!(", published {value}"))
        .unwrap_or_default();
    Some(format!("{column}: {}{theirs}", digits::value(cell)?))
}

fn abscissa(group: &DocumentTable<'_>, digest: &Digest) -> Option<f64> {
    Some(group.column(&work(digest)?).0)
}

fn axis(group: &DocumentTable<'_>) -> Axis {
    let (label, unit) = match group.across {
        Across::Payload => ("payload", "B"),
        Across::Devices => ("devices", ""),
        Across::Distance => ("distance", "m"),
    };
    Axis { label: label.into(), unit: unit.into(), ..Axis::default() }
}

fn point(x: f64, cell: &Cell) -> Option<FigurePoint> {
    Some(FigurePoint { x, y: cell.value?, low: cell.ci_low, high: cell.ci_high })
}

/// Histograms of the round trips or delays, a row for each column of the table.
fn rows(material: &Material<'_>, group: &DocumentTable<'_>) -> Option<Figure> {
    let row = |digest: &&Digest| {
        Some(Series {
            name: group.told(&work(digest)?),
            origin: material.origin,
            mark: Mark::Row,
            points: digest.distribution.as_ref()?.histogram.clone(),
            ..Series::default()
        })
    };
    let series: Vec<Series> = group.digests.iter().filter_map(row).collect();
    let logarithmic = |d: &&Digest| d.distribution.as_ref().is_some_and(|d| d.scale == Scale::Log);
    let log = group.digests.iter().any(logarithmic);
    (!series.is_empty()).then(|| Figure {
        id: format!("{}-distribution", group.id()),
        section: section(&group.work).into(),
        title: format!("{}: distribution", group.title()),
        alt: "Histograms of each packet's time, from when it was due; each row is as high as its own tallest bar.".to_string(),
        x: Axis {
            label: "time".into(),
            unit: "ms".into(),
            scale: if log { Scale::Log } else { Scale::Linear },
            ..Axis::default()
        },
        y: Axis { label: "share of the packets".into(), unit: "%".into(), ..Axis::default() },
        series,
    })
}

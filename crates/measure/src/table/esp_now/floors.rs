//! What of the figures is physics: one line for each table of the document.

use super::document::{INFINITE, factor};
use super::group::{Group, groups};
use super::{KIND, published};
use crate::cell::{Cell, Origin};
use crate::digits;
use crate::report::digest::Material;
use crate::table::{Column, Table, unit_sign};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_proto::workload::PHY_MODE;

/// The figure that stands for a test.
const LEADING: [&str; 7] = [
    "latency_avg",
    "rtt_avg",
    "throughput",
    "encrypt_time",
    "ota_time",
    "handshake_time",
    "provisioning_time",
];

/// The floors; `None` where no cell has one.
pub(crate) fn floors(material: &Material<'_>) -> Option<Table> {
    let digests = material.of_kind(KIND);
    let rows: Vec<_> = groups(&digests).iter().filter_map(|g| row(material, g)).collect();
    (!rows.is_empty()).then(|| Table {
        id: "esp-now-floors".into(),
        section: "overview".into(),
        title: material.titled("What is physics, and what is not: times the floor"),
        columns: alloc::vec![
            Column::words("test"),
            Column::words("figure"),
            Column::words("PHY rate"),
            Column::setting("floor", ""),
            Column::result("times the floor", "", Origin::Published),
            Column::result("times the floor", "", material.origin),
        ],
        rows,
        notes: alloc::vec![
            "The floor is the air time, at the same PHY rate, of the frames that the work cannot do \
             without: no copies, retries, back-off or processor. Of a throughput it is what cannot be \
             exceeded, and times the floor is how far below it a figure is. Ranges are over payloads, \
             devices or distances. Encryption needs no frame: all of it is the processor. Published \
             figures are held against the floor at the document's own rate."
                .into()
        ],
    })
}

/// The metric that stands for a test's cells.
pub(crate) fn leading(group: &Group<'_>) -> Option<&'static str> {
    LEADING.into_iter().find(|m| group.digests.iter().any(|d| d.cell(m).is_some()))
}

fn row(material: &Material<'_>, group: &Group<'_>) -> Option<Vec<Option<String>>> {
    let metric = leading(group)?;
    let cells: Vec<&Cell> = group.digests.iter().filter_map(|d| d.cell(metric)).collect();
    let floors: Vec<f64> = cells.iter().filter_map(|c| c.floor).collect();
    if floors.is_empty() {
        return None;
    }
    let unit = cells.first().map_or("", |c| unit_sign(&c.unit));
    let ours: Vec<f64> = cells.iter().filter_map(|c| factor(c)).collect();
    let theirs: Vec<f64> = cells.iter().filter_map(|c| factor(published(material, c)?)).collect();
    Some(alloc::vec![
        Some(group.title()),
        Some(metric.into()),
        modes(group),
        range(&floors).map(|floor| format!("{floor} {unit}")),
        range(&theirs),
        range(&ours),
    ])
}

/// In which modes its devices sent.
fn modes(group: &Group<'_>) -> Option<String> {
    let mut modes: Vec<&str> = Vec::new();
    for mode in group.digests.iter().filter_map(|d| d.facts.get(PHY_MODE)) {
        if !modes.contains(&mode.as_str()) {
            modes.push(mode);
        }
    }
    (!modes.is_empty()).then(|| modes.join("; "))
}

/// The smallest and the largest.
fn range(values: &[f64]) -> Option<String> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    let text = |v: f64| match v {
        f64::INFINITY => INFINITE.into(),
        100.0.. => format!("{v:.0}"),
        _ => digits::plain(v),
    };
    Some(if text(low) == text(high) {
        text(low)
    } else {
        format!("{}–{}", text(low), text(high))
    })
}

//! Each table of the document in a line: its leading figure as it was published and as it was found,
//! and how many times the limit both are, so what of it is physics.

use super::document::{INFINITE, factor, quotient, shown};
use super::group::{DocumentTable, groups};
use super::published;
use crate::cell::{Cell, Origin};
use crate::digits;
use crate::kind::esp_now::KIND;
use crate::report::digest::Material;
use crate::table::{Column, Table, unit_sign};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_dot11::radio::name::ESP_NOW_PHY_MODES;

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

/// Returns the table; `None` where no cell has a limit.
pub(crate) fn limits(material: &Material<'_>) -> Option<Table> {
    let digests = material.of_kind(KIND);
    let groups = groups(&digests);
    let rows: Vec<_> = groups.iter().filter_map(|g| row(material, g)).collect();
    let result = |name, origin| Column::result(name, "", origin);
    (!rows.is_empty()).then(|| Table {
        id: "esp-now-limits".into(),
        section: "overview".into(),
        title: "ESP-NOW results, the published report and the theoretical limit".into(),
        columns: alloc::vec![
            Column::words("test"),
            result("figure", Origin::Published),
            result("figure", material.origin),
            Column::setting("ours / published", ""),
            Column::setting("limit", ""),
            result("times the limit", Origin::Published),
            result("times the limit", material.origin),
        ],
        rows,
        notes: notes(&groups),
        ..Table::default()
    })
}

fn notes(groups: &[DocumentTable<'_>]) -> Vec<String> {
    let mut notes = alloc::vec![
        "Ranges are over payloads, devices or distances. The limit is the air time, at the same PHY \
         rate, of the frames that must be sent, without copies, retries, back-off or processor \
         time. For throughput the limit is the maximum, and 2 times the limit means half of it. \
         Encryption sends no frame: all of its time is the processor's."
            .into()
    ];
    let mut modes: Vec<&str> = Vec::new();
    let facts = groups.iter().flat_map(|g| &g.digests).map(|d| &d.facts);
    for mode in facts.filter_map(|facts| facts.get(ESP_NOW_PHY_MODES.name())) {
        if !modes.contains(&mode.as_str()) {
            modes.push(mode);
        }
    }
    if !modes.is_empty() {
        notes.push(format!(
            "PHY rate: {}. Published figures are compared with the limit at the published rate.",
            modes.join("; ")
        ));
    }
    notes
}

/// Returns the metric that stands for a test's cells, and its exact form.
pub(crate) fn leading(
    material: &Material<'_>,
    group: &DocumentTable<'_>,
) -> Option<[&'static str; 2]> {
    let found = LEADING.into_iter().find(|m| group.digests.iter().any(|d| d.cell(m).is_some()))?;
    Some([shown(material, group, found), super::exact(found).unwrap_or(found)])
}

fn row(material: &Material<'_>, group: &DocumentTable<'_>) -> Option<Vec<Option<String>>> {
    let [metric, exact] = leading(material, group)?;
    let of_metric = |metric| group.digests.iter().filter_map(|d| d.cell(metric)).collect();
    let (cells, exact): (Vec<&Cell>, Vec<&Cell>) = (of_metric(metric), of_metric(exact));
    let limits: Vec<f64> = exact.iter().filter_map(|c| c.limit).collect();
    if limits.is_empty() {
        return None;
    }
    let unit = cells.first().map_or("", |c| unit_sign(&c.unit));
    let pairs: Vec<(&Cell, &Cell)> =
        cells.iter().filter_map(|c| Some((*c, published(material, c)?))).collect();
    let of = |all: &mut dyn Iterator<Item = Option<f64>>| range(&all.flatten().collect::<Vec<_>>());
    let ratio = |(ours, theirs): &(&Cell, &Cell)| quotient(ours.value?, theirs.value?);
    Some(alloc::vec![
        Some(format!("{}: {} ({unit})", group.title(), quantity(metric))),
        // As they were printed.
        spread(&pairs.iter().filter_map(|(_, p)| p.value).collect::<Vec<_>>(), |v| v.to_string()),
        of(&mut cells.iter().map(|c| c.value)),
        of(&mut pairs.iter().map(ratio)),
        range(&limits),
        of(&mut pairs.iter().map(|(_, theirs)| factor(theirs))),
        of(&mut exact.iter().map(|c| factor(c))),
    ])
}

/// Returns the words for a leading metric.
pub(crate) fn quantity(metric: &str) -> &'static str {
    match metric {
        "latency_avg" => "mean delay",
        "rtt_avg" | "rtt_exact_avg" => "mean round trip",
        "throughput" | "throughput_sent" => "throughput",
        "encrypt_time" | "encrypt_time_exact" => "time to encrypt",
        _ => "time for all",
    }
}

/// Returns the smallest and the largest value in words.
fn range(values: &[f64]) -> Option<String> {
    spread(values, digits::three)
}

fn spread(values: &[f64], digits: fn(f64) -> String) -> Option<String> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    let text = |v: f64| if v == f64::INFINITY { INFINITE.into() } else { digits(v) };
    let (low, high) = (text(low), text(high));
    Some(if low == high { low } else { format!("{low}–{high}") })
}

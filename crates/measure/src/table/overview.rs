//! The first thing to read: one line for each question that people ask, with what others published.

use super::{Column, Table, unit_sign};
use crate::cell::Cell;
use crate::digits;
use crate::report::digest::{Digest, Material};
use crate::settings::Key;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::workload::IpTest;

/// The metrics that lead, by kind.
const LEADING: [(&str, &[(&str, &str)]); 6] = [
    (
        "udp-echo",
        &[
            ("rtt_avg", "mean round trip"),
            ("rtt_p50", "median round trip"),
            ("rtt_p99", "p99 round trip"),
            ("loss", "loss"),
        ],
    ),
    ("ping", &[("rtt_p50", "median round trip"), ("rtt_p99", "p99 round trip"), ("loss", "loss")]),
    (
        "iperf",
        &[
            ("throughput_rx", "throughput RX"),
            ("throughput_tx", "throughput TX"),
            ("loss", "loss"),
            ("rtt_idle_p50", "median round trip, idle"),
            ("rtt_loaded_p50", "median round trip, under load"),
        ],
    ),
    ("tcp-rate", &[("message_rate_avg", "mean rate")]),
    (
        "mqtt-rate",
        &[
            ("message_rate_reliable", "highest rate without loss"),
            ("message_rate", "delivered"),
            ("loss", "loss"),
        ],
    ),
    ("wifi-join", &[("join_time_avg", "mean time to join"), ("loss", "not joined")]),
];

/// Sizes of the echo sweep that stand for all: where the published figures change their course.
const SIZES: [u32; 3] = [1, 100, 900];

/// With more cells of a kind than that, what they lost is left to the kind's own section.
const MANY: usize = 12;

/// The overview; `None` when nothing was measured.
pub(crate) fn table(material: &Material<'_>) -> Option<Table> {
    let mut rows = Vec::new();
    for (kind, metrics) in LEADING {
        let digests = chosen(material.of_kind(kind));
        let many = digests.len() > MANY;
        for digest in digests {
            for (metric, name) in metrics.iter().filter(|it| !many || it.0 != "loss") {
                rows.extend(digest.cell(metric).and_then(|c| row(material, digest, c, name)));
            }
        }
    }
    (!rows.is_empty()).then(|| Table {
        id: "overview".into(),
        section: "overview".into(),
        title: material.titled("At a glance"),
        columns: alloc::vec![
            Column::words("cell"),
            Column::words("what"),
            Column::result("result", "", material.origin),
            Column::result("interval", "", material.origin),
            Column::setting("n", ""),
            Column::result("values", "", crate::cell::Origin::Published),
        ],
        rows,
        notes: alloc::vec![
            "Cells without a line for loss lost nothing; of more than twelve of a kind, losses are in its own section. Intervals are at 95 %; that of the highest rate without loss is from the highest rate \
             that passed to the lowest that failed. Published values are of other devices and places: see the comparison for what can be \
             held against each other."
                .into()
        ],
        ..Table::default()
    })
}

/// All of a small set; of a sweep of sizes the first, the last and the well-known ones.
fn chosen(digests: Vec<&Digest>) -> Vec<&Digest> {
    let last = digests.len().saturating_sub(1);
    let leads = |(i, d): &(usize, &Digest)| match d.workload.ip() {
        Some(IpTest::UdpEcho(w)) if !d.settings.without(&[Key::Size]).is_empty() => {
            w.size == SIZES[1]
        }
        Some(IpTest::UdpEcho(w)) => *i == 0 || *i == last || SIZES.contains(&w.size),
        _ => true,
    };
    digests.into_iter().enumerate().filter(leads).map(|(_, d)| d).collect()
}

fn row(
    material: &Material<'_>,
    digest: &Digest,
    cell: &Cell,
    name: &str,
) -> Option<Vec<Option<String>>> {
    let value = digits::value(cell)?;
    if cell.id.metric == "loss" && cell.value == Some(0.0) {
        return None;
    }
    Some(alloc::vec![
        Some(format!("{}, {}", digest.workload.kind(), digest.brief())),
        Some(name.to_string()),
        Some(format!("{value} {}", unit_sign(&cell.unit))),
        digits::interval(cell.ci_low, cell.ci_high),
        cell.n.map(digits::count),
        published(material, cell),
    ])
}

/// One published value, or the range of several.
fn published(material: &Material<'_>, cell: &Cell) -> Option<String> {
    let beside = material.beside(cell);
    let values = beside.iter().filter_map(|p| p.value);
    let low = values.clone().reduce(f64::min)?;
    let high = values.reduce(f64::max)?;
    let unit = unit_sign(&cell.unit);
    Some(if low < high { format!("{low}–{high} {unit}") } else { format!("{low} {unit}") })
}

//! iperf: test cases as the published tables name them, the published figures, the intervals.

use super::KIND;
use super::document::DOCUMENTS;
use crate::cell::Cell;
use crate::digits;
use crate::report::digest::{Digest, Material};
use crate::settings::SettingKey;
use crate::table::Show::{Interval, Value};
use crate::table::{
    Align, Column, Lead, Spec, Table, TableFrame, of_metrics, remaining, repetition,
};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::workload::{IpTest, Name, Transport};

/// The document's test cases: name, transport, metric.
const CASES: [(&str, &str, &str); 4] = [
    ("UDP to the device", "udp", "throughput_rx"),
    ("UDP from the device", "udp", "throughput_tx"),
    ("TCP to the device", "tcp", "throughput_rx"),
    ("TCP from the device", "tcp", "throughput_tx"),
];

const RESULTS: &[Spec] = &[
    ("throughput_rx", "to the device", Value),
    ("throughput_rx", "to the device, 95 % interval", Interval),
    ("throughput_rx_best_second", "to the device, best second", Value),
    ("throughput_tx", "from the device", Value),
    ("throughput_tx", "from the device, 95 % interval", Interval),
    ("throughput_tx_best_second", "from the device, best second", Value),
    ("throughput_sent", "sent", Value),
    ("throughput_sent", "sent 95 % interval", Interval),
    ("throughput_sent_best_second", "sent, best second", Value),
    ("in_flight_end", "on the way at the end", Value),
    ("retransmits", "retransmits", Value),
    ("fairness", "fairness (Jain)", Value),
];

/// Round trips of `--bounceback`, and one-way times of `--trip-times`.
const TIMES: &[Spec] = &[
    ("rtt_avg", "round trip, mean", Value),
    ("rtt_avg", "mean 95 % interval", Interval),
    ("rtt_min", "least", Value),
    ("rtt_p50", "median", Value),
    ("rtt_p90", "p90", Value),
    ("rtt_p99", "p99", Value),
    ("rtt_p999", "p99.9", Value),
    ("rtt_max", "most", Value),
    ("rtt_stddev", "deviation", Value),
    ("requests_rate", "requests", Value),
    ("latency_avg", "one way, mean", Value),
    ("latency_min", "one way, least", Value),
    ("latency_max", "one way, most", Value),
    ("latency_stddev", "one way, deviation", Value),
    ("latency_rx_avg", "to the device, mean", Value),
    ("latency_rx_min", "to the device, least", Value),
    ("latency_rx_max", "to the device, most", Value),
    ("latency_rx_stddev", "to the device, deviation", Value),
    ("latency_tx_avg", "from the device, mean", Value),
    ("latency_tx_min", "from the device, least", Value),
    ("latency_tx_max", "from the device, most", Value),
    ("latency_tx_stddev", "from the device, deviation", Value),
];

/// Columns of a receiver of datagrams; a test in both directions has those of each.
const DATAGRAMS: &[Spec] = &[
    ("loss", "loss", Value),
    ("loss", "loss 95 % interval", Interval),
    ("packets_lost", "lost", Value),
    ("packets_total", "of", Value),
    ("packets_refused", "refused: no memory", Value),
    ("loss_of_offered", "lost of offer", Value),
    ("packets_out_of_order", "out of order", Value),
    ("packets_duplicate", "duplicate", Value),
    ("jitter", "jitter", Value),
    ("loss_rx", "to the device, loss", Value),
    ("loss_rx", "to the device, loss 95 % interval", Interval),
    ("packets_lost_rx", "to the device, lost", Value),
    ("packets_total_rx", "to the device, sent", Value),
    ("packets_out_of_order_rx", "to the device, out of order", Value),
    ("packets_duplicate_rx", "to the device, duplicate", Value),
    ("jitter_rx", "to the device, jitter", Value),
    ("loss_tx", "from the device, loss", Value),
    ("loss_tx", "from the device, loss 95 % interval", Interval),
    ("packets_lost_tx", "from the device, lost", Value),
    ("packets_total_tx", "from the device, sent", Value),
    ("packets_out_of_order_tx", "from the device, out of order", Value),
    ("packets_duplicate_tx", "from the device, duplicate", Value),
    ("jitter_tx", "from the device, jitter", Value),
];

/// Makes the tables of all cells of the kind.
pub(crate) fn tables(material: &Material<'_>) -> Vec<Table> {
    let digests = material.of_kind(KIND);
    if digests.is_empty() {
        return Vec::new();
    }
    let leads = leads(&digests);
    let udp: Vec<&Digest> = digests.iter().filter(|d| is_udp(d)).copied().collect();
    let mut tables = Vec::new();
    tables.extend(of_metrics(&CASE_FRAME, material, &digests, &leads, RESULTS));
    tables.extend(of_metrics(&TIMES_FRAME, material, &digests, &leads, TIMES));
    tables.extend(of_metrics(&DATAGRAM_FRAME, material, &udp, &leads, DATAGRAMS));
    tables.extend(super::latency::table::table(material, &digests, &leads));
    tables.extend(published(material, &digests));
    tables.extend(intervals(material, &digests));
    let shown = [RESULTS, TIMES, DATAGRAMS, super::latency::table::LATENCY];
    tables.extend(remaining(KIND, material, &digests, &shown));
    tables
}

const CASE_FRAME: TableFrame<'_> = TableFrame {
    id: "iperf-cases",
    section: KIND,
    title: "iperf: throughput by test case",
    notes: &[
        "Rates are of the payload, without headers. Sent and received differ: over UDP the device's report says what arrived, \
         over TCP its receive window shows what its application read; the rest was still on the \
         way at the end.",
    ],
};

const TIMES_FRAME: TableFrame<'_> = TableFrame {
    id: "iperf-times",
    section: KIND,
    title: "iperf: round trips and one-way times",
    notes: &[
        "One-way times are as true as the two clocks agree. Over TCP they are a write's: from the write \
         to its last byte.",
    ],
};

const DATAGRAM_FRAME: TableFrame<'_> = TableFrame {
    id: "iperf-datagrams",
    section: KIND,
    title: "iperf: datagrams",
    notes: &["Jitter as RFC 3550 section 6.4.1."],
};

fn is_udp(digest: &Digest) -> bool {
    matches!(digest.workload.ip(), Some(IpTest::Iperf(w)) if w.transport == Transport::Udp)
}

fn leads(digests: &[&Digest]) -> Vec<Lead> {
    let case: Lead = (Column::words("Test Case"), |d| match d.workload.ip() {
        Some(IpTest::Iperf(w)) => Some(super::test_case(&w)),
        _ => None,
    });
    let settings: Lead =
        (Column::words("settings"), |d| Some(d.words_but(&[SettingKey::Transport])));
    let mut leads = alloc::vec![case, settings];
    leads.extend(repetition(digests));
    leads
}

/// Ours in the first row, then each published setting in a row of its own.
fn published(material: &Material<'_>, digests: &[&Digest]) -> Option<Table> {
    let mut settings: Vec<String> = Vec::new();
    let candidates = || {
        material
            .published
            .iter()
            .filter(|p| DOCUMENTS.iter().any(|it| it.table == p.id.table))
            .filter(|p| p.id.transport != "config")
    };
    for cell in candidates() {
        let setting = setting(cell);
        if case_of(cell).is_some() && !settings.contains(&setting) {
            settings.push(setting);
        }
    }
    if settings.is_empty() {
        return None;
    }
    let mut rows = ours(digests);
    for name in settings {
        let of_setting: Vec<&Cell> = candidates().filter(|c| setting(c) == name).collect();
        rows.push(row(format!("published: {name}"), &of_setting));
    }
    let mut columns = alloc::vec![Column::words("setting")];
    columns.extend(CASES.iter().map(|c| Column {
        name: c.0.into(),
        unit: "Mbit/s".into(),
        align: Align::Right,
        origin: None,
    }));
    Some(Table {
        id: "iperf-published".into(),
        section: KIND.into(),
        title: "iperf: beside published figures".into(),
        columns,
        rows,
        notes: alloc::vec![
            "A row of this run shows the first cell of each test case. Published figures are of other \
             devices and places; esp32c3 figures may be of the best second."
                .into()
        ],
        ..Table::default()
    })
}

/// Makes a row for each device that the plan names, or one for all cells.
fn ours(digests: &[&Digest]) -> Vec<Vec<Option<String>>> {
    let mut variants: Vec<Option<&Name>> = Vec::new();
    for digest in digests {
        let variant = digest.workload.variant();
        if !variants.contains(&variant) {
            variants.push(variant);
        }
    }
    let of = |variant: Option<&Name>| {
        let its = digests.iter().filter(|it| it.workload.variant() == variant);
        let cells: Vec<&Cell> = its.flat_map(|it| &it.cells).collect();
        let device = variant.map(|it| format!(": {}", it.as_str())).unwrap_or_default();
        row(format!("this run{device}"), &cells)
    };
    variants.into_iter().map(of).collect()
}

/// Makes a row of the first cell of each test case.
fn row(name: String, cells: &[&Cell]) -> Vec<Option<String>> {
    let value = |&(_, transport, metric): &(&str, &str, &str)| {
        let of_case =
            |c: &&&Cell| c.id.transport == transport && c.id.metric == metric && c.value.is_some();
        cells.iter().find(of_case).and_then(|c| digits::value(c))
    };
    let mut row = alloc::vec![Some(name)];
    row.extend(CASES.iter().map(value));
    row
}

fn case_of(cell: &Cell) -> Option<usize> {
    CASES.iter().position(|c| c.1 == cell.id.transport && c.2 == cell.id.metric)
}

/// Returns the words that tell published figures apart: device, mode, security, place, and the
/// software's version, which the table notes before the first semicolon.
fn setting(cell: &Cell) -> String {
    let mut words = alloc::vec![cell.id.chip.clone(), cell.id.mode.clone()];
    let known = |word: &Option<String>| {
        word.clone().filter(|w| !w.is_empty() && w != "unstated" && w != "off")
    };
    words.extend(known(&cell.id.security));
    words.extend(known(&cell.id.environment));
    if let Some((version, _)) = cell.note.as_deref().and_then(|n| n.split_once(';')) {
        words.push(version.into());
    }
    words.join(", ")
}

/// Makes the table of the rate in each interval, with one column for each test and observer.
fn intervals(material: &Material<'_>, digests: &[&Digest]) -> Option<Table> {
    let mut columns = alloc::vec![Column::setting("until", "s")];
    let mut curves = Vec::new();
    for digest in digests {
        for line in digest.timelines.iter().filter(|l| !l.points.is_empty()) {
            let name = format!("{}, {}", digest.words(), line.observer);
            columns.push(Column::result(&name, "Mbit/s", material.origin));
            curves.push(&line.points);
        }
    }
    let longest = curves.iter().max_by_key(|c| c.len())?;
    let row = |i: usize| {
        let mut row = alloc::vec![Some(format!("{:.1}", longest[i].x))];
        row.extend(curves.iter().map(|c| c.get(i).map(|p| digits::plain(p.y))));
        row
    };
    Some(Table {
        id: "iperf-intervals".into(),
        section: KIND.into(),
        title: "iperf: throughput in each interval".into(),
        rows: (0..longest.len()).map(row).collect(),
        columns,
        ..Table::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Identity, Origin};
    use espbench_stats::Estimate;

    #[test]
    fn a_published_setting_is_told_by_device_mode_security_and_version() {
        let id = Identity {
            chip: "esp8266".into(),
            mode: "softap".into(),
            security: Some("wpa2".into()),
            environment: Some("unstated".into()),
            ..Identity::default()
        };
        let mut cell = Cell::of(Estimate::exact(1.0, 1), id, "Mbit/s", Origin::Published);
        cell.note = Some("RTOS SDK 2.2; direction as seen by the device".into());
        assert_eq!(setting(&cell), "esp8266, softap, wpa2, RTOS SDK 2.2");
        cell.note = Some("single core".into());
        assert_eq!(setting(&cell), "esp8266, softap, wpa2");
    }
}

//! Message rate over TCP: tables 1 and 2 of the published benchmark, one column for each setting.

use super::KIND;
use crate::cell::Origin;
use crate::digits;
use crate::label;
use crate::report::digest::{Digest, Material};
use crate::table::{Column, Table, remaining};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

const RUN: &str = "message_rate";

/// The document's rows of statistics, in its order.
const STATISTICS: [(&str, &str); 9] = [
    ("message_rate_min", "Minimum"),
    ("message_rate_max", "Maximum"),
    ("message_rate_avg", "Average"),
    ("message_rate_stddev", "Standard deviation"),
    // Not the document's.
    ("message_rate_station", "Average of one station"),
    ("fairness", "Fairness (Jain)"),
    ("message_rate_acked_avg", "Average, acknowledged by the peer"),
    ("message_rate_sent_avg", "Average, taken by this host's kernel"),
    ("in_flight_end", "In flight at the end, B"),
];

/// Note on the messages that the rates count, for measured, simulated and published cells.
const TAKEN: &str = "Measured: messages that the peer read, divided by the time until it had read \
    them; what this host's kernel accepted may still wait in buffers. Simulated and published: send \
    calls of the device that took a whole message.";

/// Makes the tables of all cells of the kind.
pub(crate) fn tables(material: &Material<'_>) -> Vec<Table> {
    let digests = material.of_kind(KIND);
    if digests.is_empty() {
        return Vec::new();
    }
    let specs: Vec<crate::table::Spec> = STATISTICS
        .iter()
        .map(|s| s.0)
        .chain([RUN])
        .map(|m| (m, "", crate::table::Show::Value))
        .collect();
    let mut tables = alloc::vec![runs(material, &digests), statistics(material, &digests)];
    tables.extend(remaining(KIND, material, &digests, &[&specs]));
    tables
}

fn columns(first: Column, material: &Material<'_>, digests: &[&Digest]) -> Vec<Column> {
    let mut columns = alloc::vec![first];
    columns.extend(digests.iter().map(|d| Column::result(&name(d), "messages/s", material.origin)));
    columns
}

/// Says the settings and the repetition of a cell.
pub(crate) fn name(digest: &Digest) -> String {
    match digest.repetition {
        0 => digest.words(),
        more => format!("{}, {}", digest.words(), label::repetition(more)),
    }
}

/// Returns the rates of the runs.
pub(crate) fn rates(digest: &Digest) -> Vec<f64> {
    digest.all(RUN).filter_map(|c| c.value).collect()
}

fn runs(material: &Material<'_>, digests: &[&Digest]) -> Table {
    let rates: Vec<Vec<f64>> = digests.iter().map(|d| rates(d)).collect();
    let longest = rates.iter().map(Vec::len).max().unwrap_or(0);
    let row = |run: usize| {
        let mut row = alloc::vec![Some(digits::count(run as u64 + 1))];
        row.extend(rates.iter().map(|r| r.get(run).map(|&rate| digits::plain(rate))));
        row
    };
    Table {
        id: "tcp-rate-runs".into(),
        section: KIND.into(),
        title: "TCP message rate: runs".into(),
        columns: columns(Column::setting("Run #", ""), material, digests),
        rows: (0..longest).map(row).collect(),
        notes: alloc::vec![
            "Runs that were discarded as warm-up are not counted.".into(),
            TAKEN.into(),
        ],
        ..Table::default()
    }
}

fn statistics(material: &Material<'_>, digests: &[&Digest]) -> Table {
    let mut columns = columns(Column::words(""), material, digests);
    columns.push(Column::result("ESP32", "messages/s", Origin::Published));
    let mut rows = Vec::new();
    for (metric, name) in STATISTICS {
        let cells: Vec<_> = digests.iter().map(|d| d.cell(metric)).collect();
        if cells.iter().all(Option::is_none) {
            continue;
        }
        let published = material
            .published
            .iter()
            .find(|p| p.id.table == KIND && p.id.metric == metric)
            .and_then(digits::value);
        let mut row = alloc::vec![Some(name.into())];
        row.extend(cells.iter().map(|c| c.and_then(digits::value)));
        row.push(published);
        rows.push(row);
        if cells.iter().flatten().any(|c| c.ci_low.is_some() || c.ci_high.is_some()) {
            let mut row = alloc::vec![Some(alloc::format!("{name}, 95 % interval"))];
            row.extend(cells.iter().map(|c| c.and_then(|c| digits::interval(c.ci_low, c.ci_high))));
            row.push(None);
            rows.push(row);
        }
    }
    Table {
        id: "tcp-rate-statistics".into(),
        section: KIND.into(),
        title: "TCP message rate: statistics".into(),
        columns,
        rows,
        notes: alloc::vec![
            "The published runs sent short messages of unstated size for one second each.".into()
        ],
        ..Table::default()
    }
}

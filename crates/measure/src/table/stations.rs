//! The stations of tests that several carry out at once: their access points and their figures.

use super::{Column, Table, TableRow};
use crate::digits;
use crate::report::digest::{Digest, Material};
use crate::report::stations::Station;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Makes a table for each test with several stations.
pub(crate) fn tables(material: &Material<'_>) -> Vec<Table> {
    let mut tables: Vec<Table> = Vec::new();
    for digest in material.digests.iter().filter(|it| it.stations.0.len() > 1) {
        let number = tables.len() + 1;
        tables.push(table(material, digest, format!("stations-{number}")));
    }
    tables
}

/// A column: its name, its unit, whether it is of results, and its text.
type StationColumn = (&'static str, &'static str, bool, fn(&Station) -> Option<String>);

const COLUMNS: [StationColumn; 10] = [
    ("router", "", false, |it| Some(it.member.as_ref()?.access_point.clone())),
    ("channel", "", false, |it| Some(it.member.as_ref()?.channel.to_string())),
    ("RSSI", "dBm", false, |it| Some(format!("{:.0}", it.member.as_ref()?.rssi_dbm))),
    ("throughput", "Mbit/s", true, |it| it.delivered.map(digits::plain)),
    ("delivered", "messages/s", true, |it| it.messages.map(digits::plain)),
    ("sent", "packets", true, |it| it.lost.map(|(sent, _)| digits::count(sent))),
    ("lost", "percent", true, |it| {
        let (sent, lost) = it.lost.filter(|it| it.0 > 0)?;
        Some(digits::plain(100.0 * lost as f64 / sent as f64))
    }),
    ("refused: no memory", "packets", true, |it| it.refused.map(digits::count)),
    ("not sent: queue full", "packets", true, |it| it.unsent.map(digits::count)),
    ("round trip, mean", "ms", true, |it| it.round_trip.map(digits::plain)),
];

fn table(material: &Material<'_>, digest: &Digest, id: String) -> Table {
    let stations = &digest.stations.0;
    let columns =
        COLUMNS.iter().filter(|it| stations.iter().any(|station| it.3(station).is_some()));
    let columns: Vec<&StationColumn> = columns.collect();
    let head = |(name, unit, is_result, _): &&StationColumn| match is_result {
        true => Column::result(name, unit, material.origin),
        false if unit.is_empty() => Column::words(name),
        false => Column::setting(name, unit),
    };
    let row = |(number, it): (usize, &Station)| -> TableRow {
        core::iter::once(Some(it.name(number)))
            .chain(columns.iter().map(|column| column.3(it)))
            .collect()
    };
    Table {
        id,
        section: digest.workload.kind().into(),
        title: format!("Stations: {}", digest.place()),
        columns: core::iter::once(Column::words("station"))
            .chain(columns.iter().map(head))
            .collect(),
        rows: stations.iter().enumerate().map(row).collect(),
        notes: notes(digest),
        ..Table::default()
    }
}

fn notes(digest: &Digest) -> Vec<String> {
    let fairness = digest.cell("fairness").and_then(|it| it.value);
    let index = |value| {
        format!(
            "Fairness of the throughput (Jain's index): {}; 1 is equal shares, {} is one station with all.",
            digits::plain(value),
            digits::plain(1.0 / digest.stations.0.len() as f64)
        )
    };
    let mut notes: Vec<String> = fairness.map(index).into_iter().collect();
    if digest.stations.0.iter().any(|it| it.delivered.is_some()) {
        notes.push(
            "Each station's throughput is of its own time, from when it began; all together are of one time, and have \
             less where some begin late."
                .into(),
        );
    }
    if digest.stations.0.iter().any(|it| it.refused.is_some()) {
        notes.push("Lost is of what was sent; what sendto refused was not.".into());
    }
    if digest.stations.0.iter().any(|it| it.unsent.is_some()) {
        notes.push("Lost is of what was sent; what found the sender's queue full was not.".into());
    }
    notes
}

//! Battery charge of devices' cells over Wi-Fi, beside the latency and delivery that it bought.

use super::{Column, Table};
use crate::cell::Cell;
use crate::digits;
use crate::kind;
use crate::label;
use crate::report::digest::{Digest, Material};
use crate::settings::SettingKey;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::fact;

/// The chapter.
pub(crate) const SECTION: &str = "power";
pub(crate) const CURRENT: &str = "current_mean";

/// The columns: metric, name, unit.
const COLUMNS: [(&str, &str, &str); 6] = [
    ("loss", "lost", "percent"),
    ("response_avg", "mean latency", "ms"),
    ("response_p99", "p99 latency", "ms"),
    (CURRENT, "mean current", "mA"),
    ("charge_per_message", "charge a message", "uC"),
    ("battery_life", "battery life", "h"),
];

/// Returns the cells whose charge was counted, the least current first.
pub(crate) fn thrifty<'a>(material: &Material<'a>) -> Vec<(&'a Digest, f64)> {
    let current = |it: &'a Digest| it.cell(CURRENT).and_then(|cell| cell.value);
    let mut all: Vec<_> =
        material.digests.iter().filter_map(|it| Some((it, current(it)?))).collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1));
    all
}

/// Names the test, without the device.
pub(crate) fn test(digest: &Digest) -> String {
    let settings = digest.settings.without(&[SettingKey::LabVariant]);
    label::place_as(&kind(digest), digest.workload.kind(), &settings, digest.repetition)
}

/// Names the kind of test; where it may go over several transports, with that.
pub(crate) fn kind(digest: &Digest) -> String {
    let transport = digest.facts.get(fact::TRANSPORT).map(String::as_str);
    kind::of(&digest.workload).name_over(transport)
}

/// Makes the table; `None` where no charge was counted.
pub(crate) fn table(material: &Material<'_>) -> Option<Table> {
    let thrifty = thrifty(material);
    let row = |(digest, _): &(&Digest, f64)| {
        let variant = digest.workload.variant();
        let mut row = alloc::vec![variant.map(|it| it.as_str().into()), Some(test(digest))];
        let value = |cell: &Cell| digits::value(cell);
        row.extend(COLUMNS.iter().map(|(metric, ..)| digest.cell(metric).and_then(value)));
        row
    };
    let rows: Vec<_> = thrifty.iter().map(row).collect();
    let mut columns = alloc::vec![Column::words("device"), Column::words("test")];
    columns.extend(COLUMNS.iter().map(|it| Column::result(it.1, it.2, material.origin)));
    let life = thrifty.iter().find_map(|(digest, _)| digest.cell("battery_life")?.note.clone());
    (!rows.is_empty()).then(|| Table {
        id: "power".into(),
        section: SECTION.into(),
        title: "Battery cost, lowest current first".into(),
        columns,
        rows,
        notes: life.map(|it| format!("Battery life {it}.")).into_iter().collect(),
        ..Table::default()
    })
}

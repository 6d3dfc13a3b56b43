//! The heap of devices over Wi-Fi: what was in use, and what was left.

use super::{Column, Table};
use crate::cell::{Cell, Origin};
use crate::digits;
use crate::report::digest::{Digest, Material};
use crate::wifi;
use crate::wifi::heap::{AVAILABLE, LEAST, METRICS};
use alloc::string::String;
use alloc::vec::Vec;

/// Chapter of the tables, that of the batteries: the cost of a result.
const SECTION: &str = super::power::SECTION;

const COLUMNS: [&str; 5] = [
    "Wi-Fi started",
    "in use at most",
    "of it dynamic buffers",
    "these at most (p)",
    "free at least",
];

/// Returns the tables; none where no heap was counted.
pub(crate) fn tables(material: &Material<'_>) -> Vec<Table> {
    [cells(material), ranks(material)].into_iter().flatten().collect()
}

/// Returns the table of the observed peak beside the guide's formula.
fn cells(material: &Material<'_>) -> Option<Table> {
    let row = |digest: &Digest| -> Option<Vec<Option<String>>> {
        digest.cell(LEAST)?;
        let variant = digest.workload.variant();
        let mut row =
            alloc::vec![variant.map(|it| it.as_str().into()), Some(super::power::test(digest))];
        row.extend(METRICS.iter().map(|metric| shown(digest.cell(metric)?.value)));
        Some(row)
    };
    let rows: Vec<_> = material.digests.iter().filter_map(row).collect();
    let mut columns = alloc::vec![Column::words("device"), Column::words("test")];
    columns.extend(COLUMNS.iter().map(|name| Column::result(name, "KB", material.origin)));
    let note = "p = b_rx m_rx + b_tx m_tx: every dynamic RX and TX buffer with a full frame at once \
                (ESP-IDF Programming Guide, \"Wi-Fi Dynamic Buffer Peak\"). In use: dynamic buffers, \
                what TCP keeps until it is acknowledged, sockets and connections. KB of 1024 B.";
    (!rows.is_empty()).then(|| Table {
        id: "heap".into(),
        section: SECTION.into(),
        title: "Heap in use, and Espressif's formula for the peak of Wi-Fi buffers".into(),
        columns,
        rows,
        notes: alloc::vec![note.into()],
        ..Table::default()
    })
}

/// Returns the table of the heap that ranks leave, beside the published figures.
fn ranks(material: &Material<'_>) -> Option<Table> {
    let all = material.digests.iter().flat_map(|it| &it.cells);
    let published: Vec<&Cell> = material
        .published
        .iter()
        .filter(|it| it.id.metric == AVAILABLE && it.origin == Origin::Published)
        .collect();
    let row = |ours: &Cell| {
        let theirs = wifi::same(ours, 0, &published).flatten();
        let value = theirs.and_then(|it| it.value);
        let ratio = value.zip(ours.value).map(|(theirs, ours)| ours / theirs);
        alloc::vec![
            Some(ours.id.mode.clone()),
            shown(ours.value),
            value.map(digits::three),
            ratio.map(digits::three),
            theirs.map(|it| if it.fitted { "yes" } else { "no" }.into()),
        ]
    };
    let rows: Vec<_> = wifi::heap::over_tests(all).iter().map(row).collect();
    let note = "The lowest of the rank's four tests; \"available memory\" in the guide's table is \
                the same.";
    (!rows.is_empty()).then(|| Table {
        id: "heap-ranks".into(),
        section: SECTION.into(),
        title: "Available heap of each rank".into(),
        columns: alloc::vec![
            Column::words("rank"),
            Column::result("free at least", "KB", material.origin),
            Column::setting("published", "KB"),
            Column::setting("ours / theirs", ""),
            Column::setting("fitted", ""),
        ],
        rows,
        notes: alloc::vec![note.into()],
        ..Table::default()
    })
}

/// Prints a tenth of a KB, which is enough.
fn shown(kb: Option<f64>) -> Option<String> {
    kb.map(|kb| digits::three(libm::round(kb * 10.0) / 10.0))
}

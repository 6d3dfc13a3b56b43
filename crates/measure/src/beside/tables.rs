//! Measured, lab, published and limit as tables.

use super::words::value;
use super::{LabAgreement, LabComparison, LabPair, SECTION};
use crate::cell::Origin;
use crate::digits;
use crate::table::{Column, Table, TableRow, unit_sign};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// Behind published values that a constant of the lab was fitted to; other tables have the same sign.
const FITTED: &str = " †";

pub(super) fn tables(it: &LabComparison) -> Vec<Table> {
    let (leading, others): (Vec<&LabPair>, Vec<&LabPair>) =
        it.pairs.iter().partition(|it| it.leads);
    let mut tables = Vec::new();
    if !leading.is_empty() {
        let mut notes = alloc::vec![it.sentence()];
        notes.extend(it.gap());
        notes.extend(it.advice());
        notes.push(format!(
            "The lab's values are of the run {}, simulated with seed {}; `espbench report {}` has all of it.",
            it.run, it.seed, it.run
        ));
        if leading.iter().any(|it| it.published_fitted) {
            notes.push("† A constant of the lab was fitted to that published value.".into());
        }
        tables.push(table("beside-leading", "Leading figures: measured and lab", &leading, notes));
    }
    if !others.is_empty() {
        tables.push(table("beside-others", "Other figures: measured and lab", &others, Vec::new()));
    }
    tables.extend(unpaired(it));
    tables
}

fn table(id: &str, title: &str, pairs: &[&LabPair], notes: Vec<String>) -> Table {
    Table {
        id: id.into(),
        section: SECTION.into(),
        title: title.into(),
        columns: alloc::vec![
            Column::words("test"),
            Column::words("figure"),
            Column::words("unit"),
            Column::result("measured", "", Origin::Measured),
            Column::result("lab", "", Origin::Simulated),
            Column::setting("measured / lab", ""),
            Column::result("value", "", Origin::Published),
            Column::setting("limit", ""),
            Column::words("verdict"),
        ],
        rows: pairs.iter().map(|it| row(it)).collect(),
        notes,
        ..Table::default()
    }
}

fn row(it: &LabPair) -> TableRow {
    let place = if it.place.is_empty() { it.kind.clone() } else { it.place.clone() };
    let mark = if it.published_fitted { FITTED } else { "" };
    let verdict = match it.verdict {
        _ if it.fitted => Some("fitted to this run"),
        verdict => verdict.map(LabAgreement::words),
    };
    alloc::vec![
        Some(place),
        Some(it.figure.clone()),
        Some(unit_sign(&it.unit).to_string()),
        Some(value(&it.measured)),
        Some(value(&it.simulated)),
        Some(it.apart()),
        it.published.map(|it| format!("{it}{mark}")),
        it.limit.map(digits::plain),
        verdict.map(ToString::to_string),
    ]
}

/// Returns the table of tests without a counterpart.
fn unpaired(it: &LabComparison) -> Option<Table> {
    let rows = it.unpaired.iter();
    let rows: Vec<TableRow> = rows
        .map(|it| alloc::vec![Some(it.place.clone()), Some(it.why.words().to_string())])
        .collect();
    (!rows.is_empty()).then(|| Table {
        id: "beside-unpaired".into(),
        section: SECTION.into(),
        title: "Tests without a counterpart".into(),
        columns: ["test", "why"].map(Column::words).into(),
        rows,
        notes: it.lab_causes.clone(),
        ..Table::default()
    })
}

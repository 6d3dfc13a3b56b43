//! Commands that were typed at the consoles, and the lines that the consoles printed.

use super::KIND;
use super::table::{DocumentTable, groups};
use crate::report::digest::{Digest, Material};
use crate::table::{Column, Table};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Returns whether [`commands`] or [`consoles`] has a fact: it differs from cell to cell.
pub(super) fn tells(fact: &str) -> bool {
    fact == "seed" || fact == COMMANDS || fact.starts_with("printed")
}

/// The fact that has what was typed, a line for each command.
const COMMANDS: &str = "commands";

/// Lists the commands typed at the consoles in the first cell of each table of the document. The
/// commands of its other cells differ only by the payload and the devices' addresses.
pub(super) fn commands(material: &Material<'_>) -> Option<Table> {
    let digests = material.of_kind(KIND);
    let row = |group: &DocumentTable<'_>| {
        let first = group.digests.first()?;
        let typed = folded(first.facts.get(COMMANDS)?);
        Some(alloc::vec![Some(first.words()), Some(typed)])
    };
    let rows: Vec<_> = groups(&digests).iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| Table {
        id: "commands".into(),
        section: "losses".into(),
        title: "What was typed at the consoles".into(),
        columns: ["first cell of each table", "commands"].map(Column::words).into(),
        rows,
        ..Table::default()
    })
}

/// Joins the lines and counts those that are repeated in a row.
fn folded(lines: &str) -> String {
    let lines: Vec<&str> = lines.lines().collect();
    let times = |same: &[&str]| match same.len() {
        1 => String::from(same[0]),
        n => format!("{} ({n} times)", same[0]),
    };
    let folded: Vec<String> = lines.chunk_by(|a, b| a == b).map(times).collect();
    folded.join("; ")
}

/// Lists the seed of each ESP-NOW cell, and the lines that the consoles printed at its end. Of
/// several repetitions the first is shown.
pub(super) fn consoles(material: &Material<'_>) -> Option<Table> {
    let row = |digest: &&Digest| {
        let printed: Vec<&str> = digest
            .facts
            .iter()
            .filter(|(name, _)| name.starts_with("printed"))
            .map(|(_, text)| text.as_str())
            .collect();
        let told = digest.facts.keys().any(|name| tells(name));
        let printed = (!printed.is_empty()).then(|| printed.join("; "));
        told.then(|| alloc::vec![Some(digest.place()), digest.facts.get("seed").cloned(), printed])
    };
    let rows: Vec<_> = material.of_kind(KIND).iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| Table {
        id: "consoles".into(),
        section: "losses".into(),
        title: "Seeds, and what the consoles printed".into(),
        columns: ["cell", "seed", "printed"].map(Column::words).into(),
        rows,
        ..Table::default()
    })
}

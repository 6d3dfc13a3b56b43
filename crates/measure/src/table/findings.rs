//! What was found that is not a number: the peer's version, the segmentation that was used.

use super::{Column, Table, esp_now};
use crate::report::digest::Digest;
use crate::report::digest::Material;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Whether [`consoles`] has it: it differs from cell to cell.
fn is_told(digest: &Digest, name: &str) -> bool {
    digest.workload.kind() == "esp-now"
        && (name == "seed" || name == COMMANDS || name.starts_with("printed"))
}

/// The fact that has what was typed, a line for each command.
const COMMANDS: &str = "commands";

/// What was typed at the consoles in the first cell of each table of the document: the others
/// differ by the payload and the devices' addresses.
pub(crate) fn commands(material: &Material<'_>) -> Option<Table> {
    let digests = material.of_kind(esp_now::KIND);
    let row = |group: &esp_now::Group<'_>| {
        let first = group.digests.first()?;
        let typed = folded(first.facts.get(COMMANDS)?);
        Some(alloc::vec![Some(first.words()), Some(typed)])
    };
    let rows: Vec<_> = esp_now::groups(&digests).iter().filter_map(row).collect();
    (!rows.is_empty()).then(|| Table {
        id: "commands".into(),
        section: "losses".into(),
        title: "What was typed at the consoles".into(),
        columns: ["first cell of each table", "commands"].map(Column::words).into(),
        rows,
        ..Table::default()
    })
}

/// Lines joined; those that come again at once are counted.
fn folded(lines: &str) -> String {
    let lines: Vec<&str> = lines.lines().collect();
    let times = |same: &[&str]| match same.len() {
        1 => String::from(same[0]),
        n => format!("{} ({n} times)", same[0]),
    };
    let folded: Vec<String> = lines.chunk_by(|a, b| a == b).map(times).collect();
    folded.join("; ")
}

/// The seed of each ESP-NOW cell, and what the consoles printed at its end; of several repetitions
/// that of the first.
pub(crate) fn consoles(material: &Material<'_>) -> Option<Table> {
    let row = |digest: &&Digest| {
        let printed: Vec<&str> = digest
            .facts
            .iter()
            .filter(|(name, _)| name.starts_with("printed"))
            .map(|(_, text)| text.as_str())
            .collect();
        let told = digest.facts.keys().any(|name| is_told(digest, name));
        let printed = (!printed.is_empty()).then(|| printed.join("; "));
        told.then(|| alloc::vec![Some(digest.place()), digest.facts.get("seed").cloned(), printed])
    };
    let rows: Vec<_> = material.digests.iter().filter_map(|d| row(&d)).collect();
    (!rows.is_empty()).then(|| Table {
        id: "consoles".into(),
        section: "losses".into(),
        title: "Seeds, and what the consoles printed".into(),
        columns: ["cell", "seed", "printed"].map(Column::words).into(),
        rows,
        ..Table::default()
    })
}

/// The findings; those of several cells that agree stand in one row.
pub(crate) fn table(material: &Material<'_>) -> Option<Table> {
    let mut rows: Vec<(&str, &str, &str, String, usize)> = Vec::new();
    for digest in material.digests {
        let kind = digest.workload.kind();
        for (name, value) in digest.facts.iter().filter(|(name, _)| !is_told(digest, name)) {
            match rows.iter_mut().find(|r| (r.0, r.1, r.2) == (kind, name, value)) {
                Some(row) => row.4 += 1,
                None => rows.push((kind, name, value, digest.place(), 1)),
            }
        }
    }
    let row = |(kind, name, value, place, cells): (&str, &str, &str, String, usize)| {
        let of = if cells == 1 { place } else { format!("{kind}, {cells} cells") };
        alloc::vec![Some(of), Some(name.into()), Some(value.into())]
    };
    (!rows.is_empty()).then(|| Table {
        id: "findings".into(),
        section: "losses".into(),
        title: "Findings".into(),
        columns: ["cell", "what", "finding"].map(Column::words).into(),
        rows: rows.into_iter().map(row).collect(),
        ..Table::default()
    })
}

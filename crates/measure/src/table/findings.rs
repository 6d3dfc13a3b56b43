//! Findings that are no numbers: the peer's version, the segmentation that was used.

use super::{Column, Table};
use crate::kind;
use crate::report::digest::Material;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_dot11::wifi::MEMBERSHIPS;

/// Makes the table of findings; those of several cells that agree stand in one row.
pub(crate) fn table(material: &Material<'_>) -> Option<Table> {
    let mut rows: Vec<(&str, &str, &str, String, usize)> = Vec::new();
    for digest in material.digests {
        let its = kind::of(&digest.workload);
        let kind = its.name();
        for (name, value) in digest
            .facts
            .iter()
            .filter(|(name, _)| !its.tells_fact(name) && *name != MEMBERSHIPS.name())
        {
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

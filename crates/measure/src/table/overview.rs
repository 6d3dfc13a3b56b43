//! The first thing to read: one line for each question that people ask, with what others published.

use super::{Column, Table, unit_sign};
use crate::cell::Cell;
use crate::digits;
use crate::kind;
use crate::report::digest::{Digest, Material};
use crate::report::{pool, retain_sound};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// With more cells of a kind than that, what they lost is left to the kind's own section.
const MANY: usize = 12;

/// Makes the overview; `None` when nothing was measured.
pub(crate) fn table(material: &Material<'_>) -> Option<Table> {
    let mut rows = Vec::new();
    for kind in kind::over_ip() {
        let all = material.of_kind(kind.name());
        let mut headlines = kind.headlines().to_vec();
        retain_sound(&mut headlines, &all);
        // All repetitions of a cell are one answer, as on the first screen.
        let pooled: Vec<Digest> =
            all.chunk_by(|a, b| a.ordinal == b.ordinal).map(pool::one).collect();
        let digests = chosen(pooled.iter().collect());
        let many = digests.len() > MANY;
        for digest in digests {
            for it in headlines.iter().filter(|it| !many || it.metric != "loss") {
                let cell = digest.cell(it.metric);
                rows.extend(cell.and_then(|c| row(material, digest, c, &it.name())));
            }
        }
    }
    (!rows.is_empty()).then(|| Table {
        id: "overview".into(),
        section: "overview".into(),
        title: "At a glance".into(),
        columns: alloc::vec![
            Column::words("cell"),
            Column::words("what"),
            Column::result("result", "", material.origin),
            Column::result("interval", "", material.origin),
            Column::setting("n", ""),
            Column::result("values", "", crate::cell::Origin::Published),
        ],
        rows,
        notes: alloc::vec![format!(
            "A cell without a line for loss lost nothing; where a test has more than twelve cells, \
             its own chapter lists the losses. Intervals are at 95 %; for the highest rate without \
             loss they reach from the highest rate that passed to the lowest that failed. {}. Published values are of other \
             devices and places: the chapter Comparison says which can be compared.",
            digits::ONE_END
        )],
        ..Table::default()
    })
}

/// Chooses those that stand for all.
fn chosen(digests: Vec<&Digest>) -> Vec<&Digest> {
    let last = digests.len().saturating_sub(1);
    let leads =
        |(i, d): &(usize, &Digest)| kind::of(&d.workload).leads(&d.settings, *i == 0 || *i == last);
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

/// Returns one published value, or the range of several.
fn published(material: &Material<'_>, cell: &Cell) -> Option<String> {
    let beside = material.beside(cell);
    let values = beside.iter().filter_map(|p| p.value);
    let low = values.clone().reduce(f64::min)?;
    let high = values.reduce(f64::max)?;
    let unit = unit_sign(&cell.unit);
    Some(if low < high { format!("{low}–{high} {unit}") } else { format!("{low} {unit}") })
}

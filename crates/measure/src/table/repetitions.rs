//! The power of repetitions of a run, as a table.

use super::{Column, Table, TableRow};
use crate::compare::PowerRow;
use crate::digits;
use crate::label;
use alloc::format;
use alloc::string::{String, ToString};

/// Returns the table of what a run's repetitions show, and how many show a change of that part of a value.
#[must_use]
pub fn table(rows: &[PowerRow], run: &str, change: f64) -> Table {
    let percent = |part: Option<f64>| part.map(|it| digits::three(100.0 * it));
    let row = |it: &PowerRow| -> TableRow {
        alloc::vec![
            Some(format!("{}: {}", label::test(&it.cell), it.cell.id.metric)),
            value(it),
            Some(it.repetitions.to_string()),
            percent(it.spread),
            percent(it.shown),
            it.needed.map(digits::count),
        ]
    };
    let change = digits::three(100.0 * change);
    let origin = rows.first().map(|it| it.cell.origin).unwrap_or_default();
    Table {
        id: "repetitions".into(),
        section: "comparison".into(),
        title: format!("What a comparison with {run} can show"),
        columns: alloc::vec![
            Column::words("figure"),
            Column::result("value", "", origin),
            Column::setting("repetitions", ""),
            Column::setting("scatter", "%"),
            Column::setting("shown change", "%"),
            Column::setting(&format!("repetitions for {change} %"), ""),
        ],
        rows: rows.iter().map(row).collect(),
        notes: alloc::vec![
            "Scatter is the standard deviation between repetitions. A change of that size is shown at 95 % by four of \
             five pairs of runs, each with so many repetitions. Scatter between days and boards is not in it."
                .into(),
            "The scatter of few repetitions is itself uncertain: that of 5 may be 0.6 to 2.9 times what it seems."
                .into(),
        ],
        ..Table::default()
    }
}

fn value(it: &PowerRow) -> Option<String> {
    let value = digits::worth(it.cell.value?, it.cell.ci_low, it.cell.ci_high);
    Some(format!("{value} {}", super::unit_sign(&it.cell.unit)))
}

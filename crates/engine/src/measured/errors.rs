//! Errors of simulated rows, by chip and table.

use super::cross::LeftOut;
use super::rows::{MeasuredRow, MeasuredTable};
use crate::published::{CsvRecord, read_table};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sdkconfig::Chip;
use espbench_stats::quantile::Sorted;

/// A measured value beside ours.
#[derive(Clone, Debug, PartialEq)]
pub struct RowError {
    /// The row.
    pub row: MeasuredRow,
    /// Our value.
    pub simulated: f64,
}

impl RowError {
    /// Returns by how many per cent ours is above the measured value.
    #[must_use]
    pub fn percent(&self) -> f64 {
        (self.simulated / self.row.value - 1.0) * 100.0
    }
}

/// Sizes of the errors of one chip's rows of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ErrorSummary {
    /// The table.
    pub table: MeasuredTable,
    /// The chip; `None`: all chips.
    pub chip: Option<Chip>,
    /// Number of rows.
    pub rows: usize,
    /// Median of the errors' sizes, in per cent.
    pub median: f64,
    /// Their 90th percentile.
    pub p90: f64,
    /// The largest.
    pub worst: f64,
}

/// Sums the errors up by table and chip; the last row of each table is all chips'.
#[must_use]
pub fn summaries(errors: &[RowError]) -> Vec<ErrorSummary> {
    let mut sizes: BTreeMap<(MeasuredTable, bool, Option<Chip>), Vec<f64>> = BTreeMap::new();
    for it in errors {
        let (table, size) = (it.row.table, it.percent().abs());
        sizes.entry((table, false, Some(it.row.chip))).or_default().push(size);
        sizes.entry((table, true, None)).or_default().push(size);
    }
    let one = |((table, _, chip), sizes): ((MeasuredTable, bool, Option<Chip>), Vec<f64>)| {
        let sorted = Sorted::new(sizes);
        let at = |q: f64| sorted.quantile(q).value.unwrap_or_default();
        ErrorSummary {
            table,
            chip,
            rows: sorted.values().len(),
            median: at(0.5),
            p90: at(0.9),
            worst: at(1.0),
        }
    };
    sizes.into_iter().map(one).collect()
}

/// Columns of a table of errors.
const COLUMNS: [&str; 7] =
    ["left_out", "table", "chip", "rows", "median_percent", "p90_percent", "worst_percent"];

/// Word of the first column for errors with the constants as they are, and of the third for all chips.
const NOTHING: &str = "nothing";
const ALL_CHIPS: &str = "all";

/// The product's own copy of `reference/measured-errors.csv`.
const BUILT_IN: &str = include_str!("../../reference/measured-errors.csv");

/// Errors with what was left out of the fit; `None`: nothing.
pub type StoredErrors = (Option<LeftOut>, ErrorSummary);

/// Returns the errors that come with the product.
///
/// # Panics
/// Never: a test reads the same bytes.
#[must_use]
pub fn built_in_errors() -> Vec<StoredErrors> {
    parse_errors(BUILT_IN).expect("the built-in table is tested")
}

/// Writes a table of errors; no field needs quotes.
#[must_use]
pub fn errors_csv(rows: &[StoredErrors]) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for (out, it) in rows {
        let out = out.map_or(NOTHING, LeftOut::name);
        let chip = it.chip.map_or(ALL_CHIPS, Chip::name);
        let (table, rows) = (it.table.name(), it.rows);
        let line =
            format!("{out},{table},{chip},{rows},{:.1},{:.1},{:.1}\n", it.median, it.p90, it.worst);
        text.push_str(&line);
    }
    text
}

/// Parses a table of errors.
///
/// # Errors
/// Line and column of the first fault.
pub fn parse_errors(text: &str) -> Result<Vec<StoredErrors>, String> {
    read_table(text, &COLUMNS, stored)
}

fn stored(record: &CsvRecord) -> Result<StoredErrors, String> {
    let field = |column: usize| record.text(column);
    let wrong = |column: usize| record.wrong(&COLUMNS, column);
    let percent = |column: usize| {
        field(column).parse().ok().filter(|it: &f64| *it >= 0.0).ok_or_else(|| wrong(column))
    };
    let out = match field(0) {
        NOTHING => None,
        word => Some(LeftOut::from_name(word).ok_or_else(|| wrong(0))?),
    };
    let chip = match field(2) {
        ALL_CHIPS => None,
        word => Some(word.parse().map_err(|_| wrong(2))?),
    };
    let summary = ErrorSummary {
        table: MeasuredTable::from_name(field(1)).ok_or_else(|| wrong(1))?,
        chip,
        rows: field(3).parse().map_err(|_| wrong(3))?,
        median: percent(4)?,
        p90: percent(5)?,
        worst: percent(6)?,
    };
    Ok((out, summary))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_is_written_as_it_was_read() {
        let rows = built_in_errors();
        assert_eq!(errors_csv(&rows), BUILT_IN);
        assert!(rows.iter().any(|it| it.0 == Some(LeftOut::Chip)), "{rows:?}");
        assert!(rows.iter().all(|(_, it)| it.median <= it.p90 && it.p90 <= it.worst));
    }

    #[test]
    fn faults_name_line_and_column() {
        let said =
            |row: &str| parse_errors(&format!("{}\n{row}\n", COLUMNS.join(","))).unwrap_err();
        assert_eq!(said("day,rank,all,1,2,3,4"), "line 2, left_out: `day` is no value of it");
        assert_eq!(
            said("chip,rank,all,1,nan,3,4"),
            "line 2, median_percent: `nan` is no value of it"
        );
        assert!(parse_errors("table\n").unwrap_err().starts_with("line 1: the columns are"));
    }
}

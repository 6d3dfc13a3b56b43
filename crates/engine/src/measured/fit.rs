//! Constants that were fitted to measured rows, and the fit: it is carried out again without any rows that are kept away.
//!
//! `reference/measured-fit.csv` has one constant a row, with the values that are tried and the rows that it is fitted to. The fit
//! goes through the constants in turn, and takes of each the value with the smallest sum of |ln(simulated / measured)| over
//! its rows; until none moves. What a row gives with a set of values is computed once.

use super::rows::{MeasuredRow, MeasuredTable};
use super::{MeasuredError, MeasuredSetup, simulate};
use crate::published::{CsvRecord, read_table};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;
use core::cell::RefCell;
use espbench_model::sdkconfig::Chip;
use espbench_sim::lab::file::{FileKind, Library};

/// The product's own copy of the table.
const BUILT_IN: &str = include_str!("../../reference/measured-fit.csv");

/// Columns of the table.
const COLUMNS: [&str; 8] =
    ["file", "constant", "values", "fitted", "without", "tables", "chips", "metrics"];

/// Passes over all constants, at most.
const PASSES: usize = 4;

/// A row that is far off weighs no more than this, so that one that no constant explains decides nothing.
const MOST: f64 = 0.4;

/// A constant that is fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredConstant {
    /// Kind of the file that has it.
    pub kind: FileKind,
    /// Name of the file.
    pub file: String,
    /// Key in the file.
    pub key: String,
    /// Values that are tried.
    pub values: Vec<f64>,
    /// Number of the value that the file has.
    pub fitted: usize,
    /// Value without any of its rows.
    pub without: f64,
    tables: Vec<MeasuredTable>,
    chips: Vec<Chip>,
    metrics: Vec<String>,
}

impl MeasuredConstant {
    /// Returns whether it is fitted to a row.
    #[must_use]
    pub fn is_fitted_to(&self, row: &MeasuredRow) -> bool {
        let is_of_metric = |it: &String| row.metric == *it || row.variant.starts_with(it.as_str());
        self.tables.contains(&row.table)
            && self.chips.contains(&row.chip)
            && (self.metrics.is_empty() || self.metrics.iter().any(is_of_metric))
    }

    /// Returns whether a row is simulated with it: those of the profile's firmware, and those of the lab.
    fn shapes(&self, row: &MeasuredRow) -> bool {
        if self.kind == FileKind::Lab {
            return row.table.lab() == self.file;
        }
        let newer = row.profile.strip_prefix(self.file.as_str());
        newer.is_some_and(|it| it.is_empty() || it.starts_with('-'))
    }
}

/// Returns the constants that come with the product.
///
/// # Panics
/// Never: a test reads the same bytes.
#[must_use]
pub fn built_in_constants() -> Vec<MeasuredConstant> {
    parse_constants(BUILT_IN).expect("the built-in table is tested")
}

/// Parses the table of constants.
///
/// # Errors
/// Line and column of the first fault.
pub fn parse_constants(text: &str) -> Result<Vec<MeasuredConstant>, String> {
    read_table(text, &COLUMNS, constant)
}

fn constant(record: &CsvRecord) -> Result<MeasuredConstant, String> {
    let field = |column: usize| record.text(column);
    let wrong = |column: usize| record.wrong(&COLUMNS, column);
    let words = |column: usize| field(column).split(' ').filter(|it| !it.is_empty());
    let values: Result<Vec<f64>, _> = words(2).map(|it| it.parse().map_err(|_| wrong(2))).collect();
    let values: Vec<f64> = values?;
    let fitted: f64 = field(3).parse().map_err(|_| wrong(3))?;
    let is_lab = MeasuredTable::ALL.iter().any(|it| it.lab() == field(0));
    let kind = if is_lab { FileKind::Lab } else { FileKind::Profile };
    Ok(MeasuredConstant {
        kind,
        file: field(0).to_string(),
        key: field(1).to_string(),
        fitted: values.iter().position(|it| *it == fitted).ok_or_else(|| wrong(3))?,
        values,
        without: field(4).parse().map_err(|_| wrong(4))?,
        tables: words(5)
            .map(|it| MeasuredTable::from_name(it).ok_or_else(|| wrong(5)))
            .collect::<Result<_, _>>()?,
        chips: words(6).map(|it| it.parse().map_err(|_| wrong(6))).collect::<Result<_, _>>()?,
        metrics: words(7).map(String::from).collect(),
    })
}

/// Values of the rows by those of the constants: each computed once.
pub struct MeasuredModel<'a> {
    library: &'a Library,
    setup: MeasuredSetup,
    /// Rows.
    pub rows: Vec<MeasuredRow>,
    /// Constants.
    pub constants: Vec<MeasuredConstant>,
    /// Constants that each row depends on.
    shaped_by: Vec<Vec<usize>>,
    known: RefCell<BTreeMap<(usize, Vec<u64>), f64>>,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> MeasuredModel<'a> {
    /// Creates the model.
    #[must_use]
    pub fn new(
        library: &'a Library,
        setup: MeasuredSetup,
        rows: Vec<MeasuredRow>,
        constants: Vec<MeasuredConstant>,
        stop: &'a dyn Fn() -> bool,
    ) -> Self {
        let of_row = |row: &MeasuredRow| {
            (0..constants.len()).filter(|it| constants[*it].shapes(row)).collect()
        };
        let shaped_by = rows.iter().map(of_row).collect();
        let known = RefCell::default();
        Self { library, setup, rows, constants, shaped_by, known, stop }
    }

    /// Returns the values that the files have.
    #[must_use]
    pub fn stored(&self) -> Vec<f64> {
        self.constants.iter().map(|it| it.values[it.fitted]).collect()
    }

    /// Returns what a row gives with these values of the constants.
    ///
    /// # Errors
    /// The row could not be simulated.
    pub fn value(&self, row: usize, values: &[f64]) -> Result<f64, MeasuredError> {
        let own: Vec<u64> = self.shaped_by[row].iter().map(|it| values[*it].to_bits()).collect();
        let key = (row, own);
        if let Some(found) = self.known.borrow().get(&key) {
            return Ok(*found);
        }
        let mut library = self.library.clone();
        for &at in &self.shaped_by[row] {
            let it = &self.constants[at];
            library.tune(it.kind, &it.file, &it.key, values[at]).map_err(|why| MeasuredError {
                row: self.rows[row].id.clone(),
                why: why.to_string(),
            })?;
        }
        let found = simulate(&self.rows[row], self.setup, &library, self.stop)?;
        self.known.borrow_mut().insert(key, found);
        Ok(found)
    }

    /// Returns the size of a row's error, on a scale on which twice and half weigh alike.
    fn loss(&self, row: usize, values: &[f64]) -> Result<f64, MeasuredError> {
        let ratio = self.value(row, values)? / self.rows[row].value;
        Ok(libm::log(ratio.max(1e-9)).abs().min(MOST))
    }

    /// Fits the constants to the rows that are not left out. A constant without rows has the value of `without`.
    ///
    /// # Errors
    /// A row could not be simulated.
    pub fn fit(&self, is_out: &dyn Fn(&MeasuredRow) -> bool) -> Result<Vec<f64>, MeasuredError> {
        let mut values = self.stored();
        let of = |constant: &MeasuredConstant| -> Vec<usize> {
            let is_in = |row: &MeasuredRow| constant.is_fitted_to(row) && !is_out(row);
            (0..self.rows.len()).filter(|it| is_in(&self.rows[*it])).collect()
        };
        let rows: Vec<Vec<usize>> = self.constants.iter().map(of).collect();
        let loses_rows =
            |it: &MeasuredConstant| self.rows.iter().any(|row| it.is_fitted_to(row) && is_out(row));
        let mut due: Vec<bool> = self.constants.iter().map(loses_rows).collect();
        for (at, it) in self.constants.iter().enumerate() {
            if rows[at].is_empty() {
                values[at] = it.without;
                due[at] = false;
            }
        }
        for _ in 0..PASSES {
            let mut moved = vec![false; due.len()];
            for at in (0..due.len()).filter(|it| due[*it]) {
                let best = self.best(at, &rows[at], &values)?;
                moved[at] = best.to_bits() != values[at].to_bits();
                values[at] = best;
            }
            if !moved.contains(&true) {
                break;
            }
        }
        Ok(values)
    }

    /// Returns the value of a constant with the smallest error over rows, where the others stay.
    fn best(&self, at: usize, rows: &[usize], values: &[f64]) -> Result<f64, MeasuredError> {
        let mut found = (f64::INFINITY, values[at]);
        let mut tried = values.to_vec();
        for &value in &self.constants[at].values {
            tried[at] = value;
            let mut sum = 0.0;
            for &row in rows {
                sum += self.loss(row, &tried)?;
            }
            if sum < found.0 - 1e-12 {
                found = (sum, value);
            }
        }
        Ok(found.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::constants::{self, LabConstant};
    use crate::measured::built_in;

    #[test]
    fn the_files_have_the_values_that_were_fitted() {
        let (all, rows) = (constants::built_in().unwrap(), built_in());
        for it in built_in_constants() {
            let is_it = |own: &&LabConstant| own.file == it.file && own.constant.key == it.key;
            let found = all.iter().find(is_it).and_then(|own| own.constant.value);
            assert_eq!(found, Some(it.values[it.fitted]), "{}: {}", it.file, it.key);
            assert!(rows.iter().any(|row| it.is_fitted_to(row)), "{}: {}", it.file, it.key);
            let shapes_its_rows = rows.iter().all(|row| !it.is_fitted_to(row) || it.shapes(row));
            assert!(shapes_its_rows, "{}: {}", it.file, it.key);
        }
    }

    #[test]
    fn faults_name_line_and_column() {
        let said = |row: &str| {
            parse_constants(&alloc::format!("{}\n{row}\n", COLUMNS.join(","))).unwrap_err()
        };
        assert_eq!(said("esp32,a.b,1 2,3,0,rank,esp32,"), "line 2, fitted: `3` is no value of it");
        assert_eq!(
            said("esp32,a.b,1 x,1,0,rank,esp32,"),
            "line 2, values: `1 x` is no value of it"
        );
        assert_eq!(said("esp32,a.b,1,1,0,air,esp32,"), "line 2, tables: `air` is no value of it");
        assert!(parse_constants("file\n").unwrap_err().starts_with("line 1: the columns are"));
    }
}

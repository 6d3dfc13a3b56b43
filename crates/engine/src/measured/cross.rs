//! Errors of rows that a fit has not seen: each chip, table or row is left out in turn, and what was fitted to it is fitted again.

use super::MeasuredError;
use super::errors::RowError;
use super::fit::MeasuredModel;
use super::rows::MeasuredRow;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Rows that are left out together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// All rows of a chip.
    Chip,
    /// All of a chip's rows of one table.
    Table,
    /// One row of a document's table: a rank with its throughputs, a way of sleeping at one interval.
    Row,
}

impl LeftOut {
    /// All ways.
    pub const ALL: [Self; 3] = [Self::Chip, Self::Table, Self::Row];

    /// Returns the name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chip => "chip",
            Self::Table => "table",
            Self::Row => "row",
        }
    }

    /// Returns the way of that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }

    /// Returns what a row is left out with.
    fn part(self, row: &MeasuredRow) -> String {
        let (chip, table) = (row.chip.name(), row.table.name());
        match self {
            Self::Chip => chip.into(),
            Self::Table => format!("{chip}/{table}"),
            Self::Row => format!("{chip}/{table}/{}", row.variant),
        }
    }
}

/// Returns the errors of all rows with the constants as they are.
///
/// # Errors
/// A row could not be simulated.
pub fn plain(model: &MeasuredModel<'_>) -> Result<Vec<RowError>, MeasuredError> {
    let values = model.stored();
    let error = |row: usize| {
        let simulated = model.value(row, &values)?;
        Ok(RowError { row: model.rows[row].clone(), simulated })
    };
    (0..model.rows.len()).map(error).collect()
}

/// Returns the errors of the rows that constants are fitted to, each with the constants that were fitted without it and all that
/// is left out with it.
///
/// # Errors
/// A row could not be simulated.
pub fn cross(model: &MeasuredModel<'_>, out: LeftOut) -> Result<Vec<RowError>, MeasuredError> {
    let mut parts: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (at, row) in model.rows.iter().enumerate() {
        if model.constants.iter().any(|it| it.is_fitted_to(row)) {
            parts.entry(out.part(row)).or_default().push(at);
        }
    }
    let mut errors = Vec::new();
    for (part, rows) in parts {
        let values = model.fit(&|row| out.part(row) == part)?;
        for row in rows {
            let simulated = model.value(row, &values)?;
            errors.push(RowError { row: model.rows[row].clone(), simulated });
        }
    }
    Ok(errors)
}

//! The published figures.

use espbench_measure::cell::Cell;

/// The published cells.
#[must_use]
pub fn built_in() -> Vec<Cell> {
    Vec::new()
}

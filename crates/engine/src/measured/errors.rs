//! Errors of simulated rows, by chip and table.

use super::rows::{MeasuredRow, MeasuredTable};
use alloc::collections::BTreeMap;
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
    /// The table; `None`: all of the chip's rows of throughput.
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

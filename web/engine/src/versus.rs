//! Two answers, compared by the rule of `espbench compare`.

use crate::answer::PageError;
use espbench_measure::cell::{Cell, Origin};
use espbench_measure::compare::{Comparison, compare};
use serde::Deserialize;

/// Results of a report: the rest of it is not read.
#[derive(Deserialize)]
struct ReportCells {
    cells: Vec<Cell>,
}

/// Compares the results of two reports that differ in what was changed on purpose: cells are joined by metric
/// and statistic, and what else tells them apart is that of ours.
pub(crate) fn versus(ours: &str, other: &str) -> Result<Vec<Comparison>, PageError> {
    let (ours, other) = (cells(ours)?, cells(other)?);
    let beside = |cell: &Cell| {
        let same = |it: &&Cell| it.id.metric == cell.id.metric;
        let found = other.iter().find(same)?;
        let mut found = found.clone();
        found.id = cell.id.clone();
        found.settings = cell.settings.clone();
        Some(compare(std::slice::from_ref(cell), &[found]))
    };
    Ok(ours.iter().filter_map(beside).flatten().collect())
}

fn cells(report: &str) -> Result<Vec<Cell>, PageError> {
    let report: ReportCells = serde_json::from_str(report)
        .map_err(|why| PageError::new("this is no report", why, "predict again"))?;
    Ok(report.cells.into_iter().filter(|it| it.origin != Origin::Published).collect())
}

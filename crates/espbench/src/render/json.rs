//! Being written.

use espbench_measure::report::Report;

/// Draws.
#[must_use]
pub fn render(report: &Report) -> String {
    format!("{:#?}", report.cells)
}

//! `espbench lab truth --measured`, `--cross`: the lab beside what others measured on chips, with the constants as they are, and fitted
//! without what they are held against.

use crate::cli::{file, flow, output};
use crate::say::say;
use anyhow::Context as _;
use espbench_engine::measured::{
    self, LeftOut, MeasuredError, MeasuredModel, MeasuredSetup, StoredErrors, cross, errors_csv,
    plain, summaries,
};
use espbench_measure::table::{Column, Table};
use espbench_sim::lab::file::Library;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// Computes the errors, and prints the table.
///
/// # Errors
/// A row could not be simulated; the output cannot be written.
pub(super) fn run(
    (seeds, is_quiet): (u32, bool),
    parts: &[LeftOut],
    to: Option<&Path>,
    cancel: &AtomicBool,
) -> anyhow::Result<ExitCode> {
    let library = Library::built_in();
    let stop = || cancel.load(Ordering::Relaxed);
    let (rows, constants) = (measured::built_in(), measured::built_in_constants());
    let model = MeasuredModel::new(&library, MeasuredSetup { seeds }, rows, constants, &stop);
    if !is_quiet {
        let fits = if parts.is_empty() { "" } else { ", and a minute for each --cross" };
        say!("{} rows are simulated: some 5 s for each seed{fits}.", model.rows.len());
    }
    let found = errors(&model, parts);
    if stop() {
        say!("Stopped: nothing was written.");
        return Ok(flow::status(cancel, ExitCode::SUCCESS));
    }
    let found = found?;
    if let Some(path) = to {
        file::replace(path, errors_csv(&found).as_bytes())
            .with_context(|| output::cannot_write(path))?;
    }
    output::print_text(&format!(
        "Errors of the lab against what others measured on chips: median, 90th percentile and worst, in percent\n\n{}\n",
        output::table(&table(&found, parts))
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the errors with the constants as they are, and of what was left out of a fit.
fn errors(
    model: &MeasuredModel<'_>,
    parts: &[LeftOut],
) -> Result<Vec<StoredErrors>, MeasuredError> {
    let mut found: Vec<StoredErrors> = Vec::new();
    found.extend(summaries(&plain(model)?).into_iter().map(|it| (None, it)));
    for &part in parts {
        found.extend(summaries(&cross(model, part)?).into_iter().map(|it| (Some(part), it)));
    }
    Ok(found)
}

/// Makes the table: a row for each table and chip, and columns for what was left out of the fit.
fn table(found: &[StoredErrors], parts: &[LeftOut]) -> Table {
    let heads = ["table", "chip", "values", "as fitted"].map(String::from);
    let left_out = parts.iter().map(|it| format!("{} left out", it.name()));
    let columns = heads.into_iter().chain(left_out).map(|it| Column::words(&it)).collect();
    let of = |part: Option<LeftOut>, like: &StoredErrors| {
        let is_like =
            |it: &&StoredErrors| (it.0, it.1.table, it.1.chip) == (part, like.1.table, like.1.chip);
        found.iter().find(is_like).map_or_else(String::new, |(_, it)| {
            format!("{:.1} / {:.1} / {:.0}", it.median, it.p90, it.worst)
        })
    };
    let row = |like: &StoredErrors| {
        let it = &like.1;
        let chip = it.chip.map_or_else(|| "all".to_string(), |it| it.to_string());
        let mut cells =
            vec![it.table.name().to_string(), chip, it.rows.to_string(), of(None, like)];
        cells.extend(parts.iter().map(|part| of(Some(*part), like)));
        cells
    };
    let rows = found.iter().filter(|it| it.0.is_none()).map(row).collect();
    super::table("measured", "", columns, rows)
}

//! `espbench report`.

use super::common::{Format, OutputArgs, StoreArgs};
use super::output;
use crate::render;
use anyhow::bail;
use espbench_measure::report::Report;
use espbench_measure::table::{Table, truth as table};
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name or number of the run, or `last`
    #[arg(default_value = "last")]
    run: String,
    /// Only how far simulated figures are from the published ones: each cell with its error. Exit
    /// with status 1 if they are farther off than asked
    #[arg(long)]
    truth: bool,
    #[command(flatten)]
    store: StoreArgs,
    #[command(flatten)]
    output: OutputArgs,
}

/// Runs the subcommand.
///
/// # Errors
/// The store's.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    output::check(&args.output)?;
    let store = args.store.existing()?;
    let report = output::report(&store, &args.run)?;
    if args.truth {
        return truth(&report, args.output.format);
    }
    output::write(&report, &args.output)?;
    Ok(if report.checks.iter().all(|check| check.passed) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// How true the simulated figures are, alone.
fn truth(report: &Report, format: Format) -> anyhow::Result<ExitCode> {
    let Some(truth) = &report.truth else {
        bail!(
            "{} has no simulated figure of the published ESP-NOW report; `espbench run --on sim \
             round-trip` makes some",
            report.run.name
        );
    };
    let tables = [table::groups(truth), table::cells(truth, usize::MAX)];
    let drawn = |draw: fn(&Table) -> String| {
        let parts: Vec<String> =
            tables.iter().map(|t| format!("{}\n\n{}", t.title, draw(t))).collect();
        parts.join("\n")
    };
    let text = match format {
        Format::Text => drawn(render::text::table),
        Format::Markdown => drawn(render::markdown::table),
        Format::Csv => render::csv::table(&tables[1]),
        Format::Json => format!("{}\n", serde_json::to_string_pretty(truth)?),
        Format::Html => bail!("a report as HTML has it as a chapter: leave out --truth"),
    };
    output::print(&text)?;
    Ok(if truth.holds() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

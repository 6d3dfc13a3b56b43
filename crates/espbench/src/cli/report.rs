//! `espbench report`.

use super::beside::{BesideArgs, beside_stored};
use super::common::idle;
use super::common::{Format, OutputArgs, StoreArgs};
use super::output;
use crate::render;
use crate::user_error::UserError;
use anyhow::bail;
use espbench_measure::columns::{TRUTH, errors};
use espbench_measure::report::Report;
use espbench_measure::table::{Table, truth as table};
use espbench_measure::truth::Truth;
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the run, such as echo-2; `last`, or `last~1` for the one before
    #[arg(default_value = "last")]
    run: String,
    /// Print only how far simulated figures are from the published ones: each cell with its error.
    /// Exit with status 1 if a group misses its accuracy target
    #[arg(long, conflicts_with_all = ["output", "full", "beside"])]
    truth: bool,
    #[command(flatten)]
    beside: BesideArgs,
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
    let store = if args.beside.beside.is_some() {
        let store = args.store.existing()?;
        beside_stored(&args.beside, &store, &args.run)?;
        store
    } else {
        args.store.to_read()?
    };
    let report = output::report(&store, &args.run)?;
    if args.truth {
        return truth(&report, args.output.format);
    }
    output::write(&report, &args.output, false)?;
    Ok(if report.checks.iter().all(|check| check.passed) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// Prints how close the simulated figures are to the published ones, without the rest of the
/// report.
fn truth(report: &Report, format: Format) -> anyhow::Result<ExitCode> {
    let (esp_now, wifi) = (&report.truth, &report.truth_wifi);
    let Some(first) = esp_now.as_ref().or(wifi.as_ref()) else {
        bail!(
            UserError::new(format!("{} has no error of the lab to show", report.run.name))
                .because("it has no simulated figure of a published document")
                .remedy("`espbench run --on sim round-trip` makes some")
        );
    };
    let mut tables: Vec<Table> = Vec::new();
    if let Some(truth) = esp_now {
        tables.extend([table::groups(truth), table::cells(truth, usize::MAX)]);
    }
    if let Some(truth) = wifi {
        let both = [table::groups(truth), table::cells(truth, usize::MAX)];
        tables.extend(both.map(table::of_wifi));
    }
    let drawn = |draw: &dyn Fn(&Table) -> String| {
        let parts: Vec<String> =
            tables.iter().map(|t| format!("{}\n\n{}", t.title, draw(t))).collect();
        parts.join("\n")
    };
    let text = match format {
        Format::Text => drawn(&output::table),
        Format::Markdown => drawn(&render::markdown::table),
        Format::Csv => {
            let rows = esp_now.iter().chain(wifi).flat_map(errors).collect();
            render::csv::rows(&rows, TRUTH)
        }
        // Both only where there are both: a run of one kind gives its own.
        Format::Json => match (esp_now, wifi) {
            (Some(a), Some(b)) => {
                let both = serde_json::json!({"esp-now": a, "wifi": b});
                render::json::pretty(&both)?
            }
            _ => render::json::pretty(first)?,
        },
        Format::Jsonl => bail!(idle(
            "--format jsonl",
            "beside --truth: that prints one value",
            "use --format json"
        )),
        it if it.is_for_ci() => bail!(idle(
            "--truth",
            "beside a format for CI: that has the figures and not their errors",
            "leave out --truth, or use --format json"
        )),
        _ => bail!(idle(
            "--truth",
            "beside --format html: the page has these errors as a chapter",
            "leave out --truth"
        )),
    };
    output::print(&text)?;
    let hold = esp_now.iter().chain(wifi).all(Truth::holds);
    Ok(if hold { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

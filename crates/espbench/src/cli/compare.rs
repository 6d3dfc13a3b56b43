//! `espbench compare`.

use super::common::StoreArgs;
use super::output;
use crate::say::say;
use crate::{published, render};
use anyhow::{Context as _, bail};
use espbench_measure::cell::{Cell, Origin};
use espbench_measure::columns::{COMPARED, compared as compared_rows};
use espbench_measure::compare::{Comparison, compare, gate};
use espbench_measure::report::{Report, SCHEMA};
use espbench_measure::table::compared;
use espbench_measure::units::{self, Dimension};
use std::path::Path;
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A run of the store (such as echo-2; `last`, or `last~1` for the one before), or a report written as .json
    this: String,
    /// Another run or report, a table of results as .csv (docs/data.md), or `published`
    #[arg(default_value = "published")]
    other: String,
    /// Exit with status 1 if a result is worse by more than this, such as "5 %", and its interval
    /// shows it
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    threshold: Option<f64>,
    /// Compare only these metrics
    #[arg(long, value_delimiter = ',', value_name = "METRIC")]
    metric: Vec<String>,
    /// Format of the comparison on stdout
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    #[command(flatten)]
    store: StoreArgs,
}

/// How a comparison is drawn: it has no page of its own.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Form {
    /// A table for people
    #[default]
    Text,
    /// Each pair with its verdict
    Json,
    /// One row a pair, one column a fact (docs/data.md)
    Csv,
    /// A table for a README or an issue
    Markdown,
}

/// Parses `5 %` or `5` as a part of one.
fn percent(text: &str) -> Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(number) if number >= 0.0 && number.is_finite() => Ok(number / 100.0),
        Ok(_) => Err(format!("`{text}` must not be negative or infinite")),
        Err(_) => units::parse(text, Dimension::Proportion),
    }
}

/// Runs the subcommand.
///
/// # Errors
/// One of the two cannot be read, or nothing in them matches.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let (ours, others) = (cells(args, &args.this)?, cells(args, &args.other)?);
    let wanted = |cell: &&Cell| args.metric.is_empty() || args.metric.contains(&cell.id.metric);
    let ours: Vec<Cell> = ours.iter().filter(wanted).cloned().collect();
    let comparisons = compare(&ours, &others);
    if comparisons.is_empty() {
        bail!("{} and {} have no result in common", args.this, args.other);
    }
    print(args, &comparisons)?;
    let Some(limit) = args.threshold else { return Ok(ExitCode::SUCCESS) };
    let gated = gate(&comparisons, limit);
    if gated.judged == 0 {
        bail!("no pair is comparable, so the threshold decides nothing; the reasons are above");
    }
    say!(
        "{} of {} comparable results are worse by more than {} %",
        gated.failed.len(),
        gated.judged,
        limit * 100.0
    );
    Ok(if gated.passed() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn print(args: &Args, comparisons: &[Comparison]) -> anyhow::Result<()> {
    let origin = comparisons.first().map_or(Origin::Measured, |c| c.ours.origin);
    let title = format!("{} against {}", args.this, args.other);
    let table = compared::pairs(comparisons, &title, origin);
    output::print(&match args.format {
        Form::Text => render::text::table(&table),
        Form::Markdown => render::markdown::table(&table),
        Form::Csv => render::csv::rows(&compared_rows(comparisons), COMPARED),
        Form::Json => {
            serde_json::to_string_pretty(comparisons).context("the comparison as JSON")? + "\n"
        }
    })
}

/// The version of a report, which every version of the form has.
#[derive(serde::Deserialize)]
struct Version {
    schema: String,
}

/// Reads a report in JSON, if it is of this version.
fn from_json(name: &str, text: &str) -> anyhow::Result<Report> {
    let no_report = || format!("{name} is no report that espbench wrote as JSON");
    let Version { schema } = serde_json::from_str(text).with_context(no_report)?;
    if schema != SCHEMA {
        bail!(
            "{name} is a report in the form {schema}, and this espbench reads {SCHEMA}: make it again \
             from the run in the store, `espbench report RUN -o {name}`, or measure again"
        );
    }
    serde_json::from_str(text).with_context(no_report)
}

/// Reads the cells of a run, of a report's file, or of a table in CSV. Published cells that a
/// report shows beside its own are left out.
fn cells(args: &Args, name: &str) -> anyhow::Result<Vec<Cell>> {
    let path = Path::new(name);
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let report = match ending {
        _ if name == "published" => return Ok(espbench_engine::published::built_in()),
        "csv" => return Ok(published::read(path)?),
        "json" => {
            let text =
                std::fs::read_to_string(path).with_context(|| format!("cannot read {name}"))?;
            from_json(name, &text)?
        }
        _ => output::report(&args.store.to_read()?, name)?,
    };
    Ok(report.cells.into_iter().filter(|cell| cell.origin != Origin::Published).collect())
}

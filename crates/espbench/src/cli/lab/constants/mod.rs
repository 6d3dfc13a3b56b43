//! All constants of the simulator: their values, where they are from, what those that were fitted were
//! fitted to, and what depends on them.
//!
//! | module | contents |
//! |---|---|
//! | `sensitivity` | what changes with each constant |
//! | `plans` | short plans of the suites, for that |

mod plans;
mod sensitivity;

use super::super::output;
use crate::user_error::UserError;
use clap::ValueEnum;
use espbench_engine::constants::{self, FittedCells, LabConstant};
use espbench_engine::sensitivity::{SensitivityRow, built_in};
use espbench_measure::table::{Column, Table};
use espbench_sim::lab::profile::ConstantOrigin;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Print every constant, and not only those that were fitted or set by hand
    #[arg(long)]
    full: bool,
    /// How to print
    #[arg(long, value_enum, default_value_t = ConstantsFormat::Text)]
    format: ConstantsFormat,
    /// Print the headline figure that changes most with each constant, in the order of the effects: of the
    /// built-in table (reference/sensitivity.csv)
    #[arg(long)]
    sensitivity: bool,
    /// Simulate them anew: each constant is moved by a tenth up and down in all suites, some 10 minutes on
    /// two cores
    #[arg(long, requires = "sensitivity")]
    compute: bool,
    /// Of these suites alone [default: all, each shortened]
    #[arg(long, value_name = "SUITE", value_delimiter = ',', requires = "compute")]
    suite: Vec<String>,
    /// Run the suites as they are published, and not shortened: takes hours
    #[arg(long, requires = "compute")]
    all: bool,
    /// Write the sensitivities to this CSV file
    #[arg(short, long, value_name = "FILE", requires = "compute")]
    output: Option<PathBuf>,
    /// Worker threads [default: one for each core]; they do not change the result
    #[arg(long, value_name = "THREADS", requires = "compute", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Show no progress
    #[arg(short, long, requires = "compute")]
    quiet: bool,
}

/// Formats of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ConstantsFormat {
    /// Tables
    Text,
    /// One row a constant
    Csv,
    /// One object a constant
    Json,
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let all = constants::built_in()?;
    let rows = if args.compute { sensitivity::run(args, &all)? } else { built_in() };
    match args.format {
        ConstantsFormat::Csv => output::print(&csv(&all, &rows))?,
        ConstantsFormat::Json => {
            let list: Vec<Value> = all.iter().map(|it| object(it, &rows)).collect();
            output::print(&crate::render::json::pretty(&list)?)?;
        }
        ConstantsFormat::Text => output::print_text(&words(args, &all, &rows))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the tables for people.
fn words(args: &Args, all: &[LabConstant], rows: &[SensitivityRow]) -> String {
    let mut out = output::table(&overview(all));
    let fitted = all.iter().filter(|it| it.origin() == ConstantOrigin::Fitted).count();
    let heaps = all.iter().filter(|it| is_heap(it)).count();
    out += &format!(
        "\nA constant stands at the file that states it, and not at those that are like it. {fitted} of {} were \
         fitted, {heaps} of them the heap of a chip, on which no suite depends. Elasticity: percent by which the \
         headline figure that changes most does so for a percent of the constant (`--sensitivity`); ~ is no more \
         than chance.\n\n",
        all.len()
    );
    let shown = |it: &&LabConstant| {
        args.full || matches!(it.origin(), ConstantOrigin::Fitted | ConstantOrigin::ByHand)
    };
    let mut list: Vec<&LabConstant> = all.iter().filter(shown).collect();
    if args.sensitivity {
        // The order of the rows is that of their effects.
        let place = |it: &LabConstant| rows.iter().position(|row| row.is_of(it));
        list = all.iter().filter(|it| place(it).is_some()).collect();
        list.sort_by_key(|it| place(it));
    }
    let columns =
        ["file", "constant", "value", "unit", "origin", "elasticity", "of", "fitted to, or source"];
    let rows = list.iter().map(|it| row(it, rows, args.full)).collect();
    let columns = columns.map(Column::words).to_vec();
    out += &output::table(&super::table("constants", "", columns, rows));
    if args.sensitivity && !args.compute {
        out += "\nThese are the built-in ones (reference/sensitivity.csv). --compute simulates them anew: some 10 \
                minutes on two cores, or less with --suite.\n";
    }
    out
}

/// Returns whether it is the heap of a chip.
fn is_heap(it: &LabConstant) -> bool {
    it.constant.key == "memory.heap" && it.origin() == ConstantOrigin::Fitted
}

/// Returns the table of how many constants each file has, by their origin.
fn overview(all: &[LabConstant]) -> Table {
    let mut columns = vec!["place".to_string(), "kind".into(), "constants".into()];
    columns.extend(ConstantOrigin::ALL.map(|it| it.word().to_string()));
    let mut files: Vec<(&str, &str)> = Vec::new();
    for it in all {
        let kind = it.kind.map_or("", espbench_sim::lab::file::FileKind::word);
        if !files.contains(&(it.file.as_str(), kind)) {
            files.push((&it.file, kind));
        }
    }
    let counts = |name: &str, kind: &str, of: &[&LabConstant]| {
        let mut row = vec![name.to_string(), kind.into(), of.len().to_string()];
        let count = |origin| of.iter().filter(|it| it.origin() == origin).count().to_string();
        row.extend(ConstantOrigin::ALL.map(count));
        row
    };
    let rows = files.into_iter().map(|(name, kind)| {
        let is = |it: &&LabConstant| {
            it.file == name && it.kind.map_or("", espbench_sim::lab::file::FileKind::word) == kind
        };
        counts(name, kind, &all.iter().filter(is).collect::<Vec<_>>())
    });
    let every = counts("all", "", &all.iter().collect::<Vec<_>>());
    let rows = rows.chain([every]).collect();
    super::table("origins", "", columns.iter().map(|it| Column::words(it)).collect(), rows)
}

fn effect_of<'r>(it: &LabConstant, rows: &'r [SensitivityRow]) -> Option<&'r SensitivityRow> {
    rows.iter().find(|row| row.is_of(it))
}

/// Returns the row of a constant.
fn row(it: &LabConstant, rows: &[SensitivityRow], full: bool) -> Vec<String> {
    let value = it.constant.value.map_or_else(String::new, |value| value.to_string());
    let effect = effect_of(it, rows).and_then(|row| row.effect.as_ref());
    let (elasticity, of) = effect.map_or_else(Default::default, |it| {
        let mark = if it.told { "" } else { "~" };
        (format!("{mark}{:+.2}", it.elasticity), format!("{}, {}", it.suite, it.figure))
    });
    let from = match it.origin() {
        ConstantOrigin::Fitted => fitted_to(&it.fitted_to),
        ConstantOrigin::ByHand => format!("a look at {}", it.constant.looked_at),
        _ => String::new(),
    };
    let from = match (from.as_str(), full) {
        ("", _) => it.constant.source.clone(),
        (from, true) => format!("{from}. {}", it.constant.source),
        (from, false) => from.into(),
    };
    let key = it.constant.key.clone();
    let unit = it.constant.unit().into();
    vec![it.file.clone(), key, value, unit, it.origin().word().into(), elasticity, of, from]
}

/// Returns the number of published cells to which a constant was fitted, with their tables.
fn fitted_to(cells: &FittedCells) -> String {
    if cells.count == 0 {
        return "no published cell, but what the source names".into();
    }
    format!("{} of {}", cells.count, cells.tables.join(", "))
}

fn object(it: &LabConstant, rows: &[SensitivityRow]) -> Value {
    let row = effect_of(it, rows);
    let effect = row.and_then(|row| row.effect.as_ref());
    json!({
        "file": it.file,
        "kind": it.kind.map(espbench_sim::lab::file::FileKind::word),
        "constant": it.constant.key,
        "value": it.constant.value,
        "unit": it.constant.unit(),
        "origin": it.origin().word(),
        "fitted_to_cells": it.fitted_to.count,
        "fitted_to_tables": it.fitted_to.tables,
        "looked_at": it.constant.looked_at,
        "moved": row.is_some(),
        "elasticity": effect.map(|it| it.elasticity),
        "suite": effect.map(|it| &it.suite),
        "figure": effect.map(|it| &it.figure),
        "told_from_chance": effect.map(|it| it.told),
        "source": it.constant.source,
    })
}

/// Columns of the list as CSV.
const COLUMNS: [&str; 13] = [
    "file",
    "kind",
    "constant",
    "value",
    "unit",
    "origin",
    "fitted_to_cells",
    "looked_at",
    "elasticity",
    "suite",
    "figure",
    "told_from_chance",
    "source",
];

fn csv(all: &[LabConstant], rows: &[SensitivityRow]) -> String {
    let mut text = COLUMNS.join(",") + "\n";
    for it in all {
        let object = object(it, rows);
        let field = |name: &&str| match &object[*name] {
            Value::Null => String::new(),
            Value::String(text) if text.contains([',', '"', '\n']) => {
                format!("\"{}\"", text.replace('"', "\"\""))
            }
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        text += &COLUMNS.iter().map(field).collect::<Vec<_>>().join(",");
        text += "\n";
    }
    text
}

/// Makes the error for a suite that is none.
fn no_suite(name: &str) -> UserError {
    let known: Vec<&str> = plans::SHORT.iter().map(|it| it.0).collect();
    UserError::new(format!("no suite `{name}`"))
        .because(format!("the suites are {}", known.join(", ")))
        .remedy("name one of these behind --suite, or leave it out for all of them")
}

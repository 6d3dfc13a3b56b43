//! `espbench compare`.

use super::common::{StoreArgs, idle};
use super::output;
use crate::say::say;
use crate::user_error::{ForUser as _, UserError};
use crate::{named_file, published, render};
use anyhow::{Context as _, bail};
use espbench_measure::cell::{Cell, Origin};
use espbench_measure::columns::{COMPARED, POWER, compared as compared_rows, power_rows};
use espbench_measure::compare::{
    CellDifference, Comparison, ExactlyCompared, Tolerance, compare, exactly, gate, power, remedy,
    sides as sides_of, vanished,
};
use espbench_measure::label;
use espbench_measure::metric::{self, Better};
use espbench_measure::report::{Report, SCHEMA, TEXT_MARK};
use espbench_measure::run::RunFacts;
use espbench_measure::table::compared;
use espbench_measure::table::repetitions::table as power_table;
use espbench_measure::units::{self, Dimension};
use espbench_model::speech::{self, Asker};
use espbench_model::text::count;
use std::collections::BTreeSet;
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
    /// Exit with status 1 unless all figures are equal to the bit, and tell the first that is not: of simulated runs
    /// with one seed
    #[arg(long, conflicts_with_all = ["threshold", "power"])]
    exact: bool,
    /// Say how many repetitions in either run show a change of this size, such as "5 %", and what those of
    /// this run show; nothing is compared
    #[arg(long, value_name = "PERCENT", value_parser = change, conflicts_with_all = ["threshold", "other"])]
    power: Option<f64>,
    /// Compare only these metrics
    #[arg(long, value_delimiter = ',', value_name = "METRIC")]
    metric: Vec<String>,
    /// Format of the comparison on stdout
    #[arg(long, value_enum, default_value_t)]
    format: Form,
    /// Print all pairs as text, with remarks, not only the largest changes
    #[arg(long)]
    full: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// How a comparison is drawn: it has no page of its own.
#[derive(Clone, Copy, Debug, Default, clap::ValueEnum)]
enum Form {
    /// The largest changes in a few lines; all pairs with --full
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

/// Parses a change that is to be shown.
fn change(text: &str) -> Result<f64, String> {
    percent(text).and_then(|part| match part {
        part if part > 0.0 && part.is_finite() => Ok(part),
        _ => Err(format!("`{text}` is no change that could be shown")),
    })
}

/// Runs the subcommand.
///
/// # Errors
/// One of the two cannot be read, or nothing in them matches or is comparable.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    if let Some(change) = args.power {
        return repetitions(args, change);
    }
    if args.exact {
        return exact(args);
    }
    if args.full && !matches!(args.format, Form::Text) {
        let place = "beside --format: that prints all pairs";
        return Err(idle("--full", place, "leave one of them out").into());
    }
    let (this, other) = (side(args, &args.this)?, side(args, &args.other)?);
    let wanted_of = metrics(&this.cells);
    let ours = wanted(args, this.cells);
    let others = wanted(args, other.cells);
    let comparisons = compare(&ours, &others);
    let sides = this.facts.as_ref().zip(other.facts.as_ref());
    let of_two_runs = sides.is_some();
    let sides = sides.map(|(this, other)| sides_of(this, other));
    if comparisons.is_empty() {
        bail!(in_common_is_none(args, &wanted_of, &sides.unwrap_or_default()));
    }
    let mut differences = sides.map(|all| differences(&all)).unwrap_or_default();
    let cut: Vec<String> = [this.cut, other.cut].into_iter().flatten().collect();
    differences.extend(cut.iter().cloned());
    if of_two_runs {
        let both = [
            (&ours, &others, [&args.this, &args.other]),
            (&others, &ours, [&args.other, &args.this]),
        ];
        differences
            .extend(both.into_iter().filter_map(|(of, not, names)| unpaired(of, not, names)));
    }
    print(args, &comparisons, &differences)?;
    if let Some(remedy) = remedy(&comparisons) {
        bail!(
            UserError::new(format!("nothing of {} and {} is comparable", args.this, args.other))
                .because("no pair can be compared; the reasons are above")
                .remedy(remedy)
        );
    }
    match args.threshold {
        None => Ok(ExitCode::SUCCESS),
        Some(limit) => hold_to(args, limit, &comparisons, [&ours, &others], &cut),
    }
}

/// Holds the pairs of two runs, `sides`, to a threshold; `cut` says which of them are a part.
fn hold_to(
    args: &Args,
    limit: f64,
    comparisons: &[Comparison],
    sides: [&[Cell]; 2],
    cut: &[String],
) -> anyhow::Result<ExitCode> {
    let gated = gate(comparisons, &Tolerance::of_part(limit));
    let is_judged =
        |it: &Comparison| metric::better(&it.ours.id.metric, &it.ours.unit) != Better::Neither;
    if gated.judged == 0 && !comparisons.is_empty() && !comparisons.iter().any(is_judged) {
        bail!(
            UserError::new(format!("nothing of {} and {} can be judged", args.this, args.other))
                .because("of these figures neither direction is worse")
                .remedy("name figures that can be worse: --metric, such as loss or rtt_p99")
        );
    }
    if gated.judged == 0 {
        bail!(
            UserError::new(format!("nothing of {} and {} can be judged", args.this, args.other))
                .because("no interval could show that one of them is worse")
                .remedy("measure both longer or with `repetitions = 5`, and leave extremes out with --metric")
        );
    }
    say!(
        "{} of {} judged results are worse by more than {} %",
        gated.failed.len(),
        gated.judged,
        limit * 100.0
    );
    if gated.open > 0 {
        say!(
            "{} could not be judged: worse by more than that, without an interval that could show it",
            count(gated.open, "further result")
        );
    }
    for text in cut {
        say!("judged by a part: {text}");
    }
    let gone = vanished(sides[0], sides[1]);
    if let Some(first) = gone.first() {
        let figures = count(gone.len(), "figure");
        say!(
            "{figures} of {} are not in {}, such as {}: nothing is known of them",
            args.other,
            args.this,
            format_args!("{} of {}", first.id.metric, label::test(first))
        );
    }
    // Of what is missing nothing is known.
    let is_whole = gone.is_empty() && cut.is_empty();
    Ok(match (gated.passed(), is_whole) {
        (true, true) => ExitCode::SUCCESS,
        (true, false) => ExitCode::from(2),
        (false, _) => ExitCode::from(1),
    })
}

/// Says what repetitions can show.
fn repetitions(args: &Args, change: f64) -> anyhow::Result<ExitCode> {
    if args.full {
        let place = "beside --power: that prints all figures";
        return Err(idle("--full", place, "leave one of them out").into());
    }
    let rows = power(&wanted(args, side(args, &args.this)?.cells), change);
    if rows.iter().all(|row| row.repetitions < 2) {
        bail!(
            UserError::new(format!("{} does not tell how its figures scatter", args.this))
                .because("no test has two repetitions")
                .remedy("carry the plan out with `repetitions = 5`, and ask that run")
        );
    }
    let table = power_table(&rows, &args.this, change);
    output::print(&match args.format {
        Form::Text => output::table(&table),
        Form::Markdown => render::markdown::table(&table),
        Form::Csv => render::csv::rows(&power_rows(&rows), POWER),
        Form::Json => render::json::pretty(&rows).context("the rows as JSON")?,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Holds two runs against each other bit by bit.
fn exact(args: &Args) -> anyhow::Result<ExitCode> {
    if args.full || !matches!(args.format, Form::Text) {
        let flag = if args.full { "--full" } else { "--format" };
        let place = "beside --exact: that tells the first difference";
        return Err(idle(flag, place, "leave one of them out").into());
    }
    let (ours, others) = (side(args, &args.this)?.cells, side(args, &args.other)?.cells);
    let metrics = metrics(&ours);
    let (ours, others) = (wanted(args, ours), wanted(args, others));
    if let Some(real) = ours.iter().chain(&others).find(|it| it.origin != Origin::Simulated) {
        bail!(
            UserError::new(format!(
                "--exact is for simulated runs, and here are {} figures",
                real.origin.name()
            ))
            .because("what is measured scatters, and is never the same to the bit")
            .remedy("use --threshold, which asks the intervals; --power tells what that shows")
        );
    }
    let found = exactly(&ours, &others);
    let Some(first) = found.differences.first() else {
        if found.compared == 0 {
            bail!(in_common_is_none(args, &metrics, &[]));
        }
        say!("all {} figures are equal", found.compared);
        return Ok(ExitCode::SUCCESS);
    };
    say!("espbench: {}; the first: {}", counted(&found), told(first));
    Ok(ExitCode::from(1))
}

/// Counts the figures that are not the same on both sides: those that differ, and those that one side lacks.
fn counted(found: &ExactlyCompared) -> String {
    let of = |is: fn(&CellDifference) -> bool| found.differences.iter().filter(|it| is(it)).count();
    let here = of(|it| it.other.is_none());
    let there = of(|it| it.ours.is_none());
    let differ = found.differences.len() - here - there;
    let only = format!("{here} are here alone, and {there} there alone");
    match (found.compared, here + there) {
        (0, _) => format!("no figure is of a test of both sides: {only}"),
        (all, 0) => format!("{differ} of {all} figures differ"),
        (all, _) => format!("{differ} of the {all} figures of both sides differ; {only}"),
    }
}

/// Tells a figure that is not the same on both sides.
fn told(it: &CellDifference) -> String {
    let Some(named) = it.ours.as_ref().or(it.other.as_ref()) else { return String::new() };
    let figure = |cell: &Option<Cell>| match cell {
        None => "none".to_owned(),
        Some(Cell { value: None, .. }) => "no value".to_owned(),
        Some(Cell { value: Some(value), unit, ci_low, ci_high, n, .. }) => {
            let interval = ci_low.zip(*ci_high).map(|(low, high)| format!(" [{low}, {high}]"));
            let n = n.map(|n| format!(", n = {n}")).unwrap_or_default();
            format!("{value} {unit}{}{n}", interval.unwrap_or_default())
        }
    };
    let (ours, other) = (figure(&it.ours), figure(&it.other));
    let repetition =
        named.test.repetition.map(|it| format!(", repetition {it}")).unwrap_or_default();
    format!("{}{repetition}, {}: {ours} here, {other} there", label::test(named), named.id.metric)
}

/// Returns the cells of the metrics that were asked for.
fn wanted(args: &Args, cells: Vec<Cell>) -> Vec<Cell> {
    let is = |cell: &Cell| args.metric.is_empty() || args.metric.contains(&cell.id.metric);
    cells.into_iter().filter(is).collect()
}

/// Returns the metrics of cells, each once.
fn metrics(cells: &[Cell]) -> BTreeSet<String> {
    cells.iter().map(|it| it.id.metric.clone()).collect()
}

/// Says that there is no pair, and what differs between the two runs.
fn in_common_is_none(args: &Args, metrics: &BTreeSet<String>, sides: &[String]) -> UserError {
    let error =
        UserError::new(format!("{} and {} have no result in common", args.this, args.other));
    match args.metric.iter().find(|it| !metrics.contains(*it)) {
        Some(unknown) => {
            let all: Vec<&str> = metrics.iter().map(String::as_str).collect();
            error
                .because(format!("{} has no metric `{unknown}`", args.this))
                .remedy(format!("it has {}", all.join(", ")))
        }
        None if !sides.is_empty() => error
            .because(format!(
                "each setting makes a test of its own. What differs, {} | {}: {}",
                args.this,
                args.other,
                sides.join("; ")
            ))
            .remedy("compare runs of one plan, or look at both: `espbench report RUN`"),
        None => error
            .because("no result of the one is of the same test and metric as one of the other")
            .remedy(match speech::asker() {
                Asker::Terminal => "compare runs of one plan: `espbench runs` lists them",
                Asker::Caller => "compare runs of one plan",
            }),
    }
}

/// Says how many figures of a run have no counterpart in the other one, since a setting of their tests is another; `None`
/// where each has one.
fn unpaired(of: &[Cell], not_in: &[Cell], [name, other]: [&String; 2]) -> Option<String> {
    let alone = vanished(not_in, of);
    let first = alone.first()?;
    Some(format!(
        "Not compared: {} of {name} whose tests {other} does not have, such as {} of {}.",
        count(alone.len(), "figure"),
        first.id.metric,
        label::test(first)
    ))
}

/// Says in a sentence what differs between the two runs.
fn differences(all: &[String]) -> Vec<String> {
    match all {
        [] => vec!["Both runs have the same target, plan and seed.".into()],
        all => vec![format!("What differs, this | other: {}", all.join("; "))],
    }
}

fn print(args: &Args, comparisons: &[Comparison], differences: &[String]) -> anyhow::Result<()> {
    let origin = comparisons.first().map_or(Origin::Measured, |c| c.ours.origin);
    let title = match remedy(comparisons) {
        None => format!("{} against {}", args.this, args.other),
        Some(_) => format!("Nothing is comparable: {} against {}", args.this, args.other),
    };
    let all = || compared::pairs(comparisons, &title, origin);
    let folded = || compared::folded(comparisons, &title, origin, differences);
    output::print_drawing(&match args.format {
        Form::Text if args.full => {
            let columns = output::screen().columns.unwrap_or(usize::MAX);
            let words = std::iter::once(&title).chain(differences);
            let lines: String = words.map(|it| render::fitting(it, columns)).collect();
            format!("{lines}{}", output::table(&all()))
        }
        Form::Text => render::compare::render(comparisons, &title, differences, output::screen()),
        Form::Markdown => format!("{TEXT_MARK}\n{}", render::markdown::table(&folded())),
        Form::Csv => render::csv::rows(&compared_rows(comparisons), COMPARED),
        Form::Json => render::json::pretty(comparisons).context("the comparison as JSON")?,
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
    let remedy = format!("write one from a run in the store: `espbench report RUN -o {name}`");
    let Version { schema } = serde_json::from_str(text).for_user(no_report, &remedy)?;
    if schema != SCHEMA {
        bail!(
            UserError::new(format!("{name} is a report of another espbench"))
                .because(format!("its form is {schema}, and this one reads {SCHEMA}"))
                .remedy(format!(
                    "make it again from the run in the store, `espbench report RUN -o {name}`, or measure again"
                ))
        );
    }
    Ok(serde_json::from_str(text).for_user(no_report, &remedy)?)
}

/// One of the two that are compared.
struct Side {
    cells: Vec<Cell>,
    /// Facts of the run; a table has none.
    facts: Option<RunFacts>,
    /// Part of what was asked that is missing, in words.
    cut: Option<String>,
}

/// Reads the cells of a run, of a report's file, or of a table in CSV. Published cells that a
/// report shows beside its own are left out.
fn side(args: &Args, name: &str) -> anyhow::Result<Side> {
    let table = |cells| Side { cells, facts: None, cut: None };
    let path = Path::new(name);
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default();
    let report = match ending {
        _ if name == "published" => return Ok(table(espbench_engine::published::built_in())),
        "csv" => {
            let what = || format!("cannot read {name} as a table of results");
            let remedy =
                "docs/data.md has its columns; `espbench report RUN -o FILE.csv` writes one";
            return Ok(table(published::read(path).for_user(what, remedy)?));
        }
        "json" => {
            let text = named_file::text(path, named_file::RESULTS)
                .for_user(|| format!("cannot read {name}"), "name a report as .json")?;
            from_json(name, &text)?
        }
        _ => output::report(&args.store.to_read()?, name)?,
    };
    let failed = || report.failures.first().map(|it| format!("{} failed: {}", it.place, it.error));
    let cut = report.lacks().or_else(failed).map(|it| format!("{name}: {it}"));
    let cells = report.cells.into_iter().filter(|cell| cell.origin != Origin::Published).collect();
    Ok(Side { cells, facts: Some(report.run), cut })
}

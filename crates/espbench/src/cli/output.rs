//! From the store to a report, and from a report to files and stdout.

use super::common::{Format, OutputArgs, idle};
use super::file;
use crate::render;
use crate::render::glance::Screen;
use crate::say::{self, say};
use crate::store::{Store, StoreError, StoredRun, ThresholdOutcome};
use crate::user_error::UserError;
use anyhow::Context as _;
use espbench_engine::ReportBuilder;
use espbench_measure::beside;
use espbench_measure::metric::Better;
use espbench_measure::report::Report;
use espbench_measure::table::Table;
use espbench_model::speech::{self, Asker};
use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;

/// Returns the report of a stored run, beside the published figures that the tool carries, and beside the lab
/// that was simulated for it.
///
/// # Errors
/// The store's.
pub fn report(store: &Store, name: &str) -> anyhow::Result<Report> {
    let run = match store.run(name) {
        Err(StoreError::NoRun { path, .. }) if Path::new(name).is_file() => {
            let what = format!("{name} is a file, and no run of {}", path.display());
            let remedy = match speech::asker() {
                Asker::Terminal => {
                    "`espbench runs` lists the runs; of files, `compare` reads .json and .csv"
                }
                Asker::Caller => "give the name of a run; of files, `compare` reads .json and .csv",
            };
            return Err(UserError::new(what).remedy(remedy).into());
        }
        found => found?,
    };
    let mut report = of_run(store, &run)?;
    if let Some(lab) = store.lab_beside(&run)? {
        beside::add_lab(&mut report, &of_run(store, &lab)?);
    }
    Ok(report)
}

/// Returns the outcome of a report's thresholds.
#[must_use]
pub fn outcome(report: &Report) -> ThresholdOutcome {
    let tally = report.thresholds();
    ThresholdOutcome { thresholds: tally.all, failed: tally.failed }
}

/// Returns the report of a stored run alone.
fn of_run(store: &Store, run: &StoredRun) -> Result<Report, StoreError> {
    let mut builder = ReportBuilder::new(&run.facts);
    for cell in &run.cells {
        if let Some(recorded) = store.recorded(cell)? {
            builder.add(recorded);
        }
    }
    let mut report = builder.finish(run.overhead, run.cells.len());
    report.stored = store.path().file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(report)
}

/// Checks the files before anything is measured: their names, and that they can be written.
///
/// # Errors
/// An ending that no format has; a folder that is not there, or may not be written to.
pub fn check(args: &OutputArgs) -> anyhow::Result<()> {
    if args.format == Format::Sarif {
        return Err(no_sarif().into());
    }
    for path in &args.output {
        if Format::of_file(path)? == Format::Sarif {
            return Err(no_sarif().into());
        }
    }
    can_be_written(args)
}

/// Checks the files' names, and that they can be written.
///
/// # Errors
/// As [`check`].
pub fn can_be_written(args: &OutputArgs) -> anyhow::Result<()> {
    if args.full && args.format != Format::Text {
        let place = "beside --format: that prints all there is";
        return Err(idle("--full", place, "leave one of them out").into());
    }
    for path in &args.output {
        Format::of_file(path)?;
        let open = |new| OpenOptions::new().write(true).create_new(new).open(path);
        // What is there stays as it is until there is a report.
        match open(true) {
            Ok(_) => std::fs::remove_file(path),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => open(false).map(|_| ()),
            Err(e) => Err(e),
        }
        .map_err(|error| not_written(path, &error))?;
    }
    Ok(())
}

/// Returns the error that there is no SARIF of a report.
fn no_sarif() -> UserError {
    UserError::new("a report cannot be drawn as SARIF")
        .because("it has results, and no findings at lines of a file")
        .remedy("SARIF is for `espbench tune --check`; take --format junit for thresholds")
}

/// Refuses formats of results, where there are none.
///
/// # Errors
/// One of them was asked for.
pub fn without_results(args: &OutputArgs, thing: &str) -> anyhow::Result<()> {
    let files = args.output.iter().map(|path| Format::of_file(path));
    let mut formats = files.collect::<anyhow::Result<Vec<_>>>()?;
    formats.push(args.format);
    if formats.iter().any(|it| it.is_for_ci()) {
        return Err(UserError::new(format!("{thing} cannot be drawn for CI"))
            .because("it has findings, and no results")
            .remedy("draw it as text, json, markdown or html")
            .into());
    }
    Ok(())
}

/// Refuses `--published` where no published figure is beside the results.
///
/// # Errors
/// The flag was given.
pub fn without_published(args: &OutputArgs, place: &str) -> Result<(), UserError> {
    if args.published {
        return Err(idle(
            "--published",
            place,
            "leave it out; `espbench compare` holds runs against them",
        )
        .because("no published figure is of the same thing"));
    }
    Ok(())
}

/// Writes the report to the files that were asked for, and to stdout. A file that cannot be written
/// keeps nothing from the others.
///
/// # Errors
/// A file cannot be written: the first one. Stdout cannot.
pub fn write(report: &Report, args: &OutputArgs, quiet: bool) -> anyhow::Result<()> {
    let written = files(report, args, quiet);
    show(report, args).and(written)
}

/// Writes the report to the files that were asked for, and names each unless it is to be quiet.
///
/// # Errors
/// A file cannot be written: the first one.
pub fn files(report: &Report, args: &OutputArgs, quiet: bool) -> anyhow::Result<()> {
    let mut written = Ok(());
    for path in &args.output {
        let text = draw_as(report, args, Format::of_file(path)?);
        match file::replace(path, text.as_bytes()).with_context(|| cannot_write(path)) {
            Ok(()) if quiet => {}
            Ok(()) => say!("wrote {}", path.display()),
            failed => written = written.and(failed),
        }
    }
    written
}

/// Returns the error that a file cannot be written, with its cause.
fn not_written(path: &Path, error: &std::io::Error) -> UserError {
    let what = UserError::new(format!("cannot write {}", path.display()));
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
            what.because(error).remedy(format!("make the folder {} first", folder.display()))
        }
        _ => what.because(error).remedy("name another file, in a folder that you may write to"),
    }
}

/// Returns the message that a file cannot be written, with advice where its folder is missing.
#[must_use]
pub fn cannot_write(path: &Path) -> String {
    let file = path.display();
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() && !folder.exists() => {
            format!("cannot write {file}: make the folder {} first", folder.display())
        }
        _ => format!("cannot write {file}"),
    }
}

/// Prints the report to stdout as it was asked for: the answer in a few lines, or all of it.
///
/// # Errors
/// As [`print()`].
pub fn show(report: &Report, args: &OutputArgs) -> anyhow::Result<()> {
    if let (Some(card), Format::Text, false) = (&report.prediction, args.format, args.full) {
        return print_drawing(&render::predict::render(report, card, screen()));
    }
    if args.format == Format::Text && !args.full {
        return print_drawing(&render::glance::render(report, screen()));
    }
    print(&match args.format {
        Format::Text => render::text::render_on(&as_asked(report, args), screen()),
        format => draw_as(report, args, format),
    })
}

/// Returns the screen that stdout is.
pub fn screen() -> Screen {
    let (columns, cuts) = say::screen();
    Screen { coloured: say::is_coloured(), columns, cuts }
}

/// Draws a table for the screen that stdout is.
pub fn table(table: &Table) -> String {
    render::text::table_on(table, screen())
}

/// Returns the report with published figures among its cells, where that was asked for.
fn as_asked<'a>(report: &'a Report, args: &OutputArgs) -> Cow<'a, Report> {
    if args.published { Cow::Owned(report.clone().with_published()) } else { Cow::Borrowed(report) }
}

/// Draws the report as it was asked for.
fn draw_as(report: &Report, args: &OutputArgs, format: Format) -> String {
    draw(&as_asked(report, args), format)
}

/// Prints to stdout; a reader that has gone (`| head`) is no error.
///
/// # Errors
/// Any other failure to write.
pub fn print(text: &str) -> anyhow::Result<()> {
    say::out(text).context("stdout")
}

/// Prints text for people. On a terminal its lines are broken at spaces, not within words.
///
/// # Errors
/// As [`print()`].
pub fn print_text(text: &str) -> anyhow::Result<()> {
    let Some(columns) = screen().columns else { return print(text) };
    let fit = |line: &str| render::fitting(line, columns);
    print(&text.lines().map(fit).collect::<String>())
}

/// Prints a drawing, which may have colours.
///
/// # Errors
/// As [`print()`].
pub fn print_drawing(text: &str) -> anyhow::Result<()> {
    say::drawing(text).context("stdout")
}

/// Draws the report.
#[must_use]
pub fn draw(report: &Report, format: Format) -> String {
    match format {
        Format::Text => render::text::render(report),
        Format::Json => render::json::render(report),
        Format::Jsonl => render::jsonl::render(report),
        Format::Csv => render::csv::render(report),
        Format::Markdown => render::markdown::render(report),
        Format::Html => render::html::render(report),
        Format::Junit => render::junit::render(report),
        Format::Bencher => render::bencher::render(report),
        Format::BenchmarkSmaller => render::benchmark::render(report, Better::Lower),
        Format::BenchmarkBigger => render::benchmark::render(report, Better::Higher),
        // Refused before anything is measured.
        Format::Sarif => String::new(),
    }
}

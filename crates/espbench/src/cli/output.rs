//! From the store to a report, and from a report to files and stdout.

use super::common::{Format, OutputArgs};
use super::file;
use crate::published;
use crate::render;
use crate::say::{self, say};
use crate::store::Store;
use anyhow::Context as _;
use espbench_measure::report::{Builder, Floor, Report};
use espbench_measure::run::Recorded;
use espbench_measure::wifi::RAW;
use espbench_model::workload::{Wifi, Workload};
use espbench_sim::floor::{self, EspNowParams};
use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::path::Path;

/// Returns the report of a stored run, beside the published figures that the tool carries.
///
/// # Errors
/// The store's.
pub fn report(store: &Store, name: &str) -> anyhow::Result<Report> {
    let run = store.run(name)?;
    let mut builder = Builder::new(&run.facts).floors(floors);
    for cell in &run.cells {
        if let Some(recorded) = store.recorded(cell)? {
            builder.add(&recorded);
        }
    }
    let mut report = builder.finish(run.overhead, run.cells.len(), &published::built_in());
    report.stored = store.path().file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(report)
}

/// Returns the least that a test of the ESP-NOW report can take: ours with the settings that the
/// cell's facts name, the published with those of the report.
#[must_use]
pub fn floors(recorded: &Recorded) -> Vec<Floor> {
    let told = |name: &str| recorded.facts.get(name).map(String::as_str);
    let work = match recorded.workload {
        Workload::EspNow(work) => work,
        Workload::Wifi(work) => return over_wifi(&work, floor::wifi::WifiParams::from_facts(told)),
        _ => return Vec::new(),
    };
    let means = EspNowParams::from_facts(told);
    let pairs = floor::of(&work, means).into_iter().zip(floor::of(&work, EspNowParams::REPORT));
    pairs.map(|((metric, ours), (_, published))| Floor { metric, ours, published }).collect()
}

/// Returns the least that a test over Wi-Fi can take. The documents do not describe their networks,
/// so the published cell has our floor.
fn over_wifi(work: &Wifi, means: Option<floor::wifi::WifiParams>) -> Vec<Floor> {
    let Some(means) = means else { return Vec::new() };
    let both = |(metric, floor): floor::PhyBound| Floor { metric, ours: floor, published: floor };
    let raw = Floor { metric: RAW, ours: floor::wifi::raw(), published: floor::wifi::raw() };
    floor::wifi::of(work, means).into_iter().map(both).chain([raw]).collect()
}

/// Checks the files before anything is measured: their names, and that they can be written.
///
/// # Errors
/// An ending that no format has; a folder that is not there, or may not be written to.
pub fn check(args: &OutputArgs) -> anyhow::Result<()> {
    for path in &args.output {
        Format::of_file(path)?;
        let open = |new| OpenOptions::new().write(true).create_new(new).open(path);
        // What is there stays as it is until there is a report.
        match open(true) {
            Ok(_) => std::fs::remove_file(path),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => open(false).map(|_| ()),
            Err(e) => Err(e),
        }
        .with_context(|| cannot_write(path))?;
    }
    Ok(())
}

/// Writes the report to the files that were asked for, and to stdout. A file that cannot be written
/// keeps nothing from the others.
///
/// # Errors
/// A file cannot be written: the first one. Stdout cannot.
pub fn write(report: &Report, args: &OutputArgs) -> anyhow::Result<()> {
    let written = files(report, args);
    print(&draw(report, args.format)).and(written)
}

/// Writes the report to the files that were asked for.
///
/// # Errors
/// A file cannot be written: the first one.
pub fn files(report: &Report, args: &OutputArgs) -> anyhow::Result<()> {
    let mut written = Ok(());
    for path in &args.output {
        let text = draw(report, Format::of_file(path)?);
        match file::replace(path, text.as_bytes()).with_context(|| cannot_write(path)) {
            Ok(()) => say!("wrote {}", path.display()),
            failed => written = written.and(failed),
        }
    }
    written
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

/// Prints to stdout; a reader that has gone (`| head`) is no error.
///
/// # Errors
/// Any other failure to write.
pub fn print(text: &str) -> anyhow::Result<()> {
    say::out(text).context("stdout")
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
    }
}

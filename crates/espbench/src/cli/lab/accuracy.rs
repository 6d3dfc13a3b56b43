//! `espbench lab truth`: how far the lab's figures are from the published ones, over several seeds.

use super::measured;
use crate::cli::progress::ProgressLine;
use crate::cli::{builtin, file, flow, output, pool};
use crate::sys;
use anyhow::{Context as _, bail};
use espbench_engine::measured::LeftOut;
use espbench_engine::{RunListener, Simulation, truth};
use espbench_measure::plan::{Plan, PlanSet};
use espbench_measure::table::truth::over_seeds as table;
use espbench_measure::truth::{SeedErrors, over_seeds};
use espbench_sim::lab::file::Library;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Flags.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run all suites with so many seeds: 1, 2, …
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    seeds: u16,
    /// Write the errors of each seed to this CSV file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Compare with what others measured on chips (`reference/measured.csv`) in place of the suites: ranks of settings, currents
    /// asleep, esp_now_send by rate; --seeds are those of each row
    #[arg(long)]
    measured: bool,
    /// Leave out each chip, table or row of these in turn, fit again what was fitted to it, and compare what was left out;
    /// may be given again
    #[arg(long, value_name = "PART", value_parser = part)]
    cross: Vec<LeftOut>,
    /// Worker threads [default: one for each core]; they do not change the result
    #[arg(long, value_name = "THREADS", conflicts_with_all = ["measured", "cross"], value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Show no progress
    #[arg(short, long)]
    quiet: bool,
}

/// Reads what is left out.
fn part(word: &str) -> Result<LeftOut, String> {
    let known = || LeftOut::ALL.map(LeftOut::name).join(", ");
    LeftOut::from_name(word).ok_or_else(|| format!("it is one of {}", known()))
}

/// Stops a run when the user asks for it.
struct Stop<'a>(&'a AtomicBool);

impl RunListener for Stop<'_> {
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Runs the suites, and prints the table.
///
/// # Errors
/// The user stopped it, or the output cannot be written.
pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let cancel = flow::on_interrupt()?;
    if args.measured || !args.cross.is_empty() {
        let output = args.output.as_deref();
        return measured::run((args.seeds.into(), args.quiet), &args.cross, output, &cancel);
    }
    let each = Duration::from_secs(1);
    let mut progress = ProgressLine::guessed(&vec![each; args.seeds.into()], args.quiet);
    progress.begin("all suites, one seed after the other");
    let job = |at: usize| errors(at as u64 + 1, &cancel);
    let threads = sys::threads(args.threads).get();
    let done = |_| {
        progress.advance(each);
        progress.end(None);
    };
    let results = pool::each(args.seeds.into(), threads, &cancel, job, done);
    drop(progress);
    if cancel.load(Ordering::Relaxed) {
        bail!("stopped: nothing was written");
    }
    let mut rows = Vec::new();
    for result in results.into_iter().flatten() {
        rows.extend(result?);
    }
    if let Some(path) = &args.output {
        file::replace(path, truth::csv(&rows).as_bytes())
            .with_context(|| output::cannot_write(path))?;
    }
    if let Some(table) = table(&over_seeds(&rows)) {
        output::print_text(&format!("{}\n\n{}", table.title, output::table(&table)))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the errors of a run of all suites with that seed.
fn errors(seed: u64, cancel: &AtomicBool) -> anyhow::Result<Vec<SeedErrors>> {
    let plans: Result<Vec<Plan>, _> =
        builtin::SUITES.iter().map(|(name, _)| builtin::plan(name)).collect();
    let set = PlanSet { plans: plans? };
    let simulation = Simulation::new(set, Library::built_in(), None, Some(seed))?;
    Ok(SeedErrors::of(&simulation.run(&mut Stop(cancel))))
}

//! `espbench fit`: constants of the lab from one's own measurements.
//!
//! | module | contents |
//! |---|---|
//! | `files` | the lab with its fitted profile and environment, as files |
//! | `screen` | the answer as text and as JSON |

mod files;
mod screen;

use super::common::StoreArgs;
use super::progress::ProgressLine;
use super::{flow, output, pool};
use crate::labs;
use crate::sys;
use crate::user_error::UserError;
use espbench_engine::fit::{FitError, FitQuestion, FitRunner, SEEDS, answer};
use espbench_engine::{RunListener, Simulation};
use espbench_measure::plan::PlanSet;
use espbench_measure::run::Recorded;
use espbench_sim::lab::file::{FileKind, Library};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Flags.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The run is simulated again and again with other constants of the device's profile and of the place, until lab and \
measurement agree best. Without --constant those are looked at that nothing better than a fit or an assumption is known \
of, and at most three that explain something are taken. docs/fit.md says how, and what an interval means.

  espbench fit last                                   # which constants does my run ask for?
  espbench fit echo-2 --variant arduino -o mine.toml  # a run over IP: the variant that it is simulated in
  espbench run round-trip --on sim:mine.toml          # the lab with the fitted constants

Exit status: 0 fitted, or nothing to fit; 2 it cannot be fitted.")]
pub struct Args {
    /// Name of the run, or `last`, or `last~1` for the one before
    #[arg(default_value = "last")]
    run: String,
    /// Lab in which the run is simulated: a built-in name, or a TOML file [default: that of each test]
    #[arg(long, value_name = "LAB")]
    lab: Option<String>,
    /// Variant of the lab, for a run over IP whose plan has none
    #[arg(long, value_name = "VARIANT")]
    variant: Option<String>,
    /// Fit these constants, such as transmit.fixed_us (`espbench lab profile` lists them)
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    constant: Vec<String>,
    /// Fit to these metrics only [default: minima, medians and means of times and rates]
    #[arg(long, value_name = "METRIC", value_delimiter = ',')]
    metric: Vec<String>,
    /// Simulate each trial with so many seeds
    #[arg(long, default_value_t = SEEDS, value_parser = clap::value_parser!(u32).range(1..=100))]
    seeds: u32,
    /// Write the lab with the fitted constants to this TOML file, and its profile and environment beside it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of the answer on stdout
    #[arg(long, value_enum, default_value_t)]
    format: AnswerForm,
    /// Print each cell, before and after
    #[arg(long)]
    full: bool,
    /// Worker threads [default: one for each core]; they do not change the result
    #[arg(long, value_name = "THREADS", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Show no progress
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    store: StoreArgs,
}

/// Form of the answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
enum AnswerForm {
    /// The constants, and how far the lab is off before and after
    #[default]
    Text,
    /// Constants and cells as one value
    Json,
}

/// Stops a cell when the user asks for it.
struct StopCell<'a>(&'a AtomicBool);

impl RunListener for StopCell<'_> {
    fn cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Trials on all cores.
struct FitPool {
    threads: usize,
    cancel: Arc<AtomicBool>,
}

impl FitRunner for FitPool {
    fn carry_out(&mut self, simulation: &Simulation) -> Vec<Recorded> {
        let cells = simulation.cells();
        let job = |at: usize| simulation.carry_out(&cells[at], &StopCell(&self.cancel));
        let done = pool::each(cells.len(), self.threads, &self.cancel, job, |_| {});
        done.into_iter().flatten().flatten().collect()
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Runs the subcommand.
///
/// # Errors
/// The run cannot be read, or cannot be fitted; or a file cannot be written.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let store = args.store.to_read()?;
    let run = store.run(&args.run)?;
    let set = PlanSet::parse(&run.facts.plan_text)?;
    let set = match &args.variant {
        Some(variant) => set.in_variant(variant).map_err(UserError::new)?,
        None => set,
    };
    let library = match &args.lab {
        Some(lab) => labs::library(FileKind::Lab, lab)?,
        None => Library::built_in(),
    };
    if let Some(path) = &args.output {
        files::check(path, args.lab.as_deref())?;
    }
    let report = output::report(&store, &args.run)?;
    let question = FitQuestion {
        set: &set,
        library: &library,
        lab: args.lab.as_deref(),
        measured: &report.cells,
        metrics: &args.metric,
        constants: &args.constant,
        seeds: args.seeds,
    };
    let mut pool =
        FitPool { threads: sys::threads(args.threads).get(), cancel: flow::on_interrupt()? };
    let mut progress = ProgressLine::guessed(&[Duration::from_secs(1)], args.quiet);
    progress.begin("simulating the run with other constants");
    let found = answer(&question, &mut pool).map_err(|error| told(error, args))?;
    drop(progress);
    let name = &run.facts.name;
    let written = match &args.output {
        Some(path) if !found.constants.is_empty() => {
            files::write(path, &found, &library, args.lab.as_deref(), (name, &set.text()))?
        }
        _ => Vec::new(),
    };
    output::print(&match args.format {
        AnswerForm::Text => screen::text(&found, name, args.seeds, &written, args.full),
        AnswerForm::Json => screen::json(&found, name, args.seeds)?,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the error with what to do.
fn told(error: FitError, args: &Args) -> UserError {
    let what = format!("the run {} cannot be fitted", args.run);
    let remedy = match &error {
        FitError::NoCells if args.metric.is_empty() => "choose metrics with --metric".into(),
        FitError::NoCells => format!("`espbench report {}` shows the metrics of the run", args.run),
        FitError::Refused(_) | FitError::Cell(_) if args.variant.is_none() => {
            "a run over IP needs the variant that it is simulated in: --variant VARIANT (`espbench lab list`)"
                .into()
        }
        FitError::Refused(_) | FitError::Cell(_) | FitError::File(_) => {
            "name another lab with --lab, or mend its file".into()
        }
        FitError::SeveralLabs(_) => "name the lab that is to be fitted with --lab".into(),
        FitError::NoConstant(name, known) => {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let near = espbench_model::text::meant(name, &known);
            let near = near.map(|near| format!("did you mean `{near}`? ")).unwrap_or_default();
            format!("{near}`espbench lab profile NAME` lists the constants of a profile or an environment")
        }
        FitError::SeveralConstants(..) => "name it with its file".into(),
        FitError::TooFew(..) => "name fewer constants, more metrics, or measure more sizes".into(),
        FitError::Untold(_) => "leave it out, or measure something that it changes".into(),
        FitError::NotApart(_) => "name one of them only".into(),
        FitError::Cancelled => return UserError::new("stopped: nothing was fitted"),
    };
    UserError::new(what).because(error).remedy(remedy)
}

//! The lab that a file and candidates are tried in, and evaluations on all cores.

use super::{Args, rtt};
use crate::cli::flow;
use crate::cli::pool;
use crate::cli::progress::{ProgressLine, ProgressMode};
use crate::cli::sdkconfig;
use crate::say::say;
use crate::sys;
use crate::sys::terminal;
use crate::user_error::UserError;
use espbench_engine::tune::{TrialRunner, TuneError, TuneFile, TuneLab, TuneSetup, TuneStage};
use espbench_measure::live::WorkTime;
use espbench_measure::predict::battery::Battery;
use espbench_measure::tune::{Candidate, Evaluation, Metric};
use espbench_model::sdkconfig::Chip;
use espbench_model::speech::{FlagName, FlagValue};
use espbench_sim::lab::file::FileKind;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Weight of an evaluation on the progress bar.
const EACH: Duration = Duration::from_secs(1);

/// Evaluations of candidates by default.
const BUDGET: u16 = 120;

/// Time between messages by default.
const MESSAGE_EVERY: Duration = Duration::from_secs(10);

/// Evaluations on all cores, with progress.
pub(super) struct TrialPool {
    threads: usize,
    cancel: Arc<AtomicBool>,
    mode: ProgressMode,
    /// The part of the work; `None` before the first.
    stage: Option<TuneStage>,
    progress: Option<ProgressLine>,
}

/// Returns what is done in a part of the work.
const fn doing(stage: TuneStage) -> &'static str {
    match stage {
        TuneStage::Search => "trying settings in the lab",
        TuneStage::Prune => "trying without each change",
        TuneStage::Again => "trying the best again, with new seeds",
        TuneStage::Each => "trying each change by itself",
    }
}

impl TrialPool {
    /// Makes a runner as the flags ask for.
    ///
    /// # Errors
    /// Interrupts cannot be caught.
    pub(super) fn new(args: &Args) -> anyhow::Result<Self> {
        Ok(Self {
            threads: sys::threads(args.lab.threads).get(),
            cancel: flow::on_interrupt()?,
            mode: if args.lab.quiet { ProgressMode::Quiet } else { ProgressMode::InPlace },
            stage: None,
            progress: None,
        })
    }
}

impl TrialRunner for TrialPool {
    fn begin(&mut self, stage: TuneStage, most: usize) {
        let is_new = self.stage.replace(stage) != Some(stage);
        // The line of the part before ends first.
        self.progress = None;
        self.progress = Some(ProgressLine::new(&vec![WorkTime::Guessed(EACH); most], self.mode));
        // Without a terminal a line for each part is enough.
        if is_new && self.mode != ProgressMode::Quiet && !terminal::can_redraw() {
            say!("{}", doing(stage));
        }
    }

    fn trials(
        &mut self,
        lab: &TuneLab,
        trials: &[(Candidate, u32)],
        metrics: &[Metric],
    ) -> Result<Vec<Option<Evaluation>>, TuneError> {
        let stop = || self.cancel.load(Ordering::Relaxed);
        let job = |at: usize| lab.evaluate(&trials[at].0, trials[at].1, metrics, &stop);
        let (progress, doing) = (&mut self.progress, self.stage.map_or("", doing));
        let done = |_: usize| {
            let Some(progress) = progress else { return };
            progress.begin(doing);
            progress.advance(EACH);
            progress.end(None);
        };
        let results = pool::each(trials.len(), self.threads, &self.cancel, job, done);
        // What was stopped in its midst is as good as not begun.
        let stopped = self.cancelled();
        let kept = |it: Option<Result<_, TuneError>>| match it {
            Some(Err(_)) if stopped => Ok(None),
            other => other.transpose(),
        };
        results.into_iter().map(kept).collect()
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

/// Reads an sdkconfig, and holds the flags against it.
///
/// # Errors
/// It cannot be read, is none, or is for another chip than the one that was said.
pub(super) fn file(args: &Args, path: &Path) -> anyhow::Result<TuneFile> {
    let reading = sdkconfig::file_beside(path, args.chip)?;
    if let (Some(said), Some(own)) = (args.chip, reading.chip)
        && said != own
    {
        let said = FlagValue("--chip", said);
        return Err(UserError::new(format!("{} is not for {said}", path.display()))
            .because(format!("it says that it is for the {own}"))
            .remedy(format!("leave out {said}"))
            .into());
    }
    Ok(TuneFile { name: path.display().to_string(), reading })
}

/// Makes the lab as the flags ask for.
///
/// # Errors
/// As [`TuneLab::new`]; a run that `--rtt` names has no round trips.
pub(super) fn lab(
    args: &Args,
    file: Option<TuneFile>,
) -> anyhow::Result<Result<TuneLab, TuneError>> {
    made(args, file, args.chip)
}

/// Makes the lab with its own device, for its round trip.
///
/// # Errors
/// As [`lab`].
pub(super) fn lab_of_place(args: &Args) -> anyhow::Result<Result<TuneLab, TuneError>> {
    made(args, None, None)
}

fn made(
    args: &Args,
    file: Option<TuneFile>,
    chip: Option<Chip>,
) -> anyhow::Result<Result<TuneLab, TuneError>> {
    let (flags, search) = (&args.lab, &args.search);
    let rtt = args.rtt.as_ref().map(|it| rtt::round_trip(it, &args.store)).transpose()?;
    let setup = TuneSetup {
        lab: flags.lab.clone(),
        variant: flags.variant.clone(),
        file,
        chip,
        release: args.idf,
        heap: args.heap,
        psram: args.psram,
        rtt,
        streams: args.streams,
        time: flags.time,
        message_every: search.message_every.unwrap_or(MESSAGE_EVERY),
        battery: search.battery.clone().unwrap_or_else(Battery::usual),
        wants: args.want.clone(),
        budget: search.budget.unwrap_or(BUDGET).into(),
        seed: flags.seed,
    };
    let library = crate::labs::library(FileKind::Lab, &flags.lab)?;
    Ok(TuneLab::new(setup, &library))
}

/// Names the flags by which a mistake is mended.
pub(super) fn advised(wrong: TuneError) -> anyhow::Error {
    let told = |flag: &dyn fmt::Display, remedy: String| -> anyhow::Error {
        UserError::new(format!("{flag} cannot be used here")).because(&wrong).remedy(remedy).into()
    };
    let [lab, chip, rtt] = ["--lab", "--chip", "--rtt"].map(FlagName);
    match &wrong {
        TuneError::NoVariants { .. } => {
            told(&lab, "`espbench lab list` shows labs with variants".into())
        }
        TuneError::NoAnswer { .. } => {
            told(&lab, format!("say the round trip: {}", FlagValue("--rtt", "5ms")))
        }
        TuneError::NoDevice { .. } | TuneError::NotStation { .. } => {
            told(&FlagName("--variant"), "`espbench lab show LAB` lists the others".into())
        }
        TuneError::NoProfile { chip, .. } => told(
            &FlagValue("--chip", chip),
            format!("{} needs no profile", FlagValue("--check", "FILE")),
        ),
        TuneError::NoSdkConfig { .. } => told(&"this lab", format!("name the chip with {chip}")),
        TuneError::NoWire { .. } => {
            told(&rtt, format!("leave {rtt} out, or take another place with {lab}"))
        }
        TuneError::ShortRoundTrip { .. } => {
            told(&rtt, format!("name a longer time, or a nearer place with {lab}"))
        }
        TuneError::NoPsram { .. } => told(
            &FlagName("--psram"),
            format!("leave it out, or name a chip that can have it with {chip}"),
        ),
        TuneError::HeapBeyond { .. } => told(
            &FlagName("--want"),
            format!(
                "want less, or say {}, what esp_get_free_heap_size() answers then in your firmware",
                FlagValue("--heap", "SIZE")
            ),
        ),
        _ => wrong.into(),
    }
}

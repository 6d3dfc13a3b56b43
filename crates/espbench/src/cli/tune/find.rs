//! `espbench tune --want`: a search in the virtual lab.

use super::super::common::Format;
use super::super::{flow, output, pool, progress::ProgressLine};
use super::Args;
use crate::cli::file;
use crate::say::say;
use crate::sys;
use anyhow::{Context as _, anyhow};
use espbench_engine::tune::{TrialRunner, TuneError, TuneLab, TuneSetup, TuneStage, search};
use espbench_measure::tune::answer::{TuneAnswer, fragment, report};
use espbench_measure::tune::{Candidate, Evaluation};
use espbench_sim::lab::file::FileKind;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Weight of an evaluation on the progress bar.
const EACH: Duration = Duration::from_secs(1);

/// Evaluations on all cores, with progress.
struct TrialPool {
    threads: usize,
    cancel: Arc<AtomicBool>,
    quiet: bool,
    stage: TuneStage,
    progress: Option<ProgressLine>,
}

/// Returns what is done in a part of the work.
const fn doing(stage: TuneStage) -> &'static str {
    match stage {
        TuneStage::Search => "searching",
        TuneStage::Without => "without each setting",
        TuneStage::Plain => "without needless settings",
    }
}

impl TrialRunner for TrialPool {
    fn begin(&mut self, stage: TuneStage, most: usize) {
        self.stage = stage;
        // The line of the part before ends first.
        self.progress = None;
        self.progress = Some(ProgressLine::guessed(&vec![EACH; most], self.quiet));
    }

    fn trials(
        &mut self,
        lab: &TuneLab,
        trials: &[(Candidate, u32)],
    ) -> Result<Vec<Option<Evaluation>>, TuneError> {
        let stop = || self.cancel.load(Ordering::Relaxed);
        let job = |at: usize| lab.evaluate(&trials[at].0, trials[at].1, &stop);
        let (progress, doing) = (&mut self.progress, doing(self.stage));
        let done = |at: usize| {
            let Some(progress) = progress else { return };
            progress.begin(&format!("{doing}: {}", trials[at].0.label()));
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

fn setup(args: &Args) -> TuneSetup {
    let flags = &args.search;
    TuneSetup {
        lab: flags.lab.clone(),
        variant: flags.variant.clone(),
        chip: args.chip,
        release: args.idf,
        heap: args.heap,
        rtt: args.rtt,
        streams: args.streams,
        time: flags.time,
        message_every: flags.message_every,
        battery_mah: flags.battery_mah,
        wants: args.want.clone(),
        budget: flags.budget.into(),
        seed: flags.seed,
    }
}

/// Names the flags by which a mistake is mended.
fn advised(wrong: TuneError) -> anyhow::Error {
    match &wrong {
        TuneError::NoVariants { .. } => anyhow!("--{wrong}, as `espbench lab list` shows them"),
        TuneError::NoDevice { .. } | TuneError::NotStation { .. } => anyhow!("--{wrong}"),
        TuneError::NoProfile { chip, .. } => anyhow!("--chip {chip}: {wrong}. --check needs none"),
        TuneError::NoSdkConfig { .. } => anyhow!("{wrong} with --chip"),
        TuneError::NoWire { .. } => anyhow!("--rtt: {wrong}"),
        TuneError::HeapBeyond { .. } => anyhow!(
            "{wrong}. Want less, or say --heap SIZE, what esp_get_free_heap_size() answers then in \
             your firmware"
        ),
        _ => wrong.into(),
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let flags = &args.search;
    output::check(&args.output)?;
    let library = crate::labs::library(FileKind::Lab, &flags.lab)?;
    let lab = TuneLab::new(setup(args), &library).map_err(advised)?;
    let mut runner = TrialPool {
        threads: sys::threads(flags.threads).get(),
        cancel: flow::on_interrupt()?,
        quiet: flags.quiet,
        stage: TuneStage::Search,
        progress: None,
    };
    let answer = search(&lab, &mut runner)?;
    drop(runner);
    write(args, &lab, &answer)
}

fn write(args: &Args, lab: &TuneLab, answer: &TuneAnswer) -> anyhow::Result<ExitCode> {
    let flags = &args.search;
    output::write(&report(&lab.facts(answer.spent), answer), &args.output)?;
    let lines = fragment(answer);
    if let Some(path) = &flags.fragment {
        file::replace(path, lines.as_bytes()).with_context(|| output::cannot_write(path))?;
        say!("wrote {}", path.display());
    } else if args.output.format == Format::Text && !lines.is_empty() {
        output::print(&format!(
            "\nFor sdkconfig.defaults (--fragment FILE writes it):\n\n{lines}"
        ))?;
    }
    Ok(match answer.best() {
        None => ExitCode::from(2),
        Some(best) => ExitCode::from(u8::from(best.missing > 0.0)),
    })
}

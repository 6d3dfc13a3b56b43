//! `espbench tune --want`: a search in the virtual lab.

use super::super::common::{Format, TOOL};
use super::super::{flow, output, pool, progress::ProgressLine};
use super::Args;
use super::lab::TuneLab;
use crate::cli::file;
use crate::say::say;
use crate::sys;
use anyhow::{Context as _, bail};
use espbench_measure::cell::Origin;
use espbench_measure::run::RunFacts;
use espbench_measure::tune::answer::{TuneAnswer, Without, fragment, report};
use espbench_measure::tune::want::{objectives, said};
use espbench_measure::tune::{
    Candidate, Evaluate, Evaluation, Metric, Search, SearchSpace, Trial, Want,
};
use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Weight of an evaluation on the progress bar.
const EACH: Duration = Duration::from_secs(1);

/// Trying candidates on all cores.
struct Bench<'a> {
    lab: &'a TuneLab,
    threads: usize,
    cancel: &'a AtomicBool,
    progress: ProgressLine,
    quiet: bool,
}

impl Bench<'_> {
    /// Evaluates candidates, each with a seed; `None` for those that were not begun any more.
    fn all(&mut self, jobs: &[(Candidate, usize)]) -> anyhow::Result<Vec<Option<Evaluation>>> {
        let job = |at: usize| {
            let (candidate, seed) = &jobs[at];
            self.lab.evaluate(candidate, *seed as u64)
        };
        let progress = &mut self.progress;
        let done = |at: usize| {
            progress.begin(&jobs[at].0.label());
            progress.advance(EACH);
            progress.end(None);
        };
        let results = pool::each(jobs.len(), self.threads, self.cancel, job, done);
        // What was stopped in its midst is as good as not begun.
        let stopped = self.cancelled();
        let kept = |it: Option<anyhow::Result<_>>| match it {
            Some(Err(_)) if stopped => Ok(None),
            other => other.transpose(),
        };
        results.into_iter().map(kept).collect()
    }

    fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<ExitCode> {
    let flags = &args.search;
    output::check(&args.output)?;
    check(&args.want)?;
    let metrics = objectives(&args.want);
    let cancel = flow::on_interrupt()?;
    let lab = TuneLab::new(args, &metrics, cancel.clone())?;
    let context = lab.context(args)?;
    lab.can_have(&args.want)?;
    let wanted: Vec<Metric> = args.want.iter().map(|it| it.metric).collect();
    let budget = usize::from(flags.budget);
    let mut bench = Bench {
        lab: &lab,
        threads: sys::threads(flags.threads).get(),
        cancel: &cancel,
        progress: ProgressLine::guessed(&vec![EACH; budget], flags.quiet),
        quiet: flags.quiet,
    };
    let mut search = Search::new(
        SearchSpace::new(context, &wanted, args.streams),
        &args.want,
        flags.seed,
        budget,
    );
    loop {
        let batch = search.batch();
        if batch.is_empty() || bench.cancelled() {
            break;
        }
        let jobs: Vec<(Candidate, usize)> =
            batch.iter().map(|it| (it.candidate, it.seed)).collect();
        let outcomes = bench.all(&jobs)?;
        let results: Vec<(Trial, Option<Evaluation>)> = batch.into_iter().zip(outcomes).collect();
        search.record(&results);
    }
    let mut answer = TuneAnswer::of(&search, context, args.streams);
    alone(&mut bench, &mut answer)?;
    if let Some(plain) = answer.plain().filter(|_| !bench.cancelled()) {
        let seeds = answer.best().map_or(1, |it| it.outcomes.len());
        let jobs: Vec<(Candidate, usize)> = (0..seeds).map(|seed| (plain, seed)).collect();
        let outcomes: Vec<Evaluation> = bench.all(&jobs)?.into_iter().flatten().collect();
        answer.spent += outcomes.len();
        if answer.prefer(plain, outcomes) {
            alone(&mut bench, &mut answer)?;
        }
    }
    answer.stopped = bench.cancelled();
    answer.notes = lab.notes();
    drop(bench);
    write(args, &lab, &answer)
}

/// Refuses a metric that is wanted twice: which of the limits holds would be open.
fn check(wants: &[Want]) -> anyhow::Result<()> {
    for (at, want) in wants.iter().enumerate() {
        if wants[..at].iter().any(|it| it.metric == want.metric) {
            bail!("{} is wanted twice: say each once", want.metric.name());
        }
    }
    Ok(())
}

/// Tries the recommended candidate without each of its settings: what each is good for.
fn alone(bench: &mut Bench<'_>, answer: &mut TuneAnswer) -> anyhow::Result<()> {
    let Some(best) = answer.best() else { return Ok(()) };
    let changes = best.candidate.changes(&answer.context);
    let without = |it: &(_, u32)| (best.candidate.without(it.0, &answer.context), 0);
    let jobs: Vec<(Candidate, usize)> = changes.iter().map(without).collect();
    bench.progress = ProgressLine::guessed(&vec![EACH; jobs.len()], bench.quiet);
    let outcomes = bench.all(&jobs)?;
    answer.spent += jobs.len();
    let pairs = changes.into_iter().zip(outcomes);
    answer.without = pairs.map(|((key, value), outcome)| Without { key, value, outcome }).collect();
    Ok(())
}

fn write(args: &Args, lab: &TuneLab, answer: &TuneAnswer) -> anyhow::Result<ExitCode> {
    let flags = &args.search;
    let host: BTreeMap<String, String> = [
        ("wanted", said(&args.want)),
        ("evaluations", answer.spent.to_string()),
        ("budget", flags.budget.to_string()),
        ("streams", args.streams.to_string()),
    ]
    .map(|(name, value)| (name.to_string(), value))
    .into();
    let facts = RunFacts {
        name: "tune".into(),
        tool: TOOL.into(),
        target: format!("sim:{}", flags.lab),
        origin: Origin::Simulated,
        seed: flags.seed,
        site: lab.site(),
        host,
        ..RunFacts::default()
    };
    output::write(&report(&facts, answer), &args.output)?;
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

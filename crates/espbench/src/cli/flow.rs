//! The one flow: plan and target to samples, to the store, to a report.

use super::beside::SideLab;
use super::common::{Format, MeasureArgs, OutputArgs, TOOL};
use super::live::{Feed, Outlet};
use super::output;
use super::progress::{ProgressLine, ProgressMode};
use super::shard::Shard;
use crate::clock::Clock;
use crate::embed;
use crate::say::say;
use crate::store::{Recorder, SampleObserver, Store, StoredCell, StoredRun};
use crate::sys;
use crate::target::{Target, calibrate};
use crate::user_error::UserError;
use anyhow::{Context as _, bail};
use espbench_engine::SeededCell;
use espbench_engine::run::{FAILURES_IN_A_ROW, check_thresholds, site_of};
use espbench_measure::cell::Origin;
use espbench_measure::live::WorkTime;
use espbench_measure::plan::{self, PlanSet, PlannedCell};
use espbench_measure::run::{RunFacts, Site};
use espbench_measure::settings::Settings;
use espbench_model::sample::Sample;
use espbench_model::workload::Workload;
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Exit status of a command that Ctrl-C or a termination signal stopped: 128 and the number of SIGINT,
/// as shells have it. What was measured until then is printed and stored.
pub(super) const STOPPED: u8 = 130;

/// Time after a signal in which another is the same one: a key that bounces, or a program that sends two.
const SAME: Duration = Duration::from_secs(1);

/// Returns a flag that Ctrl-C, a termination signal and the end of the terminal set; a second
/// signal ends the process at once, unless it comes within a second: then what was measured is being stored. Under `nohup` the terminal
/// may end. Where a program runs the command, the flag is that program's.
///
/// # Errors
/// The handler cannot be installed.
pub fn on_interrupt() -> anyhow::Result<Arc<AtomicBool>> {
    if let Some(cancel) = embed::cancel() {
        return Ok(cancel);
    }
    let cancel = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&cancel);
    let clock = Clock::start();
    let mut first = None;
    let nohup = sys::hangup::is_ignored();
    #[expect(clippy::exit, reason = "the user asked twice")]
    ctrlc::set_handler(move || {
        flag.store(true, Ordering::Relaxed);
        let now = clock.now();
        if now.since(*first.get_or_insert(now)) > SAME {
            std::process::exit(STOPPED.into());
        }
    })
    .context("cannot listen for Ctrl-C")?;
    if nohup {
        sys::hangup::ignore();
    }
    Ok(cancel)
}

/// Returns the exit status of work that a signal has stopped, or that came to its end.
pub fn status(cancel: &AtomicBool, whole: ExitCode) -> ExitCode {
    if cancel.load(Ordering::Relaxed) { ExitCode::from(STOPPED) } else { whole }
}

/// Returns the flag of [`on_interrupt`] for a run, which outlives its terminal: its result is the
/// store and not what is printed.
fn on_interrupt_of_run() -> anyhow::Result<Arc<AtomicBool>> {
    let cancel = on_interrupt()?;
    if !embed::is_one() {
        sys::hangup::ignore();
    }
    Ok(cancel)
}

/// Sees every sample as it comes, beside the progress: live lines, raw rows.
pub type Live<'a> = Box<dyn FnMut(&Sample) + 'a>;

/// A measurement: its plans, target and flags.
pub struct Measurement<'a> {
    /// The plans.
    pub set: PlanSet,
    /// The target as typed.
    pub target_text: String,
    /// The target.
    pub target: Box<dyn Target>,
    /// The flags.
    pub args: &'a MeasureArgs,
    /// Receiver of the samples as they come.
    pub live: Option<Live<'a>>,
    /// Output of `live` on stdout.
    pub prints: Prints,
    /// Lab in which the same plan is simulated afterwards.
    pub beside: Option<SideLab>,
    /// Part of the cells that is carried out.
    pub shard: Option<Shard>,
}

/// Output of a subcommand's live lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prints {
    /// Nothing: the progress has lines of its own.
    #[default]
    Nothing,
    /// Lines for people, and the report follows them.
    Lines,
    /// Rows for a program, which nothing else follows.
    Rows,
}

/// Fact of the host: the lab whose simulated devices were reached in real time.
const LIVE_LAB: &str = "live_lab";

/// Measures a new run and draws its report.
///
/// # Errors
/// Whatever kept it from measuring.
pub fn measure(mut job: Measurement<'_>) -> anyhow::Result<ExitCode> {
    check(&job)?;
    output::check(&job.args.output)?;
    let outlet = job.args.openmetrics.as_ref().map(Outlet::open).transpose()?;
    let mut store = job.args.store.open()?;
    let cancel = on_interrupt_of_run()?;
    let origin = job.target.origin();
    // What a simulation tells does not depend on this host.
    let real = origin.is_real_time();
    let overhead = if real { Some(calibrate::calibrate(&cancel)?) } else { None };
    let mut host = if real { sys::host::facts() } else { BTreeMap::new() };
    host.extend(job.target.live_lab().map(|it| (LIVE_LAB.to_owned(), it.words())));
    let facts = RunFacts {
        name: String::new(),
        tool: TOOL.into(),
        started: store.utc_now()?,
        target: job.target_text.clone(),
        origin,
        seed: job.args.seed.unwrap_or_else(|| job.set.seed()),
        plan_name: job.set.name(),
        plan_text: job.set.text(),
        site: site(&job),
        beside: None,
        fitted: job.target.fits(),
        library: job.target.library(),
        own_lab: job.target.is_own_lab(),
        host,
    };
    let run = store.begin(facts, overhead.as_ref(), &job.set)?;
    if !job.args.quiet {
        say!("run {}, stored in {}", run.facts.name, store.path().display());
    }
    let _lock = store.lock(&run)?;
    carry_out(&store, &run, &mut job, outlet, &cancel)
}

/// Goes on with a stored run.
///
/// # Errors
/// As [`measure`].
pub fn resume(
    store: &Store,
    run: &StoredRun,
    mut job: Measurement<'_>,
) -> anyhow::Result<ExitCode> {
    check(&job)?;
    output::check(&job.args.output)?;
    let outlet = job.args.openmetrics.as_ref().map(Outlet::open).transpose()?;
    let cancel = on_interrupt_of_run()?;
    let _lock = store.lock(run)?;
    // What another process did until it let go of the run is done.
    let run = &store.run(&run.facts.name)?;
    let open = run.open_cells().filter(|it| job.shard.is_none_or(|shard| shard.holds(it.position)));
    let open = open.count();
    let (name, all, path) = (&run.facts.name, run.cells.len(), store.path().display());
    if !job.args.quiet {
        say!("run {name}, stored in {path}: {open} of {all} cells to do");
    }
    carry_out(store, run, &mut job, outlet, &cancel)
}

/// Returns where and with what device is measured.
fn site(job: &Measurement<'_>) -> Site {
    let target = || job.target.site();
    if job.target.origin() == Origin::Simulated { site_of(&job.set, target) } else { target() }
}

/// Checks, before anything is measured, that the target can do all of the plan and that the metrics
/// of the thresholds exist.
fn check(job: &Measurement<'_>) -> anyhow::Result<()> {
    check_thresholds(&job.set)?;
    let real = job.target.origin().is_real_time();
    let cells = job.set.plans.iter().flat_map(|plan| &plan.workloads);
    for workload in cells.clone() {
        let of_lab = Settings::of_lab(workload);
        if real && let Some(setting) = of_lab.iter().next() {
            // A plan leaves out what every key of a lab has in a table.
            let key = setting.key().name();
            let key = key.strip_prefix("lab_").unwrap_or(key);
            bail!(
                UserError::new(format!("the plan sets `{key}` of a lab"))
                    .because(format!("{} is real", job.target_text))
                    .remedy("leave it out, or use --on sim")
            );
        }
        job.target.check(workload)?;
    }
    let cells: Vec<Workload> = cells.copied().collect();
    // The answer says it, too, on its first lines.
    if !job.args.quiet {
        job.target.notices(&cells).iter().for_each(|notice| say!("{notice}"));
    }
    Ok(())
}

/// The progress, what is told of the run while it goes, and a subcommand's live lines.
struct Watch<'a, 'b> {
    feed: Feed,
    progress: ProgressLine,
    live: &'a mut Option<Live<'b>>,
}

impl SampleObserver for Watch<'_, '_> {
    fn sample(&mut self, sample: &Sample) {
        self.progress.sample(sample);
        self.feed.sample(sample);
        if let Some(live) = self.live {
            live(sample);
        }
    }
}

fn carry_out(
    store: &Store,
    run: &StoredRun,
    job: &mut Measurement<'_>,
    outlet: Option<Outlet>,
    cancel: &Arc<AtomicBool>,
) -> anyhow::Result<ExitCode> {
    let shard = job.shard;
    let open = run.open_cells().filter(|it| shard.is_none_or(|shard| shard.holds(it.position)));
    let open: Vec<&StoredCell> = open.collect();
    let seeded = |it: &&StoredCell| SeededCell::new(it.position, it.step, run.facts.seed);
    job.target.prepare(&open.iter().map(seeded).collect::<Vec<_>>());
    let times: Vec<WorkTime> =
        open.iter().map(|cell| span(&cell.step.workload, job.target.origin())).collect();
    // On one terminal lines of JSON and a line that is drawn again and again do not go together.
    let mixed = job.args.output.format == Format::Jsonl && std::io::stdout().is_terminal();
    let mode = match job.prints {
        _ if job.args.quiet || mixed => ProgressMode::Quiet,
        Prints::Nothing => ProgressMode::Lines,
        Prints::Lines | Prints::Rows => ProgressMode::InPlace,
    };
    let feed = Feed::start(job.args, outlet, &run.facts, open.len())?;
    let mut watch = Watch { feed, progress: ProgressLine::new(&times, mode), live: &mut job.live };
    let recorder = Recorder::new(store, Arc::clone(cancel))?;
    let mut failures = Failures::default();
    let mut is_whole = open.is_empty();
    for (number, (cell, time)) in (1..).zip(open.iter().zip(&times)) {
        let placed = PlannedCell { workload: job.target.placed(&seeded(cell)), ..cell.step };
        watch.progress.begin_cell(&placed.workload, run.facts.origin, *time);
        watch.feed.begin(number, &placed, run.facts.origin);
        let target = &mut job.target;
        let result =
            recorder.cell(run, cell, &mut watch, |sink| target.run(&cell.step.workload, sink))?;
        if cancel.load(Ordering::Relaxed) && result.is_err() {
            break;
        }
        is_whole = number == open.len();
        let error = result.err();
        let text = error.as_ref().map(ToString::to_string);
        watch.feed.end(text.as_deref());
        failures.add(watch.progress.end(text.as_deref()), error);
        if failures.in_a_row >= FAILURES_IN_A_ROW {
            failures.given_up = open.len() - number;
            break;
        }
        if cancel.load(Ordering::Relaxed) {
            break;
        }
    }
    drop(watch);
    drop(recorder);
    let nothing = failures.measured == 0 && failures.first.is_some();
    if let Some(lab) = job.beside.as_ref().filter(|_| !nothing) {
        if cancel.load(Ordering::Relaxed) {
            is_whole = false;
            say!(
                "the lab beside it was not simulated: espbench report {} --beside",
                run.facts.name
            );
        } else {
            let cells = output::report(store, &run.facts.name)?.cells;
            lab.simulate(store, run, &cells, mode, cancel)?;
            is_whole = !cancel.load(Ordering::Relaxed);
        }
    }
    let quiet = job.args.quiet;
    let ended = EndedRun { store, name: &run.facts.name, failures, shard, quiet };
    let whole = finish(ended, &job.args.output, job.prints)?;
    // A signal that came after the last cell has cut nothing.
    Ok(if is_whole { whole } else { status(cancel, whole) })
}

/// A run, or its shard, of which nothing is left to do or to try.
struct EndedRun<'a> {
    store: &'a Store,
    name: &'a str,
    failures: Failures,
    shard: Option<Shard>,
    quiet: bool,
}

/// Cells that failed. Until one is measured their lines are held back: where none is, one error says it
/// all.
#[derive(Debug, Default)]
struct Failures {
    measured: usize,
    failed: usize,
    in_a_row: usize,
    /// The first error.
    first: Option<UserError>,
    /// Lines that nobody has seen yet.
    held: Vec<String>,
    /// Cells that were not tried any more.
    given_up: usize,
}

impl Failures {
    /// Counts a cell with its line and its error.
    fn add(&mut self, line: String, error: Option<UserError>) {
        if error.is_none() {
            (self.measured, self.in_a_row) = (self.measured + 1, 0);
        } else {
            (self.failed, self.in_a_row) = (self.failed + 1, self.in_a_row + 1);
            self.held.push(line);
            self.first = self.first.take().or(error);
        }
        if self.measured > 0 {
            self.held.drain(..).for_each(|line| say!("{line}"));
        }
    }

    /// Tells the end of a run in which nothing was measured, with what to do; otherwise what was given
    /// up.
    fn tell(self, run: &str) {
        let tries = self.failed + self.given_up;
        match self.first {
            Some(first) if self.measured == 0 => {
                let resume = format!("espbench run --resume {run}");
                let remedy = match first.remedy.as_str() {
                    "" => resume,
                    remedy => format!("{remedy}; then {resume}"),
                };
                let cells = match tries {
                    1 => String::new(),
                    tries => format!(" in {} of {tries} cells", self.failed),
                };
                let what = format!("no result{cells}: {}", first.what);
                UserError { what, remedy, ..first }.say();
            }
            _ if self.given_up > 0 => {
                say!(
                    "{} cells in a row failed: {} further ones were not tried",
                    self.in_a_row,
                    self.given_up
                );
            }
            _ => {}
        }
    }
}

/// Returns how long a cell takes: in the lab as long as the processor needs for it.
fn span(work: &Workload, origin: Origin) -> WorkTime {
    match origin {
        Origin::Simulated => WorkTime::Guessed(plan::expected(work)),
        Origin::Measured | Origin::Live | Origin::Published => plan::span(work),
    }
}

/// Draws the report of a run, and says where it is and how to complete it.
fn finish(ended: EndedRun<'_>, args: &OutputArgs, prints: Prints) -> anyhow::Result<ExitCode> {
    let EndedRun { store, name, failures, shard, quiet } = ended;
    let report = output::report(store, name)?;
    let written = output::files(&report, args, quiet);
    // Without a result there is nothing for people to read but the error.
    let nothing = failures.measured == 0 && failures.first.is_some() && report.has_only_causes();
    // Nor is a part of the results one.
    let brief = args.format == Format::Text && !args.full;
    let shown = prints != Prints::Rows && !((nothing || shard.is_some()) && brief);
    // The run was carried out whether or not somebody could read of it.
    if shown && let Err(error) = output::show(&report, args) {
        say!(
            "espbench: {error:#}: the report is not whole there; draw it again: espbench report {name}"
        );
    }
    written.with_context(|| format!("nothing is lost: espbench report {name} -o FILE"))?;
    // Only a list of runs is faster by it.
    if !report.checks.is_empty()
        && let Err(error) =
            store.run(name).and_then(|it| store.keep_outcome(&it, output::outcome(&report)))
    {
        say!("espbench: the outcome of the thresholds is not kept for `espbench runs`: {error}");
    }
    failures.tell(name);
    if nothing {
        return Ok(ExitCode::from(2));
    }
    if let Some(shard) = shard {
        return shard.tell(&store.run(name)?, store.path());
    }
    for line in report.doubts() {
        say!("espbench: {line}");
    }
    if report.incomplete || !report.failures.is_empty() {
        // The answer of a run that was stopped says it.
        if !(brief && shown) || report.stopped.is_empty() {
            say!("to measure what is missing: espbench run --resume {name}");
        }
        return Ok(ExitCode::from(2));
    }
    // Where no cell has any of the figures that lead, nothing could be measured.
    let mut rows = report.glance.iter().flat_map(|it| &it.rows);
    if rows.all(|it| it.values.iter().all(Option::is_none)) {
        return Ok(ExitCode::from(2));
    }
    Ok(if report.checks.iter().all(|check| check.passed) {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// Plans that cannot be combined are refused before anything is measured.
///
/// # Errors
/// No plan at all.
pub fn set_of(plans: Vec<espbench_measure::plan::Plan>) -> anyhow::Result<PlanSet> {
    if plans.is_empty() {
        bail!("no plan: name a built-in plan or a TOML file");
    }
    Ok(PlanSet { plans })
}

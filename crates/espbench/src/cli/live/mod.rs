//! Output while a run goes: `--format jsonl` on stdout, `--openmetrics` in a file or over HTTP.
//!
//! The measuring thread only adds each sample to a meter and hands intervals on; writing is done by
//! threads of their own, which may be slow or fail without a consequence for the run.

mod lines;
mod metrics;

pub use metrics::{Outlet, Where, parse};

use super::common::{Format, MeasureArgs};
use crate::render::openmetrics::{Figures, Snapshot};
use crate::user_error::UserError;
use espbench_measure::cell::Origin;
use espbench_measure::label;
use espbench_measure::live::Meter;
use espbench_measure::live::event::{At, IntervalFigures, LiveEvent};
use espbench_measure::plan::PlannedCell;
use espbench_measure::run::RunFacts;
use espbench_measure::settings::Settings;
use espbench_model::sample::Sample;
use lines::LineWriter;
use metrics::Metrics;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// Cells that are over and still shown.
const SHOWN: usize = 256;

/// Tells what happens; without `--format jsonl` and `--openmetrics` it does nothing.
#[derive(Debug)]
pub struct Feed {
    now: Arc<Now>,
    lines: Option<LineWriter>,
    metrics: Option<Metrics>,
}

/// The run so far, for the threads that tell of it.
#[derive(Debug)]
struct Now {
    /// The run, which does not change.
    run: Snapshot,
    begun: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    present: Option<(At, String)>,
    meter: Meter,
    over: VecDeque<Arc<Figures>>,
    done: u64,
    failed: u64,
    is_over: bool,
}

impl Feed {
    /// Begins to tell of a run with so many cells to do.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn start(
        args: &MeasureArgs,
        outlet: Option<Outlet>,
        facts: &RunFacts,
        cells: usize,
    ) -> Result<Self, UserError> {
        let run = Snapshot {
            run: facts.name.clone(),
            target: facts.target.clone(),
            plan: facts.plan_name.clone(),
            origin: facts.origin.name(),
            planned: cells,
            ..Snapshot::default()
        };
        let now = Arc::new(Now { run, begun: Instant::now(), state: Mutex::default() });
        let prints = args.output.format == Format::Jsonl;
        let lines = prints.then(|| LineWriter::start(Arc::clone(&now))).transpose()?;
        let metrics = outlet.map(|it| Metrics::start(it, Arc::clone(&now))).transpose()?;
        let feed = Self { now, lines, metrics };
        feed.tell(|| LiveEvent::run(facts, cells));
        Ok(feed)
    }

    fn is_idle(&self) -> bool {
        self.lines.is_none() && self.metrics.is_none()
    }

    fn tell(&self, event: impl FnOnce() -> LiveEvent) {
        if let Some(lines) = &self.lines {
            lines.tell(&event());
        }
    }

    /// Begins a cell: its number among those to do, and its step.
    pub fn begin(&self, number: usize, step: &PlannedCell, origin: Origin) {
        if self.is_idle() {
            return;
        }
        let run = &self.now.run;
        let at = At::new(&run.run, (number, run.planned), step).later(self.now.begun.elapsed());
        self.tell(|| LiveEvent::CellBegin { at: at.clone() });
        let settings = Settings::of(&step.workload);
        let place = label::place(step.workload.kind(), &settings, step.repetition);
        let mut state = self.now.lock();
        (state.present, state.meter) = (Some((at, place)), Meter::new(&step.workload, origin));
    }

    /// Adds a sample.
    pub fn sample(&self, sample: &Sample) {
        if self.is_idle() {
            return;
        }
        let mut state = self.now.lock();
        state.meter.add(sample);
        if let (Sample::Interval(interval), Some((at, _))) = (sample, &state.present)
            && self.lines.is_some()
        {
            let at = at.later(self.now.begun.elapsed());
            drop(state);
            self.tell(|| LiveEvent::Interval { at, interval: IntervalFigures::of(interval) });
        }
    }

    /// Ends the cell; `error` tells why it failed.
    pub fn end(&self, error: Option<&str>) {
        if self.is_idle() {
            return;
        }
        let mut state = self.now.lock();
        let Some((at, place)) = state.present.take() else { return };
        let meter = std::mem::take(&mut state.meter);
        state.over.push_back(Arc::new(figures(&at, place, &meter)));
        if state.over.len() > SHOWN {
            state.over.pop_front();
        }
        state.done += 1;
        state.failed += u64::from(error.is_some());
        drop(state);
        let at = at.later(self.now.begun.elapsed());
        if meter.tally.has_probes() {
            self.tell(|| LiveEvent::probes(at.clone(), &meter.tally, meter.times()));
        }
        self.tell(|| LiveEvent::CellEnd { at, error: error.map(ToOwned::to_owned) });
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.now.lock().is_over = true;
    }
}

impl Now {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the fates of the present cell's probes so far; `None` where there are none.
    fn probes(&self) -> Option<LiveEvent> {
        let (at, meter) = {
            let state = self.lock();
            let (at, _) = state.present.as_ref()?;
            (at.later(self.begun.elapsed()), state.meter.clone())
        };
        meter.tally.has_probes().then(|| LiveEvent::probes(at, &meter.tally, meter.times()))
    }

    /// Returns the figures so far. The lock is held for copying only: the measuring thread waits
    /// for it.
    fn snapshot(&self) -> Snapshot {
        let (mut cells, present, counts) = {
            let state = self.lock();
            let present = state.present.clone().map(|it| (it, state.meter.clone()));
            let cells: Vec<Arc<Figures>> = state.over.iter().cloned().collect();
            (cells, present, (state.done, state.failed, !state.is_over))
        };
        cells.extend(present.map(|((at, place), meter)| Arc::new(figures(&at, place, &meter))));
        let (done, failed, active) = counts;
        Snapshot { active, done, failed, cells, ..self.run.clone() }
    }
}

fn figures(at: &At, place: String, meter: &Meter) -> Figures {
    Figures {
        number: at.cell,
        place,
        tally: meter.tally,
        times: meter.times(),
        streams: meter.streams.clone(),
    }
}

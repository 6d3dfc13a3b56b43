//! Threads that simulate cells before they are asked for, in bounded memory.
//!
//! Cells are begun in the order in which they will be asked for. What they give waits, in that
//! order; whoever asks for the first gets its samples as they come. Where too many wait, the threads
//! wait as well: those of later cells for all samples, that of the first for its own.

use crate::target::{Sink, TargetError};
use espbench_engine::SeededCell;
use espbench_model::sample::Sample;
use espbench_model::workload::Workload;
use espbench_sim::lab::record::Record;
use std::any::Any;
use std::collections::VecDeque;
use std::fmt;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// Cells that were begun and not yet asked for: so that a long one holds nobody up.
const CELLS: usize = 64;
/// Samples that wait, 144 bytes each.
const SAMPLES: usize = 400_000;
/// Samples that a thread hands over at once.
const BATCH: usize = 512;
/// How often whoever waits looks whether to stop.
const LOOK: Duration = Duration::from_millis(50);

/// One of the announced cells, with its number among them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Order {
    pub(super) number: usize,
    pub(super) cell: SeededCell,
}

/// Carries a cell out.
type CarryOut = dyn Fn(Order, &mut dyn Record) -> Result<(), TargetError> + Send + Sync;

/// Cells in the making.
#[derive(Debug)]
pub(super) struct Ahead {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
}

struct Shared {
    carry_out: Box<CarryOut>,
    /// Samples that may wait.
    most: usize,
    state: Mutex<State>,
    /// Something has come, or there is room for more.
    changed: Condvar,
    stop: AtomicBool,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Shared").field("state", &self.state).finish_non_exhaustive()
    }
}

#[derive(Debug, Default)]
struct State {
    /// Cells that nobody has begun.
    to_do: VecDeque<SeededCell>,
    /// Cells that were begun and are not fully given; the first of them has this number.
    first: usize,
    cells: VecDeque<Cell>,
    /// Samples in all of them.
    waiting: usize,
}

/// Samples and counters of a cell that nobody has taken yet.
#[derive(Debug)]
struct Cell {
    work: Workload,
    samples: Vec<Sample>,
    counts: Vec<(String, u64)>,
    facts: Vec<(String, String)>,
    end: Option<Result<(), TargetError>>,
}

impl Shared {
    /// Locks the state. A thread that panicked leaves it whole: it is changed in single steps.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins the next cell, once there is room; `None` when there are no more.
    fn begin(&self) -> Option<Order> {
        let mut state = self.lock();
        loop {
            if self.stop.load(Ordering::Relaxed) || state.to_do.is_empty() {
                return None;
            }
            // The one that is asked for next goes on whatever the others hold.
            let room = state.cells.len() < CELLS && state.waiting < self.most;
            if room || state.cells.is_empty() {
                break;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let cell = state.to_do.pop_front()?;
        let work = cell.step.workload;
        let number = state.first + state.cells.len();
        let (samples, counts, facts) = (Vec::new(), Vec::new(), Vec::new());
        state.cells.push_back(Cell { work, samples, counts, facts, end: None });
        Some(Order { number, cell })
    }

    /// Changes a cell that was begun.
    fn with(&self, number: usize, change: impl FnOnce(&mut State, usize)) {
        let mut state = self.lock();
        let index = number - state.first;
        change(&mut state, index);
        drop(state);
        self.changed.notify_all();
    }

    /// Waits until there is room for more samples of a cell.
    fn wait_for_room(&self, number: usize) {
        let mut state = self.lock();
        while !self.stop.load(Ordering::Relaxed) {
            let full = match number - state.first {
                0 => state.cells[0].samples.len() >= self.most,
                _ => state.waiting >= self.most,
            };
            if !full {
                return;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Simulates the next cell; false when there are no more. `waits`: somebody else takes what it
    /// gives. A panic is the end of that cell and of nothing else.
    fn simulate(&self, waits: bool) -> bool {
        let Some(order) = self.begin() else { return false };
        let mut hand = CellRecord { shared: self, number: order.number, waits, batch: Vec::new() };
        let done = catch_unwind(AssertUnwindSafe(|| (self.carry_out)(order, &mut hand)));
        hand.end(done.unwrap_or_else(|panic| Err(broken(order.cell.seeds.cell, &*panic))));
        true
    }

    /// Ends all threads. With the lock: a thread that has looked and is about to wait hears it.
    fn halt(&self) {
        let state = self.lock();
        self.stop.store(true, Ordering::Relaxed);
        drop(state);
        self.changed.notify_all();
    }
}

/// The record of a cell in the making.
struct CellRecord<'a> {
    shared: &'a Shared,
    number: usize,
    waits: bool,
    batch: Vec<Sample>,
}

impl CellRecord<'_> {
    fn hand_over(&mut self) {
        if self.waits {
            self.shared.wait_for_room(self.number);
        }
        let batch = std::mem::take(&mut self.batch);
        self.shared.with(self.number, |state, index| {
            state.waiting += batch.len();
            state.cells[index].samples.extend(batch);
        });
    }

    fn end(&mut self, result: Result<(), TargetError>) {
        self.hand_over();
        self.shared.with(self.number, |state, index| state.cells[index].end = Some(result));
    }
}

/// Returns the error of a cell whose simulation panicked.
fn broken(seed: u64, panic: &(dyn Any + Send)) -> TargetError {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    TargetError::Simulated {
        target: "sim".into(),
        why: format!(
            "the simulation of this cell broke down ({text}); its seed is {seed}. Please report it \
             with the plan"
        ),
    }
}

impl Record for CellRecord<'_> {
    fn sample(&mut self, sample: Sample) {
        self.batch.push(sample);
        if self.batch.len() >= BATCH {
            self.hand_over();
        }
    }

    fn count(&mut self, name: &str, by: u64) {
        let count = (name.to_owned(), by);
        self.shared.with(self.number, |state, index| state.cells[index].counts.push(count));
    }

    fn fact(&mut self, name: &str, value: String) {
        let fact = (name.to_owned(), value);
        self.shared.with(self.number, |state, index| state.cells[index].facts.push(fact));
    }

    fn cancelled(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }
}

impl Ahead {
    /// Begins with the first of these cells.
    pub(super) fn start(
        cells: Vec<SeededCell>,
        threads: NonZeroUsize,
        carry_out: Box<CarryOut>,
    ) -> Self {
        Self::with(cells, threads.get(), SAMPLES, carry_out)
    }

    fn with(cells: Vec<SeededCell>, threads: usize, most: usize, carry_out: Box<CarryOut>) -> Self {
        let count = threads.min(cells.len());
        let shared = Arc::new(Shared {
            carry_out,
            most,
            state: Mutex::new(State { to_do: cells.into(), ..State::default() }),
            changed: Condvar::new(),
            stop: AtomicBool::new(false),
        });
        let thread = |number: usize| {
            let shared = Arc::clone(&shared);
            let named = std::thread::Builder::new().name(format!("sim-{number}"));
            named.spawn(move || while shared.simulate(true) {}).ok()
        };
        let threads = (0..count).filter_map(thread).collect();
        Self { shared, threads }
    }

    /// Returns the cell that [`Ahead::give`] gives next.
    pub(super) fn next(&self) -> Option<Workload> {
        let state = self.shared.lock();
        let begun = state.cells.front().map(|cell| cell.work);
        begun.or_else(|| state.to_do.front().map(|cell| cell.step.workload))
    }

    /// Gives the next cell, as it comes.
    pub(super) fn give(&self, sink: &mut dyn Sink) -> Result<(), TargetError> {
        if self.threads.is_empty() {
            // There was no thread to be had: it is done here.
            self.shared.simulate(false);
        }
        loop {
            if sink.cancelled() {
                self.shared.halt();
                return Err(TargetError::Cancelled);
            }
            let (samples, whole) = self.take();
            samples.into_iter().for_each(|sample| sink.sample(sample));
            if let Some(cell) = whole {
                cell.counts.iter().for_each(|(name, by)| sink.count(name, *by));
                for (name, value) in cell.facts {
                    sink.fact(&name, value);
                }
                return cell.end.unwrap_or(Err(TargetError::Cancelled));
            }
        }
    }

    /// Takes the samples that have come of the first cell, and the cell once that is all. Waits a
    /// little for them.
    fn take(&self) -> (Vec<Sample>, Option<Cell>) {
        let mut state = self.shared.lock();
        let nothing = |state: &mut State| {
            state.cells.front().is_none_or(|cell| cell.samples.is_empty() && cell.end.is_none())
        };
        if nothing(&mut state) {
            let waited = self.shared.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        let Some(cell) = state.cells.front_mut() else { return (Vec::new(), None) };
        let samples = std::mem::take(&mut cell.samples);
        state.waiting -= samples.len();
        let whole = state.cells.pop_front_if(|cell| cell.end.is_some());
        state.first += usize::from(whole.is_some());
        drop(state);
        self.shared.changed.notify_all();
        (samples, whole)
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        self.shared.halt();
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests;

//! Takes samples from a target and has them written by a thread of its own, so that the disk is
//! not in the measuring loop.

use super::checksum::{CellSums, outcome};
use super::consoles::CONSOLE_TABLE;
use super::{Store, StoreError, StoredCell, StoredRun, rows, wrap};
use crate::target::Sink;
use crate::user_error::UserError;
use espbench_measure::cell::Origin;
use espbench_measure::live::FateCounts;
use espbench_measure::run::Recorded;
use espbench_model::fact;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;
use espbench_model::workload::Workload;
use rusqlite::params;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

/// Samples that go to the writer at once.
const BATCH: usize = 1024;
/// Bytes of a console that go to the writer at once.
const CONSOLE_ROW: usize = 4096;
/// Batches that may wait for the disk: 16 MiB of samples.
const WAITING: usize = 256;

/// Sees samples and counters as they come: for progress and live lines, not for statistics.
pub trait SampleObserver {
    /// Takes note of a recorded sample.
    fn sample(&mut self, sample: &Sample);
}

impl SampleObserver for () {
    fn sample(&mut self, _: &Sample) {}
}

enum WriterJob {
    Samples(i64, Vec<Sample>),
    /// Bytes that a console printed.
    Console(i64, ConsoleBytes),
    /// Forget what an earlier try at the cell left.
    Clear(i64),
    /// The cell ended; the answer says whether all of it is on disk.
    End(Box<CellEnd>, SyncSender<Result<(), StoreError>>),
}

/// Bytes that the console on a port printed.
struct ConsoleBytes {
    port: String,
    at: Instant,
    bytes: Vec<u8>,
}

struct CellEnd {
    cell: i64,
    counters: BTreeMap<String, u64>,
    facts: BTreeMap<String, String>,
    error: Option<String>,
    status: &'static str,
}

/// Writes the cells of one run.
#[derive(Debug)]
pub struct Recorder {
    jobs: Option<SyncSender<WriterJob>>,
    writer: Option<JoinHandle<()>>,
    cancel: Arc<AtomicBool>,
    /// Set by the writer once it can write no more: no sense in measuring on.
    broken: Arc<AtomicBool>,
}

/// The sink of one cell.
pub struct CellSink<'a> {
    recorder: &'a Recorder,
    observer: &'a mut dyn SampleObserver,
    cell: i64,
    /// Whether samples are simulated: then time stands still while the disk is waited for.
    simulated: bool,
    batch: Vec<Sample>,
    /// Bytes of consoles that are not written yet.
    consoles: Vec<ConsoleBytes>,
    tally: FateCounts,
    counters: BTreeMap<String, u64>,
    facts: BTreeMap<String, String>,
    /// Whether the work was told to stop.
    told: std::cell::Cell<bool>,
}

impl Recorder {
    /// Creates a recorder for runs of `store`; `cancel` is the flag on which targets stop.
    ///
    /// # Errors
    /// The store cannot be opened a second time, or no thread can be had.
    pub fn new(store: &Store, cancel: Arc<AtomicBool>) -> Result<Self, StoreError> {
        let store = store.reopen()?;
        let (jobs, work) = sync_channel(WAITING);
        let broken = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&broken);
        let writer = std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || write(store, &work, &flag))
            .map_err(|e| StoreError::Unusable {
                path: "the recorder".into(),
                why: format!("no thread for it: {e}"),
            })?;
        Ok(Self { jobs: Some(jobs), writer: Some(writer), cancel, broken })
    }

    /// Measures one cell: `work` gets the sink. What was recorded is on disk when this returns. Of a real
    /// target, a cell without one valid sample has failed, whatever `work` says.
    ///
    /// # Errors
    /// The store's; the inner result is that of `work`, in words.
    pub fn cell<E: Into<UserError>>(
        &self,
        run: &StoredRun,
        cell: &StoredCell,
        observer: &mut dyn SampleObserver,
        work: impl FnOnce(&mut CellSink<'_>) -> Result<(), E>,
    ) -> Result<Result<(), UserError>, StoreError> {
        debug_assert!(run.cells.iter().any(|c| c.id == cell.id), "the cell is of this run");
        self.send(WriterJob::Clear(cell.id));
        let mut sink = CellSink {
            recorder: self,
            observer,
            cell: cell.id,
            simulated: run.facts.origin == Origin::Simulated,
            batch: Vec::with_capacity(BATCH),
            consoles: Vec::new(),
            tally: FateCounts::default(),
            counters: BTreeMap::new(),
            facts: BTreeMap::new(),
            told: std::cell::Cell::new(false),
        };
        let result = work(&mut sink).map_err(Into::into);
        let result = result.and_then(|()| sink.measured(&cell.step.workload));
        sink.flush();
        // A cell that the user stopped is open: it is measured again on resume. One that came to its end before it
        // heard of the signal is done.
        let is_whole = result.is_ok() && !sink.told.get();
        let is_stopped = self.cancel.load(Ordering::Relaxed) && !is_whole;
        let result = if is_stopped { Err(UserError::new("stopped")) } else { result };
        if is_stopped {
            sink.fact(fact::STOPPED, "before its end".into());
        }
        let status = match &result {
            _ if is_stopped => "pending",
            Ok(()) => "done",
            Err(_) => "failed",
        };
        let end = CellEnd {
            cell: cell.id,
            counters: sink.counters,
            facts: sink.facts,
            error: result.as_ref().err().filter(|_| !is_stopped).map(ToString::to_string),
            status,
        };
        let (answer, written) = sync_channel(1);
        self.send(WriterJob::End(Box::new(end), answer));
        // The writer answers every End; it is gone only if it panicked.
        written.recv().unwrap_or_else(|_| {
            let why = "its writer ended".into();
            Err(StoreError::Unusable { path: "the recorder".into(), why })
        })?;
        Ok(result)
    }

    /// Records a cell as it was recorded elsewhere, in the same steps, so that the file is equal, too. What
    /// happened to the cell was told there.
    pub(super) fn again(
        &self,
        run: &StoredRun,
        cell: &StoredCell,
        recorded: &Recorded,
    ) -> Result<(), StoreError> {
        let result = self.cell(run, cell, &mut (), |sink| {
            recorded.samples.iter().for_each(|it| sink.sample(*it));
            recorded.counters.iter().for_each(|(name, by)| sink.count(name, *by));
            recorded.facts.iter().for_each(|(name, value)| sink.fact(name, value.clone()));
            recorded.error.as_ref().map_or(Ok(()), |error| Err(UserError::new(error)))
        });
        result.map(|_| ())
    }

    /// Hands a job to the writer; true if that had to wait.
    fn send(&self, job: WriterJob) -> bool {
        let Some(jobs) = &self.jobs else { return false };
        match jobs.try_send(job) {
            Ok(()) | Err(TrySendError::Disconnected(_)) => false,
            Err(TrySendError::Full(job)) => {
                let _ = jobs.send(job);
                true
            }
        }
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}

impl CellSink<'_> {
    /// Fails a real target's cell without one valid sample. A cell that the lab simulates is a
    /// result even where all is lost.
    fn measured(&self, workload: &Workload) -> Result<(), UserError> {
        let nothing = if self.simulated { None } else { self.tally.nothing(workload) };
        nothing.map_or(Ok(()), |what| Err(UserError::new(what)))
    }

    /// Keeps bytes of a console. What comes in one piece after another of a port is one row.
    fn printed(&mut self, port: &str, at: Instant, bytes: &[u8]) {
        let it = match self.consoles.iter_mut().find(|it| it.port == port) {
            Some(it) => it,
            None => {
                self.consoles.push(ConsoleBytes { port: port.into(), at, bytes: Vec::new() });
                let Some(it) = self.consoles.last_mut() else { return };
                it
            }
        };
        if it.bytes.is_empty() {
            it.at = at;
        }
        it.bytes.extend_from_slice(bytes);
        if it.bytes.len() >= CONSOLE_ROW {
            let row =
                ConsoleBytes { port: port.into(), at: it.at, bytes: std::mem::take(&mut it.bytes) };
            self.recorder.send(WriterJob::Console(self.cell, row));
        }
    }

    fn flush(&mut self) {
        for it in std::mem::take(&mut self.consoles).into_iter().filter(|it| !it.bytes.is_empty()) {
            self.recorder.send(WriterJob::Console(self.cell, it));
        }
        if self.batch.is_empty() {
            return;
        }
        let batch = std::mem::replace(&mut self.batch, Vec::with_capacity(BATCH));
        if self.recorder.send(WriterJob::Samples(self.cell, batch)) && !self.simulated {
            self.count("recorder-stalls", 1);
        }
    }
}

impl Sink for CellSink<'_> {
    fn sample(&mut self, sample: Sample) {
        self.observer.sample(&sample);
        self.tally.add(&sample);
        self.batch.push(sample);
        if self.batch.len() >= BATCH {
            self.flush();
        }
    }

    fn count(&mut self, name: &str, by: u64) {
        *self.counters.entry(name.into()).or_default() += by;
    }

    fn fact(&mut self, name: &str, value: String) {
        self.facts.insert(name.into(), value);
    }

    fn console(&mut self, port: &str, at: Instant, bytes: &[u8]) {
        self.printed(port, at, bytes);
    }

    fn cancelled(&self) -> bool {
        let is_cancelled = self.recorder.cancel.load(Ordering::Relaxed)
            || self.recorder.broken.load(Ordering::Relaxed);
        self.told.set(self.told.get() || is_cancelled);
        is_cancelled
    }
}

/// Runs the writer's loop. After a failure it takes jobs and drops them, and every `CellEnd` gets the
/// error.
fn write(mut store: Store, work: &Receiver<WriterJob>, broken: &AtomicBool) {
    let mut failed: Option<rusqlite::Error> = None;
    // Of the cell that is measured.
    let mut sums = CellSums::default();
    for job in work {
        let result = match &failed {
            Some(_) => Ok(()),
            None => apply(&mut store, &job, &mut sums),
        };
        if let Err(error) = result {
            broken.store(true, Ordering::Relaxed);
            failed = Some(error);
        }
        if let WriterJob::End(_, answer) = job {
            let _ = answer.send(match failed.take() {
                Some(error) => Err(wrap(&store.path, error)),
                None => Ok(()),
            });
        }
    }
}

fn apply(store: &mut Store, job: &WriterJob, sums: &mut CellSums) -> rusqlite::Result<()> {
    let transaction =
        store.db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
    match job {
        WriterJob::Samples(cell, samples) => rows::insert(&transaction, *cell, samples, sums)?,
        WriterJob::Console(cell, it) => {
            transaction.execute_batch(CONSOLE_TABLE)?;
            let row = params![cell, it.port, rows::nanos(it.at), it.bytes];
            transaction.execute("INSERT INTO console VALUES (?1, ?2, ?3, ?4)", row)?;
        }
        WriterJob::Clear(cell) => {
            *sums = CellSums::default();
            transaction.execute("DELETE FROM probe WHERE cell_id = ?1", [cell])?;
            transaction.execute("DELETE FROM interval WHERE cell_id = ?1", [cell])?;
            transaction.execute(
                "UPDATE cell SET status = 'pending', error = NULL, counters = '{}', facts = '{}' WHERE id = ?1",
                [cell],
            )?;
        }
        WriterJob::End(end, _) => {
            let CellEnd { cell, status, error, .. } = &**end;
            let (counters, facts) = (rows::json(&end.counters), rows::json(&end.facts));
            sums.outcome =
                outcome(&transaction, *cell, status, error.as_deref(), &counters, &facts)?;
            let mut facts = end.facts.clone();
            sums.put(&mut facts);
            transaction.execute(
                "UPDATE cell SET status = ?2, error = ?3, counters = ?4, facts = ?5 WHERE id = ?1",
                params![cell, status, error, counters, rows::json(&facts)],
            )?;
        }
    }
    transaction.commit()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::CellStatus;
    use espbench_measure::plan::PlanSet;
    use espbench_measure::run::RunFacts;
    use espbench_model::sample::Probe;

    const PLAN: &str = "name = \"p\"\n[[measure]]\nkind = \"udp-echo\"\n";

    /// A signal that comes once all samples are there has cut nothing; one that the work heard of has.
    #[test]
    fn a_cell_is_cut_by_a_signal_that_it_heard_of() {
        for (hears, wanted) in [(false, CellStatus::Done), (true, CellStatus::Stopped)] {
            let folder = tempfile::tempdir().unwrap();
            let mut store = Store::open(&folder.path().join("runs.sqlite")).unwrap();
            let facts = RunFacts { plan_text: PLAN.into(), ..RunFacts::default() };
            let run = store.begin(facts, None, &PlanSet::parse(PLAN).unwrap()).unwrap();
            let cancel = Arc::new(AtomicBool::new(false));
            let recorder = Recorder::new(&store, Arc::clone(&cancel)).unwrap();
            let result = recorder.cell(&run, &run.cells[0], &mut (), |sink| {
                sink.sample(Sample::Probe(Probe::default()));
                cancel.store(true, Ordering::Relaxed);
                let _ = hears && sink.cancelled();
                Ok::<(), UserError>(())
            });
            assert_eq!(result.unwrap().is_err(), hears);
            drop(recorder);
            assert_eq!(store.run("p-1").unwrap().cells[0].status, wanted, "{hears}");
        }
    }
}

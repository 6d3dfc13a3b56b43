//! Records of cells, compared with their checksums.

use super::checksum::{self, CellSums};
use super::{CellStatus, STOPPED, Store, StoreError, StoredCell, StoredRun, rows};
use espbench_measure::columns::SampleTable;
use espbench_measure::run::Recorded;
use espbench_model::sample::Sample;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// Facts of a cell, beside samples.
struct Outcome {
    status: String,
    error: Option<String>,
    counters: String,
    facts: BTreeMap<String, String>,
    /// Checksum that was stored with it.
    sums: Option<CellSums>,
}

impl Store {
    /// Returns what was recorded for one cell; `None` while it is pending.
    ///
    /// # Errors
    /// SQLite's, or [`StoreError::Unusable`] for rows that make no sense or are not those that were recorded.
    pub fn recorded(&self, cell: &StoredCell) -> Result<Option<Recorded>, StoreError> {
        if cell.status == CellStatus::Pending {
            return Ok(None);
        }
        let Outcome { status, error, counters, facts, sums } = self.recorded_outcome(cell)?;
        let (samples, mut own) = rows::samples(&self.db, cell.id).map_err(|e| self.wrap(e))?;
        if let Some(sums) = sums {
            let text = rows::json(&facts);
            let error = error.as_deref();
            let outcome = checksum::outcome(&self.db, cell.id, &status, error, &counters, &text);
            own.outcome = outcome.map_err(|e| self.wrap(e))?;
            self.compare(cell, own == sums)?;
        }
        Ok(Some(Recorded {
            ordinal: cell.step.ordinal,
            repetition: cell.step.repetition,
            workload: cell.step.workload,
            samples,
            counters: rows::from_json(&counters).map_err(|e| self.wrong(cell, e))?,
            facts,
            error,
        }))
    }

    fn recorded_outcome(&self, cell: &StoredCell) -> Result<Outcome, StoreError> {
        let query = "SELECT status, error, counters, facts FROM cell WHERE id = ?1";
        let row = self.db.query_row(query, [cell.id], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, String>(3)?))
        });
        let (status, error, counters, facts) = row.map_err(|e| self.wrap(e))?;
        let mut facts = rows::from_json(&facts).map_err(|e| self.wrong(cell, e))?;
        let sums = CellSums::take(&mut facts).map_err(|e| self.wrong(cell, e))?;
        Ok(Outcome { status, error, counters, facts, sums })
    }

    fn wrong(&self, cell: &StoredCell, why: impl std::fmt::Display) -> StoreError {
        self.unusable(format!("cell {}: {why}", cell.position + 1))
    }

    /// Refuses a cell that is not as it was recorded.
    fn compare(&self, cell: &StoredCell, is_equal: bool) -> Result<(), StoreError> {
        if is_equal {
            return Ok(());
        }
        let why = "what it holds has another checksum than what was recorded: the file is damaged";
        Err(self.wrong(cell, why))
    }

    /// Hands over the samples of a cell one at a time, in the order in which they were recorded; none
    /// while it is pending. The taker may break off.
    ///
    /// # Errors
    /// SQLite's, or [`StoreError::Unusable`], at their end, for samples that are not those that were recorded.
    pub fn each_sample(
        &self,
        cell: &StoredCell,
        table: SampleTable,
        take: impl FnMut(&Sample) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        if cell.status == CellStatus::Pending {
            return Ok(());
        }
        let sums = self.recorded_outcome(cell)?.sums;
        let own = rows::each(&self.db, cell.id, table, take).map_err(|e| self.wrap(e))?;
        let told = sums.map(|sums| match table {
            SampleTable::Probes => sums.probes,
            SampleTable::Intervals => sums.intervals,
        });
        self.compare(cell, own.zip(told).is_none_or(|(own, told)| own == told))
    }

    /// Returns whether a cell of the run that is not pending has such samples.
    ///
    /// # Errors
    /// SQLite's.
    pub fn has_samples(&self, run: &StoredRun, table: SampleTable) -> Result<bool, StoreError> {
        let table = match table {
            SampleTable::Probes => "probe",
            SampleTable::Intervals => "interval",
        };
        let query = format!(
            "SELECT EXISTS (SELECT 1 FROM cell JOIN {table} ON {table}.cell_id = cell.id
                            WHERE cell.run_id = ?1 AND (cell.status <> 'pending' OR {STOPPED}))"
        );
        self.db.query_row(&query, [run.id], |row| row.get(0)).map_err(|e| self.wrap(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Recorder;
    use espbench_measure::plan::PlanSet;
    use espbench_measure::run::RunFacts;
    use espbench_model::sample::{Fate, Interval, Probe};
    use espbench_model::time::Instant;
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    const PLAN: &str =
        "name = \"p\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [1, 2]\ncount = 40\n";

    /// Makes a store with a run of two cells; returns its file.
    fn made(folder: &Path) -> PathBuf {
        let path = folder.join("runs.sqlite");
        let mut store = Store::open(&path).unwrap();
        let facts = RunFacts { plan_text: PLAN.into(), ..RunFacts::default() };
        let run = store.begin(facts, None, &PlanSet::parse(PLAN).unwrap()).unwrap();
        let recorder = Recorder::new(&store, Arc::default()).unwrap();
        let probe = |seq: u64| {
            let at = |ns| Instant::from_nanos(seq * 1_000_000 + ns);
            let (sent, received) = (Some(at(10)), Some(at(900)));
            let probe = Probe { seq, bytes: 20, due: at(0), sent, received, ..Probe::default() };
            Sample::Probe(Probe { fate: Fate::Delivered, ..probe })
        };
        let interval = Interval { bytes: 800, jitter_ns: Some(7), ..Interval::default() };
        for cell in &run.cells {
            let recorded = Recorded {
                ordinal: cell.step.ordinal,
                repetition: cell.step.repetition,
                workload: cell.step.workload,
                samples: (0..40).map(probe).chain([Sample::Interval(interval)]).collect(),
                counters: BTreeMap::from([("no-buffers".into(), 3)]),
                facts: BTreeMap::from([("socket".into(), "a".into())]),
                error: None,
            };
            recorder.again(&run, cell, &recorded).unwrap();
        }
        drop(recorder);
        // All in one file, and no log beside it.
        store.db.pragma_update(None, "journal_mode", "DELETE").unwrap();
        path
    }

    fn all(path: &Path) -> Result<Vec<Recorded>, StoreError> {
        let store = Store::read(path)?;
        let run = store.run("p-1")?;
        let recorded: Result<Vec<_>, _> = run.cells.iter().map(|it| store.recorded(it)).collect();
        Ok(recorded?.into_iter().flatten().collect())
    }

    #[test]
    fn what_was_recorded_is_read_and_what_was_changed_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path());
        let whole = all(&path).unwrap();
        assert_eq!((whole.len(), whole[0].samples.len(), whole[0].facts.len()), (2, 41, 1));
        for change in [
            "UPDATE probe SET received_ns = received_ns + 1 WHERE rowid = 7",
            "UPDATE probe SET fate = 'late' WHERE rowid = 7",
            "DELETE FROM probe WHERE rowid = 80",
            "UPDATE probe SET cell_id = 2 WHERE rowid = 3",
            "UPDATE interval SET bytes = 801",
            "UPDATE cell SET counters = '{}'",
            "UPDATE cell SET error = 'none' WHERE id = 2",
            "UPDATE cell SET status = 'failed'",
            "UPDATE run SET facts = replace(facts, 'count = 40', 'count = 41')",
        ] {
            let changed = folder.path().join("changed.sqlite");
            std::fs::copy(&path, &changed).unwrap();
            rusqlite::Connection::open(&changed).unwrap().execute_batch(change).unwrap();
            let error = all(&changed).expect_err(change).to_string();
            assert!(
                error.contains("damaged") || error.contains("is not a word"),
                "{change}: {error}"
            );
        }
        // An older espbench that measures a cell again writes no checksum.
        let old = "UPDATE cell SET facts = '{}', counters = '{}'";
        rusqlite::Connection::open(&path).unwrap().execute_batch(old).unwrap();
        assert_eq!(all(&path).unwrap().len(), 2);
    }

    #[test]
    fn a_damaged_file_shows_what_was_recorded_or_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path());
        let (bytes, whole) = (std::fs::read(&path).unwrap(), all(&path).unwrap());
        let mut state = 1_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        let mut readable = 0;
        for _ in 0..120 {
            let mut damaged = bytes.clone();
            match random(3) {
                0 => damaged.truncate(random(bytes.len())),
                1 => (0..=random(3)).for_each(|_| damaged[random(bytes.len())] = random(256) as u8),
                _ => {
                    let at = random(bytes.len() - 64);
                    damaged[at..at + 64].iter_mut().for_each(|it| *it = random(256) as u8);
                }
            }
            let path = folder.path().join("damaged.sqlite");
            std::fs::write(&path, damaged).unwrap();
            let Ok(read) = all(&path) else { continue };
            readable += 1;
            // A cell whose state is damaged is one that is missing, and the report says so.
            for it in read {
                let same = whole.iter().find(|whole| whole.ordinal == it.ordinal).unwrap();
                assert_eq!(format!("{it:?}"), format!("{same:?}"));
            }
        }
        assert!(readable > 10, "{readable}");
    }
}

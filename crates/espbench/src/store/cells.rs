//! Records of cells, compared with their checksums.

use super::checksum::{self, CellSums};
use super::{CellStatus, Store, StoreError, StoredCell, StoredRun, rows};
use espbench_measure::columns::SampleTable;
use espbench_measure::plan::PlanSet;
use espbench_measure::run::{Recorded, RunFacts};
use espbench_model::sample::Sample;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// State of a cell, in SQL: the name of a [`CellStatus`], or a word that is none of a damaged one. What the user stopped is
/// stored as pending, so that an older espbench measures it again. What is pending has no results: they are written in one
/// step with the state.
pub(super) const STATE: &str = "(CASE
    WHEN cell.status <> 'pending' THEN cell.status
    WHEN json_extract(iif(json_valid(cell.facts), cell.facts, '{}'), '$.stopped') IS NOT NULL THEN 'stopped'
    WHEN cell.error IS NOT NULL OR cell.counters <> '{}' OR cell.facts <> '{}' THEN 'pending, with results'
    ELSE 'pending' END)";

/// Facts of a cell, beside samples.
struct Outcome {
    error: Option<String>,
    counters: String,
    facts: BTreeMap<String, String>,
    /// Checksum that was stored with it.
    sums: Option<CellSums>,
}

impl Store {
    /// Reads the cells of a run, each of which is the one that is planned at its place.
    pub(super) fn cells(&self, run: i64, facts: &RunFacts) -> Result<Vec<StoredCell>, StoreError> {
        let set = PlanSet::parse(&facts.plan_text)
            .map_err(|e| self.unusable(format!("the plan of {}: {e}", facts.name)))?;
        // The index leads to a cell, and the cell itself says which it is.
        let mut query = self
            .db
            .prepare(&format!(
                "SELECT cell.id, {STATE}, cell.run_id, cell.position, cell.ordinal, cell.repetition,
                        octet_length(cell.counters) + octet_length(cell.facts)
                            + octet_length(coalesce(cell.error, ''))
                 FROM cell AS entry JOIN cell ON cell.id = entry.id
                 WHERE entry.run_id = ?1 ORDER BY entry.position"
            ))
            .map_err(|e| self.wrap(e))?;
        let mut texts = 0_u64;
        let rows = query
            .query_map([run], |row| {
                texts = texts.saturating_add(row.get(6)?);
                let place: [i64; 4] = [row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?];
                Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, place))
            })
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|e| self.wrap(e))?;
        self.check_length(texts)?;
        let steps = set.steps();
        if rows.len() != steps.len() {
            return Err(self.unusable(format!(
                "run {}: its plan has {} cells, the store {}",
                facts.name,
                steps.len(),
                rows.len()
            )));
        }
        let cells = (0..).zip(rows).zip(steps).map(|((position, (id, status, place)), step)| {
            let damaged =
                |why: &str| self.damaged(&facts.name, &format!("cell {}: {why}", position + 1));
            let planned = [position as i64, step.ordinal.into(), step.repetition.into()];
            if place[0] != run || place[1..] != planned {
                return Err(damaged("it has the place of another"));
            }
            let state = CellStatus::ALL.into_iter().find(|it| it.name() == status);
            let status = state.ok_or_else(|| {
                damaged(&format!("its state `{status}` is one that espbench never writes"))
            })?;
            Ok(StoredCell { id, position, step, status })
        });
        cells.collect()
    }

    /// Returns what was recorded for one cell; `None` while it is pending.
    ///
    /// # Errors
    /// SQLite's, or [`StoreError::Unusable`] for rows that make no sense or are not those that were recorded.
    pub fn recorded(&self, cell: &StoredCell) -> Result<Option<Recorded>, StoreError> {
        if cell.status == CellStatus::Pending {
            return Ok(None);
        }
        let Outcome { error, counters, facts, sums } = self.recorded_outcome(cell)?;
        let (samples, own) = rows::samples(&self.db, cell.id).map_err(|e| self.wrap(e))?;
        if let Some(sums) = sums {
            let is_equal = (own.probes, own.intervals) == (sums.probes, sums.intervals);
            self.compare(cell, is_equal)?;
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

    /// Reads what is told of a cell beside samples, and compares it with its checksum.
    fn recorded_outcome(&self, cell: &StoredCell) -> Result<Outcome, StoreError> {
        let query = "SELECT status, error, counters, facts FROM cell WHERE id = ?1";
        let row = self.db.query_row(query, [cell.id], |row| {
            let texts: (String, Option<String>) = (row.get(0)?, row.get(1)?);
            Ok((texts, row.get::<_, String>(2)?, row.get::<_, String>(3)?))
        });
        let ((status, error), counters, facts) = row.map_err(|e| self.wrap(e))?;
        let mut facts = rows::from_json(&facts).map_err(|e| self.wrong(cell, e))?;
        let sums = CellSums::take(&mut facts).map_err(|e| self.wrong(cell, e))?;
        if let Some(sums) = sums {
            let (text, told) = (rows::json(&facts), error.as_deref());
            let own = checksum::outcome(&self.db, cell.id, &status, told, &counters, &text);
            self.compare(cell, own.map_err(|e| self.wrap(e))? == sums.outcome)?;
        }
        Ok(Outcome { error, counters, facts, sums })
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
                            WHERE cell.run_id = ?1 AND {STATE} <> 'pending')"
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
            "UPDATE cell SET facts = replace(facts, 'checksum', 'checksun')",
            "UPDATE cell SET status = 'failed'",
            "UPDATE run SET facts = replace(facts, 'count = 40', 'count = 41')",
        ] {
            let changed = folder.path().join("changed.sqlite");
            std::fs::copy(&path, &changed).unwrap();
            rusqlite::Connection::open(&changed).unwrap().execute_batch(change).unwrap();
            let error = all(&changed).expect_err(change).to_string();
            assert!(
                ["damaged", "is not a word", "is named"].iter().any(|it| error.contains(it)),
                "{change}: {error}"
            );
        }
        // An older espbench that measures a cell again writes no checksum.
        let old = "UPDATE cell SET facts = '{}', counters = '{}'";
        rusqlite::Connection::open(&path).unwrap().execute_batch(old).unwrap();
        assert_eq!(all(&path).unwrap().len(), 2);
    }

    /// Columns beside a cell's own checksum decide, too, which figures are shown.
    #[test]
    fn a_state_or_a_place_that_is_never_written_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = made(folder.path());
        for change in [
            "UPDATE cell SET status = '$one' WHERE id = 2",
            "UPDATE cell SET status = 'dons' WHERE id = 1",
            "UPDATE cell SET status = '' WHERE id = 1",
            "UPDATE cell SET status = 'pending' WHERE id = 2",
            "UPDATE cell SET status = 'pending', error = 'none', counters = '{}', facts = '{}'",
            "UPDATE cell SET position = 5 WHERE id = 2",
            "UPDATE cell SET ordinal = 4 WHERE id = 2",
            "UPDATE cell SET repetition = 1 WHERE id = 2",
            "UPDATE run SET overhead = '{'",
            "UPDATE run SET name = 'p-3'",
            "UPDATE run SET facts = replace(facts, 'p-1', 'p-5')",
            "UPDATE run SET facts = '{'",
        ] {
            let changed = folder.path().join("changed.sqlite");
            std::fs::copy(&path, &changed).unwrap();
            let db = rusqlite::Connection::open(&changed).unwrap();
            db.pragma_update(None, "ignore_check_constraints", true).unwrap();
            db.execute_batch(change).unwrap();
            drop(db);
            let store = Store::read(&changed).unwrap();
            let listed = store.list().map(drop);
            let read = store.run("last").map(drop);
            let told: Vec<_> = [listed, read].into_iter().filter_map(Result::err).collect();
            assert!(!told.is_empty(), "{change}");
            assert!(
                told.iter().all(|it| matches!(it, StoreError::Unusable { .. })),
                "{change}: {told:?}"
            );
            if change.contains("status") {
                assert_eq!(told.len(), 2, "{change}: in a list, too");
                assert!(told.iter().all(|it| it.to_string().contains("damaged")), "{told:?}");
            }
        }
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
            assert_eq!(format!("{read:?}"), format!("{whole:?}"));
        }
        assert!(readable > 10, "{readable}");
    }
}

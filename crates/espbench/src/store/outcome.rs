//! Outcome of a run's thresholds, kept when the run ends, so that a list of runs reads no samples.
//!
//! The table is made when a first outcome is kept: runs without thresholds need none.

use super::{Listed, Store, StoreError, StoredRun};
use rusqlite::{OptionalExtension, params};

/// Makes the table of outcomes where there is none.
const OUTCOME_TABLE: &str = "CREATE TABLE IF NOT EXISTS outcome (
        run_id     INTEGER PRIMARY KEY REFERENCES run(id) ON DELETE CASCADE,
        done       INTEGER NOT NULL,       -- cells that were measured by then
        thresholds INTEGER NOT NULL,
        failed     INTEGER NOT NULL        -- thresholds that did not hold
    ) STRICT;";

/// Thresholds of a run that were held against its figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThresholdOutcome {
    /// Number of all.
    pub thresholds: usize,
    /// Those that did not hold.
    pub failed: usize,
}

impl Store {
    /// Keeps the outcome of a run's thresholds, in place of an earlier one.
    ///
    /// # Errors
    /// SQLite's.
    pub fn keep_outcome(
        &self,
        run: &StoredRun,
        outcome: ThresholdOutcome,
    ) -> Result<(), StoreError> {
        let kept = self.db.execute_batch(OUTCOME_TABLE).and_then(|()| {
            self.db.execute(
                "INSERT OR REPLACE INTO outcome (run_id, done, thresholds, failed)
                 SELECT ?1, count(*), ?2, ?3 FROM cell WHERE run_id = ?1 AND status = 'done'",
                params![run.id, outcome.thresholds, outcome.failed],
            )
        });
        kept.map(drop).map_err(|e| self.wrap(e))
    }

    /// Returns the outcome that was kept of a run; `None` where there is none, or more of the run was measured since.
    ///
    /// # Errors
    /// SQLite's.
    pub fn outcome(&self, run: &Listed) -> Result<Option<ThresholdOutcome>, StoreError> {
        if !self.has_table("outcome")? {
            return Ok(None);
        }
        self.db
            .query_row(
                "SELECT outcome.thresholds, outcome.failed
                 FROM outcome JOIN run ON run.id = outcome.run_id
                 WHERE run.name = ?1 AND outcome.done = ?2
                     AND outcome.failed BETWEEN 0 AND outcome.thresholds",
                params![run.name, run.done],
                |row| Ok(ThresholdOutcome { thresholds: row.get(0)?, failed: row.get(1)? }),
            )
            .optional()
            .map_err(|e| self.wrap(e))
    }
}

//! The record, in SQLite.
//!
//! Samples are written as they come, in short transactions of the write-ahead log: a process that
//! is killed leaves every finished cell whole, and the cell in progress is measured again by
//! `espbench run --resume`. The store counts and filters; it computes no statistic.
//!
//! | module | contents |
//! |---|---|
//! | `bound` | bound on the work that a store may ask for |
//! | `busy` | waiting for another program that changes the store |
//! | `cells` | what was recorded of a cell |
//! | `checksum` | checksums of what cells recorded |
//! | [`consoles`] | what the consoles of boards printed while a run was measured |
//! | `error` | errors of the store |
//! | `foreign` | refusal of what others put into a store |
//! | `outcome` | the outcome of a run's thresholds |
//! | [`merge`] | stores that are put together |
//! | `recorder` | the way of samples from a target to the writer's thread |
//! | `rows` | samples as rows, and back |
//! | `lock` | the lock of a run that is being carried out |

mod bound;
mod busy;
mod cells;
mod checksum;
pub mod consoles;
mod error;
mod foreign;
mod lock;
pub mod merge;
mod outcome;
mod recorder;
mod rows;

pub use error::StoreError;
pub use lock::RunLock;
pub use outcome::ThresholdOutcome;
pub use recorder::{Recorder, SampleObserver};

use bound::BoundedConnection;
use busy::{LOCKED_MOST, wait_for_others};
use cells::STATE;
use error::wrap;
use espbench_engine::run::run_name;
use espbench_measure::label;
use espbench_measure::plan::{PlanSet, PlannedCell};
use espbench_measure::report::Overhead;
use espbench_measure::run::RunFacts;
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// "ESPb", so that other programs' databases are not taken for ours.
const APPLICATION_ID: i32 = 0x4553_5062;
/// Version of `schema.sql`.
const SCHEMA_VERSION: i32 = 3;
/// Version in which numbers of runs counted over the whole store. Such a store gets the
/// columns of today where it can be written to, and is read as it is where not.
const NUMBERED_BY_STORE: i32 = 2;

/// The database of runs.
#[derive(Debug)]
pub struct Store {
    db: BoundedConnection,
    path: PathBuf,
}

/// A stored run, as `espbench runs` lists it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Name of the run.
    pub name: String,
    /// Facts of the run.
    pub facts: RunFacts,
    /// Cells planned.
    pub planned: u64,
    /// Cells measured.
    pub done: u64,
    /// Cells that failed.
    pub failed: u64,
    /// Cells that the user stopped.
    pub stopped: u64,
}

/// A run opened for work or for its report.
#[derive(Clone, Debug)]
pub struct StoredRun {
    id: i64,
    /// Facts of the run.
    pub facts: RunFacts,
    /// The tool's own cost, as calibrated before the run.
    pub overhead: Option<Overhead>,
    /// Every cell, in the order of work.
    pub cells: Vec<StoredCell>,
}

/// One cell of a stored run.
#[derive(Clone, Debug)]
pub struct StoredCell {
    id: i64,
    /// Position in the order of work, from 0.
    pub position: usize,
    /// Work of the cell.
    pub step: PlannedCell,
    /// Whether it was measured.
    pub status: CellStatus,
}

/// The state of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellStatus {
    /// Not measured, or cut short by the end of the process.
    Pending,
    /// Stopped by the user: what was recorded until then is a result, and it is measured again on
    /// resume.
    Stopped,
    /// Measured.
    Done,
    /// Tried; the error is stored with it.
    Failed,
}

impl CellStatus {
    const ALL: [Self; 4] = [Self::Pending, Self::Stopped, Self::Done, Self::Failed];

    /// Returns the word of SQL.
    const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Stopped => "stopped",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }
}

impl StoredRun {
    /// Returns the cells that are still to be measured: `--resume` tries failed ones again.
    pub fn open_cells(&self) -> impl Iterator<Item = &StoredCell> {
        self.cells.iter().filter(|cell| cell.status != CellStatus::Done)
    }
}

impl Store {
    /// Opens the store, or makes it.
    ///
    /// # Errors
    /// [`StoreError`]: not ours, damaged, locked, full.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).map_err(|e| StoreError::Unusable {
                path: path.to_owned(),
                why: format!("cannot make its folder: {e}"),
            })?;
        }
        let wrap = |e| wrap(path, e);
        let mut db = Connection::open(path).map_err(wrap)?;
        wait_for_others(&mut db, path).map_err(wrap)?;
        let db = BoundedConnection::new(db, path).map_err(wrap)?;
        let store = Self { db, path: path.to_owned() };
        store.prepare(true)?;
        Ok(store)
    }

    /// Opens a store to read of it: a file or a folder that cannot be written to is enough.
    ///
    /// # Errors
    /// [`StoreError`]: not ours, damaged, locked.
    pub fn read(path: &Path) -> Result<Self, StoreError> {
        let opened = Self::open(path);
        let Err(StoreError::Unusable { .. } | StoreError::Sqlite { .. }) = &opened else {
            return opened;
        };
        // The log of a process that writes, or that was killed, is part of the store.
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let has_log = std::fs::metadata(log).is_ok_and(|log| log.len() > 0);
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
        let Some(uri) = uri(path).filter(|_| !has_log) else {
            let why = "it can only be read, and has the log of an unfinished write beside it: copy both to \
                       a folder that can be written to";
            let read = Self::of(path, OpenFlags::SQLITE_OPEN_READ_ONLY, path);
            return read
                .map_err(|_| StoreError::Unusable { path: path.to_owned(), why: why.into() });
        };
        // Without a log nobody writes: SQLite then needs no files beside it.
        Self::of(Path::new(&uri), flags, path)
    }

    fn of(name: &Path, flags: OpenFlags, path: &Path) -> Result<Self, StoreError> {
        let mut db = Connection::open_with_flags(name, flags).map_err(|e| wrap(path, e))?;
        wait_for_others(&mut db, path).map_err(|e| wrap(path, e))?;
        let db = BoundedConnection::new(db, path).map_err(|e| wrap(path, e))?;
        let store = Self { db, path: path.to_owned() };
        store.prepare(false)?;
        Ok(store)
    }

    /// Locks a run for this process, until the lock is dropped.
    ///
    /// # Errors
    /// [`StoreError::Going`].
    pub fn lock(&self, run: &StoredRun) -> Result<RunLock, StoreError> {
        RunLock::take(&self.path, run.id, &run.facts.name)
    }

    /// Opens a second connection to the same file, for another thread.
    fn reopen(&self) -> Result<Self, StoreError> {
        Self::open(&self.path)
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn prepare(&self, writes: bool) -> Result<(), StoreError> {
        let pragma = |name: &str| {
            self.db
                .pragma_query_value(None, name, |row| row.get::<_, i32>(0))
                .map_err(|e| self.wrap(e))
        };
        self.db.pragma_update(None, "foreign_keys", true).map_err(|e| self.wrap(e))?;
        // What a store's schema names is not trusted to call functions.
        self.db.pragma_update(None, "trusted_schema", false).map_err(|e| self.wrap(e))?;
        // Another process may make the store between two questions: all are of one moment.
        let moment = self.db.unchecked_transaction().map_err(|e| self.wrap(e))?;
        let (application, version) = (pragma("application_id")?, pragma("user_version")?);
        // Not counted, because SQLite counts in one step, which nothing bounds.
        let is_empty: bool = self
            .db
            .query_row("SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get(0))
            .map_err(|e| self.wrap(e))?;
        moment.finish().map_err(|e| self.wrap(e))?;
        match (application, version) {
            (0, 0) if is_empty => self.create(),
            (APPLICATION_ID, SCHEMA_VERSION) => foreign::refuse(&self.db, &self.path),
            (APPLICATION_ID, NUMBERED_BY_STORE) => {
                foreign::refuse(&self.db, &self.path)?;
                if writes { self.number_by_plan() } else { Ok(()) }
            }
            (APPLICATION_ID, other) => Err(self.unusable(format!(
                "it was written by another version of espbench (schema {other}, this one has \
                 {SCHEMA_VERSION})"
            ))),
            _ => Err(self.unusable("it is another program's database".into())),
        }
    }

    fn create(&self) -> Result<(), StoreError> {
        let begun = Instant::now();
        // The journal mode cannot change within a transaction. SQLite already reads then, and so tells a lock of another program at
        // once in place of waiting for its end.
        while let Err(error) = self.db.pragma_update(None, "journal_mode", "WAL") {
            let is_busy = error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy);
            if !is_busy || begun.elapsed() >= LOCKED_MOST {
                return Err(self.wrap(error));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let schema = include_str!("schema.sql");
        let script = format!(
            "BEGIN IMMEDIATE; {schema}
             PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {SCHEMA_VERSION};
             COMMIT;"
        );
        self.change(&script)
    }

    /// Carries out a script that begins and commits a transaction, unless another process has done the
    /// same in the meantime.
    fn change(&self, script: &str) -> Result<(), StoreError> {
        let Err(error) = self.db.execute_batch(script) else { return Ok(()) };
        if !self.db.is_autocommit() {
            let _ = self.db.execute_batch("ROLLBACK");
        }
        match self.db.pragma_query_value(None, "user_version", |row| row.get(0)) {
            Ok(SCHEMA_VERSION) => Ok(()),
            _ => Err(self.wrap(error)),
        }
    }

    /// Gives runs their number within their plan. Names stay: of older ones the number is the store's, so
    /// that further runs of the plan go on from there.
    fn number_by_plan(&self) -> Result<(), StoreError> {
        let script = format!(
            "BEGIN IMMEDIATE;
             ALTER TABLE run ADD COLUMN plan TEXT NOT NULL DEFAULT '';
             ALTER TABLE run ADD COLUMN number INTEGER NOT NULL DEFAULT 0;
             UPDATE run SET number = id, plan = substr(name, 1, length(name) - length(id) - 1);
             CREATE UNIQUE INDEX run_of_plan ON run (plan, number);
             PRAGMA user_version = {SCHEMA_VERSION};
             COMMIT;"
        );
        self.change(&script)
    }

    /// Returns whether there is such a table: those that few runs need are made when they are first written.
    fn has_table(&self, name: &str) -> Result<bool, StoreError> {
        let query =
            "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?1)";
        self.db.query_row(query, [name], |row| row.get(0)).map_err(|e| self.wrap(e))
    }

    fn wrap(&self, error: rusqlite::Error) -> StoreError {
        wrap(&self.path, error)
    }

    /// Refuses a run whose rows hold what is never written.
    fn damaged(&self, run: &str, why: &dyn std::fmt::Display) -> StoreError {
        self.unusable(format!("the file is damaged: run {run}: {why}"))
    }

    fn unusable(&self, why: String) -> StoreError {
        StoreError::Unusable { path: self.path.clone(), why }
    }

    /// Returns the time in UTC, as RFC 3339 has it; for people only.
    ///
    /// # Errors
    /// SQLite's.
    pub fn utc_now(&self) -> Result<String, StoreError> {
        self.db
            .query_row("SELECT strftime('%Y-%m-%dT%H:%M:%SZ', 'now')", [], |row| row.get(0))
            .map_err(|e| self.wrap(e))
    }

    /// Begins a run of these plans; `facts.name` is chosen here.
    ///
    /// # Errors
    /// SQLite's.
    pub fn begin(
        &mut self,
        mut facts: RunFacts,
        overhead: Option<&Overhead>,
        set: &PlanSet,
    ) -> Result<StoredRun, StoreError> {
        let path = self.path.clone();
        let wrap = |e| wrap(&path, e);
        let transaction = self
            .db
            .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
            .map_err(wrap)?;
        let (plan, number) = match &facts.beside {
            // One lab stands beside a run; its name is the run's, and runs of plans count from 1.
            Some(run) => {
                transaction
                    .execute(&format!("DELETE FROM run WHERE {BESIDE} = ?1"), [run])
                    .map_err(wrap)?;
                facts.name = format!("{run}-lab");
                (facts.name.clone(), 0)
            }
            None => {
                let plan = run_name(set);
                let number: i64 = transaction
                    .query_row(
                        "SELECT coalesce(max(number), 0) + 1 FROM run WHERE plan = ?1",
                        [&plan],
                        |row| row.get(0),
                    )
                    .map_err(wrap)?;
                facts.name = format!("{plan}-{number}");
                (plan, number)
            }
        };
        transaction
            .execute(
                "INSERT INTO run (name, plan, number, facts, overhead) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![facts.name, plan, number, rows::json(&facts), overhead.map(rows::json)],
            )
            .map_err(wrap)?;
        let id = transaction.last_insert_rowid();
        for (position, step) in set.steps().iter().enumerate() {
            transaction
                .execute(
                    "INSERT INTO cell (run_id, position, ordinal, repetition, label, status)
                     VALUES (?1, ?2, ?3, ?4, ?5, 'pending')",
                    params![
                        id,
                        position,
                        step.ordinal,
                        step.repetition,
                        label::of_workload(&step.workload)
                    ],
                )
                .map_err(wrap)?;
        }
        transaction.commit().map_err(wrap)?;
        let name = facts.name;
        self.run(&name)
    }

    /// Finds the run of the lab that stands beside a run.
    ///
    /// # Errors
    /// As [`Self::run`].
    pub fn lab_beside(&self, run: &StoredRun) -> Result<Option<StoredRun>, StoreError> {
        let query = format!("SELECT name FROM run WHERE {BESIDE} = ?1 ORDER BY id DESC LIMIT 1");
        let name: Option<String> = self
            .db
            .query_row(&query, [&run.facts.name], |row| row.get(0))
            .optional()
            .map_err(|e| self.wrap(e))?;
        name.map(|name| self.run(&name)).transpose()
    }

    /// Finds a run by its name, or as `last`, or as `last~1`, the one before. A lab's run that stands beside
    /// another has its name only.
    ///
    /// # Errors
    /// [`StoreError::NoRun`], or SQLite's; a stored plan that cannot be read any more is
    /// [`StoreError::Unusable`].
    pub fn run(&self, name: &str) -> Result<StoredRun, StoreError> {
        let row = |row: &rusqlite::Row<'_>| {
            Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, Option<String>>(2)?))
        };
        let columns = "SELECT id, facts, overhead FROM run";
        let found = match before_last(name) {
            Some(number) => self.db.query_row(
                &format!("{columns} WHERE {BESIDE} IS NULL ORDER BY id DESC LIMIT 1 OFFSET ?1"),
                [number],
                row,
            ),
            None => self.db.query_row(&format!("{columns} WHERE name = ?1"), [name], row),
        };
        let found = found.optional().map_err(|e| self.wrap(e))?;
        let Some((id, facts, overhead)) = found else {
            return Err(StoreError::NoRun { path: self.path.clone(), name: name.into() });
        };
        let facts: RunFacts =
            rows::from_json(&facts).map_err(|e| self.unusable(format!("run {id}: {e}")))?;
        // An index that is damaged leads to another run's row.
        if before_last(name).is_none() && facts.name != name {
            return Err(self.damaged(name, &format!("it has the facts of {}", facts.name)));
        }
        let overhead = overhead.map(|text| rows::from_json(&text)).transpose();
        let overhead = overhead.map_err(|e| self.damaged(&facts.name, &e))?;
        let cells = self.cells(id, &facts)?;
        Ok(StoredRun { id, facts, overhead, cells })
    }

    /// Lists all runs, oldest first.
    ///
    /// # Errors
    /// SQLite's.
    pub fn list(&self) -> Result<Vec<Listed>, StoreError> {
        let known = CellStatus::ALL.map(|it| format!("'{}'", it.name())).join(", ");
        let mut query = self
            .db
            .prepare(&format!(
                "SELECT run.name, run.facts, count(cell.id),
                        count(CASE {STATE} WHEN 'done' THEN 1 END),
                        count(CASE {STATE} WHEN 'failed' THEN 1 END),
                        count(CASE {STATE} WHEN 'stopped' THEN 1 END),
                        count(CASE WHEN {STATE} NOT IN ({known}) THEN 1 END)
                 FROM run LEFT JOIN cell ON cell.run_id = run.id
                 GROUP BY run.id ORDER BY run.id"
            ))
            .map_err(|e| self.wrap(e))?;
        let listed = |row: &rusqlite::Row<'_>| {
            let facts: String = row.get(1)?;
            let listed = Listed {
                name: row.get(0)?,
                facts: rows::from_json(&facts).map_err(|e| rows::unreadable(1, e))?,
                planned: row.get(2)?,
                done: row.get(3)?,
                failed: row.get(4)?,
                stopped: row.get(5)?,
            };
            Ok((listed, facts.len() as u64, row.get::<_, u64>(6)?))
        };
        let (mut all, mut texts) = (Vec::new(), 0);
        for row in query.query_map([], listed).map_err(|e| self.wrap(e))? {
            let (listed, text, odd) = row.map_err(|e| self.wrap(e))?;
            texts += text;
            self.check_length(texts)?;
            if odd > 0 {
                let why = "a cell has a state that espbench never writes";
                return Err(self.damaged(&listed.name, &why));
            }
            if listed.name != listed.facts.name {
                let why = format!("it has the facts of {}", listed.facts.name);
                return Err(self.damaged(&listed.name, &why));
            }
            all.push(listed);
        }
        Ok(all)
    }

    /// Refuses texts that are longer than the file: pages of a crafted one may be part of many rows.
    fn check_length(&self, texts: u64) -> Result<(), StoreError> {
        if texts > bound::length(&self.path) {
            return Err(self.unusable(error::ENDLESS.into()));
        }
        Ok(())
    }

    /// Finds the newest run with cells that are still open.
    ///
    /// # Errors
    /// [`StoreError::NoneOpen`] where every run is complete, [`StoreError::Empty`] where there is none.
    pub fn newest_open(&self) -> Result<StoredRun, StoreError> {
        let name: Option<String> = self
            .db
            .query_row(
                &format!(
                    "SELECT name FROM run WHERE id = (
                         SELECT max(run_id) FROM cell JOIN run ON run.id = run_id
                         WHERE status <> 'done' AND {BESIDE} IS NULL)"
                ),
                [],
                |row| row.get(0),
            )
            .optional()
            .map_err(|e| self.wrap(e))?;
        match name {
            Some(name) => self.run(&name),
            None if self.list()?.is_empty() => Err(StoreError::Empty { path: self.path.clone() }),
            None => Err(StoreError::NoneOpen { path: self.path.clone() }),
        }
    }

    /// Removes a run and its samples, and the lab beside it.
    ///
    /// # Errors
    /// [`StoreError::NoRun`], [`StoreError::Going`], or SQLite's.
    pub fn remove(&mut self, name: &str) -> Result<String, StoreError> {
        let run = self.run(name)?;
        let _lock = self.lock(&run)?;
        self.db
            .execute(
                &format!("DELETE FROM run WHERE {BESIDE} = ?1 OR id = ?2"),
                params![run.facts.name, run.id],
            )
            .map_err(|e| self.wrap(e))?;
        Ok(run.facts.name)
    }
}

/// Name of the run that a lab's run stands beside, in SQL; NULL for all other runs.
/// Facts that are no JSON are told where they are read.
const BESIDE: &str = "json_extract(iif(json_valid(run.facts), run.facts, '{}'), '$.beside')";

/// Returns how many runs are newer than the one that `last` or `last~N` names.
fn before_last(name: &str) -> Option<u32> {
    match name.strip_prefix("last")? {
        "" => Some(0),
        rest => rest.strip_prefix('~')?.parse().ok(),
    }
}

/// Returns the file as a URI that says that nobody changes it; `None` of a name that is no UTF-8.
fn uri(path: &Path) -> Option<String> {
    let path = std::path::absolute(path).ok()?;
    let mut uri = String::from("file:");
    for c in path.to_str()?.chars() {
        match c {
            '%' | '?' | '#' => uri.push_str(&format!("%{:02x}", u32::from(c))),
            '\\' => uri.push('/'),
            c => uri.push(c),
        }
    }
    Some(uri + "?immutable=1")
}

//! Bound on the work that a store may ask for: pages of a crafted file may name each other in circles, or have the same child a
//! hundred times, and then a few kilobytes have more rows than can ever be read.
//!
//! The bound follows from the length of the file, so that an honest store never meets it: a statement reads each of its pages once.

use crate::sys::files::written;
use rusqlite::Connection;
use rusqlite::limits::Limit;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Steps of SQLite's machine between two looks at the bound.
const LOOK: u32 = 1 << 20;
/// Steps for each byte of the file; an honest statement takes less than one.
const STEPS_PER_BYTE: u64 = 8;
/// Looks that a file without any byte may have.
const LOOKS_LEAST: u64 = 4;
/// Longest value: a chain of pages that is a circle ends nowhere.
const VALUE_MOST: i32 = 128 << 20;

/// A connection whose every use has a bounded number of steps.
#[derive(Debug)]
pub(super) struct BoundedConnection {
    db: Connection,
    /// Looks at the bound in this use.
    looks: Arc<AtomicU64>,
}

impl BoundedConnection {
    /// Bounds the uses of a connection to the file at this path.
    ///
    /// # Errors
    /// SQLite's.
    pub(super) fn new(mut db: Connection, path: &Path) -> rusqlite::Result<Self> {
        let looks = Arc::new(AtomicU64::new(0));
        let (counted, path) = (Arc::clone(&looks), path.to_owned());
        let handler = move || {
            let nth = counted.fetch_add(1, Ordering::Relaxed) + 1;
            nth > LOOKS_LEAST
                && nth - LOOKS_LEAST > length(&path) * STEPS_PER_BYTE / u64::from(LOOK)
        };
        db.progress_handler(LOOK.cast_signed(), Some(handler))?;
        db.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_MOST)?;
        Ok(Self { db, looks })
    }
}

impl Deref for BoundedConnection {
    type Target = Connection;

    /// Begins a use of the connection.
    fn deref(&self) -> &Connection {
        self.looks.store(0, Ordering::Relaxed);
        &self.db
    }
}

impl DerefMut for BoundedConnection {
    fn deref_mut(&mut self) -> &mut Connection {
        self.looks.store(0, Ordering::Relaxed);
        &mut self.db
    }
}

/// Returns the number of bytes that the store has, with its log of unfinished writes.
pub(super) fn length(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let own = |path: PathBuf| std::fs::metadata(path).map_or(0, |it| written(&it));
    own(path.to_owned()) + own(log.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounded() -> (tempfile::TempDir, BoundedConnection) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.sqlite");
        let db = BoundedConnection::new(Connection::open(&path).unwrap(), &path).unwrap();
        (folder, db)
    }

    #[test]
    fn what_has_no_end_is_broken_off_and_each_use_begins_anew() {
        let (_folder, db) = bounded();
        let count = |most: &str| {
            let query = format!(
                "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r {most})
                 SELECT max(n) FROM r"
            );
            db.query_row(&query, [], |row| row.get::<_, i64>(0))
        };
        let error = count("").unwrap_err();
        let code = error.sqlite_error_code();
        assert_eq!(code, Some(rusqlite::ErrorCode::OperationInterrupted), "{error}");
        for _ in 0..20 {
            assert_eq!(count("LIMIT 100000").unwrap(), 100_000);
        }
    }

    /// The smallest rows that there are, read and removed: both are far from the bound.
    #[test]
    fn an_honest_store_is_far_from_the_bound() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runs.sqlite");
        drop(crate::store::Store::open(&path).unwrap());
        let mut db = Connection::open(&path).unwrap();
        db.execute_batch(
            "PRAGMA foreign_keys = ON;
             INSERT INTO run VALUES (1, 'a-1', 'a', 1, '{}', NULL);
             INSERT INTO cell VALUES (1, 1, 0, 0, 0, 'a', 'done', NULL, '{}', '{}');
             WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r LIMIT 20000)
             INSERT INTO probe SELECT 1, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, '', NULL FROM r;
             PRAGMA wal_checkpoint(TRUNCATE);",
        )
        .unwrap();
        let steps = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&steps);
        let count = move || {
            counted.fetch_add(1000, Ordering::Relaxed);
            false
        };
        db.progress_handler(1000, Some(count)).unwrap();
        for question in ["SELECT count(fate) FROM probe WHERE cell_id = 1", "DELETE FROM run"] {
            steps.store(0, Ordering::Relaxed);
            let most = length(&path) * STEPS_PER_BYTE;
            db.execute_batch(question).unwrap();
            let taken = steps.load(Ordering::Relaxed);
            assert!(taken > 50_000 && taken < most / 8, "{question}: {taken} of {most}");
        }
    }

    #[test]
    fn no_value_is_longer_than_what_is_ever_recorded() {
        let (_folder, db) = bounded();
        let length = |bytes: i64| {
            db.query_row("SELECT hex(zeroblob(?1))", [bytes], |row| row.get::<_, String>(0))
        };
        assert_eq!(length(1000).unwrap().len(), 2000);
        let error = length(i64::from(VALUE_MOST)).unwrap_err();
        assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::TooBig), "{error}");
    }
}

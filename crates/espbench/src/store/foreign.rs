//! Refusal of what others put into a store: it has tables and indexes, and nothing that computes.

use super::StoreError;
use super::error::wrap;
use rusqlite::Connection;
use std::path::Path;

/// Refuses views (one without end would be read for ever), triggers (they change what is stored), virtual tables, and
/// columns that are computed.
pub(super) fn refuse(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let query = "SELECT type || ' ' || name FROM sqlite_schema
                 WHERE type NOT IN ('table', 'index') OR (type = 'table' AND rootpage = 0)
                 UNION ALL
                 SELECT 'computed column ' || it.name FROM sqlite_schema AS entry, pragma_table_xinfo(entry.name) AS it
                 WHERE entry.type = 'table' AND it.hidden <> 0
                 LIMIT 1";
    let mut query = db.prepare(query).map_err(|e| wrap(path, e))?;
    let found =
        query.query_map([], |row| row.get::<_, String>(0)).and_then(|mut it| it.next().transpose());
    match found.map_err(|e| wrap(path, e))? {
        None => Ok(()),
        Some(what) => {
            let why = format!("it has what no store has: {what}");
            Err(StoreError::Unusable { path: path.to_owned(), why })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::store::Store;
    use rusqlite::Connection;

    #[test]
    fn what_computes_is_refused() {
        let endless = "ALTER TABLE run RENAME TO run_;
                       CREATE VIEW run AS WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r)
                       SELECT run_.* FROM run_, r";
        for (change, what) in [
            (endless, "view run"),
            ("CREATE TRIGGER t AFTER INSERT ON run BEGIN DELETE FROM probe; END", "trigger t"),
            (
                "PRAGMA writable_schema = ON;
                 INSERT INTO sqlite_schema VALUES ('table', 'v', 'v', 0, 'CREATE VIRTUAL TABLE v USING other(a)')",
                "table v",
            ),
            ("ALTER TABLE probe ADD COLUMN n INTEGER AS (seq + 1)", "computed column n"),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("runs.sqlite");
            drop(Store::open(&path).unwrap());
            Connection::open(&path).unwrap().execute_batch(change).unwrap();
            for opened in [Store::open(&path), Store::read(&path)] {
                let error = opened.expect_err(change).to_string();
                assert!(error.contains(what), "{change}: {error}");
            }
        }
    }
}

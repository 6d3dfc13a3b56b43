//! Refusal of what others put into a store: it has tables and indexes, and nothing that computes.

use super::StoreError;
use super::error::wrap;
use rusqlite::Connection;
use std::path::Path;

/// Refuses views (one without end would be read for ever), triggers (they change what is stored), virtual tables, columns and
/// indexes that are computed, and checks and defaults that no store has: a pattern of theirs may take for ever, in one step.
pub(super) fn refuse(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let query = "SELECT type || ' ' || name FROM sqlite_schema
                 WHERE type NOT IN ('table', 'index') OR (type = 'table' AND rootpage = 0)
                 UNION ALL
                 SELECT 'computed column ' || it.name FROM sqlite_schema AS entry, pragma_table_xinfo(entry.name) AS it
                 WHERE entry.type = 'table' AND it.hidden <> 0
                 UNION ALL
                 SELECT 'computed index ' || name FROM sqlite_schema
                 WHERE type = 'index' AND (sql LIKE '%where%'
                     OR EXISTS (SELECT 1 FROM pragma_index_xinfo(sqlite_schema.name) WHERE cid = -2))
                 UNION ALL
                 SELECT 'check or default of ' || name FROM (
                     SELECT name, replace(replace(replace(replace(sql,
                         'CHECK (status IN (''pending'', ''done'', ''failed''))', ''),
                         'DEFAULT ''{}''', ''), 'DEFAULT ''''', ''), 'DEFAULT 0', '') AS rest
                     FROM sqlite_schema WHERE type = 'table')
                 WHERE rest LIKE '%check%' OR rest LIKE '%default%'
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
            ("CREATE INDEX i ON probe (seq) WHERE fate NOT LIKE '%a%a%a%a%b'", "computed index i"),
            ("CREATE INDEX i ON run (hex(facts))", "computed index i"),
            (
                "ALTER TABLE cell ADD COLUMN n TEXT CHECK (hex(zeroblob(9)) NOT LIKE '%0%0%0%1')",
                "check or default of cell",
            ),
            ("CREATE TABLE t (a TEXT DEFAULT (hex(zeroblob(9))))", "check or default of t"),
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

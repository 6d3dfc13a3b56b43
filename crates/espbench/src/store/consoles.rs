//! Output of the boards' consoles while a run was measured.
//!
//! The table is made when a first console is recorded: runs without boards need none. What was printed in a
//! failed try at a cell stays when the cell is measured again.

use super::{Store, StoreError, StoredRun};

/// Makes the table of consoles where there is none.
pub(super) const CONSOLE_TABLE: &str = "CREATE TABLE IF NOT EXISTS console (
        cell_id INTEGER NOT NULL REFERENCES cell(id) ON DELETE CASCADE,
        port    TEXT NOT NULL,
        at_ns   INTEGER NOT NULL,          -- when the first of the bytes came, since the run began
        bytes   BLOB NOT NULL
    ) STRICT;
    CREATE INDEX IF NOT EXISTS console_cell ON console (cell_id);";

/// Console of a port while a cell was measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredConsole {
    /// Position of the cell in the order of work, from 0.
    pub position: usize,
    /// Name of the port.
    pub port: String,
    /// All that was printed.
    pub bytes: Vec<u8>,
}

impl Store {
    /// Returns what the consoles of a run printed, by cell and port; none of a run without boards.
    ///
    /// # Errors
    /// SQLite's.
    pub fn consoles(&self, run: &StoredRun) -> Result<Vec<StoredConsole>, StoreError> {
        if !self.has_table("console")? {
            return Ok(Vec::new());
        }
        let mut query = self
            .db
            .prepare(
                "SELECT cell.position, console.port, console.bytes
                 FROM console JOIN cell ON cell.id = console.cell_id
                 WHERE cell.run_id = ?1 ORDER BY cell.position, console.port, console.rowid",
            )
            .map_err(|e| self.wrap(e))?;
        let (mut all, mut read_bytes): (Vec<StoredConsole>, u64) = (Vec::new(), 0);
        let mut rows = query.query([run.id]).map_err(|e| self.wrap(e))?;
        while let Some(row) = rows.next().map_err(|e| self.wrap(e))? {
            let read = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, row.get(2)?));
            let (position, port, bytes): (usize, String, Vec<u8>) =
                read(row).map_err(|e| self.wrap(e))?;
            read_bytes += bytes.len() as u64;
            self.check_length(read_bytes)?;
            match all.last_mut() {
                Some(last) if last.position == position && last.port == port => {
                    last.bytes.extend(bytes);
                }
                _ => all.push(StoredConsole { position, port, bytes }),
            }
        }
        Ok(all)
    }
}

//! Waiting for another program that changes the store.

use crate::say::say;
use rusqlite::Connection;
use std::path::Path;
use std::time::{Duration, Instant};

/// Longest time to wait for another program's change: a busy disk takes seconds to make a store.
pub(super) const LOCKED_MOST: Duration = Duration::from_secs(20);
/// Time after which the wait is told.
const TOLD_AFTER: Duration = Duration::from_secs(1);
/// Time between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// Lets a connection wait where another program holds the store, and tells it where that takes long.
///
/// # Errors
/// SQLite's.
pub(super) fn wait_for_others(db: &mut Connection, path: &Path) -> rusqlite::Result<()> {
    let path = path.to_owned();
    let (mut begun, mut is_told) = (Instant::now(), false);
    db.busy_handler(Some(move |tries| {
        if tries == 0 {
            (begun, is_told) = (Instant::now(), false);
        }
        let waited = begun.elapsed();
        if !is_told && waited >= TOLD_AFTER {
            is_told = true;
            let most = LOCKED_MOST.as_secs();
            say!(
                "{} is locked by another program: waiting for it, for {most} s at most",
                path.display()
            );
        }
        std::thread::sleep(PAUSE);
        waited < LOCKED_MOST
    }))
}

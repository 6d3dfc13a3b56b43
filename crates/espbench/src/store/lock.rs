//! A run that is being carried out is locked, so that nobody measures its cells a second time.
//!
//! The lock is the system's, on a file beside the store: it ends with the process, however that ends,
//! and so is never stale.

use super::StoreError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// Holds a run until it is dropped.
#[derive(Debug)]
pub struct RunLock {
    /// `None` where the file system has no locks: then nobody is kept out.
    held: Option<(File, PathBuf)>,
}

impl RunLock {
    /// Locks a run of a store by its number.
    pub(super) fn take(store: &Path, run: i64, name: &str) -> Result<Self, StoreError> {
        let mut file_name = store.file_name().unwrap_or_default().to_owned();
        file_name.push(format!(".run-{run}.lock"));
        let path = store.with_file_name(file_name);
        loop {
            let opened =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
            let Ok(mut file) = opened else { return Ok(Self { held: None }) };
            match file.try_lock() {
                Ok(()) if !is_at(&file, &path) => continue,
                Ok(()) => {
                    // For whoever is kept out, to know whom to wait for.
                    let _ = file.set_len(0);
                    let _ = file.rewind();
                    let _ = write!(file, "{}", std::process::id());
                    return Ok(Self { held: Some((file, path)) });
                }
                Err(TryLockError::WouldBlock) => {
                    let mut process = String::new();
                    let _ = file.read_to_string(&mut process);
                    return Err(StoreError::Going { name: name.into(), process });
                }
                Err(TryLockError::Error(_)) => return Ok(Self { held: None }),
            }
        }
    }
}

impl Drop for RunLock {
    fn drop(&mut self) {
        if let Some((_file, path)) = self.held.take() {
            // While it is still locked: whoever opened it meanwhile sees that it is gone.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Tells whether the file that was opened is still the one of that name: it may have been removed,
/// and made anew, before it was locked.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let of = |it: std::io::Result<std::fs::Metadata>| it.ok().map(|it| (it.dev(), it.ino()));
    of(file.metadata()).is_some_and(|ours| of(std::fs::metadata(path)) == Some(ours))
}

/// Returns true: an open file cannot be removed there.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

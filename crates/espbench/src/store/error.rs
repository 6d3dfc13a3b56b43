//! Errors of the store.

use crate::user_error::UserError;
use espbench_model::speech::{self, Asker, CommandName, FlagName, FlagValue};
use std::path::{Path, PathBuf};

/// The reason for which the store did not do its work. The text names the file and says what to do.
#[derive(Debug)]
pub enum StoreError {
    /// The file is no store, or a damaged one.
    Unusable {
        /// The file.
        path: PathBuf,
        /// Defect of the file.
        why: String,
    },
    /// There is no such run.
    NoRun {
        /// The file.
        path: PathBuf,
        /// Name that was asked for.
        name: String,
    },
    /// Every run is complete.
    NoneOpen {
        /// The file.
        path: PathBuf,
    },
    /// No run was made yet.
    Empty {
        /// The file.
        path: PathBuf,
    },
    /// Another process is carrying the run out.
    Going {
        /// The run.
        name: String,
        /// Number of the process that carries the run out.
        process: String,
    },
    /// The disk is full.
    Full {
        /// The file.
        path: PathBuf,
    },
    /// The disk has no room for the store's own files.
    NoSpace {
        /// The file.
        path: PathBuf,
    },
    /// Another process holds the store.
    Locked {
        /// The file.
        path: PathBuf,
    },
    /// Anything else that SQLite says.
    Sqlite {
        /// The file.
        path: PathBuf,
        /// SQLite's error.
        source: rusqlite::Error,
    },
}

/// Names the parts of an error for the user.
impl From<&StoreError> for UserError {
    fn from(error: &StoreError) -> Self {
        let other =
            &format!("move it away, or choose another with {}", FlagValue("--store", "FILE"));
        match error {
            StoreError::Unusable { path, why } => {
                Self::new(path.display().to_string()).because(why).remedy(other)
            }
            StoreError::NoRun { path, name } => Self::new(format!(
                "{} has no run `{name}`",
                path.display()
            ))
            .remedy(match speech::asker() {
                Asker::Terminal => {
                    "`espbench runs` lists their names; the newest is `last`, the one before `last~1`"
                }
                Asker::Caller => "the newest is `last`, the one before `last~1`",
            }),
            StoreError::NoneOpen { path } => Self::new(format!(
                "every run in {} is complete: there is nothing to resume",
                path.display()
            )),
            StoreError::Empty { path } => Self::new(format!("{} has no run yet", path.display()))
                .remedy(format!("{} makes one", CommandName("run"))),
            StoreError::Going { name, process } => {
                Self::new(format!("{name} is being carried out by another process ({process})"))
                    .remedy("wait for its end, or stop it, and then resume it")
            }
            StoreError::Full { path } => Self::new(format!("{}: the disk is full", path.display()))
                .because("what was measured before is safe")
                .remedy(format!(
                    "free some space, then go on with {} and {}",
                    CommandName("run"),
                    FlagName("--resume")
                )),
            StoreError::NoSpace { path } => {
                Self::new(format!("{}: the disk is full", path.display()))
                    .because("it has no room for the files of a store")
                    .remedy(format!(
                        "free some space, or choose another place with {}",
                        FlagValue("--store", "FILE")
                    ))
            }
            StoreError::Locked { path } => {
                Self::new(format!("{} is locked by another program", path.display()))
                    .remedy(format!("wait for it, or choose another {}", FlagValue("--store", "FILE")))
            }
            StoreError::Sqlite { path, source } => {
                Self::new(path.display().to_string()).because(source)
            }
        }
    }
}

impl std::fmt::Display for StoreError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        UserError::from(self).fmt(f)
    }
}

impl std::error::Error for StoreError {}

/// Defect of a file whose reading was broken off.
pub(super) const ENDLESS: &str =
    "the database is damaged: reading it gives more than a file of its length can hold";

/// Puts SQLite's errors into our words.
pub(super) fn wrap(path: &Path, error: rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode::{
        CannotOpen, DatabaseBusy, DatabaseCorrupt, DatabaseLocked, DiskFull, NotADatabase,
        OperationInterrupted, ReadOnly, SystemIoFailure, TooBig,
    };
    let path = path.to_owned();
    match error.sqlite_error_code() {
        Some(DiskFull) => StoreError::Full { path },
        Some(DatabaseBusy | DatabaseLocked) => StoreError::Locked { path },
        // SQLite does not say what failed where it makes its files.
        Some(SystemIoFailure | CannotOpen) if is_full(&path) => StoreError::NoSpace { path },
        Some(NotADatabase) => StoreError::Unusable { path, why: "it is no SQLite database".into() },
        Some(DatabaseCorrupt) => {
            StoreError::Unusable { path, why: "the database is damaged".into() }
        }
        Some(OperationInterrupted | TooBig) => StoreError::Unusable { path, why: ENDLESS.into() },
        // A value that is none of those that are written: an unknown word, or of another type.
        None if is_odd(&error) => {
            let why =
                format!("the file is damaged: a value is none that espbench writes ({error})");
            StoreError::Unusable { path, why }
        }
        Some(CannotOpen | ReadOnly) => {
            StoreError::Unusable { path, why: format!("it cannot be opened for writing ({error})") }
        }
        _ => StoreError::Sqlite { path, source: error },
    }
}

/// Returns whether a value was read that is never written.
const fn is_odd(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{
        FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
    };
    matches!(
        error,
        FromSqlConversionFailure(..)
            | IntegralValueOutOfRange(..)
            | InvalidColumnType(..)
            | Utf8Error(..)
    )
}

/// Returns whether the disk has no room for a page beside the store.
fn is_full(path: &Path) -> bool {
    let mut name = path.as_os_str().to_owned();
    name.push(format!("-space-{}", std::process::id()));
    let tried = std::fs::File::create_new(&name).and_then(|mut file| {
        let written = std::io::Write::write_all(&mut file, &[0; 64 << 10]);
        std::fs::remove_file(&name).and(written)
    });
    tried.is_err_and(|error| error.kind() == std::io::ErrorKind::StorageFull)
}

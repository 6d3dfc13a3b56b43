//! Files of a folder of logs.

use crate::user_error::{ForUser as _, UserError};
use std::fs;
use std::path::{Path, PathBuf};

/// Files of a folder that are read, at most.
pub(super) const MOST: usize = 1000;

/// Folders within folders, at most.
const DEEPEST: usize = 4;

/// Returns the files of a folder and of those within it that are wanted, by their names. Hidden ones are left out, and links,
/// which may lead out of it.
///
/// # Errors
/// It cannot be read, or has too many of them.
pub(super) fn files(
    folder: &Path,
    is_wanted: &dyn Fn(&Path) -> bool,
) -> Result<Vec<PathBuf>, UserError> {
    let mut found = Vec::new();
    add(folder, DEEPEST, is_wanted, &mut found)?;
    Ok(found)
}

fn add(
    folder: &Path,
    depth: usize,
    is_wanted: &dyn Fn(&Path) -> bool,
    found: &mut Vec<PathBuf>,
) -> Result<(), UserError> {
    let cannot = || format!("cannot read the folder {}", folder.display());
    let remedy = "name the folder of the logs, or the logs themselves";
    let mut folders: Vec<PathBuf> = Vec::new();
    let begin = found.len();
    for entry in fs::read_dir(folder).for_user(cannot, remedy)? {
        let entry = entry.for_user(cannot, remedy)?;
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let kind = entry.file_type().for_user(cannot, remedy)?;
        match entry.path() {
            _ if is_hidden => {}
            path if kind.is_file() && is_wanted(&path) => found.push(path),
            path if kind.is_dir() && depth > 0 => folders.push(path),
            _ => {}
        }
        if found.len() > MOST {
            return Err(UserError::new(cannot())
                .because(format!("it has more than {MOST} files"))
                .remedy(remedy));
        }
    }
    // Files stand before those of folders within.
    found[begin..].sort();
    folders.sort();
    for path in &folders {
        add(path, depth - 1, is_wanted, found)?;
    }
    Ok(())
}

//! Files of a folder of logs.

use crate::user_error::{ForUser as _, UserError};
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};

/// Files of a folder that are read, at most.
const MOST: usize = 1000;

/// Folders within folders, at most.
const DEEPEST: usize = 4;

/// Returns the files of a folder and of those within it, by their names. Hidden ones are left out, and links, which may lead
/// out of it.
///
/// # Errors
/// It cannot be read, or has too many files.
pub(super) fn files(folder: &Path) -> Result<Vec<PathBuf>, UserError> {
    let mut found = Vec::new();
    add(folder, DEEPEST, &mut found)?;
    Ok(found)
}

fn add(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), UserError> {
    let cannot = || format!("cannot read the folder {}", folder.display());
    let remedy = "name the folder of the logs, or the logs themselves";
    let mut entries: Vec<(PathBuf, FileType)> = Vec::new();
    for entry in fs::read_dir(folder).for_user(cannot, remedy)? {
        let entry = entry.for_user(cannot, remedy)?;
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let kind = entry.file_type().for_user(cannot, remedy)?;
        if !is_hidden && (kind.is_file() || kind.is_dir() && depth > 0) {
            entries.push((entry.path(), kind));
        }
        if found.len() + entries.len() > MOST {
            return Err(UserError::new(cannot())
                .because(format!("it has more than {MOST} files"))
                .remedy(remedy));
        }
    }
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    // Files stand before those of folders within.
    for (path, _) in entries.iter().filter(|it| it.1.is_file()) {
        found.push(path.clone());
    }
    for (path, _) in entries.iter().filter(|it| it.1.is_dir()) {
        add(path, depth - 1, found)?;
    }
    Ok(())
}

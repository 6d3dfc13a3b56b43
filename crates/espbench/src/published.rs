//! Published figures in a file of the user's, in the columns of `reference/published.csv`.

use crate::named_file;
use espbench_engine::published::{TableError, parse};
use espbench_measure::cell::Cell;
use std::path::Path;

/// Why a file of cells could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PublishedError {
    /// The file cannot be opened or read.
    #[error("{file}: {source}; give the path of a CSV file in the columns of published.csv")]
    Io {
        /// The file.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// Something in it cannot be read.
    #[error(transparent)]
    Table(#[from] TableError),
}

/// Reads the cells of a user's file: published ones, or those of a report in CSV.
///
/// # Errors
/// File, line and column of the first fault.
pub fn read(path: &Path) -> Result<Vec<Cell>, PublishedError> {
    let file = path.display().to_string();
    let text = named_file::text(path, named_file::RESULTS)
        .map_err(|source| PublishedError::Io { file: file.clone(), source })?;
    Ok(parse(&file, &text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_not_there_is_named() {
        let missing = read(Path::new("/nonexistent/mine.csv")).unwrap_err().to_string();
        assert!(missing.starts_with("/nonexistent/mine.csv: "), "{missing}");
    }
}

//! What is wrong with a file, and where.

use super::Kind;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

/// What is wrong with a file, and what would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrong {
    /// The file's name (`labs/office.toml`), or the name of what was asked for.
    pub file: String,
    /// Line, from 1; 0 where it is not about a place in the file.
    pub line: usize,
    /// Column in characters, from 1; 0 with a line of 0.
    pub column: usize,
    /// What is wrong, and what would do.
    pub message: String,
}

impl core::fmt::Display for Wrong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message),
            line => write!(f, "{}:{line}:{}: {}", self.file, self.column, self.message),
        }
    }
}

impl core::error::Error for Wrong {}

impl Wrong {
    /// It is not about a place in a file.
    pub(super) fn whole(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: 0, column: 0, message: message.into() }
    }

    /// There is nothing of that name.
    pub(super) fn unknown<'n>(
        kind: Kind,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) -> Self {
        let known: Vec<String> = known.map(ToString::to_string).collect();
        let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
        Self::whole(
            format!("{}/{name}", kind.folder()),
            format!("there is no such file; known here: {known}"),
        )
    }
}

//! Errors in files, with their places.

use super::FileKind;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::sdkconfig::ChipWithoutWifi;
use espbench_model::text;
use espbench_model::untrusted::Untrusted;

/// Mistake in a file, and a value that would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The file's name (`labs/office.toml`); empty where it is about none.
    pub file: String,
    /// Line, from 1; 0 where it is not about a place in the file.
    pub line: usize,
    /// Column in characters, from 1; 0 with a line of 0.
    pub column: usize,
    /// Description of the mistake, and of a value that would be right.
    pub message: String,
}

impl core::fmt::Display for FileError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { file, line, column, message } = self;
        let place = match line {
            0 => String::new(),
            line => format!("line {line}, column {column}: "),
        };
        // What a file says must not move the cursor of the reader's terminal.
        let colon = if file.is_empty() { "" } else { ": " };
        write!(f, "{}", Untrusted::line(&format!("{file}{colon}{place}{message}")))
    }
}

impl core::error::Error for FileError {}

impl FileError {
    /// Makes an error at an offset of a file's text.
    pub(super) fn at(file: &str, text: &str, offset: usize, message: impl Into<String>) -> Self {
        let (line, column) = text::place(text, offset);
        Self { file: file.to_string(), line, column, message: message.into() }
    }

    /// Makes an error that is not about a place in a file.
    pub(super) fn whole(file: impl Into<String>, message: impl Into<String>) -> Self {
        Self { file: file.into(), line: 0, column: 0, message: message.into() }
    }

    /// Makes an error about a name that does not exist.
    pub(super) fn unknown<'n>(
        kind: FileKind,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) -> Self {
        if let (FileKind::Profile, Some(chip)) = (kind, ChipWithoutWifi::of(name)) {
            return Self::whole("", chip.to_string());
        }
        let known: Vec<&str> = known.collect();
        let message = format!("no {} is called `{name}`{}", kind.word(), hint(name, &known));
        Self::whole("", message)
    }
}

/// Returns a hint at the names to use instead of an unknown one.
pub(super) fn hint(name: &str, known: &[&str]) -> String {
    text::Hint { word: name, known }.to_string()
}

//! What is wrong with a file, and where.

use super::Kind;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::Write as _;

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
        let Self { file, line, column, message } = self;
        let place = match line {
            0 => String::new(),
            line => format!("line {line}, column {column}: "),
        };
        // What a file says must not move the cursor of the reader's terminal.
        for c in format!("{file}: {place}{message}").chars() {
            f.write_char(if c.is_control() { '\u{fffd}' } else { c })?;
        }
        Ok(())
    }
}

impl core::error::Error for Wrong {}

impl Wrong {
    /// At an offset of a file's text.
    pub(super) fn at(file: &str, text: &str, offset: usize, message: impl Into<String>) -> Self {
        let mut offset = offset.min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Self {
            file: file.to_string(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message: message.into(),
        }
    }

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
        let known: Vec<&str> = known.collect();
        Self::whole(
            kind.file(name),
            format!("there is no such {}{}", kind.word(), hint(name, &known)),
        )
    }
}

/// What to use instead of a name that is not known.
pub(super) fn hint(name: &str, known: &[&str]) -> String {
    let near = known.iter().min_by_key(|it| distance(name, it));
    let near = near.filter(|it| distance(name, it) <= 3);
    let guess = near.map(|it| format!(". Did you mean `{it}`?")).unwrap_or_default();
    match known {
        [] => String::from(": none is known here"),
        known if guess.is_empty() => format!(". Known here: {}", known.join(", ")),
        known => format!("{guess} Known here: {}", known.join(", ")),
    }
}

/// Levenshtein's edit distance (1966), for "did you mean".
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut corner = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let cost = corner + usize::from(x != *y);
            corner = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(corner + 1);
        }
    }
    row[b.len()]
}

//! Writes a fragment for `sdkconfig.defaults`.

use super::chip::Release;
use super::key::{Key, Kind};
use super::read::is_more;
use core::fmt;

/// A line of a fragment: the setting, its value, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'c> {
    /// Which setting.
    pub key: Key,
    /// Its value; a flag is 1 or 0.
    pub value: u32,
    /// What stands above it as a comment; may have several lines.
    pub comment: &'c str,
}

/// Writes lines with the names of a release, each below its comment.
///
/// # Errors
/// The writer's.
pub fn fragment<'c>(
    out: &mut impl fmt::Write,
    release: Release,
    lines: impl IntoIterator<Item = Line<'c>>,
) -> fmt::Result {
    for (at, line) in lines.into_iter().enumerate() {
        if at > 0 && !line.comment.is_empty() {
            writeln!(out)?;
        }
        comment(out, line.comment)?;
        let name = line.key.name_in(release);
        match line.key.fact().kind {
            Kind::Number => writeln!(out, "{name}={}", line.value)?,
            Kind::Flag => writeln!(out, "{name}={}", if line.value == 0 { "n" } else { "y" })?,
        }
    }
    Ok(())
}

/// Writes a comment, a `#` before each of its lines.
///
/// # Errors
/// The writer's.
pub fn comment(out: &mut impl fmt::Write, text: &str) -> fmt::Result {
    for line in text.lines() {
        match line.trim() {
            "" => writeln!(out, "#")?,
            // What a reader would take for more than a comment ends in a full stop.
            line if is_more(line) => writeln!(out, "# {line}.")?,
            line => writeln!(out, "# {line}")?,
        }
    }
    Ok(())
}

//! Writes a fragment for `sdkconfig.defaults`.

use super::chip::{Chip, IdfRelease};
use super::key::{ConfigOption, ValueType};
use super::read::is_more;
use core::fmt;

/// A line of a fragment: the option, its value, and the reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'c> {
    /// Option that is set.
    pub key: ConfigOption,
    /// Value; 1 or 0 for a flag.
    pub value: u32,
    /// Comment above the line; it may have several lines.
    pub comment: &'c str,
}

/// Writes lines with the names of a release, each below its comment.
///
/// # Errors
/// Returns the writer's error.
pub fn fragment<'c>(
    out: &mut impl fmt::Write,
    release: IdfRelease,
    lines: impl IntoIterator<Item = Line<'c>>,
) -> fmt::Result {
    for (at, line) in lines.into_iter().enumerate() {
        if at > 0 && !line.comment.is_empty() {
            writeln!(out)?;
        }
        comment(out, line.comment)?;
        let name = line.key.name_in(release);
        match line.key.fact().kind {
            ValueType::Number => writeln!(out, "{name}={}", line.value)?,
            ValueType::Flag => writeln!(out, "{name}={}", line.key.text(line.value))?,
            ValueType::Choice(_) => writeln!(out, "{name}_{}=y", line.key.text(line.value))?,
        }
    }
    Ok(())
}

/// Writes the line that chooses a clock of the processor, with the name of the release.
///
/// # Errors
/// Returns the writer's error.
pub fn clock(out: &mut impl fmt::Write, chip: Chip, release: IdfRelease, mhz: u32) -> fmt::Result {
    if release.from(5, 0) {
        return writeln!(out, "CONFIG_ESP_DEFAULT_CPU_FREQ_MHZ_{mhz}=y");
    }
    out.write_str("CONFIG_")?;
    chip.name().chars().try_for_each(|it| out.write_char(it.to_ascii_uppercase()))?;
    writeln!(out, "_DEFAULT_CPU_FREQ_{mhz}=y")
}

/// Writes a comment, with a `#` before each of its lines.
///
/// # Errors
/// Returns the writer's error.
pub fn comment(out: &mut impl fmt::Write, text: &str) -> fmt::Result {
    for line in text.lines() {
        match line.trim() {
            "" => writeln!(out, "#")?,
            // A full stop keeps a comment from having a meaning for the parser.
            line if is_more(line) => writeln!(out, "# {line}.")?,
            line => writeln!(out, "# {line}")?,
        }
    }
    Ok(())
}

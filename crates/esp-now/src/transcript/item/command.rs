//! Errors of commands that could not be parsed or executed (reference, section 7.3).

use super::super::line::ConsoleLine;
use super::super::scan::LineCursor;

/// Reason why a command failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem<'a> {
    /// `Unrecognized command`
    Unrecognized,
    /// `Command returned non-zero error code: 0x%x (%s)`
    Failed {
        /// Number of the error, `esp_err_t`.
        code: u32,
        /// Name of the error.
        name: &'a str,
    },
    /// `Internal error: %s`
    Internal(&'a str),
    /// A line of the argument parser (argtable3).
    Usage {
        /// Name of the command.
        command: &'a str,
        /// Mistake in its arguments.
        usage: UsageError<'a>,
    },
    /// `[func, line] <ERRNAME> text`, and without a name `[func, line]text` and `[func, line]:
    /// text`: a check of the component has failed.
    Check {
        /// Name of the function.
        function: &'a str,
        /// Line of the source.
        line: u32,
        /// Name of the error.
        error: Option<&'a str>,
        /// Text of the message.
        text: &'a str,
    },
}

/// Message of argtable3 about arguments. The text is the rest of the line behind these words, with
/// its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UsageError<'a> {
    /// `invalid option "-x"`
    InvalidOption(&'a str),
    /// `invalid argument "…"`
    InvalidArgument(&'a str),
    /// `unexpected argument "…"`
    Unexpected(&'a str),
    /// `option "…" requires an argument`
    NeedsArgument(&'a str),
    /// `missing option …`
    Missing(&'a str),
    /// `excess option …`
    Excess(&'a str),
}

pub(super) fn read<'a>(line: &ConsoleLine<'a>) -> Option<Problem<'a>> {
    console(line.text).or_else(|| check(line)).or_else(|| usage(line))
}

fn console(text: &str) -> Option<Problem<'_>> {
    let mut s = LineCursor::new(text);
    let found = if s.maybe("Unrecognized command") {
        Problem::Unrecognized
    } else if s.maybe("Command returned non-zero error code: ") {
        let code = s.hex()?;
        s.lit(" (")?;
        let name = s.until_last(")")?;
        Problem::Failed { code, name }
    } else {
        s.lit("Internal error:")?;
        Problem::Internal(s.rest().trim_start())
    };
    s.end()?;
    Some(found)
}

fn check<'a>(line: &ConsoleLine<'a>) -> Option<Problem<'a>> {
    line.log?;
    let mut s = LineCursor::new(line.text);
    s.lit("[")?;
    let function = s.until(", ")?;
    let number = s.int()?;
    s.lit("]")?;
    if function.is_empty() || !function.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return None;
    }
    let _ = s.maybe(":");
    let mut text = LineCursor::new(s.rest().trim_start());
    let error = text.maybe("<").then(|| text.until(">")).flatten();
    Some(Problem::Check { function, line: number, error, text: text.rest().trim_start() })
}

/// Returns the text behind the prefix of the component's checks: some report lines are printed by a
/// check (`Send iperf recv queue failed`).
pub(super) fn checked<'a>(line: &ConsoleLine<'a>) -> Option<&'a str> {
    match check(line)? {
        Problem::Check { text, .. } => Some(text),
        _ => None,
    }
}

/// Parses a message of argtable3, which prints to stderr, not through the log.
fn usage<'a>(line: &ConsoleLine<'a>) -> Option<Problem<'a>> {
    if line.log.is_some() {
        return None;
    }
    let mut s = LineCursor::new(line.text);
    let command = s.until(": ")?;
    let usage = if s.maybe("invalid option ") {
        UsageError::InvalidOption(s.rest())
    } else if s.maybe("invalid argument ") {
        UsageError::InvalidArgument(s.rest())
    } else if s.maybe("unexpected argument ") {
        UsageError::Unexpected(s.rest())
    } else if s.maybe("missing option ") {
        UsageError::Missing(s.rest())
    } else if s.maybe("excess option ") {
        UsageError::Excess(s.rest())
    } else {
        s.lit("option ")?;
        let option = s.until_last(" requires an argument")?;
        s.end()?;
        UsageError::NeedsArgument(option)
    };
    (!command.is_empty() && !command.contains(' ')).then_some(Problem::Usage { command, usage })
}

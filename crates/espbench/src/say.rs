//! Everything that the command prints, on stderr and on stdout. All of it comes through here, so that no text from
//! outside reaches a terminal raw, whoever prints it ([`Untrusted`]).
//!
//! A stream that fails (a terminal that was closed, a full device, a reader that has gone) ends
//! nothing here: what is measured is in the store, and matters more than a line about it. `println!`
//! and `eprintln!` panic then, so clippy refuses them in this crate.

use crate::embed;
use crate::render::fitting;
use crate::sys::terminal;
use espbench_model::untrusted::{Untrusted, is_unsafe};
use std::fmt;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};

/// Prints one line to stderr, with the arguments of `format!`.
macro_rules! say {
    ($($argument:tt)*) => { $crate::say::line(format_args!($($argument)*)) };
}
pub(crate) use say;

/// The lines that stand at the bottom of the terminal.
static STATUS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// To the first column, and all after it is cleared (ECMA-48: CR, EL).
const CLEAR: &str = "\r\x1b[K";

/// One line up (ECMA-48: CUU).
const UP: &str = "\x1b[A";

/// Prints one line to stderr, in one piece, so that lines of several threads do not mix; above the status,
/// where there is one. A failure is ignored: there is nowhere left to report it.
pub fn line(text: fmt::Arguments<'_>) {
    let text = text.to_string();
    let text = Untrusted::lines(&text);
    if embed::line(format_args!("{text}")) {
        return;
    }
    let text = text.to_string();
    let text = match columns() {
        Some(columns) => text.lines().map(|line| fitting(line, columns)).collect(),
        None => format!("{text}\n"),
    };
    let status = STATUS.lock().unwrap_or_else(PoisonError::into_inner);
    let text = format!("{}{text}{}", clear(&status), status.join("\n"));
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Returns the columns of stderr; `None` where its lines may be as long as they are.
#[must_use]
pub fn columns() -> Option<usize> {
    if embed::is_one() { None } else { terminal::columns(&io::stderr()) }
}

/// Returns the columns of stdout, as [`columns`], and whether it is a terminal.
#[must_use]
pub fn screen() -> (Option<usize>, bool) {
    let stdout = io::stdout();
    (terminal::columns(&stdout), stdout.is_terminal())
}

/// Draws the status on the terminal, each line cut to its width; no line clears it.
pub fn status(lines: &[String]) {
    if embed::is_one() {
        return;
    }
    let width = columns().unwrap_or(usize::MAX).saturating_sub(1);
    let cut = |it: &String| it.chars().filter(|c| !is_unsafe(*c)).take(width).collect();
    let shown: Vec<String> = lines.iter().map(cut).collect();
    let mut status = STATUS.lock().unwrap_or_else(PoisonError::into_inner);
    if *status != shown {
        let text = format!("{}{}", clear(&status), shown.join("\n"));
        let _ = io::stderr().lock().write_all(text.as_bytes());
        *status = shown;
    }
}

/// Returns what clears the lines of a status: from the last, where the cursor is, to the first.
fn clear(status: &[String]) -> String {
    match status.len() {
        0 => String::new(),
        lines => format!("{CLEAR}{}", format!("{UP}{CLEAR}").repeat(lines - 1)),
    }
}

/// Returns whether text on stdout is coloured: on a terminal, unless `NO_COLOR` is set.
#[must_use]
pub fn is_coloured() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Prints to stdout, above the status where both are on a terminal; a reader that has gone (`| head`) is
/// no error.
///
/// # Errors
/// Any other failure to write.
pub fn out(text: &str) -> io::Result<()> {
    shown(Untrusted::lines(text))
}

/// Prints a drawing to stdout as [`out`] does, with its colours.
///
/// # Errors
/// As [`out`].
pub fn drawing(text: &str) -> io::Result<()> {
    shown(if is_coloured() { Untrusted::coloured(text) } else { Untrusted::lines(text) })
}

/// Prints to stdout what a console prints on the terminal that answers it.
///
/// # Errors
/// As [`out`].
pub fn console(text: &str) -> io::Result<()> {
    shown(Untrusted::console(text))
}

fn shown(text: Untrusted<'_>) -> io::Result<()> {
    let text = &text.to_string();
    if embed::out(text) {
        return Ok(());
    }
    let status = STATUS.lock().unwrap_or_else(PoisonError::into_inner);
    let mut stdout = io::stdout().lock();
    let is_above = !status.is_empty() && stdout.is_terminal();
    if is_above {
        let _ = io::stderr().lock().write_all(clear(&status).as_bytes());
    }
    let written = stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush());
    if is_above {
        let _ = io::stderr().lock().write_all(status.join("\n").as_bytes());
    }
    unless_gone(written)
}

/// Takes the end of a pipe's reader as a success: it has read all that it wanted.
///
/// # Errors
/// Any other failure.
pub fn unless_gone(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(e) if e.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result,
    }
}

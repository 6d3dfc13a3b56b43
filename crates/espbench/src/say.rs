//! Everything that the command prints, on stderr and on stdout.
//!
//! A stream that fails (a terminal that was closed, a full device, a reader that has gone) ends
//! nothing here: what is measured is in the store, and matters more than a line about it. `println!`
//! and `eprintln!` panic then, so clippy refuses them in this crate.

use crate::sys::terminal;
use std::fmt;
use std::io::{self, ErrorKind, Write as _};
use std::sync::{Mutex, PoisonError};

/// Prints one line to stderr, with the arguments of `format!`.
macro_rules! say {
    ($($argument:tt)*) => { $crate::say::line(format_args!($($argument)*)) };
}
pub(crate) use say;

/// The line that stands at the bottom of the terminal.
static STATUS: Mutex<String> = Mutex::new(String::new());

/// To the first column, and all after it is cleared (ECMA-48: CR, EL).
const CLEAR: &str = "\r\x1b[K";

/// Prints one line to stderr, in one piece, so that lines of several threads do not mix; above the status,
/// where there is one. A failure is ignored: there is nowhere left to report it.
pub fn line(text: fmt::Arguments<'_>) {
    let status = STATUS.lock().unwrap_or_else(PoisonError::into_inner);
    let clear = if status.is_empty() { "" } else { CLEAR };
    let _ = io::stderr().lock().write_all(format!("{clear}{text}\n{status}").as_bytes());
}

/// Draws the status line on the terminal, cut to its width; nothing clears it.
pub fn status(text: &str) {
    let width = terminal::columns().unwrap_or(80).saturating_sub(1);
    let shown: String = text.chars().filter(|c| !c.is_control()).take(width).collect();
    let mut status = STATUS.lock().unwrap_or_else(PoisonError::into_inner);
    if *status != shown {
        let _ = io::stderr().lock().write_all(format!("{CLEAR}{shown}").as_bytes());
        *status = shown;
    }
}

/// Returns whether text on stdout is coloured: on a terminal, unless `NO_COLOR` is set.
#[must_use]
pub fn is_coloured() -> bool {
    anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never
}

/// Prints to stdout; a reader that has gone (`| head`) is no error.
///
/// # Errors
/// Any other failure to write.
pub fn out(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    unless_gone(stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()))
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

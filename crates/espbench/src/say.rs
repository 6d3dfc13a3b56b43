//! Everything that the command prints, on stderr and on stdout.
//!
//! A stream that fails (a terminal that was closed, a full device, a reader that has gone) ends
//! nothing here: what is measured is in the store, and matters more than a line about it. `println!`
//! and `eprintln!` panic then, so clippy refuses them in this crate.

use std::fmt;
use std::io::{self, ErrorKind, Write as _};

/// Prints one line to stderr, with the arguments of `format!`.
macro_rules! say {
    ($($argument:tt)*) => { $crate::say::line(format_args!($($argument)*)) };
}
pub(crate) use say;

/// Prints one line to stderr, in one piece, so that lines of several threads do not mix. A failure is
/// ignored: there is nowhere left to report it.
pub fn line(text: fmt::Arguments<'_>) {
    let _ = io::stderr().lock().write_all(format!("{text}\n").as_bytes());
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

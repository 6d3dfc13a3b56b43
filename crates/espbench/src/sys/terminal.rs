//! The terminals that stdout and stderr go to.

use std::io::IsTerminal;
#[cfg(unix)]
use std::os::fd::{AsFd, AsRawFd as _};

/// Columns of a terminal that tells none.
const USUAL: usize = 80;

/// Tells whether stderr is a terminal on which a line can be drawn again.
#[must_use]
pub fn can_redraw() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|it| it != "dumb")
}

/// Returns the columns of a stream: those of its terminal, else those that `COLUMNS` has, else 80 on a terminal; `None`
/// where a line may be as long as it is.
#[cfg(unix)]
#[must_use]
pub fn columns(stream: &(impl IsTerminal + AsFd)) -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: TIOCGWINSZ writes one winsize, to a variable of that type.
    let told = unsafe { libc::ioctl(stream.as_fd().as_raw_fd(), libc::TIOCGWINSZ, &raw mut size) };
    let is_told = told == 0 && size.ws_col > 0;
    is_told.then(|| size.ws_col.into()).or_else(|| untold(stream.is_terminal()))
}

/// Returns the columns of a stream: those that `COLUMNS` has, else 80 on a terminal; `None` where a line may be as long as
/// it is.
#[cfg(not(unix))]
#[must_use]
pub fn columns(stream: &impl IsTerminal) -> Option<usize> {
    untold(stream.is_terminal())
}

/// Returns the columns where no terminal tells them.
fn untold(is_terminal: bool) -> Option<usize> {
    let named = std::env::var("COLUMNS").ok().and_then(|it| it.trim().parse().ok());
    named.filter(|it| *it > 0).or_else(|| is_terminal.then_some(USUAL))
}

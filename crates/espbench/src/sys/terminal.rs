//! The terminal that stdout or stderr goes to.

use std::io::IsTerminal as _;

/// Tells whether stderr is a terminal on which a line can be drawn again.
#[must_use]
pub fn can_redraw() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|it| it != "dumb")
}

/// Returns the width of the terminal in columns; `None` where the system does not tell.
#[must_use]
pub fn columns() -> Option<usize> {
    #[cfg(unix)]
    {
        let of = |file| {
            let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
            // SAFETY: TIOCGWINSZ writes one winsize, to a variable of that type.
            let told = unsafe { libc::ioctl(file, libc::TIOCGWINSZ, &raw mut size) };
            (told == 0 && size.ws_col > 0).then(|| usize::from(size.ws_col))
        };
        of(libc::STDERR_FILENO).or_else(|| of(libc::STDOUT_FILENO))
    }
    #[cfg(not(unix))]
    None
}

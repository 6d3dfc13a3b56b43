//! Control lines of a serial port.

use std::io;
use std::os::fd::RawFd;

/// Sets DTR, RTS or both; both change in one system call.
///
/// # Errors
/// [`io::ErrorKind::Unsupported`] where the descriptor has no such lines, as a pseudo-terminal; any other
/// where the port has gone.
pub fn set(fd: RawFd, dtr: Option<bool>, rts: Option<bool>) -> io::Result<()> {
    let mut lines: libc::c_int = 0;
    // SAFETY: TIOCMGET writes one int, to a variable of that type.
    check(unsafe { libc::ioctl(fd, libc::TIOCMGET, &raw mut lines) })?;
    for (level, bit) in [(dtr, libc::TIOCM_DTR), (rts, libc::TIOCM_RTS)] {
        match level {
            Some(true) => lines |= bit,
            Some(false) => lines &= !bit,
            None => {}
        }
    }
    // SAFETY: TIOCMSET reads one int, from a variable of that type.
    check(unsafe { libc::ioctl(fd, libc::TIOCMSET, &raw const lines) })
}

fn check(status: libc::c_int) -> io::Result<()> {
    if status == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    match error.raw_os_error() {
        Some(libc::ENOTTY | libc::EINVAL) => Err(io::ErrorKind::Unsupported.into()),
        _ => Err(error),
    }
}

//! Waiting until one of several sockets can be read or written, or a time has passed.

use espbench_model::time::Duration;
use socket2::SockRef;
use std::io;
use std::net::TcpStream;

/// A non-blocking socket, and what is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Interest<'a> {
    /// The socket.
    pub socket: &'a TcpStream,
    /// Whether to wait for bytes, or the end of the stream.
    pub read: bool,
    /// Whether to wait for room for bytes.
    pub write: bool,
}

/// The directions in which a socket would not wait. A system that cannot tell says yes: the sockets
/// do not block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    /// Whether there are bytes, or the stream has ended or failed.
    pub read: bool,
    /// Whether there is room.
    pub write: bool,
}

/// Waits for at most `timeout`.
///
/// # Errors
/// The system's error; an interruption by a signal is none.
#[cfg(unix)]
pub fn wait<const N: usize>(
    interests: [Interest<'_>; N],
    timeout: Duration,
) -> io::Result<[Readiness; N]> {
    use std::os::fd::AsRawFd as _;
    let mut polled = interests.map(|interest| libc::pollfd {
        // poll ignores negative descriptors.
        fd: if interest.read || interest.write { interest.socket.as_raw_fd() } else { -1 },
        events: if interest.read { libc::POLLIN } else { 0 }
            | if interest.write { libc::POLLOUT } else { 0 },
        revents: 0,
    });
    if poll(&mut polled, timeout) < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
        return Ok([Readiness::default(); N]);
    }
    let broken = libc::POLLERR | libc::POLLHUP | libc::POLLNVAL;
    Ok(polled.map(|p| Readiness {
        read: p.revents & (libc::POLLIN | broken) != 0,
        write: p.revents & (libc::POLLOUT | broken) != 0,
    }))
}

/// Waits for at most `timeout` until one of any number of sockets can be read, or (where asked for)
/// written to. A system that cannot tell waits a moment: the sockets do not block.
///
/// # Errors
/// The system's error; an interruption by a signal is none.
#[cfg(unix)]
pub fn wait_any(sockets: &[(SockRef<'_>, bool, bool)], timeout: Duration) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    let polled = sockets.iter().map(|(socket, read, write)| libc::pollfd {
        fd: socket.as_raw_fd(),
        events: if *read { libc::POLLIN } else { 0 } | if *write { libc::POLLOUT } else { 0 },
        revents: 0,
    });
    let mut polled: Vec<_> = polled.collect();
    if poll(&mut polled, timeout) < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(())
}

/// Sleeps for a moment, as the system cannot tell which socket is ready.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn wait_any(_sockets: &[(SockRef<'_>, bool, bool)], timeout: Duration) -> io::Result<()> {
    std::thread::sleep(timeout.min(Duration::from_millis(1)));
    Ok(())
}

#[cfg(target_os = "linux")]
pub(super) fn poll(polled: &mut [libc::pollfd], timeout: Duration) -> i32 {
    let timeout = libc::timespec {
        tv_sec: timeout.as_secs().min(3600) as _,
        tv_nsec: timeout.subsec_nanos() as libc::c_long,
    };
    // SAFETY: `polled` is a slice of initialized structures of that length, `timeout` outlives the
    // call, and a null signal mask leaves the mask as it is.
    unsafe {
        libc::ppoll(
            polled.as_mut_ptr(),
            polled.len() as libc::nfds_t,
            &raw const timeout,
            std::ptr::null(),
        )
    }
}

#[cfg(all(unix, not(target_os = "linux")))]
pub(super) fn poll(polled: &mut [libc::pollfd], timeout: Duration) -> i32 {
    let millis = i32::try_from(timeout.as_micros().div_ceil(1000)).unwrap_or(3_600_000);
    // SAFETY: `polled` is a slice of initialized structures of that length.
    unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, millis) }
}

/// Waits for at most `timeout`, and no longer than a millisecond: nothing tells it of readiness.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn wait<const N: usize>(
    interests: [Interest<'_>; N],
    timeout: Duration,
) -> io::Result<[Readiness; N]> {
    std::thread::sleep(timeout.min(Duration::from_millis(1)));
    Ok(interests.map(|interest| Readiness { read: interest.read, write: interest.write }))
}

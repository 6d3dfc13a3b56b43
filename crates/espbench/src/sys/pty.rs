//! Pseudo-terminals: a terminal's device on one side, which any program opens like a serial port, and
//! this process on the other.

use std::fs::File;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

#[cfg(unix)]
pub use unix::{wait, wait_beside};

/// The state of a pseudo-terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PtyState {
    /// Whether a program has the terminal's device open.
    pub is_open: bool,
    /// Whether there are bytes to read.
    pub has_bytes: bool,
}

/// A pseudo-terminal. Dropping it is pulling out the cable: programs read the end of it, and its
/// path is gone.
#[derive(Debug)]
pub struct Pty {
    ours: File,
    path: PathBuf,
}

impl Pty {
    /// Returns the path of the terminal's device.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads bytes that a program has written; 0 where there are none now.
    pub fn read(&self, buffer: &mut [u8]) -> usize {
        (&self.ours).read(buffer).unwrap_or(0)
    }

    /// Writes bytes for a program to read. Returns how many there was room for.
    ///
    /// # Errors
    /// The system's.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        match (&self.ours).write(bytes) {
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(0),
            result => result,
        }
    }
}

#[cfg(unix)]
mod unix {
    use super::{Duration, Pty, PtyState, io};
    use crate::sys::ready;
    use crate::sys::tun::Tun;
    use std::ffi::CStr;
    use std::fs::{File, OpenOptions};
    use std::io::ErrorKind;
    use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
    use std::os::unix::fs::OpenOptionsExt as _;
    use std::path::PathBuf;
    use std::sync::{Mutex, PoisonError};

    impl Pty {
        /// Opens a pseudo-terminal that hands on all bytes as they are.
        ///
        /// # Errors
        /// The system's: it has none left.
        pub fn open() -> io::Result<Self> {
            // SAFETY: a call without pointers; the descriptor that it gives is owned by nobody else.
            let ours =
                unsafe { libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC) };
            if ours < 0 {
                return Err(io::Error::last_os_error());
            }
            // SAFETY: as above.
            let ours = File::from(unsafe { OwnedFd::from_raw_fd(ours) });
            let path = prepare(&ours)?;
            let pty = Self { ours, path };
            // Modes are kept while our end is open. Once the other end was open and closed, it is
            // told apart from one that nobody has opened yet.
            let theirs = pty.other_end()?;
            let mut modes = std::mem::MaybeUninit::<libc::termios>::uninit();
            // SAFETY: tcgetattr fills the structure, or fails and it is not read.
            let modes = unsafe {
                if libc::tcgetattr(theirs.as_raw_fd(), modes.as_mut_ptr()) != 0 {
                    return Err(io::Error::last_os_error());
                }
                let mut modes = modes.assume_init();
                libc::cfmakeraw(&raw mut modes);
                modes
            };
            // SAFETY: the structure is initialized and only read.
            if unsafe { libc::tcsetattr(theirs.as_raw_fd(), libc::TCSANOW, &raw const modes) } != 0
            {
                return Err(io::Error::last_os_error());
            }
            Ok(pty)
        }

        fn other_end(&self) -> io::Result<File> {
            let flags = libc::O_NOCTTY | libc::O_NONBLOCK;
            OpenOptions::new().read(true).write(true).custom_flags(flags).open(&self.path)
        }

        /// Throws away the bytes that a program has left unread.
        pub fn clear(&self) {
            if let Ok(theirs) = self.other_end() {
                // SAFETY: a call without pointers, on a descriptor that is open.
                unsafe { libc::tcflush(theirs.as_raw_fd(), libc::TCIOFLUSH) };
            }
        }
    }

    /// Makes our end usable: it does not block, and the other end may be opened. Returns the path of
    /// that.
    fn prepare(ours: &File) -> io::Result<PathBuf> {
        let fd = ours.as_raw_fd();
        // SAFETY: calls without pointers, on a descriptor that is open.
        let failed = unsafe {
            let flags = libc::fcntl(fd, libc::F_GETFL);
            flags < 0
                || libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) < 0
                || libc::grantpt(fd) != 0
                || libc::unlockpt(fd) != 0
        };
        if failed {
            return Err(io::Error::last_os_error());
        }
        let _one = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the call gives null, or a text that is valid until the next such call: those are made
        // one at a time, here.
        unsafe {
            let name = libc::ptsname(fd);
            if name.is_null() {
                return Err(io::Error::last_os_error());
            }
            Ok(PathBuf::from(CStr::from_ptr(name).to_string_lossy().into_owned()))
        }
    }

    /// Calls of ptsname, which has one buffer for all.
    static NAMES: Mutex<()> = Mutex::new(());

    /// Waits for at most `timeout` until a program writes to one of these pseudo-terminals, or closes it,
    /// and returns their states. Those with `false` are not looked at.
    ///
    /// # Errors
    /// The system's error; an interruption by a signal is none.
    pub fn wait(ptys: &[(&Pty, bool)], timeout: Duration) -> io::Result<Vec<PtyState>> {
        wait_beside(ptys, None, timeout)
    }

    /// Waits as [`wait`] does, and for a packet of an interface.
    ///
    /// # Errors
    /// The system's error; an interruption by a signal is none.
    pub fn wait_beside(
        ptys: &[(&Pty, bool)],
        tun: Option<&Tun>,
        timeout: Duration,
    ) -> io::Result<Vec<PtyState>> {
        let beside = tun.map(Tun::descriptor);
        let polled = ptys.iter().map(|(pty, wanted)| libc::pollfd {
            // poll ignores negative descriptors.
            fd: if *wanted { pty.ours.as_raw_fd() } else { -1 },
            events: libc::POLLIN,
            revents: 0,
        });
        let mut polled: Vec<_> = polled.collect();
        let beside = beside.map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
        polled.extend(beside);
        let mut timeout = timeout;
        while ready::poll(&mut polled, timeout) < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != ErrorKind::Interrupted {
                return Err(error);
            }
            timeout = Duration::ZERO;
        }
        let states = polled.iter().take(ptys.len()).map(|it| PtyState {
            is_open: it.revents & libc::POLLHUP == 0,
            has_bytes: it.revents & libc::POLLIN != 0,
        });
        Ok(states.collect())
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::io::{Read as _, Write as _};

        fn state(pty: &Pty) -> PtyState {
            wait(&[(pty, true)], Duration::ZERO).unwrap()[0]
        }

        #[test]
        fn bytes_pass_unchanged_and_who_comes_and_goes_is_seen() {
            let pty = Pty::open().unwrap();
            assert_eq!(state(&pty), PtyState::default(), "nobody has it open");
            let mut client = pty.other_end().unwrap();
            assert!(state(&pty).is_open);
            client.write_all(b"\x03a\r\n\0\xff").unwrap();
            let waited = wait(&[(&pty, true)], Duration::from_secs(60)).unwrap();
            assert_eq!(waited, [PtyState { is_open: true, has_bytes: true }]);
            let mut bytes = [0; 16];
            assert_eq!(pty.read(&mut bytes), 6);
            assert_eq!(&bytes[..6], b"\x03a\r\n\0\xff", "no echo, no signal, no line discipline");
            assert_eq!(pty.read(&mut bytes), 0);
            assert_eq!(pty.write(b"\x1b[6n\n\r").unwrap(), 6);
            // The kernel hands bytes over in its own time.
            let mut read = 0;
            while read < 6 {
                read += client.read(&mut bytes[read..]).unwrap_or(0);
            }
            assert_eq!(&bytes[..6], b"\x1b[6n\n\r");
            client.write_all(b"bye").unwrap();
            drop(client);
            assert_eq!(state(&pty), PtyState { is_open: false, has_bytes: true });
            assert_eq!((pty.read(&mut bytes), state(&pty)), (3, PtyState::default()));
        }

        #[test]
        fn the_next_program_reads_nothing_of_what_the_last_one_left() {
            let pty = Pty::open().unwrap();
            let client = pty.other_end().unwrap();
            pty.write(b"left").unwrap();
            drop(client);
            pty.clear();
            let mut client = pty.other_end().unwrap();
            let said = client.read(&mut [0; 8]).unwrap_err();
            assert_eq!(said.kind(), ErrorKind::WouldBlock);
        }

        #[test]
        fn a_program_that_does_not_read_is_no_wait_and_unplugging_ends_it() {
            let pty = Pty::open().unwrap();
            let mut client = pty.other_end().unwrap();
            let chunk = [b'x'; 1000];
            let written =
                std::iter::from_fn(|| Some(pty.write(&chunk).unwrap()).filter(|it| *it > 0));
            assert!(written.take(10_000).sum::<usize>() < 1_000_000, "it is full at some time");
            let path = pty.path().to_owned();
            drop(pty);
            assert!(client.write_all(b"x").is_err() && !path.exists());
        }
    }
}

#[cfg(not(unix))]
impl Pty {
    /// Opens a pseudo-terminal.
    ///
    /// # Errors
    /// There are none on this system.
    pub fn open() -> io::Result<Self> {
        Err(io::Error::new(ErrorKind::Unsupported, "this system has no pseudo-terminals"))
    }

    /// Throws away the bytes that a program has left unread.
    pub fn clear(&self) {}
}

/// Waits until a program writes to one of these pseudo-terminals: there are none.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn wait(_: &[(&Pty, bool)], timeout: Duration) -> io::Result<Vec<PtyState>> {
    std::thread::sleep(timeout);
    Ok(Vec::new())
}

/// Waits as [`wait`] does.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn wait_beside(
    _: &[(&Pty, bool)],
    _: Option<&super::tun::Tun>,
    timeout: Duration,
) -> io::Result<Vec<PtyState>> {
    std::thread::sleep(timeout);
    Ok(Vec::new())
}

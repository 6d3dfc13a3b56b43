//! Pseudo-terminals, as a terminal or a serial port that a command opens.

use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd as _, FromRawFd as _};
use std::os::unix::fs::OpenOptionsExt as _;

/// Returns a pseudo-terminal that no command inherits: our end, the other one, and its name.
pub fn open_terminal() -> (File, File, String) {
    // SAFETY: these calls take and give a descriptor; the name is written to a buffer of the given size.
    let (line, name) = unsafe {
        let fd = libc::posix_openpt(libc::O_RDWR | libc::O_NOCTTY | libc::O_CLOEXEC);
        assert!(fd >= 0, "{}", std::io::Error::last_os_error());
        let line = File::from_raw_fd(fd);
        assert!(libc::grantpt(fd) == 0 && libc::unlockpt(fd) == 0);
        let mut name = [0; 64];
        assert_eq!(libc::ptsname_r(fd, name.as_mut_ptr(), name.len()), 0);
        (line, std::ffi::CStr::from_ptr(name.as_ptr()).to_str().unwrap().to_owned())
    };
    let host = OpenOptions::new().read(true).write(true).custom_flags(libc::O_NOCTTY).open(&name);
    (line, host.unwrap(), name)
}

/// Opens a pseudo-terminal in raw mode: the device's end, the host's, and the name of the host's. No child
/// of the test inherits an end, since it would keep the port open.
pub fn pseudo_terminal() -> (File, File, String) {
    let (line, host, name) = open_terminal();
    let mut settings = std::mem::MaybeUninit::<libc::termios>::uninit();
    // SAFETY: tcgetattr writes one termios, which the others change and read.
    unsafe {
        assert_eq!(libc::tcgetattr(host.as_raw_fd(), settings.as_mut_ptr()), 0);
        let mut settings = settings.assume_init();
        libc::cfmakeraw(&raw mut settings);
        assert_eq!(libc::tcsetattr(host.as_raw_fd(), libc::TCSANOW, &raw const settings), 0);
    }
    (line, host, name)
}

//! A terminal whose keys come one by one.

/// Terminal of stdin in raw mode: no echo, no lines, no signals, until it is dropped.
#[derive(Debug)]
pub struct RawTerminal {
    #[cfg(unix)]
    before: libc::termios,
}

impl RawTerminal {
    /// Begins raw mode; `None` where stdin is no terminal, or the system has no such mode.
    #[must_use]
    pub fn begin() -> Option<Self> {
        #[cfg(unix)]
        {
            let mut settings = std::mem::MaybeUninit::<libc::termios>::uninit();
            // SAFETY: tcgetattr writes one termios, which is read only where the call says that it did.
            let before = unsafe {
                if libc::tcgetattr(libc::STDIN_FILENO, settings.as_mut_ptr()) != 0 {
                    return None;
                }
                settings.assume_init()
            };
            let mut raw = before;
            // SAFETY: cfmakeraw changes a termios that tcsetattr reads.
            let set = unsafe {
                libc::cfmakeraw(&raw mut raw);
                libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &raw const raw)
            };
            (set == 0).then_some(Self { before })
        }
        #[cfg(not(unix))]
        None
    }
}

#[cfg(unix)]
impl Drop for RawTerminal {
    fn drop(&mut self) {
        // SAFETY: tcsetattr reads one termios, that of before.
        unsafe {
            libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, &raw const self.before);
        }
    }
}

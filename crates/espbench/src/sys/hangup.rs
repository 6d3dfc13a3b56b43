//! SIGHUP: the terminal was closed.

/// Tells whether the process was told at its start to ignore hangups, as `nohup` does.
#[must_use]
pub fn is_ignored() -> bool {
    #[cfg(unix)]
    {
        let mut action = std::mem::MaybeUninit::<libc::sigaction>::uninit();
        // SAFETY: with a null new action, sigaction only writes the current one to `action`, which is
        // large enough; it is read only where the call says that it did.
        unsafe {
            libc::sigaction(libc::SIGHUP, std::ptr::null(), action.as_mut_ptr()) == 0
                && action.assume_init().sa_sigaction == libc::SIG_IGN
        }
    }
    #[cfg(not(unix))]
    false
}

/// Ignores hangups from now on: the process outlives its terminal.
pub fn ignore() {
    #[cfg(unix)]
    // SAFETY: SIG_IGN is a valid disposition of SIGHUP and runs no code of ours.
    unsafe {
        libc::signal(libc::SIGHUP, libc::SIG_IGN);
    }
}

//! Limits on open files.

/// Raises the number of descriptors that the process may have to what it is allowed to ask for: on many
/// systems the first limit is 1024, fewer than a broker has clients. A failure leaves it as it is.
#[cfg(unix)]
pub fn allow_many() {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to a structure of this frame, which both calls leave when they return.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            // Some systems refuse more than this for one process, whatever the limit says.
            limit.rlim_cur = limit.rlim_max.min(65_536).max(limit.rlim_cur);
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

/// The same where there is no such limit.
#[cfg(not(unix))]
pub const fn allow_many() {}

//! CPU time.

use std::time::Duration;

/// Returns the CPU time of this process so far, user and system together; `None` where the system
/// does not tell.
#[must_use]
pub fn process_time() -> Option<Duration> {
    imp::process_time()
}

#[cfg(unix)]
mod imp {
    use super::Duration;

    pub(super) fn process_time() -> Option<Duration> {
        // SAFETY: an rusage of zeros is valid, and the pointer is to one of this frame.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            (libc::getrusage(libc::RUSAGE_SELF, &raw mut usage) == 0).then_some(usage)?
        };
        let span = |t: libc::timeval| {
            Duration::from_secs(t.tv_sec.unsigned_abs())
                + Duration::from_micros(u64::try_from(t.tv_usec).unwrap_or_default())
        };
        Some(span(usage.ru_utime) + span(usage.ru_stime))
    }
}

#[cfg(not(unix))]
mod imp {
    use super::Duration;

    pub(super) fn process_time() -> Option<Duration> {
        None
    }
}

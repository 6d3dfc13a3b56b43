//! CPU time, and sleeping to the point.

use std::time::Duration;

/// CPU time of this process so far, user and system together; `None` where the system does not
/// say.
#[must_use]
pub fn process_time() -> Option<Duration> {
    imp::process_time()
}

/// Asks for wake-ups to the point in this thread: the default timer slack makes every sleep some
/// 50 us late. Without effect where the system has no such setting.
pub fn sharp_timers() {
    imp::sharp_timers();
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
                + Duration::from_micros(t.tv_usec.unsigned_abs() as u64)
        };
        Some(span(usage.ru_utime) + span(usage.ru_stime))
    }

    #[cfg(target_os = "linux")]
    pub(super) fn sharp_timers() {
        // SAFETY: PR_SET_TIMERSLACK takes one unsigned long, nanoseconds, and touches no memory.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1 as libc::c_ulong) };
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn sharp_timers() {}
}

#[cfg(not(unix))]
mod imp {
    use super::Duration;

    pub(super) fn process_time() -> Option<Duration> {
        None
    }

    pub(super) fn sharp_timers() {}
}

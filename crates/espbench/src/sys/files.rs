//! Limits on open files, and what a file takes on a disk.

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

/// Does nothing: there is no such limit.
#[cfg(not(unix))]
pub const fn allow_many() {}

/// Raises the soft limit of open files to `needed` where the hard limit allows it.
///
/// # Errors
/// The limit, where it stays lower.
#[cfg(unix)]
pub fn allow(needed: u64) -> Result<(), u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is a structure that the call fills.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) } != 0 {
        return Ok(());
    }
    if limit.rlim_cur >= needed {
        return Ok(());
    }
    let wanted = libc::rlimit { rlim_cur: needed.min(limit.rlim_max), ..limit };
    // SAFETY: `wanted` is an initialized structure that the call reads.
    let raised = unsafe { libc::setrlimit(libc::RLIMIT_NOFILE, &raw const wanted) } == 0;
    let now = if raised { wanted.rlim_cur } else { limit.rlim_cur };
    if now >= needed { Ok(()) } else { Err(now) }
}

/// Allows any number: nothing is limited here, as far as is known.
///
/// # Errors
/// None.
#[cfg(not(unix))]
pub fn allow(_needed: u64) -> Result<(), u64> {
    Ok(())
}

/// Returns the length of a file, but for the holes of a sparse one; no file system compresses as well as a hole.
#[cfg(unix)]
#[must_use]
pub fn written(file: &std::fs::Metadata) -> u64 {
    let blocks = std::os::unix::fs::MetadataExt::blocks(file);
    // Some file systems do not tell blocks.
    if blocks == 0 { file.len() } else { file.len().min(blocks.saturating_mul(512 * 64)) }
}

/// Returns the length of a file.
#[cfg(not(unix))]
#[must_use]
pub fn written(file: &std::fs::Metadata) -> u64 {
    file.len()
}

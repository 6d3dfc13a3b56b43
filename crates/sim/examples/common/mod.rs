//! What the examples share.

use std::time::Instant;

/// Seconds of a processor that this thread has had, where the system says so (Linux), else of the
/// clock: on a machine with other work only the former can be compared.
pub(crate) fn spent(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|it| it.parse::<u64>().ok());
    nanos.map_or_else(|| start.elapsed().as_secs_f64(), |nanos| nanos as f64 * 1e-9)
}

//! Helpers of the examples.

use std::time::Instant;

/// Returns the processor time of this thread in seconds, where the system tells it (Linux), else
/// that of the clock: on a machine with other work only the former can be compared.
pub(crate) fn spent(start: Instant) -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanos = text.split(' ').next().and_then(|it| it.parse::<u64>().ok());
    nanos.map_or_else(|| start.elapsed().as_secs_f64(), |nanos| nanos as f64 * 1e-9)
}

/// Returns the most memory that this process has had, in megabytes, where the system tells it.
#[allow(dead_code, reason = "not every example asks")]
pub(crate) fn peak_mb() -> f64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kb = line.and_then(|it| it.trim().strip_suffix("kB")).and_then(|it| it.trim().parse().ok());
    kb.map_or(f64::NAN, |kb: f64| kb / 1024.0)
}

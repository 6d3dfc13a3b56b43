//! Moves bytes between sockets and the iperf machines of `espbench_proto::node`; the client
//! (`target::iperf`) and the server (`respond::iperf`) both run on it. And runs whole programs of
//! `proto::node::app` over the system's sockets ([`app`]).

pub mod app;
pub mod flows;
pub mod peer;
pub mod reads;
pub mod tcp;
pub mod udp;

use crate::clock::Clock;
use espbench_proto::sample::Sample;
use espbench_proto::time::Duration;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest blocking call, so that a stop is noticed.
pub const SLICE: Duration = Duration::from_millis(50);

/// What a pump runs under.
pub struct Control<'a> {
    /// The clock of all samples.
    pub clock: &'a Clock,
    /// Set by the user's Ctrl-C or by the service's end.
    pub stop: &'a AtomicBool,
    /// Takes samples as they come.
    pub emit: &'a mut dyn FnMut(Sample),
}

impl std::fmt::Debug for Control<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("stop", &self.stop).finish_non_exhaustive()
    }
}

impl Control<'_> {
    /// Whether to stop.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Whether a call ended because its time-out did, or a signal came: look around and call again.
#[must_use]
pub fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// Nanoseconds since the epoch at the clock's zero, for the time of day in datagrams. Read once;
/// differences are always the monotonic clock's.
#[must_use]
pub fn epoch_ns(clock: &Clock) -> u64 {
    // Of several readings the one during which the least time passed is the truest.
    let read = || {
        let before = clock.now();
        let wall = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let after = clock.now();
        let wall = wall.map_or(0, |d| u64::try_from(d.as_nanos()).unwrap_or_default());
        let took = after.since(before).as_nanos();
        let middle = before.as_nanos() + u64::try_from(took / 2).unwrap_or_default();
        (took, wall.saturating_sub(middle))
    };
    (0..8).map(|_| read()).min().map_or(0, |(_, epoch)| epoch)
}

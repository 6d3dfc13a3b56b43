//! Moves bytes between sockets and the iperf machines of `espbench_proto::node`; the client
//! (`target::iperf`) and the server (`respond::iperf`) both run on it.
//!
//! | module | contents |
//! |---|---|
//! | [`udp`] | one UDP flow, in one direction |
//! | [`flows`] | many UDP flows that arrive on one socket |
//! | [`tcp`] | one TCP stream, in one direction |
//! | [`peer`] | the record of what a stream's peer has taken |
//! | [`reads`] | sizes and one-way times of a stream's reads |
//! | [`app`] | whole programs of `proto::node::app` over the system's sockets |

pub mod app;
pub mod flows;
pub mod peer;
pub mod reads;
pub mod tcp;
pub mod udp;

use crate::clock::Clock;
use espbench_model::sample::Sample;
use espbench_model::time::Duration;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest blocking call, so that a stop is noticed.
pub const SLICE: Duration = Duration::from_millis(50);

/// The context in which a pump runs.
pub struct PumpContext<'a> {
    /// The clock of all samples.
    pub clock: &'a Clock,
    /// Set by the user's Ctrl-C or by the service's end.
    pub stop: &'a AtomicBool,
    /// Takes samples as they come.
    pub emit: &'a mut dyn FnMut(Sample),
}

impl std::fmt::Debug for PumpContext<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Control").field("stop", &self.stop).finish_non_exhaustive()
    }
}

impl PumpContext<'_> {
    /// Tells whether to stop.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Tells whether a call ended because its time-out did, or a signal came: look around and call
/// again.
#[must_use]
pub fn is_pause(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted
    )
}

/// Returns nanoseconds since the epoch at the clock's zero, for the time of day in datagrams. Read
/// once; differences are always the monotonic clock's.
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

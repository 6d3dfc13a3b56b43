//! Devices that do not come to rest.

use super::device::NodeId;
use alloc::boxed::Box;
use core::fmt;
use esp_now::node::NodeOutput;
use espbench_model::time::Instant;

/// Polls of a device at one instant, without an end of it, that make a [`Livelock`].
pub const POLLS_MAX: u32 = 100_000;

/// A device that always wants to be polled again: a mistake in its firmware.
#[derive(Clone, Debug, PartialEq)]
pub struct Livelock {
    /// Device that does not come to rest.
    pub node: NodeId,
    /// Time on the clock of all.
    pub at: Instant,
    /// Output of the last poll.
    pub last: Box<NodeOutput>,
}

impl fmt::Display for Livelock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, at, last } = self;
        let seconds = at.as_nanos() as f64 / 1e9;
        write!(
            f,
            "{node} does not come to rest: {POLLS_MAX} polls at {seconds:.6} s, the last {last:?}"
        )
    }
}

impl core::error::Error for Livelock {}

//! Theoretical limits: the time that the work of a cell takes at its PHY rate with no waste. A figure
//! is worse than its limit by the cost of the implementation: processors, copies, waits, collisions.
//! Times have a least value, and rates a greatest. (Xiao and Rosdahl, "Throughput and delay limits of
//! IEEE 802.11", IEEE Communications Letters 6, 2002, do so for the DCF with its waits.)
//!
//! # Rules
//!
//! - Each frame that the work needs counts once: no further copies of a broadcast, no retries.
//! - SIFS and the ACK after a unicast frame count: they belong to its exchange (IEEE 802.11-2020,
//!   10.3.2.11).
//! - DIFS and back-off do not count. A medium that has been idle for DIFS may be used at once
//!   (10.3.4.2), and any further wait is for the sake of others.
//! - Time of a processor, of flash or of a console does not count.
//!
//! Which frames a test needs is said in the folder of its [kind](crate::kind), in `limit.rs`. MQTT has no
//! limit: its rate is given, not reached.

pub(crate) mod wifi;

/// The theoretical limit of one metric, in the metric's unit: see
/// [`Cell::limit`](crate::cell::Cell::limit).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TheoreticalLimit {
    /// Name of the metric.
    pub metric: &'static str,
    /// Limit under the settings that the cell was recorded with.
    pub ours: f64,
    /// Limit under the settings of the document's test of the same work.
    pub published: f64,
}

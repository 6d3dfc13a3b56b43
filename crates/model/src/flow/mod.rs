//! Counts of one stream, as any of its observers keeps them: iperf 2's ends, and those of the esp-now
//! component.
//!
//! | type | contents |
//! |---|---|
//! | [`FlowMeter`] | cuts a count of bytes and datagrams into intervals and a total |
//! | [`Tracker`] | lost, duplicate and out-of-order datagrams, by number |

mod meter;
mod track;

pub use meter::{FlowCounts, FlowMeter};
pub use track::{DatagramOrder, Tracker};

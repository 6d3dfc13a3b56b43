//! How each participant behaves: state machines without I/O.
//!
//! The rule for a driver: after any `handle`, call `poll` until it answers [`Output::WaitUntil`] or
//! [`Output::Done`].
//!
//! | module | contents |
//! |---|---|
//! | [`app`] | programs over IP sockets, as a device or a host runs them |
//! | [`echo`] | echo probes over UDP and ICMP: sends them, and times the replies |
//! | [`iperf`] | iperf 2 over UDP and TCP: pacing, tracking, reports |
//! | [`mqtt`] | MQTT clients that measure: publisher, subscriber, connection |
//! | [`peer_reads`] | how much of a TCP stream the peer's application has taken |

pub mod app;
pub mod echo;
pub mod iperf;
pub mod mqtt;
pub mod peer_reads;

use espbench_model::sample::Sample;
use espbench_model::time::Instant;

/// Request of a machine to its driver.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the large one on")]
pub enum Output {
    /// Send the first `len` bytes of the buffer that was lent to `poll`, now.
    Send {
        /// Number of bytes to send.
        len: usize,
    },
    /// Record this sample.
    Sample(Sample),
    /// Wait: there is nothing to do before this instant unless something arrives.
    WaitUntil(Instant),
    /// Stop: the machine has finished and wants nothing more.
    Done,
}

//! A message every so often, in either direction: what power save is measured with.
//!
//! Over MQTT the same is [`Mqtt`](super::Mqtt) with an offered rate and
//! [`MqttListener`](super::MqttListener), on the device and the PC or the other way round.

mod collect;
mod command;
mod send;

pub use collect::Collector;
pub use command::{Answerer, Commander};
pub use send::Reporter;

use crate::sample::Link;
use crate::time::Duration;
use crate::workload::Transport;

/// What is sent, and how often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportSetup {
    /// UDP or TCP.
    pub transport: Transport,
    /// Bytes of a message, at least 16. Over TCP both ends must know it.
    pub size: u32,
    /// From one message's due time to the next.
    pub every: Duration,
    /// When the first is due, after the start.
    pub first: Duration,
    /// Messages.
    pub count: u32,
    /// How long an answer, or a message that is missing, is waited for.
    pub timeout: Duration,
    /// The link named in the samples.
    pub link: Link,
}

/// How long a refused send waits, and how long it is before a lost connection is opened again.
const RETRY: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(500));
/// How often a datagram is tried again for which there is no buffer.
const TRIES: u8 = 10;

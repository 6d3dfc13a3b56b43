//! A message every so often, in either direction: what power save is measured with.
//!
//! Over MQTT the same is [`Mqtt`](super::Mqtt) with an offered rate, and
//! [`MqttListener`](super::MqttListener).

use super::{App, Endpoint, Sockets, Wait};
use crate::sample::Link;
use crate::time::{Duration, Instant};
use crate::workload::Transport;

/// What is sent, and how often. Messages are those of [`payload`](crate::node::mqtt::payload): a
/// number, the time at which they were due, a pattern.
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

/// A device that sends a message every so often (a sensor).
#[derive(Clone, Debug)]
pub struct Reporter<const N: usize = 1460> {
    setup: ReportSetup,
    to: Endpoint,
}

/// Who takes a [`Reporter`]'s messages and records a sample for each: from due to received, on one
/// clock. Messages that are missing at the end are lost.
#[derive(Clone, Debug)]
pub struct Collector<const N: usize = 1460> {
    setup: ReportSetup,
    port: u16,
}

/// Sends a command every so often and times its answer; over UDP this is an
/// [`EchoProbe`](super::EchoProbe) with an interval.
#[derive(Clone, Debug)]
pub struct Commander<const N: usize = 1460> {
    setup: ReportSetup,
    to: Endpoint,
}

/// A device that answers each command with itself; over UDP this is an [`Echo`](super::Echo).
#[derive(Clone, Debug)]
pub struct Answerer<const N: usize = 1460> {
    transport: Transport,
    port: u16,
}

impl<const N: usize> Reporter<N> {
    /// Messages to `to`.
    #[must_use]
    pub const fn new(setup: ReportSetup, to: Endpoint) -> Self {
        Self { setup, to }
    }
}

impl<const N: usize> Collector<N> {
    /// Messages that come to `port`.
    #[must_use]
    pub const fn new(setup: ReportSetup, port: u16) -> Self {
        Self { setup, port }
    }
}

impl<const N: usize> Commander<N> {
    /// Commands to `to`.
    #[must_use]
    pub const fn new(setup: ReportSetup, to: Endpoint) -> Self {
        Self { setup, to }
    }
}

impl<const N: usize> Answerer<N> {
    /// Answers what comes to `port`.
    #[must_use]
    pub const fn new(transport: Transport, port: u16) -> Self {
        Self { transport, port }
    }
}

impl<const N: usize> App for Reporter<N> {
    fn poll(&mut self, _now: Instant, _sockets: &mut dyn Sockets) -> Wait {
        Wait::Done
    }
}

impl<const N: usize> App for Collector<N> {
    fn poll(&mut self, _now: Instant, _sockets: &mut dyn Sockets) -> Wait {
        Wait::Done
    }
}

impl<const N: usize> App for Commander<N> {
    fn poll(&mut self, _now: Instant, _sockets: &mut dyn Sockets) -> Wait {
        Wait::Done
    }
}

impl<const N: usize> App for Answerer<N> {
    fn poll(&mut self, _now: Instant, _sockets: &mut dyn Sockets) -> Wait {
        Wait::Done
    }
}

//! A subscriber.

use crate::node::app::{App, Endpoint, Sockets, Wait};
use crate::node::mqtt::Settings;
use crate::node::mqtt::listener::Memory;
use crate::time::Instant;

/// Subscribes and records what comes: [`Listener`](crate::node::mqtt::Listener) over a socket.
#[derive(Debug)]
pub struct MqttListener<'a> {
    settings: Settings<'a>,
    broker: Endpoint,
    memory: Memory<'a>,
}

impl<'a> MqttListener<'a> {
    /// A subscriber at the broker at `broker`.
    #[must_use]
    pub const fn new(settings: Settings<'a>, broker: Endpoint, memory: Memory<'a>) -> Self {
        Self { settings, broker, memory }
    }
}

impl App for MqttListener<'_> {
    fn poll(&mut self, _now: Instant, _sockets: &mut dyn Sockets) -> Wait {
        Wait::Done
    }
}

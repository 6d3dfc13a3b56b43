//! A publisher as one writes it.

use super::pipe::{MqttMachine, Pipe};
use crate::node::Output;
use crate::node::app::{App, Endpoint, Sockets, Wait};
use crate::node::mqtt::{Exchange, MqttInput, MqttSettings, PublisherStorage, Side};
use espbench_model::sample::Sample;
use espbench_model::time::Instant;

/// Publishes numbered messages as the settings' pace says, with a queue and a window of
/// unacknowledged ones: [`Exchange`] without its subscriber, over a socket with Nagle's algorithm
/// off. It sleeps when there is nothing to do, and packets that are due together leave together.
///
/// It records a sample a message, and the sender's total. With `resume` in the settings it connects
/// again when the connection breaks, and otherwise it ends. Counters: those of
/// [`Exchange::counters`]; `failed`, no connection within 10 s; `broken`, it ended before its time.
#[derive(Debug)]
pub struct Mqtt<'a> {
    exchange: Exchange<'a>,
    pipe: Pipe,
    out: &'a mut [u8],
}

impl<'a> Mqtt<'a> {
    /// Creates a client of the broker at `broker`. `out` is the buffer for one hand-over to the
    /// socket: it has room for at least a message's packet.
    #[must_use]
    pub fn new(
        settings: MqttSettings<'a>,
        broker: Endpoint,
        storage: PublisherStorage<'a>,
        out: &'a mut [u8],
    ) -> Self {
        Self { exchange: Exchange::alone(settings, storage), pipe: Pipe::new(broker), out }
    }
}

impl App for Mqtt<'_> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        self.pipe.poll(now, sockets, &mut self.exchange, self.out)
    }
}

impl MqttMachine for Exchange<'_> {
    fn connected(&mut self, now: Instant) {
        self.handle(now, Side::Publisher, MqttInput::Connected);
    }

    fn received(&mut self, now: Instant, bytes: &[u8], _emit: &mut dyn FnMut(Sample)) {
        self.handle(now, Side::Publisher, MqttInput::Received(bytes));
    }

    fn written(&mut self, now: Instant) {
        self.handle(now, Side::Publisher, MqttInput::Written);
    }

    fn closed(&mut self, now: Instant) {
        self.handle(now, Side::Publisher, MqttInput::Closed);
    }

    fn give_up(&mut self, now: Instant) {
        self.handle(now, Side::Publisher, MqttInput::Stop);
        self.handle(now, Side::Publisher, MqttInput::Closed);
    }

    fn poll(&mut self, now: Instant, buf: &mut [u8]) -> Output {
        Self::poll(self, now, Side::Publisher, buf)
    }

    fn count(&self, sockets: &mut dyn Sockets) {
        for (name, count) in self.counters() {
            sockets.count(name, count);
        }
        sockets.count("broken", self.fault().is_some().into());
    }
}

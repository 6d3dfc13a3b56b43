//! A subscriber.

use super::pipe::{MqttMachine, Pipe};
use crate::node::Output;
use crate::node::app::{App, Endpoint, Sockets, Wait};
use crate::node::mqtt::listener::ListenerStorage;
use crate::node::mqtt::{Listener, MqttSettings};
use espbench_model::sample::Sample;
use espbench_model::time::Instant;

/// Bytes handed to the socket at a time: a CONNECT, a SUBSCRIBE, some acknowledgements.
const OUT: usize = 512;

/// Subscribes and records what comes: [`Listener`] over a socket. A message's sample has its
/// publisher's number, and the time at which it was received.
///
/// Counters: those of [`Listener::counters`]; `failed`, no connection within 10 s; `broken`, it
/// ended before its time.
#[derive(Debug)]
pub struct MqttListener<'a> {
    listener: Listener<'a>,
    pipe: Pipe,
    out: [u8; OUT],
}

impl<'a> MqttListener<'a> {
    /// Creates a subscriber at the broker at `broker`.
    #[must_use]
    pub fn new(settings: MqttSettings<'a>, broker: Endpoint, memory: ListenerStorage<'a>) -> Self {
        let listener = Listener::new(settings, memory);
        Self { listener, pipe: Pipe::new(broker), out: [0; OUT] }
    }

    /// Returns whether the broker has granted the subscription.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.listener.is_ready()
    }

    /// Stops listening: with the next polls the program records the missing numbers, and ends.
    pub fn stop(&mut self, now: Instant) {
        self.listener.stop(now);
    }
}

impl App for MqttListener<'_> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        self.pipe.poll(now, sockets, &mut self.listener, &mut self.out)
    }
}

impl MqttMachine for Listener<'_> {
    fn connected(&mut self, now: Instant) {
        Self::connected(self, now);
    }

    fn received(&mut self, now: Instant, mut bytes: &[u8], emit: &mut dyn FnMut(Sample)) {
        while let Some(sample) = self.receive(now, &mut bytes) {
            emit(sample);
        }
    }

    fn written(&mut self, _now: Instant) {
        Self::written(self);
    }

    fn closed(&mut self, _now: Instant) {
        Self::closed(self);
    }

    fn give_up(&mut self, now: Instant) {
        self.stop(now);
        Self::closed(self);
    }

    fn poll(&mut self, now: Instant, buf: &mut [u8]) -> Output {
        Self::poll(self, now, buf)
    }

    fn count(&self, sockets: &mut dyn Sockets) {
        for (name, count) in self.counters() {
            sockets.count(name, count);
        }
        sockets.count("broken", self.fault().is_some().into());
    }
}

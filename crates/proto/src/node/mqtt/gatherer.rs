//! The common subscriber of several publishers: it finds whose message came, and counts all of them.

use super::connection::ClientConnection;
use super::listener::SubscriberStorage;
use super::meter::ArrivalMeter;
use super::subscriber::Subscriber;
use super::{MqttFault, MqttInput, MqttSettings, Side, payload};
use crate::node::Output;
use espbench_model::sample::Interval;
use espbench_model::time::Instant;

/// A message that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GatheredMessage {
    /// Number of the publisher.
    pub sender: u16,
    /// Number of the message with that publisher.
    pub seq: u64,
    /// Whether the content is as it was sent.
    pub whole: bool,
}

/// The subscriber. See the [module](self).
#[derive(Debug)]
pub struct Gatherer<'a> {
    settings: MqttSettings<'a>,
    subscriber: Subscriber<'a>,
    meter: ArrivalMeter,
    foreign: u64,
}

impl<'a> Gatherer<'a> {
    /// Creates a subscriber to the settings' topic, which is a filter that covers every
    /// publisher's.
    pub fn new(settings: MqttSettings<'a>, memory: SubscriberStorage<'a>) -> Self {
        let SubscriberStorage { packet, answers, seen } = memory;
        let connection = ClientConnection::new(settings, Side::Subscriber, packet);
        let subscriber = Subscriber::new(settings, connection, answers, seen);
        Self { settings, subscriber, meter: ArrivalMeter::default(), foreign: 0 }
    }

    /// Returns the reason for which the connection ended before its time.
    #[must_use]
    pub const fn fault(&self) -> Option<MqttFault> {
        self.subscriber.connection.fault()
    }

    /// Tells whether the broker has accepted the subscription.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.subscriber.is_ready()
    }

    /// Returns whether the broker had the session already; `None` before it accepted the connection.
    #[must_use]
    pub fn session_present(&self) -> Option<bool> {
        self.subscriber.connection.session_present()
    }

    /// Returns when the broker accepted the connection.
    #[must_use]
    pub const fn accepted(&self) -> Option<Instant> {
        self.subscriber.connection.accepted()
    }

    /// Tells whether a part of a message has come, so that waiting for it is not in vain.
    #[must_use]
    pub const fn is_receiving(&self) -> bool {
        self.subscriber.connection.is_receiving()
    }

    /// Returns when the last message came.
    #[must_use]
    pub const fn last(&self) -> Instant {
        self.meter.last()
    }

    /// Returns the counts that no sample holds, by name.
    #[must_use]
    pub const fn counters(&self) -> [(&'static str, u64); 2] {
        [("foreign-messages", self.foreign), ("redelivered", self.subscriber.redelivered())]
    }

    /// Counts the arrivals of each second from now on.
    pub const fn begin(&mut self, now: Instant) {
        self.meter.begin(now);
    }

    /// Counts a message that came for the first time.
    pub fn count(&mut self, now: Instant) {
        self.meter.count(now, 1, self.settings.size.into());
    }

    /// Counts a message that is nobody's.
    pub const fn count_foreign(&mut self) {
        self.foreign += 1;
    }

    /// Takes what happened to the connection; bytes go to [`next`](Self::next).
    pub fn handle(&mut self, now: Instant, input: MqttInput<'_>) {
        let connection = &mut self.subscriber.connection;
        match input {
            MqttInput::Connected => connection.connected(now),
            MqttInput::Writing => connection.writing(now),
            MqttInput::Written => connection.written(),
            MqttInput::Closed => connection.closed(),
            MqttInput::Stop => connection.disconnect(),
            MqttInput::Received(_) => {}
        }
    }

    /// Takes bytes from the front of `chunk` up to the next message.
    pub fn next(&mut self, now: Instant, chunk: &mut &[u8]) -> Option<GatheredMessage> {
        loop {
            let message = self.subscriber.next(now, chunk)?;
            let Some(head) = message.head else {
                // An empty one clears what the broker kept.
                self.foreign += u64::from(message.len > 0);
                continue;
            };
            let (sender, seq) = payload::sender(head.seq);
            let whole = head.whole && message.len == self.settings.size;
            return Some(GatheredMessage { sender, seq, whole });
        }
    }

    /// Returns the arrivals of a second that has ended.
    pub fn interval(&mut self, now: Instant) -> Option<Interval> {
        self.meter.poll(now, self.settings.link)
    }

    /// Returns the arrivals since the last whole second.
    pub fn rest(&mut self) -> Option<Interval> {
        self.meter.rest(self.settings.link)
    }

    /// Returns the next request to the driver. An empty `buf` means that nothing can be sent now.
    pub fn poll(&mut self, now: Instant, buf: &mut [u8]) -> Output {
        self.subscriber.connection.check(now);
        let len = if buf.is_empty() { 0 } else { self.subscriber.poll(now, buf) };
        let connection = &self.subscriber.connection;
        if len > 0 {
            Output::Send { len }
        } else if connection.is_closed() {
            Output::Done
        } else {
            Output::WaitUntil(connection.deadline().min(self.meter.wake()))
        }
    }
}

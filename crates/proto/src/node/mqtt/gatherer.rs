//! The common subscriber of several publishers: it finds whose message came, and counts all of them.

use super::connection::Connection;
use super::listener::Memory;
use super::meter::Meter;
use super::subscriber::Subscriber;
use super::{Fault, Input, Settings, Side, payload};
use crate::node::Output;
use crate::sample::Interval;
use crate::time::Instant;

/// A message that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Whose it is.
    pub sender: u16,
    /// Its number with that sender.
    pub seq: u64,
    /// Whether it is as it was sent.
    pub whole: bool,
}

/// The subscriber. See the [module](self).
#[derive(Debug)]
pub struct Gatherer<'a> {
    settings: Settings<'a>,
    subscriber: Subscriber<'a>,
    meter: Meter,
    foreign: u64,
}

impl<'a> Gatherer<'a> {
    /// One that subscribes to the settings' topic, which is a filter of all the publishers'.
    pub fn new(settings: Settings<'a>, memory: Memory<'a>) -> Self {
        let Memory { packet, answers, seen } = memory;
        let connection = Connection::new(settings, Side::Subscriber, packet);
        let subscriber = Subscriber::new(settings, connection, answers, seen);
        Self { settings, subscriber, meter: Meter::default(), foreign: 0 }
    }

    /// Why it ended before its time.
    #[must_use]
    pub const fn fault(&self) -> Option<Fault> {
        self.subscriber.connection.fault()
    }

    /// Whether the broker has accepted the subscription.
    #[must_use]
    pub const fn is_ready(&self) -> bool {
        self.subscriber.is_ready()
    }

    /// When the broker accepted the connection.
    #[must_use]
    pub const fn accepted(&self) -> Option<Instant> {
        self.subscriber.connection.accepted()
    }

    /// Whether a part of a message has come, so that waiting for it is not in vain.
    #[must_use]
    pub const fn is_receiving(&self) -> bool {
        self.subscriber.connection.is_receiving()
    }

    /// When the last message came.
    #[must_use]
    pub const fn last(&self) -> Instant {
        self.meter.last()
    }

    /// Counts that no sample holds, by name.
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
    pub fn handle(&mut self, now: Instant, input: Input<'_>) {
        let connection = &mut self.subscriber.connection;
        match input {
            Input::Connected => connection.connected(now),
            Input::Writing => connection.writing(now),
            Input::Written => connection.written(),
            Input::Closed => connection.closed(),
            Input::Stop => connection.leave(),
            Input::Received(_) => {}
        }
    }

    /// Takes bytes from the front of `chunk` up to the next message.
    pub fn next(&mut self, now: Instant, chunk: &mut &[u8]) -> Option<Arrival> {
        loop {
            let message = self.subscriber.next(now, chunk)?;
            let Some(head) = message.head else {
                // An empty one clears what the broker kept.
                self.foreign += u64::from(message.len > 0);
                continue;
            };
            let (sender, seq) = payload::sender(head.seq);
            let whole = head.whole && message.len == self.settings.size;
            return Some(Arrival { sender, seq, whole });
        }
    }

    /// The arrivals of a second that has ended.
    pub fn interval(&mut self, now: Instant) -> Option<Interval> {
        self.meter.poll(now, self.settings.link)
    }

    /// The arrivals since the last whole second.
    pub fn rest(&mut self) -> Option<Interval> {
        self.meter.rest(self.settings.link)
    }

    /// What it wants next. An empty `buf` says that nothing can be sent now.
    pub fn poll(&mut self, now: Instant, buf: &mut [u8]) -> Output {
        self.subscriber.connection.check(now);
        let len = if buf.is_empty() { 0 } else { self.subscriber.poll(now, buf) };
        let connection = &self.subscriber.connection;
        if len > 0 {
            Output::Send { len }
        } else if connection.is_over() {
            Output::Done
        } else {
            Output::WaitUntil(connection.deadline().min(self.meter.wake()))
        }
    }
}

//! Listens to the numbered messages of a device, which publishes them on its own account.
//!
//! Nothing is offered here, so when a message was due is not known: a sample's `due` is its
//! `received`, and for a lost one the arrival of the higher number that shows it is missing.
//! Numbered messages are on the link of the settings, those without a number on the next one,
//! numbered as they came.
//!
//! The time begins with the first message, which is in none of its intervals: n messages have n - 1 periods
//! between them. The intervals begin between the first two. A message that the broker had kept from before (retained)
//! is counted and otherwise passed over.

use super::connection::ClientConnection;
use super::gaps::{Gaps, Missing, SequenceOrder};
use super::meter::ArrivalMeter;
use super::subscriber::{PendingAck, ReceivedMessage, SEEN, Subscriber};
use super::{MqttFault, MqttSettings, Side};
use crate::node::Output;
use core::ops::Range;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::{Duration, Instant};

/// A number so much higher than the last one is no gap: the device was restarted, or another took
/// its place.
pub const FARTHEST_AHEAD: u64 = 10_000;

/// A number so much lower than the highest is no latecomer: the device was restarted.
pub const FARTHEST_BEHIND: u64 = 100;

/// Missing ranges that are named.
pub const NAMED: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListenPhase {
    /// Connecting and subscribing.
    Opening,
    /// Waiting for the first message.
    Waiting {
        since: Instant,
    },
    Listening,
    /// Recording the missing numbers as lost, then the total.
    Closing {
        total: bool,
    },
    Closed,
}

/// The memory that the driver lends to a subscriber.
#[derive(Debug)]
pub struct SubscriberStorage<'a> {
    /// Largest packet from the broker.
    pub packet: &'a mut [u8],
    /// Acknowledgements that are owed to the broker.
    pub answers: &'a mut [PendingAck],
    /// QoS 2 identifiers that are not released.
    pub seen: &'a mut [u64; SEEN],
}

/// The subscriber and its record of numbers. See the [module](self).
#[derive(Debug)]
pub struct Listener<'a> {
    settings: MqttSettings<'a>,
    subscriber: Subscriber<'a>,
    phase: ListenPhase,
    start: Instant,
    end: Instant,
    meter: ArrivalMeter,
    /// `None` until the first number came.
    gaps: Option<Gaps>,
    /// The first number since the device's start.
    first: u64,
    /// Range that is being recorded as lost; its `from` moves up.
    losing: Option<Missing>,
    /// The first message after a restart, held until the gaps before it are recorded.
    held: Option<(Instant, u64, u32)>,
    named: [(u64, u64); NAMED],
    names: usize,
    silent: bool,
    received: u64,
    lost: u64,
    duplicates: u64,
    reordered: u64,
    restarts: u64,
    unnumbered: u64,
    retained: u64,
}

impl<'a> Listener<'a> {
    /// Creates a listener that begins once the connection is there. Of the settings it uses those
    /// of a subscriber, `time`, and for the first message the longer of `patience` and `time`.
    pub fn new(settings: MqttSettings<'a>, memory: SubscriberStorage<'a>) -> Self {
        let SubscriberStorage { packet, answers, seen } = memory;
        let connection =
            ClientConnection::new(settings, Side::Subscriber, packet).reading_numbers();
        Self {
            settings,
            subscriber: Subscriber::new(settings, connection, answers, seen),
            phase: ListenPhase::Opening,
            start: Instant::ZERO,
            end: Instant::ZERO,
            meter: ArrivalMeter::default(),
            gaps: None,
            first: 0,
            losing: None,
            held: None,
            named: [(0, 0); NAMED],
            names: 0,
            silent: false,
            received: 0,
            lost: 0,
            duplicates: 0,
            reordered: 0,
            restarts: 0,
            unnumbered: 0,
            retained: 0,
        }
    }

    /// Returns the reason for which the connection ended before its time.
    #[must_use]
    pub const fn fault(&self) -> Option<MqttFault> {
        self.subscriber.connection.fault()
    }

    /// Returns whether the broker has granted the subscription.
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

    /// Tells whether the listener gave up because no message came; [`patience`](Self::patience) is
    /// how long it waited.
    #[must_use]
    pub const fn is_silent(&self) -> bool {
        self.silent
    }

    /// Returns how long the listener waits for the first message.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.settings.patience.max(self.settings.time)
    }

    /// Returns how many numbers are recorded as lost so far.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// Lists the first [`NAMED`] ranges of lost numbers.
    pub fn named(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.named[..self.names].iter().map(|&(from, to)| from..to)
    }

    /// Returns the counts that no sample holds, by name.
    #[must_use]
    pub const fn counters(&self) -> [(&'static str, u64); 4] {
        [
            ("restarts", self.restarts),
            ("unnumbered", self.unnumbered),
            ("retained", self.retained),
            ("redelivered", self.subscriber.redelivered()),
        ]
    }

    /// Notes that the transport is connected.
    pub fn connected(&mut self, now: Instant) {
        self.subscriber.connection.connected(now);
    }

    /// Notes that the system took everything that [`poll`](Self::poll) gave out.
    pub const fn written(&mut self) {
        self.subscriber.connection.written();
    }

    /// Notes that the transport is closed.
    pub fn closed(&mut self) {
        self.subscriber.connection.closed();
    }

    /// Ends the test now, as the user wants.
    pub fn stop(&mut self, now: Instant) {
        self.close(now);
    }

    /// Takes bytes from the front of `chunk` up to the next sample. Call it until it answers
    /// `None`: then all of `chunk` is taken.
    pub fn receive(&mut self, now: Instant, chunk: &mut &[u8]) -> Option<Sample> {
        self.advance(now);
        loop {
            if let Some(sample) = self.pending(now) {
                return Some(sample);
            }
            let message = self.subscriber.next(now, chunk)?;
            self.advance(now);
            if let Some(probe) = self.handle_message(now, &message) {
                return Some(Sample::Probe(probe));
            }
        }
    }

    /// Returns the next request to the driver. An empty `buf` means that nothing can be sent now.
    pub fn poll(&mut self, now: Instant, buf: &mut [u8]) -> Output {
        self.advance(now);
        if let Some(sample) = self.pending(now).or_else(|| self.last_words()) {
            return Output::Sample(sample);
        }
        let len = if buf.is_empty() { 0 } else { self.subscriber.poll(now, buf) };
        let connection = &self.subscriber.connection;
        if len > 0 {
            Output::Send { len }
        } else if self.phase == ListenPhase::Closed && connection.is_closed() {
            Output::Done
        } else {
            Output::WaitUntil(connection.deadline().min(self.wake()))
        }
    }

    fn wake(&self) -> Instant {
        match self.phase {
            ListenPhase::Waiting { since } => since + self.patience(),
            ListenPhase::Listening => self.last_instant().min(self.meter.wake()),
            _ => Instant::NEVER,
        }
    }

    fn last_instant(&self) -> Instant {
        self.start + self.settings.time
    }

    fn advance(&mut self, now: Instant) {
        self.subscriber.connection.check(now);
        let broken = self.fault().is_some();
        match self.phase {
            ListenPhase::Opening | ListenPhase::Waiting { .. } | ListenPhase::Listening
                if broken =>
            {
                self.close(now)
            }
            ListenPhase::Opening if self.subscriber.is_ready() => {
                self.phase = ListenPhase::Waiting { since: now };
            }
            ListenPhase::Waiting { since } if now >= since + self.patience() => {
                self.silent = true;
                self.close(now);
            }
            ListenPhase::Listening if now >= self.last_instant() => self.close(now),
            _ => {}
        }
    }

    fn close(&mut self, now: Instant) {
        if !matches!(self.phase, ListenPhase::Closing { .. } | ListenPhase::Closed) {
            self.end = now.min(self.last_instant()).max(self.start);
            self.phase = ListenPhase::Closing { total: self.phase == ListenPhase::Listening };
        }
    }

    fn handle_message(&mut self, now: Instant, message: &ReceivedMessage) -> Option<Probe> {
        if message.retained {
            self.retained += 1;
            return None;
        }
        match self.phase {
            ListenPhase::Opening | ListenPhase::Waiting { .. } => {
                self.phase = ListenPhase::Listening;
                self.start = now;
            }
            ListenPhase::Listening => {}
            ListenPhase::Closing { .. } | ListenPhase::Closed => return None,
        }
        let Some(seq) = message.number else {
            let seq = self.unnumbered;
            self.unnumbered += 1;
            let link = Link(self.settings.link.0.saturating_add(1));
            return Some(Probe { link, ..self.delivered(now, seq, message.len) });
        };
        match &self.gaps {
            Some(gaps) if is_restart(gaps.next(), seq) => {
                self.restarts += 1;
                self.held = Some((now, seq, message.len));
                None
            }
            Some(_) => Some(self.numbered(now, seq, message.len)),
            None => {
                self.first = seq;
                Some(self.numbered(now, seq, message.len))
            }
        }
    }

    fn numbered(&mut self, now: Instant, seq: u64, len: u32) -> Probe {
        let first = self.first;
        let gaps = self.gaps.get_or_insert_with(|| Gaps::new(first));
        // One from before the first was not there yet, as far as is known.
        let arrival = if seq < first { SequenceOrder::Reordered } else { gaps.arrive(now, seq) };
        if seq >= first {
            self.losing = gaps.take_forgotten();
        }
        self.reordered += u64::from(arrival == SequenceOrder::Reordered);
        if arrival == SequenceOrder::Duplicate {
            self.duplicates += 1;
            return Probe { fate: Fate::Duplicate, ..self.arrived(now, seq, len) };
        }
        self.delivered(now, seq, len)
    }

    fn delivered(&mut self, now: Instant, seq: u64, len: u32) -> Probe {
        self.received += 1;
        if self.received == 1 {
            self.meter.count_before(now, len.into());
            return self.arrived(now, seq, len);
        }
        if !self.meter.is_running() {
            self.meter.begin_between(self.start, now);
        }
        self.meter.count(now, 1, len.into());
        self.arrived(now, seq, len)
    }

    fn arrived(&self, now: Instant, seq: u64, bytes: u32) -> Probe {
        let link = self.settings.link;
        Probe { link, seq, bytes, due: now, received: Some(now), ..Probe::default() }
    }

    /// Returns a sample that must go out before anything further is read.
    fn pending(&mut self, now: Instant) -> Option<Sample> {
        loop {
            if let Some(probe) = self.lose() {
                return Some(Sample::Probe(probe));
            }
            let Some((at, seq, len)) = self.held else { break };
            match self.gaps.as_mut().and_then(Gaps::take_first) {
                Some(missing) => self.losing = Some(missing),
                None => {
                    (self.held, self.gaps, self.first) = (None, None, seq);
                    return Some(Sample::Probe(self.numbered(at, seq, len)));
                }
            }
        }
        let open = !matches!(self.phase, ListenPhase::Closing { .. } | ListenPhase::Closed);
        let until = if open { now } else { self.end };
        self.meter.poll(until, self.settings.link).map(Sample::Interval)
    }

    /// Returns a lost sample for the next number that is given up.
    fn lose(&mut self) -> Option<Probe> {
        let missing = self.losing.as_mut()?;
        let (seq, due) = (missing.from, missing.noticed);
        missing.from += 1;
        if missing.from >= missing.to {
            self.losing = None;
        }
        self.lost += 1;
        match self.named[..self.names].last_mut() {
            Some((_, to)) if *to == seq => *to += 1,
            _ if self.names < NAMED => {
                self.named[self.names] = (seq, seq + 1);
                self.names += 1;
            }
            _ => {}
        }
        let link = self.settings.link;
        Some(Probe { link, seq, due, fate: Fate::Lost(Cause::Unknown), ..Probe::default() })
    }

    /// Returns the last samples: the missing numbers, the last second, the total.
    fn last_words(&mut self) -> Option<Sample> {
        let ListenPhase::Closing { total } = self.phase else { return None };
        if let Some(missing) = self.gaps.as_mut().and_then(Gaps::take_first) {
            self.losing = Some(missing);
            return self.lose().map(Sample::Probe);
        }
        if let Some(rest) = self.meter.rest(self.settings.link) {
            return Some(Sample::Interval(rest));
        }
        self.phase = ListenPhase::Closed;
        self.subscriber.connection.disconnect();
        total.then(|| Sample::Interval(self.total()))
    }

    fn total(&self) -> Interval {
        Interval {
            link: self.settings.link,
            total: true,
            observer: Observer::Receiver,
            start: self.start,
            end: self.end,
            bytes: self.meter.total_bytes(),
            datagrams: Some(self.received),
            lost: Some(self.lost),
            out_of_order: Some(self.reordered),
            duplicates: Some(self.duplicates),
            ..Interval::default()
        }
    }
}

const fn is_restart(next: u64, seq: u64) -> bool {
    seq.saturating_sub(next) > FARTHEST_AHEAD || next.saturating_sub(seq) > FARTHEST_BEHIND
}

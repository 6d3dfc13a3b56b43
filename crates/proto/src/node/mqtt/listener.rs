//! Listens to the numbered messages of a device, which publishes them on its own account.
//!
//! Nothing is offered here, so when a message was due is not known: a sample's `due` is its
//! `received`, and for a lost one the arrival of the higher number that shows it is missing.
//! Each topic has a sequence of its own: two devices that listen to one filter are two of them. Numbered messages of the
//! first topic are on the link of the settings. The next link has those without a number, and those of topics beyond the
//! memory that is lent, numbered as they came; the links after it have the further topics.
//!
//! The time begins with the first message, which is in none of its intervals: n messages have n - 1 periods
//! between them. The intervals begin between the first two. A message that the broker had kept from before (retained)
//! is counted and otherwise passed over.

use super::connection::ClientConnection;
use super::gaps::{Gaps, Missing, SequenceOrder};
use super::meter::ArrivalMeter;
use super::subscriber::{PendingAck, ReceivedMessage, SEEN, Subscriber};
use super::topics::{TopicName, TopicNumbers};
use super::{MqttFault, MqttSettings, Side};
use crate::node::Output;
use core::ops::Range;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::{Duration, Instant};

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

/// The memory that the driver lends to a listener.
#[derive(Debug)]
pub struct ListenerStorage<'a> {
    /// Memory of its subscriber.
    pub subscriber: SubscriberStorage<'a>,
    /// Topics whose numbers are kept.
    pub topics: &'a mut [TopicNumbers],
}

/// A message that waits until the gaps before it are recorded: the first after a restart.
#[derive(Clone, Copy, Debug)]
struct HeldMessage {
    /// Place of its topic.
    topic: usize,
    came: Instant,
    seq: u64,
    len: u32,
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
    topics: &'a mut [TopicNumbers],
    /// Topics of which a number came.
    known: usize,
    /// Range of a topic that is being recorded as lost; its `from` moves up.
    losing: Option<(usize, Missing)>,
    held: Option<HeldMessage>,
    /// Lost ranges with the places of their topics.
    named: [(usize, u64, u64); NAMED],
    names: usize,
    silent: bool,
    received: u64,
    lost: u64,
    duplicates: u64,
    reordered: u64,
    restarts: u64,
    unnumbered: u64,
    /// Messages of topics beyond the memory.
    untracked: u64,
    retained: u64,
}

impl<'a> Listener<'a> {
    /// Creates a listener that begins once the connection is there. Of the settings it uses those
    /// of a subscriber, `time`, and for the first message the longer of `patience` and `time`.
    pub fn new(settings: MqttSettings<'a>, memory: ListenerStorage<'a>) -> Self {
        let ListenerStorage { subscriber, topics } = memory;
        let SubscriberStorage { packet, answers, seen } = subscriber;
        let connection =
            ClientConnection::new(settings, Side::Subscriber, packet).reading_numbers();
        Self {
            settings,
            subscriber: Subscriber::new(settings, connection, answers, seen),
            phase: ListenPhase::Opening,
            start: Instant::ZERO,
            end: Instant::ZERO,
            meter: ArrivalMeter::default(),
            topics,
            known: 0,
            losing: None,
            held: None,
            named: [(0, 0, 0); NAMED],
            names: 0,
            silent: false,
            received: 0,
            lost: 0,
            duplicates: 0,
            reordered: 0,
            restarts: 0,
            unnumbered: 0,
            untracked: 0,
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

    /// Lists the first [`NAMED`] ranges of lost numbers, each with its topic.
    pub fn named(&self) -> impl Iterator<Item = (&TopicName, Range<u64>)> + '_ {
        self.named[..self.names].iter().map(|&(at, from, to)| (&self.topics[at].name, from..to))
    }

    /// Lists the topics with numbers, in the order in which they came up.
    pub fn topics(&self) -> impl Iterator<Item = &TopicName> + '_ {
        self.topics[..self.known].iter().map(|it| &it.name)
    }

    /// Returns how long it has listened, from the first message on.
    #[must_use]
    pub fn listened(&self) -> Duration {
        self.end.since(self.start)
    }

    /// Returns the counts that no sample holds, by name.
    #[must_use]
    pub const fn counters(&self) -> [(&'static str, u64); 5] {
        [
            ("restarts", self.restarts),
            ("unnumbered", self.unnumbered),
            ("untracked", self.untracked),
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
        let Some((name, seq)) = message.topic.zip(message.number) else {
            let probe = self.apart(now, message.len);
            self.unnumbered += 1;
            return Some(probe);
        };
        let Some(topic) = self.place(name) else {
            let probe = self.apart(now, message.len);
            self.untracked += 1;
            return Some(probe);
        };
        let came = HeldMessage { topic, came: now, seq, len: message.len };
        if self.topics[topic].is_restart(seq, message.head.is_some()) {
            self.restarts += 1;
            self.held = Some(came);
            return None;
        }
        Some(self.numbered(came))
    }

    /// Returns the place of a topic; `None` where there is no room for a further one.
    fn place(&mut self, name: TopicName) -> Option<usize> {
        let known = self.known;
        if let Some(at) = self.topics[..known].iter().position(|it| it.name == name) {
            return Some(at);
        }
        *self.topics.get_mut(known)? = TopicNumbers::new(name);
        self.known += 1;
        Some(known)
    }

    /// Returns the link of a topic's messages.
    fn link(&self, topic: usize) -> Link {
        let beyond = if topic == 0 { 0 } else { topic + 1 };
        Link(self.settings.link.0.saturating_add(beyond as u16))
    }

    /// Returns the sample of a message that is in no sequence.
    fn apart(&mut self, now: Instant, len: u32) -> Probe {
        let link = Link(self.settings.link.0.saturating_add(1));
        Probe { link, ..self.delivered(now, self.unnumbered + self.untracked, len) }
    }

    fn numbered(&mut self, HeldMessage { topic, came, seq, len }: HeldMessage) -> Probe {
        let numbers = &mut self.topics[topic];
        if numbers.gaps.is_none() {
            numbers.first = seq;
        }
        let first = numbers.first;
        let gaps = numbers.gaps.get_or_insert_with(|| Gaps::new(first));
        // One from before the first was not there yet, as far as is known.
        let arrival = if seq < first { SequenceOrder::Reordered } else { gaps.arrive(came, seq) };
        if seq >= first {
            self.losing = gaps.take_forgotten().map(|it| (topic, it));
        }
        self.reordered += u64::from(arrival == SequenceOrder::Reordered);
        let link = self.link(topic);
        if arrival == SequenceOrder::Duplicate {
            self.duplicates += 1;
            return Probe { link, fate: Fate::Duplicate, ..self.arrived(came, seq, len) };
        }
        Probe { link, ..self.delivered(came, seq, len) }
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
            let Some(held) = self.held else { break };
            let numbers = &mut self.topics[held.topic];
            match numbers.gaps.as_mut().and_then(Gaps::take_first) {
                Some(missing) => self.losing = Some((held.topic, missing)),
                None => {
                    (self.held, numbers.gaps) = (None, None);
                    return Some(Sample::Probe(self.numbered(held)));
                }
            }
        }
        let open = !matches!(self.phase, ListenPhase::Closing { .. } | ListenPhase::Closed);
        let until = if open { now } else { self.end };
        self.meter.poll(until, self.settings.link).map(Sample::Interval)
    }

    /// Returns a lost sample for the next number that is given up.
    fn lose(&mut self) -> Option<Probe> {
        let (topic, missing) = self.losing.as_mut()?;
        let topic = *topic;
        let (seq, due) = (missing.from, missing.noticed);
        missing.from += 1;
        if missing.from >= missing.to {
            self.losing = None;
        }
        self.lost += 1;
        match self.named[..self.names].last_mut() {
            Some((of, _, to)) if (*of, *to) == (topic, seq) => *to += 1,
            _ if self.names < NAMED => {
                self.named[self.names] = (topic, seq, seq + 1);
                self.names += 1;
            }
            _ => {}
        }
        let link = self.link(topic);
        Some(Probe { link, seq, due, fate: Fate::Lost(Cause::Unknown), ..Probe::default() })
    }

    /// Returns the last samples: the missing numbers, the last second, the total.
    fn last_words(&mut self) -> Option<Sample> {
        let ListenPhase::Closing { total } = self.phase else { return None };
        let mut all = self.topics[..self.known].iter_mut().enumerate();
        let first = all.find_map(|(at, it)| Some((at, it.gaps.as_mut()?.take_first()?)));
        if first.is_some() {
            self.losing = first;
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

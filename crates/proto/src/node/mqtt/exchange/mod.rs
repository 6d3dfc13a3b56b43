//! Both sides together: begin, offer, drain, end.

mod samples;

use super::connection::Connection;
use super::gaps::Arrival;
use super::ledger::{Entry, Ledger};
use super::meter::Meter;
use super::publisher::{Flight, Publisher};
use super::subscriber::{Answer, SEEN, Subscriber};
use super::{Fault, Gaps, Input, Pace, Settings, Side};
use crate::node::Output;
use crate::sample::Cause;
use crate::time::{Duration, Instant};
use core::ops::Range;

/// The memory that the driver lends. Its sizes are limits.
#[derive(Debug)]
pub struct Storage<'a> {
    /// Largest packet from the broker to either side.
    pub packets: [&'a mut [u8]; 2],
    /// Most messages without an acknowledgement.
    pub flights: &'a mut [Flight],
    /// Messages whose fate is open.
    pub entries: &'a mut [Entry],
    /// Acknowledgements that are owed to the broker.
    pub answers: &'a mut [Answer],
    /// QoS 2 identifiers that are not released.
    pub seen: &'a mut [u64; SEEN],
}

/// What the driver lends to a publisher [alone](Exchange::alone).
#[derive(Debug)]
pub struct PublisherStorage<'a> {
    /// Largest packet from the broker.
    pub packet: &'a mut [u8],
    /// Most messages without an acknowledgement.
    pub flights: &'a mut [Flight],
    /// Messages whose fate is open.
    pub entries: &'a mut [Entry],
}

/// However slowly messages trickle in, draining ends after so many times the drain time.
const LONGEST_DRAIN: u32 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Connections open, the subscription is made.
    Opening,
    /// Messages come due.
    Offering,
    /// All are due; what is on its way may still come.
    Draining {
        since: Instant,
    },
    /// Every open message is lost; samples go out, then the totals, then goodbye.
    Closing {
        totals: u8,
    },
    Closed,
}

/// What the common subscriber of several publishers found of one.
#[derive(Debug)]
struct Gathered {
    gaps: Gaps,
    count: u64,
}

/// The whole test as one machine. See the [module](super).
#[derive(Debug)]
pub struct Exchange<'a> {
    settings: Settings<'a>,
    publisher: Publisher<'a>,
    /// `None` where it is another program's.
    subscriber: Option<Subscriber<'a>>,
    ledger: Ledger<'a>,
    /// What came, where the subscriber is several publishers' [`Gatherer`](super::Gatherer).
    gathered: Option<Gathered>,
    phase: Phase,
    /// When the first message came due.
    start: Instant,
    /// When the last one did.
    end: Instant,
    /// When something last happened to a message.
    progress: Instant,
    meter: Meter,
}

impl<'a> Exchange<'a> {
    /// A test that begins once both connections are there.
    pub fn new(settings: Settings<'a>, storage: Storage<'a>) -> Self {
        let Storage { packets: [to_publisher, to_subscriber], flights, entries, answers, seen } =
            storage;
        let publishing = Connection::new(settings, Side::Publisher, to_publisher);
        let subscribing = Connection::new(settings, Side::Subscriber, to_subscriber);
        Self {
            settings,
            publisher: Publisher::new(settings, publishing, flights),
            subscriber: Some(Subscriber::new(settings, subscribing, answers, seen)),
            ledger: Ledger::new(entries, settings.link, settings.size, settings.qos > 0),
            gathered: None,
            phase: Phase::Opening,
            start: Instant::ZERO,
            end: Instant::ZERO,
            progress: Instant::ZERO,
            meter: Meter::default(),
        }
    }

    /// The publisher's side alone: the subscriber is another program, on a device of its own. The
    /// stages of a message end with its acknowledgement, and of the totals there is the sender's.
    pub fn alone(settings: Settings<'a>, storage: PublisherStorage<'a>) -> Self {
        let PublisherStorage { packet, flights, entries } = storage;
        let publishing = Connection::new(settings, Side::Publisher, packet);
        let ledger = Ledger::new(entries, settings.link, settings.size, settings.qos > 0);
        Self {
            settings,
            publisher: Publisher::new(settings, publishing, flights),
            subscriber: None,
            ledger: ledger.alone(),
            gathered: None,
            phase: Phase::Opening,
            start: Instant::ZERO,
            end: Instant::ZERO,
            progress: Instant::ZERO,
            meter: Meter::default(),
        }
    }

    /// The publisher's side of one of several, whose common subscriber is a
    /// [`Gatherer`](super::Gatherer): what that finds is told with [`arrived`](Self::arrived). It
    /// begins with [`begin`](Self::begin), and records no totals.
    pub fn member(settings: Settings<'a>, storage: PublisherStorage<'a>) -> Self {
        let PublisherStorage { packet, flights, entries } = storage;
        let publishing = Connection::new(settings, Side::Publisher, packet);
        Self {
            settings,
            publisher: Publisher::new(settings, publishing, flights),
            subscriber: None,
            ledger: Ledger::new(entries, settings.link, settings.size, settings.qos > 0),
            gathered: Some(Gathered { gaps: Gaps::new(0), count: 0 }),
            phase: Phase::Opening,
            start: Instant::ZERO,
            end: Instant::ZERO,
            progress: Instant::ZERO,
            meter: Meter::default(),
        }
    }

    /// Lets the messages of a [`member`](Self::member) come due from `start` on.
    pub fn begin(&mut self, start: Instant) {
        if self.phase == Phase::Opening && self.publisher.connection.is_up() {
            self.phase = Phase::Offering;
            (self.start, self.end, self.progress) = (start, start, start);
        }
    }

    /// Message `seq` of a [`member`](Self::member) reached the common subscriber. Answers whether it
    /// is one of its own, and came for the first time.
    pub fn arrived(&mut self, now: Instant, seq: u64, whole: bool) -> bool {
        let Some(gathered) = self.gathered.as_mut().filter(|_| seq < self.ledger.due()) else {
            return false;
        };
        let arrival = gathered.gaps.arrive(now, seq);
        let fresh = arrival != Arrival::Duplicate;
        gathered.count += u64::from(fresh);
        self.ledger.received(seq, now, arrival, whole);
        self.progress = now;
        fresh
    }

    /// A part of some message has come to the common subscriber: nothing is given up at `now`.
    pub fn wait_on(&mut self, now: Instant) {
        self.progress = self.progress.max(now);
    }

    /// The common subscriber of a [`member`](Self::member) is gone: what is outstanding is lost.
    pub fn abandoned(&mut self) {
        self.close(Cause::Disconnected);
    }

    /// When the first message came due, and when the last one did.
    #[must_use]
    pub const fn offered(&self) -> (Instant, Instant) {
        (self.start, self.end)
    }

    /// Why it ended before its time, and on which side.
    #[must_use]
    pub fn fault(&self) -> Option<(Side, Fault)> {
        let publisher = self.publisher.connection.fault().map(|fault| (Side::Publisher, fault));
        let subscriber = self.subscriber.as_ref().and_then(|s| s.connection.fault());
        publisher.or(subscriber.map(|fault| (Side::Subscriber, fault)))
    }

    /// Sequence numbers that are missing, repeated and reordered at the subscriber; `None` without
    /// one.
    #[must_use]
    pub fn gaps(&self) -> Option<&Gaps> {
        let gathered = self.gathered.as_ref().map(|gathered| &gathered.gaps);
        self.subscriber.as_ref().map(Subscriber::gaps).or(gathered)
    }

    /// The numbers after the highest that came: no gap shows them, as nothing came behind them.
    #[must_use]
    pub fn tail(&self) -> Range<u64> {
        self.gaps().map_or(0, Gaps::next)..self.ledger.due()
    }

    /// Counts that no sample holds, by name.
    #[must_use]
    pub fn counters(&self) -> [(&'static str, u64); 4] {
        let subscriber = self.subscriber.as_ref();
        [
            ("refused-by-broker", self.publisher.refused()),
            ("foreign-messages", subscriber.map_or(0, Subscriber::foreign)),
            ("redelivered", subscriber.map_or(0, Subscriber::redelivered)),
            ("unrecorded-duplicates", self.ledger.unrecorded()),
        ]
    }

    /// When the broker accepted the connection of `side`.
    #[must_use]
    pub fn accepted(&self, side: Side) -> Option<Instant> {
        match side {
            Side::Publisher => self.publisher.connection.accepted(),
            Side::Subscriber => self.subscriber.as_ref().and_then(|s| s.connection.accepted()),
        }
    }

    /// Messages that came due.
    #[must_use]
    pub const fn due(&self) -> u64 {
        self.ledger.due()
    }

    /// Messages that the system took.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.publisher.sent()
    }

    /// Messages that reached the subscriber; `None` without one.
    #[must_use]
    pub fn received(&self) -> Option<u64> {
        let gathered = self.gathered.as_ref().map(|gathered| gathered.count);
        self.subscriber.as_ref().map(Subscriber::received_count).or(gathered)
    }

    /// Messages without an acknowledgement.
    #[must_use]
    pub const fn in_flight(&self) -> usize {
        self.publisher.in_flight()
    }

    /// Takes what happened to one connection.
    pub fn handle(&mut self, now: Instant, side: Side, input: Input<'_>) {
        match (side, input) {
            (Side::Publisher, Input::Received(bytes)) => {
                if self.publisher.received(now, bytes, &mut self.ledger) {
                    self.progress = now;
                }
            }
            (Side::Subscriber, Input::Received(bytes)) => {
                let Some(subscriber) = &mut self.subscriber else { return };
                let came = subscriber.received(now, bytes, &mut self.ledger);
                // A part of a long message is something, too.
                if came > 0 || subscriber.connection.is_receiving() {
                    self.progress = now;
                }
                if came > 0 {
                    self.meter.count(now, came, came * u64::from(self.settings.size));
                }
            }
            (Side::Publisher, Input::Written) => {
                self.progress = now;
                self.publisher.written(now, &mut self.ledger);
            }
            (_, Input::Stop) => {
                if self.phase == Phase::Offering {
                    self.end = now;
                }
                self.close(Cause::Stopped);
            }
            (_, input) => {
                let Some(connection) = self.connection(side) else { return };
                match input {
                    Input::Connected => connection.connected(now),
                    Input::Closed => connection.closed(),
                    Input::Writing => connection.writing(now),
                    _ => connection.written(),
                }
            }
        }
    }

    fn connection(&mut self, side: Side) -> Option<&mut Connection<'a>> {
        match side {
            Side::Publisher => Some(&mut self.publisher.connection),
            Side::Subscriber => self.subscriber.as_mut().map(|s| &mut s.connection),
        }
    }

    /// What `side` wants next. Samples come from the publisher's side. An empty `buf` says that
    /// nothing can be sent now (the system has yet to take what was given out).
    pub fn poll(&mut self, now: Instant, side: Side, buf: &mut [u8]) -> Output {
        self.advance(now);
        match side {
            Side::Subscriber => {
                let subscriber = self.subscriber.as_mut().filter(|_| !buf.is_empty());
                let len = subscriber.map_or(0, |s| s.poll(now, buf));
                self.wanted(side, len)
            }
            Side::Publisher => {
                if self.phase == Phase::Offering {
                    self.offer(now, buf.len());
                }
                if let Some(sample) = self.poll_sample(now) {
                    return Output::Sample(sample);
                }
                let publisher = &mut self.publisher;
                let len =
                    if buf.is_empty() { 0 } else { publisher.poll(now, buf, &mut self.ledger) };
                self.wanted(side, len)
            }
        }
    }

    fn wanted(&mut self, side: Side, len: usize) -> Output {
        let (phase, wake) = (self.phase, self.wake());
        let Some(connection) = self.connection(side) else { return Output::Done };
        if len > 0 {
            Output::Send { len }
        } else if phase == Phase::Closed && connection.is_over() {
            Output::Done
        } else {
            Output::WaitUntil(connection.deadline().min(wake))
        }
    }

    /// When the phase may change, or a message comes due.
    fn wake(&self) -> Instant {
        match self.phase {
            Phase::Offering => match self.settings.pace {
                Pace::Offered(rate) => self.due_at(rate),
                Pace::Saturate => self.last_due(),
            },
            Phase::Draining { since } => {
                let drain = self.settings.drain;
                (self.progress.max(since) + drain).min(since + drain * LONGEST_DRAIN)
            }
            _ => Instant::NEVER,
        }
        .min(self.meter.wake())
    }

    /// When the next message comes due.
    fn due_at(&self, rate: f64) -> Instant {
        let nanos = self.ledger.due() as f64 * 1e9 / rate;
        self.start + Duration::from_nanos(nanos as u64)
    }

    fn last_due(&self) -> Instant {
        self.start + self.settings.time
    }

    fn advance(&mut self, now: Instant) {
        self.publisher.connection.check(now);
        if let Some(subscriber) = &mut self.subscriber {
            subscriber.connection.check(now);
        }
        let ready = self.subscriber.as_ref().is_none_or(Subscriber::is_ready);
        match self.phase {
            Phase::Opening if self.fault().is_some() => self.close(Cause::Disconnected),
            Phase::Opening
                if self.publisher.connection.is_up() && ready && self.gathered.is_none() =>
            {
                self.phase = Phase::Offering;
                (self.start, self.end, self.progress) = (now, now, now);
                self.meter.begin(now);
            }
            Phase::Offering if self.fault().is_some() => self.drain(now),
            Phase::Offering if self.is_offered_out(now) => self.drain(now),
            Phase::Draining { since } => self.drained(now, since),
            _ => {}
        }
    }

    fn drained(&mut self, now: Instant, since: Instant) {
        let lost_cause = match self.fault() {
            // Without the subscriber nothing further can come.
            Some((Side::Subscriber, _)) => return self.close(Cause::Disconnected),
            Some((Side::Publisher, _)) => Cause::Disconnected,
            None => Cause::Unknown,
        };
        let quiet = now >= self.progress.max(since) + self.settings.drain;
        let too_long = now >= since + self.settings.drain * LONGEST_DRAIN;
        if self.ledger.is_empty() || quiet || too_long {
            self.close(lost_cause);
        }
    }

    /// Whether the last message is due.
    fn is_offered_out(&self, now: Instant) -> bool {
        self.is_counted_out()
            || !self.ledger.has_places()
            || match self.settings.pace {
                Pace::Offered(rate) => self.due_at(rate) >= self.last_due(),
                Pace::Saturate => now >= self.last_due(),
            }
    }

    fn is_counted_out(&self) -> bool {
        self.settings.count.is_some_and(|count| self.ledger.due() >= count)
    }

    fn drain(&mut self, now: Instant) {
        self.end = match self.settings.pace {
            Pace::Offered(rate) if self.fault().is_none() => self.due_at(rate),
            _ => now,
        }
        .min(self.last_due());
        self.phase = Phase::Draining { since: now };
    }

    fn close(&mut self, cause: Cause) {
        if matches!(self.phase, Phase::Closing { .. } | Phase::Closed) {
            return;
        }
        self.ledger.close(cause);
        self.phase = Phase::Closing { totals: 0 };
    }

    /// Lets messages come due. `room` bytes will be sent next.
    fn offer(&mut self, now: Instant, room: usize) {
        match self.settings.pace {
            Pace::Offered(rate) => {
                while !self.is_counted_out() {
                    let due = self.due_at(rate);
                    if due > now || due >= self.last_due() || self.is_full() {
                        break;
                    }
                    let queued = self.publisher.has_room().then_some(now);
                    self.ledger.enter(due, queued);
                    if queued.is_some() {
                        self.publisher.enqueue();
                    }
                }
            }
            Pace::Saturate => {
                let room = room / self.publisher.packet_len();
                let wanted = self.publisher.openings().min(room);
                // Nothing is queued here, so what is given up was sent long ago.
                if wanted > 0 && self.ledger.free() == 0 {
                    self.is_full();
                }
                for _ in 0..wanted.min(self.ledger.free()) {
                    if self.is_counted_out() {
                        break;
                    }
                    self.ledger.enter(now, Some(now));
                    self.publisher.enqueue();
                }
            }
        }
    }

    fn is_full(&mut self) -> bool {
        let full = self.ledger.is_full();
        if full {
            self.publisher.pass_over(self.ledger.first(), &mut self.ledger);
        }
        full
    }
}

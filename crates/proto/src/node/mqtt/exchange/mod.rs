//! Publisher and subscriber together: begin, offer, drain, end.

mod samples;

use super::connection::ClientConnection;
use super::gaps::SequenceOrder;
use super::meter::ArrivalMeter;
use super::publisher::{InFlightSlot, Publisher};
use super::subscriber::{PendingAck, SEEN, Subscriber};
use super::tracker::{MessageRecord, MessageTracker};
use super::{Gaps, MqttFault, MqttInput, MqttSettings, OfferedLoad, Side};
use crate::node::Output;
use core::ops::Range;
use espbench_model::sample::Cause;
use espbench_model::time::{Duration, Instant};

/// The memory that the driver lends. Its sizes are limits.
#[derive(Debug)]
pub struct ExchangeStorage<'a> {
    /// Largest packet from the broker to either side.
    pub packets: [&'a mut [u8]; 2],
    /// Most messages without an acknowledgement.
    pub flights: &'a mut [InFlightSlot],
    /// Messages whose fate is open.
    pub entries: &'a mut [MessageRecord],
    /// Acknowledgements that are owed to the broker.
    pub answers: &'a mut [PendingAck],
    /// QoS 2 identifiers that are not released.
    pub seen: &'a mut [u64; SEEN],
}

/// The memory that the driver lends to a publisher [alone](Exchange::alone).
#[derive(Debug)]
pub struct PublisherStorage<'a> {
    /// Largest packet from the broker.
    pub packet: &'a mut [u8],
    /// Most messages without an acknowledgement.
    pub flights: &'a mut [InFlightSlot],
    /// Messages whose fate is open.
    pub entries: &'a mut [MessageRecord],
}

/// Multiple of the drain time after which draining ends, however slowly messages trickle in.
const LONGEST_DRAIN: u32 = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MqttPhase {
    /// Connecting and subscribing.
    Opening,
    /// Offering: messages come due.
    Offering,
    /// Draining: all messages are due, and those on their way may still come.
    Draining {
        since: Instant,
    },
    /// Closing: every open message is lost; samples go out, then the totals, then DISCONNECT.
    Closing {
        totals: u8,
    },
    Closed,
}

/// The messages of one publisher that reached the common subscriber.
#[derive(Debug)]
struct MemberArrivals {
    gaps: Gaps,
    count: u64,
}

/// The whole test as one machine. See the [module](super).
#[derive(Debug)]
pub struct Exchange<'a> {
    settings: MqttSettings<'a>,
    publisher: Publisher<'a>,
    /// Receiving side; `None` where another program is the subscriber.
    subscriber: Option<Subscriber<'a>>,
    tracker: MessageTracker<'a>,
    /// Messages that came, where the subscriber is several publishers'
    /// [`Gatherer`](super::Gatherer).
    gathered: Option<MemberArrivals>,
    phase: MqttPhase,
    /// When the first message came due.
    start: Instant,
    /// When the last one did.
    end: Instant,
    /// When something last happened to a message.
    progress: Instant,
    meter: ArrivalMeter,
}

impl<'a> Exchange<'a> {
    /// Creates a test that begins once the two connections are there.
    pub fn new(settings: MqttSettings<'a>, storage: ExchangeStorage<'a>) -> Self {
        let ExchangeStorage {
            packets: [to_publisher, to_subscriber],
            flights,
            entries,
            answers,
            seen,
        } = storage;
        let publishing = ClientConnection::new(settings, Side::Publisher, to_publisher);
        let subscribing = ClientConnection::new(settings, Side::Subscriber, to_subscriber);
        Self {
            settings,
            publisher: Publisher::new(settings, publishing, flights),
            subscriber: Some(Subscriber::new(settings, subscribing, answers, seen)),
            tracker: MessageTracker::new(entries, settings.link, settings.size, settings.qos > 0),
            gathered: None,
            phase: MqttPhase::Opening,
            start: Instant::ZERO,
            end: Instant::ZERO,
            progress: Instant::ZERO,
            meter: ArrivalMeter::default(),
        }
    }

    /// Creates the publisher's side alone: the subscriber is another program, on a device of its
    /// own. The stages of a message end with its acknowledgement, and of the totals there is the
    /// sender's.
    pub fn alone(settings: MqttSettings<'a>, storage: PublisherStorage<'a>) -> Self {
        let PublisherStorage { packet, flights, entries } = storage;
        let publishing = ClientConnection::new(settings, Side::Publisher, packet);
        let tracker = MessageTracker::new(entries, settings.link, settings.size, settings.qos > 0);
        Self {
            settings,
            publisher: Publisher::new(settings, publishing, flights),
            subscriber: None,
            tracker: tracker.alone(),
            gathered: None,
            phase: MqttPhase::Opening,
            start: Instant::ZERO,
            end: Instant::ZERO,
            progress: Instant::ZERO,
            meter: ArrivalMeter::default(),
        }
    }

    /// Creates the publisher's side of one of several, whose common subscriber is a
    /// [`Gatherer`](super::Gatherer): the driver tells what arrives there with
    /// [`arrived`](Self::arrived). The test begins with [`begin`](Self::begin), and records no
    /// totals.
    pub fn member(settings: MqttSettings<'a>, storage: PublisherStorage<'a>) -> Self {
        let PublisherStorage { packet, flights, entries } = storage;
        let publishing = ClientConnection::new(settings, Side::Publisher, packet);
        Self {
            settings,
            publisher: Publisher::new(settings, publishing, flights),
            subscriber: None,
            tracker: MessageTracker::new(entries, settings.link, settings.size, settings.qos > 0),
            gathered: Some(MemberArrivals { gaps: Gaps::new(0), count: 0 }),
            phase: MqttPhase::Opening,
            start: Instant::ZERO,
            end: Instant::ZERO,
            progress: Instant::ZERO,
            meter: ArrivalMeter::default(),
        }
    }

    /// Lets the messages of a [`member`](Self::member) come due from `start` on.
    pub fn begin(&mut self, start: Instant) {
        if self.phase == MqttPhase::Opening && self.publisher.connection.is_connected() {
            self.phase = MqttPhase::Offering;
            (self.start, self.end, self.progress) = (start, start, start);
        }
    }

    /// Notes that message `seq` of a [`member`](Self::member) reached the common subscriber.
    /// Answers whether the message is this member's, and came for the first time.
    pub fn arrived(&mut self, now: Instant, seq: u64, whole: bool) -> bool {
        let Some(gathered) = self.gathered.as_mut().filter(|_| seq < self.tracker.due()) else {
            return false;
        };
        let arrival = gathered.gaps.arrive(now, seq);
        let fresh = arrival != SequenceOrder::Duplicate;
        gathered.count += u64::from(fresh);
        self.tracker.received(seq, now, arrival, whole);
        self.progress = now;
        fresh
    }

    /// Notes that a part of some message has come to the common subscriber: nothing is given up at
    /// `now`.
    pub fn wait_on(&mut self, now: Instant) {
        self.progress = self.progress.max(now);
    }

    /// Gives up what is outstanding: the common subscriber of a [`member`](Self::member) is gone.
    pub fn abandoned(&mut self) {
        self.close(Cause::Disconnected);
    }

    /// Returns when the first message came due, and when the last one did.
    #[must_use]
    pub const fn offered(&self) -> (Instant, Instant) {
        (self.start, self.end)
    }

    /// Returns the reason for which the test ended before its time, and the side that failed.
    #[must_use]
    pub fn fault(&self) -> Option<(Side, MqttFault)> {
        let publisher = self.publisher.connection.fault().map(|fault| (Side::Publisher, fault));
        let subscriber = self.subscriber.as_ref().and_then(|s| s.connection.fault());
        publisher.or(subscriber.map(|fault| (Side::Subscriber, fault)))
    }

    /// Returns the record of missing, repeated and reordered numbers at the subscriber; `None`
    /// without one.
    #[must_use]
    pub fn gaps(&self) -> Option<&Gaps> {
        let gathered = self.gathered.as_ref().map(|gathered| &gathered.gaps);
        self.subscriber.as_ref().map(Subscriber::gaps).or(gathered)
    }

    /// Returns the numbers after the highest that came: no gap shows them, as nothing came behind
    /// them.
    #[must_use]
    pub fn tail(&self) -> Range<u64> {
        self.gaps().map_or(0, Gaps::next)..self.tracker.counted()
    }

    /// Returns the counts that no sample holds, by name.
    #[must_use]
    pub fn counters(&self) -> [(&'static str, u64); 4] {
        let subscriber = self.subscriber.as_ref();
        [
            ("refused-by-broker", self.publisher.refused()),
            ("foreign-messages", subscriber.map_or(0, Subscriber::foreign)),
            ("redelivered", subscriber.map_or(0, Subscriber::redelivered)),
            ("unrecorded-duplicates", self.tracker.unrecorded()),
        ]
    }

    /// Returns when the broker accepted the connection of `side`.
    #[must_use]
    pub fn accepted(&self, side: Side) -> Option<Instant> {
        match side {
            Side::Publisher => self.publisher.connection.accepted(),
            Side::Subscriber => self.subscriber.as_ref().and_then(|s| s.connection.accepted()),
        }
    }

    /// Returns whether the broker had a session of `side` already; `None` before it accepted it.
    #[must_use]
    pub fn session_present(&self, side: Side) -> Option<bool> {
        match side {
            Side::Publisher => self.publisher.connection.session_present(),
            Side::Subscriber => {
                self.subscriber.as_ref().and_then(|s| s.connection.session_present())
            }
        }
    }

    /// Returns how many messages came due.
    #[must_use]
    pub const fn due(&self) -> u64 {
        self.tracker.due()
    }

    /// Returns how many of them count: all but those that a stop kept from being sent.
    #[must_use]
    pub const fn counted(&self) -> u64 {
        self.tracker.counted()
    }

    /// Returns how many messages were on their way when the test was stopped: whether they came is not known.
    #[must_use]
    pub const fn unknown(&self) -> u64 {
        self.tracker.unknown()
    }

    /// Returns how many messages the system took.
    #[must_use]
    pub const fn sent(&self) -> u64 {
        self.publisher.sent()
    }

    /// Returns how many messages reached the subscriber; `None` without one.
    #[must_use]
    pub fn received(&self) -> Option<u64> {
        let gathered = self.gathered.as_ref().map(|gathered| gathered.count);
        self.subscriber.as_ref().map(Subscriber::received_count).or(gathered)
    }

    /// Returns how many messages have no acknowledgement yet.
    #[must_use]
    pub const fn in_flight(&self) -> usize {
        self.publisher.in_flight()
    }

    /// Handles an event on the connection of `side`.
    pub fn handle(&mut self, now: Instant, side: Side, input: MqttInput<'_>) {
        match (side, input) {
            (Side::Publisher, MqttInput::Received(bytes)) => {
                if self.publisher.received(now, bytes, &mut self.tracker) {
                    self.progress = now;
                }
            }
            (Side::Subscriber, MqttInput::Received(bytes)) => {
                let Some(subscriber) = &mut self.subscriber else { return };
                let came = subscriber.received(now, bytes, &mut self.tracker);
                // A part of a long message is something, too.
                if came > 0 || subscriber.connection.is_receiving() {
                    self.progress = now;
                }
                if came > 0 {
                    self.meter.count(now, came, came * u64::from(self.settings.size));
                }
            }
            (Side::Publisher, MqttInput::Written) => {
                self.progress = now;
                self.publisher.written(now, &mut self.tracker);
            }
            (_, MqttInput::Stop) => {
                if self.phase == MqttPhase::Offering {
                    self.end = now;
                }
                self.close(Cause::Stopped);
            }
            (_, input) => {
                let Some(connection) = self.connection(side) else { return };
                match input {
                    MqttInput::Connected => connection.connected(now),
                    MqttInput::Closed => connection.closed(),
                    MqttInput::Writing => connection.writing(now),
                    _ => connection.written(),
                }
            }
        }
    }

    fn connection(&mut self, side: Side) -> Option<&mut ClientConnection<'a>> {
        match side {
            Side::Publisher => Some(&mut self.publisher.connection),
            Side::Subscriber => self.subscriber.as_mut().map(|s| &mut s.connection),
        }
    }

    /// Returns the next request of `side` to the driver. Samples come from the publisher's side. An
    /// empty `buf` means that nothing can be sent now (the system has yet to take what was given
    /// out).
    pub fn poll(&mut self, now: Instant, side: Side, buf: &mut [u8]) -> Output {
        self.advance(now);
        match side {
            Side::Subscriber => {
                let subscriber = self.subscriber.as_mut().filter(|_| !buf.is_empty());
                let len = subscriber.map_or(0, |s| s.poll(now, buf));
                self.wanted(side, len)
            }
            Side::Publisher => {
                if self.phase == MqttPhase::Offering {
                    self.offer(now, buf.len());
                }
                if let Some(sample) = self.poll_sample(now) {
                    return Output::Sample(sample);
                }
                let publisher = &mut self.publisher;
                let len =
                    if buf.is_empty() { 0 } else { publisher.poll(now, buf, &mut self.tracker) };
                self.wanted(side, len)
            }
        }
    }

    fn wanted(&mut self, side: Side, len: usize) -> Output {
        let (phase, wake) = (self.phase, self.wake());
        let Some(connection) = self.connection(side) else { return Output::Done };
        if len > 0 {
            Output::Send { len }
        } else if phase == MqttPhase::Closed && connection.is_closed() {
            Output::Done
        } else {
            Output::WaitUntil(connection.deadline().min(wake))
        }
    }

    /// Returns when the phase may change, or a message comes due.
    fn wake(&self) -> Instant {
        match self.phase {
            MqttPhase::Offering => match self.settings.pace {
                OfferedLoad::Rate(rate) => self.due_at(rate),
                OfferedLoad::Saturate => self.last_due(),
            },
            MqttPhase::Draining { since } => {
                let drain = self.settings.drain;
                (self.progress.max(since) + drain).min(since + drain * LONGEST_DRAIN)
            }
            _ => Instant::NEVER,
        }
        .min(self.meter.wake())
    }

    /// Returns when the next message comes due.
    fn due_at(&self, rate: f64) -> Instant {
        let nanos = self.tracker.due() as f64 * 1e9 / rate;
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
            MqttPhase::Opening if self.fault().is_some() => self.close(Cause::Disconnected),
            MqttPhase::Opening
                if self.publisher.connection.is_connected() && ready && self.gathered.is_none() =>
            {
                self.phase = MqttPhase::Offering;
                (self.start, self.end, self.progress) = (now, now, now);
                self.meter.begin(now);
            }
            MqttPhase::Offering if self.fault().is_some() => self.drain(now),
            MqttPhase::Offering if self.is_offered_out(now) => self.drain(now),
            MqttPhase::Draining { since } => self.drained(now, since),
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
        if self.tracker.is_empty() || quiet || too_long {
            self.close(lost_cause);
        }
    }

    /// Tells whether the last message is due.
    fn is_offered_out(&self, now: Instant) -> bool {
        self.is_counted_out()
            || !self.tracker.has_places()
            || match self.settings.pace {
                OfferedLoad::Rate(rate) => self.due_at(rate) >= self.last_due(),
                OfferedLoad::Saturate => now >= self.last_due(),
            }
    }

    fn is_counted_out(&self) -> bool {
        self.settings.count.is_some_and(|count| self.tracker.due() >= count)
    }

    fn drain(&mut self, now: Instant) {
        self.end = match self.settings.pace {
            OfferedLoad::Rate(rate) if self.fault().is_none() => self.due_at(rate),
            _ => now,
        }
        .min(self.last_due());
        self.phase = MqttPhase::Draining { since: now };
    }

    fn close(&mut self, cause: Cause) {
        if matches!(self.phase, MqttPhase::Closing { .. } | MqttPhase::Closed) {
            return;
        }
        self.tracker.close(cause);
        self.phase = MqttPhase::Closing { totals: 0 };
    }

    /// Lets messages come due; the buffer of the next packets has `room` bytes.
    fn offer(&mut self, now: Instant, room: usize) {
        match self.settings.pace {
            OfferedLoad::Rate(rate) => {
                while !self.is_counted_out() {
                    let due = self.due_at(rate);
                    if due > now || due >= self.last_due() || self.is_full() {
                        break;
                    }
                    let queued = self.publisher.has_room().then_some(now);
                    self.tracker.enter(due, queued);
                    if queued.is_some() {
                        self.publisher.enqueue();
                    }
                }
            }
            OfferedLoad::Saturate => {
                let room = room / self.publisher.packet_len();
                let wanted = self.publisher.openings().min(room);
                // Nothing is queued here, so what is given up was sent long ago.
                if wanted > 0 && self.tracker.free() == 0 {
                    self.is_full();
                }
                for _ in 0..wanted.min(self.tracker.free()) {
                    if self.is_counted_out() {
                        break;
                    }
                    self.tracker.enter(now, Some(now));
                    self.publisher.enqueue();
                }
            }
        }
    }

    fn is_full(&mut self) -> bool {
        let full = self.tracker.is_full();
        if full {
            self.publisher.pass_over(self.tracker.first(), &mut self.tracker);
        }
        full
    }
}

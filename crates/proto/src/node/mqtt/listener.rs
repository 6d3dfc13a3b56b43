//! Listens to the numbered messages of a device, which publishes them on its own account.
//!
//! Nothing is offered here, so when a message was due is not known: a sample's `due` is its
//! `received`, and for a lost one the arrival of the higher number that shows it is missing.
//! Numbered messages are on the link of the settings, those without a number on the next one,
//! numbered as they came.
//!
//! The time begins with the first message. One that the broker had kept from before (retained) is
//! counted and otherwise passed over.

use super::connection::Connection;
use super::gaps::{Arrival, Gaps, Missing};
use super::meter::Meter;
use super::subscriber::{Answer, Message, SEEN, Subscriber};
use super::{Fault, Settings, Side};
use crate::node::Output;
use crate::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use crate::time::{Duration, Instant};
use core::ops::Range;

/// A number so much higher than the last one is no gap: the device was restarted, or another took
/// its place.
pub const FARTHEST_AHEAD: u64 = 10_000;

/// A number so much lower than the highest is no latecomer: the device was restarted.
pub const FARTHEST_BEHIND: u64 = 100;

/// Missing ranges that are named.
pub const NAMED: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The connection opens, the subscription is made.
    Opening,
    /// For the first message.
    Waiting {
        since: Instant,
    },
    Listening,
    /// What is missing is recorded as lost, then the total.
    Closing {
        total: bool,
    },
    Closed,
}

/// The memory that the driver lends.
#[derive(Debug)]
pub struct Memory<'a> {
    /// Largest packet from the broker.
    pub packet: &'a mut [u8],
    /// Acknowledgements that are owed to the broker.
    pub answers: &'a mut [Answer],
    /// QoS 2 identifiers that are not released.
    pub seen: &'a mut [u64; SEEN],
}

/// The subscriber and its book of numbers. See the [module](self).
#[derive(Debug)]
pub struct Listener<'a> {
    settings: Settings<'a>,
    subscriber: Subscriber<'a>,
    phase: Phase,
    start: Instant,
    end: Instant,
    meter: Meter,
    /// `None` until the first number came.
    gaps: Option<Gaps>,
    /// The first number since the device's start.
    first: u64,
    /// What is being recorded as lost; its `from` moves up.
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
    /// One that begins once the connection is there. It uses of the settings what a subscriber
    /// needs, `time`, and for the first message the longer of `patience` and `time`.
    pub fn new(settings: Settings<'a>, memory: Memory<'a>) -> Self {
        let Memory { packet, answers, seen } = memory;
        let connection = Connection::new(settings, Side::Subscriber, packet).reading_numbers();
        Self {
            settings,
            subscriber: Subscriber::new(settings, connection, answers, seen),
            phase: Phase::Opening,
            start: Instant::ZERO,
            end: Instant::ZERO,
            meter: Meter::default(),
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

    /// Why it ended before its time.
    #[must_use]
    pub const fn fault(&self) -> Option<Fault> {
        self.subscriber.connection.fault()
    }

    /// When the broker accepted the connection.
    #[must_use]
    pub const fn accepted(&self) -> Option<Instant> {
        self.subscriber.connection.accepted()
    }

    /// Whether it was given up because no message came; how long it waited is
    /// [`patience`](Self::patience).
    #[must_use]
    pub const fn is_silent(&self) -> bool {
        self.silent
    }

    /// How long it waits for the first message.
    #[must_use]
    pub fn patience(&self) -> Duration {
        self.settings.patience.max(self.settings.time)
    }

    /// Numbers recorded as lost so far.
    #[must_use]
    pub const fn lost(&self) -> u64 {
        self.lost
    }

    /// The first [`NAMED`] ranges of them.
    pub fn named(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        self.named[..self.names].iter().map(|&(from, to)| from..to)
    }

    /// Counts that no sample holds, by name.
    #[must_use]
    pub const fn counters(&self) -> [(&'static str, u64); 4] {
        [
            ("restarts", self.restarts),
            ("unnumbered", self.unnumbered),
            ("retained", self.retained),
            ("redelivered", self.subscriber.redelivered()),
        ]
    }

    /// The transport is there.
    pub fn connected(&mut self, now: Instant) {
        self.subscriber.connection.connected(now);
    }

    /// The system took everything that [`poll`](Self::poll) gave out.
    pub const fn written(&mut self) {
        self.subscriber.connection.written();
    }

    /// The transport is gone.
    pub fn closed(&mut self) {
        self.subscriber.connection.closed();
    }

    /// The user wants to stop.
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
            if let Some(probe) = self.take(now, &message) {
                return Some(Sample::Probe(probe));
            }
        }
    }

    /// What it wants next. An empty `buf` says that nothing can be sent now.
    pub fn poll(&mut self, now: Instant, buf: &mut [u8]) -> Output {
        self.advance(now);
        if let Some(sample) = self.pending(now).or_else(|| self.last_words()) {
            return Output::Sample(sample);
        }
        let len = if buf.is_empty() { 0 } else { self.subscriber.poll(now, buf) };
        let connection = &self.subscriber.connection;
        if len > 0 {
            Output::Send { len }
        } else if self.phase == Phase::Closed && connection.is_over() {
            Output::Done
        } else {
            Output::WaitUntil(connection.deadline().min(self.wake()))
        }
    }

    fn wake(&self) -> Instant {
        match self.phase {
            Phase::Waiting { since } => since + self.patience(),
            Phase::Listening => self.last_instant().min(self.meter.wake()),
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
            Phase::Opening | Phase::Waiting { .. } | Phase::Listening if broken => self.close(now),
            Phase::Opening if self.subscriber.is_ready() => {
                self.phase = Phase::Waiting { since: now };
            }
            Phase::Waiting { since } if now >= since + self.patience() => {
                self.silent = true;
                self.close(now);
            }
            Phase::Listening if now >= self.last_instant() => self.close(now),
            _ => {}
        }
    }

    fn close(&mut self, now: Instant) {
        if !matches!(self.phase, Phase::Closing { .. } | Phase::Closed) {
            self.end = now.min(self.last_instant()).max(self.start);
            self.phase = Phase::Closing { total: self.meter.is_running() };
        }
    }

    fn take(&mut self, now: Instant, message: &Message) -> Option<Probe> {
        if message.retained {
            self.retained += 1;
            return None;
        }
        match self.phase {
            Phase::Opening | Phase::Waiting { .. } => {
                self.phase = Phase::Listening;
                self.start = now;
                self.meter.begin(now);
            }
            Phase::Listening => {}
            Phase::Closing { .. } | Phase::Closed => return None,
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
        let arrival = if seq < first { Arrival::Reordered } else { gaps.arrive(now, seq) };
        if seq >= first {
            self.losing = gaps.take_forgotten();
        }
        self.reordered += u64::from(arrival == Arrival::Reordered);
        if arrival == Arrival::Duplicate {
            self.duplicates += 1;
            return Probe { fate: Fate::Duplicate, ..self.arrived(now, seq, len) };
        }
        self.delivered(now, seq, len)
    }

    fn delivered(&mut self, now: Instant, seq: u64, len: u32) -> Probe {
        self.received += 1;
        self.meter.count(now, 1, len.into());
        self.arrived(now, seq, len)
    }

    fn arrived(&self, now: Instant, seq: u64, bytes: u32) -> Probe {
        let link = self.settings.link;
        Probe { link, seq, bytes, due: now, received: Some(now), ..Probe::default() }
    }

    /// What comes before anything further is taken.
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
        let open = !matches!(self.phase, Phase::Closing { .. } | Phase::Closed);
        let until = if open { now } else { self.end };
        self.meter.poll(until, self.settings.link).map(Sample::Interval)
    }

    /// The next of the numbers that are given up.
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

    /// At the end: what is missing, the last second, the total.
    fn last_words(&mut self) -> Option<Sample> {
        let Phase::Closing { total } = self.phase else { return None };
        if let Some(missing) = self.gaps.as_mut().and_then(Gaps::take_first) {
            self.losing = Some(missing);
            return self.lose().map(Sample::Probe);
        }
        if let Some(rest) = self.meter.rest(self.settings.link) {
            return Some(Sample::Interval(rest));
        }
        self.phase = Phase::Closed;
        self.subscriber.connection.leave();
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

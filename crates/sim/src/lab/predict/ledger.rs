//! The messages of a run: when each was due, and how far it came.

use super::load::{Arrival, Load, MessageClock};
use super::outcome::{Air, Outcome, Stages};
use crate::lab::trace::Flight;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::{Cause, Fate, Link, Probe, Sample};
use espbench_model::time::Instant;

/// Most messages of a run; further ones never become due.
const MESSAGES_MAX: usize = 4_000_000;

/// A frame on the listener's channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct OnAir {
    pub(super) kind: AirKind,
    pub(super) begin: Instant,
    pub(super) end: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AirKind {
    First,
    Retry,
    Ack,
    Other,
}

/// One message.
#[derive(Clone, Copy, Debug)]
struct Message {
    device: u16,
    due: Instant,
    taken: Option<Instant>,
    /// Time at which a device that slept could send.
    ready: Option<Instant>,
    driver: Option<Instant>,
    /// Begin of the first attempt, and begin and end of the one that the listener's radio read.
    first: Option<Instant>,
    read: Option<(Instant, Instant)>,
    /// End of the last attempt.
    last: Option<Instant>,
    /// Frames of it that were on the air.
    attempts: u16,
    done: Option<Instant>,
    /// The sender was told that it arrived.
    known: bool,
    received: Option<Instant>,
    lost: Option<Cause>,
}

/// The applications of the senders.
#[derive(Debug)]
struct SenderQueue {
    clock: MessageClock,
    waiting: VecDeque<u32>,
}

/// Time in which something is on the air: what overlaps counts once.
#[derive(Debug, Default)]
struct BusyTime {
    /// Stretches that do not overlap, in the order of their ends: the last of them, which a frame may still reach into.
    stretches: VecDeque<(u64, u64)>,
    /// Nanoseconds of the stretches before those.
    settled: u64,
}

/// Stretches that are kept apart: no frame is as long as so many.
const STRETCHES: usize = 16_384;

impl BusyTime {
    /// Adds a stretch; they come in the order of their ends.
    fn add(&mut self, begin: u64, end: u64) {
        let mut begin = begin;
        while let Some(&(earlier, _)) = self.stretches.back().filter(|last| last.1 >= begin) {
            begin = begin.min(earlier);
            self.stretches.pop_back();
        }
        self.stretches.push_back((begin, end));
        if self.stretches.len() > STRETCHES {
            self.settled += self.stretches.pop_front().map_or(0, |(begin, end)| end - begin);
        }
    }

    /// Returns the whole time.
    fn total(&self) -> Duration {
        let apart: u64 = self.stretches.iter().map(|(begin, end)| end - begin).sum();
        Duration::from_nanos(self.settled + apart)
    }
}

#[derive(Debug)]
pub(super) struct MessageLog {
    load: Load,
    /// Copies of a broadcast, or attempts at most.
    copies: Option<u16>,
    start: Instant,
    from: Instant,
    until: Instant,
    messages: Vec<Message>,
    applications: Vec<SenderQueue>,
    air: Air,
    /// Time in which somebody sends.
    busy: BusyTime,
    /// Time in which one of the devices or the listener does.
    own: BusyTime,
    /// Frames that an observer wants to see, in the order of their ends, and how many at most.
    flights: Vec<Flight>,
    most_flights: usize,
    flights_dropped: u64,
}

impl MessageLog {
    /// Creates the ledger of the senders 1 to `devices`, whose applications begin with the run, or
    /// at [`MessageLog::begin`].
    pub(super) fn new(load: &Load, seed: u64, devices: u32) -> Self {
        let application = |device| SenderQueue {
            clock: MessageClock::new(load, seed, device),
            waiting: VecDeque::new(),
        };
        Self {
            load: *load,
            copies: load.copies(),
            start: Instant::ZERO,
            from: Instant::ZERO + load.warm_up,
            until: Instant::ZERO + load.warm_up + load.time,
            messages: Vec::new(),
            applications: (0..=devices).map(application).collect(),
            air: Air { window: load.time, ..Air::default() },
            busy: BusyTime::default(),
            own: BusyTime::default(),
            flights: Vec::new(),
            most_flights: 0,
            flights_dropped: 0,
        }
    }

    /// Keeps so many frames that end from now on; further ones are counted.
    pub(super) const fn watch(&mut self, most: usize) {
        self.most_flights = most;
    }

    /// Takes a frame that has ended.
    pub(super) fn see(&mut self, flight: impl FnOnce() -> Flight) {
        if self.flights.len() < self.most_flights {
            self.flights.push(flight());
        } else if self.most_flights > 0 {
            self.flights_dropped += 1;
        }
    }

    /// Begins the applications' time.
    pub(super) fn begin(&mut self, now: Instant) {
        self.start = now;
        self.from = now + self.load.warm_up;
        self.until = self.from + self.load.time;
        // What was on the air before is not asked.
        (self.busy, self.own) = (BusyTime::default(), BusyTime::default());
        self.air = Air { window: self.load.time, ..Air::default() };
    }

    /// Returns when the recorded time begins.
    pub(super) const fn from(&self) -> Instant {
        self.from
    }

    /// Notes that the device of the message is awake and has its radio on.
    pub(super) fn ready(&mut self, now: Instant, number: u32) {
        if let Some(message) = self.message(number) {
            message.ready.get_or_insert(now);
        }
    }

    /// Returns when the recorded time is over.
    pub(super) const fn until(&self) -> Instant {
        self.until
    }

    /// Returns whether nothing more is to be expected of recorded messages.
    pub(super) fn is_settled(&self) -> bool {
        let mut recorded = self.messages.iter().filter(|it| self.is_recorded(it.due));
        recorded.all(|it| {
            let told = it.done.is_some() || it.taken.is_none();
            (it.received.is_some() || it.lost.is_some()) && (told || !self.load.ack())
        })
    }

    /// Returns whether the applications always have something to send.
    pub(super) fn is_always(&self) -> bool {
        self.load.arrival == Arrival::Always
    }

    /// Returns when the next message of a device is due.
    pub(super) fn due(&self, device: u32) -> Instant {
        self.start + Duration::from_nanos(self.applications[device as usize].clock.due())
    }

    /// Adds the next message of a device: it waits, or is lost where too many do.
    pub(super) fn arrive(&mut self, device: u32) {
        let due = self.due(device);
        self.applications[device as usize].clock.advance();
        let Some(number) = self.create(device, due) else { return };
        let full = usize::from(self.load.queue) <= self.applications[device as usize].waiting.len();
        if full {
            self.lose(number, Cause::ApplicationQueue);
        } else {
            self.applications[device as usize].waiting.push_back(number);
        }
    }

    fn create(&mut self, device: u32, due: Instant) -> Option<u32> {
        if self.messages.len() >= MESSAGES_MAX {
            return None;
        }
        self.messages.push(Message {
            device: device as u16,
            due,
            taken: None,
            ready: None,
            driver: None,
            first: None,
            read: None,
            last: None,
            attempts: 0,
            done: None,
            known: false,
            received: None,
            lost: None,
        });
        Some(self.messages.len() as u32 - 1)
    }

    /// Takes the message that a device's node sends now, if one waits.
    pub(super) fn take(&mut self, now: Instant, device: u32) -> Option<u32> {
        let number = match self.is_always() {
            true => self.create(device, now)?,
            false => self.applications[device as usize].waiting.pop_front()?,
        };
        self.message(number)?.taken = Some(now);
        Some(number)
    }

    /// Puts a message back that the node would not take.
    pub(super) fn put_back(&mut self, device: u32, number: u32) {
        if self.is_always() {
            // As if it had never been; it is the last one.
            self.messages.pop();
            return;
        }
        if let Some(message) = self.message(number) {
            message.taken = None;
        }
        self.applications[device as usize].waiting.push_front(number);
    }

    /// Notes that the driver has the message.
    pub(super) fn driver(&mut self, now: Instant, number: u32) {
        if let Some(message) = self.message(number) {
            message.driver.get_or_insert(now);
        }
    }

    /// Notes an attempt that has ended; returns how many there were. `read`: the listener's radio
    /// has it; `missed`: why it has not.
    pub(super) fn attempt(
        &mut self,
        begin: Instant,
        end: Instant,
        number: u32,
        read: bool,
        missed: Option<Cause>,
    ) -> u16 {
        let Some(message) = self.message(number) else { return 0 };
        message.first.get_or_insert(begin);
        if read {
            message.read.get_or_insert((begin, end));
        }
        message.last = Some(end);
        message.attempts = message.attempts.saturating_add(1);
        let (attempts, read) = (message.attempts, message.read.is_some());
        if self.copies.is_some_and(|copies| attempts >= copies) && !read {
            self.lose(number, missed.unwrap_or_default());
        }
        attempts
    }

    /// Notes that the sender is told of the message's end; `delivered`: as far as the sender can
    /// know.
    pub(super) fn done(&mut self, now: Instant, number: u32, delivered: bool) {
        let told = self.copies.is_none() || self.load.ack();
        let Some(message) = self.message(number) else { return };
        message.done.get_or_insert(now);
        message.known = delivered && told;
        let (attempts, read) = (message.attempts, message.read.is_some());
        // A broadcast is over for its sender when the driver has it. Unicast that the radio has not
        // read by now will not come.
        if read || delivered && self.copies.is_some() {
            return;
        }
        self.lose(number, if attempts == 0 { Cause::NoBuffers } else { Cause::RetryLimit });
    }

    /// Notes that the listener's application has the message.
    pub(super) fn received(&mut self, now: Instant, number: u32) {
        let Some(message) = self.message(number) else { return };
        message.received.get_or_insert(now);
    }

    /// Notes that the message is lost. The first cause counts, unless it is unknown.
    pub(super) fn lose(&mut self, number: u32, cause: Cause) {
        let Some(message) = self.message(number) else { return };
        let unknown = message.lost.is_none_or(|known| known == Cause::Unknown);
        if message.received.is_none() && unknown {
            message.lost = Some(cause);
        }
    }

    /// Notes a frame on the listener's channel. `missed`: the listener should have read it, and
    /// could not.
    pub(super) fn on_air(&mut self, frame: OnAir, missed: bool) {
        let (from, until) = (self.from.as_nanos(), self.until.as_nanos());
        let (begin, end) = (frame.begin.as_nanos().max(from), frame.end.as_nanos().min(until));
        if begin >= end {
            return;
        }
        let air = &mut self.air;
        let sum = match frame.kind {
            AirKind::First => &mut air.data,
            AirKind::Retry => &mut air.retries,
            AirKind::Ack => &mut air.acks,
            AirKind::Other => &mut air.others,
        };
        *sum += Duration::from_nanos(end - begin);
        air.frames += u64::from(matches!(frame.kind, AirKind::First | AirKind::Retry));
        air.missed += u64::from(missed);
        self.busy.add(begin, end);
        if frame.kind != AirKind::Other {
            self.own.add(begin, end);
        }
    }

    /// Returns the outcome, when time is over. `withheld`: why the listener may have read a message
    /// and not handed it to its application.
    pub(super) fn close(mut self, withheld: Cause) -> Outcome {
        (self.air.busy, self.air.own) = (self.busy.total(), self.own.total());
        let mut stages = Stages::default();
        let mut samples = Vec::new();
        let mut order: Vec<u32> = (0..self.messages.len() as u32).collect();
        order.sort_by_key(|&number| self.messages[number as usize].due);
        let mut sequences = alloc::vec![0_u64; self.applications.len()];
        for number in order {
            let message = self.messages[number as usize];
            if !self.is_recorded(message.due) {
                continue;
            }
            let sequence = &mut sequences[usize::from(message.device)];
            samples.push(Sample::Probe(probe(&message, *sequence, self.load.payload, withheld)));
            *sequence += 1;
            add(&mut stages, &message);
        }
        let (flights, flights_dropped) = (self.flights, self.flights_dropped);
        let begun = self.start;
        Outcome {
            samples,
            stages,
            air: self.air,
            energy: Vec::new(),
            begun,
            flights,
            flights_dropped,
        }
    }

    fn message(&mut self, number: u32) -> Option<&mut Message> {
        self.messages.get_mut(number as usize)
    }

    fn is_recorded(&self, due: Instant) -> bool {
        due >= self.from && due < self.until
    }
}

fn probe(message: &Message, seq: u64, bytes: u32, withheld: Cause) -> Probe {
    let fate = match (message.received, message.lost) {
        (Some(_), _) => Fate::Delivered,
        (None, Some(cause)) => Fate::Lost(cause),
        // The radio had it and all is over for the sender: it stuck in the listener.
        (None, None) if message.read.is_some() && message.done.is_some() => Fate::Lost(withheld),
        (None, None) if message.done.is_some() && message.attempts == 0 => {
            Fate::Lost(Cause::NoBuffers)
        }
        (None, None) => Fate::Lost(Cause::Stopped),
    };
    Probe {
        link: Link(message.device),
        seq,
        bytes,
        due: message.due,
        queued: None,
        sent: message.driver,
        acked: message.done.filter(|_| message.known),
        received: message.received,
        stamped: message.read.map(|(_, end)| end),
        fate,
    }
}

/// Adds the way of a message to the stages, as far as it came.
fn add(stages: &mut Stages, it: &Message) {
    if let (Some(last), Some(done)) = (it.last, it.done) {
        stages.held += done.since(last);
    }
    let (Some(taken), Some(driver), Some(first), Some((begin, end)), Some(received)) =
        (it.taken, it.driver, it.first, it.read, it.received)
    else {
        return;
    };
    stages.messages += 1;
    stages.queue += taken.since(it.due);
    let ready = it.ready.unwrap_or(taken);
    stages.start += ready.since(taken);
    stages.sender += driver.since(ready);
    stages.medium += first.since(driver);
    stages.retries += begin.since(first);
    stages.air += end.since(begin);
    stages.receiver += received.since(end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::workload::EspNowCast;
    use proptest::prelude::*;

    /// A day of beacons took gigabytes.
    #[test]
    fn busy_time_is_counted_in_bounded_memory() {
        let mut busy = BusyTime::default();
        let number = 5 * STRETCHES as u64;
        for beacon in 0..number {
            busy.add(beacon * 100, beacon * 100 + 10);
            // What overlaps the last counts once.
            busy.add(beacon * 100 + 5, beacon * 100 + 12);
        }
        assert_eq!(busy.total(), Duration::from_nanos(number * 12));
        assert!(busy.stretches.len() <= STRETCHES);
    }

    proptest! {
        /// Whatever overlaps: the devices' part is none of more than the busy time, which is none of more than
        /// all. Each is the time that a count of all microseconds finds.
        #[test]
        fn own_is_a_part_of_busy_and_busy_of_all(
            frames in proptest::collection::vec((0_u64..900, 1_u64..120, 0_usize..4), 0..60),
        ) {
            let at = |us: u64| Instant::from_nanos(1000 * us);
            let load = Load {
                cast: EspNowCast::Unicast,
                encrypted: false,
                arrival: Arrival::Periodic,
                every: Duration::from_secs(1),
                payload: 100,
                queue: 16,
                sleep: None,
                warm_up: Duration::ZERO,
                time: Duration::from_millis(1),
                drain: Duration::ZERO,
            };
            let mut log = MessageLog::new(&load, 1, 1);
            let mut frames: Vec<(u64, u64, usize)> =
                frames.iter().map(|it| (it.0, it.0 + it.1, it.2)).collect();
            frames.sort_by_key(|it| it.1);
            let kinds = [AirKind::First, AirKind::Retry, AirKind::Ack, AirKind::Other];
            for &(begin, end, kind) in &frames {
                let (begin, end) = (at(begin), at(end));
                log.on_air(OnAir { kind: kinds[kind], begin, end }, false);
            }
            let air = log.close(Cause::ReceiveQueue).air;
            let counted = |own: bool| {
                let is = |us: &u64| {
                    frames.iter().any(|it| it.0 <= *us && *us < it.1 && (!own || it.2 < 3))
                };
                Duration::from_micros((0..1000).filter(is).count() as u64)
            };
            prop_assert!(air.own <= air.busy && air.busy <= air.window, "{air:?}");
            prop_assert_eq!((air.own, air.busy), (counted(true), counted(false)));
        }
    }
}

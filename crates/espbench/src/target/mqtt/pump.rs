//! Moves bytes between two sockets and an [`Exchange`], and tells it the time.
//!
//! One thread serves both connections. At full speed the broker is what limits, and it then has a
//! core for itself; and all times of a message are read from one clock by one thread.
//!
//! At saturation with many messages on their way, arrivals are let gather for [`GATHER`] before they
//! are read: a broker that has to wake its reader for every message is measured as slower than it
//! is. Arrival times are then late by up to about that much, where messages wait for milliseconds
//! anyway. At an offered rate every arrival is read at once.

use super::wire::{self, LOOK, packet_room};
use super::{MqttTarget, crowd};
use crate::clock::Clock;
use crate::sys::ready::{self, Interest};
use crate::sys::timer;
use crate::target::{Sink, TargetError};
use crate::transport::BrokerStream;
use crate::transport::stream::Scratch;
use espbench_measure::units::print_duration;
use espbench_model::sample::Link;
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{MqttMode, MqttRate};
use espbench_proto::node::Output;
use espbench_proto::node::mqtt::publisher::InFlightSlot;
use espbench_proto::node::mqtt::subscriber::{PendingAck, SEEN};
use espbench_proto::node::mqtt::tracker::MessageRecord;
use espbench_proto::node::mqtt::{
    Exchange, ExchangeStorage, Foreign, MqttFault, MqttInput, MqttSettings, OfferedLoad, Side,
};
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

/// Messages whose fate may be open at once.
pub(super) const MOST_OPEN: usize = 1 << 18;
/// Room for acknowledgements: all packet identifiers, and as many releases.
pub(super) const ANSWERS: usize = 1 << 17;
/// Time for which arrivals gather at saturation: of 5 to 800 us, the one with which mosquitto 2.0.11 was fastest
/// (`bench/mqtt.py`, QoS 1, 100 in flight).
const GATHER: Duration = Duration::from_micros(40);
/// Time for which arrivals gather at QoS 0, where nothing waits for the reader.
const GATHER_QOS_0: Duration = Duration::from_millis(1);
/// Fewest messages in flight with which they do: with fewer, the next one waits for the read.
const GATHER_FROM: u16 = 50;
/// Missing ranges named in the facts.
const NAMED: usize = 8;

/// An exchange: a cell, or a try of a search.
pub(super) struct MqttJob<'a> {
    pub(super) target: &'a MqttTarget,
    pub(super) work: &'a MqttRate,
    pub(super) pace: OfferedLoad,
    pub(super) link: Link,
}

/// The result of an exchange besides samples.
pub(super) struct ExchangeOutcome {
    pub(super) counters: Vec<(&'static str, u64)>,
    /// Missing sequence numbers, the first few by name.
    pub(super) missing: String,
    /// Fault of the broker, with advice.
    pub(super) fault: Option<(String, String)>,
    pub(super) cancelled: bool,
}

impl MqttJob<'_> {
    pub(super) fn run(&self, sink: &mut dyn Sink) -> Result<ExchangeOutcome, TargetError> {
        if self.work.clients > 1 {
            return crowd::run(self, sink);
        }
        timer::precise_wakeups();
        let names = RunNames::new(self.target);
        let packet = packet_room(&names.topic, self.work.size as usize);
        let mut memory = ExchangeMemory::new(self.work, self.pace, packet);
        let exchange = Exchange::new(self.settings(&names), memory.lend());
        let clock = Clock::start();
        let open = || wire::open(self.target, packet, &clock, sink);
        let wires = [open()?, open()?];
        wire::note(&wires[0], sink);
        let gather = match self.work.qos {
            _ if self.pace != OfferedLoad::Saturate => None,
            0 => Some(GATHER_QOS_0),
            _ => (self.work.in_flight >= GATHER_FROM).then_some(GATHER),
        };
        let scratch = Scratch::default();
        let mut pump = ExchangePump {
            exchange,
            wires,
            clock,
            gather,
            scratch,
            recorded: [false; 2],
            clean_start: self.work.clean_start,
            cancelled: false,
        };
        pump.run(sink).map_err(|source| TargetError::Peer {
            peer: self.target.endpoint.to_string(),
            what: "exchanging messages",
            source,
            hint: "check that the broker is still up".into(),
        })?;
        Ok(pump.outcome(self, &names.topic))
    }

    pub(super) fn settings<'n>(&'n self, names: &'n RunNames) -> MqttSettings<'n> {
        let MqttRate { version, qos, size, in_flight, time, count, queue, .. } = *self.work;
        MqttSettings {
            version,
            qos,
            size,
            topic: &names.topic,
            client_ids: [&names.clients[0], &names.clients[1]],
            username: self.target.username.as_deref(),
            password: self.target.password.as_deref().map(str::as_bytes),
            pace: self.pace,
            in_flight,
            queue: queue.min(MOST_OPEN as u32 / 2),
            time,
            count: count.map(u64::from),
            drain: self.target.drain,
            patience: self.target.patience,
            resume: false,
            sender: 0,
            retain: self.work.retain,
            clean_start: self.work.clean_start,
            session_expiry: self.work.session_expiry,
            keep_alive: self.target.keep_alive,
            link: self.link,
        }
    }
}

/// Topic and client identifiers that no other run uses at the same time.
pub(super) struct RunNames {
    pub(super) topic: String,
    pub(super) clients: [String; 2],
}

impl RunNames {
    pub(super) fn new(target: &MqttTarget) -> Self {
        static RUNS: AtomicU32 = AtomicU32::new(0);
        let run = RUNS.fetch_add(1, Ordering::Relaxed);
        let unique = format!("{:x}-{run:x}", std::process::id());
        // Client identifiers of up to 23 letters and digits are accepted everywhere (3.1.3.1).
        let client = |role| match &target.client_id {
            Some(id) => format!("{id}-{role}"),
            None => format!("eb{role}{:x}x{run:x}", std::process::id()),
        };
        Self {
            topic: target
                .topic
                .as_deref()
                .map_or_else(|| format!("espbench/{unique}"), ToString::to_string),
            clients: [client('p'), client('s')],
        }
    }
}

struct ExchangeMemory {
    packets: [Vec<u8>; 2],
    flights: Vec<InFlightSlot>,
    entries: Vec<MessageRecord>,
    answers: Vec<PendingAck>,
    seen: Box<[u64; SEEN]>,
}

impl ExchangeMemory {
    fn new(work: &MqttRate, pace: OfferedLoad, packet: usize) -> Self {
        let most = match pace {
            OfferedLoad::Saturate => MOST_OPEN,
            OfferedLoad::Rate(rate) => (rate * work.time.as_secs_f64()) as usize + 1,
        };
        let most = most.min(work.count.map_or(MOST_OPEN, |count| count as usize));
        Self {
            packets: [vec![0; 4096], vec![0; packet]],
            flights: vec![
                InFlightSlot::EMPTY;
                if work.qos > 0 { work.in_flight.into() } else { 0 }
            ],
            entries: vec![MessageRecord::EMPTY; most.clamp(1, MOST_OPEN)],
            answers: vec![PendingAck::default(); if work.qos > 0 { ANSWERS } else { 1 }],
            seen: Box::new([0; SEEN]),
        }
    }

    fn lend(&mut self) -> ExchangeStorage<'_> {
        let [to_publisher, to_subscriber] = &mut self.packets;
        ExchangeStorage {
            packets: [to_publisher, to_subscriber],
            flights: &mut self.flights,
            entries: &mut self.entries,
            answers: &mut self.answers,
            seen: &mut self.seen,
        }
    }
}

struct ExchangePump<'a> {
    exchange: Exchange<'a>,
    wires: [BrokerStream; 2],
    clock: Clock,
    gather: Option<Duration>,
    scratch: Scratch,
    /// Whether each connection was recorded.
    recorded: [bool; 2],
    clean_start: bool,
    cancelled: bool,
}

impl ExchangePump<'_> {
    fn run(&mut self, sink: &mut dyn Sink) -> io::Result<()> {
        for side in Side::BOTH {
            self.exchange.handle(self.clock.now(), side, MqttInput::Connected);
        }
        loop {
            let mut wake = Instant::NEVER;
            let mut done = true;
            for side in Side::BOTH {
                if let Some(until) = self.drain(side, sink) {
                    wake = wake.min(until);
                    done = false;
                }
            }
            if done {
                return Ok(());
            }
            if sink.cancelled() && !self.cancelled {
                self.cancelled = true;
                self.exchange.handle(self.clock.now(), Side::Publisher, MqttInput::Stop);
                continue;
            }
            self.wait(wake, sink)?;
        }
    }

    /// Does what `side` wants, up to one batch of bytes: whoever sends without end must not keep
    /// the other side from its turn. Answers when it wants to be asked again, `None` once it is done.
    fn drain(&mut self, side: Side, sink: &mut dyn Sink) -> Option<Instant> {
        self.flush(side);
        loop {
            let now = self.clock.now();
            let wire = &mut self.wires[side as usize];
            match self.exchange.poll(now, side, wire.room()) {
                Output::Send { len } => {
                    wire.give(len);
                    self.flush(side);
                    if !self.wires[side as usize].is_pending() {
                        return Some(now);
                    }
                }
                Output::Sample(sample) => sink.sample(sample),
                Output::WaitUntil(until) => return Some(until),
                // Nothing waits for a goodbye that the broker does not take.
                Output::Done => return None,
            }
        }
    }

    fn flush(&mut self, side: Side) {
        let wire = &mut self.wires[side as usize];
        if !wire.is_pending() {
            return;
        }
        let before = wire.taken();
        match wire.flush() {
            Ok(true) => self.exchange.handle(self.clock.now(), side, MqttInput::Written),
            Ok(false) if wire.taken() > before => {
                self.exchange.handle(self.clock.now(), side, MqttInput::Writing);
            }
            Ok(false) => {}
            Err(_) => self.close(side),
        }
    }

    fn close(&mut self, side: Side) {
        self.wires[side as usize].close();
        self.exchange.handle(self.clock.now(), side, MqttInput::Closed);
    }

    fn wait(&mut self, wake: Instant, sink: &mut dyn Sink) -> io::Result<()> {
        if let Some(gather) = self.gather {
            std::thread::sleep(gather);
        }
        let timeout = wake.since(self.clock.now()).min(LOOK);
        let interests = self.wires.each_ref().map(|wire| {
            let (read, write) = wire.interest();
            Interest { socket: wire.socket(), read, write }
        });
        let ready = ready::wait(interests, timeout)?;
        for side in Side::BOTH {
            if self.wires[side as usize].is_open() && ready[side as usize].read {
                self.read(side, sink);
            }
        }
        Ok(())
    }

    fn read(&mut self, side: Side, sink: &mut dyn Sink) {
        let Self { exchange, wires, clock, scratch, recorded, clean_start, .. } = self;
        let wire = &mut wires[side as usize];
        let now = clock.now();
        let open =
            wire.read(scratch, &mut |bytes| exchange.handle(now, side, MqttInput::Received(bytes)));
        if let Some(accepted) = exchange.accepted(side).filter(|_| !recorded[side as usize]) {
            recorded[side as usize] = true;
            sink.sample(wire::connection(side as u64, wire.opened(), accepted));
            if let (false, Some(present)) = (*clean_start, exchange.session_present(side)) {
                wire::note_session(side, present, sink);
            }
        }
        if !open {
            self.close(side);
        }
    }

    fn missing(&self) -> String {
        let Some(gaps) = self.exchange.gaps() else { return String::new() };
        let tail = self.exchange.tail();
        let count = gaps.missing() + (tail.end.saturating_sub(tail.start));
        let tail = Some(tail).filter(|tail| !tail.is_empty());
        let ranges = || gaps.ranges().chain(tail.clone());
        let all = ranges().count() <= NAMED && gaps.given_up() == 0;
        missing(ranges().take(NAMED), all, count)
    }

    fn outcome(&self, job: &MqttJob<'_>, topic: &str) -> ExchangeOutcome {
        let counters = self.exchange.counters().into_iter().filter(|(_, count)| *count > 0);
        let fault = self.exchange.fault().map(|(side, fault)| {
            if let Some(trouble) = self.wires[side as usize].trouble() {
                return (trouble.what.clone(), trouble.hint.clone());
            }
            (format!("the broker {fault} (to the {})", role(side)), hint(fault, job.work))
        });
        let (due, sent) = (self.exchange.due(), self.exchange.sent());
        let received = self.exchange.received().unwrap_or(sent);
        ExchangeOutcome {
            counters: counters.collect(),
            missing: self.missing(),
            fault: fault.or_else(|| nothing([due, sent, received], job.work, topic)),
            cancelled: self.cancelled,
        }
    }
}

/// Lists missing numbers as `17, 20 to 29 and further ranges, 40 in all`: from the ranges named,
/// whether they are all, and how many numbers are missing.
pub(super) fn missing(named: impl Iterator<Item = Range<u64>>, all: bool, count: u64) -> String {
    let mut words: Vec<String> = named
        .map(|range| match range.end - range.start {
            1 => range.start.to_string(),
            _ => format!("{} to {}", range.start, range.end - 1),
        })
        .collect();
    if !all {
        words.push(format!("and further ranges, {count} in all"));
    }
    words.join(", ")
}

/// Names a side.
pub(super) const fn role(side: Side) -> &'static str {
    match side {
        Side::Publisher => "publisher",
        Side::Subscriber => "subscriber",
    }
}

/// Explains, where there is no fault, why nothing was measured: from how many messages came due,
/// were sent and were received.
pub(super) fn nothing(counts: [u64; 3], work: &MqttRate, topic: &str) -> Option<(String, String)> {
    let time = print_duration(work.time);
    match counts {
        [0, ..] => Some((
            format!("no message came due within {time}"),
            "give it more --time, or a higher --rate".into(),
        )),
        [due, 0, _] => Some((
            format!("of {due} messages none was sent within {time}"),
            "give it more --time, or use a smaller --size".into(),
        )),
        [_, sent, 0] => Some((
            format!("the broker passed on none of {sent} messages"),
            format!(
                "check its access rules for `{topic}`, its limit of a message's size, and its log"
            ),
        )),
        _ => None,
    }
}

/// Payloads above this may be more than a broker's limit allows; below it hardly any has one.
const LARGE: u32 = 4096;

/// Returns the advice for a fault.
pub(super) fn hint(fault: MqttFault, work: &MqttRate) -> String {
    let large = work.mode != MqttMode::Listen && work.size > LARGE;
    match fault {
        MqttFault::Refused { code: 1 | 0x84, .. } => "use the other --mqtt-version",
        MqttFault::Refused { code: 4 | 5 | 0x86 | 0x87, .. } => "give --username and --password",
        MqttFault::Refused { .. } => "look at the broker's log",
        MqttFault::SubscriptionRefused { .. } => {
            "check the broker's access rules, or give a --topic"
        }
        MqttFault::QosLowered { .. } => "ask for that QoS, or configure the broker",
        MqttFault::TooLarge { .. } => "use a smaller --size",
        MqttFault::Malformed(_) => "check that an MQTT broker listens on that port",
        MqttFault::ServerDisconnect { .. } => "look at the broker's log",
        // Version 3.1.1 has neither a receive maximum nor a maximum packet size: mosquitto 2.0 closes
        // the connection beyond its max_inflight_messages (20) at QoS 2.
        MqttFault::ConnectionLost if large => {
            "look at the broker's log, and at its limit of a packet's size; or use a smaller --size"
        }
        MqttFault::ConnectionLost if work.qos == 2 => {
            "look at the broker's log; or use a smaller --in-flight"
        }
        MqttFault::ConnectionLost => "look at the broker's log",
        MqttFault::NotAccepted => {
            "look at the broker's log; if that port speaks TLS, write mqtts://, if WebSocket, ws://"
        }
        MqttFault::Foreign(Foreign::Tls) => "that port speaks TLS: write mqtts:// (or wss://)",
        MqttFault::Foreign(Foreign::Http) => {
            "that port speaks HTTP: write ws:// if an MQTT broker is behind it"
        }
        MqttFault::Silent { .. } => "check that an MQTT broker listens there, and its load",
        MqttFault::Stalled => "the broker hangs, or the network is down",
    }
    .into()
}

//! Drives an exchange against the scripted broker, on virtual time.

use crate::broker::Broker;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::Output;
use espbench_proto::node::mqtt::publisher::InFlightSlot;
use espbench_proto::node::mqtt::subscriber::{PendingAck, SEEN};
use espbench_proto::node::mqtt::tracker::MessageRecord;
use espbench_proto::node::mqtt::{
    Exchange, ExchangeStorage, MqttInput, MqttSettings, OfferedLoad, Side,
};
use espbench_proto::wire::mqtt::Version;

pub const MS: Duration = Duration::from_millis(1);

pub fn settings(qos: u8) -> MqttSettings<'static> {
    MqttSettings {
        version: Version::V5,
        qos,
        size: 40,
        topic: "t",
        client_ids: ["p", "s"],
        username: None,
        password: None,
        pace: OfferedLoad::Rate(100.0),
        in_flight: 10,
        queue: 20,
        time: Duration::from_millis(200),
        count: None,
        drain: Duration::from_secs(2),
        patience: Duration::from_secs(10),
        resume: false,
        sender: 0,
        retain: false,
        clean_start: true,
        session_expiry: None,
        keep_alive: espbench_proto::node::mqtt::KEEP_ALIVE,
        link: Link(3),
    }
}

/// Returns memory for one exchange, leaked: a test lends it for ever.
pub fn exchange(settings: MqttSettings<'static>, entries: usize) -> Exchange<'static> {
    fn lend<T: Clone>(value: T, len: usize) -> &'static mut [T] {
        Vec::leak(vec![value; len])
    }
    let storage = ExchangeStorage {
        packets: [lend(0, 256), lend(0, 256)],
        flights: lend(InFlightSlot::EMPTY, 64),
        entries: lend(MessageRecord::EMPTY, entries),
        answers: lend(PendingAck::default(), 256),
        seen: Box::leak(Box::new([0; SEEN])),
    };
    Exchange::new(settings, storage)
}

pub struct Rig {
    pub exchange: Exchange<'static>,
    pub broker: Broker,
    pub now: Instant,
    /// How long the broker's packets are on their way.
    pub delay: Duration,
    pub samples: Vec<Sample>,
    pub done: bool,
    /// The system takes bytes.
    pub writable: bool,
    wake: Instant,
}

impl Rig {
    pub fn new(settings: MqttSettings<'static>) -> Self {
        Self::with_entries(settings, 4096)
    }

    pub fn with_entries(settings: MqttSettings<'static>, entries: usize) -> Self {
        let mut rig = Self {
            exchange: exchange(settings, entries),
            broker: Broker::new(settings.version, settings.qos),
            now: Instant::from_nanos(5_000_000),
            delay: MS,
            samples: Vec::new(),
            done: false,
            writable: true,
            wake: Instant::NEVER,
        };
        for side in Side::BOTH {
            rig.exchange.handle(rig.now, side, MqttInput::Connected);
        }
        rig
    }

    /// Polls both sides until neither wants anything more.
    pub fn drain(&mut self) {
        self.wake = Instant::NEVER;
        let mut done = 0;
        for side in Side::BOTH {
            let mut buf = [0; 512];
            for polls in 0.. {
                assert!(polls < 100_000, "a machine must come to an end");
                let room = if self.writable { &mut buf[..] } else { &mut [][..] };
                match self.exchange.poll(self.now, side, room) {
                    Output::Send { len } => {
                        self.broker.take(side, &buf[..len]);
                        self.exchange.handle(self.now, side, MqttInput::Written);
                    }
                    Output::Sample(sample) => self.samples.push(sample),
                    Output::WaitUntil(until) => {
                        self.wake = self.wake.min(until);
                        break;
                    }
                    Output::Done => {
                        done += 1;
                        break;
                    }
                }
            }
        }
        self.done = done == 2;
    }

    /// Takes one turn: bytes from the broker arrive, or time moves on to where something is wanted.
    /// Returns false once nothing is left to happen before `until`.
    pub fn turn(&mut self, until: Instant) -> bool {
        self.drain();
        if self.done || self.now >= until {
            return false;
        }
        let coming = Side::BOTH.map(|side| std::mem::take(&mut self.broker.to[side as usize]));
        if coming.iter().any(|bytes| !bytes.is_empty()) {
            self.now = self.now + self.delay;
            for side in Side::BOTH {
                let bytes = &coming[side as usize];
                if !bytes.is_empty() {
                    self.exchange.handle(self.now, side, MqttInput::Received(bytes));
                }
            }
            return true;
        }
        assert!(self.wake > self.now, "a machine must not want to be asked again at once");
        self.now = self.wake.min(until);
        true
    }

    pub fn run_for(&mut self, time: Duration) {
        let until = self.now + time;
        while self.turn(until) {}
    }

    /// Runs the exchange to its end.
    pub fn run(&mut self) {
        self.run_for(Duration::from_secs(600));
        assert!(self.done, "the exchange ends");
    }

    pub fn probes(&self) -> Vec<Probe> {
        let probe = |sample: &Sample| match sample {
            Sample::Probe(probe) => Some(*probe),
            Sample::Interval(_) => None,
        };
        self.samples.iter().filter_map(probe).collect()
    }

    pub fn lost(&self) -> Vec<(u64, Cause)> {
        let lost = |probe: &Probe| match probe.fate {
            Fate::Lost(cause) => Some((probe.seq, cause)),
            _ => None,
        };
        self.probes().iter().filter_map(lost).collect()
    }

    pub fn total(&self, observer: Observer) -> Interval {
        let total = |sample: &Sample| match sample {
            Sample::Interval(i) if i.total && i.observer == observer => Some(*i),
            _ => None,
        };
        self.samples.iter().find_map(total).expect("a total")
    }
}

//! A small medium for tests: engines on virtual time, each with a driver that takes one
//! millisecond a frame.

use crate::component::{DataType, FrameConfig, Header};
use crate::node::board::BareBoard;
use crate::node::engine::{Action, Delivery, Engine, FRAME_MAX, Next};
use crate::node::task::{Cx, NodeSettings, SendRequest, Shared, TransmitOutcome};
use crate::node::tick::Tick;
use crate::node::{ReceivedFrame, board};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use std::boxed::Box;
use std::collections::VecDeque;
use std::string::String;
use std::vec::Vec;

/// Air time of every frame.
pub(crate) const AIR_TIME: Duration = Duration::from_millis(1);

/// Returns the address of station `n`; those of the reference's vectors are 0 and 1.
pub(crate) fn mac(n: usize) -> Mac {
    Mac([0x24, 0x0A, 0xC4, 0, 0, n as u8 + 1])
}

/// Returns the instant `ms` milliseconds after the start.
pub(crate) fn ms(ms: u64) -> Instant {
    Instant::ZERO + Duration::from_millis(ms)
}

/// Returns settings with a tick of `hz` hertz.
pub(crate) fn settings(hz: u32) -> NodeSettings {
    NodeSettings { tick: Tick::from_hz(hz), ..NodeSettings::default() }
}

/// Returns a transmission of DATA that waits for ever.
pub(crate) fn outgoing(dest: Mac, config: FrameConfig, len: usize) -> SendRequest {
    let data_type = DataType::Data;
    SendRequest { data_type, dest, config, magic: 0x1234, len, wait: Duration::MAX }
}

/// A frame on the air.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Aired {
    /// Time at which the driver was handed it.
    pub(crate) at: Instant,
    /// Number of the sending station.
    pub(crate) from: usize,
    /// Receiver on the air.
    pub(crate) to: Mac,
    /// Channel of the frame.
    pub(crate) channel: u8,
    /// ESP-NOW data of the frame.
    pub(crate) data: Vec<u8>,
}

impl Aired {
    /// Parses the header.
    pub(crate) fn header(&self) -> Header {
        Header::parse(&self.data).expect("a header").0
    }
}

/// A node with an engine and no services.
pub(crate) struct TestStation {
    pub(crate) engine: Engine,
    pub(crate) shared: Shared,
    pub(crate) board: BareBoard,
    /// Payloads that its services were handed.
    pub(crate) inbox: Vec<(Delivery, Vec<u8>)>,
    /// Outcomes of its transmissions, with their times.
    pub(crate) outcomes: Vec<(Instant, TransmitOutcome)>,
    /// Number of frames that the driver takes before it refuses.
    pub(crate) room: usize,
    /// Whether the driver never answers.
    pub(crate) mute: bool,
    /// Whether the main task does not run.
    pub(crate) stuck: bool,
    driver: VecDeque<(Instant, Aired)>,
}

impl TestStation {
    /// Creates a station that receives DATA.
    pub(crate) fn new(n: usize, settings: NodeSettings) -> Self {
        let mut shared = Shared::new(mac(n), settings);
        shared.air.listen(DataType::Data, true);
        Self {
            engine: Engine::new(),
            shared,
            board: BareBoard(n as u64),
            inbox: Vec::new(),
            outcomes: Vec::new(),
            room: 32,
            mute: false,
            stuck: false,
            driver: VecDeque::new(),
        }
    }

    /// Returns the engine, and its context.
    pub(crate) fn parts(&mut self, now: Instant) -> (&mut Engine, Cx<'_>) {
        let board: &mut dyn board::Board = &mut self.board;
        (&mut self.engine, Cx { now, board, shared: &mut self.shared })
    }

    /// Starts a transmission of these bytes.
    pub(crate) fn send(&mut self, now: Instant, out: &SendRequest, payload: &[u8]) {
        let (engine, mut cx) = self.parts(now);
        engine.payload_mut(&cx)[..payload.len()].copy_from_slice(payload);
        assert!(engine.start(&mut cx, &SendRequest { len: payload.len(), ..*out }));
    }

    /// Takes the text printed since the last call.
    pub(crate) fn printed(&mut self) -> String {
        let mut buf = [0; 4096];
        let len = self.shared.print.take_output(&mut buf);
        String::from_utf8_lossy(&buf[..len]).into_owned()
    }

    /// Runs the engine until it waits; logs the frames that it sends and returns whether it did
    /// anything.
    fn run(&mut self, now: Instant, n: usize, log: &mut Vec<Aired>) -> bool {
        let mut buf = [0; FRAME_MAX];
        let mut busy = false;
        loop {
            let (engine, mut cx) = self.parts(now);
            if let Some(action) = engine.poll(&mut cx, &mut buf) {
                busy = true;
                if let Action::Transmit { len, to } = action {
                    self.transmit(now, n, to, &buf[..len], log);
                }
                continue;
            }
            if let Some(outcome) = engine.outcome() {
                self.outcomes.push((now, outcome));
                return true;
            }
            if self.stuck {
                return busy;
            }
            let (engine, mut cx) = self.parts(now);
            match engine.next(&mut cx, &mut buf) {
                Some(Next::Deliver(delivery)) => {
                    let data = delivery.with(&buf).data.to_vec();
                    self.inbox.push((delivery, data));
                }
                Some(Next::Relay) if engine.relay(&mut cx) => {}
                _ => return busy,
            }
            busy = true;
        }
    }

    fn transmit(&mut self, now: Instant, from: usize, to: Mac, data: &[u8], log: &mut Vec<Aired>) {
        if self.driver.len() >= self.room {
            self.engine.refused();
            return;
        }
        let channel = self.shared.air.channel;
        let aired = Aired { at: now, from, to, channel, data: data.to_vec() };
        log.push(aired.clone());
        let begin = self.driver.back().map_or(now, |(end, _)| now.max(*end));
        if !self.mute {
            self.driver.push_back((begin + AIR_TIME, aired));
        }
    }
}

/// Rule for reception: the signal in dBm at which a station hears a frame, if it does. It applies
/// on the same channel only.
pub(crate) type Hears = Box<dyn FnMut(&Aired, usize) -> Option<i8>>;

/// Stations that hear each other.
pub(crate) struct TestMedium {
    pub(crate) now: Instant,
    pub(crate) stations: Vec<TestStation>,
    /// All frames that were sent.
    pub(crate) log: Vec<Aired>,
    /// Rule for reception; at first every station hears every frame, at -40 dBm.
    pub(crate) hears: Hears,
}

impl TestMedium {
    /// Creates `count` stations with equal settings.
    pub(crate) fn new(count: usize, settings: &NodeSettings) -> Self {
        let stations = (0..count).map(|n| TestStation::new(n, settings.clone())).collect();
        let hears = Box::new(|_: &Aired, _| Some(-40));
        Self { now: Instant::ZERO, stations, log: Vec::new(), hears }
    }

    /// Starts a transmission of station `n`.
    pub(crate) fn send(&mut self, n: usize, out: &SendRequest, payload: &[u8]) {
        self.stations[n].send(self.now, out, payload);
    }

    /// Runs until nothing happens before `until`.
    pub(crate) fn run_until(&mut self, until: Instant) {
        loop {
            for n in 0..self.stations.len() {
                while self.stations[n].run(self.now, n, &mut self.log) {}
            }
            let Some(next) = self.next_event().filter(|next| *next <= until) else { break };
            assert!(next >= self.now, "an engine wants to be polled again at once");
            self.now = next;
            for n in 0..self.stations.len() {
                self.land(n);
            }
        }
        self.now = until;
        for station in &self.stations {
            let counters = station.engine.counters();
            assert_eq!(counters.fates(), counters.received, "{counters:?}");
        }
    }

    fn next_event(&self) -> Option<Instant> {
        let wakes = self.stations.iter().filter_map(|station| station.engine.wake());
        let ends = self.stations.iter().filter_map(|s| s.driver.front().map(|(end, _)| *end));
        wakes.chain(ends).min()
    }

    /// Delivers the frames of station `n` that have left the air.
    fn land(&mut self, n: usize) {
        while self.stations[n].driver.front().is_some_and(|(end, _)| *end <= self.now) {
            let Some((_, aired)) = self.stations[n].driver.pop_front() else { return };
            let mut delivered = aired.to.is_broadcast();
            for other in (0..self.stations.len()).filter(|other| *other != n) {
                let station = &mut self.stations[other];
                let wanted = aired.to.is_broadcast() || aired.to == mac(other);
                if !wanted || station.shared.air.channel != aired.channel {
                    continue;
                }
                let Some(rssi) = (self.hears)(&aired, other) else { continue };
                delivered = true;
                let frame = ReceivedFrame {
                    data: &aired.data,
                    transmitter: mac(n),
                    receiver: aired.to,
                    rssi,
                    channel: aired.channel,
                };
                let (engine, mut cx) = station.parts(self.now);
                engine.receive(&mut cx, frame);
            }
            let (engine, mut cx) = self.stations[n].parts(self.now);
            engine.sent(&mut cx, delivered);
        }
    }

    /// Returns the frames of a type that station `n` sent.
    pub(crate) fn sent(&self, n: usize, data_type: DataType) -> Vec<&Aired> {
        let wanted = |aired: &&Aired| aired.from == n && aired.header().data_type == data_type;
        self.log.iter().filter(wanted).collect()
    }
}

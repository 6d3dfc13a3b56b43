//! Whole nodes on one medium, on virtual time.
//!
//! | module | contents |
//! |---|---|
//! | `calm` | an answer by a short cut equals the answer without it |
//! | `commands` | every command of the console, and consoles that wait |
//! | `data` | the application's own data, and the order in which parts get the lock |
//! | `time` | time of the processor, ticks, and the values that survive a reset |

mod calm;
mod commands;
mod data;
mod time;

use super::{Setup, SmallNode};
use crate::component::ota::AppDescription;
use crate::component::{DataType, FrameConfig, Header};
use crate::node::board::{BareBoard, Board, CpuWork, NvsKey, Slot};
use crate::node::ota::build::ImageBuilder;
use crate::node::task::{EspNowEvent, NodeSettings, SendRequest};
use crate::node::tests::medium::{mac, settings};
use crate::node::{Input, NodeOutput, ReceivedFrame};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use std::boxed::Box;
use std::collections::{HashMap, VecDeque};
use std::string::String;
use std::vec;
use std::vec::Vec;

/// Air time of every frame.
const AIR_TIME: Duration = Duration::from_micros(800);

/// A board in memory.
struct Shelf {
    stored: HashMap<NvsKey, Vec<u8>>,
    slots: [Vec<u8>; 2],
    next: Slot,
    chance: BareBoard,
    cost: fn(CpuWork) -> Duration,
}

impl Shelf {
    fn new(seed: usize) -> Self {
        Self {
            stored: HashMap::new(),
            slots: [vec![], vec![]],
            next: Slot::Running,
            chance: BareBoard(seed as u64),
            cost: |_| Duration::ZERO,
        }
    }
}

impl Board for Shelf {
    fn random(&mut self, out: &mut [u8]) {
        self.chance.random(out);
    }
    fn cost_ns(&mut self, work: CpuWork) -> u64 {
        (self.cost)(work).as_nanos() as u64
    }
    fn slot_size(&self, _: Slot) -> u32 {
        0x10_0000
    }
    fn image_len(&self, slot: Slot) -> u32 {
        self.slots[slot as usize].len() as u32
    }
    fn read(&mut self, slot: Slot, offset: u32, out: &mut [u8]) -> bool {
        let from = self.slots[slot as usize].get(offset as usize..).unwrap_or_default();
        let len = from.len().min(out.len());
        out[..len].copy_from_slice(&from[..len]);
        true
    }
    fn erase(&mut self, len: u32) -> bool {
        self.slots[1] = vec![0xFF; len as usize];
        true
    }
    fn write(&mut self, offset: u32, data: &[u8]) -> bool {
        let place = self.slots[1].get_mut(offset as usize..offset as usize + data.len());
        place.map(|place| place.copy_from_slice(data)).is_some()
    }
    fn boot(&mut self, slot: Slot) -> bool {
        self.next = slot;
        true
    }
    fn load(&mut self, key: NvsKey, out: &mut [u8]) -> Option<usize> {
        let value = self.stored.get(&key)?;
        let len = value.len().min(out.len());
        out[..len].copy_from_slice(&value[..len]);
        Some(len)
    }
    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        self.stored.insert(key, value.to_vec());
        true
    }
    fn forget(&mut self, key: NvsKey) {
        self.stored.remove(&key);
    }
}

struct Place {
    node: Box<SmallNode>,
    board: Shelf,
    channel: u8,
    driver: VecDeque<(Instant, u8, Mac, Vec<u8>)>,
    wake: Option<Instant>,
    printed: String,
    events: Vec<EspNowEvent>,
    data: Vec<(Mac, Vec<u8>)>,
    samples: usize,
}

/// Nodes of a test, and the frames that were sent.
struct World {
    now: Instant,
    places: Vec<Place>,
    settings: Vec<NodeSettings>,
    setup: Setup,
    aired: Vec<(Instant, usize, Header)>,
}

impl World {
    /// Creates as many nodes as settings.
    fn new(settings: Vec<NodeSettings>) -> Self {
        Self::with(settings, Setup::default(), |_, _| {})
    }

    /// Creates as many nodes as settings, with `board` to prepare their boards before the start.
    fn with(
        settings: Vec<NodeSettings>,
        setup: Setup,
        mut board: impl FnMut(usize, &mut Shelf),
    ) -> Self {
        let places = (0..settings.len()).map(|n| {
            let mut shelf = Shelf::new(n);
            board(n, &mut shelf);
            start(n, shelf, &settings[n], &setup, Instant::ZERO)
        });
        let places = places.collect();
        let mut world = Self { now: Instant::ZERO, places, settings, setup, aired: vec![] };
        world.run(10);
        world
    }

    /// Resets a node: all but the stored values is lost.
    fn restart(&mut self, n: usize) {
        let board = core::mem::replace(&mut self.places[n].board, Shelf::new(0));
        self.places[n] = start(n, board, &self.settings[n], &self.setup, self.now);
        self.run(1);
    }

    fn handle(&mut self, n: usize, input: Input<'_>) {
        let place = &mut self.places[n];
        place.node.handle(self.now, &mut place.board, input);
        place.wake = Some(self.now);
    }

    /// Sends from the application of a node; returns whether the lock was free.
    fn send(&mut self, n: usize, dest: Mac, config: FrameConfig, payload: &[u8]) -> bool {
        let (data_type, wait) = (DataType::Data, Duration::MAX);
        let out = SendRequest { data_type, dest, config, magic: 0, len: 0, wait };
        let place = &mut self.places[n];
        let taken = place.node.send(self.now, &mut place.board, &out, payload).is_ok();
        place.wake = Some(self.now);
        taken
    }

    /// Types a line, lets that many milliseconds pass, and returns the output.
    fn types(&mut self, n: usize, line: &str, ms: u64) -> String {
        self.places[n].printed.clear();
        // The R answers the editor's question for the cursor.
        for bytes in [b"R", line.as_bytes(), b"\r"] {
            self.handle(n, Input::Console(bytes));
        }
        self.run(ms);
        core::mem::take(&mut self.places[n].printed)
    }

    fn run(&mut self, ms: u64) {
        let end = self.now + Duration::from_millis(ms);
        for _ in 0..3_000_000 {
            (0..self.places.len()).for_each(|n| self.drain(n));
            let wakes = self.places.iter().filter_map(|place| place.wake);
            let done = self.places.iter().filter_map(|place| Some(place.driver.front()?.0));
            match wakes.chain(done).min() {
                Some(at) if at <= end => self.now = self.now.max(at),
                _ => return self.now = end,
            }
            (0..self.places.len()).for_each(|n| self.land(n));
        }
        panic!("time stands still at {:?}", self.now);
    }

    /// Polls a node whose time has come, until it waits, by the rule for a driver.
    fn drain(&mut self, n: usize) {
        let (now, place) = (self.now, &mut self.places[n]);
        if place.wake.is_some_and(|at| at > now) {
            return;
        }
        let (mut buf, mut yields) = ([0; 1490], 0);
        for _ in 0..20_000 {
            match place.node.poll(now, &mut place.board, &mut buf) {
                NodeOutput::Transmit { len, to } => {
                    let begin = place.driver.back().map_or(now, |(end, ..)| *end);
                    let (header, _) = Header::parse(&buf[..len]).expect("a header");
                    self.aired.push((now, n, header));
                    let frame = buf[..len].to_vec();
                    place.driver.push_back((begin + AIR_TIME, place.channel, to, frame));
                }
                NodeOutput::Tune(channel) => place.channel = channel,
                NodeOutput::Print { len } => {
                    place.printed.push_str(&String::from_utf8_lossy(&buf[..len]));
                }
                NodeOutput::Data { len, from, .. } => place.data.push((from, buf[..len].to_vec())),
                NodeOutput::Event(event) => place.events.push(event),
                NodeOutput::Sample(_) => place.samples += 1,
                NodeOutput::WaitUntil(at) if at <= now => {
                    assert!(at == now, "no time travel");
                    yields += 1;
                    assert!(yields < 1000, "it never waits");
                }
                NodeOutput::WaitUntil(at) => return place.wake = Some(at),
                NodeOutput::Idle => return place.wake = None,
            }
        }
        panic!("it wants too much");
    }

    /// Ends the transmissions of a node that are over.
    fn land(&mut self, n: usize) {
        while self.places[n].driver.front().is_some_and(|(at, ..)| *at <= self.now) {
            let Some((_, channel, to, data)) = self.places[n].driver.pop_front() else { return };
            let hears = |m: usize, place: &Place| {
                m != n && place.channel == channel && (to.is_broadcast() || to == mac(m))
            };
            let heard: Vec<usize> =
                (0..self.places.len()).filter(|&m| hears(m, &self.places[m])).collect();
            let delivered = to.is_broadcast() || !heard.is_empty();
            for m in heard {
                let transmitter = mac(n);
                let frame =
                    ReceivedFrame { data: &data, transmitter, receiver: to, rssi: -20, channel };
                self.handle(m, Input::Frame(frame));
            }
            self.handle(n, Input::Sent { delivered });
        }
    }

    /// Returns the frames of a type that a node has handed to its driver.
    fn count(&self, n: usize, data_type: DataType) -> usize {
        self.aired
            .iter()
            .filter(|(_, from, head)| *from == n && head.data_type == data_type)
            .count()
    }
}

fn start(
    n: usize,
    mut board: Shelf,
    settings: &NodeSettings,
    setup: &Setup,
    now: Instant,
) -> Place {
    let node = Box::new(SmallNode::new(now, &mut board, mac(n), settings.clone(), setup));
    Place {
        node,
        board,
        channel: 1,
        driver: VecDeque::new(),
        wake: Some(now),
        printed: String::new(),
        events: vec![],
        data: vec![],
        samples: 0,
    }
}

/// Returns the settings of a node that encrypts.
fn sealed(hz: u32) -> NodeSettings {
    let mut settings = settings(hz);
    settings.encrypt.enabled = true;
    settings
}

/// Stores one key on every board.
fn with_key(_: usize, board: &mut Shelf) {
    board.save(NvsKey::EncryptKey, &[7; 32]);
    board.save(NvsKey::DecryptKey, &[7; 32]);
}

fn image(len: u32) -> Vec<u8> {
    let mut bytes = vec![];
    let app = AppDescription::new("1", "espbench", "Jan  1 2026", "00:00:00", "v5.1");
    let build = ImageBuilder { len, chip: 5, app, seed: 1 };
    build.write(&mut |part| {
        bytes.extend_from_slice(part);
        true
    });
    bytes
}

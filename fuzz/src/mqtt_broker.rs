//! The embedded MQTT broker: any bytes, and any sequence of operations of several clients.

#[allow(dead_code, reason = "compiled by itself, without the rest of its crate")]
#[path = "../../crates/espbench/src/respond/mqtt/broker/mod.rs"]
mod machine;

use espbench_model::time::{Duration, Instant};
use espbench_proto::wire::mqtt::{RawPacket, kind};
use machine::limits::BrokerLimits;
use machine::{Broker, account::Account};
use std::io::IoSlice;
use std::net::SocketAddr;
use std::rc::Rc;

/// Connections at once.
const CLIENTS: usize = 6;

/// So small that every limit is met.
const LIMITS: BrokerLimits = BrokerLimits {
    memory: 64_000,
    retained: 3_000,
    queues: 8_000,
    queue: 3_000,
    packet: 4_000,
    connections: CLIENTS - 1,
    sessions: 5,
    subscriptions: 12,
    patience: Duration::from_secs(10),
    backpressure: Duration::from_secs(2),
};

struct World {
    broker: Broker,
    memory: Rc<Account>,
    now: Instant,
    clients: [Option<u32>; CLIENTS],
    /// Bytes of each client that are not a whole packet yet.
    partial: [Vec<u8>; CLIENTS],
}

impl World {
    fn new() -> Self {
        let broker = Broker::new(LIMITS);
        let memory = Rc::clone(broker.memory());
        let partial = [const { Vec::new() }; CLIENTS];
        Self { broker, memory, now: Instant::ZERO, clients: [None; CLIENTS], partial }
    }

    fn open(&mut self, nth: usize) {
        if self.clients[nth].is_none() {
            let peer = SocketAddr::from(([127, 0, 0, 1], nth as u16));
            self.clients[nth] = self.broker.open(self.now, peer);
            self.partial[nth].clear();
        }
    }

    fn send(&mut self, nth: usize, bytes: &[u8]) {
        if let Some(id) = self.clients[nth] {
            self.broker.receive(self.now, id, bytes);
        }
    }

    fn cut(&mut self, nth: usize) {
        if let Some(id) = self.clients[nth].take() {
            self.broker.closed(self.now, id);
        }
    }

    /// Takes up to `most` bytes that wait for a client, and returns the packets that are whole.
    fn read(&mut self, nth: usize, most: usize) -> Vec<(u8, Vec<u8>)> {
        let Some(id) = self.clients[nth] else { return Vec::new() };
        let mut slices = [IoSlice::new(&[]); 5];
        let used = self.broker.output(id, &mut slices);
        let mut bytes: Vec<u8> = slices[..used].iter().flat_map(|s| s.to_vec()).collect();
        bytes.truncate(most);
        self.broker.written(self.now, id, bytes.len());
        let partial = &mut self.partial[nth];
        partial.extend_from_slice(&bytes);
        let (mut packets, mut at) = (Vec::new(), 0);
        while let Some((frame, len)) = RawPacket::cut(&partial[at..]).expect("a length") {
            packets.push((frame.first, frame.body.to_vec()));
            at += len;
        }
        partial.drain(..at);
        packets
    }

    /// Does the driver's work after any operation.
    fn settle(&mut self) {
        let next = self.broker.tick(self.now);
        assert!(next >= self.now, "a time that is past");
        let mut news = Vec::new();
        self.broker.news(&mut news);
        for nth in 0..CLIENTS {
            if self.clients[nth].is_some_and(|id| self.broker.is_done(id)) {
                self.cut(nth);
            }
        }
        while self.broker.note().is_some() {}
        assert!(self.memory.used() <= LIMITS.memory, "{} bytes", self.memory.used());
    }

    /// Ends all; nothing is left in the accounts.
    fn end(mut self) {
        self.broker.shut_down(self.now);
        for nth in 0..CLIENTS {
            while !self.read(nth, usize::MAX).is_empty() {}
            self.cut(nth);
        }
        drop(self.broker);
        assert_eq!(self.memory.used(), 0, "bytes are charged for nothing");
    }
}

/// Delivers bytes from one client, in pieces as long as the first byte says, after a CONNECT of the
/// protocol that the second says: the pieces make no difference to the answer.
pub fn mqtt_broker_bytes(data: &[u8]) {
    let [step, kind, bytes @ ..] = data else { return };
    let answers = |step: usize| {
        let mut world = World::new();
        world.open(0);
        match kind % 4 {
            0 => {}
            1 => world.send(0, b"\x10\x0f\0\x06MQIsdp\x03\x02\0\0\0\x01a"),
            2 => world.send(0, b"\x10\x0d\0\x04MQTT\x04\x02\0\0\0\x01a"),
            _ => world.send(0, b"\x10\x13\0\x04MQTT\x05\x00\0\0\x05\x11\0\0\0\x09\0\x01a"),
        }
        let mut answers = Vec::new();
        for piece in bytes.chunks(step.max(1)) {
            world.send(0, piece);
            answers.extend(world.read(0, usize::MAX));
        }
        loop {
            let more = world.read(0, usize::MAX);
            if more.is_empty() {
                break;
            }
            answers.extend(more);
        }
        world.settle();
        world.end();
        answers
    };
    // Limits of memory depend on how much comes at once.
    if bytes.len() < 1000 {
        assert_eq!(answers(usize::from(*step) + 1), answers(bytes.len()));
    } else {
        answers(usize::from(*step) + 1);
    }
}

const FILTERS: [&str; 8] = ["a", "a/b", "a/+", "#", "+/b", "$share/g/a/#", "a/#/b", "$share/h/+"];
const TOPICS: [&str; 4] = ["a", "a/b", "b", "$a"];

/// Operations of several clients: a byte for the operation and its number, one for the client.
pub fn mqtt_broker(data: &[u8]) {
    let mut world = World::new();
    let mut rest = data;
    while let [op, who, more @ ..] = rest {
        let (nth, n) = (usize::from(who % 8) % CLIENTS, op >> 4);
        let taken = step(&mut world, nth, op & 15, n, who >> 3, more);
        rest = &more[taken..];
        world.settle();
    }
    world.end();
}

/// Carries out one operation; returns how many of the bytes after it were used.
fn step(world: &mut World, nth: usize, op: u8, n: u8, m: u8, more: &[u8]) -> usize {
    // Clients with an even number speak version 5.
    let is_5 = nth.is_multiple_of(2);
    match op {
        0 | 1 => {
            world.open(nth);
            world.send(nth, &connect(is_5, n, m));
        }
        2 | 3 => {
            let filter = FILTERS[usize::from(n % 8)];
            let options = if is_5 { m & 0x1f } else { m & 3 };
            let list: &[u8] = match (is_5, n & 8) {
                (false, _) => &[],
                (true, 0) => &[0],
                (true, _) => &[2, 0x0b, 7],
            };
            let body = [&[0, 1], list, &string(filter), &[options]].concat();
            world.send(nth, &packet(0x82, &body));
        }
        4..=6 => world.send(nth, &publish(is_5, n, m)),
        7 | 8 => answer(world, nth, usize::from(n)),
        9 => {
            world.read(nth, usize::from(n) * 7);
        }
        10 => world.cut(nth),
        11 => world.send(nth, &[0xe0, 0]),
        12 => world.now = world.now + Duration::from_millis(u64::from(n) * 400 + u64::from(m)),
        13 => {
            let list: &[u8] = if is_5 { &[0] } else { &[] };
            let body = [&[0, 1], list, &string(FILTERS[usize::from(n % 8)])].concat();
            world.send(nth, &packet(0xa2, &body));
        }
        14 => world.send(nth, &[[0x40, 0x50, 0x62, 0x70][usize::from(n % 4)], 2, 0, m]),
        _ => {
            let len = usize::from(n).min(more.len());
            world.send(nth, &more[..len]);
            return len;
        }
    }
    0
}

/// Reads all, and acknowledges up to `most` packets as a client should.
fn answer(world: &mut World, nth: usize, mut most: usize) {
    for (first, body) in world.read(nth, usize::MAX) {
        let (kind, qos) = (first >> 4, first >> 1 & 3);
        let at = match kind {
            kind::PUBLISH => 2 + usize::from(u16::from_be_bytes([body[0], body[1]])),
            _ => 0,
        };
        let next = match (kind, qos) {
            (kind::PUBLISH, 1) => 0x40,
            (kind::PUBLISH, 2) => 0x50,
            (kind::PUBREC, _) => 0x62,
            (kind::PUBREL, _) => 0x70,
            _ => continue,
        };
        if most > 0 {
            most -= 1;
            world.send(nth, &[next, 2, body[at], body[at + 1]]);
        }
    }
}

fn connect(is_5: bool, n: u8, m: u8) -> Vec<u8> {
    let will = m & 1 != 0;
    let flags = (n & 1) << 1 | if will { 4 | (m & 2) << 2 | (m & 4) << 3 } else { 0 };
    // Few names, so that they take over from each other.
    let name = ["s", "t", "u", "v"][usize::from(n >> 1 & 3)];
    let mut body = b"\0\x04MQTT".to_vec();
    body.extend([if is_5 { 5 } else { 4 }, flags, 0, (m >> 3) * 2]);
    if is_5 {
        body.extend([8, 0x11, 0, 0, 0, n >> 3 << 3, 0x21, 0, (m & 3) + 1]);
    }
    body.extend(string(name));
    if will {
        if is_5 {
            body.extend([5, 0x18, 0, 0, 0, m & 4]);
        }
        body.extend([string("a/b"), string("gone")].concat());
    }
    packet(0x10, &body)
}

fn publish(is_5: bool, n: u8, m: u8) -> Vec<u8> {
    let qos = n & 3;
    let topic = TOPICS[usize::from(n >> 2)];
    let mut body = string(topic);
    if qos > 0 {
        body.extend([0, m + 1]);
    }
    if is_5 {
        match m & 3 {
            0 => body.push(0),
            1 => body.extend([5, 0x02, 0, 0, 0, m]),
            2 => body.extend([3, 0x23, 0, 1]),
            _ => body.extend([7, 0x26, 0, 1, b'k', 0, 1, b'v']),
        }
    }
    let len = [0, 1, 40, 600][usize::from(m >> 2 & 3)];
    body.resize(body.len() + len, n);
    packet(0x30 | qos << 1 | m >> 4 & 1, &body)
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u16).to_be_bytes(), text.as_bytes()].concat()
}

fn packet(first: u8, body: &[u8]) -> Vec<u8> {
    let len = body.len();
    if len < 128 {
        [&[first, len as u8], body].concat()
    } else {
        [&[first, len as u8 | 0x80, (len >> 7) as u8], body].concat()
    }
}

//! ESP-NOW: messages of the handshake, and both of its ends under any sequence of operations.

use esp_now::component::DataType;
use esp_now::component::handshake::{MESSAGE_MAX, SecurityMessage, SessionMessage};
use esp_now::node::board::{BareBoard, Board, CpuWork, NvsKey};
use esp_now::node::print::LogLevel;
use esp_now::node::security::{
    CryptoBench, KEY_LEN, Policy, Pop, SecurityInitiator, SecurityResponder, erase_and_restart,
};
use esp_now::node::task::{
    Cx, NodeSettings, Received, SendRequest, Shared, Task, TaskStep, TransmitOutcome,
};
use esp_now::node::tick::Tick;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};

/// Parses bytes as a message and as a step of the key agreement: each is written back, and parsed
/// to the same value.
pub fn esp_now_handshake(data: &[u8]) {
    let mut buf = [0; 300];
    if let Some(message) = SecurityMessage::parse(data) {
        let len = message.emit(&mut buf).expect("it came in no more");
        assert_eq!(buf[..len], data[..len]);
        if let SecurityMessage::Handshake(data) = message {
            session(data);
        }
    }
    session(data);
}

fn session(data: &[u8]) {
    let Some(session) = SessionMessage::parse(data) else { return };
    let mut buf = [0; MESSAGE_MAX];
    let len = session.emit(&mut buf).expect("room for the longest");
    assert_eq!(SessionMessage::parse(&buf[..len]), Some(session));
    let len = session.emit_message(&mut buf).expect("room for the longest");
    let Some(SecurityMessage::Handshake(data)) = SecurityMessage::parse(&buf[..len]) else {
        panic!("a handshake")
    };
    assert_eq!(SessionMessage::parse(data), Some(session));
}

/// Runs a key agreement: the first bytes choose the settings, then each byte is an operation: its
/// low three bits say which, the others a number.
///
/// X25519 takes far longer than everything else. One of 16 settings may do the X25519 work of a
/// whole handshake; the others end before.
pub fn esp_now_security(data: &[u8]) {
    let [kind, tick, rest @ ..] = data else { return };
    let mut world = World::new(*kind, *tick);
    let slow = if kind & 15 == 0 { 5 } else { 0 };
    for (at, byte) in rest.iter().take(96).enumerate() {
        let rest = &rest[at + 1..];
        if world.slow() >= slow && world.needs_x25519(byte & 7, byte >> 3, rest) {
            break;
        }
        world.step(byte & 7, byte >> 3, rest);
        world.check();
    }
    world.end();
}

const GIVER: Mac = Mac([2, 0, 0, 0, 0, 1]);
const TAKER: Mac = Mac([2, 0, 0, 0, 0, 2]);
const DEVICES: usize = 4;

/// Counts X25519, and keeps two keys.
#[derive(Default)]
struct Flash {
    keys: [Option<[u8; KEY_LEN]>; 2],
    broken: bool,
    slow: u32,
}

impl Flash {
    fn place(&mut self, key: NvsKey) -> &mut Option<[u8; KEY_LEN]> {
        &mut self.keys[usize::from(key == NvsKey::DecryptKey)]
    }
}

impl Board for Flash {
    fn random(&mut self, out: &mut [u8]) {
        BareBoard(u64::from(self.slow)).random(out);
    }

    fn cost_ns(&mut self, work: CpuWork) -> u64 {
        self.slow += u32::from(matches!(work, CpuWork::KeyPair | CpuWork::SharedSecret));
        0
    }

    fn load(&mut self, key: NvsKey, out: &mut [u8]) -> Option<usize> {
        let value = (*self.place(key))?;
        out.copy_from_slice(&value);
        Some(value.len())
    }

    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        if !self.broken {
            *self.place(key) = value.try_into().ok();
        }
        !self.broken
    }

    fn forget(&mut self, key: NvsKey) {
        *self.place(key) = None;
    }
}

struct Node {
    shared: Shared,
    board: Flash,
}

impl Node {
    fn new(mac: Mac, kind: u8, tick: u8) -> Self {
        let mut settings = NodeSettings {
            tick: Tick::from_hz([100, 1000][usize::from(tick & 1)]),
            ..NodeSettings::default()
        };
        settings.encrypt.enabled = kind & 16 == 0;
        if kind & 32 != 0 {
            settings.policy = Policy::STRICT;
        }
        let mut shared = Shared::new(mac, settings);
        (shared.print.uart, shared.print.remote) = (LogLevel::None, LogLevel::None);
        Self { shared, board: Flash { broken: kind & 64 != 0, ..Flash::default() } }
    }

    fn cx(&mut self, now: Instant) -> Cx<'_> {
        Cx { now, board: &mut self.board, shared: &mut self.shared }
    }
}

struct World {
    giver: Node,
    taker: Node,
    initiator: SecurityInitiator<DEVICES, 2>,
    responder: SecurityResponder,
    test: CryptoBench<64>,
    now: Instant,
    /// Last message of the initiator, and the responder.
    request: Vec<u8>,
    answer: (DataType, Vec<u8>),
}

impl World {
    fn new(kind: u8, tick: u8) -> Self {
        let mut giver = Node::new(GIVER, kind & !64, tick);
        let taker = Node::new(TAKER, kind, tick);
        if kind & 128 == 0 {
            let stored = giver.shared.keys.store(&mut giver.board, &[7; KEY_LEN]);
            assert!(stored);
        }
        let mut responder = SecurityResponder::new(Pop::new(Pop::DEFAULT));
        responder.open_window(Instant::ZERO + Duration::from_secs(u64::from(tick)));
        Self {
            giver,
            taker,
            initiator: SecurityInitiator::new(),
            responder,
            test: CryptoBench::new(),
            now: Instant::ZERO,
            request: Vec::new(),
            answer: (DataType::Security, Vec::new()),
        }
    }

    /// Returns the number of key pairs and shared secrets so far.
    fn slow(&self) -> u32 {
        self.giver.board.slow + self.taker.board.slow
    }

    /// Returns whether a step makes a key pair or a shared secret.
    fn needs_x25519(&self, operation: u8, number: u8, rest: &[u8]) -> bool {
        let begins = |data: &[u8]| match SecurityMessage::parse(data) {
            Some(SecurityMessage::Handshake(data)) => {
                matches!(SessionMessage::parse(data), Some(SessionMessage::Command0 { .. }))
            }
            _ => false,
        };
        match operation {
            // After joining, the initiator makes the key pair of the round; then come secrets.
            1 => self.initiator.is_exchanging() && self.giver.board.slow > 0,
            2 => self.initiator.is_exchanging() && self.request.starts_with(b"\x01SEC"),
            3 => begins(&mutated(&self.request, number, rest)),
            5 => begins(&rest[..rest.len().min(usize::from(number) * 3)]),
            _ => false,
        }
    }

    fn step(&mut self, operation: u8, number: u8, rest: &[u8]) {
        match operation {
            0 => {
                let ms = [1, 10, 101, 5001][usize::from(number & 3)];
                self.now = self.now + Duration::from_micros(ms * 1000 + u64::from(number));
            }
            1 => self.run_initiator(),
            2 => {
                let outcome = if number & 3 == 3 {
                    TransmitOutcome::Failed
                } else {
                    TransmitOutcome::Done { attempts: 1 }
                };
                self.initiator.sent(&mut self.giver.cx(self.now), outcome);
            }
            3 => {
                let data = mutated(&self.request, number, rest);
                self.ask(if number & 2 == 0 { GIVER } else { TAKER }, &data);
            }
            4 => {
                let (data_type, data) = &self.answer;
                let data = mutated(data, number, rest);
                let data_type = *data_type;
                self.tell(data_type, if number & 2 == 0 { TAKER } else { GIVER }, &data);
            }
            5 => {
                let data = rest[..rest.len().min(usize::from(number) * 3)].to_vec();
                match number & 3 {
                    0 => self.ask(GIVER, &data),
                    1 => self.tell(DataType::Security, TAKER, &data),
                    2 => self.tell(DataType::SecurityStatus, TAKER, &data),
                    _ => self.tell(DataType::SecurityStatus, Mac([number; 6]), &data),
                }
            }
            6 => self.command(number),
            _ => self.bench(number),
        }
    }

    fn run_initiator(&mut self) {
        let cx = &mut self.giver.cx(self.now);
        match self.initiator.run(cx) {
            TaskStep::Send => {
                let mut payload = [0; 250];
                if let Some(outgoing) = self.initiator.compose(cx, &mut payload) {
                    self.request = payload[..outgoing.len].to_vec();
                }
            }
            TaskStep::Until(until) => {
                assert!(until.since(self.now) <= Duration::from_millis(5010), "bounded waits");
            }
            TaskStep::Idle => assert!(self.initiator.is_idle()),
        }
    }

    /// Delivers a payload to the responder, and takes its answer.
    fn ask(&mut self, from: Mac, data: &[u8]) {
        let cx = &mut self.taker.cx(self.now);
        let frame = received(DataType::Security, from, data, self.now);
        self.responder.receive(cx, &frame);
        if self.responder.run(cx) != TaskStep::Send {
            return;
        }
        let mut payload = [0; 250];
        if let Some(outgoing) = self.responder.compose(cx, &mut payload) {
            let SendRequest { data_type, len, dest, .. } = outgoing;
            assert_eq!(dest, from);
            self.answer = (data_type, payload[..len].to_vec());
        }
        self.responder.sent(cx, TransmitOutcome::Done { attempts: 1 });
        assert_eq!(self.responder.run(cx), TaskStep::Idle);
    }

    fn tell(&mut self, data_type: DataType, from: Mac, data: &[u8]) {
        let frame = received(data_type, from, data, self.now);
        self.initiator.receive(&mut self.giver.cx(self.now), &frame);
    }

    fn command(&mut self, number: u8) {
        let cx = &mut self.giver.cx(self.now);
        let pop = Pop::new(if number & 8 == 0 { Pop::DEFAULT } else { b"" });
        let idle = self.initiator.is_idle();
        let begun = match number & 7 {
            0 | 1 => self.initiator.start(cx, b"x", [TAKER], &pop),
            2 => self.initiator.start(cx, b"x", [Mac::BROADCAST, Mac([number; 6])], &pop),
            3 => self.initiator.find(cx, u32::from(number >> 3) * 1000),
            4 => self.initiator.hand_out(cx, "init", &pop),
            5 => {
                self.initiator.stop(cx);
                false
            }
            6 => {
                self.responder.open_window(self.now + Duration::from_secs(u64::from(number)));
                false
            }
            _ => {
                erase_and_restart(cx);
                false
            }
        };
        assert!(idle || !begun, "one thing at a time");
    }

    fn bench(&mut self, number: u8) {
        let cx = &mut self.giver.cx(self.now);
        if number & 3 == 0 {
            self.test.start(cx, u32::from(number >> 4) + 1, usize::from(number >> 2) * 9);
        } else {
            self.test.run(cx);
        }
        if number & 16 != 0 {
            while self.giver.shared.take_sample().is_some() {}
        }
    }

    fn check(&mut self) {
        let (done, unfinished) = self.initiator.result();
        assert!(usize::from(done + unfinished) <= self.initiator.devices().len());
        assert!(self.initiator.devices().len() <= DEVICES);
        assert!(!(self.initiator.is_idle() && self.initiator.is_exchanging()));
        let info = self.responder.info();
        assert!(info.version <= 1);
        if self.taker.shared.keys.decrypt.is_some() {
            assert!(self.taker.shared.settings.encrypt.enabled);
        }
        while self.giver.shared.take_event().is_some() {}
    }

    /// Checks that a stopped part ends whatever it was doing, and ends the test.
    fn end(&mut self) {
        self.initiator.stop(&mut self.giver.cx(self.now));
        for _ in 0..3 {
            let cx = &mut self.giver.cx(self.now);
            if self.initiator.run(cx) == TaskStep::Idle {
                break;
            }
        }
        assert!(self.initiator.is_idle());
        for _ in 0..64 {
            while self.giver.shared.take_sample().is_some() {}
            self.test.run(&mut self.giver.cx(self.now));
        }
        assert!(self.test.is_idle());
    }
}

fn received(data_type: DataType, from: Mac, data: &[u8], at: Instant) -> Received<'_> {
    Received { from, data_type, data, rssi: -40, channel: 1, at }
}

/// Returns the payload, or one with a byte changed.
fn mutated(data: &[u8], number: u8, rest: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    if number & 1 != 0
        && let [at, to, ..] = rest
        && let Some(byte) = data.get_mut(usize::from(*at))
    {
        *byte = *to;
    }
    data
}

//! ESP-NOW: the header and GROUP payloads, and the engine under any sequence of operations.

use esp_now::component::group::MEMBERS_MAX;
use esp_now::component::header::VERSION;
use esp_now::component::{
    Compat, ComponentRelease, DataType, FrameConfig, GroupPayload, Header, Idf,
};
use esp_now::node::ReceivedFrame;
use esp_now::node::air::Country;
use esp_now::node::board::BareBoard;
use esp_now::node::engine::{Action, Engine, EngineCounters, FRAME_MAX, Next};
use esp_now::node::print::LogLevel;
use esp_now::node::security::Secret;
use esp_now::node::task::{Cx, NodeSettings, SendRequest, Shared};
use esp_now::node::tick::Tick;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};

/// Parses bytes as a frame and as a GROUP payload: each is written back, and parsed to the same
/// value.
pub fn esp_now_header(data: &[u8]) {
    if let Some((header, payload)) = Header::parse(data) {
        let again = header.emit();
        assert_eq!(Header::parse(&again), Some((header, &[][..])));
        assert_eq!(payload.len() + again.len(), data.len());
        group(payload);
    }
    group(data);
}

fn group(payload: &[u8]) {
    let Some(group) = GroupPayload::parse(payload) else { return };
    let members: Vec<Mac> = group.members().collect();
    assert!(members.iter().all(|member| group.means(*member)));
    let mut buf = [0; 8 + 6 * MEMBERS_MAX];
    match GroupPayload::emit(group.join, group.id, group.members(), &mut buf) {
        Some(len) => assert_eq!(GroupPayload::parse(&buf[..len]), Some(group)),
        None => assert!(members.len() > MEMBERS_MAX),
    }
}

/// Those that differ most from each other, then the others.
pub(crate) const RELEASES: [ComponentRelease; 8] = [
    ComponentRelease::V2_0,
    ComponentRelease::V2_4,
    ComponentRelease::V2_5_3,
    ComponentRelease::Head,
    ComponentRelease::Mid2022,
    ComponentRelease::V1_0,
    ComponentRelease::V2_3,
    ComponentRelease::V2_5_2,
];

/// Runs the engine: the first bytes choose the settings, then each byte is an operation: its low
/// three bits say which, the others a number.
pub fn esp_now_engine(data: &[u8]) {
    let [kind, tick, rest @ ..] = data else { return };
    let mut world = World::new(*kind, *tick);
    for (at, byte) in rest.iter().take(96).enumerate() {
        world.step(byte & 7, byte >> 3, &rest[at + 1..]);
        world.check();
    }
    world.end();
}

fn mac(n: u8) -> Mac {
    match n % 4 {
        3 => Mac::BROADCAST,
        n => Mac([2, 0, 0, 0, 0, n]),
    }
}

fn settings(kind: u8, tick: u8) -> NodeSettings {
    let release = RELEASES[usize::from(kind >> 5 & 4 | kind & 3)];
    let mut settings = NodeSettings {
        compat: Compat { release, idf: Idf::V5_4_2, ..Compat::default() },
        tick: Tick::from_hz([100, 1000, 500, 3][usize::from(tick & 3)]),
        forward: kind & 4 == 0,
        forward_all_channels: kind & 8 != 0,
        restore_channel: kind & 16 != 0,
        tx_buffers: tick >> 4,
        ..NodeSettings::default()
    };
    settings.encrypt.enabled = kind & 32 != 0;
    settings
}

struct World {
    engine: Engine<1024>,
    shared: Shared,
    board: BareBoard,
    now: Instant,
    buf: [u8; FRAME_MAX],
    started: u32,
    ended: u32,
}

impl World {
    fn new(kind: u8, tick: u8) -> Self {
        let mut shared = Shared::new(mac(0), settings(kind, tick));
        shared.air.listen(DataType::Data, true);
        shared.air.country = Country { count: tick >> 2 & 3, ..Country::CN };
        (shared.print.uart, shared.print.remote) = (LogLevel::None, LogLevel::None);
        if kind & 64 != 0 {
            shared.keys.encrypt = Some(Secret::new([1; 32]));
            shared.keys.decrypt = Some(Secret::new([1; 32]));
        }
        Self {
            engine: Engine::new(),
            shared,
            board: BareBoard(u64::from(tick)),
            now: Instant::ZERO,
            buf: [0; FRAME_MAX],
            started: 0,
            ended: 0,
        }
    }

    fn with<T>(&mut self, f: impl FnOnce(&mut Engine<1024>, &mut Cx<'_>, &mut [u8]) -> T) -> T {
        let Self { engine, shared, board, now, buf, .. } = self;
        f(engine, &mut Cx { now: *now, board, shared }, buf)
    }

    fn step(&mut self, operation: u8, number: u8, rest: &[u8]) {
        match operation {
            0 => {
                let ms = [1, 2, 11, 3001][usize::from(number & 3)];
                self.now = self.now + Duration::from_micros(ms * 1000 + u64::from(number));
            }
            1 => {
                self.poll(usize::from(number), None);
            }
            2 => self.with(|engine, cx, _| engine.sent(cx, number & 1 == 0)),
            3 if number & 1 == 0 => self.with(|engine, _, _| engine.refused()),
            3 => self.change(number),
            4 | 5 => self.receive(operation == 4, number, rest),
            6 => self.start(number, rest),
            _ => {
                self.main(usize::from(number & 3) + 1);
            }
        }
        self.ended += u32::from(self.engine.outcome().is_some());
    }

    fn change(&mut self, number: u8) {
        let air = &mut self.shared.air;
        match number >> 1 & 3 {
            0 => air.locked = !air.locked,
            1 => air.channel = number >> 2 | 1,
            2 => air.listen(DataType::Data, number & 8 == 0),
            _ => self.shared.settings.policy.encrypted_only ^= DataType::Data.mask(),
        }
    }

    /// Delivers a frame with a header that fits, or any bytes.
    fn receive(&mut self, valid: bool, number: u8, rest: &[u8]) {
        let mut data = [0; 300];
        let payload = &rest[rest.len().min(8)..];
        let payload = &payload[..payload.len().min(usize::from(number) * 9)];
        let word = rest.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        let head = Header {
            data_type: [DataType::Data, DataType::Ack, DataType::Group, DataType::Prov]
                [usize::from(number & 3)],
            version: VERSION,
            size: payload.len() as u8,
            magic: u16::from(number >> 3),
            config: FrameConfig::from_word(word),
            dest: mac(number >> 2),
            src: mac(1),
        };
        data[..20].copy_from_slice(&head.emit());
        data[20..20 + payload.len()].copy_from_slice(payload);
        let data = if valid { &data[..20 + payload.len()] } else { rest };
        let frame =
            ReceivedFrame { data, transmitter: mac(1), receiver: mac(0), rssi: -50, channel: 1 };
        self.with(|engine, cx, _| engine.receive(cx, frame));
    }

    fn start(&mut self, number: u8, rest: &[u8]) {
        let word = rest.first_chunk().map_or(0, |word| u32::from_le_bytes(*word));
        let out = SendRequest {
            data_type: if number & 1 == 0 { DataType::Data } else { DataType::Group },
            dest: mac(number >> 1),
            config: FrameConfig::from_word(word),
            magic: u16::from(number >> 3),
            len: rest.len() * usize::from(number >> 2 & 1),
            wait: if number & 16 == 0 { Duration::MAX } else { Duration::from_millis(50) },
        };
        let free = self.engine.is_free();
        let started = self.with(|engine, cx, _| {
            let room = engine.payload_mut(cx).len();
            assert!(!free || room >= 218);
            engine.start(cx, &out)
        });
        assert_eq!(started, free);
        self.started += u32::from(started);
    }

    /// Polls at most so many times; gives whether it then waits.
    fn poll(&mut self, times: usize, answer: Option<bool>) -> bool {
        for _ in 0..times {
            let action = self.with(|engine, cx, buf| {
                let action = engine.poll(cx, buf);
                if let Some(Action::Transmit { len, .. }) = action {
                    assert!((20..=FRAME_MAX).contains(&len));
                    assert!(Header::parse(&buf[..len]).is_some_and(|(h, _)| h.version == VERSION));
                    if let Some(delivered) = answer {
                        engine.sent(cx, delivered);
                    }
                }
                action
            });
            match action {
                Some(Action::Tune(channel)) => assert_eq!(channel, self.shared.air.channel),
                Some(Action::Transmit { .. }) => {}
                None => return true,
            }
        }
        false
    }

    /// Runs the main task so many times; returns whether it then waits.
    fn main(&mut self, times: usize) -> bool {
        for _ in 0..times {
            let more = self.with(|engine, cx, buf| match engine.next(cx, buf) {
                Some(Next::Deliver(delivery)) => {
                    assert!(!delivery.with(buf).data.is_empty() && delivery.len <= buf.len());
                    true
                }
                Some(Next::Relay) => {
                    let can = engine.can_relay();
                    assert_eq!(engine.relay(cx), can);
                    can
                }
                None => false,
            });
            if !more {
                return true;
            }
        }
        false
    }

    fn check(&self) {
        let counters = self.engine.counters();
        assert_eq!(counters.received, counters.fates(), "every frame has one fate");
        let pending = self.started - self.ended;
        assert!(pending <= 1 && (pending == 0 || !self.engine.is_free()), "one outcome each");
        assert!(self.engine.waiting() <= 32);
    }

    /// Checks that with a driver that answers everything ends soon, and that the counters add up.
    fn end(mut self) {
        let start = self.now;
        for _ in 0..20_000 {
            assert!(self.poll(1000, Some(true)), "poll never ends");
            self.ended += u32::from(self.engine.outcome().is_some());
            if !self.main(33) || self.engine.wake().is_some_and(|at| at <= self.now) {
                continue;
            }
            match self.engine.wake() {
                Some(at) => self.now = at,
                None if self.poll(1, None) => break,
                None => {}
            }
        }
        assert_eq!((self.engine.wake(), self.engine.waiting()), (None, 0), "it is at rest");
        assert!(self.engine.is_free() && self.started == self.ended);
        assert!(self.now.since(start) < Duration::from_secs(300));
        sums(&self.engine.counters());
    }
}

fn sums(c: &EngineCounters) {
    assert_eq!(
        c.queued,
        c.delivered + c.empty + c.no_key + c.decrypt_failed + c.replayed + c.unclaimed
    );
    assert_eq!(c.acks_due + c.forwards_due, c.acks_sent + c.forwarded + c.lock_timeout);
    assert!(c.late_acks <= c.acks);
}

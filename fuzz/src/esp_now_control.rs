//! Control and time synchronization: their formats, and their machines under any sequence of
//! operations.

use esp_now::component::control::{Attribute, ControlLink, ControlMessage};
use esp_now::component::{DataType, FrameConfig, time_sync};
use esp_now::node::board::{BareBoard, Board, NvsKey};
use esp_now::node::control::{BINDINGS_MAX, Binding, Bindings, ControlInitiator, ControlResponder};
use esp_now::node::print::LogLevel;
use esp_now::node::task::{
    Cx, EspNowEvent, NodeSettings, Received, SendRequest, Shared, Task, TaskStep, TransmitOutcome,
};
use esp_now::node::tick::Tick;
use esp_now::node::time_sync::TimeSync;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};

const A: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
const B: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 2]);

/// A board that stores the two values of control.
struct Store {
    bindings: Option<Vec<u8>>,
    channel: Option<u8>,
}

impl Board for Store {
    fn random(&mut self, out: &mut [u8]) {
        BareBoard(7).random(out);
    }
    fn load(&mut self, key: NvsKey, out: &mut [u8]) -> Option<usize> {
        let channel = self.channel.as_slice();
        let value = if key == NvsKey::Bindings { self.bindings.as_deref()? } else { channel };
        let len = value.len().min(out.len());
        out[..len].copy_from_slice(&value[..len]);
        (len > 0).then_some(len)
    }
    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        match key {
            NvsKey::Bindings => self.bindings = Some(value.to_vec()),
            NvsKey::ControlChannel => {
                assert!((1..=14).contains(&value[0]));
                self.channel = Some(value[0]);
            }
            other => panic!("not control's: {other:?}"),
        }
        true
    }
    fn forget(&mut self, _: NvsKey) {}
}

fn settings(kind: u8) -> NodeSettings {
    let mut settings = NodeSettings::default();
    settings.compat.auto_channel = kind & 1 != 0;
    settings.encrypt.control = kind & 2 != 0;
    settings.encrypt.time = kind & 2 != 0;
    settings.tick = Tick::from_hz(if kind & 4 == 0 { 100 } else { 1000 });
    settings
}

fn outcome(number: u8) -> TransmitOutcome {
    match number & 3 {
        0 => TransmitOutcome::Done { attempts: number },
        1 => TransmitOutcome::Failed,
        2 => TransmitOutcome::TimedOut,
        _ => TransmitOutcome::Refused,
    }
}

/// Runs two devices: the first byte chooses the settings, the second what is stored; then each byte
/// is an operation: its low three bits say which, the rest is a number.
pub fn esp_now_control(data: &[u8]) {
    let [kind, stored, rest @ ..] = data else { return };
    control_payload(kind & 1 != 0, rest);
    let mut world = Pair::new(*kind, *stored, rest);
    for (at, byte) in rest.iter().enumerate().take(100) {
        world.step(byte & 7, byte >> 3, &rest[at..rest.len().min(at + 24)]);
    }
    world.end();
}

/// Checks that parsed payloads are written, and parsed again to the same value.
fn control_payload(auto_channel: bool, payload: &[u8]) {
    let _ = ControlLink::parse(payload)
        .map(|link| assert_eq!(ControlLink::parse(&link.emit()), Some(link)));
    let Some(control) = ControlMessage::parse(auto_channel, payload) else { return };
    let mut buf = [0; 300];
    let len = control.emit(&mut buf).expect("there is room");
    assert_eq!(ControlMessage::parse(auto_channel, &buf[..len]), Some(control));
    let name = control.initiator.name();
    assert_eq!(name.and_then(Attribute::named).and_then(Attribute::name), name);
}

/// An initiator and a responder.
struct Pair {
    button: ControlInitiator,
    lamp: ControlResponder,
    board: Store,
    shared: Shared,
    now: Instant,
    /// Who has composed and waits for the end of it.
    sending: [bool; 2],
    frame: Option<(SendRequest, Vec<u8>)>,
    bound: i64,
}

impl Pair {
    fn new(kind: u8, stored: u8, bytes: &[u8]) -> Self {
        let mut shared = Shared::new(A, settings(kind));
        shared.print.uart = if kind & 8 == 0 { LogLevel::None } else { LogLevel::Info };
        let bindings = (stored & 1 != 0).then(|| bytes.to_vec());
        let board = Store { bindings, channel: (stored & 2 != 0).then_some(stored >> 2) };
        Self {
            button: ControlInitiator::default(),
            lamp: ControlResponder::default(),
            board,
            shared,
            now: Instant::ZERO,
            sending: [false; 2],
            frame: None,
            bound: 0,
        }
    }

    fn with<R>(
        &mut self,
        act: impl FnOnce(&mut ControlInitiator, &mut ControlResponder, &mut Cx<'_>) -> R,
    ) -> R {
        let cx = &mut Cx { now: self.now, board: &mut self.board, shared: &mut self.shared };
        act(&mut self.button, &mut self.lamp, cx)
    }

    fn step(&mut self, operation: u8, number: u8, bytes: &[u8]) {
        match operation {
            0 => self.now = self.now + Duration::from_millis(u64::from(number) * 7),
            1 => {
                self.go(0, number);
            }
            2 => {
                self.go(1, number);
            }
            3 => self.finish(usize::from(number & 1), outcome(number >> 1)),
            4 => self.ask(number, bytes),
            5 => self.hear(number, bytes),
            6 => self.acknowledge(number, bytes),
            _ => self.lamp_api(number, bytes),
        }
        while let Some(event) = self.shared.take_event() {
            match event {
                EspNowEvent::Bound(..) => self.bound += 1,
                EspNowEvent::Unbound(..) => self.bound -= 1,
                EspNowEvent::BindRefused(..) | EspNowEvent::Control { .. } => {}
                other => panic!("not control's: {other:?}"),
            }
        }
        assert!(!(self.button.busy() && self.button.clone().take_result().is_some()));
        assert!(self.lamp.text().len() <= 32);
    }

    /// Runs a part, and composes if it wants to send. Says whether it is idle.
    fn go(&mut self, who: usize, number: u8) -> bool {
        if self.sending[who] {
            return false;
        }
        let step = self.with(|button, lamp, cx| match who {
            0 => button.run(cx),
            _ => lamp.run(cx),
        });
        match step {
            TaskStep::Idle => return true,
            TaskStep::Until(at) => {
                assert!(at > self.now && at <= self.now + Duration::from_millis(110));
            }
            TaskStep::Send => {
                let mut payload = [0; 64];
                let room = &mut payload[..if number == 31 { 5 } else { 64 }];
                let out = self.with(|button, lamp, cx| match who {
                    0 => button.compose(cx, room),
                    _ => lamp.compose(cx, room),
                });
                let Some(out) = out else { return false };
                let payload = payload[..out.len].to_vec();
                assert!(out.len <= 64 && out.dest.is_broadcast());
                self.sending[who] = true;
                self.frame = Some((out, payload));
            }
        }
        false
    }

    fn finish(&mut self, who: usize, outcome: TransmitOutcome) {
        // At times without a frame on its way: that must be borne, too.
        self.sending[who] = false;
        self.with(|button, lamp, cx| match who {
            0 => button.sent(cx, outcome),
            _ => lamp.sent(cx, outcome),
        });
    }

    fn ask(&mut self, number: u8, bytes: &[u8]) {
        let busy = self.button.busy();
        let attribute = u32::from(number >> 2);
        let config = FrameConfig { channel: number & 15, ..ControlInitiator::CONFIG };
        let taken = match number & 3 {
            0 => self.button.bind(attribute, true),
            1 => self.button.bind(attribute, false),
            2 => self.button.set(attribute, 1, 2),
            _ if number & 4 == 0 => self.button.send(attribute, 1, 2, config),
            _ => self.button.send_text(attribute, 1, bytes, config),
        };
        assert_eq!(taken, !busy, "one at a time");
    }

    /// Delivers a frame of the button's, perhaps damaged, or any bytes.
    fn hear(&mut self, number: u8, bytes: &[u8]) {
        let from = if number & 1 == 0 { A } else { B };
        let mut kept = self.frame.as_ref().map_or(bytes.to_vec(), |(_, payload)| payload.clone());
        if number & 2 != 0 {
            kept = bytes.to_vec();
        }
        if let (16.., Some(byte)) = (number, kept.get_mut(usize::from(number & 15))) {
            *byte ^= 0x81;
        }
        let own = self.frame.as_ref().map(|(out, _)| out.data_type);
        let data_type = match number & 12 {
            0 => DataType::ControlBind,
            4 => DataType::ControlData,
            _ => own.unwrap_or(DataType::ControlBind),
        };
        let (rssi, at) = (-(number as i8) * 3, self.now);
        let frame = Received { from, data_type, data: &kept, rssi, channel: 1, at };
        self.with(|_, lamp, cx| lamp.receive(cx, &frame));
    }

    fn acknowledge(&mut self, number: u8, bytes: &[u8]) {
        let (data_type, channel) = (DataType::Ack, number & 15);
        let frame = Received { from: B, data_type, data: bytes, rssi: -40, channel, at: self.now };
        self.with(|button, _, cx| button.receive(cx, &frame));
    }

    fn lamp_api(&mut self, number: u8, bytes: &[u8]) {
        let attribute = bytes.get(1).copied().unwrap_or(0).into();
        let binding = Binding { mac: A, attribute };
        let before = self.with(|_, lamp, cx| lamp.bindings(cx).len());
        self.with(|_, lamp, cx| match number & 7 {
            0 | 1 => lamp.bind(cx, u32::from(number) * 100, -(number as i8)),
            2 => lamp.filter = Some(|attribute, _, _| attribute & 1 == 0),
            3 | 4 => {
                lamp.insert(cx, binding);
            }
            5 => lamp.remove(cx, binding),
            6 if number == 30 => lamp.clear(cx),
            _ => assert_eq!(lamp.print_row(cx, number.into()), usize::from(number) < before),
        });
        let after = self.with(|_, lamp, cx| lamp.bindings(cx).len());
        assert!(after <= BINDINGS_MAX);
        self.bound += after as i64 - before as i64;
    }

    /// Checks that every operation ends when the frames go out and time passes, and that the list
    /// is stored.
    fn end(mut self) {
        let mut rounds = 0;
        for who in [1, 0] {
            if self.sending[who] {
                self.finish(who, TransmitOutcome::Failed);
            }
            while !self.go(who, 0) {
                if self.sending[who] {
                    self.finish(who, TransmitOutcome::Failed);
                }
                self.now = self.now + Duration::from_millis(110);
                rounds += 1;
                assert!(rounds < 400, "it never ends");
            }
        }
        assert!(!self.button.busy());
        let list = self.with(|_, lamp, cx| lamp.bindings(cx).to_vec());
        if self.bound != 0 {
            let mut stored = Bindings::default();
            self.with(|_, _, cx| stored.load(cx));
            assert_eq!(stored.as_slice(), list);
        }
    }
}

/// Runs time synchronisation: the first byte chooses the settings and the role; then each byte is
/// an operation: its low three bits say which, the rest is a number.
pub fn esp_now_time(data: &[u8]) {
    let [kind, rest @ ..] = data else { return };
    if let Some(message) = time_sync::TimeSyncMessage::parse(rest) {
        let mut buf = [0; 18];
        assert_eq!(message.emit(&mut buf), Some(18));
        assert_eq!(buf, rest[..18]);
    }
    let mut part = TimeSync::default();
    let mut shared = Shared::new(A, settings(*kind));
    shared.print.uart = if kind & 8 == 0 { LogLevel::None } else { LogLevel::Info };
    let (mut board, mut now, mut sending) = (BareBoard(7), Instant::ZERO, false);
    let (mut started, mut synced, mut last) = (false, 0u32, Vec::new());
    for (at, byte) in rest.iter().enumerate().take(100) {
        let number = byte >> 3;
        let cx = &mut Cx { now, board: &mut board, shared: &mut shared };
        let bytes = &rest[at..rest.len().min(at + 18)];
        match byte & 7 {
            0 => now = now + Duration::from_millis(u64::from(number) * u64::from(number) * 3),
            1 if !sending => sending = time_go(&mut part, cx, &mut last),
            1 | 2 => {
                part.sent(cx, outcome(number));
                sending = false;
            }
            3 => time_hear(&mut part, cx, number, bytes, &last),
            4 => {
                let taken = if number & 1 == 0 {
                    part.start_initiator(cx, u32::from(number) * 11)
                } else {
                    part.start_responder(cx, i32::from(number) * 11)
                };
                assert!(!(taken && started), "one role at a time");
                started |= taken;
            }
            5 if number > 24 => {
                assert_eq!(part.stop(cx), started);
                started = false;
            }
            6 => part.set_utc(now, i64::from(number) << (2 * number)),
            _ => assert!(!(part.broadcast() && part.request()), "one of them"),
        }
        assert_eq!(shared.air.listens(DataType::TimeSync), started);
        assert_eq!(part.synced_us(now).wrapping_sub(part.offset_us()), micros(now));
        while let Some(EspNowEvent::TimeSynced { .. }) = shared.take_event() {
            synced += 1;
        }
    }
    assert!(synced <= 100);
    // What waits is sent in the end.
    let cx = &mut Cx { now, board: &mut board, shared: &mut shared };
    for _ in 0..20 {
        if sending {
            part.sent(cx, TransmitOutcome::Failed);
        }
        sending = time_go(&mut part, cx, &mut last);
    }
    assert!(!part.busy());
}

fn micros(now: Instant) -> i64 {
    (now.as_nanos() / 1000) as i64
}

/// Runs the part and composes if it wants to send; says whether a frame is on its way.
fn time_go(part: &mut TimeSync, cx: &mut Cx<'_>, last: &mut Vec<u8>) -> bool {
    match part.run(cx) {
        TaskStep::Until(at) => assert!(at > cx.now && !part.busy()),
        TaskStep::Idle => assert!(!part.busy()),
        TaskStep::Send => {
            let mut payload = [0; 18];
            let out = part.compose(cx, &mut payload).expect("a message");
            assert_eq!((out.len, out.data_type), (18, DataType::TimeSync));
            *last = payload.to_vec();
            return true;
        }
    }
    false
}

/// Delivers the last message, or any bytes, with version and kind set right for most.
fn time_hear(part: &mut TimeSync, cx: &mut Cx<'_>, number: u8, bytes: &[u8], last: &[u8]) {
    let mut payload = if number & 1 == 0 { last.to_vec() } else { bytes.to_vec() };
    if let (true, [version, kind, ..]) = (number & 2 == 0, &mut payload[..]) {
        (*version, *kind) = (1, 1 + (number >> 2 & 1));
    }
    let frame = Received {
        from: B,
        data_type: DataType::TimeSync,
        data: &payload,
        rssi: -40,
        channel: 1,
        at: cx.now,
    };
    part.receive(cx, &frame);
}

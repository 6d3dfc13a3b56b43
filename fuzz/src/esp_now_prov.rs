//! Provisioning: its messages, and any order of calls on both of its machines.

use esp_now::component::prov::{
    BEACON_LEN, FixedText, ProvDevice, ProvIdentity, ProvMessage, WifiCredentials, wifi_len,
};
use esp_now::component::{Compat, DataType, Idf};
use esp_now::node::board::{Board, NvsKey};
use esp_now::node::print::LogLevel;
use esp_now::node::prov::{HoldError, Prov};
use esp_now::node::task::{
    Cx, EspNowEvent, NodeSettings, Received, Shared, Task, TaskStep, TransmitOutcome,
};
use esp_now::node::tick::Tick;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};

/// Stores one value, or not.
struct Flash {
    works: bool,
    saved: u32,
}

impl Board for Flash {
    fn random(&mut self, out: &mut [u8]) {
        out.fill(0x5A);
    }
    fn load(&mut self, _: NvsKey, _: &mut [u8]) -> Option<usize> {
        None
    }
    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        assert!(key == NvsKey::Wifi && value.len() == 96);
        self.saved += u32::from(self.works);
        self.works
    }
    fn forget(&mut self, _: NvsKey) {}
}

/// Parses the bytes as a message of each build; then runs a sequence of calls.
pub fn esp_now_prov(data: &[u8]) {
    let [flags, rest @ ..] = data else { return };
    let idfs = [Idf::V4_4, Idf::V5_0, Idf::V5_0_8, Idf::V5_1, Idf::V5_4, Idf::V5_4_2];
    let compat = Compat { idf: idfs[usize::from(flags >> 4) % 6], ..Compat::default() };
    message(rest, compat);
    let hz = [1000, 100, 1, 7][usize::from(flags & 3)];
    let settings = NodeSettings { compat, tick: Tick::from_hz(hz), ..NodeSettings::default() };
    let mut shared = Shared::new(Mac([0x24, 0x0A, 0xC4, 0, 0, 1]), settings);
    if flags & 4 == 0 {
        shared.print.uart = LogLevel::None;
    }
    let mut board = Flash { works: flags & 8 == 0, saved: 0 };
    let (mut part, mut now, mut events) = (Prov::default(), Instant::ZERO, 0);
    for (i, byte) in rest.iter().take(100).enumerate() {
        let high = byte >> 4;
        let mut cx = Cx { now, board: &mut board, shared: &mut shared };
        match byte & 15 {
            0..=3 => run(&mut part, &mut cx, high),
            4 => {
                let _ = part.compose(&mut cx, &mut [0; 250]);
            }
            5 => part.sent(&mut cx, outcome(high)),
            6 => part.seek(&mut cx),
            7 => {
                let held = part.hold(&mut cx, u32::from(high) * 200, Some(&rest[..i.min(40)]), b"");
                assert_eq!(held.is_ok(), i <= 32);
                assert!(held == Ok(()) || held == Err(HoldError::TooLong));
            }
            8..=10 => hear(&mut part, &mut cx, byte & 15, high),
            11 => receive(&mut part, &mut cx, &rest[i..]),
            12 => now = now + Duration::from_millis(u64::from(high) * u64::from(high) * 20),
            13 => {
                cx.shared.air.locked = high & 1 != 0;
                cx.shared.air.country.count = high;
            }
            14 => part.erase(&mut cx),
            _ => while cx.shared.print.take_output(&mut [0; 2048]) > 0 {},
        }
        while let Some(event) = shared.take_event() {
            events += u32::from(matches!(event, EspNowEvent::Provisioned(_)));
        }
        assert!(!part.is_holding() || shared.air.channel < 16);
        assert!((1..=15).contains(&shared.air.channel));
    }
    assert!(events <= board.saved, "provisioned means stored");
}

fn message(data: &[u8], compat: Compat) {
    let Some(message) = ProvMessage::parse(data, compat) else { return };
    let mut out = [0xFF; 300];
    let len = message.emit(&mut out, compat).expect("there is room");
    assert_eq!(ProvMessage::parse(&out[..len], compat), Some(message));
    assert!(len == BEACON_LEN || len >= wifi_len(compat));
}

fn outcome(bits: u8) -> TransmitOutcome {
    match bits & 7 {
        0 => TransmitOutcome::Failed,
        1 => TransmitOutcome::TimedOut,
        2 => TransmitOutcome::Refused,
        attempts => TransmitOutcome::Done { attempts },
    }
}

/// Drives the part as a node would: runs it, composes when asked to, and now and then reports a
/// result.
fn run(part: &mut Prov, cx: &mut Cx<'_>, high: u8) {
    let busy = part.is_holding() || part.is_seeking();
    match part.run(cx) {
        TaskStep::Send => {
            let mut buf = [0xEE; 250];
            let Some(out) = part.compose(cx, &mut buf) else { return };
            assert!(busy && out.data_type == DataType::Prov);
            let message = ProvMessage::parse(&buf[..out.len], cx.shared.settings.compat);
            assert!(message.is_some());
            if high & 8 == 0 {
                part.sent(cx, outcome(high));
            }
        }
        TaskStep::Until(at) => assert!(at > cx.now && busy, "it must wait for something"),
        TaskStep::Idle => {}
    }
}

fn hear(part: &mut Prov, cx: &mut Cx<'_>, kind: u8, high: u8) {
    let text = FixedText([high; 32]);
    let message = match kind {
        8 => ProvMessage::Beacon(ProvIdentity::default()),
        9 => {
            ProvMessage::Device(ProvDevice { auth_mode: 1, secret: text, ..ProvDevice::default() })
        }
        _ => ProvMessage::Wifi(WifiCredentials::new(text, FixedText([high; 64]))),
    };
    let mut buf = [0; 300];
    let len = message.emit(&mut buf, cx.shared.settings.compat).expect("there is room");
    // Now and then one that was cut.
    let len = if high & 7 == 7 { len / 2 } else { len };
    receive(part, cx, &buf[..len]);
}

fn receive(part: &mut Prov, cx: &mut Cx<'_>, data: &[u8]) {
    let from = Mac([0x24, 0x0A, 0xC4, 0, 0, 2]);
    let at = cx.now;
    part.receive(
        cx,
        &Received { from, data_type: DataType::Prov, data, rssi: -50, channel: 1, at },
    );
}

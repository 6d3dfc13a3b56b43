mod nodes;

use super::*;
use crate::component::control::{ControlLink, ControlMessage};
use crate::component::{Compat, FrameConfig};
use crate::node::board::{BareBoard, Board, NvsKey};
use crate::node::task::{
    BindError, Cx, EspNowEvent, NodeSettings, Received, SendRequest, Shared, Task, TaskStep,
    TransmitOutcome,
};
use crate::node::tick::Tick;
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use std::collections::HashMap;
use std::string::String;
use std::vec;
use std::vec::Vec;

const BUTTON: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
const LAMP: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 2]);
const DONE: TransmitOutcome = TransmitOutcome::Done { attempts: 1 };

/// A board that keeps stored values.
struct Shelf(HashMap<NvsKey, Vec<u8>>, BareBoard);

impl Default for Shelf {
    fn default() -> Self {
        Self(HashMap::new(), BareBoard(1))
    }
}

impl Board for Shelf {
    fn random(&mut self, out: &mut [u8]) {
        self.1.random(out);
    }
    fn load(&mut self, key: NvsKey, out: &mut [u8]) -> Option<usize> {
        let value = self.0.get(&key)?;
        let len = value.len().min(out.len());
        out[..len].copy_from_slice(&value[..len]);
        Some(len)
    }
    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        self.0.insert(key, value.to_vec());
        true
    }
    fn forget(&mut self, key: NvsKey) {
        self.0.remove(&key);
    }
}

struct Device<T> {
    part: T,
    mac: Mac,
    board: Shelf,
    shared: Shared,
    now: Instant,
}

impl<T: Default> Device<T> {
    fn new(mac: Mac, auto_channel: bool) -> Self {
        let settings = NodeSettings {
            compat: Compat { auto_channel, ..Compat::default() },
            tick: Tick::from_hz(1000),
            ..NodeSettings::default()
        };
        let shared = Shared::new(mac, settings);
        Self { part: T::default(), mac, board: Shelf::default(), shared, now: Instant::ZERO }
    }

    fn with<R>(&mut self, act: impl FnOnce(&mut T, &mut Cx<'_>) -> R) -> R {
        let cx = &mut Cx { now: self.now, board: &mut self.board, shared: &mut self.shared };
        act(&mut self.part, cx)
    }

    fn pass(&mut self, ms: u64) {
        self.now = self.now + Duration::from_millis(ms);
    }

    fn events(&mut self) -> Vec<EspNowEvent> {
        std::iter::from_fn(|| self.shared.take_event()).collect()
    }

    fn printed(&mut self) -> String {
        let mut buf = [0; 4096];
        let len = self.shared.print.take_output(&mut buf);
        String::from_utf8_lossy(&buf[..len]).replace('\r', "")
    }
}

impl<T: Default + Task> Device<T> {
    fn run(&mut self) -> TaskStep {
        self.with(Task::run)
    }

    fn compose(&mut self) -> (SendRequest, Vec<u8>) {
        assert_eq!(self.run(), TaskStep::Send);
        let mut payload = [0xEE; 218];
        let out = self.with(|part, cx| part.compose(cx, &mut payload)).expect("a frame");
        (out, payload[..out.len].to_vec())
    }

    /// Sends a frame and returns it as a receiver on that channel would see it.
    fn send(&mut self) -> (SendRequest, Vec<u8>) {
        let sent = self.compose();
        self.with(|part, cx| part.sent(cx, DONE));
        sent
    }
}

fn frame<'a>(from: Mac, (out, data): &'a (SendRequest, Vec<u8>), rssi: i8) -> Received<'a> {
    let channel = out.config.channel;
    Received { from, data_type: out.data_type, data, rssi, channel, at: Instant::ZERO }
}

fn pair() -> (Device<ControlInitiator>, Device<ControlResponder>) {
    let mut lamp = Device::<ControlResponder>::new(LAMP, false);
    lamp.with(|part, cx| {
        part.bind(cx, 30_000, -55);
        part.listen(cx);
    });
    (Device::new(BUTTON, false), lamp)
}

fn hear(lamp: &mut Device<ControlResponder>, from: Mac, sent: &(SendRequest, Vec<u8>), rssi: i8) {
    lamp.with(|part, cx| part.receive(cx, &frame(from, sent, rssi)));
}

fn bind(button: &mut Device<ControlInitiator>, attribute: u32, on: bool) -> (SendRequest, Vec<u8>) {
    assert!(button.part.bind(attribute, on));
    let sent = button.send();
    assert_eq!((button.part.busy(), button.part.take_result()), (false, Some(true)));
    sent
}

#[test]
fn a_button_is_bound_sets_a_value_and_is_unbound() {
    let (mut button, mut lamp) = pair();
    let on = bind(&mut button, 0x0201, true);
    let config = FrameConfig { channel: 15, rssi: -25, ..FrameConfig::default() };
    assert_eq!((on.0.config, on.0.wait), (config, Duration::MAX));
    assert_eq!(on.1, [1, 2, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0], "vector 6");
    lamp.pass(7);
    hear(&mut lamp, BUTTON, &on, -40);
    assert_eq!(lamp.events(), [EspNowEvent::Bound(BUTTON, 0x0201)]);
    assert_eq!(
        lamp.printed(),
        "I (7) espnow_ctrl: bind, timestamp: 7, max timestamp: 30000, rssi: -40, min rssi: -55, \
         bindlist size: 0\n"
    );
    hear(&mut lamp, BUTTON, &on, -40);
    assert_eq!(lamp.events(), [], "it is bound already");

    assert!(button.part.set(0x0201, 1, 77));
    assert!(!button.part.set(0x0201, 1, 78), "one at a time");
    let value = button.send();
    assert_eq!(value.0.config, ControlInitiator::CONFIG);
    hear(&mut lamp, BUTTON, &value, -90);
    let control = EspNowEvent::Control { from: BUTTON, initiator: 0x0201, responder: 1, value: 77 };
    assert_eq!(lamp.events(), [control], "however weak");
    hear(&mut lamp, LAMP, &value, -30);
    assert_eq!(lamp.events(), [], "another device with the same attribute");

    let off = bind(&mut button, 0x0201, false);
    lamp.pass(60_000);
    hear(&mut lamp, BUTTON, &off, -90);
    assert_eq!(lamp.events(), [EspNowEvent::Unbound(BUTTON, 0x0201)], "at any time, however weak");
    hear(&mut lamp, BUTTON, &value, -30);
    hear(&mut lamp, BUTTON, &off, -30);
    assert_eq!(lamp.events(), []);
    assert_eq!(lamp.run(), TaskStep::Idle);
}

#[test]
fn a_caller_chooses_how_a_value_is_sent() {
    let (mut button, mut lamp) = pair();
    let on = bind(&mut button, 0x0202, true);
    hear(&mut lamp, BUTTON, &on, -55);
    button.shared.settings.encrypt.control = true;
    let config = FrameConfig { ack: true, ttl: 3, copies: 2, ..ControlInitiator::CONFIG };
    assert!(button.part.send_text(0x0202, 3, b"hello", config));
    let text = button.send();
    assert_eq!((text.0.config, text.0.wait), (config, Duration::from_secs(1)));
    assert_eq!(&text.1[8..], b"\0\0\0\x05hello");
    hear(&mut lamp, BUTTON, &text, -55);
    assert_eq!(lamp.part.text(), b"hello");
    assert!(
        matches!(lamp.events()[..], [EspNowEvent::Bound(..), EspNowEvent::Control { value, .. }]
        if value == 0x0500_0000)
    );
    assert!(!button.part.send_text(0x0202, 3, b"", config));
    assert!(!button.part.send_text(0x0202, 3, &[b'x'; 33], config));
    let again = bind(&mut button, 0x0202, true);
    assert!(again.0.config.security && !text.0.config.security, "the console's is not encrypted");
    assert_eq!(again.1.len(), 12, "no text of before");

    assert!(button.part.send(1, 2, 3, config));
    button.compose();
    button.with(|part, cx| part.sent(cx, TransmitOutcome::TimedOut));
    assert_eq!(button.part.take_result(), Some(false));
}

#[test]
fn who_is_not_bound() {
    let (mut button, mut lamp) = pair();
    let on = bind(&mut button, 0x0201, true);
    let refused = |error| vec![EspNowEvent::BindRefused(BUTTON, error)];
    hear(&mut lamp, BUTTON, &on, -56);
    assert_eq!(lamp.events(), refused(BindError::Rssi));
    lamp.part.filter = Some(|attribute, _, _| attribute != 0x0201);
    hear(&mut lamp, BUTTON, &on, -30);
    assert_eq!(lamp.events(), [], "the application does not want it");
    lamp.part.filter = None;
    for i in 0..32 {
        let binding = Binding { mac: BUTTON, attribute: i };
        assert!(lamp.with(|part, cx| part.insert(cx, binding)));
    }
    hear(&mut lamp, BUTTON, &on, -30);
    assert_eq!(lamp.events(), refused(BindError::Full));
    lamp.with(ControlResponder::clear);
    lamp.pass(30_000);
    hear(&mut lamp, BUTTON, &on, -30);
    assert_eq!(lamp.events(), [EspNowEvent::Bound(BUTTON, 0x0201)], "the last millisecond");
    lamp.pass(1);
    hear(&mut lamp, BUTTON, &on, -30);
    assert_eq!(lamp.events(), refused(BindError::Timeout));
    hear(&mut lamp, BUTTON, &(on.0, vec![0; 11]), -30);
    assert_eq!((lamp.part.dropped, lamp.events().len()), (1, 0));
}

#[test]
fn the_list_survives_a_reset_and_is_printed_row_by_row() {
    let (_, mut lamp) = pair();
    for attribute in [0x0201, 0x0202, 0x0305] {
        let binding = Binding { mac: BUTTON, attribute };
        assert!(lamp.with(|part, cx| part.insert(cx, binding)));
    }
    lamp.with(|part, cx| part.remove(cx, Binding { mac: BUTTON, attribute: 0x0201 }));
    let stored = lamp.board.0[&NvsKey::Bindings].clone();
    assert_eq!((stored.len(), &stored[..8]), (392, &[2, 0, 0, 0, 1, 0, 0, 0][..]));
    assert_eq!(stored[8..20], [0x24, 0x0A, 0xC4, 0, 0, 1, 0, 0, 0x05, 0x03, 0, 0]);
    assert!(stored[32..].iter().all(|byte| *byte == 0));

    let mut reset = Device::<ControlResponder>::new(LAMP, false);
    reset.board = lamp.board;
    let rows = (0..9).take_while(|row| reset.with(|part, cx| part.print_row(cx, *row))).count();
    assert_eq!(rows, 2);
    assert_eq!(
        reset.printed(),
        "I (0) control_func: mac: 24:0a:c4:00:00:01, initiator_type: 3, initiator_value: 5\n\
         I (0) control_func: mac: 24:0a:c4:00:00:01, initiator_type: 2, initiator_value: 2\n"
    );
    for damaged in [vec![], vec![0xFF; 3], vec![0xFF; 392], vec![0xFF; 30]] {
        let mut other = Device::<ControlResponder>::new(LAMP, false);
        let whole = damaged.len().saturating_sub(8) / 12;
        other.board.0.insert(NvsKey::Bindings, damaged);
        assert_eq!(other.with(|part, cx| part.bindings(cx).len()), whole);
    }
}

/// Sends on the channels of a search until the lamp on `channel` answers; returns the tries.
fn search(
    button: &mut Device<ControlInitiator>,
    lamp: &mut Device<ControlResponder>,
    channel: u8,
) -> Vec<u8> {
    let mut tries = vec![];
    loop {
        match button.run() {
            TaskStep::Idle => return tries,
            TaskStep::Until(at) => button.now = at,
            TaskStep::Send => {
                let sent = button.send();
                let config = sent.0.config;
                assert!(config.ack && config.filter_adjacent && config.broadcast);
                assert_eq!((config.copies, config.ttl, config.rssi), (1, 10, -55));
                let control = ControlMessage::parse(true, &sent.1).expect("twenty bytes");
                let link = ControlLink {
                    magic: sent.0.magic,
                    config: FrameConfig { copies: 0, ..config },
                };
                assert_eq!(control.link, Some(link));
                tries.push(config.channel);
                if config.channel == channel {
                    hear(lamp, button.mac, &sent, -40);
                    let ack = lamp.send();
                    assert_eq!(ack.1, link.emit());
                    let mac = lamp.mac;
                    button.with(|part, cx| part.receive(cx, &frame(mac, &ack, -40)));
                }
            }
        }
    }
}

#[test]
fn a_battery_device_finds_the_channel_and_remembers_it() {
    let mut button = Device::<ControlInitiator>::new(BUTTON, true);
    let mut lamp = Device::<ControlResponder>::new(LAMP, true);
    lamp.with(|part, cx| part.bind(cx, 30_000, -55));
    assert!(button.part.bind(0x0201, true));
    let tries = search(&mut button, &mut lamp, 3);
    assert_eq!(tries, [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3]);
    assert_eq!(button.part.take_result(), Some(true));
    // Twelve waits of 40 ms.
    assert_eq!(button.now, Instant::ZERO + Duration::from_millis(12 * 40));
    assert_eq!(
        button.printed(),
        "I (480) espnow_ctrl: src_addr: 24:0a:c4:00:00:02, espnow_ctrl_initiator_ack, channel: 3\n"
    );
    assert_eq!(lamp.events(), [EspNowEvent::Bound(BUTTON, 0x0201)]);
    assert_eq!(lamp.board.0.get(&NvsKey::Bindings), None, "it rests before it stores");
    let TaskStep::Until(at) = lamp.run() else { panic!("it rests") };
    lamp.now = at;
    assert_eq!(lamp.run(), TaskStep::Idle);
    assert_eq!(lamp.board.0[&NvsKey::Bindings].len(), 392);

    assert!(button.part.set(0x0201, 1, 5));
    assert_eq!(search(&mut button, &mut lamp, 3), [3], "the channel was stored");
    assert!(matches!(lamp.events()[..], [EspNowEvent::Control { value: 5, .. }]));
}

#[test]
fn a_search_without_an_answer_ends_after_all_channels() {
    let mut button = Device::<ControlInitiator>::new(BUTTON, true);
    let mut lamp = Device::<ControlResponder>::new(LAMP, true);
    button.board.0.insert(NvsKey::ControlChannel, vec![6]);
    assert!(button.part.set(1, 2, 3));
    let tries = search(&mut button, &mut lamp, 14);
    let channels: Vec<u8> = tries.chunks(6).map(|chunk| chunk[0]).collect();
    assert_eq!((tries.len(), channels), (66, vec![6, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11]));
    assert_eq!(button.part.take_result(), Some(false));
    assert_eq!(button.printed(), "W (2640) espnow_ctrl: <ESP_FAIL> espnow_broadcast, ret: -1\n");
}

/// Checks that the two forms of the payload are not compatible: the other build sees another
/// attribute.
#[test]
fn builds_that_differ_do_not_understand_each_other() {
    let (mut button, _) = pair();
    let mut lamp = Device::<ControlResponder>::new(LAMP, true);
    lamp.with(|part, cx| part.bind(cx, 30_000, -55));
    let on = bind(&mut button, 0x0201, true);
    hear(&mut lamp, BUTTON, &on, -40);
    assert_eq!((lamp.part.dropped, lamp.run(), lamp.events().len()), (1, TaskStep::Idle, 0));
}

#[test]
fn any_order_of_calls_is_borne() {
    let mut button = Device::<ControlInitiator>::new(BUTTON, true);
    button.with(|part, cx| part.sent(cx, DONE));
    assert_eq!(button.with(|part, cx| part.compose(cx, &mut [0; 64])), None);
    assert_eq!(button.run(), TaskStep::Idle);
    assert!(button.part.bind(1, true));
    assert_eq!(button.run(), TaskStep::Send);
    assert_eq!(button.with(|part, cx| part.compose(cx, &mut [0; 19])), None, "no room");
    assert_eq!((button.run(), button.part.take_result()), (TaskStep::Idle, Some(false)));
    let size = (size_of::<ControlInitiator>(), size_of::<ControlResponder>());
    assert!(size.0 <= 160 && size.1 <= 520, "{size:?}");
}

//! How long an ESP-NOW node takes for a data frame, from the radio's bytes to the payload in a
//! service's hands: its engine alone, and the whole node with all services.
//!
//! `cargo run --release -p esp-now --example dispatch`

use esp_now::component::header::VERSION;
use esp_now::component::{DataType, FrameConfig, Header};
use esp_now::node::board::BareBoard;
use esp_now::node::device::{Node, Setup};
use esp_now::node::engine::{Engine, Next};
use esp_now::node::security::Secret;
use esp_now::node::task::{Cx, NodeSettings, Shared};
use esp_now::node::{Input, NodeOutput, ReceivedFrame};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use std::hint::black_box;

const ROUNDS: u32 = 200_000;

/// Returns the nanoseconds that a frame takes, the best of ten runs.
fn measure(payload: usize, sealed: bool) -> f64 {
    let mut shared = Shared::new(Mac([2, 0, 0, 0, 0, 1]), NodeSettings::default());
    shared.air.listen(DataType::Data, true);
    shared.settings.encrypt.enabled = sealed;
    let key = Secret::new([7; 32]);
    let mut data = [0; 250];
    let mut len = 20 + payload;
    if sealed {
        len = 20 + key.sealer().seal(&[1; 8], true, &mut data[20..], payload).expect("room");
    }
    shared.keys.decrypt = Some(key);
    let mut board = BareBoard(1);
    let mut cx = Cx { now: Instant::ZERO, board: &mut board, shared: &mut shared };
    let mut engine: Engine = Engine::new();
    let (mut buf, mut taken, mut best) = ([0; 1490], 0, f64::MAX);
    for _ in 0..10 {
        let start = std::time::Instant::now();
        for n in 0..ROUNDS {
            let config = FrameConfig { channel: 1, security: sealed, ..FrameConfig::default() };
            let head = Header {
                data_type: DataType::Data,
                version: VERSION,
                size: (len - 20) as u8,
                magic: n as u16,
                config,
                dest: Mac::BROADCAST,
                src: Mac([2, 0, 0, 0, 0, 2]),
            };
            data[..20].copy_from_slice(&head.emit());
            let frame = ReceivedFrame {
                data: black_box(&data[..len]),
                transmitter: head.src,
                receiver: Mac::BROADCAST,
                rssi: -40,
                channel: 1,
            };
            engine.receive(&mut cx, frame);
            if let Some(Next::Deliver(delivery)) = engine.next(&mut cx, &mut buf) {
                taken += black_box(delivery.with(&buf)).data.len();
            }
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(ROUNDS));
    }
    assert_eq!(taken, payload * ROUNDS as usize * 10, "every frame arrived");
    best
}

/// Returns the nanoseconds for a whole node: a frame is handled, and the node polled until it has
/// given the payload and waits again.
fn measure_node(payload: usize) -> f64 {
    let (mut board, now) = (BareBoard(1), Instant::from_nanos(20_000_000_000));
    let (mac, setup) = (Mac([2, 0, 0, 0, 0, 1]), Setup::default());
    let mut node: Box<Node> =
        Box::new(Node::new(now, &mut board, mac, NodeSettings::default(), &setup));
    let (mut buf, mut taken, mut best) = ([0; 1490], 0, f64::MAX);
    let mut drain = |node: &mut Node, board: &mut BareBoard| loop {
        match node.poll(now, board, &mut buf) {
            NodeOutput::Data { len, .. } => taken += black_box(&buf[..len]).len(),
            NodeOutput::WaitUntil(_) | NodeOutput::Idle => return taken,
            _ => {}
        }
    };
    drain(&mut node, &mut board);
    let mut data = [0; 250];
    for _ in 0..10 {
        let start = std::time::Instant::now();
        for n in 0..ROUNDS {
            let head = Header {
                data_type: DataType::Data,
                version: VERSION,
                size: payload as u8,
                magic: n as u16,
                config: FrameConfig { channel: 1, ..FrameConfig::default() },
                dest: Mac::BROADCAST,
                src: Mac([2, 0, 0, 0, 0, 2]),
            };
            data[..20].copy_from_slice(&head.emit());
            let frame = ReceivedFrame {
                data: black_box(&data[..20 + payload]),
                transmitter: head.src,
                receiver: Mac::BROADCAST,
                rssi: -40,
                channel: 1,
            };
            node.handle(now, &mut board, Input::Frame(frame));
            drain(&mut node, &mut board);
        }
        best = best.min(start.elapsed().as_nanos() as f64 / f64::from(ROUNDS));
    }
    let all = drain(&mut node, &mut board);
    assert_eq!(all, payload * ROUNDS as usize * 10, "every frame arrived");
    best
}

fn main() {
    for (payload, sealed) in [(8, false), (218, false), (8, true), (218, true)] {
        let kind = if sealed { "encrypted" } else { "plain" };
        println!("{payload:>4} bytes, {kind:<9}  {:>6.0} ns a frame", measure(payload, sealed));
    }
    for payload in [8, 218] {
        println!("{payload:>4} bytes, whole node {:>6.0} ns a frame", measure_node(payload));
    }
}

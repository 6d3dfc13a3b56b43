//! Whole nodes on one medium: a button, scripted by its console, and a lamp.

use super::{BUTTON, LAMP, Shelf};
use crate::component::{Compat, DataType, Header};
use crate::node::board::NvsKey;
use crate::node::device::{Node, Setup};
use crate::node::task::{EspNowEvent, NodeSettings};
use crate::node::tick::Tick;
use crate::node::{Input, NodeOutput, ReceivedFrame};
use espbench_model::time::{Duration, Instant};
use std::boxed::Box;
use std::collections::VecDeque;
use std::string::String;
use std::vec;
use std::vec::Vec;

const AIR_TIME: Duration = Duration::from_micros(800);

struct Place {
    node: Box<Node<1>>,
    board: Shelf,
    channel: u8,
    driver: VecDeque<(Instant, u8, Vec<u8>)>,
    wake: Option<Instant>,
    printed: String,
    events: Vec<EspNowEvent>,
}

struct World {
    now: Instant,
    places: Vec<Place>,
    /// Type and channel of the frames sent.
    aired: Vec<(DataType, u8)>,
}

impl World {
    fn new(auto_channel: bool) -> Self {
        let settings = NodeSettings {
            compat: Compat { auto_channel, ..Compat::default() },
            tick: Tick::from_hz(1000),
            ..NodeSettings::default()
        };
        let places = [BUTTON, LAMP].map(|mac| {
            let (mut board, setup) = (Shelf::default(), Setup::default());
            let node = Node::new(Instant::ZERO, &mut board, mac, settings.clone(), &setup);
            Place {
                node: Box::new(node),
                board,
                channel: 1,
                driver: VecDeque::new(),
                wake: Some(Instant::ZERO),
                printed: String::new(),
                events: vec![],
            }
        });
        let mut world = Self { now: Instant::ZERO, places: places.into(), aired: vec![] };
        world.run(10);
        world
    }

    fn put_on(&mut self, n: usize, channel: u8) {
        self.places[n].node.shared_mut().air.channel = channel;
        self.places[n].wake = Some(self.now);
        self.run(1);
    }

    /// Types a line at station `n`, lets that many milliseconds pass, and returns the output.
    fn types(&mut self, n: usize, line: &str, ms: u64) -> String {
        let place = &mut self.places[n];
        place.printed.clear();
        // The R answers the editor's question for the cursor.
        for bytes in [b"R", line.as_bytes(), b"\r"] {
            place.node.handle(self.now, &mut place.board, Input::Console(bytes));
        }
        place.wake = Some(self.now);
        self.run(ms);
        core::mem::take(&mut self.places[n].printed)
    }

    fn run(&mut self, ms: u64) {
        let end = self.now + Duration::from_millis(ms);
        for _ in 0..100_000 {
            (0..self.places.len()).for_each(|n| self.drain(n));
            let wakes = self.places.iter().filter_map(|place| place.wake);
            let done = self.places.iter().filter_map(|place| Some(place.driver.front()?.0));
            match wakes.chain(done).min() {
                Some(at) if at <= end => self.now = self.now.max(at),
                _ => {
                    self.now = end;
                    return;
                }
            }
            (0..self.places.len()).for_each(|n| self.land(n));
        }
        panic!("time stands still");
    }

    fn drain(&mut self, n: usize) {
        let (now, place) = (self.now, &mut self.places[n]);
        if place.wake.is_some_and(|at| at > now) {
            return;
        }
        let mut buf = [0; 1490];
        for _ in 0..10_000 {
            match place.node.poll(now, &mut place.board, &mut buf) {
                NodeOutput::Transmit { len, .. } => {
                    let begin = place.driver.back().map_or(now, |(end, ..)| *end);
                    let frame = buf[..len].to_vec();
                    let (header, _) = Header::parse(&frame).expect("a header");
                    self.aired.push((header.data_type, place.channel));
                    place.driver.push_back((begin + AIR_TIME, place.channel, frame));
                }
                NodeOutput::Tune(channel) => place.channel = channel,
                NodeOutput::Print { len } => {
                    place.printed.push_str(&String::from_utf8_lossy(&buf[..len]));
                }
                NodeOutput::Event(event) => place.events.push(event),
                NodeOutput::WaitUntil(at) => return place.wake = Some(at),
                NodeOutput::Idle => return place.wake = None,
                _ => {}
            }
        }
        panic!("it wants too much");
    }

    /// Ends the transmissions of station `n` that are over.
    fn land(&mut self, n: usize) {
        while self.places[n].driver.front().is_some_and(|(at, ..)| *at <= self.now) {
            let Some((_, channel, data)) = self.places[n].driver.pop_front() else { return };
            let transmitter = [BUTTON, LAMP][n];
            let receiver = espbench_ieee80211::mac::Mac::BROADCAST;
            for (to, place) in self.places.iter_mut().enumerate() {
                let input = if to == n {
                    Input::Sent { delivered: true }
                } else if place.channel == channel {
                    let frame =
                        ReceivedFrame { data: &data, transmitter, receiver, rssi: -20, channel };
                    Input::Frame(frame)
                } else {
                    continue;
                };
                place.node.handle(self.now, &mut place.board, input);
                place.wake = Some(self.now);
            }
        }
    }

    fn lamp_events(&mut self) -> Vec<EspNowEvent> {
        core::mem::take(&mut self.places[1].events)
    }
}

#[test]
fn the_consoles_of_two_nodes() {
    let mut world = World::new(false);
    world.put_on(1, 6);
    let bound = world.types(0, "control -b 513", 500);
    assert!(bound.contains("espnow_cmd: The binding device, attribute: 513"), "{bound}");
    assert_eq!(world.lamp_events(), [EspNowEvent::Bound(BUTTON, 513)]);
    // Ten copies on each of eleven channels.
    assert_eq!(world.aired.len(), 110);
    let list = world.types(1, "control -l", 10);
    let row = "control_func: mac: 24:0a:c4:00:00:01, initiator_type: 2, initiator_value: 1";
    assert!(list.contains(row), "{list}");
    world.types(0, "control -c 513 -t 1 -v 7", 500);
    let control = EspNowEvent::Control { from: BUTTON, initiator: 513, responder: 1, value: 7 };
    assert_eq!(world.lamp_events(), [control]);
    world.types(0, "control -u 513", 500);
    assert_eq!(world.lamp_events(), [EspNowEvent::Unbound(BUTTON, 513)]);
    world.types(0, "control -c 513 -t 1 -v 8", 500);
    assert_eq!(world.lamp_events(), []);
}

/// Runs the whole procedure: the lamp answers on channel 3, the button is about to forward that
/// answer and overhears it, and knows the channel from then on.
#[test]
fn a_node_finds_the_channel() {
    let mut world = World::new(true);
    world.put_on(1, 3);
    let printed = world.types(0, "control -b 513", 2000);
    assert!(printed.contains("espnow_ctrl_initiator_ack, channel: 3"), "{printed}");
    assert_eq!(world.lamp_events(), [EspNowEvent::Bound(BUTTON, 513)]);
    let binds: Vec<u8> =
        world.aired.iter().filter(|a| a.0 == DataType::ControlBind).map(|a| a.1).collect();
    // The last one is the lamp's, which forwards it.
    assert_eq!(binds, [1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 3, 3]);
    assert_eq!(world.places[0].board.0[&NvsKey::ControlChannel], [3]);
    assert_eq!(world.places[1].board.0[&NvsKey::Bindings].len(), 392);
}

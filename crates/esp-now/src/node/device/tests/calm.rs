//! An answer by a short cut equals the answer without it.

use super::*;
use crate::component::header::VERSION;
use crate::component::{Compat, ComponentRelease};
use crate::node::schedule::NodePart;
use crate::node::tests::medium::outgoing;
use crate::node::{ParsedFrame, Payload, Then};
use std::collections::VecDeque;

/// A node that is driven with all short cuts, or with none of them.
struct Alone {
    node: Box<SmallNode>,
    board: Shelf,
    due: Option<Instant>,
    /// Times at which the driver answers about frames that it has taken.
    answers: VecDeque<Instant>,
    frames: u32,
    short: bool,
    told: Vec<(Instant, NodeOutput, Vec<u8>)>,
    /// Number of answers that were known without asking.
    known: u32,
    /// Number of payloads that were returned in place.
    shown: u32,
}

impl Alone {
    fn new(cost: fn(CpuWork) -> Duration, release: ComponentRelease, short: bool) -> Self {
        let mut board = Shelf::new(1);
        board.cost = cost;
        let compat = Compat { release, ..Compat::default() };
        let settings = NodeSettings { compat, ..settings(1000) };
        let node = SmallNode::new(Instant::ZERO, &mut board, mac(0), settings, &Setup::default());
        let (due, told) = (Some(Instant::ZERO), Vec::new());
        let (node, answers) = (Box::new(node), VecDeque::new());
        Self { node, board, due, answers, frames: 0, short, told, known: 0, shown: 0 }
    }

    /// Polls the node until it rests.
    fn settle(&mut self, now: Instant) {
        let mut buf = [0; 1500];
        loop {
            let node = &mut self.node;
            if self.short
                && let Some(Payload { data, from, rssi, channel, then }) = node.take_data(now)
            {
                let plain =
                    NodeOutput::Data { len: data.len(), from, rssi, channel, then: Then::Poll };
                self.told.push((now, plain, data.to_vec()));
                self.shown += 1;
                if self.follows(then) {
                    return;
                }
                continue;
            }
            let output = match self.short {
                true => node.poll(now, &mut self.board, &mut buf),
                false => node.poll_any(now, &mut self.board, &mut buf),
            };
            let (len, then) = match output {
                NodeOutput::WaitUntil(at) => return self.due = Some(at),
                NodeOutput::Idle => return self.due = None,
                NodeOutput::Data { len, then, .. } => (len, then),
                NodeOutput::Transmit { len, .. } => {
                    // Some answers come at once, others when more frames have come, a few never.
                    self.frames += 1;
                    match self.frames % 307 {
                        0 => {}
                        1..100 => {
                            node.handle(now, &mut self.board, Input::Sent { delivered: true })
                        }
                        late => {
                            let at = now.after_nanos(u64::from(late) * 10_000);
                            self.answers.push_back(at);
                        }
                    }
                    (len, Then::Poll)
                }
                NodeOutput::Print { len } => (len, Then::Poll),
                _ => (0, Then::Poll),
            };
            // The hint is no part of the report.
            let plain = match output {
                NodeOutput::Data { len, from, rssi, channel, .. } => {
                    NodeOutput::Data { len, from, rssi, channel, then: Then::Poll }
                }
                other => other,
            };
            self.told.push((now, plain, buf[..len].to_vec()));
            if self.short && self.follows(then) {
                return;
            }
        }
    }

    /// Returns whether the node need not be polled.
    fn follows(&mut self, then: Then) -> bool {
        match then {
            Then::Poll => return false,
            Then::AsBefore => {}
            Then::WaitUntil(at) => self.due = Some(at),
            Then::Idle => self.due = None,
        }
        self.known += 1;
        true
    }

    /// Runs everything that is due until that time.
    fn run(&mut self, until: Instant) {
        loop {
            let answer = self.answers.front().copied().filter(|at| *at <= until);
            let due = self.due.filter(|at| *at <= until);
            match (answer, due) {
                (Some(at), due) if due.is_none_or(|due| at <= due) => {
                    self.answers.pop_front();
                    let delivered = self.frames.is_multiple_of(2);
                    self.node.handle(at, &mut self.board, Input::Sent { delivered });
                    self.settle(at);
                }
                (_, Some(at)) => self.settle(at),
                _ => return,
            }
        }
    }

    fn hear(&mut self, now: Instant, data: &[u8], rssi: i8, channel: u8) {
        if self.short {
            let then = self.node.hear(now, &mut self.board, &ParsedFrame::new(data), rssi, channel);
            if !self.follows(then) {
                self.settle(now);
            }
        } else {
            let frame =
                ReceivedFrame { data, transmitter: mac(1), receiver: mac(0), rssi, channel };
            self.node.handle(now, &mut self.board, Input::Frame(frame));
            self.settle(now);
        }
    }
}

impl Alone {
    /// Does something other than a frame now and then: a command, a payload of the application,
    /// settings that change which frames are accepted.
    fn meddle(&mut self, now: Instant, random: u32) {
        let (on, most) = (!random.is_multiple_of(5), 1 + (random >> 20) as u8 % 8);
        let node = &mut self.node;
        match random % 211 {
            0..4 => node.handle(now, &mut self.board, Input::Console(b"help\r")),
            4..8 => {
                let out = outgoing(Mac::BROADCAST, FrameConfig::default(), 0);
                // A node that is still sending loses the payload.
                let _ = node.send(now, &mut self.board, &out, b"payload");
            }
            8 => node.shared_mut().air.listen(DataType::Data, on),
            9 => {
                let refused = if on { 0 } else { DataType::Data.mask() };
                node.shared_mut().settings.policy.encrypted_only = refused;
            }
            10 => node.shared_mut().settings.queue = most,
            11 => node.shared_mut().air.tune(1 + u8::from(on)),
            12 => node.wake(NodePart::Log),
            _ => return,
        }
        self.settle(now);
    }
}

/// Returns a frame like those of a busy room, or one that is not.
fn frame(random: u32) -> Vec<u8> {
    let kinds = [DataType::Data, DataType::DebugLog, DataType::TimeSync, DataType::Ack];
    let data_type = kinds[(random >> 3) as usize % 16 / 5];
    let config = FrameConfig {
        channel: 1,
        ack: random & 0x100 != 0,
        ttl: u8::from(random & 0xE00 == 0),
        security: random & 0x7000 == 0,
        ..FrameConfig::default()
    };
    let dest = if random & 0x1_8000 == 0 { mac(0) } else { Mac::BROADCAST };
    let len = (random >> 17) as usize % 200;
    let magic = (random >> 20) as u16 % 64;
    let size = len as u8;
    let head = Header { data_type, version: VERSION, size, magic, config, dest, src: mac(1) };
    let mut data = head.emit().to_vec();
    data.resize(data.len() + len, 7);
    data
}

#[test]
fn whoever_takes_the_short_cuts_sees_the_same() {
    let costs: [fn(CpuWork) -> Duration; 3] = [
        |_| Duration::ZERO,
        |work| match work {
            CpuWork::Receive { .. } => Duration::from_micros(40),
            CpuWork::Dispatch { .. } => Duration::from_micros(60),
            _ => Duration::ZERO,
        },
        |work| match work {
            CpuWork::Dispatch { bytes } => Duration::from_micros(u64::from(bytes) * 20),
            CpuWork::Print { bytes } => Duration::from_micros(87) * bytes,
            _ => Duration::from_micros(30),
        },
    ];
    let releases = [ComponentRelease::V2_5_3, ComponentRelease::Mid2022];
    for (cost, release) in costs.into_iter().flat_map(|cost| releases.map(|it| (cost, it))) {
        let [mut short, mut long] = [true, false].map(|short| Alone::new(cost, release, short));
        let (mut now, mut random) = (Instant::ZERO, 1_u32);
        for _ in 0..25_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            now = now.after_nanos(u64::from(random >> 12));
            for it in [&mut short, &mut long] {
                it.run(now);
                it.hear(now, &frame(random.rotate_left(7)), -40 - (random >> 26) as i8, 1);
                it.meddle(now, random);
            }
        }
        assert_eq!(short.told.len(), long.told.len());
        for (a, b) in short.told.iter().zip(&long.told) {
            assert_eq!(a, b);
        }
        assert_eq!(short.node.counters(), long.node.counters());
        assert_eq!(short.node.dropped(), long.node.dropped());
        let counters = short.node.counters();
        assert!(counters.delivered > 500 && counters.acks_due > 20, "{counters:?}");
        assert!(short.known > 5000 && long.known == 0, "{}", short.known);
        // A late acknowledgement may be due in that release.
        let shown = if release == ComponentRelease::Mid2022 { 0..=0 } else { 200..=25_000 };
        assert!(shown.contains(&short.shown) && long.shown == 0, "{}", short.shown);
        assert!(counters.transmitted > 100 && counters.policy > 100, "{counters:?}");
    }
}

//! A few nodes of one part each on virtual time, without an engine, for tests of single parts. A
//! rule decides whether a frame reaches each node that receives on its channel.

use crate::node::board::{BareBoard, Board, NvsKey};
use crate::node::task::{
    Cx, EspNowEvent, NodeSettings, Received, SendRequest, Shared, Task, TaskStep, TransmitOutcome,
};
use crate::node::tick::Tick;
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::Sample;
use espbench_model::time::{Duration, Instant};
use std::boxed::Box;
use std::string::String;
use std::vec::Vec;

/// Fate of one copy or attempt at one receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    Lost,
    Arrives,
    /// The copy arrives, and the acknowledgement is lost.
    Unacked,
}

/// One copy on its way to a receiver.
pub(crate) struct CopyInFlight<'a> {
    pub(crate) from: usize,
    pub(crate) payload: &'a [u8],
}

/// A board that keeps values and records what its pins did.
pub(crate) struct TestBoard {
    chance: BareBoard,
    pub(crate) stored: Vec<(NvsKey, Vec<u8>)>,
    pub(crate) pins: Vec<(u8, bool)>,
}

impl Board for TestBoard {
    fn random(&mut self, out: &mut [u8]) {
        self.chance.random(out);
    }

    fn load(&mut self, key: NvsKey, out: &mut [u8]) -> Option<usize> {
        let (_, value) = self.stored.iter().find(|(k, _)| *k == key)?;
        let len = value.len().min(out.len());
        out[..len].copy_from_slice(&value[..len]);
        Some(len)
    }

    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        self.forget(key);
        self.stored.push((key, value.into()));
        true
    }

    fn forget(&mut self, key: NvsKey) {
        self.stored.retain(|(k, _)| *k != key);
    }

    fn pin(&mut self, number: u8, high: bool) {
        self.pins.push((number, high));
    }
}

pub(crate) struct TestNode<P> {
    pub(crate) part: P,
    pub(crate) shared: Shared,
    pub(crate) board: TestBoard,
    pub(crate) printed: String,
    pub(crate) samples: Vec<Sample>,
    pub(crate) events: Vec<EspNowEvent>,
    wake: Instant,
    sending: bool,
}

enum Due {
    Sent(usize, TransmitOutcome),
    Frame(usize, Mac, SendRequest, Vec<u8>, u8),
}

type Rule = Box<dyn FnMut(&CopyInFlight<'_>) -> Hop>;

pub(crate) struct TaskTestbed<P: Task> {
    pub(crate) now: Instant,
    pub(crate) nodes: Vec<TestNode<P>>,
    /// Air time of a copy.
    pub(crate) airtime: Duration,
    pub(crate) rule: Rule,
    /// Frames that were sent, and their payloads, as they were composed.
    pub(crate) log: Vec<(usize, SendRequest, Vec<u8>)>,
    receive: fn(&mut P, &mut Cx<'_>, &Received<'_>),
    due: Vec<(Instant, Due)>,
}

pub(crate) fn mac(n: usize) -> Mac {
    Mac([0x24, 0x0A, 0xC4, 0, (n >> 8) as u8, n as u8 + 1])
}

impl<P: Task + Default> TaskTestbed<P> {
    pub(crate) fn new(nodes: usize, receive: fn(&mut P, &mut Cx<'_>, &Received<'_>)) -> Self {
        let node = |n| {
            let settings = NodeSettings { tick: Tick::from_hz(1000), ..NodeSettings::default() };
            TestNode {
                part: P::default(),
                shared: Shared::new(mac(n), settings),
                board: TestBoard {
                    chance: BareBoard(n as u64),
                    stored: Vec::new(),
                    pins: Vec::new(),
                },
                printed: String::new(),
                samples: Vec::new(),
                events: Vec::new(),
                wake: Instant::NEVER,
                sending: false,
            }
        };
        Self {
            now: Instant::ZERO,
            nodes: (0..nodes).map(node).collect(),
            airtime: Duration::from_millis(1),
            rule: Box::new(|_| Hop::Arrives),
            log: Vec::new(),
            receive,
            due: Vec::new(),
        }
    }

    /// Calls `act` on a part, and lets the part go on.
    pub(crate) fn with<R>(&mut self, n: usize, act: impl FnOnce(&mut P, &mut Cx<'_>) -> R) -> R {
        let now = self.now;
        let node = &mut self.nodes[n];
        let mut cx = Cx { now, board: &mut node.board, shared: &mut node.shared };
        let result = act(&mut node.part, &mut cx);
        self.drain(n);
        self.go_on(n);
        result
    }

    fn go_on(&mut self, n: usize) {
        let now = self.now;
        let mut turns = 0;
        while !self.nodes[n].sending {
            let node = &mut self.nodes[n];
            let mut cx = Cx { now, board: &mut node.board, shared: &mut node.shared };
            let step = node.part.run(&mut cx);
            self.drain(n);
            turns += 1;
            assert!(turns < 10_000, "no end at {now:?}");
            match step {
                TaskStep::Send => self.send(n),
                TaskStep::Until(at) if at <= now => {}
                TaskStep::Until(at) => return self.nodes[n].wake = at,
                TaskStep::Idle => return self.nodes[n].wake = Instant::NEVER,
            }
        }
    }

    fn drain(&mut self, n: usize) {
        let node = &mut self.nodes[n];
        let mut buf = [0; 256];
        loop {
            let len = node.shared.print.take_output(&mut buf);
            if len == 0 {
                break;
            }
            node.printed.push_str(&String::from_utf8_lossy(&buf[..len]));
        }
        node.samples.extend(core::iter::from_fn(|| node.shared.take_sample()));
        node.events.extend(core::iter::from_fn(|| node.shared.take_event()));
        assert_eq!((node.shared.lost, node.shared.print.dropped.uart_bytes), (0, 0));
    }

    fn send(&mut self, n: usize) {
        let now = self.now;
        let node = &mut self.nodes[n];
        let mut cx = Cx { now, board: &mut node.board, shared: &mut node.shared };
        let mut buf = [0xEE; 1500];
        let Some(out) = node.part.compose(&mut cx, &mut buf) else { return };
        let payload: Vec<u8> = buf[..out.len].into();
        node.sending = true;
        let (channel, from) = (node.shared.air.channel, node.shared.air.mac);
        let fits = out.len <= node.shared.settings.compat.data_max();
        self.log.push((n, out, payload.clone()));
        if !fits {
            return self.due.push((now, Due::Sent(n, TransmitOutcome::Refused)));
        }
        let mut end = now;
        let mut delivered = false;
        let mut reached = Vec::new();
        let mut attempts = 0;
        for _ in 0..out.config.copies.max(1) {
            attempts += 1;
            end = end + self.airtime;
            for to in 0..self.nodes.len() {
                let air = &self.nodes[to].shared.air;
                let meant = if out.config.group {
                    air.in_group(out.dest)
                } else {
                    out.dest == air.mac || (out.config.broadcast && out.dest.is_broadcast())
                };
                if to == n || air.channel != channel || !meant {
                    continue;
                }
                let hop = (self.rule)(&CopyInFlight { from: n, payload: &payload });
                delivered |= hop == Hop::Arrives;
                // All copies carry one magic: the engine lets one of them through.
                if hop != Hop::Lost && !reached.contains(&to) {
                    reached.push(to);
                    let frame = Due::Frame(to, from, out, payload.clone(), channel);
                    self.due.push((end + Duration::from_micros(50), frame));
                }
            }
            if delivered && (!out.config.broadcast || out.config.ack) {
                break;
            }
        }
        let outcome = match (delivered, out.config.broadcast, out.config.ack) {
            (true, ..) | (_, true, false) => TransmitOutcome::Done { attempts },
            (false, true, true) if out.dest.is_broadcast() => TransmitOutcome::Done { attempts },
            (false, _, true) => TransmitOutcome::TimedOut,
            (false, false, false) => TransmitOutcome::Failed,
        };
        self.due.push((end, Due::Sent(n, outcome)));
    }

    /// Runs until that time.
    pub(crate) fn run_until(&mut self, end: Instant) {
        loop {
            let due = (0..self.due.len()).min_by_key(|&i| self.due[i].0);
            let waking = (0..self.nodes.len())
                .filter(|&n| !self.nodes[n].sending)
                .min_by_key(|&n| self.nodes[n].wake);
            let due_at = due.map_or(Instant::NEVER, |i| self.due[i].0);
            let wake_at = waking.map_or(Instant::NEVER, |n| self.nodes[n].wake);
            if due_at.min(wake_at) > end {
                break;
            }
            self.now = self.now.max(due_at.min(wake_at));
            match (due, waking) {
                (Some(i), _) if due_at <= wake_at => {
                    let (_, due) = self.due.remove(i);
                    self.happen(due);
                }
                (_, Some(n)) => self.go_on(n),
                _ => break,
            }
        }
        self.now = self.now.max(end);
    }

    pub(crate) fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }

    fn happen(&mut self, due: Due) {
        let now = self.now;
        let receive = self.receive;
        match due {
            Due::Sent(n, outcome) => {
                let node = &mut self.nodes[n];
                node.sending = false;
                let mut cx = Cx { now, board: &mut node.board, shared: &mut node.shared };
                node.part.sent(&mut cx, outcome);
                self.go_on(n);
            }
            Due::Frame(n, from, out, payload, channel) => {
                let node = &mut self.nodes[n];
                if !node.shared.air.listens(out.data_type) || node.shared.air.channel != channel {
                    return;
                }
                let mut cx = Cx { now, board: &mut node.board, shared: &mut node.shared };
                let frame = Received {
                    from,
                    data_type: out.data_type,
                    data: &payload,
                    rssi: -40,
                    channel,
                    at: now,
                };
                receive(&mut node.part, &mut cx, &frame);
                self.drain(n);
                self.go_on(n);
            }
        }
    }

    /// Returns the lines that a node printed, without the times.
    pub(crate) fn lines(&self, n: usize) -> Vec<&str> {
        let strip = |line| -> &str {
            let line: &str = line;
            line.split_once(") ").map_or(line, |(_, rest)| rest)
        };
        self.nodes[n].printed.lines().map(strip).collect()
    }
}

/// Returns a rule that loses each copy with that probability, in per cent.
pub(crate) fn random_loss(seed: u64, percent: u8) -> Rule {
    let mut chance = BareBoard(seed);
    Box::new(move |_| {
        let mut byte = [0; 2];
        chance.random(&mut byte);
        if u16::from_le_bytes(byte) % 100 < u16::from(percent) { Hop::Lost } else { Hop::Arrives }
    })
}

//! Conversations of an initiator with responders, on virtual time, through a lossy medium.

mod data;
mod jobs;

use super::build::ImageBuilder;
use super::initiator::{OtaBusy, Totals};
use super::responder::OtaConfig;
use super::{OtaInitiator, OtaResponder, rollback};
use crate::component::DataType;
use crate::component::group::OTA as GROUP;
use crate::component::ota::{AppDescription, OtaCode, OtaInfo, OtaStatus};
use crate::node::board::{BareBoard, Board, CpuWork, Download, NvsKey, Slot};
use crate::node::print::LogLevel;
use crate::node::task::{
    Cx, EspNowEvent, NodeSettings, Received, SendRequest, Shared, Task, TaskStep, TransmitOutcome,
};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::{Duration, Instant};
use std::string::String;
use std::vec::Vec;
use std::{format, vec};

/// A board with two slots and a little storage.
struct Flash {
    chance: BareBoard,
    slots: [Vec<u8>; 2],
    lens: [u32; 2],
    upgrade: Option<Vec<u8>>,
    boot: Slot,
    erased: u32,
    work: Duration,
}

impl Flash {
    fn new(seed: u64, size: usize, running: &[u8]) -> Self {
        let mut slots = [vec![0xFF; size.max(running.len())], vec![0xFF; size]];
        slots[0][..running.len()].copy_from_slice(running);
        Self {
            chance: BareBoard(seed),
            slots,
            lens: [running.len() as u32, 0],
            upgrade: None,
            boot: Slot::Running,
            erased: 0,
            work: Duration::ZERO,
        }
    }
}

impl Board for Flash {
    fn random(&mut self, out: &mut [u8]) {
        self.chance.random(out);
    }

    fn cost_ns(&mut self, work: CpuWork) -> u64 {
        let cost = match work {
            CpuWork::Hash { bytes } | CpuWork::Read { bytes } => {
                Duration::from_nanos(u64::from(bytes) * 100)
            }
            CpuWork::Write { bytes } => Duration::from_micros(u64::from(bytes) * 2),
            CpuWork::Erase { bytes } => Duration::from_micros(u64::from(bytes / 4096) * 30_000),
            _ => Duration::ZERO,
        };
        self.work += cost;
        cost.as_nanos() as u64
    }

    fn slot_size(&self, slot: Slot) -> u32 {
        self.slots[slot as usize].len() as u32
    }

    fn image_len(&self, slot: Slot) -> u32 {
        self.lens[slot as usize]
    }

    fn read(&mut self, slot: Slot, offset: u32, out: &mut [u8]) -> bool {
        let Some(from) = self.slots[slot as usize].get(offset as usize..) else { return false };
        let Some(from) = from.get(..out.len()) else { return false };
        out.copy_from_slice(from);
        true
    }

    fn erase(&mut self, len: u32) -> bool {
        self.erased += 1;
        self.slots[1][..len as usize].fill(0xFF);
        true
    }

    fn write(&mut self, offset: u32, data: &[u8]) -> bool {
        let Some(to) = self.slots[1].get_mut(offset as usize..) else { return false };
        let Some(to) = to.get_mut(..data.len()) else { return false };
        // Flash only clears bits.
        to.iter_mut().zip(data).for_each(|(to, from)| *to &= from);
        true
    }

    fn boot(&mut self, slot: Slot) -> bool {
        self.boot = slot;
        true
    }

    fn load(&mut self, _: NvsKey, out: &mut [u8]) -> Option<usize> {
        let stored = self.upgrade.as_ref()?;
        out[..stored.len()].copy_from_slice(stored);
        Some(stored.len())
    }

    fn save(&mut self, key: NvsKey, value: &[u8]) -> bool {
        assert_eq!(key, NvsKey::Upgrade);
        self.upgrade = Some(value.to_vec());
        true
    }

    fn forget(&mut self, _: NvsKey) {
        self.upgrade = None;
    }

    fn fetch(&mut self, url: &str) -> bool {
        url.starts_with("http:")
    }

    fn download(&mut self) -> Download {
        Download::Complete
    }
}

fn image(len: u32, version: &str, seed: u64) -> Vec<u8> {
    let app = AppDescription::new("solution", version, "v5.1", "Jan  1 2026", "12:00:00");
    let mut bytes = Vec::new();
    let mut sink = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        true
    };
    ImageBuilder { len, chip: 5, app, seed }.write(&mut sink).expect("a valid length");
    bytes
}

fn mac(n: usize) -> Mac {
    Mac([0x24, 0x0A, 0xC4, 0, (n >> 8) as u8, n as u8])
}

/// A node: its shared state, its board, and one part.
struct Node<T> {
    shared: Shared,
    board: Flash,
    part: T,
    wake: Instant,
    sends: bool,
    text: String,
    events: Vec<EspNowEvent>,
}

impl<T: Task> Node<T> {
    fn new(n: usize, board: Flash, part: T) -> Self {
        let settings = NodeSettings {
            tick: crate::node::tick::Tick::from_hz(1000),
            ..NodeSettings::default()
        };
        Self {
            shared: Shared::new(mac(n), settings),
            board,
            part,
            wake: Instant::ZERO,
            sends: false,
            text: String::new(),
            events: Vec::new(),
        }
    }

    fn with<R>(&mut self, now: Instant, f: impl FnOnce(&mut T, &mut Cx<'_>) -> R) -> R {
        let mut cx = Cx { now, board: &mut self.board, shared: &mut self.shared };
        let result = f(&mut self.part, &mut cx);
        let mut buf = [0; 4096];
        let len = self.shared.print.take_output(&mut buf);
        self.text.push_str(core::str::from_utf8(&buf[..len]).expect("text"));
        self.events.extend(core::iter::from_fn(|| self.shared.take_event()));
        result
    }

    /// Runs until the node waits; the time that work takes is waited for, too.
    fn run(&mut self, now: Instant) {
        for _ in 0..100_000 {
            let step = self.with(now, |part, cx| part.run(cx));
            let busy = Duration::from_nanos(core::mem::take(&mut self.shared.busy_ns));
            match step {
                TaskStep::Send => {
                    (self.sends, self.wake) = (true, now + busy);
                    return;
                }
                TaskStep::Until(at) if at <= now && busy.is_zero() => {}
                TaskStep::Until(at) => {
                    self.wake = at.max(now + busy);
                    return;
                }
                TaskStep::Idle => {
                    self.wake = if busy.is_zero() { Instant::NEVER } else { now + busy };
                    return;
                }
            }
        }
        panic!("it never waits");
    }
}

/// An initiator, responders, and the air between them.
struct Lab {
    now: Instant,
    sender: Node<OtaInitiator>,
    devices: Vec<Node<OtaResponder>>,
    chance: BareBoard,
    loss: u8,
    groups: Vec<bool>,
    sent: usize,
    data: usize,
}

const TX: Duration = Duration::from_micros(2700);

impl Lab {
    fn new(devices: usize, loss: u8, new: &[u8]) -> Self {
        let old = image(2048, "1.0", 99);
        let mut board = Flash::new(1, new.len(), &old);
        board.slots[1].copy_from_slice(new);
        board.lens[1] = new.len() as u32;
        let responder = |n| {
            let board = Flash::new(n as u64 + 10, new.len() + 4096, &old);
            Node::new(n + 1, board, OtaResponder::default())
        };
        let mut lab = Self {
            now: Instant::ZERO,
            sender: Node::new(0, board, OtaInitiator::default()),
            devices: (0..devices).map(responder).collect(),
            chance: BareBoard(u64::from(loss) + 1000),
            loss,
            groups: vec![false; devices],
            sent: 0,
            data: 0,
        };
        let now = lab.now;
        lab.devices.iter_mut().for_each(|d| d.with(now, |part, cx| part.start(cx)));
        lab
    }

    fn lost(&mut self) -> bool {
        let mut byte = [0];
        self.chance.random(&mut byte);
        u16::from(byte[0]) * 100 < u16::from(self.loss) * 256
    }

    /// Returns whether one of `copies` copies arrives.
    fn arrives(&mut self, copies: u8) -> bool {
        (0..copies).any(|_| !self.lost())
    }

    fn send_list(&mut self, list: &str) {
        let now = self.now;
        self.sender.with(now, |part, cx| part.send_list(cx, list)).expect("idle");
        self.sender.wake = now;
    }

    /// Delivers the initiator's frame to its addressees.
    fn broadcast(&mut self, out: SendRequest, payload: &[u8]) {
        self.sent += 1;
        for n in 0..self.devices.len() {
            if !self.arrives(out.config.copies) {
                continue;
            }
            if out.data_type == DataType::Group {
                let own = mac(n + 1).0;
                let members = payload[8..].chunks(6);
                if members.into_iter().any(|m| m == own || m == [0xFF; 6]) {
                    self.groups[n] = payload[0] == 1;
                }
            } else if out.dest != GROUP || self.groups[n] {
                let frame = Received {
                    from: mac(0),
                    data_type: out.data_type,
                    data: payload,
                    rssi: -40,
                    channel: 1,
                    at: self.now,
                };
                self.devices[n].with(self.now, |part, cx| part.receive(cx, &frame));
                self.devices[n].wake = self.now;
            }
        }
    }

    fn transmit_sender(&mut self) {
        self.sender.sends = false;
        let mut payload = [0xEE; 230];
        let out = self.sender.with(self.now, |part, cx| part.compose(cx, &mut payload));
        if let Some(out) = out {
            self.data += usize::from(payload[0] == 2 && out.data_type == DataType::OtaData);
            self.now = self.now + TX * u32::from(out.config.copies);
            self.broadcast(out, &payload[..out.len]);
            let outcome = TransmitOutcome::Done { attempts: out.config.copies };
            self.sender.with(self.now, |part, cx| part.sent(cx, outcome));
        }
        self.sender.wake = self.now;
    }

    fn transmit(&mut self, n: usize) {
        self.devices[n].sends = false;
        let mut payload = [0xEE; 230];
        let out = self.devices[n].with(self.now, |part, cx| part.compose(cx, &mut payload));
        self.devices[n].wake = self.now;
        let Some(out) = out else { return };
        // A unicast frame is repeated by the MAC, too.
        let arrives = self.arrives(out.config.copies.saturating_mul(3));
        let outcome = if arrives || out.config.broadcast {
            TransmitOutcome::Done { attempts: 1 }
        } else {
            TransmitOutcome::Failed
        };
        if arrives && self.sender.shared.air.listens(DataType::OtaStatus) {
            let frame = Received {
                from: mac(n + 1),
                data_type: out.data_type,
                data: &payload[..out.len],
                rssi: -50,
                channel: 1,
                at: self.now,
            };
            self.sender.with(self.now, |part, cx| part.receive(cx, &frame));
            self.sender.wake = self.now;
        }
        self.devices[n].with(self.now, |part, cx| part.sent(cx, outcome));
    }

    /// Runs the device that is next for one step; returns false if there is none.
    fn step(&mut self) -> bool {
        let next = self.devices.iter().map(|d| d.wake).chain([self.sender.wake]).min();
        let Some(next) = next.filter(|n| *n < Instant::NEVER) else { return false };
        self.now = self.now.max(next);
        for n in 0..self.devices.len() {
            if self.devices[n].wake > self.now {
                continue;
            }
            if self.devices[n].sends {
                self.transmit(n);
            } else {
                self.devices[n].run(self.now);
            }
        }
        if self.sender.wake <= self.now {
            if self.sender.sends { self.transmit_sender() } else { self.sender.run(self.now) }
        }
        true
    }

    /// Runs until nothing more happens.
    fn finish(&mut self) {
        for _ in 0..3_000_000 {
            if !self.step() {
                return;
            }
            assert!(self.now < Instant::ZERO + Duration::from_secs(3600), "it ends within an hour");
        }
        panic!("too many steps");
    }

    fn totals(&self) -> Totals {
        self.sender.part.totals()
    }

    fn list(&self) -> String {
        (1..=self.devices.len()).map(|n| format!("{},", mac(n))).collect()
    }

    fn reset(&mut self, n: usize) {
        let device = &mut self.devices[n];
        device.part = OtaResponder::default();
        (device.wake, device.sends) = (self.now, false);
        // Groups are in RAM; the initiator does not repeat the invitation, the test does.
        let now = self.now;
        device.with(now, |part, cx| part.start(cx));
    }
}

fn has(node: &Node<OtaResponder>, new: &[u8]) -> bool {
    &node.board.slots[1][..new.len()] == new && node.board.boot == Slot::Spare
}

//! The way of frames from one driver to the others.

use super::radio::TxState;
use super::{IdealMedium, NodeEvent, NodeEventKind};
use crate::lab::nodes::Livelock;
use crate::lab::nodes::device::{DeviceModel, NodeId};
use crate::lab::nodes::device_set::{Cue, DeviceHost, DeviceSet};
use crate::lab::nodes::note::{FrameOnAir, MissReason, Note, Watch};
use crate::lab::nodes::pool::FrameOrigin;
use crate::lab::pool::Handle;
use esp_now::node::{Input, ReceivedFrame};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;

/// Tells whether a frame is for everybody: broadcast, and group addresses of IEEE 802.
const fn is_group(to: Mac) -> bool {
    to.0[0] & 1 == 1
}

/// The host of a fleet's devices: the ideal medium, timers and the watch.
pub(crate) struct IdealHost<'a, W> {
    pub(super) medium: &'a mut IdealMedium,
    pub(super) watch: &'a mut W,
}

impl<W: Watch> DeviceHost for IdealHost<'_, W> {
    type Watch = W;

    fn watch(&mut self) -> &mut W {
        self.watch
    }

    fn transmit(&mut self, node: NodeId, life: u32, channel: u8, to: Mac, data: &[u8]) -> bool {
        let medium = &mut *self.medium;
        let radio = &mut medium.radios[node.index()];
        if radio.waiting.len() >= radio.tx_buffers {
            radio.counters.refused += 1;
            return false;
        }
        medium.frames += 1;
        radio.counters.sent += 1;
        let origin = FrameOrigin {
            at: medium.now,
            number: medium.frames,
            node,
            life,
            to,
            channel,
            raw: None,
        };
        let frame = medium.pool.put(origin, data);
        radio.waiting.push_back(frame);
        if radio.sending.attempt == 0 {
            medium.begin_attempt(node, life);
        }
        true
    }

    fn tune(&mut self, _: NodeId, _: u8) {}

    fn wait(&mut self, node: NodeId, life: u32, until: Option<Instant>) {
        let radio = &mut self.medium.radios[node.index()];
        if let Some(at) = until
            && radio.wake != until
        {
            self.medium.events.push(at, NodeEvent { node, life, what: NodeEventKind::Wake });
        }
        radio.wake = until;
    }

    fn schedule(&mut self, at: Instant, node: NodeId, life: u32, cue: Cue) {
        self.medium.events.push(at, NodeEvent { node, life, what: NodeEventKind::Cue(cue) });
    }

    fn silence(&mut self, node: NodeId, _: u32) {
        let radio = &mut self.medium.radios[node.index()];
        radio.sending = TxState::default();
        for frame in radio.waiting.drain(..) {
            self.medium.pool.release(frame);
        }
    }
}

impl IdealMedium {
    /// Puts the oldest frame of a driver on the air.
    fn begin_attempt(&mut self, node: NodeId, life: u32) {
        let radio = &mut self.radios[node.index()];
        let Some(&handle) = radio.waiting.front() else { return };
        let frame = self.pool.get(handle);
        if radio.sending.attempt == 0 {
            radio.sequence = (radio.sequence + 1) & 0xFFF;
        }
        radio.sending.attempt += 1;
        radio.sending.started = self.now;
        radio.counters.attempts += 1;
        let took = (self.config.frame_time)(frame.data.len(), !is_group(frame.head.to));
        self.events.push(self.now + took, NodeEvent { node, life, what: NodeEventKind::AirEnd });
    }
}

/// Parts that an event of the ideal medium reaches: the medium, the devices and the watch.
pub(super) struct IdealLoop<'a, D, W> {
    pub(super) medium: &'a mut IdealMedium,
    pub(super) device_set: &'a mut DeviceSet<D>,
    pub(super) watch: &'a mut W,
}

impl<D: DeviceModel, W: Watch> IdealLoop<'_, D, W> {
    /// Carries out an event of a node that is in the same life.
    pub(super) fn carry_out(mut self, due: NodeEvent) -> Result<(), Livelock> {
        let NodeEvent { node, what, .. } = due;
        match what {
            NodeEventKind::Cue(cue) => {
                let (device_set, mut host) = self.parts();
                device_set.cue(&mut host, node, cue)
            }
            NodeEventKind::Wake => {
                let radio = &mut self.medium.radios[node.index()];
                if radio.wake != Some(self.medium.now) {
                    return Ok(());
                }
                radio.wake = None;
                self.input(node, Input::Tick)
            }
            NodeEventKind::AirEnd => self.air_end(node),
            NodeEventKind::Arrive { frame, rssi } => self.arrive(node, frame, rssi),
        }
    }

    /// Returns the devices, and their host.
    fn parts(&mut self) -> (&mut DeviceSet<D>, IdealHost<'_, W>) {
        (self.device_set, IdealHost { medium: self.medium, watch: self.watch })
    }

    fn input(&mut self, node: NodeId, input: Input<'_>) -> Result<(), Livelock> {
        let (device_set, mut host) = self.parts();
        device_set.input(&mut host, node, input)
    }

    fn begin_attempt(&mut self, node: NodeId) {
        let life = self.device_set.member(node).life;
        self.medium.begin_attempt(node, life);
    }

    fn schedule(&mut self, at: Instant, node: NodeId, what: NodeEventKind) {
        let life = self.device_set.member(node).life;
        self.medium.events.push(at, NodeEvent { node, life, what });
    }

    /// Ends an attempt: decides who has the frame, and tells the sender.
    pub(super) fn air_end(&mut self, node: NodeId) -> Result<(), Livelock> {
        let Some(&handle) = self.medium.radios[node.index()].waiting.front() else { return Ok(()) };
        self.medium.heard.clear();
        self.medium.missed.clear();
        self.medium.signals.clear();
        let to = self.medium.pool.get(handle).head.to;
        let acknowledged = if is_group(to) {
            for receiver in (0..self.device_set.members.len() as u16).map(NodeId) {
                if receiver != node {
                    self.receive(handle, receiver, false);
                }
            }
            None
        } else {
            Some(self.receive_unicast(handle, to))
        };
        self.tell(handle, acknowledged);
        self.deliver(handle)?;
        // The sender may have been reset by what its frame caused.
        if self.medium.radios[node.index()].waiting.front() != Some(&handle) {
            return Ok(());
        }
        let retries = self.medium.config.mac_retries;
        if acknowledged == Some(false)
            && self.medium.radios[node.index()].sending.attempt <= retries
        {
            self.begin_attempt(node);
            return Ok(());
        }
        self.end_frame(node, acknowledged != Some(false))
    }

    /// Tells whether a frame on the air reaches that station. Broadcasts out of its reach are not
    /// worth a note.
    fn receive(&mut self, handle: Handle, receiver: NodeId, note_all: bool) -> bool {
        let frame = self.medium.pool.get(handle);
        let radio = &mut self.medium.radios[receiver.index()];
        let member = self.device_set.member(receiver);
        let link = self.medium.config.between(frame.head.node, receiver);
        let (why, rssi) = match link {
            None => (Some(MissReason::Range), 0),
            Some(_) if member.device.is_none() => (Some(MissReason::Off), 0),
            Some(_) if member.channel != frame.head.channel => (Some(MissReason::Channel), 0),
            Some((_, loss)) if loss.hit(&mut radio.streams.loss) => {
                radio.counters.lost += 1;
                (Some(MissReason::Loss), 0)
            }
            Some((rssi, _)) => (None, rssi),
        };
        match why {
            None => {
                self.medium.heard.push(receiver);
                self.medium.signals.push(rssi);
            }
            Some(why) if note_all || why == MissReason::Loss => {
                self.medium.missed.push((receiver, why))
            }
            Some(_) => {}
        }
        why.is_none()
    }

    /// Tells whether the acknowledgement of a unicast frame came back.
    fn receive_unicast(&mut self, handle: Handle, to: Mac) -> bool {
        let Some(receiver) = self.device_set.node_of(to) else { return false };
        let sender = self.medium.pool.get(handle).head.node;
        if receiver == sender || !self.receive(handle, receiver, true) {
            return false;
        }
        let filter = self.medium.config.mac_filter;
        let back = self.medium.config.between(receiver, sender);
        let radio = &mut self.medium.radios[sender.index()];
        let came_back = back.is_some_and(|(_, loss)| !loss.hit(&mut radio.streams.ack));
        if radio.sending.through && filter {
            self.medium.heard.clear();
            self.medium.signals.clear();
            self.medium.missed.push((receiver, MissReason::Duplicate));
        }
        self.medium.radios[sender.index()].sending.through = true;
        came_back
    }

    fn tell(&mut self, handle: Handle, acknowledged: Option<bool>) {
        let frame = self.medium.pool.get(handle);
        let sender = &self.medium.radios[frame.head.node.index()];
        let on_air = FrameOnAir {
            number: frame.head.number,
            attempt: sender.sending.attempt,
            sequence: sender.sequence,
            started: sender.sending.started,
            took: self.medium.now.since(sender.sending.started),
            node: frame.head.node,
            from: frame.head.node.mac(),
            to: frame.head.to,
            channel: frame.head.channel,
            data: &frame.data,
            heard: &self.medium.heard,
            missed: &self.medium.missed,
            acknowledged,
        };
        self.watch.note(self.medium.now, &Note::Air(on_air));
    }

    /// Hands the frame to those who heard it, now or later.
    fn deliver(&mut self, handle: Handle) -> Result<(), Livelock> {
        // What a frame causes may not begin before everybody's chance is drawn, so the lists are
        // taken out; their memory comes back below.
        let heard = core::mem::take(&mut self.medium.heard);
        let signals = core::mem::take(&mut self.medium.signals);
        self.medium.pool.share(handle);
        let mut result = Ok(());
        for (&node, &rssi) in heard.iter().zip(&signals) {
            if self.medium.config.is_prompt() {
                result = self.hand_over(node, handle, rssi);
            } else {
                self.deliver_late(node, handle, rssi);
            }
            if result.is_err() {
                break;
            }
        }
        self.medium.pool.release(handle);
        (self.medium.heard, self.medium.signals) = (heard, signals);
        result
    }

    fn deliver_late(&mut self, node: NodeId, frame: Handle, rssi: i8) {
        let streams = &mut self.medium.radios[node.index()].streams;
        let config = &self.medium.config;
        let doubled = config.duplicate.hit(&mut streams.duplicate);
        for _ in 0..=u8::from(doubled) {
            let streams = &mut self.medium.radios[node.index()].streams;
            let mut late =
                self.medium.config.delay + streams.delay.time_below(self.medium.config.jitter);
            if self.medium.config.reorder.hit(&mut streams.delay) {
                late += streams.delay.time_below(self.medium.config.hold);
            }
            self.medium.pool.share(frame);
            self.schedule(self.medium.now + late, node, NodeEventKind::Arrive { frame, rssi });
        }
        self.medium.radios[node.index()].counters.doubled += u64::from(doubled);
    }

    /// Delivers a delayed frame.
    pub(super) fn arrive(&mut self, node: NodeId, frame: Handle, rssi: i8) -> Result<(), Livelock> {
        let number = self.medium.pool.get(frame).head.number;
        self.watch.note(self.medium.now, &Note::Arrived { node, number });
        let result = self.hand_over(node, frame, rssi);
        self.medium.pool.release(frame);
        result
    }

    fn hand_over(&mut self, node: NodeId, handle: Handle, rssi: i8) -> Result<(), Livelock> {
        let frame = self.medium.pool.get(handle);
        let input = ReceivedFrame {
            data: &frame.data,
            transmitter: frame.head.node.mac(),
            receiver: frame.head.to,
            rssi,
            channel: frame.head.channel,
        };
        if !self.device_set.handle(node, Input::Frame(input)) {
            return Ok(());
        }
        self.medium.radios[node.index()].counters.received += 1;
        let (device_set, mut host) = self.parts();
        device_set.settle(&mut host, node)
    }

    /// Ends the driver's work on its oldest frame.
    fn end_frame(&mut self, node: NodeId, delivered: bool) -> Result<(), Livelock> {
        let radio = &mut self.medium.radios[node.index()];
        if let Some(handle) = radio.waiting.pop_front() {
            self.medium.pool.release(handle);
        }
        radio.counters.failed += u64::from(!delivered);
        radio.sending = TxState::default();
        self.begin_attempt(node);
        self.input(node, Input::Sent { delivered })
    }
}

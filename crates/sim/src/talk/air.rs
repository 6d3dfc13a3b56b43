//! The way of frames from one driver to the others.

use super::conversation::{Conversation as _, ConversationParts as _};
use super::device::{DeviceModel, NodeId};
use super::device_set::{Cue, DeviceHost};
use super::fleet::{Fleet, Stuck};
use super::medium::Medium;
use super::note::{FrameOnAir, MissReason, Note, Watch};
use super::pool::{FrameOrigin, FramePool, Handle};
use super::queue::{FleetEvent, FleetEventKind, Queue};
use super::station::{IdealRadio, TxState};
use alloc::vec::Vec;
use esp_now::node::{Input, ReceivedFrame};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;

/// Tells whether a frame is for everybody: broadcast, and group addresses of IEEE 802.
const fn is_group(to: Mac) -> bool {
    to.0[0] & 1 == 1
}

/// The host of a fleet's devices: the ideal medium, timers and the watch.
pub(crate) struct FleetHost<'a, W> {
    pub(super) now: Instant,
    pub(super) watch: &'a mut W,
    pub(super) medium: &'a Medium,
    pub(super) stations: &'a mut Vec<IdealRadio>,
    pub(super) queue: &'a mut Queue,
    pub(super) pool: &'a mut FramePool,
    pub(super) frames: &'a mut u64,
}

impl<W: Watch> DeviceHost for FleetHost<'_, W> {
    type Watch = W;

    fn watch(&mut self) -> &mut W {
        self.watch
    }

    fn transmit(&mut self, node: NodeId, life: u32, channel: u8, to: Mac, data: &[u8]) -> bool {
        let station = &mut self.stations[node.index()];
        if station.waiting.len() >= station.tx_buffers {
            station.counters.refused += 1;
            return false;
        }
        *self.frames += 1;
        station.counters.sent += 1;
        let stamp = FrameOrigin { at: self.now, number: *self.frames, node, life };
        let frame = self.pool.put(stamp, to, channel, data);
        station.waiting.push_back(frame);
        if station.sending.attempt == 0 {
            self.begin_attempt(node, life);
        }
        true
    }

    fn tune(&mut self, _: NodeId, _: u8) {}

    fn wait(&mut self, node: NodeId, life: u32, until: Option<Instant>) {
        let station = &mut self.stations[node.index()];
        if let Some(at) = until
            && station.wake != until
        {
            self.queue.push(at, FleetEvent { node, life, what: FleetEventKind::Wake });
        }
        station.wake = until;
    }

    fn schedule(&mut self, at: Instant, node: NodeId, life: u32, cue: Cue) {
        self.queue.push(at, FleetEvent { node, life, what: FleetEventKind::Cue(cue) });
    }

    fn silence(&mut self, node: NodeId, _: u32) {
        let station = &mut self.stations[node.index()];
        station.sending = TxState::default();
        for frame in station.waiting.drain(..) {
            self.pool.release(frame);
        }
    }
}

impl<W> FleetHost<'_, W> {
    /// Puts the oldest frame of a driver on the air.
    fn begin_attempt(&mut self, node: NodeId, life: u32) {
        let station = &mut self.stations[node.index()];
        let Some(&handle) = station.waiting.front() else { return };
        let frame = self.pool.get(handle);
        if station.sending.attempt == 0 {
            station.sequence = (station.sequence + 1) & 0xFFF;
        }
        station.sending.attempt += 1;
        station.sending.started = self.now;
        station.counters.attempts += 1;
        let took = (self.medium.frame_time)(frame.data.len(), !is_group(frame.to));
        self.queue.push(self.now + took, FleetEvent { node, life, what: FleetEventKind::AirEnd });
    }
}

impl<D: DeviceModel, W: Watch> Fleet<D, W> {
    fn begin_attempt(&mut self, node: NodeId) {
        let life = self.device_set.member(node).life;
        self.parts().1.begin_attempt(node, life);
    }

    pub(super) fn schedule(&mut self, at: Instant, node: NodeId, what: FleetEventKind) {
        let life = self.device_set.member(node).life;
        self.queue.push(at, FleetEvent { node, life, what });
    }

    /// Ends an attempt: decides who has the frame, and tells the sender.
    pub(super) fn air_end(&mut self, node: NodeId) -> Result<(), Stuck> {
        let Some(&handle) = self.stations[node.index()].waiting.front() else { return Ok(()) };
        self.heard.clear();
        self.missed.clear();
        self.signals.clear();
        let to = self.pool.get(handle).to;
        let acknowledged = if is_group(to) {
            for receiver in self.nodes() {
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
        if self.stations[node.index()].waiting.front() != Some(&handle) {
            return Ok(());
        }
        let retries = self.medium.mac_retries;
        if acknowledged == Some(false) && self.stations[node.index()].sending.attempt <= retries {
            self.begin_attempt(node);
            return Ok(());
        }
        self.end_frame(node, acknowledged != Some(false))
    }

    /// Tells whether a frame on the air reaches that station. Broadcasts out of its reach are not
    /// worth a note.
    fn receive(&mut self, handle: Handle, receiver: NodeId, note_all: bool) -> bool {
        let frame = self.pool.get(handle);
        let station = &mut self.stations[receiver.index()];
        let member = self.device_set.member(receiver);
        let link = self.medium.between(frame.node, receiver);
        let (why, rssi) = match link {
            None => (Some(MissReason::Range), 0),
            Some(_) if member.device.is_none() => (Some(MissReason::Off), 0),
            Some(_) if member.channel != frame.channel => (Some(MissReason::Channel), 0),
            Some((_, loss)) if loss.hit(&mut station.streams.loss) => {
                station.counters.lost += 1;
                (Some(MissReason::Loss), 0)
            }
            Some((rssi, _)) => (None, rssi),
        };
        match why {
            None => {
                self.heard.push(receiver);
                self.signals.push(rssi);
            }
            Some(why) if note_all || why == MissReason::Loss => self.missed.push((receiver, why)),
            Some(_) => {}
        }
        why.is_none()
    }

    /// Tells whether the acknowledgement of a unicast frame came back.
    fn receive_unicast(&mut self, handle: Handle, to: Mac) -> bool {
        let Some(receiver) = self.node_of(to) else { return false };
        let sender = self.pool.get(handle).node;
        if receiver == sender || !self.receive(handle, receiver, true) {
            return false;
        }
        let filter = self.medium.mac_filter;
        let back = self.medium.between(receiver, sender);
        let station = &mut self.stations[sender.index()];
        let came_back = back.is_some_and(|(_, loss)| !loss.hit(&mut station.streams.ack));
        if station.sending.through && filter {
            self.heard.clear();
            self.signals.clear();
            self.missed.push((receiver, MissReason::Duplicate));
        }
        self.stations[sender.index()].sending.through = true;
        came_back
    }

    /// Finds the node with that address.
    pub fn node_of(&self, mac: Mac) -> Option<NodeId> {
        self.device_set.node_of(mac)
    }

    fn tell(&mut self, handle: Handle, acknowledged: Option<bool>) {
        let frame = self.pool.get(handle);
        let sender = &self.stations[frame.node.index()];
        let on_air = FrameOnAir {
            number: frame.number,
            attempt: sender.sending.attempt,
            sequence: sender.sequence,
            started: sender.sending.started,
            took: self.now().since(sender.sending.started),
            node: frame.node,
            from: frame.from,
            to: frame.to,
            channel: frame.channel,
            data: &frame.data,
            heard: &self.heard,
            missed: &self.missed,
            acknowledged,
        };
        self.watch.note(self.now(), &Note::Air(on_air));
    }

    /// Hands the frame to those who heard it, now or later.
    fn deliver(&mut self, handle: Handle) -> Result<(), Stuck> {
        // What a frame causes may not begin before everybody's chance is drawn, so the lists are
        // taken out; their memory comes back below.
        let heard = core::mem::take(&mut self.heard);
        let signals = core::mem::take(&mut self.signals);
        self.pool.share(handle);
        let mut result = Ok(());
        for (&node, &rssi) in heard.iter().zip(&signals) {
            if self.medium.is_prompt() {
                result = self.hand_over(node, handle, rssi);
            } else {
                self.deliver_late(node, handle, rssi);
            }
            if result.is_err() {
                break;
            }
        }
        self.pool.release(handle);
        (self.heard, self.signals) = (heard, signals);
        result
    }

    fn deliver_late(&mut self, node: NodeId, frame: Handle, rssi: i8) {
        let streams = &mut self.stations[node.index()].streams;
        let medium = &self.medium;
        let doubled = medium.duplicate.hit(&mut streams.duplicate);
        for _ in 0..=u8::from(doubled) {
            let streams = &mut self.stations[node.index()].streams;
            let mut late = self.medium.delay + streams.delay.time_below(self.medium.jitter);
            if self.medium.reorder.hit(&mut streams.delay) {
                late += streams.delay.time_below(self.medium.hold);
            }
            self.pool.share(frame);
            self.schedule(self.now() + late, node, FleetEventKind::Arrive { frame, rssi });
        }
        self.stations[node.index()].counters.doubled += u64::from(doubled);
    }

    /// Delivers a delayed frame.
    pub(super) fn arrive(&mut self, node: NodeId, frame: Handle, rssi: i8) -> Result<(), Stuck> {
        let number = self.pool.get(frame).number;
        self.watch.note(self.now(), &Note::Arrived { node, number });
        let result = self.hand_over(node, frame, rssi);
        self.pool.release(frame);
        result
    }

    fn hand_over(&mut self, node: NodeId, handle: Handle, rssi: i8) -> Result<(), Stuck> {
        let frame = self.pool.get(handle);
        let input = ReceivedFrame {
            data: &frame.data,
            transmitter: frame.from,
            receiver: frame.to,
            rssi,
            channel: frame.channel,
        };
        if !self.device_set.handle(node, Input::Frame(input)) {
            return Ok(());
        }
        self.stations[node.index()].counters.received += 1;
        let (device_set, mut ether) = self.parts();
        device_set.settle(&mut ether, node)
    }

    /// Ends the driver's work on its oldest frame.
    fn end_frame(&mut self, node: NodeId, delivered: bool) -> Result<(), Stuck> {
        let station = &mut self.stations[node.index()];
        if let Some(handle) = station.waiting.pop_front() {
            self.pool.release(handle);
        }
        station.counters.failed += u64::from(!delivered);
        station.sending = TxState::default();
        self.begin_attempt(node);
        self.input(node, Input::Sent { delivered })
    }
}

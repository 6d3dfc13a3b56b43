//! The user of the MAC service: it hands the medium's callbacks on to the devices that run the
//! esp-now component, to the machines and their Wi-Fi, and to other people's stations.

use super::driver::Driver;
use super::join::JoiningDevices;
use super::others::Others;
use super::raw::RawExchange;
use super::recent_losses::meant_for;
use super::reports::Reports;
use super::tap::{Content, Tap};
use crate::lab::nodes::Livelock;
use crate::lab::nodes::device_set::{Cue, DeviceHost, DeviceSet};
use crate::lab::nodes::node::Node;
use crate::lab::nodes::note::{self, MissReason, Note};
use crate::lab::nodes::pool::{FrameOrigin, FramePool};
use crate::lab::nodes::{MemoryBoard, NodeId};
use crate::lab::pool::Handle;
use crate::lab::scene::Coexistence;
use crate::lab::token::{FrameTag, Wake};
use crate::lab::trace::{AirtimeKind, Flight, missed_by_cause};
use crate::lab::wifi::Network;
use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use esp_now::frame::mpdu_len;
use esp_now::node::task::EspNowEvent;
use esp_now::node::{Input, ParsedFrame, ReceivedFrame};
use espbench_dot11::mac::{
    FrameKind, GROUP, MacUser, MissedReception, MpduInfo, Ppdu, Reception, TxFrame, TxStatus,
    WirelessMedium,
};
use espbench_ieee80211::mac::Mac;
use espbench_model::sample::{Cause, Sample};
use espbench_model::time::Instant;

/// A station that does not exist: nothing that is sent to it is acknowledged.
const NOBODY: u32 = GROUP - 1;

/// The lab's part of the nodes beside their firmware: drivers, frames on their way, joining.
#[derive(Debug)]
pub(super) struct LabDrivers {
    pub(super) pool: FramePool,
    /// The number of frames that drivers took.
    pub(super) frames: u64,
    pub(super) drivers: Vec<Driver>,
    /// Whether a node's radio may be off while the node is on.
    pub(super) has_sleepers: bool,
    pub(super) others: Others,
    pub(super) joining: JoiningDevices,
    pub(super) reports: Reports,
    pub(super) raw: Option<RawExchange>,
    pub(super) heard: Vec<NodeId>,
    pub(super) missed: Vec<(NodeId, MissReason)>,
}

/// The world around the nodes, as their host.
pub(crate) struct RadioPort<'a, W> {
    pub(super) room: &'a mut WirelessMedium,
    pub(super) lab_drivers: &'a mut LabDrivers,
    pub(super) watch: &'a mut W,
}

impl<W: Tap> DeviceHost for RadioPort<'_, W> {
    type Watch = W;

    fn watch(&mut self) -> &mut W {
        self.watch
    }

    fn transmit(&mut self, node: NodeId, life: u32, channel: u8, to: Mac, data: &[u8]) -> bool {
        let lab_drivers = &mut *self.lab_drivers;
        let driver = &mut lab_drivers.drivers[node.index()];
        let now = self.room.now();
        if driver.held >= driver.profile.tx_buffers {
            driver.drops.refused += 1;
            driver.recent_losses.note(now, Cause::NoBuffers);
            return false;
        }
        lab_drivers.frames += 1;
        let number = lab_drivers.frames;
        let origin = FrameOrigin { at: now, number, node, life, to, channel, raw: None };
        let handle = lab_drivers.pool.put(origin, data);
        let at = driver.take(now, handle, data.len() as u32);
        if driver.rests && !driver.is_away {
            if driver.held == 1 {
                driver.on_since = now;
            }
            self.room.wake_up(u32::from(node.0));
        }
        lab_drivers.hand_over(self.room, handle, at);
        true
    }

    fn tune(&mut self, node: NodeId, channel: u8) {
        let hop = self.lab_drivers.drivers[node.index()].profile.hop;
        self.room.tune(u32::from(node.0), channel, hop);
    }

    #[inline]
    fn wait(&mut self, node: NodeId, _: u32, until: Option<Instant>) {
        self.room.alarm(u32::from(node.0), until);
    }

    fn schedule(&mut self, at: Instant, node: NodeId, life: u32, cue: Cue) {
        self.room.wake_at(at, Wake::Cue(cue, node, life).token());
    }

    fn silence(&mut self, node: NodeId, life: u32) {
        for tag in self.room.switch_off(u32::from(node.0)) {
            if let FrameTag::Node(handle) = FrameTag::of(tag) {
                self.lab_drivers.pool.release(handle);
            }
        }
        for handle in self.lab_drivers.drivers[node.index()].reset(life) {
            self.lab_drivers.pool.release(handle);
        }
        self.lab_drivers.joining.forget(node);
    }

    fn switched_on(&mut self, node: NodeId) {
        let station = u32::from(node.0);
        self.room.switch_on(station);
        self.room.tune(station, 1, core::time::Duration::ZERO);
        if self.lab_drivers.drivers[node.index()].is_away {
            self.room.doze(station);
        }
    }

    fn explain(&mut self, node: NodeId, zero: Instant, sample: &mut Sample) {
        self.lab_drivers.drivers[node.index()].recent_losses.explain(zero, sample);
    }

    fn application_event(
        &mut self,
        node: NodeId,
        life: u32,
        event: EspNowEvent,
        board: &mut MemoryBoard,
    ) {
        if let EspNowEvent::Sent(outcome) = event {
            self.lab_drivers.reports.sent(self.room.now(), node, outcome);
        }
        if self.lab_drivers.joining.told(node, event, board) {
            self.room.wake_in(core::time::Duration::ZERO, Wake::Join(node, life).token());
        }
    }
}

impl LabDrivers {
    /// Lets Bluetooth's turn with a node's radio begin or end.
    fn coexist(&mut self, room: &mut WirelessMedium, node: NodeId, away: bool) {
        let driver = &mut self.drivers[node.index()];
        let Some(Coexistence { period, wifi }) = driver.coexistence else { return };
        driver.is_away = away;
        let station = u32::from(node.0);
        if driver.is_radio_off() {
            room.doze(station);
        } else {
            driver.on_since = room.now();
            room.wake_up(station);
        }
        let turn = if away { period - wifi } else { wifi };
        room.wake_in(turn, Wake::Coexist(node, !away).token());
    }

    /// Returns why nodes missed a frame, those with it whose radios were off.
    fn with_sleepers<'m>(
        &self,
        frame: &Ppdu,
        missed: &'m [MissedReception],
    ) -> Cow<'m, [MissedReception]> {
        if !self.has_sleepers || missed.is_empty() {
            return Cow::Borrowed(missed);
        }
        let begin = Instant::from_nanos(frame.begin);
        let explained = missed.iter().map(|it| match self.drivers.get(it.station as usize) {
            Some(driver) if driver.slept_through(begin) => {
                MissedReception { cause: Cause::Asleep, ..*it }
            }
            _ => *it,
        });
        Cow::Owned(explained.collect())
    }

    /// Gives a frame to the MAC at its time.
    pub(super) fn hand_over(
        &mut self,
        room: &mut WirelessMedium,
        handle: Handle,
        at: Option<Instant>,
    ) {
        match at {
            Some(at) if at == room.now() => self.push(room, handle),
            Some(at) => room.wake_at(at, Wake::Send(handle).token()),
            None => {}
        }
    }

    /// Gives a frame to the MAC.
    fn push(&mut self, room: &mut WirelessMedium, handle: Handle) {
        let frame = self.pool.get(handle);
        let driver = &self.drivers[frame.head.node.index()];
        let to = match frame.head.to {
            Mac([first, ..]) if first & 1 == 1 => GROUP,
            to => match NodeId::of(to) {
                Some(to) if to.index() < self.drivers.len() => u32::from(to.0),
                _ => NOBODY,
            },
        };
        let octets = mpdu_len(frame.data.len()) as u32;
        let packet = TxFrame::new(to, octets, driver.mode, FrameTag::Node(handle).tag());
        // After a reset the last frame of the former life may still be on the air, in a buffer of
        // its own.
        let taken = frame.head.life == driver.life
            && room.send(u32::from(frame.head.node.0), packet).is_ok();
        if !taken {
            self.pool.release(handle);
        }
    }

    /// Gives a station's next frame to the MAC when its turn comes.
    fn next_frame(&mut self, room: &mut WirelessMedium, station: u32, next: Handle) {
        let bytes = self.pool.get(next).data.len() as u32;
        let at = self.drivers[station as usize].turn(room.now(), bytes);
        self.hand_over(room, next, Some(at));
    }

    /// Returns the flight of a frame, with who has read it.
    fn flight(&self, frame: &Ppdu, heard: &[Reception], missed: &[MissedReception]) -> Flight {
        let mut flight = Flight::of(frame);
        flight.heard = heard.len() as u32 + u32::from(frame.repeated);
        (flight.collided, flight.noise) = missed_by_cause(missed);
        match (frame.kind, FrameTag::of(frame.tag)) {
            (FrameKind::Ack, _) => (flight.what, flight.queue) = (AirtimeKind::Ack, 0),
            (_, FrameTag::Node(handle)) => {
                flight.what = AirtimeKind::Data;
                flight.queued = self.pool.get(handle).head.at;
                flight.queue = self.drivers[frame.from as usize].held_at_begin;
            }
            (_, FrameTag::Beacon(_)) => flight.what = AirtimeKind::Beacon,
            _ => {}
        }
        flight
    }
}

/// The user of the MAC service.
pub(super) struct MacHost<'a, 'p, W> {
    pub(super) watch: &'a mut W,
    pub(super) device_set: &'a mut DeviceSet<Box<Node>>,
    pub(super) lab_drivers: &'a mut LabDrivers,
    pub(super) net: &'a mut Network<'p>,
    pub(super) livelock: &'a mut Option<Livelock>,
}

impl<W: Tap> MacHost<'_, '_, W> {
    /// Lets the devices do something, with the room as their host.
    #[inline]
    pub(super) fn act(
        &mut self,
        room: &mut WirelessMedium,
        what: impl FnOnce(&mut DeviceSet<Box<Node>>, &mut RadioPort<'_, W>) -> Result<(), Livelock>,
    ) {
        self.device_set.now = room.now();
        let mut link = RadioPort { room, lab_drivers: self.lab_drivers, watch: self.watch };
        if let Err(livelock) = what(self.device_set, &mut link) {
            self.livelock.get_or_insert(livelock);
        }
    }

    /// Hands a frame of a device to all who have heard it.
    fn deliver(
        &mut self,
        room: &mut WirelessMedium,
        (handle, frame): (Handle, &Ppdu),
        heard: &[Reception],
    ) {
        let now = room.now();
        // Whatever a frame causes may put more into the pool, so its bytes are lent.
        let FrameOrigin { node, to, .. } = self.lab_drivers.pool.get(handle).head;
        let data = self.lab_drivers.pool.lend(handle);
        let read = ParsedFrame::new(&data);
        let whom = meant_for(&data);
        let mut input = ReceivedFrame {
            data: &data,
            transmitter: node.mac(),
            receiver: to,
            rssi: 0,
            channel: 0,
        };
        self.act(room, |device_set, link| {
            let mut result = Ok(());
            for &Reception { station, rssi } in heard {
                let drivers = &mut link.lab_drivers.drivers;
                let Some(driver) = drivers.get_mut(station as usize) else { continue };
                if !driver.takes(now, data.len()) {
                    if whom.is_none_or(|it| u32::from(it.0) == station) {
                        driver.recent_losses.note(now, Cause::ReceiveQueue);
                        drivers[frame.from as usize].recent_losses.note(now, Cause::ReceiveQueue);
                    }
                    link.watch.lost(now, station, Cause::ReceiveQueue);
                    continue;
                }
                (input.rssi, input.channel) = (rssi, link.room.channel(station));
                result = result.and(device_set.hear(link, NodeId(station as u16), &input, &read));
            }
            result
        });
        self.lab_drivers.pool.take_back(handle, data);
    }

    /// Notes why a frame was missed with whom it was meant for, and with its sender.
    fn note_losses(
        &mut self,
        now: Instant,
        (handle, frame): (Handle, &Ppdu),
        missed: &[MissedReception],
    ) {
        if missed.is_empty() {
            return;
        }
        let whom = meant_for(&self.lab_drivers.pool.get(handle).data);
        let drivers = &mut self.lab_drivers.drivers;
        let mut first = None;
        for &MissedReception { station, cause } in missed {
            let Some(driver) = drivers.get_mut(station as usize) else { continue };
            self.watch.lost(now, station, cause);
            if whom.is_none_or(|it| u32::from(it.0) == station) {
                driver.recent_losses.note(now, cause);
                first = first.or(Some(cause));
            }
        }
        if let (Some(cause), Some(driver)) = (first, drivers.get_mut(frame.from as usize)) {
            driver.recent_losses.note(now, cause);
        }
    }

    /// Shows a frame to whoever watches.
    fn show(&mut self, frame: &Ppdu, heard: &[Reception], missed: &[MissedReception]) {
        let flight = self.lab_drivers.flight(frame, heard, missed);
        let lab_drivers = &mut *self.lab_drivers;
        let (FrameKind::Data, FrameTag::Node(handle)) = (frame.kind, FrameTag::of(frame.tag))
        else {
            self.watch.flight(&flight, None);
            return;
        };
        let sent = lab_drivers.pool.get(handle);
        let content = Content { from: sent.head.node.mac(), to: sent.head.to, data: &sent.data };
        self.watch.flight(&flight, Some(content));
        if !self.watch.wants_notes() {
            return;
        }
        let devices = lab_drivers.drivers.len() as u32;
        lab_drivers.heard.clear();
        lab_drivers.missed.clear();
        let who = heard.iter().map(|it| it.station).filter(|it| *it < devices);
        lab_drivers.heard.extend(who.map(|it| NodeId(it as u16)));
        let who = missed.iter().filter(|it| it.station < devices);
        lab_drivers
            .missed
            .extend(who.map(|it| (NodeId(it.station as u16), MissReason::of(it.cause))));
        if frame.repeated && frame.to < devices {
            lab_drivers.missed.push((NodeId(frame.to as u16), MissReason::Duplicate));
        }
        let on_air = note::FrameOnAir {
            number: sent.head.number,
            attempt: frame.attempt,
            sequence: frame.sequence,
            started: flight.begin,
            took: flight.end.since(flight.begin),
            node: sent.head.node,
            from: sent.head.node.mac(),
            to: sent.head.to,
            channel: frame.channel,
            data: &sent.data,
            heard: &lab_drivers.heard,
            missed: &lab_drivers.missed,
            acknowledged: (!frame.is_group()).then_some(flight.heard > 0),
        };
        self.watch.note(flight.end, &Note::Air(on_air));
    }
}

impl<W: Tap> MacUser for MacHost<'_, '_, W> {
    fn on_wake(&mut self, room: &mut WirelessMedium, token: u64) {
        match Wake::of(token) {
            Wake::Cue(cue, node, life) => {
                if self.device_set.member(node).life == life {
                    self.act(room, |device_set, link| device_set.cue(link, node, cue));
                }
            }
            Wake::Send(handle) => self.lab_drivers.push(room, handle),
            Wake::Sent(node, life, delivered) => {
                if self.lab_drivers.drivers[node.index()].life == life {
                    self.act(room, |device_set, link| {
                        device_set.input(link, node, Input::Sent { delivered })
                    });
                }
            }
            Wake::Beacon(router) => {
                if let Some(at) = self.lab_drivers.others.beacon(room, router) {
                    room.wake_at(at, token);
                }
            }
            Wake::Load(station) => {
                if let Some(at) = self.lab_drivers.others.load(room, station) {
                    room.wake_at(at, token);
                }
            }
            Wake::Join(node, life) => {
                if self.lab_drivers.drivers[node.index()].life == life {
                    self.join(room, node, token);
                }
            }
            Wake::Coexist(node, away) => self.lab_drivers.coexist(room, node, away),
            Wake::Report(node) => self.report(room, node),
            Wake::RawCall => self.raw_call(room),
            Wake::RawSent(number, delivered) => self.raw_sent(room, number, delivered),
            Wake::Wifi(token) => self.net.wake_wifi(room, token),
            Wake::Echo(request) => self.net.wake_echo(room, request),
            Wake::EchoInterval => self.net.wake_echo_interval(room),
            Wake::Wire(slot) => self.net.wake_wire(room, slot),
            Wake::Machine(number) => self.net.wake_machine(room, number),
        }
    }

    #[inline]
    fn on_alarm(&mut self, room: &mut WirelessMedium, station: u32) {
        self.act(room, |device_set, link| device_set.wake(link, NodeId(station as u16)));
    }

    fn on_data(
        &mut self,
        room: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        let missed = &*self.lab_drivers.with_sleepers(frame, missed);
        if self.watch.wants_frames() {
            self.show(frame, heard, missed);
        }
        let tag = FrameTag::of(frame.tag);
        if matches!(tag, FrameTag::Wifi(_) | FrameTag::Echo(_)) || self.net.is_watched() {
            self.net.on_data(room, frame, heard, missed);
        }
        match tag {
            FrameTag::Node(handle) => {
                if let Some(number) = self.lab_drivers.pool.get(handle).head.raw {
                    self.lab_drivers.raw_missed(number, missed);
                    self.lab_drivers.raw_heard(room.now(), number, heard);
                    return;
                }
                self.note_losses(room.now(), (handle, frame), missed);
                self.deliver(room, (handle, frame), heard);
            }
            FrameTag::Beacon(router) if self.lab_drivers.joining.listens() => {
                let lab_drivers = &mut *self.lab_drivers;
                let channel = room.channel(lab_drivers.others.first[0] + router);
                lab_drivers.joining.beacon(router, channel, lab_drivers.others.ssid(router), heard);
            }
            _ => {}
        }
    }

    fn on_tx_status(&mut self, room: &mut WirelessMedium, station: u32, done: TxStatus) {
        let FrameTag::Node(handle) = FrameTag::of(done.tag) else {
            return self.net.on_tx_status(room, station, done);
        };
        let (life, raw, bytes) = {
            let frame = self.lab_drivers.pool.get(handle);
            (frame.head.life, frame.head.raw, frame.data.len() as u32)
        };
        self.lab_drivers.pool.release(handle);
        let driver = &mut self.lab_drivers.drivers[station as usize];
        if driver.life != life {
            return;
        }
        let now = room.now();
        let (told, next) = driver.end(now, bytes);
        let resumes = told.after_nanos(driver.profile.resume.ns(bytes));
        if driver.rests && driver.held == 0 {
            room.doze(station);
        }
        if let Some(next) = next {
            self.lab_drivers.next_frame(room, station, next);
        }
        let (node, delivered) = (NodeId(station as u16), done.delivered);
        if let Some(number) = raw {
            room.wake_at(told, Wake::RawSent(number, delivered).token());
        } else if resumes == now {
            self.act(room, |device_set, link| {
                device_set.input(link, node, Input::Sent { delivered })
            });
        } else {
            room.wake_at(resumes, Wake::Sent(node, life, delivered).token());
        }
    }

    fn accepts(&mut self, station: u32, frame: &Ppdu) -> bool {
        self.net.accepts(station, frame)
    }

    fn on_buffered(&mut self, frame: &Ppdu) {
        self.net.on_buffered(frame);
    }

    fn on_tx_end(&mut self, frame: &Ppdu) {
        if !self.net.is_empty() {
            self.net.on_tx_end(frame);
        }
    }

    fn on_ampdu_end(&mut self, frame: &Ppdu, mpdus: &[MpduInfo]) {
        self.net.on_ampdu_end(frame, mpdus);
    }

    fn on_mpdu_end(&mut self, frame: &Ppdu, mpdu: &MpduInfo) {
        self.net.on_mpdu_end(frame, mpdu);
    }

    #[inline]
    fn on_tx_start(&mut self, frame: &Ppdu) {
        if !self.net.is_empty() {
            self.net.on_tx_start(frame);
        }
        if frame.kind == FrameKind::Data
            && let Some(driver) = self.lab_drivers.drivers.get_mut(frame.from as usize)
        {
            driver.held_at_begin = driver.held;
        }
    }

    #[inline]
    fn on_control(&mut self, frame: &Ppdu, heard: &[Reception], missed: &[MissedReception]) {
        if self.watch.wants_frames() {
            self.show(frame, heard, missed);
        }
        self.net.on_control(frame, heard, missed);
    }
}

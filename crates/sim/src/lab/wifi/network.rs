//! The machines of a lab and the Wi-Fi between them, and the part of the MAC's callbacks that is theirs.

use super::field::{Carried, Field, Relay};
use super::machine::{Awaits, Body, Keeps, Machine, Running};
use super::setup::Program;
use crate::lab::pool::Handle;
use crate::lab::token::FrameTag;
use crate::power::{ModemState, Modulation};
use alloc::boxed::Box;
use alloc::vec::Vec;
use espbench_dot11::mac::{
    GROUP, MissedReception, MpduInfo, Ppdu, Reception, TxStatus, WirelessMedium,
};
use espbench_dot11::wifi::{self, Msdu, SendError, WifiLayer};
use espbench_model::sample::Cause;
use espbench_model::time::Instant;

/// Machines, and the Wi-Fi between them.
pub(in crate::lab) struct Network<'a> {
    pub(super) wifi: WifiLayer,
    pub(super) field: Field<'a>,
}

impl<'a> Network<'a> {
    pub(super) fn new(wifi: WifiLayer, machines: Vec<Machine<'a>>, stations: u32) -> Self {
        Self { wifi, field: Field::new(machines, stations) }
    }

    pub(in crate::lab) fn begin(&mut self, room: &mut WirelessMedium) {
        self.wifi.start(room, &mut self.field);
    }

    /// Returns whether there are no machines.
    #[inline]
    pub(in crate::lab) const fn is_empty(&self) -> bool {
        self.field.machines.is_empty()
    }

    /// Returns whether somebody watches the machines and the air.
    #[inline]
    pub(in crate::lab) const fn is_watched(&self) -> bool {
        self.field.watched.is_some()
    }

    pub(super) fn machine(&self, number: u16) -> Option<&Machine<'a>> {
        self.field.machines.get(usize::from(number))
    }

    pub(super) fn machine_mut(&mut self, number: u16) -> Option<&mut Machine<'a>> {
        self.field.machines.get_mut(usize::from(number))
    }

    pub(super) fn start(
        &mut self,
        room: &mut WirelessMedium,
        number: u16,
        (keeps, begin): (Keeps, Instant),
        app: Box<dyn Program + 'a>,
    ) {
        if let Some(machine) = self.machine_mut(number) {
            let then = Awaits::Time(begin);
            let app = Some(app);
            let (out, pending) = (Vec::new(), 0);
            machine.programs.push(Running { keeps, app, awaits: then, then, out, pending });
            self.run(room, number);
        }
    }

    /// Lets a machine do all that it can do now.
    pub(super) fn run(&mut self, room: &mut WirelessMedium, number: u16) {
        let Some(machine) = self.field.machines.get(usize::from(number)) else { return };
        match machine.body {
            Body::Esp(_) => self.run_esp(room, number),
            Body::Pc(_) => self.field.run_pc(room, number),
        }
        self.field.watch_probes(room.now(), number);
        self.field.arm(room, number);
    }

    /// Sends what the Wi-Fi was asked to relay while it was busy.
    fn relay(&mut self, room: &mut WirelessMedium) {
        while let Some(Relay { ap, to, tag }) = self.field.relays.pop_front() {
            self.send(room, ap, to, tag);
        }
    }

    /// Gives a packet to the Wi-Fi. Returns whether it took it.
    pub(super) fn send(
        &mut self,
        room: &mut WirelessMedium,
        from: u32,
        to: u32,
        tag: Handle,
    ) -> bool {
        let octets = self.field.pool.get(tag).data.len() as u32;
        self.field.pool.head_mut(tag).queued = room.now().as_nanos();
        let taken = self.wifi.send(room, from, Msdu { to, octets, tag: tag.number().into() });
        if let Err(refused) = taken {
            let cause = match refused {
                SendError::NotJoined => Cause::Disconnected,
                SendError::NoBuffers | SendError::TooLong => Cause::NoBuffers,
            };
            self.field.pool.release(tag);
            self.field.lose(room.now(), Some(from), cause);
        }
        taken.is_ok()
    }

    /// Hands on what has come to the end of its wire.
    pub(in crate::lab) fn wake_wire(&mut self, room: &mut WirelessMedium, slot: u32) {
        let carried = self.field.carried[slot as usize];
        self.field.free.push(slot);
        match carried {
            Carried::AccessPoint { ap, tag } => {
                let to = self.field.hop(self.field.pool.get(tag).head.to);
                match to {
                    Some(to) => {
                        self.send(room, ap, to, tag);
                    }
                    None => self.field.pool.release(tag),
                }
            }
            Carried::Air { station, tag } => {
                let machine = self.field.owners[station as usize];
                let to = self.field.hop(self.field.pool.get(tag).head.to).unwrap_or(GROUP);
                if !self.send(room, station, to, tag)
                    && let Some(number) = machine
                    && let Some(it) = self.machine_mut(number)
                {
                    it.drops.not_sent += 1;
                    self.field.left_pc(room, number);
                }
            }
            Carried::Gathered { machine, packets } => {
                self.field.hand_on(room, machine, packets);
            }
            Carried::Pc { machine, tag } if self.field.goes_outside(machine, tag) => {}
            Carried::Pc { machine, tag } => {
                self.field.receive(room.now(), machine, tag);
                self.run(room, machine);
            }
        }
    }
}

impl Network<'_> {
    pub(in crate::lab) fn on_tx_start(&mut self, frame: &Ppdu) {
        self.seen();
        if let Some(esp) = self.field.esp_at(frame.from) {
            let sends = ModemState::Send(Modulation::of(frame.mode));
            esp.meter.modem(Instant::from_nanos(frame.begin), sends);
        }
    }

    pub(in crate::lab) fn on_tx_end(&mut self, frame: &Ppdu) {
        self.watch_end(frame);
        if let Some(esp) = self.field.esp_at(frame.from) {
            let modem = if esp.radio_on { ModemState::Listen } else { ModemState::Off };
            esp.meter.modem(Instant::from_nanos(frame.end), modem);
        }
    }

    /// Wakes the Wi-Fi layer.
    pub(in crate::lab) fn wake_wifi(&mut self, room: &mut WirelessMedium, token: u64) {
        self.wifi.on_wake(room, token, &mut self.field);
        self.relay(room);
    }

    /// Wakes a machine, if it is still due.
    pub(in crate::lab) fn wake_machine(&mut self, room: &mut WirelessMedium, number: u16) {
        let now = room.now();
        if let Some(machine) = self.machine_mut(number)
            && machine.armed <= now
        {
            machine.armed = Instant::NEVER;
            self.run(room, number);
        }
    }

    #[inline]
    pub(in crate::lab) fn accepts(&mut self, station: u32, frame: &Ppdu) -> bool {
        let extra = self.field.extra_loss.as_mut();
        if extra.is_some_and(|it| it.loses(station, frame)) {
            return false;
        }
        if !wifi::is_ours(frame.tag) {
            return true;
        }
        let owner = self.field.owners.get(station as usize).copied().flatten();
        owner.is_none_or(|number| self.field.takes(frame.end, number, frame))
    }

    pub(in crate::lab) fn on_control(
        &mut self,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        self.watch_heard(frame, heard, missed);
    }

    pub(in crate::lab) fn on_ampdu_end(&mut self, frame: &Ppdu, mpdus: &[MpduInfo]) {
        self.watch_mpdus(frame, mpdus);
    }

    pub(in crate::lab) fn on_mpdu_end(&mut self, frame: &Ppdu, mpdu: &MpduInfo) {
        self.watch_mpdus(frame, core::slice::from_ref(mpdu));
    }

    pub(in crate::lab) fn on_buffered(&mut self, frame: &Ppdu) {
        if let Some(packet) = wifi::packet_of(frame.tag) {
            self.field.pool.wait(Handle::of(packet as u32));
        }
    }

    pub(in crate::lab) fn on_data(
        &mut self,
        room: &mut WirelessMedium,
        frame: &Ppdu,
        heard: &[Reception],
        missed: &[MissedReception],
    ) {
        self.watch_heard(frame, heard, missed);
        match FrameTag::of(frame.tag) {
            FrameTag::Wifi(_) => {}
            FrameTag::Echo(request) => return self.esp_now_heard(room, (request, frame), heard),
            _ => return,
        }
        self.field.ppdu_end = Instant::from_nanos(frame.end);
        self.wifi.on_data(room, frame, heard, missed, &mut self.field);
        self.relay(room);
        if let (Some(packet), false) = (wifi::packet_of(frame.tag), heard.is_empty()) {
            self.field.pool.waited(Handle::of(packet as u32));
        }
        if frame.is_group() {
            for it in heard {
                self.touch(room, it.station);
            }
        } else {
            self.touch(room, frame.to);
        }
    }

    pub(in crate::lab) fn on_tx_status(
        &mut self,
        room: &mut WirelessMedium,
        station: u32,
        done: TxStatus,
    ) {
        self.seen();
        match FrameTag::of(done.tag) {
            FrameTag::Wifi(_) => {
                self.wifi.on_tx_status(room, station, done, &mut self.field);
                self.relay(room);
            }
            FrameTag::Echo(request) => self.esp_now_done(room, station, (request, done)),
            _ => {}
        }
    }
}

impl Network<'_> {
    /// Sees to a machine for whose station something has come.
    fn touch(&mut self, room: &mut WirelessMedium, station: u32) {
        if let Some(number) = self.field.owners.get(station as usize).copied().flatten() {
            self.field.arm(room, number);
        }
    }
}

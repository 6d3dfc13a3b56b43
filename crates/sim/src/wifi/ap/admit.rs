//! How an access point lets stations in: probe responses, authentication, association, keys.

use super::{Ap, BEACON, TASK};
use crate::events::Events;
use crate::mac::{GROUP, Packet, Room};
use crate::wifi::above::{Above, Sent};
use crate::wifi::config::Security;
use crate::wifi::elements::Elements;
use crate::wifi::frame::{Frame, FrameInfo, Frames, Says, Subtype};
use crate::wifi::station::Terms;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_proto::sample::Cause;

/// What waits for the processor, and what is done again without an answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    Send {
        to: u32,
        subtype: Subtype,
        says: Says,
    },
    /// A message of the handshake that was sent so often, unless it has been answered.
    Again {
        to: u32,
        message: u8,
        tries: u8,
    },
}

/// How far a station has come that is no member yet, or has no keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guest {
    authenticated: bool,
    /// The message of the handshake that it owes.
    owes: u8,
}

/// Most answers that wait for the processor; further questions are not answered.
const MOST_TASKS: u16 = 64;
/// hostapd: an EAPOL frame is sent four times; 100 ms are waited for the first answer, then 1 s
/// (`eapol_key_timeout_first`, `wpa_pairwise_update_count`).
const TRIES: u8 = 4;
const FIRST_AGAIN: Duration = Duration::from_millis(100);
const AGAIN: Duration = Duration::from_secs(1);

impl Ap {
    /// What a station learns from what it says.
    pub(in crate::wifi) const fn terms(&self, channel: u8) -> Terms {
        Terms {
            ap: self.number,
            channel,
            network: self.config.network,
            elements: self.elements(),
            wrap: self.wrap(),
            basic: self.config.basic,
            beacon: self.next_beacon(),
            interval: self.config.beacon_interval,
            dtim_period: self.config.dtim_period,
        }
    }

    pub(super) const fn elements(&self) -> Elements {
        Elements {
            security: self.config.security,
            capabilities: self.config.capabilities,
            ssid_octets: self.config.ssid_octets,
        }
    }

    /// A frame of a station that is no data frame with a packet of above.
    pub(in crate::wifi) fn frame(
        &mut self,
        room: &mut Room,
        from: u32,
        frame: &Frame,
        above: &mut dyn Above,
    ) {
        self.hears(room, from);
        let work = self.config.work;
        let open = self.config.security != Security::Wpa3;
        match frame.info.subtype {
            Subtype::Null { .. } => self.sleeps(room, from, frame.info.power_management),
            Subtype::PsPoll => self.polled(room, from),
            Subtype::ProbeRequest if frame.says == Says::Network(self.config.network) => {
                self.answer(room, work.management, from, Subtype::ProbeResponse, Says::Nothing);
            }
            Subtype::Authentication { sae: false, sequence: 1 } if open => {
                self.guests.insert(from, Guest { authenticated: true, owes: 0 });
                let answer = Subtype::Authentication { sae: false, sequence: 2 };
                self.answer(room, work.management, from, answer, Says::Nothing);
            }
            subtype @ Subtype::Authentication { sae: true, sequence } if !open => {
                let confirm = sequence == 2;
                self.guests.insert(from, Guest { authenticated: confirm, owes: 0 });
                let work = if confirm { work.sae_confirm } else { work.sae_commit };
                self.answer(room, work, from, subtype, Says::Nothing);
            }
            Subtype::AssociationRequest => self.asked(room, from, frame, above),
            Subtype::Eapol { message, .. } => self.key_answer(room, from, message),
            Subtype::Deauthentication => self.dismiss(room, from, above),
            _ => {}
        }
    }

    /// A station wants to be a member. It may have been before, and have forgotten.
    fn asked(&mut self, room: &mut Room, from: u32, frame: &Frame, above: &mut dyn Above) {
        if !self.guests.get(&from).is_some_and(|it| it.authenticated) {
            return;
        }
        self.dismiss_member(room, from, above);
        let qos = frame.says == Says::Verdict(Some(1));
        let says = Says::Verdict(self.admit(from, qos));
        let work = self.config.work.management;
        self.answer(room, work, from, Subtype::AssociationResponse, says);
    }

    /// A station has sent a message of the handshake.
    fn key_answer(&mut self, room: &mut Room, from: u32, message: u8) {
        let Some(guest) = self.guests.get_mut(&from) else { return };
        if guest.owes != message {
            return;
        }
        if message == 2 {
            guest.owes = 4;
            self.key(room, from, 3);
        } else {
            self.guests.remove(&from);
            self.open(from);
        }
    }

    /// A message of the handshake goes out when it is computed.
    fn key(&mut self, room: &mut Room, to: u32, message: u8) {
        let qos = self.aid(to).is_some_and(|aid| self.wrap_to(aid).qos);
        let subtype = Subtype::Eapol { message, qos };
        self.answer(room, self.config.work.eapol, to, subtype, Says::Nothing);
        let at = self.free + FIRST_AGAIN;
        self.agenda.push(at, Task::Again { to, message, tries: 1 });
        self.agree(room);
    }

    /// Packets may flow.
    fn open(&mut self, station: u32) {
        if let Some(aid) = self.aid(station)
            && let Some(member) = self.member(aid)
        {
            member.open = true;
        }
    }

    /// Answers when the processor has come to it.
    pub(super) fn answer(
        &mut self,
        room: &mut Room,
        work: Duration,
        to: u32,
        subtype: Subtype,
        says: Says,
    ) {
        if !self.on {
            return;
        }
        if self.tasks >= MOST_TASKS {
            self.counters.unanswered += 1;
            return;
        }
        self.tasks += 1;
        self.free = self.free.max(room.now()) + work;
        self.agenda.push(self.free, Task::Send { to, subtype, says });
        self.agree(room);
    }

    fn agree(&mut self, room: &mut Room) {
        if let Some(next) = self.agenda.next() {
            self.clock.set(room, TASK, next);
        }
    }

    /// Does what is due.
    pub(super) fn tasks(&mut self, room: &mut Room, frames: &mut Frames, above: &mut dyn Above) {
        while self.agenda.next().is_some_and(|at| at <= room.now()) {
            match self.agenda.pop().map(|(_, task)| task) {
                Some(Task::Send { to, subtype, says }) => {
                    self.tasks -= 1;
                    self.post(room, frames, to, subtype, says);
                }
                Some(Task::Again { to, message, tries }) => {
                    self.once_more(room, frames, (to, message, tries), above);
                }
                None => {}
            }
        }
        self.agree(room);
    }

    /// A message of the handshake was not answered, unless it was.
    fn once_more(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        (to, message, tries): (u32, u8, u8),
        above: &mut dyn Above,
    ) {
        if self.guests.get(&to).is_none_or(|guest| guest.owes != message + 1) {
            return;
        }
        if tries >= TRIES {
            self.post(room, frames, to, Subtype::Deauthentication, Says::Nothing);
            self.dismiss(room, to, above);
            return;
        }
        let qos = self.aid(to).is_some_and(|aid| self.wrap_to(aid).qos);
        self.post(room, frames, to, Subtype::Eapol { message, qos }, Says::Nothing);
        self.agenda.push(room.now() + AGAIN, Task::Again { to, message, tries: tries + 1 });
    }

    /// Hands a frame to the MAC, if it has a buffer.
    pub(super) fn post(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        to: u32,
        subtype: Subtype,
        says: Says,
    ) {
        let octets = self.elements().frame(subtype);
        let tag = frames.keep(Frame { info: FrameInfo::bare(subtype), says, to });
        let packet = Packet::new(to, octets, self.config.basic, tag).at_once();
        if room.send(self.number, packet).is_err() {
            frames.take(tag);
            self.counters.unanswered += 1;
        }
    }

    /// The MAC is done with a frame without a packet.
    pub(in crate::wifi) fn frame_done(&mut self, room: &mut Room, frame: &Frame, delivered: bool) {
        match (frame.info.subtype, frame.says) {
            (Subtype::Beacon, _) => self.beacon_done(),
            (Subtype::AssociationResponse, Says::Verdict(Some(_))) if delivered => {
                if self.config.security.encrypts() {
                    if let Some(guest) = self.guests.get_mut(&frame.to) {
                        guest.owes = 2;
                        self.key(room, frame.to, 1);
                    }
                } else {
                    self.guests.remove(&frame.to);
                    self.open(frame.to);
                }
            }
            _ => {}
        }
    }

    /// Somebody who is no member has sent data: it is told so (11.3.5.1, class 3).
    pub(in crate::wifi) fn stranger(&mut self, room: &mut Room, from: u32) {
        if from != GROUP && !self.guests.contains_key(&from) {
            let work = self.config.work.management;
            self.answer(room, work, from, Subtype::Deauthentication, Says::Nothing);
        }
    }

    /// Sends a member away.
    pub(in crate::wifi) fn expel(&mut self, room: &mut Room, station: u32, above: &mut dyn Above) {
        let work = self.config.work.management;
        self.answer(room, work, station, Subtype::Deauthentication, Says::Nothing);
        self.dismiss(room, station, above);
    }

    /// It is switched off: it forgets all.
    pub(in crate::wifi) fn switch_off(&mut self, room: &mut Room, above: &mut dyn Above) {
        self.on = false;
        for kept in core::mem::take(&mut self.group) {
            let lost = Some(Cause::Disconnected);
            self.end(room, Sent { tag: kept.tag, lost, attempts: 0 }, above);
        }
        let stations: Vec<u32> = self.stations().collect();
        for station in stations {
            self.dismiss(room, station, above);
        }
        self.guests.clear();
        self.agenda = Events::default();
        (self.tasks, self.beacon) = (0, false);
        self.clock.stop(BEACON);
        self.clock.stop(TASK);
    }

    /// It is switched on.
    pub(in crate::wifi) fn switch_on(&mut self, room: &mut Room) {
        if self.on {
            return;
        }
        self.on = true;
        self.next_beacon = room.now();
        self.dtim_count = 0;
        self.start(room);
    }
}

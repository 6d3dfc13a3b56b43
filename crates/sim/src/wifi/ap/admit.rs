//! Admission of stations by an access point: probe responses, authentication, association, keys.

use super::{Ap, BEACON, TASK};
use crate::events::EventQueue;
use crate::mac::{GROUP, TxFrame, WirelessMedium};
use crate::wifi::above::{Above, Sent};
use crate::wifi::config::Security;
use crate::wifi::elements::Elements;
use crate::wifi::frame::{Frame, FrameInfo, Frames, Says, Subtype};
use crate::wifi::station::Terms;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_proto::sample::Cause;

/// A task of the processor, or a repetition after a missing answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Task {
    Send {
        to: u32,
        subtype: Subtype,
        says: Says,
    },
    /// A message of the handshake that was sent so often, to be repeated unless it has been
    /// answered.
    Again {
        to: u32,
        message: u8,
        tries: u8,
    },
}

/// The progress of a station that is not associated yet, or has no keys.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guest {
    authenticated: bool,
    /// The message of the handshake that the station must send next.
    owes: u8,
}

/// The limit on answers that wait for the processor; further requests are not answered.
const MOST_TASKS: u16 = 64;
/// The attempts and timeouts of hostapd: an EAPOL frame is sent four times; the first answer is
/// awaited for 100 ms, the others for 1 s (`eapol_key_timeout_first`, `wpa_pairwise_update_count`).
const TRIES: u8 = 4;
const FIRST_AGAIN: Duration = Duration::from_millis(100);
const AGAIN: Duration = Duration::from_secs(1);

impl Ap {
    /// Returns the properties that the access point announces.
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

    /// Handles a frame of a station other than a data frame with a packet.
    pub(in crate::wifi) fn frame(
        &mut self,
        medium: &mut WirelessMedium,
        from: u32,
        frame: &Frame,
        above: &mut dyn Above,
    ) {
        self.hears(medium, from);
        let work = self.config.work;
        let open = self.config.security != Security::Wpa3;
        match frame.info.subtype {
            Subtype::Null { .. } => self.sleeps(medium, from, frame.info.power_management),
            Subtype::PsPoll => self.polled(medium, from),
            Subtype::ProbeRequest if frame.says == Says::Network(self.config.network) => {
                self.answer(medium, work.management, from, Subtype::ProbeResponse, Says::Nothing);
            }
            Subtype::Authentication { sae: false, sequence: 1 } if open => {
                self.guests.insert(from, Guest { authenticated: true, owes: 0 });
                let answer = Subtype::Authentication { sae: false, sequence: 2 };
                self.answer(medium, work.management, from, answer, Says::Nothing);
            }
            subtype @ Subtype::Authentication { sae: true, sequence } if !open => {
                let confirm = sequence == 2;
                self.guests.insert(from, Guest { authenticated: confirm, owes: 0 });
                let work = if confirm { work.sae_confirm } else { work.sae_commit };
                self.answer(medium, work, from, subtype, Says::Nothing);
            }
            Subtype::AssociationRequest => self.asked(medium, from, frame, above),
            Subtype::Eapol { message, .. } => self.key_answer(medium, from, message),
            Subtype::Deauthentication => self.dismiss(medium, from, above),
            _ => {}
        }
    }

    /// Handles an association request. The station may have been associated before, and have
    /// forgotten.
    fn asked(
        &mut self,
        medium: &mut WirelessMedium,
        from: u32,
        frame: &Frame,
        above: &mut dyn Above,
    ) {
        if !self.guests.get(&from).is_some_and(|it| it.authenticated) {
            return;
        }
        self.dismiss_member(medium, from, above);
        let qos = frame.says == Says::Verdict(Some(1));
        let says = Says::Verdict(self.admit(from, qos));
        let work = self.config.work.management;
        self.answer(medium, work, from, Subtype::AssociationResponse, says);
    }

    /// Handles a message of the handshake from a station.
    fn key_answer(&mut self, medium: &mut WirelessMedium, from: u32, message: u8) {
        let Some(guest) = self.guests.get_mut(&from) else { return };
        if guest.owes != message {
            return;
        }
        if message == 2 {
            guest.owes = 4;
            self.key(medium, from, 3);
        } else {
            self.guests.remove(&from);
            self.open(from);
        }
    }

    /// Sends a message of the handshake when it has been computed.
    fn key(&mut self, medium: &mut WirelessMedium, to: u32, message: u8) {
        let qos = self.aid(to).is_some_and(|aid| self.wrap_to(aid).qos);
        let subtype = Subtype::Eapol { message, qos };
        self.answer(medium, self.config.work.eapol, to, subtype, Says::Nothing);
        let at = self.free + FIRST_AGAIN;
        self.agenda.push(at, Task::Again { to, message, tries: 1 });
        self.agree(medium);
    }

    /// Opens a station for packets.
    fn open(&mut self, station: u32) {
        if let Some(aid) = self.aid(station)
            && let Some(member) = self.member(aid)
        {
            member.open = true;
        }
    }

    /// Answers when the processor is free.
    pub(super) fn answer(
        &mut self,
        medium: &mut WirelessMedium,
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
        self.free = self.free.max(medium.now()) + work;
        self.agenda.push(self.free, Task::Send { to, subtype, says });
        self.agree(medium);
    }

    fn agree(&mut self, medium: &mut WirelessMedium) {
        if let Some(next) = self.agenda.next() {
            self.clock.set(medium, TASK, next);
        }
    }

    /// Does the tasks that are due.
    pub(super) fn tasks(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut Frames,
        above: &mut dyn Above,
    ) {
        while self.agenda.next().is_some_and(|at| at <= medium.now()) {
            match self.agenda.pop().map(|(_, task)| task) {
                Some(Task::Send { to, subtype, says }) => {
                    self.tasks -= 1;
                    self.post(medium, frames, to, subtype, says);
                }
                Some(Task::Again { to, message, tries }) => {
                    self.once_more(medium, frames, (to, message, tries), above);
                }
                None => {}
            }
        }
        self.agree(medium);
    }

    /// Repeats a message of the handshake, unless it has been answered.
    fn once_more(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut Frames,
        (to, message, tries): (u32, u8, u8),
        above: &mut dyn Above,
    ) {
        if self.guests.get(&to).is_none_or(|guest| guest.owes != message + 1) {
            return;
        }
        if tries >= TRIES {
            self.post(medium, frames, to, Subtype::Deauthentication, Says::Nothing);
            self.dismiss(medium, to, above);
            return;
        }
        let qos = self.aid(to).is_some_and(|aid| self.wrap_to(aid).qos);
        self.post(medium, frames, to, Subtype::Eapol { message, qos }, Says::Nothing);
        self.agenda.push(medium.now() + AGAIN, Task::Again { to, message, tries: tries + 1 });
    }

    /// Hands a frame to the MAC, if it has a buffer.
    pub(super) fn post(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut Frames,
        to: u32,
        subtype: Subtype,
        says: Says,
    ) {
        let octets = self.elements().frame(subtype);
        let tag = frames.keep(Frame { info: FrameInfo::bare(subtype), says, to });
        let packet = TxFrame::new(to, octets, self.config.basic, tag).at_once();
        if medium.send(self.number, packet).is_err() {
            frames.take(tag);
            self.counters.unanswered += 1;
        }
    }

    /// Handles the outcome of a frame without a packet.
    pub(in crate::wifi) fn frame_done(
        &mut self,
        medium: &mut WirelessMedium,
        frame: &Frame,
        delivered: bool,
    ) {
        match (frame.info.subtype, frame.says) {
            (Subtype::Beacon, _) => self.beacon_done(),
            (Subtype::AssociationResponse, Says::Verdict(Some(_))) if delivered => {
                if self.config.security.encrypts() {
                    if let Some(guest) = self.guests.get_mut(&frame.to) {
                        guest.owes = 2;
                        self.key(medium, frame.to, 1);
                    }
                } else {
                    self.guests.remove(&frame.to);
                    self.open(frame.to);
                }
            }
            _ => {}
        }
    }

    /// Deauthenticates a station that has sent data without being associated (11.3.5.1, class 3).
    pub(in crate::wifi) fn stranger(&mut self, medium: &mut WirelessMedium, from: u32) {
        if from != GROUP && !self.guests.contains_key(&from) {
            let work = self.config.work.management;
            self.answer(medium, work, from, Subtype::Deauthentication, Says::Nothing);
        }
    }

    /// Deauthenticates an associated station.
    pub(in crate::wifi) fn expel(
        &mut self,
        medium: &mut WirelessMedium,
        station: u32,
        above: &mut dyn Above,
    ) {
        let work = self.config.work.management;
        self.answer(medium, work, station, Subtype::Deauthentication, Says::Nothing);
        self.dismiss(medium, station, above);
    }

    /// Switches the access point off: it forgets everything.
    pub(in crate::wifi) fn switch_off(
        &mut self,
        medium: &mut WirelessMedium,
        above: &mut dyn Above,
    ) {
        self.on = false;
        for kept in core::mem::take(&mut self.group) {
            let lost = Some(Cause::Disconnected);
            self.end(medium, Sent { tag: kept.tag, lost, attempts: 0 }, above);
        }
        let stations: Vec<u32> = self.stations().collect();
        for station in stations {
            self.dismiss(medium, station, above);
        }
        self.guests.clear();
        self.agenda = EventQueue::default();
        (self.tasks, self.beacon) = (0, false);
        self.clock.stop(BEACON);
        self.clock.stop(TASK);
    }

    /// Switches the access point on.
    pub(in crate::wifi) fn switch_on(&mut self, medium: &mut WirelessMedium) {
        if self.on {
            return;
        }
        self.on = true;
        self.next_beacon = medium.now();
        self.dtim_count = 0;
        self.start(medium);
    }
}

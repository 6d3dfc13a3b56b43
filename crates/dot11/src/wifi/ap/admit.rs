//! Admission of stations by an access point: probe responses, authentication, association, keys.

use super::{BEACON, TASK, WifiAp};
use crate::events::Scheduler;
use crate::mac::{GROUP, TxFrame, WirelessMedium};
use crate::wifi::config::WifiSecurity;
use crate::wifi::elements::Elements;
use crate::wifi::frame::{FrameContents, FrameInfo, FrameStore, Subtype, WifiFrame};
use crate::wifi::station::ApInfo;
use crate::wifi::upper::{SentPacket, UpperLayer};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::Cause;

/// A task of the processor, or a repetition after a missing answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum ApTask {
    Send {
        to: u32,
        subtype: Subtype,
        says: FrameContents,
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
pub(super) struct PendingStation {
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

impl WifiAp {
    /// Returns the properties that the access point announces.
    pub(in crate::wifi) const fn terms(&self, channel: u8) -> ApInfo {
        ApInfo {
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
        frame: &WifiFrame,
        upper: &mut dyn UpperLayer,
    ) {
        self.on_heard(medium, from);
        let work = self.config.work;
        let open = self.config.security != WifiSecurity::Wpa3;
        match frame.info.subtype {
            Subtype::Null { .. } => self.set_power_save(medium, from, frame.info.power_management),
            Subtype::PsPoll => self.on_ps_poll(medium, from),
            Subtype::ProbeRequest if frame.says == FrameContents::Network(self.config.network) => {
                self.answer(
                    medium,
                    work.management,
                    from,
                    Subtype::ProbeResponse,
                    FrameContents::Nothing,
                );
            }
            Subtype::Authentication { sae: false, sequence: 1 } if open => {
                self.guests.insert(from, PendingStation { authenticated: true, owes: 0 });
                let answer = Subtype::Authentication { sae: false, sequence: 2 };
                self.answer(medium, work.management, from, answer, FrameContents::Nothing);
            }
            subtype @ Subtype::Authentication { sae: true, sequence } if !open => {
                let confirm = sequence == 2;
                self.guests.insert(from, PendingStation { authenticated: confirm, owes: 0 });
                let work = if confirm { work.sae_confirm } else { work.sae_commit };
                self.answer(medium, work, from, subtype, FrameContents::Nothing);
            }
            Subtype::AssociationRequest => self.on_association_request(medium, from, frame, upper),
            Subtype::Eapol { message, .. } => self.on_key_message(medium, from, message),
            Subtype::Deauthentication => self.forget_station(medium, from, upper),
            _ => {}
        }
    }

    /// Handles an association request. The station may have been associated before, and have
    /// forgotten.
    fn on_association_request(
        &mut self,
        medium: &mut WirelessMedium,
        from: u32,
        frame: &WifiFrame,
        upper: &mut dyn UpperLayer,
    ) {
        if !self.guests.get(&from).is_some_and(|it| it.authenticated) {
            return;
        }
        self.disassociate(medium, from, upper);
        let qos = frame.says == FrameContents::Verdict(Some(1));
        let says = FrameContents::Verdict(self.admit(from, qos));
        let work = self.config.work.management;
        self.answer(medium, work, from, Subtype::AssociationResponse, says);
    }

    /// Handles a message of the handshake from a station.
    fn on_key_message(&mut self, medium: &mut WirelessMedium, from: u32, message: u8) {
        let Some(guest) = self.guests.get_mut(&from) else { return };
        if guest.owes != message {
            return;
        }
        if message == 2 {
            guest.owes = 4;
            self.send_key_message(medium, from, 3);
        } else {
            self.guests.remove(&from);
            self.open(from);
        }
    }

    /// Sends a message of the handshake when it has been computed.
    fn send_key_message(&mut self, medium: &mut WirelessMedium, to: u32, message: u8) {
        let qos = self.aid(to).is_some_and(|aid| self.wrap_to(aid).qos);
        let subtype = Subtype::Eapol { message, qos };
        self.answer(medium, self.config.work.eapol, to, subtype, FrameContents::Nothing);
        let at = self.free + FIRST_AGAIN;
        self.agenda.push(at, ApTask::Again { to, message, tries: 1 });
        self.arm_task_timer(medium);
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
        says: FrameContents,
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
        self.agenda.push(self.free, ApTask::Send { to, subtype, says });
        self.arm_task_timer(medium);
    }

    fn arm_task_timer(&mut self, medium: &mut WirelessMedium) {
        if let Some(next) = self.agenda.next() {
            self.clock.set(medium, TASK, next);
        }
    }

    /// Does the tasks that are due.
    pub(super) fn tasks(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        upper: &mut dyn UpperLayer,
    ) {
        while self.agenda.next().is_some_and(|at| at <= medium.now()) {
            match self.agenda.pop().map(|(_, task)| task) {
                Some(ApTask::Send { to, subtype, says }) => {
                    self.tasks -= 1;
                    self.send_mgmt(medium, frames, to, subtype, says);
                }
                Some(ApTask::Again { to, message, tries }) => {
                    self.repeat_key_message(medium, frames, (to, message, tries), upper);
                }
                None => {}
            }
        }
        self.arm_task_timer(medium);
    }

    /// Repeats a message of the handshake, unless it has been answered.
    fn repeat_key_message(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        (to, message, tries): (u32, u8, u8),
        upper: &mut dyn UpperLayer,
    ) {
        if self.guests.get(&to).is_none_or(|guest| guest.owes != message + 1) {
            return;
        }
        if tries >= TRIES {
            self.send_mgmt(medium, frames, to, Subtype::Deauthentication, FrameContents::Nothing);
            self.forget_station(medium, to, upper);
            return;
        }
        let qos = self.aid(to).is_some_and(|aid| self.wrap_to(aid).qos);
        self.send_mgmt(medium, frames, to, Subtype::Eapol { message, qos }, FrameContents::Nothing);
        self.agenda.push(medium.now() + AGAIN, ApTask::Again { to, message, tries: tries + 1 });
    }

    /// Hands a frame to the MAC, if it has a buffer.
    pub(super) fn send_mgmt(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        to: u32,
        subtype: Subtype,
        says: FrameContents,
    ) {
        let octets = self.elements().frame(subtype);
        let tag = frames.keep(WifiFrame { info: FrameInfo::bare(subtype), says, to });
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
        frame: &WifiFrame,
        delivered: bool,
    ) {
        match (frame.info.subtype, frame.says) {
            (Subtype::Beacon, _) => self.beacon_done(),
            (Subtype::AssociationResponse, FrameContents::Verdict(Some(_))) if delivered => {
                if self.config.security.encrypts() {
                    if let Some(guest) = self.guests.get_mut(&frame.to) {
                        guest.owes = 2;
                        self.send_key_message(medium, frame.to, 1);
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
    pub(in crate::wifi) fn on_unassociated_data(&mut self, medium: &mut WirelessMedium, from: u32) {
        if from != GROUP && !self.guests.contains_key(&from) {
            let work = self.config.work.management;
            self.answer(medium, work, from, Subtype::Deauthentication, FrameContents::Nothing);
        }
    }

    /// Deauthenticates an associated station.
    pub(in crate::wifi) fn deauthenticate(
        &mut self,
        medium: &mut WirelessMedium,
        station: u32,
        upper: &mut dyn UpperLayer,
    ) {
        let work = self.config.work.management;
        self.answer(medium, work, station, Subtype::Deauthentication, FrameContents::Nothing);
        self.forget_station(medium, station, upper);
    }

    /// Switches the access point off: it forgets everything.
    pub(in crate::wifi) fn switch_off(
        &mut self,
        medium: &mut WirelessMedium,
        upper: &mut dyn UpperLayer,
    ) {
        self.on = false;
        for kept in core::mem::take(&mut self.group) {
            let lost = Some(Cause::Disconnected);
            self.end(medium, SentPacket { tag: kept.tag, lost, attempts: 0 }, upper);
        }
        let stations: Vec<u32> = self.stations().collect();
        for station in stations {
            self.forget_station(medium, station, upper);
        }
        self.guests.clear();
        self.agenda = Scheduler::default();
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

//! The rounds of the exchange.

use super::{
    ExchangePhase, KeyMark, KeyPair, ROUND_MAX, SecurityInitiator, SessionSlot, SessionStage,
    SlotSecret, TAG, count,
};
use crate::component::group::{self, MEMBERS_MAX};
use crate::component::handshake::{SecurityMessage, SessionMessage};
use crate::component::{DataType, GroupPayload};
use crate::node::board::CpuWork;
use crate::node::print::LogLevel;
use crate::node::security::exchange::StreamPart;
use crate::node::task::{Cx, TaskStep};
use espbench_ieee80211::mac::Mac;
use espbench_model::time::Instant;
use subtle::ConstantTimeEq;

/// Time for which the queue of answers must be empty before the round's time is checked, in ms.
const SLICE_MS: u32 = 100;

impl<const DEVICES: usize, const SESSIONS: usize> SecurityInitiator<DEVICES, SESSIONS> {
    /// Begins the first round, with the devices that are marked.
    pub(super) fn begin_exchange(&mut self, cx: &mut Cx<'_>) {
        self.round = 0;
        self.listened = cx.shared.air.listens(DataType::Security);
        cx.shared.air.listen(DataType::Security, true);
        self.phase = ExchangePhase::Begin;
    }

    /// Returns the greatest number of rounds for `devices` devices.
    fn rounds(&self, devices: usize) -> usize {
        let each = ROUND_MAX.min(SESSIONS);
        let more = if devices.is_multiple_of(each) { 1 } else { 2 };
        devices / each + more
    }

    pub(super) fn begin_round(&mut self, cx: &mut Cx<'_>) -> Option<TaskStep> {
        let (done, unfinished) = self.result();
        let rounds = self.rounds(usize::from(done) + usize::from(unfinished));
        if unfinished == 0 || usize::from(self.round) >= rounds {
            self.phase = ExchangePhase::Finish;
            return None;
        }
        self.sessions.clear();
        self.ready.clear();
        self.offered = false;
        for (i, device) in self.devices.iter().enumerate() {
            if device.mark == KeyMark::Wanted {
                let slot = SessionSlot {
                    device: i as u16,
                    stage: SessionStage::Invited,
                    secret: SlotSecret::None,
                };
                if self.sessions.push(slot).is_err() {
                    break;
                }
            }
        }
        let (round, requested) = (self.round, self.sessions.len());
        let line = format_args!(
            "count: {round}, Secure_initiator_send, requested_num: {requested}, \
             unfinished_num: {unfinished}, successed_num: {done}"
        );
        cx.log(LogLevel::Info, TAG, line);
        let wait_ms = 1200 + 300 * requested as u32;
        self.wait_ticks = cx.shared.settings.tick.ticks(wait_ms);
        self.magic = cx.magic();
        self.phase = ExchangePhase::Join(0);
        Some(TaskStep::Send)
    }

    /// Writes a GROUP frame for 32 devices of the round.
    pub(super) fn write_group(&self, from: u8, payload: &mut [u8]) -> Option<usize> {
        let join = matches!(self.phase, ExchangePhase::Join(_));
        let slots = self.sessions.get(usize::from(from)..)?;
        let members = slots.iter().take(MEMBERS_MAX).filter_map(|slot| self.mac(slot));
        GroupPayload::emit(join, group::SEC, members, payload)
    }

    /// Continues after a GROUP frame, whether or not it went out: the component does not check.
    pub(super) fn grouped(&mut self, cx: &mut Cx<'_>, from: u8, join: bool) {
        let next = from.saturating_add(MEMBERS_MAX as u8);
        self.phase = match (usize::from(next) < self.sessions.len(), join) {
            (true, true) => ExchangePhase::Join(next),
            (true, false) => ExchangePhase::Leave(next),
            (false, true) => {
                cx.spend(CpuWork::KeyPair);
                self.pair = Some(KeyPair::random(cx.board));
                ExchangePhase::Offer
            }
            (false, false) => {
                self.round_began = cx.now;
                ExchangePhase::Collect(slice(cx))
            }
        };
    }

    /// Writes the public key of the round, for the group. It is sent once; a device that does not
    /// hear it takes part in the next round.
    pub(super) fn write_offer(&self, payload: &mut [u8]) -> Option<usize> {
        let client_key = self.pair.as_ref()?.public();
        SessionMessage::Command0 { client_key }.emit_message(payload)
    }

    /// Handles answers until there is none, then waits; ends the round when its time is over or no
    /// session is left.
    pub(super) fn collect(&mut self, cx: &mut Cx<'_>, until: Instant) -> Option<TaskStep> {
        if self.sessions.iter().all(|slot| slot.stage == SessionStage::Done) {
            self.end_round();
            return None;
        }
        while let Some(slot) = self.ready.pop_front() {
            self.heard = true;
            if self.prepare(cx, slot) {
                self.phase = ExchangePhase::Answer(slot);
                return Some(TaskStep::Send);
            }
        }
        if self.heard {
            self.collect_on(cx);
            return None;
        }
        if cx.now < until {
            return Some(TaskStep::Until(until));
        }
        let elapsed = cx.shared.settings.tick.between(self.round_began, cx.now);
        if elapsed >= u64::from(self.wait_ticks) {
            self.end_round();
            return None;
        }
        let until = slice(cx);
        self.phase = ExchangePhase::Collect(until);
        Some(TaskStep::Until(until))
    }

    /// Waits for a further answer.
    pub(super) fn collect_on(&mut self, cx: &Cx<'_>) {
        self.heard = false;
        self.phase = ExchangePhase::Collect(slice(cx));
    }

    pub(super) fn end_round(&mut self) {
        self.sessions.clear();
        self.ready.clear();
        self.pair = None;
        self.round = self.round.saturating_add(1);
        self.phase = ExchangePhase::Begin;
    }

    /// Computes the next message to a session; returns false if there is nothing to send.
    fn prepare(&mut self, cx: &mut Cx<'_>, index: u8) -> bool {
        let Some(slot) = self.sessions.get_mut(usize::from(index)) else { return false };
        match (slot.stage, &slot.secret) {
            (SessionStage::Offered, SlotSecret::Offer { public, random }) => {
                cx.spend(CpuWork::SharedSecret);
                let agreed = self.pair.as_ref().and_then(|p| p.agree(public, &self.pop, random));
                let Some(channel) = agreed else {
                    slot.stage = SessionStage::Invited;
                    slot.secret = SlotSecret::None;
                    count(&mut self.counts.refused);
                    failed(cx);
                    return false;
                };
                cx.spend(CpuWork::Seal { bytes: 32 });
                self.block = channel.crypt(StreamPart::ClientProof, public);
                slot.secret = SlotSecret::Channel(channel);
                slot.stage = SessionStage::Asked;
                true
            }
            (SessionStage::Proved, SlotSecret::Channel(channel)) => {
                cx.spend(CpuWork::Seal { bytes: 32 });
                self.block = channel.crypt(StreamPart::Key, &self.key.0);
                slot.stage = SessionStage::Given;
                true
            }
            _ => false,
        }
    }

    /// Writes the message that [`prepare`](Self::prepare) computed.
    pub(super) fn write_answer(&self, index: u8, payload: &mut [u8]) -> Option<(Mac, usize)> {
        let slot = self.sessions.get(usize::from(index))?;
        let len = match slot.stage {
            SessionStage::Asked => {
                SessionMessage::Command1 { proof: &self.block }.emit_message(payload)?
            }
            SessionStage::Given => SecurityMessage::Key(&self.block).emit(payload)?,
            _ => return None,
        };
        Some((self.mac(slot)?, len))
    }

    /// Takes a message of the exchange.
    pub(super) fn answered(&mut self, cx: &mut Cx<'_>, from: Mac, message: SecurityMessage<'_>) {
        let devices = &self.devices;
        let of = |slot: &SessionSlot| {
            devices.get(usize::from(slot.device)).is_some_and(|d| d.mac == from)
        };
        let Some(index) = self.sessions.iter().position(of) else {
            return count(&mut self.counts.strangers);
        };
        let taken = match message {
            SecurityMessage::Handshake(data) => self.step(cx, index, data),
            SecurityMessage::KeyResponse(data) => self.confirmed(cx, index, data),
            _ => None,
        };
        match taken {
            Some(()) => self.heard = true,
            None => count(&mut self.counts.refused),
        }
    }

    /// Takes a step of the key agreement; the costly part is done when its turn comes.
    fn step(&mut self, cx: &mut Cx<'_>, index: usize, data: &[u8]) -> Option<()> {
        let slot = self.sessions.get_mut(index)?;
        match (SessionMessage::parse(data), slot.stage, &slot.secret) {
            (Some(SessionMessage::Response0 { device_key, random }), SessionStage::Invited, _)
                if self.offered =>
            {
                slot.secret = SlotSecret::Offer { public: *device_key, random: *random };
                slot.stage = SessionStage::Offered;
            }
            (
                Some(SessionMessage::Response1 { proof }),
                SessionStage::Asked,
                SlotSecret::Channel(channel),
            ) => {
                cx.spend(CpuWork::Open { bytes: 32 });
                if !channel.proves(StreamPart::DeviceProof, proof, self.pair.as_ref()?.public()) {
                    cx.log(
                        LogLevel::Error,
                        "client_security1",
                        format_args!("Key mismatch. Close connection"),
                    );
                    failed(cx);
                    return None;
                }
                slot.stage = SessionStage::Proved;
            }
            _ => {
                failed(cx);
                return None;
            }
        }
        // A session waits once at most, and there is a place for each.
        self.ready.push_back(index as u8).ok()
    }

    /// Takes the key that came back. The component checks the message's type only.
    fn confirmed(&mut self, cx: &mut Cx<'_>, index: usize, data: &[u8]) -> Option<()> {
        let slot = self.sessions.get_mut(index)?;
        if cx.shared.settings.policy.check_echo {
            let (SessionStage::Given, SlotSecret::Channel(channel)) = (slot.stage, &slot.secret)
            else {
                return None;
            };
            let expected = channel.crypt(StreamPart::Echo, &self.key.0);
            if !bool::from(expected[..].ct_eq(data)) {
                return None;
            }
        } else if slot.stage == SessionStage::Done {
            return None;
        }
        slot.stage = SessionStage::Done;
        slot.secret = SlotSecret::None;
        self.devices.get_mut(usize::from(slot.device))?.mark = KeyMark::Done;
        Some(())
    }

    fn mac(&self, slot: &SessionSlot) -> Option<Mac> {
        self.devices.get(usize::from(slot.device)).map(|device| device.mac)
    }
}

fn failed(cx: &mut Cx<'_>) {
    cx.log(LogLevel::Error, TAG, format_args!("espnow-session handler failed"));
}

/// Returns when the queue of answers has been empty for long enough.
fn slice(cx: &Cx<'_>) -> Instant {
    cx.shared.settings.tick.pause_ms(cx.now, SLICE_MS)
}

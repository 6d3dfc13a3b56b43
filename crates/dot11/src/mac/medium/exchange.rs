//! Attempts, responses and time-outs (10.3.2.11, 10.3.4.4).

use super::events::MediumEvent;
use super::{StepBuffers, WirelessMedium};
use crate::air::receiver::NO_FRAME;
use crate::mac::exchange::ALONE;
use crate::mac::frame::{FrameKind, GROUP, Ppdu};
use crate::mac::station::QueuedFrame;
use crate::mac::timers::NEVER;
use crate::mac::user::{MacUser, MissedReception, TxStatus};
use crate::radio::airtime::{ACK_OCTETS, BLOCK_ACK_OCTETS, CTS_OCTETS, psdu_airtime, psdu_octets};
use crate::radio::{WifiMode, airtime, timing};
use espbench_model::sample::Cause;

impl WirelessMedium {
    /// Sends the head of a station's queue; the station has turned to sending.
    pub(super) fn attempt<H: MacUser + ?Sized>(&mut self, user: &mut H, station: u32) {
        let it = &mut self.stations[station as usize];
        if !it.simple {
            self.attempt_exchange(user, station);
            return;
        }
        let Some((&QueuedFrame { packet, sequence, attempts, .. }, before)) = it.attempt(0) else {
            return;
        };
        let mode = it.mode(packet.mode, before);
        it.engaged = true;
        let group = packet.to == GROUP;
        let octets = psdu_octets(mode, packet.octets);
        let duration_ns = if group { 0 } else { self.answer_ns(station, mode, 1) };
        let frame = Ppdu {
            kind: FrameKind::Data,
            from: station,
            to: packet.to,
            sequence,
            mpdus: 1,
            attempt: attempts,
            channel: self.states[station as usize].receiver.channel,
            mode,
            octets,
            begin: self.now,
            end: self.now + psdu_airtime(mode, octets),
            duration_ns,
            tag: packet.tag,
            repeated: false,
        };
        self.start_tx(user, frame);
    }

    /// Sends a response, unless the station is sending another frame or being tuned.
    pub(super) fn answer<H: MacUser + ?Sized>(
        &mut self,
        user: &mut H,
        station: u32,
        to: u32,
        mode: WifiMode,
        kind: FrameKind,
    ) {
        self.touch(station);
        let it = &mut self.stations[station as usize];
        it.owed_responses -= 1;
        let receiver = &self.states[station as usize].receiver;
        if receiver.sending() || receiver.deaf() {
            self.doze_if_idle(station);
            return;
        }
        let (mut octets, mut sequence, mut tag, mut duration_ns) = (ACK_OCTETS, 0, 0, 0);
        match kind {
            FrameKind::Cts => {
                it.counters.clearances += 1;
                (octets, duration_ns) = (CTS_OCTETS, it.reserved_ns);
            }
            FrameKind::BlockAck => {
                it.counters.acks += 1;
                octets = BLOCK_ACK_OCTETS;
                (sequence, tag) = self.block_ack(to, station);
            }
            _ => it.counters.acks += 1,
        }
        self.turn_to_tx(station);
        let frame = Ppdu {
            kind,
            from: station,
            to,
            sequence,
            mpdus: 1,
            attempt: 1,
            channel: self.states[station as usize].receiver.channel,
            mode,
            octets,
            begin: self.now,
            end: self.now + airtime(mode, octets),
            duration_ns,
            tag,
            repeated: false,
        };
        self.start_tx(user, frame);
    }

    /// Handles the end of a frame after all its receivers have been visited.
    pub(super) fn after_end<H: MacUser + ?Sized>(&mut self, user: &mut H, frame: &Ppdu) {
        let answers = matches!(frame.kind, FrameKind::Ack | FrameKind::BlockAck);
        if frame.kind != FrameKind::Data {
            user.on_control(frame, &self.scratch.heard, &self.scratch.missed);
        }
        if answers {
            self.scratch.heard.clear();
            self.scratch.missed.clear();
        }
        if !self.scratch.answered.is_empty() {
            self.on_responses(user, frame);
        }
        if answers {
            self.doze_if_idle(frame.from);
            return;
        }
        if frame.kind != FrameKind::Data {
            self.control_over(user, frame);
            return;
        }
        if self.stations[frame.from as usize].exchange.agreement != ALONE {
            self.exchange_over(user, frame);
            return;
        }
        self.ask_for_buffers(user, frame);
        let repeated = !frame.is_group() && self.schedule_ack(frame);
        self.hand_up(user, &Ppdu { repeated, ..*frame });
        if frame.is_group() {
            self.finish(user, frame.from, true);
        } else {
            self.await_answer(frame.from, frame.mode, FrameKind::Ack);
        }
    }

    #[inline(never)]
    fn control_over<H: MacUser + ?Sized>(&mut self, user: &mut H, frame: &Ppdu) {
        match frame.kind {
            FrameKind::Rts => self.rts_over(frame),
            FrameKind::Cts => self.cts_over(frame),
            _ => self.request_over(user, frame),
        }
    }

    /// Asks the user whether the stations that have read a frame have buffers for it; those without
    /// have missed it.
    #[inline]
    fn ask_for_buffers<H: MacUser + ?Sized>(&mut self, user: &mut H, frame: &Ppdu) {
        let StepBuffers { heard, missed, .. } = &mut self.scratch;
        // With a user that takes every frame, the compiler removes all of this.
        let refused = heard.iter().position(|it| !user.accepts(it.station, frame));
        let Some(first) = refused else { return };
        let mut at = 0;
        heard.retain(|it| {
            at += 1;
            let accepts = at <= first || at > first + 1 && user.accepts(it.station, frame);
            if !accepts {
                missed.push(MissedReception { station: it.station, cause: Cause::ReceiveQueue });
            }
            accepts
        });
    }

    /// Hands a frame up, once for all that have received it.
    fn hand_up<H: MacUser + ?Sized>(&mut self, user: &mut H, frame: &Ppdu) {
        let heard = core::mem::take(&mut self.scratch.heard);
        let missed = core::mem::take(&mut self.scratch.missed);
        for it in &heard {
            self.received[it.station as usize] += 1;
        }
        for it in &missed {
            let counters = &mut self.stations[it.station as usize].counters;
            counters.missed(it.cause);
        }
        user.on_data(self, frame, &heard, &missed);
        (self.scratch.heard, self.scratch.missed) = (heard, missed);
        self.scratch.heard.clear();
        self.scratch.missed.clear();
    }

    /// Schedules the response of a unicast frame's addressee, which is sent even for a duplicate,
    /// and even if the medium is busy (10.3.2.11). Returns whether the frame is a duplicate.
    fn schedule_ack(&mut self, frame: &Ppdu) -> bool {
        let Some(heard) = self.scratch.heard.first().copied() else { return false };
        let it = &mut self.stations[heard.station as usize];
        let mode = it.settings.basic.response_to(frame.mode);
        let at = self.now + it.settings.timing.sifs_ns;
        let repeated = it.is_duplicate(frame.from, frame.sequence, frame.attempt > 1);
        if repeated {
            it.counters.duplicates += 1;
            self.scratch.heard.clear();
        }
        it.owed_responses += 1;
        let kind = FrameKind::Ack;
        self.events
            .push(at, MediumEvent::Answer { station: heard.station, to: frame.from, mode, kind });
        repeated
    }

    /// Starts to wait for the response to a frame in a mode.
    pub(super) fn await_answer(&mut self, station: u32, mode: WifiMode, kind: FrameKind) {
        self.touch(station);
        let settings = &self.stations[station as usize].settings;
        let mode = settings.basic.response_to(mode);
        let timeout = settings.timing.ack_timeout_ns(mode);
        let access = &mut self.states[station as usize].access;
        access.set_awaiting_response(true);
        access.expected_response = kind;
        self.timers.set(station, self.now + timeout);
    }

    /// Handles stations that waited for a response and have read a frame. Any frame but the
    /// response means failure, at its end (10.3.2.11).
    fn on_responses<H: MacUser + ?Sized>(&mut self, user: &mut H, frame: &Ppdu) {
        let mut answered = core::mem::take(&mut self.scratch.answered);
        for &(station, acknowledged) in &answered {
            if !acknowledged {
                self.failed(user, station);
            } else if self.stations[station as usize].simple {
                self.acknowledged(user, station);
            } else {
                self.exchange_is_answered(user, station, frame);
            }
        }
        answered.clear();
        self.scratch.answered = answered;
    }

    /// Takes note that the head of the queue was acknowledged.
    pub(super) fn acknowledged<H: MacUser + ?Sized>(&mut self, user: &mut H, station: u32) {
        self.stations[station as usize].counters.acknowledged += 1;
        self.finish(user, station, true);
    }

    /// Handles the end of the ACK timeout. If the station has read the header of some frame by now,
    /// the end of that frame decides.
    pub(super) fn on_response_timeout<H: MacUser + ?Sized>(&mut self, user: &mut H, station: u32) {
        let receiver = &self.states[station as usize].receiver;
        if receiver.receiving != NO_FRAME {
            let transmission = &self.transmissions[receiver.receiving as usize];
            let lead = timing::rx_start_delay_ns(transmission.frame.mode);
            if transmission.frame.begin + lead <= self.now {
                return;
            }
        }
        self.failed(user, station);
    }

    /// Takes note that no response came.
    pub(super) fn failed<H: MacUser + ?Sized>(&mut self, user: &mut H, station: u32) {
        if !self.stations[station as usize].simple && self.exchange_failed(user, station) {
            return;
        }
        let it = &mut self.stations[station as usize];
        if it.on_failure() {
            it.engaged = false;
            self.back_off(station);
        } else {
            it.counters.given_up += 1;
            self.finish(user, station, false);
        }
    }

    /// Removes the head of a station's queue and reports its outcome.
    fn finish<H: MacUser + ?Sized>(&mut self, user: &mut H, station: u32, delivered: bool) {
        let it = &mut self.stations[station as usize];
        it.on_success();
        it.engaged = false;
        let entry = it.queue.pop_front();
        if !delivered || !self.go_on(station) {
            self.back_off(station);
        }
        if let Some(QueuedFrame { packet, attempts, .. }) = entry {
            user.on_tx_status(self, station, TxStatus { tag: packet.tag, delivered, attempts });
        }
    }

    /// Begins the back-off after an attempt, whether there is more to send or not (10.3.4.3).
    pub(super) fn back_off(&mut self, station: u32) {
        self.touch(station);
        let it = &mut self.stations[station as usize];
        let state = &mut self.states[station as usize];
        state.access.set_awaiting_response(false);
        state.access.set_contending(!it.queue.is_empty());
        state.access.start_backoff(self.now, it.draw());
        let due = if state.access.contending() && !state.receiver.busy() {
            state.access.backoff_end()
        } else {
            NEVER
        };
        self.timers.set(station, due);
        self.doze_if_idle(station);
    }
}

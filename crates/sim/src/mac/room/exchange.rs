//! Attempts, responses and time-outs (10.3.2.11, 10.3.4.4).

use super::events::What;
use super::{Room, Scratch};
use crate::air::ear::NOTHING;
use crate::mac::burst::ALONE;
use crate::mac::frame::{GROUP, Kind, OnAir};
use crate::mac::host::{Done, Host, Missed};
use crate::mac::station::Entry;
use crate::mac::timers::NEVER;
use crate::radio::airtime::{ACK_OCTETS, BLOCK_ACK_OCTETS, CTS_OCTETS};
use crate::radio::{Mode, airtime, timing};
use espbench_proto::sample::Cause;

impl Room {
    /// Sends the head of a station's queue; the station has turned to sending.
    pub(super) fn attempt<H: Host + ?Sized>(&mut self, host: &mut H, station: u32) {
        let it = &mut self.stations[station as usize];
        if !it.simple {
            self.attempt_burst(host, station);
            return;
        }
        let Some((&Entry { packet, sequence, attempts, .. }, before)) = it.attempt(0) else {
            return;
        };
        let mode = it.mode(packet.mode, before);
        it.engaged = true;
        let group = packet.to == GROUP;
        let duration_ns = if group { 0 } else { self.answer_ns(station, mode, 1) };
        let frame = OnAir {
            kind: Kind::Data,
            from: station,
            to: packet.to,
            sequence,
            mpdus: 1,
            attempt: attempts,
            channel: self.hot[station as usize].ear.channel,
            mode,
            octets: packet.octets,
            begin: self.now,
            end: self.now + airtime(mode, packet.octets),
            duration_ns,
            tag: packet.tag,
            repeated: false,
        };
        self.begin(host, frame);
    }

    /// Sends a response, unless the station is sending another frame or being tuned.
    pub(super) fn answer<H: Host + ?Sized>(
        &mut self,
        host: &mut H,
        station: u32,
        to: u32,
        mode: Mode,
        kind: Kind,
    ) {
        let it = &mut self.stations[station as usize];
        it.owes -= 1;
        let ear = &self.hot[station as usize].ear;
        if ear.sending || ear.deaf {
            self.nod_off(station);
            return;
        }
        let (mut octets, mut sequence, mut tag, mut duration_ns) = (ACK_OCTETS, 0, 0, 0);
        match kind {
            Kind::Cts => {
                it.counters.clearances += 1;
                (octets, duration_ns) = (CTS_OCTETS, it.reserved_ns);
            }
            Kind::BlockAck => {
                it.counters.acks += 1;
                octets = BLOCK_ACK_OCTETS;
                (sequence, tag) = self.block_ack(to, station);
            }
            _ => it.counters.acks += 1,
        }
        self.turn_to_sending(station);
        let frame = OnAir {
            kind,
            from: station,
            to,
            sequence,
            mpdus: 1,
            attempt: 1,
            channel: self.hot[station as usize].ear.channel,
            mode,
            octets,
            begin: self.now,
            end: self.now + airtime(mode, octets),
            duration_ns,
            tag,
            repeated: false,
        };
        self.begin(host, frame);
    }

    /// Handles the end of a frame after all its receivers have been visited.
    pub(super) fn over<H: Host + ?Sized>(&mut self, host: &mut H, frame: &OnAir) {
        let answers = matches!(frame.kind, Kind::Ack | Kind::BlockAck);
        if frame.kind != Kind::Data {
            host.answered(frame, &self.scratch.heard, &self.scratch.missed);
        }
        if answers {
            self.scratch.heard.clear();
            self.scratch.missed.clear();
        }
        if !self.scratch.answered.is_empty() {
            self.answers(host, frame);
        }
        if answers {
            self.nod_off(frame.from);
            return;
        }
        if frame.kind != Kind::Data {
            self.control_over(host, frame);
            return;
        }
        if self.stations[frame.from as usize].burst.agreement != ALONE {
            self.burst_over(host, frame);
            return;
        }
        self.ask(host, frame);
        let repeated = !frame.is_group() && self.addressee(frame);
        self.hand_up(host, &OnAir { repeated, ..*frame });
        if frame.is_group() {
            self.finish(host, frame.from, true);
        } else {
            self.await_answer(frame.from, frame.mode, Kind::Ack);
        }
    }

    #[inline(never)]
    fn control_over<H: Host + ?Sized>(&mut self, host: &mut H, frame: &OnAir) {
        match frame.kind {
            Kind::Rts => self.rts_over(frame),
            Kind::Cts => self.cts_over(frame),
            _ => self.request_over(host, frame),
        }
    }

    /// Asks the host whether the stations that have read a frame have buffers for it; those without
    /// have missed it.
    #[inline]
    fn ask<H: Host + ?Sized>(&mut self, host: &mut H, frame: &OnAir) {
        let Scratch { heard, missed, .. } = &mut self.scratch;
        // A host that takes every frame pays for this one search only.
        let refused = heard.iter().position(|it| !host.accepts(it.station, frame));
        let Some(first) = refused else { return };
        let mut at = 0;
        heard.retain(|it| {
            at += 1;
            let accepts = at <= first || at > first + 1 && host.accepts(it.station, frame);
            if !accepts {
                missed.push(Missed { station: it.station, cause: Cause::ReceiveQueue });
            }
            accepts
        });
    }

    /// Hands a frame up, once for all that have received it.
    fn hand_up<H: Host + ?Sized>(&mut self, host: &mut H, frame: &OnAir) {
        let heard = core::mem::take(&mut self.scratch.heard);
        let missed = core::mem::take(&mut self.scratch.missed);
        for it in &heard {
            self.stations[it.station as usize].counters.received += 1;
        }
        for it in &missed {
            let counters = &mut self.stations[it.station as usize].counters;
            counters.missed(it.cause);
        }
        host.heard(self, frame, &heard, &missed);
        (self.scratch.heard, self.scratch.missed) = (heard, missed);
        self.scratch.heard.clear();
        self.scratch.missed.clear();
    }

    /// Schedules the response of a unicast frame's addressee, which is sent even for a duplicate,
    /// and even if the medium is busy (10.3.2.11). Returns whether the frame is a duplicate.
    fn addressee(&mut self, frame: &OnAir) -> bool {
        let Some(heard) = self.scratch.heard.first().copied() else { return false };
        let it = &mut self.stations[heard.station as usize];
        let mode = it.settings.basic.response_to(frame.mode);
        let at = self.now + it.settings.timing.sifs_ns;
        let repeated = it.is_duplicate(frame.from, frame.sequence, frame.attempt > 1);
        if repeated {
            it.counters.duplicates += 1;
            self.scratch.heard.clear();
        }
        it.owes += 1;
        let kind = Kind::Ack;
        self.events.push(at, What::Answer { station: heard.station, to: frame.from, mode, kind });
        repeated
    }

    /// Starts to wait for the response to a frame in a mode.
    pub(super) fn await_answer(&mut self, station: u32, mode: Mode, kind: Kind) {
        let settings = &self.stations[station as usize].settings;
        let mode = settings.basic.response_to(mode);
        let timeout = settings.timing.ack_timeout_ns(mode);
        let access = &mut self.hot[station as usize].access;
        (access.waiting, access.expects) = (true, kind);
        self.timers.set(station, self.now + timeout);
    }

    /// Handles stations that waited for a response and have read a frame. Any frame but the
    /// response means failure, at its end (10.3.2.11).
    fn answers<H: Host + ?Sized>(&mut self, host: &mut H, frame: &OnAir) {
        let mut answered = core::mem::take(&mut self.scratch.answered);
        for &(station, acknowledged) in &answered {
            if !acknowledged {
                self.failed(host, station);
            } else if self.stations[station as usize].simple {
                self.acknowledged(host, station);
            } else {
                self.burst_is_answered(host, station, frame);
            }
        }
        answered.clear();
        self.scratch.answered = answered;
    }

    /// Takes note that the head of the queue was acknowledged.
    pub(super) fn acknowledged<H: Host + ?Sized>(&mut self, host: &mut H, station: u32) {
        self.stations[station as usize].counters.acknowledged += 1;
        self.finish(host, station, true);
    }

    /// Handles the end of the ACK timeout. If the station has read the header of some frame by now,
    /// the end of that frame decides.
    pub(super) fn timed_out<H: Host + ?Sized>(&mut self, host: &mut H, station: u32) {
        let ear = &self.hot[station as usize].ear;
        if ear.reads != NOTHING {
            let flight = &self.flights[ear.reads as usize];
            let lead = timing::rx_start_delay_ns(flight.frame.mode);
            if ear.reads_since() + lead <= self.now {
                return;
            }
        }
        self.failed(host, station);
    }

    /// Takes note that no response came.
    pub(super) fn failed<H: Host + ?Sized>(&mut self, host: &mut H, station: u32) {
        if !self.stations[station as usize].simple && self.burst_failed(host, station) {
            return;
        }
        let it = &mut self.stations[station as usize];
        if it.failed() {
            it.engaged = false;
            self.back_off(station);
        } else {
            it.counters.given_up += 1;
            self.finish(host, station, false);
        }
    }

    /// Removes the head of a station's queue and reports its outcome.
    fn finish<H: Host + ?Sized>(&mut self, host: &mut H, station: u32, delivered: bool) {
        let it = &mut self.stations[station as usize];
        it.succeeded();
        it.engaged = false;
        let entry = it.queue.pop_front();
        self.back_off(station);
        if let Some(Entry { packet, attempts, .. }) = entry {
            host.done(self, station, Done { tag: packet.tag, delivered, attempts });
        }
    }

    /// Begins the back-off after an attempt, whether there is more to send or not (10.3.4.3).
    pub(super) fn back_off(&mut self, station: u32) {
        let it = &mut self.stations[station as usize];
        let hot = &mut self.hot[station as usize];
        hot.access.waiting = false;
        hot.access.contending = !it.queue.is_empty();
        hot.access.back_off(self.now, it.draw());
        let due = if hot.access.contending && !hot.ear.busy { hot.access.due() } else { NEVER };
        self.timers.set(station, due);
        self.nod_off(station);
    }
}

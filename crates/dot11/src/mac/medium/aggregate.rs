//! A-MPDUs: their composition, the ends of their MPDUs, their block acknowledgement (10.12, 10.25).

use super::WirelessMedium;
use super::events::MediumEvent;
use crate::air::adjacent::place;
use crate::air::receiver::NO_FRAME;
use crate::mac::block_ack::{BlockAckAgreement, acknowledges, after};
use crate::mac::config::{AmpduConfig, TxFrame};
use crate::mac::exchange::{ALONE, ExchangeStep};
use crate::mac::frame::{FrameKind, GROUP, MpduFate, MpduInfo, Ppdu};
use crate::mac::station::QueuedFrame;
use crate::mac::user::{MacUser, MissedReception, TxStatus};
use crate::radio::airtime::{
    ACK_OCTETS, Airtime, BLOCK_ACK_OCTETS, elapsed_ns, most_octets, psdu_airtime, psdu_octets,
    with_mpdu,
};
use crate::radio::{WifiMode, airtime};
use espbench_model::sample::Cause;

/// The head of the queue of a station that is not simple.
#[derive(Clone, Copy, Debug)]
struct QueueHead {
    entry: QueuedFrame,
    mode: WifiMode,
    agreement: u32,
}

impl WirelessMedium {
    /// Sends the head of a station's queue, and all that may go with it; the station has turned to
    /// sending.
    #[inline(never)]
    pub(super) fn attempt_exchange<H: MacUser + ?Sized>(&mut self, user: &mut H, station: u32) {
        let Some(&entry) = self.stations[station as usize].queue.front() else { return };
        let it = &mut self.stations[station as usize];
        it.engaged = true;
        if entry.request {
            self.request(user, station, entry);
            return;
        }
        let mode = it.mode(entry.packet.mode, entry.attempts);
        let agreement = self.agreement(station, &entry.packet);
        let it = &mut self.stations[station as usize];
        it.txop_until = self.now + it.settings.txop_ns;
        self.compose(user, station, QueueHead { entry, mode, agreement });
        if !self.clearance(user, station, entry.packet.to) {
            self.send_exchange(user, station);
        }
    }

    /// Goes on in the TXOP of a station whose exchange has ended well; returns whether it does.
    pub(super) fn go_on(&mut self, station: u32) -> bool {
        let it = &mut self.stations[station as usize];
        let at = self.now + it.settings.timing.sifs_ns;
        let data = it.queue.front().is_some_and(|it| !it.request);
        if it.txop_until <= at || !data || it.off {
            return false;
        }
        it.engaged = true;
        let state = &mut self.states[station as usize];
        state.access.set_awaiting_response(false);
        state.access.set_contending(false);
        self.timers.set(station, crate::mac::timers::NEVER);
        self.events.push(at, MediumEvent::Burst(station));
        true
    }

    /// Sends the next frames of a TXOP, if there are some that it has time for.
    pub(super) fn burst<H: MacUser + ?Sized>(&mut self, user: &mut H, station: u32) {
        let deaf = self.states[station as usize].receiver.deaf();
        let it = &mut self.stations[station as usize];
        it.engaged = false;
        let entry = it.queue.front().copied().filter(|it| !it.request);
        let Some(entry) = entry.filter(|_| !deaf) else { return self.back_off(station) };
        let mode = it.mode(entry.packet.mode, entry.attempts);
        let agreement = self.agreement(station, &entry.packet);
        self.compose(user, station, QueueHead { entry, mode, agreement });
        let it = &self.stations[station as usize];
        let (octets, mpdus) = (it.exchange.octets, it.exchange.mpdus.len().max(1) as u8);
        let end = self.now + psdu_airtime(mode, octets) + self.answer_ns(station, mode, mpdus);
        if end > it.txop_until {
            return self.back_off(station);
        }
        self.stations[station as usize].engaged = true;
        self.turn_to_tx(station);
        self.send_exchange(user, station);
    }

    /// Returns the agreement that a packet goes under, and makes it when it is first needed.
    fn agreement(&mut self, station: u32, packet: &TxFrame) -> u32 {
        let TxFrame { to, aggregate, ahead, .. } = *packet;
        if !aggregate || ahead || to == GROUP || to == station {
            return ALONE;
        }
        let both = (self.ampdu(station), self.ampdu(to));
        let (Some(mine), Some(theirs)) = both else { return ALONE };
        if mine.send == 0 || theirs.receive == 0 {
            return ALONE;
        }
        let new = self.agreements.len() as u32;
        let number = *self.stations[station as usize].agreements.entry(to).or_insert(new);
        if number == new {
            self.agreements.push(BlockAckAgreement::new(station, to, theirs.receive));
        }
        number
    }

    fn ampdu(&self, station: u32) -> Option<AmpduConfig> {
        self.stations.get(station as usize)?.settings.ampdu
    }

    /// Chooses the MPDUs of the exchange: all that may go with the head of the queue.
    fn compose<H: MacUser + ?Sized>(&mut self, user: &mut H, station: u32, head: QueueHead) {
        let QueueHead { entry, mode, agreement } = head;
        let to = entry.packet.to;
        let exchange = &mut self.stations[station as usize].exchange;
        exchange.clear(agreement, mode);
        exchange.stage = ExchangeStep::Data;
        let Some(it) = self.agreements.get_mut(agreement as usize) else {
            exchange.places.push(0);
            exchange.octets = psdu_octets(mode, entry.packet.octets);
            return;
        };
        let oldest = if entry.numbered { entry.sequence } else { it.next };
        if !it.agreed {
            it.give_up();
            self.release(user, agreement);
            self.agreements[agreement as usize].begin(oldest);
        }
        let (Some(mine), Some(theirs)) = (self.ampdu(station), self.ampdu(to)) else { return };
        let most = if mode.aggregates() { mine.send.min(theirs.receive).max(1) } else { 1 };
        let room = theirs.octets.min(most_octets(mode, mine.longest_ns));
        let it = &mut self.agreements[agreement as usize];
        let sender = &mut self.stations[station as usize];
        let exchange = &mut sender.exchange;
        for (at, entry) in sender.queue.iter_mut().enumerate() {
            let packet = &entry.packet;
            if packet.to != to || !packet.aggregate || packet.ahead || entry.request {
                continue;
            }
            let number = if entry.numbered { entry.sequence } else { it.next };
            let octets = with_mpdu(exchange.octets, packet.octets);
            let first = exchange.mpdus.is_empty();
            if !first && (octets > room || !it.may_send(number, oldest)) {
                break;
            }
            if !entry.numbered {
                (entry.numbered, entry.sequence) = (true, number);
                it.next = after(number, 1);
            }
            exchange.octets = octets;
            exchange.places.push(at as u32);
            exchange.mpdus.push(MpduInfo {
                tag: packet.tag,
                octets: packet.octets,
                sequence: number,
                attempt: entry.attempts,
                fate: MpduFate::Lost,
            });
            if exchange.mpdus.len() >= usize::from(most) {
                break;
            }
        }
        if let [alone] = &exchange.mpdus[..] {
            exchange.octets = psdu_octets(mode, alone.octets);
        }
    }

    /// Sends the chosen MPDUs.
    #[inline(never)]
    pub(super) fn send_exchange<H: MacUser + ?Sized>(&mut self, user: &mut H, station: u32) {
        let it = &mut self.stations[station as usize];
        it.exchange.stage = ExchangeStep::Data;
        let mut first = None;
        for k in 0..it.exchange.places.len() {
            let at = it.exchange.places[k] as usize;
            let Some((&entry, _)) = it.attempt(at) else { continue };
            first = first.or(Some(entry));
            if let Some(mpdu) = it.exchange.mpdus.get_mut(k) {
                mpdu.attempt = entry.attempts;
            }
        }
        let Some(entry) = first else { return };
        let (mode, octets) = (it.exchange.mode, it.exchange.octets);
        let mpdus = it.exchange.mpdus.len().max(1) as u8;
        let duration_ns =
            if entry.packet.to == GROUP { 0 } else { self.answer_ns(station, mode, mpdus) };
        let frame = Ppdu {
            kind: FrameKind::Data,
            from: station,
            to: entry.packet.to,
            sequence: entry.sequence,
            mpdus,
            attempt: entry.attempts,
            channel: self.states[station as usize].receiver.channel,
            mode,
            octets,
            begin: self.now,
            end: self.now + psdu_airtime(mode, octets),
            duration_ns,
            tag: entry.packet.tag,
            repeated: false,
        };
        let slot = self.start_tx(user, frame);
        if mpdus > 1 {
            let it = &mut self.stations[station as usize];
            it.counters.ampdus += 1;
            (it.exchange.on_air, it.exchange.slot) = (true, slot);
            self.timers.set(station, self.now + Airtime::of(mode, 0).lead_ns());
        }
    }

    /// Returns SIFS and the air time of the answer to a frame, the value of its Duration field
    /// (9.2.5.2).
    pub(super) fn answer_ns(&self, station: u32, mode: WifiMode, mpdus: u8) -> u64 {
        let settings = &self.stations[station as usize].settings;
        let octets = if mpdus > 1 { BLOCK_ACK_OCTETS } else { ACK_OCTETS };
        settings.timing.sifs_ns + airtime(settings.basic.response_to(mode), octets)
    }

    /// Handles the end of an A-MPDU's header, or of one of its MPDUs but the last.
    #[inline(never)]
    pub(super) fn on_part_end<H: MacUser + ?Sized>(&mut self, user: &mut H, station: u32) {
        let exchange = &mut self.stations[station as usize].exchange;
        let slot = exchange.slot;
        let frame = self.transmissions[slot as usize].frame;
        let header = exchange.passed == 0;
        let at = exchange.ended as usize;
        let next = exchange.mpdus.get(at + usize::from(!header)).map_or(0, |it| it.octets);
        exchange.passed = with_mpdu(exchange.passed, next);
        exchange.ended += u32::from(!header);
        if (exchange.ended as usize) + 1 < exchange.mpdus.len() {
            let due = frame.begin + elapsed_ns(frame.mode, exchange.passed);
            self.timers.set(station, due);
        }
        let read = self.read_part(&frame, slot);
        if !header {
            self.on_mpdu_end(user, &frame, at, read);
        } else if read.is_err() {
            self.stations[station as usize].exchange.lost = true;
        }
    }

    /// Returns the signal strength if the addressee reads the part of a frame that ends now, else
    /// the cause of the loss.
    fn read_part(&mut self, frame: &Ppdu, slot: u32) -> Result<i8, Option<Cause>> {
        let to = frame.to as usize;
        let Some(link) = self.links.between(frame.from, frame.to) else { return Err(None) };
        let transmissions = &self.transmissions;
        let transmission = &transmissions[slot as usize];
        let state = &mut self.states[to];
        let kind = &self.kinds[usize::from(state.receiver.kind)];
        let path =
            self.config.adjacent.from(frame.mode, frame.channel)[place(state.receiver.channel)];
        let alone = if state.receiver.receiving == slot {
            let chance = state
                .receiver
                .on_part_end(self.now, kind, |slot| transmissions[slot as usize].signal);
            let certain = chance >= 1.0;
            if certain || chance > 0.0 && self.stations[to].draw_reception(chance) {
                return Ok(link.rssi().saturating_sub(transmission.below_db));
            }
            state.receiver.survives_noise()
        } else {
            let power = path.through(transmission.sent(link.power()));
            kind.detects(&transmission.signal, power)
        };
        let cause = if alone { Cause::Collision } else { Cause::Noise };
        Err(path.readable.then_some(cause))
    }

    /// Handles the end of an MPDU under an agreement at its addressee.
    fn on_mpdu_end<H: MacUser + ?Sized>(
        &mut self,
        user: &mut H,
        frame: &Ppdu,
        at: usize,
        read: Result<i8, Option<Cause>>,
    ) {
        let exchange = &self.stations[frame.from as usize].exchange;
        let (agreement, lost) = (exchange.agreement, exchange.lost);
        let Some(&mpdu) = exchange.mpdus.get(at) else { return };
        let MpduInfo { tag, octets, sequence, attempt, .. } = mpdu;
        let frame = Ppdu { tag, octets, sequence, attempt, ..*frame };
        let fate = match read {
            Ok(rssi) if !lost => self.receive_mpdu(user, agreement, &frame, rssi),
            Ok(_) => {
                self.miss(user, &frame, Some(Cause::Collision));
                MpduFate::Lost
            }
            Err(cause) => {
                self.miss(user, &frame, cause);
                MpduFate::Lost
            }
        };
        let exchange = &mut self.stations[frame.from as usize].exchange;
        if let Some(mpdu) = exchange.mpdus.get_mut(at) {
            mpdu.fate = fate;
        }
        if !exchange.answers && matches!(fate, MpduFate::Taken | MpduFate::Repeated) {
            exchange.answers = true;
            self.stations[frame.to as usize].owed_responses += 1;
        }
    }

    fn miss<H: MacUser + ?Sized>(&mut self, user: &mut H, frame: &Ppdu, cause: Option<Cause>) {
        match cause {
            Some(cause) => {
                self.report(user, frame, Err(MissedReception { station: frame.to, cause }));
            }
            None => user.on_data(self, frame, &[], &[]),
        }
    }

    /// Handles the end of a transmission under an agreement. The last MPDU is read like a frame.
    #[inline(never)]
    pub(super) fn exchange_over<H: MacUser + ?Sized>(&mut self, user: &mut H, frame: &Ppdu) {
        let heard = self.scratch.heard.first().map(|it| it.rssi);
        let missed = self.scratch.missed.first().map(|it| it.cause);
        self.scratch.heard.clear();
        self.scratch.missed.clear();
        let exchange = &mut self.stations[frame.from as usize].exchange;
        exchange.on_air = false;
        let last = usize::from(frame.mpdus) - 1;
        // The addressee is still receiving it, or it would have been given a chance. One that has turned to sending, its CTS-to-self
        // say, has lost it.
        let receiver = &self.states[frame.to as usize].receiver;
        let reading = heard.is_some() || receiver.receiving == NO_FRAME && !receiver.sending();
        self.on_mpdu_end(user, frame, last, heard.ok_or(missed));
        self.exchange_answered(frame, reading);
        let mpdus = core::mem::take(&mut self.stations[frame.from as usize].exchange.mpdus);
        match &mpdus[..] {
            [alone] => user.on_mpdu_end(frame, alone),
            all => user.on_ampdu_end(frame, all),
        }
        self.stations[frame.from as usize].exchange.mpdus = mpdus;
        let kind = if frame.mpdus > 1 { FrameKind::BlockAck } else { FrameKind::Ack };
        self.await_answer(frame.from, frame.mode, kind);
    }

    /// Schedules the answer of an addressee that has read an MPDU and neither receives another frame
    /// by now nor sends one.
    fn exchange_answered(&mut self, frame: &Ppdu, reading: bool) {
        if !self.stations[frame.from as usize].exchange.answers {
            return;
        }
        if !reading {
            self.stations[frame.to as usize].owed_responses -= 1;
            self.doze_if_idle(frame.to);
            return;
        }
        // An MPDU that was read ends an EIFS (10.3.2.3.7).
        self.states[frame.to as usize].access.on_rx_ok(self.now, 0);
        let it = &self.stations[frame.to as usize];
        let mode = it.settings.basic.response_to(frame.mode);
        let at = self.now + it.settings.timing.sifs_ns;
        let kind = if frame.mpdus > 1 { FrameKind::BlockAck } else { FrameKind::Ack };
        self.events.push(at, MediumEvent::Answer { station: frame.to, to: frame.from, mode, kind });
    }

    /// Returns the block acknowledgement of an agreement: starting sequence number and bitmap.
    #[inline(never)]
    pub(super) fn block_ack(&self, from: u32, to: u32) -> (u16, u64) {
        let number = self.stations[from as usize].agreements.get(&to);
        let agreement = number.and_then(|&number| self.agreements.get(number as usize));
        agreement.map_or((0, 0), BlockAckAgreement::answer)
    }

    /// Handles the response that a station waited for.
    #[inline(never)]
    pub(super) fn exchange_is_answered<H: MacUser + ?Sized>(
        &mut self,
        user: &mut H,
        station: u32,
        answer: &Ppdu,
    ) {
        let exchange = &self.stations[station as usize].exchange;
        match exchange.stage {
            ExchangeStep::Clearance => self.schedule_cleared(station),
            ExchangeStep::Request => self.request_answered(station, true),
            ExchangeStep::Data if exchange.agreement == ALONE => self.acknowledged(user, station),
            ExchangeStep::Data => self.finish_exchange(user, station, Some(answer)),
        }
    }

    /// Handles a missing response. Returns whether nothing more is to be done.
    #[inline(never)]
    pub(super) fn exchange_failed<H: MacUser + ?Sized>(
        &mut self,
        user: &mut H,
        station: u32,
    ) -> bool {
        let exchange = &self.stations[station as usize].exchange;
        match exchange.stage {
            ExchangeStep::Clearance => self.on_cts_timeout(user, station),
            ExchangeStep::Request => self.request_answered(station, false),
            ExchangeStep::Data if exchange.agreement == ALONE => return false,
            ExchangeStep::Data => self.finish_exchange(user, station, None),
        }
        true
    }

    /// Ends an exchange under an agreement. `answer` is the acknowledgement, or `None` if none
    /// came.
    #[inline(never)]
    pub(super) fn finish_exchange<H: MacUser + ?Sized>(
        &mut self,
        user: &mut H,
        station: u32,
        answer: Option<&Ppdu>,
    ) {
        let mut finished = core::mem::take(&mut self.scratch.finished);
        let it = &mut self.stations[station as usize];
        it.engaged = false;
        let span = it.exchange.span();
        let (mut kept, mut lost) = (span, 0);
        let mut member = it.exchange.places.len();
        for at in (0..span).rev() {
            let entry = it.queue[at];
            if it.exchange.places.get(member.wrapping_sub(1)) == Some(&(at as u32)) {
                member -= 1;
                let delivered = answer.is_some_and(|answer| {
                    answer.kind == FrameKind::Ack || acknowledges(answer, entry.sequence)
                });
                let spent = entry.attempts >= it.limit(entry.packet.octets) || it.off;
                if delivered || spent {
                    let QueuedFrame { packet, attempts, .. } = entry;
                    finished.push(TxStatus { tag: packet.tag, delivered, attempts });
                    lost += u64::from(!delivered);
                    continue;
                }
            }
            kept -= 1;
            it.queue[kept] = entry;
        }
        it.queue.drain(..kept);
        it.counters.acknowledged += finished.len() as u64 - lost;
        it.counters.given_up += lost;
        if answer.is_some() {
            it.on_success();
        } else {
            it.update_window(finished.len() < it.exchange.places.len());
        }
        if lost > 0 && !it.off {
            self.queue_block_ack_request(station);
        }
        if answer.is_none() || !self.go_on(station) {
            self.back_off(station);
        }
        for &done in finished.iter().rev() {
            user.on_tx_status(self, station, done);
        }
        finished.clear();
        self.scratch.finished = finished;
    }
}

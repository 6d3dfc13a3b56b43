//! A-MPDUs: what goes into one, how its MPDUs end one by one, and what its answer says (10.12, 10.25).

use super::Room;
use super::events::What;
use crate::air::adjacent::place;
use crate::air::ear::NOTHING;
use crate::mac::agreement::{Agreement, acknowledges, after};
use crate::mac::burst::{ALONE, Stage};
use crate::mac::frame::{Fate, GROUP, Kind, Mpdu, OnAir};
use crate::mac::host::{Done, Host, Missed};
use crate::mac::settings::{Ampdu, Packet};
use crate::mac::station::Entry;
use crate::radio::airtime::{
    ACK_OCTETS, Airtime, BLOCK_ACK_OCTETS, BLOCK_ACK_REQUEST_OCTETS, elapsed_ns, most_octets,
    with_mpdu,
};
use crate::radio::{Mode, airtime};
use espbench_proto::sample::Cause;

/// What a station that is not simple sends next.
#[derive(Clone, Copy, Debug)]
struct Head {
    entry: Entry,
    mode: Mode,
    agreement: u32,
}

impl Room {
    /// A station that has turned to sending sends the head of its queue, and what may go with it.
    #[inline(never)]
    pub(super) fn attempt_burst<H: Host + ?Sized>(&mut self, host: &mut H, station: u32) {
        let Some(&entry) = self.stations[station as usize].queue.front() else { return };
        let it = &mut self.stations[station as usize];
        it.engaged = true;
        if entry.request {
            self.request(host, station, entry);
            return;
        }
        let mode = it.mode(entry.packet.mode, entry.attempts);
        let agreement = self.agreement(station, &entry.packet);
        self.compose(host, station, Head { entry, mode, agreement });
        if !self.clearance(host, station, entry.packet.to) {
            self.send_burst(host, station);
        }
    }

    /// The agreement that a packet goes under, which is made when it is first needed.
    fn agreement(&mut self, station: u32, packet: &Packet) -> u32 {
        let Packet { to, aggregate, ahead, .. } = *packet;
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
            self.agreements.push(Agreement::new(station, to, theirs.receive));
        }
        number
    }

    fn ampdu(&self, station: u32) -> Option<Ampdu> {
        self.stations.get(station as usize)?.settings.ampdu
    }

    /// Chooses what goes into the exchange: all that may go with the head of the queue.
    fn compose<H: Host + ?Sized>(&mut self, host: &mut H, station: u32, head: Head) {
        let Head { entry, mode, agreement } = head;
        let to = entry.packet.to;
        let burst = &mut self.stations[station as usize].burst;
        burst.clear(agreement, mode);
        burst.stage = Stage::Data;
        let Some(it) = self.agreements.get_mut(agreement as usize) else {
            burst.places.push(0);
            burst.octets = entry.packet.octets;
            return;
        };
        let oldest = if entry.numbered { entry.sequence } else { it.next };
        if !it.agreed {
            it.give_up();
            self.release(host, agreement);
            self.agreements[agreement as usize].begin(oldest);
        }
        let (Some(mine), Some(theirs)) = (self.ampdu(station), self.ampdu(to)) else { return };
        // HT alone knows A-MPDUs (19.3.2).
        let most =
            if matches!(mode, Mode::Ht(_)) { mine.send.min(theirs.receive).max(1) } else { 1 };
        let room = theirs.octets.min(most_octets(mode, mine.longest_ns));
        let it = &mut self.agreements[agreement as usize];
        let sender = &mut self.stations[station as usize];
        let burst = &mut sender.burst;
        for (at, entry) in sender.queue.iter_mut().enumerate() {
            let packet = &entry.packet;
            if packet.to != to || !packet.aggregate || packet.ahead || entry.request {
                continue;
            }
            let number = if entry.numbered { entry.sequence } else { it.next };
            let octets = with_mpdu(burst.octets, packet.octets);
            let first = burst.mpdus.is_empty();
            if !first && (octets > room || !it.may_send(number, oldest)) {
                break;
            }
            if !entry.numbered {
                (entry.numbered, entry.sequence) = (true, number);
                it.next = after(number, 1);
            }
            burst.octets = octets;
            burst.places.push(at as u32);
            burst.mpdus.push(Mpdu {
                tag: packet.tag,
                octets: packet.octets,
                sequence: number,
                attempt: entry.attempts,
                fate: Fate::Lost,
            });
            if burst.mpdus.len() >= usize::from(most) {
                break;
            }
        }
        if let [alone] = &burst.mpdus[..] {
            burst.octets = alone.octets;
        }
    }

    /// Sends what was chosen.
    #[inline(never)]
    pub(super) fn send_burst<H: Host + ?Sized>(&mut self, host: &mut H, station: u32) {
        let it = &mut self.stations[station as usize];
        it.burst.stage = Stage::Data;
        let mut first = None;
        for k in 0..it.burst.places.len() {
            let at = it.burst.places[k] as usize;
            let Some((&entry, _)) = it.attempt(at) else { continue };
            first = first.or(Some(entry));
            if let Some(mpdu) = it.burst.mpdus.get_mut(k) {
                mpdu.attempt = entry.attempts;
            }
        }
        let Some(entry) = first else { return };
        let (mode, octets) = (it.burst.mode, it.burst.octets);
        let mpdus = it.burst.mpdus.len().max(1) as u8;
        let duration_ns =
            if entry.packet.to == GROUP { 0 } else { self.answer_ns(station, mode, mpdus) };
        let frame = OnAir {
            kind: Kind::Data,
            from: station,
            to: entry.packet.to,
            sequence: entry.sequence,
            mpdus,
            attempt: entry.attempts,
            channel: self.hot[station as usize].ear.channel,
            mode,
            octets,
            begin: self.now,
            end: self.now + airtime(mode, octets),
            duration_ns,
            tag: entry.packet.tag,
            repeated: false,
        };
        let slot = self.begin(host, frame);
        if mpdus > 1 {
            let it = &mut self.stations[station as usize];
            it.counters.ampdus += 1;
            (it.burst.flies, it.burst.slot) = (true, slot);
            self.timers.set(station, self.now + Airtime::of(mode, 0).lead_ns());
        }
    }

    /// SIFS and the answer to a frame: what its Duration field holds (9.2.5.2).
    pub(super) fn answer_ns(&self, station: u32, mode: Mode, mpdus: u8) -> u64 {
        let settings = &self.stations[station as usize].settings;
        let octets = if mpdus > 1 { BLOCK_ACK_OCTETS } else { ACK_OCTETS };
        settings.timing.sifs_ns + airtime(settings.basic.response_to(mode), octets)
    }

    /// The header of an A-MPDU, or one of its MPDUs but the last, ends.
    #[inline(never)]
    pub(super) fn part<H: Host + ?Sized>(&mut self, host: &mut H, station: u32) {
        let burst = &mut self.stations[station as usize].burst;
        let slot = burst.slot;
        let frame = self.flights[slot as usize].frame;
        let header = burst.passed == 0;
        let at = burst.ended as usize;
        let next = burst.mpdus.get(at + usize::from(!header)).map_or(0, |it| it.octets);
        burst.passed = with_mpdu(burst.passed, next);
        burst.ended += u32::from(!header);
        if (burst.ended as usize) + 1 < burst.mpdus.len() {
            let due = frame.begin + elapsed_ns(frame.mode, burst.passed);
            self.timers.set(station, due);
        }
        let read = self.read_part(&frame, slot);
        if !header {
            self.mpdu_ends(host, &frame, at, read);
        } else if read.is_err() {
            self.stations[station as usize].burst.lost = true;
        }
    }

    /// Whether the addressee reads the part of a frame that ends now: how strong it was, or why not.
    fn read_part(&mut self, frame: &OnAir, slot: u32) -> Result<i8, Option<Cause>> {
        let to = frame.to as usize;
        let Some(link) = self.links.between(frame.from, frame.to) else { return Err(None) };
        let flights = &self.flights;
        let flight = &flights[slot as usize];
        let hot = &mut self.hot[to];
        let kind = &self.kinds[usize::from(hot.ear.kind)];
        let path = self.medium.adjacent.from(frame.mode, frame.channel)[place(hot.ear.channel)];
        let alone = if hot.ear.reads == slot {
            let chance = hot.ear.part(self.now, kind, |slot| flights[slot as usize].signal);
            let certain = chance >= 1.0;
            if certain || chance > 0.0 && self.stations[to].lucky(chance) {
                return Ok(link.rssi().saturating_sub(flight.below_db));
            }
            hot.ear.clean()
        } else {
            let power = path.through(flight.sent(link.power()));
            kind.finds(&flight.signal, power)
        };
        let cause = if alone { Cause::Collision } else { Cause::Noise };
        Err(path.readable.then_some(cause))
    }

    /// An MPDU of an A-MPDU, or one alone under an agreement, has ended at its addressee.
    fn mpdu_ends<H: Host + ?Sized>(
        &mut self,
        host: &mut H,
        frame: &OnAir,
        at: usize,
        read: Result<i8, Option<Cause>>,
    ) {
        let burst = &self.stations[frame.from as usize].burst;
        let (agreement, lost) = (burst.agreement, burst.lost);
        let Some(&mpdu) = burst.mpdus.get(at) else { return };
        let Mpdu { tag, octets, sequence, attempt, .. } = mpdu;
        let frame = OnAir { tag, octets, sequence, attempt, ..*frame };
        let fate = match read {
            Ok(rssi) if !lost => self.take(host, agreement, &frame, rssi),
            Ok(_) => {
                self.miss(host, &frame, Some(Cause::Collision));
                Fate::Lost
            }
            Err(cause) => {
                self.miss(host, &frame, cause);
                Fate::Lost
            }
        };
        let burst = &mut self.stations[frame.from as usize].burst;
        if let Some(mpdu) = burst.mpdus.get_mut(at) {
            mpdu.fate = fate;
        }
        if !burst.answers && matches!(fate, Fate::Taken | Fate::Repeated) {
            burst.answers = true;
            self.stations[frame.to as usize].owes += 1;
        }
    }

    fn miss<H: Host + ?Sized>(&mut self, host: &mut H, frame: &OnAir, cause: Option<Cause>) {
        match cause {
            Some(cause) => {
                self.counted(host, frame, Err(Missed { station: frame.to, cause }));
            }
            None => host.heard(self, frame, &[], &[]),
        }
    }

    /// What was sent under an agreement has ended. The last MPDU is read as a frame is.
    #[inline(never)]
    pub(super) fn burst_over<H: Host + ?Sized>(&mut self, host: &mut H, frame: &OnAir) {
        let heard = self.scratch.heard.first().map(|it| it.rssi);
        let missed = self.scratch.missed.first().map(|it| it.cause);
        self.scratch.heard.clear();
        self.scratch.missed.clear();
        let burst = &mut self.stations[frame.from as usize].burst;
        burst.flies = false;
        let last = usize::from(frame.mpdus) - 1;
        // Still reading it, or it would have been given a chance.
        let reading = heard.is_some() || self.hot[frame.to as usize].ear.reads == NOTHING;
        self.mpdu_ends(host, frame, last, heard.ok_or(missed));
        self.burst_answered(frame, reading);
        let mpdus = core::mem::take(&mut self.stations[frame.from as usize].burst.mpdus);
        match &mpdus[..] {
            [alone] => host.ended_alone(frame, alone),
            all => host.ended_with(frame, all),
        }
        self.stations[frame.from as usize].burst.mpdus = mpdus;
        let kind = if frame.mpdus > 1 { Kind::BlockAck } else { Kind::Ack };
        self.await_answer(frame.from, frame.mode, kind);
    }

    /// The addressee answers if it has read something and does not read something else by now.
    fn burst_answered(&mut self, frame: &OnAir, reading: bool) {
        if !self.stations[frame.from as usize].burst.answers {
            return;
        }
        if !reading {
            self.stations[frame.to as usize].owes -= 1;
            self.nod_off(frame.to);
            return;
        }
        // One MPDU that was read ends an EIFS (10.3.2.3.7).
        self.hot[frame.to as usize].access.correct(self.now, 0);
        let it = &self.stations[frame.to as usize];
        let mode = it.settings.basic.response_to(frame.mode);
        let at = self.now + it.settings.timing.sifs_ns;
        let kind = if frame.mpdus > 1 { Kind::BlockAck } else { Kind::Ack };
        self.events.push(at, What::Answer { station: frame.to, to: frame.from, mode, kind });
    }

    /// What the recipient of an agreement answers with: starting sequence number and bitmap.
    #[inline(never)]
    pub(super) fn block_ack(&self, from: u32, to: u32) -> (u16, u64) {
        let number = self.stations[from as usize].agreements.get(&to);
        let agreement = number.and_then(|&number| self.agreements.get(number as usize));
        agreement.map_or((0, 0), Agreement::answer)
    }

    /// The answer has come that a station waited for.
    #[inline(never)]
    pub(super) fn burst_is_answered<H: Host + ?Sized>(
        &mut self,
        host: &mut H,
        station: u32,
        answer: &OnAir,
    ) {
        let burst = &self.stations[station as usize].burst;
        match burst.stage {
            Stage::Clearance => self.clear_soon(station),
            Stage::Request => self.request_answered(station, true),
            Stage::Data if burst.agreement == ALONE => self.acknowledged(host, station),
            Stage::Data => self.conclude(host, station, Some(answer)),
        }
    }

    /// It has not come. Whether there is nothing more to do.
    #[inline(never)]
    pub(super) fn burst_failed<H: Host + ?Sized>(&mut self, host: &mut H, station: u32) -> bool {
        let burst = &self.stations[station as usize].burst;
        match burst.stage {
            Stage::Clearance => self.not_cleared(host, station),
            Stage::Request => self.request_answered(station, false),
            Stage::Data if burst.agreement == ALONE => return false,
            Stage::Data => self.conclude(host, station, None),
        }
        true
    }

    /// What was sent under an agreement has an answer, or none: `None`.
    #[inline(never)]
    pub(super) fn conclude<H: Host + ?Sized>(
        &mut self,
        host: &mut H,
        station: u32,
        answer: Option<&OnAir>,
    ) {
        let mut finished = core::mem::take(&mut self.scratch.finished);
        let it = &mut self.stations[station as usize];
        it.engaged = false;
        let span = it.burst.span();
        let (mut kept, mut lost) = (span, 0);
        let mut member = it.burst.places.len();
        for at in (0..span).rev() {
            let entry = it.queue[at];
            if it.burst.places.get(member.wrapping_sub(1)) == Some(&(at as u32)) {
                member -= 1;
                let delivered = answer.is_some_and(|answer| {
                    answer.kind == Kind::Ack || acknowledges(answer, entry.sequence)
                });
                let spent = entry.attempts >= it.limit(entry.packet.octets) || it.off;
                if delivered || spent {
                    let Entry { packet, attempts, .. } = entry;
                    finished.push(Done { tag: packet.tag, delivered, attempts });
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
            it.succeeded();
        } else {
            it.widen(finished.len() < it.burst.places.len());
        }
        if lost > 0 && !it.off {
            self.ask_to_move_on(station);
        }
        self.back_off(station);
        for &done in finished.iter().rev() {
            host.done(self, station, done);
        }
        finished.clear();
        self.scratch.finished = finished;
    }

    /// Something was given up: its receiver must not wait for it.
    pub(super) fn ask_to_move_on(&mut self, station: u32) {
        let it = &mut self.stations[station as usize];
        let Some(agreement) = self.agreements.get(it.burst.agreement as usize) else { return };
        let to = agreement.to;
        let oldest = it.queue.iter().find(|entry| {
            entry.numbered && entry.packet.aggregate && entry.packet.to == to && !entry.request
        });
        let sequence = oldest.map_or(agreement.next, |entry| entry.sequence);
        if let Some(head) = it.queue.front_mut()
            && head.request
            && head.packet.to == to
        {
            (head.sequence, head.attempts) = (sequence, 0);
            return;
        }
        let mode = it.settings.basic.response_to(it.burst.mode);
        let packet = Packet::new(to, BLOCK_ACK_REQUEST_OCTETS, mode, 0);
        it.requests += 1;
        it.queue.push_front(Entry {
            sequence,
            numbered: true,
            request: true,
            ..Entry::new(packet)
        });
    }

    /// A station asks for a block acknowledgement, and says what it has given up.
    fn request<H: Host + ?Sized>(&mut self, host: &mut H, station: u32, entry: Entry) {
        let mode = entry.packet.mode;
        let it = &mut self.stations[station as usize];
        it.burst.clear(ALONE, mode);
        it.burst.stage = Stage::Request;
        if let Some(head) = it.queue.front_mut() {
            head.attempts = head.attempts.saturating_add(1);
        }
        let frame = OnAir {
            kind: Kind::BlockAckRequest,
            from: station,
            to: entry.packet.to,
            sequence: entry.sequence,
            mpdus: 1,
            attempt: entry.attempts + 1,
            channel: self.hot[station as usize].ear.channel,
            mode,
            octets: BLOCK_ACK_REQUEST_OCTETS,
            begin: self.now,
            end: self.now + airtime(mode, BLOCK_ACK_REQUEST_OCTETS),
            duration_ns: self.answer_ns(station, mode, 2),
            tag: 0,
            repeated: false,
        };
        self.begin(host, frame);
    }

    /// A request has ended. Who has read it moves on and answers.
    #[inline(never)]
    pub(super) fn request_over<H: Host + ?Sized>(&mut self, host: &mut H, frame: &OnAir) {
        let heard = !self.scratch.heard.is_empty();
        self.scratch.heard.clear();
        self.scratch.missed.clear();
        let agreement = self.stations[frame.from as usize].agreements.get(&frame.to).copied();
        if heard && let Some(agreement) = agreement {
            let it = &mut self.stations[frame.to as usize];
            let mode = it.settings.basic.response_to(frame.mode);
            let at = self.now + it.settings.timing.sifs_ns;
            it.owes += 1;
            let kind = Kind::BlockAck;
            self.events.push(at, What::Answer { station: frame.to, to: frame.from, mode, kind });
            self.agreements[agreement as usize].give_up_before(frame.sequence);
            self.release(host, agreement);
        }
        self.await_answer(frame.from, frame.mode, Kind::BlockAck);
    }

    /// A request is done with, or, without an answer, tried again.
    pub(super) fn request_answered(&mut self, station: u32, answered: bool) {
        let it = &mut self.stations[station as usize];
        it.engaged = false;
        if answered || it.off {
            it.succeeded();
        }
        if answered || it.off || !it.failed() {
            it.queue.pop_front();
            it.requests -= 1;
        }
        self.back_off(station);
    }
}

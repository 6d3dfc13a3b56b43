//! A-MPDUs: their composition, the ends of their MPDUs, their block acknowledgement (10.12, 10.25).

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
    ACK_OCTETS, Airtime, BLOCK_ACK_OCTETS, elapsed_ns, most_octets, with_mpdu,
};
use crate::radio::{Mode, airtime};
use espbench_proto::sample::Cause;

/// The head of the queue of a station that is not simple.
#[derive(Clone, Copy, Debug)]
struct Head {
    entry: Entry,
    mode: Mode,
    agreement: u32,
}

impl Room {
    /// Sends the head of a station's queue, and all that may go with it; the station has turned to
    /// sending.
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

    /// Returns the agreement that a packet goes under, and makes it when it is first needed.
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

    /// Chooses the MPDUs of the exchange: all that may go with the head of the queue.
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
        // Only HT has A-MPDUs (19.3.2).
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

    /// Sends the chosen MPDUs.
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

    /// Returns SIFS and the air time of the answer to a frame, the value of its Duration field
    /// (9.2.5.2).
    pub(super) fn answer_ns(&self, station: u32, mode: Mode, mpdus: u8) -> u64 {
        let settings = &self.stations[station as usize].settings;
        let octets = if mpdus > 1 { BLOCK_ACK_OCTETS } else { ACK_OCTETS };
        settings.timing.sifs_ns + airtime(settings.basic.response_to(mode), octets)
    }

    /// Handles the end of an A-MPDU's header, or of one of its MPDUs but the last.
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

    /// Returns the signal strength if the addressee reads the part of a frame that ends now, else
    /// the cause of the loss.
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

    /// Handles the end of an MPDU under an agreement at its addressee.
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

    /// Handles the end of a transmission under an agreement. The last MPDU is read like a frame.
    #[inline(never)]
    pub(super) fn burst_over<H: Host + ?Sized>(&mut self, host: &mut H, frame: &OnAir) {
        let heard = self.scratch.heard.first().map(|it| it.rssi);
        let missed = self.scratch.missed.first().map(|it| it.cause);
        self.scratch.heard.clear();
        self.scratch.missed.clear();
        let burst = &mut self.stations[frame.from as usize].burst;
        burst.flies = false;
        let last = usize::from(frame.mpdus) - 1;
        // The addressee is still receiving it, or it would have been given a chance.
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

    /// Schedules the answer of an addressee that has read an MPDU and does not receive another
    /// frame by now.
    fn burst_answered(&mut self, frame: &OnAir, reading: bool) {
        if !self.stations[frame.from as usize].burst.answers {
            return;
        }
        if !reading {
            self.stations[frame.to as usize].owes -= 1;
            self.nod_off(frame.to);
            return;
        }
        // An MPDU that was read ends an EIFS (10.3.2.3.7).
        self.hot[frame.to as usize].access.correct(self.now, 0);
        let it = &self.stations[frame.to as usize];
        let mode = it.settings.basic.response_to(frame.mode);
        let at = self.now + it.settings.timing.sifs_ns;
        let kind = if frame.mpdus > 1 { Kind::BlockAck } else { Kind::Ack };
        self.events.push(at, What::Answer { station: frame.to, to: frame.from, mode, kind });
    }

    /// Returns the block acknowledgement of an agreement: starting sequence number and bitmap.
    #[inline(never)]
    pub(super) fn block_ack(&self, from: u32, to: u32) -> (u16, u64) {
        let number = self.stations[from as usize].agreements.get(&to);
        let agreement = number.and_then(|&number| self.agreements.get(number as usize));
        agreement.map_or((0, 0), Agreement::answer)
    }

    /// Handles the response that a station waited for.
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

    /// Handles a missing response. Returns whether nothing more is to be done.
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

    /// Ends an exchange under an agreement. `answer` is the acknowledgement, or `None` if none
    /// came.
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
}

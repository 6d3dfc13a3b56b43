//! The begin and end of a frame at its receivers.

use super::events::MediumEvent;
use super::roster::Audience;
use super::visit::{RxEnd, RxStart, VisitingPpdu, each};
use super::{ActivePpdu, WirelessMedium};
use crate::air::PowerRatio;
use crate::air::adjacent::place;
use crate::air::receiver::{ReceiverParams, Signal};
use crate::mac::channel_access::ElapsedSlots;
use crate::mac::config::MediumConfig;
use crate::mac::frame::{FrameKind, Ppdu};
use crate::mac::timers::NEVER;
use crate::mac::user::MacUser;

/// Returns a frame as its receivers are visited at `now`.
pub(super) fn visiting<'a>(
    now: u64,
    transmission: &'a ActivePpdu,
    transmissions: &'a [ActivePpdu],
    config: &'a MediumConfig,
    places: &'a [u8],
    kinds: &'a [ReceiverParams],
) -> VisitingPpdu<'a> {
    let paths = config.adjacent.from(transmission.frame.mode, transmission.frame.channel);
    let only = if let [only] = kinds { Some(only) } else { None };
    VisitingPpdu { now, transmission, transmissions, paths, places, kinds, only }
}

/// Returns whether it is a frame, which receivers may read and users are told of, and no noise.
#[inline(always)]
pub(super) const fn frame_is_heard(frame: &Ppdu) -> bool {
    !matches!(frame.kind, FrameKind::Noise)
}

impl WirelessMedium {
    /// Puts a frame on the air and returns its index. Its sender has turned to sending.
    // Inlined, so that the frame is built in its place and not copied there: with few receivers the
    // copy shows.
    #[inline(always)]
    pub(super) fn start_tx<H: MacUser + ?Sized>(&mut self, user: &mut H, frame: Ppdu) -> u32 {
        let new = self.transmissions.len() as u32;
        let slot = self.free.pop().unwrap_or(new);
        self.events.push(frame.end, MediumEvent::End(slot));
        let index = frame.mode.index() as u8;
        let signal = Signal {
            frame: slot,
            mode: frame.mode,
            octets: frame.octets,
            index,
            begin: frame.begin,
        };
        let (below, below_db) = match &self.stations[frame.from as usize].settings.output {
            None => (PowerRatio::ONE, 0),
            Some(output) => {
                let db = output.below_db(frame.mode);
                (
                    if db > 0.0 { PowerRatio::from_db(db) } else { PowerRatio::ONE },
                    libm::round(db) as i8,
                )
            }
        };
        if slot == new {
            self.transmissions.push(ActivePpdu { frame, signal, below, below_db, on_air: true });
        } else {
            let transmission = &mut self.transmissions[slot as usize];
            transmission.frame = frame;
            transmission.signal = signal;
            (transmission.below, transmission.below_db) = (below, below_db);
            transmission.on_air = true;
        }
        if frame_is_heard(&self.transmissions[slot as usize].frame) {
            user.on_tx_start(&self.transmissions[slot as usize].frame);
        }
        self.links.make(self.transmissions[slot as usize].frame.from, self.now);
        if self.meters.enabled() {
            let from = self.transmissions[slot as usize].frame.from;
            self.update_meter(from);
            self.meters.on_tx(&self.transmissions[slot as usize].frame);
        }
        self.begin_at_receivers(slot);
        slot
    }

    /// Returns whom a frame on the air visits.
    pub(super) fn audience(&mut self, slot: u32) -> Audience {
        let ActivePpdu { frame, below, .. } = &self.transmissions[slot as usize];
        let place = place(frame.channel);
        let reach = self.config.adjacent.reach(frame.mode, frame.channel);
        match self.rosters.audience(place, reach, &self.places) {
            Audience::Roster if self.links.to_all(frame.from).is_none() => Audience::AnyChannel,
            // What is weaker than the links say is computed link by link, and what nobody can read.
            _ if *below != PowerRatio::ONE || !frame_is_heard(frame) => Audience::AnyChannel,
            audience => audience,
        }
    }

    /// Visits the receivers of a frame that begins or, with `silent`, those of them that are
    /// silent, as of the begin of the frame.
    pub(super) fn start_at_receivers(&mut self, slot: u32, audience: Audience, silent: bool) {
        let transmission = &self.transmissions[slot as usize];
        let Ppdu { from, channel, begin, .. } = transmission.frame;
        let metered = self.meters.enabled();
        let all = &self.transmissions;
        let mut visit = RxStart {
            of: visiting(begin, transmission, all, &self.config, &self.places, &self.kinds),
            turnaround: self.config.turnaround_ns,
            states: &mut self.states,
            stations: &mut self.stations,
            timers: &mut self.timers,
            meters: &mut self.meters,
            cache: ElapsedSlots::default(),
        };
        let links = &self.links;
        match (audience, links.to_all(from)) {
            _ if metered => each(links, from, |link| visit.receiver::<false, true>(link)),
            _ if silent => each(links, from, |link| visit.silent_receiver(link)),
            (Audience::SameChannel, _) => {
                each(links, from, |link| visit.receiver::<true, false>(link));
            }
            (Audience::Roster, Some(all)) => {
                let others = self.rosters.at(place(channel)).iter().filter(|it| **it != from);
                others.for_each(|it| visit.receiver::<true, false>(all.to(*it)));
            }
            _ => each(links, from, |link| visit.receiver::<false, false>(link)),
        }
    }

    /// Visits the receivers of a frame that ends. Lists those that have read it, those that have
    /// not, and those that take it for a response.
    fn end_at_receivers(&mut self, frame: &Ppdu, slot: u32) {
        let deferred = self.end_deferred(slot);
        let audience = self.audience(slot);
        let metered = self.meters.enabled();
        let (transmission, all) = (&self.transmissions[slot as usize], &self.transmissions);
        let mut visit = RxEnd {
            of: visiting(self.now, transmission, all, &self.config, &self.places, &self.kinds),
            frame,
            slot,
            states: &mut self.states,
            stations: &mut self.stations,
            timers: &mut self.timers,
            scratch: &mut self.scratch,
            meters: &mut self.meters,
        };
        let (links, from) = (&self.links, frame.from);
        let others = |channel: u8| {
            self.rosters.at(place(channel)).iter().copied().filter(move |it| *it != from)
        };
        match (audience, links.to_all(from)) {
            _ if metered => each(links, from, |link| visit.receiver::<false, true>(link)),
            (Audience::SameChannel, _) if deferred => {
                each(links, from, |link| visit.deferred_receiver::<true>(link));
            }
            (Audience::SameChannel, _) => {
                each(links, from, |link| visit.receiver::<true, false>(link));
            }
            (Audience::Roster, Some(all)) if deferred => {
                others(frame.channel).for_each(|it| visit.deferred_receiver::<true>(all.to(it)));
            }
            (Audience::Roster, Some(all)) => {
                others(frame.channel).for_each(|it| visit.receiver::<true, false>(all.to(it)));
            }
            _ if deferred => each(links, from, |link| visit.deferred_receiver::<false>(link)),
            _ => each(links, from, |link| visit.receiver::<false, false>(link)),
        }
    }

    /// Ends a frame.
    pub(super) fn end_tx<H: MacUser + ?Sized>(&mut self, user: &mut H, slot: u32) {
        let transmission = &mut self.transmissions[slot as usize];
        transmission.on_air = false;
        let frame = transmission.frame;
        if !frame_is_heard(&frame) {
            self.end_at_receivers(&frame, slot);
            self.free.push(slot);
            return;
        }
        user.on_tx_end(&frame);
        self.states[frame.from as usize].receiver.end_tx();
        self.update_cca(frame.from);
        if self.meters.enabled() {
            self.update_meter(frame.from);
        }
        self.end_at_receivers(&frame, slot);
        self.free.push(slot);
        self.after_end(user, &frame);
    }

    /// Turns a station from listening to sending a response.
    pub(super) fn turn_to_tx(&mut self, station: u32) {
        self.touch(station);
        self.states[station as usize].receiver.begin_tx();
        self.update_cca(station);
        // The timer stops even if the station's own back-off was about to end.
        if self.states[station as usize].access.contending() {
            self.timers.set(station, NEVER);
        }
    }
}

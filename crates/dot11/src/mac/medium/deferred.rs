//! Frames that are alone on the air.
//!
//! A station at rest, which neither sends nor wants to, notices the begin of a frame only if
//! something happens before its end: another frame, or a wish of its own. So while a frame is alone
//! on its channel, its begin is put off at such stations. If nothing happens, they are visited once,
//! at its end, instead of twice; where something does, they are visited as of the begin first.
//!
//! Stations that are not at rest are listed, and visited at the begin.

use super::visit::RxStart;
use super::{ActivePpdu, StationState, WirelessMedium};
use crate::air::adjacent::{CHANNELS, place};
use crate::air::receiver::NO_FRAME;
use crate::mac::channel_access::ElapsedSlots;
use crate::mac::medium::roster::Audience;
use alloc::vec::Vec;

/// The frames that are alone, and the stations that are not at rest.
#[derive(Debug)]
pub(super) struct DeferredFrames {
    /// The frame whose begin is put off, by the place of its channel, or `NO_FRAME`.
    pub(super) frames: [u32; CHANNELS],
    /// Stations that were not at rest when they were last looked at.
    restless: Vec<u32>,
    listed: Vec<bool>,
    /// Frames that have begun since the list was last looked through.
    since: u32,
}

/// A list that is too long is looked through once in so many frames: a look costs as much as the
/// visits of a frame.
const LOOK: u32 = 16;

impl DeferredFrames {
    pub(super) fn new(stations: usize) -> Self {
        Self {
            since: 0,
            frames: [NO_FRAME; CHANNELS],
            restless: Vec::new(),
            listed: alloc::vec![false; stations],
        }
    }
}

impl StationState {
    /// Returns whether the station is at rest and gets nothing: the begin of a frame changes
    /// nothing about it but what the frame's end changes back.
    #[inline]
    pub(super) fn is_silent(&self) -> bool {
        self.receiver.is_silent() && self.access.at_rest() && !self.access.awaiting_response()
    }
}

impl WirelessMedium {
    /// Visits the receivers of a frame that begins, or puts that off at those that are at rest.
    pub(super) fn begin_at_receivers(&mut self, slot: u32) {
        let ActivePpdu { frame, .. } = &self.transmissions[slot as usize];
        let (at, mpdus) = (place(frame.channel), frame.mpdus);
        let mut reach = self.config.adjacent.reach(frame.mode, frame.channel) | 1 << at;
        while reach != 0 {
            self.begin_deferred(reach.trailing_zeros() as usize);
            reach &= reach - 1;
        }
        let audience = self.audience(slot);
        self.deferred.since += 1;
        if self.has_many_restless() && self.deferred.since >= LOOK {
            self.look_through(|_, _| {});
        }
        if self.has_many_restless()
            || mpdus > 1
            || audience == Audience::AnyChannel
            || self.meters.enabled()
            || self.is_reached(at, slot)
        {
            self.start_at_receivers(slot, audience, false);
            return;
        }
        self.deferred.frames[at] = slot;
        self.look_through(|it, station| {
            if usize::from(it.places[station as usize]) == at {
                it.begin_at(slot, station);
            }
        });
    }

    fn has_many_restless(&self) -> bool {
        self.deferred.restless.len() * 4 >= self.states.len()
    }

    /// Strikes the stations off the list that are at rest by now, and calls `visit` for the others.
    fn look_through(&mut self, mut visit: impl FnMut(&mut Self, u32)) {
        self.deferred.since = 0;
        let mut restless = core::mem::take(&mut self.deferred.restless);
        restless.retain(|&station| {
            let rests = self.states[station as usize].is_silent();
            self.deferred.listed[station as usize] = !rests;
            if !rests {
                visit(self, station);
            }
            !rests
        });
        self.deferred.restless = restless;
    }

    /// Returns whether another frame on the air reaches a channel's place.
    fn is_reached(&self, at: usize, slot: u32) -> bool {
        let others = self.transmissions.iter().enumerate().filter(|(it, _)| *it as u32 != slot);
        others.filter(|(_, it)| it.on_air).any(|(_, ActivePpdu { frame, .. })| {
            self.config.adjacent.reach(frame.mode, frame.channel) >> at & 1 == 1
        })
    }

    /// Visits the stations at which the begin of a channel's frame was put off.
    pub(super) fn begin_deferred(&mut self, at: usize) {
        let slot = core::mem::replace(&mut self.deferred.frames[at], NO_FRAME);
        if slot != NO_FRAME {
            let audience = self.audience(slot);
            self.start_at_receivers(slot, audience, true);
        }
    }

    /// Takes note that a frame ends. Returns whether its begin was put off.
    pub(super) fn end_deferred(&mut self, slot: u32) -> bool {
        let at = place(self.transmissions[slot as usize].frame.channel);
        let deferred = self.deferred.frames[at] == slot;
        if deferred {
            self.deferred.frames[at] = NO_FRAME;
        }
        deferred
    }

    /// Lets a station notice the frame whose begin was put off, before something else is done with
    /// it.
    #[inline]
    pub(super) fn touch(&mut self, station: u32) {
        let at = station as usize;
        let Some(listed) = self.deferred.listed.get_mut(at) else { return };
        if !core::mem::replace(listed, true) {
            self.deferred.restless.push(station);
        }
        let slot = self.deferred.frames[usize::from(self.places[at]) % CHANNELS];
        if slot != NO_FRAME && self.states[at].is_silent() {
            self.begin_at(slot, station);
        }
    }

    /// Visits one receiver of a frame, as of its begin.
    fn begin_at(&mut self, slot: u32, station: u32) {
        let transmission = &self.transmissions[slot as usize];
        let Some(link) = self.links.between(transmission.frame.from, station) else { return };
        let mut visit = RxStart {
            of: super::air::visiting(
                transmission.frame.begin,
                transmission,
                &self.transmissions,
                &self.config,
                &self.places,
                &self.kinds,
            ),
            turnaround: self.config.turnaround_ns,
            states: &mut self.states,
            stations: &mut self.stations,
            timers: &mut self.timers,
            meters: &mut self.meters,
            cache: ElapsedSlots::default(),
        };
        visit.receiver::<true, false>(link);
    }
}

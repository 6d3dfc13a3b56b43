//! The begin and end of a frame at one receiver.
//!
//! These run once for each frame and receiver, and a room spends most of its time in them. So each
//! exists in two forms: where the frame arrives as the links say, on its own channel, nothing else
//! is computed.

use super::air::frame_is_heard;
use super::meter::StationMeters;
use super::{ActivePpdu, StationState, StepBuffers};
use crate::air::adjacent::{CHANNELS, ChannelPath, ChannelPaths};
use crate::air::receiver::{ReceiverParams, ReceiverState};
use crate::air::{RadioLink, RadioLinks, SignalPower};
use crate::mac::channel_access::{BusyOutcome, ElapsedSlots};
use crate::mac::frame::Ppdu;
use crate::mac::station::StationMac;
use crate::mac::timers::{NEVER, StationTimers};
use crate::mac::user::{MissedReception, Reception};
use espbench_model::sample::Cause;

/// Freezes the back-off of a station whose medium becomes busy.
#[inline]
pub(super) fn on_medium_busy(
    now: u64,
    turnaround: u64,
    station: u32,
    state: &mut StationState,
    it: &mut StationMac,
    timers: &mut StationTimers,
) {
    on_medium_busy_cached(
        now,
        turnaround,
        station,
        state,
        || it.draw(),
        timers,
        &mut ElapsedSlots::default(),
    );
}

fn on_medium_busy_cached(
    now: u64,
    turnaround: u64,
    station: u32,
    state: &mut StationState,
    draw: impl FnOnce() -> u16,
    timers: &mut StationTimers,
    cache: &mut ElapsedSlots,
) {
    let contending = state.access.contending();
    match state.access.on_medium_busy(now, turnaround, cache) {
        BusyOutcome::Committed => return,
        BusyOutcome::Frozen => {}
        BusyOutcome::Draw => state.access.set_backoff(draw()),
    }
    if contending {
        timers.set(station, NEVER);
    }
}

/// Returns the chance that a frame is read whose last part arrives with `chance`. For stations
/// other than the addressee, an A-MPDU has only one part, the whole, and one MPDU must be read for
/// its Duration field. Interference counts as spread evenly.
fn part(chance: f32, frame: &Ppdu, mine: bool) -> f32 {
    if frame.mpdus < 2 || mine {
        return chance;
    }
    let one = libm::powf(chance, 1.0 / f32::from(frame.mpdus));
    1.0 - libm::powf(1.0 - one, f32::from(frame.mpdus))
}

/// Calls `visit` with each link of a sender to another station.
#[inline(always)]
pub(super) fn each(links: &RadioLinks, from: u32, mut visit: impl FnMut(RadioLink)) {
    for link in links.list(from) {
        if link.station() != from {
            visit(*link);
        }
    }
}

/// The frame of a visit, and how it gets to channels.
#[derive(Clone, Copy)]
pub(super) struct VisitingPpdu<'a> {
    pub(super) now: u64,
    pub(super) transmission: &'a ActivePpdu,
    pub(super) transmissions: &'a [ActivePpdu],
    pub(super) paths: &'a ChannelPaths,
    pub(super) places: &'a [u8],
    pub(super) kinds: &'a [ReceiverParams],
    /// The kind of all receivers, where there is only one.
    pub(super) only: Option<&'a ReceiverParams>,
}

impl<'a> VisitingPpdu<'a> {
    /// Returns the constants of a receiver.
    #[inline(always)]
    fn kind(&self, receiver: &ReceiverState) -> &'a ReceiverParams {
        match self.only {
            Some(kind) => kind,
            None => &self.kinds[usize::from(receiver.kind)],
        }
    }

    /// Returns the power that arrives over a link, and whether the receiver can decode the frame;
    /// `None` if nothing arrives. With `PLAIN`, the frame is sent with the power that the links
    /// assume, on the channel of the receiver.
    #[inline(always)]
    fn arrives<const PLAIN: bool>(&self, link: RadioLink) -> Option<(SignalPower, bool)> {
        if PLAIN {
            return Some((link.power(), true));
        }
        let place = usize::from(self.places[link.station() as usize]) % CHANNELS;
        let path: ChannelPath = self.paths[place];
        if path.is_none() {
            return None;
        }
        let readable = path.readable && frame_is_heard(&self.transmission.frame);
        Some((path.through(self.transmission.sent(link.power())), readable))
    }
}

/// The visit of a frame that begins.
pub(super) struct RxStart<'a> {
    pub(super) of: VisitingPpdu<'a>,
    pub(super) turnaround: u64,
    pub(super) states: &'a mut [StationState],
    pub(super) stations: &'a mut [StationMac],
    pub(super) timers: &'a mut StationTimers,
    pub(super) meters: &'a mut StationMeters,
    pub(super) cache: ElapsedSlots,
}

impl RxStart<'_> {
    /// Visits a receiver.
    #[inline(always)]
    pub(super) fn receiver<const PLAIN: bool, const METERED: bool>(&mut self, link: RadioLink) {
        let Some((power, readable)) = self.of.arrives::<PLAIN>(link) else { return };
        let (now, station) = (self.of.now, link.station());
        let it = &mut self.states[station as usize];
        let kind = self.of.kind(&it.receiver);
        let signal = readable.then_some(&self.of.transmission.signal);
        let transmissions = self.of.transmissions;
        let reading = |slot: u32| transmissions[slot as usize].signal;
        it.receiver.on_rx_start(now, power, signal, kind, reading);
        if METERED {
            self.meters.on_rx(now, station, &it.receiver);
        }
        let cca_busy = it.receiver.cca_busy(kind);
        if cca_busy == it.receiver.busy() {
            return;
        }
        it.receiver.set_busy(cca_busy);
        if cca_busy {
            if it.access.at_rest() {
                return;
            }
            let draw = || self.stations[station as usize].draw();
            let (timers, cache) = (&mut *self.timers, &mut self.cache);
            on_medium_busy_cached(now, self.turnaround, station, it, draw, timers, cache);
        } else {
            it.access.on_medium_idle(now);
            if it.access.contending() {
                self.timers.set(station, it.access.backoff_end());
            }
        }
    }
}

impl RxStart<'_> {
    /// Visits a receiver that is silent, and no other.
    pub(super) fn silent_receiver(&mut self, link: RadioLink) {
        if self.states[link.station() as usize].is_silent() {
            self.receiver::<false, false>(link);
        }
    }
}

/// The visit of a frame that ends. Lists the receivers that have read it, those that have not, and
/// those that take it for a response.
pub(super) struct RxEnd<'a> {
    pub(super) of: VisitingPpdu<'a>,
    pub(super) frame: &'a Ppdu,
    pub(super) slot: u32,
    pub(super) states: &'a mut [StationState],
    pub(super) stations: &'a mut [StationMac],
    pub(super) timers: &'a mut StationTimers,
    pub(super) scratch: &'a mut StepBuffers,
    pub(super) meters: &'a mut StationMeters,
}

impl RxEnd<'_> {
    /// Visits a receiver of a frame whose begin was put off. One that is still silent has heard
    /// nothing but this frame.
    #[inline(always)]
    pub(super) fn deferred_receiver<const PLAIN: bool>(&mut self, link: RadioLink) {
        let station = link.station();
        let it = &mut self.states[station as usize];
        if !it.is_silent() {
            return self.receiver::<PLAIN, false>(link);
        }
        let Some((power, readable)) = self.of.arrives::<PLAIN>(link) else { return };
        let (now, frame, signal) = (self.of.now, self.frame, &self.of.transmission.signal);
        let kind = self.of.kind(&it.receiver);
        let mine = frame.to == station;
        if readable && kind.surely_receives(signal, power) {
            it.access.on_rx_ok(now, if mine { 0 } else { frame.duration_ns });
            it.access.on_medium_idle(now);
            if mine || frame.is_group() {
                let rssi = link.rssi().saturating_sub(self.of.transmission.below_db);
                self.scratch.heard.push(Reception { station, rssi });
            }
            return;
        }
        self.rare_receiver::<PLAIN>(link);
    }

    /// Visits a silent receiver that may not read the frame: as of its begin, and at its end.
    #[inline(never)]
    fn rare_receiver<const PLAIN: bool>(&mut self, link: RadioLink) {
        let mut start = RxStart {
            of: VisitingPpdu { now: self.frame.begin, ..self.of },
            turnaround: 0,
            states: &mut *self.states,
            stations: &mut *self.stations,
            timers: &mut *self.timers,
            meters: &mut *self.meters,
            cache: ElapsedSlots::default(),
        };
        start.receiver::<PLAIN, false>(link);
        self.receiver::<PLAIN, false>(link);
    }

    /// Visits a receiver.
    #[inline(always)]
    pub(super) fn receiver<const PLAIN: bool, const METERED: bool>(&mut self, link: RadioLink) {
        let Some((power, readable)) = self.of.arrives::<PLAIN>(link) else { return };
        let (now, station, frame) = (self.of.now, link.station(), self.frame);
        let it = &mut self.states[station as usize];
        let kind = self.of.kind(&it.receiver);
        let mine = frame.to == station;
        let wanted = readable && (mine || frame.is_group());
        let transmissions = self.of.transmissions;
        let reading = |slot: u32| transmissions[slot as usize].signal;
        let alone = PLAIN && it.receiver.on_rx_end_alone(power, self.slot);
        let chance = if alone {
            Some(1.0)
        } else {
            it.receiver.on_rx_end(now, power, self.slot, kind, reading)
        };
        if METERED {
            self.meters.on_rx(now, station, &it.receiver);
        }
        let read = matches!(chance, Some(chance) if chance >= 1.0)
            || chance.is_some_and(|it| {
                it > 0.0 && self.stations[station as usize].draw_reception(part(it, frame, mine))
            });
        if read {
            it.access.on_rx_ok(now, if mine { 0 } else { frame.duration_ns });
            if wanted {
                let rssi = link.rssi().saturating_sub(self.of.transmission.below_db);
                self.scratch.heard.push(Reception { station, rssi });
            }
        } else {
            let alone = if chance.is_some() {
                it.access.on_rx_error();
                it.receiver.survives_noise()
            } else {
                kind.detects(&self.of.transmission.signal, power)
            };
            if wanted {
                let cause = if alone { Cause::Collision } else { Cause::Noise };
                self.scratch.missed.push(MissedReception { station, cause });
            }
        }
        if it.access.awaiting_response() && chance.is_some() {
            let expected = read && mine && frame.kind == it.access.expected_response;
            self.scratch.answered.push((station, expected));
        }
        if it.receiver.busy() && !it.receiver.cca_busy(kind) {
            it.receiver.set_busy(false);
            it.access.on_medium_idle(now);
            if it.access.contending() {
                self.timers.set(station, it.access.backoff_end());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::frame::{FrameKind, GROUP};
    use crate::radio::WifiMode;

    fn frame(mpdus: u8) -> Ppdu {
        Ppdu {
            kind: FrameKind::Data,
            from: 0,
            to: GROUP,
            sequence: 0,
            mpdus,
            attempt: 1,
            channel: 1,
            mode: WifiMode::ESP_NOW,
            octets: 1000,
            begin: 0,
            end: 1,
            duration_ns: 0,
            tag: 0,
            repeated: false,
        }
    }

    /// Of `n` MPDUs, each read with the n-th root of the chance of all, at least one is read.
    #[test]
    fn whoever_reads_one_mpdu_knows_the_duration() {
        for (chance, mpdus, one_of_them) in [
            (0.25, 2, 0.75),
            (0.0625, 4, 0.9375),
            (0.125, 3, 0.875),
            (0.25, 1, 0.25),
            (1.0, 64, 1.0),
            (0.0, 64, 0.0),
        ] {
            let of = part(chance, &frame(mpdus), false);
            assert!((of - one_of_them).abs() < 1e-6, "{mpdus} MPDUs, {chance}: {of}");
            // The addressee takes them one by one.
            assert_eq!(part(chance, &frame(mpdus), true), chance);
        }
    }
}

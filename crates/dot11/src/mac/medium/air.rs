//! The begin and end of a frame at its receivers.

use super::events::MediumEvent;
use super::{ActivePpdu, StationState, WirelessMedium};
use crate::air::PowerRatio;
use crate::air::adjacent::CHANNELS;
use crate::air::receiver::Signal;
use crate::mac::channel_access::{BusyOutcome, ElapsedSlots};
use crate::mac::frame::Ppdu;
use crate::mac::station::StationMac;
use crate::mac::timers::{NEVER, StationTimers};
use crate::mac::user::{MacUser, MissedReception, Reception};
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

#[inline]
fn on_medium_busy_cached(
    now: u64,
    turnaround: u64,
    station: u32,
    state: &mut StationState,
    draw: impl FnOnce() -> u32,
    timers: &mut StationTimers,
    cache: &mut ElapsedSlots,
) {
    let contending = state.access.contending;
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
        let signal = Signal { frame: slot, mode: frame.mode, octets: frame.octets, index };
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
        user.on_tx_start(&self.transmissions[slot as usize].frame);
        self.links.make(self.transmissions[slot as usize].frame.from, self.now);
        if self.meters.enabled() {
            let from = self.transmissions[slot as usize].frame.from;
            self.update_meter(from);
            self.meters.on_tx(&self.transmissions[slot as usize].frame);
            self.start_at_receivers::<true>(slot);
        } else {
            self.start_at_receivers::<false>(slot);
        }
        slot
    }

    /// Visits the receivers of a frame that begins.
    fn start_at_receivers<const METERED: bool>(&mut self, slot: u32) {
        let Self {
            now,
            links,
            kinds,
            config,
            states,
            places,
            stations,
            timers,
            transmissions,
            meters,
            ..
        } = self;
        let (now, turnaround) = (*now, config.turnaround_ns);
        let transmission = &transmissions[slot as usize];
        let ActivePpdu { frame, signal, .. } = transmission;
        let row = config.adjacent.from(frame.mode, frame.channel);
        let mut cache = ElapsedSlots::default();
        let [before, after] = links.parts(frame.from);
        for link in before.iter().chain(after) {
            let station = link.station();
            let path = row[usize::from(places[station as usize]) % CHANNELS];
            if path.is_none() {
                continue;
            }
            let it = &mut states[station as usize];
            let power = path.through(transmission.sent(link.power()));
            let kind = &kinds[usize::from(it.receiver.kind)];
            let reading = |slot: u32| transmissions[slot as usize].signal;
            it.receiver.on_rx_start(now, power, path.readable.then_some(signal), kind, reading);
            if METERED {
                meters.on_rx(now, station, &it.receiver);
            }
            let cca_busy = it.receiver.cca_busy(kind);
            if cca_busy == it.receiver.busy {
                continue;
            }
            it.receiver.busy = cca_busy;
            if cca_busy {
                let draw = || stations[station as usize].draw();
                on_medium_busy_cached(now, turnaround, station, it, draw, timers, &mut cache);
            } else {
                it.access.on_medium_idle(now);
                if it.access.contending {
                    timers.set(station, it.access.backoff_end());
                }
            }
        }
    }

    /// Visits the receivers of a frame that ends. Lists those that have read it, those that have
    /// not, and those that take it for a response.
    fn end_at_receivers<const METERED: bool>(&mut self, frame: &Ppdu, slot: u32) {
        let Self {
            now,
            links,
            kinds,
            config,
            states,
            places,
            stations,
            timers,
            transmissions,
            scratch,
            meters,
            ..
        } = self;
        let now = *now;
        let transmission = &transmissions[slot as usize];
        let row = config.adjacent.from(frame.mode, frame.channel);
        let [before, after] = links.parts(frame.from);
        for link in before.iter().chain(after) {
            let station = link.station();
            let path = row[usize::from(places[station as usize]) % CHANNELS];
            if path.is_none() {
                continue;
            }
            let it = &mut states[station as usize];
            let power = path.through(transmission.sent(link.power()));
            let kind = &kinds[usize::from(it.receiver.kind)];
            let reading = |slot: u32| transmissions[slot as usize].signal;
            let mine = frame.to == station;
            let wanted = path.readable && (mine || frame.is_group());
            let chance = it.receiver.on_rx_end(now, power, slot, kind, reading);
            if METERED {
                meters.on_rx(now, station, &it.receiver);
            }
            let certain = matches!(chance, Some(chance) if chance >= 1.0);
            let read = certain
                || chance.is_some_and(|it| {
                    it > 0.0 && stations[station as usize].draw_reception(part(it, frame, mine))
                });
            if read {
                it.access.on_rx_ok(now, if mine { 0 } else { frame.duration_ns });
                if wanted {
                    let rssi = link.rssi().saturating_sub(transmission.below_db);
                    scratch.heard.push(Reception { station, rssi });
                }
            } else {
                let alone = if chance.is_some() {
                    it.access.on_rx_error();
                    it.receiver.survives_noise()
                } else {
                    kind.detects(&transmission.signal, power)
                };
                if wanted {
                    let cause = if alone { Cause::Collision } else { Cause::Noise };
                    scratch.missed.push(MissedReception { station, cause });
                }
            }
            if chance.is_some() && it.access.awaiting_response {
                scratch
                    .answered
                    .push((station, read && mine && frame.kind == it.access.expected_response));
            }
            if it.receiver.busy && !it.receiver.cca_busy(kind) {
                it.receiver.busy = false;
                it.access.on_medium_idle(now);
                if it.access.contending {
                    timers.set(station, it.access.backoff_end());
                }
            }
        }
    }

    /// Ends a frame.
    pub(super) fn end_tx<H: MacUser + ?Sized>(&mut self, user: &mut H, slot: u32) {
        let transmission = &mut self.transmissions[slot as usize];
        transmission.on_air = false;
        let frame = transmission.frame;
        user.on_tx_end(&frame);
        self.states[frame.from as usize].receiver.sending = false;
        self.update_cca(frame.from);
        if self.meters.enabled() {
            self.update_meter(frame.from);
            self.end_at_receivers::<true>(&frame, slot);
        } else {
            self.end_at_receivers::<false>(&frame, slot);
        }
        self.free.push(slot);
        self.after_end(user, &frame);
    }

    /// Turns a station from listening to sending a response.
    pub(super) fn turn_to_tx(&mut self, station: u32) {
        self.states[station as usize].receiver.begin_tx();
        self.update_cca(station);
        // The timer stops even if the station's own back-off was about to end.
        if self.states[station as usize].access.contending {
            self.timers.set(station, NEVER);
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

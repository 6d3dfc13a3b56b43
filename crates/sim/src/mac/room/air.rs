//! The begin and end of a frame at its receivers.

use super::events::What;
use super::{Flight, Hot, Room};
use crate::air::Ratio;
use crate::air::adjacent::CHANNELS;
use crate::air::ear::Signal;
use crate::mac::access::{Elapsed, Pause};
use crate::mac::frame::OnAir;
use crate::mac::host::{Heard, Host, Missed};
use crate::mac::station::Station;
use crate::mac::timers::{NEVER, Timers};
use espbench_proto::sample::Cause;

/// Freezes the back-off of a station whose medium becomes busy.
#[inline]
pub(super) fn pause(
    now: u64,
    turnaround: u64,
    station: u32,
    hot: &mut Hot,
    it: &mut Station,
    timers: &mut Timers,
) {
    pause_cached(now, turnaround, station, hot, || it.draw(), timers, &mut Elapsed::default());
}

#[inline]
fn pause_cached(
    now: u64,
    turnaround: u64,
    station: u32,
    hot: &mut Hot,
    draw: impl FnOnce() -> u32,
    timers: &mut Timers,
    cache: &mut Elapsed,
) {
    let contending = hot.access.contending;
    match hot.access.pause(now, turnaround, cache) {
        Pause::Committed => return,
        Pause::Frozen => {}
        Pause::Draw => hot.access.draw(draw()),
    }
    if contending {
        timers.set(station, NEVER);
    }
}

/// Returns the chance that a frame is read whose last part arrives with `chance`. For stations
/// other than the addressee, an A-MPDU has only one part, the whole, and one MPDU must be read for
/// its Duration field. Interference counts as spread evenly.
fn part(chance: f32, frame: &OnAir, mine: bool) -> f32 {
    if frame.mpdus < 2 || mine {
        return chance;
    }
    let one = libm::powf(chance, 1.0 / f32::from(frame.mpdus));
    1.0 - libm::powf(1.0 - one, f32::from(frame.mpdus))
}

impl Room {
    /// Puts a frame on the air and returns its index. Its sender has turned to sending.
    // Inlined, so that the frame is built in its place and not copied there: with few receivers the
    // copy shows.
    #[inline(always)]
    pub(super) fn begin<H: Host + ?Sized>(&mut self, host: &mut H, frame: OnAir) -> u32 {
        let new = self.flights.len() as u32;
        let slot = self.free.pop().unwrap_or(new);
        self.events.push(frame.end, What::End(slot));
        let index = frame.mode.index() as u8;
        let signal = Signal { frame: slot, mode: frame.mode, octets: frame.octets, index };
        let (below, below_db) = match &self.stations[frame.from as usize].settings.output {
            None => (Ratio::ONE, 0),
            Some(output) => {
                let db = output.below_db(frame.mode);
                (if db > 0.0 { Ratio::from_db(db) } else { Ratio::ONE }, libm::round(db) as i8)
            }
        };
        if slot == new {
            self.flights.push(Flight { frame, signal, below, below_db, flies: true });
        } else {
            let flight = &mut self.flights[slot as usize];
            flight.frame = frame;
            flight.signal = signal;
            (flight.below, flight.below_db) = (below, below_db);
            flight.flies = true;
        }
        host.began(&self.flights[slot as usize].frame);
        self.links.make(self.flights[slot as usize].frame.from);
        if self.meters.run() {
            let from = self.flights[slot as usize].frame.from;
            self.note(from);
            self.meters.sends(&self.flights[slot as usize].frame);
            self.reach::<true>(slot);
        } else {
            self.reach::<false>(slot);
        }
        slot
    }

    /// Visits the receivers of a frame that begins.
    fn reach<const METERED: bool>(&mut self, slot: u32) {
        let Self {
            now, links, kinds, medium, hot, places, stations, timers, flights, meters, ..
        } = self;
        let (now, turnaround) = (*now, medium.turnaround_ns);
        let flight = &flights[slot as usize];
        let Flight { frame, signal, .. } = flight;
        let row = medium.adjacent.from(frame.mode, frame.channel);
        let mut cache = Elapsed::default();
        let [before, after] = links.parts(frame.from);
        for link in before.iter().chain(after) {
            let station = link.station();
            let path = row[usize::from(places[station as usize]) % CHANNELS];
            if path.is_none() {
                continue;
            }
            let it = &mut hot[station as usize];
            let power = path.through(flight.sent(link.power()));
            let kind = &kinds[usize::from(it.ear.kind)];
            let reading = |slot: u32| flights[slot as usize].signal;
            it.ear.arrive(now, power, path.readable.then_some(signal), kind, reading);
            if METERED {
                meters.hearer(now, station, &it.ear);
            }
            let senses = it.ear.senses(kind);
            if senses == it.ear.busy {
                continue;
            }
            it.ear.busy = senses;
            if senses {
                let draw = || stations[station as usize].draw();
                pause_cached(now, turnaround, station, it, draw, timers, &mut cache);
            } else {
                it.access.resume(now);
                if it.access.contending {
                    timers.set(station, it.access.due());
                }
            }
        }
    }

    /// Visits the receivers of a frame that ends. Lists those that have read it, those that have
    /// not, and those that take it for a response.
    fn leave<const METERED: bool>(&mut self, frame: &OnAir, slot: u32) {
        let Self {
            now,
            links,
            kinds,
            medium,
            hot,
            places,
            stations,
            timers,
            flights,
            scratch,
            meters,
            ..
        } = self;
        let now = *now;
        let flight = &flights[slot as usize];
        let row = medium.adjacent.from(frame.mode, frame.channel);
        let [before, after] = links.parts(frame.from);
        for link in before.iter().chain(after) {
            let station = link.station();
            let path = row[usize::from(places[station as usize]) % CHANNELS];
            if path.is_none() {
                continue;
            }
            let it = &mut hot[station as usize];
            let power = path.through(flight.sent(link.power()));
            let kind = &kinds[usize::from(it.ear.kind)];
            let reading = |slot: u32| flights[slot as usize].signal;
            let mine = frame.to == station;
            let wanted = path.readable && (mine || frame.is_group());
            let chance = it.ear.leave(now, power, slot, kind, reading);
            if METERED {
                meters.hearer(now, station, &it.ear);
            }
            let certain = matches!(chance, Some(chance) if chance >= 1.0);
            let read = certain
                || chance.is_some_and(|it| {
                    it > 0.0 && stations[station as usize].lucky(part(it, frame, mine))
                });
            if read {
                it.access.correct(now, if mine { 0 } else { frame.duration_ns });
                if wanted {
                    let rssi = link.rssi().saturating_sub(flight.below_db);
                    scratch.heard.push(Heard { station, rssi });
                }
            } else {
                let alone = if chance.is_some() {
                    it.access.error();
                    it.ear.clean()
                } else {
                    kind.finds(&flight.signal, power)
                };
                if wanted {
                    let cause = if alone { Cause::Collision } else { Cause::Noise };
                    scratch.missed.push(Missed { station, cause });
                }
            }
            if chance.is_some() && it.access.waiting {
                scratch.answered.push((station, read && mine && frame.kind == it.access.expects));
            }
            if it.ear.busy && !it.ear.senses(kind) {
                it.ear.busy = false;
                it.access.resume(now);
                if it.access.contending {
                    timers.set(station, it.access.due());
                }
            }
        }
    }

    /// Ends a frame.
    pub(super) fn end<H: Host + ?Sized>(&mut self, host: &mut H, slot: u32) {
        let flight = &mut self.flights[slot as usize];
        flight.flies = false;
        let frame = flight.frame;
        host.ended(&frame);
        self.hot[frame.from as usize].ear.sending = false;
        self.sense(frame.from);
        if self.meters.run() {
            self.note(frame.from);
            self.leave::<true>(&frame, slot);
        } else {
            self.leave::<false>(&frame, slot);
        }
        self.free.push(slot);
        self.over(host, &frame);
    }

    /// Turns a station from listening to sending a response.
    pub(super) fn turn_to_sending(&mut self, station: u32) {
        self.hot[station as usize].ear.begin_sending_soon();
        self.sense(station);
        // The timer stops even if the station's own back-off was about to end.
        if self.hot[station as usize].access.contending {
            self.timers.set(station, NEVER);
        }
    }
}

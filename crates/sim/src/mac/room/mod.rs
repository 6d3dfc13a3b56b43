//! The wireless medium of a simulation: its stations and the event loop.
//!
//! A frame is on the air once. When it begins, and when it ends, one loop visits its receivers:
//! power, reception, carrier sense and back-off of a station are side by side in memory. The heap
//! holds the ends of frames, ACKs to be sent and what the host asked for; the timers of medium
//! access are outside of it.
//!
//! Order at one instant: first the events of the heap, first in first out; then stations whose
//! time-out or back-off ends. All that send at one instant have decided to before any of them is
//! heard.
//!
//! | module | contents |
//! |---|---|
//! | `run` | the event loop |
//! | `events` | the events |
//! | `air` | the begin and end of a frame at its receivers |
//! | `exchange` | attempts, acknowledgements, time-outs, back-off |
//! | `clearance` | RTS, CTS and CTS-to-self |
//! | `aggregate` | A-MPDUs and block acknowledgements at the originator |
//! | `reorder` | MPDUs under an agreement at the recipient |
//! | `request` | block acknowledgement requests |
//! | `doze` | the doze state of power save |
//! | `power` | switching stations off and on; alarms |
//! | `meter` | the time that stations spend sending, receiving, listening, dozing |

mod aggregate;
mod air;
mod clearance;
mod doze;
mod events;
mod exchange;
mod meter;
mod power;
mod reorder;
mod request;
mod run;
#[cfg(test)]
mod tests;

use super::access::Access;
use super::agreement::Agreement;
use super::frame::OnAir;
use super::host::{Done, Heard, Missed};
use super::settings::{Medium, Packet, Settings};
use super::station::{Counters, Entry, Station};
use super::timers::{NEVER, Timers};
use crate::air::adjacent::place;
use crate::air::ear::{Ear, Kind, Signal};
use crate::air::{Links, Power, Ratio, Receiver};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_proto::time::Instant;
use events::{Events, What};
use meter::Meters;

pub use meter::Spent;

/// The state of a station that other stations' frames change: one for each station, in one list.
#[derive(Debug)]
struct Hot {
    ear: Ear,
    access: Access,
}

/// A frame on the air, and its properties for receivers.
#[derive(Clone, Copy, Debug)]
struct Flight {
    frame: OnAir,
    signal: Signal,
    /// The ratio by which the frame is sent weaker than the links assume.
    below: Ratio,
    below_db: i8,
    flies: bool,
}

impl Flight {
    /// Returns the power that arrives over a link.
    #[inline]
    fn sent(&self, power: Power) -> Power {
        if self.below == Ratio::ONE { power } else { self.below.under(power) }
    }
}

/// The error for a driver without a free buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// Stations, the wireless medium that they share, and virtual time.
pub struct Room {
    now: u64,
    links: Links,
    kinds: Vec<Kind>,
    medium: Medium,
    hot: Vec<Hot>,
    /// The [`place`] of each station's channel: for a frame on another channel most stations need
    /// no more.
    places: Vec<u8>,
    stations: Vec<Station>,
    timers: Timers,
    alarms: Timers,
    events: Events,
    flights: Vec<Flight>,
    free: Vec<u32>,
    scratch: Scratch,
    meters: Meters,
    agreements: Vec<Agreement>,
}

/// Lists that are reused in every step.
#[derive(Debug, Default)]
struct Scratch {
    due: Vec<u32>,
    rings: Vec<u32>,
    heard: Vec<Heard>,
    missed: Vec<Missed>,
    /// Stations that waited for a response and have read a frame, or failed to.
    answered: Vec<(u32, bool)>,
    /// The outcomes of the packets of an A-MPDU.
    finished: Vec<Done>,
}

impl core::fmt::Debug for Room {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Room").field("now", &self.now).field("stations", &self.hot.len()).finish()
    }
}

impl Room {
    /// Returns a medium with as many stations as there are settings. `links` says who receives
    /// whom, `receivers` lists the kinds of receivers ([`Settings::receiver`] chooses one; a
    /// default one stands in for an empty list).
    #[must_use]
    pub fn new(
        seed: u64,
        links: Links,
        receivers: &[Receiver],
        settings: impl IntoIterator<Item = Settings>,
    ) -> Self {
        let last = receivers.len().saturating_sub(1);
        let (mut hot, mut stations) = (Vec::new(), Vec::new());
        for (number, settings) in settings.into_iter().take(links.stations()).enumerate() {
            let kind = usize::from(settings.receiver).min(last) as u8;
            hot.push(Hot {
                ear: Ear::new(settings.channel, kind),
                access: Access::new(settings.timing),
            });
            stations.push(Station::new(seed, number as u32, settings));
        }
        assert_eq!(hot.len(), links.stations(), "settings for every station of the links");
        let mut kinds: Vec<Kind> = receivers.iter().map(Kind::new).collect();
        if kinds.is_empty() {
            kinds.push(Kind::new(&Receiver::default()));
        }
        Self {
            now: 0,
            places: hot.iter().map(|it: &Hot| place(it.ear.channel) as u8).collect(),
            timers: Timers::new(hot.len()),
            alarms: Timers::new(hot.len()),
            links,
            kinds,
            medium: Medium::default(),
            hot,
            stations,
            events: Events::default(),
            flights: Vec::new(),
            free: Vec::new(),
            scratch: Scratch::default(),
            meters: Meters::default(),
            agreements: Vec::new(),
        }
    }

    /// Returns the medium with other properties.
    #[must_use]
    pub fn with_medium(mut self, medium: Medium) -> Self {
        self.medium = medium;
        self
    }

    /// Returns the time.
    #[must_use]
    pub const fn now(&self) -> Instant {
        Instant::from_nanos(self.now)
    }

    /// Returns the number of stations.
    #[must_use]
    pub fn stations(&self) -> u32 {
        self.hot.len() as u32
    }

    /// Returns the counters of a station.
    #[must_use]
    pub fn counters(&self, station: u32) -> Counters {
        self.stations.get(station as usize).map_or_else(Counters::default, |it| it.counters)
    }

    /// Returns the number of frames in the queue of a station, with the one that is being sent.
    #[must_use]
    pub fn queued(&self, station: u32) -> usize {
        self.stations.get(station as usize).map_or(0, Station::packets)
    }

    /// Returns the channel of a station.
    #[must_use]
    pub fn channel(&self, station: u32) -> u8 {
        self.hot.get(station as usize).map_or(0, |it| it.ear.channel)
    }

    /// Calls [`Host::wake`](super::Host::wake) with `token` at a time or, if it is past, next.
    pub fn wake_at(&mut self, at: Instant, token: u64) {
        self.events.push(at.as_nanos().max(self.now), What::Wake(token));
    }

    /// Calls [`Host::wake`](super::Host::wake) with `token` after a time from now.
    pub fn wake_in(&mut self, time: Duration, token: u64) {
        self.wake_at(self.now() + time, token);
    }

    /// Hands a frame to the driver of a station.
    ///
    /// # Errors
    ///
    /// [`Full`] if it has no buffer left, or there is no such station.
    pub fn send(&mut self, station: u32, packet: Packet) -> Result<(), Full> {
        let at = station as usize;
        let (Some(it), Some(hot)) = (self.stations.get_mut(at), self.hot.get(at)) else {
            return Err(Full);
        };
        if it.packets() >= it.settings.buffers {
            it.counters.refused += 1;
            return Err(Full);
        }
        it.counters.queued += 1;
        it.enqueue(Entry::new(packet));
        if !it.engaged && !hot.access.contending && !it.dozing {
            self.contend(station);
        }
        Ok(())
    }

    /// Lets a station that has a frame to send, and is free to, request access to the medium.
    fn contend(&mut self, station: u32) {
        let (it, hot) = (&mut self.stations[station as usize], &mut self.hot[station as usize]);
        if it.queue.is_empty() || it.engaged || hot.access.contending {
            return;
        }
        if hot.access.contend(self.now, hot.ear.busy) {
            hot.access.draw(it.draw());
        }
        if !hot.ear.busy {
            self.timers.set(station, hot.access.due());
        }
    }

    /// Tunes a station to another channel. A frame that it receives is lost; a frame that it sends
    /// goes on where it began. During the hop the station neither receives nor sends.
    pub fn tune(&mut self, station: u32, channel: u8, hop: Duration) {
        let at = station as usize;
        let Some(hot) = self.hot.get_mut(at) else { return };
        if hot.ear.channel == channel {
            return;
        }
        hot.ear.retune(channel);
        self.places[at] = place(channel) as u8;
        for flight in self.flights.iter().filter(|it| it.flies) {
            if let Some(link) = self.links.between(flight.frame.from, station) {
                let path = self.medium.adjacent.from(flight.frame.mode, flight.frame.channel);
                hot.ear.sum += path[place(channel)].through(flight.sent(link.power()));
            }
        }
        if !hop.is_zero() && !self.stations[at].off {
            hot.ear.deaf = true;
            let tuned = self.now().after(hop).as_nanos();
            self.stations[at].tuned = tuned;
            self.events.push(tuned, What::Tuned(station));
        }
        self.sense(station);
        self.note(station);
        let hot = &self.hot[at];
        if hot.access.contending && hot.ear.deaf {
            self.timers.set(station, NEVER);
        }
        // With its time-out past, the station was waiting for the end of the frame it received.
        if hot.access.waiting && !hot.ear.sending && !self.timers.runs(station) {
            self.timers.set(station, self.now);
        }
    }

    /// Ends a channel switch, unless another one began meanwhile.
    fn tuned(&mut self, station: u32) {
        let it = &self.stations[station as usize];
        if it.tuned <= self.now && !it.dozing {
            self.hot[station as usize].ear.deaf = false;
            self.sense(station);
        }
    }

    /// Notices a change of a station's carrier sense.
    fn sense(&mut self, station: u32) {
        let at = station as usize;
        let hot = &mut self.hot[at];
        let senses = hot.ear.senses(&self.kinds[usize::from(hot.ear.kind)]);
        if senses == hot.ear.busy {
            return;
        }
        hot.ear.busy = senses;
        if senses {
            let turnaround = self.medium.turnaround_ns;
            let it = &mut self.stations[at];
            air::pause(self.now, turnaround, station, hot, it, &mut self.timers);
        } else {
            hot.access.resume(self.now);
            if hot.access.contending {
                self.timers.set(station, hot.access.due());
            }
        }
    }
}

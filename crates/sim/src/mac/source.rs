//! Sources of load: saturated senders, and Poisson arrivals.

use super::host::{Done, Host};
use super::room::Room;
use super::settings::Packet;
use crate::random::{Purpose, Random};
use alloc::vec::Vec;
use core::time::Duration;

/// Saturated senders: each has a number of frames in its queue, always.
#[derive(Clone, Debug)]
pub struct Saturated {
    /// The frame that all of them send.
    pub packet: Packet,
    /// The number of frames in a queue: two keep a sender of single frames busy; a sender of
    /// A-MPDUs needs some more than go into one.
    pub frames: u32,
}

impl Saturated {
    /// Gives the stations their first frames.
    pub fn start(&self, room: &mut Room, senders: impl IntoIterator<Item = u32>) {
        for station in senders {
            for _ in 0..self.frames {
                // A shorter queue is as good: it is filled again as it is emptied.
                let _ = room.send(station, self.packet);
            }
        }
    }
}

impl Host for Saturated {
    fn done(&mut self, room: &mut Room, station: u32, _: Done) {
        let _ = room.send(station, self.packet);
    }
}

/// Senders with Poisson arrivals: the times between two frames are exponentially distributed. A
/// frame that finds the queue full is dropped and counted there.
#[derive(Clone, Debug)]
pub struct Poisson {
    packet: Packet,
    mean_ns: f64,
    random: Vec<Random>,
}

impl Poisson {
    /// Returns a source of `rate` frames a second at each of the first `senders` stations.
    #[must_use]
    pub fn new(seed: u64, packet: Packet, senders: u32, rate: f64) -> Self {
        let random = (0..senders).map(|it| Random::stream(seed, it, Purpose::Arrival)).collect();
        Self { packet, mean_ns: 1e9 / rate, random }
    }

    /// Draws the times of the first frames.
    pub fn start(&mut self, room: &mut Room) {
        for station in 0..self.random.len() {
            self.next(room, station as u64);
        }
    }

    fn next(&mut self, room: &mut Room, station: u64) {
        let Some(random) = self.random.get_mut(station as usize) else { return };
        let wait = random.exponential() * self.mean_ns;
        room.wake_in(Duration::from_nanos(wait as u64), station);
    }
}

impl Host for Poisson {
    fn wake(&mut self, room: &mut Room, token: u64) {
        let _ = room.send(token as u32, self.packet);
        self.next(room, token);
    }
}

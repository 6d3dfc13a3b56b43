//! Sources of load: saturated senders, and Poisson arrivals.

use super::config::TxFrame;
use super::medium::WirelessMedium;
use super::user::{MacUser, TxStatus};
use crate::random::{Purpose, RngStream};
use alloc::vec::Vec;
use core::time::Duration;

/// Saturated senders: each has a number of frames in its queue, always.
#[derive(Clone, Debug)]
pub struct Saturated {
    /// The frame that all of them send.
    pub packet: TxFrame,
    /// The number of frames in a queue: two keep a sender of single frames busy; a sender of
    /// A-MPDUs needs some more than go into one.
    pub frames: u32,
}

impl Saturated {
    /// Gives the stations their first frames.
    pub fn start(&self, medium: &mut WirelessMedium, senders: impl IntoIterator<Item = u32>) {
        for station in senders {
            for _ in 0..self.frames {
                // A shorter queue is as good: it is filled again as it is emptied.
                let _ = medium.send(station, self.packet);
            }
        }
    }
}

impl MacUser for Saturated {
    fn on_tx_status(&mut self, medium: &mut WirelessMedium, station: u32, _: TxStatus) {
        let _ = medium.send(station, self.packet);
    }
}

/// Senders with Poisson arrivals: the times between two frames are exponentially distributed. A
/// frame that finds the queue full is dropped and counted there.
#[derive(Clone, Debug)]
pub struct Poisson {
    packet: TxFrame,
    mean_ns: f64,
    random: Vec<RngStream>,
}

impl Poisson {
    /// Returns a source of `rate` frames a second at each of the first `senders` stations.
    #[must_use]
    pub fn new(seed: u64, packet: TxFrame, senders: u32, rate: f64) -> Self {
        let random = (0..senders).map(|it| RngStream::stream(seed, it, Purpose::Arrival)).collect();
        Self { packet, mean_ns: 1e9 / rate, random }
    }

    /// Draws the times of the first frames.
    pub fn start(&mut self, medium: &mut WirelessMedium) {
        for station in 0..self.random.len() {
            self.next(medium, station as u64);
        }
    }

    fn next(&mut self, medium: &mut WirelessMedium, station: u64) {
        let Some(random) = self.random.get_mut(station as usize) else { return };
        let wait = random.exponential() * self.mean_ns;
        medium.wake_in(Duration::from_nanos(wait as u64), station);
    }
}

impl MacUser for Poisson {
    fn on_wake(&mut self, medium: &mut WirelessMedium, token: u64) {
        let _ = medium.send(token as u32, self.packet);
        self.next(medium, token);
    }
}

//! Routers and other people's stations: what they send.

use crate::lab::scene::{Background, NoiseBursts, Router};
use crate::lab::token::FrameTag;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::mac::{GROUP, TxFrame, WirelessMedium};
use espbench_dot11::radio::{Hr, WifiMode};
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::time::Instant;

/// Beacons go at the lowest basic rate: 1 Mbit/s with the long preamble.
const BEACONS: WifiMode = WifiMode::Hr(Hr::M1);

/// Routers and background stations.
#[derive(Debug)]
pub(in crate::lab) struct Others {
    /// Station of the first router, and of the first background station.
    pub(super) first: [u32; 2],
    routers: Vec<Router>,
    loads: Vec<Load>,
}

#[derive(Debug)]
struct Load {
    it: Background,
    /// The beginning of the first burst of noise.
    phase: Option<Duration>,
    random: RngStream,
    /// Whether it has said when its next frames are.
    goes_on: bool,
}

impl Others {
    /// Routers that only send beacons, and background stations. The first of each has this number in
    /// the room.
    pub(in crate::lab) fn new(
        (router, routers): (u32, Vec<Router>),
        (first, background): (u32, &[Background]),
        seed: u64,
    ) -> Self {
        let load = |(i, it): (usize, &Background)| Load {
            it: it.clone(),
            phase: None,
            random: RngStream::stream(seed, first + i as u32, Purpose::Arrival),
            goes_on: false,
        };
        let loads = background.iter().enumerate().map(load).collect();
        Self { first: [router, first], routers, loads }
    }

    /// Returns when each router sends its first beacon, and each load has its first frames.
    pub(in crate::lab) fn starts(&mut self, seed: u64) -> (Vec<Instant>, Vec<Option<Instant>>) {
        let first = self.first[0];
        let beacon = |(i, it): (usize, &Router)| {
            let mut random = RngStream::stream(seed, first + i as u32, Purpose::Start);
            Instant::ZERO + random.time_below(it.beacon)
        };
        let beacons = self.routers.iter().enumerate().map(beacon).collect();
        let loads = self.loads.iter_mut().map(|load| load.next(Instant::ZERO)).collect();
        (beacons, loads)
    }

    /// Queues a beacon at its target time (TBTT), unless the last one is still there; returns when
    /// the next one is due.
    pub(in crate::lab) fn beacon(&self, room: &mut WirelessMedium, number: u32) -> Option<Instant> {
        let router = self.routers.get(number as usize)?;
        let station = self.first[0] + number;
        if room.queued(station) == 0 {
            let octets = router.beacon_octets;
            let tag = FrameTag::Beacon(number).tag();
            // The queue is empty.
            let _ = room.send(station, TxFrame::new(GROUP, octets, BEACONS, tag));
        }
        (!router.beacon.is_zero()).then(|| room.now() + router.beacon)
    }

    /// Queues the frames of a station; returns when it has the next.
    pub(in crate::lab) fn load(
        &mut self,
        room: &mut WirelessMedium,
        number: u32,
    ) -> Option<Instant> {
        let station = self.first[1] + number;
        let to = match self.loads.get(number as usize)?.it.to {
            Some(other) => self.first[1] + u32::from(other),
            None => GROUP,
        };
        let load = self.loads.get_mut(number as usize)?;
        if let Some(noise) = load.it.noise {
            emit(room, station, load.it.channel, &noise);
            return load.next(room.now());
        }
        let Background { octets, mode, .. } = load.it;
        let tag = FrameTag::Load(number).tag();
        for _ in 0..load.burst() {
            // What finds the queue full is dropped, and counted by the MAC.
            let _ = room.send(station, TxFrame::new(to, octets, mode, tag));
        }
        load.next(room.now())
    }

    /// Sets how many frames a second a station has from now on; returns when it has the first, where it had
    /// none before.
    pub(in crate::lab) fn set_rate(
        &mut self,
        number: u32,
        rate: f64,
        now: Instant,
    ) -> Option<Instant> {
        let load = self.loads.get_mut(number as usize)?;
        load.it.rate = rate;
        if load.goes_on { None } else { load.next(now) }
    }

    /// Returns when a station has its next frames, if it has none before that time.
    pub(in crate::lab) fn next_load(&mut self, number: u32, from: Instant) -> Option<Instant> {
        self.loads.get_mut(number as usize)?.next(from)
    }

    /// Returns when a router's first beacon after that time is due, one of which is due now.
    pub(in crate::lab) fn next_beacon(
        &self,
        number: u32,
        now: Instant,
        from: Instant,
    ) -> Option<Instant> {
        let every = self.routers.get(number as usize)?.beacon.as_nanos() as u64;
        let missed = from.since(now).as_nanos() as u64 / every.max(1);
        (every > 0).then(|| now + Duration::from_nanos((missed + 1) * every))
    }

    /// Returns a router's SSID.
    pub(super) fn ssid(&self, router: u32) -> &[u8] {
        self.routers.get(router as usize).map_or(&[], |it| it.ssid.as_bytes())
    }

    /// Returns a router's password.
    pub(super) fn password(&self, router: u32) -> &[u8] {
        self.routers.get(router as usize).map_or(&[], |it| it.password.as_bytes())
    }
}

impl Load {
    /// Returns when it has its next frames.
    fn next(&mut self, now: Instant) -> Option<Instant> {
        let next = self.after(now);
        self.goes_on = next.is_some();
        next
    }

    /// Bursts come as a Poisson process, noise in its period, which begins at a random time.
    fn after(&mut self, now: Instant) -> Option<Instant> {
        if let Some(NoiseBursts { period, .. }) = self.it.noise {
            let first =
                Instant::ZERO + *self.phase.get_or_insert_with(|| self.random.time_below(period));
            let period_ns = (period.as_nanos() as u64).max(1);
            let passed =
                if now < first { 0 } else { now.since(first).as_nanos() as u64 / period_ns + 1 };
            return Some(first.after_nanos(passed * period_ns));
        }
        let mean_s = self.it.burst.max(1.0) / self.it.rate;
        if !(self.it.rate > 0.0 && mean_s.is_finite()) {
            return None;
        }
        let wait = self.random.exponential() * mean_s * 1e9;
        Some(now + Duration::from_nanos(wait as u64))
    }

    /// Draws the frames of a burst: geometric, at least one.
    fn burst(&mut self) -> u32 {
        let more = 1.0 - 1.0 / self.it.burst.max(1.0);
        if more <= 0.0 {
            return 1;
        }
        // Bursts of a size that no queue holds are cut.
        1 + (self.random.exponential() / -libm::log(more)).min(4096.0) as u32
    }
}

/// Emits one burst: on each of its channels for an equal part of its time.
fn emit(room: &mut WirelessMedium, station: u32, first: u8, noise: &NoiseBursts) {
    let on_ns = noise.period.as_nanos() as f64 * noise.duty;
    let channels = first..=noise.last_channel.max(first);
    let part = Duration::from_nanos((on_ns / channels.clone().count() as f64) as u64);
    let mut begin = room.now();
    for channel in channels {
        room.emit_noise(station, channel, begin, part);
        begin = begin + part;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_come_as_often_as_they_say() {
        for burst in [1.0, 4.0] {
            let it = Background {
                name: "pc".into(),
                at: crate::lab::scene::Point::default(),
                channel: 1,
                power_dbm: 15.0,
                rate: 200.0,
                burst,
                octets: 1000,
                mode: BEACONS,
                fallback: Vec::new(),
                to: None,
                noise: None,
            };
            let mut load = Load {
                it,
                phase: None,
                random: RngStream::stream(1, 0, Purpose::Arrival),
                goes_on: false,
            };
            let (mut now, mut frames, mut bursts) = (Instant::ZERO, 0, 0);
            while now < Instant::from_nanos(500_000_000_000) {
                now = load.next(now).expect("it has a rate");
                frames += load.burst();
                bursts += 1;
            }
            // 100 000 are expected; deviations 316 and some 1000.
            assert!((97_000..103_000).contains(&frames), "{frames}");
            let mean = f64::from(frames) / f64::from(bursts);
            assert!((mean - burst).abs() < 0.1, "{mean}");
        }
    }
}

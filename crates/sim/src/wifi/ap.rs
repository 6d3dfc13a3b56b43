//! Access points.

use super::config::{ApConfig, Rates};
use super::frame::{Frame, FrameInfo, Frames, MARK, Subtype, Tim};
use super::octets::{Wrap, management};
use super::{Counters, Msdu, Refused, is_group};
use crate::mac::{GROUP, Packet, Room};
use crate::radio::Mode;
use crate::random::{Purpose, Random};
use alloc::vec::Vec;
use espbench_proto::time::Instant;

/// A station that an access point knows.
#[derive(Clone, Debug)]
pub(super) struct Member {
    /// Which of the room's.
    pub(super) station: u32,
}

#[derive(Debug)]
pub(super) struct Ap {
    pub(super) config: ApConfig,
    pub(super) counters: Counters,
    /// By association identifier, from 1.
    members: Vec<Option<Member>>,
    /// The association identifier of each station of the room; 0: it is not associated here.
    aids: Vec<u16>,
    /// The next target beacon transmission time (11.1.3.2).
    next_beacon: Instant,
    /// Beacons before the next DTIM.
    dtim_count: u8,
    /// The beacon that is in the MAC's queue.
    beacon: Option<u64>,
}

impl Ap {
    pub(super) fn new(seed: u64, number: u32, config: ApConfig) -> Self {
        let mut random = Random::stream(seed, number, Purpose::Start);
        let next_beacon = Instant::ZERO + random.time_below(config.beacon_interval);
        Self {
            config,
            counters: Counters::default(),
            members: Vec::new(),
            aids: Vec::new(),
            next_beacon,
            dtim_count: 0,
            beacon: None,
        }
    }

    pub(super) fn start(&self, room: &mut Room, number: u32) {
        room.wake_at(self.next_beacon, MARK | u64::from(number));
    }

    pub(super) const fn next_beacon(&self) -> Instant {
        self.next_beacon
    }

    /// The stations that are associated with it, in the order of their identifiers.
    pub(super) fn stations(&self) -> impl Iterator<Item = u32> {
        self.members.iter().flatten().map(|member| member.station)
    }

    /// How its data frames are wrapped.
    pub(super) const fn wrap(&self) -> Wrap {
        Wrap { qos: self.config.capabilities.qos, protected: self.config.security.encrypts() }
    }

    /// The association identifier of a station.
    pub(super) fn aid(&self, station: u32) -> Option<u16> {
        self.aids.get(station as usize).copied().filter(|&aid| aid != 0)
    }

    /// Takes a station, unless there are too many: its association identifier.
    pub(super) fn admit(&mut self, station: u32) -> Option<u16> {
        if let Some(aid) = self.aid(station) {
            return Some(aid);
        }
        let free = self.members.iter().position(Option::is_none).unwrap_or(self.members.len());
        if free >= usize::from(self.config.most_stations) {
            return None;
        }
        if free == self.members.len() {
            self.members.push(None);
        }
        self.members[free] = Some(Member { station });
        let at = station as usize;
        if self.aids.len() <= at {
            self.aids.resize(at + 1, 0);
        }
        let aid = free as u16 + 1;
        self.aids[at] = aid;
        Some(aid)
    }

    fn mode(&self) -> Mode {
        match &self.config.rates {
            Rates::Fixed(mode) => *mode,
            Rates::Adaptive(modes) => modes.last().copied().unwrap_or(self.config.basic),
        }
    }

    pub(super) fn send(
        &mut self,
        room: &mut Room,
        frames: &mut Frames,
        number: u32,
        packet: Msdu,
    ) -> Result<(), Refused> {
        let group = is_group(packet.to);
        if !group && self.aid(packet.to).is_none() {
            self.counters.refused += 1;
            return Err(Refused::NotJoined);
        }
        // Multicast has no QoS Control field where some member may not know it; routers leave it
        // out always.
        let wrap = Wrap { qos: self.wrap().qos && !group, ..self.wrap() };
        let mode = if group { self.config.basic } else { self.mode() };
        let info = FrameInfo {
            subtype: Subtype::Data { qos: wrap.qos },
            protected: wrap.protected,
            power_management: false,
            more_data: false,
            tim: None,
            packet: Some((packet.tag, packet.octets)),
        };
        let tag = frames.keep(Frame { info, from: number });
        let octets = wrap.data(packet.octets);
        if room.send(number, Packet::new(packet.to, octets, mode, tag)).is_err() {
            frames.take(tag);
            self.counters.refused += 1;
            return Err(Refused::NoBuffers);
        }
        self.counters.taken += 1;
        Ok(())
    }

    /// A target beacon transmission time: the beacon goes into the queue, unless the last one is
    /// still there.
    pub(super) fn beacon(&mut self, room: &mut Room, frames: &mut Frames, number: u32) {
        let period = self.config.dtim_period.max(1);
        let tim = Tim { dtim_count: self.dtim_count, dtim_period: period, ..Tim::default() };
        self.dtim_count = self.dtim_count.checked_sub(1).unwrap_or(period - 1);
        self.next_beacon = self.next_beacon + self.config.beacon_interval;
        room.wake_at(self.next_beacon, MARK | u64::from(number));
        if self.beacon.is_some() {
            self.counters.beacons_missed += 1;
            return;
        }
        let info = FrameInfo {
            subtype: Subtype::Beacon,
            protected: false,
            power_management: false,
            more_data: false,
            tim: Some(tim),
            packet: None,
        };
        let tag = frames.keep(Frame { info, from: number });
        let octets = management(200);
        let packet = Packet::new(GROUP, octets, self.config.basic, tag).at_once();
        if room.send(number, packet).is_err() {
            frames.take(tag);
            self.counters.beacons_missed += 1;
            return;
        }
        self.beacon = Some(tag);
    }

    /// The MAC is done with a beacon.
    pub(super) const fn beacon_done(&mut self) {
        self.beacon = None;
        self.counters.beacons += 1;
    }
}

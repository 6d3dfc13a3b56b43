//! Access points.
//!
//! | module | contents |
//! |---|---|
//! | `admit` | probe responses, authentication, association, keys |
//! | `beacon` | beacons |
//! | `keep` | frames buffered for sleeping stations |
//! | `member` | the associated stations |

mod admit;
mod beacon;
mod keep;
mod member;

use super::config::ApConfig;
use super::deadlines::Deadlines;
use super::frame::FrameStore;
use super::octets::Encapsulation;
use super::tag::{DataTag, LARGEST_AID};
use super::upper::{SentPacket, UpperLayer};
use super::{Msdu, SendError, WifiCounters, is_group};
use crate::events::Scheduler;
use crate::mac::{GROUP, TxFrame, TxStatus, WirelessMedium};
use crate::random::{Purpose, RngStream};
use admit::{ApTask, PendingStation};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use keep::BufferedPacket;
use member::AssociatedStation;

/// The deadlines of an access point.
const BEACON: usize = 0;
const TASK: usize = 1;

/// The way in which a packet goes to the MAC.
#[derive(Clone, Copy, Debug, Default)]
struct TxFlags {
    /// The more data bit: the receiver shall listen on.
    more: bool,
    /// Whether the packet goes before those in the queue.
    ahead: bool,
}

#[derive(Debug)]
pub(super) struct WifiAp {
    pub(super) config: ApConfig,
    pub(super) counters: WifiCounters,
    number: u32,
    on: bool,
    clock: Deadlines<2>,
    /// The associated stations, by association identifier from 1.
    members: Vec<Option<AssociatedStation>>,
    /// The association identifier of each station of the medium; 0 if it is not associated here.
    aids: Vec<u16>,
    /// The stations that are being admitted.
    guests: BTreeMap<u32, PendingStation>,
    agenda: Scheduler<Instant, ApTask>,
    /// The number of answers that wait for the processor, and the time at which it is free.
    tasks: u16,
    free: Instant,
    /// The number of associated stations that sleep.
    sleepers: u16,
    /// Multicast for the next DTIM.
    group: VecDeque<BufferedPacket>,
    /// Stations that are awake and have more buffered packets than the MAC's queue took.
    drains: VecDeque<u16>,
    /// The traffic indication map of the last beacon, and of the next, one bit for each station.
    told: Vec<u64>,
    waits: Vec<u64>,
    /// The number of stations with buffered frames.
    waiting: u16,
    /// The next target beacon transmission time (11.1.3.2).
    next_beacon: Instant,
    /// The number of beacons before the next DTIM.
    dtim_count: u8,
    /// Whether a beacon is in the MAC's queue.
    beacon: bool,
}

impl WifiAp {
    pub(super) fn new(seed: u64, number: u32, config: ApConfig) -> Self {
        let mut random = RngStream::stream(seed, number, Purpose::Start);
        let next_beacon = Instant::ZERO + random.time_below(config.beacon_interval);
        Self {
            config,
            counters: WifiCounters::default(),
            number,
            on: true,
            clock: Deadlines::new(number),
            members: Vec::new(),
            aids: Vec::new(),
            guests: BTreeMap::new(),
            agenda: Scheduler::default(),
            tasks: 0,
            free: Instant::ZERO,
            sleepers: 0,
            group: VecDeque::new(),
            drains: VecDeque::new(),
            told: Vec::new(),
            waits: Vec::new(),
            waiting: 0,
            next_beacon,
            dtim_count: 0,
            beacon: false,
        }
    }

    pub(super) fn start(&mut self, medium: &mut WirelessMedium) {
        self.clock.set(medium, BEACON, self.next_beacon);
    }

    /// Handles the deadlines that are due.
    pub(super) fn wake(
        &mut self,
        medium: &mut WirelessMedium,
        frames: &mut FrameStore,
        upper: &mut dyn UpperLayer,
    ) {
        while let Some(what) = self.clock.next_due(medium.now()) {
            if what == TASK {
                self.tasks(medium, frames, upper);
                continue;
            }
            self.age(medium, upper);
            self.forget(medium, upper);
            self.send_beacon(medium, frames);
        }
        self.clock.rearm(medium);
    }

    /// Returns the encapsulation of data frames.
    pub(super) const fn wrap(&self) -> Encapsulation {
        Encapsulation {
            qos: self.config.capabilities.qos,
            protected: self.config.security.encrypts(),
        }
    }

    /// Returns the encapsulation of data frames to a station; multicast (0) has no QoS Control
    /// field, which some station may not know.
    pub(super) fn wrap_to(&self, aid: u16) -> Encapsulation {
        let member = usize::from(aid).checked_sub(1).and_then(|at| self.members.get(at)?.as_ref());
        Encapsulation { qos: self.wrap().qos && member.is_some_and(|it| it.qos), ..self.wrap() }
    }

    pub(super) fn send(
        &mut self,
        medium: &mut WirelessMedium,
        packet: Msdu,
    ) -> Result<(), SendError> {
        let taken = if is_group(packet.to) {
            self.send_group(medium, packet)
        } else {
            self.send_unicast(medium, packet)
        };
        match taken {
            Ok(()) => self.counters.taken += 1,
            Err(_) => self.counters.refused += 1,
        }
        taken
    }

    fn send_unicast(&mut self, medium: &mut WirelessMedium, packet: Msdu) -> Result<(), SendError> {
        let aid = self.aid(packet.to).ok_or(SendError::NotJoined)?;
        let member = self.members[usize::from(aid) - 1].as_mut().filter(|it| it.open);
        let member = member.ok_or(SendError::NotJoined)?;
        let kept = member.packet(medium.now(), packet);
        if member.asleep || !member.kept.is_empty() {
            if member.kept.len() >= usize::from(self.config.unicast_buffer) {
                return Err(SendError::NoBuffers);
            }
            self.counters.kept += 1;
            self.keep(aid, kept);
            return Ok(());
        }
        let taken = self.transmit(medium, aid, kept, TxFlags::default());
        if taken { Ok(()) } else { Err(SendError::NoBuffers) }
    }

    fn send_group(&mut self, medium: &mut WirelessMedium, packet: Msdu) -> Result<(), SendError> {
        if !self.on {
            return Err(SendError::NotJoined);
        }
        let kept = BufferedPacket::new(medium.now(), packet);
        let waits = self.sleepers > 0 || !self.group.is_empty();
        if let (Some(most), true) = (self.config.multicast_buffer, waits) {
            if self.group.len() >= usize::from(most) {
                return Err(SendError::NoBuffers);
            }
            self.counters.kept += 1;
            self.group.push_back(kept);
            return Ok(());
        }
        let taken = self.transmit_group(medium, kept, TxFlags::default());
        if taken { Ok(()) } else { Err(SendError::NoBuffers) }
    }

    /// Hands a station's packet to the MAC, if it has a buffer. Returns whether it had.
    fn transmit(
        &mut self,
        medium: &mut WirelessMedium,
        aid: u16,
        kept: BufferedPacket,
        turn: TxFlags,
    ) -> bool {
        let wrap = self.wrap_to(aid);
        let Some(member) = self.member(aid) else { return false };
        let (rate, mode) = member.rate.pick();
        let tag = DataTag { packet: kept.tag, aid, rate, more: turn.more }.pack();
        let packet = TxFrame::new(member.station, wrap.data(kept.octets), mode, tag);
        let packet = if wrap.qos { packet.aggregated() } else { packet };
        if medium.send(self.number, TxFrame { ahead: turn.ahead, ..packet }).is_err() {
            return false;
        }
        if let Some(member) = self.member(aid) {
            member.in_flight.push_back(kept);
        }
        true
    }

    fn transmit_group(
        &mut self,
        medium: &mut WirelessMedium,
        kept: BufferedPacket,
        turn: TxFlags,
    ) -> bool {
        let tag = DataTag { packet: kept.tag, aid: 0, rate: 0, more: turn.more }.pack();
        let octets = self.wrap_to(0).data(kept.octets);
        let packet = TxFrame::new(GROUP, octets, self.config.basic, tag);
        medium.send(self.number, TxFrame { ahead: turn.ahead, ..packet }).is_ok()
    }

    /// Handles the outcome of a packet.
    pub(super) fn data_done(
        &mut self,
        medium: &mut WirelessMedium,
        data: DataTag,
        done: TxStatus,
        upper: &mut dyn UpperLayer,
    ) {
        let lost = (!done.delivered).then_some(Cause::RetryLimit);
        if let Some(member) = self.member(data.aid) {
            let kept = member.take_in_flight(data.packet);
            member.rate.learn(data.rate, done.attempts, done.delivered);
            if let (Some(kept), Some(_), true) = (kept, lost, member.asleep) {
                // The station fell asleep with this packet on its way: the packet is buffered, as
                // in any access point that gets frames back from its MAC.
                self.keep(data.aid, kept);
                self.drain(medium);
                return;
            }
        }
        self.end(medium, SentPacket { tag: data.packet, lost, attempts: done.attempts }, upper);
        self.drain(medium);
    }

    /// Reports the outcome of a packet.
    fn end(&mut self, medium: &mut WirelessMedium, packet: SentPacket, upper: &mut dyn UpperLayer) {
        match packet.lost {
            None => self.counters.sent += 1,
            Some(_) => self.counters.lost += 1,
        }
        upper.on_sent(medium, self.number, packet);
    }
}

//! Access points.

mod admit;
mod beacon;
mod keep;
mod member;

use super::above::{Above, Sent};
use super::clock::Clock;
use super::config::ApConfig;
use super::frame::Frames;
use super::octets::Wrap;
use super::tag::{DataTag, LARGEST_AID};
use super::{Counters, Msdu, Refused, is_group};
use crate::events::Events;
use crate::mac::{Done, GROUP, Packet, Room};
use crate::random::{Purpose, Random};
use admit::{Guest, Task};
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use espbench_proto::sample::Cause;
use espbench_proto::time::Instant;
use keep::Kept;
use member::Member;

/// Deadlines of an access point.
const BEACON: usize = 0;
const TASK: usize = 1;

/// How a packet goes to the MAC.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    /// Its receiver shall listen on: there is more.
    more: bool,
    /// Before what is in the queue already.
    ahead: bool,
}

#[derive(Debug)]
pub(super) struct Ap {
    pub(super) config: ApConfig,
    pub(super) counters: Counters,
    number: u32,
    on: bool,
    clock: Clock<2>,
    /// By association identifier, from 1.
    members: Vec<Option<Member>>,
    /// The association identifier of each station of the room; 0: it is not associated here.
    aids: Vec<u16>,
    /// Stations that are being let in.
    guests: BTreeMap<u32, Guest>,
    agenda: Events<Instant, Task>,
    /// Answers that wait for the processor, and when it is free.
    tasks: u16,
    free: Instant,
    /// Members that sleep.
    sleepers: u16,
    /// Multicast for the next DTIM.
    group: VecDeque<Kept>,
    /// Members that are awake and for whom there is more than the MAC's queue took.
    drains: VecDeque<u16>,
    /// One bit for each member, as in the last beacon, and as it would be in the next.
    told: Vec<u64>,
    waits: Vec<u64>,
    /// Members for whom something waits.
    waiting: u16,
    /// The next target beacon transmission time (11.1.3.2).
    next_beacon: Instant,
    /// Beacons before the next DTIM.
    dtim_count: u8,
    /// A beacon is in the MAC's queue.
    beacon: bool,
}

impl Ap {
    pub(super) fn new(seed: u64, number: u32, config: ApConfig) -> Self {
        let mut random = Random::stream(seed, number, Purpose::Start);
        let next_beacon = Instant::ZERO + random.time_below(config.beacon_interval);
        Self {
            config,
            counters: Counters::default(),
            number,
            on: true,
            clock: Clock::new(number),
            members: Vec::new(),
            aids: Vec::new(),
            guests: BTreeMap::new(),
            agenda: Events::default(),
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

    pub(super) fn start(&mut self, room: &mut Room) {
        self.clock.set(room, BEACON, self.next_beacon);
    }

    /// A time has come.
    pub(super) fn wake(&mut self, room: &mut Room, frames: &mut Frames, above: &mut dyn Above) {
        while let Some(what) = self.clock.next_due(room.now()) {
            if what == TASK {
                self.tasks(room, frames, above);
                continue;
            }
            self.age(room, above);
            self.forget(room, above);
            self.send_beacon(room, frames);
        }
        self.clock.rearm(room);
    }

    /// How its data frames are wrapped.
    pub(super) const fn wrap(&self) -> Wrap {
        Wrap { qos: self.config.capabilities.qos, protected: self.config.security.encrypts() }
    }

    /// How the data frames to a member are wrapped; multicast (0) has no QoS Control field, which
    /// some member may not know.
    pub(super) fn wrap_to(&self, aid: u16) -> Wrap {
        let member = usize::from(aid).checked_sub(1).and_then(|at| self.members.get(at)?.as_ref());
        Wrap { qos: self.wrap().qos && member.is_some_and(|it| it.qos), ..self.wrap() }
    }

    pub(super) fn send(&mut self, room: &mut Room, packet: Msdu) -> Result<(), Refused> {
        let taken = if is_group(packet.to) {
            self.send_group(room, packet)
        } else {
            self.send_unicast(room, packet)
        };
        match taken {
            Ok(()) => self.counters.taken += 1,
            Err(_) => self.counters.refused += 1,
        }
        taken
    }

    fn send_unicast(&mut self, room: &mut Room, packet: Msdu) -> Result<(), Refused> {
        let aid = self.aid(packet.to).ok_or(Refused::NotJoined)?;
        let member = self.members[usize::from(aid) - 1].as_mut().filter(|it| it.open);
        let member = member.ok_or(Refused::NotJoined)?;
        let kept = member.packet(room.now(), packet);
        if member.asleep || !member.kept.is_empty() {
            if member.kept.len() >= usize::from(self.config.unicast_buffer) {
                return Err(Refused::NoBuffers);
            }
            self.counters.kept += 1;
            self.keep(aid, kept);
            return Ok(());
        }
        let taken = self.transmit(room, aid, kept, Turn::default());
        if taken { Ok(()) } else { Err(Refused::NoBuffers) }
    }

    fn send_group(&mut self, room: &mut Room, packet: Msdu) -> Result<(), Refused> {
        if !self.on {
            return Err(Refused::NotJoined);
        }
        let kept = Kept::new(room.now(), packet);
        let waits = self.sleepers > 0 || !self.group.is_empty();
        if let (Some(most), true) = (self.config.multicast_buffer, waits) {
            if self.group.len() >= usize::from(most) {
                return Err(Refused::NoBuffers);
            }
            self.counters.kept += 1;
            self.group.push_back(kept);
            return Ok(());
        }
        let taken = self.transmit_group(room, kept, Turn::default());
        if taken { Ok(()) } else { Err(Refused::NoBuffers) }
    }

    /// Hands a member's packet to the MAC, if it has a buffer.
    fn transmit(&mut self, room: &mut Room, aid: u16, kept: Kept, turn: Turn) -> bool {
        let wrap = self.wrap_to(aid);
        let Some(member) = self.member(aid) else { return false };
        let (rate, mode) = member.rate.pick();
        let tag = DataTag { packet: kept.tag, aid, rate, more: turn.more }.pack();
        let packet = Packet::new(member.station, wrap.data(kept.octets), mode, tag);
        let packet = if wrap.qos { packet.aggregated() } else { packet };
        if room.send(self.number, Packet { ahead: turn.ahead, ..packet }).is_err() {
            return false;
        }
        if let Some(member) = self.member(aid) {
            member.in_flight.push_back(kept);
        }
        true
    }

    fn transmit_group(&mut self, room: &mut Room, kept: Kept, turn: Turn) -> bool {
        let tag = DataTag { packet: kept.tag, aid: 0, rate: 0, more: turn.more }.pack();
        let octets = self.wrap_to(0).data(kept.octets);
        let packet = Packet::new(GROUP, octets, self.config.basic, tag);
        room.send(self.number, Packet { ahead: turn.ahead, ..packet }).is_ok()
    }

    /// The MAC is done with a packet.
    pub(super) fn data_done(
        &mut self,
        room: &mut Room,
        data: DataTag,
        done: Done,
        above: &mut dyn Above,
    ) {
        let lost = (!done.delivered).then_some(Cause::RetryLimit);
        if let Some(member) = self.member(data.aid) {
            let kept = member.flown(data.packet);
            member.rate.learn(data.rate, done.attempts, done.delivered);
            if let (Some(kept), Some(_), true) = (kept, lost, member.asleep) {
                // It fell asleep with this on its way: the packet waits, as in any access point that
                // gets frames back from its MAC.
                self.keep(data.aid, kept);
                self.drain(room);
                return;
            }
        }
        self.end(room, Sent { tag: data.packet, lost, attempts: done.attempts }, above);
        self.drain(room);
    }

    /// A packet has ended.
    fn end(&mut self, room: &mut Room, packet: Sent, above: &mut dyn Above) {
        match packet.lost {
            None => self.counters.sent += 1,
            Some(_) => self.counters.lost += 1,
        }
        above.sent(room, self.number, packet);
    }
}

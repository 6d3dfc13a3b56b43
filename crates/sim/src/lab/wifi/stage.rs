//! The room's and the Wi-Fi's callbacks, and the wire.

use super::machine::{Awaits, Body, Esp, Machine, Running, machine_at};
use super::pool::{ALL, Head, Pool};
use super::setup::{Place, Program};
use super::watch::Watched;
use crate::lab::run::others::Others;
use crate::lab::scene::Background;
use crate::mac::{Done, GROUP, Heard, Host, Missed, Mpdu, OnAir, Room};
use crate::power::{Modem, Modulation};
use crate::wifi::{self, Above, Msdu, Received, Sent, Wifi};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_proto::sample::Cause;
use espbench_proto::time::Instant;

/// Tokens of a machine that is due, of something on a wire, and of other people's loads.
const MACHINE: u64 = 1 << 61;
const WIRE: u64 = 1 << 60;
const LOAD: u64 = 1 << 59;
const NUMBER: u64 = u32::MAX as u64;

/// Something on its way on a wire, or through a PC.
#[derive(Clone, Copy, Debug)]
pub(super) enum Carried {
    /// To an access point's wire.
    AccessPoint { ap: u32, tag: u32 },
    /// From a PC's driver to its radio.
    Air { station: u32, tag: u32 },
    /// To a PC's programs.
    Pc { machine: u16, tag: u32 },
}

/// A packet that Wi-Fi is to send once it has returned.
#[derive(Clone, Copy, Debug)]
struct Relay {
    ap: u32,
    to: u32,
    tag: u32,
}

/// Everything but the Wi-Fi.
pub(super) struct Field<'a> {
    pub(super) machines: Vec<Machine<'a>>,
    pub(super) pool: Pool,
    carried: Vec<Carried>,
    free: Vec<u32>,
    relays: VecDeque<Relay>,
    /// The machine of each station of the room.
    owners: Vec<Option<u16>>,
    /// How long a router takes for a packet from one of its stations to another.
    pub(super) forward: Duration,
    /// What a machine's stack has just sent.
    pub(super) out: Vec<u32>,
    /// The last packets that were lost, and where.
    pub(super) losses: VecDeque<(Instant, Cause)>,
    /// Packets that an access point had no room for.
    pub(super) not_relayed: u64,
    /// Who watches.
    pub(super) watched: Option<Box<Watched<'a>>>,
}

pub(super) struct Stage<'a> {
    pub(super) wifi: Wifi,
    pub(super) field: Field<'a>,
    others: Others,
}

/// The machine that an IP packet goes to; `None` for one of another network.
pub(super) fn destination(packet: &[u8]) -> Option<u16> {
    let address: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
    if address == [255; 4] || address == [10, 0, 255, 255] || address[0] & 0xF0 == 0xE0 {
        return Some(ALL);
    }
    machine_at(address)
}

/// The address of a station on the air, and of one on a wire.
const fn station_of(place: Place) -> Option<u32> {
    match place {
        Place::Air(station) => Some(station),
        Place::Wire(_) => None,
    }
}

impl<'a> Stage<'a> {
    pub(super) fn new(
        wifi: Wifi,
        machines: Vec<Machine<'a>>,
        (first, others): (u32, Vec<Background>),
        seed: u64,
        stations: u32,
    ) -> Self {
        let mut owners = vec![None; stations as usize];
        for (i, machine) in machines.iter().enumerate() {
            if let Some(owner) =
                station_of(machine.place).and_then(|it| owners.get_mut(it as usize))
            {
                *owner = Some(i as u16);
            }
        }
        let field = Field {
            machines,
            pool: Pool::default(),
            carried: Vec::new(),
            free: Vec::new(),
            relays: VecDeque::new(),
            owners,
            forward: Duration::ZERO,
            out: Vec::new(),
            losses: VecDeque::new(),
            not_relayed: 0,
            watched: None,
        };
        Self { wifi, field, others: Others::of(first, &others, seed) }
    }

    pub(super) fn begin(&mut self, room: &mut Room, seed: u64) {
        let (_, loads) = self.others.starts(seed);
        for (station, at) in loads.into_iter().enumerate() {
            if let Some(at) = at {
                room.wake_at(at, LOAD | station as u64);
            }
        }
        self.wifi.start(room, &mut self.field);
    }

    pub(super) fn machine(&self, number: u16) -> Option<&Machine<'a>> {
        self.field.machines.get(usize::from(number))
    }

    pub(super) fn machine_mut(&mut self, number: u16) -> Option<&mut Machine<'a>> {
        self.field.machines.get_mut(usize::from(number))
    }

    pub(super) fn start(&mut self, room: &mut Room, number: u16, app: Box<dyn Program + 'a>) {
        let now = room.now();
        if let Some(machine) = self.machine_mut(number) {
            let then = Awaits::Time(now);
            let app = Some(app);
            machine.programs.push(Running { app, awaits: then, then, out: Vec::new(), pending: 0 });
            self.run(room, number);
        }
    }

    /// Lets a machine do all that it can do now.
    pub(super) fn run(&mut self, room: &mut Room, number: u16) {
        let Some(machine) = self.field.machines.get(usize::from(number)) else { return };
        match machine.body {
            Body::Esp(_) => self.run_esp(room, number),
            Body::Pc(_) => self.field.run_pc(room, number),
        }
        self.field.watch_probes(room.now(), number);
        self.field.arm(room, number);
    }

    /// What the Wi-Fi was asked to relay while it was busy.
    fn relay(&mut self, room: &mut Room) {
        while let Some(Relay { ap, to, tag }) = self.field.relays.pop_front() {
            self.send(room, ap, to, tag);
        }
    }

    /// Gives a packet to the Wi-Fi; whether it took it.
    pub(super) fn send(&mut self, room: &mut Room, from: u32, to: u32, tag: u32) -> bool {
        let octets = self.field.pool.bytes(tag).len() as u32;
        self.field.pool.stamp(tag, room.now().as_nanos());
        let taken = self.wifi.send(room, from, Msdu { to, octets, tag: tag.into() }).is_ok();
        if !taken {
            self.field.pool.forget(tag);
            self.field.not_relayed += 1;
            self.field.lose(room.now(), Some(from), Cause::NoBuffers);
        }
        taken
    }

    /// Something has come to the end of its wire.
    fn carry(&mut self, room: &mut Room, slot: u32) {
        let carried = self.field.carried[slot as usize];
        self.field.free.push(slot);
        match carried {
            Carried::AccessPoint { ap, tag } => {
                let to = self.field.hop(self.field.pool.head(tag).to);
                match to {
                    Some(to) => {
                        self.send(room, ap, to, tag);
                    }
                    None => self.field.pool.forget(tag),
                }
            }
            Carried::Air { station, tag } => {
                let machine = self.field.owners[station as usize];
                let to = self.field.hop(self.field.pool.head(tag).to).unwrap_or(GROUP);
                if !self.send(room, station, to, tag)
                    && let Some(number) = machine
                    && let Some(it) = self.machine_mut(number)
                    && let Body::Pc(pc) = &mut it.body
                {
                    pc.queued -= 1;
                    it.drops.not_sent += 1;
                }
            }
            Carried::Pc { machine, tag } => {
                self.field.receive(room.now(), machine, tag);
                self.run(room, machine);
            }
        }
    }
}

/// The first of losses that was at that time or later.
pub(super) fn first_after(losses: &VecDeque<(Instant, Cause)>, at: Instant) -> Option<Cause> {
    let first = losses.partition_point(|it| it.0 < at);
    losses.get(first).map(|it| it.1)
}

/// Losses that are remembered.
const LOSSES: usize = 1 << 12;

impl Field<'_> {
    /// A packet is lost, at that station.
    pub(super) fn lose(&mut self, at: Instant, station: Option<u32>, cause: Cause) {
        if self.losses.len() == LOSSES {
            self.losses.pop_front();
        }
        self.losses.push_back((at, cause));
        if let (Some(watched), Some(station)) = (&mut self.watched, station) {
            watched.watcher.lost(at, station, cause);
        }
    }

    /// Why the first packet was lost that was lost at that time or later, if it is still known.
    pub(super) fn lost_after(&self, at: Instant) -> Option<Cause> {
        first_after(&self.losses, at)
    }

    /// The station that a packet for a machine goes to, on the air.
    pub(super) fn hop(&self, to: u16) -> Option<u32> {
        if to == ALL {
            return Some(GROUP);
        }
        station_of(self.machines.get(usize::from(to))?.place)
    }

    /// The station of a machine.
    pub(super) fn station(&self, number: u16) -> Option<u32> {
        station_of(self.machines.get(usize::from(number))?.place)
    }

    /// The ESP that has a station.
    fn esp_at(&mut self, station: u32) -> Option<&mut Esp> {
        let number = self.owners.get(station as usize).copied().flatten()?;
        match &mut self.machines.get_mut(usize::from(number))?.body {
            Body::Esp(esp) => Some(esp),
            Body::Pc(_) => None,
        }
    }

    /// Lets a packet travel until then.
    pub(super) fn post(&mut self, room: &mut Room, at: Instant, what: Carried) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.carried.push(what);
            (self.carried.len() - 1) as u32
        });
        self.carried[slot as usize] = what;
        room.wake_at(at, WIRE | u64::from(slot));
    }

    /// Asks to be woken when a machine is due.
    pub(super) fn arm(&mut self, room: &mut Room, number: u16) {
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return };
        let (next, spins) = (machine.next(), machine.spins());
        if let Body::Esp(esp) = &mut machine.body {
            esp.note_cpu(room.now(), spins);
        }
        if next < machine.armed {
            machine.armed = next;
            room.wake_at(next, MACHINE | u64::from(number));
        }
    }

    /// A copy of a packet, since the sender's own goes when its sending ends.
    fn copy(&mut self, tag: u32) -> u32 {
        let head = self.pool.head(tag);
        let bytes = self.pool.take(tag);
        let copy = self.pool.put(head, &bytes);
        self.pool.give_back(tag, bytes);
        copy
    }

    /// A packet has come over the air to a machine with a radio.
    fn arrive(&mut self, room: &mut Room, number: u16, tag: u32) {
        let copy = self.copy(tag);
        let now = room.now();
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return };
        match &mut machine.body {
            Body::Esp(esp) => esp.arrived.push_back((esp.taken, copy)),
            Body::Pc(pc) => {
                let at = pc.way_in(now, self.pool.bytes(copy).len());
                self.post(room, at, Carried::Pc { machine: number, tag: copy });
            }
        }
    }

    /// A packet has come to an access point that has a wire.
    fn leave_air(&mut self, room: &mut Room, ap: u32, tag: u32) {
        let Head { to, from, .. } = self.pool.head(tag);
        let bytes = self.pool.bytes(tag).len();
        for number in 0..self.machines.len() as u16 {
            let machine = &mut self.machines[usize::from(number)];
            if machine.place != Place::Wire(ap) || (to != number && to != ALL) || from == number {
                continue;
            }
            if let Body::Pc(pc) = &mut machine.body {
                let at = pc.way_in(room.now(), bytes);
                let tag = self.copy(tag);
                self.post(room, at, Carried::Pc { machine: number, tag });
            }
        }
    }
}

impl Above for Field<'_> {
    fn received(&mut self, room: &mut Room, station: u32, packet: Received) {
        let tag = packet.tag as u32;
        let Head { from, to, .. } = self.pool.head(tag);
        let owner = self.owners.get(station as usize).copied().flatten();
        if owner.is_some_and(|it| to == it || (to == ALL && from != it)) {
            self.arrive(room, owner.unwrap_or_default(), tag);
        }
        // What an access point gets from its stations goes on.
        let from_station = self.hop(from).is_some_and(|it| it == packet.from);
        if !from_station || packet.group || owner == Some(to) {
            return;
        }
        self.leave_air(room, station, tag);
        if let Some(next) = self.hop(to) {
            let tag = self.copy(tag);
            if owner.is_none() && self.forward > Duration::ZERO {
                let at = room.now() + self.forward;
                self.post(room, at, Carried::AccessPoint { ap: station, tag });
            } else {
                self.relays.push_back(Relay { ap: station, to: next, tag });
            }
        }
    }

    fn sent(&mut self, room: &mut Room, station: u32, packet: Sent) {
        let tag = packet.tag as u32;
        let from = self.pool.head(tag).from;
        let bytes = self.pool.bytes(tag).len() as u32;
        self.pool.forget(tag);
        if let Some(cause) = packet.lost {
            self.lose(room.now(), Some(station), cause);
        }
        let Some(number) = self.owners.get(station as usize).copied().flatten() else { return };
        if number != from {
            return;
        }
        self.sent_own(room, number, bytes, packet.lost.is_some());
    }

    fn awake(&mut self, room: &mut Room, station: u32, awake: bool) {
        let now = room.now();
        if let Some(esp) = self.esp_at(station) {
            esp.radio_on = awake;
            esp.meter.modem(now, if awake { Modem::Listen } else { Modem::Off });
        }
    }
}

impl Host for Stage<'_> {
    fn began(&mut self, frame: &OnAir) {
        self.seen();
        if let Some(esp) = self.field.esp_at(frame.from) {
            let sends = Modem::Send(Modulation::of(frame.mode));
            esp.meter.modem(Instant::from_nanos(frame.begin), sends);
        }
    }

    fn ended(&mut self, frame: &OnAir) {
        self.watch_end(frame);
        if let Some(esp) = self.field.esp_at(frame.from) {
            let modem = if esp.radio_on { Modem::Listen } else { Modem::Off };
            esp.meter.modem(Instant::from_nanos(frame.end), modem);
        }
    }

    fn wake(&mut self, room: &mut Room, token: u64) {
        let number = token & NUMBER;
        if wifi::is_ours(token) {
            self.wifi.wake(room, token, &mut self.field);
            self.relay(room);
        } else if token & MACHINE != 0 {
            let now = room.now();
            if let Some(machine) = self.machine_mut(number as u16)
                && machine.armed <= now
            {
                machine.armed = Instant::NEVER;
                self.run(room, number as u16);
            }
        } else if token & WIRE != 0 {
            self.carry(room, number as u32);
        } else if let Some(at) = self.others.load(room, number as u32) {
            room.wake_at(at, LOAD | number);
        }
    }

    fn accepts(&mut self, station: u32, frame: &OnAir) -> bool {
        if !wifi::is_ours(frame.tag) {
            return true;
        }
        let Some(number) = self.field.owners.get(station as usize).copied().flatten() else {
            return true;
        };
        self.field.takes(frame.end, number, frame)
    }

    fn answered(&mut self, frame: &OnAir, heard: &[Heard], missed: &[Missed]) {
        self.watch_heard(frame, heard, missed);
    }

    fn ended_with(&mut self, frame: &OnAir, mpdus: &[Mpdu]) {
        self.watch_mpdus(frame, mpdus);
    }

    fn ended_alone(&mut self, frame: &OnAir, mpdu: &Mpdu) {
        self.watch_mpdus(frame, core::slice::from_ref(mpdu));
    }

    fn heard(&mut self, room: &mut Room, frame: &OnAir, heard: &[Heard], missed: &[Missed]) {
        self.watch_heard(frame, heard, missed);
        if !wifi::is_ours(frame.tag) {
            return;
        }
        self.wifi.heard(room, frame, heard, missed, &mut self.field);
        self.relay(room);
        if frame.is_group() {
            for it in heard {
                self.touch(room, it.station);
            }
        } else {
            self.touch(room, frame.to);
        }
    }

    fn done(&mut self, room: &mut Room, station: u32, done: Done) {
        self.seen();
        if wifi::is_ours(done.tag) {
            self.wifi.done(room, station, done, &mut self.field);
            self.relay(room);
        }
    }
}

impl Stage<'_> {
    /// Something has come for the machine of a station.
    fn touch(&mut self, room: &mut Room, station: u32) {
        if let Some(number) = self.field.owners.get(station as usize).copied().flatten() {
            self.field.arm(room, number);
        }
    }
}

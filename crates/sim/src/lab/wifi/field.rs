//! Machines and their packets: everything of a network but its Wi-Fi.

use super::cpu::CpuTask;
use super::esp_now;
use super::machine::{Body, Esp, Machine, TaskJob, machine_at};
use super::packet::{ALL, Head, Pool};
use super::setup::MachinePlace;
use super::watch::Watched;
use super::what_if::ExtraLoss;
use crate::lab::pool::Handle;
use crate::lab::token::Wake;
use crate::power::ModemState;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_dot11::mac::{GROUP, WirelessMedium};
use espbench_dot11::wifi::{DisconnectReason, Joined, ReceivedPacket, SentPacket, UpperLayer};
use espbench_model::sample::Cause;
use espbench_model::time::Instant;

/// Something on its way on a wire, or through a PC.
#[derive(Clone, Copy, Debug)]
pub(super) enum Carried {
    /// To an access point's wire.
    AccessPoint { ap: u32, tag: Handle },
    /// A packet from a PC's driver to its radio.
    Air { station: u32, tag: Handle },
    /// To a PC's programs.
    Pc { machine: u16, tag: Handle },
    /// Packets that a router has gathered for a PC, if no further packet has come since.
    Gathered { machine: u16, packets: u32 },
}

/// A packet that Wi-Fi is to send once it has returned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Relay {
    pub(super) ap: u32,
    pub(super) to: u32,
    pub(super) tag: Handle,
}

/// Everything but the Wi-Fi.
pub(super) struct Field<'a> {
    pub(super) machines: Vec<Machine<'a>>,
    pub(super) pool: Pool,
    pub(super) carried: Vec<Carried>,
    pub(super) free: Vec<u32>,
    pub(super) relays: VecDeque<Relay>,
    /// The end of the PPDU whose packets come up.
    pub(super) ppdu_end: Instant,
    /// The machine of each station of the room.
    pub(super) owners: Vec<Option<u16>>,
    /// Time that a router takes for a packet from one of its stations to another.
    pub(super) forward: Duration,
    /// The routers, which are all on one LAN.
    pub(super) lan: Vec<u32>,
    /// Packets that a machine's stack has just sent.
    pub(super) out: Vec<Handle>,
    /// The last packets that were lost, and where.
    pub(super) losses: VecDeque<(Instant, Cause)>,
    /// An echo over ESP-NOW.
    pub(super) esp_now: Option<Box<esp_now::EspNowExchange>>,
    /// Associations of the stations of the room, while they are in a network.
    pub(super) members: Vec<Option<Joined>>,
    /// Losses beside those of the radio, if there are any.
    pub(super) extra_loss: Option<ExtraLoss>,
    /// Watcher, if there is one.
    pub(super) watched: Option<Box<Watched<'a>>>,
}

/// Returns the machine that an IP packet goes to; `None` for an address of another network.
pub(super) fn destination(packet: &[u8]) -> Option<u16> {
    let address: [u8; 4] = packet.get(16..20)?.try_into().ok()?;
    if address == [255; 4] || address == [10, 0, 255, 255] || address[0] & 0xF0 == 0xE0 {
        return Some(ALL);
    }
    machine_at(address)
}

/// Returns the station of a place on the air; `None` of one on a wire.
const fn station_of(place: MachinePlace) -> Option<u32> {
    match place {
        MachinePlace::Air(station) => Some(station),
        MachinePlace::Wire(_) => None,
    }
}

impl<'a> Field<'a> {
    pub(super) fn new(machines: Vec<Machine<'a>>, stations: u32) -> Self {
        let mut owners = vec![None; stations as usize];
        for (i, machine) in machines.iter().enumerate() {
            if let Some(owner) =
                station_of(machine.place).and_then(|it| owners.get_mut(it as usize))
            {
                *owner = Some(i as u16);
            }
        }
        Self {
            machines,
            pool: Pool::default(),
            carried: Vec::new(),
            free: Vec::new(),
            relays: VecDeque::new(),
            ppdu_end: Instant::ZERO,
            owners,
            forward: Duration::ZERO,
            lan: Vec::new(),
            out: Vec::new(),
            losses: VecDeque::new(),
            esp_now: None,
            members: vec![None; stations as usize],
            extra_loss: None,
            watched: None,
        }
    }
}

/// Returns the cause of the first loss at that time or later.
pub(super) fn first_after(losses: &VecDeque<(Instant, Cause)>, at: Instant) -> Option<Cause> {
    let first = losses.partition_point(|it| it.0 < at);
    losses.get(first).map(|it| it.1)
}

/// Losses that are remembered.
const LOSSES: usize = 1 << 12;

impl Field<'_> {
    /// Notes the loss of a packet at that station.
    pub(super) fn lose(&mut self, at: Instant, station: Option<u32>, cause: Cause) {
        if self.losses.len() == LOSSES {
            self.losses.pop_front();
        }
        self.losses.push_back((at, cause));
        if let (Some(watched), Some(station)) = (&mut self.watched, station) {
            watched.watcher.lost(at, station, cause);
        }
    }

    /// Returns the cause of the first loss at that time or later, if it is still remembered.
    pub(super) fn lost_after(&self, at: Instant) -> Option<Cause> {
        first_after(&self.losses, at)
    }

    /// Returns the station that a packet for a machine goes to on the air.
    pub(super) fn hop(&self, to: u16) -> Option<u32> {
        if to == ALL {
            return Some(GROUP);
        }
        station_of(self.machines.get(usize::from(to))?.place)
    }

    /// Returns the station of a machine.
    pub(super) fn station(&self, number: u16) -> Option<u32> {
        station_of(self.machines.get(usize::from(number))?.place)
    }

    /// Returns the ESP that has a station.
    pub(super) fn esp_at(&mut self, station: u32) -> Option<&mut Esp> {
        let number = self.owners.get(station as usize).copied().flatten()?;
        match &mut self.machines.get_mut(usize::from(number))?.body {
            Body::Esp(esp) => Some(esp),
            Body::Pc(_) => None,
        }
    }

    /// Lets a packet travel until then.
    pub(super) fn post(&mut self, room: &mut WirelessMedium, at: Instant, what: Carried) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.carried.push(what);
            (self.carried.len() - 1) as u32
        });
        self.carried[slot as usize] = what;
        room.wake_at(at, Wake::Wire(slot).token());
    }

    /// Asks to be woken when a machine is due.
    pub(super) fn arm(&mut self, room: &mut WirelessMedium, number: u16) {
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return };
        let (next, spins) = (machine.next(), machine.spins());
        if let Body::Esp(esp) = &mut machine.body {
            esp.note_cpu(room.now(), spins);
        }
        if next < machine.armed {
            machine.armed = next;
            room.wake_at(next, Wake::Machine(number).token());
        }
    }

    /// Copies a packet, for a queue of its own.
    pub(super) fn copy(&mut self, tag: Handle) -> Handle {
        let head = self.pool.get(tag).head;
        let bytes = self.pool.lend(tag);
        let copy = self.pool.put(head.of_copy(), &bytes);
        self.pool.take_back(tag, bytes);
        copy
    }

    /// Takes a packet that has come over the air to a machine with a radio.
    fn arrive(&mut self, room: &mut WirelessMedium, number: u16, tag: Handle) {
        let now = room.now();
        let Some(machine) = self.machines.get_mut(usize::from(number)) else { return };
        self.pool.share(tag);
        match &mut machine.body {
            Body::Esp(esp) => esp.arrived.push_back((esp.taken, tag)),
            Body::Pc(pc) => {
                let at = pc.way_in(now, self.pool.get(tag).data.len());
                self.post(room, at, Carried::Pc { machine: number, tag });
            }
        }
    }

    /// Returns the access point that serves a station, as the LAN's routers have learned it.
    pub(super) fn serving(&self, station: u32) -> Option<u32> {
        self.members.get(station as usize)?.as_ref().map(|it| it.ap)
    }

    /// Sends copies of a group's packet to the other routers of the LAN.
    pub(super) fn flood(&mut self, room: &mut WirelessMedium, ap: u32, at: Instant, tag: Handle) {
        for number in 0..self.lan.len() {
            let other = self.lan[number];
            if other != ap {
                let tag = self.copy(tag);
                self.post(room, at, Carried::AccessPoint { ap: other, tag });
            }
        }
    }

    /// Hands what a router has gathered for a PC to its wire, where nothing has come since that many packets.
    pub(super) fn hand_on(&mut self, room: &mut WirelessMedium, number: u16, packets: u32) {
        let Some(Machine { body: Body::Pc(pc), .. }) = self.machines.get_mut(usize::from(number))
        else {
            return;
        };
        if pc.gathered_ever != packets {
            return;
        }
        let mut gathered = core::mem::take(&mut pc.gathered);
        for &tag in &gathered {
            let bytes = self.pool.get(tag).data.len();
            let Body::Pc(pc) = &mut self.machines[usize::from(number)].body else { continue };
            let at = pc.way_in(room.now(), bytes);
            self.post(room, at, Carried::Pc { machine: number, tag });
        }
        gathered.clear();
        if let Body::Pc(pc) = &mut self.machines[usize::from(number)].body {
            pc.gathered = gathered;
        }
    }

    /// Forwards a packet from the access point that has got it from a station.
    fn forward(&mut self, room: &mut WirelessMedium, ap: u32, next: u32, tag: Handle) {
        let is_router = self.lan.contains(&ap);
        let at = room.now() + self.forward;
        if is_router && next == GROUP {
            self.flood(room, ap, at, tag);
        }
        let tag = self.copy(tag);
        let other = self.serving(next).filter(|it| is_router && *it != ap && self.lan.contains(it));
        if let Some(ap) = other {
            self.post(room, at, Carried::AccessPoint { ap, tag });
        } else if is_router && self.forward > Duration::ZERO {
            self.post(room, at, Carried::AccessPoint { ap, tag });
        } else {
            self.relays.push_back(Relay { ap, to: next, tag });
        }
    }

    /// Takes a packet that has come to an access point that has a wire.
    fn leave_air(&mut self, room: &mut WirelessMedium, ap: u32, tag: Handle) {
        let Head { to, from, .. } = self.pool.get(tag).head;
        let bytes = self.pool.get(tag).data.len();
        let all = self.machines.len() as u16;
        let addressees =
            if to == ALL { 0..all } else { to.min(all)..to.saturating_add(1).min(all) };
        for number in addressees {
            let machine = &mut self.machines[usize::from(number)];
            let wired = match machine.place {
                MachinePlace::Wire(to) => {
                    to == ap || self.lan.contains(&to) && self.lan.contains(&ap)
                }
                MachinePlace::Air(_) => false,
            };
            if !wired || from == number {
                continue;
            }
            if let Body::Pc(pc) = &mut machine.body {
                // A router's radio interrupts its processor when a PPDU ends.
                let now = room.now().max(self.ppdu_end);
                self.pool.share(tag);
                if let Some(due) = pc.gather(now, tag) {
                    let packets = pc.gathered_ever;
                    self.post(room, due, Carried::Gathered { machine: number, packets });
                } else {
                    let at = pc.way_in(now, bytes);
                    self.post(room, at, Carried::Pc { machine: number, tag });
                }
            }
        }
    }
}

impl UpperLayer for Field<'_> {
    fn on_received(&mut self, room: &mut WirelessMedium, station: u32, packet: ReceivedPacket) {
        let tag = Handle::of(packet.tag as u32);
        let Head { from, to, .. } = self.pool.get(tag).head;
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
            self.forward(room, station, next, tag);
        }
    }

    fn on_sent(&mut self, room: &mut WirelessMedium, station: u32, packet: SentPacket) {
        let tag = Handle::of(packet.tag as u32);
        let from = self.pool.get(tag).head.from;
        let bytes = self.pool.get(tag).data.len() as u32;
        self.pool.release(tag);
        if let Some(cause) = packet.lost {
            self.lose(room.now(), Some(station), cause);
        }
        let Some(number) = self.owners.get(station as usize).copied().flatten() else { return };
        if number != from {
            return;
        }
        self.sent_own(room, number, bytes, packet.lost.is_some());
    }

    fn on_missed(&mut self, room: &mut WirelessMedium, station: u32, _: u64, cause: Cause) {
        self.lose(room.now(), Some(station), cause);
    }

    fn on_joined(&mut self, _: &mut WirelessMedium, station: u32, joined: Joined) {
        if let Some(member) = self.members.get_mut(station as usize) {
            *member = Some(joined);
        }
    }

    fn on_left(&mut self, _: &mut WirelessMedium, station: u32, _: DisconnectReason) {
        if let Some(member) = self.members.get_mut(station as usize) {
            *member = None;
        }
    }

    fn on_computing(&mut self, room: &mut WirelessMedium, station: u32, time: Duration) {
        let now = room.now().as_nanos();
        if let Some(esp) = self.esp_at(station) {
            esp.cpu.push(now, CpuTask::Wifi, TaskJob::Computed, time.as_nanos() as u64);
        }
        if let Some(number) = self.owners.get(station as usize).copied().flatten() {
            self.arm(room, number);
        }
    }

    fn on_window(&mut self, room: &mut WirelessMedium, station: u32) {
        self.interval_begins(room, station);
    }

    fn on_stopped(&mut self, room: &mut WirelessMedium, station: u32, at: Instant) {
        let now = room.now();
        if let Some(esp) = self.esp_at(station) {
            esp.meter.stopped(now, at);
        }
    }

    fn on_awake(&mut self, room: &mut WirelessMedium, station: u32, awake: bool) {
        let now = room.now();
        if let Some(esp) = self.esp_at(station) {
            esp.radio_on = awake;
            esp.meter.modem(now, if awake { ModemState::Listen } else { ModemState::Off });
        }
    }
}

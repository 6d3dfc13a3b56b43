//! Stations and access points above the MAC: associated Wi-Fi (IEEE Std 802.11-2020, clause 11),
//! as ESP-IDF's driver and common routers do it.
//!
//! [`Wifi`] holds all of them of a world. It is not the MAC's [`Host`](crate::mac::Host): the world
//! is, and hands on what is Wi-Fi's business. What comes out goes to [`Above`].
//!
//! ```text
//! Above ◀── received, sent, joined, left, awake ── Wifi ── Room::send, wake_at ──▶ Room
//!   └────── Wifi::send ────────────────────────▶   ▲  ◀── heard, done, wake ─────────┘
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`config`] | what stations and access points can be told |
//! | [`above`] | what stands above them |
//! | [`frame`] | frames on their way, and what captures show of them |
//! | [`octets`] | how long frames are |
//! | `elements` | how long the bodies of management frames are |
//! | `tag`, `clock` | the tags of data frames; deadlines over one event of the room |
//! | `power` | who is switched off and on |
//! | `rate` | in which mode a frame goes |
//! | `ap` | access points: beacons, members, what they keep for sleepers |
//! | `station` | stations |
//! | `run` | the room's callbacks |
//!
//! What the MAC does for it, and is told with its [`Settings`](crate::mac::Settings): A-MPDUs, RTS, a
//! CTS to itself where stations of 11b or 11g are about, modes of repetitions. Not there: roaming, new
//! group keys, U-APSD, target wake time, frames that an access point hands on by itself (what stands
//! above does).
//!
//! Packets are known by the tags of what stands above (below 2^44), and by their octets.
//! The tags and tokens that this layer gives the room have bit 63 set ([`is_ours`]); a world that
//! uses the room for more than Wi-Fi keeps that bit clear in its own.

pub mod above;
mod ap;
mod clock;
pub mod config;
mod elements;
pub mod frame;
pub mod octets;
mod power;
mod rate;
mod run;
mod station;
mod tag;
#[cfg(test)]
mod tests;

pub use above::{Above, Joined, Left, Received, Sent};
pub use config::{
    ApConfig, BEACON_INTERVAL, Capabilities, Coexistence, Connectionless, Fetch, Join, Rates, Role,
    Security, Sleep, SleepTimes, StationConfig, TIME_UNIT, Work,
};
pub use elements::joining as joining_octets;
pub use frame::{FrameInfo, Subtype, Tim};

use crate::mac::{Full, GROUP, Packet, Room};
use alloc::boxed::Box;
use alloc::vec::Vec;
use ap::Ap;
use frame::{Frames, MARK};
use station::Station;

/// Whether a tag or a token that the room hands back is this layer's: then it is for
/// [`Wifi::heard`], [`Wifi::done`] or [`Wifi::wake`].
#[must_use]
pub const fn is_ours(tag: u64) -> bool {
    tag & MARK != 0
}

/// The packet in a data frame of this layer, by the tag that the room knows the frame by.
#[must_use]
pub fn packet_of(tag: u64) -> Option<u64> {
    tag::DataTag::unpack(tag).map(|it| it.packet)
}

/// Tags of packets are below this: the rest of the MAC's tag is this layer's.
pub const TAGS: u64 = tag::TAGS;

/// Why a packet was not taken. Nothing more is heard of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The sender is not associated, or its access point has no such station.
    NotJoined,
    /// No buffer is free: in the MAC's queue, or for a sleeping station.
    NoBuffers,
    /// It is longer than an MSDU may be.
    TooLong,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Msdu {
    /// To whom, for an access point: one of its stations, or [`GROUP`]. A station's packets go to
    /// its access point, for whomever they are: that is known above, by `tag`, and so is whether
    /// the access point hands it on to another station or to its wire.
    pub to: u32,
    /// Octets of the packet of the network layer (IP, ARP).
    pub octets: u32,
    /// By what it is known above: below 2^44 ([`TAGS`]).
    pub tag: u64,
}

/// What an access point or a station counts, beside what its MAC does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets taken.
    pub taken: u64,
    /// Packets that ended as sent.
    pub sent: u64,
    /// Packets that ended otherwise.
    pub lost: u64,
    /// Packets refused.
    pub refused: u64,
    /// Packets received.
    pub received: u64,
    /// Beacons sent, or for a station, heard from its access point.
    pub beacons: u64,
    /// Beacons that were due and that no room was for, or for a station, that it did not hear.
    pub beacons_missed: u64,
    /// Packets kept for sleeping stations.
    pub kept: u64,
    /// Of these, dropped because they became too old.
    pub aged: u64,
    /// Management frames that were not answered, or not sent, because too much was to do.
    pub unanswered: u64,
}

#[derive(Debug)]
enum Node {
    Foreign,
    Station(Box<Station>),
    Ap(Box<Ap>),
}

/// All stations and access points of a world.
#[derive(Debug)]
pub struct Wifi {
    nodes: Vec<Node>,
    frames: Frames,
}

impl Wifi {
    /// What each station of the room is, by its number there. `seed` says when access points begin
    /// to send beacons.
    #[must_use]
    pub fn new(seed: u64, roles: impl IntoIterator<Item = Role>) -> Self {
        let node = |(number, role): (usize, Role)| match role {
            Role::Foreign => Node::Foreign,
            Role::Station(config) => Node::Station(Box::new(Station::new(number as u32, config))),
            Role::AccessPoint(config) => Node::Ap(Box::new(Ap::new(seed, number as u32, config))),
        };
        let nodes = roles.into_iter().enumerate().map(node).collect();
        Self { nodes, frames: Frames::default() }
    }

    /// Access points begin to send beacons; stations are associated, where they are told that they
    /// are, or begin to look for an access point.
    pub fn start(&mut self, room: &mut Room, above: &mut dyn Above) {
        for number in 0..self.nodes.len() as u32 {
            if let Node::Ap(ap) = &mut self.nodes[number as usize] {
                ap.start(room);
            }
        }
        for number in 0..self.nodes.len() as u32 {
            if let Node::Station(it) = &mut self.nodes[number as usize] {
                it.start(room);
            }
            self.start_station(room, number, above);
        }
    }

    /// Takes a packet of a station or of an access point. What is taken ends once with
    /// [`Above::sent`], never within this call.
    ///
    /// # Errors
    ///
    /// [`Refused`] says why it was not taken.
    pub fn send(&mut self, room: &mut Room, from: u32, packet: Msdu) -> Result<(), Refused> {
        if packet.octets > octets::LARGEST_MSDU - octets::LLC_SNAP {
            return Err(Refused::TooLong);
        }
        match self.nodes.get_mut(from as usize) {
            Some(Node::Station(it)) => it.send(room, packet),
            Some(Node::Ap(it)) => it.send(room, packet),
            _ => Err(Refused::NotJoined),
        }
    }

    /// The access point of a station, while it is associated and has its keys.
    #[must_use]
    pub fn ap_of(&self, station: u32) -> Option<u32> {
        match self.nodes.get(station as usize) {
            Some(Node::Station(it)) => it.ap(),
            _ => None,
        }
    }

    /// The stations that an access point has, in the order of their association identifiers.
    pub fn stations_of(&self, ap: u32) -> impl Iterator<Item = u32> {
        let ap = match self.nodes.get(ap as usize) {
            Some(Node::Ap(it)) => Some(it),
            _ => None,
        };
        ap.into_iter().flat_map(|it| it.stations())
    }

    /// Whether the radio of a station is on. An access point's always is.
    #[must_use]
    pub fn is_awake(&self, station: u32) -> bool {
        match self.nodes.get(station as usize) {
            Some(Node::Station(it)) => it.is_awake(),
            _ => true,
        }
    }

    /// Hands a frame of no network (ESP-NOW) to the MAC of a station, and wakes its radio for it.
    /// Its tag must not be ours ([`is_ours`]); what becomes of it is told by the room, whose
    /// `done` must come here, too: see [`Wifi::done`].
    ///
    /// # Errors
    ///
    /// [`Full`] as [`Room::send`].
    pub fn send_foreign(
        &mut self,
        room: &mut Room,
        station: u32,
        packet: Packet,
    ) -> Result<(), Full> {
        room.send(station, packet)?;
        if let Some(Node::Station(it)) = self.nodes.get_mut(station as usize) {
            it.send_foreign(room);
        }
        Ok(())
    }

    /// A station begins to look for its network.
    pub fn join(&mut self, room: &mut Room, station: u32, above: &mut dyn Above) {
        if let Some(Node::Station(it)) = self.nodes.get_mut(station as usize) {
            it.join(room, &mut self.frames, above);
        }
    }

    /// A station forgets the key of its password, as after a start: joining takes that time again.
    pub fn forget_key(&mut self, station: u32) {
        if let Some(Node::Station(it)) = self.nodes.get_mut(station as usize) {
            it.forget_key();
        }
    }

    /// A station leaves its network, or gives up joining it.
    pub fn leave(&mut self, room: &mut Room, station: u32, above: &mut dyn Above) {
        if let Some(Node::Station(it)) = self.nodes.get_mut(station as usize) {
            it.leave(room, &mut self.frames, above);
        }
    }

    /// An access point sends a station away.
    pub fn expel(&mut self, room: &mut Room, ap: u32, station: u32, above: &mut dyn Above) {
        if let Some(Node::Ap(it)) = self.nodes.get_mut(ap as usize) {
            it.expel(room, station, above);
        }
    }

    fn start_station(&mut self, room: &mut Room, number: u32, above: &mut dyn Above) {
        let Some(Node::Station(it)) = self.nodes.get_mut(number as usize) else { return };
        if !it.config.joined {
            if it.config.apart {
                it.rest_apart(room, above);
            } else {
                it.join(room, &mut self.frames, above);
            }
            return;
        }
        let (network, qos) = (it.config.network, it.config.capabilities.qos);
        let serves = |node: &Node| matches!(node, Node::Ap(ap) if ap.config.network == network);
        let Some(ap) = self.nodes.iter().position(serves) else { return };
        let Some(Node::Ap(it)) = self.nodes.get_mut(ap) else { return };
        let Some(aid) = it.admit_open(number, qos) else { return };
        let terms = it.terms(room.channel(ap as u32));
        let Some(Node::Station(it)) = self.nodes.get_mut(number as usize) else { return };
        it.associate(room, terms, aid);
        let now = room.now();
        let times =
            Joined { since: now, found: now, authenticated: now, associated: now, ap: 0, aid };
        above.joined(room, number, Joined { ap: ap as u32, ..times });
    }
}

/// Whether a packet goes to a group.
const fn is_group(to: u32) -> bool {
    to == GROUP
}

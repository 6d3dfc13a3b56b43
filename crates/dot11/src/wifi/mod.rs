//! Stations and access points above the MAC: associated Wi-Fi (IEEE Std 802.11-2020, clause 11), as
//! ESP-IDF's driver and common routers implement it.
//!
//! [`WifiLayer`] holds all stations and access points of a simulation. The user of the MAC service
//! ([`MacUser`](crate::mac::MacUser)) is the caller, which hands on the events of Wi-Fi. The
//! results go to [`UpperLayer`].
//!
//! ```text
//! UpperLayer ◀── on_received, on_sent, on_joined, … ── WifiLayer ── send, wake_at ────────▶ medium
//!     └───────── send ───────────────────────────────────▶ ▲ ◀── on_data, on_tx_status, … ─┘
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`config`] | the configuration of stations and access points |
//! | [`upper`] | the interface to the network layer |
//! | [`frame`] | frames on their way, and what captures show of them |
//! | [`octets`] | the lengths of frames |
//! | `membership` | which access point each of several stations is in |
//! | `elements` | the lengths of the bodies of management frames |
//! | `tag`, `deadlines` | the tags of data frames; deadlines over one event of the medium |
//! | `power` | switching stations and access points off and on |
//! | `rate` | rate control |
//! | `ap` | access points: beacons, associated stations, frames buffered for sleeping stations |
//! | `station` | stations: joining, power save, sharing of the radio |
//! | `run` | the callbacks of the medium |
//!
//! The MAC provides, by its [`MacConfig`](crate::mac::MacConfig): A-MPDUs, RTS, CTS-to-self where
//! stations of 11b or 11g are about, modes of repetitions. Left out: roaming, new group keys,
//! U-APSD, target wake time, frames that an access point forwards by itself (the layer above does).
//!
//! Packets are known by the tags of the layer above (below 2^44), and by their octets. The tags and
//! tokens that this layer gives the medium have bit 63 set ([`is_ours`]); a caller that uses the
//! medium for more than Wi-Fi keeps that bit clear in its own.

mod ap;
pub mod config;
mod deadlines;
mod elements;
pub mod frame;
mod membership;
pub mod octets;
mod power;
mod rate;
mod run;
mod station;
mod tag;
#[cfg(test)]
mod tests;
pub mod upper;

pub use config::{
    ApConfig, BEACON_INTERVAL, Capabilities, CoexistenceConfig, ConnectionlessWindow, DataRates,
    FetchMethod, JoinConfig, PowerSave, PowerSaveTimes, ProcessingTimes, StationConfig, TIME_UNIT,
    WifiRole, WifiSecurity,
};
pub use elements::joining as joining_octets;
pub use frame::{FrameInfo, Subtype, TimInfo};
pub use membership::{MEMBERSHIPS, Membership, Memberships, NoMemberships};
pub use rate::RATE_CONTROL;
pub use upper::{DisconnectReason, Joined, ReceivedPacket, SentPacket, UpperLayer};

use crate::mac::{GROUP, QueueFull, TxFrame, WirelessMedium};
use alloc::boxed::Box;
use alloc::vec::Vec;
use ap::WifiAp;
use frame::{FrameStore, MARK};
use station::WifiStation;

/// Returns whether a tag or a token that the medium hands back belongs to this layer, and so to
/// [`WifiLayer::on_data`], [`WifiLayer::on_tx_status`] or [`WifiLayer::on_wake`].
#[must_use]
pub const fn is_ours(tag: u64) -> bool {
    tag & MARK != 0
}

/// Returns the packet in a data frame of this layer, from the tag by which the medium knows the
/// frame.
#[must_use]
pub fn packet_of(tag: u64) -> Option<u64> {
    tag::DataTag::unpack(tag).map(|it| it.packet)
}

/// The limit on tags of packets: the other bits of the MAC's tag are this layer's.
pub const TAGS: u64 = tag::TAGS;

/// The error for a packet that was not taken. No callback follows for such a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendError {
    /// The sender is not associated, or its access point has no such station.
    NotJoined,
    /// No buffer is free, in the MAC's queue or for a sleeping station.
    NoBuffers,
    /// The packet is longer than an MSDU may be.
    TooLong,
}

/// A packet to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Msdu {
    /// The receiver, for an access point: one of its stations, or [`GROUP`]. A station's packets go
    /// to its access point, whoever the destination is. The layer above knows the destination by
    /// `tag`, and decides whether the access point forwards the packet to another station or to its
    /// wire.
    pub to: u32,
    /// The octets of the packet of the network layer (IP, ARP).
    pub octets: u32,
    /// The tag by which the layer above knows the packet, below 2^44 ([`TAGS`]).
    pub tag: u64,
}

/// Counters of an access point or a station, beside those of its MAC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WifiCounters {
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
    /// Beacons sent, or for a station, received from its access point.
    pub beacons: u64,
    /// Beacons that were due but found the queue full, or for a station, that it did not receive.
    pub beacons_missed: u64,
    /// Packets buffered for sleeping stations.
    pub kept: u64,
    /// Buffered packets that were dropped because they became too old.
    pub aged: u64,
    /// Management frames that were not answered, or not sent, for lack of processor time or
    /// buffers.
    pub unanswered: u64,
}

#[derive(Debug)]
enum WifiNode {
    Foreign,
    Station(Box<WifiStation>),
    Ap(Box<WifiAp>),
}

/// All stations and access points of a simulation.
#[derive(Debug)]
pub struct WifiLayer {
    nodes: Vec<WifiNode>,
    frames: FrameStore,
}

impl WifiLayer {
    /// Returns stations and access points, one role for each station of the medium, by number.
    /// `seed` determines when access points begin to send beacons.
    #[must_use]
    pub fn new(seed: u64, roles: impl IntoIterator<Item = WifiRole>) -> Self {
        let node = |(number, role): (usize, WifiRole)| match role {
            WifiRole::Foreign => WifiNode::Foreign,
            WifiRole::Station(config) => {
                WifiNode::Station(Box::new(WifiStation::new(number as u32, config)))
            }
            WifiRole::AccessPoint(config) => {
                WifiNode::Ap(Box::new(WifiAp::new(seed, number as u32, config)))
            }
        };
        let nodes = roles.into_iter().enumerate().map(node).collect();
        Self { nodes, frames: FrameStore::default() }
    }

    /// Starts the access points' beacons. Stations are associated if so configured, or begin to
    /// look for an access point.
    pub fn start(&mut self, medium: &mut WirelessMedium, upper: &mut dyn UpperLayer) {
        for number in 0..self.nodes.len() as u32 {
            if let WifiNode::Ap(ap) = &mut self.nodes[number as usize] {
                ap.start(medium);
            }
        }
        for number in 0..self.nodes.len() as u32 {
            if let WifiNode::Station(it) = &mut self.nodes[number as usize] {
                it.start(medium);
            }
            self.start_station(medium, number, upper);
        }
    }

    /// Sends a packet of a station or of an access point. A packet that is taken ends once with
    /// [`UpperLayer::on_sent`], never within this call.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the reason.
    pub fn send(
        &mut self,
        medium: &mut WirelessMedium,
        from: u32,
        packet: Msdu,
    ) -> Result<(), SendError> {
        if packet.octets > octets::LARGEST_MSDU - octets::LLC_SNAP {
            return Err(SendError::TooLong);
        }
        match self.nodes.get_mut(from as usize) {
            Some(WifiNode::Station(it)) => it.send(medium, packet),
            Some(WifiNode::Ap(it)) => it.send(medium, packet),
            _ => Err(SendError::NotJoined),
        }
    }

    /// Returns the access point of a station, while the station is associated and has its keys.
    #[must_use]
    pub fn ap_of(&self, station: u32) -> Option<u32> {
        match self.nodes.get(station as usize) {
            Some(WifiNode::Station(it)) => it.ap(),
            _ => None,
        }
    }

    /// Returns the stations of an access point, in the order of their association identifiers.
    pub fn stations_of(&self, ap: u32) -> impl Iterator<Item = u32> {
        let ap = match self.nodes.get(ap as usize) {
            Some(WifiNode::Ap(it)) => Some(it),
            _ => None,
        };
        ap.into_iter().flat_map(|it| it.stations())
    }

    /// Returns whether the radio of a station is on; an access point's always is.
    #[must_use]
    pub fn is_awake(&self, station: u32) -> bool {
        match self.nodes.get(station as usize) {
            Some(WifiNode::Station(it)) => it.is_awake(),
            _ => true,
        }
    }

    /// Hands a frame of no network (ESP-NOW) to the MAC of a station, and wakes its radio for it.
    /// The tag must not be ours ([`is_ours`]). The medium reports the outcome to its user, which
    /// must call [`WifiLayer::on_tx_status`], too.
    ///
    /// # Errors
    ///
    /// [`QueueFull`] as with [`WirelessMedium::send`].
    pub fn send_foreign(
        &mut self,
        medium: &mut WirelessMedium,
        station: u32,
        packet: TxFrame,
    ) -> Result<(), QueueFull> {
        medium.send(station, packet)?;
        if let Some(WifiNode::Station(it)) = self.nodes.get_mut(station as usize) {
            it.send_foreign(medium);
        }
        Ok(())
    }

    /// Lets a station look for its network.
    pub fn join(&mut self, medium: &mut WirelessMedium, station: u32, upper: &mut dyn UpperLayer) {
        if let Some(WifiNode::Station(it)) = self.nodes.get_mut(station as usize) {
            it.join(medium, &mut self.frames, upper);
        }
    }

    /// Sets how a station saves power from now on.
    pub fn set_sleep(&mut self, medium: &mut WirelessMedium, station: u32, sleep: PowerSave) {
        if let Some(WifiNode::Station(it)) = self.nodes.get_mut(station as usize) {
            it.set_sleep(medium, sleep);
        }
    }

    /// Lets a station forget the key of its password, as after a start: the next join computes it
    /// again.
    pub fn forget_key(&mut self, station: u32) {
        if let Some(WifiNode::Station(it)) = self.nodes.get_mut(station as usize) {
            it.forget_key();
        }
    }

    /// Lets a station leave its network, or give up joining it.
    pub fn leave(&mut self, medium: &mut WirelessMedium, station: u32, upper: &mut dyn UpperLayer) {
        if let Some(WifiNode::Station(it)) = self.nodes.get_mut(station as usize) {
            it.leave(medium, &mut self.frames, upper);
        }
    }

    /// Lets an access point deauthenticate a station.
    pub fn deauthenticate(
        &mut self,
        medium: &mut WirelessMedium,
        ap: u32,
        station: u32,
        upper: &mut dyn UpperLayer,
    ) {
        if let Some(WifiNode::Ap(it)) = self.nodes.get_mut(ap as usize) {
            it.deauthenticate(medium, station, upper);
        }
    }

    fn start_station(
        &mut self,
        medium: &mut WirelessMedium,
        number: u32,
        upper: &mut dyn UpperLayer,
    ) {
        let Some(WifiNode::Station(it)) = self.nodes.get_mut(number as usize) else { return };
        if !it.config.joined {
            if it.config.apart {
                it.rest_apart(medium, upper);
            } else {
                it.join(medium, &mut self.frames, upper);
            }
            return;
        }
        let (network, qos) = (it.config.network, it.config.capabilities.qos);
        let serves =
            |node: &WifiNode| matches!(node, WifiNode::Ap(ap) if ap.config.network == network);
        let Some(ap) = self.nodes.iter().position(serves) else { return };
        let Some(WifiNode::Ap(it)) = self.nodes.get_mut(ap) else { return };
        let Some(aid) = it.admit_open(number, qos) else { return };
        let terms = it.terms(medium.channel(ap as u32));
        let Some(WifiNode::Station(it)) = self.nodes.get_mut(number as usize) else { return };
        it.associate(medium, terms, aid);
        let now = medium.now();
        let times =
            Joined { since: now, found: now, authenticated: now, associated: now, ap: 0, aid };
        upper.on_joined(medium, number, Joined { ap: ap as u32, ..times });
    }
}

/// Returns whether a packet goes to a group.
const fn is_group(to: u32) -> bool {
    to == GROUP
}

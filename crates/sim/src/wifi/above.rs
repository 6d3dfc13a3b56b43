//! What stands above stations and access points.

use crate::mac::Room;
use core::time::Duration;
use espbench_proto::sample::Cause;
use espbench_proto::time::Instant;

/// A packet that came over the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// Who has sent the frame: the access point, or a station to it. (Not who has sent the packet
    /// first: that is known above, by `tag`. A station must drop multicast that is its own and comes
    /// back from the access point.)
    pub from: u32,
    /// By what it is known above.
    pub tag: u64,
    /// Octets of the packet.
    pub octets: u32,
    /// Signal strength, dBm.
    pub rssi: i8,
    /// It was sent to a group.
    pub group: bool,
}

/// How a packet that was taken with [`Wifi::send`](super::Wifi::send) ended for its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// By what it is known above.
    pub tag: u64,
    /// `None`: it was acknowledged, or sent to a group. Else why it was not:
    /// [`Cause::RetryLimit`], [`Cause::Aged`] where an access point kept it too long for a
    /// sleeping station, [`Cause::Disconnected`].
    pub lost: Option<Cause>,
    /// How often it was sent.
    pub attempts: u8,
}

/// Why a station is not associated any more, or did not get that far. ESP-IDF:
/// `WIFI_EVENT_STA_DISCONNECTED` with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// It was told to leave.
    Asked,
    /// It heard no beacons, and nobody answered (`BEACON_TIMEOUT`).
    BeaconLoss,
    /// The access point has sent it away.
    Deauthenticated,
    /// There is no such network (`NO_AP_FOUND`).
    NotFound,
    /// Authentication was not answered in time (`AUTH_EXPIRE`).
    AuthExpired,
    /// Association was not answered in time (`DISASSOC_DUE_TO_INACTIVITY`).
    AssociationExpired,
    /// The access point has stations enough (`ASSOC_TOOMANY`).
    Refused,
    /// The keys did not come in time (`HANDSHAKE_TIMEOUT`).
    HandshakeExpired,
}

/// Where a station has become associated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The access point.
    pub ap: u32,
    /// Its association identifier (9.4.1.8), from 1.
    pub aid: u16,
    /// When it began to look for one.
    pub since: Instant,
    /// When it had found it: the scan was over.
    pub found: Instant,
    /// When it was authenticated (11.3.4).
    pub authenticated: Instant,
    /// When it was associated (11.3.5). What follows is the handshake.
    pub associated: Instant,
}

/// What stands above all stations of a world.
///
/// None of these is called while a call of [`Wifi`](super::Wifi) by the same implementor could be:
/// what is to be sent in answer is sent later (a processor needs time anyway).
pub trait Above {
    /// A station, or an access point, has received a packet.
    fn received(&mut self, room: &mut Room, station: u32, packet: Received);

    /// A packet of this station or access point has ended, whatever became of it: once for each
    /// that was taken.
    fn sent(&mut self, room: &mut Room, station: u32, packet: Sent);

    /// A station has not received a packet that was sent to a group: [`Cause::Asleep`] where its
    /// radio was off.
    fn missed(&mut self, room: &mut Room, station: u32, tag: u64, cause: Cause) {
        let _ = (room, station, tag, cause);
    }

    /// A station is associated and has its keys: packets may flow.
    fn joined(&mut self, room: &mut Room, station: u32, joined: Joined) {
        let _ = (room, station, joined);
    }

    /// A station is not associated any more, or did not get that far. Unless it was asked to leave,
    /// it tries again.
    fn left(&mut self, room: &mut Room, station: u32, why: Left) {
        let _ = (room, station, why);
    }

    /// The processor of a station begins to work on a step of joining, for so long.
    fn computes(&mut self, room: &mut Room, station: u32, time: Duration) {
        let _ = (room, station, time);
    }

    /// The radio of a station went to sleep, or is awake again.
    fn awake(&mut self, room: &mut Room, station: u32, awake: bool) {
        let _ = (room, station, awake);
    }

    /// An interval of the connectionless modules begins, and with it their window: ESP-IDF,
    /// `WIFI_EVENT_CONNECTIONLESS_MODULE_WAKE_INTERVAL_START`.
    fn window(&mut self, room: &mut Room, station: u32) {
        let _ = (room, station);
    }
}

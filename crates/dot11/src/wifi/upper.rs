//! The interface to the layer above stations and access points.

use crate::mac::WirelessMedium;
use core::time::Duration;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;

/// A packet that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedPacket {
    /// The sender of the frame: the access point, or a station to it. (The first sender of the
    /// packet is known above, by `tag`. A station must drop its own multicast that comes back from
    /// the access point.)
    pub from: u32,
    /// The tag by which the layer above knows the packet.
    pub tag: u64,
    /// The octets of the packet.
    pub octets: u32,
    /// The signal strength in dBm.
    pub rssi: i8,
    /// Whether the packet was sent to a group.
    pub group: bool,
}

/// The outcome of a packet that was taken with [`WifiLayer::send`](super::WifiLayer::send).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// The tag by which the layer above knows the packet.
    pub tag: u64,
    /// `None` if the packet was acknowledged, or sent to a group. Otherwise the cause of the loss:
    /// [`Cause::RetryLimit`], [`Cause::Aged`] if an access point kept the packet too long for a
    /// sleeping station, or [`Cause::Disconnected`].
    pub lost: Option<Cause>,
    /// The number of attempts.
    pub attempts: u8,
}

/// The reason why a station is not associated any more, or did not get that far (ESP-IDF:
/// `WIFI_EVENT_STA_DISCONNECTED` with its reason).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DisconnectReason {
    /// The station was told to leave.
    Asked,
    /// The station heard no beacons, and its probes were not answered (`BEACON_TIMEOUT`).
    BeaconLoss,
    /// The access point has deauthenticated the station.
    Deauthenticated,
    /// There is no such network (`NO_AP_FOUND`).
    NotFound,
    /// Authentication was not answered in time (`AUTH_EXPIRE`).
    AuthExpired,
    /// Association was not answered in time (`DISASSOC_DUE_TO_INACTIVITY`).
    AssociationExpired,
    /// The access point has its maximum of stations (`ASSOC_TOOMANY`).
    Refused,
    /// The keys did not come in time (`HANDSHAKE_TIMEOUT`).
    HandshakeExpired,
}

/// The association of a station, and the times of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The access point.
    pub ap: u32,
    /// The association identifier (9.4.1.8), from 1.
    pub aid: u16,
    /// The time at which the station began to look for an access point.
    pub since: Instant,
    /// The time at which the access point was found: the end of the scan.
    pub found: Instant,
    /// The time of authentication (11.3.4).
    pub authenticated: Instant,
    /// The time of association (11.3.5). The handshake follows.
    pub associated: Instant,
}

/// The layer above all stations of a simulation.
///
/// No callback comes while the implementor could call [`WifiLayer`](super::WifiLayer): it sends its
/// answers later (a processor needs time anyway).
pub trait UpperLayer {
    /// Takes a packet that a station or an access point has received.
    fn on_received(&mut self, medium: &mut WirelessMedium, station: u32, packet: ReceivedPacket);

    /// Takes the outcome of a packet that a station or access point has sent, once for each packet
    /// taken.
    fn on_sent(&mut self, medium: &mut WirelessMedium, station: u32, packet: SentPacket);

    /// Takes note that a station has not received a group packet: [`Cause::Asleep`] if its radio
    /// was off.
    fn on_missed(&mut self, medium: &mut WirelessMedium, station: u32, tag: u64, cause: Cause) {
        let _ = (medium, station, tag, cause);
    }

    /// Takes note that a station is associated and has its keys: packets may flow.
    fn on_joined(&mut self, medium: &mut WirelessMedium, station: u32, joined: Joined) {
        let _ = (medium, station, joined);
    }

    /// Takes note that a station is not associated any more, or did not get that far. It tries
    /// again, unless it was asked to leave.
    fn on_left(&mut self, medium: &mut WirelessMedium, station: u32, why: DisconnectReason) {
        let _ = (medium, station, why);
    }

    /// Takes note that the processor of a station begins to work on a step of joining.
    fn on_computing(&mut self, medium: &mut WirelessMedium, station: u32, time: Duration) {
        let _ = (medium, station, time);
    }

    /// Takes note that the radio of a station went to sleep, or is awake again.
    fn on_awake(&mut self, medium: &mut WirelessMedium, station: u32, awake: bool) {
        let _ = (medium, station, awake);
    }

    /// Takes note that a station's radio, which goes to sleep now, received a beacon only up to its
    /// TIM, at an earlier time.
    fn on_stopped(&mut self, medium: &mut WirelessMedium, station: u32, at: Instant) {
        let _ = (medium, station, at);
    }

    /// Takes note that an interval of the connectionless modules begins, and with it their window
    /// (ESP-IDF: `WIFI_EVENT_CONNECTIONLESS_MODULE_WAKE_INTERVAL_START`).
    fn on_window(&mut self, medium: &mut WirelessMedium, station: u32) {
        let _ = (medium, station);
    }
}

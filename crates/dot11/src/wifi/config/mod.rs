//! The configuration of stations and access points.

mod sleep;

use crate::radio::{ChannelWidth, GuardInterval, Hr, Mcs, WifiMode};
use alloc::vec::Vec;
use core::time::Duration;
pub use sleep::{CoexistenceConfig, ConnectionlessWindow, FetchMethod, PowerSave, PowerSaveTimes};

/// A time unit (3.1), in which beacon and listen intervals are counted.
pub const TIME_UNIT: Duration = Duration::from_micros(1024);
/// The default beacon interval of all access points, 100 time units or 102.4 ms.
pub const BEACON_INTERVAL: Duration = Duration::from_micros(102_400);

/// The role of a station of the medium, above its MAC.
#[derive(Clone, Debug, Default)]
#[expect(clippy::large_enum_variant, reason = "there is one for each station, for a moment")]
pub enum WifiRole {
    /// A station that is not of this layer: an ESP-NOW node, other people's load.
    #[default]
    Foreign,
    /// A station.
    Station(StationConfig),
    /// An access point.
    AccessPoint(ApConfig),
}

/// The security of a network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WifiSecurity {
    /// No security.
    Open,
    /// WPA2 with a password: open authentication, 4-way handshake, CCMP-128.
    #[default]
    Wpa2,
    /// WPA3: SAE, 4-way handshake, CCMP-128, protected management frames.
    Wpa3,
}

impl WifiSecurity {
    /// Returns whether data frames are encrypted.
    #[must_use]
    pub const fn encrypts(self) -> bool {
        !matches!(self, Self::Open)
    }
}

/// The modes in which a sender sends data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataRates {
    /// One fixed mode.
    Fixed(WifiMode),
    /// The best of these modes, listed from slow to fast, by acknowledgements.
    Adaptive(Vec<WifiMode>),
}

impl DataRates {
    /// Returns all HT modes of one stream with a channel width and guard interval, at most 65,
    /// 72.2, 135 or 150 Mbit/s.
    #[must_use]
    pub fn ht(width: ChannelWidth, guard: GuardInterval) -> Self {
        Self::Adaptive(Mcs::ALL.iter().map(|&mcs| WifiMode::ht(mcs, width, guard)).collect())
    }

    /// Returns the modes from slow to fast.
    #[must_use]
    pub fn modes(&self) -> &[WifiMode] {
        match self {
            Self::Fixed(mode) => core::slice::from_ref(mode),
            Self::Adaptive(modes) => modes,
        }
    }

    /// Returns the fastest mode.
    #[must_use]
    pub fn fastest(&self) -> Option<WifiMode> {
        self.modes().last().copied()
    }

    /// Returns whether one of the modes is of 802.11n or of 802.11ax, whose stations have HT, too.
    #[must_use]
    pub fn is_ht(&self) -> bool {
        self.modes().iter().any(|mode| mode.aggregates())
    }
}

impl Default for DataRates {
    /// Returns HT20 MCS 7 with the long guard interval, 65 Mbit/s.
    fn default() -> Self {
        Self::Fixed(WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long))
    }
}

/// The capabilities in beacons and on joining, on which the sizes of these frames depend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// HT (802.11n); without it, 11b/g.
    pub ht: bool,
    /// QoS (WMM), which HT needs. Data frames then have a QoS Control field.
    pub qos: bool,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self { ht: true, qos: true }
    }
}

/// The configuration of an access point.
#[derive(Clone, Debug)]
pub struct ApConfig {
    /// The number of the network, which stands for its SSID: stations with this number join it.
    pub network: u16,
    /// The octets of the SSID, at most 32.
    pub ssid_octets: u8,
    /// The security of the network.
    pub security: WifiSecurity,
    /// The capabilities of the access point.
    pub capabilities: Capabilities,
    /// The time from beacon to beacon.
    pub beacon_interval: Duration,
    /// The number of beacons from DTIM to DTIM, at least 1; multicast follows a DTIM.
    pub dtim_period: u8,
    /// The mode of beacons, management frames and multicast, a basic rate.
    pub basic: WifiMode,
    /// The modes of data frames.
    pub rates: DataRates,
    /// The limit on frames buffered for each sleeping station; further ones are dropped.
    pub unicast_buffer: u16,
    /// The limit on multicast frames buffered for the DTIM while some station sleeps. `None`:
    /// multicast is sent at once, and sleeping stations miss it (ESP-IDF, "Wi-Fi performance and
    /// power save", AP sleep: "buffers unicast, not multicast").
    pub multicast_buffer: Option<u16>,
    /// The time for which a frame is kept for a sleeping station, at least; 11.2.3.5 leaves it to
    /// the access point ("aging function").
    pub aging: Duration,
    /// The limit on stations. ESP-IDF: 4 by default, at most 10 or 15 by chip.
    pub most_stations: u16,
    /// The processor's times for joining stations.
    pub work: ProcessingTimes,
    /// The time after which a silent station is removed. ESP-IDF: 300 s
    /// (`esp_wifi_set_inactive_time`).
    pub inactive: Duration,
}

impl Default for ApConfig {
    /// Returns a router.
    fn default() -> Self {
        Self {
            network: 0,
            ssid_octets: 8,
            security: WifiSecurity::default(),
            capabilities: Capabilities::default(),
            beacon_interval: BEACON_INTERVAL,
            dtim_period: 1,
            basic: WifiMode::Hr(Hr::M1),
            rates: DataRates::default(),
            // mac80211's STA_MAX_TX_BUFFER and AP_MAX_BC_BUFFER are 64 and 128.
            unicast_buffer: 64,
            multicast_buffer: Some(128),
            // mac80211's STA_TX_BUFFER_EXPIRE.
            aging: Duration::from_secs(10),
            most_stations: 2007,
            work: ProcessingTimes::ROUTER,
            inactive: Duration::from_secs(300),
        }
    }
}

impl ApConfig {
    /// Returns an access point on an ESP: it buffers no multicast (the document's "AP sleep") and
    /// takes four stations; DTIM period 1 (`wifi_ap_config_t`). The number of frames buffered for
    /// each sleeping station, 32 as the default number of TX buffers, is a guess.
    #[must_use]
    pub fn soft_ap() -> Self {
        Self {
            multicast_buffer: None,
            unicast_buffer: 32,
            most_stations: 4,
            work: ProcessingTimes::ESP,
            ..Self::default()
        }
    }
}

/// The configuration of a station.
#[derive(Clone, Debug, Default)]
pub struct StationConfig {
    /// The number of the network that the station joins.
    pub network: u16,
    /// Whether the station starts associated, with keys, for simulations in which joining does not
    /// matter.
    pub joined: bool,
    /// Whether the station starts in no network, and looks for none until it is told to
    /// ([`WifiLayer::join`](crate::wifi::WifiLayer::join)). No effect if it is `joined`.
    pub apart: bool,
    /// The security with which the station joins a network.
    pub security: WifiSecurity,
    /// The capabilities of the station.
    pub capabilities: Capabilities,
    /// The modes of data frames.
    pub rates: DataRates,
    /// The settings for scanning and joining.
    pub join: JoinConfig,
    /// The power save mode while the station is associated.
    pub sleep: PowerSave,
    /// The times of power save.
    pub times: PowerSaveTimes,
    /// The reception of frames of no network (ESP-NOW), if the station receives them.
    pub connectionless: Option<ConnectionlessWindow>,
    /// The slices of a radio that is shared with Bluetooth or 802.15.4.
    pub coexistence: Option<CoexistenceConfig>,
    /// Whether the radio sleeps while the station is in no network and looks for none:
    /// `CONFIG_ESP_WIFI_STA_DISCONNECTED_PM_ENABLE`.
    pub disconnected_sleep: bool,
}

/// The settings with which a station looks for its network, and joins it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinConfig {
    /// The octets of the SSID that the station looks for.
    pub ssid_octets: u8,
    /// The channels of the active scan: the station sends a probe request and waits for answers.
    pub active: Vec<u8>,
    /// The channels of the passive scan, where the country may not allow probe requests.
    pub passive: Vec<u8>,
    /// Whether the station takes the strongest access point of its network on the first channel
    /// that has one, instead of the strongest on all channels (`WIFI_FAST_SCAN`, the default of
    /// ESP-IDF). It stays on that channel for its time: esp32.com forum, topic 8942, has "approx.
    /// 120ms" for the scan of the one channel that is known.
    pub first: bool,
    /// The time on a channel. ESP-IDF: 120 ms with probe requests, 360 ms without
    /// (`esp_wifi_set_scan_parameters`), so that 1 to 13 take 2040 ms.
    pub dwell: Duration,
    /// The time on a channel of the passive scan.
    pub dwell_passive: Duration,
    /// The time of tuning to a channel.
    pub hop: Duration,
    /// The timeout of authentication, and of association. 1 s is a guess, after other drivers
    /// (802.11-2020 leaves it open).
    pub answer: Duration,
    /// The timeout of the handshake. ESP-IDF's log: "start 10s connect timer for 4 way handshake".
    pub keys: Duration,
    /// The pause before the next try. ESP-IDF leaves that to the application; its examples try at
    /// once.
    pub again: Duration,
    /// The processor's times for the steps of joining.
    pub work: ProcessingTimes,
    /// The time without a beacon after which the station probes its access point. ESP-IDF: 6 s
    /// (`esp_wifi_set_inactive_time`).
    pub beacon_loss: Duration,
    /// The number of such probes.
    pub probes: u8,
    /// The time between two probes. ESP-IDF's logs have 2.5 s from
    /// "bcn_timeout,ap_probe_send_start" to "ap_probe_send over".
    pub probe_interval: Duration,
}

impl Default for JoinConfig {
    fn default() -> Self {
        Self {
            ssid_octets: 8,
            active: (1..=11).collect(),
            passive: [12, 13].into(),
            first: true,
            dwell: Duration::from_millis(120),
            dwell_passive: Duration::from_millis(360),
            hop: Duration::from_millis(1),
            answer: Duration::from_secs(1),
            keys: Duration::from_secs(10),
            again: Duration::from_millis(10),
            work: ProcessingTimes::ESP,
            beacon_loss: Duration::from_secs(6),
            probes: 5,
            probe_interval: Duration::from_millis(500),
        }
    }
}

impl JoinConfig {
    /// Returns the settings for a known channel: the station looks there only.
    #[must_use]
    pub fn on(channel: u8) -> Self {
        Self { active: [channel].into(), passive: Vec::new(), ..Self::default() }
    }
}

/// The processor's times for the steps of joining.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessingTimes {
    /// The key of a WPA2 password: PBKDF2 with 4096 rounds of HMAC-SHA-1 (J.4.1). A station
    /// computes it before the first authentication, and keeps it.
    pub pmk: Duration,
    /// A management frame: to parse it and to answer.
    pub management: Duration,
    /// An EAPOL frame: to derive keys and compute the message integrity code.
    pub eapol: Duration,
    /// An SAE Commit: a point of the curve from the password, a scalar, an element (12.4.5.2).
    pub sae_commit: Duration,
    /// An SAE Confirm: the shared secret, the confirmation (12.4.5.3 to 12.4.5.5).
    pub sae_confirm: Duration,
}

impl ProcessingTimes {
    /// Returns the times of an ESP with a time for the key of a password, and a time for one side
    /// of SAE, which is split into Commit and Confirm as in [`ProcessingTimes::ESP`].
    #[must_use]
    pub const fn esp(pmk: Duration, sae: Duration) -> Self {
        let sae_commit = Duration::from_nanos(sae.as_nanos() as u64 / 7 * 5);
        Self { pmk, sae_commit, sae_confirm: sae.saturating_sub(sae_commit), ..Self::ESP }
    }

    /// The times of an ESP. ESP-IDF's log in issue espressif/esp-idf#974 has 9 ms from
    /// authentication to association, and 49 ms for the four EAPOL frames; the SAE figures are
    /// guessed from point multiplications of some 50 ms. Confidence is low. The key of the password
    /// is known.
    pub const ESP: Self = Self {
        pmk: Duration::ZERO,
        management: Duration::from_millis(2),
        eapol: Duration::from_millis(10),
        sae_commit: Duration::from_millis(150),
        sae_confirm: Duration::from_millis(60),
    };
    /// The times of a router with a processor ten times as fast, which is a guess.
    pub const ROUTER: Self = Self {
        pmk: Duration::ZERO,
        management: Duration::from_micros(300),
        eapol: Duration::from_millis(1),
        sae_commit: Duration::from_millis(8),
        sae_confirm: Duration::from_millis(4),
    };
}

//! What stations and access points can be told.

mod sleep;

use crate::radio::{Guard, Hr, Mcs, Mode, Width};
use alloc::vec::Vec;
use core::time::Duration;
pub use sleep::{Coexistence, Connectionless, Fetch, Sleep, SleepTimes};

/// A time unit (3.1): beacon and listen intervals count them.
pub const TIME_UNIT: Duration = Duration::from_micros(1024);
/// What all access points come with: a beacon every 100 time units, 102.4 ms.
pub const BEACON_INTERVAL: Duration = Duration::from_micros(102_400);

/// What a station of the room is, above its MAC.
#[derive(Clone, Debug, Default)]
#[expect(clippy::large_enum_variant, reason = "there is one for each station, for a moment")]
pub enum Role {
    /// None of this layer's business: an ESP-NOW node, other people's load.
    #[default]
    Foreign,
    /// A station.
    Station(StationConfig),
    /// An access point.
    AccessPoint(ApConfig),
}

/// How a network is protected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Security {
    /// Not at all.
    Open,
    /// WPA2 with a password: open authentication, 4-way handshake, CCMP-128.
    #[default]
    Wpa2,
    /// WPA3: SAE, 4-way handshake, CCMP-128, protected management frames.
    Wpa3,
}

impl Security {
    /// Whether data frames are encrypted.
    #[must_use]
    pub const fn encrypts(self) -> bool {
        !matches!(self, Self::Open)
    }
}

/// In which modes an end sends data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rates {
    /// Always this one.
    Fixed(Mode),
    /// The best of these, slow first, by what was acknowledged.
    Adaptive(Vec<Mode>),
}

impl Rates {
    /// All HT modes of one stream with that width and guard interval, at most 65, 72.2, 135 or 150
    /// Mbit/s.
    #[must_use]
    pub fn ht(width: Width, guard: Guard) -> Self {
        Self::Adaptive(Mcs::ALL.iter().map(|&mcs| Mode::ht(mcs, width, guard)).collect())
    }

    /// These modes, slow first.
    #[must_use]
    pub fn modes(&self) -> &[Mode] {
        match self {
            Self::Fixed(mode) => core::slice::from_ref(mode),
            Self::Adaptive(modes) => modes,
        }
    }

    /// The fastest of them.
    #[must_use]
    pub fn fastest(&self) -> Option<Mode> {
        self.modes().last().copied()
    }

    /// Whether one of them is of 802.11n.
    #[must_use]
    pub fn is_ht(&self) -> bool {
        self.modes().iter().any(|mode| matches!(mode, Mode::Ht(_)))
    }
}

impl Default for Rates {
    /// HT20 MCS 7 with the long guard interval: 65 Mbit/s.
    fn default() -> Self {
        Self::Fixed(Mode::ht(Mcs::Mcs7, Width::Mhz20, Guard::Long))
    }
}

/// What a beacon, and what is said on joining, contains: sizes follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// HT (802.11n); without: 11b/g.
    pub ht: bool,
    /// QoS (WMM), which HT needs. Data frames then have a QoS Control field.
    pub qos: bool,
}

impl Default for Capabilities {
    fn default() -> Self {
        Self { ht: true, qos: true }
    }
}

/// An access point.
#[derive(Clone, Debug)]
pub struct ApConfig {
    /// Which network it serves: stations with the same number join it. Its SSID, so to say.
    pub network: u16,
    /// Octets of the SSID, at most 32.
    pub ssid_octets: u8,
    /// How it is protected.
    pub security: Security,
    /// What it can do.
    pub capabilities: Capabilities,
    /// Time from beacon to beacon.
    pub beacon_interval: Duration,
    /// Every so many beacons is a DTIM, after which multicast comes; at least 1.
    pub dtim_period: u8,
    /// How beacons, management frames and multicast are sent: a basic rate.
    pub basic: Mode,
    /// How data frames are sent.
    pub rates: Rates,
    /// Frames kept for each sleeping station; further ones are dropped.
    pub unicast_buffer: u16,
    /// Multicast frames kept for the DTIM while some station sleeps; `None`: it keeps none and
    /// sends them at once, which sleeping stations miss (ESP-IDF, "Wi-Fi performance and power
    /// save", AP sleep: "buffers unicast, not multicast").
    pub multicast_buffer: Option<u16>,
    /// For how long a frame is kept for a sleeping station, at least; 11.2.3.5 leaves it to the
    /// access point ("aging function").
    pub aging: Duration,
    /// How many stations it takes. ESP-IDF: 4 by default, at most 10 or 15 by chip.
    pub most_stations: u16,
    /// What its processor needs for those that join.
    pub work: Work,
    /// Whom it forgets: stations not heard of for so long. ESP-IDF: 300 s
    /// (`esp_wifi_set_inactive_time`).
    pub inactive: Duration,
}

impl Default for ApConfig {
    /// A router.
    fn default() -> Self {
        Self {
            network: 0,
            ssid_octets: 8,
            security: Security::default(),
            capabilities: Capabilities::default(),
            beacon_interval: BEACON_INTERVAL,
            dtim_period: 1,
            basic: Mode::Hr(Hr::M1),
            rates: Rates::default(),
            // mac80211's STA_MAX_TX_BUFFER and AP_MAX_BC_BUFFER are 64 and 128.
            unicast_buffer: 64,
            multicast_buffer: Some(128),
            // mac80211's STA_TX_BUFFER_EXPIRE.
            aging: Duration::from_secs(10),
            most_stations: 2007,
            work: Work::ROUTER,
            inactive: Duration::from_secs(300),
        }
    }
}

impl ApConfig {
    /// An access point on an ESP: it keeps no multicast (the document's "AP sleep") and takes four
    /// stations; DTIM period 1 (`wifi_ap_config_t`). That it keeps as many frames for each sleeping
    /// station as there are TX buffers by default, 32, is guessed.
    #[must_use]
    pub fn soft_ap() -> Self {
        Self {
            multicast_buffer: None,
            unicast_buffer: 32,
            most_stations: 4,
            work: Work::ESP,
            ..Self::default()
        }
    }
}

/// A station.
#[derive(Clone, Debug, Default)]
pub struct StationConfig {
    /// Which network it joins.
    pub network: u16,
    /// It starts associated, with keys: for worlds that do not care how it joined.
    pub joined: bool,
    /// It starts in no network, and looks for none until it is told to
    /// ([`Wifi::join`](crate::wifi::Wifi::join)). Means nothing where it is `joined`.
    pub apart: bool,
    /// What it knows to join a network with.
    pub security: Security,
    /// What it can do.
    pub capabilities: Capabilities,
    /// How data frames are sent.
    pub rates: Rates,
    /// How it looks for its network, and joins it.
    pub join: Join,
    /// When its radio sleeps while it is associated.
    pub sleep: Sleep,
    /// How long it does what, when it sleeps and wakes.
    pub times: SleepTimes,
    /// It receives frames of no network (ESP-NOW), and when.
    pub connectionless: Option<Connectionless>,
    /// Its radio is shared with Bluetooth or 802.15.4.
    pub coexistence: Option<Coexistence>,
    /// Its radio sleeps while it is in no network and looks for none:
    /// `CONFIG_ESP_WIFI_STA_DISCONNECTED_PM_ENABLE`.
    pub disconnected_sleep: bool,
}

/// How a station looks for its network, and joins it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// Octets of the SSID that it looks for.
    pub ssid_octets: u8,
    /// Channels on which it sends a probe request and waits for answers.
    pub active: Vec<u8>,
    /// Channels on which it only listens for beacons: what the country may not allow.
    pub passive: Vec<u8>,
    /// It takes the strongest access point of its network on the first channel where there is one,
    /// instead of the strongest on all channels (`WIFI_FAST_SCAN`, the default of ESP-IDF). It stays
    /// on that channel for its time: esp32.com forum, topic 8942, has "approx. 120ms" for the scan of
    /// the one channel that is known.
    pub first: bool,
    /// How long it stays on a channel. ESP-IDF: 120 ms with probe requests, 360 ms without
    /// (`esp_wifi_set_scan_parameters`), so that 1 to 13 take 2040 ms.
    pub dwell: Duration,
    /// The same where it only listens.
    pub dwell_passive: Duration,
    /// How long tuning takes.
    pub hop: Duration,
    /// For how long it waits for an answer to authentication, and to association. 1 s: guessed, as
    /// other drivers (802.11-2020 leaves it open).
    pub answer: Duration,
    /// For how long it waits for the keys. ESP-IDF's log: "start 10s connect timer for 4 way
    /// handshake".
    pub keys: Duration,
    /// How long it waits before it tries again. ESP-IDF leaves that to the application; its
    /// examples try at once.
    pub again: Duration,
    /// What its processor needs.
    pub work: Work,
    /// Without a beacon for so long, it asks whether its access point is there. ESP-IDF: 6 s
    /// (`esp_wifi_set_inactive_time`).
    pub beacon_loss: Duration,
    /// It asks so often …
    pub probes: u8,
    /// … with so much time between. ESP-IDF's logs have 2.5 s from "bcn_timeout,ap_probe_send_start"
    /// to "ap_probe_send over".
    pub probe_interval: Duration,
}

impl Default for Join {
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
            work: Work::ESP,
            beacon_loss: Duration::from_secs(6),
            probes: 5,
            probe_interval: Duration::from_millis(500),
        }
    }
}

impl Join {
    /// The channel is known: it looks there only.
    #[must_use]
    pub fn on(channel: u8) -> Self {
        Self { active: [channel].into(), passive: Vec::new(), ..Self::default() }
    }
}

/// How long a processor needs for the steps of joining.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The key of a WPA2 password: PBKDF2 with 4096 rounds of HMAC-SHA-1 (J.4.1). A station computes
    /// it before the first authentication, and keeps it.
    pub pmk: Duration,
    /// A management frame: to understand it and to answer.
    pub management: Duration,
    /// An EAPOL frame: keys are derived, the message integrity code is computed.
    pub eapol: Duration,
    /// An SAE Commit: a point of the curve from the password, a scalar, an element (12.4.5.2).
    pub sae_commit: Duration,
    /// An SAE Confirm: the shared secret, the confirmation (12.4.5.3 to 12.4.5.5).
    pub sae_confirm: Duration,
}

impl Work {
    /// An ESP with these times for the key of a password, and for one side of SAE, which go to
    /// Commit and Confirm as in [`Work::ESP`].
    #[must_use]
    pub const fn esp(pmk: Duration, sae: Duration) -> Self {
        let sae_commit = Duration::from_nanos(sae.as_nanos() as u64 / 7 * 5);
        Self { pmk, sae_commit, sae_confirm: sae.saturating_sub(sae_commit), ..Self::ESP }
    }

    /// An ESP. ESP-IDF's log in issue espressif/esp-idf#974 has 9 ms from authentication to
    /// association, and 49 ms for the four EAPOL frames; the SAE figures are guessed from point
    /// multiplications of some 50 ms. Low confidence. It knows the key of its password.
    pub const ESP: Self = Self {
        pmk: Duration::ZERO,
        management: Duration::from_millis(2),
        eapol: Duration::from_millis(10),
        sae_commit: Duration::from_millis(150),
        sae_confirm: Duration::from_millis(60),
    };
    /// A router with a processor ten times as fast. Guessed.
    pub const ROUTER: Self = Self {
        pmk: Duration::ZERO,
        management: Duration::from_micros(300),
        eapol: Duration::from_millis(1),
        sae_commit: Duration::from_millis(8),
        sae_confirm: Duration::from_millis(4),
    };
}

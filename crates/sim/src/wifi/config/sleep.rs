//! When the radio of a station sleeps, and what else it is for.

use core::time::Duration;

/// When the radio of an associated station sleeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sleep {
    /// `WIFI_PS_NONE`: never.
    #[default]
    None,
    /// `WIFI_PS_MIN_MODEM`: it wakes for every DTIM.
    MinModem,
    /// `WIFI_PS_MAX_MODEM`: it wakes every so many beacons, which may be fewer than there are
    /// DTIMs. ESP-IDF: 3.
    MaxModem {
        /// The listen interval, in beacon intervals; at least 1.
        listen_interval: u16,
    },
}

/// When a station that sleeps listens to frames of no network: ESP-IDF, "power management of
/// connectionless modules". Such frames are sent at any time ([`Wifi::send_foreign`]).
///
/// | interval | window 0 | shorter than the interval | as long |
/// |---|---|---|---|
/// | `None` (`ESP_WIFI_CONNECTIONLESS_INTERVAL_DEFAULT_MODE`) | not used | always on | always on |
/// | set | not used | on at the beginning of each interval | always on |
///
/// An interval begins with a target beacon transmission time while the station is associated: with
/// every so many beacons as come nearest to it, the same ones for all stations of an access point.
///
/// [`Wifi::send_foreign`]: crate::wifi::Wifi::send_foreign
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connectionless {
    /// `esp_now_set_wake_window`; its default is longer than any interval.
    pub window: Duration,
    /// `esp_wifi_set_connectionless_interval`.
    pub interval: Option<Duration>,
}

/// Slices of time in which Wi-Fi has the radio: at the beginning of each period, which begins with a
/// beacon while the station is associated (ESP-IDF, "RF coexistence": "starts at the Target Beacon
/// Transmission Time"), and is as many beacon intervals as come nearest. Outside of them it has none, even with `WIFI_PS_NONE` (ESP-IDF, "RF
/// coexistence"). Before a slice ends the station tells its access point that it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coexistence {
    /// ESP-IDF: above 100 ms while both are connected.
    pub period: Duration,
    /// ESP-IDF: half of it.
    pub wifi: Duration,
    /// How long before the end of a slice it sends its Null frame. 2 ms: guessed, what a busy medium
    /// may take.
    pub guard: Duration,
}

impl Default for Coexistence {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self { period: ms(120), wifi: ms(60), guard: ms(2) }
    }
}

/// How a station gets what waits for it at its access point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fetch {
    /// It says that it is awake, with a Null frame, and stays so for a while: ESP-IDF
    /// (issue espressif/esp-idf#1779 shows its Null frames).
    #[default]
    Null,
    /// It stays asleep for its access point and asks for one frame after the other, with PS-Poll
    /// (11.2.3.6).
    PsPoll,
}

/// How long a station does what, when it sleeps and wakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SleepTimes {
    /// It stays awake for so long after its last packet: ESP-IDF,
    /// `CONFIG_ESP_WIFI_SLP_DEFAULT_MIN_ACTIVE_TIME`, 50 ms.
    pub min_active: Duration,
    /// It sends a Null frame when it has sent nothing for so long: ESP-IDF,
    /// `CONFIG_ESP_WIFI_SLP_DEFAULT_MAX_ACTIVE_TIME`, 10 s.
    pub keep_alive: Duration,
    /// For how long it waits for multicast that a beacon announces, from frame to frame: ESP-IDF,
    /// `CONFIG_ESP_WIFI_SLP_DEFAULT_WAIT_BROADCAST_DATA_TIME`, 15 ms.
    pub wait_group: Duration,
    /// From switching the radio on until it can send.
    pub radio_on: Duration,
    /// The radio is on so long before a beacon, with what it takes to switch it on.
    pub early: Duration,
    /// The station's clock is no better than this, in parts per million: it wakes earlier, by what
    /// that makes since the last beacon. 20 with the crystal of modem sleep (ESP32-C3 datasheet:
    /// +-10 ppm, and the access point's as much).
    pub drift_ppm: u32,
    /// How long it listens for a beacon that does not come: ESP-IDF,
    /// `CONFIG_ESP_WIFI_SLP_BEACON_LOST_TIMEOUT`, 10 time units.
    pub missed: Duration,
    /// How it gets what waits for it.
    pub fetch: Fetch,
}

impl Default for SleepTimes {
    fn default() -> Self {
        Self {
            min_active: Duration::from_millis(50),
            keep_alive: Duration::from_secs(10),
            wait_group: Duration::from_millis(15),
            // Guessed from the currents of the ESP32-C3 in light sleep (ESP-IDF, "Introduction to
            // Low Power Mode in Wi-Fi Scenarios": 1.4 mA at DTIM 1, 0.31 mA at DTIM 10). They make
            // 124 uC for each beacon, which is 1.5 ms of reception: little more than the beacon.
            radio_on: Duration::from_micros(300),
            early: Duration::from_micros(500),
            drift_ppm: 20,
            missed: Duration::from_micros(10_240),
            fetch: Fetch::Null,
        }
    }
}

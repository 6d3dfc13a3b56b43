//! Power save of a station, and sharing of its radio.

use core::time::Duration;

/// The power save mode of an associated station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PowerSave {
    /// `WIFI_PS_NONE`: no power save.
    #[default]
    None,
    /// `WIFI_PS_MIN_MODEM`: the station wakes for every DTIM.
    MinModem,
    /// `WIFI_PS_MAX_MODEM`: the station wakes at its listen interval, which may be less often than
    /// every DTIM. ESP-IDF: 3.
    MaxModem {
        /// The listen interval, in beacon intervals; at least 1.
        listen_interval: u16,
    },
}

/// The times at which a sleeping station listens to frames of no network (ESP-IDF, "power
/// management of connectionless modules"). Such frames are sent at any time
/// ([`WifiLayer::send_foreign`]).
///
/// | interval | window 0 | shorter than the interval | as long |
/// |---|---|---|---|
/// | `None` (`ESP_WIFI_CONNECTIONLESS_INTERVAL_DEFAULT_MODE`) | not used | always on | always on |
/// | set | not used | on at the beginning of each interval | always on |
///
/// While the station is associated, an interval begins with a target beacon transmission time and
/// lasts the nearest number of beacon intervals, the same for all stations of an access point.
///
/// [`WifiLayer::send_foreign`]: crate::wifi::WifiLayer::send_foreign
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionlessWindow {
    /// The window, `esp_now_set_wake_window`; its default is longer than any interval.
    pub window: Duration,
    /// The interval, `esp_wifi_set_connectionless_interval`.
    pub interval: Option<Duration>,
}

/// The slices of time in which Wi-Fi has the radio, one at the beginning of each period. While the
/// station is associated, a period begins with a beacon (ESP-IDF, "RF coexistence": "starts at the
/// Target Beacon Transmission Time") and lasts the nearest number of beacon intervals. Outside of
/// the slices Wi-Fi has no radio, even with `WIFI_PS_NONE` (ESP-IDF, "RF coexistence"). Before a
/// slice ends the station tells its access point that it sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoexistenceConfig {
    /// The period. ESP-IDF: above 100 ms while both are connected.
    pub period: Duration,
    /// The part of the period that Wi-Fi has. ESP-IDF: half of it.
    pub wifi: Duration,
    /// The time before the end of a slice at which the station sends its Null frame. 2 ms is a
    /// guess, the time that a busy medium may take.
    pub guard: Duration,
}

impl Default for CoexistenceConfig {
    fn default() -> Self {
        let ms = Duration::from_millis;
        Self { period: ms(120), wifi: ms(60), guard: ms(2) }
    }
}

/// The way in which a station gets its buffered frames from its access point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FetchMethod {
    /// The station tells with a Null frame that it is awake, and stays so for a while, as with
    /// ESP-IDF (issue espressif/esp-idf#1779 shows its Null frames).
    #[default]
    Null,
    /// The station stays asleep for its access point and asks for one frame after the other with
    /// PS-Poll (11.2.3.6).
    PsPoll,
}

/// The times of power save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerSaveTimes {
    /// The time that the station stays awake after its last packet (ESP-IDF:
    /// `CONFIG_ESP_WIFI_SLP_DEFAULT_MIN_ACTIVE_TIME`, 50 ms).
    pub min_active: Duration,
    /// The time without sending after which the station sends a Null frame (ESP-IDF:
    /// `CONFIG_ESP_WIFI_SLP_DEFAULT_MAX_ACTIVE_TIME`, 10 s).
    pub keep_alive: Duration,
    /// The time that the station waits for multicast that a beacon announces, from frame to frame
    /// (ESP-IDF: `CONFIG_ESP_WIFI_SLP_DEFAULT_WAIT_BROADCAST_DATA_TIME`, 15 ms).
    pub wait_group: Duration,
    /// The time from switching the radio on until it can send.
    pub radio_on: Duration,
    /// The time before a beacon at which the radio is switched on, switching time included.
    pub early: Duration,
    /// The error of the station's clock in parts per million: the station wakes earlier by the
    /// drift since the last beacon. 20 with the crystal of modem sleep (ESP32-C3 datasheet: +-10
    /// ppm, and the access point's as much).
    pub drift_ppm: u32,
    /// Whether the station stops receiving a beacon after its TIM where that has nothing for it
    /// (ESP-IDF: `beacon_abort` of `wifi_beacon_monitor_config_t`).
    pub stop_at_tim: bool,
    /// The time that the station listens for a beacon that does not come (ESP-IDF:
    /// `CONFIG_ESP_WIFI_SLP_BEACON_LOST_TIMEOUT`, 10 time units).
    pub missed: Duration,
    /// The way in which the station gets its buffered frames.
    pub fetch: FetchMethod,
}

impl Default for PowerSaveTimes {
    fn default() -> Self {
        Self {
            min_active: Duration::from_millis(50),
            keep_alive: Duration::from_secs(10),
            wait_group: Duration::from_millis(15),
            // A guess from the currents of the ESP32-C3 in light sleep (ESP-IDF, "Introduction to
            // Low Power Mode in Wi-Fi Scenarios": 1.4 mA at DTIM 1, 0.31 mA at DTIM 10). They make
            // 124 uC for each beacon, which is 1.5 ms of reception: little more than the beacon.
            radio_on: Duration::from_micros(300),
            early: Duration::from_micros(500),
            drift_ppm: 20,
            stop_at_tim: false,
            missed: Duration::from_micros(10_240),
            fetch: FetchMethod::Null,
        }
    }
}

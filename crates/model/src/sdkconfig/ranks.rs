//! The ranks of settings that Espressif's documents recommend, with the measured throughput of
//! each.
//!
//! Source: ESP-IDF Programming Guide, "Wi-Fi Performance and Power Save", section "How to Configure
//! Parameters", for each chip; one stream in a shielded box. The rows of the ESP32-C3 are those of
//! `reference/published.csv`, `esp32c3-rank`.

use super::SdkConfig;
use super::chip::{Chip, SdkContext};
use super::key::ConfigOption;
use super::settings::OptionValues;

/// A recommended combination of settings: a column of the document's table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rank {
    /// Chip of the document.
    pub chip: Chip,
    /// Name in the document, in lower case.
    pub name: &'static str,
    /// Value of `WIFI_STATIC_RX_BUFFER_NUM`.
    pub static_rx: u16,
    /// Value of `WIFI_DYNAMIC_RX_BUFFER_NUM`.
    pub dynamic_rx: u16,
    /// Value of `WIFI_DYNAMIC_TX_BUFFER_NUM`.
    pub dynamic_tx: u16,
    /// Value of `WIFI_RX_BA_WIN`; 0: disabled.
    pub rx_ba_window: u8,
    /// Value of `TCP_SND_BUF_DEFAULT`, in KB.
    pub send_buffer_kb: u16,
    /// Value of `TCP_WND_DEFAULT`, in KB.
    pub window_kb: u16,
    /// Flags `WIFI_IRAM_OPT`, `WIFI_RX_IRAM_OPT` and `LWIP_IRAM_OPTIMIZATION`.
    pub iram: [bool; 3],
    /// "Available memory", in KB.
    pub free_kb: f64,
    /// Throughput of TCP sending, TCP receiving, UDP sending and UDP receiving, in Mbit/s.
    pub mbit_s: [f64; 4],
}

const ALL: [bool; 3] = [true; 3];
const WIFI: [bool; 3] = [true, true, false];

macro_rules! rank {
    ($chip:ident, $name:literal, $static_rx:literal, $rx:literal, $tx:literal, $ba:literal,
        $send:literal, $window:literal, $iram:expr, $free:literal, $mbit_s:expr) => {
        Rank {
            chip: Chip::$chip,
            name: $name,
            static_rx: $static_rx,
            dynamic_rx: $rx,
            dynamic_tx: $tx,
            rx_ba_window: $ba,
            send_buffer_kb: $send,
            window_kb: $window,
            iram: $iram,
            free_kb: $free,
            mbit_s: $mbit_s,
        }
    };
}

/// All ranks without PSRAM, each chip's from the fastest to the smallest.
pub const RANKS: &[Rank] = &[
    rank!(Esp32, "iperf", 16, 64, 64, 32, 65, 65, ALL, 37.1, [74.6, 63.6, 76.2, 83.1]),
    rank!(Esp32, "tx prior", 6, 16, 28, 8, 28, 16, ALL, 113.8, [50.8, 35.5, 75.1, 66.3]),
    rank!(Esp32, "high-performance", 6, 24, 24, 12, 24, 24, ALL, 123.3, [46.5, 42.3, 74.1, 75.1]),
    rank!(Esp32, "rx prior", 6, 34, 18, 12, 18, 34, ALL, 145.5, [39.9, 48.5, 72.4, 75.6]),
    rank!(Esp32, "default", 6, 20, 20, 10, 20, 20, ALL, 144.5, [44.2, 40.5, 69.6, 73.1]),
    rank!(Esp32, "memory saving", 6, 12, 12, 6, 12, 12, ALL, 170.2, [33.8, 30.1, 64.1, 65.3]),
    rank!(Esp32, "minimum", 4, 8, 8, 0, 8, 8, ALL, 185.2, [25.6, 27.8, 36.5, 54.7]),
    rank!(Esp32s2, "iperf", 8, 24, 24, 12, 24, 24, ALL, 4.1, [37.6, 31.5, 58.1, 78.1]),
    rank!(Esp32s2, "high-performance", 6, 18, 18, 9, 18, 18, ALL, 24.2, [33.1, 28.1, 57.3, 66.7]),
    rank!(Esp32s2, "default", 6, 12, 12, 6, 12, 12, WIFI, 78.4, [22.5, 20.1, 28.1, 65.3]),
    rank!(
        Esp32s2,
        "memory saving",
        4,
        8,
        8,
        4,
        8,
        8,
        [true, false, false],
        86.5,
        [12.2, 13.1, 22.6, 53.8]
    ),
    rank!(Esp32s2, "minimum", 3, 6, 6, 3, 6, 6, [false; 3], 116.4, [5.5, 7.2, 8.7, 28.5]),
    rank!(Esp32s3, "iperf", 24, 64, 64, 32, 64, 64, ALL, 133.9, [83.93, 73.98, 98.69, 88.58]),
    rank!(Esp32s3, "default", 8, 32, 32, 16, 32, 32, ALL, 183.9, [64.28, 60.39, 96.28, 86.57]),
    rank!(Esp32s3, "minimum", 3, 6, 6, 6, 6, 6, WIFI, 273.6, [23.17, 18.11, 48.78, 59.45]),
    rank!(Esp32c2, "iperf", 14, 18, 18, 16, 18, 18, ALL, 37.0, [21.6, 19.1, 26.4, 32.3]),
    rank!(Esp32c2, "default", 7, 14, 14, 12, 14, 14, ALL, 56.0, [21.4, 17.9, 26.3, 31.5]),
    rank!(Esp32c2, "minimum", 3, 6, 6, 6, 6, 6, WIFI, 84.0, [14.3, 12.4, 25.0, 27.7]),
    rank!(Esp32c3, "iperf", 20, 40, 40, 32, 40, 40, ALL, 59.0, [38.1, 35.3, 40.6, 52.4]),
    rank!(Esp32c3, "default", 8, 16, 16, 16, 16, 16, ALL, 160.0, [27.2, 24.2, 38.9, 44.5]),
    rank!(Esp32c3, "minimum", 3, 6, 6, 6, 6, 6, WIFI, 180.0, [20.4, 17.4, 34.1, 44.2]),
    rank!(Esp32c6, "iperf", 20, 40, 40, 32, 40, 40, ALL, 223.0, [30.5, 27.8, 37.8, 41.5]),
    rank!(Esp32c6, "default", 8, 16, 16, 16, 16, 16, ALL, 276.0, [25.9, 21.6, 36.1, 36.8]),
    rank!(Esp32c6, "minimum", 3, 6, 6, 6, 6, 6, WIFI, 299.0, [16.4, 14.3, 34.6, 36.7]),
];

/// Greatest window without window scaling, in bytes; the document writes "65 KB".
const MOST: u32 = 65_535;

/// Number of flags and numbers that a distance compares.
const TERMS: u32 = 9;

impl Rank {
    /// Returns the ranks of a chip.
    pub fn of(chip: Chip) -> impl Iterator<Item = &'static Self> {
        RANKS.iter().filter(move |it| it.chip == chip)
    }

    /// Returns the settings of the rank. Options that the document's table does not name are left
    /// out: they "should be set to the default".
    ///
    /// Where the table says "Disable" for the window of received aggregates, none are sent either:
    /// the ESP32 then sends half of what it sends with half as many buffers again, and a driver that
    /// aggregates sends with so few as fast as with more (docs/fit.md).
    #[must_use]
    pub fn settings(&self) -> OptionValues {
        let mut settings = OptionValues::default();
        let bytes = |kb: u16| (u32::from(kb) * 1024).min(MOST);
        for (key, value) in [
            (ConfigOption::StaticRx, self.static_rx.into()),
            (ConfigOption::DynamicRx, self.dynamic_rx.into()),
            (ConfigOption::DynamicTx, self.dynamic_tx.into()),
            (ConfigOption::AmpduRx, u32::from(self.rx_ba_window > 0)),
            (ConfigOption::AmpduTx, u32::from(self.rx_ba_window > 0)),
            (ConfigOption::SendBuffer, bytes(self.send_buffer_kb)),
            (ConfigOption::Window, bytes(self.window_kb)),
            (ConfigOption::WifiIram, self.iram[0].into()),
            (ConfigOption::WifiRxIram, self.iram[1].into()),
            (ConfigOption::LwipIram, self.iram[2].into()),
        ] {
            settings.set(key, value);
        }
        if self.rx_ba_window > 0 {
            settings.set(ConfigOption::RxBaWindow, self.rx_ba_window.into());
        }
        settings
    }

    /// Computes how far a firmware is from the rank, in doublings: the mean, over the six numbers
    /// and the three flags of the document's table, of the number of doublings from one value to
    /// the other; a flag that differs counts as one. 0 is the rank itself; at 1 each value is twice
    /// or half the rank's.
    #[must_use]
    pub fn distance(&self, config: &SdkConfig) -> f64 {
        let context = SdkContext { chip: self.chip, ..SdkContext::default() };
        let rank = self.settings().config(&context);
        let numbers = [
            (u32::from(config.static_rx), u32::from(rank.static_rx)),
            (limited(config.dynamic_rx), limited(rank.dynamic_rx)),
            (config.tx.into(), rank.tx.into()),
            (config.rx_ba_window.into(), rank.rx_ba_window.into()),
            (config.tcp_send_buffer, rank.tcp_send_buffer),
            (config.tcp_window, rank.tcp_window),
        ];
        let flags = [
            config.wifi_iram != rank.wifi_iram,
            config.wifi_rx_iram != rank.wifi_rx_iram,
            config.lwip_iram != rank.lwip_iram,
        ];
        let numbers: f64 = numbers.iter().map(|(a, b)| doublings(*a, *b)).sum();
        let flags = flags.iter().filter(|it| **it).count();
        (numbers + flags as f64) / f64::from(TERMS)
    }

    /// Finds the rank of a chip that is nearest to a firmware, and its distance; `None` for a chip
    /// whose document has no ranks.
    #[must_use]
    pub fn nearest(chip: Chip, config: &SdkConfig) -> Option<(&'static Self, f64)> {
        let with = |rank: &'static Self| (rank, rank.distance(config));
        Self::of(chip).map(with).min_by(|a, b| a.1.total_cmp(&b.1))
    }
}

/// Replaces 0, which means no limit, by the greatest value that can be set.
const fn limited(buffers: u16) -> u32 {
    if buffers == 0 { 128 } else { buffers as u32 }
}

/// Computes the doublings from one number to the other; 0 counts as 1.
fn doublings(a: u32, b: u32) -> f64 {
    let log = |value: u32| log2(f64::from(value.max(1)));
    let difference = log(a) - log(b);
    if difference < 0.0 { -difference } else { difference }
}

/// Computes the logarithm to base 2 of a number of at least 1; `core` has no logarithm.
///
/// Whole powers are divided off; the rest, from 1 to 2, follows from the series of the inverse
/// hyperbolic tangent (Abramowitz and Stegun 4.1.27), whose error after 12 terms is below 1e-12
/// there.
fn log2(value: f64) -> f64 {
    let (mut rest, mut whole) = (value, 0.0);
    while rest >= 2.0 {
        rest /= 2.0;
        whole += 1.0;
    }
    let ratio = (rest - 1.0) / (rest + 1.0);
    let (mut sum, mut power) = (0.0, ratio);
    for term in 0..12 {
        sum += power / f64::from(2 * term + 1);
        power *= ratio * ratio;
    }
    whole + 2.0 * sum / core::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_is_nearest_to_itself() {
        for rank in RANKS {
            let config =
                rank.settings().config(&SdkContext { chip: rank.chip, ..SdkContext::default() });
            let (nearest, distance) = Rank::nearest(rank.chip, &config).unwrap();
            assert_eq!((nearest, distance), (rank, 0.0));
        }
        assert!(Rank::nearest(Chip::Esp32c61, &SdkConfig::default()).is_none());
    }

    #[test]
    fn twice_each_value_is_one_away_but_for_the_flags() {
        let rank = Rank::of(Chip::Esp32c3).find(|it| it.name == "default").unwrap();
        let mut config = rank.settings().config(&SdkContext::default());
        config.static_rx *= 2;
        config.dynamic_rx *= 2;
        config.tx /= 2;
        config.rx_ba_window *= 2;
        config.tcp_send_buffer *= 2;
        config.tcp_window /= 2;
        assert!((rank.distance(&config) - 6.0 / 9.0).abs() < 1e-9);
        config.lwip_iram = !config.lwip_iram;
        assert!((rank.distance(&config) - 7.0 / 9.0).abs() < 1e-9);
    }

    #[test]
    fn the_defaults_of_the_build_are_not_the_default_rank() {
        let (rank, distance) = Rank::nearest(Chip::Esp32c3, &SdkConfig::default()).unwrap();
        assert_eq!(rank.name, "minimum");
        assert!(distance > 0.5, "{distance}");
    }

    #[test]
    fn logarithms_are_those_of_the_platform() {
        for value in [1.0, 1.5, 2.0, 6.0, 5760.0, 65_535.0, 1_024_000.0] {
            assert!((log2(value) - f64::log2(value)).abs() < 1e-10, "{value}");
        }
    }
}

//! Transmit power and sensitivity of chips, from their datasheets.

use super::error::Curve;
use super::mode::{ChannelWidth, Ht, WifiMode};

/// A chip. [`RadioChip::sources`] gives the sources of its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RadioChip {
    /// ESP32.
    Esp32,
    /// ESP32-S2.
    Esp32S2,
    /// ESP32-S3.
    Esp32S3,
    /// ESP32-C2, which is the ESP8684.
    Esp32C2,
    /// ESP32-C3.
    Esp32C3,
    /// ESP32-C6.
    Esp32C6,
    /// ESP8266.
    Esp8266,
}

/// A value that the datasheet does not give.
const UNKNOWN: f64 = f64::NAN;

/// The radio numbers of a datasheet, in dBm, slow rates first.
struct Datasheet {
    /// The chip's name in `CONFIG_IDF_TARGET`.
    name: &'static str,
    /// The source of the powers.
    power_source: &'static str,
    /// The source of the sensitivities.
    sensitivity_source: &'static str,
    /// Whether the chip supports channels of 40 MHz. If not, no row of HT40 is used.
    wide: bool,
    /// The power at the slowest and the fastest rate of 11b, 11g, HT20 and HT40.
    power: [(f64, f64); 4],
    /// The sensitivities by mode.
    hr: [f64; 4],
    ofdm: [f64; 8],
    ht20: [f64; 8],
    ht40: [f64; 8],
}

const ESP32: Datasheet = Datasheet {
    name: "esp32",
    power_source: "ESP32-WROOM-32E & WROOM-32UE Datasheet v2.0, Table 20",
    sensitivity_source: "ESP32-WROOM-32E & WROOM-32UE Datasheet v2.0, Table 21",
    wide: true,
    power: [(19.5, 19.5), (18., 14.), (18., 13.), (18., 13.)],
    hr: [-97., -94., -92., -88.],
    ofdm: [-93., -91., -89., -87., -84., -80., -77., -75.],
    ht20: [-92., -88., -86., -83., -80., -76., -74., -72.],
    ht40: [-89., -85., -83., -80., -76., -72., -71., -69.],
};
const ESP32_S2: Datasheet = Datasheet {
    name: "esp32s2",
    power_source: "ESP32-S2 Series Datasheet v1.8, Table 6-2",
    sensitivity_source: "an assumption: those of the ESP32, of the generation before; Table 6-4 of its datasheet was not at hand",
    power: [(19.5, 19.5), (18., 18.), (18., 17.), (18., 16.5)],
    ..ESP32
};
const ESP32_S3: Datasheet = Datasheet {
    name: "esp32s3",
    power_source: "ESP32-S3 Series Datasheet v2.2, Table 6-2",
    sensitivity_source: "ESP32-S3 Series Datasheet v2.2, Table 6-4",
    wide: true,
    power: [(21., 21.), (20.5, 19.), (19.5, 18.5), (19.5, 18.)],
    hr: [-98.4, -95.4, -93.0, -88.6],
    ofdm: [-93.2, -91.8, -91.2, -88.6, -86.0, -82.4, -78.2, -76.5],
    ht20: [-92.6, -91.0, -88.2, -85.0, -81.8, -77.4, -75.8, -74.2],
    ht40: [-90.0, -88.0, -85.2, -82.0, -79.0, -74.4, -72.8, -71.4],
};
const ESP32_C3: Datasheet = Datasheet {
    name: "esp32c3",
    power_source: "ESP32-C3 Series Datasheet v2.4, Table 6-2",
    sensitivity_source: "ESP32-C3 Series Datasheet v2.4, Table 6-4",
    wide: true,
    power: [(21., 21.), (21., 19.), (20., 18.5), (20., 18.5)],
    hr: [-98.4, -96.0, -93.0, -88.6],
    ofdm: [-93.8, -92.2, -91.0, -88.4, -85.8, -82.0, -78.0, -76.6],
    ht20: [-93.6, -90.8, -88.4, -85.0, -81.8, -77.8, -76.0, -74.8],
    ht40: [-90.0, -88.0, -85.2, -82.0, -78.8, -74.6, -73.0, -71.4],
};
const ESP32_C2: Datasheet = Datasheet {
    name: "esp32c2",
    power_source: "Espressif's developer portal, ESP32-C2 and Why It Matter-s, 2022: 20 dBm at low rates, 18 dBm at HT20 MCS 7; the datasheet was not at hand",
    sensitivity_source: "as power: -97 to -100 dBm at 1 Mbit/s, here the middle; all else is an assumption: as the ESP32-C3",
    wide: false,
    power: [(20., 20.), (20., 18.), (20., 18.), (20., 18.)],
    hr: [-98.5, -96.0, -93.0, -88.6],
    ht40: [UNKNOWN; 8],
    ..ESP32_C3
};
const ESP32_C6: Datasheet = Datasheet {
    name: "esp32c6",
    power_source: "ESP32-C6 Series Datasheet v0.5, Table 5-2",
    sensitivity_source: "ESP32-C6 Series Datasheet v0.5, Table 5-4",
    wide: true,
    power: [(21., 21.), (20.5, 19.5), (19.5, 18.5), (19., 18.)],
    hr: [-99.2, -96.8, -93.8, -90.0],
    ofdm: [-94.0, -93.2, -92.6, -90.0, -86.8, -83.2, -79.0, -77.6],
    ht20: [-93.6, -92.4, -89.6, -86.2, -82.8, -78.8, -77.2, -75.6],
    ht40: [-91.0, -90.0, -87.4, -83.8, -80.8, -76.6, -75.0, -73.4],
};
const ESP8266: Datasheet = Datasheet {
    name: "esp8266",
    power_source: "ESP-07 module, which repeats the ESP8266 datasheet: 11b, and HT20 MCS 7, here for all of OFDM and HT",
    sensitivity_source: "ESP-07 module, which repeats the ESP8266 datasheet: 1, 11, 6, 54 Mbit/s and HT20 MCS 7; the others are filled in",
    wide: false,
    power: [(18.5, 18.5), (15., 15.), (15., 15.), (15., 15.)],
    hr: [-98., UNKNOWN, UNKNOWN, -91.],
    ofdm: [-93., UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, -75.],
    ht20: [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, -72.],
    ht40: [UNKNOWN; 8],
};

impl RadioChip {
    /// All chips.
    pub const ALL: [Self; 7] = [
        Self::Esp32,
        Self::Esp32S2,
        Self::Esp32S3,
        Self::Esp32C2,
        Self::Esp32C3,
        Self::Esp32C6,
        Self::Esp8266,
    ];

    const fn sheet(self) -> &'static Datasheet {
        match self {
            Self::Esp32 => &ESP32,
            Self::Esp32S2 => &ESP32_S2,
            Self::Esp32S3 => &ESP32_S3,
            Self::Esp32C2 => &ESP32_C2,
            Self::Esp32C3 => &ESP32_C3,
            Self::Esp32C6 => &ESP32_C6,
            Self::Esp8266 => &ESP8266,
        }
    }

    /// Returns the chip's name in `CONFIG_IDF_TARGET` and in the published cells.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.sheet().name
    }

    /// Returns the source of the powers and the source of the sensitivities.
    #[must_use]
    pub const fn sources(self) -> [&'static str; 2] {
        [self.sheet().power_source, self.sheet().sensitivity_source]
    }

    /// Returns whether the chip can send in a mode.
    #[must_use]
    pub const fn sends(self, mode: WifiMode) -> bool {
        self.sheet().wide || !matches!(mode, WifiMode::Ht(Ht { width: ChannelWidth::Mhz40, .. }))
    }

    /// Returns the transmit power of a mode in dBm, where software sets no lower limit. The
    /// datasheet gives the slowest and the fastest rate of each kind; the others are interpolated.
    #[must_use]
    pub fn power_dbm(self, mode: WifiMode) -> f64 {
        let (kind, step, steps) = match mode {
            WifiMode::Hr(_) => (0, Curve::of(mode) as u8, 3),
            WifiMode::Ofdm(ofdm) => (1, ofdm as u8, 7),
            WifiMode::Ht(Ht { mcs, width: ChannelWidth::Mhz20, .. }) => (2, mcs as u8, 7),
            WifiMode::Ht(Ht { mcs, .. }) => (3, mcs as u8, 7),
        };
        let (slow, fast) = self.sheet().power[kind];
        slow + (fast - slow) * f64::from(step) / f64::from(steps)
    }

    /// Returns the sensitivity of a mode in dBm, at the standard's frame error rate; `None` where
    /// the datasheet has no row.
    #[must_use]
    pub fn sensitivity_dbm(self, mode: WifiMode) -> Option<f64> {
        let sheet = self.sheet();
        let dbm = match mode {
            WifiMode::Hr(_) => sheet.hr[Curve::of(mode) as usize],
            WifiMode::Ofdm(ofdm) => sheet.ofdm[ofdm as usize],
            WifiMode::Ht(ht) if matches!(ht.width, ChannelWidth::Mhz20) => {
                sheet.ht20[ht.mcs as usize]
            }
            WifiMode::Ht(ht) => sheet.ht40[ht.mcs as usize],
        };
        (!dbm.is_nan()).then_some(dbm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::mode::{GuardInterval, Hr, Mcs, Ofdm};

    #[test]
    fn datasheets_are_read_in_their_rows() {
        let ht = |mcs, width| WifiMode::ht(mcs, width, GuardInterval::Short);
        let c3 =
            |mode| (RadioChip::Esp32C3.power_dbm(mode), RadioChip::Esp32C3.sensitivity_dbm(mode));
        assert_eq!(c3(WifiMode::Hr(Hr::M1)), (21.0, Some(-98.4)));
        assert_eq!(c3(WifiMode::Hr(Hr::M11Short)), (21.0, Some(-88.6)));
        assert_eq!(c3(WifiMode::Ofdm(Ofdm::M54)), (19.0, Some(-76.6)));
        assert_eq!(c3(ht(Mcs::Mcs0, ChannelWidth::Mhz20)), (20.0, Some(-93.6)));
        assert_eq!(c3(ht(Mcs::Mcs7, ChannelWidth::Mhz40)), (18.5, Some(-71.4)));
        assert_eq!(RadioChip::Esp8266.sensitivity_dbm(WifiMode::Hr(Hr::M2)), None);
        let s2 =
            |mode| (RadioChip::Esp32S2.power_dbm(mode), RadioChip::Esp32S2.sensitivity_dbm(mode));
        assert_eq!(s2(WifiMode::Ofdm(Ofdm::M54)), (18.0, Some(-75.0)));
        assert_eq!(s2(ht(Mcs::Mcs7, ChannelWidth::Mhz40)), (16.5, Some(-69.0)));
        let c2 =
            |mode| (RadioChip::Esp32C2.power_dbm(mode), RadioChip::Esp32C2.sensitivity_dbm(mode));
        assert_eq!(c2(WifiMode::Hr(Hr::M1)), (20.0, Some(-98.5)));
        assert_eq!(c2(ht(Mcs::Mcs7, ChannelWidth::Mhz20)), (18.0, Some(-74.8)));
        assert!(!RadioChip::Esp32C2.sends(ht(Mcs::Mcs0, ChannelWidth::Mhz40)));
        assert!(RadioChip::Esp32C3.sends(ht(Mcs::Mcs0, ChannelWidth::Mhz40)));
        // Half way from 18 dBm to 14 dBm lies between 18 and 24 Mbit/s.
        let esp32 = |ofdm| RadioChip::Esp32.power_dbm(WifiMode::Ofdm(ofdm));
        assert_eq!(esp32(Ofdm::M18) + esp32(Ofdm::M24), 32.0);
    }

    #[test]
    fn faster_needs_more() {
        for chip in RadioChip::ALL {
            for family in [0..4, 7..15, 15..23, 31..39] {
                let known =
                    WifiMode::ALL[family].iter().filter_map(|&mode| chip.sensitivity_dbm(mode));
                assert!(known.is_sorted_by(|slow, fast| slow < fast), "{chip:?}");
            }
        }
    }
}

//! Transmit power and sensitivity of chips, from their datasheets.

use super::channel::Channel;
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
    /// ESP32-C5.
    Esp32C5,
    /// ESP32-C61.
    Esp32C61,
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
    /// The power at HE20 MCS 0 and MCS 9; `None` for a chip without 802.11ax.
    power_he: Option<(f64, f64)>,
    /// The power at the slowest and the fastest rate of 11a, HT20, HT40 and HE20 in 5 GHz; `None` for a chip without
    /// this band.
    power_5_ghz: Option<[(f64, f64); 4]>,
    /// Whether the chip has Espressif's Long Range (ESP-IDF Programming Guide of the chip, Wi-Fi Driver, feature list).
    long_range: bool,
    /// The sensitivities by mode.
    hr: [f64; 4],
    ofdm: [f64; 8],
    ht20: [f64; 8],
    ht40: [f64; 8],
    he20: [f64; 10],
}

const ESP32: Datasheet = Datasheet {
    name: "esp32",
    power_source: "ESP32-WROOM-32E & WROOM-32UE Datasheet v2.0, Table 20",
    sensitivity_source: "ESP32-WROOM-32E & WROOM-32UE Datasheet v2.0, Table 21",
    wide: true,
    power: [(19.5, 19.5), (18., 14.), (18., 13.), (18., 13.)],
    power_he: None,
    power_5_ghz: None,
    long_range: true,
    hr: [-97., -94., -92., -88.],
    ofdm: [-93., -91., -89., -87., -84., -80., -77., -75.],
    ht20: [-92., -88., -86., -83., -80., -76., -74., -72.],
    ht40: [-89., -85., -83., -80., -76., -72., -71., -69.],
    he20: [UNKNOWN; 10],
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
    power_he: None,
    power_5_ghz: None,
    long_range: true,
    hr: [-98.4, -95.4, -93.0, -88.6],
    ofdm: [-93.2, -91.8, -91.2, -88.6, -86.0, -82.4, -78.2, -76.5],
    ht20: [-92.6, -91.0, -88.2, -85.0, -81.8, -77.4, -75.8, -74.2],
    ht40: [-90.0, -88.0, -85.2, -82.0, -79.0, -74.4, -72.8, -71.4],
    he20: [UNKNOWN; 10],
};
const ESP32_C3: Datasheet = Datasheet {
    name: "esp32c3",
    power_source: "ESP32-C3 Series Datasheet v2.4, Table 6-2",
    sensitivity_source: "ESP32-C3 Series Datasheet v2.4, Table 6-4",
    wide: true,
    power: [(21., 21.), (21., 19.), (20., 18.5), (20., 18.5)],
    power_he: None,
    power_5_ghz: None,
    long_range: true,
    hr: [-98.4, -96.0, -93.0, -88.6],
    ofdm: [-93.8, -92.2, -91.0, -88.4, -85.8, -82.0, -78.0, -76.6],
    ht20: [-93.6, -90.8, -88.4, -85.0, -81.8, -77.8, -76.0, -74.8],
    ht40: [-90.0, -88.0, -85.2, -82.0, -78.8, -74.6, -73.0, -71.4],
    he20: [UNKNOWN; 10],
};
const ESP32_C2: Datasheet = Datasheet {
    name: "esp32c2",
    power_source: "Espressif's developer portal, ESP32-C2 and Why It Matter-s, 2022: 20 dBm at low rates, 18 dBm at HT20 MCS 7; the datasheet was not at hand",
    sensitivity_source: "as power: -97 to -100 dBm at 1 Mbit/s, here the middle; all else is an assumption: as the ESP32-C3",
    wide: false,
    power: [(20., 20.), (20., 18.), (20., 18.), (20., 18.)],
    hr: [-98.5, -96.0, -93.0, -88.6],
    long_range: false,
    ht40: [UNKNOWN; 8],
    ..ESP32_C3
};
const ESP32_C6: Datasheet = Datasheet {
    name: "esp32c6",
    power_source: "ESP32-C6 Series Datasheet v0.5, Table 5-2",
    sensitivity_source: "ESP32-C6 Series Datasheet v0.5, Table 5-4",
    wide: true,
    power: [(21., 21.), (20.5, 19.5), (19.5, 18.5), (19., 18.)],
    power_he: Some((19.5, 16.5)),
    power_5_ghz: None,
    long_range: true,
    hr: [-99.2, -96.8, -93.8, -90.0],
    ofdm: [-94.0, -93.2, -92.6, -90.0, -86.8, -83.2, -79.0, -77.6],
    ht20: [-93.6, -92.4, -89.6, -86.2, -82.8, -78.8, -77.2, -75.6],
    ht40: [-91.0, -90.0, -87.4, -83.8, -80.8, -76.6, -75.0, -73.4],
    he20: [-93.8, -91.2, -88.4, -85.6, -82.2, -78.4, -76.6, -74.8, -71.0, -69.0],
};
const ESP8266: Datasheet = Datasheet {
    name: "esp8266",
    power_source: "ESP-07 module, which repeats the ESP8266 datasheet: 11b, and HT20 MCS 7, here for all of OFDM and HT",
    sensitivity_source: "ESP-07 module, which repeats the ESP8266 datasheet: 1, 11, 6, 54 Mbit/s and HT20 MCS 7; the others are filled in",
    wide: false,
    power: [(18.5, 18.5), (15., 15.), (15., 15.), (15., 15.)],
    power_he: None,
    power_5_ghz: None,
    long_range: false,
    hr: [-98., UNKNOWN, UNKNOWN, -91.],
    ofdm: [-93., UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, -75.],
    ht20: [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, -72.],
    ht40: [UNKNOWN; 8],
    he20: [UNKNOWN; 10],
};
const ESP32_C5: Datasheet = Datasheet {
    name: "esp32c5",
    power_source: "ESP32-C5 Series Datasheet v1.0, Table 6-2; in 5 GHz ESP32-C5-WROOM-1 & WROOM-1U Datasheet v0.8, Table 6-5, 11a and MCS 7, the others filled in",
    sensitivity_source: "an assumption: those of the ESP32-C6, in both bands; the table of the ESP32-C5 was not at hand",
    power: [(20., 20.), (19., 17.), (19., 17.), (18., 16.)],
    power_he: Some((19., 15.)),
    power_5_ghz: Some([(17.5, 15.), (17.5, 14.6), (17.5, 14.4), (17.5, 14.4)]),
    ..ESP32_C6
};
const ESP32_C61: Datasheet = Datasheet {
    name: "esp32c61",
    power_source: "ESP32-C61 Series Datasheet v0.5, Table 6-2",
    sensitivity_source: "an assumption: those of the ESP32-C6; the table of the ESP32-C61 was not at hand",
    power: [(21., 21.), (20., 19.), (19., 18.), (18.5, 17.5)],
    power_he: Some((19., 15.)),
    ..ESP32_C6
};

impl RadioChip {
    /// All chips.
    pub const ALL: [Self; 9] = [
        Self::Esp32,
        Self::Esp32S2,
        Self::Esp32S3,
        Self::Esp32C2,
        Self::Esp32C3,
        Self::Esp32C6,
        Self::Esp8266,
        Self::Esp32C5,
        Self::Esp32C61,
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
            Self::Esp32C5 => &ESP32_C5,
            Self::Esp32C61 => &ESP32_C61,
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

    /// Returns whether the chip has Bluetooth, on the same radio as Wi-Fi (datasheets, section "Bluetooth").
    #[must_use]
    pub const fn has_bluetooth(self) -> bool {
        !matches!(self, Self::Esp32S2 | Self::Esp8266)
    }

    /// Returns whether the chip can send in a mode, in one of its bands.
    #[must_use]
    pub const fn sends(self, mode: WifiMode) -> bool {
        let sheet = self.sheet();
        match mode {
            WifiMode::Ht(Ht { width: ChannelWidth::Mhz40, .. }) => sheet.wide,
            WifiMode::He(_) => sheet.power_he.is_some(),
            WifiMode::Lr(_) => sheet.long_range,
            WifiMode::Hr(_) | WifiMode::Ofdm(_) | WifiMode::Ht(_) => true,
        }
    }

    /// Returns whether the chip has the 5 GHz band (`SOC_WIFI_SUPPORT_5G` of ESP-IDF).
    #[must_use]
    pub const fn has_5_ghz(self) -> bool {
        self.sheet().power_5_ghz.is_some()
    }

    /// Returns the transmit power of a mode in dBm in 2.4 GHz, where software sets no lower limit. The
    /// datasheet gives the slowest and the fastest rate of each kind; the others are interpolated. Long Range is
    /// assumed to have the power of 1 Mbit/s.
    #[must_use]
    pub fn power_dbm(self, mode: WifiMode) -> f64 {
        let sheet = self.sheet();
        if let WifiMode::He(he) = mode {
            let (slow, fast) = sheet.power_he.unwrap_or(sheet.power[2]);
            return slow + (fast - slow) * f64::from(he.mcs()) / 9.0;
        }
        let (kind, step, steps) = match mode {
            WifiMode::Hr(_) => (0, Curve::of(mode) as u8, 3),
            WifiMode::Ofdm(ofdm) => (1, ofdm as u8, 7),
            WifiMode::Ht(Ht { mcs, width: ChannelWidth::Mhz20, .. }) => (2, mcs as u8, 7),
            WifiMode::Ht(Ht { mcs, .. }) => (3, mcs as u8, 7),
            WifiMode::He(_) | WifiMode::Lr(_) => (0, 0, 3),
        };
        let (slow, fast) = sheet.power[kind];
        slow + (fast - slow) * f64::from(step) / f64::from(steps)
    }

    /// Returns the transmit power of a mode in dBm in 5 GHz; `None` for a chip without this band, and a mode that the
    /// band does not have.
    #[must_use]
    pub fn power_5_ghz_dbm(self, mode: WifiMode) -> Option<f64> {
        let (kind, step, steps) = match mode {
            WifiMode::Ofdm(ofdm) => (0, ofdm as u8, 7),
            WifiMode::Ht(Ht { mcs, width: ChannelWidth::Mhz20, .. }) => (1, mcs as u8, 7),
            WifiMode::Ht(Ht { mcs, .. }) => (2, mcs as u8, 7),
            WifiMode::He(he) => (3, he.mcs(), 9),
            WifiMode::Hr(_) | WifiMode::Lr(_) => return None,
        };
        let (slow, fast) = self.sheet().power_5_ghz?[kind];
        Some(slow + (fast - slow) * f64::from(step) / f64::from(steps))
    }

    /// Returns the transmit power of a mode in dBm on a channel: that of its band, where the chip has it and the band has the
    /// mode, else that in 2.4 GHz.
    #[must_use]
    pub fn power_on_dbm(self, mode: WifiMode, channel: u8) -> f64 {
        let is_5_ghz = Channel::of(channel).is_some_and(Channel::is_5_ghz);
        let high = if is_5_ghz { self.power_5_ghz_dbm(mode) } else { None };
        high.unwrap_or_else(|| self.power_dbm(mode))
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
            // The tables do not tell guard intervals apart, and have neither DCM nor ER SU.
            WifiMode::He(he) if he.gain_db() == 0.0 && !he.is_extended() => {
                sheet.he20[usize::from(he.mcs())]
            }
            WifiMode::He(_) | WifiMode::Lr(_) => UNKNOWN,
        };
        (!dbm.is_nan()).then_some(dbm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::mode::{GuardInterval, Hr, LongRange, Mcs, Ofdm};
    use crate::radio::{He, HeFormat, HeGuard};

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
        let he = |mcs| WifiMode::He(He::of(mcs, HeGuard::Us08, HeFormat::Su, false).unwrap());
        let c6 = RadioChip::Esp32C6;
        assert_eq!((c6.power_dbm(he(9)), c6.sensitivity_dbm(he(9))), (16.5, Some(-69.0)));
        let c5 = RadioChip::Esp32C5;
        assert_eq!((c5.power_dbm(he(0)), c5.power_dbm(he(9))), (19.0, 15.0));
        assert_eq!(c5.power_5_ghz_dbm(WifiMode::Ofdm(Ofdm::M6)), Some(17.5));
        assert_eq!(c5.power_5_ghz_dbm(WifiMode::ESP_NOW), None);
        let sends = |mode| RadioChip::ALL.into_iter().filter(move |it| it.sends(mode)).count();
        assert_eq!([he(0), WifiMode::Lr(LongRange::K250), WifiMode::ESP_NOW].map(sends), [3, 7, 9]);
        assert_eq!(RadioChip::ALL.into_iter().filter(|it| it.has_5_ghz()).count(), 1);
        // Half way from 18 dBm to 14 dBm lies between 18 and 24 Mbit/s.
        let esp32 = |ofdm| RadioChip::Esp32.power_dbm(WifiMode::Ofdm(ofdm));
        assert_eq!(esp32(Ofdm::M18) + esp32(Ofdm::M24), 32.0);
    }

    #[test]
    fn faster_needs_more() {
        for chip in RadioChip::ALL {
            for family in [0..4, 7..15, 15..23, 31..39, 47..57] {
                let known =
                    WifiMode::ALL[family].iter().filter_map(|&mode| chip.sensitivity_dbm(mode));
                assert!(known.is_sorted_by(|slow, fast| slow < fast), "{chip:?}");
            }
        }
    }
}

//! What the receivers of chips can hear: sensitivities from datasheets, as noise and a correction
//! for each mode.
//!
//! A datasheet says at which power a mode loses 8 % (11b) or 10 % (11g, 11n) of frames of the
//! standard's length: 1024 octets (16.3.8.2), 1000 (17.3.10.2) or 4096 (19.3.19.1). The error
//! models say which ratio of signal to noise that takes. What lies between is noise of the chip
//! and what its demodulator does worse, or better, than the model. A datasheet cannot tell the two
//! apart, so a noise figure is assumed ([`NOISE_FIGURE_DB`]), and the rest is a correction of the
//! mode, which holds against interference, too. It is often negative with OFDM: the model's decoder
//! is told bits, that of a chip how sure each bit is, which is worth some 2 dB.
//!
//! So every mode of a chip has, without interference, just the sensitivity that its datasheet
//! claims.

use super::error::Curve;
use super::mode::{Ht, Mode, Preamble, Width};
use super::power::milliwatts;

/// A chip whose datasheet is known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Chip {
    /// ESP32: ESP32-WROOM-32E & WROOM-32UE Datasheet v2.0, Table 21.
    Esp32,
    /// ESP32-S3: ESP32-S3 Series Datasheet v2.2, Table 6-4.
    Esp32S3,
    /// ESP32-C3: ESP32-C3 Series Datasheet v2.4, Table 6-4.
    Esp32C3,
    /// ESP32-C6: ESP32-C6 Series Datasheet v0.5, Table 5-4.
    Esp32C6,
    /// ESP8266: its datasheet has five rows (1, 11, 6, 54 Mbit/s, HT20 MCS 7), as the module
    /// ESP-07's repeats them; the correction of the others is that of their neighbours.
    Esp8266,
}

/// The noise figure of all chips: an assumption, in the range of CMOS receivers.
pub const NOISE_FIGURE_DB: f64 = 3.0;

/// Not in the datasheet.
const UNKNOWN: f64 = f64::NAN;

/// Sensitivities in dBm, slow rates first.
struct Sheet {
    hr: [f64; 4],
    ofdm: [f64; 8],
    ht20: [f64; 8],
    ht40: [f64; 8],
}

const ESP32: Sheet = Sheet {
    hr: [-97., -94., -92., -88.],
    ofdm: [-93., -91., -89., -87., -84., -80., -77., -75.],
    ht20: [-92., -88., -86., -83., -80., -76., -74., -72.],
    ht40: [-89., -85., -83., -80., -76., -72., -71., -69.],
};
const ESP32_S3: Sheet = Sheet {
    hr: [-98.4, -95.4, -93.0, -88.6],
    ofdm: [-93.2, -91.8, -91.2, -88.6, -86.0, -82.4, -78.2, -76.5],
    ht20: [-92.6, -91.0, -88.2, -85.0, -81.8, -77.4, -75.8, -74.2],
    ht40: [-90.0, -88.0, -85.2, -82.0, -79.0, -74.4, -72.8, -71.4],
};
const ESP32_C3: Sheet = Sheet {
    hr: [-98.4, -96.0, -93.0, -88.6],
    ofdm: [-93.8, -92.2, -91.0, -88.4, -85.8, -82.0, -78.0, -76.6],
    ht20: [-93.6, -90.8, -88.4, -85.0, -81.8, -77.8, -76.0, -74.8],
    ht40: [-90.0, -88.0, -85.2, -82.0, -78.8, -74.6, -73.0, -71.4],
};
const ESP32_C6: Sheet = Sheet {
    hr: [-99.2, -96.8, -93.8, -90.0],
    ofdm: [-94.0, -93.2, -92.6, -90.0, -86.8, -83.2, -79.0, -77.6],
    ht20: [-93.6, -92.4, -89.6, -86.2, -82.8, -78.8, -77.2, -75.6],
    ht40: [-91.0, -90.0, -87.4, -83.8, -80.8, -76.6, -75.0, -73.4],
};
const ESP8266: Sheet = Sheet {
    hr: [-98., UNKNOWN, UNKNOWN, -91.],
    ofdm: [-93., UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, -75.],
    ht20: [UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, -72.],
    ht40: [UNKNOWN; 8],
};

impl Chip {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Esp32, Self::Esp32S3, Self::Esp32C3, Self::Esp32C6, Self::Esp8266];

    const fn sheet(self) -> &'static Sheet {
        match self {
            Self::Esp32 => &ESP32,
            Self::Esp32S3 => &ESP32_S3,
            Self::Esp32C3 => &ESP32_C3,
            Self::Esp32C6 => &ESP32_C6,
            Self::Esp8266 => &ESP8266,
        }
    }

    /// The power at which a mode reaches the standard's frame error rate, by the datasheet; nothing
    /// where that has no row.
    #[must_use]
    pub fn sensitivity_dbm(self, mode: Mode) -> Option<f64> {
        let sheet = self.sheet();
        let dbm = match mode {
            Mode::Hr(_) => sheet.hr[Curve::of(mode) as usize],
            Mode::Ofdm(ofdm) => sheet.ofdm[ofdm as usize],
            Mode::Ht(ht) if matches!(ht.width, Width::Mhz20) => sheet.ht20[ht.mcs as usize],
            Mode::Ht(ht) => sheet.ht40[ht.mcs as usize],
        };
        (!dbm.is_nan()).then_some(dbm)
    }
}

/// The power density of thermal noise at 290 K: 10 log10(k T / 1 mW) for each hertz.
const THERMAL_DBM_HZ: f64 = -173.975;

/// The thermal noise in the bandwidth of a mode.
#[must_use]
pub fn thermal_dbm(mode: Mode) -> f64 {
    THERMAL_DBM_HZ + 10.0 * libm::log10(f64::from(mode.bandwidth_mhz()) * 1e6)
}

/// Below this share of lost frames, of so many octets, a mode counts as received.
#[must_use]
pub const fn reference_frame(mode: Mode) -> (u32, f64) {
    match mode {
        Mode::Hr(_) => (1024, 0.08),
        Mode::Ofdm(_) => (1000, 0.1),
        Mode::Ht(_) => (4096, 0.1),
    }
}

/// A receiver, ready for a medium: noise, and the correction of each mode.
#[derive(Clone, Debug)]
pub struct Receiver {
    noise_mw: [f64; Mode::COUNT],
    correction_db: [f64; Mode::COUNT],
}

impl Receiver {
    /// The receiver of a chip.
    #[must_use]
    pub fn of(chip: Chip) -> Self {
        let needed = Mode::ALL.map(|mode| {
            let (octets, loss) = reference_frame(mode);
            thermal_dbm(mode) + Curve::of(mode).required_db(octets, loss)
        });
        // How much more than an ideal receiver each mode needs.
        let mut excess = Mode::ALL.map(|mode| {
            chip.sensitivity_dbm(mode).map_or(UNKNOWN, |dbm| dbm - needed[mode.index()])
        });
        fill(&mut excess);
        Self {
            correction_db: excess.map(|excess| excess - NOISE_FIGURE_DB),
            ..Self::ideal(NOISE_FIGURE_DB)
        }
    }

    /// A receiver that is just as good as the error model in every mode, as ns-3 has it (with a
    /// noise figure of 7 dB).
    #[must_use]
    pub fn ideal(noise_figure_db: f64) -> Self {
        Self {
            noise_mw: Mode::ALL.map(|mode| milliwatts(thermal_dbm(mode) + noise_figure_db)),
            correction_db: [0.0; Mode::COUNT],
        }
    }

    /// The noise in the bandwidth of a mode.
    #[must_use]
    pub const fn noise_mw(&self, mode: Mode) -> f64 {
        self.noise_mw[mode.index()]
    }

    /// By how many decibels frames of a mode need more (less, where negative) than the error model
    /// says.
    #[must_use]
    pub const fn correction_db(&self, mode: Mode) -> f64 {
        self.correction_db[mode.index()]
    }

    /// The ratio of signal to noise and interference to ask the error model about.
    #[must_use]
    pub fn sinr_db(&self, mode: Mode, signal_mw: f64, interference_mw: f64) -> f64 {
        super::power::sinr_db(signal_mw, self.noise_mw(mode), interference_mw)
            - self.correction_db(mode)
    }
}

/// Fills what a datasheet leaves out: between two known rates of a family in proportion, a HT20
/// mode from the ERP-OFDM rate with its modulation, HT40 from HT20, short preambles and guard
/// intervals from the long ones.
fn fill(excess: &mut [f64; Mode::COUNT]) {
    for family in [0..4, 7..15] {
        let first = family.start;
        let (low, high) = (excess[first], excess[family.end - 1]);
        let steps = (family.len() - 1) as f64;
        for at in family {
            if excess[at].is_nan() {
                excess[at] = low + (high - low) * (at - first) as f64 / steps;
            }
        }
    }
    for mode in Mode::ALL {
        let like = match mode {
            Mode::Hr(hr) => Mode::Hr(hr.with(Preamble::Long)),
            Mode::Ofdm(_) => mode,
            Mode::Ht(Ht { mcs, width: Width::Mhz20, .. }) => Mode::Ofdm(mcs.non_ht_reference()),
            Mode::Ht(Ht { mcs, guard, .. }) => Mode::ht(mcs, Width::Mhz20, guard),
        };
        if excess[mode.index()].is_nan() {
            excess[mode.index()] = excess[like.index()];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::mode::{Hr, Ofdm};
    use crate::radio::power::factor;

    #[test]
    fn each_mode_has_the_sensitivity_of_its_datasheet() {
        for chip in Chip::ALL {
            let receiver = Receiver::of(chip);
            for mode in Mode::ALL {
                let Some(dbm) = chip.sensitivity_dbm(mode) else { continue };
                let (octets, loss) = reference_frame(mode);
                let sinr_db = receiver.sinr_db(mode, milliwatts(dbm), 0.0);
                let got = Curve::of(mode).frame_loss(factor(sinr_db), octets);
                assert!((got - loss).abs() < 1e-4, "{chip:?} {mode}: {got}");
            }
        }
    }

    #[test]
    fn corrections_are_small() {
        for chip in Chip::ALL {
            let receiver = Receiver::of(chip);
            for mode in Mode::ALL {
                let db = receiver.correction_db(mode);
                assert!((-4.0..4.0).contains(&db), "{chip:?} {mode}: {db} dB");
            }
        }
    }

    #[test]
    fn thermal_noise_as_textbooks_have_it() {
        // -101 dBm in 20 MHz; ns-3's tests have -100.55 in 22 MHz.
        assert!((thermal_dbm(Mode::Ofdm(Ofdm::M6)) + 100.96).abs() < 0.01);
        assert!((thermal_dbm(Mode::Hr(Hr::M1)) + 100.552).abs() < 0.01);
        let ideal = Receiver::ideal(7.0);
        assert!((super::super::power::dbm(ideal.noise_mw(Mode::Hr(Hr::M1))) + 93.55).abs() < 0.01);
    }

    #[test]
    fn interference_counts_like_noise() {
        let receiver = Receiver::ideal(7.0);
        let mode = Mode::Ofdm(Ofdm::M6);
        let noise = receiver.noise_mw(mode);
        let clean = receiver.sinr_db(mode, 1e-6, 0.0);
        assert!((clean - receiver.sinr_db(mode, 1e-6, noise) - 3.0103).abs() < 1e-3);
    }
}

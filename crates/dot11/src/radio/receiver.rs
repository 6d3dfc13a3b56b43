//! Receiver noise of chips, and a correction of the error model for each mode.
//!
//! A datasheet gives the power at which a mode loses 8 % (11b) or 10 % (11g, 11n) of frames of the
//! standard's length: 1024 octets (16.3.8.2), 1000 (17.3.10.2) or 4096 (19.3.19.1). The error
//! models give the signal-to-noise ratio for that. The difference is the noise of the chip, and the
//! part by which its demodulator is worse, or better, than the model. A datasheet cannot tell the
//! two apart, so a noise figure is assumed ([`NOISE_FIGURE_DB`]), and the rest is a correction of
//! the mode, which holds against interference, too. The correction is often negative with OFDM: the
//! model decodes hard bits, a chip soft ones, which gains about 2 dB.
//!
//! What dual carrier modulation, 106 tones and Long Range gain ([`WifiMode::gain_db`]) is part of the correction, and so holds
//! against interference as against noise.
//!
//! So without interference every mode of a chip has exactly the sensitivity of its datasheet.

use alloc::boxed::Box;
use once_cell::race::OnceBox;

use super::chip::RadioChip;
use super::error::Curve;
use super::he::{He, HeFormat, HeGuard};
use super::mode::{ChannelWidth, GuardInterval, Ht, Mcs, Preamble, WifiMode};
use super::power::{milliwatts, sinr_db};

/// The noise figure of all chips, an assumption in the range of CMOS receivers.
pub const NOISE_FIGURE_DB: f64 = 3.0;

/// The power density of thermal noise at 290 K in dBm per hertz: 10 log10(k T / 1 mW).
const THERMAL_DBM_HZ: f64 = -173.975;

/// Returns the thermal noise in the bandwidth of a mode, in dBm.
#[must_use]
pub fn thermal_dbm(mode: WifiMode) -> f64 {
    THERMAL_DBM_HZ + 10.0 * libm::log10(f64::from(mode.bandwidth_mhz()) * 1e6)
}

/// Returns the octets and the frame error rate at which the standard defines a mode's sensitivity.
#[must_use]
pub const fn reference_frame(mode: WifiMode) -> (u32, f64) {
    match mode {
        WifiMode::Hr(_) => (1024, 0.08),
        WifiMode::Ofdm(_) => (1000, 0.1),
        // 27.3.20.2 has 2048 octets for BPSK with DCM.
        WifiMode::He(he) if he.mcs() == 0 && he.dcm() => (2048, 0.1),
        WifiMode::Ht(_) | WifiMode::He(_) => (4096, 0.1),
        // As 1 Mbit/s; nothing is published.
        WifiMode::Lr(_) => (1024, 0.08),
    }
}

/// The noise of a receiver, and the correction of each mode.
#[derive(Clone, Debug)]
pub struct Receiver {
    noise_mw: [f64; WifiMode::COUNT],
    correction_db: [f64; WifiMode::COUNT],
}

impl Receiver {
    /// Returns the receiver of a chip.
    #[must_use]
    pub fn of(chip: RadioChip) -> Self {
        // A search in the error model, once for a process.
        static NEEDED: OnceBox<[f64; WifiMode::COUNT]> = OnceBox::new();
        let needed = NEEDED.get_or_init(|| {
            Box::new(WifiMode::ALL.map(|mode| {
                let (octets, loss) = reference_frame(mode);
                thermal_dbm(mode) + Curve::of(mode).required_db(octets, loss) - mode.gain_db()
            }))
        });
        // The decibels that each mode needs more than an ideal receiver.
        let mut excess = WifiMode::ALL.map(|mode| {
            chip.sensitivity_dbm(mode).map_or(f64::NAN, |dbm| dbm - needed[mode.index()])
        });
        fill(&mut excess);
        Self {
            correction_db: WifiMode::ALL
                .map(|mode| excess[mode.index()] - NOISE_FIGURE_DB - mode.gain_db()),
            ..Self::ideal(NOISE_FIGURE_DB)
        }
    }

    /// Returns a receiver that is as good as the error model in every mode, as in ns-3 (whose noise
    /// figure is 7 dB).
    #[must_use]
    pub fn ideal(noise_figure_db: f64) -> Self {
        Self {
            noise_mw: WifiMode::ALL.map(|mode| milliwatts(thermal_dbm(mode) + noise_figure_db)),
            correction_db: WifiMode::ALL.map(|mode| 0.0 - mode.gain_db()),
        }
    }

    /// Returns the noise in the bandwidth of a mode, in mW.
    #[must_use]
    pub const fn noise_mw(&self, mode: WifiMode) -> f64 {
        self.noise_mw[mode.index()]
    }

    /// Returns the decibels that frames of a mode need more (less, where negative) than the error
    /// model of its modulation and code says.
    #[must_use]
    pub const fn correction_db(&self, mode: WifiMode) -> f64 {
        self.correction_db[mode.index()]
    }

    /// Returns the signal-to-interference-plus-noise ratio in dB for the error model, correction
    /// included.
    #[must_use]
    pub fn sinr_db(&self, mode: WifiMode, signal_mw: f64, interference_mw: f64) -> f64 {
        sinr_db(signal_mw, self.noise_mw(mode), interference_mw) - self.correction_db(mode)
    }
}

/// Fills in the values that a datasheet leaves out: between two known rates of a family in
/// proportion, a HT20 mode from the ERP-OFDM rate with its modulation, HT40 from HT20, short
/// preambles and guard intervals from the long ones, HE from HT20 (MCS 8 and 9 from MCS 7), Long Range from 1 Mbit/s.
fn fill(excess: &mut [f64; WifiMode::COUNT]) {
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
    for mode in WifiMode::ALL {
        let like = match mode {
            WifiMode::Hr(hr) => WifiMode::Hr(hr.with(Preamble::Long)),
            WifiMode::Ofdm(_) => mode,
            WifiMode::Ht(Ht { mcs, width: ChannelWidth::Mhz20, .. }) => {
                WifiMode::Ofdm(mcs.non_ht_reference())
            }
            WifiMode::Ht(Ht { mcs, guard, .. }) => WifiMode::ht(mcs, ChannelWidth::Mhz20, guard),
            WifiMode::He(he) => like_he(he),
            WifiMode::Lr(_) => WifiMode::ESP_NOW,
        };
        if excess[mode.index()].is_nan() {
            excess[mode.index()] = excess[like.index()];
        }
    }
}

/// Returns the mode from which the excess of an HE mode is taken: that of HE SU with the same scheme, and of it
/// the next slower scheme where HT has none with this modulation, else the HT mode.
fn like_he(he: He) -> WifiMode {
    let plain = He::of(he.mcs(), HeGuard::Us16, HeFormat::Su, false).map(WifiMode::He);
    match (plain, Mcs::of(he.mcs())) {
        (Some(plain), _) if plain != WifiMode::He(he) => plain,
        (_, Some(mcs)) => WifiMode::ht(mcs, ChannelWidth::Mhz20, GuardInterval::Long),
        _ => WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::mode::{Hr, Ofdm};
    use crate::radio::power::factor;
    use core::fmt::Write as _;

    #[test]
    fn each_mode_has_the_sensitivity_of_its_datasheet() {
        for chip in RadioChip::ALL {
            let receiver = Receiver::of(chip);
            for mode in WifiMode::ALL {
                let Some(dbm) = chip.sensitivity_dbm(mode) else { continue };
                let (octets, loss) = reference_frame(mode);
                let sinr_db = receiver.sinr_db(mode, milliwatts(dbm), 0.0);
                let got = Curve::of(mode).frame_loss(factor(sinr_db), octets);
                assert!((got - loss).abs() < 1e-4, "{chip:?} {mode}: {got}");
            }
        }
    }

    /// Draws up a table of all modes: the ratio that the error model needs for the standard's frame
    /// error rate, and the correction of each chip, in decibels.
    #[test]
    fn corrections_of_all_modes() {
        let receivers = RadioChip::ALL.map(Receiver::of);
        let mut table = std::format!("{:<24} {:>6}", "mode", "needs");
        for chip in RadioChip::ALL {
            write!(table, " {:>8}", std::format!("{chip:?}")).unwrap();
        }
        for mode in WifiMode::ALL {
            let (octets, loss) = reference_frame(mode);
            let needed = Curve::of(mode).required_db(octets, loss);
            write!(table, "\n{:<24} {needed:>6.2}", std::format!("{mode}")).unwrap();
            for receiver in &receivers {
                write!(table, " {:>8.2}", receiver.correction_db(mode)).unwrap();
            }
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn corrections_are_small() {
        for chip in RadioChip::ALL {
            let receiver = Receiver::of(chip);
            for mode in WifiMode::ALL {
                let db = receiver.correction_db(mode) + mode.gain_db();
                assert!((-4.0..4.0).contains(&db), "{chip:?} {mode}: {db} dB");
            }
        }
    }

    #[test]
    fn thermal_noise_as_textbooks_have_it() {
        // -101 dBm in 20 MHz; ns-3's tests have -100.55 in 22 MHz.
        assert!((thermal_dbm(WifiMode::Ofdm(Ofdm::M6)) + 100.96).abs() < 0.01);
        assert!((thermal_dbm(WifiMode::Hr(Hr::M1)) + 100.552).abs() < 0.01);
        let ideal = Receiver::ideal(7.0);
        assert!(
            (super::super::power::dbm(ideal.noise_mw(WifiMode::Hr(Hr::M1))) + 93.55).abs() < 0.01
        );
    }

    #[test]
    fn interference_counts_like_noise() {
        let receiver = Receiver::ideal(7.0);
        let mode = WifiMode::Ofdm(Ofdm::M6);
        let noise = receiver.noise_mw(mode);
        let clean = receiver.sinr_db(mode, 1e-6, 0.0);
        assert!((clean - receiver.sinr_db(mode, 1e-6, noise) - 3.0103).abs() < 1e-3);
    }
}

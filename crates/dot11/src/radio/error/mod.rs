//! Bit error rates of each modulation by signal-to-noise ratio, from published models.
//!
//! | modulation | model |
//! |---|---|
//! | DSSS 1 Mbit/s (DBPSK) | bit errors: Proakis, "Digital Communications", 4th ed. 2001, eq. 5.2-69 |
//! | DSSS 2 Mbit/s (DQPSK) | bit errors: Ferrari and Corazza 2004, "Tight bounds and accurate approximations for DQPSK transmission bit error rate", Electronics Letters 40(20), eq. 8 |
//! | CCK 5.5 and 11 Mbit/s | symbol errors: Pursley and Royster 2009, "Properties and performance of the IEEE 802.11b complementary code key signal sets", IEEE Trans. Communications 57(2), eq. 18 and 17 |
//! | OFDM, HT and HE | bit errors of the constellation, and the union bound over the distances of the convolutional code: Miller 2003, "Validation of 802.11a/UWB coexistence simulation" (NIST) |
//!
//! ns-3 has these models as `DsssErrorRateModel` and `NistErrorRateModel`; the tests compare with
//! the values of its tests. Two things are added. Rates are capped where the approximations leave
//! the range of probabilities. And errors are counted as a *hazard*: the expected number of fatal
//! events in a bit, which is minus the logarithm of the chance that the bit survives. The hazards
//! of the parts of a frame add up, whatever interferes with each, and a frame with hazard `h` is
//! lost with the probability 1 - exp(-h).
//!
//! The ratio is counted over the bandwidth of the mode ([`WifiMode::bandwidth_mhz`]): 22 MHz for
//! DSSS and CCK, so that 1 Mbit/s gains a factor of 22 from spreading.

mod dsss;
mod ofdm;
mod table;

pub use table::ErrorTable;

use super::mode::{Hr, Mcs, Ofdm, WifiMode};

/// The highest hazard of a bit: the bit is a coin toss.
pub(crate) const MOST_HAZARD: f64 = core::f64::consts::LN_2;

/// A modulation and code, as far as bit errors go. Preamble, width and guard interval do not
/// matter; what DCM, 106 tones and Long Range gain is [`WifiMode::gain_db`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Curve {
    /// DSSS, 1 Mbit/s.
    Dbpsk,
    /// DSSS, 2 Mbit/s.
    Dqpsk,
    /// CCK, 5.5 Mbit/s.
    Cck5,
    /// CCK, 11 Mbit/s.
    Cck11,
    /// OFDM, BPSK 1/2.
    Bpsk12,
    /// OFDM, BPSK 3/4.
    Bpsk34,
    /// OFDM, QPSK 1/2.
    Qpsk12,
    /// OFDM, QPSK 3/4.
    Qpsk34,
    /// OFDM, 16-QAM 1/2.
    Qam16R12,
    /// OFDM, 16-QAM 3/4.
    Qam16R34,
    /// OFDM, 64-QAM 2/3.
    Qam64R23,
    /// OFDM, 64-QAM 3/4.
    Qam64R34,
    /// OFDM, 64-QAM 5/6.
    Qam64R56,
    /// OFDM, 256-QAM 3/4.
    Qam256R34,
    /// OFDM, 256-QAM 5/6.
    Qam256R56,
}

impl Curve {
    /// The number of curves.
    pub const COUNT: usize = 15;

    /// All curves, in the order of their discriminants.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Dbpsk,
        Self::Dqpsk,
        Self::Cck5,
        Self::Cck11,
        Self::Bpsk12,
        Self::Bpsk34,
        Self::Qpsk12,
        Self::Qpsk34,
        Self::Qam16R12,
        Self::Qam16R34,
        Self::Qam64R23,
        Self::Qam64R34,
        Self::Qam64R56,
        Self::Qam256R34,
        Self::Qam256R56,
    ];

    /// Returns the curve of a mode's data.
    #[must_use]
    pub const fn of(mode: WifiMode) -> Self {
        match mode {
            WifiMode::Hr(Hr::M1) => Self::Dbpsk,
            WifiMode::Hr(Hr::M2 | Hr::M2Short) => Self::Dqpsk,
            WifiMode::Hr(Hr::M5 | Hr::M5Short) => Self::Cck5,
            WifiMode::Hr(Hr::M11 | Hr::M11Short) => Self::Cck11,
            WifiMode::Ofdm(ofdm) => Self::of_ofdm(ofdm),
            WifiMode::Ht(ht) if matches!(ht.mcs, Mcs::Mcs7) => Self::Qam64R56,
            WifiMode::Ht(ht) => Self::of_ofdm(ht.mcs.non_ht_reference()),
            WifiMode::He(he) => match he.mcs() {
                7 => Self::Qam64R56,
                8 => Self::Qam256R34,
                9 => Self::Qam256R56,
                _ => Self::of_ofdm(he.modulation()),
            },
            WifiMode::Lr(_) => Self::Dbpsk,
        }
    }

    const fn of_ofdm(ofdm: Ofdm) -> Self {
        Self::ALL[Self::Bpsk12 as usize + ofdm as usize]
    }

    /// Returns the hazard of one data bit where the signal is `snr` times the noise: between 0 and
    /// ln 2, and falling with `snr`. The computation is slow; [`ErrorTable`] has the values ready.
    #[must_use]
    pub fn hazard(self, snr: f64) -> f64 {
        let snr = snr.max(0.0);
        let hazard = match self {
            Self::Dbpsk => dsss::dbpsk(snr),
            Self::Dqpsk => dsss::dqpsk(snr),
            Self::Cck5 => dsss::cck5(snr),
            Self::Cck11 => dsss::cck11(snr),
            _ => ofdm::hazard(self, snr),
        };
        hazard.min(MOST_HAZARD)
    }

    /// Returns the chance that a frame of `octets` octets is lost to noise at `snr`, a factor.
    #[must_use]
    pub fn frame_loss(self, snr: f64, octets: u32) -> f64 {
        -libm::expm1(-self.hazard(snr) * f64::from(octets) * 8.0)
    }

    /// Returns the signal-to-noise ratio in dB at which the share `loss` of frames of `octets`
    /// octets is lost.
    #[must_use]
    pub fn required_db(self, octets: u32, loss: f64) -> f64 {
        let (mut low, mut high) = (-30.0, 60.0);
        for _ in 0..48 {
            let middle = 0.5 * (low + high);
            if self.frame_loss(super::power::factor(middle), octets) > loss {
                low = middle;
            } else {
                high = middle;
            }
        }
        high
    }
}

/// Returns the hazard of an event that is lost with the probability `p`.
fn hazard_of(p: f64) -> f64 {
    -libm::log1p(-p.clamp(0.0, 0.999_999))
}

#[cfg(test)]
mod tests;

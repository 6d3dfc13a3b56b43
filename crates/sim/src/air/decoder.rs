//! Whether a frame is found, and whether it survives noise and interference.

use super::power::{Power, Ratio};
use crate::radio::power::dbm;
use crate::radio::{Mode, Reader};
use core::fmt::Debug;

/// An error model with the noise of a receiver. It is asked for a chance only where the answer is
/// not certain.
pub trait Decoder: Debug + Send + Sync {
    /// What there is beside frames, over the width of a mode.
    fn noise(&self, mode: Mode) -> Power;

    /// The weakest frame whose preamble is found, where no other frame is on the air.
    fn found(&self, mode: Mode) -> Power;

    /// With a signal this much above noise and interference a frame certainly arrives.
    fn sure(&self, mode: Mode) -> Ratio;

    /// The chance that what a frame of so many octets carries between two times after its start
    /// (`span_ns`: from, to) arrives whole, with a signal `sinr` times noise and interference.
    /// Chances of stretches multiply.
    fn chance(&self, mode: Mode, octets: u32, sinr: f64, span_ns: (u64, u64)) -> f64;
}

/// All or nothing: a frame is lost where its signal was, for however short a time, less than a
/// ratio above noise and interference together.
#[derive(Clone, Copy, Debug)]
pub struct Cutoff {
    /// The ratio.
    pub ratio: Ratio,
    /// Noise, whatever the mode.
    pub noise: Power,
    /// The weakest preamble that is found.
    pub found: Power,
}

impl Cutoff {
    /// From decibels, with thermal noise of 22 MHz and a noise figure of 7 dB: -174 + 73.4 + 7 dBm.
    /// Preambles are found down to -98 dBm.
    #[must_use]
    pub fn from_db(db: f64) -> Self {
        Self {
            ratio: Ratio::from_db(db),
            noise: Power::from_dbm(-93.6),
            found: Power::from_dbm(-98.0),
        }
    }
}

impl Decoder for Cutoff {
    fn noise(&self, _: Mode) -> Power {
        self.noise
    }

    fn found(&self, _: Mode) -> Power {
        self.found
    }

    fn sure(&self, _: Mode) -> Ratio {
        self.ratio
    }

    fn chance(&self, _: Mode, _: u32, _: f64, _: (u64, u64)) -> f64 {
        0.0
    }
}

/// Published error rates, and what the datasheet of a chip says.
impl Decoder for Reader {
    fn noise(&self, mode: Mode) -> Power {
        Power::from_dbm(dbm(self.receiver().noise_mw(mode)))
    }

    fn found(&self, mode: Mode) -> Power {
        Power::from_dbm(self.found_dbm(mode))
    }

    fn sure(&self, mode: Mode) -> Ratio {
        Ratio::of(Self::sure(self, mode))
    }

    fn chance(&self, mode: Mode, octets: u32, sinr: f64, span_ns: (u64, u64)) -> f64 {
        self.survival(mode, octets, sinr, span_ns)
    }
}

//! Decoding of a frame: its detection, and its survival of noise and interference.

use super::power::{Power, Ratio};
use crate::radio::power::dbm;
use crate::radio::{Mode, Reader};
use core::fmt::Debug;

/// An error model with the noise of a receiver. The caller asks for a chance only where the outcome
/// is not certain.
pub trait Decoder: Debug + Send + Sync {
    /// Returns the noise over the bandwidth of a mode.
    fn noise(&self, mode: Mode) -> Power;

    /// Returns the power of the weakest frame whose preamble is detected while no other frame is on
    /// the air.
    fn found(&self, mode: Mode) -> Power;

    /// Returns the ratio over noise and interference from which a frame is certainly received.
    fn sure(&self, mode: Mode) -> Ratio;

    /// Returns the chance that a stretch of a frame of `octets` octets is received with a signal
    /// `sinr` times noise and interference. `span_ns` is the stretch from and to, in nanoseconds
    /// after the start of the frame. The chances of several stretches multiply.
    fn chance(&self, mode: Mode, octets: u32, sinr: f64, span_ns: (u64, u64)) -> f64;
}

/// A threshold decoder: a frame is lost if its signal was, for however short a time, less than a
/// ratio above noise and interference together.
#[derive(Clone, Copy, Debug)]
pub struct Cutoff {
    /// The ratio below which a frame is lost.
    pub ratio: Ratio,
    /// The noise in every mode.
    pub noise: Power,
    /// The power of the weakest preamble that is detected.
    pub found: Power,
}

impl Cutoff {
    /// Returns the decoder with a threshold in dB, thermal noise of 22 MHz and a noise figure of 7
    /// dB (-174 + 73.4 + 7 dBm). Preambles are detected down to -98 dBm.
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

/// The decoder with published error rates and the sensitivity of a chip's datasheet.
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

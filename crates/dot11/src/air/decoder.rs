//! Decoding of a frame: its detection, and its survival of noise and interference.

use super::power::{PowerRatio, SignalPower};
use crate::radio::power::dbm;
use crate::radio::{ErrorModelDecoder, WifiMode};
use core::fmt::Debug;

/// An error model with the noise of a receiver. The caller asks for a chance only where the outcome
/// is not certain.
pub trait Decoder: Debug + Send + Sync {
    /// Returns the noise over the bandwidth of a mode.
    fn noise(&self, mode: WifiMode) -> SignalPower;

    /// Returns the power of the weakest frame whose preamble is detected while no other frame is on
    /// the air.
    fn found(&self, mode: WifiMode) -> SignalPower;

    /// Returns the ratio over noise and interference from which a frame is certainly received.
    fn sure(&self, mode: WifiMode) -> PowerRatio;

    /// Returns the chance that a stretch of a frame of `octets` octets is received with a signal
    /// `sinr` times noise and interference. `span_ns` is the stretch from and to, in nanoseconds
    /// after the start of the frame. The chances of several stretches multiply.
    fn chance(&self, mode: WifiMode, octets: u32, sinr: f64, span_ns: (u64, u64)) -> f64;
}

/// A threshold decoder: a frame is lost if its signal was, for however short a time, less than a
/// ratio above noise and interference together.
#[derive(Clone, Copy, Debug)]
pub struct ThresholdDecoder {
    /// The ratio below which a frame is lost.
    pub ratio: PowerRatio,
    /// The noise in every mode.
    pub noise: SignalPower,
    /// The power of the weakest preamble that is detected.
    pub found: SignalPower,
}

impl ThresholdDecoder {
    /// Returns the decoder with a threshold in dB, thermal noise of 22 MHz and a noise figure of 7
    /// dB (-174 + 73.4 + 7 dBm). Preambles are detected down to -98 dBm.
    #[must_use]
    pub fn from_db(db: f64) -> Self {
        Self {
            ratio: PowerRatio::from_db(db),
            noise: SignalPower::from_dbm(-93.6),
            found: SignalPower::from_dbm(-98.0),
        }
    }
}

impl Decoder for ThresholdDecoder {
    fn noise(&self, _: WifiMode) -> SignalPower {
        self.noise
    }

    fn found(&self, _: WifiMode) -> SignalPower {
        self.found
    }

    fn sure(&self, _: WifiMode) -> PowerRatio {
        self.ratio
    }

    fn chance(&self, _: WifiMode, _: u32, _: f64, _: (u64, u64)) -> f64 {
        0.0
    }
}

/// The decoder with published error rates and the sensitivity of a chip's datasheet.
impl Decoder for ErrorModelDecoder {
    fn noise(&self, mode: WifiMode) -> SignalPower {
        SignalPower::from_dbm(dbm(self.receiver().noise_mw(mode)))
    }

    fn found(&self, mode: WifiMode) -> SignalPower {
        SignalPower::from_dbm(self.found_dbm(mode))
    }

    fn sure(&self, mode: WifiMode) -> PowerRatio {
        PowerRatio::of(Self::sure(self, mode))
    }

    fn chance(&self, mode: WifiMode, octets: u32, sinr: f64, span_ns: (u64, u64)) -> f64 {
        self.survival(mode, octets, sinr, span_ns)
    }
}

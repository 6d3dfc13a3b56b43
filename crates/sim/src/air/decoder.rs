//! Whether a frame survives noise and interference.

use super::power::Ratio;
use crate::radio::{Mode, Reader};

/// An error model. It is asked for a number only where the answer is not certain.
pub trait Decoder {
    /// With a signal this much above noise and interference a frame certainly arrives.
    fn sure(&self, mode: Mode, octets: u32) -> Ratio;

    /// The chance that a stretch of `span_ns` of the frame arrives whole, with a signal `sinr`
    /// times noise and interference.
    fn chance(&self, mode: Mode, octets: u32, sinr: f64, span_ns: u64) -> f64;
}

/// All or nothing: a frame is lost where its signal was, for however short a time, less than a
/// ratio above noise and interference together.
#[derive(Clone, Copy, Debug)]
pub struct Cutoff(pub Ratio);

impl Cutoff {
    /// From decibels.
    #[must_use]
    pub fn from_db(db: f64) -> Self {
        Self(Ratio::from_db(db))
    }
}

impl Decoder for Cutoff {
    fn sure(&self, _: Mode, _: u32) -> Ratio {
        self.0
    }

    fn chance(&self, _: Mode, _: u32, _: f64, _: u64) -> f64 {
        0.0
    }
}

/// Published error rates, and what the datasheet of a chip says.
impl Decoder for Reader {
    fn sure(&self, mode: Mode, _: u32) -> Ratio {
        Ratio::of(Self::sure(self, mode))
    }

    fn chance(&self, mode: Mode, octets: u32, sinr: f64, span_ns: u64) -> f64 {
        self.survival(mode, octets, sinr, span_ns)
    }
}

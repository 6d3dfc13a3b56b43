//! Whether a frame survives noise and interference.

use super::power::Ratio;
use crate::radio::Mode;
use crate::radio::error::{Curve, ErrorTable};
use crate::radio::power::decibels;

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

/// The error rates of [`radio::error`](crate::radio::error). The octets decide: preamble and
/// header, which are sent more robustly, count like as many bits of data.
#[derive(Clone, Debug)]
pub struct Modelled {
    table: ErrorTable,
    sure: [Ratio; Curve::COUNT],
}

impl Default for Modelled {
    fn default() -> Self {
        let table = ErrorTable::new();
        let sure = Curve::ALL.map(|curve| Ratio::from_db(table.clean_db(curve)));
        Self { table, sure }
    }
}

impl Decoder for Modelled {
    fn sure(&self, mode: Mode, _: u32) -> Ratio {
        self.sure[Curve::of(mode) as usize]
    }

    fn chance(&self, mode: Mode, _: u32, sinr: f64, span_ns: u64) -> f64 {
        let bits = f64::from(mode.kbit_s()) * span_ns as f64 * 1e-6;
        libm::exp(-bits * self.table.hazard(Curve::of(mode), decibels(sinr)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::{Airtime, Ofdm};

    #[test]
    fn a_frame_in_parts_has_the_chance_of_the_whole() {
        let decoder = Modelled::default();
        for (mode, sinr) in [(Mode::ESP_NOW, 0.35), (Mode::Ofdm(Ofdm::M24), 12.0)] {
            let data = Airtime::of(mode, 250).data_ns;
            let parts = [data / 3, data / 2, data - data / 3 - data / 2];
            let product: f64 =
                parts.into_iter().map(|span| decoder.chance(mode, 250, sinr, span)).product();
            let loss = Curve::of(mode).frame_loss(sinr, 250);
            assert!(loss > 0.001 && loss < 0.999, "{mode:?}: {loss}");
            assert!((1.0 - product - loss).abs() < 0.03, "{mode:?}: {product}, {loss}");
        }
    }
}

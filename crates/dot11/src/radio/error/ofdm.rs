//! Bit errors of OFDM with the convolutional code of 17.3.5.6: the bit error rate of the
//! constellation, then the union bound over the weights of wrong paths through the decoder.

use core::f64::consts::FRAC_1_SQRT_2;

use super::{Curve, hazard_of};

/// A punctured convolutional code: the bits it takes in at a time, the free distance, and the
/// weight of the wrong bits on the paths of each distance. Rates 1/2, 2/3 and 3/4: Miller 2003,
/// Tables 3.1.1 and 3.1.2. Rate 5/6: Haccoun and Begin, "High-rate punctured convolutional codes
/// for Viterbi and sequential decoding", IEEE Trans. Communications, Table V (both as ns-3 cites
/// them).
struct ConvolutionalCode {
    bits: f64,
    /// The distance of the first weight; `step` is the distance to the next.
    shortest: i32,
    step: i32,
    weights: &'static [f64],
}

const HALF: ConvolutionalCode = ConvolutionalCode {
    bits: 1.0,
    shortest: 10,
    step: 2,
    weights: &[
        36.0,
        211.0,
        1_404.0,
        11_633.0,
        77_433.0,
        502_690.0,
        3_322_763.0,
        21_292_910.0,
        134_365_911.0,
    ],
};

const TWO_THIRDS: ConvolutionalCode = ConvolutionalCode {
    bits: 2.0,
    shortest: 6,
    step: 1,
    weights: &[
        3.0,
        70.0,
        285.0,
        1_276.0,
        6_160.0,
        27_128.0,
        117_019.0,
        498_860.0,
        2_103_891.0,
        8_784_123.0,
    ],
};

const THREE_QUARTERS: ConvolutionalCode = ConvolutionalCode {
    bits: 3.0,
    shortest: 5,
    step: 1,
    weights: &[
        42.0,
        201.0,
        1_492.0,
        10_469.0,
        62_935.0,
        379_644.0,
        2_253_373.0,
        13_073_811.0,
        75_152_755.0,
        428_005_675.0,
    ],
};

const FIVE_SIXTHS: ConvolutionalCode = ConvolutionalCode {
    bits: 5.0,
    shortest: 4,
    step: 1,
    weights: &[
        92.0,
        528.0,
        8_694.0,
        79_453.0,
        792_114.0,
        7_375_573.0,
        67_884_974.0,
        610_875_423.0,
        5_427_275_376.0,
        47_664_215_639.0,
    ],
};

/// Returns the hazard of a data bit.
pub(super) fn hazard(curve: Curve, snr: f64) -> f64 {
    let (raw, code) = match curve {
        Curve::Bpsk12 => (psk(snr), HALF),
        Curve::Bpsk34 => (psk(snr), THREE_QUARTERS),
        Curve::Qpsk12 => (psk(snr / 2.0), HALF),
        Curve::Qpsk34 => (psk(snr / 2.0), THREE_QUARTERS),
        Curve::Qam16R12 => (qam(4.0, snr), HALF),
        Curve::Qam16R34 => (qam(4.0, snr), THREE_QUARTERS),
        Curve::Qam64R23 => (qam(8.0, snr), TWO_THIRDS),
        Curve::Qam64R34 => (qam(8.0, snr), THREE_QUARTERS),
        Curve::Qam256R34 => (qam(16.0, snr), THREE_QUARTERS),
        Curve::Qam256R56 => (qam(16.0, snr), FIVE_SIXTHS),
        _ => (qam(8.0, snr), FIVE_SIXTHS),
    };
    hazard_of(code.errors(raw))
}

/// Returns the chance that one coordinate with two points is decided wrongly.
fn psk(snr: f64) -> f64 {
    0.5 * libm::erfc(libm::sqrt(snr))
}

/// Returns the chance of a wrong bit with `side` points on a coordinate (8 for 64-QAM) in Gray
/// code.
fn qam(side: f64, snr: f64) -> f64 {
    let bits = if side > 8.0 {
        4.0
    } else if side > 4.0 {
        3.0
    } else {
        2.0
    };
    let argument = libm::sqrt(3.0 * snr) * FRAC_1_SQRT_2 / libm::sqrt(side * side - 1.0);
    (side - 1.0) / (side * bits) * libm::erfc(argument)
}

impl ConvolutionalCode {
    /// Returns the chance that a decoded bit is the first of a wrong path, where `raw` is the
    /// chance that a coded bit is wrong: half of the Chernoff bound on each distance.
    fn errors(&self, raw: f64) -> f64 {
        let z = libm::sqrt(4.0 * raw * (1.0 - raw));
        let step = power(z, self.step);
        // From the longest distance down (Horner).
        let sum = self.weights.iter().rev().fold(0.0, |sum, weight| sum * step + weight);
        sum * power(z, self.shortest) / (2.0 * self.bits)
    }
}

fn power(x: f64, exponent: i32) -> f64 {
    (0..exponent).fold(1.0, |product, _| product * x)
}

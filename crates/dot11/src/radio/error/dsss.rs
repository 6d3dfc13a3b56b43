//! Bit errors of DSSS and CCK, which have spreading but no channel code.

use core::f64::consts::{FRAC_1_SQRT_2, PI, SQRT_2};

use super::hazard_of;

/// The ratio of noise bandwidth to bit rate, 22 MHz to 1 Mbit/s.
const SPREAD: f64 = 22.0;
/// The ratio of noise bandwidth, 22 MHz, to 1.375 million CCK symbols a second.
const CCK_SPREAD: f64 = 16.0;

pub(super) fn dbpsk(snr: f64) -> f64 {
    hazard_of(0.5 * libm::exp(-snr * SPREAD))
}

/// Returns the hazard of a bit with DQPSK. The approximation grows without limit where there is no
/// signal, so the bit error rate is capped at 1/2.
pub(super) fn dqpsk(snr: f64) -> f64 {
    let bit = (snr * SPREAD / 2.0).max(1e-3);
    let scale = (SQRT_2 + 1.0) / libm::sqrt(8.0 * PI * SQRT_2);
    let errors = scale / libm::sqrt(bit) * libm::exp(-(2.0 - SQRT_2) * bit);
    hazard_of(errors.min(0.5))
}

/// Returns the hazard of a bit at 5.5 Mbit/s. A symbol carries four bits: 16 code words, which are
/// 8 orthogonal pairs, each with half of the energy.
pub(super) fn cck5(snr: f64) -> f64 {
    hazard_of(biorthogonal(snr * CCK_SPREAD / 2.0)) / 4.0
}

/// Returns the hazard of a bit at 11 Mbit/s. A symbol carries eight bits: two sets of 16 code
/// words, each with half of the energy that such a set has at 5.5 Mbit/s.
pub(super) fn cck11(snr: f64) -> f64 {
    2.0 * hazard_of(biorthogonal(snr * CCK_SPREAD / 4.0)) / 8.0
}

/// Returns the chance that one of 16 code words, which are 8 pairs of opposites, is taken for
/// another. `energy` is the energy of the word over the density of the noise, in the scale of the
/// paper.
///
/// The decision is right if the correlation of the word beats all of the other seven pairs. The
/// chance of that is an integral over the noise x of the word: the normal density of x times the
/// seventh power of the chance that another pair stays below x + beta. The sum over a fine grid
/// converges faster than any power of its step, because the normal density goes to zero at both
/// ends.
fn biorthogonal(energy: f64) -> f64 {
    const STEP: f64 = 0.2;
    const HALF: i32 = 45;
    let beta = libm::sqrt(2.0 * energy);
    let mut wrong = 0.0;
    for n in -HALF..=HALF {
        let x = f64::from(n) * STEP;
        let margin = x + beta;
        let beaten = if margin <= 0.0 {
            1.0
        } else {
            // `one` is the chance that one pair reaches further, the result the chance that any of
            // seven does. Small chances keep their digits in this form.
            let one = libm::erfc(margin * FRAC_1_SQRT_2);
            -libm::expm1(7.0 * libm::log1p(-one))
        };
        wrong += beaten * libm::exp(-x * x / 2.0);
    }
    wrong * STEP / libm::sqrt(2.0 * PI)
}

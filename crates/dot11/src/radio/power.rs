//! Powers and ratios: dBm and milliwatts, decibels and factors.
//!
//! Interference adds up in milliwatts, error rates are tabulated over decibels, and the medium
//! converts between them for each part of each frame at each receiver. So logarithm and power are
//! short series here, which take some nanoseconds and give the same bits on every machine. They are
//! off by less than 1e-7 dB; a test compares them with libm.

use core::f64::consts::{LN_2, SQRT_2};

/// The decibels of a factor of two, ten times the decimal logarithm of two.
const DB_PER_OCTAVE: f64 = 3.010_299_956_639_812;

/// Returns the binary logarithm of a positive, normal number.
///
/// The mantissa is scaled to between sqrt(1/2) and sqrt(2). There the series of the area tangent 2
/// (t + t^3/3 + ...) with t = (m - 1) / (m + 1) leaves out less than 1e-9.
pub(crate) fn log2(x: f64) -> f64 {
    const ONE: u64 = 1023 << 52;
    let bits = x.to_bits();
    let mut exponent = ((bits >> 52) & 0x7FF) as i32 - 1023;
    let mut mantissa = f64::from_bits((bits & ((1 << 52) - 1)) | ONE);
    if mantissa > SQRT_2 {
        mantissa *= 0.5;
        exponent += 1;
    }
    let t = (mantissa - 1.0) / (mantissa + 1.0);
    let s = t * t;
    let series =
        1.0 + s * (1.0 / 3.0 + s * (1.0 / 5.0 + s * (1.0 / 7.0 + s * (1.0 / 9.0 + s / 11.0))));
    f64::from(exponent) + 2.0 / LN_2 * t * series
}

/// 1 / n! for n from 8 down to 0.
const RECIPROCAL_FACTORIALS: [f64; 9] =
    [1.0 / 40_320.0, 1.0 / 5_040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];

/// Returns two to the power of `x`; 0 below -1000, and 2^1000 above 1000.
///
/// The fraction is brought between -1/2 and 1/2, where the exponential series to the eighth power
/// leaves out less than 2e-10 of the result.
pub(crate) fn exp2(x: f64) -> f64 {
    /// A number that rounds to whole numbers when it is added and subtracted: the fraction falls
    /// off the end of the mantissa.
    const TO_WHOLE: f64 = 6_755_399_441_055_744.0;
    if x < -1000.0 {
        return 0.0;
    }
    let x = x.min(1000.0);
    let whole = (x + TO_WHOLE) - TO_WHOLE;
    let t = (x - whole) * LN_2;
    let series = RECIPROCAL_FACTORIALS.into_iter().fold(0.0, |sum, next| sum * t + next);
    series * f64::from_bits(((whole as i64 + 1023) as u64) << 52)
}

/// Returns a factor of powers in decibels; a factor that is not positive counts as the smallest
/// positive number.
#[must_use]
pub fn decibels(factor: f64) -> f64 {
    DB_PER_OCTAVE * log2(factor.max(f64::MIN_POSITIVE))
}

/// Returns decibels as a factor of powers.
#[must_use]
pub fn factor(decibels: f64) -> f64 {
    exp2(decibels / DB_PER_OCTAVE)
}

/// Returns a power in milliwatts.
#[must_use]
pub fn milliwatts(dbm: f64) -> f64 {
    factor(dbm)
}

/// Returns a power in dBm.
#[must_use]
pub fn dbm(milliwatts: f64) -> f64 {
    decibels(milliwatts)
}

/// Returns the signal-to-interference-plus-noise ratio in decibels.
#[must_use]
pub fn sinr_db(signal_mw: f64, noise_mw: f64, interference_mw: f64) -> f64 {
    decibels(signal_mw / (noise_mw + interference_mw))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_powers() {
        let close = |a: f64, b: f64| (a - b).abs() < 1e-7;
        assert!(close(milliwatts(0.0), 1.0) && close(milliwatts(20.0), 100.0));
        assert!(close(dbm(2.0), 3.010_299_956) && close(dbm(1e-9), -90.0));
        // Signal equals interference, and noise is far below: 0 dB.
        assert!(close(sinr_db(1e-6, 0.0, 1e-6), 0.0));
        assert!(dbm(0.0) < -3000.0 && dbm(-1.0) < -3000.0 && milliwatts(-1e9) == 0.0);
        assert!(dbm(f64::NAN) < -3000.0);
    }

    proptest! {
        #[test]
        fn series_agree_with_libm(db in -300.0..300.0_f64) {
            let exact = libm::pow(10.0, db / 10.0);
            prop_assert!((factor(db) / exact - 1.0).abs() < 1e-9);
            prop_assert!((decibels(exact) - db).abs() < 1e-7);
        }

        #[test]
        fn more_is_more(db in -300.0..300.0_f64, step in 1e-6..100.0_f64) {
            prop_assert!(factor(db + step) > factor(db));
            prop_assert!(decibels(factor(db + step)) > decibels(factor(db)));
        }
    }
}

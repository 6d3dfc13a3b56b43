//! Powers and ratios: dBm and milliwatts, decibels and factors.
//!
//! Interference adds up in milliwatts, error rates are tabulated over decibels, and a medium goes
//! from one to the other for each part of each frame at each hearer. So logarithm and power are
//! short series here, some nanoseconds each, the same bits on every machine: off by less than
//! 1e-7 dB, which a test compares with libm.

use core::f64::consts::{LN_2, SQRT_2};

/// Ten times the decimal logarithm of two: the decibels of a factor of two.
const DB_PER_OCTAVE: f64 = 3.010_299_956_639_812;

/// The binary logarithm of a positive, normal number.
///
/// The mantissa is brought between sqrt(1/2) and sqrt(2), where the series of the area tangent
/// 2 (t + t^3/3 + ...) with t = (m - 1) / (m + 1) leaves out less than 1e-9.
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

/// 1 / n!, n from 8 down.
const RECIPROCAL_FACTORIALS: [f64; 9] =
    [1.0 / 40_320.0, 1.0 / 5_040.0, 1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0];

/// Two to the power of `x`; 0 below -1000 and 2^1000 above 1000.
///
/// The fraction is brought between -1/2 and 1/2, where the exponential series to the eighth power
/// leaves out less than 2e-10 of the result.
pub(crate) fn exp2(x: f64) -> f64 {
    /// Added and taken away again, it leaves a whole number: the fraction falls off its end.
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

/// A factor of powers in decibels. What is no positive number is taken for the smallest one.
#[must_use]
pub fn decibels(factor: f64) -> f64 {
    DB_PER_OCTAVE * log2(factor.max(f64::MIN_POSITIVE))
}

/// Decibels as a factor of powers.
#[must_use]
pub fn factor(decibels: f64) -> f64 {
    exp2(decibels / DB_PER_OCTAVE)
}

/// A power in milliwatts.
#[must_use]
pub fn milliwatts(dbm: f64) -> f64 {
    factor(dbm)
}

/// A power in dBm.
#[must_use]
pub fn dbm(milliwatts: f64) -> f64 {
    decibels(milliwatts)
}

/// Signal to interference and noise, in decibels.
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
        // Signal and interference alike, and noise far below: 0 dB.
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

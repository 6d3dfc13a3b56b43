//! Power as a whole number of attowatts (1e-18 W, -150 dBm).
//!
//! The power at an antenna is a sum that grows and shrinks with every frame. A sum of whole numbers
//! comes back to exactly zero, in any order and on any machine.

use crate::radio::power::factor;
use core::ops::{Add, AddAssign, SubAssign};

/// A power in attowatts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SignalPower(u64);

impl SignalPower {
    /// No power.
    pub const ZERO: Self = Self(0);
    /// The highest power, 0 dBm: 18 000 such frames add up in 64 bits.
    pub const MOST: Self = Self(1_000_000_000_000_000);

    /// Converts from dBm; below -150 dBm the result is zero, and above 0 dBm it is 0 dBm.
    #[must_use]
    pub fn from_dbm(dbm: f64) -> Self {
        // Casts from floats saturate; NaN counts as no power.
        let attowatts = if dbm.is_nan() { 0.0 } else { factor(dbm + 150.0) };
        Self((attowatts as u64).min(Self::MOST.0))
    }

    /// Returns the power in dBm; minus infinity for zero.
    #[must_use]
    pub fn dbm(self) -> f64 {
        10.0 * (libm::log10(self.0 as f64) - 15.0)
    }

    /// Returns the quotient of this power and `other`.
    #[must_use]
    pub fn over(self, other: Self) -> f64 {
        self.0 as f64 / other.0 as f64
    }
}

impl Add for SignalPower {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for SignalPower {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for SignalPower {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl SignalPower {
    /// Subtracts `other`, which must be a part of this power.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }

    /// Returns the least power that together with `other` exceeds this one; zero if `other` alone
    /// does.
    #[must_use]
    pub const fn above(self, other: Self) -> Self {
        Self((self.0 + 1).saturating_sub(other.0))
    }
}

/// A power in 32 bits, 26 of mantissa and the rest a shift; the error is less than 0.0000002 dB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedPower(u32);

impl PackedPower {
    const BITS: u32 = 26;

    /// Packs a power.
    #[must_use]
    pub const fn of(power: SignalPower) -> Self {
        let shift = (u64::BITS - power.0.leading_zeros()).saturating_sub(Self::BITS);
        Self(((power.0 >> shift) as u32) | shift << Self::BITS)
    }

    /// Unpacks the power.
    #[must_use]
    pub const fn power(self) -> SignalPower {
        let mantissa = self.0 & ((1 << Self::BITS) - 1);
        SignalPower((mantissa as u64) << (self.0 >> Self::BITS))
    }
}

/// A ratio of powers, kept as its inverse in units of 2^-32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PowerRatio(u64);

impl PowerRatio {
    /// The ratio of equal powers.
    pub const ONE: Self = Self(1 << 32);
    /// A ratio beyond all powers: nothing is left.
    pub const NOTHING: Self = Self(0);

    /// Converts from decibels, down to -30 dB.
    #[must_use]
    pub fn from_db(db: f64) -> Self {
        Self((4_294_967_296.0 * libm::pow(10.0, -db.max(-30.0) / 10.0)) as u64)
    }

    /// Converts from a factor, down to a thousandth.
    #[must_use]
    pub fn of(factor: f64) -> Self {
        Self((4_294_967_296.0 / factor.max(0.001)) as u64)
    }

    /// Divides a power by the ratio.
    #[must_use]
    pub const fn under(self, power: SignalPower) -> SignalPower {
        SignalPower(((power.0 as u128 * self.0 as u128) >> 32) as u64)
    }

    /// Returns the least power of which at least `part` is left after division by the ratio; the
    /// highest number if nothing is left of any.
    #[must_use]
    pub const fn least(self, part: SignalPower) -> SignalPower {
        if self.0 == 0 {
            return SignalPower(if part.0 == 0 { 0 } else { u64::MAX });
        }
        let least = ((part.0 as u128) << 32).div_ceil(self.0 as u128);
        SignalPower(if least > u64::MAX as u128 { u64::MAX } else { least as u64 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decibels_there_and_back() {
        for dbm in [-130.0, -101.3, -62.0, -40.0, 0.0] {
            assert!((SignalPower::from_dbm(dbm).dbm() - dbm).abs() < 0.05, "{dbm}");
        }
        assert!((SignalPower::from_dbm(-90.0).dbm() + 90.0).abs() < 1e-4);
        assert_eq!(SignalPower::from_dbm(20.0), SignalPower::MOST);
        assert_eq!(SignalPower::from_dbm(-200.0), SignalPower::ZERO);
        assert_eq!(SignalPower::from_dbm(f64::NAN), SignalPower::ZERO);
    }

    #[test]
    fn the_least_power_leaves_just_the_part() {
        for db in [-3.0, 0.0, 4.0, 15.0, 29.7] {
            let ratio = PowerRatio::from_db(db);
            for part in [1, 2, 999, 1_234_567, 3_000_000_000] {
                let least = ratio.least(SignalPower(part));
                assert!(ratio.under(least).0 >= part, "{db} dB, {part}");
                assert!(ratio.under(SignalPower(least.0 - 1)).0 < part, "{db} dB, {part}");
            }
            assert_eq!(ratio.least(SignalPower::ZERO), SignalPower::ZERO);
        }
        assert_eq!(PowerRatio::NOTHING.least(SignalPower(1)), SignalPower(u64::MAX));
    }

    #[test]
    fn packing_loses_next_to_nothing() {
        for dbm in [-150.0, -120.0, -90.5, -40.0, 0.0] {
            let power = SignalPower::from_dbm(dbm);
            let back = PackedPower::of(power).power();
            assert!(back <= power && back.over(power) > 0.999_999_9, "{dbm}");
        }
        assert_eq!(PackedPower::of(SignalPower::ZERO).power(), SignalPower::ZERO);
    }

    #[test]
    fn ratios_divide() {
        let power = SignalPower::from_dbm(-40.0);
        assert!((PowerRatio::from_db(10.0).under(power).dbm() + 50.0).abs() < 1e-6);
        assert!((PowerRatio::from_db(-3.0).under(power).dbm() + 37.0).abs() < 1e-6);
        assert_eq!(PowerRatio::of(100.0), PowerRatio::from_db(20.0));
        assert_eq!(PowerRatio::from_db(200.0).under(power), SignalPower::ZERO);
    }
}

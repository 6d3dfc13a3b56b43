//! Charge in whole numbers.

use core::iter::Sum;
use core::ops::Add;

/// A charge, in 10⁻¹⁸ coulomb: nanoamperes times nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElectricCharge(pub u128);

impl ElectricCharge {
    /// Returns the charge of a current over a time.
    #[must_use]
    pub const fn of(na: u32, ns: u64) -> Self {
        Self(na as u128 * ns as u128)
    }

    /// Returns the charge in picocoulombs, rounded.
    #[must_use]
    pub const fn picocoulombs(self) -> u128 {
        (self.0 + 500_000) / 1_000_000
    }

    /// Returns the mean current over a time in nanoamperes, rounded; `None` for no time.
    #[must_use]
    pub fn mean_na(self, ns: u64) -> Option<u64> {
        let ns = u128::from(ns);
        u64::try_from((self.0 + ns / 2).checked_div(ns)?).ok()
    }
}

impl Add for ElectricCharge {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sum for ElectricCharge {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self(0), Add::add)
    }
}

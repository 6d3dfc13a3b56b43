//! How long a battery lasts.

use core::time::Duration;

/// A battery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Battery {
    /// What is printed on it, milliampere-hours.
    pub mah: u32,
    /// How much of that a device gets, percent: the rest goes to the regulator, to cold, to age and
    /// to self-discharge.
    pub derating_percent: u8,
}

impl Battery {
    /// An 18650 cell of which a device gets 85 %: an assumption for comparisons.
    pub const CELL: Self = Self { mah: 2600, derating_percent: 85 };

    /// How long that mean current can be drawn; `None` without one.
    #[must_use]
    pub fn life(self, mean_na: u64) -> Option<Duration> {
        // mAh to nA s: 10^6 times 3600.
        let capacity = u128::from(self.mah) * 3_600_000_000 * u128::from(self.derating_percent);
        let seconds = (capacity / 100).checked_div(u128::from(mean_na))?;
        Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(u64::MAX)))
    }
}

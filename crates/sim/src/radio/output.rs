//! With what power a station sends each mode.

use super::chip::Chip;
use super::mode::Mode;

/// The power of each mode, relative to the most a station sends with: links are made for that.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    most_dbm: f64,
    /// Zero or more.
    below_db: [f32; Mode::COUNT],
}

impl Output {
    /// A chip, with the limit that its software sets (`esp_wifi_set_max_tx_power`), in dBm.
    #[must_use]
    pub fn of(chip: Chip, limit_dbm: f64) -> Self {
        let dbm = Mode::ALL.map(|mode| chip.power_dbm(mode).min(limit_dbm));
        let most_dbm = dbm.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Self { most_dbm, below_db: dbm.map(|dbm| (most_dbm - dbm) as f32) }
    }

    /// The same power for all modes.
    #[must_use]
    pub const fn flat(dbm: f64) -> Self {
        Self { most_dbm: dbm, below_db: [0.0; Mode::COUNT] }
    }

    /// The most of all modes: what links are computed with.
    #[must_use]
    pub const fn most_dbm(&self) -> f64 {
        self.most_dbm
    }

    /// How much weaker than that a mode is sent.
    #[must_use]
    pub fn below_db(&self, mode: Mode) -> f64 {
        f64::from(self.below_db[mode.index()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::mode::{Hr, Ofdm};

    #[test]
    fn fast_modes_are_weaker_until_software_is_the_limit() {
        let [slow, fast] = [Mode::Hr(Hr::M1), Mode::Ofdm(Ofdm::M54)];
        let full = Output::of(Chip::Esp32, 30.0);
        assert_eq!([full.most_dbm(), full.below_db(slow), full.below_db(fast)], [19.5, 0.0, 5.5]);
        let limited = Output::of(Chip::Esp32, 10.0);
        assert_eq!([limited.most_dbm(), limited.below_db(fast)], [10.0, 0.0]);
        assert_eq!(Output::flat(20.0).below_db(fast), 0.0);
    }
}

//! The transmit power of each mode.

use super::channel::Channel;
use super::chip::RadioChip;
use super::mode::WifiMode;

/// The transmit power of each mode, relative to the highest one, with which links are computed.
#[derive(Clone, Debug, PartialEq)]
pub struct TxPower {
    most_dbm: f64,
    /// The decibels below the highest power, zero or more.
    below_db: [f32; WifiMode::COUNT],
}

impl TxPower {
    /// Returns the powers of a chip under the limit of its software (`esp_wifi_set_max_tx_power`),
    /// in dBm.
    #[must_use]
    pub fn of(chip: RadioChip, limit_dbm: f64) -> Self {
        let dbm = WifiMode::ALL.map(|mode| chip.power_dbm(mode).min(limit_dbm));
        let most_dbm = dbm.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Self { most_dbm, below_db: dbm.map(|dbm| (most_dbm - dbm) as f32) }
    }

    /// Returns the powers of a chip on a channel under the limit of its software, in dBm: those of 5 GHz there, if the
    /// chip has this band.
    #[must_use]
    pub fn on(chip: RadioChip, limit_dbm: f64, channel: u8) -> Self {
        if !chip.has_5_ghz() || !Channel::of(channel).is_some_and(Channel::is_5_ghz) {
            return Self::of(chip, limit_dbm);
        }
        let dbm = WifiMode::ALL
            .map(|mode| chip.power_5_ghz_dbm(mode).unwrap_or(f64::NEG_INFINITY).min(limit_dbm));
        let most_dbm = dbm.into_iter().fold(f64::NEG_INFINITY, f64::max);
        Self { most_dbm, below_db: dbm.map(|dbm| (most_dbm - dbm) as f32) }
    }

    /// Returns an equal power for all modes.
    #[must_use]
    pub const fn flat(dbm: f64) -> Self {
        Self { most_dbm: dbm, below_db: [0.0; WifiMode::COUNT] }
    }

    /// Returns the highest power of all modes, with which links are computed.
    #[must_use]
    pub const fn most_dbm(&self) -> f64 {
        self.most_dbm
    }

    /// Returns the decibels by which a mode is weaker than the highest power.
    #[must_use]
    pub fn below_db(&self, mode: WifiMode) -> f64 {
        f64::from(self.below_db[mode.index()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::mode::{Hr, Ofdm};

    #[test]
    fn fast_modes_are_weaker_until_software_is_the_limit() {
        let [slow, fast] = [WifiMode::Hr(Hr::M1), WifiMode::Ofdm(Ofdm::M54)];
        let full = TxPower::of(RadioChip::Esp32, 30.0);
        assert_eq!([full.most_dbm(), full.below_db(slow), full.below_db(fast)], [19.5, 0.0, 5.5]);
        let limited = TxPower::of(RadioChip::Esp32, 10.0);
        assert_eq!([limited.most_dbm(), limited.below_db(fast)], [10.0, 0.0]);
        let six = WifiMode::Ofdm(Ofdm::M6);
        let high = TxPower::on(RadioChip::Esp32C5, 30.0, 36);
        assert_eq!([high.most_dbm(), high.below_db(six), high.below_db(fast)], [17.5, 0.0, 2.5]);
        assert_eq!(TxPower::on(RadioChip::Esp32C5, 30.0, 6), TxPower::of(RadioChip::Esp32C5, 30.0));
        assert_eq!(TxPower::flat(20.0).below_db(fast), 0.0);
    }
}

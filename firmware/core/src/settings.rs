//! Settings of the firmware that survive a restart.

use espbench_model::sdkconfig::{Chip, Rank};

/// Length of the settings in flash, in bytes.
pub const SETTINGS_LEN: usize = 4;
/// First byte of the settings in flash.
const FORM: u8 = 1;
/// Name of the rank that is used where none was chosen.
const DEFAULT_RANK: &str = "default";

/// Settings of the firmware; they apply from the next start on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirmwareSettings {
    /// Number of the rank of buffers among those of the chip; `None` for its default.
    pub rank: Option<u8>,
    /// Whether the services seal what they send, where there is a key (`CONFIG_ESPNOW_*_SECURITY`).
    pub seal: bool,
}

impl FirmwareSettings {
    /// Reads the settings; anything else gives the defaults.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Self {
        match *bytes {
            [FORM, rank, seal @ 0..=1, _] => {
                Self { rank: (rank != u8::MAX).then_some(rank), seal: seal == 1 }
            }
            _ => Self::default(),
        }
    }

    /// Writes the settings.
    #[must_use]
    pub fn emit(self) -> [u8; SETTINGS_LEN] {
        [FORM, self.rank.unwrap_or(u8::MAX), u8::from(self.seal), 0]
    }

    /// Returns the rank of buffers on a chip: the chosen one, or the chip's default. `None` where
    /// Espressif names no ranks for the chip.
    #[must_use]
    pub fn rank(self, chip: Chip) -> Option<&'static Rank> {
        let chosen = self.rank.and_then(|it| Rank::of(chip).nth(it.into()));
        chosen.or_else(|| Rank::of(chip).find(|it| it.name == DEFAULT_RANK))
    }

    /// Chooses a rank by its name; returns false if the chip has none of that name.
    pub fn choose(&mut self, chip: Chip, name: &[u8]) -> bool {
        let found = Rank::of(chip).position(|it| it.name.as_bytes() == name);
        if let Some(found) = found {
            self.rank = Some(found as u8);
        }
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_and_rubbish_is_the_default() {
        for rank in [None, Some(0), Some(2)] {
            for seal in [false, true] {
                let it = FirmwareSettings { rank, seal };
                assert_eq!(FirmwareSettings::parse(&it.emit()), it);
            }
        }
        for bytes in [&[][..], &[0xFF; 4], &[FORM, 0, 2, 0], &[FORM, 0, 1]] {
            assert_eq!(FirmwareSettings::parse(bytes), FirmwareSettings::default());
        }
    }

    #[test]
    fn a_rank_is_one_of_the_chips() {
        let mut it = FirmwareSettings::default();
        assert_eq!(it.rank(Chip::Esp32c3).map(|it| (it.name, it.static_rx)), Some(("default", 8)));
        assert!(it.choose(Chip::Esp32c3, b"iperf"));
        assert_eq!(it.rank(Chip::Esp32c3).map(|it| it.window_kb), Some(40));
        assert!(!it.choose(Chip::Esp32c3, b"memory saving"), "the ESP32 has it");
        assert_eq!(it.rank(Chip::Esp32c3).map(|it| it.name), Some("iperf"), "as before");
        // The flash of another firmware: a number that the chip does not have.
        assert_eq!(
            FirmwareSettings { rank: Some(9), ..it }.rank(Chip::Esp32c2).unwrap().name,
            "default"
        );
    }
}

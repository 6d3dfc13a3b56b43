//! Ranges and defaults, as Kconfig has them.
//!
//! Read from `components/esp_wifi/Kconfig`, `components/esp32/Kconfig`, `components/lwip/Kconfig` and
//! `components/freertos/Kconfig` of ESP-IDF at the tags v3.0, v3.3, v4.0, v4.1, v4.4, v5.0 to v5.5
//! and v6.0.1.

use super::chip::{Chip, SdkContext};
use super::key::{ConfigOption, ValueType};
use core::ops::RangeInclusive;

impl ConfigOption {
    /// Returns the range that Kconfig accepts; the build ignores a value outside of it.
    #[must_use]
    pub fn range(self, context: &SdkContext) -> RangeInclusive<u32> {
        let SdkContext { chip, release, psram, window_scale } = *context;
        if self.fact().kind == ValueType::Flag {
            return 0..=1;
        }
        let scaled = |low, plain, wide| low..=if window_scale { wide } else { plain };
        // From v3.3 to v4.3 the smallest values were larger with PSRAM.
        let least = |plain, with_psram| {
            let raised = psram && release.from(3, 3) && !release.from(4, 4);
            if raised { with_psram } else { plain }
        };
        let he = chip.he() && release.from(5, 1);
        match self {
            Self::StaticRx => least(2, 8)..=if he { 128 } else { 25 },
            Self::DynamicRx => scaled(0, 128, 1024),
            Self::StaticTx if release.from(4, 4) => 1..=64,
            Self::StaticTx => 6..=64,
            Self::DynamicTx if release.from(4, 4) => 1..=128,
            Self::DynamicTx => 16..=128,
            Self::CacheTx if release.from(5, 4) => 0..=128,
            Self::CacheTx => 16..=128,
            Self::TxBaWindow => 2..=if he { 64 } else { 32 },
            Self::RxBaWindow => least(2, 16)..=if he { 64 } else { 32 },
            Self::MinActive => 8..=60,
            Self::TcpMss if release.from(4, 0) => 536..=1460,
            Self::TcpMss => 1220..=1436,
            Self::SendBuffer | Self::Window => scaled(2440, 65_535, 1_024_000),
            Self::TcpMailbox | Self::TcpipMailbox => scaled(6, 64, 1024),
            Self::UdpMailbox => 6..=64,
            Self::OoseqMax => 0..=12,
            Self::WindowShift => 0..=14,
            Self::Sockets if release.from(5, 4) => 1..=253,
            Self::Sockets if release.from(3, 3) => 1..=16,
            Self::Sockets => 1..=32,
            Self::TickHz => 1..=1000,
            _ if !self.words().is_empty() => {
                let least = self.choices(chip).next().unwrap_or(0);
                least..=self.choices(chip).last().unwrap_or(least)
            }
            _ => 0..=1,
        }
    }

    /// Returns the numbers of a choice that a chip has, the smallest first; of other options none.
    ///
    /// Read from `components/esptool_py/Kconfig.projbuild`, `components/esp_psram/CHIP/Kconfig.spiram`
    /// and `components/esp_system/port/soc/CHIP/Kconfig.cache`. A chip whose caches cannot be chosen
    /// has the size of its Technical Reference Manual alone.
    pub fn choices(self, chip: Chip) -> impl Iterator<Item = u32> {
        let only: Option<&'static [u32]> = match (self, chip) {
            (Self::FlashClock, Chip::Esp32c2) => Some(&[15, 30, 60]),
            (Self::FlashClock, Chip::Esp32s3) => Some(&[20, 40, 80, 120]),
            (Self::FlashClock, Chip::Esp32 | Chip::Esp32s2 | Chip::Esp32c3) => {
                Some(&[20, 26, 40, 80])
            }
            (Self::FlashClock, _) => Some(&[20, 40, 80]),
            (Self::InstructionCache, Chip::Esp32s2) => Some(&[8, 16]),
            (Self::InstructionCache, Chip::Esp32s3) => Some(&[16, 32]),
            (Self::InstructionCache, Chip::Esp32c2 | Chip::Esp32c3) => Some(&[16]),
            (Self::InstructionCache, _) => Some(&[32]),
            (Self::InstructionLine, Chip::Esp32s2 | Chip::Esp32s3) => Some(&[16, 32]),
            (Self::InstructionLine, _) => Some(&[32]),
            (Self::DataCache, Chip::Esp32s2) => Some(&[0, 8, 16]),
            (Self::DataCache, Chip::Esp32s3) => Some(&[16, 32, 64]),
            (Self::DataCache, _) => Some(&[0]),
            (Self::DataLine, Chip::Esp32s2) => Some(&[16, 32]),
            (Self::DataLine, Chip::Esp32s3) => Some(&[16, 32, 64]),
            (Self::DataLine, _) => Some(&[32]),
            (Self::PsramMode, Chip::Esp32s3) => Some(&[4, 8]),
            (Self::PsramMode, _) => Some(&[4]),
            (Self::PsramClock, Chip::Esp32s2) => Some(&[20, 26, 40, 80]),
            (Self::PsramClock, Chip::Esp32s3) => Some(&[40, 80, 120]),
            (Self::PsramClock, _) => Some(&[40, 80]),
            _ => None,
        };
        let own = self.words().iter().map(|it| it.0);
        own.filter(move |it| only.is_none_or(|only| only.contains(it)))
    }

    /// Returns whether the build uses a value.
    #[must_use]
    pub fn allows(self, value: u32, context: &SdkContext) -> bool {
        self.range(context).contains(&value)
            && (self.words().is_empty() || self.choices(context.chip).any(|it| it == value))
    }

    /// Returns the value that the build uses where none is given.
    #[must_use]
    pub fn default_in(self, context: &SdkContext) -> u32 {
        let SdkContext { chip, release, psram, .. } = *context;
        let with_psram = |with, without| if psram { with } else { without };
        match self {
            Self::StaticRx => with_psram(16, 10),
            Self::RxBaWindow => with_psram(16, 6),
            Self::TxBaWindow | Self::TcpMailbox | Self::UdpMailbox => 6,
            Self::DynamicRx | Self::DynamicTx | Self::CacheTx | Self::TcpipMailbox => 32,
            Self::StaticTx => 16,
            Self::StaticTxBuffer => u32::from(psram),
            Self::DynamicTxBuffer => u32::from(!psram),
            Self::AmpduTx | Self::AmpduRx | Self::WifiIram | Self::WifiRxIram => 1,
            Self::WifiExtraIram | Self::SleepIram => u32::from(chip.he() && release.from(5, 2)),
            Self::MinActive => 50,
            Self::TcpMss if release.from(4, 0) => 1440,
            Self::TcpMss => 1436,
            Self::SendBuffer | Self::Window if release.from(5, 2) => 5760,
            Self::SendBuffer | Self::Window => 5744,
            Self::OoseqMax => with_psram(0, 4),
            Self::Sockets => 10,
            Self::TickHz => 100,
            Self::Unicore => u32::from(chip.cores() == 1),
            Self::PsramWifi => u32::from(psram),
            Self::DisconnectedSleep => u32::from(release.from(5, 1)),
            // DIO, also for a flash with four lines: the bootloader knows no better before it asks.
            Self::FlashMode => 2,
            Self::FlashClock => match chip {
                Chip::Esp32 => 40,
                Chip::Esp32c2 => 60,
                _ => 80,
            },
            Self::InstructionCache => self.choices(chip).next().unwrap_or(0),
            Self::InstructionLine | Self::DataLine => 32,
            Self::DataCache => match chip {
                Chip::Esp32s2 => 8,
                Chip::Esp32s3 => 32,
                _ => 0,
            },
            Self::PsramMode => 4,
            Self::PsramClock => 40,
            _ => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::chip::IdfRelease;
    use super::*;

    fn contexts() -> impl Iterator<Item = SdkContext> {
        let releases = [(3, 0), (3, 3), (4, 0), (4, 4), (5, 0), (5, 1), (5, 2), (5, 4), (6, 0)];
        let both = [false, true];
        Chip::ALL.into_iter().flat_map(move |chip| {
            releases.into_iter().flat_map(move |(major, minor)| {
                both.into_iter().map(move |psram| {
                    let release = IdfRelease::new(major, minor);
                    SdkContext { chip, release, psram, window_scale: psram }
                })
            })
        })
    }

    #[test]
    fn defaults_are_within_their_ranges() {
        for context in contexts() {
            for key in ConfigOption::all() {
                let (range, default) = (key.range(&context), key.default_in(&context));
                assert!(range.contains(&default), "{key:?} {default} {range:?} {context:?}");
                assert!(key.allows(default, &context), "{key:?} {default} {context:?}");
            }
        }
    }

    #[test]
    fn ranges_are_those_of_the_release_the_chip_and_psram() {
        let v5 = SdkContext::default();
        assert_eq!(ConfigOption::StaticRx.range(&v5), 2..=25);
        assert_eq!(
            ConfigOption::StaticRx.range(&SdkContext { chip: Chip::Esp32c6, ..v5 }),
            2..=128
        );
        let v4 =
            SdkContext { release: IdfRelease::new(4, 0), chip: Chip::Esp32, psram: true, ..v5 };
        assert_eq!(ConfigOption::StaticRx.range(&v4), 8..=25);
        assert_eq!(ConfigOption::RxBaWindow.range(&v4), 16..=32);
        assert_eq!(ConfigOption::DynamicTx.range(&v4), 16..=128);
        assert_eq!(ConfigOption::Window.range(&v5), 2440..=65_535);
        assert_eq!(
            ConfigOption::Window.range(&SdkContext { window_scale: true, ..v5 }),
            2440..=1_024_000
        );
    }
}

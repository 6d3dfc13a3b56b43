//! PHY modes that an ESP can send in: modulation, code and data rate.
//!
//! | modes | clause | number |
//! |---|---|---|
//! | DSSS 1 and 2, CCK 5.5 and 11 Mbit/s, long and (not at 1) short preamble | 15, 16 | 7 |
//! | ERP-OFDM 6 to 54 Mbit/s | 17, 18 | 8 |
//! | HT mixed format, one stream: MCS 0 to 7, 20 and 40 MHz, both guard intervals | 19 | 32 |
//! | HE in 20 MHz, one stream ([`super::he`]) | 27 | 63 |
//! | Espressif's Long Range, 250 and 500 kbit/s ([`LongRange`]) | none | 2 |

use super::he::He;

/// The preamble of a clause 16 frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Preamble {
    /// 144 us and a header of 48 us, both at 1 Mbit/s (16.2.2.2).
    Long,
    /// 72 us at 1 Mbit/s and a header of 24 us at 2 Mbit/s (16.2.2.3).
    Short,
}

/// A DSSS or CCK mode (clauses 15 and 16, "HR/DSSS"). 1 Mbit/s has the long preamble only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Hr {
    /// 1 Mbit/s, DBPSK.
    M1,
    /// 2 Mbit/s, DQPSK.
    M2,
    /// 5.5 Mbit/s, CCK.
    M5,
    /// 11 Mbit/s, CCK.
    M11,
    /// 2 Mbit/s, short preamble.
    M2Short,
    /// 5.5 Mbit/s, short preamble.
    M5Short,
    /// 11 Mbit/s, short preamble.
    M11Short,
}

impl Hr {
    /// All DSSS and CCK modes, first those with the long preamble, each group from slow to fast.
    pub const ALL: [Self; 7] =
        [Self::M1, Self::M2, Self::M5, Self::M11, Self::M2Short, Self::M5Short, Self::M11Short];

    /// Returns the preamble.
    #[must_use]
    pub const fn preamble(self) -> Preamble {
        match self {
            Self::M1 | Self::M2 | Self::M5 | Self::M11 => Preamble::Long,
            Self::M2Short | Self::M5Short | Self::M11Short => Preamble::Short,
        }
    }

    /// Returns the data rate in units of 500 kbit/s.
    #[must_use]
    pub const fn half_mbit(self) -> u32 {
        match self {
            Self::M1 => 2,
            Self::M2 | Self::M2Short => 4,
            Self::M5 | Self::M5Short => 11,
            Self::M11 | Self::M11Short => 22,
        }
    }

    /// Returns the mode with this rate and another preamble; 1 Mbit/s keeps the long one.
    #[must_use]
    pub const fn with(self, preamble: Preamble) -> Self {
        match (preamble, self) {
            (_, Self::M1) => Self::M1,
            (Preamble::Long, Self::M2 | Self::M2Short) => Self::M2,
            (Preamble::Long, Self::M5 | Self::M5Short) => Self::M5,
            (Preamble::Long, Self::M11 | Self::M11Short) => Self::M11,
            (Preamble::Short, Self::M2 | Self::M2Short) => Self::M2Short,
            (Preamble::Short, Self::M5 | Self::M5Short) => Self::M5Short,
            (Preamble::Short, Self::M11 | Self::M11Short) => Self::M11Short,
        }
    }
}

/// An ERP-OFDM mode (clause 18, which is clause 17 in the 2.4 GHz band; Table 17-4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Ofdm {
    /// 6 Mbit/s, BPSK 1/2.
    M6,
    /// 9 Mbit/s, BPSK 3/4.
    M9,
    /// 12 Mbit/s, QPSK 1/2.
    M12,
    /// 18 Mbit/s, QPSK 3/4.
    M18,
    /// 24 Mbit/s, 16-QAM 1/2.
    M24,
    /// 36 Mbit/s, 16-QAM 3/4.
    M36,
    /// 48 Mbit/s, 64-QAM 2/3.
    M48,
    /// 54 Mbit/s, 64-QAM 3/4.
    M54,
}

impl Ofdm {
    /// All ERP-OFDM modes, from slow to fast.
    pub const ALL: [Self; 8] =
        [Self::M6, Self::M9, Self::M12, Self::M18, Self::M24, Self::M36, Self::M48, Self::M54];

    /// Returns the data bits in a symbol of 4 us, `N_DBPS` (Table 17-4), four times the rate in
    /// Mbit/s.
    #[must_use]
    pub const fn bits_per_symbol(self) -> u32 {
        match self {
            Self::M6 => 24,
            Self::M9 => 36,
            Self::M12 => 48,
            Self::M18 => 72,
            Self::M24 => 96,
            Self::M36 => 144,
            Self::M48 => 192,
            Self::M54 => 216,
        }
    }
}

/// A modulation and coding scheme of one spatial stream (Tables 19-27 and 19-31).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Mcs {
    /// BPSK 1/2.
    Mcs0,
    /// QPSK 1/2.
    Mcs1,
    /// QPSK 3/4.
    Mcs2,
    /// 16-QAM 1/2.
    Mcs3,
    /// 16-QAM 3/4.
    Mcs4,
    /// 64-QAM 2/3.
    Mcs5,
    /// 64-QAM 3/4.
    Mcs6,
    /// 64-QAM 5/6.
    Mcs7,
}

impl Mcs {
    /// All schemes, from slow to fast.
    pub const ALL: [Self; 8] = [
        Self::Mcs0,
        Self::Mcs1,
        Self::Mcs2,
        Self::Mcs3,
        Self::Mcs4,
        Self::Mcs5,
        Self::Mcs6,
        Self::Mcs7,
    ];

    /// Returns the scheme with a number from 0 to 7, or `None` for another number.
    #[must_use]
    pub const fn of(number: u8) -> Option<Self> {
        match number {
            0..8 => Some(Self::ALL[number as usize]),
            _ => None,
        }
    }

    /// Returns the "non-HT reference rate" (10.6.11): the clause 17 rate with the same modulation
    /// and the same or the next lower code rate.
    #[must_use]
    pub const fn non_ht_reference(self) -> Ofdm {
        match self {
            Self::Mcs0 => Ofdm::M6,
            Self::Mcs1 => Ofdm::M12,
            Self::Mcs2 => Ofdm::M18,
            Self::Mcs3 => Ofdm::M24,
            Self::Mcs4 => Ofdm::M36,
            Self::Mcs5 => Ofdm::M48,
            Self::Mcs6 | Self::Mcs7 => Ofdm::M54,
        }
    }
}

/// The channel width of an HT frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChannelWidth {
    /// 20 MHz: 52 data subcarriers.
    Mhz20,
    /// 40 MHz: 108 data subcarriers.
    Mhz40,
}

/// The guard interval of an HT frame's data symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum GuardInterval {
    /// 800 ns: symbols of 4 us.
    Long,
    /// 400 ns: symbols of 3.6 us.
    Short,
}

/// An HT mode in mixed format with one spatial stream and convolutional code (clause 19).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ht {
    /// The modulation and coding scheme.
    pub mcs: Mcs,
    /// The channel width, 20 or 40 MHz.
    pub width: ChannelWidth,
    /// The guard interval.
    pub guard: GuardInterval,
}

impl Ht {
    /// Returns the data bits in a symbol, `N_DBPS` (Tables 19-27 and 19-31).
    #[must_use]
    pub const fn bits_per_symbol(self) -> u32 {
        // Coded bits of a subcarrier, times twelve: 1/2, 1, 3/2, 2, 3, 4, 9/2, 5.
        let twelfths = [6, 12, 18, 24, 36, 48, 54, 60][self.mcs as usize];
        match self.width {
            ChannelWidth::Mhz20 => 52 * twelfths / 12,
            ChannelWidth::Mhz40 => 108 * twelfths / 12,
        }
    }

    /// Returns the length of a data symbol in nanoseconds (Table 19-6, `T_SYM` and `T_SYMS`).
    #[must_use]
    pub const fn symbol_ns(self) -> u32 {
        match self.guard {
            GuardInterval::Long => 4_000,
            GuardInterval::Short => 3_600,
        }
    }
}

/// Espressif's Long Range (LR), which is no part of the standard. ESP-IDF documents the two rates and "about 4 dB"
/// of sensitivity over 802.11b (ESP-IDF Programming Guide, Wi-Fi Driver, "Wi-Fi Protocol Mode": LR); nothing else of
/// the PHY is published, and what stands here besides is an assumption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum LongRange {
    /// 250 kbit/s (`WIFI_PHY_RATE_LORA_250K`).
    K250,
    /// 500 kbit/s (`WIFI_PHY_RATE_LORA_500K`).
    K500,
}

/// Twice the energy of a bit, in decibels.
pub const TWICE_DB: f64 = 3.0103;
/// The sensitivity that 250 kbit/s gains over 1 Mbit/s, in decibels: ESP-IDF's "about 4 dB", here of the slower rate.
pub const LONG_RANGE_GAIN_DB: f64 = 4.0;

impl LongRange {
    /// All rates, from slow to fast.
    pub const ALL: [Self; 2] = [Self::K250, Self::K500];

    /// Returns the data rate in kbit/s.
    #[must_use]
    pub const fn kbit_s(self) -> u32 {
        match self {
            Self::K250 => 250,
            Self::K500 => 500,
        }
    }

    /// Returns the decibels that a receiver gains over 1 Mbit/s: [`LONG_RANGE_GAIN_DB`], and with twice the rate half
    /// of the energy.
    #[must_use]
    pub const fn gain_db(self) -> f64 {
        match self {
            Self::K250 => LONG_RANGE_GAIN_DB,
            Self::K500 => LONG_RANGE_GAIN_DB - TWICE_DB,
        }
    }
}

/// A PHY mode: modulation, code and channel width of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WifiMode {
    /// DSSS or CCK.
    Hr(Hr),
    /// ERP-OFDM.
    Ofdm(Ofdm),
    /// HT.
    Ht(Ht),
    /// HE (802.11ax), 20 MHz.
    He(He),
    /// Espressif's Long Range.
    Lr(LongRange),
}

impl WifiMode {
    /// The number of modes.
    pub const COUNT: usize = 47 + He::COUNT + LongRange::ALL.len();

    /// The mode in which ESP-NOW sends by default, 1 Mbit/s.
    pub const ESP_NOW: Self = Self::Hr(Hr::M1);

    /// All modes, ordered so that `ALL[mode.index()] == mode`.
    pub const ALL: [Self; Self::COUNT] = all();

    /// Returns the mode in which ESP-NOW sends by default on a channel: in 5 GHz 6 Mbit/s, the lowest rate there (an
    /// assumption: ESP-IDF names 1 Mbit/s alone, which the band does not have).
    #[must_use]
    pub const fn esp_now_on(channel: u8) -> Self {
        if channel > 14 { Self::Ofdm(Ofdm::M6) } else { Self::ESP_NOW }
    }

    /// Returns the index of the mode in [`WifiMode::ALL`].
    #[must_use]
    pub const fn index(self) -> usize {
        match self {
            Self::Hr(hr) => hr as usize,
            Self::Ofdm(ofdm) => Hr::ALL.len() + ofdm as usize,
            Self::Ht(Ht { mcs, width, guard }) => {
                15 + width as usize * 16 + guard as usize * 8 + mcs as usize
            }
            Self::He(he) => 47 + he.index(),
            Self::Lr(rate) => 47 + He::COUNT + rate as usize,
        }
    }

    /// Returns an HT mode.
    #[must_use]
    pub const fn ht(mcs: Mcs, width: ChannelWidth, guard: GuardInterval) -> Self {
        Self::Ht(Ht { mcs, width, guard })
    }

    /// Returns the data rate in kbit/s, rounded down (rates with the short guard interval are not
    /// whole).
    #[must_use]
    pub const fn kbit_s(self) -> u32 {
        match self {
            Self::Hr(hr) => hr.half_mbit() * 500,
            Self::Ofdm(ofdm) => ofdm.bits_per_symbol() * 250,
            Self::Ht(ht) => ht.bits_per_symbol() * 1_000_000 / ht.symbol_ns(),
            Self::He(he) => he.bits_per_symbol() * 1_000_000 / he.symbol_ns(),
            Self::Lr(rate) => rate.kbit_s(),
        }
    }

    /// Returns the bandwidth in MHz, over which noise is counted.
    #[must_use]
    pub const fn bandwidth_mhz(self) -> u32 {
        match self {
            Self::Hr(_) | Self::Lr(_) => 22,
            Self::Ht(Ht { width: ChannelWidth::Mhz40, .. }) => 40,
            Self::Ofdm(_) | Self::Ht(_) | Self::He(_) => 20,
        }
    }

    /// Returns the decibels that a frame of this mode gains over one with the same modulation and code at the same
    /// power: with DCM, in 106 tones, and with the spreading of Long Range.
    #[must_use]
    pub const fn gain_db(self) -> f64 {
        match self {
            Self::He(he) => he.gain_db(),
            Self::Lr(rate) => rate.gain_db(),
            Self::Hr(_) | Self::Ofdm(_) | Self::Ht(_) => 0.0,
        }
    }

    /// Returns whether the frame may carry several MPDUs (A-MPDU: 19.3.2 and 27.3.4).
    #[must_use]
    pub const fn aggregates(self) -> bool {
        matches!(self, Self::Ht(_) | Self::He(_))
    }
}

const fn all() -> [WifiMode; WifiMode::COUNT] {
    let mut modes = [WifiMode::ESP_NOW; WifiMode::COUNT];
    let mut at = 0;
    while at < WifiMode::COUNT {
        modes[at] = match at {
            0..7 => WifiMode::Hr(Hr::ALL[at]),
            7..15 => WifiMode::Ofdm(Ofdm::ALL[at - 7]),
            47.. => match He::at(at - 47) {
                Some(he) => WifiMode::He(he),
                None => WifiMode::Lr(LongRange::ALL[at - 47 - He::COUNT]),
            },
            _ => {
                let ht = at - 15;
                let width = if ht < 16 { ChannelWidth::Mhz20 } else { ChannelWidth::Mhz40 };
                let guard = if ht % 16 < 8 { GuardInterval::Long } else { GuardInterval::Short };
                WifiMode::ht(Mcs::ALL[ht % 8], width, guard)
            }
        };
        at += 1;
    }
    modes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mode_is_at_its_index_once() {
        for (at, mode) in WifiMode::ALL.into_iter().enumerate() {
            assert_eq!(mode.index(), at, "{mode:?}");
        }
    }

    #[test]
    fn rates_are_those_of_the_tables() {
        let rates = |from: usize, to: usize| -> std::vec::Vec<u32> {
            WifiMode::ALL[from..to].iter().map(|mode| mode.kbit_s()).collect()
        };
        assert_eq!(rates(0, 7), [1000, 2000, 5500, 11000, 2000, 5500, 11000]);
        assert_eq!(rates(7, 15), [6000, 9000, 12000, 18000, 24000, 36000, 48000, 54000]);
        // Tables 19-27 and 19-31.
        assert_eq!(rates(15, 23), [6500, 13000, 19500, 26000, 39000, 52000, 58500, 65000]);
        assert_eq!(rates(23, 31), [7222, 14444, 21666, 28888, 43333, 57777, 65000, 72222]);
        assert_eq!(rates(31, 39), [13500, 27000, 40500, 54000, 81000, 108_000, 121_500, 135_000]);
        assert_eq!(rates(39, 47), [15000, 30000, 45000, 60000, 90000, 120_000, 135_000, 150_000]);
        // Those of HE stand in `super::he`.
        assert_eq!(rates(110, 112), [250, 500]);
    }

    #[test]
    fn a_preamble_is_changed_but_at_one_mbit() {
        for hr in Hr::ALL {
            for preamble in [Preamble::Long, Preamble::Short] {
                let other = hr.with(preamble);
                assert_eq!(other.half_mbit(), hr.half_mbit());
                assert_eq!(
                    other.preamble() == preamble,
                    preamble == Preamble::Long || hr != Hr::M1
                );
            }
        }
    }
}

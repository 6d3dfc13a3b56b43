//! PHY modes of 802.11ax (HE, clause 27 of IEEE Std 802.11ax-2021) in 20 MHz with one spatial stream.
//!
//! | frames | schemes | tones | modes |
//! |---|---|---|---|
//! | HE SU | MCS 0 to 9 | 242 | 30 |
//! | HE SU with dual carrier modulation (DCM) | MCS 0, 1, 3, 4 | 242 | 12 |
//! | HE ER SU (extended range) | MCS 0 to 2, with DCM 0 and 1 | 242 | 15 |
//! | HE ER SU in the upper 106 tones | MCS 0, with and without DCM | 106 | 6 |
//!
//! Each has guard intervals of 0.8, 1.6 and 3.2 us. MCS 10 and 11 (1024-QAM) are left out: no ESP has them.
//! ESP-IDF names 1.6 us the long and 0.8 us the short guard interval (`wifi_phy_rate_t`), and has no name for
//! 3.2 us and 106 tones.

use super::mode::Ofdm;

/// The guard interval of HE symbols, which also sets the length of the one HE-LTF (27.3.11.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum HeGuard {
    /// 1.6 us with a 2x HE-LTF: ESP-IDF's "long GI".
    Us16,
    /// 0.8 us with a 2x HE-LTF: ESP-IDF's "short GI".
    Us08,
    /// 3.2 us with a 4x HE-LTF.
    Us32,
}

impl HeGuard {
    /// All guard intervals, in the order of [`super::WifiMode::ALL`].
    pub const ALL: [Self; 3] = [Self::Us16, Self::Us08, Self::Us32];

    /// Returns the guard interval in nanoseconds (Table 27-12, `T_GI,Data`).
    #[must_use]
    pub const fn ns(self) -> u32 {
        match self {
            Self::Us08 => 800,
            Self::Us16 => 1_600,
            Self::Us32 => 3_200,
        }
    }

    /// Returns the length of an HE-LTF symbol with its guard interval in nanoseconds: 6.4 us (2x) or 12.8 us
    /// (4x) and the guard interval (Table 27-12, `T_HE-LTF-SYM`).
    #[must_use]
    pub const fn ltf_ns(self) -> u32 {
        let symbol = if matches!(self, Self::Us32) { 12_800 } else { 6_400 };
        symbol + self.ns()
    }
}

/// The format of an HE frame for one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HeFormat {
    /// HE SU.
    Su,
    /// HE ER SU over all 242 tones: HE-SIG-A is sent twice, and the training fields with 3 dB more.
    ErSu,
    /// HE ER SU, whose data have only the upper 106 tones, with the power of all.
    ErSu106,
}

/// The length of an HE data symbol without its guard interval in nanoseconds (Table 27-12, `T_DFT,HE`).
const SYMBOL_NS: u32 = 12_800;

/// An HE mode in 20 MHz with one spatial stream and the convolutional code (27.3.12.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct He {
    /// The place in [`FORMS`].
    form: u8,
    guard: HeGuard,
}

/// Scheme, format and whether it has DCM, of all modes with one guard interval.
const FORMS: [(u8, HeFormat, bool); He::FORM_COUNT] = [
    (0, HeFormat::Su, false),
    (1, HeFormat::Su, false),
    (2, HeFormat::Su, false),
    (3, HeFormat::Su, false),
    (4, HeFormat::Su, false),
    (5, HeFormat::Su, false),
    (6, HeFormat::Su, false),
    (7, HeFormat::Su, false),
    (8, HeFormat::Su, false),
    (9, HeFormat::Su, false),
    (0, HeFormat::Su, true),
    (1, HeFormat::Su, true),
    (3, HeFormat::Su, true),
    (4, HeFormat::Su, true),
    (0, HeFormat::ErSu, false),
    (1, HeFormat::ErSu, false),
    (2, HeFormat::ErSu, false),
    (0, HeFormat::ErSu, true),
    (1, HeFormat::ErSu, true),
    (0, HeFormat::ErSu106, false),
    (0, HeFormat::ErSu106, true),
];

impl He {
    /// The modes with one guard interval.
    const FORM_COUNT: usize = 21;
    /// The number of HE modes.
    pub const COUNT: usize = Self::FORM_COUNT * HeGuard::ALL.len();

    /// Returns a mode, or `None` for a scheme that the format does not have (27.5.2 and 27.1.1: DCM with
    /// MCS 0, 1, 3 and 4; ER SU with MCS 0 to 2, in 106 tones with MCS 0).
    #[must_use]
    pub const fn of(mcs: u8, guard: HeGuard, format: HeFormat, dcm: bool) -> Option<Self> {
        let mut at = 0;
        while at < FORMS.len() {
            let (its, form, doubled) = FORMS[at];
            if its == mcs && form as u8 == format as u8 && doubled == dcm {
                return Some(Self { form: at as u8, guard });
            }
            at += 1;
        }
        None
    }

    /// Returns the mode with an index below [`He::COUNT`], or `None` for another.
    #[must_use]
    pub const fn at(index: usize) -> Option<Self> {
        if index >= Self::COUNT {
            return None;
        }
        let form = (index % Self::FORM_COUNT) as u8;
        Some(Self { form, guard: HeGuard::ALL[index / Self::FORM_COUNT] })
    }

    /// Returns the place of the mode among all HE modes.
    #[must_use]
    pub const fn index(self) -> usize {
        self.guard as usize * Self::FORM_COUNT + self.form as usize
    }

    /// Returns the number of the modulation and coding scheme, 0 to 9.
    #[must_use]
    pub const fn mcs(self) -> u8 {
        FORMS[self.form as usize].0
    }

    /// Returns the guard interval.
    #[must_use]
    pub const fn guard(self) -> HeGuard {
        self.guard
    }

    /// Returns the format.
    #[must_use]
    pub const fn format(self) -> HeFormat {
        FORMS[self.form as usize].1
    }

    /// Returns whether each bit is sent on two subcarriers (dual carrier modulation).
    #[must_use]
    pub const fn dcm(self) -> bool {
        FORMS[self.form as usize].2
    }

    /// Returns whether the frame is of extended range (HE ER SU).
    #[must_use]
    pub const fn is_extended(self) -> bool {
        !matches!(self.format(), HeFormat::Su)
    }

    /// Returns the data bits in a symbol, `N_DBPS` (27.5.2, 27.5.3): the coded bits of 234 or 102 data
    /// subcarriers, of half as many with DCM, times the code rate, rounded down.
    #[must_use]
    pub const fn bits_per_symbol(self) -> u32 {
        // Coded bits of a subcarrier times the code rate, times twelve.
        let twelfths =
            [6, 12, 18, 24, 36, 48, 54, 60, 72, 80][FORMS[self.form as usize].0 as usize];
        let subcarriers = match self.format() {
            HeFormat::Su | HeFormat::ErSu => 234,
            HeFormat::ErSu106 => 102,
        };
        let carriers = if self.dcm() { subcarriers / 2 } else { subcarriers };
        carriers * twelfths / 12
    }

    /// Returns the length of a data symbol with its guard interval in nanoseconds (`T_SYM`).
    #[must_use]
    pub const fn symbol_ns(self) -> u32 {
        SYMBOL_NS + self.guard.ns()
    }

    /// Returns the length of HE-SIG-A: two symbols of 4 us, or in an ER SU frame the same twice (27.3.11.7).
    #[must_use]
    pub const fn signal_ns(self) -> u32 {
        if self.is_extended() { 16_000 } else { 8_000 }
    }

    /// Returns the "non-HT reference rate" (10.6.11): the clause 17 rate with the same modulation and the same
    /// or the next lower code rate; with DCM that of half of the bits, so that the answer reaches as far.
    #[must_use]
    pub const fn non_ht_reference(self) -> Ofdm {
        match (self.mcs(), self.dcm()) {
            (1, true) => return Ofdm::M6,
            (3, true) => return Ofdm::M12,
            (4, true) => return Ofdm::M18,
            _ => {}
        }
        self.modulation()
    }

    /// Returns the clause 17 rate with the same modulation and the same or the next lower code rate.
    #[must_use]
    pub(crate) const fn modulation(self) -> Ofdm {
        match self.mcs() {
            0 => Ofdm::M6,
            1 => Ofdm::M12,
            2 => Ofdm::M18,
            3 => Ofdm::M24,
            4 => Ofdm::M36,
            5 => Ofdm::M48,
            _ => Ofdm::M54,
        }
    }

    /// Returns the decibels that the data gain over HE SU with the same modulation and code at the same power,
    /// by the physics of an additive white noise: 3.01 where each bit is sent twice, 10 log10(242 / 106) = 3.59
    /// where the power of all tones is in 106.
    #[must_use]
    pub const fn gain_db(self) -> f64 {
        let twice = if self.dcm() { super::mode::TWICE_DB } else { 0.0 };
        let narrow = if matches!(self.format(), HeFormat::ErSu106) { 3.585 } else { 0.0 };
        twice + narrow
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::WifiMode;

    #[test]
    fn every_mode_is_at_its_index_once() {
        for index in 0..He::COUNT {
            let it = He::at(index).unwrap();
            assert_eq!(it.index(), index);
            assert_eq!(He::of(it.mcs(), it.guard(), it.format(), it.dcm()), Some(it));
        }
        assert_eq!((He::COUNT, He::at(He::COUNT)), (63, None));
        let none = [(10, HeFormat::Su, false), (2, HeFormat::Su, true), (5, HeFormat::Su, true)];
        let more =
            [(3, HeFormat::ErSu, false), (2, HeFormat::ErSu, true), (1, HeFormat::ErSu106, false)];
        for (mcs, format, dcm) in none.into_iter().chain(more) {
            assert_eq!(He::of(mcs, HeGuard::Us08, format, dcm), None, "{mcs} {format:?} {dcm}");
        }
    }

    /// Compares with Tables 27-… of 27.5.2 and 27.5.3, in units of 100 kbit/s, which the standard rounds, and with the
    /// table of `wifi_phy_rate_t` in ESP-IDF, which has the same figures.
    #[test]
    fn rates_are_those_of_the_tables() {
        let rates = |guard, format, dcm| -> std::vec::Vec<u32> {
            let all = (0..10).filter_map(|mcs| He::of(mcs, guard, format, dcm));
            all.map(|he| (WifiMode::He(he).kbit_s() + 50) / 100).collect()
        };
        use HeFormat::{ErSu, ErSu106, Su};
        let short = [86, 172, 258, 344, 516, 688, 774, 860, 1032, 1147];
        assert_eq!(rates(HeGuard::Us08, Su, false), short);
        let long = [81, 163, 244, 325, 488, 650, 731, 813, 975, 1083];
        assert_eq!(rates(HeGuard::Us16, Su, false), long);
        let longest = [73, 146, 219, 293, 439, 585, 658, 731, 878, 975];
        assert_eq!(rates(HeGuard::Us32, Su, false), longest);
        assert_eq!(rates(HeGuard::Us08, Su, true), [43, 86, 172, 258]);
        assert_eq!(rates(HeGuard::Us32, ErSu, false), [73, 146, 219]);
        assert_eq!(rates(HeGuard::Us16, ErSu106, false), [35]);
        assert_eq!(rates(HeGuard::Us08, ErSu106, true), [18]);
    }
}

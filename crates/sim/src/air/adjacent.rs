//! What of a frame arrives on other channels.

use super::power::{Power, Ratio};
use crate::radio::{Channel, Guard, Hr, Ht, Mcs, Mode, Ofdm, Overlap, Spectrum, Width};
use alloc::boxed::Box;

/// The numbers of channels, 0, and one that nobody has: a power of two, so that a place in a row is
/// found with a mask.
pub(crate) const CHANNELS: usize = 16;
/// The highest channel.
const LAST: u8 = 14;

/// One mode of each class that other channels hear differently.
const CLASSES: [Mode; 5] = [
    Mode::Hr(Hr::M1),
    Mode::Hr(Hr::M11),
    Mode::Ofdm(Ofdm::M6),
    Mode::ht(Mcs::Mcs0, Width::Mhz20, Guard::Long),
    Mode::ht(Mcs::Mcs0, Width::Mhz40, Guard::Long),
];

/// The place of a mode's class.
const fn class(mode: Mode) -> usize {
    match mode {
        Mode::Hr(Hr::M1 | Hr::M2 | Hr::M2Short) => 0,
        Mode::Hr(_) => 1,
        Mode::Ofdm(_) => 2,
        Mode::Ht(Ht { width: Width::Mhz20, .. }) => 3,
        Mode::Ht(_) => 4,
    }
}

/// Between two channels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    ratio: Ratio,
    /// Whether a receiver there can read the frame; else it is energy.
    pub(crate) readable: bool,
}

impl Path {
    /// To a receiver on the same channel.
    const SAME: Self = Self { ratio: Ratio::ONE, readable: true };
    const NONE: Self = Self { ratio: Ratio::NOTHING, readable: false };

    /// Whether nothing arrives.
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.ratio == Ratio::NOTHING
    }

    /// What is left of a power.
    #[inline]
    pub(crate) fn through(self, power: Power) -> Power {
        if self.ratio == Ratio::ONE { power } else { self.ratio.under(power) }
    }
}

/// To all channels.
pub(crate) type Row = [Path; CHANNELS];

/// What of a frame arrives on other channels: by its mode, from channel to channel.
#[derive(Clone, Debug)]
pub struct Adjacent(Box<[Row]>);

impl Default for Adjacent {
    /// Nothing.
    fn default() -> Self {
        Self::filled(|_, from, to| if from == to { Path::SAME } else { Path::NONE })
    }
}

impl Adjacent {
    /// As the standard's masks have it. The middle of a 40 MHz frame is 10 MHz above its channel,
    /// or below from channel 8 on. Other receivers on its channel take it as theirs.
    #[must_use]
    pub fn new(overlap: &Overlap) -> Self {
        Self::filled(|mode, from, to| {
            let (Some(a), Some(b)) = (Channel::of(from), Channel::of(to)) else {
                return Path::NONE;
            };
            if from == to {
                return Path::SAME;
            }
            let spectrum = Spectrum::of(mode);
            let (middle, filter) = match spectrum {
                Spectrum::Chips => (a.centre_mhz(), Spectrum::Chips),
                Spectrum::Ht40 if from < 8 => (a.centre_mhz() + 10, Spectrum::Ht20),
                Spectrum::Ht40 => (a.centre_mhz() - 10, Spectrum::Ht20),
                Spectrum::Ofdm | Spectrum::Ht20 => (a.centre_mhz(), Spectrum::Ht20),
            };
            let db = overlap.db(spectrum, filter, middle.abs_diff(b.centre_mhz()));
            let readable = overlap.readable_db(mode, a.apart_mhz(b)).is_some();
            Path { ratio: Ratio::from_db(-db), readable }
        })
    }

    /// As [`Adjacent::default`], but a receiver 1, 2, … channels away gets, and can read, what
    /// `ratios` leave of it.
    #[must_use]
    pub fn by_distance(ratios: &[Ratio]) -> Self {
        Self::filled(|_, from, to| match usize::from(from.abs_diff(to)) {
            0 => Path::SAME,
            away => {
                ratios.get(away - 1).map_or(Path::NONE, |&ratio| Path { ratio, readable: true })
            }
        })
    }

    fn filled(path: impl Fn(Mode, u8, u8) -> Path) -> Self {
        let of = |mode| (0..CHANNELS).map(move |from| (mode, from as u8));
        let rows = CLASSES.into_iter().flat_map(of);
        let all = rows.map(|(mode, from)| core::array::from_fn(|to| path(mode, from, to as u8)));
        Self(all.collect())
    }

    /// From one channel to all: what is no channel counts as 0.
    #[inline]
    pub(crate) fn from(&self, mode: Mode, channel: u8) -> &Row {
        &self.0[class(mode) * CHANNELS + place(channel)]
    }
}

/// The place of a channel in a row; what is no channel is 0.
#[inline]
pub(crate) const fn place(channel: u8) -> usize {
    if channel <= LAST { channel as usize } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_in_the_class_that_stands_for_them() {
        let overlap = Overlap::new();
        for mode in Mode::ALL {
            let like = CLASSES[class(mode)];
            assert_eq!(Spectrum::of(mode), Spectrum::of(like), "{mode}");
            for mhz in 0..80 {
                assert_eq!(overlap.readable_db(mode, mhz), overlap.readable_db(like, mhz));
            }
        }
    }

    #[test]
    fn what_is_near_is_stronger() {
        let adjacent = Adjacent::new(&Overlap::new());
        let power = Power::from_dbm(-40.0);
        for mode in CLASSES {
            let row = adjacent.from(mode, 1);
            let all: std::vec::Vec<f64> =
                row[1..].iter().map(|path| path.through(power).dbm()).collect();
            assert!((all[0] + 40.0).abs() < 1e-6, "{mode}");
            // A frame of 40 MHz is centred two channels above.
            let from = if class(mode) == 4 { 2 } else { 0 };
            assert!(all[from..].is_sorted_by(|near, far| near >= far), "{mode} {all:?}");
            assert!(all[13] < -70.0, "{mode} {all:?}");
            assert_eq!(row[0].through(power), Power::ZERO);
        }
        let readable = |mode| adjacent.from(mode, 6).iter().filter(|path| path.readable).count();
        assert_eq!(CLASSES.map(readable), [7, 3, 1, 1, 1]);
    }
}

//! Adjacent-channel interference: the power of a frame that arrives on other channels.

use super::power::{PowerRatio, SignalPower};
use crate::radio::{
    Channel, ChannelWidth, GuardInterval, He, Hr, Ht, Mcs, Ofdm, Overlap, Spectrum, WifiMode,
};
use alloc::boxed::Box;
use once_cell::race::OnceBox;

/// The length of a row: the channels 1 to 14, 0, those of 5 GHz, and unused places. A power of two, so that a
/// mask keeps an index within a row.
pub(crate) const CHANNELS: usize = 32;
/// The highest channel of 2.4 GHz, and the highest place of one of 5 GHz.
const LAST: u8 = 14;
const LAST_OF_5_GHZ: usize = LAST as usize + Channel::BAND_5_GHZ.len();

/// One mode of each class that other channels receive differently.
const CLASSES: [WifiMode; 6] = [
    WifiMode::Hr(Hr::M1),
    WifiMode::Hr(Hr::M11),
    WifiMode::Ofdm(Ofdm::M6),
    WifiMode::ht(Mcs::Mcs0, ChannelWidth::Mhz20, GuardInterval::Long),
    WifiMode::ht(Mcs::Mcs0, ChannelWidth::Mhz40, GuardInterval::Long),
    HE,
];

/// Stands for all HE modes.
const HE: WifiMode = match He::at(0) {
    Some(he) => WifiMode::He(he),
    None => WifiMode::ESP_NOW,
};

/// Returns the index of a mode's class.
const fn class(mode: WifiMode) -> usize {
    match mode {
        WifiMode::Hr(Hr::M1 | Hr::M2 | Hr::M2Short) | WifiMode::Lr(_) => 0,
        WifiMode::Hr(_) => 1,
        WifiMode::Ofdm(_) => 2,
        WifiMode::Ht(Ht { width: ChannelWidth::Mhz20, .. }) => 3,
        WifiMode::Ht(_) => 4,
        WifiMode::He(_) => 5,
    }
}

/// The path of a frame from one channel to another.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ChannelPath {
    ratio: PowerRatio,
    /// Whether a receiver on the other channel can decode the frame; if not, the frame is energy
    /// only.
    pub(crate) readable: bool,
}

impl ChannelPath {
    /// The path to a receiver on the same channel.
    const SAME: Self = Self { ratio: PowerRatio::ONE, readable: true };
    const NONE: Self = Self { ratio: PowerRatio::NOTHING, readable: false };

    /// Returns whether nothing arrives.
    #[inline]
    pub(crate) fn is_none(self) -> bool {
        self.ratio == PowerRatio::NOTHING
    }

    /// Returns the part of a power that arrives.
    #[inline]
    pub(crate) fn through(self, power: SignalPower) -> SignalPower {
        if self.ratio == PowerRatio::ONE { power } else { self.ratio.under(power) }
    }
}

/// The paths from one channel to all.
pub(crate) type ChannelPaths = [ChannelPath; CHANNELS];

/// The paths of frames between all channels, by class of mode.
#[derive(Clone, Debug)]
pub struct AdjacentChannels {
    rows: Box<[ChannelPaths]>,
    /// The channels of each row that get something, one bit for each.
    reach: Box<[u32]>,
}

impl Default for AdjacentChannels {
    /// Returns paths that keep channels fully apart.
    fn default() -> Self {
        Self::filled(|_, from, to| if from == to { ChannelPath::SAME } else { ChannelPath::NONE })
    }
}

impl AdjacentChannels {
    /// Returns the paths that the standard's spectral masks allow. The centre of a 40 MHz frame is
    /// 10 MHz above its channel, or below it from channel 8 on, and in 5 GHz from the second of a pair on. Receivers on the frame's channel
    /// take it as a frame of their own.
    #[must_use]
    pub fn new(overlap: &Overlap) -> Self {
        Self::filled(|mode, from, to| {
            let (Some(a), Some(b)) = (channel_at(from), channel_at(to)) else {
                return ChannelPath::NONE;
            };
            if a.is_5_ghz() != b.is_5_ghz() {
                return ChannelPath::NONE;
            }
            if from == to {
                return ChannelPath::SAME;
            }
            let spectrum = Spectrum::of(mode);
            let (middle, filter) = match spectrum {
                Spectrum::Chips => (a.centre_mhz(), Spectrum::Chips),
                Spectrum::Ht40 if is_lower(from) => (a.centre_mhz() + 10, Spectrum::Ht20),
                Spectrum::Ht40 => (a.centre_mhz() - 10, Spectrum::Ht20),
                Spectrum::Ofdm | Spectrum::Ht20 | Spectrum::He20 => {
                    (a.centre_mhz(), Spectrum::Ht20)
                }
            };
            let db = overlap.db(spectrum, filter, middle.abs_diff(b.centre_mhz()));
            let readable = overlap.readable_db(mode, a.apart_mhz(b)).is_some();
            ChannelPath { ratio: PowerRatio::from_db(-db), readable }
        })
    }

    /// Returns the paths of [`Self::new`], which are computed once for a process.
    #[must_use]
    pub fn shared() -> &'static Self {
        static PATHS: OnceBox<AdjacentChannels> = OnceBox::new();
        PATHS.get_or_init(|| Box::new(Self::new(&Overlap::new())))
    }

    /// Returns the paths of [`AdjacentChannels::default`], but a receiver 1, 2, … channels away
    /// gets, and can decode, the part that `ratios` leaves.
    #[must_use]
    pub fn by_distance(ratios: &[PowerRatio]) -> Self {
        Self::filled(|_, from, to| match usize::from(from.abs_diff(to)) {
            0 => ChannelPath::SAME,
            away => ratios
                .get(away - 1)
                .map_or(ChannelPath::NONE, |&ratio| ChannelPath { ratio, readable: true }),
        })
    }

    fn filled(path: impl Fn(WifiMode, u8, u8) -> ChannelPath) -> Self {
        let of = |mode| (0..CHANNELS).map(move |from| (mode, from as u8));
        let rows = CLASSES.into_iter().flat_map(of);
        let all = rows.map(|(mode, from)| core::array::from_fn(|to| path(mode, from, to as u8)));
        let rows: Box<[ChannelPaths]> = all.collect();
        let bit = |(to, path): (usize, &ChannelPath)| u32::from(!path.is_none()) << to;
        let reach = rows.iter().map(|row| row.iter().enumerate().map(bit).sum()).collect();
        Self { rows, reach }
    }

    /// Returns the paths from one channel to all; a number that is no channel counts as 0.
    #[inline]
    pub(crate) fn from(&self, mode: WifiMode, channel: u8) -> &ChannelPaths {
        &self.rows[class(mode) * CHANNELS + place(channel)]
    }

    /// Returns the places of the channels that get something of a frame, one bit for each.
    #[inline]
    pub(crate) fn reach(&self, mode: WifiMode, channel: u8) -> u32 {
        self.reach[class(mode) * CHANNELS + place(channel)]
    }
}

/// Returns the index of a channel in a row; a number that is no channel counts as 0.
#[inline]
pub(crate) const fn place(channel: u8) -> usize {
    if channel <= LAST { channel as usize } else { place_of_5_ghz(channel) }
}

const fn place_of_5_ghz(channel: u8) -> usize {
    let after = match channel {
        36..=64 if channel.is_multiple_of(4) => (channel - 36) / 4 + 1,
        149..=165 if channel % 4 == 1 => (channel - 149) / 4 + 9,
        _ => return 0,
    };
    LAST as usize + after as usize
}

/// Returns the channel at an index of a row.
const fn channel_at(place: u8) -> Option<Channel> {
    match place as usize {
        0..=14 => Channel::of(place),
        15..=LAST_OF_5_GHZ => Channel::of(Channel::BAND_5_GHZ[place as usize - 15]),
        _ => None,
    }
}

/// Returns whether the other half of a 40 MHz channel is above that at an index (Table E-4).
const fn is_lower(place: u8) -> bool {
    if place <= LAST { place < 8 } else { (place - LAST) % 2 == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_in_the_class_that_stands_for_them() {
        let overlap = Overlap::new();
        for mode in WifiMode::ALL {
            let like = CLASSES[class(mode)];
            assert_eq!(Spectrum::of(mode), Spectrum::of(like), "{mode}");
            for mhz in 0..80 {
                assert_eq!(overlap.readable_db(mode, mhz), overlap.readable_db(like, mhz));
            }
        }
    }

    #[test]
    fn what_is_near_is_stronger() {
        let adjacent = AdjacentChannels::new(&Overlap::new());
        let power = SignalPower::from_dbm(-40.0);
        for mode in CLASSES {
            let row = adjacent.from(mode, 1);
            let all: std::vec::Vec<f64> =
                row[1..15].iter().map(|path| path.through(power).dbm()).collect();
            assert!((all[0] + 40.0).abs() < 1e-6, "{mode}");
            // A 40 MHz frame is centred two channels above.
            let from = if class(mode) == 4 { 2 } else { 0 };
            assert!(all[from..].is_sorted_by(|near, far| near >= far), "{mode} {all:?}");
            assert!(all[13] < -70.0, "{mode} {all:?}");
            assert_eq!(row[0].through(power), SignalPower::ZERO);
            // 5 GHz is another world.
            assert!(row[15..].iter().all(|path| path.is_none()), "{mode}");
            let high = adjacent.from(mode, 36);
            assert!(high[..15].iter().all(|path| path.is_none()), "{mode}");
            assert_eq!(high[place(36)].through(power), power);
            assert!(high[place(64)].through(power).dbm() < -70.0, "{mode}");
        }
        let readable = |mode| adjacent.from(mode, 6).iter().filter(|path| path.readable).count();
        assert_eq!(CLASSES.map(readable), [7, 3, 1, 1, 1, 1]);
    }
}

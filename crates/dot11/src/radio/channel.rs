//! The channels of the 2.4 and 5 GHz bands, and the overlap between them.
//!
//! The spectra are those that the standard's masks allow: 16.3.7.4 for DSSS and CCK (within the
//! main lobe that of a chip, because the mask is flat there), 17.3.9.3 for OFDM, 19.3.18.1 for HT, 27.3.19.1 for HE.
//! A DSSS or CCK receiver filters with the shape of a chip, an OFDM or HT receiver with the width
//! of its subcarriers. The share of power that passes is summed over the overlap in steps of 1/4
//! MHz.
//!
//! A mask is the most that is allowed, so this is the worst case: datasheets of chips claim a
//! rejection at 25 MHz that is 4 to 12 dB better (a test compares).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::f64::consts::PI;

use super::mode::{ChannelWidth, Hr, Ht, WifiMode};
use super::power::{decibels, factor};

/// A channel of 20 MHz: 1 to 14 of the 2.4 GHz band, 36 to 64 and 149 to 165 of the 5 GHz band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Channel(u8);

impl Channel {
    /// The channels of the 5 GHz band (Table E-4, operating classes 115, 118 and 125).
    pub const BAND_5_GHZ: [u8; 13] = [36, 40, 44, 48, 52, 56, 60, 64, 149, 153, 157, 161, 165];

    /// Returns the channel with a number, or `None` for a number that is none.
    #[must_use]
    pub const fn of(number: u8) -> Option<Self> {
        match number {
            1..=14 => Some(Self(number)),
            36..=64 if number.is_multiple_of(4) => Some(Self(number)),
            149..=165 if number % 4 == 1 => Some(Self(number)),
            _ => None,
        }
    }

    /// Returns whether the channel is in the 5 GHz band.
    #[must_use]
    pub const fn is_5_ghz(self) -> bool {
        self.0 > 14
    }

    /// Returns whether the band of the channel has a mode: DSSS, CCK and Long Range are of 2.4 GHz alone.
    #[must_use]
    pub const fn has(self, mode: WifiMode) -> bool {
        !self.is_5_ghz() || !matches!(mode, WifiMode::Hr(_) | WifiMode::Lr(_))
    }

    /// Returns the channel number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns the centre of the channel's 20 MHz (15.4.4.3, Table 15-7; 14 is apart from the
    /// others; 17.3.8.4.2 in 5 GHz).
    #[must_use]
    pub const fn centre_mhz(self) -> u32 {
        match self.0 {
            14 => 2484,
            number @ 1..14 => 2407 + 5 * number as u32,
            number => 5000 + 5 * number as u32,
        }
    }

    /// Returns the distance between the centres of two channels.
    #[must_use]
    pub const fn apart_mhz(self, other: Self) -> u32 {
        self.centre_mhz().abs_diff(other.centre_mhz())
    }
}

/// The shape of a frame's spectrum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Spectrum {
    /// DSSS and CCK: chips at 11 MHz.
    Chips,
    /// OFDM.
    Ofdm,
    /// HT, 20 MHz.
    Ht20,
    /// HT, 40 MHz.
    Ht40,
    /// HE, 20 MHz.
    He20,
}

impl Spectrum {
    const ALL: [Self; 5] = [Self::Chips, Self::Ofdm, Self::Ht20, Self::Ht40, Self::He20];

    /// Returns the spectrum of a mode.
    #[must_use]
    pub const fn of(mode: WifiMode) -> Self {
        match mode {
            WifiMode::Hr(_) | WifiMode::Lr(_) => Self::Chips,
            WifiMode::He(_) => Self::He20,
            WifiMode::Ofdm(_) => Self::Ofdm,
            WifiMode::Ht(Ht { width: ChannelWidth::Mhz20, .. }) => Self::Ht20,
            WifiMode::Ht(Ht { width: ChannelWidth::Mhz40, .. }) => Self::Ht40,
        }
    }

    /// Returns the spectral density at a distance from the centre, relative to its maximum.
    fn density(self, mhz: f64) -> f64 {
        match self {
            Self::Chips => chip(mhz),
            Self::Ofdm => factor(mask_db(mhz, &[(9., 0.), (11., -20.), (20., -28.), (30., -40.)])),
            Self::Ht20 => factor(mask_db(mhz, &[(9., 0.), (11., -20.), (20., -28.), (30., -45.)])),
            Self::Ht40 => factor(mask_db(mhz, &[(19., 0.), (21., -20.), (40., -28.), (60., -45.)])),
            Self::He20 => {
                factor(mask_db(mhz, &[(9.75, 0.), (10.5, -20.), (20., -28.), (30., -40.)]))
            }
        }
    }

    /// Returns the share of power that the filter of such a receiver passes at a distance from its
    /// centre.
    fn filter(self, mhz: f64) -> f64 {
        let edge = match self {
            Self::Chips => return chip(mhz),
            // 26 subcarriers of 312.5 kHz on each side; 28 with HT20, 58 with HT40.
            Self::Ofdm => 8.25,
            Self::Ht20 => 8.875,
            Self::Ht40 => 18.25,
            // 122 subcarriers of 78.125 kHz on each side (27.3.9).
            Self::He20 => 9.53125,
        };
        if libm::fabs(mhz) <= edge { 1.0 } else { 0.0 }
    }
}

/// Returns the density of a chip of 1/11 us: its main lobe, then the mask.
fn chip(mhz: f64) -> f64 {
    let mhz = libm::fabs(mhz);
    let beyond = if mhz < 22.0 { 1e-3 } else { 1e-5 };
    if mhz >= 11.0 || mhz == 0.0 {
        return if mhz == 0.0 { 1.0 } else { beyond };
    }
    let angle = PI * mhz / 11.0;
    let lobe = libm::sin(angle) / angle;
    (lobe * lobe).max(beyond)
}

/// Returns a mask in decibels: 0 up to the first corner, straight lines between corners, then flat.
fn mask_db(mhz: f64, corners: &[(f64, f64)]) -> f64 {
    let mhz = libm::fabs(mhz);
    let mut before = (0.0, 0.0);
    for &(at, db) in corners {
        if mhz <= at {
            return before.1 + (db - before.1) * (mhz - before.0) / (at - before.0);
        }
        before = (at, db);
    }
    before.1
}

/// The widest distance in the tables: channels 1 and 14 are 72 MHz apart, and 40 MHz shifts each by
/// 10.
const FARTHEST_MHZ: usize = 96;

/// The attenuation of a frame at a receiver on another channel, for all spectra and whole
/// megahertz. It takes about 19 KB and is made once.
#[derive(Clone, Debug)]
pub struct Overlap {
    /// The attenuation by sender, receiver and distance.
    db: Box<[f64]>,
}

impl Default for Overlap {
    fn default() -> Self {
        Self::new()
    }
}

impl Overlap {
    /// Computes all overlaps.
    #[must_use]
    pub fn new() -> Self {
        let mut db =
            Vec::with_capacity(Spectrum::ALL.len() * Spectrum::ALL.len() * (FARTHEST_MHZ + 1));
        for sender in Spectrum::ALL {
            let density = grid(|mhz| sender.density(mhz), 160);
            for receiver in Spectrum::ALL {
                let filter = grid(|mhz| receiver.filter(mhz), 60);
                let whole = passed(&density, &filter, 0);
                for apart in 0..=FARTHEST_MHZ {
                    db.push(decibels(passed(&density, &filter, apart) / whole).min(0.0));
                }
            }
        }
        Self { db: db.into_boxed_slice() }
    }

    /// Returns the level in dB (0 or negative) of a frame at a receiver whose centre is `apart_mhz`
    /// away.
    #[must_use]
    pub fn db(&self, sender: Spectrum, receiver: Spectrum, apart_mhz: u32) -> f64 {
        let pair = sender as usize * Spectrum::ALL.len() + receiver as usize;
        let apart = (apart_mhz as usize).min(FARTHEST_MHZ);
        self.db[pair * (FARTHEST_MHZ + 1) + apart]
    }

    /// Returns the level in dB of a frame that can still be decoded on another channel, or `None`
    /// if it cannot. A DSSS receiver locks on what its filter passes, up to three channels off;
    /// CCK, which needs the whole chip, up to one; OFDM's subcarriers are elsewhere. (ESP-NOW's own
    /// component carries the channel number in its payload for this reason.)
    #[must_use]
    pub fn readable_db(&self, mode: WifiMode, apart_mhz: u32) -> Option<f64> {
        let reach = match mode {
            WifiMode::Hr(Hr::M1 | Hr::M2 | Hr::M2Short) | WifiMode::Lr(_) => 15,
            WifiMode::Hr(_) => 5,
            WifiMode::Ofdm(_) | WifiMode::Ht(_) | WifiMode::He(_) => 0,
        };
        let spectrum = Spectrum::of(mode);
        (apart_mhz <= reach).then(|| self.db(spectrum, spectrum, apart_mhz))
    }
}

const STEPS_PER_MHZ: usize = 4;

/// Samples a function from -`edge` to `edge` MHz, in steps of 1/4 MHz.
fn grid(of: impl Fn(f64) -> f64, edge: i32) -> Vec<f64> {
    let steps = edge * STEPS_PER_MHZ as i32;
    (-steps..=steps).map(|n| of(f64::from(n) / STEPS_PER_MHZ as f64)).collect()
}

/// Returns the power that passes a filter whose centre is `apart` MHz above that of the density.
fn passed(density: &[f64], filter: &[f64], apart: usize) -> f64 {
    let from = density.len() / 2 - filter.len() / 2 + apart * STEPS_PER_MHZ;
    density.iter().skip(from).zip(filter).map(|(density, filter)| density * filter).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::error::Curve;
    use crate::radio::mode::{GuardInterval, Mcs, Ofdm};

    #[test]
    fn channels_are_where_the_standard_has_them() {
        let mhz = |n| Channel::of(n).map(Channel::centre_mhz);
        assert_eq!([mhz(1), mhz(6), mhz(13), mhz(14)], [2412, 2437, 2472, 2484].map(Some));
        assert_eq!([mhz(0), mhz(15), mhz(37), mhz(100), mhz(166)], [None; 5]);
        assert_eq!([mhz(36), mhz(64), mhz(149), mhz(165)], [5180, 5320, 5745, 5825].map(Some));
        let five = (0..=u8::MAX).filter(|it| Channel::of(*it).is_some_and(Channel::is_5_ghz));
        assert_eq!(five.collect::<Vec<_>>(), Channel::BAND_5_GHZ);
        let apart = |a, b| Channel::of(a).zip(Channel::of(b)).map(|(a, b)| a.apart_mhz(b));
        assert_eq!([apart(1, 6), apart(6, 1), apart(13, 14)], [25, 25, 12].map(Some));
    }

    /// Compares with datasheets how much stronger a frame 25 MHz away may be than one that is 3 dB
    /// above what noise alone would allow (Table 6-6 of the ESP32-S3 Series Datasheet v2.2).
    #[test]
    fn chips_reject_somewhat_better_than_masks_ask() {
        let overlap = Overlap::new();
        let cases = [
            (WifiMode::Hr(Hr::M11), 1024, 0.08, 35.0),
            (WifiMode::Ofdm(Ofdm::M6), 1000, 0.1, 31.0),
            (WifiMode::Ofdm(Ofdm::M54), 1000, 0.1, 20.0),
            (WifiMode::ht(Mcs::Mcs0, ChannelWidth::Mhz20, GuardInterval::Long), 4096, 0.1, 31.0),
            (WifiMode::ht(Mcs::Mcs7, ChannelWidth::Mhz20, GuardInterval::Long), 4096, 0.1, 16.0),
        ];
        for (mode, octets, loss, claimed) in cases {
            let spectrum = Spectrum::of(mode);
            // Half of what the frame tolerates is noise, the other half is what passes the filter.
            let borne = Curve::of(mode).required_db(octets, loss) + 3.0;
            let rejected = -overlap.db(spectrum, spectrum, 25) - borne;
            assert!((claimed - 17.0..claimed).contains(&rejected), "{mode}: {rejected} dB");
        }
    }

    #[test]
    fn further_away_is_weaker() {
        let overlap = Overlap::new();
        for sender in Spectrum::ALL {
            for receiver in Spectrum::ALL {
                let all = (0..120).map(|mhz| overlap.db(sender, receiver, mhz));
                let all: Vec<f64> = all.collect();
                assert_eq!(all[0], 0.0);
                let falls = all.windows(2).all(|two| two[1] <= two[0] + 1e-9);
                assert!(falls, "{sender:?} {receiver:?} {all:?}");
                assert!(all[119] < -35.0, "{sender:?} {receiver:?} {}", all[119]);
            }
        }
        // Channels 1, 6 and 11 hardly disturb each other.
        assert!(overlap.db(Spectrum::Ofdm, Spectrum::Ofdm, 25) < -28.0);
        assert!(overlap.db(Spectrum::Chips, Spectrum::Ofdm, 25) < -28.0);
    }

    #[test]
    fn only_dsss_is_read_on_other_channels() {
        let overlap = Overlap::new();
        let readable = |mode, apart| overlap.readable_db(mode, apart).is_some();
        let (dsss, cck) = (WifiMode::Hr(Hr::M1), WifiMode::Hr(Hr::M11));
        assert_eq!([0, 5, 15, 20].map(|mhz| readable(dsss, mhz)), [true, true, true, false]);
        assert_eq!([0, 5, 10].map(|mhz| readable(cck, mhz)), [true, true, false]);
        assert_eq!([0, 5].map(|mhz| readable(WifiMode::Ofdm(Ofdm::M6), mhz)), [true, false]);
    }
}

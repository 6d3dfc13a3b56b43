//! The channels of the 2.4 GHz band, and how much of a frame another channel hears.
//!
//! The spectra are those that the standard's masks allow: 16.3.7.4 for DSSS and CCK (inside its
//! main lobe that of a chip, because the mask is flat there), 17.3.9.3 for OFDM, 19.3.18.1 for
//! HT. A DSSS or CCK receiver filters with the shape of a chip, an OFDM or HT receiver with the
//! width of its subcarriers. The share of power that passes is summed over the overlap in steps of
//! 1/4 MHz.
//!
//! Masks are the most that is allowed, so this is the worst case: datasheets of chips claim to
//! reject what is 25 MHz away 4 to 12 dB better (a test compares).

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::f64::consts::PI;

use super::mode::{Hr, Ht, Mode, Width};
use super::power::{decibels, factor};

/// A channel of the 2.4 GHz band.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Channel(u8);

impl Channel {
    /// The channel with a number from 1 to 14.
    #[must_use]
    pub const fn of(number: u8) -> Option<Self> {
        match number {
            1..=14 => Some(Self(number)),
            _ => None,
        }
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The middle of its 20 MHz (15.4.4.3, Table 15-7; 14 is apart from the others).
    #[must_use]
    pub const fn centre_mhz(self) -> u32 {
        match self.0 {
            14 => 2484,
            number => 2407 + 5 * number as u32,
        }
    }

    /// How far the middles of two channels are apart.
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
}

impl Spectrum {
    const ALL: [Self; 4] = [Self::Chips, Self::Ofdm, Self::Ht20, Self::Ht40];

    /// The spectrum of a mode.
    #[must_use]
    pub const fn of(mode: Mode) -> Self {
        match mode {
            Mode::Hr(_) => Self::Chips,
            Mode::Ofdm(_) => Self::Ofdm,
            Mode::Ht(Ht { width: Width::Mhz20, .. }) => Self::Ht20,
            Mode::Ht(Ht { width: Width::Mhz40, .. }) => Self::Ht40,
        }
    }

    /// Its density at a distance from its middle, relative to the most.
    fn density(self, mhz: f64) -> f64 {
        match self {
            Self::Chips => chip(mhz),
            Self::Ofdm => factor(mask_db(mhz, &[(9., 0.), (11., -20.), (20., -28.), (30., -40.)])),
            Self::Ht20 => factor(mask_db(mhz, &[(9., 0.), (11., -20.), (20., -28.), (30., -45.)])),
            Self::Ht40 => factor(mask_db(mhz, &[(19., 0.), (21., -20.), (40., -28.), (60., -45.)])),
        }
    }

    /// What a receiver of such frames lets pass.
    fn filter(self, mhz: f64) -> f64 {
        let edge = match self {
            Self::Chips => return chip(mhz),
            // 26 subcarriers of 312.5 kHz each side, 28, 58.
            Self::Ofdm => 8.25,
            Self::Ht20 => 8.875,
            Self::Ht40 => 18.25,
        };
        if libm::fabs(mhz) <= edge { 1.0 } else { 0.0 }
    }
}

/// The main lobe of a chip of 1/11 us, then the mask.
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

/// A mask in decibels: 0 up to the first corner, straight lines between corners, then flat.
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

/// The widest distance in the tables: channel 1 to 14 is 72 MHz, and 40 MHz shifts by 10 each.
const FARTHEST_MHZ: usize = 96;

/// What a receiver on another channel gets of a frame, for all spectra and whole megahertz.
/// About 12 KB, made once.
#[derive(Clone, Debug)]
pub struct Overlap {
    /// By sender, receiver and distance.
    db: Box<[f64]>,
}

impl Default for Overlap {
    fn default() -> Self {
        Self::new()
    }
}

impl Overlap {
    /// Sums up all overlaps.
    #[must_use]
    pub fn new() -> Self {
        let mut db = Vec::with_capacity(16 * (FARTHEST_MHZ + 1));
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

    /// How much weaker (0 or negative) a frame is for a receiver whose middle is so far away.
    #[must_use]
    pub fn db(&self, sender: Spectrum, receiver: Spectrum, apart_mhz: u32) -> f64 {
        let pair = sender as usize * Spectrum::ALL.len() + receiver as usize;
        let apart = (apart_mhz as usize).min(FARTHEST_MHZ);
        self.db[pair * (FARTHEST_MHZ + 1) + apart]
    }

    /// How much weaker a frame is where it can still be read on another channel; nothing where it
    /// cannot. A DSSS receiver locks on what its filter passes, up to three channels off, and CCK,
    /// which needs all of a chip, up to one; OFDM's subcarriers are elsewhere. (Channel numbers in
    /// the payload, as ESP-NOW's own component has them, exist for this reason.)
    #[must_use]
    pub fn readable_db(&self, mode: Mode, apart_mhz: u32) -> Option<f64> {
        let reach = match mode {
            Mode::Hr(Hr::M1 | Hr::M2 | Hr::M2Short) => 15,
            Mode::Hr(_) => 5,
            Mode::Ofdm(_) | Mode::Ht(_) => 0,
        };
        let spectrum = Spectrum::of(mode);
        (apart_mhz <= reach).then(|| self.db(spectrum, spectrum, apart_mhz))
    }
}

const STEPS_PER_MHZ: usize = 4;

/// A function from -`edge` to `edge` MHz, in steps of 1/4 MHz.
fn grid(of: impl Fn(f64) -> f64, edge: i32) -> Vec<f64> {
    let steps = edge * STEPS_PER_MHZ as i32;
    (-steps..=steps).map(|n| of(f64::from(n) / STEPS_PER_MHZ as f64)).collect()
}

/// The power that passes a filter whose middle is `apart` MHz above that of the density.
fn passed(density: &[f64], filter: &[f64], apart: usize) -> f64 {
    let from = density.len() / 2 - filter.len() / 2 + apart * STEPS_PER_MHZ;
    density.iter().skip(from).zip(filter).map(|(density, filter)| density * filter).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::radio::error::Curve;
    use crate::radio::mode::{Guard, Mcs, Ofdm};

    #[test]
    fn channels_are_where_the_standard_has_them() {
        let mhz = |n| Channel::of(n).map(Channel::centre_mhz);
        assert_eq!([mhz(1), mhz(6), mhz(13), mhz(14)], [2412, 2437, 2472, 2484].map(Some));
        assert_eq!([mhz(0), mhz(15)], [None, None]);
        let apart = |a, b| Channel::of(a).zip(Channel::of(b)).map(|(a, b)| a.apart_mhz(b));
        assert_eq!([apart(1, 6), apart(6, 1), apart(13, 14)], [25, 25, 12].map(Some));
    }

    /// Adjacent channel rejection: how much stronger a frame 25 MHz away may be, for one that is
    /// 3 dB above what noise alone would allow (Table 6-6 of the ESP32-S3 Series Datasheet v2.2).
    #[test]
    fn chips_reject_somewhat_better_than_masks_ask() {
        let overlap = Overlap::new();
        let cases = [
            (Mode::Hr(Hr::M11), 1024, 0.08, 35.0),
            (Mode::Ofdm(Ofdm::M6), 1000, 0.1, 31.0),
            (Mode::Ofdm(Ofdm::M54), 1000, 0.1, 20.0),
            (Mode::ht(Mcs::Mcs0, Width::Mhz20, Guard::Long), 4096, 0.1, 31.0),
            (Mode::ht(Mcs::Mcs7, Width::Mhz20, Guard::Long), 4096, 0.1, 16.0),
        ];
        for (mode, octets, loss, claimed) in cases {
            let spectrum = Spectrum::of(mode);
            // Half of what is borne is noise, the other half what passes the filter.
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
        let (dsss, cck) = (Mode::Hr(Hr::M1), Mode::Hr(Hr::M11));
        assert_eq!([0, 5, 15, 20].map(|mhz| readable(dsss, mhz)), [true, true, true, false]);
        assert_eq!([0, 5, 10].map(|mhz| readable(cck, mhz)), [true, true, false]);
        assert_eq!([0, 5].map(|mhz| readable(Mode::Ofdm(Ofdm::M6), mhz)), [true, false]);
    }
}

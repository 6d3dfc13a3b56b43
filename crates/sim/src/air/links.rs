//! Who hears whom, and how strongly.

use super::power::{Packed, Power};
use alloc::boxed::Box;
use alloc::vec::Vec;

/// One hearer of a sender: eight bytes, because a room of ten thousand has many.
#[derive(Clone, Copy, Debug)]
pub struct Link {
    /// 24 bits of station and 8 of RSSI.
    who: u32,
    power: Packed,
}

impl Link {
    const STATION: u32 = (1 << 24) - 1;

    fn new(station: u32, dbm: f64) -> Self {
        let rssi = libm::round(dbm) as i8;
        Self {
            who: (station & Self::STATION) | u32::from(rssi as u8) << 24,
            power: Packed::of(Power::from_dbm(dbm)),
        }
    }

    /// Who hears.
    #[must_use]
    pub const fn station(self) -> u32 {
        self.who & Self::STATION
    }

    /// With what strength, in whole dBm, as a driver reports it.
    #[must_use]
    pub const fn rssi(self) -> i8 {
        (self.who >> 24) as i8
    }

    /// With what power.
    #[must_use]
    pub const fn power(self) -> Power {
        self.power.power()
    }
}

/// The hearers of every station, each list in the order of their numbers.
#[derive(Clone, Debug, Default)]
pub struct Links(Vec<Box<[Link]>>);

impl Links {
    /// Of `stations` stations, with what `dbm(from, to)` says arrives. Whoever gets less than
    /// `floor_dbm` hears nothing, and costs nothing.
    pub fn new(stations: u32, floor_dbm: f64, mut dbm: impl FnMut(u32, u32) -> f64) -> Self {
        let mut list = Vec::new();
        let lists = (0..stations).map(|from| {
            list.clear();
            for to in (0..stations).filter(|&to| to != from) {
                let power = dbm(from, to);
                if power >= floor_dbm {
                    list.push(Link::new(to, power));
                }
            }
            Box::from(&list[..])
        });
        Self(lists.collect())
    }

    /// All hear all, equally.
    #[must_use]
    pub fn uniform(stations: u32, dbm: f64) -> Self {
        Self::new(stations, dbm, |_, _| dbm)
    }

    /// How many stations there are.
    #[must_use]
    pub fn stations(&self) -> usize {
        self.0.len()
    }

    /// How many pairs hear each other, each direction counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.iter().map(|list| list.len()).sum()
    }

    /// Whether nobody hears anybody.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Who hears that one.
    #[must_use]
    pub fn of(&self, from: u32) -> &[Link] {
        self.0.get(from as usize).map_or(&[], |list| &list[..])
    }

    /// What of one reaches another.
    #[must_use]
    pub fn between(&self, from: u32, to: u32) -> Option<Link> {
        let list = self.of(from);
        let at = list.binary_search_by_key(&to, |link| link.station()).ok()?;
        list.get(at).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_is_near_is_listed() {
        // Three in a row: the outer two do not hear each other.
        let links = Links::new(3, -95.0, |a, b| if a.abs_diff(b) == 1 { -60.4 } else { -96.0 });
        assert_eq!((links.stations(), links.len()), (3, 4));
        let middle: std::vec::Vec<_> =
            links.of(1).iter().map(|l| (l.station(), l.rssi())).collect();
        assert_eq!(middle, [(0, -60), (2, -60)]);
        assert!(links.between(0, 2).is_none() && links.between(0, 0).is_none());
        let power = links.between(2, 1).map(Link::power);
        assert!(power.is_some_and(|power| (power.dbm() + 60.4).abs() < 1e-6));
        assert!(links.of(3).is_empty());
    }
}

//! Links: the stations that receive a sender, and the power that arrives.

use super::power::{PackedPower, SignalPower};
use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;

/// A receiving station of a sender. It takes eight bytes, because a medium of ten thousand stations
/// has many links.
#[derive(Clone, Copy, Debug)]
pub struct RadioLink {
    /// The station in 24 bits and the RSSI in 8.
    who: u32,
    power: PackedPower,
}

impl RadioLink {
    const STATION: u32 = (1 << 24) - 1;

    fn new(station: u32, dbm: f64) -> Self {
        let rssi = libm::round(dbm) as i8;
        Self {
            who: (station & Self::STATION) | u32::from(rssi as u8) << 24,
            power: PackedPower::of(SignalPower::from_dbm(dbm)),
        }
    }

    /// Returns the receiving station.
    #[must_use]
    pub const fn station(self) -> u32 {
        self.who & Self::STATION
    }

    /// Returns the received signal strength in whole dBm, as a driver reports it.
    #[must_use]
    pub const fn rssi(self) -> i8 {
        (self.who >> 24) as i8
    }

    /// Returns the received power.
    #[must_use]
    pub const fn power(self) -> SignalPower {
        self.power.power()
    }
}

/// The links of every sender, each list in the order of station numbers.
#[derive(Clone, Debug)]
pub struct RadioLinks {
    stations: u32,
    lists: LinkLists,
}

/// The storage of the lists. Ten thousand stations that all hear each other would need 800 MB of
/// links and some seconds of logarithms. So a list is computed when its station sends for the first
/// time, and equal links share one list.
#[derive(Clone, Debug)]
enum LinkLists {
    /// One list for all senders, from which each leaves itself out.
    Alike(Box<[RadioLink]>),
    /// A list for each station.
    Made(Vec<Box<[RadioLink]>>),
    /// A list for each station that has sent.
    Lazy { made: Vec<Option<Box<[RadioLink]>>>, floor_dbm: f64, dbm: ReceivedPower },
}

/// A function that returns the power in dBm that arrives from one station at another.
#[derive(Clone)]
struct ReceivedPower(Arc<dyn Fn(u32, u32) -> f64 + Send + Sync>);

impl fmt::Debug for ReceivedPower {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ReceivedPower")
    }
}

impl Default for RadioLinks {
    fn default() -> Self {
        Self { stations: 0, lists: LinkLists::Made(Vec::new()) }
    }
}

fn list(
    stations: u32,
    from: u32,
    floor_dbm: f64,
    dbm: impl FnMut(u32, u32) -> f64,
) -> Box<[RadioLink]> {
    let mut dbm = dbm;
    let others = (0..stations).filter(|&to| to != from);
    others
        .filter_map(|to| {
            let power = dbm(from, to);
            (power >= floor_dbm).then(|| RadioLink::new(to, power))
        })
        .collect()
}

impl RadioLinks {
    /// Returns the links of `stations` stations, where `dbm(from, to)` is the power that arrives. A
    /// station that gets less than `floor_dbm` receives nothing and costs nothing.
    pub fn new(stations: u32, floor_dbm: f64, mut dbm: impl FnMut(u32, u32) -> f64) -> Self {
        let lists = (0..stations).map(|from| list(stations, from, floor_dbm, &mut dbm)).collect();
        Self { stations, lists: LinkLists::Made(lists) }
    }

    /// Returns links that are computed when their station first sends, for many stations.
    pub fn lazy(
        stations: u32,
        floor_dbm: f64,
        dbm: impl Fn(u32, u32) -> f64 + Send + Sync + 'static,
    ) -> Self {
        let made = (0..stations).map(|_| None).collect();
        Self {
            stations,
            lists: LinkLists::Lazy { made, floor_dbm, dbm: ReceivedPower(Arc::new(dbm)) },
        }
    }

    /// Returns links on which all stations receive all others with equal power.
    #[must_use]
    pub fn uniform(stations: u32, dbm: f64) -> Self {
        let list = (0..stations).map(|station| RadioLink::new(station, dbm)).collect();
        Self { stations, lists: LinkLists::Alike(list) }
    }

    /// Returns the number of stations.
    #[must_use]
    pub const fn stations(&self) -> usize {
        self.stations as usize
    }

    /// Computes the list of a station, unless that has been done.
    pub(crate) fn make(&mut self, from: u32) {
        if let LinkLists::Lazy { made, floor_dbm, dbm } = &mut self.lists
            && let Some(place) = made.get_mut(from as usize)
            && place.is_none()
        {
            *place = Some(list(self.stations, from, *floor_dbm, &*dbm.0));
        }
    }

    /// Returns the links of a sender in two parts; of a lazy list, only if it has been computed.
    #[must_use]
    pub fn parts(&self, from: u32) -> [&[RadioLink]; 2] {
        let at = from as usize;
        match &self.lists {
            LinkLists::Alike(all) if at < all.len() => [&all[..at], &all[at + 1..]],
            LinkLists::Alike(_) => [&[], &[]],
            LinkLists::Made(lists) => [lists.get(at).map_or(&[], |list| &list[..]), &[]],
            LinkLists::Lazy { made, .. } => {
                [made.get(at).and_then(Option::as_deref).unwrap_or_default(), &[]]
            }
        }
    }

    /// Returns the links of a sender.
    pub fn of(&self, from: u32) -> impl Iterator<Item = &RadioLink> {
        self.parts(from).into_iter().flatten()
    }

    /// Returns the link from one station to another, if there is one.
    #[must_use]
    pub fn between(&self, from: u32, to: u32) -> Option<RadioLink> {
        if let LinkLists::Lazy { made, floor_dbm, dbm } = &self.lists
            && made.get(from as usize).is_some_and(Option::is_none)
        {
            let power = (from != to && to < self.stations).then(|| (dbm.0)(from, to))?;
            return (power >= *floor_dbm).then(|| RadioLink::new(to, power));
        }
        self.parts(from).into_iter().find_map(|list| {
            let at = list.binary_search_by_key(&to, |link| link.station()).ok()?;
            list.get(at).copied()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;

    type Row = std::vec::Vec<(u32, i8)>;

    fn row(links: &RadioLinks, from: u32) -> Row {
        links.of(from).map(|link| (link.station(), link.rssi())).collect()
    }

    /// Returns the power between three stations in a row, of which the outer two do not hear each
    /// other.
    fn near(a: u32, b: u32) -> f64 {
        if a.abs_diff(b) == 1 { -60.4 } else { -96.0 }
    }

    #[test]
    fn only_who_is_near_is_listed() {
        let links = RadioLinks::new(3, -95.0, near);
        assert_eq!((links.stations(), row(&links, 1)), (3, vec![(0, -60), (2, -60)]));
        assert!(links.between(0, 2).is_none() && links.between(0, 0).is_none());
        let power = links.between(2, 1).map(RadioLink::power);
        assert!(power.is_some_and(|power| (power.dbm() + 60.4).abs() < 1e-6));
        assert!(row(&links, 3).is_empty());
    }

    #[test]
    fn lists_made_late_are_the_same() {
        let (early, mut late) = (RadioLinks::new(3, -95.0, near), RadioLinks::lazy(3, -95.0, near));
        for made in [false, true] {
            for from in 0..4 {
                for to in 0..4 {
                    let [a, b] =
                        [&early, &late].map(|it| it.between(from, to).map(RadioLink::power));
                    assert_eq!(a, b, "{from} {to}");
                }
                if made {
                    late.make(from);
                    assert_eq!(row(&early, from), row(&late, from));
                }
            }
        }
    }

    #[test]
    fn where_all_hear_all_nobody_hears_himself() {
        let links = RadioLinks::uniform(3, -40.0);
        assert_eq!(row(&links, 1), [(0, -40), (2, -40)]);
        assert!(links.between(1, 1).is_none() && links.between(1, 2).is_some());
        assert!(row(&links, 3).is_empty());
    }
}

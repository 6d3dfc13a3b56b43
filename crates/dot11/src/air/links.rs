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
        Self::with_rssi(station, dbm, dbm)
    }

    fn with_rssi(station: u32, dbm: f64, rssi_dbm: f64) -> Self {
        let rssi = libm::round(rssi_dbm) as i8;
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
    /// Changes since, if anything was changed.
    change: Option<Box<LinkChange>>,
}

/// A change of links that were computed otherwise.
#[derive(Clone, Debug)]
struct LinkChange {
    /// The gain of each station's links in dB, beside what `dbm` says.
    gains: Box<[f64]>,
    /// Whether a sender's list was computed before the change.
    stale: Box<[bool]>,
}

impl LinkChange {
    fn of(this: Option<&Self>, one: u32, other: u32) -> f64 {
        let gain = |it: &Self, at: u32| it.gains.get(at as usize).copied().unwrap_or(0.0);
        this.map_or(0.0, |it| gain(it, one) + gain(it, other))
    }
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
    /// A list for each station that has sent, which is made anew in each period that it sends in.
    Varying {
        made: Vec<Option<VaryingList>>,
        floor_dbm: f64,
        dbm: ReceivedPower,
        period_ns: u64,
        at: PowerAtTime,
    },
}

/// The list of a sender whose links change in time.
#[derive(Clone, Debug)]
struct VaryingList {
    /// The powers in dBm without the change in time, in the order of the links.
    steady: Box<[f32]>,
    links: Box<[RadioLink]>,
    /// The period for which the links hold.
    period: u64,
}

/// A function of sender, receiver, the power in dBm that arrives in the mean, and the time in
/// nanoseconds, which returns what arrives then.
#[derive(Clone)]
struct PowerAtTime(Arc<dyn Fn(u32, u32, f64, u64) -> LinkPower + Send + Sync>);

/// The power that arrives over a link at some time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkPower {
    /// The received power in dBm.
    pub dbm: f64,
    /// The received signal strength in dBm that a driver reports.
    pub rssi_dbm: f64,
}

impl From<f64> for LinkPower {
    /// Returns a power in dBm that a driver reports as such.
    fn from(dbm: f64) -> Self {
        Self { dbm, rssi_dbm: dbm }
    }
}

impl fmt::Debug for PowerAtTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PowerAtTime")
    }
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
        Self { stations: 0, lists: LinkLists::Made(Vec::new()), change: None }
    }
}

impl LinkLists {
    /// Forgets the list of a sender, where it can be computed again.
    fn forget(&mut self, from: u32) {
        match self {
            Self::Lazy { made, .. } => made[from as usize] = None,
            Self::Varying { made, .. } => made[from as usize] = None,
            Self::Alike(_) | Self::Made(_) => {}
        }
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

impl VaryingList {
    fn new(stations: u32, from: u32, floor_dbm: f64, dbm: impl Fn(u32, u32) -> f64) -> Self {
        let links = list(stations, from, floor_dbm, &dbm);
        let steady = links.iter().map(|it| dbm(from, it.station()) as f32).collect();
        Self { steady, links, period: 0 }
    }
}

impl RadioLinks {
    /// Returns the links of `stations` stations, where `dbm(from, to)` is the power that arrives. A
    /// station that gets less than `floor_dbm` receives nothing and costs nothing.
    pub fn new(stations: u32, floor_dbm: f64, mut dbm: impl FnMut(u32, u32) -> f64) -> Self {
        let lists = (0..stations).map(|from| list(stations, from, floor_dbm, &mut dbm)).collect();
        Self { stations, lists: LinkLists::Made(lists), change: None }
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
            change: None,
        }
    }

    /// Returns links on which all stations receive all others with equal power.
    #[must_use]
    pub fn uniform(stations: u32, dbm: f64) -> Self {
        let list = (0..stations).map(|station| RadioLink::new(station, dbm)).collect();
        Self { stations, lists: LinkLists::Alike(list), change: None }
    }

    /// Returns the number of stations.
    #[must_use]
    pub const fn stations(&self) -> usize {
        self.stations as usize
    }

    /// Returns these links with powers that change in time: `at(from, to, dbm, now)` is the power
    /// that arrives at a time in nanoseconds where `dbm` arrives in the mean. It is asked once in
    /// `period_ns` for each link of a station that sends, at the beginning of a frame, so a frame
    /// arrives with the same power from its beginning to its end. Only links that were made by
    /// [`lazy`](Self::lazy) change.
    #[must_use]
    pub fn varying(
        self,
        period_ns: u64,
        at: impl Fn(u32, u32, f64, u64) -> LinkPower + Send + Sync + 'static,
    ) -> Self {
        let LinkLists::Lazy { made, floor_dbm, dbm } = self.lists else { return self };
        let made = made.iter().map(|_| None).collect();
        let (period_ns, at) = (period_ns.max(1), PowerAtTime(Arc::new(at)));
        Self { lists: LinkLists::Varying { made, floor_dbm, dbm, period_ns, at }, ..self }
    }

    /// Gives all links of a station a gain in dB beside what they were computed from, in place of an
    /// earlier one: frames that begin from now on have it. Links that were measured at each time, and
    /// those that were not made by [`lazy`](Self::lazy), stay.
    pub(crate) fn set_gain(&mut self, station: u32, gain_db: f64) {
        let all = self.stations();
        let change = self.change.get_or_insert_with(|| {
            let gains = (0..all).map(|_| 0.0).collect();
            Box::new(LinkChange { gains, stale: (0..all).map(|_| false).collect() })
        });
        if let Some(gain) = change.gains.get_mut(station as usize) {
            *gain = gain_db;
            change.stale.fill(true);
        }
    }

    /// Computes the list of a station that begins to send, unless that has been done: for good, or
    /// for this period.
    pub(crate) fn make(&mut self, from: u32, now_ns: u64) {
        let stale = self.change.as_mut().and_then(|it| it.stale.get_mut(from as usize));
        if stale.is_some_and(core::mem::take) {
            self.lists.forget(from);
        }
        let change = self.change.as_deref();
        match &mut self.lists {
            LinkLists::Lazy { made, floor_dbm, dbm } => {
                if let Some(place) = made.get_mut(from as usize)
                    && place.is_none()
                {
                    let dbm = |one, other| (dbm.0)(one, other) + LinkChange::of(change, one, other);
                    *place = Some(list(self.stations, from, *floor_dbm, dbm));
                }
            }
            LinkLists::Varying { made, floor_dbm, dbm, period_ns, at } => {
                let period = now_ns / *period_ns;
                let Some(place) = made.get_mut(from as usize) else { return };
                if place.as_ref().is_some_and(|it| it.period == period) {
                    return;
                }
                let dbm = |one, other| (dbm.0)(one, other) + LinkChange::of(change, one, other);
                let it = place
                    .get_or_insert_with(|| VaryingList::new(self.stations, from, *floor_dbm, dbm));
                it.period = period;
                let begin = period.saturating_mul(*period_ns);
                for (link, steady) in it.links.iter_mut().zip(&it.steady) {
                    let to = link.station();
                    let LinkPower { dbm, rssi_dbm } = (at.0)(from, to, f64::from(*steady), begin);
                    *link = RadioLink::with_rssi(to, dbm, rssi_dbm);
                }
            }
            LinkLists::Alike(_) | LinkLists::Made(_) => {}
        }
    }

    /// Returns the links of a sender, among which there may be one to the sender itself; of a lazy
    /// list, only if it has been computed.
    pub(crate) fn list(&self, from: u32) -> &[RadioLink] {
        let at = from as usize;
        match &self.lists {
            LinkLists::Alike(all) if at < all.len() => all,
            LinkLists::Alike(_) => &[],
            LinkLists::Made(lists) => lists.get(at).map_or(&[], |list| &list[..]),
            LinkLists::Lazy { made, .. } => {
                made.get(at).and_then(Option::as_deref).unwrap_or_default()
            }
            LinkLists::Varying { made, .. } => {
                made.get(at).and_then(Option::as_ref).map_or(&[], |it| &it.links[..])
            }
        }
    }

    /// Returns the links of a sender by the number of the receiving station, if every station
    /// receives it.
    pub(crate) fn to_all(&self, from: u32) -> Option<LinksToAll<'_>> {
        let (links, stations) = (self.list(from), self.stations());
        let gap = match links.len() {
            len if len == stations => u32::MAX,
            len if len + 1 == stations => from,
            _ => return None,
        };
        Some(LinksToAll { links, gap })
    }

    /// Returns the links of a sender.
    pub fn of(&self, from: u32) -> impl Iterator<Item = &RadioLink> {
        self.list(from).iter().filter(move |it| it.station() != from)
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
        let list = self.list(from);
        let at = list.binary_search_by_key(&to, |link| link.station()).ok()?;
        list.get(at).copied().filter(|_| from != to)
    }
}

/// The links of a sender that every station receives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinksToAll<'a> {
    links: &'a [RadioLink],
    /// The station that the list leaves out.
    gap: u32,
}

impl LinksToAll<'_> {
    /// Returns the link to another station.
    #[inline]
    pub(crate) fn to(self, station: u32) -> RadioLink {
        self.links[station as usize - usize::from(station > self.gap)]
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
                    late.make(from, 0);
                    assert_eq!(row(&early, from), row(&late, from));
                }
            }
        }
    }

    #[test]
    fn links_that_vary_change_where_a_frame_begins_in_another_period() {
        // 1 dB less in every microsecond, and as much less again on the way to an even station.
        let fade = |_: u32, to: u32, dbm: f64, now: u64| {
            LinkPower::from(dbm - now as f64 / 1e3 * if to.is_multiple_of(2) { 2.0 } else { 1.0 })
        };
        let mut links = RadioLinks::lazy(3, -95.0, near).varying(5000, fade);
        assert!(row(&links, 1).is_empty(), "nothing was sent yet");
        links.make(1, 0);
        assert_eq!(row(&links, 1), [(0, -60), (2, -60)]);
        links.make(1, 4999);
        assert_eq!(row(&links, 1), [(0, -60), (2, -60)]);
        links.make(1, 5000);
        assert_eq!(row(&links, 1), [(0, -70), (2, -70)]);
        links.make(0, 9999);
        assert_eq!((row(&links, 0), row(&links, 1)), (vec![(1, -65)], row(&links, 1)));
        links.make(9, 0);
        // A driver may report another strength than the power that decides.
        let loud = |_: u32, _: u32, dbm: f64, _: u64| LinkPower { dbm, rssi_dbm: -42.0 };
        let mut apart = RadioLinks::lazy(3, -95.0, near).varying(5000, loud);
        apart.make(0, 0);
        let link = apart.between(0, 1).map(|it| (it.rssi(), libm::round(it.power().dbm()) as i8));
        assert_eq!(link, Some((-42, -60)));
        // Steady lists stay as they are.
        let steady = RadioLinks::new(3, -95.0, near).varying(5000, fade);
        assert_eq!(row(&steady, 1), [(0, -60), (2, -60)]);
    }

    #[test]
    fn where_all_hear_all_nobody_hears_himself() {
        let links = RadioLinks::uniform(3, -40.0);
        assert_eq!(row(&links, 1), [(0, -40), (2, -40)]);
        assert!(links.between(1, 1).is_none() && links.between(1, 2).is_some());
        assert!(row(&links, 3).is_empty());
    }
}

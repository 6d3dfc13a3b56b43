//! Traces of links: what was measured of a link over time drives that link of a room, in place of
//! path loss, shadowing and fading, as in trace-based simulation.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_dot11::air::LinkPower;
use espbench_dot11::radio::{Curve, Receiver, WifiMode};

/// A measurement of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TracePoint {
    /// Time from the beginning of the trace, in nanoseconds.
    pub at_ns: u64,
    /// Received signal strength in dBm, where it was measured.
    pub rssi_dbm: Option<f64>,
    /// The share of frames that arrived, from 0 to 1, where it was measured.
    pub delivery: Option<f64>,
}

/// Frames by which delivery was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceFrame {
    /// PHY rate of the frames.
    pub mode: WifiMode,
    /// Octets of a frame, with header and FCS.
    pub octets: u32,
}

impl Default for TraceFrame {
    /// Returns a message of 100 bytes over ESP-NOW at its usual rate.
    fn default() -> Self {
        Self { mode: WifiMode::ESP_NOW, octets: 143 }
    }
}

/// Measured links of a room, by the names of their ends.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinkTrace {
    /// Name of the file.
    pub name: String,
    /// Frames by which delivery was measured.
    pub frame: TraceFrame,
    /// Measurements of each link, from one station to another, in the order of time.
    pub links: BTreeMap<(String, String), Vec<TracePoint>>,
}

impl LinkTrace {
    /// Returns the time in nanoseconds after which the trace begins again: the time of its last
    /// measurement, and as long as the last one holds.
    #[must_use]
    pub fn length_ns(&self) -> u64 {
        let last = self.links.values().filter_map(|it| it.last()).map(|it| it.at_ns).max();
        last.unwrap_or(0).saturating_add(self.period_ns())
    }

    /// Returns the shortest time between two measurements of a link, in nanoseconds, but at least a
    /// millisecond; a second where each link was measured once.
    #[must_use]
    pub fn period_ns(&self) -> u64 {
        let gaps = self.links.values().flat_map(|it| it.windows(2));
        let gaps = gaps.map(|it| it[1].at_ns.saturating_sub(it[0].at_ns));
        gaps.filter(|gap| *gap > 0).min().unwrap_or(1_000_000_000).max(1_000_000)
    }
}

/// The trace of a room by the numbers of its stations, in powers that arrive.
#[derive(Clone, Debug)]
pub(in crate::lab) struct TracedLinks {
    length_ns: u64,
    pub(in crate::lab) period_ns: u64,
    links: BTreeMap<(u32, u32), Vec<TracedPower>>,
}

#[derive(Clone, Copy, Debug)]
struct TracedPower {
    at_ns: u64,
    power: LinkPower,
}

impl TracedLinks {
    /// Returns the links of a trace. `station` finds the number of a station by its name; `hearer`
    /// returns the weakest power in dBm at which a station finds a preamble, and its receiver.
    pub(in crate::lab) fn new(
        trace: &LinkTrace,
        station: impl Fn(&str) -> Option<u32>,
        hearer: impl Fn(u32) -> (f64, Receiver),
    ) -> Self {
        let mut links = BTreeMap::new();
        for ((from, to), points) in &trace.links {
            let Some((from, to)) = station(from).zip(station(to)) else { continue };
            let (found_dbm, receiver) = hearer(to);
            let mut power =
                DeliveryPower { frame: trace.frame, found_dbm, receiver, known: BTreeMap::new() };
            let powers = points.iter().map(|it| power.of(it)).collect();
            links.insert((from, to), powers);
        }
        Self { length_ns: trace.length_ns(), period_ns: trace.period_ns(), links }
    }

    /// Returns the power that arrives at a time; `None` for a link that
    /// was not measured in either direction. Before its first measurement a link is as at that.
    pub(in crate::lab) fn at(&self, from: u32, to: u32, now_ns: u64) -> Option<LinkPower> {
        let points = self.links.get(&(from, to)).or_else(|| self.links.get(&(to, from)))?;
        let now_ns = now_ns % self.length_ns.max(1);
        let after = points.partition_point(|it| it.at_ns <= now_ns);
        points.get(after.saturating_sub(1)).map(|it| it.power)
    }

    /// Returns the highest power in dBm that ever arrives over a link.
    pub(in crate::lab) fn most_dbm(&self, from: u32, to: u32) -> Option<f64> {
        let points = self.links.get(&(from, to)).or_else(|| self.links.get(&(to, from)))?;
        points.iter().map(|it| it.power.dbm).max_by(f64::total_cmp)
    }
}

/// The power at which a share of frames arrives.
struct DeliveryPower {
    frame: TraceFrame,
    found_dbm: f64,
    receiver: Receiver,
    /// Powers in dBm by delivery in thousandths.
    known: BTreeMap<u32, f64>,
}

/// Power that no receiver notices.
const NOTHING_DBM: f64 = -150.0;

/// The best delivery that tells a power: where more arrives, the RSSI does, if there is one.
const CERTAIN: f64 = 0.999;

/// Returns the constants of this by name, for lists of constants.
pub(in crate::lab) const fn link_trace_constants() -> [(&'static str, f64); 2] {
    [("nothing_dbm", NOTHING_DBM), ("certain", CERTAIN)]
}

impl DeliveryPower {
    fn of(&mut self, point: &TracePoint) -> TracedPower {
        let known = point.delivery.filter(|share| point.rssi_dbm.is_none() || *share < CERTAIN);
        let by_delivery = known.map(|share| self.delivering(share));
        // A link that delivers less than its RSSI promises has noise that the trace does not show.
        let dbm = match (point.rssi_dbm, by_delivery) {
            (Some(rssi), Some(power)) => rssi.min(power),
            (one, other) => one.or(other).unwrap_or(NOTHING_DBM),
        };
        let power = LinkPower { dbm, rssi_dbm: point.rssi_dbm.unwrap_or(dbm) };
        TracedPower { at_ns: point.at_ns, power }
    }

    /// Returns the power in dBm at which this share of frames arrives.
    fn delivering(&mut self, share: f64) -> f64 {
        let permille = libm::rint(1000.0 * share.clamp(0.0, CERTAIN)) as u32;
        match permille {
            0 => NOTHING_DBM,
            _ => {
                let (frame, receiver, found_dbm) = (self.frame, &self.receiver, self.found_dbm);
                *self.known.entry(permille).or_insert_with(|| {
                    let loss = 1.0 - f64::from(permille) / 1000.0;
                    let noise_dbm = 10.0 * libm::log10(receiver.noise_mw(frame.mode));
                    let needed = Curve::of(frame.mode).required_db(frame.octets, loss);
                    (noise_dbm + needed + receiver.correction_db(frame.mode)).max(found_dbm)
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_dot11::radio::RadioChip;

    fn trace(points: &[(u64, Option<f64>, Option<f64>)]) -> LinkTrace {
        let point = |&(ms, rssi_dbm, delivery): &(u64, Option<f64>, Option<f64>)| TracePoint {
            at_ns: ms * 1_000_000,
            rssi_dbm,
            delivery,
        };
        let links = [(("a".into(), "b".into()), points.iter().map(point).collect())];
        LinkTrace { links: links.into(), ..LinkTrace::default() }
    }

    fn linked(trace: &LinkTrace) -> TracedLinks {
        let station = |name: &str| ["a", "b"].iter().position(|it| *it == name).map(|it| it as u32);
        TracedLinks::new(trace, station, |_| (-120.0, Receiver::of(RadioChip::Esp32)))
    }

    #[test]
    fn a_measurement_holds_until_the_next_and_the_trace_begins_again() {
        let links = linked(&trace(&[(10, Some(-60.0), None), (30, Some(-80.0), None)]));
        let dbm = |from, to, ms: u64| links.at(from, to, ms * 1_000_000).map(|it| it.dbm);
        let there = [0, 10, 29, 30, 49, 50, 79, 80].map(|ms| dbm(0, 1, ms));
        let [near, far] = [Some(-60.0), Some(-80.0)];
        assert_eq!(there, [near, near, near, far, far, near, near, far]);
        // The other direction was not measured: it is as good.
        assert_eq!((dbm(1, 0, 35), dbm(0, 2, 0)), (far, None));
        assert_eq!((links.period_ns, links.most_dbm(1, 0)), (20_000_000, near));
    }

    #[test]
    fn delivery_tells_the_power_of_frames_that_are_lost_to_noise() {
        let all = [None, Some(1.0), Some(0.9), Some(0.5), Some(0.1), Some(0.0)];
        let points = [0, 1, 2, 3, 4, 5].map(|at| (at, Some(-50.0), all[at as usize]));
        let links = linked(&trace(&points));
        let at = |ms: u64| {
            let LinkPower { dbm, rssi_dbm } = links.at(0, 1, ms * 1_000_000).unwrap();
            (dbm, rssi_dbm)
        };
        assert_eq!([at(0), at(1)], [(-50.0, -50.0); 2], "the RSSI is enough");
        let powers = [2, 3, 4].map(|ms| at(ms).0);
        assert!(powers.is_sorted_by(|a, b| a > b), "{powers:?}");
        // A datasheet's sensitivity at 1 Mbit/s is at 8 % of loss of 1024 octets: near it.
        let sensitivity = RadioChip::Esp32.sensitivity_dbm(WifiMode::ESP_NOW).unwrap();
        assert!(powers.iter().all(|it| (it - sensitivity).abs() < 3.0), "{powers:?}");
        assert_eq!(at(5).0, NOTHING_DBM);
        let alone = linked(&trace(&[(0, None, Some(1.0))])).at(0, 1, 0).unwrap();
        assert!(alone.dbm > powers[0] && alone.dbm < powers[0] + 6.0, "{alone:?}");
        assert!((2..6).all(|ms| at(ms).1 == -50.0), "the RSSI of what arrives stays");
    }

    #[test]
    fn traces_without_anything_measured_say_nothing() {
        let links = linked(&LinkTrace::default());
        assert_eq!((links.at(0, 1, 5), links.period_ns), (None, 1_000_000_000));
    }
}

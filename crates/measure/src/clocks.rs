//! Offset and drift between the clocks of two devices, from round trips that both have stamped.
//!
//! A request leaves at `sent` and its answer is there at `answered`, on the clock of the first device; between
//! the two the other one had it, at `there` on its own clock. So the offset of the clocks was between
//! `there - answered` and `there - sent` then: nothing else is assumed, least of all that both ways take
//! as long. A line through all these gates is a clock that explains every trip (the bounds of K.
//! Marzullo and S. Owicki, "Maintaining the time in a distributed system", 1983, with the line of S. B. Moon,
//! P. Skelly and D. Towsley, "Estimation and removal of clock skew from network delay measurements", 1999).
//! [`ClockFit`] is the line with most room on both sides, and says how far any other one is from it. One-way
//! delays made with it are all wrong by the same amount, of at most [`ClockFit::uncertainty`].

use alloc::vec::Vec;
use core::fmt;
use espbench_model::time::{Duration, Instant};

/// Largest difference of two clocks' rates that is taken to be of crystals: each within 50 ppm, where
/// Espressif asks for 10.
const DRIFT_MAX: f64 = 100e-6;
/// Steps of a search for the best of a concave function: the range is a millionth of a millionth then.
const STEPS: usize = 100;
/// Round trips without which nothing is aligned: fewer agree with any clock.
const TRIPS_MIN: usize = 3;
/// Steps of the search for the trips that belong together.
const SEARCH_MAX: u64 = 20_000_000;

/// A request as its sender stamped it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampedRequest {
    /// Number of the request; several tests may use one again.
    pub seq: u32,
    /// Time at which it was sent.
    pub sent: Instant,
    /// Time at which its answer was there.
    pub answered: Option<Instant>,
}

/// A request as its receiver stamped it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StampedArrival {
    /// Number of the request.
    pub seq: u32,
    /// Time at which it was there.
    pub at: Instant,
}

/// Reason for which two logs are not aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AlignError {
    /// There are too few round trips: so many.
    FewTrips(usize),
    /// No offset and drift of two crystals explains the stamps.
    NoClock,
    /// Several do: the stamps repeat themselves too regularly.
    SeveralClocks,
}

impl fmt::Display for AlignError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FewTrips(1) => f.write_str("one ping was answered, and three are needed"),
            Self::FewTrips(trips) => write!(f, "{trips} pings were answered, and three are needed"),
            Self::NoClock => f.write_str(
                "no offset and drift of two crystals puts each ping's arrival between its sending and its answer",
            ),
            Self::SeveralClocks => f.write_str(
                "several offsets do: the pings are too regular to tell which arrival is whose",
            ),
        }
    }
}

/// Clock of the second device, as a line over that of the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClockFit {
    /// Time of the first device at which the offset holds, in nanoseconds.
    zero_ns: i64,
    /// Nanoseconds by which the second clock is ahead then.
    offset_ns: f64,
    /// Part by which it is faster.
    drift: f64,
    /// Largest distance to another line through all gates, over the time of the trips.
    uncertainty: Duration,
    /// Round trips behind it.
    trips: usize,
}

/// A gate: at `from` the line is below `above`, at `to` it is over `below`.
#[derive(Clone, Copy, Debug)]
struct ClockGate {
    from: f64,
    above: f64,
    to: f64,
    below: f64,
}

/// Gates of all trips, with the offset of the first taken away.
struct ClockGates {
    gates: Vec<ClockGate>,
    zero_ns: i64,
    base_ns: i64,
}

fn ns(at: Instant) -> i64 {
    at.as_nanos().cast_signed()
}

impl ClockGates {
    fn of(trips: &[(Instant, Instant, Instant)]) -> Option<Self> {
        let &(sent, _, there) = trips.first()?;
        let (zero_ns, base_ns) = (ns(sent), ns(there) - ns(sent));
        let gate = |&(sent, answered, there): &(Instant, Instant, Instant)| ClockGate {
            from: (ns(sent) - zero_ns) as f64,
            above: (ns(there) - ns(sent) - base_ns) as f64,
            to: (ns(answered) - zero_ns) as f64,
            below: (ns(there) - ns(answered) - base_ns) as f64,
        };
        Some(Self { gates: trips.iter().map(gate).collect(), zero_ns, base_ns })
    }

    /// Returns the highest offset at zero that a line of this drift may have.
    fn highest(&self, drift: f64) -> f64 {
        self.gates.iter().map(|it| it.above - drift * it.from).fold(f64::INFINITY, f64::min)
    }

    /// Returns the lowest.
    fn lowest(&self, drift: f64) -> f64 {
        self.gates.iter().map(|it| it.below - drift * it.to).fold(f64::NEG_INFINITY, f64::max)
    }

    fn room(&self, drift: f64) -> f64 {
        self.highest(drift) - self.lowest(drift)
    }
}

/// Returns where a concave function is largest.
fn top(mut low: f64, mut high: f64, of: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..STEPS {
        let third = (high - low) / 3.0;
        if of(low + third) < of(high - third) { low += third } else { high -= third }
    }
    f64::midpoint(low, high)
}

/// Returns where a function that is at least zero at `inside` comes to zero towards `outside`.
fn edge(mut inside: f64, mut outside: f64, of: impl Fn(f64) -> f64) -> f64 {
    if of(outside) >= 0.0 {
        return outside;
    }
    for _ in 0..STEPS {
        let middle = f64::midpoint(inside, outside);
        if of(middle) >= 0.0 { inside = middle } else { outside = middle }
    }
    inside
}

impl ClockFit {
    /// Fits a clock to round trips: sent, answered, and there on the other clock.
    fn of(trips: &[(Instant, Instant, Instant)]) -> Option<Self> {
        let gates = ClockGates::of(trips)?;
        let room = |drift| gates.room(drift);
        let drift = top(-DRIFT_MAX, DRIFT_MAX, room);
        if room(drift) < 0.0 {
            return None;
        }
        let offset = f64::midpoint(gates.highest(drift), gates.lowest(drift));
        let (slow, fast) = (edge(drift, -DRIFT_MAX, room), edge(drift, DRIFT_MAX, room));
        let last = gates.gates.iter().map(|it| it.to).fold(0.0, f64::max);
        let mut farthest: f64 = 0.0;
        for x in [0.0, last] {
            let here = offset + drift * x;
            let above = |d: f64| gates.highest(d) + d * x;
            let below = |d: f64| -(gates.lowest(d) + d * x);
            let highest = above(top(slow, fast, above));
            let lowest = -below(top(slow, fast, below));
            farthest = farthest.max(highest - here).max(here - lowest);
        }
        Some(Self {
            zero_ns: gates.zero_ns,
            offset_ns: offset + gates.base_ns as f64,
            drift,
            uncertainty: Duration::from_nanos(libm::ceil(farthest) as u64),
            trips: trips.len(),
        })
    }

    /// Returns a time of the second clock on the first one, in nanoseconds; it may be before the first
    /// clock's zero.
    #[must_use]
    pub fn on_first(&self, at: Instant) -> i64 {
        // at = t + offset + drift (t - zero)
        let since = (ns(at) - self.zero_ns) as f64 - self.offset_ns;
        self.zero_ns + libm::round(since / (1.0 + self.drift)) as i64
    }

    /// Returns by how much all times on the first clock may be off together.
    #[must_use]
    pub const fn uncertainty(&self) -> Duration {
        self.uncertainty
    }

    /// Returns by how many parts in a million the second clock is faster.
    #[must_use]
    pub fn drift_ppm(&self) -> f64 {
        self.drift * 1e6
    }

    /// Returns the number of round trips behind it.
    #[must_use]
    pub const fn trips(&self) -> usize {
        self.trips
    }
}

/// Finds which arrivals belong to which answered requests, and the clock that explains them all. Requests
/// and arrivals are in the order of time.
///
/// # Errors
/// Nothing aligns them, or not in one way only.
pub fn align(
    requests: &[StampedRequest],
    arrivals: &[StampedArrival],
) -> Result<ClockFit, AlignError> {
    let answered: Vec<(u32, Instant, Instant)> =
        requests.iter().filter_map(|it| Some((it.seq, it.sent, it.answered?))).collect();
    if answered.len() < TRIPS_MIN {
        return Err(AlignError::FewTrips(answered.len()));
    }
    let (mut found, mut steps) = (None, 0);
    // The first request that was answered was there: each arrival of its number may be it.
    for first in (0..arrivals.len()).filter(|at| arrivals[*at].seq == answered[0].0) {
        let Some(trips) = matched(&answered, arrivals, first, &mut steps) else { continue };
        let Some(fit) = ClockFit::of(&trips) else { continue };
        if found.replace(fit).is_some() {
            return Err(AlignError::SeveralClocks);
        }
        if steps > SEARCH_MAX {
            return Err(AlignError::SeveralClocks);
        }
    }
    found.ok_or(AlignError::NoClock)
}

/// Matches all answered requests, if the first of them is that arrival.
fn matched(
    answered: &[(u32, Instant, Instant)],
    arrivals: &[StampedArrival],
    first: usize,
    steps: &mut u64,
) -> Option<Vec<(Instant, Instant, Instant)>> {
    let mut next = first;
    let mut trips: Vec<(Instant, Instant, Instant)> = Vec::new();
    // The offset of the clocks, as far as the trips so far tell, and when they told it.
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for &(seq, sent, back) in answered {
        if let Some(&(before, ..)) = trips.last() {
            let drifted = DRIFT_MAX * (ns(back) - ns(before)) as f64;
            (low, high) = (low - drifted, high + drifted);
        }
        loop {
            *steps += 1;
            let arrival = arrivals.get(next)?;
            let (least, most) =
                ((ns(arrival.at) - ns(back)) as f64, (ns(arrival.at) - ns(sent)) as f64);
            // Later arrivals have larger offsets still.
            if least > high {
                return None;
            }
            next += 1;
            if arrival.seq == seq && most >= low {
                (low, high) = (low.max(least), high.min(most));
                trips.push((sent, back, arrival.at));
                break;
            }
            if trips.is_empty() {
                return None;
            }
        }
    }
    Some(trips)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const US: i64 = 1000;

    fn at(ns: i64) -> Instant {
        Instant::from_nanos(ns.cast_unsigned())
    }

    /// Two clocks, and the delays of requests and answers between them.
    struct Pair {
        offset_ns: i64,
        drift: f64,
    }

    impl Pair {
        fn other(&self, t: i64) -> Instant {
            at(t + self.offset_ns + (self.drift * t as f64).round() as i64)
        }

        /// Stamps requests of these starts and delays there and back, in microseconds.
        fn stamp(
            &self,
            trips: &[(u32, i64, i64, i64)],
        ) -> (Vec<StampedRequest>, Vec<StampedArrival>) {
            let request = |&(seq, start, there, back): &(u32, i64, i64, i64)| StampedRequest {
                seq,
                sent: at(start * US),
                answered: (back >= 0).then(|| at((start + there + back) * US)),
            };
            let arrival = |&(seq, start, there, _): &(u32, i64, i64, i64)| StampedArrival {
                seq,
                at: self.other((start + there) * US),
            };
            (trips.iter().map(request).collect(), trips.iter().map(arrival).collect())
        }
    }

    #[test]
    fn too_few_trips_and_wrong_logs_are_refused() {
        let pair = Pair { offset_ns: 5_000_000_000, drift: 30e-6 };
        let trips = [(0, 1_000_000, 900, 1100), (1, 2_700_000, 800, 900)];
        let (requests, arrivals) = pair.stamp(&trips);
        assert_eq!(align(&requests, &arrivals), Err(AlignError::FewTrips(2)));
        let trips = [(0, 0, 900, 900), (0, 1_400_000, 900, 900), (0, 3_100_000, 800, 900)];
        let (requests, _) = pair.stamp(&trips);
        // A log of another test: its pauses differ.
        let other = [(0, 0, 900, 900), (0, 1_900_000, 900, 900), (0, 3_100_000, 800, 900)];
        assert_eq!(align(&requests, &pair.stamp(&other).1), Err(AlignError::NoClock));
        assert_eq!(align(&requests, &[]), Err(AlignError::NoClock));
        // Requests of one number at even times: any of them may be the first.
        let even: Vec<_> = (0..6).map(|n| (0, n * 1_000_000, 900, 900)).collect();
        let (requests, arrivals) = pair.stamp(&even);
        assert!(align(&requests, &arrivals).is_ok(), "none is left over");
        assert_eq!(align(&requests[..5], &arrivals), Err(AlignError::SeveralClocks));
        // A clock that is no crystal's.
        let wild = Pair { offset_ns: 0, drift: 0.01 };
        let (requests, arrivals) = wild.stamp(&trips);
        assert_eq!(align(&requests, &arrivals), Err(AlignError::NoClock));
    }

    #[test]
    fn the_tightest_trip_bounds_the_offset() {
        let pair = Pair { offset_ns: 7_000_000_000, drift: 0.0 };
        let slow = (0..20).map(|n| (n, i64::from(n) * 40_000, 4000, 6000));
        let trips: Vec<_> = slow.chain([(20, 900_000, 500, 500)]).collect();
        let (requests, arrivals) = pair.stamp(&trips);
        let fit = align(&requests, &arrivals).unwrap();
        assert_eq!(fit.trips(), 21);
        // Half of that trip, and what two crystals may drift from it to the first one.
        let most = Duration::from_micros(500 + 2 * 91);
        assert!(
            fit.uncertainty() >= Duration::from_micros(500) && fit.uncertainty() <= most,
            "{fit:?}"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn the_true_time_is_within_the_uncertainty(
            offset_ns in 0..10_000_000_000_i64,
            ppm in -80.0..80.0_f64,
            waits in prop::collection::vec((20_000..2_000_000_i64, 100..8000_i64, 100..8000_i64), 5..60),
            lost in any::<u64>(),
        ) {
            let pair = Pair { offset_ns, drift: ppm * 1e-6 };
            let mut start = 1_000_000;
            let mut trips = Vec::new();
            for (n, (wait, there, back)) in waits.into_iter().enumerate() {
                start += wait;
                // Some answers are lost; the numbers are those of a command for each ping.
                let back = if n > 2 && lost >> (n % 64) & 1 == 1 { -1 } else { back };
                trips.push((0, start, there, back));
            }
            let (requests, arrivals) = pair.stamp(&trips);
            let fit = match align(&requests, &arrivals) {
                Ok(fit) => fit,
                Err(error) => {
                    prop_assert_eq!(error, AlignError::SeveralClocks);
                    return Ok(());
                }
            };
            for &(_, start, there, _) in trips.iter().filter(|it| it.3 >= 0) {
                let read = fit.on_first(pair.other((start + there) * US));
                let off = (read - (start + there) * US).unsigned_abs();
                prop_assert!(u128::from(off) <= fit.uncertainty().as_nanos() + 2, "{} of {:?}", off, fit);
            }
        }
    }
}

//! Samples to plain series of numbers: the only place where timestamps are subtracted.

mod messages;

pub(crate) use messages::{MessageRates, SentRate, sent_rate};

use crate::figure::FigurePoint;
use crate::kind::TestKind;
use crate::report::digest::RateCurve;
use crate::run::Recorded;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use espbench_model::fact;
use espbench_model::sample::{Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::{Duration, Instant};

/// An interval counts as whole from this share of its length.
pub(crate) const WHOLE: f64 = 0.95;

/// Intervals that the time of a record has, at most: a record that says more is damaged.
pub(crate) const MOST_SLOTS: usize = 1 << 20;

/// Returns the round trips of the probes that came back whole and in time: received - sent in
/// milliseconds, in the order of the record.
pub(crate) fn round_trips_ms(recorded: &Recorded) -> Vec<f64> {
    round_trips(&recorded.samples)
}

/// Returns the round trips of the echo probes on one link, in milliseconds.
pub(crate) fn round_trips_on(link: Link, samples: &[Sample]) -> Vec<f64> {
    let time = |p: &Probe| Some(milliseconds(p.sent?, p.received?));
    delivered_of(samples).filter(|p| p.link == link).filter_map(time).collect()
}

/// Returns the round trips of samples that belong to no plan, in milliseconds.
pub(crate) fn round_trips(samples: &[Sample]) -> Vec<f64> {
    let time = |p: &Probe| Some(milliseconds(p.sent?, p.received?));
    delivered_of(samples).filter_map(time).collect()
}

/// Returns how long an interval took.
pub(crate) fn span(interval: &Interval) -> Duration {
    interval.end.since(interval.start)
}

/// Returns the response times, counted from when the probe was due: received - due.
pub(crate) fn responses_ms(recorded: &Recorded) -> Vec<f64> {
    delivered_ms(recorded, |p| Some(p.due), |p| p.received)
}

/// Returns the round trips up to the kernel's or the radio's timestamp: stamped - sent. Empty where
/// nothing stamps.
pub(crate) fn kernel_round_trips_ms(recorded: &Recorded) -> Vec<f64> {
    delivered_ms(recorded, |p| p.sent, |p| p.stamped)
}

/// Returns the milliseconds of scanning, authentication, association and handshake of a join
/// (`WifiJoin`).
pub(crate) fn join_steps_ms(recorded: &Recorded) -> [Vec<f64>; 4] {
    [
        delivered_ms(recorded, |p| Some(p.due), |p| p.queued),
        delivered_ms(recorded, |p| p.queued, |p| p.sent),
        delivered_ms(recorded, |p| p.sent, |p| p.acked),
        delivered_ms(recorded, |p| p.acked, |p| p.received),
    ]
}

fn delivered_ms(
    recorded: &Recorded,
    start: fn(&Probe) -> Option<Instant>,
    end: fn(&Probe) -> Option<Instant>,
) -> Vec<f64> {
    delivered(recorded).filter_map(|p| Some(milliseconds(start(p)?, end(p)?))).collect()
}

/// Returns the probes that came back whole and in time.
pub(crate) fn delivered(recorded: &Recorded) -> impl Iterator<Item = &Probe> {
    delivered_of(&recorded.samples)
}

fn delivered_of(samples: &[Sample]) -> impl Iterator<Item = &Probe> {
    samples.iter().filter_map(|sample| match sample {
        Sample::Probe(probe)
            if probe.fate == Fate::Delivered && probe.link != Link::CONNECTIONS =>
        {
            Some(probe)
        }
        _ => None,
    })
}

pub(crate) fn milliseconds(from: Instant, to: Instant) -> f64 {
    to.since(from).as_nanos() as f64 / 1e6
}

/// Returns the time of the sending whose octets an observer counted: by the sender's totals where there are some, else by
/// the observer's own totals or intervals.
fn sending_time(observer: Observer, recorded: &Recorded) -> Duration {
    let of = |wanted: Observer| {
        lasted(
            recorded
                .samples
                .iter()
                .filter(|it| matches!(it, Sample::Interval(it) if it.observer == wanted)),
        )
    };
    let told = sending_observers(observer).iter().map(|it| of(*it)).find(|it| !it.is_zero());
    told.unwrap_or_else(|| {
        let own = || {
            recorded.samples.iter().filter_map(|it| match it {
                Sample::Interval(it) if it.observer == observer => Some(it),
                _ => None,
            })
        };
        let begin = own().map(|it| it.start).min().unwrap_or_default();
        own().map(|it| it.end).max().unwrap_or_default().since(begin)
    })
}

/// Returns who tells how long what an observer counted was sent: the first of them that tells anything.
pub(crate) const fn sending_observers(observer: Observer) -> &'static [Observer] {
    match observer {
        Observer::Sender => &[Observer::Sender],
        // A device counts what it sends itself, or what this end sends to it.
        Observer::Peer => &[Observer::Sender, Observer::Peer],
        Observer::Receiver => &[Observer::Peer, Observer::Receiver],
    }
}

/// Values of links, in their order. Of a test's few links a list is smaller than a tree, in code and in memory.
#[derive(Clone, Debug)]
pub(crate) struct ByLink<T>(Vec<(Link, T)>);

impl<T> Default for ByLink<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> ByLink<T> {
    /// Returns the value of a link; none where it has none.
    pub(crate) fn get(&self, link: Link) -> Option<&T> {
        let at = self.0.binary_search_by_key(&link, |it| it.0).ok()?;
        Some(&self.0[at].1)
    }

    /// Returns the number of links.
    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the values.
    pub(crate) fn values(&self) -> impl Iterator<Item = &T> {
        self.0.iter().map(|it| &it.1)
    }

    /// Returns the values, to change them.
    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.0.iter_mut().map(|it| &mut it.1)
    }

    /// Returns the values that others make of these.
    pub(crate) fn map<U>(&self, of: impl Fn(&T) -> U) -> ByLink<U> {
        ByLink(self.0.iter().map(|(link, it)| (*link, of(it))).collect())
    }
}

impl<T: Default> ByLink<T> {
    /// Returns the value of a link, which is new where it had none.
    pub(crate) fn of(&mut self, link: Link) -> &mut T {
        let at = self.0.binary_search_by_key(&link, |it| it.0).unwrap_or_else(|at| {
            self.0.insert(at, (link, T::default()));
            at
        });
        &mut self.0[at].1
    }
}

impl ByLink<()> {
    /// Adds a link.
    pub(crate) fn insert(&mut self, link: Link) {
        *self.of(link) = ();
    }

    /// Returns whether a link is among these.
    pub(crate) fn contains(&self, link: Link) -> bool {
        self.get(link).is_some()
    }
}

/// The place of an interval in the time of its test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntervalPlace {
    /// A whole interval.
    Whole,
    /// The part of one in which the test ended.
    Cut,
    /// After the test's time.
    After,
}

/// Octets that a stream moved in intervals of its test, and the time in which it did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MovedInTime {
    octets: u64,
    time: Duration,
}

impl MovedInTime {
    /// Adds an interval.
    pub(crate) fn add(&mut self, interval: &Interval) {
        self.octets = self.octets.saturating_add(interval.bytes);
        self.time += span(interval);
    }

    /// Returns Mbit/s; `None` where there was no time.
    pub(crate) fn megabits(&self) -> Option<f64> {
        crate::units::megabits(self.octets, self.time)
    }
}

/// Octets that a stream moved in an interval of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MovedPart {
    start: Instant,
    end: Instant,
    pub(crate) octets: u64,
}

impl From<&Interval> for MovedPart {
    fn from(it: &Interval) -> Self {
        Self { start: it.start, end: it.end, octets: it.bytes }
    }
}

/// The whole intervals of the time in which a test's devices sent, from when the first of them began: they are one time
/// for all streams, whenever each began. They count where streams lack intervals: what a stream moved in a part of one
/// counts, and what comes out of a queue afterwards is of no rate.
pub(crate) struct SendingSlots {
    begin: Instant,
    number: usize,
    length: Duration,
}

impl SendingSlots {
    /// Finds the intervals of what an observer counted; `None` where the time has no whole one, and where a stream that moved
    /// something tells its total alone.
    pub(crate) fn of(kind: &dyn TestKind, observer: Observer, recorded: &Recorded) -> Option<Self> {
        let (number, length) = kind.slots(sending_time(observer, recorded));
        let mine = || {
            recorded.samples.iter().filter_map(|it| match it {
                Sample::Interval(it) if it.observer == observer => Some(it),
                _ => None,
            })
        };
        let mut told = ByLink::<()>::default();
        mine().filter(|it| !it.total).for_each(|it| told.insert(it.link));
        let mut totals = mine().filter(|it| it.total && it.bytes > 0);
        let is_told = totals.all(|it| told.contains(it.link));
        let begin = mine().map(|it| it.start).min()?;
        is_told.then(|| Self::from(begin, (number, length)))?
    }

    /// Makes intervals of one length; `None` where there is none.
    pub(crate) fn from(begin: Instant, (number, length): (usize, Duration)) -> Option<Self> {
        (number > 0).then_some(Self { begin, number, length })
    }

    /// Returns as many intervals of that length that begin then: those of one stream by itself.
    pub(crate) const fn beginning(&self, begin: Instant) -> Self {
        Self { begin, number: self.number, length: self.length }
    }

    /// Returns Mbit/s in each of them, of all these intervals of streams together.
    pub(crate) fn megabits(&self, parts: impl IntoIterator<Item = MovedPart>) -> Vec<f64> {
        let mut octets = alloc::vec![0.0; self.number];
        for part in parts {
            self.divide([part.start, part.end], part.octets as f64, &mut octets);
        }
        let seconds = self.length.as_secs_f64();
        octets.into_iter().map(|it| it * 8.0 / 1e6 / seconds).collect()
    }

    /// Adds what moved in a time to the intervals in which it did: evenly over that time.
    fn divide(&self, [start, end]: [Instant; 2], amount: f64, sums: &mut [f64]) {
        let length = self.length.as_secs_f64();
        let [from, to] = [start, end].map(|at| at.since(self.begin).as_secs_f64() / length);
        for (at, slot) in sums.iter_mut().enumerate().skip(from as usize) {
            let at = at as f64;
            let within = to.min(at + 1.0) - from.max(at);
            if within <= 0.0 {
                break;
            }
            *slot += amount * within / (to - from);
        }
    }
}

/// Returns how long a test lasted by its totals: the longest stream.
pub(crate) fn lasted<'a>(samples: impl Iterator<Item = &'a Sample>) -> Duration {
    let total = |sample: &Sample| match sample {
        Sample::Interval(it) if it.total => Some(it.end.since(it.start)),
        _ => None,
    };
    samples.filter_map(total).max().unwrap_or_default()
}

/// Returns payload over time in Mbit/s, summed over parallel streams: one curve for each observer.
pub(crate) fn megabits(recorded: &Recorded) -> Vec<RateCurve> {
    timelines(recorded, |i| i.bytes as f64 * 8.0 / 1e6)
}

/// Returns messages a second over time.
pub(crate) fn messages(recorded: &Recorded) -> Vec<RateCurve> {
    timelines(recorded, |i| i.datagrams.unwrap_or_default() as f64)
}

fn timelines(recorded: &Recorded, amount: fn(&Interval) -> f64) -> Vec<RateCurve> {
    let mut by_observer: BTreeMap<Observer, Vec<&Interval>> = BTreeMap::new();
    for sample in &recorded.samples {
        if let Sample::Interval(i) = sample
            && !i.total
        {
            by_observer.entry(i.observer).or_default().push(i);
        }
    }
    let are_several = devices(recorded) > 1;
    let curve = |(observer, intervals): (Observer, Vec<&Interval>)| RateCurve {
        observer: observer.name(),
        points: match are_several {
            true => rates_of_several(&intervals, amount),
            false => rates(&intervals, amount),
        },
    };
    by_observer.into_iter().map(curve).collect()
}

/// Adds up the streams' intervals of the same number: streams start together, and their intervals are equally long. What a
/// stream moved in a part of one counts over the whole of it.
fn rates(intervals: &[&Interval], amount: fn(&Interval) -> f64) -> Vec<FigurePoint> {
    let Some(start) = intervals.iter().map(|i| i.start).min() else {
        return Vec::new();
    };
    let mut same: BTreeMap<u64, Vec<&Interval>> = BTreeMap::new();
    for &i in intervals {
        same.entry(i.seq).or_default().push(i);
    }
    let sum = |of: Vec<&Interval>| {
        let longest = of.iter().map(|i| span(i).as_secs_f64()).fold(0.0, f64::max);
        let rate = |i: &&Interval| {
            let seconds = span(i).as_secs_f64();
            amount(i) / if seconds < WHOLE * longest { longest } else { seconds }
        };
        let end = of.iter().map(|i| i.end).max()?;
        (longest > 0.0)
            .then(|| FigurePoint::new(end.since(start).as_secs_f64(), of.iter().map(rate).sum()))
    };
    same.into_values().filter_map(sum).collect()
}

/// Adds up the intervals of several devices, each of which begins at a time of its own, in whole intervals of one time. What a
/// device moved in an interval of its own counts evenly over its time.
fn rates_of_several(intervals: &[&Interval], amount: fn(&Interval) -> f64) -> Vec<FigurePoint> {
    let length = intervals.iter().map(|i| span(i)).max().unwrap_or_default();
    let ends = (intervals.iter().map(|i| i.start).min()).zip(intervals.iter().map(|i| i.end).max());
    let Some((begin, end)) = ends.filter(|_| !length.is_zero()) else { return Vec::new() };
    let seconds = length.as_secs_f64();
    let number = libm::floor(end.since(begin).as_secs_f64() / seconds + 1.0 - WHOLE) as usize;
    let slots = SendingSlots::from(begin, (number, length)).filter(|_| number <= MOST_SLOTS);
    let Some(slots) = slots else { return Vec::new() };
    let mut sums = alloc::vec![0.0; number];
    for i in intervals {
        slots.divide([i.start, i.end], amount(i), &mut sums);
    }
    let point = |(number, sum): (usize, &f64)| {
        FigurePoint::new((number as f64 + 1.0) * seconds, sum / seconds)
    };
    sums.iter().enumerate().map(point).collect()
}

/// Returns the rate over time as the receiver saw it, or the peer, or whoever saw it; without the last
/// interval, which may be a short one.
pub(crate) fn seen(lines: &[RateCurve]) -> Vec<f64> {
    let by = |by: Observer| lines.iter().find(|line| line.observer == by.name());
    let mut rates: Vec<f64> = by(Observer::Receiver)
        .or_else(|| by(Observer::Peer))
        .or(lines.first())
        .map(|line| line.points.iter().map(|p| p.y).collect())
        .unwrap_or_default();
    rates.pop();
    rates
}

/// Returns the number of devices that were measured at once: each has a link of its own, whether it sent or not.
pub(crate) fn devices(recorded: &Recorded) -> u16 {
    let devices = recorded.told(fact::DEVICES).unwrap_or(1);
    u16::try_from(devices).unwrap_or(u16::MAX).max(1)
}

/// Of so many steps from one message to the next, at least one is up by one.
const ONE_IN: usize = 3;

/// Steps from one number to the next, by which a counter is known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NumberSteps {
    last: Option<u64>,
    all: usize,
    by_one: usize,
    down: usize,
}

impl NumberSteps {
    /// Adds the number of the next message that came.
    pub(crate) fn add(&mut self, number: u64) {
        let Some(last) = self.last.replace(number) else { return };
        self.all += 1;
        self.by_one += usize::from(last.checked_add(1) == Some(number));
        self.down += usize::from(number < last);
    }

    /// Returns whether the numbers count the messages.
    pub(crate) const fn is_counter(&self) -> bool {
        self.all > 0 && ONE_IN * self.by_one >= self.all && self.by_one >= 2 * self.down
    }
}

/// First arrivals among which a burst is looked for.
pub(crate) const BURST: usize = 4096;

/// Part of the mean time between messages below which one came together with the message before it.
const TOGETHER: u128 = 4;

/// Arrivals a second, from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SteadyRate {
    /// Arrivals a second.
    pub(crate) per_second: f64,
    /// Messages that came together with the first: they had waited for the link, and are in no rate.
    pub(crate) burst: usize,
    /// Time from which on the others are counted.
    pub(crate) from: Instant,
}

impl SteadyRate {
    /// Returns the rate of so many arrivals, of which the first ones (up to [`BURST`], in order) and the last are known:
    /// n messages have n - 1 periods between them. `None` where there is no time between them.
    pub(crate) fn of(first: &[Instant], last: Instant, n: u64) -> Option<Self> {
        let begin = *first.first()?;
        let periods = n.checked_sub(1).filter(|it| *it > 0)?;
        let mean = last.since(begin).as_nanos() / u128::from(periods);
        let is_together = |pair: &&[Instant]| pair[1].since(pair[0]).as_nanos() * TOGETHER < mean;
        let first = &first[..first.len().min(BURST)];
        let burst = first.windows(2).take_while(is_together).count();
        let from = *first.get(burst)?;
        let seconds = last.since(from).as_secs_f64();
        let per_second = periods.saturating_sub(burst as u64) as f64 / seconds;
        (seconds > 0.0).then_some(Self { per_second, burst, from })
    }
}

/// Returns the messages a second of an interval; `None` where there was no time.
pub(crate) fn message_rate(interval: &Interval) -> Option<f64> {
    let seconds = interval.end.since(interval.start).as_secs_f64();
    let messages = interval.datagrams? as f64;
    (seconds > 0.0).then(|| messages / seconds)
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::workload::{Iperf, Transport, Workload};

    fn recorded(samples: Vec<Sample>) -> Recorded {
        let workload = Workload::Iperf(Iperf {
            transport: Transport::Tcp,
            direction: Default::default(),
            time: Duration::from_secs(2),
            bytes: None,
            interval: Duration::from_secs(1),
            length: 1460,
            bandwidth: None,
            parallel: 2,
            window: None,
            no_delay: false,
            ..Iperf::DEFAULT
        });
        Recorded {
            ordinal: 0,
            repetition: 0,
            workload,
            samples,
            counters: BTreeMap::new(),
            facts: BTreeMap::new(),
            error: None,
        }
    }

    /// Devices begin apart, and their intervals are of one time: what one moved from 0.5 to 1.5 s is half of the first second and
    /// half of the next. A part of a second is none.
    #[test]
    fn devices_that_begin_apart_add_up_in_one_time() {
        let half = |n: u64| Instant::from_nanos(n * 500_000_000);
        let interval = |link, seq, from| {
            let (start, end, bytes) = (half(from), half(from + 2), 125_000);
            let interval =
                Interval { link: Link(link), seq, start, end, bytes, ..Interval::default() };
            Sample::Interval(interval)
        };
        let samples = [interval(0, 0, 0), interval(0, 1, 2), interval(1, 0, 1), interval(1, 1, 3)];
        let mut recorded = recorded(samples.into());
        recorded.facts.insert(fact::DEVICES.name().into(), "2".into());
        let points = &megabits(&recorded)[0].points;
        assert_eq!(points, &[FigurePoint::new(1.0, 1.5), FigurePoint::new(2.0, 2.0)]);
    }

    /// A damaged record has no curve, and takes no memory for one.
    #[test]
    fn a_time_without_end_has_no_curve() {
        let at = Instant::from_nanos;
        let interval =
            |start, end| Sample::Interval(Interval { start, end, ..Interval::default() });
        let samples = [interval(at(0), at(1)), interval(at(u64::MAX - 1), at(u64::MAX))];
        let mut recorded = recorded(samples.into());
        recorded.facts.insert(fact::DEVICES.name().into(), "2".into());
        assert!(megabits(&recorded)[0].points.is_empty());
    }

    #[test]
    fn parallel_streams_add_up_and_totals_do_not_count() {
        let second = |n| Instant::from_nanos(n * 1_000_000_000);
        let interval = |link, seq, total| {
            Sample::Interval(Interval {
                link: Link(link),
                seq,
                total,
                start: second(5 + seq),
                end: second(6 + seq),
                bytes: 125_000,
                ..Interval::default()
            })
        };
        let samples = Vec::from([
            interval(0, 0, false),
            interval(1, 0, false),
            interval(0, 1, false),
            interval(1, 1, false),
            interval(0, 0, true),
        ]);
        let lines = megabits(&recorded(samples));
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].points, [FigurePoint::new(1.0, 2.0), FigurePoint::new(2.0, 2.0)]);
    }

    /// A device of 100 messages a second, of whose first 25 messages the link held back all but the last.
    #[test]
    fn messages_that_waited_for_the_link_do_not_lead_the_rate() {
        let ms = |n: u64| Instant::from_nanos(n * 1_000_000);
        let together = (0..25).map(|n| Instant::from_nanos(n * 20_000));
        let times: Vec<Instant> = together.chain((1..=400).map(|n| ms(10 * n))).collect();
        let of =
            |times: &[Instant]| SteadyRate::of(times, times[times.len() - 1], times.len() as u64);
        let rate = of(&times).unwrap();
        assert!((rate.per_second - 100.0).abs() < 0.02, "{rate:?}");
        assert_eq!(rate.burst, 24);
        // One that always sends five at once is no other: 5 a second.
        let batches =
            (0..20).flat_map(|s| (0..5).map(move |n| ms(1000 * s + n))).collect::<Vec<_>>();
        assert!((of(&batches).unwrap().per_second - 5.0).abs() < 1e-9);
        let even: Vec<Instant> = (0..11).map(|n| ms(100 * n)).collect();
        assert_eq!(of(&even), Some(SteadyRate { per_second: 10.0, burst: 0, from: ms(0) }));
        assert_eq!(of(&even[..1]), None);
    }

    #[test]
    fn only_whole_answers_count_as_round_trips() {
        let at = |n| Some(Instant::from_nanos(n));
        let probe = |fate, received, stamped| {
            Sample::Probe(Probe { sent: at(0), received, stamped, fate, ..Probe::default() })
        };
        let samples = Vec::from([
            probe(Fate::Delivered, at(3_000_000), at(2_000_000)),
            probe(Fate::Delivered, at(3_000_000), None),
            probe(Fate::Late, at(9_000_000), None),
            probe(Fate::Delivered, None, None),
        ]);
        let recorded = recorded(samples);
        assert_eq!(round_trips_ms(&recorded), [3.0, 3.0]);
        assert_eq!(kernel_round_trips_ms(&recorded), [2.0]);
    }
}

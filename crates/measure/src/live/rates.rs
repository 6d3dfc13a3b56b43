//! Rates of a cell so far, in bounded memory, by the definitions of the summaries.

use crate::kind::TestKind;
use crate::series::{
    BURST, ByLink, IntervalPlace, MovedInTime, MovedPart, NumberSteps, SendingSlots, SteadyRate,
};
use crate::units::megabits;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::Interval;
use espbench_model::time::Instant;

/// Intervals of parallel streams that are waited for, at most.
const PENDING: usize = 64;

/// Runs whose message rates are kept, at most: more than a plan has.
const RUNS: usize = 16_384;

/// Intervals of streams that are kept apart, at most: those before them are of the time in which a test's devices sent.
const PARTS: usize = 4096;

/// First and last arrival.
#[derive(Clone, Debug, Default)]
pub(super) struct ArrivalSpan {
    ends: Option<(Instant, Instant)>,
    /// First arrivals, among which a burst is looked for.
    first: Vec<Instant>,
    n: u64,
}

impl ArrivalSpan {
    pub(super) fn add(&mut self, at: Instant) {
        let (first, last) = self.ends.unwrap_or((at, at));
        self.ends = Some((first.min(at), last.max(at)));
        self.n += 1;
        if self.first.len() < BURST {
            self.first.push(at);
        }
    }

    /// Returns the arrivals a second of who was already sending when the link came up.
    pub(super) fn steady(&self) -> Option<f64> {
        SteadyRate::of(&self.first, self.ends?.1, self.n).map(|it| it.per_second)
    }

    /// Returns the arrivals a second: n have n - 1 periods between them.
    pub(super) fn per_second(&self) -> Option<f64> {
        let (first, last) = self.ends?;
        let seconds = last.since(first).as_secs_f64();
        (seconds > 0.0).then(|| self.n.saturating_sub(1) as f64 / seconds)
    }
}

/// Messages of one link of a device that is listened to.
#[derive(Clone, Debug, Default)]
pub(super) struct HeardSpan {
    numbers: NumberSteps,
    /// Of all that came.
    all: ArrivalSpan,
    /// Without those whose number came before.
    once: ArrivalSpan,
}

impl HeardSpan {
    pub(super) fn add(&mut self, number: u64, at: Instant, is_again: bool) {
        self.numbers.add(number);
        self.all.add(at);
        if !is_again {
            self.once.add(at);
        }
    }

    /// Returns the messages a second: where the numbers count them, a copy is no further one.
    pub(super) fn steady(&self) -> Option<f64> {
        if self.numbers.is_counter() { self.once.steady() } else { self.all.steady() }
    }
}

/// Times of what an observer counted, as totals tell them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ObserverTimes {
    /// For how long it was sent.
    pub(super) sending: Option<Duration>,
    /// Until the last of it came.
    pub(super) last: Option<Duration>,
    /// Whether a server reports it.
    pub(super) is_report: bool,
}

/// Rates of one observer's intervals.
#[derive(Clone, Debug, Default)]
pub(super) struct MeanRate {
    begin: Option<Instant>,
    /// Sums over the streams of intervals that are not whole in all of them: how many, and Mbit/s.
    pending: BTreeMap<u64, (usize, f64)>,
    /// Intervals that are whole in all streams.
    whole: Mean,
    /// Whether one was the part in which the test ended.
    is_cut: bool,
    /// Octets that each stream moved in the time of the test.
    in_time: ByLink<MovedInTime>,
    /// Message rates of runs by their number: of how many streams, and their sum.
    runs: BTreeMap<u64, (usize, f64)>,
    /// Rates of streams by their totals, added up.
    totals: Option<f64>,
    /// Streams that have told something, of at most as many as `link` can number.
    links: ByLink<()>,
    /// Streams that have told their total.
    totalled: ByLink<()>,
    /// Streams whose total is all that they tell.
    without_parts: ByLink<()>,
    /// When the first stream began.
    first: Option<Instant>,
    /// Last intervals of all streams.
    parts: VecDeque<MovedPart>,
    /// Octets of the intervals before those.
    settled: u64,
    /// Octets of intervals and of totals.
    moved: [u64; 2],
    /// Time from the start of the first interval to the end of the last.
    span: Duration,
    /// Whether the links are more than the test's own streams: of several devices.
    several: bool,
    octets: [f64; 2],
    seconds: [f64; 2],
    any: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Mean {
    sum: f64,
    n: u64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.n += 1;
    }

    fn value(self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / self.n as f64)
    }
}

impl MeanRate {
    pub(super) fn add(&mut self, interval: &Interval, kind: &dyn TestKind) {
        self.any = true;
        let span = interval.end.since(interval.start);
        let at = usize::from(interval.total);
        self.moved[at] += interval.bytes;
        self.octets[at] += interval.bytes as f64;
        self.seconds[at] += span.as_secs_f64();
        let rate = megabits(interval.bytes, span);
        self.first = Some(self.first.map_or(interval.start, |it| it.min(interval.start)));
        if interval.total {
            self.totals = rate.map(|it| self.totals.unwrap_or_default() + it).or(self.totals);
            if interval.bytes > 0 && !self.links.contains(interval.link) {
                self.without_parts.insert(interval.link);
            }
            self.totalled.insert(interval.link);
            self.several |= self.totalled.len() > kind.placed(interval.start, interval).0;
            return;
        }
        self.parts.push_back(interval.into());
        if self.parts.len() > PARTS {
            self.settled += self.parts.pop_front().map_or(0, |it| it.octets);
        }
        let begin = *self.begin.get_or_insert(interval.start);
        if let Some(messages) = crate::series::message_rate(interval) {
            let sum = self.runs.entry(interval.seq).or_default();
            *sum = (sum.0 + 1, sum.1 + messages);
            if self.runs.len() > RUNS {
                self.runs.pop_first();
            }
        }
        self.links.insert(interval.link);
        self.span = self.span.max(interval.end.since(begin));
        let (streams, place) = kind.placed(begin, interval);
        self.several |= self.links.len() > streams;
        if place != IntervalPlace::After {
            self.in_time.of(interval.link).add(interval);
        }
        self.is_cut |= place == IntervalPlace::Cut;
        let Some(rate) = rate.filter(|_| place == IntervalPlace::Whole) else { return };
        let sum = self.pending.entry(interval.seq).or_default();
        *sum = (sum.0 + 1, sum.1 + rate);
        if sum.0 == streams {
            self.whole.add(sum.1);
            self.pending.remove(&interval.seq);
        } else if self.pending.len() > PENDING {
            self.pending.pop_first();
        }
    }

    /// Returns whether the observer has told anything.
    pub(super) const fn any(&self) -> bool {
        self.any
    }

    /// Returns Mbit/s of streams: what they moved in the time of the test, or else what the totals give. Of several devices, and
    /// where streams lack intervals, all octets of the whole intervals of the time in which they sent.
    pub(super) fn streams(&self, kind: &dyn TestKind, told: ObserverTimes) -> Option<f64> {
        let (slots, length) = kind.slots(told.sending.unwrap_or(self.span));
        let lacks = self.links.len() > 1 && self.whole.n < slots as u64;
        if !self.several && !lacks {
            // Of what is no more than a report the time is at least the sender's.
            let report = told.last.filter(|_| told.is_report);
            let of_report = || report.and_then(|it| megabits(self.moved[1], it));
            let is_of_total = !kind.ends_by_plan() && self.totals.is_some();
            return match self.whole.value() {
                None => of_report().or(self.totals),
                Some(_) if is_of_total => self.totals,
                Some(mean) if !self.is_cut => Some(mean),
                Some(_) => self.in_time.values().map(MovedInTime::megabits).sum(),
            };
        }
        if slots > 0 && self.without_parts.len() == 0 {
            let rates = SendingSlots::from(self.first?, (slots, length))?;
            let rates = rates.megabits(self.parts.iter().copied());
            let settled = megabits(self.settled, length * u32::try_from(slots).ok()?)?;
            return Some(settled + rates.iter().sum::<f64>() / slots as f64);
        }
        let time = told.last.unwrap_or(self.span);
        megabits(self.moved[0].max(self.moved[1]), time)
    }

    /// Returns Mbit/s of all octets until the last of them came; `None` before the totals.
    pub(super) fn moved(&self, told: ObserverTimes) -> Option<f64> {
        megabits(self.moved[1], told.last.filter(|_| self.moved[1] > 0)?)
    }

    /// Returns the mean of the runs' messages a second, of all devices together.
    pub(super) fn messages(&self) -> Option<f64> {
        let mut mean = Mean::default();
        // The last run is whole when all streams have told theirs, and those before it are.
        let last = self.runs.keys().last();
        for (run, (streams, sum)) in &self.runs {
            if *streams == self.links.len() || Some(run) != last {
                mean.add(*sum);
            }
        }
        mean.value()
    }

    /// Returns Mbit/s over the time of the total, or of all intervals so far.
    pub(super) fn octets(&self) -> Option<f64> {
        let at = usize::from(self.seconds[1] > 0.0);
        (self.seconds[at] > 0.0).then(|| self.octets[at] * 8e-6 / self.seconds[at])
    }
}

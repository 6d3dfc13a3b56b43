//! Figures of a cell so far, each under the metric of the summary that it becomes.
//!
//! A kind says with [`LiveFigures`] what it has; how that is computed is the summary's definition, over
//! the samples so far and in bounded memory. What the summary has no metric of is not shown.

use super::rates::{ArrivalSpan, HeardSpan, MeanRate, ObserverTimes};
use super::{Histogram, Meter};
use crate::cell::Origin;
use crate::kind::{self, TestKind};
use crate::series::{ByLink, MessageRates, sending_observers};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::{Fate, Observer, Probe, Sample};

/// A figure so far.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveFigure {
    /// Metric of the cell in the summary.
    pub metric: String,
    /// The value, in the metric's unit.
    pub value: f64,
    /// Unit.
    pub unit: &'static str,
    /// A word or two before the value; empty where the unit says it all.
    pub name: &'static str,
}

/// Figures that a kind of test has while a cell goes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LiveFigures {
    /// Times of single probes.
    pub(crate) times: Option<LiveTimes>,
    /// Rates.
    pub(crate) rate: LiveRate,
    /// Whether the share of lost probes is known.
    pub(crate) tells_loss: bool,
}

/// Times of single probes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LiveTimes {
    /// First part of the metrics' names: `rtt`.
    pub(crate) base: &'static str,
    /// Statistics that the summary has of them.
    pub(crate) statistics: &'static [TimeStatistic],
    /// The time of a probe that was delivered.
    pub(crate) of: fn(&Probe) -> Option<Duration>,
}

/// A statistic of times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeStatistic {
    /// Arithmetic mean.
    Mean,
    /// Median.
    P50,
    /// 99th percentile.
    P99,
    /// The largest.
    Max,
}

/// Median and 99th percentile.
pub(crate) const QUANTILES: &[TimeStatistic] = &[TimeStatistic::P50, TimeStatistic::P99];

/// Rates of a kind of test.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum LiveRate {
    /// None.
    #[default]
    None,
    /// Messages that reached the subscriber.
    Delivered,
    /// Messages heard, the sum over the topics: from the first to the last; without a burst at the beginning.
    Heard,
    /// Frames of so many octets received, from the first to the last.
    Frames(u32),
    /// Mean of the runs' message rates.
    Runs,
    /// Mean of the streams' whole intervals.
    Streams,
    /// Octets received over the time of all intervals.
    Received,
}

impl TimeStatistic {
    const fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Mean => ("avg", "mean"),
            Self::P50 => ("p50", "p50"),
            Self::P99 => ("p99", "p99"),
            Self::Max => ("max", "max"),
        }
    }

    fn of(self, times: &Histogram) -> Option<f64> {
        let ms = |time: Duration| time.as_nanos() as f64 / 1e6;
        let n = times.n();
        match self {
            Self::Mean => (n > 0).then(|| times.sum_s() * 1e3 / n as f64),
            Self::P50 => times.quantile(0.5).map(ms),
            Self::P99 => times.quantile(0.99).map(ms),
            Self::Max => times.extremes().map(|it| ms(it.1)),
        }
    }
}

/// Returns the time from when a probe was sent until its reply came.
pub(crate) fn round_trip(probe: &Probe) -> Option<Duration> {
    Some(probe.received?.since(probe.sent?))
}

/// Returns the time from when a probe was due until it, or its reply, came.
pub(crate) fn response(probe: &Probe) -> Option<Duration> {
    Some(probe.received?.since(probe.due))
}

/// A rate that a summary makes of what an observer told.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenRate {
    /// Name of the figure.
    pub(crate) metric: &'static str,
    /// Observer who told it.
    pub(crate) observer: Observer,
    /// Name for people.
    pub(crate) name: &'static str,
    /// Observer who told what was sent of it: no more than that arrives.
    pub(crate) sent_by: Option<Observer>,
}

/// Rates of a cell so far: those of its kind's [`LiveRate`] are read.
#[derive(Clone, Debug, Default)]
pub(super) struct RatesSoFar {
    arrivals: ArrivalSpan,
    /// Of a device that is listened to: each topic by itself.
    heard: ByLink<HeardSpan>,
    messages: MessageRates,
    means: [MeanRate; 3],
    /// Longest total of each observer.
    lasted: [Duration; 3],
}

/// Returns the place of an observer's rates.
const fn place(observer: Observer) -> usize {
    match observer {
        Observer::Sender => 0,
        Observer::Receiver => 1,
        Observer::Peer => 2,
    }
}

impl RatesSoFar {
    pub(super) fn add(&mut self, sample: &Sample, kind: &dyn TestKind) {
        match sample {
            Sample::Probe(probe) if probe.link.is_beside() => {}
            Sample::Probe(probe) => {
                self.messages.add(probe, kind);
                let (Some(at), Fate::Delivered | Fate::Duplicate) = (probe.received, probe.fate)
                else {
                    return;
                };
                let is_again = probe.fate == Fate::Duplicate;
                if kind.is_heard() {
                    self.heard.of(probe.link).add(probe.seq, at, is_again);
                } else if !is_again {
                    self.arrivals.add(at);
                }
            }
            Sample::Interval(interval) => {
                self.messages.total(interval, kind);
                let at = place(interval.observer);
                self.means[at].add(interval, kind);
                if interval.total {
                    self.lasted[at] = self.lasted[at].max(interval.end.since(interval.start));
                }
            }
        }
    }

    fn mean(&self, observer: Observer) -> &MeanRate {
        &self.means[place(observer)]
    }

    /// Returns a rate of streams: where more would arrive than was sent, that of all octets over the time of the test.
    fn seen(&self, kind: &dyn TestKind, seen: &SeenRate) -> Option<f64> {
        let streams = |it| self.mean(it).streams(kind, self.times(it));
        let rate = streams(seen.observer)?;
        let is_bound = seen.sent_by.and_then(streams).is_some_and(|sent| rate > sent);
        let whole = || self.mean(seen.observer).moved(self.times(seen.observer));
        Some(is_bound.then(whole).flatten().unwrap_or(rate))
    }

    /// Returns the times of an observer's streams by totals. A receiver's is at least the sender's.
    fn times(&self, observer: Observer) -> ObserverTimes {
        let of = |it: Observer| Some(self.lasted[place(it)]).filter(|it| !it.is_zero());
        let all = || self.lasted.into_iter().max().filter(|it| !it.is_zero());
        let receives = observer == Observer::Receiver
            || observer == Observer::Peer && self.mean(Observer::Sender).any();
        ObserverTimes {
            sending: sending_observers(observer).iter().find_map(|it| of(*it)),
            last: if receives { all() } else { of(observer) },
            is_report: observer == Observer::Peer,
        }
    }
}

impl Meter {
    /// Returns the figures so far, of which the summary of the same samples has the same.
    #[must_use]
    pub fn figures(&self) -> Vec<LiveFigure> {
        let Some(workload) = &self.workload else { return Vec::new() };
        let kind = kind::of(workload);
        let live = kind.live();
        let own_count = workload.variant().is_some();
        let mut figures = Vec::new();
        for (times, statistic) in
            live.times.iter().flat_map(|times| times.statistics.iter().map(move |it| (times, *it)))
        {
            let (suffix, name) = statistic.names();
            let metric = format!("{}_{suffix}", times.base);
            let value = statistic.of(&self.times);
            figures.extend(value.map(|value| LiveFigure { metric, value, unit: "ms", name }));
        }
        let loss = self.loss().filter(|_| live.tells_loss);
        figures.extend(loss.map(|share| figure("loss", share * 100.0, "%", "lost")));
        self.rates(live.rate, (kind, own_count), &mut figures);
        figures
    }

    fn rates(
        &self,
        rate: LiveRate,
        (kind, own_count): (&dyn TestKind, bool),
        figures: &mut Vec<LiveFigure>,
    ) {
        const MESSAGES: &str = "messages/s";
        const MEGABITS: &str = "Mbit/s";
        let so_far = &self.rates;
        let simulated = self.origin == Origin::Simulated;
        match rate {
            LiveRate::None => {}
            LiveRate::Delivered => {
                let rate = so_far.messages.delivered(kind);
                figures.extend(rate.map(|it| figure("message_rate", it, MESSAGES, "")));
            }
            LiveRate::Heard => {
                let rates = so_far.heard.values().filter_map(HeardSpan::steady);
                let rate = rates.reduce(|one, other| one + other);
                figures.extend(rate.map(|it| figure("message_rate", it, MESSAGES, "")));
            }
            LiveRate::Frames(size) => {
                let bits = 8.0 * f64::from(size);
                let rate = so_far.arrivals.per_second().map(|it| it * bits / 1e6);
                figures.extend(rate.map(|it| figure("throughput", it, MEGABITS, "")));
            }
            LiveRate::Runs => {
                let counts = if simulated { Observer::Sender } else { Observer::Peer };
                let rate = so_far.mean(counts).messages();
                figures.extend(rate.map(|it| figure("message_rate_avg", it, MESSAGES, "")));
            }
            LiveRate::Streams => {
                let told = |observer| so_far.mean(observer).any();
                for seen in kind.seen(own_count, &told) {
                    let rate = so_far.seen(kind, &seen);
                    figures.extend(rate.map(|it| figure(seen.metric, it, MEGABITS, seen.name)));
                }
                figures.extend(self.datagram_loss());
            }
            LiveRate::Received => {
                let rate = so_far.mean(Observer::Receiver).octets();
                figures
                    .extend(rate.map(|it| figure("throughput_received", it, MEGABITS, "received")));
            }
        }
    }

    /// Returns the share of datagrams that the receiving end misses; `None` where both ends receive.
    fn datagram_loss(&self) -> Option<LiveFigure> {
        let of = |it: Observer| self.streams.get(&it).filter(|it| it.datagrams + it.lost > 0);
        let seen = match (of(Observer::Receiver), of(Observer::Peer)) {
            (Some(seen), None) | (None, Some(seen)) if seen.counts_lost => seen,
            _ => return None,
        };
        // Where both ends of a device's test count, what was sent tells it.
        let own_count = self.workload.is_some_and(|it| it.variant().is_some());
        let sent = of(Observer::Sender).filter(|it| own_count && it.datagrams > 0);
        let (lost, all) = match sent {
            Some(sent) => (sent.datagrams.saturating_sub(seen.datagrams), sent.datagrams),
            None => (seen.lost, seen.datagrams + seen.lost),
        };
        let share = lost as f64 / all as f64;
        Some(figure("loss", share * 100.0, "%", "lost"))
    }
}

fn figure(metric: &str, value: f64, unit: &'static str, name: &'static str) -> LiveFigure {
    LiveFigure { metric: metric.into(), value, unit, name }
}

//! Rates of messages and probes, of several links the sum of their own.

use super::devices;
use crate::kind::TestKind;
use crate::run::Recorded;
use alloc::vec::Vec;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;

/// Probes that one link sent, from the first to the last one.
#[derive(Clone, Copy, Default)]
struct SentSpan {
    count: u64,
    ends: Option<(Instant, Instant)>,
}

impl SentSpan {
    fn add(&mut self, at: Instant) {
        self.count += 1;
        let (first, last) = self.ends.unwrap_or((at, at));
        self.ends = Some((first.min(at), last.max(at)));
    }

    /// Returns the probes a second; `None` where there was no time.
    fn rate(&self) -> Option<f64> {
        let (first, last) = self.ends?;
        let seconds = last.since(first).as_secs_f64();
        (seconds > 0.0).then(|| (self.count - 1) as f64 / seconds)
    }
}

/// A rate at which probes were sent.
pub(crate) struct SentRate {
    /// Probes a second, of all links.
    pub(crate) per_second: f64,
    /// Links on which probes were sent.
    pub(crate) links: u16,
}

/// Returns the probes sent a second, from the first to the last one; `None` for fewer than ten. Of several devices the rates of
/// all are summed: one that begins late is not slow.
pub(crate) fn sent_rate(recorded: &Recorded) -> Option<SentRate> {
    let is_of_several = devices(recorded) > 1;
    let mut sent: Vec<SentSpan> = Vec::new();
    for sample in &recorded.samples {
        let Sample::Probe(probe) = sample else { continue };
        if probe.fate == Fate::Duplicate || probe.link == Link::CONNECTIONS {
            continue;
        }
        let Some(at) = probe.sent else { continue };
        let link = if is_of_several { usize::from(probe.link.0) } else { 0 };
        if sent.len() <= link {
            sent.resize(link + 1, SentSpan::default());
        }
        sent[link].add(at);
    }
    let all: u64 = sent.iter().map(|it| it.count).sum();
    let rates: Vec<f64> = sent.iter().filter_map(SentSpan::rate).collect();
    let links = u16::try_from(rates.len()).unwrap_or(u16::MAX);
    (all >= 10 && links > 0).then(|| SentRate { per_second: rates.iter().sum(), links })
}

/// The messages of one link, and the time over which they came due and were delivered.
#[derive(Clone, Copy, Debug, Default)]
struct MessageSpan {
    /// Messages due, without those that the user's stop left open.
    due: u64,
    delivered: u64,
    first_due: Option<Instant>,
    last_due: Option<Instant>,
    last: Option<Instant>,
    /// When the sender began and ended.
    sender: Option<(Instant, Instant)>,
}

impl MessageSpan {
    fn add(&mut self, probe: &Probe) {
        self.first_due = Some(self.first_due.map_or(probe.due, |it| it.min(probe.due)));
        // A sample of a message that had been counted before has no time of its own at which it was due.
        if !matches!(probe.fate, Fate::Duplicate | Fate::Late | Fate::Lost(Cause::Stopped)) {
            self.due += 1;
            self.last_due = self.last_due.max(Some(probe.due));
        }
        if probe.fate == Fate::Delivered {
            self.delivered += 1;
            self.last = self.last.max(probe.received);
        }
    }

    fn total(&mut self, interval: &Interval) {
        let (start, end) = self.sender.unwrap_or((interval.start, interval.end));
        self.sender = Some((start.min(interval.start), end.max(interval.end)));
    }

    /// Returns the seconds in which messages came due, and those until the last of them came.
    fn seconds(&self, kind: &dyn TestKind) -> (f64, f64) {
        let between = |from: Option<Instant>, to: Option<Instant>| {
            from.zip(to).map_or(0.0, |(from, to)| to.since(from).as_secs_f64())
        };
        let (begin, end) = (self.sender.map(|it| it.0), self.sender.map(|it| it.1));
        let (start, offering) = match kind.offering(self.due) {
            // The period of the last message is part of the time. The sender's own end is none: with several clients it lies
            // one client's period after the last message, and that is longer than the period of all together.
            Some(periods) => (self.first_due, periods.max(between(self.first_due, self.last_due))),
            None => (begin.or(self.first_due), between(begin, end)),
        };
        (offering, offering.max(between(start, self.last)))
    }
}

/// Rates of messages: of several links the sum of each link's own, so that one that begins late or ends early is not slow. A
/// span stands at the number of its link.
#[derive(Clone, Debug, Default)]
pub(crate) struct MessageRates(Vec<MessageSpan>);

impl MessageRates {
    /// Returns the rates of a cell.
    pub(crate) fn of(samples: &[Sample], kind: &dyn TestKind) -> Self {
        let mut rates = Self::default();
        for sample in samples {
            match sample {
                Sample::Probe(probe) => rates.add(probe, kind),
                Sample::Interval(interval) => rates.total(interval, kind),
            }
        }
        rates
    }

    pub(crate) fn add(&mut self, probe: &Probe, kind: &dyn TestKind) {
        if !probe.link.is_beside() {
            self.on(probe.link, kind).add(probe);
        }
    }

    pub(crate) fn total(&mut self, interval: &Interval, kind: &dyn TestKind) {
        if interval.total && interval.observer == Observer::Sender {
            self.on(interval.link, kind).total(interval);
        }
    }

    fn on(&mut self, link: Link, kind: &dyn TestKind) -> &mut MessageSpan {
        let number = if kind.shares_rate() { 0 } else { usize::from(link.0) };
        if self.0.len() <= number {
            self.0.resize(number + 1, MessageSpan::default());
        }
        &mut self.0[number]
    }

    /// Returns the messages due a second; `None` where none was.
    pub(crate) fn offered(&self, kind: &dyn TestKind) -> Option<f64> {
        self.sum(|it| (it.due, it.seconds(kind).0))
    }

    /// Returns the messages delivered a second, until the last one came or was due; `None` where none was due.
    pub(crate) fn delivered(&self, kind: &dyn TestKind) -> Option<f64> {
        self.sum(|it| (it.delivered, it.seconds(kind).1))
    }

    /// Returns the seconds until the last message came or was due, of the link that took longest.
    pub(crate) fn delivering(&self, kind: &dyn TestKind) -> f64 {
        self.0.iter().map(|it| it.seconds(kind).1).fold(0.0, f64::max)
    }

    fn sum(&self, of: impl Fn(&MessageSpan) -> (u64, f64)) -> Option<f64> {
        let rate = |it: &MessageSpan| {
            let (count, seconds) = of(it);
            (it.due > 0 && seconds > 0.0).then(|| count as f64 / seconds)
        };
        let rates: Vec<f64> = self.0.iter().filter_map(rate).collect();
        (!rates.is_empty()).then(|| rates.iter().sum())
    }
}

//! Record of an exchange, from the observations of both ends.

use crate::lab::record::Record;
use crate::lab::suite::{SuiteError, Unable};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample};
use espbench_model::time::Instant;
use espbench_proto::node::app::mqtt::join;

/// Length of the intervals in which arrivals are counted, as with a real broker.
const INTERVAL: Duration = Duration::from_secs(1);

/// Fates of the messages of one step.
#[derive(Clone, Debug)]
pub(super) struct ExchangeRecord {
    link: Link,
    /// One a message, by its number; after it further copies of it that came.
    probes: Vec<Probe>,
    /// Messages that came due at the device, over the time in which they did.
    sent: Option<Interval>,
    /// Messages that came after one with a higher number.
    reordered: u64,
    failed: Option<SuiteError>,
}

impl ExchangeRecord {
    /// Joins the samples of publisher and subscriber, each in its own order.
    pub(super) fn new(
        link: Link,
        published: &[Sample],
        received: &[Sample],
        failed: Option<SuiteError>,
    ) -> Self {
        let mut arrived: BTreeMap<u64, Probe> = BTreeMap::new();
        let mut copies: BTreeMap<u64, Vec<Probe>> = BTreeMap::new();
        let (mut reordered, mut highest) = (0, None);
        for probe in received.iter().filter_map(probe).filter(|it| it.link == link) {
            match probe.fate {
                Fate::Lost(_) => {}
                Fate::Duplicate => copies.entry(probe.seq).or_default().push(*probe),
                _ => {
                    reordered += u64::from(highest > Some(probe.seq));
                    highest = highest.max(Some(probe.seq));
                    arrived.insert(probe.seq, *probe);
                }
            }
        }
        let own: BTreeMap<u64, &Probe> =
            published.iter().filter_map(probe).map(|it| (it.seq, it)).collect();
        let stopped = failed == Some(SuiteError::Cancelled);
        let mut probes = Vec::with_capacity(own.len());
        for (seq, message) in own {
            let joined = join(message, arrived.get(&seq));
            probes.push(match joined.fate {
                Fate::Lost(_) if stopped => Probe { fate: Fate::Lost(Cause::Stopped), ..joined },
                _ => joined,
            });
            let copies = copies.remove(&seq).unwrap_or_default();
            probes.extend(copies.into_iter().map(|it| Probe { due: joined.due, ..it }));
        }
        let sent = published.iter().find_map(|it| match it {
            Sample::Interval(it) if it.total => Some(*it),
            _ => None,
        });
        Self { link, probes, sent, reordered, failed }
    }

    /// Returns the number of messages that did not come.
    pub(super) fn lost(&self) -> u64 {
        self.probes.iter().filter(|it| matches!(it.fate, Fate::Lost(_))).count() as u64
    }

    /// Returns whether the exchange came to its end, and its device published.
    pub(super) fn is_whole(&self) -> bool {
        self.failed.is_none() && self.sent.is_some()
    }

    /// Returns an error where the exchange failed, or where the device never began to publish.
    pub(super) fn result(self, variant: &str) -> Result<(), SuiteError> {
        match (self.failed, self.sent) {
            (Some(failed), _) => Err(failed),
            (None, Some(_)) => Ok(()),
            (None, None) => Err(SuiteError::Unable(
                Unable::Variant(variant.into()),
                "the device did not get through to the broker: see its signal and its network"
                    .into(),
            )),
        }
    }

    /// Records all of it.
    pub(super) fn record(&self, record: &mut dyn Record) {
        for probe in &self.probes {
            record.sample(Sample::Probe(*probe));
        }
        for interval in self.seconds() {
            record.sample(Sample::Interval(interval));
        }
        self.totals(record);
    }

    /// Records the totals, and counts losses by cause.
    pub(super) fn record_totals(&self, record: &mut dyn Record) {
        for probe in &self.probes {
            if let Fate::Lost(cause) = probe.fate {
                record.count(&format!("lost-{}", cause.name()), 1);
            }
        }
        self.totals(record);
    }

    fn totals(&self, record: &mut dyn Record) {
        let Some(sent) = self.sent else { return };
        record.sample(Sample::Interval(sent));
        record.sample(Sample::Interval(self.received(&sent)));
    }

    /// Returns the messages that came, each once, in the order of their arrivals.
    fn arrivals(&self) -> Vec<(Instant, u32)> {
        let once = self.probes.iter().filter(|it| it.fate != Fate::Duplicate);
        let mut all: Vec<_> = once.filter_map(|it| Some((it.received?, it.bytes))).collect();
        all.sort_unstable();
        all
    }

    /// Returns the sum of all arrivals, until the last one.
    fn received(&self, sent: &Interval) -> Interval {
        let arrivals = self.arrivals();
        let copies = self.probes.iter().filter(|it| it.fate == Fate::Duplicate);
        Interval {
            link: self.link,
            total: true,
            observer: Observer::Receiver,
            start: sent.start,
            end: arrivals.last().map_or(sent.start, |it| it.0),
            bytes: arrivals.iter().map(|it| u64::from(it.1)).sum(),
            datagrams: Some(arrivals.len() as u64),
            lost: Some(self.lost()),
            out_of_order: Some(self.reordered),
            duplicates: Some(copies.count() as u64),
            ..Interval::default()
        }
    }

    /// Returns the arrivals of each second; the last second ends with the last of them.
    fn seconds(&self) -> Vec<Interval> {
        let Some(start) = self.sent.map(|it| it.start) else { return Vec::new() };
        let arrivals = self.arrivals();
        let Some(&(last, _)) = arrivals.last() else { return Vec::new() };
        let mut intervals = Vec::new();
        let (mut from, mut next) = (start, 0);
        loop {
            let end = from + INTERVAL;
            let first = next;
            next += arrivals[next..].partition_point(|it| it.0 < end);
            let these = &arrivals[first..next];
            if last >= end || !these.is_empty() {
                intervals.push(Interval {
                    link: self.link,
                    seq: intervals.len() as u64,
                    observer: Observer::Receiver,
                    start: from,
                    end: end.min(last),
                    bytes: these.iter().map(|it| u64::from(it.1)).sum(),
                    datagrams: Some(these.len() as u64),
                    ..Interval::default()
                });
            }
            if last < end {
                return intervals;
            }
            from = end;
        }
    }
}

fn probe(sample: &Sample) -> Option<&Probe> {
    match sample {
        Sample::Probe(it) => Some(it),
        Sample::Interval(_) => None,
    }
}

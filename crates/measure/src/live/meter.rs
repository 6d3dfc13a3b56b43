//! The figures of a cell so far.

use super::figures::RatesSoFar;
use super::{FateCounts, Histogram, LateProbes};
use crate::cell::Origin;
use crate::kind;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use core::time::Duration;
use espbench_model::sample::{Fate, Interval, Observer, Sample};
use espbench_model::text::counted;
use espbench_model::workload::Workload;
use serde::Serialize;

/// Counts of one observer of a cell's streams so far, all streams together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StreamCounts {
    /// Payload bytes.
    pub bytes: u64,
    /// Datagrams or messages, where they are counted.
    pub datagrams: u64,
    /// Datagrams missing by number.
    pub lost: u64,
    /// Whether missing ones are counted at all.
    pub counts_lost: bool,
    /// Payload bits a second in the last interval that is over.
    pub bits_per_s: Option<f64>,
    /// Datagrams or messages a second in it.
    pub datagrams_per_s: Option<f64>,
    parts: Sum,
    totals: Sum,
    last: Last,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sum {
    bytes: u64,
    datagrams: u64,
    lost: u64,
}

/// The interval that streams are being added up of.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Last {
    seq: u64,
    bits_per_s: f64,
    datagrams_per_s: f64,
    any: bool,
}

/// Takes the samples of a cell as they come. Its memory does not grow with them.
#[derive(Clone, Debug, Default)]
pub struct Meter {
    /// Fates of the probes.
    pub tally: FateCounts,
    /// Times of probes that came back, or arrived, whole and in time.
    pub times: Histogram,
    /// Counts of streams by observer.
    pub streams: BTreeMap<Observer, StreamCounts>,
    pub(super) rates: RatesSoFar,
    pub(super) workload: Option<Workload>,
    pub(super) origin: Origin,
}

/// Times of a cell so far, in milliseconds. Quantiles are at most one part in 2048 off.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Times {
    /// Number of times.
    pub n: u64,
    /// The smallest.
    pub min: f64,
    /// The mean.
    pub avg: f64,
    /// The median.
    pub p50: f64,
    /// The 90th percentile.
    pub p90: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The 99.9th percentile.
    pub p999: f64,
    /// The largest.
    pub max: f64,
}

impl Meter {
    /// Creates the meter of a cell. Its times are those of its kind's summary: round trips from
    /// sending, or times from when a probe was due; none where nothing tells them.
    #[must_use]
    pub fn new(workload: &Workload, origin: Origin) -> Self {
        Self { workload: Some(*workload), origin, ..Self::default() }
    }

    /// Adds a sample.
    pub fn add(&mut self, sample: &Sample) {
        self.tally.add(sample);
        if let Some(workload) = &self.workload {
            self.rates.add(sample, kind::of(workload));
        }
        match sample {
            Sample::Probe(probe) if probe.link.is_beside() => {}
            Sample::Probe(probe) if probe.fate == Fate::Delivered => {
                let times = self.workload.as_ref().and_then(|it| kind::of(it).live().times);
                if let Some(time) = times.and_then(|times| (times.of)(probe)) {
                    self.times.add(time);
                }
            }
            Sample::Probe(_) => {}
            Sample::Interval(interval) => {
                self.streams.entry(interval.observer).or_default().add(interval);
            }
        }
    }

    /// Returns the share of probes that are lost, as the summary counts them; `None` before the first.
    #[must_use]
    pub fn loss(&self) -> Option<f64> {
        let (lost, of) = self.tally.loss_of(self.late());
        (of > 0).then(|| lost as f64 / of as f64)
    }

    /// Says what came so far: `950 delivered, 50 lost`, `12 intervals`; nothing before the first sample. Of a device that
    /// is listened to only the number of messages: whether theirs are numbers of messages is judged at the end.
    #[must_use]
    pub fn told(&self) -> String {
        let is_heard = self.workload.as_ref().is_some_and(|it| kind::of(it).is_heard());
        match self.tally.delivered + self.tally.duplicate {
            n if is_heard && n > 0 => counted(n, "message", "messages").to_string(),
            _ if is_heard => String::new(),
            _ if self.late() == LateProbes::Lost && self.tally.late > 0 => {
                let FateCounts { lost, late, .. } = self.tally;
                let all = FateCounts { lost: lost + late, late: 0, ..self.tally };
                format!("{all}, {late} of the lost came late")
            }
            _ => self.tally.to_string(),
        }
    }

    /// Returns how late probes count.
    fn late(&self) -> LateProbes {
        self.workload.as_ref().map_or(LateProbes::Apart, |it| kind::of(it).late())
    }

    /// Returns the times so far; `None` before the first.
    #[must_use]
    pub fn times(&self) -> Option<Times> {
        let (min, max) = self.times.extremes()?;
        let ms = |time: Duration| time.as_nanos() as f64 / 1e6;
        let quantile = |q| self.times.quantile(q).map(ms);
        Some(Times {
            n: self.times.n(),
            min: ms(min),
            avg: self.times.sum_s() * 1e3 / self.times.n() as f64,
            p50: quantile(0.5)?,
            p90: quantile(0.9)?,
            p99: quantile(0.99)?,
            p999: quantile(0.999)?,
            max: ms(max),
        })
    }
}

impl StreamCounts {
    fn add(&mut self, interval: &Interval) {
        let sum = if interval.total { &mut self.totals } else { &mut self.parts };
        sum.bytes = sum.bytes.saturating_add(interval.bytes);
        sum.datagrams = sum.datagrams.saturating_add(interval.arrived().unwrap_or_default());
        sum.lost = sum.lost.saturating_add(interval.lost.unwrap_or_default());
        self.counts_lost |= interval.lost.is_some();
        // A total counts its intervals again, and a last part that has none: counters never fall.
        self.bytes = self.parts.bytes.max(self.totals.bytes);
        self.datagrams = self.parts.datagrams.max(self.totals.datagrams);
        self.lost = self.parts.lost.max(self.totals.lost);
        if !interval.total {
            self.rate(interval);
        }
    }

    /// Streams' intervals of the same number are added up; the sum is shown once the next one comes.
    fn rate(&mut self, interval: &Interval) {
        let seconds = interval.end.since(interval.start).as_secs_f64();
        if seconds <= 0.0 {
            return;
        }
        if self.last.any && self.last.seq != interval.seq {
            self.bits_per_s = Some(self.last.bits_per_s);
            self.datagrams_per_s = Some(self.last.datagrams_per_s);
            self.last = Last::default();
        }
        self.last.any = true;
        self.last.seq = interval.seq;
        self.last.bits_per_s += interval.bytes as f64 * 8.0 / seconds;
        self.last.datagrams_per_s += interval.arrived().unwrap_or_default() as f64 / seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::defaults;
    use espbench_model::sample::{Cause, Link, Probe};
    use espbench_model::time::Instant;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    /// Numbers such as 55, 55, 56 may be a humidity: what is lost or came twice is judged at the end.
    #[test]
    fn of_what_is_heard_only_the_number_of_messages_is_told() {
        use espbench_model::workload::MqttMode;
        let Some(Workload::MqttRate(mut work)) = defaults("mqtt-rate") else { unreachable!() };
        let told = |work: &Workload| {
            let mut meter = Meter::new(work, Origin::Measured);
            assert_eq!(meter.told(), "");
            for fate in [Fate::Delivered, Fate::Duplicate, Fate::Lost(Cause::Unknown)] {
                meter.add(&Sample::Probe(Probe { fate, ..Probe::default() }));
            }
            meter.told()
        };
        assert_eq!(told(&Workload::MqttRate(work)), "1 delivered, 1 lost, 1 duplicate");
        work.mode = MqttMode::Listen;
        assert_eq!(told(&Workload::MqttRate(work)), "2 messages");
    }

    #[test]
    fn times_are_of_what_was_delivered() {
        let mut meter = Meter::new(&defaults("udp-echo").unwrap(), Origin::Measured);
        assert_eq!(meter.times(), None);
        for (fate, ms) in
            [(Fate::Delivered, 2), (Fate::Late, 900), (Fate::Corrupt, 1), (Fate::Delivered, 4)]
        {
            let (sent, received) = (Some(at(10)), Some(at(10 + ms)));
            meter.add(&Sample::Probe(Probe { fate, sent, received, ..Probe::default() }));
        }
        let times = meter.times().unwrap();
        assert_eq!((times.n, times.min, times.avg, times.max), (2, 2.0, 3.0, 4.0));
        assert!((2.0..2.02).contains(&times.p50) && times.p999 == 4.0, "{times:?}");
        assert_eq!((meter.tally.delivered, meter.tally.late, meter.tally.corrupt), (2, 1, 1));
    }

    /// The counts agree with the share that is lost.
    #[test]
    fn late_probes_that_count_as_lost_are_among_them() {
        for (kind, wanted) in [
            ("udp-echo", "1 delivered, 1 lost, 1 late"),
            ("esp-now", "1 delivered, 2 lost, 1 of the lost came late"),
        ] {
            let mut meter = Meter::new(&defaults(kind).unwrap(), Origin::Simulated);
            for fate in [Fate::Delivered, Fate::Late, Fate::Lost(Cause::Unknown)] {
                meter.add(&Sample::Probe(Probe { fate, ..Probe::default() }));
            }
            assert_eq!(meter.told(), wanted, "{kind}");
        }
    }

    #[test]
    fn the_loss_is_of_all_that_is_known() {
        let mut meter = Meter::new(&defaults("udp-echo").unwrap(), Origin::Measured);
        assert_eq!(meter.loss(), None);
        for ms in [0, 100, 200, 500] {
            let (sent, received) = (Some(at(ms)), Some(at(ms + 5)));
            meter.add(&Sample::Probe(Probe { sent, received, ..Probe::default() }));
        }
        for fate in [Fate::Lost(Cause::Unknown), Fate::Duplicate, Fate::Lost(Cause::Stopped)] {
            meter.add(&Sample::Probe(Probe { fate, ..Probe::default() }));
        }
        assert_eq!(meter.loss(), Some(0.2));
    }

    #[test]
    fn streams_add_up_and_totals_do_not_count_twice() {
        let mut meter = Meter::new(&defaults("iperf").unwrap(), Origin::Measured);
        let interval = |link, seq: u64, total, bytes| {
            let (start, end) = (at(seq * 1000), at(seq * 1000 + 1000));
            Sample::Interval(Interval {
                link: Link(link),
                seq,
                total,
                start,
                end,
                bytes,
                ..Interval::default()
            })
        };
        for (seq, bytes) in [(0, 125_000), (1, 250_000)] {
            meter.add(&interval(0, seq, false, bytes));
            meter.add(&interval(1, seq, false, bytes));
        }
        let stream = meter.streams[&Observer::Sender];
        assert_eq!((stream.bytes, stream.bits_per_s), (750_000, Some(2e6)));
        meter.add(&interval(0, 0, true, 375_000));
        meter.add(&interval(1, 0, true, 376_000));
        assert_eq!(meter.streams[&Observer::Sender].bytes, 751_000);
    }
}

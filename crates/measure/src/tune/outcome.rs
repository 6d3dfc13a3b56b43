//! Outcomes of candidates.

use super::want::Metric;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::{Fate, Observer, Sample};
use espbench_stats::quantile::Sorted;

/// Outcome of one evaluation. Metrics that were not asked for are `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evaluation {
    /// TCP that the device sends, Mbit/s.
    pub tcp_tx: Option<f64>,
    /// TCP that it receives, Mbit/s.
    pub tcp_rx: Option<f64>,
    /// UDP that it sends and that arrives, Mbit/s.
    pub udp_tx: Option<f64>,
    /// UDP that it receives, Mbit/s.
    pub udp_rx: Option<f64>,
    /// UDP round trips, mean and 99th percentile, ms.
    pub latency_ms: Option<(f64, f64)>,
    /// The least free heap that there was, bytes; negative where it would have run out.
    pub free_heap: Option<i64>,
    /// Mean current, mA.
    pub current_ma: Option<f64>,
    /// Life of the battery with that current, in days.
    pub battery_days: Option<f64>,
}

impl Evaluation {
    /// Returns the value of a metric, in its unit.
    #[must_use]
    pub fn value(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::TcpTx => self.tcp_tx,
            Metric::TcpRx => self.tcp_rx,
            Metric::UdpTx => self.udp_tx,
            Metric::UdpRx => self.udp_rx,
            Metric::UdpLatency => self.latency_ms.map(|it| it.0),
            Metric::UdpLatencyP99 => self.latency_ms.map(|it| it.1),
            Metric::Heap => self.free_heap.map(|it| it as f64 / 1024.0),
            Metric::Current => self.current_ma,
            Metric::Battery => self.battery_days,
        }
    }

    /// Returns how good the outcome is in each metric, more being better, in steps that are worth
    /// telling apart.
    #[must_use]
    pub fn goods(&self, objectives: &[Metric]) -> Vec<f64> {
        let good = |metric: &Metric| {
            let value = self.value(*metric).map_or(f64::NAN, |it| step(*metric, it));
            if metric.more() { value } else { -value }
        };
        objectives.iter().map(good).collect()
    }

    /// Returns the mean of several outcomes.
    #[must_use]
    pub fn mean(all: &[Self]) -> Self {
        let mean = |of: &dyn Fn(&Self) -> Option<f64>| {
            let values = all.iter().filter_map(of);
            let n = values.clone().count();
            (n > 0).then(|| values.sum::<f64>() / n as f64)
        };
        let least = all.iter().filter_map(|it| it.free_heap).min();
        Self {
            tcp_tx: mean(&|it| it.tcp_tx),
            tcp_rx: mean(&|it| it.tcp_rx),
            udp_tx: mean(&|it| it.udp_tx),
            udp_rx: mean(&|it| it.udp_rx),
            latency_ms: mean(&|it| it.latency_ms.map(|it| it.0))
                .zip(mean(&|it| it.latency_ms.map(|it| it.1))),
            free_heap: least,
            current_ma: mean(&|it| it.current_ma),
            battery_days: mean(&|it| it.battery_days),
        }
    }
}

/// Rounds a value to steps that are worth telling apart: of 1 %, and of heap of 1 KB.
fn step(metric: Metric, value: f64) -> f64 {
    match metric {
        Metric::Heap => libm::round(value),
        _ if value <= 0.0 => f64::MIN,
        _ => libm::round(libm::log(value) * 100.0),
    }
}

/// Returns the rate of arrivals in Mbit/s, by the intervals of all streams that the receiving end
/// has counted: from the end of the first interval, in which TCP begins slowly, until the sender
/// stopped. A missing interval in that time counts as zero bytes.
#[must_use]
pub fn throughput(
    samples: &[Sample],
    receiver: Observer,
    interval: Duration,
    intervals: u32,
) -> f64 {
    let bytes: u64 = samples
        .iter()
        .filter_map(|it| match it {
            Sample::Interval(it) if !it.total && it.observer == receiver => {
                (1..u64::from(intervals)).contains(&it.seq).then_some(it.bytes)
            }
            _ => None,
        })
        .sum();
    let seconds = interval.as_secs_f64() * f64::from(intervals.saturating_sub(1).max(1));
    bytes as f64 * 8.0 / seconds / 1e6
}

/// Returns mean and 99th percentile of round trips, in ms. A lost one counts as the time that was
/// waited for it, so that losses do not make latency look better.
#[must_use]
pub fn round_trips(samples: &[Sample], timeout: Duration) -> Option<(f64, f64)> {
    let trip = |it: &Sample| match it {
        Sample::Probe(it) if it.fate == Fate::Delivered => {
            let (sent, received) = (it.sent?.as_nanos(), it.received?.as_nanos());
            Some(received.saturating_sub(sent) as f64 / 1e6)
        }
        Sample::Probe(it) if matches!(it.fate, Fate::Lost(_)) => Some(timeout.as_secs_f64() * 1e3),
        _ => None,
    };
    let trips = Sorted::new(samples.iter().filter_map(trip).collect::<Vec<f64>>());
    let p99 = trips.quantile(0.99).value?;
    Some((trips.values().iter().sum::<f64>() / trips.values().len() as f64, p99))
}

/// Returns the median of the round trips that came to an end.
#[must_use]
pub fn round_trip_median(samples: &[Sample]) -> Option<Duration> {
    let trip = |it: &Sample| match it {
        Sample::Probe(it) if it.fate == Fate::Delivered => {
            Some(it.received?.as_nanos().saturating_sub(it.sent?.as_nanos()) as f64)
        }
        _ => None,
    };
    let trips = Sorted::new(samples.iter().filter_map(trip).collect::<Vec<f64>>());
    Some(Duration::from_nanos(trips.quantile(0.5).value? as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(ms: u64, fate: Fate) -> Sample {
        use espbench_model::sample::Probe;
        use espbench_model::time::Instant;
        let at = |ms: u64| Some(Instant::from_nanos(ms * 1_000_000));
        Sample::Probe(Probe { fate, sent: at(5), received: at(5 + ms), ..Probe::default() })
    }

    #[test]
    fn throughput_is_what_the_receiver_counted_after_the_first_interval() {
        use espbench_model::sample::{Interval, Link};
        let interval = |link, seq, bytes, observer| {
            let link = Link(link);
            Sample::Interval(Interval { link, seq, bytes, observer, ..Interval::default() })
        };
        let ours = Observer::Receiver;
        let samples = [
            interval(0, 0, 9_000_000, ours),
            interval(0, 1, 100_000, ours),
            interval(1, 1, 150_000, ours),
            interval(0, 2, 250_000, ours),
            interval(0, 3, 7_000_000, ours),
            interval(0, 1, 5_000_000, Observer::Sender),
        ];
        // Two intervals of 100 ms: 500 kB in 0.2 s.
        let rate = throughput(&samples, ours, Duration::from_millis(100), 3);
        assert!((rate - 20.0).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn a_lost_round_trip_counts_as_the_wait_for_it() {
        use espbench_model::sample::Cause;
        let mut samples: Vec<Sample> = (0..99).map(|_| probe(2, Fate::Delivered)).collect();
        samples.push(probe(0, Fate::Lost(Cause::Unknown)));
        let (mean, p99) = round_trips(&samples, Duration::from_secs(1)).unwrap();
        assert!((mean - 11.98).abs() < 1e-9 && (p99 - 2.0).abs() < 1e-9, "{mean} {p99}");
        assert_eq!(round_trips(&[], Duration::from_secs(1)), None);
    }

    #[test]
    fn the_mean_keeps_what_is_unknown_and_the_least_heap() {
        let one = Evaluation { tcp_tx: Some(10.0), free_heap: Some(5000), ..Evaluation::default() };
        let two = Evaluation {
            tcp_tx: Some(20.0),
            free_heap: Some(4000),
            latency_ms: Some((1.0, 3.0)),
            ..Evaluation::default()
        };
        let mean = Evaluation::mean(&[one, two]);
        assert_eq!((mean.tcp_tx, mean.tcp_rx, mean.free_heap), (Some(15.0), None, Some(4000)));
        assert_eq!(mean.latency_ms, Some((1.0, 3.0)));
        assert_eq!(Evaluation::mean(&[]), Evaluation::default());
    }
}

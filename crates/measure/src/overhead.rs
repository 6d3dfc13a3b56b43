//! Costs of the tool itself on this host, from a calibration over loopback.

use crate::report::Overhead;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::{Fate, Probe, Sample};
use espbench_model::time::Instant;
use espbench_stats::quantile::Sorted;

impl Overhead {
    /// Computes the costs from readings of the clock taken one after the other, and from round
    /// trips against the tool's own responder.
    #[must_use]
    pub fn from_samples(readings: &[Instant], samples: &[Sample]) -> Self {
        let steps = readings.windows(2).map(|w| w[1].since(w[0]));
        let step = steps.filter(|s| !s.is_zero()).min().unwrap_or_default();
        let span = match (readings.first(), readings.last()) {
            (Some(first), Some(last)) => last.since(*first),
            _ => Duration::ZERO,
        };
        let read = span.as_nanos() as f64 / readings.len().saturating_sub(1).max(1) as f64;
        let delivered: Vec<&Probe> = samples
            .iter()
            .filter_map(|s| match s {
                Sample::Probe(p) if p.fate == Fate::Delivered => Some(p),
                _ => None,
            })
            .collect();
        let us = |from: Option<Instant>, to: Option<Instant>| {
            Some(to?.since(from?).as_nanos() as f64 / 1e3)
        };
        let rtt = Sorted::new(delivered.iter().filter_map(|p| us(p.sent, p.received)).collect());
        let wake =
            Sorted::new(delivered.iter().filter_map(|p| us(p.stamped, p.received)).collect());
        Self {
            clock_step_ns: step.as_nanos() as u64,
            clock_read_ns: read,
            rtt_p50_us: rtt.quantile(0.5).value,
            rtt_p99_us: rtt.quantile(0.99).value,
            wake_p50_us: wake.quantile(0.5).value,
            n: rtt.values().len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn medians_of_what_was_delivered() {
        let at = |us: u64| Instant::from_nanos(us * 1000);
        let probe = |sent, stamped, received, fate| {
            Sample::Probe(Probe {
                sent: Some(at(sent)),
                stamped: Some(at(stamped)),
                received: Some(at(received)),
                fate,
                ..Probe::default()
            })
        };
        let samples = vec![
            probe(0, 12, 20, Fate::Delivered),
            probe(100, 114, 124, Fate::Delivered),
            probe(200, 212, 219, Fate::Delivered),
            probe(300, 900, 990, Fate::Late),
        ];
        let readings = [0, 40, 40, 90, 200].map(Instant::from_nanos);
        let overhead = Overhead::from_samples(&readings, &samples);
        assert_eq!((overhead.clock_step_ns, overhead.clock_read_ns), (40, 50.0));
        assert_eq!(overhead.rtt_p50_us, Some(20.0));
        assert_eq!(overhead.wake_p50_us, Some(8.0));
        assert_eq!(overhead.n, 3);
        assert_eq!(Overhead::from_samples(&[], &[]).rtt_p50_us, None, "unknown is not zero");
    }
}

//! What a candidate does.

use super::space::Candidate;
use super::want::Metric;

/// What one evaluation found out. What was not asked for is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
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
    /// How long the battery lasts with that, days.
    pub battery_days: Option<f64>,
}

impl Outcome {
    /// The value of a metric, in its unit.
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

    /// The mean of several.
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

/// Finds out what a candidate does.
pub trait Evaluate: Sync {
    /// Why it could not be found out.
    type Error;

    /// Finds it out; the same candidate and seed have the same outcome.
    ///
    /// # Errors
    /// It could not be found out.
    fn evaluate(&self, candidate: &Candidate, seed: u64) -> Result<Outcome, Self::Error>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_keeps_what_is_unknown_and_the_least_heap() {
        let one = Outcome { tcp_tx: Some(10.0), free_heap: Some(5000), ..Outcome::default() };
        let two = Outcome {
            tcp_tx: Some(20.0),
            free_heap: Some(4000),
            latency_ms: Some((1.0, 3.0)),
            ..Outcome::default()
        };
        let mean = Outcome::mean(&[one, two]);
        assert_eq!((mean.tcp_tx, mean.tcp_rx, mean.free_heap), (Some(15.0), None, Some(4000)));
        assert_eq!(mean.latency_ms, Some((1.0, 3.0)));
        assert_eq!(Outcome::mean(&[]), Outcome::default());
    }
}

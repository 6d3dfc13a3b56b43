//! Limits on a setting's results, and whether they hold.

use super::point::PointEstimates;
use crate::label;
use crate::search::fleet::Standing;
use crate::settings::{Setting, Settings};
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_stats::Estimate;

/// Limits that a fleet must keep. At least one should be set.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FleetLimits {
    /// Most of the messages that may be lost, 0 to 1.
    pub loss: Option<f64>,
    /// Longest 99th percentile of the latency, in milliseconds.
    pub p99_ms: Option<f64>,
}

impl FleetLimits {
    /// Returns how a setting stands: as the worst of its limits.
    #[must_use]
    pub fn standing(&self, point: &PointEstimates) -> Standing {
        let loss = self.loss.map(|most| stand(&point.loss, most));
        let p99 = self.p99_ms.map(|most| stand(&point.p99, most));
        loss.into_iter().chain(p99).max().unwrap_or(Standing::Holds)
    }

    /// Returns the limits in words: `loss at most 1 %, p99 at most 50 ms`.
    #[must_use]
    pub fn text(&self) -> String {
        label::result(&self.settings()).unwrap_or_default()
    }

    /// Returns them as settings of a result.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let loss = self.loss.map(Setting::LossLimit);
        let p99 = |ms: f64| Setting::P99Limit(Duration::from_nanos(libm::round(ms * 1e6) as u64));
        loss.into_iter().chain(self.p99_ms.map(p99)).collect()
    }

    /// Returns which of the limits a setting does not keep by its estimates.
    #[must_use]
    pub fn broken(&self, point: &PointEstimates) -> Vec<&'static str> {
        let over = |e: &Estimate, most: Option<f64>| {
            most.is_some_and(|most| e.value.is_none_or(|value| value > most))
        };
        let mut broken = Vec::new();
        broken.extend(over(&point.loss, self.loss).then_some("loss"));
        broken.extend(over(&point.p99, self.p99_ms).then_some("p99"));
        broken
    }
}

/// Returns how an estimate stands to a limit. Where nothing arrived there is no latency, which is
/// no good one. An end of an interval that the sample cannot give excludes nothing.
fn stand(estimate: &Estimate, most: f64) -> Standing {
    let Some(value) = estimate.value else { return Standing::Fails };
    if value > most {
        let near = estimate.low.unwrap_or(f64::NEG_INFINITY);
        return if near > most { Standing::Fails } else { Standing::MayFail };
    }
    let far = estimate.high.unwrap_or(f64::INFINITY);
    if far <= most { Standing::Holds } else { Standing::MayHold }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn estimate(low: f64, value: f64, high: f64) -> Estimate {
        Estimate { value: Some(value), n: 100, low: Some(low), high: Some(high) }
    }

    #[test]
    fn a_setting_stands_as_its_worst_limit() {
        let limits = FleetLimits { loss: Some(0.01), p99_ms: Some(50.0) };
        let standing =
            |loss, p99| limits.standing(&PointEstimates { loss, p99, ..PointEstimates::default() });
        let (good, near) = (estimate(0.001, 0.002, 0.003), estimate(0.005, 0.009, 0.02));
        let fast = estimate(10.0, 12.0, 14.0);
        assert_eq!(standing(good, fast), Standing::Holds);
        assert_eq!(standing(near, fast), Standing::MayHold);
        assert_eq!(standing(near, estimate(45.0, 51.0, 60.0)), Standing::MayFail);
        assert_eq!(standing(estimate(0.011, 0.02, 0.03), fast), Standing::Fails);
        assert_eq!(standing(good, Estimate::default()), Standing::Fails);
        let open = Estimate { high: None, ..fast };
        assert_eq!(standing(good, open), Standing::MayHold);
        assert_eq!(limits.text(), "loss at most 1 %, p99 at most 50 ms");
    }
}

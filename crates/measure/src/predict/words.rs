//! Figures of a card in words.

use super::answer::p99_ms;
use super::card::{LimitShare, PredictionRow};
use super::point::PointEstimates;
use super::range::range_words;
use crate::cell::Estimate;
use crate::digits;
use crate::report::GlanceValue;
use alloc::format;
use alloc::string::String;

impl LimitShare {
    /// Returns the share in words: `waiting for the medium, 47 % of the latency`.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{}, {:.0} % of the {}", self.part, 100.0 * self.share, self.of)
    }
}

impl PredictionRow {
    /// Returns the devices' part of the busy time in words; never more than the whole reads.
    #[must_use]
    pub fn own_busy(&self) -> Option<String> {
        let GlanceValue { value, ci_low: low, ci_high: high, .. } =
            *self.channel_busy_percent.as_ref()?;
        let busy = Estimate { value: Some(value), n: 0, low, high };
        self.own_busy_percent.map(|it| digits::part_of(it, &busy))
    }

    /// Returns the range in words: `41`, or `not known beyond 30` where the model of the place ends there.
    #[must_use]
    pub fn range(&self) -> Option<String> {
        self.range_m.map(|it| range_words(it, self.range_is_bounded))
    }

    /// Returns the interval of the range in words; none where the range is not known.
    #[must_use]
    pub fn range_interval(&self) -> Option<String> {
        self.range_m.filter(|it| !self.range_is_bounded && *it > 0.0)?;
        digits::interval_in_two(self.range_low_m, self.range_high_m)
    }

    /// Tells whether an interval of the row has one end alone.
    #[must_use]
    pub fn has_open_interval(&self) -> bool {
        let cost = self.cost.as_ref();
        let of_cost = cost.into_iter().flat_map(|it| {
            [&it.own_air_percent, &it.round_trip_ms, &it.throughput_mbit_s, &it.charge_uc]
        });
        let all = [&self.loss_percent, &self.p99_ms, &self.life_days].into_iter().chain(of_cost);
        let range = self.range_m.filter(|it| !self.range_is_bounded && *it > 0.0);
        all.flatten().any(|it| is_open(it.ci_low, it.ci_high))
            || range.is_some_and(|_| is_open(self.range_low_m, self.range_high_m))
    }

    /// Returns the range in the middle of all places in words.
    #[must_use]
    pub fn range_median(&self) -> Option<String> {
        self.range_median_m.map(|it| range_words(it, self.range_median_is_bounded))
    }
}

const fn is_open(low: Option<f64>, high: Option<f64>) -> bool {
    low.is_some() != high.is_some()
}

/// Returns the 99th percentile of a point in words.
pub(super) fn p99(point: &PointEstimates) -> String {
    p99_ms(point).unwrap_or_else(|| "no latency".into())
}

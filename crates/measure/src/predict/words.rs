//! Figures of a card in words.

use super::answer::p99_ms;
use super::card::{LeadingFigure, LimitShare, Prediction, PredictionRow, QuestionKind};
use super::point::PointEstimates;
use super::range::{interval_words, range_words};
use super::report::PredictAnswer;
use crate::digits;
use crate::report::GlanceValue;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_stats::Estimate;

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

    /// Returns the ends of the range's interval that are known, in words.
    #[must_use]
    pub fn range_interval(&self) -> Option<String> {
        interval_words(self.range_m, [self.range_low_m, self.range_high_m])
    }

    /// Tells whether an interval of the row has one end alone.
    #[must_use]
    pub fn has_open_interval(&self) -> bool {
        let cost = self.cost.as_ref();
        let of_cost = cost.into_iter().flat_map(|it| {
            [&it.own_air_percent, &it.round_trip_ms, &it.throughput_mbit_s, &it.charge_uc]
        });
        let all = [&self.loss_percent, &self.p99_ms, &self.life_days].into_iter().chain(of_cost);
        let range = self.range_m.filter(|it| *it > 0.0);
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

impl LeadingFigure {
    /// Returns the figure of a point in words.
    pub(super) fn words(self, answer: &PredictAnswer, point: &PointEstimates) -> String {
        let days = || {
            // A datasheet's currents are worth two digits.
            let life = point.energy.as_ref()?.days(answer.battery.as_ref()?).value?;
            Some(format!("{} days", digits::two(life)))
        };
        let current = || {
            let value = point.energy.as_ref().and_then(|it| it.mean_ma.value);
            format!("{} mA", value.map(digits::two).unwrap_or_default())
        };
        match self {
            Self::Loss => {
                format!("{} %", digits::estimate(&point.loss.scaled(100.0)).unwrap_or_default())
            }
            Self::P99 => p99(point),
            Self::Current => days().unwrap_or_else(current),
        }
    }
}

/// Decimal places that are tried beyond those of the best value, to tell the next one from it.
const FURTHER: usize = 3;

/// Returns the decimal places with which the lowest of these values reads other than the next one: those that it is
/// worth, or more.
fn places(values: impl Iterator<Item = Estimate>) -> Option<usize> {
    let mut all: Vec<(f64, Estimate)> = values.filter_map(|it| Some((it.value?, it))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (first, estimate) = *all.first()?;
    let next = all.iter().map(|it| it.0).find(|it| *it > first)?;
    let worth = digits::worth_at_a_glance(first, estimate.low, estimate.high);
    let least = worth.split_once('.').map_or(0, |it| it.1.len());
    let differ = |places: &usize| format!("{first:.places$}") != format!("{next:.places$}");
    Some((least..=least + FURTHER).find(differ).unwrap_or(least))
}

/// Prints the 99th percentile of a rate's latency with as many decimal places as all rates have beside it, so that
/// their order shows, and its interval with as many; none where wake times are in doubt.
fn in_places(
    own: Estimate,
    all: impl Iterator<Item = Estimate>,
    is_in_doubt: bool,
) -> Option<(String, Option<String>)> {
    let places = places(all).filter(|_| !is_in_doubt)?;
    let ends = digits::interval_in_places(own.low, own.high, places);
    Some((format!("{:.places$}", own.value?), ends))
}

impl PredictAnswer {
    /// Prints the 99th percentile of a rate as all rates have it, and its interval; none where no rates are compared.
    pub(super) fn p99_in_places(&self, point: &PointEstimates) -> Option<(String, Option<String>)> {
        if !self.is_ranked() {
            return None;
        }
        let is_in_doubt = self.points.iter().any(PointEstimates::has_doubted_latency);
        in_places(point.p99, self.points.iter().map(|it| it.p99), is_in_doubt)
    }
}

impl Prediction {
    /// Prints the 99th percentile of a row as all rows have it, and its interval; none where no rates are compared.
    #[must_use]
    pub fn p99_in_places(&self, row: &PredictionRow) -> Option<(String, Option<String>)> {
        if !matches!(self.question, QuestionKind::Rate | QuestionKind::Profiles) {
            return None;
        }
        let estimate = |it: &GlanceValue| Estimate {
            value: Some(it.value),
            n: 0,
            low: it.ci_low,
            high: it.ci_high,
        };
        let all = self.rows.iter().filter_map(|it| it.p99_ms.as_ref()).map(estimate);
        let own = estimate(row.p99_ms.as_ref()?);
        in_places(own, all, self.rows.iter().any(|it| it.p99_is_in_doubt))
    }
}

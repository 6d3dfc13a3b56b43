//! The common form of every statistic: a value with its interval.

use serde::{Deserialize, Serialize};

/// A statistic with what is known of its uncertainty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The value; `None` where there were no observations.
    pub value: Option<f64>,
    /// Number of observations.
    pub n: u64,
    /// Lower end of the 95 % confidence interval, where one exists.
    pub low: Option<f64>,
    /// Upper end of the 95 % confidence interval, where one exists.
    pub high: Option<f64>,
}

impl Estimate {
    /// Returns it as the estimate of what is never below zero, such as a time or a rate: its interval ends there.
    #[must_use]
    pub fn not_negative(self) -> Self {
        let within = |end: Option<f64>| end.map(|it| it.max(0.0));
        Self { low: within(self.low), high: within(self.high), ..self }
    }

    /// Returns a count or an extreme value: exact for what was seen, without an interval.
    #[must_use]
    pub const fn exact(value: f64, n: u64) -> Self {
        Self { value: Some(value), n, low: None, high: None }
    }

    /// Returns an estimate that is never below zero with the interval of another one: about itself where it lies outside of
    /// that, as a rate over the whole time does where what comes after the last whole second takes long.
    #[must_use]
    pub fn with_spread_of(self, other: &Self) -> Self {
        let (Some(value), Some(low), Some(high)) = (self.value, other.low, other.high) else {
            return self;
        };
        let half = (high - low) / 2.0;
        let [low, high] = if (low..=high).contains(&value) {
            [low, high]
        } else {
            [(value - half).max(0.0), value + half]
        };
        Self { low: Some(low), high: Some(high), ..self }
    }

    /// Returns the estimate in another unit.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let (low, high) = if factor < 0.0 { (self.high, self.low) } else { (self.low, self.high) };
        Self {
            value: self.value.map(|v| v * factor),
            n: self.n,
            low: low.map(|v| v * factor),
            high: high.map(|v| v * factor),
        }
    }
}

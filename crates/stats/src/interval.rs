//! Confidence intervals for proportions, means, differences and ratios.
//!
//! Functions without `_at` give 95 %. Values that are not finite make the estimate `None`.

use crate::estimate::Estimate;
use crate::special::{normal_quantile, student_quantile};

/// Standard normal quantile for a two-sided 95 % interval.
pub const Z95: f64 = 1.959_963_984_540_054;

/// Returns a proportion `k` of `n` with its 95 % Wilson score interval (Wilson 1927, "Probable
/// inference, the law of succession, and statistical inference"; recommended for all n by Brown,
/// Cai and `DasGupta` 2001).
#[must_use]
pub fn wilson(k: u64, n: u64) -> Estimate {
    wilson_z(k, n, Z95)
}

/// Returns the proportion as [`wilson`] does, with another confidence, between 0 and 1.
#[must_use]
pub fn wilson_at(k: u64, n: u64, confidence: f64) -> Estimate {
    wilson_z(k, n, normal_quantile(0.5 + 0.5 * confidence))
}

fn wilson_z(k: u64, n: u64, z: f64) -> Estimate {
    if n == 0 || k > n || z.is_nan() {
        return Estimate { n, ..Estimate::default() };
    }
    Estimate { n, ..wilson_share(k as f64 / n as f64, n as f64, z) }
}

/// Returns the Wilson interval of a share of observations whose number need not be whole.
#[must_use]
pub fn wilson_share(p: f64, nf: f64, z: f64) -> Estimate {
    let z2 = z * z;
    let centre = (p + z2 / (2.0 * nf)) / (1.0 + z2 / nf);
    let half = z * libm::sqrt(p * (1.0 - p) / nf + z2 / (4.0 * nf * nf)) / (1.0 + z2 / nf);
    Estimate {
        value: Some(p),
        n: nf as u64,
        low: Some(if p <= 0.0 { 0.0 } else { (centre - half).clamp(0.0, p) }),
        high: Some(if p >= 1.0 { 1.0 } else { (centre + half).clamp(p, 1.0) }),
    }
}

/// Returns the arithmetic mean; `None` for no observations, or where one is not finite.
#[must_use]
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() {
        return None;
    }
    Some(values.iter().sum::<f64>() / values.len() as f64).filter(|m| m.is_finite())
}

/// Returns the standard deviation of the sample (n - 1 in the denominator); `None` for fewer than
/// two.
#[must_use]
pub fn stddev(values: &[f64]) -> Option<f64> {
    let m = mean(values)?;
    if values.len() < 2 {
        return None;
    }
    let sum: f64 = values.iter().map(|v| (v - m) * (v - m)).sum();
    Some(libm::sqrt(sum / (values.len() - 1) as f64)).filter(|s| s.is_finite())
}

/// Returns the mean of a few observations that are close to normal (seconds of a rate, say), with
/// its 95 % Student t interval (Student 1908, "The probable error of a mean"). One observation has
/// no interval.
#[must_use]
pub fn mean_t(values: &[f64]) -> Estimate {
    mean_t_at(values, 0.95)
}

/// Returns the mean as [`mean_t`] does, with another confidence, between 0 and 1.
#[must_use]
pub fn mean_t_at(values: &[f64], confidence: f64) -> Estimate {
    let n = values.len();
    let value = mean(values);
    let half = stddev(values).map(|s| {
        let t = student_quantile(0.5 + 0.5 * confidence, (n - 1) as f64);
        // No spread at all needs no quantile (and 0 times infinity is not a number).
        if s == 0.0 { 0.0 } else { t * s / libm::sqrt(n as f64) }
    });
    let end = |sign: f64| Some(value? + sign * half?).filter(|v| !v.is_nan());
    Estimate { value, n: n as u64, low: end(-1.0), high: end(1.0) }
}

/// Returns `a - b` with the interval that follows from the two intervals, by the method of variance
/// estimates recovery (Zou and Donner 2008, "Construction of confidence limits about effect
/// measures"). From two Wilson intervals it is Newcombe's hybrid score interval (Newcombe 1998,
/// "Interval estimation for the difference between independent proportions", method 10).
///
/// The two must be independent. An estimate without any interval counts as a known number; a
/// single missing end makes the ends that need it `None`. `n` is the smaller of the two.
#[must_use]
pub fn difference(a: &Estimate, b: &Estimate) -> Estimate {
    let n = a.n.min(b.n);
    let (Some(va), Some(vb)) = (a.value, b.value) else {
        return Estimate { n, ..Estimate::default() };
    };
    let (a, b) = (ends(a, va), ends(b, vb));
    let low = |la: f64, ub: f64| va - vb - libm::hypot(va - la, ub - vb);
    let high = |ua: f64, lb: f64| va - vb + libm::hypot(ua - va, vb - lb);
    Estimate {
        value: finite(va - vb),
        n,
        low: a.0.zip(b.1).and_then(|(la, ub)| finite(low(la, ub))),
        high: a.1.zip(b.0).and_then(|(ua, lb)| finite(high(ua, lb))),
    }
}

/// Returns `a / b` with the interval that follows from the two intervals: MOVER-R (Donner and Zou
/// 2012, "Closed-form confidence intervals for functions of the normal mean and standard
/// deviation", Statistical Methods in Medical Research 21(4), section on ratios). For quantities
/// that cannot be negative: lower ends below 0 count as 0.
///
/// Their limits are the roots of a quadratic; the lower one is written here as C / (B + sqrt(D))
/// instead of (B - sqrt(D)) / A, which is the same number and stays defined where A is 0 or less.
/// The upper end is `None` where the interval of `b` reaches 0: the ratio is then unbounded.
/// Missing ends and missing intervals as in [`difference`].
#[must_use]
pub fn ratio(a: &Estimate, b: &Estimate) -> Estimate {
    let n = a.n.min(b.n);
    let none = Estimate { n, ..Estimate::default() };
    let (Some(va), Some(vb)) = (a.value, b.value) else { return none };
    let positive = va >= 0.0 && vb > 0.0 && va.is_finite() && vb.is_finite();
    if !positive {
        return none;
    }
    let (a, b) = (ends(a, va), ends(b, vb));
    let cross = va * vb;
    let root = |p: f64, q: f64| libm::sqrt((cross * cross - p * q).max(0.0));
    let low = |la: f64, ub: f64| {
        let (p, q) = (la.max(0.0) * (2.0 * va - la.max(0.0)), ub * (2.0 * vb - ub));
        if cross == 0.0 { Some(0.0) } else { finite(p / (cross + root(p, q))) }
    };
    let high = |ua: f64, lb: f64| {
        let (p, q) = (ua * (2.0 * va - ua), lb.max(0.0) * (2.0 * vb - lb.max(0.0)));
        if q > 0.0 { finite((cross + root(p, q)) / q) } else { None }
    };
    let value = finite(va / vb);
    Estimate {
        value,
        n,
        // Rounding must not push an end across the value.
        low: a.0.zip(b.1).and_then(|(la, ub)| Some(low(la, ub)?.min(value?))),
        high: a.1.zip(b.0).and_then(|(ua, lb)| Some(high(ua, lb)?.max(value?))),
    }
}

/// Returns the ends of an interval; the value itself where there is no interval at all.
fn ends(e: &Estimate, value: f64) -> (Option<f64>, Option<f64>) {
    if e.low.is_none() && e.high.is_none() {
        return (Some(value), Some(value));
    }
    (e.low.map(|low| low.min(value)), e.high.map(|high| high.max(value)))
}

fn finite(v: f64) -> Option<f64> {
    Some(v).filter(|v| v.is_finite())
}

/// Returns Jain's fairness index: 1 where all shares are equal, 1/n where one device has everything
/// (Jain, Chiu and Hawe 1984, "A quantitative measure of fairness and discrimination", DEC-TR-301).
/// Returns `None` where every share is zero.
#[must_use]
pub fn fairness(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests;

//! Special functions under the intervals: incomplete beta, normal and Student distributions.
//!
//! Each is checked against `SciPy` in its tests. Arguments that are not numbers give answers that
//! are not numbers; nothing here panics or loops without end.

use core::f64::consts::PI;

/// ln(2 pi).
const LN_2PI: f64 = 1.837_877_066_409_345_5;

/// Returns the distribution function of the standard normal distribution at `z`.
#[must_use]
pub fn normal_cdf(z: f64) -> f64 {
    0.5 * libm::erfc(-z * core::f64::consts::FRAC_1_SQRT_2)
}

/// Returns the quantile of the standard normal distribution: negative infinity at 0, infinity at 1.
///
/// Starts from Abramowitz and Stegun 26.2.23 (error below 4.5e-4) and refines by Halley's method,
/// whose error goes with the third power: three steps reach the precision of a double.
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    let tail = p.min(1.0 - p);
    if tail == 0.0 {
        return if p < 0.5 { f64::NEG_INFINITY } else { f64::INFINITY };
    }
    let t = libm::sqrt(-2.0 * libm::log(tail));
    let upper = t
        - (2.515_517 + t * (0.802_853 + t * 0.010_328))
            / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)));
    // On the lower tail, where the distribution function has full relative precision.
    let mut z = -upper;
    for _ in 0..3 {
        let density = libm::exp(-0.5 * z * z) / libm::sqrt(2.0 * PI);
        let step = (normal_cdf(z) - tail) / density;
        z -= step / (1.0 + 0.5 * z * step);
    }
    if p < 0.5 { z } else { -z }
}

/// Returns the error of Stirling's formula, ln(n!) - ln(sqrt(2 pi n) (n/e)^n), for n above 0
/// (Loader 2000, "Fast and accurate computation of binomial probabilities").
fn stirling_error(n: f64) -> f64 {
    if n <= 15.0 {
        return libm::lgamma(n + 1.0) - (n + 0.5) * libm::log(n) + n - 0.5 * LN_2PI;
    }
    let n2 = n * n;
    (1.0 / 12.0
        - (1.0 / 360.0 - (1.0 / 1260.0 - (1.0 / 1680.0 - 1.0 / 1188.0 / n2) / n2) / n2) / n2)
        / n
}

/// Returns x ln(x / m) + m - x without cancellation near x = m (Loader 2000).
fn deviance(x: f64, m: f64) -> f64 {
    if libm::fabs(x - m) >= 0.1 * (x + m) {
        return x * libm::log(x / m) + m - x;
    }
    let v = (x - m) / (x + m);
    let mut sum = (x - m) * v;
    let mut term = 2.0 * x * v;
    for j in 1..1000 {
        term *= v * v;
        let next = sum + term / f64::from(2 * j + 1);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// Returns the binomial probability of `x` out of `n` with success probability `p` and `q` = 1 - p,
/// also for numbers that are not whole (Loader 2000, the saddle-point expansion: relative error
/// near 1e-14 at any size).
#[must_use]
pub fn binomial_density(x: f64, n: f64, p: f64, q: f64) -> f64 {
    if !(x >= 0.0 && x <= n) {
        return if x.is_nan() || n.is_nan() { f64::NAN } else { 0.0 };
    }
    if p == 0.0 || q == 0.0 {
        let certain = if p == 0.0 { 0.0 } else { n };
        return if x == certain { 1.0 } else { 0.0 };
    }
    if x == 0.0 {
        return libm::exp(n * log_of_complement(p, q));
    }
    if x == n {
        return libm::exp(n * log_of_complement(q, p));
    }
    let core = stirling_error(n)
        - stirling_error(x)
        - stirling_error(n - x)
        - deviance(x, n * p)
        - deviance(n - x, n * q);
    libm::exp(core - 0.5 * (LN_2PI + libm::log(x) + libm::log1p(-x / n)))
}

/// Returns ln(q) where q = 1 - p, by whichever of the two keeps the digits.
fn log_of_complement(p: f64, q: f64) -> f64 {
    if p < 0.5 { libm::log1p(-p) } else { libm::log(q) }
}

/// Returns the regularized incomplete beta function `I_x(a, b)`, with `y` = 1 - x given apart so
/// that neither loses digits near 1. For `a` and `b` above 0 and up to some 1e8.
///
/// The continued fraction of NIST DLMF 8.17.22 by Lentz's method (Thompson and Barnett 1986), on the
/// side where it converges fast; its factor from [`binomial_density`], which stays exact for large
/// `a` and `b` where differences of log-gammas do not. Takes some sqrt(max(a, b)) steps.
#[must_use]
pub fn incomplete_beta(a: f64, b: f64, x: f64, y: f64) -> f64 {
    if !(a > 0.0 && b > 0.0) || x.is_nan() || y.is_nan() {
        return f64::NAN;
    }
    if x <= 0.0 {
        return 0.0;
    }
    if y <= 0.0 {
        return 1.0;
    }
    if x > (a + 1.0) / (a + b + 2.0) {
        return 1.0 - beta_fraction(b, a, y, x);
    }
    beta_fraction(a, b, x, y)
}

/// Returns the factor x^a y^b / (a B(a, b)) times the continued fraction.
fn beta_fraction(a: f64, b: f64, x: f64, y: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |v: f64| if libm::fabs(v) < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for m in 1..200_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / away_from_zero(1.0 + even * d);
        c = away_from_zero(1.0 + even / c);
        fraction *= c * d;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / away_from_zero(1.0 + odd * d);
        c = away_from_zero(1.0 + odd / c);
        fraction *= c * d;
        if libm::fabs(c * d - 1.0) < 1e-15 {
            break;
        }
    }
    binomial_density(a, a + b, x, y) * b / (a + b) * fraction
}

/// Returns the quantile of Student's t distribution with `freedom` degrees of freedom (any number
/// above 0).
///
/// The two-sided tail is `I_{v/(v+t^2)}(v/2, 1/2)` (Abramowitz and Stegun 26.7.1 with 26.5.27);
/// inverted by bisection, which cannot fail.
#[must_use]
pub fn student_quantile(p: f64, freedom: f64) -> f64 {
    if p.is_nan() || !(0.0..=1.0).contains(&p) || freedom.is_nan() || freedom <= 0.0 {
        return f64::NAN;
    }
    let two_tails = 2.0 * p.min(1.0 - p);
    let sign = if p < 0.5 { -1.0 } else { 1.0 };
    if two_tails == 0.0 {
        return sign * f64::INFINITY;
    }
    let tail_beyond = |t: f64| {
        let total = freedom + t * t;
        incomplete_beta(0.5 * freedom, 0.5, freedom / total, t * t / total)
    };
    let (mut low, mut high) = (0.0, 2.0);
    while tail_beyond(high) > two_tails && high < 1e100 {
        low = high;
        high *= 2.0;
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if tail_beyond(middle) > two_tails {
            low = middle;
        } else {
            high = middle;
        }
    }
    sign * 0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(got: f64, wanted: f64, relative: f64) {
        assert!(
            libm::fabs(got - wanted) <= relative * libm::fabs(wanted).max(1e-300),
            "got {got:e}, wanted {wanted:e}"
        );
    }

    #[test]
    fn normal_quantile_as_scipy_stats_norm_ppf_1_17() {
        for (p, wanted) in [
            (1e-10, -6.361_340_902_404_056),
            (0.001, -3.090_232_306_167_813),
            (0.025, -1.959_963_984_540_054_5),
            (0.2, -0.841_621_233_572_914_2),
            (0.7, 0.524_400_512_708_040_7),
            (0.975, 1.959_963_984_540_054),
            (0.9999, 3.719_016_485_455_709),
        ] {
            close(normal_quantile(p), wanted, 1e-13);
            close(normal_cdf(wanted), p, 1e-13);
        }
        assert!(libm::fabs(normal_quantile(0.5)) < 1e-16);
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
        assert!(normal_quantile(-0.1).is_nan() && normal_quantile(f64::NAN).is_nan());
    }

    #[test]
    fn far_tails_keep_their_digits() {
        // mpmath 1.3, forty digits.
        close(normal_quantile(1e-300), -37.047_096_299_361_2, 1e-13);
        close(normal_quantile(0.499_99), -2.506_628_274_893_494e-5, 1e-10);
    }

    #[test]
    fn density_at_the_ends_is_a_power() {
        for (p, q) in [(0.001, 0.999), (0.3, 0.7), (0.5, 0.5), (0.7, 0.3)] {
            close(binomial_density(0.0, 10.0, p, q), libm::pow(q, 10.0), 1e-13);
            close(binomial_density(10.0, 10.0, p, q), libm::pow(p, 10.0), 1e-13);
        }
        // 1 - 1e-20 is 1 in a double: the small one of the two keeps the digits.
        close(-libm::log(binomial_density(0.0, 1e18, 1e-20, 1.0)), 0.01, 1e-13);
        close(-libm::log(binomial_density(1e18, 1e18, 1.0, 1e-20)), 0.01, 1e-13);
        for (x, wanted) in [(0.0, [1.0, 0.0]), (4.0, [0.0, 0.0]), (10.0, [0.0, 1.0])] {
            let got = [(0.0, 1.0), (1.0, 0.0)].map(|(p, q)| binomial_density(x, 10.0, p, q));
            assert_eq!(got, wanted, "{x}");
        }
        assert_eq!(binomial_density(-1.0, 10.0, 0.5, 0.5), 0.0);
        assert_eq!(binomial_density(11.0, 10.0, 0.5, 0.5), 0.0);
        assert!(binomial_density(f64::NAN, 10.0, 0.5, 0.5).is_nan());
        assert!(binomial_density(1.0, f64::NAN, 0.5, 0.5).is_nan());
    }

    #[test]
    fn incomplete_beta_refuses_each_argument_that_is_none() {
        for (a, b, x, y) in [
            (0.0, 3.0, 0.5, 0.5),
            (3.0, 0.0, 0.5, 0.5),
            (3.0, -1.0, 0.5, 0.5),
            (3.0, f64::NAN, 0.5, 0.5),
            (3.0, 3.0, f64::NAN, 0.5),
            (3.0, 3.0, 0.5, f64::NAN),
        ] {
            assert!(incomplete_beta(a, b, x, y).is_nan(), "{a} {b} {x} {y}");
        }
    }

    /// mpmath 1.3, forty digits.
    #[test]
    fn stirling_error_on_both_sides_of_the_series() {
        for (n, wanted) in [
            (0.5, 0.153_426_409_720_027_35),
            (1.0, 0.081_061_466_795_327_26),
            (2.0, 0.041_340_695_955_409_3),
            (7.5, 0.011_104_559_758_206_917),
            (15.0, 0.005_554_733_551_962_801),
        ] {
            close(stirling_error(n), wanted, 2e-12);
        }
        for (n, wanted) in [
            (15.5, 0.005_375_599_032_926_835),
            (16.0, 0.005_207_655_919_609_64),
            (20.0, 0.004_166_319_691_996_922),
            (100.0, 0.000_833_330_555_634_914_7),
        ] {
            close(stirling_error(n), wanted, 1e-13);
        }
    }

    /// mpmath 1.3, forty digits.
    #[test]
    fn deviance_near_and_far() {
        for (x, m, wanted) in [
            (10.0, 10.5, 0.012_098_358_305_679_97),
            (10.0, 9.5, 0.012_932_943_875_505_334),
            (10.0, 11.9, 0.160_466_928_765_619_88),
            (10.0, 12.3, 0.229_858_306_156_738_86),
            (90.0, 110.5, 2.031_473_443_521_180_4),
            (1000.0, 1001.0, 0.000_499_666_916_466_833_2),
            (5.0, 1.0, 4.047_189_562_170_502),
            (1.0, 5.0, 2.390_562_087_565_899_6),
        ] {
            close(deviance(x, m), wanted, 1e-13);
        }
    }

    #[test]
    fn incomplete_beta_as_scipy_special_betainc_1_17() {
        for (a, b, x, wanted) in [
            (0.5, 0.5, 0.3, 0.369_010_119_565_545_36),
            (2.0, 3.0, 0.4, 0.524_799_999_999_999_9),
            (10.0, 0.5, 0.9, 0.151_640_909_634_709_94),
            (500.0, 700.0, 0.42, 0.593_766_445_482_613_4),
            (5e6, 5e6, 0.5001, 0.736_455_368_468_594_6),
            (1.0, 1.0, 0.25, 0.25),
            (30.0, 2.0, 0.99, 0.961_610_485_404_764_5),
        ] {
            close(incomplete_beta(a, b, x, 1.0 - x), wanted, 1e-10);
        }
        assert_eq!(incomplete_beta(2.0, 3.0, 0.0, 1.0), 0.0);
        assert_eq!(incomplete_beta(2.0, 3.0, 1.0, 0.0), 1.0);
        assert!(incomplete_beta(f64::NAN, 3.0, 0.5, 0.5).is_nan());
        assert!(incomplete_beta(-1.0, 3.0, 0.5, 0.5).is_nan());
    }

    #[test]
    fn certain_quantiles_of_student_are_infinite() {
        assert_eq!(student_quantile(0.0, 5.0), f64::NEG_INFINITY);
        assert_eq!(student_quantile(1.0, 5.0), f64::INFINITY);
    }

    #[test]
    fn student_quantile_as_scipy_stats_t_ppf_1_17() {
        for (freedom, p975, p995) in [
            (1.0, 12.706_204_736_174_694, 63.656_741_162_871_526),
            (2.0, 4.302_652_729_749_462, 9.924_843_200_918_287),
            (2.5, 3.574_654_842_003_681_7, 7.163_728_138_948_783),
            (4.0, 2.776_445_105_197_793_4, 4.604_094_871_349_992),
            (9.0, 2.262_157_162_798_205, 3.249_835_541_592_126),
            (30.0, 2.042_272_456_301_237_8, 2.749_995_653_567_225_4),
            (999.0, 1.962_341_461_133_449_3, 2.580_759_637_267_636_5),
            (1e6, 1.959_966_356_814_107, 2.575_834_220_105_334_4),
        ] {
            close(student_quantile(0.975, freedom), p975, 1e-9);
            close(student_quantile(0.995, freedom), p995, 1e-9);
            close(student_quantile(0.025, freedom), -p975, 1e-9);
        }
        assert_eq!(student_quantile(1.0, 3.0), f64::INFINITY);
        assert!(student_quantile(0.975, 0.0).is_nan() && student_quantile(2.0, 3.0).is_nan());
    }
}

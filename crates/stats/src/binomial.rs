//! The binomial distribution, exact for samples of ten million.

use crate::special::{binomial_density, incomplete_beta, normal_quantile};

/// Returns the probability of exactly `k` successes in `n` trials of probability `p`.
#[must_use]
pub fn pmf(k: u64, n: u64, p: f64) -> f64 {
    binomial_density(k as f64, n as f64, p, 1.0 - p)
}

/// Returns the probability of at most `k` successes: `I_{1-p}(n - k, k + 1)` (NIST DLMF 8.17.5).
#[must_use]
pub fn cdf(k: u64, n: u64, p: f64) -> f64 {
    if k >= n { 1.0 } else { incomplete_beta((n - k) as f64, k as f64 + 1.0, 1.0 - p, p) }
}

/// Returns the smallest `k` with `cdf(k, n, p) >= probability`.
///
/// Starts from the normal distribution with the Cornish-Fisher correction for skewness (Cornish and
/// Fisher 1938), which is off by a rank or two for central probabilities, and walks to the exact
/// answer by single probabilities.
#[must_use]
pub fn quantile(probability: f64, n: u64, p: f64) -> u64 {
    if !(p > 0.0 && probability > 0.0) {
        return 0;
    }
    if p >= 1.0 || probability >= 1.0 {
        return n;
    }
    let mut k = first_guess(probability, n, p);
    let mut reached = cdf(k, n, p);
    if reached < probability {
        while reached < probability && k < n {
            k += 1;
            reached += pmf(k, n, p);
        }
        return k;
    }
    while k > 0 {
        let below = reached - pmf(k, n, p);
        if below < probability {
            break;
        }
        k -= 1;
        reached = below;
    }
    k
}

fn first_guess(probability: f64, n: u64, p: f64) -> u64 {
    let z = normal_quantile(probability);
    let nf = n as f64;
    let sd = libm::sqrt(nf * p * (1.0 - p));
    let skewness = if sd > 0.0 { (1.0 - 2.0 * p) / sd } else { 0.0 };
    let guess = libm::floor(nf * p + sd * (z + skewness * (z * z - 1.0) / 6.0));
    // The conversion of a float saturates, so a strange guess lands on an end.
    (guess.max(0.0) as u64).min(n)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_scipy_stats_binom_1_17() {
        for (n, p, k, wanted_cdf, wanted_pmf) in [
            (10, 0.5, 3, 0.171_875, 0.117_187_5),
            (100, 0.99, 98, 0.264_238_021_077_043_9, 0.184_864_818_824_863_44),
            (1000, 0.5, 480, 0.108_724_146_602_070_75, 0.011_340_982_371_187_717),
            (1000, 0.999, 997, 0.080_209_342_840_201_18, 0.061_282_509_389_840_784),
            (100_000, 0.99, 98_950, 0.058_700_915_299_062_23, 0.003_573_128_850_099_024_7),
            (10_000_000, 0.5, 4_998_000, 0.103_008_301_397_519_64, 0.000_113_371_656_061_834_52),
            (10_000_000, 0.999, 9_990_050, 0.692_873_816_868_903_7, 0.003_530_036_541_188_888_7),
            (10_000_000, 0.9999, 9_998_950, 0.059_619_068_933_258_905, 0.003_599_229_415_362_222),
            (10_000_000, 1e-6, 4, 0.029_252_631_318_649_046, 0.018_916_607_134_413_18),
        ] {
            let (c, m) = (cdf(k, n, p), pmf(k, n, p));
            assert!(libm::fabs(c / wanted_cdf - 1.0) < 1e-9, "cdf {n} {p} {k}: {c}");
            assert!(libm::fabs(m / wanted_pmf - 1.0) < 1e-9, "pmf {n} {p} {k}: {m}");
        }
    }

    #[test]
    fn quantile_is_the_smallest_that_reaches() {
        for (n, p) in [(1, 0.5), (7, 0.99), (50, 0.1), (1000, 0.999), (10_000_000, 0.9)] {
            for probability in [1e-6, 0.025, 0.3, 0.5, 0.975, 0.999_999] {
                let k = quantile(probability, n, p);
                assert!(cdf(k, n, p) >= probability * (1.0 - 1e-12), "{n} {p} {probability}");
                assert!(k == 0 || cdf(k - 1, n, p) < probability * (1.0 + 1e-12));
            }
        }
    }

    /// The walk from the guess to the answer is short: it is what makes ten million trials cheap.
    #[test]
    fn guess_is_near_for_central_probabilities() {
        for (n, p) in [(100, 0.5), (1000, 0.9), (1000, 0.02), (100_000, 0.999), (10_000_000, 0.5)] {
            for probability in [0.01, 0.025, 0.3, 0.5, 0.975, 0.99] {
                let guess = first_guess(probability, n, p);
                let exact = quantile(probability, n, p);
                assert!(guess.abs_diff(exact) <= 2, "{n} {p} {probability}: {guess} {exact}");
            }
        }
        assert_eq!(first_guess(1e-9, 10, 0.5), 0, "none below the smallest");
        assert_eq!(first_guess(1.0 - 1e-9, 10, 0.5), 10, "none above the greatest");
    }

    /// Cases in which the guess lies above the answer, so that the walk goes down (scipy.stats.binom.ppf 1.17).
    #[test]
    fn quantile_below_the_guess() {
        for (n, p, probability, exact) in [
            (5, 0.001, 0.999_999, 2),
            (5, 0.001, 1e-9, 0),
            (5, 0.01, 0.999, 1),
            (5, 0.01, 0.999_999, 3),
            (5, 0.05, 0.999_999, 4),
        ] {
            assert!(first_guess(probability, n, p) > exact);
            assert_eq!(quantile(probability, n, p), exact, "{n} {p} {probability}");
        }
    }

    /// Checks the ends: all of a hundred trials may succeed, though that is rarer than rounding shows.
    #[test]
    fn certainty_is_reached_at_the_ends() {
        assert_eq!((quantile(1.0, 100, 0.5), quantile(0.0, 100, 0.5)), (100, 0));
        assert_eq!((quantile(0.5, 100, 1.0), quantile(0.5, 100, 0.0)), (100, 0));
    }

    #[test]
    fn strange_arguments_answer() {
        assert_eq!(quantile(f64::NAN, 10, 0.5), 0);
        assert_eq!(quantile(0.5, 10, f64::NAN), 0);
        assert_eq!(quantile(0.5, 10, 0.0), 0);
        assert_eq!(quantile(0.5, 10, 1.0), 10);
        assert_eq!(quantile(0.5, 0, 0.5), 0);
        assert_eq!(pmf(3, 3, 1.0), 1.0);
        assert_eq!(pmf(2, 3, 1.0), 0.0);
        assert_eq!(cdf(0, 0, 0.5), 1.0);
        // Without an answer, but not without an end.
        assert!(cdf(1, 10, f64::NAN).is_nan());
    }
}

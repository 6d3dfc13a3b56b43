//! Random numbers for radio: normal deviates, and numbers that belong to a pair of nodes.

use core::f64::consts::TAU;

use crate::random::{Purpose, RngStream};

/// Returns a normal deviate with mean 0 and standard deviation 1, made from 64 random bits (Box and
/// Muller 1958, "A note on the generation of random normal deviates"). The radius comes from the
/// upper 32 bits, so no number lies beyond 6.8 deviations.
#[must_use]
pub fn normal(bits: u64) -> f64 {
    const STEP: f64 = 1.0 / 4_294_967_296.0;
    let radius = ((bits >> 32) as f64 + 0.5) * STEP;
    let angle = (bits as u32) as f64 * STEP;
    libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(TAU * angle)
}

/// Returns 64 random bits that belong to two nodes, equal in both directions.
#[must_use]
pub fn of_pair(seed: u64, one: u32, other: u32, purpose: Purpose) -> u64 {
    let (low, high) = if one < other { (one, other) } else { (other, one) };
    let seed = RngStream::stream(seed, low, purpose).bits();
    RngStream::stream(seed, high, purpose).bits()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_numbers_have_their_moments() {
        let mut random = RngStream::stream(1, 0, Purpose::Shadow);
        let all: std::vec::Vec<f64> = (0..40_000).map(|_| normal(random.bits())).collect();
        let moment = |power: i32| all.iter().map(|x| x.powi(power)).sum::<f64>() / 4e4;
        // The moments are 0, 1, 0, 3; the deviations of these means are 0.005, 0.007, 0.019, 0.049.
        assert!(moment(1).abs() < 0.02, "{}", moment(1));
        assert!((moment(2) - 1.0).abs() < 0.03, "{}", moment(2));
        assert!(moment(3).abs() < 0.08, "{}", moment(3));
        assert!((moment(4) - 3.0).abs() < 0.2, "{}", moment(4));
        let beyond = all.iter().filter(|x| x.abs() > 1.96).count();
        // 5 % are expected, 2000; the deviation is 44.
        assert!((1820..2180).contains(&beyond), "{beyond}");
        assert!(normal(0).is_finite() && normal(u64::MAX).is_finite());
        assert!(normal(0) > 6.6);
    }

    #[test]
    fn a_pair_has_one_number() {
        let of = |seed, a, b| of_pair(seed, a, b, Purpose::Shadow);
        assert_eq!(of(1, 2, 3), of(1, 3, 2));
        assert_ne!(of(1, 2, 3), of(2, 2, 3));
        assert_ne!(of(1, 2, 3), of(1, 2, 4));
        assert_ne!(of(1, 2, 3), of(1, 1, 3));
    }
}

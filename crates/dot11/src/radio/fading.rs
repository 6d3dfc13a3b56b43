//! Fading: the loss of a link that changes while its two ends stand still, because people, doors and
//! vehicles move around them.
//!
//! Fast fading comes from paths that add up with other phases after a movement of centimetres. The
//! received power is gamma distributed (Nakagami 1960, "The m-distribution"; ns-3's
//! `NakagamiPropagationLossModel`): `m` is 1 where no path prevails (Rayleigh), (1 + K)^2 / (1 + 2 K)
//! where one does (Rice), and greater by the number of independent fades within the bandwidth of a
//! channel. Slow fading comes from bodies and doors in the way: its decibels are normally
//! distributed.
//!
//! Both are block fading (Ozarow, Shamai, Wyner 1994): a link keeps its gain for a block of time and
//! then gets another one, independently. The blocks of each pair begin at times of its own, so the
//! autocorrelation of the gain falls linearly, to one half after the coherence time. A gain is a
//! function of the seed, the two nodes and the time only: it is equal in both directions, and nobody
//! else's frames change it.

use super::chance::{normal, of_pair};
use crate::random::Purpose;
use alloc::sync::Arc;
use alloc::vec::Vec;
use espbench_model::random::split_mix;

/// Fast fading of an environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FastFading {
    /// The shape of the distribution of power, 0.5 and more: the greater, the less it fades.
    pub nakagami_m: f64,
    /// The time after which the autocorrelation has fallen to one half, in nanoseconds.
    pub coherence_ns: u64,
}

/// Slow fading of an environment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowFading {
    /// The standard deviation of the gain in dB.
    pub deviation_db: f64,
    /// The time after which the autocorrelation has fallen to one half, in nanoseconds.
    pub coherence_ns: u64,
}

impl FastFading {
    /// Returns equally likely gains of a link, in dB: so many quantiles of their distribution.
    #[must_use]
    pub fn quantiles_db(&self, parts: usize) -> Vec<f64> {
        let all = gamma_gains_db(self.nakagami_m);
        let parts = parts.clamp(1, all.len());
        let middle = |part: usize| (2 * part + 1) * all.len() / (2 * parts);
        (0..parts).filter_map(|part| all.get(middle(part))).map(|&it| f64::from(it)).collect()
    }
}

/// The fading of all links of a place.
#[derive(Clone, Debug)]
pub struct LinkFading {
    seed: u64,
    fast: Option<(BlockClock, Arc<[f32]>)>,
    slow: Option<(BlockClock, f64)>,
}

impl LinkFading {
    /// Returns the fading of a place; `None` if there is none of either kind.
    #[must_use]
    pub fn new(seed: u64, fast: Option<FastFading>, slow: Option<SlowFading>) -> Option<Self> {
        let fast = fast.map(|it| (BlockClock::new(it.coherence_ns), gamma_gains_db(it.nakagami_m)));
        let slow = slow
            .filter(|it| it.deviation_db > 0.0)
            .map(|it| (BlockClock::new(it.coherence_ns), it.deviation_db));
        (fast.is_some() || slow.is_some()).then_some(Self { seed, fast, slow })
    }

    /// Returns the time in nanoseconds between two looks at the gains that miss little: a quarter of
    /// the shortest block.
    #[must_use]
    pub fn period_ns(&self) -> u64 {
        let blocks = [self.fast.as_ref().map(|it| it.0), self.slow.map(|it| it.0)];
        let shortest = blocks.into_iter().flatten().map(|it| it.block_ns).min();
        (shortest.unwrap_or(u64::MAX) / 4).max(1)
    }

    /// Returns the gain of a link at a time in nanoseconds, in dB: negative in a fade.
    #[must_use]
    pub fn gain_db(&self, one: u32, other: u32, now_ns: u64) -> f64 {
        let fast = self.fast.as_ref().map_or(0.0, |(clock, gains)| {
            let bits = clock.bits(of_pair(self.seed, one, other, Purpose::FastFading), now_ns);
            f64::from(gains[(bits >> (u64::BITS - GAIN_BITS)) as usize])
        });
        let slow = self.slow.map_or(0.0, |(clock, deviation_db)| {
            let pair = of_pair(self.seed, one, other, Purpose::SlowFading);
            deviation_db * normal(clock.bits(pair, now_ns))
        });
        fast + slow
    }
}

/// The blocks of time in which the gain of a link is constant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct BlockClock {
    block_ns: u64,
}

impl BlockClock {
    /// Returns blocks of twice the coherence time: two times that far apart are in one block with a
    /// probability of one half.
    const fn new(coherence_ns: u64) -> Self {
        let block_ns = coherence_ns.saturating_mul(2);
        Self { block_ns: if block_ns == 0 { 1 } else { block_ns } }
    }

    /// Returns the random bits of a pair's block at a time.
    const fn bits(self, pair: u64, now_ns: u64) -> u64 {
        let block = now_ns.saturating_add(pair % self.block_ns) / self.block_ns;
        let mut state = pair ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        split_mix(&mut state)
    }
}

/// The number of random bits that choose a gain.
const GAIN_BITS: u32 = 12;

/// Returns the quantiles of the gamma distribution with mean 1 and shape `m`, in dB, at the middles
/// of equally likely parts.
fn gamma_gains_db(m: f64) -> Arc<[f32]> {
    /// Steps of the numerical integration, over the natural logarithm of the gain.
    const STEP: f64 = 1e-3;
    let parts = 1_usize << GAIN_BITS;
    let m = if m.is_finite() { m.clamp(0.5, 1000.0) } else { 1000.0 };
    let scale = m * libm::log(m) - libm::lgamma(m);
    // Below, less than a millionth of the probability is left for every m from 0.5.
    let (mut below, mut log) = (0.0, -30.0);
    let mut gains: Vec<f32> = Vec::with_capacity(parts);
    while gains.len() < parts && log < 5.0 {
        log += STEP;
        // The density of the logarithm: x^m e^(-m x) m^m / gamma(m).
        below += STEP * libm::exp(scale + m * (log - libm::exp(log)));
        while gains.len() < parts && below >= (gains.len() as f64 + 0.5) / parts as f64 {
            gains.push((log * 10.0 / core::f64::consts::LN_10) as f32);
        }
    }
    let last = gains.last().copied().unwrap_or(0.0);
    gains.resize(parts, last);
    gains.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MS: u64 = 1_000_000;

    fn fast(nakagami_m: f64) -> LinkFading {
        let fading = FastFading { nakagami_m, coherence_ns: 50 * MS };
        LinkFading::new(7, Some(fading), None).unwrap()
    }

    fn slow(deviation_db: f64) -> LinkFading {
        let fading = SlowFading { deviation_db, coherence_ns: 60_000 * MS };
        LinkFading::new(7, None, Some(fading)).unwrap()
    }

    /// Returns the gains of many links at one time, as factors.
    fn factors(fading: &LinkFading) -> Vec<f64> {
        (1..20_000).map(|other| libm::pow(10.0, fading.gain_db(0, other, 0) / 10.0)).collect()
    }

    #[test]
    fn rayleigh_fading_loses_what_the_exponential_distribution_says() {
        let all = factors(&fast(1.0));
        let below = |factor: f64| all.iter().filter(|it| **it < factor).count() as f64 / 2e4;
        // 1 - exp(-x): 1 % is below -20 dB, 9.5 % below -10 dB; deviations 0.0007 and 0.002.
        assert!((below(0.01) - 0.00995).abs() < 0.003, "{}", below(0.01));
        assert!((below(0.1) - 0.0952).abs() < 0.008, "{}", below(0.1));
        assert!((below(1.0) - 0.632).abs() < 0.014, "{}", below(1.0));
    }

    #[test]
    fn the_mean_power_stays_and_its_variance_is_one_by_m() {
        for m in [0.5, 1.0, 3.0, 20.0, 1000.0] {
            let all = factors(&fast(m));
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            let square = all.iter().map(|it| (it - mean).powi(2)).sum::<f64>() / all.len() as f64;
            // The deviation of the mean is sqrt(1 / m / 20,000): 0.01 for m of 0.5.
            assert!((mean - 1.0).abs() < 0.04, "m {m}: mean {mean}");
            assert!((square * m - 1.0).abs() < 0.12, "m {m}: variance {square}");
        }
    }

    #[test]
    fn a_few_quantiles_tell_the_distribution() {
        let fading = FastFading { nakagami_m: 1.0, coherence_ns: MS };
        let few = fading.quantiles_db(3);
        // The exponential distribution: -ln(1 - p) at 1/6, 1/2 and 5/6.
        let exact = [0.1823, core::f64::consts::LN_2, 1.7918].map(|it| 10.0 * libm::log10(it));
        for (quantile, exact) in few.iter().zip(exact) {
            assert!((quantile - exact).abs() < 0.02, "{few:?}");
        }
        assert_eq!(few.len(), 3);
        assert_eq!(
            (fading.quantiles_db(0).len(), fading.quantiles_db(usize::MAX).len()),
            (1, 4096)
        );
    }

    #[test]
    fn slow_fading_has_its_deviation() {
        let fading = slow(4.0);
        let all: Vec<f64> = (1..5000).map(|other| fading.gain_db(0, other, 0)).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let square = all.iter().map(|it| it * it).sum::<f64>() / all.len() as f64;
        assert!(mean.abs() < 0.25 && (square - 16.0).abs() < 1.5, "{mean} {square}");
    }

    #[test]
    fn half_of_the_links_have_changed_after_the_coherence_time() {
        for (fading, coherence) in [(fast(2.0), 50 * MS), (slow(3.0), 60_000 * MS)] {
            let changed = |after: u64| {
                let is_other = |other: &u32| {
                    fading.gain_db(0, *other, MS) != fading.gain_db(0, *other, MS + after)
                };
                (1..4000).filter(is_other).count() as f64 / 4000.0
            };
            assert_eq!(changed(0), 0.0);
            // Deviations 0.008.
            assert!((changed(coherence) - 0.5).abs() < 0.04, "{}", changed(coherence));
            assert!((changed(coherence / 5) - 0.1).abs() < 0.03);
            assert!(changed(2 * coherence) > 0.99);
            assert_eq!(fading.period_ns(), coherence / 2);
        }
    }

    #[test]
    fn places_without_movement_have_no_fading() {
        assert!(LinkFading::new(1, None, None).is_none());
        let still = SlowFading { deviation_db: 0.0, coherence_ns: 1 };
        assert!(LinkFading::new(1, None, Some(still)).is_none());
    }

    proptest! {
        #[test]
        fn gains_are_finite_and_equal_in_both_directions(
            seed: u64, a: u32, b: u32, now: u64, m in 0.0..2000.0_f64, coherence_ns: u64,
        ) {
            let fast = FastFading { nakagami_m: m, coherence_ns };
            let slow = SlowFading { deviation_db: 6.0, coherence_ns };
            let fading = LinkFading::new(seed, Some(fast), Some(slow)).unwrap();
            let there = fading.gain_db(a, b, now);
            prop_assert!(there.is_finite() && fading.period_ns() > 0);
            prop_assert_eq!(there.to_bits(), fading.gain_db(b, a, now).to_bits());
        }
    }
}

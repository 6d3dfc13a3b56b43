//! A small random number generator, for statistics only: the same seed gives the same numbers on
//! every machine.

use espbench_model::random::Xoshiro256PlusPlus;

pub use espbench_model::random::split_mix;

/// Random numbers for resampling.
#[derive(Clone, Debug)]
pub struct Random(Xoshiro256PlusPlus);

impl Random {
    /// Creates a generator from a seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Xoshiro256PlusPlus::new(seed))
    }

    /// Returns 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Returns two whole numbers from 0 to `below` - 1, by multiplication and shift (Lemire 2019,
    /// "Fast random integer generation in an interval") without his rejection: the bias is under
    /// `below` / 2^32, which no resample of thousands can show.
    pub fn two_below(&mut self, below: u32) -> [usize; 2] {
        let bits = self.bits();
        let scale = |half: u64| ((half * u64::from(below)) >> 32) as usize;
        [scale(bits >> 32), scale(bits & 0xFFFF_FFFF)]
    }

    /// Returns a number that is uniform in [0, 1), with 53 random bits.
    pub const fn unit(&mut self) -> f64 {
        self.0.unit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_range_and_fill_it() {
        let mut random = Random::new(1);
        let mut seen = [0u32; 6];
        for _ in 0..3000 {
            for n in random.two_below(6) {
                seen[n] += 1;
            }
            let u = random.unit();
            assert!((0.0..1.0).contains(&u));
        }
        // 1000 each are expected; the standard deviation is 29.
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
    }
}

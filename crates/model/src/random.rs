//! The generator of random numbers below simulation and statistics: the same seed gives the same
//! numbers on every machine.

/// Returns the next number of the `SplitMix64` sequence (Steele, Lea and Flood 2014, "Fast
/// splittable pseudorandom number generators"), which turns any seed into well-mixed state.
pub const fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// 2^-53, the spacing of numbers below 1.
const ULP: f64 = 1.0 / 9_007_199_254_740_992.0;

/// xoshiro256++ 1.0 (Blackman and Vigna 2021, "Scrambled linear pseudorandom number generators",
/// ACM Transactions on Mathematical Software 47(4)).
#[derive(Clone, Debug)]
pub struct Xoshiro256PlusPlus([u64; 4]);

impl Xoshiro256PlusPlus {
    /// Creates a generator whose state comes from `seed` by [`split_mix`], as its authors advise.
    #[must_use]
    pub fn new(mut seed: u64) -> Self {
        Self([(); 4].map(|()| split_mix(&mut seed)))
    }

    /// Returns 64 random bits.
    #[inline]
    pub const fn bits(&mut self) -> u64 {
        let s = &mut self.0;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a number from 0 to below 1, uniformly, in steps of 2^-53.
    #[inline]
    pub const fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * ULP
    }

    /// Returns a number from 2^-53 to 1, uniformly, in steps of 2^-53, so that its logarithm is
    /// finite.
    #[inline]
    pub const fn positive(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 * ULP
    }

    /// Returns two whole numbers from 0 to `below` - 1, by multiplication and shift (Lemire 2019,
    /// "Fast random integer generation in an interval") without his rejection: the bias is under
    /// `below` / 2^32, which no resample of thousands can show.
    pub fn two_below(&mut self, below: u32) -> [usize; 2] {
        let bits = self.bits();
        let scale = |half: u64| ((half * u64::from(below)) >> 32) as usize;
        [scale(bits >> 32), scale(bits & 0xFFFF_FFFF)]
    }

    /// Fills a slice with whole numbers from 0 to `below` - 1, drawn as [`Self::two_below`] does.
    pub fn fill_below(&mut self, below: u32, drawn: &mut [usize]) {
        for pair in drawn.chunks_mut(2) {
            pair.copy_from_slice(&self.two_below(below)[..pair.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stay_in_range_and_fill_it() {
        let mut random = Xoshiro256PlusPlus::new(1);
        let mut drawn = [0; 6001];
        random.fill_below(6, &mut drawn);
        let mut seen = [0_u32; 6];
        drawn.iter().for_each(|&n| seen[n] += 1);
        // 1000 each are expected; the standard deviation is 29.
        assert!(seen.iter().all(|&n| (850..1150).contains(&n)), "{seen:?}");
        assert!((0..3000).all(|_| (0.0..1.0).contains(&random.unit())));
    }

    #[test]
    fn a_slice_is_filled_in_the_order_of_pairs() {
        let (mut one, mut other) = (Xoshiro256PlusPlus::new(7), Xoshiro256PlusPlus::new(7));
        let mut drawn = [0; 5];
        one.fill_below(1000, &mut drawn);
        let pairs = [(); 3].map(|()| other.two_below(1000));
        assert_eq!(drawn, pairs.as_flattened()[..5]);
    }

    #[test]
    fn split_mix_as_its_reference_code() {
        // From the reference C code (prng.di.unimi.it/splitmix64.c), seed 1234567.
        let mut state = 1_234_567;
        let got = [(); 5].map(|()| split_mix(&mut state));
        assert_eq!(
            got,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423,
                4_593_380_528_125_082_431,
                16_408_922_859_458_223_821
            ]
        );
    }

    #[test]
    fn xoshiro_as_its_reference_code() {
        // From the reference C code (prng.di.unimi.it/xoshiro256plusplus.c), state 1, 2, 3, 4.
        let mut random = Xoshiro256PlusPlus([1, 2, 3, 4]);
        let got = [(); 10].map(|()| random.bits());
        assert_eq!(
            got,
            [
                41_943_041,
                58_720_359,
                3_588_806_011_781_223,
                3_591_011_842_654_386,
                9_228_616_714_210_784_205,
                9_973_669_472_204_895_162,
                14_011_001_112_246_962_877,
                12_406_186_145_184_390_807,
                15_849_039_046_786_891_736,
                10_450_023_813_501_588_000
            ]
        );
    }

    #[test]
    fn units_fill_their_range() {
        let mut random = Xoshiro256PlusPlus::new(1);
        let all: [f64; 10_000] = core::array::from_fn(|_| random.unit());
        assert!(all.iter().all(|x| (0.0..1.0).contains(x)));
        let mean = all.iter().sum::<f64>() / 1e4;
        // The deviation of the mean is 0.0029.
        assert!((mean - 0.5).abs() < 0.012, "{mean}");
        assert_eq!(Xoshiro256PlusPlus([0; 4]).positive(), ULP);
    }
}

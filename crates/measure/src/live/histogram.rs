//! Quantiles of times as they come, in bounded memory.
//!
//! A histogram with buckets of equal relative width, as HdrHistogram has (Tene, "HdrHistogram: a high
//! dynamic range histogram"): 1024 to each power of two. A quantile is the middle of one, and so at most one
//! part in 2048 off, which the three digits that are shown hardly tell. The result of a cell is exact, from all
//! its samples ([`quantile`](espbench_stats::quantile)); this is for what is shown meanwhile.

use alloc::vec::Vec;
use core::time::Duration;

/// Buckets to a power of two, as a power of two.
const BITS: u32 = 10;
const EACH: u64 = 1 << BITS;

/// Times, in nanoseconds. It takes 440 KiB once it has one.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    counts: Vec<u64>,
    n: u64,
    sum: u128,
    least: u64,
    most: u64,
}

impl Histogram {
    /// Adds a time.
    pub fn add(&mut self, time: Duration) {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        if self.counts.is_empty() {
            self.counts = alloc::vec![0; bucket(u64::MAX) + 1];
            self.least = u64::MAX;
        }
        self.counts[bucket(nanos)] += 1;
        self.n += 1;
        self.sum += u128::from(nanos);
        self.least = self.least.min(nanos);
        self.most = self.most.max(nanos);
    }

    /// Returns how many times there are.
    #[must_use]
    pub const fn n(&self) -> u64 {
        self.n
    }

    /// Returns the sum of all times, in seconds.
    #[must_use]
    pub fn sum_s(&self) -> f64 {
        self.sum as f64 / 1e9
    }

    /// Returns the smallest and the largest time; `None` of nothing.
    #[must_use]
    pub fn extremes(&self) -> Option<(Duration, Duration)> {
        let (least, most) = (Duration::from_nanos(self.least), Duration::from_nanos(self.most));
        (self.n > 0).then_some((least, most))
    }

    /// Returns a quantile, `q` from 0 to 1: the middle of the bucket of the order statistic ceil(q n); `None` of nothing.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<Duration> {
        let rank = (libm::ceil(q * self.n as f64) as u64).clamp(1, self.n.max(1));
        let mut seen = 0;
        let at = self.counts.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        let below = at.checked_sub(1).map_or(0, |it| upper(it) + 1);
        let middle = below + (upper(at) - below) / 2;
        Some(Duration::from_nanos(middle.clamp(self.least, self.most)))
    }
}

/// Returns the bucket of a number: the numbers below [`EACH`] have one each.
const fn bucket(nanos: u64) -> usize {
    if nanos < EACH {
        return nanos as usize;
    }
    let shift = u64::BITS - 1 - nanos.leading_zeros() - BITS;
    (((shift as u64 + 1) << BITS) + ((nanos >> shift) & (EACH - 1))) as usize
}

/// Returns the largest number of a bucket.
const fn upper(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < EACH {
        return bucket;
    }
    let shift = (bucket >> BITS) - 1;
    ((EACH + (bucket & (EACH - 1))) << shift) | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_stats::quantile::Sorted;
    use proptest::prelude::*;

    #[test]
    fn nothing_has_no_quantile() {
        let none = Histogram::default();
        assert_eq!((none.quantile(0.5), none.extremes(), none.n()), (None, None, 0));
    }

    proptest! {
        #[test]
        fn each_number_is_in_its_bucket_and_the_ends_are_near(nanos in any::<u64>()) {
            let end = upper(bucket(nanos));
            prop_assert_eq!(bucket(end), bucket(nanos));
            prop_assert!(end >= nanos && end - nanos <= nanos / EACH);
            prop_assert!(end == u64::MAX || bucket(end + 1) == bucket(nanos) + 1);
        }

        #[test]
        fn quantiles_are_near_the_exact_ones(
            times in proptest::collection::vec(0..10_000_000_000u64, 1..200),
            q in 0.0..=1.0f64,
        ) {
            let mut histogram = Histogram::default();
            times.iter().for_each(|&it| histogram.add(Duration::from_nanos(it)));
            let exact = Sorted::new(times.iter().map(|&it| it as f64).collect());
            let (ours, exact) = (histogram.quantile(q).unwrap(), exact.quantile(q).value.unwrap());
            let ours = ours.as_nanos() as f64;
            prop_assert!((ours - exact).abs() <= exact / 2048.0, "{} {}", ours, exact);
            let (least, most) = histogram.extremes().unwrap();
            prop_assert_eq!(least.as_nanos() as u64, *times.iter().min().unwrap());
            prop_assert_eq!(most.as_nanos() as u64, *times.iter().max().unwrap());
        }
    }
}

//! Interarrival jitter.

use crate::wire::iperf2::Stamp;
use espbench_model::time::Instant;

/// Interarrival jitter as RFC 3550 section 6.4.1 defines it, by the integer method of its appendix
/// A.8 (the estimate is kept sixteen-fold, so that rounding does not bias it), in nanoseconds.
///
/// iperf 2 uses the same filter with three differences: it takes microseconds, it takes the first
/// datagram's transit time as a difference from zero (which matters where the clocks differ: it
/// fades by 1/16 with each datagram), and it keeps a floating estimate. On clocks that agree the
/// two are the same to a microsecond after some fifty datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Jitter {
    last_transit: Option<i64>,
    sixteenfold: u64,
    pairs: u64,
}

impl Jitter {
    /// Takes a datagram in order of arrival. One without a time of sending (ESP-IDF) is left out.
    pub fn take(&mut self, sent: Stamp, arrived: Instant) {
        if sent.is_zero() {
            return;
        }
        // The two clocks' offset is in every transit time and falls out of the difference.
        let transit = arrived.as_nanos().cast_signed().wrapping_sub(sent.as_nanos());
        if let Some(last) = self.last_transit.replace(transit) {
            // A bound of 2^48 ns (78 hours) keeps the filter from wrapping on absurd times.
            let step = transit.wrapping_sub(last).unsigned_abs().min(1 << 48);
            self.sixteenfold = self.sixteenfold + step - ((self.sixteenfold + 8) >> 4);
            self.pairs += 1;
        }
    }

    /// Returns the estimate in nanoseconds; `None` before two stamped datagrams came.
    #[must_use]
    pub const fn nanos(&self) -> Option<u64> {
        if self.pairs == 0 { None } else { Some(self.sixteenfold >> 4) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(arrivals_us: &[u64]) -> Option<u64> {
        let mut jitter = Jitter::default();
        for (i, at) in arrivals_us.iter().enumerate() {
            let sent = Stamp::from_nanos(1_000_000_000 + i as u64 * 1_000_000);
            jitter.take(sent, Instant::from_nanos(at * 1000));
        }
        jitter.nanos()
    }

    #[test]
    fn even_arrivals_have_none() {
        assert_eq!(run(&[500, 1500, 2500, 3500]), Some(0));
        assert_eq!(run(&[500]), None, "one datagram has no jitter");
    }

    #[test]
    fn by_hand() {
        // Transit changes by 160 us, then 0: J = 160/16 = 10 us; then 10 - 10/16 = 9.375 us.
        assert_eq!(run(&[0, 1160]), Some(10_000));
        assert_eq!(run(&[0, 1160, 2160]), Some(9_375));
        // Back by 160 us: 9.375 + (160 - 9.375)/16 = 18.789 us.
        assert_eq!(run(&[0, 1160, 2160, 3000]), Some(18_789));
    }

    #[test]
    fn a_sender_without_a_clock_has_no_jitter() {
        let mut jitter = Jitter::default();
        for i in 0..10 {
            jitter.take(Stamp::default(), Instant::from_nanos(i * 777));
        }
        assert_eq!(jitter.nanos(), None);
    }

    #[test]
    fn absurd_times_do_not_wrap() {
        let mut jitter = Jitter::default();
        for i in 0..1000u64 {
            let seconds = if i % 2 == 0 { u32::MAX } else { 1 };
            jitter.take(Stamp { seconds, micros: u32::MAX }, Instant::from_nanos(u64::MAX - i));
        }
        assert!(jitter.nanos().is_some_and(|n| n <= 1 << 48));
    }
}

//! An offered rate as a schedule.

use espbench_model::time::{Duration, Instant};

/// The number of units of equal size that an offered rate has made due. The schedule is absolute,
/// so the rate is kept over time even where single sends are late.
#[derive(Clone, Copy, Debug)]
pub struct Pacer {
    start: Instant,
    unit_bits: u64,
    rate: Option<u64>,
    sent: u64,
    slack: u64,
    skipped: u64,
}

impl Pacer {
    /// Creates a pacer of `rate` bits a second in units of `unit` bytes; `None` is as fast as it
    /// goes. A sender that falls behind catches up by at most `slack`; units that it missed beyond
    /// are [`skipped`](Self::skipped) and never sent, as in iperf 2.
    #[must_use]
    pub fn new(start: Instant, unit: u32, rate: Option<u64>, slack: Duration) -> Self {
        let unit_bits = u64::from(unit.max(1)) * 8;
        let rate = rate.filter(|&r| r > 0);
        let slack = rate.map_or(0, |r| units(r, unit_bits, slack.as_nanos()).max(1));
        Self { start, unit_bits, rate, sent: 0, slack, skipped: 0 }
    }

    /// Units due at `now` and not sent; `u64::MAX` where no rate is set.
    pub fn due(&mut self, now: Instant) -> u64 {
        let Some(rate) = self.rate else { return u64::MAX };
        // The first is due at once.
        let total = 1 + units(rate, self.unit_bits, now.since(self.start).as_nanos());
        let due = total.saturating_sub(self.sent + self.skipped);
        let missed = due.saturating_sub(self.slack);
        self.skipped += missed;
        due - missed
    }

    /// Takes note of units sent.
    pub const fn sent(&mut self, units: u64) {
        self.sent += units;
    }

    /// Returns when the next unit is due; in the past where the sender is behind.
    #[must_use]
    pub fn next(&self) -> Instant {
        let Some(rate) = self.rate else { return Instant::ZERO };
        let bits = u128::from(self.sent + self.skipped) * u128::from(self.unit_bits);
        let nanos = bits * 1_000_000_000 / u128::from(rate);
        self.start + Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }

    /// Units that were due and dropped from the schedule: the sender could not hold the rate.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.skipped
    }
}

fn units(rate: u64, unit_bits: u64, nanos: u128) -> u64 {
    let units = u128::from(rate) * nanos / (u128::from(unit_bits) * 1_000_000_000);
    u64::try_from(units).unwrap_or(u64::MAX / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn us(n: u64) -> Instant {
        Instant::from_nanos(n * 1000)
    }

    #[test]
    fn a_rate_is_kept_through_late_calls() {
        // 1000 B at 8 Mbit/s: one each millisecond.
        let mut pacer = Pacer::new(us(0), 1000, Some(8_000_000), Duration::from_millis(100));
        assert_eq!(pacer.due(us(0)), 1);
        pacer.sent(1);
        assert_eq!((pacer.due(us(999)), pacer.next()), (0, us(1000)));
        assert_eq!(pacer.due(us(1000)), 1);
        assert_eq!(pacer.due(us(5500)), 5);
        pacer.sent(5);
        assert_eq!((pacer.next(), pacer.skipped()), (us(6000), 0));
    }

    #[test]
    fn a_stall_is_not_made_up_for_beyond_the_slack() {
        let mut pacer = Pacer::new(us(0), 1000, Some(8_000_000), Duration::from_millis(10));
        assert_eq!(pacer.due(us(1_000_000)), 10);
        assert_eq!(pacer.skipped(), 991);
        pacer.sent(10);
        assert_eq!(pacer.due(us(1_001_000)), 1);
    }

    #[test]
    fn no_rate_is_always_due() {
        let mut pacer = Pacer::new(us(7), 64, None, Duration::ZERO);
        pacer.sent(1000);
        assert_eq!((pacer.due(us(7)), pacer.next()), (u64::MAX, Instant::ZERO));
    }

    proptest::proptest! {
        #[test]
        fn what_is_due_matches_when_it_is_due(
            unit in 1u32..100_000, rate in 1u64..100_000_000_000, steps in 1u64..200,
        ) {
            let mut pacer = Pacer::new(us(0), unit, Some(rate), Duration::from_secs(1000));
            for _ in 0..steps {
                let next = pacer.next();
                proptest::prop_assert!(pacer.due(next + Duration::from_nanos(1)) >= 1);
                pacer.sent(1);
            }
        }
    }
}

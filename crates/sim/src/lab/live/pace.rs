//! Virtual time that follows a wall clock.

use core::time::Duration;
use espbench_model::time::Instant;

/// Virtual time that one step lets pass at most, so that inputs are looked at in between.
const STEP_MAX: Duration = Duration::from_millis(20);

/// Lateness from which on a lab is behind the wall clock.
pub const BEHIND: Duration = Duration::from_millis(20);

/// Lateness that is not caught up: virtual time stands still for as long.
pub const GIVEN_UP: Duration = Duration::from_secs(1);

/// Counts of a lab's delay behind the wall clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lag {
    /// Times that an event happened [`BEHIND`] or more after its time; events in a row are one.
    pub times: u64,
    /// Longest such delay.
    pub longest: Duration,
    /// Time that was not caught up.
    pub given_up: Duration,
}

/// Virtual time that follows a wall clock, which the caller reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct WallPace {
    /// Time of the wall clock that has no virtual time.
    lost: Duration,
    is_behind: bool,
    lag: Lag,
}

impl WallPace {
    /// Returns the virtual time that belongs to a time of the wall clock.
    fn virtual_time(&self, wall: Instant) -> Instant {
        Instant::from_nanos(wall.as_nanos().saturating_sub(self.lost.as_nanos() as u64))
    }

    /// Returns the time up to which a lab is to run now, which has come to `reached` and has its next
    /// event (or byte) at `next`.
    pub fn step(&mut self, wall: Instant, reached: Instant, next: Option<Instant>) -> Instant {
        let late = next.map_or(Duration::ZERO, |next| self.virtual_time(wall).since(next));
        if late >= BEHIND && !self.is_behind {
            self.lag.times += 1;
        }
        self.is_behind = late >= BEHIND;
        if self.is_behind {
            self.lag.longest = self.lag.longest.max(late);
        }
        if late >= GIVEN_UP {
            self.lost += late;
            self.lag.given_up += late;
        }
        self.virtual_time(wall).min(reached + STEP_MAX).max(reached)
    }

    /// Returns how long nothing needs to be done, for a lab as in [`step`](Self::step): `least`, if it has
    /// not to catch up.
    #[must_use]
    pub fn idle(
        &self,
        wall: Instant,
        reached: Instant,
        next: Option<Instant>,
        least: Duration,
    ) -> Duration {
        let now = self.virtual_time(wall);
        let next = next.unwrap_or(Instant::NEVER);
        if now.since(reached) > STEP_MAX { Duration::ZERO } else { next.since(now).max(least) }
    }

    /// Returns the counts of the delay.
    #[must_use]
    pub const fn lag(&self) -> Lag {
        self.lag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAST: Duration = Duration::from_millis(1);

    const fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    #[test]
    fn a_lab_in_time_follows_the_wall_clock() {
        let mut pace = WallPace::default();
        assert_eq!(pace.step(ms(15), ms(0), Some(ms(10))), ms(15));
        assert_eq!(pace.idle(ms(15), ms(15), Some(ms(18)), LEAST), Duration::from_millis(3));
        assert_eq!(pace.idle(ms(15), ms(15), Some(ms(15)), LEAST), LEAST);
        assert_eq!(pace.step(ms(18), ms(15), Some(ms(18))), ms(18));
        assert!(pace.idle(ms(18), ms(18), None, LEAST) > Duration::from_hours(1000));
        assert_eq!(pace.lag(), Lag::default());
    }

    #[test]
    fn a_lab_that_is_behind_catches_up_in_steps_and_is_counted_once() {
        let mut pace = WallPace::default();
        let mut reached = ms(0);
        for now in [100, 101, 102, 103, 104] {
            let next = Some(reached);
            assert_eq!(pace.idle(ms(now), reached, next, LEAST), Duration::ZERO);
            reached = pace.step(ms(now), reached, next);
        }
        assert_eq!((reached, pace.lag().times), (ms(100), 1));
        assert_eq!(pace.step(ms(105), reached, Some(ms(105))), ms(105));
        let longest = Duration::from_millis(100);
        assert_eq!(pace.lag(), Lag { times: 1, longest, given_up: Duration::ZERO });
        let _ = pace.step(ms(126), ms(105), Some(ms(106)));
        assert_eq!(pace.lag().times, 2);
    }

    #[test]
    fn nobody_is_late_while_nothing_is_due() {
        let mut pace = WallPace::default();
        assert_eq!(pace.step(ms(5000), ms(0), Some(ms(6000))), ms(20));
        assert_eq!(pace.lag(), Lag::default());
    }

    #[test]
    fn what_is_more_than_a_second_late_is_not_caught_up() {
        let mut pace = WallPace::default();
        // The machine slept for an hour.
        let hour = 3_600_000;
        assert_eq!(pace.step(ms(hour), ms(0), Some(ms(10))), ms(10));
        assert_eq!(pace.lag().given_up, Duration::from_millis(hour - 10));
        assert_eq!(pace.step(ms(hour + 5), ms(10), Some(ms(12))), ms(15));
        assert_eq!(pace.lag().times, 1);
    }
}

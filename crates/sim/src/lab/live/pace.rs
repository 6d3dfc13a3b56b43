//! Virtual time that follows a wall clock.

use alloc::format;
use alloc::string::String;
use core::time::Duration;
use espbench_model::time::Instant;

/// Virtual time that one step lets pass at most, so that inputs are looked at in between.
pub const STEP_MAX: Duration = Duration::from_millis(20);

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
    /// Times that an event happened so late that what is measured meanwhile is invalid; events in a row are one.
    pub invalid: u64,
}

impl Lag {
    /// Returns whether all that was measured is valid: nothing was later than the bound.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.invalid == 0
    }
}

/// Tag of the log line by which a live device tells whoever has its console open that it was too late.
const LATE_TAG: &str = "live";

/// End of that line.
const LATE_END: &str = " ms behind the clock: what is measured now is invalid";

/// Returns the log line which says at a console that the lab was too late.
#[must_use]
pub fn late_line(at: Instant, late: Duration) -> String {
    format!("W ({}) {LATE_TAG}: {}{LATE_END}", at.as_nanos() / 1_000_000, late.as_millis())
}

/// Reads the lateness from a log line of that tag and text; `None` where it says something else.
#[must_use]
pub fn late_of(tag: &str, text: &str) -> Option<Duration> {
    let ms = text.strip_suffix(LATE_END).filter(|_| tag == LATE_TAG)?;
    ms.parse().ok().map(Duration::from_millis)
}

/// Virtual time that follows a wall clock, which the caller reads.
#[derive(Clone, Copy, Debug)]
pub struct WallPace {
    /// Time of the wall clock that has no virtual time.
    lost: Duration,
    /// Lateness above which what is measured is invalid.
    most: Duration,
    is_behind: bool,
    is_invalid: bool,
    lag: Lag,
}

impl Default for WallPace {
    fn default() -> Self {
        Self::new(GIVEN_UP)
    }
}

impl WallPace {
    /// Creates the pace of a lab in which an event later than `most` makes what is measured invalid.
    #[must_use]
    pub fn new(most: Duration) -> Self {
        let lag = Lag::default();
        Self { lost: Duration::ZERO, most, is_behind: false, is_invalid: false, lag }
    }

    /// Returns the virtual time that belongs to a time of the wall clock.
    fn virtual_time(&self, wall: Instant) -> Instant {
        Instant::from_nanos(wall.as_nanos().saturating_sub(self.lost.as_nanos() as u64))
    }

    /// Returns how long after its time the next event of a lab is, if its time has come.
    #[must_use]
    pub fn late(&self, wall: Instant, next: Option<Instant>) -> Option<Duration> {
        let now = self.virtual_time(wall);
        next.filter(|next| *next <= now).map(|next| now.since(next))
    }

    /// Returns the time up to which a lab is to run now, which has come to `reached` and has its next
    /// event (or byte) at `next`.
    pub fn step(&mut self, wall: Instant, reached: Instant, next: Option<Instant>) -> Instant {
        let late = next.map_or(Duration::ZERO, |next| self.virtual_time(wall).since(next));
        if late >= BEHIND && !self.is_behind {
            self.lag.times += 1;
        }
        self.is_behind = late >= BEHIND;
        if late > self.most && !self.is_invalid {
            self.lag.invalid += 1;
        }
        self.is_invalid = late > self.most;
        if self.is_behind || self.is_invalid {
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
        assert_eq!(pace.lag(), Lag { times: 1, longest, ..Lag::default() });
        let _ = pace.step(ms(126), ms(105), Some(ms(106)));
        assert_eq!(pace.lag().times, 2);
    }

    #[test]
    fn what_is_later_than_the_bound_is_invalid_and_told_once() {
        let mut pace = WallPace::new(Duration::from_millis(50));
        let _ = pace.step(ms(60), ms(0), Some(ms(10)));
        assert!(pace.lag().is_valid(), "50 ms are not more than 50 ms");
        let _ = pace.step(ms(61), ms(20), Some(ms(10)));
        let _ = pace.step(ms(62), ms(40), Some(ms(11)));
        assert_eq!(pace.lag().invalid, 1, "a row of late events is one");
        let _ = pace.step(ms(63), ms(62), Some(ms(63)));
        let _ = pace.step(ms(130), ms(63), Some(ms(70)));
        assert_eq!((pace.lag().invalid, pace.lag().is_valid()), (2, false));
        assert_eq!(pace.lag().longest, Duration::from_millis(60));
        // Without a bound of one's own it is that from which time is given up.
        let mut usual = WallPace::default();
        let _ = usual.step(ms(1000), ms(0), Some(ms(0)));
        assert!(usual.lag().is_valid());
        let _ = usual.step(ms(2002), ms(0), Some(ms(0)));
        assert!(!usual.lag().is_valid());
    }

    #[test]
    fn the_line_of_lateness_is_read_back() {
        let line = late_line(ms(1234), Duration::from_millis(1500));
        let (head, text) = line.split_once(": ").unwrap();
        assert_eq!(head, "W (1234) live");
        assert_eq!(late_of("live", text), Some(Duration::from_millis(1500)));
        assert_eq!(late_of("wifi", text), None);
        assert_eq!(late_of("live", "1500 ms behind the clock"), None);
        assert_eq!(late_of("live", &text.replace("1500", "-1")), None);
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

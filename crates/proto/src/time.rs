//! Time as an argument: a point on one clock, in nanoseconds since that clock's start.
//!
//! Nothing in this crate reads a clock. Whoever drives a node (the simulator, the host's sockets,
//! the firmware) says what time it is. Differences are [`core::time::Duration`].

pub use core::time::Duration;

/// A point in time: nanoseconds since the start of the clock that the driver uses.
///
/// Two instants may be compared or subtracted only when they were read from the same clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// The start of the clock.
    pub const ZERO: Self = Self(0);
    /// A point that is never reached (584 years after the start).
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `nanos` nanoseconds after the start of the clock.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos)
    }

    /// Nanoseconds since the start of the clock.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to `self`; zero where `earlier` is in fact later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// `self` moved by `by`; stops at [`Instant::NEVER`].
    #[must_use]
    pub const fn after(self, by: Duration) -> Self {
        let nanos = by.as_nanos();
        if nanos > u64::MAX as u128 {
            Self::NEVER
        } else {
            Self(self.0.saturating_add(nanos as u64))
        }
    }
}

impl core::ops::Add<Duration> for Instant {
    type Output = Self;

    fn add(self, by: Duration) -> Self {
        self.after(by)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates_instead_of_wrapping() {
        let second = Instant::from_nanos(1_000_000_000);
        assert_eq!(Instant::ZERO.since(second), Duration::ZERO);
        assert_eq!(second.since(Instant::ZERO), Duration::from_secs(1));
        assert_eq!(Instant::NEVER.after(Duration::from_secs(1)), Instant::NEVER);
        assert_eq!(second.after(Duration::MAX), Instant::NEVER);
        assert_eq!(second + Duration::from_millis(5), Instant::from_nanos(1_005_000_000));
    }
}

//! Time as an argument: a point on one clock, in nanoseconds since that clock's start.
//!
//! Nothing in this crate reads a clock. The driver of a node (the simulator, the host's sockets,
//! the firmware) passes the time to it. Differences are [`core::time::Duration`].

use core::num::NonZeroU64;
pub use core::time::Duration;

/// A point in time: nanoseconds since the start of the clock that the driver uses.
///
/// Two instants may be compared or subtracted only when they were read from the same clock.
///
/// The value is stored plus one, so that zero is free for `None` and an `Option<Instant>` is no
/// larger than an instant: a sample has five of them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(NonZeroU64);

impl Default for Instant {
    fn default() -> Self {
        Self::ZERO
    }
}

impl core::fmt::Debug for Instant {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Instant({} ns)", self.as_nanos())
    }
}

impl Instant {
    /// The start of the clock.
    pub const ZERO: Self = Self(NonZeroU64::MIN);
    /// A point that is never reached (584 years after the start).
    pub const NEVER: Self = Self(NonZeroU64::MAX);

    /// Returns the instant `nanos` nanoseconds after the start of the clock, or [`Instant::NEVER`].
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(NonZeroU64::MIN.saturating_add(nanos))
    }

    /// Returns the nanoseconds since the start of the clock.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0.get() - 1
    }

    /// Returns the time from `earlier` to `self`; zero where `earlier` is in fact later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.get().saturating_sub(earlier.0.get()))
    }

    /// Returns the instant `nanos` nanoseconds later; saturates at [`Instant::NEVER`].
    #[must_use]
    #[inline]
    pub const fn after_nanos(self, nanos: u64) -> Self {
        Self(self.0.saturating_add(nanos))
    }

    /// Returns the instant `by` later; saturates at [`Instant::NEVER`].
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
        assert_eq!(Instant::from_nanos(u64::MAX), Instant::NEVER);
    }

    #[test]
    fn an_unknown_instant_costs_no_more_than_a_known_one() {
        assert_eq!(size_of::<Option<Instant>>(), 8);
        assert_eq!(size_of::<crate::sample::Probe>(), 64);
    }
}

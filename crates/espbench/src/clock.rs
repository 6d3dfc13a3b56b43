//! The monotonic clock, as instants since its start.

use espbench_model::time::Instant;

/// A monotonic clock that starts at [`Instant::ZERO`].
#[derive(Clone, Copy, Debug)]
pub struct Clock(std::time::Instant);

impl Clock {
    /// Starts a clock: its time zero is now.
    #[must_use]
    pub fn start() -> Self {
        Self(std::time::Instant::now())
    }

    /// Returns the time since the start.
    #[must_use]
    pub fn now(&self) -> Instant {
        Instant::from_nanos(u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Returns a point in time as the standard library's type, for its timers.
    #[must_use]
    pub fn to_std(&self, at: Instant) -> std::time::Instant {
        self.0 + at.since(Instant::ZERO)
    }
}

//! Lateness of events: how long after its time each was simulated, in classes.

use core::time::Duration;

/// Upper ends of the classes, in microseconds; the last class has none.
const ENDS_US: [u64; 7] = [30, 100, 300, 1000, 3000, 10_000, 30_000];

/// Number of classes.
const CLASSES: usize = ENDS_US.len() + 1;

/// A histogram of the time by which events were simulated too late.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LatenessHistogram {
    counts: [u64; CLASSES],
    longest: Duration,
}

impl LatenessHistogram {
    /// Adds an event.
    pub fn add(&mut self, late: Duration) {
        let class = ENDS_US.iter().position(|end| late <= Duration::from_micros(*end));
        self.counts[class.unwrap_or(CLASSES - 1)] += 1;
        self.longest = self.longest.max(late);
    }

    /// Returns the number of events.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the longest lateness.
    #[must_use]
    pub const fn longest(&self) -> Duration {
        self.longest
    }

    /// Returns the number of events in the classes that end at `most` or before.
    #[must_use]
    pub fn within(&self, most: Duration) -> u64 {
        let classes = self.classes().filter(|(end, _)| end.is_some_and(|end| end <= most));
        classes.map(|(_, events)| events).sum()
    }

    /// Returns the upper end of each class, `None` for the last, and the events in it.
    pub fn classes(&self) -> impl Iterator<Item = (Option<Duration>, u64)> {
        let ends = ENDS_US.iter().map(|end| Some(Duration::from_micros(*end))).chain([None]);
        ends.zip(self.counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_counted_by_their_lateness() {
        let mut late = LatenessHistogram::default();
        for us in [0, 100, 101, 5000, 60_000] {
            late.add(Duration::from_micros(us));
        }
        assert_eq!((late.events(), late.longest()), (5, Duration::from_millis(60)));
        assert_eq!(late.within(Duration::from_micros(100)), 2);
        assert_eq!(late.within(Duration::from_millis(30)), 4);
        assert_eq!(late.classes().last(), Some((None, 1)));
    }
}

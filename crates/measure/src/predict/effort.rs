//! Simulated time that is needed to see the wanted number of messages.

use core::time::Duration;

/// Amount of simulation for one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Rooms, each with a seed of its own.
    pub rooms: u32,
    /// Messages that are wanted in all of them.
    pub messages: u32,
}

impl Default for Effort {
    /// Returns 20 rooms and 8000 messages. With 8000 messages a loss of 1 % is known to a fifth of
    /// it, if rooms are alike; a p99 needs 368 to be enclosed at all ([`espbench_stats::quantile::needed`]).
    /// Devices with timers keep their phases for as long as a room is watched, so many rooms tell
    /// more than long ones.
    fn default() -> Self {
        Self { rooms: 20, messages: 8000 }
    }
}

/// Time for which one room is watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedTime {
    /// Not recorded, at the start: queues fill, devices start.
    pub warm_up: Duration,
    /// Recorded.
    pub time: Duration,
    /// Time in which messages may still arrive after that.
    pub drain: Duration,
}

/// Shorter than this no room is watched: a queue that grows must have the time to.
const SHORTEST: Duration = Duration::from_secs(2);

impl Effort {
    /// Returns the span of a room for so many devices that each send so often.
    #[must_use]
    pub fn span(&self, devices: u32, every: Duration) -> SimulatedTime {
        let messages = self.messages.div_ceil(self.rooms.max(1)).max(1);
        // Everyone sends a few times, or some phases would be seen more often than others.
        let rounds = messages.div_ceil(devices.max(1)).max(4);
        SimulatedTime {
            warm_up: (every * 2).clamp(Duration::from_millis(500), Duration::from_secs(5)),
            time: every.saturating_mul(rounds).max(SHORTEST),
            drain: Duration::from_secs(10),
        }
    }

    /// Returns the span of a room for a search, of which many rooms are simulated: the messages that
    /// are wanted, even where not every device has sent one by then.
    #[must_use]
    pub fn glimpse(&self, devices: u32, every: Duration) -> SimulatedTime {
        let messages = self.messages.div_ceil(self.rooms.max(1)).max(1);
        let span = self.span(devices, every);
        if messages >= 4 * devices {
            return span;
        }
        let time = (every.saturating_mul(messages) / devices.max(1)).max(SHORTEST);
        SimulatedTime { time: time.min(span.time), ..span }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_devices_are_watched_longer() {
        let span = |devices, ms| Effort::default().span(devices, Duration::from_millis(ms)).time;
        assert_eq!(span(1, 1000), Duration::from_secs(400));
        assert_eq!(span(50, 1000), Duration::from_secs(8));
        assert_eq!(span(5000, 1000), Duration::from_secs(4));
        assert_eq!(span(100, 10), SHORTEST);
        let glimpse = |devices| Effort::default().glimpse(devices, Duration::from_secs(5)).time;
        assert_eq!(glimpse(1), Duration::from_secs(2000));
        assert_eq!(glimpse(500), Duration::from_secs(4));
        assert_eq!(glimpse(5000), SHORTEST);
        let none = Effort { rooms: 0, messages: 0 };
        assert_eq!(none.span(0, Duration::ZERO).time, SHORTEST);
    }
}

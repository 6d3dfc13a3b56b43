//! The FreeRTOS tick: delays are whole ticks, and end on a tick of the clock.
//!
//! The tick shapes the traffic on the air. At ESP-IDF's default of 100 Hz `pdMS_TO_TICKS(2)` is
//! zero, and the acknowledgement's back-off collapses.

use espbench_model::time::{Duration, Instant};

/// Period of the FreeRTOS tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tick(u32);

impl Default for Tick {
    /// Returns ESP-IDF's default, `CONFIG_FREERTOS_HZ=100`.
    fn default() -> Self {
        Self::from_hz(100)
    }
}

impl Tick {
    /// Returns a tick of `hz` hertz, cut to the range 1 to 1000 that `CONFIG_FREERTOS_HZ` allows.
    #[must_use]
    pub const fn from_hz(hz: u32) -> Self {
        let hz = if hz < 1 {
            1
        } else if hz > 1000 {
            1000
        } else {
            hz
        };
        Self(1_000_000_000 / hz)
    }

    /// Returns the period.
    #[must_use]
    pub const fn period(self) -> Duration {
        Duration::from_nanos(self.0 as u64)
    }

    /// Converts milliseconds to whole ticks, rounded down, as `pdMS_TO_TICKS` does. The arithmetic
    /// has 32 bits, as on the device: very long times wrap.
    #[must_use]
    pub const fn ticks(self, ms: u32) -> u32 {
        let hz = 1_000_000_000 / self.0;
        ms.wrapping_mul(hz) / 1000
    }

    /// Returns when a `vTaskDelay(ticks)` that is called at `now` ends: at the `ticks`-th tick from
    /// now. Zero ticks only yield.
    #[must_use]
    pub fn delay(self, now: Instant, ticks: u32) -> Instant {
        if ticks == 0 {
            return now;
        }
        let period = u64::from(self.0);
        let whole = (now.as_nanos() / period).saturating_add(u64::from(ticks));
        Instant::from_nanos(whole.saturating_mul(period))
    }

    /// Returns when a `vTaskDelay(pdMS_TO_TICKS(ms))` that is called at `now` ends.
    #[must_use]
    pub fn delay_ms(self, now: Instant, ms: u32) -> Instant {
        self.delay(now, self.ticks(ms))
    }

    /// Returns the end of a delay as [`delay_ms`](Self::delay_ms) does, but after at least one
    /// tick: on the device other tasks run meanwhile, here time would stand still.
    #[must_use]
    pub fn pause_ms(self, now: Instant, ms: u32) -> Instant {
        self.delay(now, self.ticks(ms).max(1))
    }

    /// Counts the ticks of the clock from one instant to another: the difference of two readings of
    /// `xTaskGetTickCount`.
    #[must_use]
    pub const fn between(self, from: Instant, to: Instant) -> u64 {
        let period = self.0 as u64;
        (to.as_nanos() / period).saturating_sub(from.as_nanos() / period)
    }

    /// Converts ticks to milliseconds as the component computes it: times `portTICK_PERIOD_MS`,
    /// which is a whole number.
    #[must_use]
    pub const fn ms(self, ticks: u64) -> u64 {
        ticks.saturating_mul(self.period().as_millis() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_end_on_ticks() {
        let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
        let (slow, fast) = (Tick::from_hz(100), Tick::from_hz(1000));
        assert_eq!((slow.ticks(2), fast.ticks(2)), (0, 2));
        assert_eq!(slow.delay(at(13), 1), at(20), "less than a whole period");
        assert_eq!(fast.delay_ms(at(13), 500), at(513));
        assert_eq!(slow.delay(at(13), 500), at(5010), "ticks that were meant as milliseconds");
        assert_eq!(slow.delay_ms(at(13), 2), at(13), "a yield");
        assert_eq!(slow.pause_ms(at(13), 2), at(20), "no yield");
    }

    #[test]
    fn time_that_has_passed_is_counted_in_ticks() {
        let at = |ms: u64| Instant::ZERO + Duration::from_millis(ms);
        let slow = Tick::from_hz(100);
        assert_eq!((slow.between(at(19), at(20)), slow.between(at(20), at(29))), (1, 0));
        assert_eq!(slow.between(at(29), at(13)), 0, "backwards");
        assert_eq!((slow.ms(7), Tick::from_hz(300).ms(7)), (70, 21));
    }
}

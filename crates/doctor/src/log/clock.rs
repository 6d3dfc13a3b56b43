//! Time of a log: what has passed since its begin, by the time of day that a monitor or a program prints, or by the time since the
//! start of the device.

use super::prefix::{DAY_MS, time_of_day};

/// Until then after midnight a clock may be one that has just started and is not set yet, in milliseconds.
const UNSET_MS: u64 = 120_000;

/// A step from there that is as long sets the clock, in milliseconds.
const SETS_MS: u64 = 1_800_000;

/// Steps back that are as long are a midnight, and shorter ones two lines in another order, in milliseconds.
const MIDNIGHT_MS: u64 = 43_200_000;

/// Time that has passed in a log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogClock {
    /// Time of day, and the device's.
    day: PassingTime,
    device: PassingTime,
}

/// Time by one clock: its last reading, and what has passed, in milliseconds.
#[derive(Clone, Copy, Debug, Default)]
struct PassingTime {
    last: Option<u64>,
    passed: Option<u64>,
}

impl PassingTime {
    /// Takes a reading in. `since` gives the step from one reading to the next.
    fn see(&mut self, now: u64, since: impl Fn(u64) -> u64) {
        let step = self.last.replace(now).map_or(0, since);
        self.passed = Some(self.passed.unwrap_or_default().saturating_add(step));
    }
}

impl LogClock {
    /// Returns the time that has passed, where any line had one: by the clock that has gone on farther. A device that sleeps begins
    /// anew, and a time of day that one line alone has stands still.
    pub(super) fn passed_ms(&self) -> Option<u64> {
        self.day.passed.max(self.device.passed)
    }

    /// Takes the time of day of a line in.
    pub(super) fn see_line(&mut self, line: &str) {
        let Some(now) = time_of_day(line) else { return };
        self.day.see(now, |before| match now.checked_sub(before) {
            Some(step) if before < UNSET_MS && step > SETS_MS => 0,
            Some(step) => step,
            None if before - now >= MIDNIGHT_MS => (now + DAY_MS).saturating_sub(before),
            None => 0,
        });
    }

    /// Takes the time since the device's start in: one that starts anew begins at 0.
    pub(super) fn see_uptime(&mut self, uptime_ms: Option<u64>) {
        let Some(now) = uptime_ms else { return };
        self.device.see(now, |before| now.checked_sub(before).unwrap_or(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_time_of_day_stands_near_the_begin() {
        for (line, ms) in [
            ("[08:00:01][I][wifi:617]: WiFi Connected!", 28_801_000),
            ("12:00:00.123 > text", 43_200_123),
            ("[19:46:42:120] text", 71_202_120),
            ("2026-01-02T10:11:12+01:00 host esp[1]: text", 36_672_000),
            ("I (12:34:56.789) tag: text", 45_296_789),
            ("00:00:05.730 MQT: Connected", 5730),
        ] {
            assert_eq!(time_of_day(line), Some(ms), "{line}");
        }
        for line in [
            "bssid 00:00:5e:00:53:02",
            "10:11:12:13:14:15 joins",
            "I (1234) tag: text",
            "25:00:00 x",
            // Of when the ROM and the program were made, and of what a program says.
            "ets Jul 29 2019 12:21:46",
            "I (29) boot: compile time 14:23:39",
            "ntp: time is 12:34:56",
            "12:34",
        ] {
            assert_eq!(time_of_day(line), None, "{line}");
        }
    }

    fn passed(lines: &[(&str, Option<u64>)]) -> Option<u64> {
        let mut clock = LogClock::default();
        for (line, uptime_ms) in lines {
            clock.see_line(line);
            clock.see_uptime(*uptime_ms);
        }
        clock.passed_ms()
    }

    #[test]
    fn time_passes_over_restarts_and_midnight() {
        assert_eq!(passed(&[("", Some(500)), ("", Some(2500)), ("", Some(300))]), Some(2300));
        assert_eq!(passed(&[("23:59:59", None), ("00:00:01", Some(7))]), Some(2000));
        // A clock that is set, and lines in another order.
        assert_eq!(
            passed(&[("00:00:05", None), ("08:00:00", None), ("08:00:02", None)]),
            Some(2000)
        );
        assert_eq!(passed(&[("08:00:05", None), ("08:00:04", None)]), Some(0));
        assert_eq!(passed(&[("x", None)]), None);
        // One line alone has a time of day.
        assert_eq!(
            passed(&[("", Some(1)), ("12:00:00 ready", None), ("", Some(9001))]),
            Some(9000)
        );
    }

    proptest! {
        #[test]
        fn time_does_not_go_back(lines in proptest::collection::vec(("[0-9:. I()\\[\\]T]{0,20}", any::<Option<u64>>()), 0..20)) {
            let (mut clock, mut before) = (LogClock::default(), None);
            for (line, uptime_ms) in lines {
                clock.see_line(&line);
                clock.see_uptime(uptime_ms);
                prop_assert!(clock.passed_ms() >= before);
                before = clock.passed_ms();
            }
        }
    }
}

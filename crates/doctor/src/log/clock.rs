//! Time of a log: what has passed since its begin, by the time of day that a monitor or a program prints, or by the time since the
//! start of the device.

/// Within a line's first bytes its time stands.
const HEAD: usize = 40;

/// Milliseconds of a day.
const DAY_MS: u64 = 86_400_000;

/// Until then after midnight a clock may be one that has just started and is not set yet, in milliseconds.
const UNSET_MS: u64 = 120_000;

/// A step from there that is as long sets the clock, in milliseconds.
const SETS_MS: u64 = 1_800_000;

/// Steps back that are as long are a midnight, and shorter ones two lines in another order, in milliseconds.
const MIDNIGHT_MS: u64 = 43_200_000;

/// Time that has passed in a log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LogClock {
    passed_ms: Option<u64>,
    day_ms: Option<u64>,
    uptime_ms: Option<u64>,
}

impl LogClock {
    /// Returns the time that has passed, where any line had one.
    pub(super) const fn passed_ms(&self) -> Option<u64> {
        self.passed_ms
    }

    /// Takes the time of day of a line in.
    pub(super) fn see_line(&mut self, line: &str) {
        let Some(now) = time_of_day(line) else { return };
        let step = self.day_ms.replace(now).map_or(0, |before| match now.checked_sub(before) {
            Some(step) if before < UNSET_MS && step > SETS_MS => 0,
            Some(step) => step,
            None if before - now >= MIDNIGHT_MS => (now + DAY_MS).saturating_sub(before),
            None => 0,
        });
        self.pass(step);
    }

    /// Takes the time since the device's start in: a log that has the time of day goes by that.
    pub(super) fn see_uptime(&mut self, uptime_ms: Option<u64>) {
        let Some(now) = uptime_ms.filter(|_| self.day_ms.is_none()) else { return };
        // A device that starts anew begins at 0.
        let step = self.uptime_ms.replace(now).map_or(0, |it| now.checked_sub(it).unwrap_or(now));
        self.pass(step);
    }

    fn pass(&mut self, step: u64) {
        self.passed_ms = Some(self.passed_ms.unwrap_or_default().saturating_add(step));
    }
}

/// Returns the time of day `12:34:56` or `12:34:56.789` near a line's begin, in milliseconds.
fn time_of_day(line: &str) -> Option<u64> {
    let bytes = &line.as_bytes()[..line.len().min(HEAD)];
    let mut colons = (2..bytes.len().saturating_sub(5)).filter(|it| bytes[*it] == b':');
    colons.find_map(|colon| clock_at(bytes, colon - 2))
}

/// Reads the time of day at a place.
fn clock_at(bytes: &[u8], at: usize) -> Option<u64> {
    let digit = |at: usize| bytes.get(at).filter(|it| it.is_ascii_digit()).map(|it| it - b'0');
    let two = |at: usize| Some(u64::from(10 * digit(at)? + digit(at + 1)?));
    let is = |at: usize, byte: u8| bytes.get(at) == Some(&byte);
    let milli = || {
        let [a, b, c] = [digit(at + 9)?, digit(at + 10)?, digit(at + 11)?].map(u64::from);
        Some(100 * a + 10 * b + c)
    };
    let (hours, minutes, seconds) = (two(at)?, two(at + 3)?, two(at + 6)?);
    // The time may be a part of a word, and an address of a device has more of the same form.
    let before = at.checked_sub(1).map(|it| bytes[it]);
    let begins = before.is_none_or(|it| it == b'T' || !(it.is_ascii_alphanumeric() || it == b':'));
    let ends = digit(at + 8).is_none() && (!is(at + 8, b':') || milli().is_some());
    let is_time = is(at + 5, b':') && hours < 24 && minutes < 60 && seconds <= 60;
    let has_part = [b'.', b',', b':'].iter().any(|it| is(at + 8, *it));
    let part = if has_part { milli().unwrap_or_default() } else { 0 };
    (begins && ends && is_time).then(|| ((hours * 60 + minutes) * 60 + seconds) * 1000 + part)
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

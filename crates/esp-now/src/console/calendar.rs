//! Dates in words (`strftime("%c")` in C's locale), and time zones.

use core::fmt;

const DAYS: [&str; 7] = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Local time in seconds since 1970, printed as a date.
pub(super) struct Date(pub(super) i64);

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (days, second) = (self.0.div_euclid(86400), self.0.rem_euclid(86400));
        let (year, month, day) = civil(days);
        let name = |names: &[&'static str], at: i64| {
            usize::try_from(at).ok().and_then(|at| names.get(at).copied()).unwrap_or("???")
        };
        write!(
            f,
            "{} {} {day:2} {:02}:{:02}:{:02} {year}",
            // 1 January 1970 was a Thursday.
            name(&DAYS, days.saturating_add(4).rem_euclid(7)),
            name(&MONTHS, month - 1),
            second / 3600,
            second / 60 % 60,
            second % 60,
        )
    }
}

/// Computes year, month and day of a day since 1970 in the Gregorian calendar. The year is counted
/// from March, so that the leap day is its last, in eras of 400 years.
fn civil(days: i64) -> (i64, i64, i64) {
    // There are 719,468 days from 1 March of year 0 to 1970.
    let days = days.saturating_add(719_468);
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let first = (153 * month + 2) / 5;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    (era * 400 + year + next, month, day - first + 1)
}

/// Returns the seconds east of Greenwich of a POSIX time zone: a name of letters, then hours west,
/// and minutes. Daylight saving is ignored. A zone that cannot be parsed counts as UTC.
pub(super) fn offset(zone: &[u8]) -> i64 {
    let rest = zone.trim_ascii_start();
    let letters = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (sign, digits) = match rest.get(letters..) {
        Some([b'-', digits @ ..]) => (1, digits),
        Some([b'+', digits @ ..] | digits) => (-1, digits),
        None => return 0,
    };
    let mut parts = digits.split(|&byte| byte == b':').map(|part| {
        let number = part.iter().map_while(|&byte| char::from(byte).to_digit(10));
        number.take(3).fold(0, |n, digit| n * 10 + i64::from(digit))
    });
    let (hours, minutes) = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    if hours > 24 || minutes > 59 { 0 } else { sign * (hours * 3600 + minutes * 60) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn dates_of_known_seconds() {
        for (seconds, text) in [
            (0, "Thu Jan  1 00:00:00 1970"),
            (1_700_000_000, "Tue Nov 14 22:13:20 2023"),
            (951_782_400, "Tue Feb 29 00:00:00 2000"),
            (4_107_542_399, "Sun Feb 28 23:59:59 2100"),
            (-1, "Wed Dec 31 23:59:59 1969"),
        ] {
            assert_eq!(Date(seconds).to_string(), text);
        }
        assert!(!Date(i64::MAX).to_string().is_empty() && !Date(i64::MIN).to_string().is_empty());
    }

    #[test]
    fn zones() {
        assert_eq!(offset(b"CST-8"), 8 * 3600);
        assert_eq!(offset(b"EST5EDT"), -5 * 3600);
        assert_eq!(offset(b"IST-5:30"), 19_800);
        assert_eq!((offset(b""), offset(b"UTC"), offset(b"X999999999999")), (0, 0, 0));
    }
}

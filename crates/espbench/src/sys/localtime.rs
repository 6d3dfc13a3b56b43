//! The time of day as people read it.

/// Returns year to second of an instant, in the local time zone: `[2026, 11, 22, 19, 6, 25]`.
#[must_use]
pub fn fields(epoch_seconds: i64) -> [i32; 6] {
    imp::fields(epoch_seconds).unwrap_or_else(|| utc(epoch_seconds))
}

#[cfg(unix)]
mod imp {
    #[allow(
        clippy::useless_conversion,
        reason = "the system's seconds have 32 bits on some targets"
    )]
    pub(super) fn fields(epoch_seconds: i64) -> Option<[i32; 6]> {
        let time = epoch_seconds.try_into().ok()?;
        // SAFETY: a tm of zeros is valid; both pointers are to values that live through the call,
        // and the function keeps neither.
        let tm = unsafe {
            let mut tm: libc::tm = std::mem::zeroed();
            if libc::localtime_r(&raw const time, &raw mut tm).is_null() {
                return None;
            }
            tm
        };
        Some([tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec])
    }
}

#[cfg(not(unix))]
mod imp {
    pub(super) fn fields(_epoch_seconds: i64) -> Option<[i32; 6]> {
        None
    }
}

/// Returns year to second of an instant in UTC: days to a date of the Gregorian calendar, by
/// counting from March, so that the leap day is a year's last.
fn utc(epoch_seconds: i64) -> [i32; 6] {
    let (days, second) = (epoch_seconds.div_euclid(86_400), epoch_seconds.rem_euclid(86_400));
    let from_era = days + 719_468;
    let (era, day) = (from_era.div_euclid(146_097), from_era.rem_euclid(146_097));
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let (date, month) = (day - (153 * month + 2) / 5 + 1, (month + 2) % 12 + 1);
    let year = era * 400 + year + i64::from(month <= 2);
    [year, month, date, second / 3600, second / 60 % 60, second % 60].map(|n| n as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_by_the_calendar() {
        assert_eq!(utc(0), [1970, 1, 1, 0, 0, 0]);
        assert_eq!(utc(951_782_399), [2000, 2, 28, 23, 59, 59]);
        assert_eq!(utc(951_782_400), [2000, 2, 29, 0, 0, 0]);
        assert_eq!(utc(1_795_374_385), [2026, 11, 22, 19, 6, 25]);
        assert_eq!(utc(-1), [1969, 12, 31, 23, 59, 59]);
    }

    #[test]
    fn local_time_is_within_a_day_of_utc() {
        let (local, utc) = (fields(1_795_374_385), utc(1_795_374_385));
        assert_eq!((local[0], local[1]), (utc[0], utc[1]));
        assert!((local[2] - utc[2]).abs() <= 1 && local[5] == utc[5]);
    }
}

//! Quantities of the flags.

use espbench_measure::units;
use std::time::Duration;

/// Parses a round trip, from 10 us to 10 s: TCP waits no longer.
pub(super) fn round_trip(text: &str) -> Result<Duration, String> {
    let time = units::seconds(text)?;
    match (Duration::from_micros(10)..=Duration::from_secs(10)).contains(&time) {
        true => Ok(time),
        false => Err(format!("`{text}` must be from 10 us to 10 s")),
    }
}

/// Parses a size of memory in bytes. KB is 1024 bytes, as in Espressif's documents.
pub(super) fn memory(text: &str) -> Result<u64, String> {
    let digits = text.trim().trim_end_matches(|it: char| it.is_ascii_alphabetic()).trim_end();
    let factor = match text.trim()[digits.len()..].trim_start() {
        "" | "B" => 1.0,
        "K" | "KB" | "kB" | "KiB" => 1024.0,
        "M" | "MB" | "MiB" => 1024.0 * 1024.0,
        unit => return Err(format!("`{unit}` is no unit of memory: use B, KB or MB")),
    };
    match digits.parse::<f64>() {
        Ok(number) if (0.0..=1e9).contains(&(number * factor)) => Ok((number * factor) as u64),
        _ => Err(format!("`{text}` is no size of a heap: write it as 100KB")),
    }
}

/// Parses the length of a test in the lab, from 500 ms to 1 h: shorter ones show nothing, and
/// nobody waits for longer ones.
pub(super) fn test_time(text: &str) -> Result<Duration, String> {
    let time = units::seconds(text)?;
    match (Duration::from_millis(500)..=Duration::from_secs(3600)).contains(&time) {
        true => Ok(time),
        false => Err(format!("`{text}` must be from 500 ms to 1 h")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_in_powers_of_two() {
        assert_eq!(memory("100KB"), Ok(102_400));
        assert_eq!(memory(" 1.5 MB"), Ok(1_572_864));
        assert_eq!(memory("4096"), Ok(4096));
        for text in ["", "KB", "-1KB", "1e99", "12 parsecs", "nan"] {
            assert!(memory(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_round_trip_is_some_time() {
        assert_eq!(round_trip("5ms"), Ok(Duration::from_millis(5)));
        assert!(round_trip("0s").is_err() && round_trip("1h").is_err());
    }
}

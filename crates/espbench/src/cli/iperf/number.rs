//! Numbers with iperf 2's suffixes, as plans have them, too.

use crate::user_error::UserError;
use espbench_measure::units;
use std::time::Duration;

/// An offered rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Rate {
    /// Bits a second.
    Bits(u64),
    /// Datagrams or writes a second.
    Packets(u64),
}

impl Rate {
    /// Returns the bits a second with datagrams of `length` bytes.
    pub(in crate::cli) const fn bits(self, length: u32) -> u64 {
        match self {
            Self::Bits(bits) => bits,
            Self::Packets(packets) => packets.saturating_mul(length as u64 * 8),
        }
    }
}

/// Parses a number of bytes.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (digits, suffix) = text.split_at(split);
    let factor = if suffix.is_empty() { Some(1.0) } else { units::suffix(suffix) };
    let factor = factor
        .ok_or_else(|| format!("`{suffix}` is no suffix: use k, m, g (1000) or K, M, G (1024)"))?;
    let number: f64 = digits.parse().map_err(|_| "write a number such as 10M".to_string())?;
    let value = number * factor;
    // Beyond 2^53 a float is not exact, and nothing is that large.
    if value < 9e15 { Ok(value as u64) } else { Err("too large".into()) }
}

/// Parses a rate: bits a second, or datagrams a second with `pps` or `p` behind.
pub(in crate::cli) fn rate(text: &str) -> Result<Rate, UserError> {
    let read = match text.strip_suffix("pps").or_else(|| text.strip_suffix('p')) {
        Some(packets) => bytes(packets).map(Rate::Packets),
        None => bytes(text).map(Rate::Bits),
    };
    read.map_err(|why| {
        let meant = meant(text).unwrap_or_else(|| "10m".into());
        UserError::new(format!("`{text}` is no rate in iperf's form"))
            .because(why)
            .remedy(format!("-b {meant} (m is 1000000 bits a second)"))
    })
}

/// Returns a rate in iperf's form that is written with a unit, such as `10 Mbit/s`.
fn meant(text: &str) -> Option<String> {
    const UNITS: [&str; 6] = ["bit/s", "bits/s", "bps", "bit", "b/s", "b"];
    let split = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let unit = unit.trim().to_ascii_lowercase();
    let (prefix, unit) = match unit.chars().next()? {
        prefix @ ('k' | 'm' | 'g') => (Some(prefix), &unit[1..]),
        _ => (None, &*unit),
    };
    let is_rate = UNITS.contains(&unit) && digits.parse::<f64>().is_ok();
    is_rate.then(|| digits.chars().chain(prefix).collect())
}

/// Parses seconds, with decimals, or a time with its unit; at least 5 ms, as in iperf 2.
pub(in crate::cli) fn seconds(text: &str) -> Result<Duration, String> {
    let time = units::seconds(text)?;
    if time < LEAST {
        Err(format!("`{text}` is too short: 0.005 seconds at least"))
    } else {
        Ok(time)
    }
}

/// The longest pause between bursts.
const DAY: Duration = Duration::from_secs(86_400);

/// The shortest time that iperf 2 takes.
const LEAST: Duration = Duration::from_millis(5);

/// Parses milliseconds, with decimals; zero is allowed.
pub(super) fn millis(text: &str) -> Result<Duration, String> {
    let wrong = || "write milliseconds such as 10 or 0.5, up to a day".to_string();
    let number: f64 = text.parse().map_err(|_| wrong())?;
    let time = Duration::try_from_secs_f64(number * 1e-3).map_err(|_| wrong())?;
    if time > DAY { Err(wrong()) } else { Ok(time) }
}

/// Parses seconds, with decimals, or a time with its unit; zero is allowed.
pub(super) fn period(text: &str) -> Result<Duration, String> {
    let time = units::seconds(text)?;
    if time > DAY { Err(format!("`{text}` is longer than a day")) } else { Ok(time) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_are_iperf_2s() {
        assert_eq!(bytes("40M"), Ok(41_943_040));
        assert_eq!(bytes("40m"), Ok(40_000_000));
        assert_eq!((bytes("16K"), bytes("1.5k"), bytes("1470")), (Ok(16_384), Ok(1500), Ok(1470)));
        assert_eq!((bytes("1g"), bytes("1G")), (Ok(1_000_000_000), Ok(1 << 30)));
        assert!(bytes("40MB").is_err() && bytes("").is_err() && bytes("M").is_err());
        assert!(bytes("99999999999G").is_err() && bytes("-1").is_err());
    }

    #[test]
    fn rates_in_bits_or_packets() {
        assert_eq!(rate("1M"), Ok(Rate::Bits(1_048_576)));
        assert_eq!(rate("100pps").unwrap().bits(1000), 800_000);
        assert_eq!(rate("1kp"), Ok(Rate::Packets(1000)));
        for (wrong, right) in [
            ("10Mbps", "10m"),
            ("10 Mbit/s", "10m"),
            ("1.5Gb/s", "1.5g"),
            ("500 bps", "500"),
            ("x", "10m"),
        ] {
            let told = rate(wrong).unwrap_err();
            assert!(told.remedy.starts_with(&format!("-b {right} (")), "{wrong}: {told:?}");
        }
    }

    #[test]
    fn times() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert_eq!(seconds("1s"), Ok(Duration::from_secs(1)));
        assert_eq!(
            (period("0"), period("1 min")),
            (Ok(Duration::ZERO), Ok(Duration::from_secs(60)))
        );
        assert_eq!(millis("0.5"), Ok(Duration::from_micros(500)));
        assert!(seconds("0").is_err() && seconds("nan").is_err() && period("25 h").is_err());
        assert!(millis("-1").is_err() && millis("1e300").is_err());
    }
}

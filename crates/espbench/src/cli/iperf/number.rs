//! Numbers with iperf 2's suffixes, as plans have them, too.

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
pub(in crate::cli) fn rate(text: &str) -> Result<Rate, String> {
    match text.strip_suffix("pps").or_else(|| text.strip_suffix('p')) {
        Some(packets) => bytes(packets).map(Rate::Packets),
        None => bytes(text).map(Rate::Bits),
    }
}

/// Parses seconds, with decimals; at least 5 ms, as in iperf 2.
pub(in crate::cli) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "write seconds such as 10 or 0.5".to_string())?;
    if (0.005..=86_400.0 * 365.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("it must be at least 0.005 seconds".into())
    }
}

/// Parses milliseconds, with decimals; zero is allowed.
pub(super) fn millis(text: &str) -> Result<Duration, String> {
    within(text, 1e-3, "milliseconds such as 10 or 0.5")
}

/// Parses seconds, with decimals; zero is allowed.
pub(super) fn period(text: &str) -> Result<Duration, String> {
    within(text, 1.0, "seconds such as 1 or 0.1")
}

fn within(text: &str, unit: f64, example: &str) -> Result<Duration, String> {
    let number: f64 = text.parse().map_err(|_| format!("write {example}"))?;
    let seconds = number * unit;
    if (0.0..=86_400.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err(format!("out of range: write {example}"))
    }
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
    }

    #[test]
    fn times() {
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        assert!(seconds("0").is_err() && seconds("nan").is_err() && seconds("1s").is_err());
    }
}

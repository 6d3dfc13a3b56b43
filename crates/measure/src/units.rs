//! Quantities as people write them: "10 s", "40 Mbit/s", "1470 B".
//!
//! Prefixes follow the SI: k is 1000; Ki, Mi and Gi are powers of 1024 (IEC 80000-13). A number of
//! the wrong kind is an error that names the units that would do. Bit rates and sizes may have a suffix of iperf 2
//! in place of a unit, as its `-b 1M` has.

use alloc::format;
use alloc::string::{String, ToString};
use core::time::Duration;

/// A kind of quantity, with its units as factors of the base unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Base unit: second.
    Time,
    /// Base unit: bit per second.
    BitRate,
    /// Base unit: byte.
    Size,
    /// Base unit: event (message, probe) per second.
    Rate,
    /// Base unit: metre.
    Length,
    /// Base unit: 1.
    Proportion,
    /// Base unit: ampere.
    Current,
    /// Base unit: coulomb.
    Charge,
}

impl Dimension {
    /// Returns the quantity in words, with its article.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Time => "a time",
            Self::BitRate => "a bit rate",
            Self::Size => "a size",
            Self::Rate => "a rate",
            Self::Length => "a length",
            Self::Proportion => "a proportion",
            Self::Current => "a current",
            Self::Charge => "a charge",
        }
    }

    /// Returns the accepted units and their factors; the first of equal factors is the one printed.
    #[must_use]
    pub const fn units(self) -> &'static [(&'static str, f64)] {
        match self {
            Self::Time => &[
                ("ns", 1e-9),
                ("us", 1e-6),
                ("µs", 1e-6),
                ("ms", 1e-3),
                ("s", 1.0),
                ("min", 60.0),
                ("h", 3600.0),
                ("d", 86_400.0),
            ],
            Self::BitRate => &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)],
            Self::Size => &[
                ("B", 1.0),
                ("kB", 1e3),
                ("KiB", 1024.0),
                ("MB", 1e6),
                ("MiB", 1_048_576.0),
                ("GB", 1e9),
                ("GiB", 1_073_741_824.0),
            ],
            Self::Rate => &[("/s", 1.0), ("messages/s", 1.0), ("probes/s", 1.0), ("Hz", 1.0)],
            Self::Length => &[("m", 1.0), ("km", 1e3), ("cm", 0.01), ("mm", 0.001)],
            Self::Proportion => &[("%", 0.01), ("percent", 0.01)],
            Self::Current => &[("mA", 1e-3), ("uA", 1e-6), ("A", 1.0)],
            Self::Charge => &[("mC", 1e-3), ("uC", 1e-6), ("mAs", 1e-3), ("C", 1.0)],
        }
    }

    /// Every dimension.
    pub const ALL: [Self; 8] = [
        Self::Time,
        Self::BitRate,
        Self::Size,
        Self::Rate,
        Self::Length,
        Self::Proportion,
        Self::Current,
        Self::Charge,
    ];

    /// Returns the dimension of a unit, with the factor to its base unit.
    #[must_use]
    pub fn of(unit: &str) -> Option<(Self, f64)> {
        Self::ALL.into_iter().find_map(|dimension| {
            let (_, factor) = dimension.units().iter().find(|(name, _)| *name == unit)?;
            Some((dimension, *factor))
        })
    }

    fn expected(self) -> String {
        let mut list = String::new();
        for (unit, _) in self.units() {
            if !list.is_empty() {
                list.push_str(", ");
            }
            list.push_str(unit);
        }
        list
    }
}

/// Parses `text` as a quantity of that dimension, in its base unit.
///
/// # Errors
/// A sentence that says what is wrong and which units would do.
pub fn parse(text: &str, dimension: Dimension) -> Result<f64, String> {
    let text = text.trim();
    let split = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '+' | '-')))
        .unwrap_or(text.len());
    // 1e6 is a number too: an exponent belongs to the digits before it.
    let split = match text[split..].strip_prefix(['e', 'E']) {
        Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit()) => {
            let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
            split + 1 + digits
        }
        _ => split,
    };
    let (digits, unit) = (text[..split].replace('_', ""), text[split..].trim());
    let number: f64 = digits.parse().map_err(|_| {
        format!(
            "`{text}` is not {}: write a number and a unit, such as `10 {}`",
            dimension.name(),
            dimension.units()[0].0
        )
    })?;
    // Nothing is as little in any unit.
    if unit.is_empty() && number == 0.0 {
        return Ok(0.0);
    }
    if unit.is_empty() {
        return Err(format!("`{text}` has no unit: add one of {}", dimension.expected()));
    }
    let suffixed = matches!(dimension, Dimension::BitRate | Dimension::Size);
    let named = dimension.units().iter().find(|(name, _)| *name == unit).map(|it| it.1);
    let Some(factor) = named.or_else(|| suffix(unit).filter(|_| suffixed)) else {
        return Err(format!(
            "`{unit}` is not a unit of {}: use one of {}",
            &dimension.name()[2..],
            dimension.expected()
        ));
    };
    let value = number * factor;
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(format!("`{text}` must not be negative or infinite"))
    }
}

/// Returns the factor of a suffix of iperf 2 (`stdio.c`, `byte_atoi`): k, m, g are powers of 1000; K, M, G are powers
/// of 1024.
#[must_use]
pub fn suffix(text: &str) -> Option<f64> {
    Some(match text {
        "k" => 1e3,
        "m" => 1e6,
        "g" => 1e9,
        "K" => 1024.0,
        "M" => 1024.0 * 1024.0,
        "G" => 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    })
}

/// Returns the factor by which a value in `from` becomes one in `to`; `None` where they measure
/// different things. Equal units need not be known ones (`packets`).
#[must_use]
pub fn conversion(from: &str, to: &str) -> Option<f64> {
    if from == to {
        return Some(1.0);
    }
    let (a, b) = (Dimension::of(from)?, Dimension::of(to)?);
    (a.0 == b.0).then(|| a.1 / b.1)
}

/// Parses a time such as `250 ms`.
///
/// # Errors
/// As [`parse`], and for times over 365 days.
pub fn duration(text: &str) -> Result<Duration, String> {
    let seconds = parse(text, Dimension::Time)?;
    if seconds > 365.0 * 86_400.0 {
        return Err(format!("`{text}` is longer than a year"));
    }
    Ok(Duration::from_nanos(libm::round(seconds * 1e9) as u64))
}

/// Parses a time as a command line has it: a bare number is in seconds.
///
/// # Errors
/// As [`duration`].
pub fn seconds(text: &str) -> Result<Duration, String> {
    let is_bare = text.trim().parse::<f64>().is_ok_and(f64::is_finite);
    if is_bare { duration(&format!("{text} s")) } else { duration(text) }
}

/// Prints a time with the largest unit that keeps it exact, so that [`duration`] reads it back; one minute is 60 s, as
/// people write the times of tests.
#[must_use]
pub fn print_duration(time: Duration) -> String {
    let nanos = time.as_nanos();
    let units = [
        ("h", 3_600_000_000_000),
        ("min", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
    ];
    for (unit, factor) in units {
        if nanos.is_multiple_of(factor) && nanos > 0 && (unit != "min" || nanos > factor) {
            return format!("{} {unit}", nanos / factor);
        }
    }
    if nanos == 0 { "0 s".to_string() } else { format!("{nanos} ns") }
}

/// Returns the payload bits a second over a span, in Mbit/s; `None` where the span is empty.
#[must_use]
pub fn megabits(bytes: u64, span: Duration) -> Option<f64> {
    let seconds = span.as_secs_f64();
    (seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn units_scale_to_the_base_unit() {
        assert_eq!(parse("40 Mbit/s", Dimension::BitRate), Ok(40e6));
        assert_eq!(parse("1e3kbit/s", Dimension::BitRate), Ok(1e6));
        assert_eq!(parse("16 KiB", Dimension::Size), Ok(16_384.0));
        assert_eq!(parse("12.5 /s", Dimension::Rate), Ok(12.5));
        assert_eq!(parse("1M", Dimension::BitRate), Ok(1_048_576.0));
        assert_eq!(parse("1.5 m", Dimension::BitRate), Ok(1_500_000.0));
        assert_eq!(parse("16K", Dimension::Size), Ok(16_384.0));
        assert!(parse("1M", Dimension::Rate).is_err() && parse("1m", Dimension::Time).is_err());
        assert_eq!(parse("1 %", Dimension::Proportion), Ok(0.01));
        assert_eq!(duration("1_000 us"), Ok(Duration::from_millis(1)));
        assert_eq!(duration("0.5ms"), Ok(Duration::from_micros(500)));
        assert_eq!(duration("1d"), duration("24h"));
        assert_eq!(
            print_duration(Duration::from_secs(86_400)),
            "24 h",
            "days are read, not printed"
        );
    }

    #[test]
    fn a_bare_number_of_a_command_line_is_in_seconds() {
        assert_eq!((seconds("3"), seconds(" 0.2")), (duration("3 s"), duration("200 ms")));
        assert_eq!(seconds("20 ms"), duration("20 ms"));
        assert!(seconds("-3").unwrap_err().contains("must not be negative"));
        for wrong in ["", "nan", "inf", "1e300", "soon"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn conversions_stay_within_a_dimension() {
        assert_eq!(conversion("Mbit/s", "bit/s"), Some(1e6));
        assert_eq!(conversion("s", "ms"), Some(1000.0));
        assert_eq!(conversion("packets", "packets"), Some(1.0));
        assert_eq!(conversion("%", "percent"), Some(1.0));
        assert_eq!(conversion("ms", "bit/s"), None);
        assert_eq!(conversion("packets", "frames"), None);
    }

    #[test]
    fn what_is_wrong_is_said_with_what_would_do() {
        let error = |text| duration(text).unwrap_err();
        assert_eq!(error("10"), "`10` has no unit: add one of ns, us, µs, ms, s, min, h, d");
        assert_eq!(
            error("10 MB"),
            "`MB` is not a unit of time: use one of ns, us, µs, ms, s, min, h, d"
        );
        assert!(error("soon").starts_with("`soon` is not a time: write a number and a unit"));
        assert!(error("-1 s").contains("must not be negative"));
        assert!(error("1e9 h").contains("longer than a year"));
    }

    proptest! {
        #[test]
        fn printed_durations_read_back(nanos in 0_u64..1_000_000_000_000_000) {
            let time = Duration::from_nanos(nanos);
            // Up to 2^53 ns the float in between is exact.
            prop_assert_eq!(duration(&print_duration(time)), Ok(time));
        }

        #[test]
        fn no_text_panics(text in "\\PC{0,20}") {
            for dimension in [Dimension::Time, Dimension::BitRate, Dimension::Size, Dimension::Rate] {
                let _ = parse(&text, dimension);
            }
        }
    }
}

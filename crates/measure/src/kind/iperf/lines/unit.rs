//! Amounts and rates as iperf 2 writes them (`byte_snprintf` of `stdio.c`): at most four places.

use alloc::format;
use alloc::string::String;

/// Unit in which rates and amounts are shown: `-f`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// True for Bytes, in powers of 1024; false for bits, in powers of 1000.
    bytes: bool,
    /// Power of the prefix; `None` takes what fits.
    power: Option<u8>,
}

/// Bits with the prefix that fits.
pub const ADAPTIVE: Unit = Unit { bytes: false, power: None };

const PREFIXES: [&str; 6] = ["", "K", "M", "G", "T", "P"];

impl Unit {
    /// Returns what a letter of `-f` means: `a`, `b`, `k`, `m`, `g`, `t` or `p` for bits, capital
    /// letters for Bytes.
    #[must_use]
    pub fn from_letter(letter: char) -> Option<Self> {
        let power = match letter.to_ascii_lowercase() {
            'a' => None,
            'b' => Some(0),
            'k' => Some(1),
            'm' => Some(2),
            'g' => Some(3),
            't' => Some(4),
            'p' => Some(5),
            _ => return None,
        };
        Some(Self { bytes: letter.is_ascii_uppercase(), power })
    }

    /// Writes an amount of bytes; always in Bytes, with the letter's prefix.
    #[must_use]
    pub fn amount(self, bytes: f64) -> String {
        Self { bytes: true, ..self }.scaled(bytes)
    }

    /// Writes bytes a second, without the `/sec`.
    #[must_use]
    pub fn rate(self, bytes_a_second: f64) -> String {
        self.scaled(if self.bytes { bytes_a_second } else { bytes_a_second * 8.0 })
    }

    /// Writes an amount of bytes with the prefix that fits, whatever the unit, and without a plural, as
    /// iperf 2 writes what is under way.
    #[must_use]
    pub fn adaptive_bytes(self, bytes: f64) -> String {
        let text = Self { bytes: true, power: None }.scaled(bytes);
        text.strip_suffix('s').map_or_else(|| text.clone(), Into::into)
    }

    fn scaled(self, mut value: f64) -> String {
        let base = if self.bytes { 1024.0 } else { 1000.0 };
        let mut power = usize::from(self.power.unwrap_or_default());
        if self.power.is_some() {
            (0..power).for_each(|_| value /= base);
        } else {
            while value >= base && power + 1 < PREFIXES.len() {
                value /= base;
                power += 1;
            }
        }
        let name = if self.bytes { "Bytes" } else { "bits" };
        format!("{} {}{name}", places(value), PREFIXES[power])
    }
}

/// Returns the value with three significant digits, or with all digits before the point.
fn places(value: f64) -> String {
    if value < 0.9995 {
        format!("{value:4.3}")
    } else if value < 9.995 {
        format!("{value:4.2}")
    } else if value < 99.95 {
        format!("{value:4.1}")
    } else {
        format!("{value:4.0}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_iperf_2_writes_them() {
        let of = |letter| Unit::from_letter(letter).unwrap();
        assert_eq!(ADAPTIVE.amount(5_242_880.0), "5.00 MBytes");
        assert_eq!(ADAPTIVE.rate(5_242_880.0), "41.9 Mbits");
        assert_eq!(
            (ADAPTIVE.amount(0.0), ADAPTIVE.rate(0.0)),
            ("0.000 Bytes".into(), "0.000 bits".into())
        );
        assert_eq!(of('k').rate(2_097_152.0), "16777 Kbits");
        assert_eq!(of('m').rate(2_097_152.0), "16.8 Mbits");
        assert_eq!(of('g').rate(2_097_152.0), "0.017 Gbits");
        assert_eq!(of('b').rate(2_097_152.0), "16777216 bits");
        assert_eq!(of('K').rate(2_097_152.0), "2048 KBytes");
        assert_eq!(of('M').rate(2_097_152.0), "2.00 MBytes");
        assert_eq!(of('A').rate(2_097_152.0), "2.00 MBytes");
        // The amount takes the letter's prefix, and is in Bytes whatever its case.
        assert_eq!(of('k').amount(2_097_152.0), "2048 KBytes");
        assert_eq!(of('g').amount(2_097_152.0), "0.002 GBytes");
        assert_eq!(Unit::from_letter('x'), None);
    }
}

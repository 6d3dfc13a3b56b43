//! Numbers in sentences.

use crate::digits;
use alloc::format;
use alloc::string::{String, ToString};

/// Rounds to three digits, which are enough in a sentence.
pub(crate) fn number(value: f64) -> String {
    digits::three(value)
}

/// Prints bytes as KB of 1024, as Espressif's documents have them.
pub(crate) fn kb(bytes: f64) -> String {
    format!("{} KB", number(libm::round(bytes / 1024.0 * 10.0) / 10.0))
}

/// Prints bytes, as KB where that is shorter to read.
pub(crate) fn bytes(bytes: u32) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        _ => kb(bytes.into()),
    }
}

/// Prints a rate in Mbit/s.
pub(crate) fn mbit(mbit_s: f64) -> String {
    format!("{} Mbit/s", number(mbit_s))
}

/// Prints `1 stream`, `2 streams`.
pub(crate) fn count(n: u32, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => n.to_string() + " " + what + "s",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(bytes(5760), "5760 B");
        assert_eq!(bytes(40_960), "40 KB");
        assert_eq!(kb(65_535.0), "64 KB");
        assert_eq!(kb(-1638.0), "-1.6 KB");
        assert_eq!(mbit(9.216), "9.22 Mbit/s");
        assert_eq!(count(1, "stream"), "1 stream");
        assert_eq!(count(2, "stream"), "2 streams");
    }
}

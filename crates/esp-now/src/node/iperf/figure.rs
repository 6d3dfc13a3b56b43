//! Numbers as C's `printf` writes them.

use core::fmt;

/// Number with two decimals, as `%0.2f`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fixed2(pub(super) f64);

impl fmt::Display for Fixed2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Both round the binary value exactly; only the names of not-a-number differ.
        if self.0.is_nan() { f.write_str("nan") } else { write!(f, "{:.2}", self.0) }
    }
}

/// Converts an unsigned value as `%d` prints it.
pub(super) const fn int(value: u32) -> i32 {
    value.cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn as_newlib_prints() {
        let text = |x: f64| Fixed2(x).to_string();
        assert_eq!(
            (text(0.0), text(12.3456), text(0.125)),
            ("0.00".into(), "12.35".into(), "0.12".into())
        );
        assert_eq!((text(f64::NAN), text(1.0 / 0.0)), ("nan".into(), "inf".into()));
        assert_eq!(int(u32::MAX), -1);
    }
}

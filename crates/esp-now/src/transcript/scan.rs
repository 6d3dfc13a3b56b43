//! A cursor over the text of a line: each step takes what it names, or fails.

use espbench_ieee80211::mac::Mac;

/// Rest of a text that is still to be parsed.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineCursor<'a>(&'a str);

impl<'a> LineCursor<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(text)
    }

    /// Takes this text. A space in it stands for one or more of them: the component's releases
    /// differ in the columns of their tables.
    pub(super) fn lit(&mut self, text: &str) -> Option<()> {
        let mut rest = self.0;
        for (i, word) in text.split(' ').enumerate() {
            if i > 0 {
                rest = rest.strip_prefix(' ')?.trim_start_matches(' ');
            }
            rest = rest.strip_prefix(word)?;
        }
        self.0 = rest;
        Some(())
    }

    /// Takes this text if it stands here; returns whether it does.
    pub(super) fn maybe(&mut self, text: &str) -> bool {
        self.lit(text).is_some()
    }

    /// Takes and returns everything before `text`, and skips `text` itself.
    pub(super) fn until(&mut self, text: &str) -> Option<&'a str> {
        let (before, rest) = self.0.split_once(text)?;
        self.0 = rest;
        Some(before)
    }

    /// Takes and returns everything before the last `text`, and skips `text` itself.
    pub(super) fn until_last(&mut self, text: &str) -> Option<&'a str> {
        let (before, rest) = self.0.rsplit_once(text)?;
        self.0 = rest;
        Some(before)
    }

    /// Takes the rest.
    pub(super) fn rest(&mut self) -> &'a str {
        core::mem::take(&mut self.0)
    }

    /// Succeeds if nothing but blanks is left.
    pub(super) fn end(self) -> Option<()> {
        self.0.trim().is_empty().then_some(())
    }

    /// Takes a decimal integer, with blanks before it (`%2d`).
    pub(super) fn int<T: TryFrom<i64>>(&mut self) -> Option<T> {
        self.0 = self.0.trim_start_matches(' ');
        let negative = self.0.starts_with('-');
        let digits = self.digits_from(usize::from(negative))?;
        let value: i64 = digits.parse().ok()?;
        T::try_from(if negative { -value } else { value }).ok()
    }

    /// Takes digits that start `skip` bytes further on.
    fn digits_from(&mut self, skip: usize) -> Option<&'a str> {
        let text = self.0.get(skip..)?;
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, rest) = text.split_at_checked(end)?;
        self.0 = rest;
        (!digits.is_empty()).then_some(digits)
    }

    /// Takes `%0.2f`: returns the value times ten to the power of `scale`. It fails if the text has
    /// more digits than that after the point.
    pub(super) fn decimal(&mut self, scale: u32) -> Option<i64> {
        self.0 = self.0.trim_start_matches(' ');
        let negative = self.0.starts_with('-');
        let whole: i64 = self.digits_from(usize::from(negative))?.parse().ok()?;
        let mut value = whole.checked_mul(10_i64.checked_pow(scale)?)?;
        if self.0.starts_with('.') {
            let digits = self.digits_from(1)?;
            let left = scale.checked_sub(u32::try_from(digits.len()).ok()?)?;
            let part: i64 = digits.parse().ok()?;
            value = value.checked_add(part.checked_mul(10_i64.checked_pow(left)?)?)?;
        }
        Some(if negative { -value } else { value })
    }

    /// Takes `%0.2f` that may be no number: `None` inside for `nan`, `-nan`, `inf`, `-inf`.
    pub(super) fn decimal_or_nan(&mut self, scale: u32) -> Option<Option<i64>> {
        let mut blank = Self(self.0.trim_start_matches(' '));
        for name in ["nan", "-nan", "inf", "-inf"] {
            if blank.maybe(name) {
                *self = blank;
                return Some(None);
            }
        }
        self.decimal(scale).map(Some)
    }

    /// Takes hexadecimal digits after `0x`.
    pub(super) fn hex(&mut self) -> Option<u32> {
        let text = self.0.strip_prefix("0x")?;
        let end = text.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(text.len());
        let (digits, rest) = text.split_at_checked(end)?;
        self.0 = rest;
        u32::from_str_radix(digits, 16).ok()
    }

    /// Takes an address of 17 characters.
    pub(super) fn mac(&mut self) -> Option<Mac> {
        let (mac, rest) = self.0.split_at_checked(17)?;
        self.0 = rest;
        Mac::parse(mac.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_to_the_last_digit() {
        let decimal = |text, scale| LineCursor::new(text).decimal(scale);
        assert_eq!(decimal("0.55 Mbps", 6), Some(550_000));
        assert_eq!(decimal(" -0.05", 2), Some(-5));
        assert_eq!(decimal("12", 2), Some(1200));
        assert_eq!(decimal("1.2345", 3), None);
        assert_eq!(decimal("99999999999999999999.00", 2), None);
        assert_eq!(decimal("9223372036854775807.00", 2), None);
        assert_eq!(decimal("1.", 2), None);
        assert_eq!(decimal(".5", 2), None);
        assert_eq!(LineCursor::new("-nan ms").decimal_or_nan(2), Some(None));
        assert_eq!(LineCursor::new("nano").decimal_or_nan(2), Some(None));
        assert_eq!(LineCursor::new("none").decimal_or_nan(2), None);
        assert_eq!(LineCursor::new(" -1, ").int::<i32>(), Some(-1));
        assert_eq!(LineCursor::new("256").int::<u8>(), None);
        assert_eq!(LineCursor::new("0xffffffff (ESP_FAIL)").hex(), Some(u32::MAX));
        assert_eq!(LineCursor::new("0x").hex(), None);
    }

    #[test]
    fn a_blank_stands_for_several() {
        let mut scan = LineCursor::new("a   b c");
        assert_eq!(scan.lit("a b"), Some(()));
        assert_eq!(scan.lit("c"), None);
        assert_eq!(scan.lit(" "), Some(()));
        assert_eq!(scan.rest(), "c");
        assert_eq!(scan.end(), Some(()));
    }
}

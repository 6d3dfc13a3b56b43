//! Names of the type of service, as `-S` of iperf 2.1.8 takes them (`dscp.c`).

/// Names and values: RFC 2474 and 2597 (af, cs), RFC 3246 (ef), the access categories of Wi-Fi, and
/// the bits of RFC 1349. The values of `le`, `nqb` and `nqb2` are iperf's: code points without the
/// shift by two bits that the others have.
pub const NAMES: [(&str, u8); 31] = [
    ("af11", 0x28),
    ("af12", 0x30),
    ("af13", 0x38),
    ("af21", 0x48),
    ("af22", 0x50),
    ("af23", 0x58),
    ("af31", 0x68),
    ("af32", 0x70),
    ("af33", 0x78),
    ("af41", 0x88),
    ("af42", 0x90),
    ("af43", 0x98),
    ("cs0", 0x00),
    ("cs1", 0x20),
    ("cs2", 0x40),
    ("cs3", 0x60),
    ("cs4", 0x80),
    ("cs5", 0xA0),
    ("cs6", 0xC0),
    ("cs7", 0xE0),
    ("ef", 0xB8),
    ("le", 0x01),
    ("nqb", 0x05),
    ("nqb2", 0x2D),
    ("ac_be", 0x00),
    ("ac_bk", 0x20),
    ("ac_vi", 0x80),
    ("ac_vo", 0xB8),
    ("lowdelay", 0x10),
    ("throughput", 0x08),
    ("reliability", 0x04),
];

/// Returns the byte of a name, or of a number: decimal, hexadecimal (`0x`) or octal (`0`).
#[must_use]
pub fn parse(text: &str) -> Option<u8> {
    if let Some((_, value)) = NAMES.iter().find(|(name, _)| name.eq_ignore_ascii_case(text)) {
        return Some(*value);
    }
    let (digits, radix) = match text.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&text[2..], 16),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    };
    // `from_str_radix` takes a sign; iperf 2's range leaves out what is below zero.
    let number = digits.bytes().all(|b| b.is_ascii_alphanumeric());
    number.then(|| u8::from_str_radix(digits, radix).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        assert_eq!((parse("ef"), parse("AC_VO"), parse("cs7")), (Some(184), Some(184), Some(224)));
        assert_eq!((parse("0xb8"), parse("184"), parse("0270")), (Some(184), Some(184), Some(184)));
        assert_eq!((parse("0"), parse("255"), parse("256")), (Some(0), Some(255), None));
        assert_eq!((parse(""), parse("-1"), parse("+1"), parse("af14")), (None, None, None, None));
    }
}

//! IEEE 802 MAC addresses, as ESP-NOW uses them.

use core::fmt;

/// A 48-bit address, first octet first (IEEE 802-2014, clause 8). Group ids of the esp-now
/// component have the same six bytes and stand in the same fields.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// Broadcast address, `ff:ff:ff:ff:ff:ff`.
    pub const BROADCAST: Self = Self([0xFF; 6]);
    /// Null address, `00:00:00:00:00:00`.
    pub const ZERO: Self = Self([0; 6]);

    /// Returns whether the address is the broadcast address.
    #[must_use]
    #[inline]
    pub fn is_broadcast(self) -> bool {
        self == Self::BROADCAST
    }

    /// Returns whether the address is locally administered, as those are that a device makes up for itself.
    #[must_use]
    #[inline]
    pub const fn is_local(self) -> bool {
        self.0[0] & 2 != 0
    }

    /// Returns the address at `offset` of `bytes`, if six bytes stand there.
    #[must_use]
    #[inline]
    pub fn at(bytes: &[u8], offset: usize) -> Option<Self> {
        bytes.get(offset..)?.first_chunk().copied().map(Self)
    }

    /// Parses `xx:xx:xx:xx:xx:xx` (17 characters, either case).
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<Self> {
        let text: &[u8; 17] = text.try_into().ok()?;
        let mut mac = [0; 6];
        for (i, byte) in mac.iter_mut().enumerate() {
            let digit = |at: usize| char::from(text[at]).to_digit(16);
            *byte = (digit(3 * i)? * 16 + digit(3 * i + 1)?) as u8;
            if i < 5 && text[3 * i + 2] != b':' {
                return None;
            }
        }
        Some(Self(mac))
    }
}

impl fmt::Display for Mac {
    /// Writes lower-case hexadecimal with colons, the form of `MACSTR` in ESP-IDF.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl fmt::Debug for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn broadcast_is_every_bit() {
        assert!(Mac::BROADCAST.is_broadcast());
        assert!(
            !Mac::ZERO.is_broadcast() && !Mac([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE]).is_broadcast()
        );
    }

    #[test]
    fn an_address_among_bytes() {
        let bytes = [9, 1, 2, 3, 4, 5, 6, 7];
        assert_eq!(Mac::at(&bytes, 1), Some(Mac([1, 2, 3, 4, 5, 6])));
        assert_eq!(Mac::at(&bytes, 2), Some(Mac([2, 3, 4, 5, 6, 7])));
        assert_eq!(Mac::at(&bytes, 3), None);
        assert_eq!(std::format!("{:?}", Mac([0xAB, 0, 0, 0, 0, 0x0F])), "ab:00:00:00:00:0f");
    }

    #[test]
    fn text_reads_back_and_rubbish_is_refused() {
        let mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);
        assert_eq!(mac.to_string(), "24:0a:c4:00:00:01");
        assert_eq!(Mac::parse(b"24:0A:c4:00:00:01"), Some(mac));
        for bad in [
            "24:0a:c4:00:00",
            "24-0a-c4-00-00-01",
            "24:0a:c4:00:00:0g",
            "24:0a:c4:00:00:01 ",
            "24:0a:c4:00:00-01",
            "24-0a:c4:00:00:01",
        ] {
            assert_eq!(Mac::parse(bad.as_bytes()), None, "{bad}");
        }
        assert_eq!(Mac::at(&[0; 6], 1), None);
        assert_eq!(Mac::at(&[0; 6], usize::MAX), None);
    }
}

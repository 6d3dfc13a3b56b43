//! As much of the protobuf encoding as the handshake needs: a reader of fields.
//!
//! A field is a tag, a varint of `number << 3 | wire type`, and a value. Varints are up to ten
//! bytes of seven bits, least significant first (protobuf.dev, "Encoding").
//!
//! | wire type | value |
//! |---|---|
//! | 0 | varint |
//! | 1 | 8 bytes |
//! | 2 | length as a varint, then so many bytes |
//! | 5 | 4 bytes |
//!
//! Types 3 and 4, the groups of proto2, and 6 and 7 are errors.

/// Value of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FieldValue<'a> {
    /// Number.
    Varint(u64),
    /// Bytes: a string or a message.
    Bytes(&'a [u8]),
    /// Four or eight bytes; no field of the handshake has such a value.
    Fixed,
}

impl<'a> FieldValue<'a> {
    /// Returns the number; `None` for another wire type.
    pub(super) fn varint(self) -> Option<u64> {
        if let Self::Varint(value) = self { Some(value) } else { None }
    }

    /// Returns the bytes; `None` for another wire type.
    pub(super) fn bytes(self) -> Option<&'a [u8]> {
        if let Self::Bytes(bytes) = self { Some(bytes) } else { None }
    }
}

/// Fields of a message, in the order in which they stand. An error ends them with `Some(None)`.
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Option<(u32, FieldValue<'a>)>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_none() {
            self.0 = &[];
        }
        Some(field)
    }
}

impl<'a> Fields<'a> {
    fn field(&mut self) -> Option<(u32, FieldValue<'a>)> {
        let tag = u32::try_from(self.varint()?).ok()?;
        let number = tag >> 3;
        if number == 0 {
            return None;
        }
        let value = match tag & 7 {
            0 => FieldValue::Varint(self.varint()?),
            1 => self.take(8).map(|_| FieldValue::Fixed)?,
            2 => {
                let len = usize::try_from(self.varint()?).ok()?;
                FieldValue::Bytes(self.take(len)?)
            }
            5 => self.take(4).map(|_| FieldValue::Fixed)?,
            _ => return None,
        };
        Some((number, value))
    }

    /// Reads a varint of up to ten bytes, of which the last holds one bit; longer ones are errors.
    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for place in 0..10 {
            let byte = *self.take(1)?.first()?;
            if place == 9 && byte > 1 {
                return None;
            }
            value |= u64::from(byte & 0x7F) << (7 * place);
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (part, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn all(bytes: &[u8]) -> Option<Vec<(u32, FieldValue<'_>)>> {
        Fields(bytes).collect()
    }

    #[test]
    fn fields_of_every_wire_type() {
        let bytes =
            [0x08, 0x96, 0x01, 0x11, 1, 2, 3, 4, 5, 6, 7, 8, 0x1A, 2, 9, 9, 0x25, 1, 2, 3, 4];
        let expected = [
            (1, FieldValue::Varint(150)),
            (2, FieldValue::Fixed),
            (3, FieldValue::Bytes(&[9, 9])),
            (4, FieldValue::Fixed),
        ];
        assert_eq!(all(&bytes).unwrap(), expected);
    }

    #[test]
    fn varints_are_ten_bytes_at_most() {
        let mut bytes = [0xFF; 11];
        (bytes[0], bytes[10]) = (0x08, 0x01);
        assert_eq!(all(&bytes).unwrap(), [(1, FieldValue::Varint(u64::MAX))]);
        bytes[10] = 0x02;
        assert_eq!(all(&bytes), None, "a 65th bit");
        assert_eq!(
            all(&[0x08, 0x80, 0x00]).unwrap(),
            [(1, FieldValue::Varint(0))],
            "not the shortest"
        );
        let long = [0x08, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00];
        assert_eq!(all(&long), None, "eleven bytes");
    }

    #[test]
    fn rubbish_is_refused() {
        for bad in
            [&[0x00, 0][..], &[0x0B], &[0x0C], &[0x0E], &[0x1A, 2, 9], &[0x1A], &[0x08], &[0x80]]
        {
            assert_eq!(all(bad), None, "{bad:02x?}");
        }
        assert_eq!(all(&[0x1A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01]), None);
        assert_eq!(all(&[0x80, 0x80, 0x80, 0x80, 0x10, 0]), None, "a tag above 32 bits");
    }
}

//! The data types of section 1.5: integers, strings, binary data, variable byte integers.

use super::{MalformedPacket, NoRoom};

/// The largest remaining length: four bytes of seven bits (2.2.3, 5: 1.5.5).
pub const MAX_REMAINING: usize = 268_435_455;

/// Reads a variable byte integer at the start of `bytes`: its value and how many bytes it took.
/// `None` where it is cut off.
///
/// # Errors
/// Longer than four bytes.
pub fn varint(bytes: &[u8]) -> Result<Option<(usize, usize)>, MalformedPacket> {
    let mut value = 0;
    for (at, byte) in bytes.iter().take(4).enumerate() {
        value |= usize::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            return Ok(Some((value, at + 1)));
        }
    }
    if bytes.len() < 4 {
        Ok(None)
    } else {
        Err(MalformedPacket("a length of more than four bytes"))
    }
}

/// Takes fields from the front of a packet's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    /// Takes the next `len` bytes.
    ///
    /// # Errors
    /// Fewer are left; so for every method here.
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], MalformedPacket> {
        let (head, rest) = self
            .0
            .split_at_checked(len)
            .ok_or(MalformedPacket("it ends in the middle of a field"))?;
        self.0 = rest;
        Ok(head)
    }

    /// Reads one byte.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn u8(&mut self) -> Result<u8, MalformedPacket> {
        Ok(self.take(1)?[0])
    }

    /// Reads two bytes, big endian.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn u16(&mut self) -> Result<u16, MalformedPacket> {
        let b = self.take(2)?;
        Ok(u16::from_be_bytes([b[0], b[1]]))
    }

    /// Reads four bytes, big endian.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn u32(&mut self) -> Result<u32, MalformedPacket> {
        let b = self.take(4)?;
        Ok(u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    }

    /// Reads binary data: a length of two bytes, then the bytes.
    ///
    /// # Errors
    /// As [`take`](Self::take).
    pub fn binary(&mut self) -> Result<&'a [u8], MalformedPacket> {
        let len = self.u16()?;
        self.take(len.into())
    }

    /// Reads a UTF-8 string; U+0000 is not allowed in it (1.5.3, 5: 1.5.4).
    ///
    /// # Errors
    /// As [`take`](Self::take), and bytes that are not such a string.
    pub fn string(&mut self) -> Result<&'a str, MalformedPacket> {
        let bytes = self.binary()?;
        let text =
            core::str::from_utf8(bytes).map_err(|_| MalformedPacket("a string is not UTF-8"))?;
        if bytes.contains(&0) { Err(MalformedPacket("a string holds U+0000")) } else { Ok(text) }
    }

    /// Reads a packet identifier, which is never 0 (2.3.1, 5: 2.2.1).
    ///
    /// # Errors
    /// As [`take`](Self::take), and 0.
    pub fn packet_id(&mut self) -> Result<u16, MalformedPacket> {
        match self.u16()? {
            0 => Err(MalformedPacket("packet identifier 0")),
            id => Ok(id),
        }
    }

    /// Reads a variable byte integer.
    ///
    /// # Errors
    /// As [`take`](Self::take), and one of more than four bytes.
    pub fn varint(&mut self) -> Result<usize, MalformedPacket> {
        let (value, len) =
            varint(self.0)?.ok_or(MalformedPacket("it ends in the middle of a length"))?;
        self.take(len)?;
        Ok(value)
    }

    /// Checks that nothing is left.
    ///
    /// # Errors
    /// Bytes are left.
    pub const fn end(self) -> Result<(), MalformedPacket> {
        if self.0.is_empty() { Ok(()) } else { Err(MalformedPacket("bytes after its end")) }
    }
}

/// Writes one packet into a buffer.
#[derive(Debug)]
pub struct Writer<'b> {
    buf: &'b mut [u8],
    at: usize,
}

/// First byte, and a remaining length of one byte, which nearly every packet has.
const SHORT_HEADER: usize = 2;

impl<'b> Writer<'b> {
    /// Begins a packet whose body follows; [`finish`](Self::finish) puts the header before it.
    pub const fn new(buf: &'b mut [u8]) -> Self {
        Self { buf, at: SHORT_HEADER }
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// The buffer is full; so for every method here.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), NoRoom> {
        self.reserve(bytes.len())?.copy_from_slice(bytes);
        Ok(())
    }

    /// Appends `len` bytes that the caller fills in.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn reserve(&mut self, len: usize) -> Result<&mut [u8], NoRoom> {
        let end = self.at.checked_add(len).ok_or(NoRoom)?;
        let room = self.buf.get_mut(self.at..end).ok_or(NoRoom)?;
        self.at = end;
        Ok(room)
    }

    /// Appends binary data or a string, with its length.
    ///
    /// # Errors
    /// As [`put`](Self::put), and data of more than 65,535 bytes.
    pub fn binary(&mut self, bytes: &[u8]) -> Result<(), NoRoom> {
        let len = u16::try_from(bytes.len()).map_err(|_| NoRoom)?;
        self.put(&len.to_be_bytes())?;
        self.put(bytes)
    }

    /// Appends a variable byte integer.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    pub fn varint(&mut self, value: usize) -> Result<(), NoRoom> {
        let (bytes, len) = digits(value);
        self.put(&bytes[..len])
    }

    /// Puts `first` and the remaining length before the body and answers the packet's length.
    ///
    /// # Errors
    /// As [`put`](Self::put), and a body beyond [`MAX_REMAINING`].
    pub fn finish(self, first: u8) -> Result<usize, NoRoom> {
        let body = self.at - SHORT_HEADER;
        if body > MAX_REMAINING {
            return Err(NoRoom);
        }
        let (digits, count) = digits(body);
        let len = 1 + count + body;
        if len > self.buf.len() {
            return Err(NoRoom);
        }
        self.buf.copy_within(SHORT_HEADER..self.at, 1 + count);
        self.buf[0] = first;
        self.buf[1..=count].copy_from_slice(&digits[..count]);
        Ok(len)
    }
}

/// Encodes a variable byte integer in the fewest bytes (5: 1.5.5), and returns how many those are.
pub(super) const fn digits(mut value: usize) -> ([u8; 4], usize) {
    let mut out = [0; 4];
    let mut at = 0;
    loop {
        out[at] = (value & 0x7f) as u8;
        value >>= 7;
        if value == 0 || at == 3 {
            return (out, at + 1);
        }
        out[at] |= 0x80;
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Table 2.4 (5: table 1-1): the smallest and the largest value of each length.
    #[test]
    fn variable_byte_integers_of_the_standard() {
        let rows: [(usize, &[u8]); 8] = [
            (0, &[0x00]),
            (127, &[0x7f]),
            (128, &[0x80, 0x01]),
            (16_383, &[0xff, 0x7f]),
            (16_384, &[0x80, 0x80, 0x01]),
            (2_097_151, &[0xff, 0xff, 0x7f]),
            (2_097_152, &[0x80, 0x80, 0x80, 0x01]),
            (MAX_REMAINING, &[0xff, 0xff, 0xff, 0x7f]),
        ];
        for (value, bytes) in rows {
            assert_eq!(varint(bytes), Ok(Some((value, bytes.len()))));
            let (out, count) = digits(value);
            assert_eq!(&out[..count], bytes);
        }
        assert_eq!(varint(&[0x80, 0x80]), Ok(None));
        assert!(varint(&[0x80, 0x80, 0x80, 0x80]).is_err());
    }

    #[test]
    fn the_longest_packet_and_one_byte_more() {
        let mut buf = std::vec![0; MAX_REMAINING + 6];
        let mut writer = Writer::new(&mut buf);
        assert_eq!(writer.reserve(MAX_REMAINING + 1).map(|room| room.len()), Ok(MAX_REMAINING + 1));
        assert_eq!(writer.finish(0x30), Err(NoRoom));
        let mut writer = Writer::new(&mut buf);
        writer.reserve(MAX_REMAINING).expect("room")[0] = 7;
        assert_eq!(writer.finish(0x30), Ok(MAX_REMAINING + 5));
        assert_eq!(buf[..6], [0x30, 0xFF, 0xFF, 0xFF, 0x7F, 7]);
    }
}

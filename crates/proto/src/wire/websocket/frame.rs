//! The header of a frame (RFC 6455, section 5.2), and masking (section 5.3).

use super::MalformedFrame;

/// Bytes of the longest header: two, eight of the length, four of the mask.
pub const LONGEST_HEADER: usize = 14;

/// Bytes that a control frame may carry (section 5.5).
pub const MOST_CONTROL: usize = 125;

/// Kinds of frames (section 5.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// A further part of a message.
    Continuation,
    /// A message of text, which MQTT does not allow.
    Text,
    /// A message of bytes.
    Binary,
    /// The connection ends.
    Close,
    /// Are you there?
    Ping,
    /// I am.
    Pong,
}

impl Opcode {
    const ALL: [(u8, Self); 6] = [
        (0, Self::Continuation),
        (1, Self::Text),
        (2, Self::Binary),
        (8, Self::Close),
        (9, Self::Ping),
        (10, Self::Pong),
    ];

    fn of(code: u8) -> Option<Self> {
        Self::ALL.iter().find(|(number, _)| *number == code).map(|(_, opcode)| *opcode)
    }

    fn code(self) -> u8 {
        Self::ALL.iter().find(|(_, opcode)| *opcode == self).map_or(0, |(number, _)| *number)
    }

    /// Tells whether a frame of this kind may come between the parts of a message.
    #[must_use]
    pub const fn is_control(self) -> bool {
        matches!(self, Self::Close | Self::Ping | Self::Pong)
    }
}

/// The header of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHeader {
    /// The last part of a message.
    pub fin: bool,
    /// Opcode of the frame.
    pub opcode: Opcode,
    /// The key by which the payload is masked, where it is.
    pub mask: Option<[u8; 4]>,
    /// Bytes of the payload.
    pub len: u64,
}

impl FrameHeader {
    /// Makes the header of a whole message of `len` bytes.
    #[must_use]
    pub const fn binary(len: u64, mask: Option<[u8; 4]>) -> Self {
        Self { fin: true, opcode: Opcode::Binary, mask, len }
    }

    /// Parses the header at the start of `bytes`, and returns its length with it; `None` where it
    /// is cut off.
    ///
    /// # Errors
    /// Reserved bits or an opcode of an extension, a length that is not in its shortest form or has
    /// its highest bit set, or a control frame that is long or in parts.
    pub fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, MalformedFrame> {
        let [first, second, rest @ ..] = bytes else { return Ok(None) };
        if first & 0x70 != 0 {
            return Err(MalformedFrame("a reserved bit is set, and no extension was agreed on"));
        }
        let opcode =
            Opcode::of(first & 0x0f).ok_or(MalformedFrame("an opcode that is not assigned"))?;
        let (digits, least) = match second & 0x7f {
            126 => (2, 126),
            127 => (8, 1 << 16),
            _ => (0, 0),
        };
        let Some((number, rest)) = rest.split_at_checked(digits) else { return Ok(None) };
        let number = number.iter().fold(0, |n: u64, byte| n << 8 | u64::from(*byte));
        let len = if digits == 0 { u64::from(second & 0x7f) } else { number };
        if len < least || len >> 63 == 1 {
            return Err(MalformedFrame("a length that is not in its shortest form"));
        }
        let fin = first & 0x80 != 0;
        if opcode.is_control() && (!fin || len > MOST_CONTROL as u64) {
            return Err(MalformedFrame("a control frame that is long or in parts"));
        }
        let masked = second & 0x80 != 0;
        if !masked {
            return Ok(Some((Self { fin, opcode, mask: None, len }, 2 + digits)));
        }
        let Some(key) = rest.first_chunk() else { return Ok(None) };
        Ok(Some((Self { fin, opcode, mask: Some(*key), len }, 2 + digits + 4)))
    }

    /// Writes it; the bytes and how many of them there are.
    #[must_use]
    pub fn emit(&self) -> ([u8; LONGEST_HEADER], usize) {
        let mut bytes = [0; LONGEST_HEADER];
        bytes[0] = u8::from(self.fin) << 7 | self.opcode.code();
        let digits = match self.len {
            0..126 => 0,
            126..=0xffff => 2,
            _ => 8,
        };
        bytes[1] = match digits {
            0 => self.len as u8,
            2 => 126,
            _ => 127,
        };
        bytes[2..2 + digits].copy_from_slice(&self.len.to_be_bytes()[8 - digits..]);
        let mut len = 2 + digits;
        if let Some(key) = self.mask {
            bytes[1] |= 0x80;
            bytes[len..len + 4].copy_from_slice(&key);
            len += 4;
        }
        (bytes, len)
    }
}

/// Masks or unmasks `bytes`, the first of which is number `at` of the payload.
pub fn mask(bytes: &mut [u8], key: [u8; 4], at: usize) {
    let mut turned = key;
    turned.rotate_left(at % 4);
    let word = u32::from_ne_bytes(turned);
    let mut words = bytes.chunks_exact_mut(4);
    for chunk in &mut words {
        let value = u32::from_ne_bytes([chunk[0], chunk[1], chunk[2], chunk[3]]) ^ word;
        chunk.copy_from_slice(&value.to_ne_bytes());
    }
    for (byte, key) in words.into_remainder().iter_mut().zip(turned) {
        *byte ^= key;
    }
}

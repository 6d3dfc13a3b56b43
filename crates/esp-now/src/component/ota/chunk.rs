//! A piece of the image.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | 2 |
//! | 1 | 2 | number of the packet, from 0 |
//! | 3 | 1 | valid bytes in it: the chunk, or the remainder in the last packet |
//! | 4 | 208 or 224 | bytes of the image from number times chunk; always the whole chunk |
//!
//! Behind the valid bytes of the last packet the component sends whatever its buffer holds; here
//! these bytes are zero. The component does not compare the size field with the length of the
//! message (trap 17 of the protocol reference); here a message that is shorter than announced is
//! refused.

use super::OtaType;

/// Length of the message before the data, in bytes.
pub const CHUNK_HEAD: usize = 4;

/// A data message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Number of the packet.
    pub seq: u16,
    /// Valid bytes of the image, at most 255.
    pub data: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// Parses a message; `None` if it is of another kind or has fewer bytes than it announces.
    #[must_use]
    pub fn parse(payload: &'a [u8]) -> Option<Self> {
        if OtaType::of(payload)? != OtaType::Data {
            return None;
        }
        let ([_, s0, s1, size], data) = payload.split_first_chunk::<CHUNK_HEAD>()?;
        Some(Self { seq: u16::from_le_bytes([*s0, *s1]), data: data.get(..usize::from(*size))? })
    }

    /// Writes the message for packet `seq` with `size` bytes, which `fill` writes in place, and
    /// zeros up to `chunk`; returns its length. `None` if there is no room or `fill` fails.
    #[must_use]
    pub fn emit(
        seq: u16,
        size: u8,
        chunk: usize,
        buf: &mut [u8],
        fill: impl FnOnce(&mut [u8]) -> bool,
    ) -> Option<usize> {
        let (head, rest) = buf.split_first_chunk_mut::<CHUNK_HEAD>()?;
        let [s0, s1] = seq.to_le_bytes();
        *head = [OtaType::Data as u8, s0, s1, size];
        let rest = rest.get_mut(..chunk)?;
        let (data, pad) = rest.split_at_mut_checked(usize::from(size))?;
        pad.fill(0);
        fill(data).then_some(CHUNK_HEAD + chunk)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Compares with vector 10 of the protocol reference, the beginning of 212 bytes.
    #[test]
    fn packet_0_of_208_bytes() {
        let mut buf = [0xEE; 230];
        let fill = |data: &mut [u8]| {
            data.fill(7);
            true
        };
        assert_eq!(Chunk::emit(0, 208, 208, &mut buf, fill), Some(212));
        assert_eq!(&buf[..5], &[0x02, 0x00, 0x00, 0xD0, 7]);
        assert_eq!(Chunk::parse(&buf[..212]), Some(Chunk { seq: 0, data: &[7; 208] }));
        assert_eq!(Chunk::parse(&buf[..211]), None, "shorter than it says");
        assert_eq!(Chunk::emit(480, 160, 208, &mut buf, fill), Some(212));
        assert_eq!(&buf[..4], &[0x02, 0xE0, 0x01, 0xA0]);
        assert_eq!(&buf[164..212], &[0; 48]);
        assert_eq!(Chunk::emit(0, 209, 208, &mut buf, fill), None);
    }

    proptest! {
        #[test]
        fn any_bytes_read(bytes in prop::collection::vec(any::<u8>(), 0..260)) {
            if let Some(chunk) = Chunk::parse(&bytes) {
                let size = chunk.data.len() as u8;
                let mut out = [0; 260];
                let fill = |to: &mut [u8]| { to.copy_from_slice(chunk.data); true };
                let len = Chunk::emit(chunk.seq, size, chunk.data.len(), &mut out, fill);
                prop_assert_eq!(len, Some(CHUNK_HEAD + chunk.data.len()));
                prop_assert_eq!(Chunk::parse(&out[..len.unwrap_or(0)]), Some(chunk));
            }
        }
    }
}

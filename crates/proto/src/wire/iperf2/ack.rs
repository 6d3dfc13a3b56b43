//! The TCP server's answer to an extended client header.

use super::{Malformed, put_words, word};

/// The type word of a client header's acknowledgement.
const CLIENT_HEADER_ACK: u32 = 2;

/// The acknowledgement, without the times of `--trip-times`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    /// Major and minor version of the server, as in [`Extension`](super::Extension).
    pub version: (u32, u32),
}

impl Ack {
    /// Bytes on the wire.
    pub const LEN: usize = 28;

    /// Reads one, of either length.
    ///
    /// # Errors
    /// [`Malformed`] where it is something else.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let at = |offset| word(bytes, offset).unwrap_or_default();
        if bytes.len() < Self::LEN || at(0) != CLIENT_HEADER_ACK {
            return Err(Malformed);
        }
        Ok(Self { version: (at(12), at(16)) })
    }

    /// Writes one.
    pub fn emit(&self, out: &mut [u8; Self::LEN]) {
        put_words(out, &[CLIENT_HEADER_ACK, Self::LEN as u32, 0, self.version.0, self.version.1]);
        out[20..].fill(0);
    }

    /// The version as people write it: major, minor, patch.
    #[must_use]
    pub const fn release(&self) -> (u32, u32, u32) {
        (self.version.0 >> 16, self.version.0 & 0xFFFF, self.version.1 >> 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_an_ack() {
        let ack = Ack { version: (0x0002_0001, 0x0008_0003) };
        let mut out = [0xFF; Ack::LEN];
        ack.emit(&mut out);
        assert_eq!(
            out,
            [0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 0, 0, 2, 0, 1, 0, 8, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(Ack::parse(&out), Ok(ack));
        assert_eq!(ack.release(), (2, 1, 8));
        assert_eq!(Ack::parse(&out[..27]), Err(Malformed));
        assert_eq!(Ack::parse(&[9; 28]), Err(Malformed));
    }
}

//! The TCP server's answer to an extended client header.

use super::{MalformedHeader, Stamp, put_words, word};

/// The type word of a client header's acknowledgement.
const CLIENT_HEADER_ACK: u32 = 2;

/// Times of the answer to a client with `--trip-times`: from them it tells whether the clocks agree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckTimes {
    /// The client's start time, given back.
    pub sent: Stamp,
    /// When the server took the connection.
    pub accepted: Stamp,
    /// When it answered.
    pub answered: Stamp,
}

/// The acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeaderAck {
    /// Major and minor version of the server, as in [`Extension`](super::Extension).
    pub version: (u32, u32),
    /// Where the client's header has a start time.
    pub times: Option<AckTimes>,
}

impl HeaderAck {
    /// Bytes on the wire without times.
    pub const LEN: usize = 28;
    /// Bytes with times.
    pub const LEN_TIMES: usize = 52;

    /// Returns the bytes that [`emit`](Self::emit) writes.
    #[must_use]
    pub const fn buffer_len(&self) -> usize {
        if self.times.is_some() { Self::LEN_TIMES } else { Self::LEN }
    }

    /// Reads one, of either length.
    ///
    /// # Errors
    /// [`MalformedHeader`] where it is something else.
    pub fn parse(bytes: &[u8]) -> Result<Self, MalformedHeader> {
        let at = |offset| word(bytes, offset).unwrap_or_default();
        if bytes.len() < Self::LEN || at(0) != CLIENT_HEADER_ACK {
            return Err(MalformedHeader);
        }
        let stamp = |offset| Stamp { seconds: at(offset), micros: at(offset + 4) };
        let timed = bytes.len() >= Self::LEN_TIMES && at(4) as usize == Self::LEN_TIMES;
        let times = AckTimes { sent: stamp(28), accepted: stamp(36), answered: stamp(44) };
        Ok(Self { version: (at(12), at(16)), times: timed.then_some(times) })
    }

    /// Writes one; its first [`buffer_len`](Self::buffer_len) bytes count.
    pub fn emit(&self, out: &mut [u8; Self::LEN_TIMES]) {
        *out = [0; Self::LEN_TIMES];
        let length = self.buffer_len() as u32;
        put_words(out, &[CLIENT_HEADER_ACK, length, 0, self.version.0, self.version.1]);
        if let Some(times) = self.times {
            let all = [times.sent, times.accepted, times.answered];
            let words = all.map(|stamp| [stamp.seconds, stamp.micros]);
            put_words(&mut out[Self::LEN..], words.as_flattened());
        }
    }

    /// Returns the version as people write it: major, minor, patch.
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
        let ack = HeaderAck { version: (0x0002_0001, 0x0008_0003), times: None };
        let mut out = [0xFF; HeaderAck::LEN_TIMES];
        ack.emit(&mut out);
        let out = &out[..ack.buffer_len()];
        assert_eq!(
            out,
            [0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 0, 0, 2, 0, 1, 0, 8, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0]
        );
        assert_eq!(HeaderAck::parse(out), Ok(ack));
        assert_eq!(ack.release(), (2, 1, 8));
        assert_eq!(HeaderAck::parse(&out[..27]), Err(MalformedHeader));
        assert_eq!(HeaderAck::parse(&[9; 28]), Err(MalformedHeader));
    }

    #[test]
    fn bytes_of_an_ack_with_times() {
        let stamp = |seconds| Stamp { seconds, micros: seconds + 1 };
        let times = AckTimes { sent: stamp(1), accepted: stamp(3), answered: stamp(5) };
        let ack = HeaderAck { version: (0x0002_0001, 0x0008_0003), times: Some(times) };
        let mut out = [0xFF; HeaderAck::LEN_TIMES];
        ack.emit(&mut out);
        assert_eq!(out[..8], [0, 0, 0, 2, 0, 0, 0, 52]);
        assert_eq!(out[28..40], [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3]);
        assert_eq!(out[40..], [0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6]);
        assert_eq!(HeaderAck::parse(&out), Ok(ack));
        assert_eq!(HeaderAck::parse(&out[..51]).map(|ack| ack.times), Ok(None));
        // What follows an acknowledgement without times is the stream.
        out[4..8].copy_from_slice(&28_u32.to_be_bytes());
        assert_eq!(HeaderAck::parse(&out).map(|ack| ack.times), Ok(None));
    }
}

//! The bytes of a message: sequence number, time of sending, and a pattern.
//!
//! | bytes | what |
//! |---|---|
//! | 0 to 7 | sequence number, big endian, from 0 |
//! | 8 to 15 | nanoseconds on the sender's clock when it was written, big endian |
//! | 16 and up | each byte its own position modulo 256 |

use crate::time::Instant;

/// Bytes before the pattern, and the smallest message.
pub const HEAD: usize = 16;

/// Makes the message `seq`, written at `now`, in a buffer of its size (at least [`HEAD`]; a
/// shorter one stays as it is).
pub fn fill(to: &mut [u8], seq: u64, now: Instant) {
    let Some((head, pattern)) = to.split_at_mut_checked(HEAD) else { return };
    head[..8].copy_from_slice(&seq.to_be_bytes());
    head[8..].copy_from_slice(&now.as_nanos().to_be_bytes());
    for (at, byte) in pattern.iter_mut().enumerate() {
        *byte = (HEAD + at) as u8;
    }
}

/// What a message says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Sequence number.
    pub seq: u64,
    /// When it was written.
    pub at: Instant,
    /// Whether the pattern is as it was sent.
    pub whole: bool,
}

/// Reads a message; `None` where it is too short to be one.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<Head> {
    let (head, pattern) = bytes.split_first_chunk::<HEAD>()?;
    let number = |at| u64::from_be_bytes(core::array::from_fn(|i| head[at + i]));
    let whole = pattern.iter().enumerate().all(|(at, &byte)| byte == (HEAD + at) as u8);
    Some(Head { seq: number(0), at: Instant::from_nanos(number(8)), whole })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_wrote_and_sees_a_changed_byte() {
        let mut bytes = [0; 300];
        let at = Instant::from_nanos(0x0102_0304_0506_0708);
        fill(&mut bytes, 7, at);
        assert_eq!(read(&bytes), Some(Head { seq: 7, at, whole: true }));
        bytes[299] ^= 1;
        assert_eq!(read(&bytes), Some(Head { seq: 7, at, whole: false }));
        assert_eq!(read(&bytes[..15]), None);
    }
}

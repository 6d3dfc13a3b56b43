//! The head of each write of a TCP stream with `--trip-times`: how long the burst is, and when it
//! was written (`TCP_burst_payload` of `payloads.h`).

use super::{MalformedHeader, Stamp, put_words, word};

mod field {
    pub(super) const SECONDS: usize = 20;
    pub(super) const MICROS: usize = 24;
    pub(super) const ID: usize = 44;
    pub(super) const SIZE: usize = 48;
    pub(super) const END: usize = 92;
}

/// Bytes of the head.
pub const BURST_HEADER: usize = field::END;

/// A burst: one write of the client, head and payload.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Burst {
    /// Number of the burst, from 1.
    pub id: u32,
    /// Bytes of the burst, head included.
    pub size: u32,
    /// Bytes of the stream up to its end, without the client header.
    pub sequence: u64,
    /// When the stream began.
    pub start: Stamp,
    /// When it was written.
    pub written: Stamp,
}

impl Burst {
    /// Reads a head.
    ///
    /// # Errors
    /// [`MalformedHeader`] where it is cut short, or its size is less than the head's own.
    pub fn parse(bytes: &[u8]) -> Result<Self, MalformedHeader> {
        if bytes.len() < field::END {
            return Err(MalformedHeader);
        }
        let at = |offset| word(bytes, offset).unwrap_or_default();
        let burst = Self {
            id: at(field::ID),
            size: at(field::SIZE),
            sequence: u64::from(at(field::SIZE + 8)) << 32 | u64::from(at(field::SIZE + 4)),
            start: Stamp { seconds: at(12), micros: at(16) },
            written: Stamp { seconds: at(field::SECONDS), micros: at(field::MICROS) },
        };
        if (burst.size as usize) < field::END { Err(MalformedHeader) } else { Ok(burst) }
    }

    /// Writes a head into the first [`BURST_HEADER`] bytes, or as much of it as fits.
    pub fn emit(&self, out: &mut [u8]) {
        let (low, high) = ((self.sequence & 0xFFFF_FFFF) as u32, (self.sequence >> 32) as u32);
        let (start, written) = (self.start, self.written);
        put_words(
            out,
            &[
                0, // flags
                0, // type
                0, // length
                start.seconds,
                start.micros,
                written.seconds,
                written.micros,
                0, // read, seconds
                0, // read, microseconds
                0, // reserved
                0, // period
                self.id,
                self.size,
                low,
                high,
                0, // times of an acknowledgement, which 2.1.8 does not send
                0,
                0,
                0,
                0, // reserved
                0,
                0,
                0,
            ],
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Burst = Burst {
        id: 1,
        size: 0x2_0000,
        sequence: 0x0000_0001_0002_0000,
        start: Stamp { seconds: 5, micros: 6 },
        written: Stamp { seconds: 7, micros: 8 },
    };

    #[test]
    fn bytes_of_a_head() {
        let mut out = [0xFF; 96];
        FIRST.emit(&mut out);
        assert_eq!(out[..12], [0; 12]);
        assert_eq!(out[12..28], [0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0, 7, 0, 0, 0, 8]);
        assert_eq!(out[28..44], [0; 16]);
        assert_eq!(out[44..60], [0, 0, 0, 1, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 1]);
        assert_eq!(out[60..92], [0; 32]);
        assert_eq!(out[92..], [0xFF; 4], "payload is left alone");
        assert_eq!(Burst::parse(&out), Ok(FIRST));
    }

    #[test]
    fn a_size_below_the_head_is_none() {
        let mut out = [0; BURST_HEADER];
        Burst { size: 91, ..FIRST }.emit(&mut out);
        assert_eq!(Burst::parse(&out), Err(MalformedHeader));
        let smallest = Burst { size: 92, ..FIRST };
        smallest.emit(&mut out);
        assert_eq!(Burst::parse(&out), Ok(smallest));
        assert_eq!(Burst::parse(&out[..91]), Err(MalformedHeader));
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(
            id in 0u32.., size in 92u32.., sequence in 0u64.., seconds in 0u32.., micros in 0u32..,
        ) {
            let burst =
                Burst { id, size, sequence, written: Stamp { seconds, micros }, ..FIRST };
            let mut out = [0; BURST_HEADER];
            burst.emit(&mut out);
            proptest::prop_assert_eq!(Burst::parse(&out), Ok(burst));
        }
    }
}

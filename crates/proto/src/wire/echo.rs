//! The UDP echo probe, in two forms.
//!
//! **ASCII**, as the published ESP32 benchmark sends it (smellbomb-udp, Python client): the digits
//! 0 to 8 over and over, then a line feed that is not counted in the size. The form carries no
//! sequence number; but each probe begins one digit further than the one before, so that a reply shows
//! which of the last [`ASCII_PERIOD`] probes it answers. The published client begins each with 0.
//!
//! **Binary**, ours: a header, then a pattern. Integers are big-endian.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | magic `45 42 65 31` ("EBe1") |
//! | 4 | 4 | session, tells this run's probes from stray ones |
//! | 8 | 8 | sequence number, from 0 |
//! | 16 | … | pattern: byte `i` of the datagram is `(i + sequence) mod 251` |

use super::pattern;

/// Bytes of the binary header, the smallest binary probe.
pub const HEADER_LEN: usize = 16;

const MAGIC: [u8; 4] = *b"EBe1";

/// Number of different ASCII probes.
pub const ASCII_PERIOD: u64 = 9;

/// Returns the digit at position `at` of the ASCII probe of that number.
const fn digit(number: u64, at: usize) -> u8 {
    b'0' + ((number % ASCII_PERIOD + at as u64 % ASCII_PERIOD) % ASCII_PERIOD) as u8
}

/// Writes the ASCII probe of that number and of `size` payload bytes into `buf` and returns its length with the line
/// feed, or `None` if the buffer is too short.
pub fn emit_ascii(number: u64, size: usize, buf: &mut [u8]) -> Option<usize> {
    let len = size.checked_add(1)?;
    let buf = buf.get_mut(..len)?;
    for (i, byte) in buf[..size].iter_mut().enumerate() {
        *byte = digit(number, i);
    }
    buf[size] = b'\n';
    Some(len)
}

/// Tells whether a datagram is the ASCII probe of that number and of `size` bytes, whole and unchanged.
#[must_use]
pub fn is_ascii(number: u64, size: usize, datagram: &[u8]) -> bool {
    let Some((&last, digits)) = datagram.split_last() else { return false };
    last == b'\n' && digits.len() == size && alike(number, digits) == size
}

/// Returns how many ASCII probes before the last one, whose number is given, a datagram shows: 0 is that one.
///
/// A changed reply is that of the probe with which most of its digits agree; where less than half agree with any, nothing
/// tells, and the last one is meant.
#[must_use]
pub fn ascii_behind(last: u64, size: usize, datagram: &[u8]) -> u64 {
    let digits = &datagram[..datagram.len().min(size)];
    let likeness = |behind: &u64| alike(last - behind, digits);
    let all = 0..ASCII_PERIOD.min(last.saturating_add(1));
    let best = all.rev().max_by_key(likeness).unwrap_or(0);
    if 2 * likeness(&best) > digits.len() { best } else { 0 }
}

/// Counts the digits that are those of the ASCII probe of that number.
fn alike(number: u64, digits: &[u8]) -> usize {
    digits.iter().enumerate().filter(|&(i, byte)| *byte == digit(number, i)).count()
}

/// The header of a binary probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeHeader {
    /// Tells one run's probes from another's.
    pub session: u32,
    /// Sequence number, from 0.
    pub seq: u64,
}

impl ProbeHeader {
    /// Reads the header of a datagram; `None` for anything that is not a binary probe.
    #[must_use]
    pub fn parse(datagram: &[u8]) -> Option<Self> {
        let head = datagram.first_chunk::<HEADER_LEN>()?;
        let [a, b, c, d, session @ .., _, _, _, _, _, _, _, _] = *head;
        if [a, b, c, d] != MAGIC {
            return None;
        }
        let seq = u64::from_be_bytes(*head.last_chunk()?);
        Some(Self { session: u32::from_be_bytes(session), seq })
    }

    /// Writes the probe of `size` bytes into `buf`; `None` if `size` is below [`HEADER_LEN`] or
    /// the buffer is too short.
    pub fn emit(self, size: usize, buf: &mut [u8]) -> Option<usize> {
        let buf = buf.get_mut(..size)?;
        let (head, body) = buf.split_at_mut_checked(HEADER_LEN)?;
        head[..4].copy_from_slice(&MAGIC);
        head[4..8].copy_from_slice(&self.session.to_be_bytes());
        head[8..].copy_from_slice(&self.seq.to_be_bytes());
        pattern::fill(body, self.pattern_start());
        Some(size)
    }

    /// Tells whether a datagram whose header this is has the size and the pattern that was sent.
    #[must_use]
    pub fn matches(self, size: usize, datagram: &[u8]) -> bool {
        let Some(body) = datagram.get(HEADER_LEN..) else { return false };
        datagram.len() == size && pattern::matches(body, self.pattern_start())
    }

    fn pattern_start(self) -> u8 {
        let period = u64::from(pattern::PERIOD);
        ((HEADER_LEN as u64 + self.seq % period) % period) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ascii_is_what_the_published_client_sends() {
        let mut buf = [0; 16];
        assert_eq!(emit_ascii(9, 11, &mut buf), Some(12));
        assert_eq!(&buf[..12], b"01234567801\n");
        assert!(is_ascii(0, 11, b"01234567801\n"));
        assert!(!is_ascii(0, 11, b"01234567801"), "without its line feed");
        assert!(!is_ascii(0, 11, b"01234567811\n"), "one digit changed");
        assert!(!is_ascii(0, 11, b"01234567801x") && !is_ascii(0, 10, b"01234567801\n"));
        assert!(is_ascii(5, 0, b"\n") && !is_ascii(5, 0, b""));
        assert_eq!(emit_ascii(0, 16, &mut buf), None);
    }

    #[test]
    fn each_ascii_probe_begins_one_digit_further() {
        let mut buf = [0; 16];
        for (number, text) in [(1, b"12345678012\n"), (8, b"80123456780\n"), (10, b"12345678012\n")]
        {
            emit_ascii(number, 11, &mut buf);
            assert_eq!(&buf[..12], text);
        }
        assert!(is_ascii(10, 11, b"12345678012\n") && !is_ascii(9, 11, b"12345678012\n"));
        assert_eq!(ascii_behind(10, 11, b"12345678012\n"), 0);
        assert_eq!(ascii_behind(10, 11, b"01234567801\n"), 1);
        assert_eq!(ascii_behind(10, 11, b"01234567x01\n"), 1, "changed on the way");
        assert_eq!(ascii_behind(10, 11, b"234"), 8, "cut on the way");
        assert_eq!(ascii_behind(10, 11, b"who are you?"), 0, "nothing tells");
        assert_eq!(ascii_behind(1, 11, b"23456780123\n"), 0, "no such probe was sent");
        assert_eq!((ascii_behind(0, 11, b""), ascii_behind(7, 0, b"\n")), (0, 0));
    }

    #[test]
    fn binary_vector() {
        let mut buf = [0; 20];
        let header = ProbeHeader { session: 0x0102_0304, seq: 250 };
        assert_eq!(header.emit(20, &mut buf), Some(20));
        assert_eq!(
            buf,
            [
                0x45, 0x42, 0x65, 0x31, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 250, //
                15, 16, 17, 18
            ]
        );
        assert_eq!(ProbeHeader::parse(&buf), Some(header));
        assert!(header.matches(20, &buf));
        assert!(!header.matches(20, &buf[..19]), "truncated");
        buf[19] ^= 1;
        assert!(!header.matches(20, &buf), "changed");
        // 2^64 - 1 leaves 68 when divided by 251, and the pattern begins 16 later.
        let last = ProbeHeader { session: 0, seq: u64::MAX };
        assert_eq!(last.emit(18, &mut buf), Some(18));
        assert_eq!(buf[16..18], [84, 85]);
    }

    proptest! {
        #[test]
        fn emitted_probes_read_back(session: u32, seq: u64, size in HEADER_LEN..2000) {
            let mut buf = [0; 2000];
            let header = ProbeHeader { session, seq };
            prop_assert_eq!(header.emit(size, &mut buf), Some(size));
            prop_assert_eq!(ProbeHeader::parse(&buf[..size]), Some(header));
            prop_assert!(header.matches(size, &buf[..size]));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), size in 0_usize..70) {
            if let Some(header) = ProbeHeader::parse(&bytes) {
                let _ = header.matches(size, &bytes);
            }
            let _ = is_ascii(3, size, &bytes);
            let _ = ascii_behind(3, size, &bytes);
        }
    }
}

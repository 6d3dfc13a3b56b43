//! The bytes of a message: sequence number, time of sending, and a pattern.
//!
//! | bytes | what |
//! |---|---|
//! | 0 to 7 | sequence number, big endian, from 0 |
//! | 8 to 15 | nanoseconds on the sender's clock when it was written, big endian |
//! | 16 and up | each byte its own position modulo 256 |

use espbench_model::time::Instant;

/// Bytes before the pattern, and the smallest message.
pub const HEADER_LEN: usize = 16;

/// Makes the message `seq`, written at `now`, in a buffer of its size (at least [`HEADER_LEN`]; a
/// shorter one stays as it is).
pub fn fill(to: &mut [u8], seq: u64, now: Instant) {
    let Some((head, pattern)) = to.split_at_mut_checked(HEADER_LEN) else { return };
    head[..8].copy_from_slice(&seq.to_be_bytes());
    head[8..].copy_from_slice(&now.as_nanos().to_be_bytes());
    for (at, byte) in pattern.iter_mut().enumerate() {
        *byte = (HEADER_LEN + at) as u8;
    }
}

/// Bits of a sequence number that count messages; those above name the sender.
const COUNTING: u32 = 48;

/// Returns the number that goes on the wire for message `seq` of one of several senders.
#[must_use]
pub const fn sent_as(sender: u16, seq: u64) -> u64 {
    (sender as u64) << COUNTING | seq
}

/// Splits a number as it was sent into the sender and that sender's own sequence number.
#[must_use]
pub const fn sender(number: u64) -> (u16, u64) {
    ((number >> COUNTING) as u16, number & ((1 << COUNTING) - 1))
}

/// The header of a message of our own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PayloadHeader {
    /// Sequence number.
    pub seq: u64,
    /// Instant at which the message was written.
    pub at: Instant,
    /// Whether the pattern is as it was sent.
    pub whole: bool,
}

/// Parses a message; `None` where it is too short to be one.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<PayloadHeader> {
    let (head, pattern) = bytes.split_first_chunk::<HEADER_LEN>()?;
    let number = |at| u64::from_be_bytes(core::array::from_fn(|i| head[at + i]));
    let whole = pattern.iter().enumerate().all(|(at, &byte)| byte == (HEADER_LEN + at) as u8);
    Some(PayloadHeader { seq: number(0), at: Instant::from_nanos(number(8)), whole })
}

/// Finds the number in a message of whatever form: in text the last digits in a row (`Sample
/// #10282`), and otherwise the sequence number of a message of our own. `None` where there is none
/// of 64 bits.
#[must_use]
pub fn number(bytes: &[u8]) -> Option<u64> {
    let Some(text) = text(bytes) else {
        return read(bytes).filter(|head| head.whole).map(|head| head.seq);
    };
    let end = text.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = text[..end].trim_end_matches(|c: char| c.is_ascii_digit()).len();
    text[start..end].parse().ok()
}

/// Returns the payload as text; C programs may send the zero that ends theirs.
fn text(bytes: &[u8]) -> Option<&str> {
    let text = core::str::from_utf8(bytes).ok()?.trim_end_matches('\0');
    let binary = |c: char| c.is_control() && !c.is_ascii_whitespace();
    (!text.contains(binary)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_as_devices_write_them() {
        let known: [(&[u8], Option<u64>); 9] = [
            (b"Sample #10282", Some(10_282)),
            (b"10282", Some(10_282)),
            (b"{\"seq\":10282}\r\n", Some(10_282)),
            (b"esp32 sample 7\0", Some(7)),
            ("m\u{e4}rz 8 \u{b0}".as_bytes(), Some(8)),
            (b"18446744073709551616", None),
            (b"Q", None),
            (b"", None),
            (b"\x01\xff7", None),
        ];
        for (payload, number) in known {
            assert_eq!(super::number(payload), number, "{payload:?}");
        }
        let mut ours = [0; 64];
        fill(&mut ours, 9, Instant::from_nanos(1_234_567));
        assert_eq!(super::number(&ours), Some(9));
        ours[40] ^= 1;
        assert_eq!(super::number(&ours), None, "damaged");
    }

    proptest! {
        #[test]
        fn the_last_digits_of_any_text(before in "[^\\pC]{0,40}", number: u64, after in "[^0-9\\pC]{0,9}") {
            let text = std::format!("{before} {number}{after}");
            prop_assert_eq!(super::number(text.as_bytes()), Some(number));
        }

        #[test]
        fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let digits = bytes.iter().any(u8::is_ascii_digit) || read(&bytes).is_some();
            prop_assert!(digits || super::number(&bytes).is_none());
        }
    }

    #[test]
    fn reads_what_it_wrote_and_sees_a_changed_byte() {
        let mut bytes = [0; 300];
        let at = Instant::from_nanos(0x0102_0304_0506_0708);
        fill(&mut bytes, 7, at);
        assert_eq!(read(&bytes), Some(PayloadHeader { seq: 7, at, whole: true }));
        bytes[299] ^= 1;
        assert_eq!(read(&bytes), Some(PayloadHeader { seq: 7, at, whole: false }));
        assert_eq!(read(&bytes[..15]), None);
    }
}

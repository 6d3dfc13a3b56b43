//! Messages of sockperf, a tool for round trips over UDP and TCP.
//!
//! Integers are big-endian; seen on the wire of sockperf 3.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | sequence number, from 1 |
//! | 8 | 2 | flags: 1 from the client, 2 an answer is wanted, 4 a warm-up |
//! | 10 | 4 | length of the message, with this header |
//! | 14 | … | anything |
//!
//! A server sends a message back as it is, with the client's flag taken away.

/// Port of a server where nothing else is said.
pub const PORT: u16 = 11_111;

/// Bytes of the header, the smallest message.
pub const HEADER: usize = 14;

const FROM_CLIENT: u16 = 1;
const WANTS_ANSWER: u16 = 2;
const WARM_UP: u16 = 4;

/// Turns a client's message into the server's answer; false where it wants none, or is no message.
#[must_use]
pub fn answer(message: &mut [u8]) -> bool {
    let len = message.len();
    let Some(head) = message.first_chunk_mut::<HEADER>() else { return false };
    let flags = u16::from_be_bytes([head[8], head[9]]);
    let told = u32::from_be_bytes([head[10], head[11], head[12], head[13]]);
    let wanted = flags & (FROM_CLIENT | WANTS_ANSWER | WARM_UP) == FROM_CLIENT | WANTS_ANSWER;
    if !wanted || told as usize != len {
        return false;
    }
    let [high, low] = (flags & !FROM_CLIENT).to_be_bytes();
    (head[8], head[9]) = (high, low);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first octets of what sockperf sends for `ping-pong -m 20`.
    const ASKED: [u8; 20] =
        [0, 0, 0, 0, 0, 0, 0, 7, 0, 3, 0, 0, 0, 20, 0x61, 0x89, 0xf9, 0x5c, 0xbb, 0xa8];

    #[test]
    fn a_message_comes_back_as_the_servers() {
        let mut message = ASKED;
        assert!(answer(&mut message));
        assert_eq!(message[8..10], [0, 2]);
        assert_eq!((&message[..8], &message[10..]), (&ASKED[..8], &ASKED[10..]));
        // An answer, a warm-up, one that wants none, one of another length, no message.
        assert!(!answer(&mut message));
        for flags in [7, 1] {
            let mut other = ASKED;
            other[9] = flags;
            assert!(!answer(&mut other), "{flags}");
        }
        assert!(!answer(&mut [&ASKED[..], &[0]].concat()));
        for len in 0..HEADER {
            assert!(!answer(&mut ASKED[..len].to_vec()));
        }
    }
}

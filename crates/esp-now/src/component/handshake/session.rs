//! The key agreement's four messages: protobuf (proto3) of ESP-IDF's protocomm, "security 1"
//! (ESP-IDF, `components/protocomm/proto/{session,sec1}.proto`).
//!
//! | message | field: content |
//! |---|---|
//! | SessionData | 2: security version, 1; 11: Sec1Payload |
//! | Sec1Payload | 1: which message, 0 to 3; 20 to 23: that message, one of |
//! | 20 SessionCmd0 | 1: public key of the initiator (32 bytes) |
//! | 21 SessionResp0 | 1: status, 0; 2: public key of the responder (32); 3: random bytes (16) |
//! | 22 SessionCmd1 | 2: proof of the initiator (32) |
//! | 23 SessionResp1 | 1: status, 0; 3: proof of the responder (32) |
//!
//! Numbers that are zero are left out. What is written always starts with the same bytes, since
//! every length is fixed. What is read may be any encoding of the same value: fields in any order,
//! unknown ones, numbers longer than needed, parts of a message repeated (the last one counts, and
//! messages merge).

use super::protobuf::Fields;

/// Length of a public key (X25519), in bytes.
pub const PUBLIC_LEN: usize = 32;
/// Length of the random bytes of a responder, which are the first counter block.
pub const RANDOM_LEN: usize = 16;
/// Length of a proof, in bytes: the other end's public key, encrypted.
pub const PROOF_LEN: usize = 32;
/// Length of the longest of the four messages, in bytes.
pub(super) const SESSION_MAX: usize = 61;

const COMMAND0: [u8; 9] = [0x10, 0x01, 0x5A, 0x25, 0xA2, 0x01, 0x22, 0x0A, 0x20];
const RESPONSE0: [u8; 11] = [0x10, 0x01, 0x5A, 0x39, 0x08, 0x01, 0xAA, 0x01, 0x34, 0x12, 0x20];
const RESPONSE0_RANDOM: [u8; 2] = [0x1A, 0x10];
const COMMAND1: [u8; 11] = [0x10, 0x01, 0x5A, 0x27, 0x08, 0x02, 0xB2, 0x01, 0x22, 0x12, 0x20];
const RESPONSE1: [u8; 11] = [0x10, 0x01, 0x5A, 0x27, 0x08, 0x03, 0xBA, 0x01, 0x22, 0x1A, 0x20];

/// A step of the key agreement, as a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionMessage<'a> {
    /// Public key of the initiator.
    Command0 {
        /// Public key of the initiator.
        client_key: &'a [u8; PUBLIC_LEN],
    },
    /// Public key of the responder, and its random bytes.
    Response0 {
        /// Public key of the responder.
        device_key: &'a [u8; PUBLIC_LEN],
        /// First counter block.
        random: &'a [u8; RANDOM_LEN],
    },
    /// Proof that the initiator has the same secret.
    Command1 {
        /// Public key of the responder, encrypted.
        proof: &'a [u8; PROOF_LEN],
    },
    /// Proof that the responder has the same secret.
    Response1 {
        /// Public key of the initiator, encrypted.
        proof: &'a [u8; PROOF_LEN],
    },
}

impl<'a> SessionMessage<'a> {
    /// Parses the protobuf; `None` if it is malformed, of another security version, reports a
    /// failure, or if its number and content do not agree.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut data = ParsedData::default();
        data.session(bytes)?;
        if data.version != 1 || data.status != 0 {
            return None;
        }
        Some(match (data.message, data.which) {
            (0, COMMAND0_FIELD) => Self::Command0 { client_key: fixed(data.first)? },
            (1, RESPONSE0_FIELD) => {
                Self::Response0 { device_key: fixed(data.second)?, random: fixed(data.third)? }
            }
            (2, COMMAND1_FIELD) => Self::Command1 { proof: fixed(data.second)? },
            (3, RESPONSE1_FIELD) => Self::Response1 { proof: fixed(data.third)? },
            _ => return None,
        })
    }

    /// Writes the protobuf and returns its length; `None` if `buf` is too short.
    #[must_use]
    pub fn emit(&self, buf: &mut [u8]) -> Option<usize> {
        let parts: [&[u8]; 4] = match self {
            Self::Command0 { client_key } => [&COMMAND0, *client_key, &[], &[]],
            Self::Response0 { device_key, random } => {
                [&RESPONSE0, *device_key, &RESPONSE0_RANDOM, *random]
            }
            Self::Command1 { proof } => [&COMMAND1, *proof, &[], &[]],
            Self::Response1 { proof } => [&RESPONSE1, *proof, &[], &[]],
        };
        let mut at = 0;
        for part in parts {
            buf.get_mut(at..at + part.len())?.copy_from_slice(part);
            at += part.len();
        }
        Some(at)
    }
}

const COMMAND0_FIELD: u32 = 20;
const RESPONSE0_FIELD: u32 = 21;
const COMMAND1_FIELD: u32 = 22;
const RESPONSE1_FIELD: u32 = 23;

/// Fields read so far. The fields of the four inner messages share their places: a message of
/// another number than before clears them (`oneof`).
#[derive(Default)]
struct ParsedData<'a> {
    version: u32,
    message: u32,
    which: u32,
    status: u32,
    first: &'a [u8],
    second: &'a [u8],
    third: &'a [u8],
}

impl<'a> ParsedData<'a> {
    fn session(&mut self, bytes: &'a [u8]) -> Option<()> {
        for field in Fields(bytes) {
            match field? {
                (2, value) => self.version = value.varint()? as u32,
                (11, value) => self.payload(value.bytes()?)?,
                // Security 0 or 2 replaces security 1 (`oneof`).
                (10 | 12, value) => {
                    value.bytes()?;
                    *self = Self { version: self.version, ..Self::default() };
                }
                _ => {}
            }
        }
        Some(())
    }

    fn payload(&mut self, bytes: &'a [u8]) -> Option<()> {
        for field in Fields(bytes) {
            match field? {
                (1, value) => self.message = value.varint()? as u32,
                (which @ COMMAND0_FIELD..=RESPONSE1_FIELD, value) => {
                    if which != self.which {
                        let (version, message) = (self.version, self.message);
                        *self = Self { version, message, which, ..Self::default() };
                    }
                    self.content(value.bytes()?)?;
                }
                _ => {}
            }
        }
        Some(())
    }

    fn content(&mut self, bytes: &'a [u8]) -> Option<()> {
        for field in Fields(bytes) {
            let (number, value) = field?;
            match (self.which, number) {
                (COMMAND0_FIELD, 1) => self.first = value.bytes()?,
                (RESPONSE0_FIELD | RESPONSE1_FIELD, 1) => self.status = value.varint()? as u32,
                (RESPONSE0_FIELD | COMMAND1_FIELD, 2) => self.second = value.bytes()?,
                (RESPONSE0_FIELD | RESPONSE1_FIELD, 3) => self.third = value.bytes()?,
                _ => {}
            }
        }
        Some(())
    }
}

fn fixed<const N: usize>(bytes: &[u8]) -> Option<&[u8; N]> {
    bytes.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    const KEY: [u8; 32] = [7; 32];
    const RANDOM: [u8; 16] = [9; 16];

    fn emitted(session: SessionMessage<'_>) -> Vec<u8> {
        let mut buf = [0; SESSION_MAX];
        let len = session.emit(&mut buf).unwrap();
        buf[..len].to_vec()
    }

    /// Encodes a field of bytes.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        let tag = u32::from(number) << 3 | 2;
        let mut out = if tag < 128 { [tag as u8].to_vec() } else { [tag as u8 | 0x80, 1].to_vec() };
        out.push(bytes.len() as u8);
        out.extend_from_slice(bytes);
        out
    }

    fn payload(message: &[u8]) -> Vec<u8> {
        [&[0x10, 1][..], &field(11, message)].concat()
    }

    #[test]
    fn lengths_of_the_protocol_reference() {
        let all = [
            (SessionMessage::Command0 { client_key: &KEY }, 41),
            (SessionMessage::Response0 { device_key: &KEY, random: &RANDOM }, 61),
            (SessionMessage::Command1 { proof: &KEY }, 43),
            (SessionMessage::Response1 { proof: &KEY }, 43),
        ];
        for (session, len) in all {
            let bytes = emitted(session);
            assert_eq!(bytes.len(), len);
            assert_eq!(SessionMessage::parse(&bytes), Some(session));
            assert_eq!(session.emit(&mut [0; SESSION_MAX][..len - 1]), None);
            for cut in 0..len {
                assert_eq!(SessionMessage::parse(&bytes[..cut]), None, "truncated to {cut}");
            }
        }
    }

    #[test]
    fn any_encoding_of_the_same_value_is_read() {
        let inner = [&field(3, &RANDOM)[..], &[0x20, 5], &field(2, &KEY), &[0x08, 0]].concat();
        let message = [&field(21, &inner)[..], &[0x08, 0x81, 0x00], &field(30, &[1, 2])].concat();
        let bytes = [&field(11, &message)[..], &[0x10, 1], &[0x7D, 1, 2, 3, 4]].concat();
        let expected = SessionMessage::Response0 { device_key: &KEY, random: &RANDOM };
        assert_eq!(SessionMessage::parse(&bytes), Some(expected), "any order, unknown fields");
        // The message in two parts, and a field twice.
        let (a, b) = (field(21, &field(2, &[1; 32])), field(21, &field(2, &KEY)));
        let parts = [&field(11, &[&[0x08, 1][..], &a].concat())[..], &field(11, &b)].concat();
        let random = field(11, &field(21, &field(3, &RANDOM)));
        let bytes = [&[0x10, 0, 0x10, 1][..], &parts, &random].concat();
        assert_eq!(SessionMessage::parse(&bytes), Some(expected), "merged, the last one counts");
        let explicit = payload(&[&[0x08, 0][..], &field(20, &field(1, &KEY))].concat());
        assert_eq!(
            SessionMessage::parse(&explicit),
            Some(SessionMessage::Command0 { client_key: &KEY })
        );
    }

    #[test]
    fn what_does_not_agree_is_refused() {
        let command0 = field(20, &field(1, &KEY));
        assert!(SessionMessage::parse(&payload(&command0)).is_some());
        let bad = [
            payload(&[&[0x08, 1][..], &command0].concat()),
            payload(&[&command0[..], &field(22, &[])].concat()),
            payload(&field(20, &field(1, &KEY[1..]))),
            payload(&field(20, &[0x08, 1])),
            [&payload(&command0)[..], &field(12, &[])].concat(),
            [&payload(&command0)[..], &[0x10, 0]].concat(),
            [&payload(&command0)[..], &[0x58, 0]].concat(),
            field(11, &command0),
        ];
        for bytes in &bad {
            assert_eq!(SessionMessage::parse(bytes), None, "{bytes:02x?}");
        }
        // Another security's payload is replaced by ours, and the version that was told stays.
        let replaced = [&[0x10, 1][..], &field(12, &[]), &field(11, &command0)].concat();
        assert!(SessionMessage::parse(&replaced).is_some());
        let failed = [&[0x08, 1][..], &field(2, &KEY), &field(3, &RANDOM)].concat();
        let failed = payload(&[&[0x08, 1][..], &field(21, &failed)].concat());
        assert_eq!(SessionMessage::parse(&failed), None, "a status other than success");
    }

    proptest! {
        #[test]
        fn parsing_never_panics(data in prop::collection::vec(any::<u8>(), 0..80)) {
            if let Some(session) = SessionMessage::parse(&data) {
                let again = emitted(session);
                prop_assert_eq!(SessionMessage::parse(&again), Some(session));
            }
        }

        #[test]
        fn a_changed_byte_gives_a_value_or_none(at in 0usize..61, to in any::<u8>()) {
            let mut bytes = emitted(SessionMessage::Response0 { device_key: &KEY, random: &RANDOM });
            bytes[at] = to;
            if let Some(session) = SessionMessage::parse(&bytes) {
                let again = emitted(session);
                prop_assert_eq!(SessionMessage::parse(&again), Some(session));
            }
        }
    }
}

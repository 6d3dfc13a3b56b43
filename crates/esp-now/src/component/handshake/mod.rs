//! Messages of the handshake that delivers the key (`espnow_security_handshake.h` of the esp-now
//! component; section 3.2 of the protocol reference).
//!
//! The first byte is the number of the message. Frames of type
//! [`SecurityStatus`](super::DataType::SecurityStatus) carry [`SecurityMessage::Info`], frames of type
//! [`Security`](super::DataType::Security) carry the others.
//!
//! | byte 0 | message | direction | further bytes |
//! |---|---|---|---|
//! | 0 | request | initiator to all | none |
//! | 1 | information | responder to initiator | security version (1), address of its initiator (6), zeros if none |
//! | 2 | handshake | both | length n (1), protobuf (n), see [`SessionMessage`] |
//! | 3 | key | initiator to responder | length n (1), encrypted key (n, 32) |
//! | 4 | key response | responder to initiator | length n (1), the key again, encrypted with other bytes of the stream (n, 32) |
//! | 5 | reset | any to responder | none |
//!
//! A length that reaches behind the payload is an error. Bytes behind a message are ignored, as the
//! component ignores them.

mod protobuf;
mod session;

pub use session::{PROOF_LEN, PUBLIC_LEN, RANDOM_LEN, SessionMessage};

use espbench_ieee80211::mac::Mac;

/// Length of the longest message that either end sends, in bytes: [`SessionMessage::Response0`].
pub const MESSAGE_MAX: usize = 2 + session::SESSION_MAX;

/// Information that a responder gives about itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SecurityInfo {
    /// Security version: 0, no key since it started; 1, it has received one. 2 is reserved.
    pub version: u8,
    /// Initiator to which it is bound, or from which it got its key; zeros if none.
    pub client: Mac,
}

/// A message of the handshake, as a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecurityMessage<'a> {
    /// Request of an initiator: which responders are there?
    Request,
    /// Answer of a responder to the request.
    Info(SecurityInfo),
    /// Step of the key agreement, which [`SessionMessage::parse`] reads.
    Handshake(&'a [u8]),
    /// Encrypted key, from the initiator.
    Key(&'a [u8]),
    /// Encrypted key, sent back by the responder.
    KeyResponse(&'a [u8]),
    /// Order to forget the initiator, and that a key was received. Not authenticated; no part of
    /// the component sends it.
    Reset,
}

impl<'a> SecurityMessage<'a> {
    /// Parses a payload; `None` if it is no such message or too short.
    #[must_use]
    pub fn parse(payload: &'a [u8]) -> Option<Self> {
        let (&kind, rest) = payload.split_first()?;
        Some(match kind {
            0 => Self::Request,
            1 => Self::Info(SecurityInfo { version: *rest.first()?, client: Mac::at(rest, 1)? }),
            2 => Self::Handshake(sized(rest)?),
            3 => Self::Key(sized(rest)?),
            4 => Self::KeyResponse(sized(rest)?),
            5 => Self::Reset,
            _ => return None,
        })
    }

    /// Writes the message and returns its length; `None` if `buf` is too short or the content
    /// longer than 255 bytes.
    #[must_use]
    pub fn emit(&self, buf: &mut [u8]) -> Option<usize> {
        match self {
            Self::Request => put(buf, 0, &[]),
            Self::Info(info) => {
                let [a, b, c, d, e, f] = info.client.0;
                put(buf, 1, &[info.version, a, b, c, d, e, f])
            }
            Self::Handshake(data) => put_sized(buf, 2, data),
            Self::Key(data) => put_sized(buf, 3, data),
            Self::KeyResponse(data) => put_sized(buf, 4, data),
            Self::Reset => put(buf, 5, &[]),
        }
    }
}

impl SessionMessage<'_> {
    /// Writes the whole message that carries this step, [`SecurityMessage::Handshake`], and returns its
    /// length; `None` if `buf` is too short.
    #[must_use]
    pub fn emit_message(&self, buf: &mut [u8]) -> Option<usize> {
        let (head, out) = buf.split_first_chunk_mut::<2>()?;
        let len = self.emit(out)?;
        *head = [2, u8::try_from(len).ok()?];
        Some(2 + len)
    }
}

fn sized(rest: &[u8]) -> Option<&[u8]> {
    let (&len, data) = rest.split_first()?;
    data.get(..usize::from(len))
}

fn put(buf: &mut [u8], kind: u8, rest: &[u8]) -> Option<usize> {
    let (first, out) = buf.split_first_mut()?;
    out.get_mut(..rest.len())?.copy_from_slice(rest);
    *first = kind;
    Some(1 + rest.len())
}

fn put_sized(buf: &mut [u8], kind: u8, data: &[u8]) -> Option<usize> {
    let (head, out) = buf.split_first_chunk_mut::<2>()?;
    out.get_mut(..data.len())?.copy_from_slice(data);
    *head = [kind, u8::try_from(data.len()).ok()?];
    Some(2 + data.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::{DataType, Header};
    use proptest::prelude::*;

    const INITIATOR: Mac = Mac([0xCC, 0x50, 0xE3, 0x80, 0x10, 0xBC]);
    const RESPONDER: Mac = Mac([0x30, 0xAE, 0xA4, 0x1E, 0x8D, 0x6C]);

    #[test]
    fn captured_request_and_information() {
        // Section 13 of the protocol reference, *captured*; reserved bits of byte 0 are not zero.
        let request = [
            0x6C, 0x01, 0xB8, 0xD1, 0x11, 0x88, 0x02, 0xBF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xCC, 0x50, 0xE3, 0x80, 0x10, 0xBC, 0x00,
        ];
        let (header, payload) = Header::parse(&request).unwrap();
        assert_eq!((header.data_type, header.src), (DataType::Security, INITIATOR));
        assert_eq!((header.magic, header.config.rssi, header.config.copies), (0xD1B8, -65, 10));
        assert!(header.config.filter_adjacent && header.config.broadcast);
        assert_eq!(SecurityMessage::parse(payload), Some(SecurityMessage::Request));

        let info = [
            0xEB, 0x08, 0x76, 0xF7, 0x01, 0x40, 0x00, 0x00, 0xCC, 0x50, 0xE3, 0x80, 0x10, 0xBC,
            0x30, 0xAE, 0xA4, 0x1E, 0x8D, 0x6C, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
        ];
        let (header, payload) = Header::parse(&info).unwrap();
        assert_eq!((header.data_type, header.src), (DataType::SecurityStatus, RESPONDER));
        assert_eq!((header.dest, header.config.copies), (INITIATOR, 1));
        assert_eq!(
            SecurityMessage::parse(payload),
            Some(SecurityMessage::Info(SecurityInfo::default()))
        );
        let mut buf = [0xAA; 8];
        assert_eq!(SecurityMessage::Info(SecurityInfo::default()).emit(&mut buf), Some(8));
        assert_eq!(buf, payload);
    }

    /// Writes each message by hand from the table of the module.
    #[test]
    fn messages_by_their_bytes() {
        let info = SecurityInfo { version: 1, client: INITIATOR };
        let wires: [(SecurityMessage<'_>, &[u8]); 6] = [
            (SecurityMessage::Request, &[0]),
            (SecurityMessage::Info(info), &[1, 1, 0xCC, 0x50, 0xE3, 0x80, 0x10, 0xBC]),
            (SecurityMessage::Handshake(&[7, 8, 9]), &[2, 3, 7, 8, 9]),
            (SecurityMessage::Key(&[7, 8]), &[3, 2, 7, 8]),
            (SecurityMessage::KeyResponse(&[]), &[4, 0]),
            (SecurityMessage::Reset, &[5]),
        ];
        for (message, wire) in wires {
            let mut buf = [0xEE; 16];
            assert_eq!(message.emit(&mut buf), Some(wire.len()));
            assert_eq!(&buf[..wire.len()], wire);
            assert_eq!(SecurityMessage::parse(wire), Some(message));
            assert_eq!(message.emit(&mut buf[..wire.len() - 1]), None, "{message:?}");
        }
        let step = SessionMessage::Command0 { client_key: &[7; PUBLIC_LEN] };
        let mut buf = [0xEE; MESSAGE_MAX];
        assert_eq!(step.emit_message(&mut buf), Some(43));
        assert_eq!(buf[..4], [2, 41, 0x10, 0x01]);
        let longest = SessionMessage::Response0 { device_key: &[7; 32], random: &[9; RANDOM_LEN] };
        assert_eq!(longest.emit_message(&mut buf), Some(MESSAGE_MAX));
        assert_eq!((MESSAGE_MAX, buf[1]), (63, 61));
        assert_eq!(longest.emit_message(&mut buf[..62]), None);
    }

    #[test]
    fn lengths_are_checked() {
        for short in [&[][..], &[1, 0, 0, 0, 0, 0, 0], &[2], &[2, 1], &[3, 32, 0], &[6]] {
            assert_eq!(SecurityMessage::parse(short), None, "{short:?}");
        }
        assert_eq!(
            SecurityMessage::parse(&[3, 1, 7, 9]),
            Some(SecurityMessage::Key(&[7])),
            "bytes behind it"
        );
        assert_eq!(SecurityMessage::Key(&[0; 256]).emit(&mut [0; 300]), None, "one byte of length");
        assert_eq!(SecurityMessage::Key(&[0; 32]).emit(&mut [0; 33]), None);
    }

    proptest! {
        #[test]
        fn what_parses_is_emitted_to_the_same_value(data in prop::collection::vec(any::<u8>(), 0..300)) {
            let mut buf = [0; 300];
            if let Some(message) = SecurityMessage::parse(&data) {
                let len = message.emit(&mut buf).expect("it was no longer");
                prop_assert_eq!(&data[..len], &buf[..len]);
                prop_assert_eq!(SecurityMessage::parse(&buf[..len]), Some(message));
            }
        }
    }
}

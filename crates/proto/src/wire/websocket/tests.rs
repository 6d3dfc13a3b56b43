use super::frame::mask;
use super::handshake::{self, Asked, ServerResponse};
use super::*;
use proptest::prelude::*;
use std::string::String;
use std::vec::Vec;

/// The example of RFC 6455, section 1.3.
const KEY: &[u8; 24] = b"dGhlIHNhbXBsZSBub25jZQ==";

#[test]
fn the_handshake_of_the_standard() {
    assert_eq!(&handshake::key(*b"the sample nonce"), KEY);
    assert_eq!(&handshake::accept(KEY), b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
    let mut request = String::new();
    handshake::request(&mut request, "/mqtt", "broker:9001", KEY).unwrap();
    let asked = handshake::asked(request.as_bytes()).unwrap();
    let key = core::str::from_utf8(KEY).unwrap();
    assert_eq!(asked, Asked { path: "/mqtt", key, protocol: true });
    assert_eq!(handshake::head(request.as_bytes()), Ok(Some(request.len())));
    let mut response = String::new();
    handshake::response(&mut response, asked.key.as_bytes(), asked.protocol).unwrap();
    let answer = handshake::answer(response.as_bytes(), KEY);
    assert_eq!(answer, Ok(ServerResponse::Switched { protocol: true }));
}

#[test]
fn answers_that_do_not_switch() {
    let moved = b"HTTP/1.1 301 Moved\r\nLocation: https://elsewhere/\r\n\r\n";
    let location = Some("https://elsewhere/");
    assert_eq!(
        handshake::answer(moved, KEY),
        Ok(ServerResponse::Refused { status: 301, location })
    );
    let missing = b"HTTP/1.1 404 Not Found\r\n\r\n";
    assert_eq!(
        handshake::answer(missing, KEY),
        Ok(ServerResponse::Refused { status: 404, location: None })
    );
    for wrong in [
        "",
        "SSH-2.0-OpenSSH\r\n\r\n",
        "HTTP/1.1 abc\r\n\r\n",
        "HTTP/1.1 101 Switching\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\
         Sec-WebSocket-Accept: AAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\n\r\n",
        "HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\
         Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\nSec-WebSocket-Protocol: chat\r\n\r\n",
    ] {
        assert!(handshake::answer(wrong.as_bytes(), KEY).is_err(), "{wrong}");
    }
    assert_eq!(handshake::head(&[b'x'; 8191]), Ok(None));
    assert!(handshake::head(&[b'x'; 8192]).is_err(), "no head is read without end");
}

/// The examples of RFC 6455, section 5.7.
#[test]
fn frames_of_the_standard() {
    let masked = [0x82, 0x85, 0x37, 0xfa, 0x21, 0x3d, 0x7f, 0x9f, 0x4d, 0x51, 0x58];
    assert_eq!(data(Role::Server, &masked, 3), Ok(b"Hello".to_vec()));
    let parts = [0x02, 3, 0x48, 0x65, 0x6c, 0x80, 2, 0x6c, 0x6f];
    assert_eq!(data(Role::Client, &parts, 1), Ok(b"Hello".to_vec()));
    let long = FrameHeader::binary(65_536, None);
    assert_eq!(long.emit().0[..10], [0x82, 0x7f, 0, 0, 0, 0, 0, 1, 0, 0]);
    let middle = FrameHeader::binary(256, None);
    assert_eq!(middle.emit().0[..4], [0x82, 0x7e, 1, 0]);
}

#[test]
fn pings_come_between_parts_and_a_close_says_why() {
    let mut bytes = [0x02, 1, b'a', 0x89, 2, b'h', b'i', 0x80, 1, b'b', 0x88, 2, 0x03, 0xe9];
    let mut deframer = Deframer::new(Role::Client);
    let mut chunk = &mut bytes[..];
    assert_eq!(deframer.next(&mut chunk), Ok(Some(DeframedPiece::Data(b"a"))));
    assert_eq!(deframer.next(&mut chunk), Ok(Some(DeframedPiece::Ping)));
    assert_eq!(deframer.control(), b"hi");
    assert_eq!(deframer.next(&mut chunk), Ok(Some(DeframedPiece::Data(b"b"))));
    assert_eq!(deframer.next(&mut chunk), Ok(Some(DeframedPiece::Close(Some(1001)))));
    assert_eq!(deframer.next(&mut chunk), Ok(None));
}

#[test]
fn what_the_standard_forbids_is_malformed() {
    for wrong in [
        &[0xc2, 0][..],            // a reserved bit
        &[0x83, 0],                // no such opcode
        &[0x81, 0],                // text
        &[0x82, 0x80, 0, 0, 0, 0], // a server that masks
        &[0x80, 0],                // a continuation of nothing
        &[0x02, 0, 0x02, 0],       // a message within a message
        &[0x09, 0],                // a ping in parts
        &[0x89, 126, 0, 126],      // a long ping
        &[0x82, 126, 0, 5],        // a length that is not in its shortest form
        &[0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0],
    ] {
        assert!(data(Role::Client, wrong, 1).is_err(), "{wrong:x?}");
    }
    assert!(data(Role::Server, &[0x82, 1, b'x'], 1).is_err(), "a client that does not mask");
}

/// Returns the data of a stream that is fed in chunks of `step` bytes.
fn data(role: Role, bytes: &[u8], step: usize) -> Result<Vec<u8>, MalformedFrame> {
    let mut deframer = Deframer::new(role);
    let (mut bytes, mut all) = (bytes.to_vec(), Vec::new());
    for mut chunk in bytes.chunks_mut(step.max(1)) {
        while let Some(piece) = deframer.next(&mut chunk)? {
            if let DeframedPiece::Data(bytes) = piece {
                all.extend_from_slice(bytes);
            }
        }
    }
    Ok(all)
}

proptest! {
    #[test]
    fn what_is_sent_arrives_whatever_the_chunks(
        messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 1..6),
        key: Option<[u8; 4]>, step in 1..700usize,
    ) {
        let mut stream = Vec::new();
        for message in &messages {
            let (head, len) = FrameHeader::binary(message.len() as u64, key).emit();
            stream.extend_from_slice(&head[..len]);
            let mut payload = message.clone();
            if let Some(key) = key {
                mask(&mut payload, key, 0);
            }
            stream.extend(payload);
        }
        let role = if key.is_some() { Role::Server } else { Role::Client };
        prop_assert_eq!(data(role, &stream, step), Ok(messages.concat()));
    }

    #[test]
    fn any_bytes_are_data_or_malformed(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for role in [Role::Client, Role::Server] {
            prop_assert_eq!(data(role, &bytes, 1), data(role, &bytes, 1000));
        }
        let _ = handshake::answer(&bytes, KEY);
        let _ = handshake::asked(&bytes);
    }

    #[test]
    fn headers_are_read_as_they_were_written(len in 0u64..1 << 62, mask: Option<[u8; 4]>) {
        let header = FrameHeader::binary(len, mask);
        let (bytes, size) = header.emit();
        prop_assert_eq!(FrameHeader::parse(&bytes[..size]), Ok(Some((header, size))));
        for cut in 0..size {
            prop_assert_eq!(FrameHeader::parse(&bytes[..cut]), Ok(None));
        }
    }
}

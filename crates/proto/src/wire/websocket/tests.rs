use super::frame::mask;
use super::handshake::{self, ServerResponse, UpgradeRequest};
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
    assert_eq!(asked, UpgradeRequest { path: "/mqtt", key, protocol: true });
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

/// Checks the three forms of a length at their bounds (section 5.2), and where the mask stands.
#[test]
fn lengths_by_their_bytes() {
    let written = |header: FrameHeader| {
        let (bytes, len) = header.emit();
        bytes[..len].to_vec()
    };
    assert_eq!(written(FrameHeader::binary(0, None)), [0x82, 0]);
    assert_eq!(written(FrameHeader::binary(125, None)), [0x82, 125]);
    assert_eq!(written(FrameHeader::binary(126, None)), [0x82, 126, 0, 126]);
    assert_eq!(written(FrameHeader::binary(0xFFFF, None)), [0x82, 126, 0xFF, 0xFF]);
    assert_eq!(written(FrameHeader::binary(0x1_0000, None)), [0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]);
    let pong = FrameHeader { fin: true, opcode: Opcode::Pong, mask: Some([1, 2, 3, 4]), len: 5 };
    assert_eq!(written(pong), [0x8A, 0x85, 1, 2, 3, 4]);
    let part = FrameHeader { fin: false, opcode: Opcode::Continuation, mask: None, len: 1 };
    assert_eq!(written(part), [0, 1]);
    assert_eq!(FrameHeader::parse(&[0x8A, 0x85, 1, 2, 3, 4, 9]), Ok(Some((pong, 6))));
    assert_eq!(FrameHeader::parse(&[0, 1, 9]), Ok(Some((part, 2))));
    // A control frame carries 125 bytes at most (section 5.5), any other as many as the form takes.
    let ping = FrameHeader { fin: true, opcode: Opcode::Ping, mask: None, len: 125 };
    assert_eq!(FrameHeader::parse(&[0x89, 125]), Ok(Some((ping, 2))));
    let most = [0x82, 127, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF];
    assert_eq!(FrameHeader::parse(&most), Ok(Some((FrameHeader::binary(u64::MAX >> 1, None), 10))));
    let bound = |header| FrameHeader::parse(header).map(|read| read.map(|(it, _)| it.len));
    assert_eq!(bound(&[0x82, 126, 0, 126]), Ok(Some(126)));
    assert_eq!(bound(&[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0]), Ok(Some(0x1_0000)));
    for long in [&[0x82, 126, 0, 125][..], &[0x82, 127, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF]] {
        assert!(FrameHeader::parse(long).is_err(), "{long:x?} is not the shortest form");
    }
    for reserved in [0xC2, 0xA2, 0x92] {
        assert!(FrameHeader::parse(&[reserved, 0]).is_err(), "{reserved:x}");
    }
}

/// Checks masking from any place within the payload on (section 5.3).
#[test]
fn masks_go_on_where_they_stopped() {
    let key = [1, 2, 4, 8];
    let mut bytes = [0; 11];
    mask(&mut bytes, key, 0);
    assert_eq!(bytes, [1, 2, 4, 8, 1, 2, 4, 8, 1, 2, 4]);
    let mut rest = [0x10; 6];
    mask(&mut rest, key, 3);
    assert_eq!(rest, [0x18, 0x11, 0x12, 0x14, 0x18, 0x11]);
    mask(&mut rest, key, 7);
    assert_eq!(rest, [0x10; 6]);
}

/// Compares Base64 with the test vectors of RFC 4648, section 10, in the words that a key has.
#[test]
fn keys_are_base64() {
    assert_eq!(&handshake::key([0; 16]), b"AAAAAAAAAAAAAAAAAAAAAA==");
    assert_eq!(&handshake::key([0xFF; 16]), b"/////////////////////w==");
    assert_eq!(&handshake::key(*b"foobarfoobarfoob"), b"Zm9vYmFyZm9vYmFyZm9vYg==");
}

#[test]
fn requests_that_are_refused() {
    let ask = |text: &str| handshake::asked(text.as_bytes()).map(|asked| asked.protocol);
    let fields = [
        "Upgrade: WebSocket",
        "Connection: keep-alive, Upgrade",
        "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    ];
    let request =
        |first: &str, fields: &[&str]| std::format!("{first}\r\n{}\r\n\r\n", fields.join("\r\n"));
    let get = "GET /mqtt?x=1 HTTP/1.1";
    assert_eq!(ask(&request(get, &fields)), Ok(false), "it offers no subprotocol");
    let offer = [&fields[..], &["sec-websocket-protocol:\tchat, MQTT "]].concat();
    assert_eq!(ask(&request(get, &offer)), Ok(true));
    for first in ["POST / HTTP/1.1", "GET / HTTP/1.0", "GET / HTTP/1.1 more", "GET /"] {
        assert!(ask(&request(first, &fields)).is_err(), "{first}");
    }
    for missing in 0..fields.len() {
        let mut some = fields.to_vec();
        some.remove(missing);
        assert!(ask(&request(get, &some)).is_err(), "without {}", fields[missing]);
    }
    for (at, wrong) in [
        (0, "Upgrade: h2c"),
        (1, "Connection: keep-alive"),
        (2, "Sec-WebSocket-Version: 8"),
        (3, "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZ=="),
    ] {
        let mut some = fields;
        some[at] = wrong;
        assert!(ask(&request(get, &some)).is_err(), "{wrong}");
    }
    assert!(handshake::asked(b"GET / HTTP/1.1").is_err(), "no fields");
    assert!(handshake::asked(b"\xff\r\n").is_err(), "no text");
}

#[test]
fn answers_that_prove_too_little() {
    let accept = "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
    let of = |fields: &[&str]| {
        let text = std::format!("HTTP/1.1 101 Switching\r\n{}\r\n\r\n", fields.join("\r\n"));
        handshake::answer(text.as_bytes(), KEY)
            .map(|answer| answer == ServerResponse::Switched { protocol: false })
    };
    assert_eq!(of(&["Upgrade: websocket", "Connection: upgrade", accept]), Ok(true));
    assert!(of(&["Connection: upgrade", accept]).is_err());
    assert!(of(&["Upgrade: websocket", accept]).is_err());
    assert!(of(&["Upgrade: websocket", "Connection: upgrade"]).is_err());
    let more = "Sec-WebSocket-Extensions: permessage-deflate";
    assert!(of(&["Upgrade: websocket", "Connection: upgrade", accept, more]).is_err());
    let empty = "Sec-WebSocket-Extensions:";
    assert_eq!(of(&["Upgrade: websocket", "Connection: upgrade", accept, empty]), Ok(true));
}

#[test]
fn a_head_ends_with_its_empty_line() {
    assert_eq!(handshake::head(b"a\r\n\r\nmore"), Ok(Some(5)));
    assert_eq!(handshake::head(b"a\r\n\r"), Ok(None));
    assert_eq!(handshake::head(b""), Ok(None));
    let mut long = std::vec![b'x'; 8191];
    long.extend_from_slice(b"\r\n\r\n");
    assert_eq!(handshake::head(&long), Ok(Some(8195)), "it begins within 8 KiB");
    long.insert(0, b'x');
    assert!(handshake::head(&long).is_err());
}

#[test]
fn a_response_names_the_subprotocol_only_where_it_was_offered() {
    let mut response = String::new();
    handshake::response(&mut response, KEY, false).unwrap();
    let expected = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
        Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    assert_eq!(response, expected);
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

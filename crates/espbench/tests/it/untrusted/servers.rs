//! Text that servers send. What the services of `respond` log goes through `say!`, like all else.

use super::{HOSTILE, must_be_shown};
use crate::util::{Ran, TestDir};
use std::io::{Read, Write};
use std::net::TcpListener;

/// Returns the address of a server that answers the first bytes of each client so, and closes.
fn server(answers: Vec<Vec<u8>>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let Ok(mut client) = client else { return };
            for answer in &answers {
                let _ = client.read(&mut [0; 4096]);
                let _ = client.write_all(answer);
            }
        }
    });
    port
}

/// Returns a packet of MQTT.
fn packet(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind, u8::try_from(body.len()).unwrap()], body].concat()
}

/// Returns a text with its length before it, as MQTT has it.
fn text(text: &str) -> Vec<u8> {
    [&u16::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat()
}

/// Returns properties of version 5 that are one text: 0x1f is a reason, 0x1c another server, 0x12 an assigned client.
fn property(id: u8) -> Vec<u8> {
    let body = [&[id][..], &text(HOSTILE)].concat();
    [&[u8::try_from(body.len()).unwrap()], &body[..]].concat()
}

#[test]
fn no_text_of_a_broker_reaches_the_terminal_raw() {
    let bench = TestDir::new();
    let refused = |id: u8, reason: u8| packet(0x20, &[&[0, reason][..], &property(id)].concat());
    let accepted = packet(0x20, &[0, 0, 0]);
    let gone = packet(0xe0, &[&[0x8b][..], &property(0x1f)].concat());
    let pages = [
        format!("HTTP/1.1 301 {HOSTILE}\r\nLocation: wss://{HOSTILE}/\r\n\r\n"),
        format!("HTTP/1.1 400 {HOSTILE}\r\nServer: {HOSTILE}\r\n\r\n{HOSTILE}"),
        format!(
            "HTTP/1.1 101 Switching\r\nSec-WebSocket-Accept: {HOSTILE}\r\nSec-WebSocket-Protocol: {HOSTILE}\r\n\r\n"
        ),
        HOSTILE.to_owned(),
    ];
    for (scheme, answers) in [
        ("mqtt", vec![refused(0x1f, 0x87)]),
        ("mqtt", vec![refused(0x1c, 0x9c)]),
        ("mqtt", vec![refused(0x12, 0)]),
        ("mqtt", vec![accepted, gone]),
        ("mqtt", vec![HOSTILE.as_bytes().to_vec()]),
        ("mqtts", vec![HOSTILE.as_bytes().to_vec()]),
    ]
    .into_iter()
    .chain(pages.iter().map(|it| ("ws", vec![it.as_bytes().to_vec()])))
    {
        let url = format!("{scheme}://127.0.0.1:{}", server(answers.clone()));
        let args = ["rate", "mqtt", &url, "--mqtt-version", "5", "--rate", "10", "--count", "1"];
        let ran = Ran::of(&mut bench.command(&args));
        must_be_shown(&ran, &format!("{url}: {answers:?}"));
        assert!(ran.err.contains("127.0.0.1"), "{}", ran.err);
    }
}

//! The opening handshake (RFC 6455, section 4): a GET request, and the response that switches.
//!
//! Both are read as HTTP/1.1 heads (RFC 9112): a first line, then fields until an empty line. What
//! follows the empty line is no longer HTTP.

use super::{MalformedFrame, SUBPROTOCOL};
use core::fmt::{self, Write};
use sha1::{Digest as _, Sha1};

/// Longest head that is read.
pub const LONGEST_HEAD: usize = 8192;

/// Characters of a key: 16 bytes in base64.
pub const KEY: usize = 24;

/// Characters of the answer to a key: 20 bytes in base64.
pub const ACCEPT: usize = 28;

/// Appended to the key before it is hashed (section 1.3).
const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Writes Base64 with padding (RFC 4648, section 4) of `bytes` into `to`, whose length must fit.
fn base64(bytes: &[u8], to: &mut [u8]) {
    for (three, four) in bytes.chunks(3).zip(to.chunks_mut(4)) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for (at, place) in four.iter_mut().enumerate() {
            let digit = ALPHABET[(word >> (18 - 6 * at) & 63) as usize];
            *place = if at > three.len() { b'=' } else { digit };
        }
    }
}

/// Makes the key of a request from 16 bytes of chance.
#[must_use]
pub fn key(chance: [u8; 16]) -> [u8; KEY] {
    let mut key = [0; KEY];
    base64(&chance, &mut key);
    key
}

/// Returns the answer to a key (section 4.2.2).
#[must_use]
pub fn accept(key: &[u8]) -> [u8; ACCEPT] {
    let hash = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    let mut accept = [0; ACCEPT];
    base64(&hash, &mut accept);
    accept
}

/// Writes a client's request for `path` at `host` (with its port, where that is not the usual one).
///
/// # Errors
/// The writer's.
pub fn request(to: &mut impl Write, path: &str, host: &str, key: &[u8; KEY]) -> fmt::Result {
    let key = core::str::from_utf8(key).unwrap_or_default();
    write!(
        to,
        "GET {path} HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
    )
}

/// Writes a server's response to a request with that key. `protocol` says that the client offered
/// [`SUBPROTOCOL`], which is then chosen.
///
/// # Errors
/// The writer's.
pub fn response(to: &mut impl Write, key: &[u8], protocol: bool) -> fmt::Result {
    let accept = accept(key);
    let accept = core::str::from_utf8(&accept).unwrap_or_default();
    write!(
        to,
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n"
    )?;
    if protocol {
        write!(to, "Sec-WebSocket-Protocol: {SUBPROTOCOL}\r\n")?;
    }
    to.write_str("\r\n")
}

/// Returns the length of the head at the start of `bytes`, with its empty line; `None` where it is
/// cut off.
///
/// # Errors
/// The head is longer than [`LONGEST_HEAD`].
pub fn head(bytes: &[u8]) -> Result<Option<usize>, MalformedFrame> {
    match bytes.windows(4).take(LONGEST_HEAD).position(|four| four == b"\r\n\r\n") {
        Some(at) => Ok(Some(at + 4)),
        None if bytes.len() >= LONGEST_HEAD => {
            Err(MalformedFrame("an HTTP head of more than 8 KiB"))
        }
        None => Ok(None),
    }
}

/// Answer of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerResponse<'a> {
    /// The connection is a WebSocket now. `protocol`: the server chose [`SUBPROTOCOL`].
    Switched {
        /// Whether it did.
        protocol: bool,
    },
    /// The server did not switch.
    Refused {
        /// The status code (RFC 9110, section 15).
        status: u16,
        /// Where it sends the client instead, with a redirection.
        location: Option<&'a str>,
    },
}

/// Reads a server's response to a request with that key.
///
/// # Errors
/// The answer is not HTTP, or says that it switched without the fields that prove it.
pub fn answer<'a>(head: &'a [u8], key: &[u8; KEY]) -> Result<ServerResponse<'a>, MalformedFrame> {
    let text = core::str::from_utf8(head).map_err(|_| MalformedFrame("a head that is no text"))?;
    let (first, fields) = text.split_once("\r\n").ok_or(MalformedFrame("no HTTP status line"))?;
    let rest = first.strip_prefix("HTTP/1.").ok_or(MalformedFrame("no HTTP/1.1 status line"))?;
    let status = rest.get(2..5).and_then(|digits| digits.parse().ok());
    let status = status.ok_or(MalformedFrame("an HTTP status line without a status"))?;
    if status != 101 {
        return Ok(ServerResponse::Refused { status, location: field(fields, "location") });
    }
    let is = |name, word| field(fields, name).is_some_and(|value| lists(value, word));
    if !is("upgrade", "websocket") || !is("connection", "upgrade") {
        return Err(MalformedFrame("a switch to something other than WebSocket"));
    }
    if field(fields, "sec-websocket-accept").map(str::as_bytes) != Some(&accept(key)) {
        return Err(MalformedFrame("a Sec-WebSocket-Accept that does not answer the key"));
    }
    if field(fields, "sec-websocket-extensions").is_some_and(|value| !value.is_empty()) {
        return Err(MalformedFrame("an extension that was not offered"));
    }
    match field(fields, "sec-websocket-protocol") {
        None => Ok(ServerResponse::Switched { protocol: false }),
        Some(SUBPROTOCOL) => Ok(ServerResponse::Switched { protocol: true }),
        Some(_) => Err(MalformedFrame("a subprotocol that was not offered")),
    }
}

/// The request of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpgradeRequest<'a> {
    /// The path, with its query.
    pub path: &'a str,
    /// Key of the client (`Sec-WebSocket-Key`).
    pub key: &'a str,
    /// Whether it offered [`SUBPROTOCOL`].
    pub protocol: bool,
}

/// Reads a client's request.
///
/// # Errors
/// It is no request for a WebSocket of version 13.
pub fn asked(head: &[u8]) -> Result<UpgradeRequest<'_>, MalformedFrame> {
    let text = core::str::from_utf8(head).map_err(|_| MalformedFrame("a head that is no text"))?;
    let (first, fields) = text.split_once("\r\n").ok_or(MalformedFrame("no HTTP request line"))?;
    let mut words = first.split(' ');
    let (method, path, version) = (words.next(), words.next(), words.next());
    if method != Some("GET") || version != Some("HTTP/1.1") || words.next().is_some() {
        return Err(MalformedFrame("no GET request of HTTP/1.1"));
    }
    let is = |name, word| field(fields, name).is_some_and(|value| lists(value, word));
    if !is("upgrade", "websocket") || !is("connection", "upgrade") {
        return Err(MalformedFrame("no request for a WebSocket"));
    }
    if field(fields, "sec-websocket-version") != Some("13") {
        return Err(MalformedFrame("a version of WebSocket other than 13"));
    }
    let key = field(fields, "sec-websocket-key").filter(|key| key.len() == KEY);
    Ok(UpgradeRequest {
        path: path.unwrap_or_default(),
        key: key.ok_or(MalformedFrame("no Sec-WebSocket-Key of 16 bytes"))?,
        protocol: is("sec-websocket-protocol", SUBPROTOCOL),
    })
}

/// Returns the value of the first field of that name, in small letters.
fn field<'a>(fields: &'a str, name: &str) -> Option<&'a str> {
    fields.split("\r\n").find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim_matches([' ', '\t']))
    })
}

/// Tells whether a comma-separated list has that word.
fn lists(value: &str, word: &str) -> bool {
    value.split(',').any(|item| item.trim().eq_ignore_ascii_case(word))
}

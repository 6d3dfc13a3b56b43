//! How to tell an iperf3 peer, which shares the name and nothing of the protocol.
//!
//! An iperf3 client opens its control connection with a cookie of 36 characters from `a-z2-7` and
//! a zero byte (`iperf_util.c`, `make_cookie`). An iperf3 server takes any 37 bytes for that cookie
//! and answers with one state byte (`iperf_api.h`): 9 asks for the parameters, -1 refuses.

/// Bytes of an iperf3 cookie.
const COOKIE: usize = 37;

/// The sign by which an iperf3 peer was recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Iperf3 {
    /// A client's cookie.
    Client,
    /// A server that asks for parameters.
    Server,
    /// A server that is busy with another test.
    BusyServer,
}

/// Tells whether the first bytes of a TCP stream are an iperf3 client's. At least four are needed;
/// as many of the first 37 as are there must fit.
#[must_use]
pub fn client_greeting(bytes: &[u8]) -> Option<Iperf3> {
    let cookie = &bytes[..bytes.len().min(COOKIE - 1)];
    let fits = cookie.len() >= 4 && cookie.iter().all(|b| matches!(b, b'a'..=b'z' | b'2'..=b'7'));
    let ends = bytes.get(COOKIE - 1).is_none_or(|&b| b == 0);
    (fits && ends).then_some(Iperf3::Client)
}

/// Tells whether the first bytes that a TCP server sends are an iperf3 server's. (iperf 2 begins
/// with a zero byte, see [`HeaderAck`](super::HeaderAck).)
#[must_use]
pub fn server_greeting(bytes: &[u8]) -> Option<Iperf3> {
    match bytes {
        [9, ..] => Some(Iperf3::Server),
        [0xFF, ..] => Some(Iperf3::BusyServer),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iperf3_cookie_is_told_from_iperf_2() {
        let cookie = b"cvdb3phmfb2hvvcxxb4zfqzpaas3i3pz4b4g\0";
        assert_eq!(client_greeting(cookie), Some(Iperf3::Client));
        assert_eq!(client_greeting(&cookie[..4]), Some(Iperf3::Client));
        assert_eq!(client_greeting(&cookie[..3]), None);
        assert_eq!(client_greeting(&[0x40, 0x01, 0x00, 0x78, 0, 0, 0, 1]), None);
        assert_eq!(client_greeting(b"0123456789"), None, "iperf 2's pattern");
        assert_eq!(client_greeting(&[b'a'; 40]), None, "no zero byte behind");
        assert_eq!(client_greeting(&[b'a'; 37]), None);
        assert_eq!(client_greeting(&[b'a'; 36]), Some(Iperf3::Client), "the rest may come");
    }

    #[test]
    fn an_iperf3_server_is_told_by_its_state_byte() {
        assert_eq!(server_greeting(&[9]), Some(Iperf3::Server));
        assert_eq!(server_greeting(&[255]), Some(Iperf3::BusyServer));
        assert_eq!(server_greeting(&[0, 0, 0, 2]), None);
        assert_eq!(server_greeting(&[]), None);
    }
}

//! Requests of HTTP/1 as they arrive (RFC 9112): octets in any pieces, up to the empty line of the head.

/// Longest head of a request.
pub(crate) const LONGEST_HEAD: usize = 8192;

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Path that is asked for, without its query; or only the head of the answer.
    Get { head: bool, path: String },
    /// A method that changes something.
    OtherMethod,
    /// No request line of HTTP/1, or a head without an end.
    Nonsense,
}

/// The head of a request, as far as it has come.
#[derive(Debug, Default)]
pub(crate) struct RequestHead {
    octets: Vec<u8>,
}

impl RequestHead {
    /// Adds octets; returns the request once its head is whole, or too long to be one.
    pub(crate) fn add(&mut self, octets: &[u8]) -> Option<Request> {
        // An end may lie across two pieces.
        let seen = self.octets.len().saturating_sub(2);
        let room = LONGEST_HEAD - self.octets.len();
        self.octets.extend_from_slice(&octets[..octets.len().min(room)]);
        if has_empty_line(&self.octets[seen..]) {
            Some(request(&self.octets))
        } else if self.octets.len() == LONGEST_HEAD {
            Some(Request::Nonsense)
        } else {
            None
        }
    }
}

/// Returns whether a line ends and an empty one follows; a line may end without its CR (section
/// 2.2).
fn has_empty_line(octets: &[u8]) -> bool {
    octets.windows(2).any(|two| two == b"\n\n") || octets.windows(3).any(|three| three == b"\n\r\n")
}

/// Reads the request line (section 3).
fn request(head: &[u8]) -> Request {
    let line = head.split(|&c| c == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let parts: Vec<&[u8]> = line.split(|&c| c == b' ').collect();
    let [method, target, version] = parts[..] else { return Request::Nonsense };
    if !version.starts_with(b"HTTP/1.") || !target.starts_with(b"/") {
        return Request::Nonsense;
    }
    let path = target.split(|&c| c == b'?').next().unwrap_or_default();
    match method {
        // What is served has names in ASCII; others are not found.
        b"GET" | b"HEAD" => Request::Get {
            head: method == b"HEAD",
            path: String::from_utf8_lossy(path).into_owned(),
        },
        _ => Request::OtherMethod,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Reads the request from octets that come in pieces of that length.
    fn in_pieces(octets: &[u8], len: usize) -> Option<Request> {
        let mut head = RequestHead::default();
        octets.chunks(len).find_map(|piece| head.add(piece))
    }

    #[test]
    fn request_lines() {
        let get = |head, path: &str| Request::Get { head, path: path.into() };
        for (octets, wanted) in [
            (&b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"[..], get(false, "/metrics")),
            (b"GET /metrics?name=a HTTP/1.0\n\n", get(false, "/metrics")),
            (b"GET /metrics HTTP/1.1\nHost: a\n\r\n", get(false, "/metrics")),
            (b"HEAD / HTTP/1.1\r\n\r\n", get(true, "/")),
            (b"GET /../\xff HTTP/1.1\r\n\r\n", get(false, "/../\u{fffd}")),
            (b"POST /metrics HTTP/1.1\r\n\r\n", Request::OtherMethod),
            (b"GET http://a/metrics HTTP/1.1\r\n\r\n", Request::Nonsense),
            (b"GET /metrics\r\n\r\n", Request::Nonsense),
            (b"\x16\x03\x01\x02\x00\x01\n\n", Request::Nonsense),
        ] {
            let told = String::from_utf8_lossy(octets);
            for len in [1, 2, 3, octets.len()] {
                assert_eq!(in_pieces(octets, len), Some(wanted.clone()), "{told}");
            }
            assert_eq!(in_pieces(&octets[..octets.len() - 1], 1), None, "{told}");
        }
    }

    #[test]
    fn a_head_has_a_longest() {
        let endless = [&b"GET /metrics HTTP/1.1\r\n"[..], &[b'a'; LONGEST_HEAD]].concat();
        assert_eq!(in_pieces(&endless[..LONGEST_HEAD - 1], 1000), None);
        for len in [1, 1000, endless.len()] {
            assert_eq!(in_pieces(&endless, len), Some(Request::Nonsense));
        }
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(
            octets in proptest::collection::vec(
                prop_oneof![any::<u8>(), Just(b'\r'), Just(b'\n'), Just(b' ')], 1..64),
            target in "(GET|HEAD|PUT) /[a-z]{0,7}( HTTP/1.1)?",
            len in 1usize..9,
        ) {
            let octets = [target.as_bytes(), &octets].concat();
            prop_assert_eq!(in_pieces(&octets, len), in_pieces(&octets, octets.len()));
        }
    }
}

//! The few words of HTTP/1.1 (RFC 9112) that a scraper needs: one request on a connection, in bounded
//! time and memory.

use super::Now;
use crate::render::openmetrics::{self, CONTENT_TYPE};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Scrapers at a time; further ones are closed at once.
const MOST: usize = 8;

/// Longest head of a request.
const HEAD: usize = 8192;

/// Longest that a connection may take, from its first octet to its last.
const PATIENCE: Duration = Duration::from_secs(3);

/// Answers scrapers until it is told to stop; those that it still talks to are waited for.
pub(super) fn serve(listener: &TcpListener, now: &Now, stop: &AtomicBool) {
    let busy = Arc::new(AtomicUsize::new(0));
    std::thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            match listener.accept() {
                Ok((stream, _)) if busy.load(Ordering::Relaxed) < MOST => {
                    let busy = Arc::clone(&busy);
                    busy.fetch_add(1, Ordering::Relaxed);
                    scope.spawn(move || {
                        // A scraper that goes, or is too slow, gets no figures: that is its affair.
                        let _ = answer(stream, now);
                        busy.fetch_sub(1, Ordering::Relaxed);
                    });
                }
                // One too many, or gone before it was taken.
                Ok(_) => {}
                Err(_) => std::thread::park_timeout(Duration::from_millis(50)),
            }
        }
    });
}

fn answer(mut stream: TcpStream, now: &Now) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let end = Instant::now() + PATIENCE;
    let head = read_head(&mut stream, end)?;
    let (status, kind, body, with_body) = match request(&head) {
        Request::Metrics { head } => {
            ("200 OK", CONTENT_TYPE, openmetrics::render(&now.snapshot()), !head)
        }
        Request::Elsewhere => (
            "404 Not Found",
            "text/plain; charset=utf-8",
            "the figures are at /metrics\n".into(),
            true,
        ),
        Request::OtherMethod => {
            ("405 Method Not Allowed", "text/plain; charset=utf-8", "use GET\n".into(), true)
        }
        Request::Nonsense => {
            ("400 Bad Request", "text/plain; charset=utf-8", "this is HTTP\n".into(), true)
        }
    };
    let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
    let mut reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{allow}Connection: \
         close\r\n\r\n",
        body.len()
    );
    if with_body {
        reply.push_str(&body);
    }
    write_until(&mut stream, reply.as_bytes(), end)
}

/// Time that is left, as sockets take it: not zero.
fn left(end: Instant) -> io::Result<Option<Duration>> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
}

/// The head of the request, up to its empty line.
fn read_head(stream: &mut TcpStream, end: Instant) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    let mut some = [0; 1024];
    while !is_whole(&head) {
        if head.len() >= HEAD {
            return Ok(Vec::new());
        }
        stream.set_read_timeout(left(end)?)?;
        match stream.read(&mut some)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            len => head.extend_from_slice(&some[..len]),
        }
    }
    Ok(head)
}

fn is_whole(head: &[u8]) -> bool {
    head.windows(4).any(|it| it == b"\r\n\r\n") || head.windows(2).any(|it| it == b"\n\n")
}

fn write_until(stream: &mut TcpStream, mut bytes: &[u8], end: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(left(end)?)?;
        match stream.write(bytes)? {
            0 => return Err(ErrorKind::WriteZero.into()),
            len => bytes = &bytes[len..],
        }
    }
    stream.flush()
}

/// What a scraper wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Request {
    /// The figures, or only the head of the answer.
    Metrics { head: bool },
    /// Another path.
    Elsewhere,
    /// A method that changes something.
    OtherMethod,
    /// No request line of HTTP/1.
    Nonsense,
}

/// Reads the request line (RFC 9112 section 3).
fn request(head: &[u8]) -> Request {
    let line = head.split(|&c| c == b'\n').next().unwrap_or_default();
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let parts: Vec<&[u8]> = line.split(|&c| c == b' ').collect();
    let [method, target, version] = parts[..] else { return Request::Nonsense };
    if !version.starts_with(b"HTTP/1.") || !target.starts_with(b"/") {
        return Request::Nonsense;
    }
    let path = target.split(|&c| c == b'?').next().unwrap_or_default();
    match (method, path) {
        (b"GET" | b"HEAD", b"/metrics" | b"/") => Request::Metrics { head: method == b"HEAD" },
        (b"GET" | b"HEAD", _) => Request::Elsewhere,
        _ => Request::OtherMethod,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn request_lines() {
        for (line, wanted) in [
            (&b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"[..], Request::Metrics { head: false }),
            (b"GET /metrics?name=a HTTP/1.0\n\n", Request::Metrics { head: false }),
            (b"HEAD / HTTP/1.1\r\n\r\n", Request::Metrics { head: true }),
            (b"GET /etc/passwd HTTP/1.1\r\n\r\n", Request::Elsewhere),
            (b"POST /metrics HTTP/1.1\r\n\r\n", Request::OtherMethod),
            (b"GET http://a/metrics HTTP/1.1\r\n\r\n", Request::Nonsense),
            (b"GET /metrics\r\n\r\n", Request::Nonsense),
            (b"\x16\x03\x01\x02\x00\x01", Request::Nonsense),
            (b"", Request::Nonsense),
        ] {
            assert_eq!(request(line), wanted, "{}", String::from_utf8_lossy(line));
        }
    }

    proptest! {
        #[test]
        fn no_octets_panic(octets in proptest::collection::vec(any::<u8>(), 0..64)) {
            let _ = (request(&octets), is_whole(&octets));
        }
    }
}

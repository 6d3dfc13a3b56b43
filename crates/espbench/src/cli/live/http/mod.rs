//! The few words of HTTP/1.1 (RFC 9112) that a scraper needs: one request on a connection, in bounded
//! time and memory.

mod request;

use super::Now;
use crate::render::openmetrics::{self, CONTENT_TYPE};
use request::{Request, RequestHead};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Scrapers at a time; further ones are closed at once.
const MOST: usize = 8;

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
    let (status, kind, body, with_body) = match read_request(&mut stream, end)? {
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

/// Returns the time until `end` as sockets take it, which is not zero.
///
/// # Errors
/// `TimedOut` once `end` has come.
fn left(end: Instant) -> io::Result<Option<Duration>> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
}

/// Reads up to the end of the request's head.
fn read_request(stream: &mut TcpStream, end: Instant) -> io::Result<Request> {
    let (mut head, mut some) = (RequestHead::default(), [0; 1024]);
    loop {
        stream.set_read_timeout(left(end)?)?;
        let request = match stream.read(&mut some)? {
            0 => return Err(ErrorKind::UnexpectedEof.into()),
            len => head.add(&some[..len]),
        };
        if let Some(request) = request {
            return Ok(request);
        }
    }
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

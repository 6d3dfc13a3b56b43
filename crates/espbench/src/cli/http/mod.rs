//! The few words of HTTP/1.1 (RFC 9112) that a scraper or a browser needs: one request on a connection, in
//! bounded time and memory.
//!
//! | module | contents |
//! |---|---|
//! | `request` | requests as they arrive |

mod request;

pub(super) use request::Request;

use request::RequestHead;
use std::borrow::Cow;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Plain text, of answers that are no success.
const PLAIN: &str = "text/plain; charset=utf-8";

/// Bounds of a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct HttpLimits {
    /// Connections at a time; further ones are closed at once.
    pub(super) connections: usize,
    /// Longest that a connection may take, from its first octet to its last.
    pub(super) patience: Duration,
}

/// An answer.
#[derive(Clone, Debug)]
pub(super) struct HttpReply<'a> {
    /// Number and words of the status line.
    pub(super) status: &'static str,
    /// Value of `Content-Type`.
    pub(super) kind: &'a str,
    /// Further lines of the head, each with its end.
    pub(super) head: Cow<'static, str>,
    /// Octets.
    pub(super) body: Cow<'a, [u8]>,
}

impl HttpReply<'_> {
    /// Returns an answer in words.
    pub(super) const fn said(status: &'static str, words: &'static str) -> Self {
        let (head, body) = (Cow::Borrowed(""), Cow::Borrowed(words.as_bytes()));
        Self { status, kind: PLAIN, head, body }
    }

    /// Returns the answer to a method that changes something.
    pub(super) fn other_method() -> Self {
        let head = Cow::Borrowed("Allow: GET, HEAD\r\n");
        Self { head, ..Self::said("405 Method Not Allowed", "use GET\n") }
    }

    /// Returns the answer to what is no request.
    pub(super) const fn nonsense() -> Self {
        Self::said("400 Bad Request", "this is HTTP\n")
    }
}

/// Answers until it is told to stop; those that it still talks to are waited for. The listener does not block.
pub(super) fn serve<'a>(
    listener: &TcpListener,
    limits: HttpLimits,
    stop: &AtomicBool,
    answer: impl Fn(&Request) -> HttpReply<'a> + Sync,
) {
    let busy = Arc::new(AtomicUsize::new(0));
    let answer = &answer;
    std::thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            match listener.accept() {
                Ok((stream, _)) if busy.load(Ordering::Relaxed) < limits.connections => {
                    let busy = Arc::clone(&busy);
                    busy.fetch_add(1, Ordering::Relaxed);
                    scope.spawn(move || {
                        // Whoever goes, or is too slow, gets no answer: that is its affair.
                        let _ = talk(stream, limits.patience, answer);
                        busy.fetch_sub(1, Ordering::Relaxed);
                    });
                }
                // One too many, or gone before it was taken.
                Ok(_) => {}
                Err(_) => std::thread::park_timeout(Duration::from_millis(10)),
            }
        }
    });
}

fn talk<'a>(
    mut stream: TcpStream,
    patience: Duration,
    answer: impl Fn(&Request) -> HttpReply<'a>,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let end = Instant::now() + patience;
    let request = read_request(&mut stream, end)?;
    let HttpReply { status, kind, head, body } = answer(&request);
    let mut reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{head}Connection: \
         close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    if !matches!(request, Request::Get { head: true, .. }) {
        reply.extend_from_slice(&body);
    }
    write_until(&mut stream, &reply, end)
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

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
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Plain text, of answers that are no success.
const PLAIN: &str = "text/plain; charset=utf-8";

/// Longest wait for a request.
const SILENCE: Duration = Duration::from_secs(5);

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

/// A connection that a thread talks to.
struct Talk {
    /// Another handle of the connection, to end it by.
    stream: TcpStream,
    /// Set once the request has come.
    has_asked: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
}

impl Talk {
    fn end(&self) {
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

/// Answers until it is told to stop, and then ends the connections that are left. The listener does not block.
///
/// Where there are too many connections, the oldest one that has asked nothing yet gives way: silent clients keep nobody
/// out. A connection for which the system has no thread or descriptor is closed.
pub(super) fn serve<'a>(
    listener: &TcpListener,
    limits: HttpLimits,
    stop: &AtomicBool,
    answer: impl Fn(&Request) -> HttpReply<'a> + Sync,
) {
    let mut talks: Vec<Talk> = Vec::new();
    let answer = &answer;
    std::thread::scope(|scope| {
        while !stop.load(Ordering::Relaxed) {
            talks.retain(|talk| !talk.is_over.load(Ordering::Relaxed));
            let Ok((stream, _)) = listener.accept() else {
                std::thread::park_timeout(Duration::from_millis(10));
                continue;
            };
            if talks.len() >= limits.connections {
                let silent = talks.iter().position(|it| !it.has_asked.load(Ordering::Relaxed));
                let Some(silent) = silent else { continue };
                talks.remove(silent).end();
            }
            let Ok(other) = stream.try_clone() else { continue };
            let (has_asked, is_over) = (Arc::default(), Arc::default());
            let talk = Talk { stream: other, has_asked, is_over };
            let (has_asked, is_over) = (Arc::clone(&talk.has_asked), Arc::clone(&talk.is_over));
            let named = std::thread::Builder::new().name("http".into());
            let spawned = named.spawn_scoped(scope, move || {
                // Whoever goes, or is too slow, gets no answer: that is its affair.
                let _ = talk_to(&stream, limits.patience, &has_asked, answer);
                // The other handle is still open.
                let _ = stream.shutdown(Shutdown::Both);
                is_over.store(true, Ordering::Relaxed);
            });
            match spawned {
                Ok(_) => talks.push(talk),
                Err(_) => talk.end(),
            }
        }
        talks.iter().for_each(Talk::end);
    });
}

fn talk_to<'a>(
    stream: &TcpStream,
    patience: Duration,
    has_asked: &AtomicBool,
    answer: impl Fn(&Request) -> HttpReply<'a>,
) -> io::Result<()> {
    stream.set_nonblocking(false)?;
    let begun = Instant::now();
    let request = read_request(stream, begun + patience.min(SILENCE))?;
    has_asked.store(true, Ordering::Relaxed);
    let HttpReply { status, kind, head, body } = answer(&request);
    let reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{head}Connection: \
         close\r\n\r\n",
        body.len()
    );
    let end = begun + patience;
    write_until(stream, reply.as_bytes(), end)?;
    if !matches!(request, Request::Get { head: true, .. }) {
        write_until(stream, &body, end)?;
    }
    Ok(())
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
fn read_request(mut stream: &TcpStream, end: Instant) -> io::Result<Request> {
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

fn write_until(mut stream: &TcpStream, mut bytes: &[u8], end: Instant) -> io::Result<()> {
    while !bytes.is_empty() {
        stream.set_write_timeout(left(end)?)?;
        match stream.write(bytes)? {
            0 => return Err(ErrorKind::WriteZero.into()),
            len => bytes = &bytes[len..],
        }
    }
    stream.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: HttpLimits = HttpLimits { connections: 4, patience: Duration::from_secs(60) };

    /// Stops a server also where a test fails.
    struct Stop<'a>(&'a AtomicBool);

    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    /// Serves a body while `talk` does what clients do.
    fn served(body: &[u8], talk: impl FnOnce(std::net::SocketAddr)) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let (address, stop) = (listener.local_addr().unwrap(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                serve(&listener, LIMITS, &stop, |_| HttpReply {
                    body: Cow::Borrowed(body),
                    ..HttpReply::said("200 OK", "")
                });
            });
            let _stop = Stop(&stop);
            talk(address);
        });
    }

    fn ask(address: std::net::SocketAddr) -> TcpStream {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        stream
    }

    #[test]
    fn silent_clients_keep_nobody_out() {
        served(b"here", |address| {
            let silent: Vec<TcpStream> =
                (0..20).map(|_| TcpStream::connect(address).unwrap()).collect();
            let mut answer = String::new();
            ask(address).read_to_string(&mut answer).unwrap();
            assert!(answer.ends_with("\r\n\r\nhere"), "{answer}");
            drop(silent);
        });
    }

    #[test]
    fn an_answer_is_whole_and_the_end_waits_for_no_reader() {
        let body: Vec<u8> = (0..8 << 20).map(|i: u32| (i % 251) as u8).collect();
        let begun = Instant::now();
        served(&body, |address| {
            let mut answer = Vec::new();
            ask(address).read_to_end(&mut answer).unwrap();
            assert!(answer.ends_with(&body), "{} octets", answer.len());
            // These read nothing: the end does not wait until their patience is over.
            let readers: Vec<TcpStream> = (0..3).map(|_| ask(address)).collect();
            std::mem::forget(readers);
        });
        assert!(begun.elapsed() < LIMITS.patience);
    }
}

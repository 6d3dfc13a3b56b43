//! A small page over HTTP, the device's side.

use super::{App, SocketId, Sockets, StreamState, Wait, opened};
use core::fmt::Write as _;
use espbench_model::time::{Duration, Instant};

/// Bytes of a request's header at most, as ESP-IDF's server has it (`CONFIG_HTTPD_MAX_REQ_HDR_LEN`).
const HEADER_MAX: usize = 512;

/// Bytes of a reply at most.
const REPLY_MAX: usize = 512;

/// Silence that ends a connection (`HTTPD_DEFAULT_CONFIG`, `recv_wait_timeout`).
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves one page at `/` over HTTP/1.1 (RFC 9112), on `FLOWS` connections at a time, one request on each.
/// It never ends.
///
/// Counters: `http-requests`; `refused-streams`, connections beyond `FLOWS`; `failed`, the port is taken.
#[derive(Clone, Debug)]
pub struct HttpPage<const FLOWS: usize = 4> {
    port: u16,
    page: heapless::String<256>,
    listener: Option<SocketId>,
    flows: [Option<HttpFlow>; FLOWS],
    /// Whose turn it is.
    turn: usize,
}

/// A connection: the request that has come so far, then what is left of the reply.
#[derive(Clone, Debug)]
struct HttpFlow {
    socket: SocketId,
    request: heapless::Vec<u8, HEADER_MAX>,
    reply: heapless::String<REPLY_MAX>,
    sent: usize,
    heard: Instant,
}

/// An HTTP status with its reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HttpStatus {
    Ok,
    BadRequest,
    NotFound,
    NotAllowed,
    TooLarge,
}

impl HttpStatus {
    const fn line(self) -> &'static str {
        match self {
            Self::Ok => "200 OK",
            Self::BadRequest => "400 Bad Request",
            Self::NotFound => "404 Not Found",
            Self::NotAllowed => "405 Method Not Allowed",
            Self::TooLarge => "431 Request Header Fields Too Large",
        }
    }
}

/// Returns what a request line asks for, and whether its body is wanted.
fn asked(request: &[u8]) -> (HttpStatus, bool) {
    let line = request.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, target, version) = (words.next(), words.next(), words.next());
    let (Some(method), Some(target), Some(version)) = (method, target, version) else {
        return (HttpStatus::BadRequest, true);
    };
    if !version.starts_with(b"HTTP/1.") || words.next().is_some() {
        return (HttpStatus::BadRequest, true);
    }
    match (method, target) {
        (b"GET" | b"HEAD", b"/") => (HttpStatus::Ok, method == b"GET"),
        (b"GET" | b"HEAD", _) => (HttpStatus::NotFound, method == b"GET"),
        _ => (HttpStatus::NotAllowed, true),
    }
}

impl HttpFlow {
    fn new(socket: SocketId, now: Instant) -> Self {
        let (request, reply) = (heapless::Vec::new(), heapless::String::new());
        Self { socket, request, reply, sent: 0, heard: now }
    }

    /// Takes what has come; true once the request is there as far as it is wanted.
    fn take(&mut self, bytes: &[u8]) -> bool {
        let room = HEADER_MAX - self.request.len();
        let _ = self.request.extend_from_slice(&bytes[..bytes.len().min(room)]);
        self.is_whole() || self.request.is_full()
    }

    fn is_whole(&self) -> bool {
        self.request.windows(4).any(|it| it == b"\r\n\r\n")
    }

    fn compose(&mut self, page: &str) {
        let (status, with_body) =
            if self.is_whole() { asked(&self.request) } else { (HttpStatus::TooLarge, true) };
        let body = if status == HttpStatus::Ok { page } else { "" };
        let line = status.line();
        let _ = write!(
            self.reply,
            "HTTP/1.1 {line}\r\nContent-Type: text/plain\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{}",
            body.len(),
            if with_body { body } else { "" },
        );
    }

    /// Goes on; `None` where it must wait, and true once it is over.
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets, page: &str) -> Option<bool> {
        if now >= self.heard + PATIENCE {
            return Some(true);
        }
        if self.reply.is_empty() {
            let mut bytes = [0; HEADER_MAX];
            match sockets.tcp_receive(self.socket, &mut bytes) {
                Ok(0) if sockets.tcp_stream(self.socket) == StreamState::Open => return None,
                Ok(0) | Err(_) => return Some(true),
                Ok(len) => {
                    self.heard = now;
                    if self.take(&bytes[..len]) {
                        self.compose(page);
                        sockets.count("http-requests", 1);
                    }
                    return Some(false);
                }
            }
        }
        match sockets.tcp_send(self.socket, &self.reply.as_bytes()[self.sent..]) {
            Ok(0) => None,
            Ok(len) => {
                self.sent += len;
                self.heard = now;
                Some(self.sent == self.reply.len())
            }
            Err(_) => Some(true),
        }
    }
}

impl<const FLOWS: usize> HttpPage<FLOWS> {
    /// Creates a server of that page on `port`; of a longer one than 256 bytes the end is left out.
    #[must_use]
    pub fn new(port: u16, text: &str) -> Self {
        let mut page = heapless::String::new();
        let _ = text.chars().try_for_each(|c| page.push(c));
        Self { port, page, listener: None, flows: [const { None }; FLOWS], turn: 0 }
    }

    fn accept(&mut self, now: Instant, sockets: &mut dyn Sockets, stream: SocketId) {
        match self.flows.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(HttpFlow::new(stream, now)),
            None => {
                sockets.close(stream);
                sockets.count("refused-streams", 1);
            }
        }
    }
}

impl<const FLOWS: usize> App for HttpPage<FLOWS> {
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        let listener = match opened(&mut self.listener, sockets, |it| it.tcp_listen(self.port)) {
            Ok(it) => it,
            Err(wait) => return wait,
        };
        if let Some((stream, _)) = sockets.tcp_accept(listener) {
            self.accept(now, sockets, stream);
            return Wait::Again;
        }
        for _ in 0..FLOWS {
            let place = self.turn;
            self.turn = (self.turn + 1) % FLOWS;
            let Some(flow) = &mut self.flows[place] else { continue };
            match flow.poll(now, sockets, &self.page) {
                None => {}
                Some(false) => return Wait::Again,
                Some(true) => {
                    sockets.close(flow.socket);
                    self.flows[place] = None;
                    return Wait::Again;
                }
            }
        }
        let ends = self.flows.iter().flatten().map(|it| it.heard + PATIENCE);
        ends.min().map_or(Wait::Change, Wait::Until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_answered_by_method_and_target() {
        let status = |text: &str| asked(text.as_bytes());
        assert_eq!(status("GET / HTTP/1.1\r\n"), (HttpStatus::Ok, true));
        assert_eq!(status("HEAD / HTTP/1.0\r\n"), (HttpStatus::Ok, false));
        assert_eq!(status("GET /x HTTP/1.1\r\n").0, HttpStatus::NotFound);
        assert_eq!(status("POST / HTTP/1.1\r\n").0, HttpStatus::NotAllowed);
        for bad in ["", "GET", "GET /", "GET / HTTP/2", "GET / HTTP/1.1 x", "\u{0}\r\n"] {
            assert_eq!(status(bad).0, HttpStatus::BadRequest, "{bad:?}");
        }
    }

    #[test]
    fn a_request_is_whole_at_its_empty_line_and_too_long_without() {
        let mut flow = HttpFlow::new(SocketId(0), Instant::ZERO);
        assert!(!flow.take(b"GET / HTTP/1.1\r\nHost: a\r"));
        assert!(flow.take(b"\n\r\n"));
        flow.compose("a page");
        assert!(flow.reply.starts_with("HTTP/1.1 200 OK\r\n"), "{}", flow.reply);
        assert!(flow.reply.ends_with("Content-Length: 6\r\nConnection: close\r\n\r\na page"));
        let mut flow = HttpFlow::new(SocketId(0), Instant::ZERO);
        assert!(flow.take(&[b'x'; 2 * HEADER_MAX]));
        flow.compose("a page");
        assert!(flow.reply.starts_with("HTTP/1.1 431 "), "{}", flow.reply);
    }
}

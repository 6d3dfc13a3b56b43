//! One connection to a broker: opened step by step, then bytes in both directions. It never blocks;
//! whoever owns it waits for what [`interest`](BrokerStream::interest) says.

use super::websocket::{WebSocket, deliver};
use super::{BrokerAddress, Scheme, TransportError};
use espbench_model::time::{Duration, Instant};
use espbench_proto::wire::websocket::frame::{self, LONGEST_HEADER};
use espbench_proto::wire::websocket::handshake;
use espbench_proto::wire::websocket::{FrameHeader, Opcode};
use rustls::ClientConnection;
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;

/// Bytes read at once.
pub const READ: usize = 64 * 1024;

/// Plain bytes of the longest TLS record (RFC 8446, section 5.1).
const RECORD: usize = 16 * 1024;

/// Memory for reading, which all streams of a thread share.
#[derive(Debug)]
pub struct Scratch {
    raw: Vec<u8>,
    plain: Vec<u8>,
}

impl Default for Scratch {
    fn default() -> Self {
        Self { raw: vec![0; READ], plain: vec![0; RECORD] }
    }
}

/// When each layer was there; `None` where there is no such layer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Opened {
    /// When the TCP connection was asked for.
    pub begun: Instant,
    /// When it was there.
    pub tcp: Option<Instant>,
    /// When the TLS handshake had ended.
    pub tls: Option<Instant>,
    /// When the WebSocket was accepted.
    pub websocket: Option<Instant>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OpeningStage {
    Tcp,
    Tls,
    Upgrade,
    Open,
    Closed,
}

impl OpeningStage {
    const fn name(self) -> &'static str {
        match self {
            Self::Tls => "TLS handshake",
            Self::Upgrade => "WebSocket handshake",
            Self::Tcp | Self::Open | Self::Closed => "connection",
        }
    }
}

/// A connection to a broker.
#[derive(Debug)]
pub struct BrokerStream {
    socket: TcpStream,
    tls: Option<Box<ClientConnection>>,
    websocket: Option<Box<WebSocket>>,
    facts: Vec<(&'static str, String)>,
    stage: OpeningStage,
    since: Instant,
    patience: Duration,
    opened: Opened,
    /// Room for a frame's header, then what is to be sent; with TLS only until that has taken it.
    out: Vec<u8>,
    from: usize,
    to: usize,
    taken: u64,
    trouble: Option<TransportError>,
}

impl BrokerStream {
    /// Asks for a connection to `endpoint`. At most `batch` bytes are given to it at once, and each
    /// layer may take `patience`.
    ///
    /// # Errors
    /// The error that the system returns at once, or that of TLS's settings.
    pub fn begin(
        endpoint: &BrokerAddress,
        batch: usize,
        patience: Duration,
        now: Instant,
    ) -> Result<Self, TransportError> {
        let tls = endpoint.tls.as_ref().map(|tls| tls.connection()).transpose();
        let tls = tls.map_err(|e| TransportError::tls(&e))?.map(Box::new);
        let websocket = endpoint.scheme.is_websocket().then(|| WebSocket::new(endpoint));
        Ok(Self {
            socket: connect(endpoint).map_err(TransportError::connecting)?,
            tls,
            websocket: websocket.transpose()?.map(Box::new),
            facts: Vec::from_iter(carried(endpoint.scheme).map(|by| ("carried_by", by.into()))),
            stage: OpeningStage::Tcp,
            since: now,
            patience,
            opened: Opened { begun: now, ..Opened::default() },
            out: vec![0; LONGEST_HEADER + batch],
            from: 0,
            to: 0,
            taken: 0,
            trouble: None,
        })
    }

    /// Goes on opening; true once it is open.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub fn advance(
        &mut self,
        endpoint: &BrokerAddress,
        now: Instant,
    ) -> Result<bool, TransportError> {
        loop {
            let done = match self.stage {
                OpeningStage::Tcp => self.tcp()?,
                OpeningStage::Tls => self.handshake()?,
                OpeningStage::Upgrade => self.upgrade()?,
                OpeningStage::Open | OpeningStage::Closed => return Ok(true),
            };
            if !done {
                return if now < self.deadline() { Ok(false) } else { Err(self.given_up()) };
            }
            self.next_stage(endpoint, now)?;
        }
    }

    fn given_up(&self) -> TransportError {
        match self.stage {
            OpeningStage::Tcp => TransportError::connecting(ErrorKind::TimedOut.into()),
            stage => TransportError::silent(stage.name()),
        }
    }

    fn next_stage(&mut self, endpoint: &BrokerAddress, now: Instant) -> Result<(), TransportError> {
        self.since = now;
        match self.stage {
            OpeningStage::Tcp => self.opened.tcp = Some(now),
            OpeningStage::Tls => self.opened.tls = Some(now),
            _ => self.opened.websocket = Some(now),
        }
        self.stage = match self.stage {
            OpeningStage::Tcp if self.tls.is_some() => OpeningStage::Tls,
            OpeningStage::Tcp | OpeningStage::Tls if self.websocket.is_some() => {
                OpeningStage::Upgrade
            }
            _ => OpeningStage::Open,
        };
        if let (Some(tls), Some(connection)) = (&endpoint.tls, &self.tls)
            && self.opened.tls == Some(now)
        {
            self.facts.extend(tls.facts(connection));
        }
        if self.stage == OpeningStage::Upgrade {
            self.ask(endpoint);
        }
        Ok(())
    }

    fn tcp(&mut self) -> Result<bool, TransportError> {
        if let Some(error) = self.socket.take_error().map_err(TransportError::connecting)? {
            return Err(TransportError::connecting(error));
        }
        match self.socket.peer_addr() {
            Ok(_) => Ok(true),
            Err(e) if e.kind() == ErrorKind::NotConnected => Ok(false),
            Err(e) => Err(TransportError::connecting(e)),
        }
    }

    fn handshake(&mut self) -> Result<bool, TransportError> {
        let name = OpeningStage::Tls.name();
        loop {
            if !self.flush().map_err(|e| TransportError::broke(name, e))? {
                return Ok(false);
            }
            let Some(tls) = &mut self.tls else { return Ok(true) };
            if !tls.is_handshaking() {
                return Ok(true);
            }
            match tls.read_tls(&mut self.socket) {
                Ok(0) => return Err(TransportError::ended(name)),
                Ok(_) => {
                    if let Err(error) = tls.process_new_packets() {
                        // The alert that says so to the broker.
                        let _ = self.flush();
                        return Err(TransportError::tls(&error));
                    }
                }
                Err(e) if is_pause(&e) => return Ok(false),
                Err(e) => return Err(TransportError::broke(name, e)),
            }
        }
    }

    /// Puts the request into what is to be sent.
    fn ask(&mut self, endpoint: &BrokerAddress) {
        let Some(websocket) = &self.websocket else { return };
        let is_default_port = endpoint.address.port() == endpoint.scheme.port();
        let host = match endpoint.host.contains(':') {
            true => format!("[{}]", endpoint.host),
            false => endpoint.host.clone(),
        };
        let mut text = String::new();
        let host =
            if is_default_port { host } else { format!("{host}:{}", endpoint.address.port()) };
        // Writing to a string does not fail.
        let _ = handshake::request(&mut text, &endpoint.path, &host, &websocket.key);
        let end = LONGEST_HEADER + text.len();
        self.out.resize(self.out.len().max(end), 0);
        self.out[LONGEST_HEADER..end].copy_from_slice(text.as_bytes());
        (self.from, self.to) = (LONGEST_HEADER, end);
    }

    fn upgrade(&mut self) -> Result<bool, TransportError> {
        let name = OpeningStage::Upgrade.name();
        if !self.flush().map_err(|e| TransportError::broke(name, e))? {
            return Ok(false);
        }
        loop {
            let mut buf = [0; 1024];
            let len = match self.read_plain(&mut buf) {
                Ok(0) => return Err(TransportError::ended(name)),
                Ok(len) => len,
                Err(e) if is_pause(&e) => return Ok(false),
                Err(e) => return Err(TransportError::broke(name, e)),
            };
            let Some(websocket) = &mut self.websocket else { return Ok(true) };
            websocket.head.extend_from_slice(&buf[..len]);
            if websocket.answered()? {
                return Ok(true);
            }
        }
    }

    /// Reads bytes without TLS; 0 is the end.
    fn read_plain(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let Some(tls) = &mut self.tls else { return self.socket.read(buf) };
        loop {
            match tls.reader().read(buf) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => {}
                other => return other,
            }
            if tls.read_tls(&mut self.socket)? == 0 {
                return Ok(0);
            }
            tls.process_new_packets().map_err(invalid)?;
        }
    }

    /// Tells what to wait for: reading, writing.
    #[must_use]
    pub fn interest(&self) -> (bool, bool) {
        match self.stage {
            OpeningStage::Closed => (false, false),
            OpeningStage::Tcp => (false, true),
            _ => (true, self.is_pending()),
        }
    }

    /// Returns the socket to wait with.
    #[must_use]
    pub const fn socket(&self) -> &TcpStream {
        &self.socket
    }

    /// Returns when opening has taken too long.
    #[must_use]
    pub fn deadline(&self) -> Instant {
        self.since + self.patience
    }

    /// Tells whether bytes can go to and fro.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.stage == OpeningStage::Open
    }

    /// Returns when each layer was there.
    #[must_use]
    pub const fn opened(&self) -> &Opened {
        &self.opened
    }

    /// Returns what was agreed on: names and values of facts.
    #[must_use]
    pub fn facts(&self) -> &[(&'static str, String)] {
        &self.facts
    }

    /// Returns why the connection broke, where that is known better than by its end.
    pub const fn trouble(&self) -> Option<&TransportError> {
        self.trouble.as_ref()
    }

    /// Returns the place for what is to be sent; empty while something else is on its way.
    pub fn room(&mut self) -> &mut [u8] {
        if self.is_pending() { &mut [] } else { &mut self.out[LONGEST_HEADER..] }
    }

    /// Takes the first `len` bytes of the [`room`](Self::room) to be sent.
    pub fn give(&mut self, len: usize) {
        (self.from, self.to) = (LONGEST_HEADER, LONGEST_HEADER + len);
        let Some(websocket) = &mut self.websocket else { return };
        let key = websocket.mask();
        frame::mask(&mut self.out[self.from..self.to], key, 0);
        let (head, size) = FrameHeader::binary(len as u64, Some(key)).emit();
        self.from -= size;
        self.out[self.from..LONGEST_HEADER].copy_from_slice(&head[..size]);
    }

    /// Tells whether the system has yet to take bytes.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.from < self.to
            || self.tls.as_ref().is_some_and(|tls| tls.wants_write())
            || self.websocket.as_ref().is_some_and(|websocket| websocket.owed.is_some())
    }

    /// Returns how many bytes the system has taken so far.
    #[must_use]
    pub const fn taken(&self) -> u64 {
        self.taken
    }

    /// Writes what is pending; true once nothing is.
    ///
    /// # Errors
    /// The system's: the connection is gone.
    pub fn flush(&mut self) -> io::Result<bool> {
        loop {
            if !self.flush_out()? {
                return Ok(false);
            }
            let owed = self.websocket.as_mut().and_then(|websocket| websocket.owed.take());
            let Some((opcode, payload)) = owed else { return Ok(true) };
            self.control(opcode, &payload);
        }
    }

    fn flush_out(&mut self) -> io::Result<bool> {
        let Some(tls) = &mut self.tls else {
            while self.from < self.to {
                match self.socket.write(&self.out[self.from..self.to]) {
                    Ok(0) => return Err(ErrorKind::WriteZero.into()),
                    Ok(len) => {
                        self.from += len;
                        self.taken += len as u64;
                    }
                    Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                    Err(e) if e.kind() == ErrorKind::Interrupted => {}
                    Err(e) => return Err(e),
                }
            }
            return Ok(true);
        };
        if self.from < self.to {
            tls.writer().write_all(&self.out[self.from..self.to])?;
            self.from = self.to;
        }
        while tls.wants_write() {
            match tls.write_tls(&mut self.socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(len) => self.taken += len as u64,
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(false),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(true)
    }

    /// Puts a control frame into what is to be sent.
    fn control(&mut self, opcode: Opcode, payload: &[u8]) {
        let Some(websocket) = &mut self.websocket else { return };
        let key = websocket.mask();
        let header = FrameHeader { fin: true, opcode, mask: Some(key), len: payload.len() as u64 };
        let (head, size) = header.emit();
        let end = size + payload.len();
        self.out.resize(self.out.len().max(end), 0);
        self.out[..size].copy_from_slice(&head[..size]);
        self.out[size..end].copy_from_slice(payload);
        frame::mask(&mut self.out[size..end], key, 0);
        (self.from, self.to) = (0, end);
    }

    /// Reads once, and gives what the broker sent to `take`; false once it has ended.
    /// [`trouble`](Self::trouble) may then say why.
    pub fn read(&mut self, scratch: &mut Scratch, take: &mut dyn FnMut(&[u8])) -> bool {
        let raw = match self.socket.read(&mut scratch.raw) {
            Ok(0) => return false,
            Ok(len) => &mut scratch.raw[..len],
            Err(e) if is_pause(&e) => return true,
            Err(_) => return false,
        };
        let websocket = self.websocket.as_deref_mut();
        let result = match &mut self.tls {
            None => deliver(websocket, raw, take),
            Some(tls) => decrypt(tls, websocket, raw, &mut scratch.plain, take),
        };
        match result {
            Ok(open) => open,
            Err(fault) => {
                // The alert that says so to the broker.
                let _ = self.flush();
                self.trouble.get_or_insert(fault);
                false
            }
        }
    }

    /// Ends it: nothing is sent or read any more.
    pub fn close(&mut self) {
        self.stage = OpeningStage::Closed;
        (self.from, self.to) = (0, 0);
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
    }
}

/// Says goodbye on each layer, as far as the system takes it at once.
impl Drop for BrokerStream {
    fn drop(&mut self) {
        if self.stage != OpeningStage::Open || self.is_pending() {
            return;
        }
        // Normal closure (RFC 6455, section 7.4.1).
        self.control(Opcode::Close, &1000_u16.to_be_bytes());
        if let Some(tls) = &mut self.tls {
            if self.from < self.to {
                let _ = tls.writer().write_all(&self.out[self.from..self.to]);
                self.from = self.to;
            }
            tls.send_close_notify();
        }
        let _ = self.flush();
    }
}

/// Returns the carrier of MQTT, in words; `None` where that is TCP alone.
const fn carried(scheme: Scheme) -> Option<&'static str> {
    match scheme {
        Scheme::Mqtt => None,
        Scheme::Mqtts => Some("TLS"),
        Scheme::Ws => Some("WebSocket"),
        Scheme::Wss => Some("WebSocket over TLS"),
    }
}

/// Asks for a TCP connection; it is there once the socket can be written to.
fn connect(endpoint: &BrokerAddress) -> io::Result<TcpStream> {
    let address = endpoint.address;
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_nonblocking(true)?;
    socket.set_tcp_nodelay(true)?;
    match socket.connect(&address.into()) {
        Err(e) if e.kind() != ErrorKind::WouldBlock && !is_in_progress(&e) => Err(e),
        _ => Ok(socket.into()),
    }
}

#[cfg(unix)]
fn is_in_progress(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EINPROGRESS)
}

#[cfg(not(unix))]
fn is_in_progress(_: &io::Error) -> bool {
    false
}

fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}

fn invalid(error: rustls::Error) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}

/// Takes TLS away; false once the broker has ended it.
fn decrypt(
    tls: &mut ClientConnection,
    mut websocket: Option<&mut WebSocket>,
    raw: &[u8],
    plain: &mut [u8],
    take: &mut dyn FnMut(&[u8]),
) -> Result<bool, TransportError> {
    let mut raw = raw;
    while !raw.is_empty() {
        let failed = |e| TransportError::broke("connection", e);
        // After the broker's last record nothing is read.
        if tls.read_tls(&mut raw).map_err(failed)? == 0 {
            return Ok(false);
        }
        let state = tls.process_new_packets();
        loop {
            match tls.reader().read(plain) {
                Ok(0) => return Ok(false),
                Ok(len) => {
                    if !deliver(websocket.as_deref_mut(), &mut plain[..len], take)? {
                        return Ok(false);
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                Err(_) => return Ok(false),
            }
        }
        state.map_err(|error| TransportError::tls(&error))?;
    }
    Ok(true)
}

//! Programs of `espbench_proto::node::app` over the system's sockets.

use super::is_pause;
use crate::clock::Clock;
use crate::sys::ready::wait_any;
use crate::sys::tcp::unacknowledged;
use espbench_model::sample::Sample;
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::app::{
    App, Endpoint, ProgramWork, ReceivedDatagram, SocketError, SocketId, Sockets, StreamState, Wait,
};
use socket2::{Domain, SockRef, Socket, Type};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};

/// Longest wait without a look at the stop flag.
const SLICE: Duration = Duration::from_millis(50);
/// Time between two looks at what the peer has acknowledged, where a program waits for that: the
/// system tells of no change.
const ACKNOWLEDGED: Duration = Duration::from_millis(1);

/// An output of a program.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "it is looked at and passed on, never kept")]
pub enum ProgramOutput<'a> {
    /// A sample.
    Sample(Sample),
    /// Addition to a counter.
    Count(&'static str, u64),
    /// Text that the program prints.
    Text(&'a [u8]),
}

/// The system's sockets, never blocking, over IPv4.
pub struct StdSockets<'a> {
    local: Ipv4Addr,
    open: BTreeMap<u16, AppSocket>,
    next: u16,
    output: &'a mut dyn FnMut(ProgramOutput<'_>),
    /// The program asked what was acknowledged since it last waited.
    asked: Cell<bool>,
}

#[derive(Debug)]
enum AppSocket {
    Udp(UdpSocket),
    Listener(TcpListener),
    Stream(AppConnection),
}

#[derive(Debug)]
struct AppConnection {
    stream: TcpStream,
    /// The handshake is over.
    open: Cell<bool>,
    /// The peer sends no more.
    ended: bool,
    /// The last send found no room.
    blocked: bool,
    failed: bool,
}

impl std::fmt::Debug for StdSockets<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StdSockets").field("open", &self.open).finish_non_exhaustive()
    }
}

/// Runs a program until it ends, or `stop`; true where it ended.
///
/// # Errors
/// The system's, where it cannot wait.
pub fn run(
    app: &mut dyn App,
    sockets: &mut StdSockets<'_>,
    clock: &Clock,
    stop: &AtomicBool,
) -> io::Result<bool> {
    while !stop.load(Ordering::Relaxed) {
        match app.poll(clock.now(), sockets) {
            Wait::Again => {}
            Wait::Change => sockets.wait(SLICE)?,
            Wait::Until(at) | Wait::Spin(_, at) => {
                sockets.wait(at.since(clock.now()).min(SLICE))?;
            }
            Wait::Sleep(at) => sleep(at, clock, stop),
            Wait::Done => return Ok(true),
        }
    }
    Ok(false)
}

fn sleep(at: Instant, clock: &Clock, stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        let left = at.since(clock.now());
        if left.is_zero() {
            return;
        }
        std::thread::sleep(left.min(SLICE));
    }
}

impl<'a> StdSockets<'a> {
    /// Creates sockets at a local address (0.0.0.0 for any). What a program prints or counts goes
    /// to `output`.
    pub fn new(local: Ipv4Addr, output: &'a mut dyn FnMut(ProgramOutput<'_>)) -> Self {
        Self { local, open: BTreeMap::new(), next: 0, output, asked: Cell::new(false) }
    }

    /// Waits until something may have changed, for at most `timeout`.
    fn wait(&self, timeout: Duration) -> io::Result<()> {
        let asked = self.asked.replace(false);
        let timeout = if asked { timeout.min(ACKNOWLEDGED) } else { timeout };
        if timeout.is_zero() {
            return Ok(());
        }
        let interests = self.open.values().filter_map(|entry| match entry {
            AppSocket::Udp(socket) => Some((SockRef::from(socket), true, false)),
            AppSocket::Listener(listener) => Some((SockRef::from(listener), true, false)),
            AppSocket::Stream(c) if c.failed => None,
            AppSocket::Stream(c) => {
                let connecting = !c.open.get();
                let read = !c.ended && !connecting;
                Some((SockRef::from(&c.stream), read, c.blocked || connecting))
            }
        });
        let interests: Vec<_> = interests.filter(|(_, read, write)| *read || *write).collect();
        wait_any(&interests, timeout)
    }

    fn add(&mut self, entry: AppSocket) -> Result<SocketId, SocketError> {
        for _ in 0..u16::MAX {
            self.next = self.next.wrapping_add(1);
            if !self.open.contains_key(&self.next) {
                self.open.insert(self.next, entry);
                return Ok(SocketId(self.next));
            }
        }
        Err(SocketError::NoSocket)
    }

    fn connection(&mut self, socket: SocketId) -> Result<&mut AppConnection, SocketError> {
        match self.open.get_mut(&socket.0) {
            Some(AppSocket::Stream(connection)) if !connection.failed => Ok(connection),
            _ => Err(SocketError::NotConnected),
        }
    }

    fn at(&self, port: u16) -> SocketAddr {
        SocketAddrV4::new(self.local, port).into()
    }
}

impl AppConnection {
    fn new(stream: TcpStream, open: bool) -> Self {
        Self { stream, open: Cell::new(open), ended: false, blocked: false, failed: false }
    }

    fn state(&self) -> StreamState {
        if self.failed {
            return StreamState::Closed;
        }
        if !self.open.get() {
            return match (self.stream.peer_addr(), self.stream.take_error()) {
                (_, Ok(Some(_)) | Err(_)) => StreamState::Closed,
                (Err(_), Ok(None)) => StreamState::Connecting,
                (Ok(_), Ok(None)) => {
                    self.open.set(true);
                    StreamState::Open
                }
            };
        }
        match self.stream.peek(&mut [0]) {
            _ if self.ended => StreamState::HalfClosed,
            Ok(0) => StreamState::HalfClosed,
            Ok(_) => StreamState::Open,
            Err(error) if is_pause(&error) => StreamState::Open,
            Err(_) => StreamState::Closed,
        }
    }
}

fn address(to: Endpoint) -> SocketAddr {
    SocketAddrV4::new(to.address.into(), to.port).into()
}

fn endpoint(from: SocketAddr) -> Endpoint {
    match from {
        SocketAddr::V4(from) => Endpoint::new(from.ip().octets(), from.port()),
        // None comes to a socket of IPv4.
        SocketAddr::V6(from) => Endpoint::new([0; 4], from.port()),
    }
}

fn refused(error: &io::Error) -> SocketError {
    #[cfg(unix)]
    match error.raw_os_error() {
        Some(libc::ENOBUFS | libc::ENOMEM) => return SocketError::NoMemory,
        Some(libc::EMSGSIZE) => return SocketError::TooLong,
        _ => {}
    }
    if is_pause(error) { SocketError::NoMemory } else { SocketError::NotConnected }
}

/// Opens a socket that connects without waiting.
fn connect(to: SocketAddr) -> io::Result<TcpStream> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    match socket.connect(&to.into()) {
        Ok(()) => {}
        #[cfg(unix)]
        Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
        Err(error) if is_pause(&error) => {}
        Err(error) => return Err(error),
    }
    Ok(socket.into())
}

impl Sockets for StdSockets<'_> {
    fn udp_bind(&mut self, port: u16) -> Result<SocketId, SocketError> {
        let socket = UdpSocket::bind(self.at(port)).map_err(|_| SocketError::NoSocket)?;
        socket.set_nonblocking(true).map_err(|_| SocketError::NoSocket)?;
        self.add(AppSocket::Udp(socket))
    }

    fn udp_send(
        &mut self,
        socket: SocketId,
        to: Endpoint,
        bytes: &[u8],
    ) -> Result<(), SocketError> {
        let Some(AppSocket::Udp(socket)) = self.open.get(&socket.0) else {
            return Err(SocketError::NotConnected);
        };
        socket.send_to(bytes, address(to)).map(|_| ()).map_err(|error| refused(&error))
    }

    fn udp_receive(&mut self, socket: SocketId, buf: &mut [u8]) -> Option<ReceivedDatagram> {
        let Some(AppSocket::Udp(socket)) = self.open.get(&socket.0) else { return None };
        let (len, from) = socket.recv_from(buf).ok()?;
        Some(ReceivedDatagram { len, from: endpoint(from), stamped: None })
    }

    fn tcp_connect(&mut self, to: Endpoint) -> Result<SocketId, SocketError> {
        let stream = connect(address(to)).map_err(|_| SocketError::NotConnected)?;
        self.add(AppSocket::Stream(AppConnection::new(stream, false)))
    }

    fn tcp_listen(&mut self, port: u16) -> Result<SocketId, SocketError> {
        let listener = TcpListener::bind(self.at(port)).map_err(|_| SocketError::NoSocket)?;
        listener.set_nonblocking(true).map_err(|_| SocketError::NoSocket)?;
        self.add(AppSocket::Listener(listener))
    }

    fn tcp_accept(&mut self, listener: SocketId) -> Option<(SocketId, Endpoint)> {
        let Some(AppSocket::Listener(listener)) = self.open.get(&listener.0) else { return None };
        let (stream, from) = listener.accept().ok()?;
        stream.set_nonblocking(true).ok()?;
        let handle = self.add(AppSocket::Stream(AppConnection::new(stream, true))).ok()?;
        Some((handle, endpoint(from)))
    }

    fn tcp_stream(&self, socket: SocketId) -> StreamState {
        match self.open.get(&socket.0) {
            Some(AppSocket::Stream(connection)) => connection.state(),
            _ => StreamState::Closed,
        }
    }

    fn tcp_no_delay(&mut self, socket: SocketId, no_delay: bool) {
        if let Ok(connection) = self.connection(socket) {
            // Without it, messages wait for an acknowledgement: slower, and as right.
            let _ = connection.stream.set_nodelay(no_delay);
        }
    }

    fn tcp_send(&mut self, socket: SocketId, bytes: &[u8]) -> Result<usize, SocketError> {
        let connection = self.connection(socket)?;
        let sent = connection.stream.write(bytes);
        connection.blocked = matches!(&sent, Err(error) if is_pause(error));
        match sent {
            Ok(len) => Ok(len),
            Err(error) if is_pause(&error) => Ok(0),
            Err(_) => {
                connection.failed = true;
                Err(SocketError::NotConnected)
            }
        }
    }

    fn tcp_unacknowledged(&self, socket: SocketId) -> usize {
        self.asked.set(true);
        let Some(AppSocket::Stream(connection)) = self.open.get(&socket.0) else { return 0 };
        let waiting = unacknowledged(&connection.stream).unwrap_or(0);
        usize::try_from(waiting).unwrap_or(usize::MAX)
    }

    fn tcp_receive(&mut self, socket: SocketId, buf: &mut [u8]) -> Result<usize, SocketError> {
        let connection = self.connection(socket)?;
        match connection.stream.read(buf) {
            Ok(len) => {
                connection.ended |= len == 0 && !buf.is_empty();
                Ok(len)
            }
            Err(error) if is_pause(&error) || error.kind() == ErrorKind::NotConnected => Ok(0),
            Err(_) => {
                connection.failed = true;
                Err(SocketError::NotConnected)
            }
        }
    }

    fn close(&mut self, socket: SocketId) {
        self.open.remove(&socket.0);
    }

    fn spend(&mut self, work: ProgramWork) {
        // The rest takes here what it takes.
        if let ProgramWork::Delay(time) = work {
            std::thread::sleep(time);
        }
    }

    fn print(&mut self, text: &[u8]) {
        (self.output)(ProgramOutput::Text(text));
    }

    fn sample(&mut self, sample: Sample) {
        (self.output)(ProgramOutput::Sample(sample));
    }

    fn count(&mut self, name: &'static str, by: u64) {
        if by > 0 {
            (self.output)(ProgramOutput::Count(name, by));
        }
    }
}

//! Programs that talk over IP, each a machine without I/O over a port of sockets.
//!
//! | module | contents |
//! |---|---|
//! | `dhcp` | a client of DHCP |
//! | `echo` | UDP echo, the device's side |
//! | `http` | a small page over HTTP |
//! | [`iperf`] | iperf 2 in both roles and over both transports, as four programs have it |
//! | [`mqtt`] | MQTT programs: two publishers, a subscriber, a broker |
//! | `probe` | UDP echo, the side that measures |
//! | `router` | servers of DNS and DHCP |
//! | `tcp` | short messages over TCP, counted for a second at a time |
//!
//! [`Sockets`] is what a program is given: BSD sockets that never block, as lwIP has them. The
//! virtual lab answers with a TCP/IP stack in virtual time, the host with the system's sockets, and
//! firmware with lwIP's. A program is an [`App`].
//!
//! **The law of a program.** [`App::poll`] is called whenever something may have changed: data,
//! room to send, a connection, or the time that it waits for. In one call it does at most one
//! thing that costs time (sends, receives, prints, works) and answers [`Wait::Again`]; the call
//! after that comes when the device has had the time for it. When there is nothing that it can do
//! it says for what it waits. It is told of a change once: before it waits for one, it has asked its
//! sockets since the last.
//!
//! | program | runs on | behaviour |
//! |---|---|---|
//! | [`EchoServer`], [`ArduinoEcho`] | device | UDP echo, written well and as the Arduino sketch does it |
//! | [`DhcpClient`] | device | asks for its address |
//! | [`NameServer`], [`AddressServer`] | router | names and addresses of hosts |
//! | [`HttpPage`] | device | a page over HTTP |
//! | [`EchoProbe`] | PC | sends the probes and times the replies |
//! | [`IperfClient`], [`IperfServer`] | either | iperf 2 over UDP and TCP |
//! | [`TcpSender`], [`TcpSink`] | device, PC | short messages over TCP, counted |
//! | [`Mqtt`], [`SmoothMqtt`] | device | numbered messages to a broker, written well and as Smooth does it |
//! | [`LabBroker`], [`MqttListener`] | PC | the broker, and a subscriber |

mod dhcp;
mod echo;
mod http;
pub mod iperf;
pub mod mqtt;
mod probe;
mod router;
mod tcp;
#[cfg(test)]
mod tests;

pub use dhcp::DhcpClient;
pub use echo::{ArduinoEcho, EchoServer};
pub use http::HttpPage;
pub use iperf::{IperfClient, IperfServer, IperfSetup};
pub use mqtt::{LabBroker, Mqtt, MqttListener, SmoothMqtt};
pub use probe::EchoProbe;
pub use router::{AddressServer, HostDirectory, NameServer};
pub use tcp::{TcpSender, TcpSink};

use espbench_model::sample::Sample;
use espbench_model::time::{Duration, Instant};

/// A handle of a program's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SocketId(pub u16);

/// An IPv4 address and a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    /// The address.
    pub address: [u8; 4],
    /// The port.
    pub port: u16,
}

impl Endpoint {
    /// Creates an endpoint of an address and a port.
    #[must_use]
    pub const fn new(address: [u8; 4], port: u16) -> Self {
        Self { address, port }
    }
}

/// The reason for which a call of a socket failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SocketError {
    /// `ENOMEM`: the driver has no buffer for it. Nothing was sent.
    NoMemory,
    /// `ENFILE`: no socket is left, or the port is taken.
    NoSocket,
    /// `EMSGSIZE`: longer than a datagram may be.
    TooLong,
    /// The connection is not there, was refused or reset, or the network is gone.
    NotConnected,
}

/// The state of a TCP connection, as a program sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamState {
    /// The handshake goes on.
    Connecting,
    /// The two directions are open.
    Open,
    /// The peer sends no more; what it sent can still be read, and it can be sent to.
    HalfClosed,
    /// Over: closed, refused, reset or timed out.
    Closed,
}

/// A datagram that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceivedDatagram {
    /// Bytes written to the buffer; a longer datagram is cut to it.
    pub len: usize,
    /// Sender of the datagram.
    pub from: Endpoint,
    /// When it arrived, where the stack stamps that.
    pub stamped: Option<Instant>,
}

/// Work of a program that takes a device's time beyond what its calls of sockets cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramWork {
    /// A busy wait of this length (`esp_rom_delay_us`).
    Delay(Duration),
    /// Bytes that are read one by one, each through a call of its own (`Stream::read` of Arduino).
    Bytewise(u32),
    /// Bytes copied or compared in one piece.
    Copy(u32),
    /// Rounds of the program's own loop that do nothing else.
    Loop(u32),
}

/// The port of a program: sockets that never block, samples and counters.
pub trait Sockets {
    /// Binds a socket to a local port, 0 for any.
    ///
    /// # Errors
    /// [`SocketError::NoSocket`].
    fn udp_bind(&mut self, port: u16) -> Result<SocketId, SocketError>;
    /// Sends a datagram.
    ///
    /// # Errors
    /// [`SocketError::NoMemory`] when the driver's buffers are in use, [`SocketError::TooLong`],
    /// [`SocketError::NotConnected`] without a network.
    fn udp_send(&mut self, socket: SocketId, to: Endpoint, bytes: &[u8])
    -> Result<(), SocketError>;
    /// Takes the oldest datagram, if there is one.
    fn udp_receive(&mut self, socket: SocketId, buf: &mut [u8]) -> Option<ReceivedDatagram>;
    /// Begins to connect.
    ///
    /// # Errors
    /// [`SocketError::NoSocket`], [`SocketError::NotConnected`] without a network.
    fn tcp_connect(&mut self, to: Endpoint) -> Result<SocketId, SocketError>;
    /// Listens on a port.
    ///
    /// # Errors
    /// [`SocketError::NoSocket`].
    fn tcp_listen(&mut self, port: u16) -> Result<SocketId, SocketError>;
    /// Takes the oldest connection that a listening socket has, and who it is from.
    fn tcp_accept(&mut self, listener: SocketId) -> Option<(SocketId, Endpoint)>;
    /// Returns the state of a connection.
    fn tcp_stream(&self, socket: SocketId) -> StreamState;
    /// Switches Nagle's algorithm off (`TCP_NODELAY`), or on.
    fn tcp_no_delay(&mut self, socket: SocketId, no_delay: bool);
    /// Hands over what the send buffer has room for, and says how much that was; 0: wait.
    ///
    /// # Errors
    /// [`SocketError::NotConnected`].
    fn tcp_send(&mut self, socket: SocketId, bytes: &[u8]) -> Result<usize, SocketError>;
    /// Returns the bytes that were handed over and that the peer has not acknowledged.
    fn tcp_unacknowledged(&self, socket: SocketId) -> usize;
    /// Takes what has come; 0: nothing yet, or, once it is no more [`StreamState::Open`], the end.
    ///
    /// # Errors
    /// [`SocketError::NotConnected`] after a reset.
    fn tcp_receive(&mut self, socket: SocketId, buf: &mut [u8]) -> Result<usize, SocketError>;
    /// Closes a socket. TCP sends what is left, then FIN.
    fn close(&mut self, socket: SocketId);

    /// Keeps the device busy with `work`.
    fn spend(&mut self, work: ProgramWork);
    /// Prints on the device's console, which takes time there.
    fn print(&mut self, text: &[u8]);
    /// Records a sample.
    fn sample(&mut self, sample: Sample);
    /// Adds to a counter of the program (`queue-full`).
    fn count(&mut self, name: &'static str, by: u64);
}

/// The event that a program waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// None: the program goes on when the device has had the time for what it just did.
    Again,
    /// A change at one of its sockets.
    Change,
    /// A change, or this instant.
    Until(Instant),
    /// A change, or this instant; the program asks for it again and again without sleeping: its
    /// core is busy, and each round costs this work (Arduino's `loop`).
    Spin(ProgramWork, Instant),
    /// An instant, whatever comes before: the program sleeps (`vTaskDelay`).
    Sleep(Instant),
    /// The program has ended.
    Done,
}

/// Returns the socket that a program opens first of all. An error is the answer of the poll in
/// which the socket was opened, or could not be.
fn opened(
    socket: &mut Option<SocketId>,
    sockets: &mut dyn Sockets,
    open: impl FnOnce(&mut dyn Sockets) -> Result<SocketId, SocketError>,
) -> Result<SocketId, Wait> {
    if let Some(it) = *socket {
        return Ok(it);
    }
    *socket = open(sockets).ok();
    if socket.is_some() {
        return Err(Wait::Again);
    }
    sockets.count("failed", 1);
    Err(Wait::Done)
}

/// A program.
pub trait App {
    /// Goes on. The law is in the [module](self)'s documentation.
    fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait;
}

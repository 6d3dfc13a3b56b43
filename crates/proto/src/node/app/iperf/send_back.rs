//! Streams that a server sends, where a client's header asks for them: `-R`, `--full-duplex`, `-r` and `-d`.

use super::IperfSetup;
use super::pc_udp::PcUdp;
use super::tcp_client::TcpClient;
use crate::node::app::{Endpoint, SocketId, Sockets, Wait};
use crate::node::iperf::{Limit, asked_limit, asked_rate};
use crate::wire::iperf2::{CLIENT_HEADER_START, Carrier, ClientHeader, DATAGRAM_HEADER, TestMode};
use espbench_model::sample::Link;
use espbench_model::time::Instant;
use espbench_model::workload::{Iperf, Transport};

/// The socket that a stream to a client is sent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendOn {
    /// The client's connection, or the server's port.
    Shared(SocketId),
    /// One of its own, to where the client listens.
    Own,
}

/// A stream that a client has asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct BackRequest {
    on: SendOn,
    to: Endpoint,
    header: ClientHeader,
    /// Nanoseconds since the epoch at this clock's zero, as the client's first datagram tells them: a device has no other
    /// clock, and iperf's jitter begins with the difference of the clocks.
    epoch_ns: u64,
}

impl BackRequest {
    /// Returns the stream that a client's header asks for at once, if it does; the client came by that socket.
    pub(super) fn at_begin(
        header: &ClientHeader,
        from: Endpoint,
        socket: SocketId,
    ) -> Option<Self> {
        match served_mode(header) {
            TestMode::Reverse | TestMode::FullDuplex => {
                Some(Self { on: SendOn::Shared(socket), to: from, header: *header, epoch_ns: 0 })
            }
            TestMode::Dual => Some(Self::to_listener(header, from)),
            TestMode::Forward | TestMode::Tradeoff | TestMode::Bounceback => None,
        }
    }

    /// Returns the stream that a client's header asks for once its own is over, if it does.
    pub(super) fn at_end(header: &ClientHeader, from: Endpoint) -> Option<Self> {
        (served_mode(header) == TestMode::Tradeoff).then(|| Self::to_listener(header, from))
    }

    fn to_listener(header: &ClientHeader, from: Endpoint) -> Self {
        let port = u16::try_from(header.port).unwrap_or(0);
        Self { on: SendOn::Own, to: Endpoint { port, ..from }, header: *header, epoch_ns: 0 }
    }

    /// Sets the nanoseconds since the epoch at this clock's zero.
    pub(super) const fn with_epoch(self, epoch_ns: u64) -> Self {
        Self { epoch_ns, ..self }
    }

    /// Returns the setup of the stream, of datagrams or writes of at most `most` bytes.
    fn setup(&self, server: &IperfSetup, most: u32) -> IperfSetup {
        let transport = server.work.transport;
        let (time, bytes) = match asked_limit(&self.header) {
            Limit::Time(time) => (time, None),
            Limit::Bytes(bytes) => (Iperf::DEFAULT.time, Some(bytes)),
        };
        let (length, bandwidth) = (self.header.length, asked_rate(&self.header, transport));
        let interval = server.work.interval;
        let work = Iperf { transport, length, time, bytes, bandwidth, interval, ..Iperf::DEFAULT };
        let mut setup = IperfSetup { link: Link(0), ..IperfSetup::of(&work, server.style) };
        setup.work.length = setup.work.length.max(DATAGRAM_HEADER as u32).min(most);
        setup
    }
}

/// Returns the kind of test that a header asks for; forward where an option asks for more than is served.
fn served_mode(header: &ClientHeader) -> TestMode {
    if header.unsupported().is_some() { TestMode::Forward } else { header.mode() }
}

/// The beginning of a stream over TCP, until it is known what it asks for.
#[derive(Clone, Debug)]
pub(super) struct StreamHead {
    pub(super) socket: SocketId,
    pub(super) from: Endpoint,
    bytes: heapless::Vec<u8, CLIENT_HEADER_START>,
    header: Option<ClientHeader>,
    /// Whether the bytes were understood, or are no header.
    is_read: bool,
    /// Whether a sender has the connection, too.
    pub(super) is_shared: bool,
    /// Whether the client has sent all.
    pub(super) is_over: bool,
}

impl StreamHead {
    pub(super) const fn new(socket: SocketId, from: Endpoint) -> Self {
        Self {
            socket,
            from,
            bytes: heapless::Vec::new(),
            header: None,
            is_read: false,
            is_shared: false,
            is_over: false,
        }
    }

    /// Takes bytes of the stream; returns the header when it is complete.
    pub(super) fn take(&mut self, bytes: &[u8]) -> Option<ClientHeader> {
        if self.is_read {
            return None;
        }
        let room = self.bytes.capacity() - self.bytes.len();
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]).ok()?;
        let flags = u32::from_be_bytes(*self.bytes.first_chunk()?);
        match ClientHeader::length_of(flags) {
            Ok(length) if length > self.bytes.len() && length <= self.bytes.capacity() => {}
            Ok(length @ 1..) if length <= self.bytes.len() => {
                self.is_read = true;
                let header = ClientHeader::parse(&self.bytes[..length], Carrier::Stream);
                self.header = header.ok().flatten();
            }
            // What is no header is payload.
            _ => self.is_read = true,
        }
        self.header
    }

    /// Returns whether the client sends, and asks for no stream.
    pub(super) fn asks_nothing(&self) -> bool {
        let mode = self.header.as_ref().map_or(TestMode::Forward, served_mode);
        self.is_read && matches!(mode, TestMode::Forward | TestMode::Bounceback)
    }

    /// Returns the stream that is asked for now that the client's own is over.
    pub(super) fn at_end(&self) -> Option<BackRequest> {
        BackRequest::at_end(self.header.as_ref()?, self.from)
    }
}

/// A stream to a client, of datagrams or writes of at most `N` bytes.
#[derive(Clone, Debug)]
pub(super) struct BackStream<const N: usize> {
    buf: [u8; N],
    pub(super) to: Endpoint,
    /// The connection that stays open at the end.
    pub(super) shared: Option<SocketId>,
    part: BackPart,
    /// The end of its sleep.
    sleeps: Instant,
}

#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the large one on")]
enum BackPart {
    Udp(PcUdp),
    Tcp(TcpClient),
}

impl<const N: usize> BackStream<N> {
    /// Creates the stream that a client of such a server has asked for.
    pub(super) fn new(request: &BackRequest, server: &IperfSetup, now: Instant) -> Self {
        let (to, setup) = (request.to, request.setup(server, N as u32));
        let stays = request.header.mode() == TestMode::FullDuplex;
        let part = match (server.work.transport, request.on) {
            (Transport::Udp, SendOn::Shared(socket)) => {
                let flow = PcUdp::of_server(setup, to, socket);
                BackPart::Udp(flow.with_epoch(request.epoch_ns))
            }
            (Transport::Udp, SendOn::Own) => {
                BackPart::Udp(PcUdp::new(setup, to).with_epoch(request.epoch_ns))
            }
            (Transport::Tcp, SendOn::Shared(socket)) => {
                BackPart::Tcp(TcpClient::of_server(setup, (to, socket), now, stays))
            }
            (Transport::Tcp, SendOn::Own) => BackPart::Tcp(TcpClient::new(setup, to)),
        };
        let shared = match request.on {
            SendOn::Shared(socket) if stays => Some(socket),
            _ => None,
        };
        Self { buf: [0; N], to, shared, part, sleeps: Instant::ZERO }
    }

    /// Goes on as a program does, and waits for the end of a sleep instead of sleeping: the receiver does not.
    pub(super) fn poll(&mut self, now: Instant, sockets: &mut dyn Sockets) -> Wait {
        if now < self.sleeps {
            return Wait::Until(self.sleeps);
        }
        let wait = match &mut self.part {
            BackPart::Udp(flow) => flow.poll(now, sockets, &mut self.buf),
            BackPart::Tcp(stream) => stream.poll(now, sockets, &mut self.buf),
        };
        if let Wait::Sleep(until) = wait {
            self.sleeps = until;
            return Wait::Again;
        }
        wait
    }
}

//! The port of programs over smoltcp: sockets that never block.

use super::IpHost;
use alloc::vec::Vec;
use espbench_model::sample::Sample;
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::app::{
    Endpoint, ProgramWork, ReceivedDatagram, SocketError, SocketId, Sockets, StreamState,
};
use smoltcp::iface::SocketHandle;
use smoltcp::socket::{tcp, udp};
use smoltcp::wire::{IpAddress, IpEndpoint, Ipv4Address};

/// Most sockets of a host (`LWIP_MAX_SOCKETS`).
const SOCKETS: usize = 10;
/// Longest datagram in one frame of 1,500 bytes; longer ones are not cut into fragments.
const DATAGRAM: usize = 1472;
/// Time without an answer after which a connection is given up.
const GIVE_UP: smoltcp::time::Duration = smoltcp::time::Duration::from_secs(30);

/// A socket of a program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Entry {
    Udp(SocketHandle),
    /// A port, and the socket that waits for the next connection.
    Listener(u16, SocketHandle),
    Stream(SocketHandle),
}

/// Outlet of a program: what it prints, records and counts.
pub trait Out {
    /// Prints.
    fn print(&mut self, text: &[u8]);
    /// Records a sample.
    fn sample(&mut self, sample: Sample);
    /// Adds to a counter.
    fn count(&mut self, name: &'static str, by: u64);
}

/// Sockets of a host, for one poll of a program.
pub struct HostSockets<'a> {
    pub(super) host: &'a mut IpHost,
    pub(super) out: &'a mut dyn Out,
    /// Time for which the program keeps its task busy.
    pub(super) delay: Duration,
}

impl core::fmt::Debug for HostSockets<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HostSockets").field("host", &self.host).finish_non_exhaustive()
    }
}

/// Returns zeros from the heap, which may be full.
fn zeros(len: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).ok()?;
    bytes.resize(len, 0);
    Some(bytes)
}

fn udp_buffer(datagrams: u16) -> Option<udp::PacketBuffer<'static>> {
    let count = usize::from(datagrams).max(1);
    let mut facts = Vec::new();
    facts.try_reserve_exact(count).ok()?;
    facts.resize(count, udp::PacketMetadata::EMPTY);
    Some(udp::PacketBuffer::new(facts, zeros(count * DATAGRAM)?))
}

fn endpoint(it: IpEndpoint) -> Endpoint {
    let IpAddress::Ipv4(address) = it.addr;
    Endpoint::new(address.octets(), it.port)
}

fn address(it: Endpoint) -> IpEndpoint {
    IpEndpoint::new(IpAddress::Ipv4(Ipv4Address::from(it.address)), it.port)
}

/// Returns the state as a program sees it: what has come can be read to the end.
fn state(socket: &tcp::Socket<'_>) -> StreamState {
    match socket.state() {
        tcp::State::SynSent | tcp::State::SynReceived => StreamState::Connecting,
        tcp::State::Established => StreamState::Open,
        tcp::State::CloseWait => StreamState::HalfClosed,
        _ if socket.recv_queue() > 0 => StreamState::HalfClosed,
        _ => StreamState::Closed,
    }
}

impl IpHost {
    fn open(&mut self, entry: Option<Entry>) -> Result<SocketId, SocketError> {
        let Some(entry) = entry else {
            self.no_memory = self.no_memory.saturating_add(1);
            return Err(SocketError::NoSocket);
        };
        self.last = self.last.wrapping_add(1);
        self.entries.push((self.last, entry));
        Ok(SocketId(self.last))
    }

    fn entry(&self, socket: SocketId) -> Option<Entry> {
        self.entries.iter().find(|(id, _)| *id == socket.0).map(|(_, entry)| *entry)
    }

    fn has_room(&self) -> bool {
        self.entries.len() + self.closing.len() < SOCKETS
    }

    fn next_port(&mut self) -> u16 {
        self.port = if self.port >= u16::MAX - 1 { 49_152 } else { self.port + 1 };
        self.port
    }

    fn tcp_socket(&mut self) -> Option<SocketHandle> {
        let (window, send) = (self.sizes.window as usize, self.sizes.send as usize);
        let buffers = (zeros(window)?, zeros(send)?);
        let buffer = tcp::SocketBuffer::new;
        let mut socket = tcp::Socket::new(buffer(buffers.0), buffer(buffers.1));
        socket.set_timeout(Some(GIVE_UP));
        // lwIP's congestion control is Reno's.
        socket.set_congestion_control(tcp::CongestionControl::Reno);
        Some(self.set.add(socket))
    }

    fn listening(&mut self, port: u16) -> Option<SocketHandle> {
        let handle = self.tcp_socket()?;
        let socket = self.set.get_mut::<tcp::Socket<'_>>(handle);
        if socket.listen(port).is_err() {
            self.set.remove(handle);
            return None;
        }
        Some(handle)
    }

    fn stream(&mut self, socket: SocketId) -> Result<&mut tcp::Socket<'static>, SocketError> {
        match self.entry(socket) {
            Some(Entry::Stream(handle)) => Ok(self.set.get_mut(handle)),
            _ => Err(SocketError::NotConnected),
        }
    }
}

impl Sockets for HostSockets<'_> {
    fn udp_bind(&mut self, port: u16) -> Result<SocketId, SocketError> {
        let taken = self.host.entries.iter().any(|(_, it)| match it {
            Entry::Udp(it) => self.host.set.get::<udp::Socket<'_>>(*it).endpoint().port == port,
            _ => false,
        });
        if taken || !self.host.has_room() {
            return Err(SocketError::NoSocket);
        }
        let port = if port == 0 { self.host.next_port() } else { port };
        let count = self.host.sizes.datagrams;
        let buffers = udp_buffer(count).zip(udp_buffer(count));
        let entry = buffers.and_then(|(from, to)| {
            let mut socket = udp::Socket::new(from, to);
            socket.bind(port).ok()?;
            Some(Entry::Udp(self.host.set.add(socket)))
        });
        self.host.open(entry)
    }

    fn udp_send(
        &mut self,
        socket: SocketId,
        to: Endpoint,
        bytes: &[u8],
    ) -> Result<(), SocketError> {
        if bytes.len() > DATAGRAM {
            return Err(SocketError::TooLong);
        }
        let Some(Entry::Udp(handle)) = self.host.entry(socket) else {
            return Err(SocketError::NotConnected);
        };
        if self.host.address().is_none() {
            return Err(SocketError::NotConnected);
        }
        let sent = self.host.set.get_mut::<udp::Socket<'_>>(handle).send_slice(bytes, address(to));
        sent.map_err(|error| match error {
            udp::SendError::BufferFull => SocketError::NoMemory,
            udp::SendError::Unaddressable => SocketError::NotConnected,
        })
    }

    fn udp_receive(&mut self, socket: SocketId, buf: &mut [u8]) -> Option<ReceivedDatagram> {
        let Some(Entry::Udp(handle)) = self.host.entry(socket) else { return None };
        let (data, about) = self.host.set.get_mut::<udp::Socket<'_>>(handle).recv().ok()?;
        let len = data.len().min(buf.len());
        buf[..len].copy_from_slice(&data[..len]);
        Some(ReceivedDatagram { len, from: endpoint(about.endpoint), stamped: None })
    }

    fn tcp_connect(&mut self, to: Endpoint) -> Result<SocketId, SocketError> {
        if self.host.address().is_none() {
            return Err(SocketError::NotConnected);
        }
        if !self.host.has_room() {
            return Err(SocketError::NoSocket);
        }
        let port = self.host.next_port();
        let handle = self.host.tcp_socket();
        let id = self.host.open(handle.map(Entry::Stream))?;
        if let Some(handle) = handle {
            let socket = self.host.set.get_mut::<tcp::Socket<'_>>(handle);
            let connected = socket.connect(self.host.interface.context(), address(to), port);
            if connected.is_err() {
                self.close(id);
                return Err(SocketError::NotConnected);
            }
        }
        Ok(id)
    }

    fn tcp_listen(&mut self, port: u16) -> Result<SocketId, SocketError> {
        let is = |it: &Entry| matches!(it, Entry::Listener(own, _) if *own == port);
        if !self.host.has_room() || self.host.entries.iter().any(|(_, it)| is(it)) {
            return Err(SocketError::NoSocket);
        }
        let handle = self.host.listening(port);
        self.host.open(handle.map(|it| Entry::Listener(port, it)))
    }

    fn tcp_accept(&mut self, listener: SocketId) -> Option<(SocketId, Endpoint)> {
        let Some(Entry::Listener(port, handle)) = self.host.entry(listener) else { return None };
        let socket = self.host.set.get_mut::<tcp::Socket<'_>>(handle);
        let from = match state(socket) {
            StreamState::Open | StreamState::HalfClosed => endpoint(socket.remote_endpoint()?),
            StreamState::Connecting => return None,
            StreamState::Closed => {
                if !socket.is_open() {
                    // A connection that never came about; one that cannot listen again is counted
                    // with the next call.
                    let _ = socket.listen(port);
                }
                return None;
            }
        };
        let next = if self.host.has_room() { self.host.listening(port) } else { None };
        let Some(next) = next else {
            // Refused: there is no memory to go on listening beside it.
            self.host.no_memory = self.host.no_memory.saturating_add(1);
            let socket = self.host.set.get_mut::<tcp::Socket<'_>>(handle);
            socket.abort();
            let _ = socket.listen(port);
            return None;
        };
        for (id, entry) in &mut self.host.entries {
            if *id == listener.0 {
                *entry = Entry::Listener(port, next);
            }
        }
        let id = self.host.open(Some(Entry::Stream(handle))).ok()?;
        Some((id, from))
    }

    fn tcp_stream(&self, socket: SocketId) -> StreamState {
        match self.host.entry(socket) {
            Some(Entry::Stream(handle)) => state(self.host.set.get(handle)),
            _ => StreamState::Closed,
        }
    }

    fn tcp_no_delay(&mut self, socket: SocketId, no_delay: bool) {
        if let Ok(socket) = self.host.stream(socket) {
            socket.set_nagle_enabled(!no_delay);
        }
    }

    fn tcp_send(&mut self, socket: SocketId, bytes: &[u8]) -> Result<usize, SocketError> {
        let socket = self.host.stream(socket)?;
        match state(socket) {
            StreamState::Connecting => Ok(0),
            _ if !socket.may_send() => Err(SocketError::NotConnected),
            _ => socket.send_slice(bytes).map_err(|_| SocketError::NotConnected),
        }
    }

    fn tcp_unacknowledged(&self, socket: SocketId) -> usize {
        match self.host.entry(socket) {
            Some(Entry::Stream(handle)) => {
                self.host.set.get::<tcp::Socket<'_>>(handle).send_queue()
            }
            _ => 0,
        }
    }

    fn tcp_receive(&mut self, socket: SocketId, buf: &mut [u8]) -> Result<usize, SocketError> {
        let socket = self.host.stream(socket)?;
        match socket.recv_slice(buf) {
            Ok(len) => Ok(len),
            // The peer has said that nothing more comes.
            Err(tcp::RecvError::Finished) => Ok(0),
            Err(tcp::RecvError::InvalidState) => match state(socket) {
                StreamState::Connecting => Ok(0),
                _ => Err(SocketError::NotConnected),
            },
        }
    }

    fn close(&mut self, socket: SocketId) {
        let Some(entry) = self.host.entry(socket) else { return };
        self.host.entries.retain(|(id, _)| *id != socket.0);
        match entry {
            Entry::Udp(handle) => _ = self.host.set.remove(handle),
            Entry::Listener(_, handle) => {
                self.host.set.get_mut::<tcp::Socket<'_>>(handle).abort();
                self.host.closing.push(handle);
            }
            Entry::Stream(handle) => {
                self.host.set.get_mut::<tcp::Socket<'_>>(handle).close();
                self.host.closing.push(handle);
            }
        }
    }

    fn spend(&mut self, work: ProgramWork) {
        // The rest takes here what it takes.
        if let ProgramWork::Delay(time) = work {
            self.delay = self.delay.saturating_add(time);
        }
    }

    fn print(&mut self, text: &[u8]) {
        self.out.print(text);
    }

    fn sample(&mut self, sample: Sample) {
        self.out.sample(sample);
    }

    fn count(&mut self, name: &'static str, by: u64) {
        if by > 0 {
            self.out.count(name, by);
        }
    }
}

impl IpHost {
    /// Closes every socket of a program.
    pub(super) fn close_all(&mut self, out: &mut dyn Out) {
        while let Some((id, _)) = self.entries.last() {
            let id = SocketId(*id);
            HostSockets { host: self, out, delay: Duration::ZERO }.close(id);
        }
    }

    /// Returns sockets for a poll at `_now`.
    pub(super) fn sockets<'a>(
        &'a mut self,
        _now: Instant,
        out: &'a mut dyn Out,
    ) -> HostSockets<'a> {
        HostSockets { host: self, out, delay: Duration::ZERO }
    }
}

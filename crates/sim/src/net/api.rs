//! The sockets of one program.

use super::device::MTU;
use super::host::{IpHost, ProgramId, SocketKind, SocketSlot, TcpListener};
use super::lower::ProgramEnv;
use super::tcp::{ConnectionOwner, TcpConnection};
use super::udp;
use alloc::vec;
use alloc::vec::Vec;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;
use espbench_proto::node::app::{
    Endpoint, ProgramWork, ReceivedDatagram, SocketError, SocketId, Sockets, StreamState,
};
use espbench_proto::wire::dhcp;

/// The sockets of a program; see [`IpHost::api`].
pub struct ProgramSockets<'a> {
    host: &'a mut IpHost,
    now: Instant,
    program: ProgramId,
    around: &'a mut dyn ProgramEnv,
}

impl<'a> ProgramSockets<'a> {
    pub(super) const fn new(
        host: &'a mut IpHost,
        now: Instant,
        program: ProgramId,
        around: &'a mut dyn ProgramEnv,
    ) -> Self {
        Self { host, now, program, around }
    }

    fn slot(&self, socket: SocketId) -> Option<&SocketSlot> {
        self.host.slots.get(usize::from(socket.0)).filter(|it| it.program == self.program)
    }

    fn udp(&mut self, socket: SocketId) -> Option<&mut udp::UdpSocket> {
        let slot = self.host.slots.get_mut(usize::from(socket.0))?;
        match &mut slot.kind {
            SocketKind::Udp(socket) if slot.program == self.program => Some(socket),
            _ => None,
        }
    }

    fn id(&self, socket: SocketId) -> Option<u32> {
        match self.slot(socket)?.kind {
            SocketKind::Stream(id) => Some(id),
            _ => None,
        }
    }

    fn connection(&self, socket: SocketId) -> Option<&TcpConnection> {
        self.host.connection(self.id(socket)?)
    }
}

impl Sockets for ProgramSockets<'_> {
    fn udp_bind(&mut self, port: u16) -> Result<SocketId, SocketError> {
        let taken = |host: &IpHost, port| host.udp_ports.contains_key(&port);
        let port = match port {
            0 => self.host.port(taken).ok_or(SocketError::NoSocket)?,
            port if taken(self.host, port) => return Err(SocketError::NoSocket),
            port => port,
        };
        let handle = self.host.slot(self.program, SocketKind::Udp(udp::UdpSocket::new(port)))?;
        self.host.udp_ports.insert(port, handle);
        Ok(handle)
    }

    fn udp_send(
        &mut self,
        socket: SocketId,
        to: Endpoint,
        bytes: &[u8],
    ) -> Result<(), SocketError> {
        let port = self.udp(socket).ok_or(SocketError::NotConnected)?.port;
        if bytes.len() > udp::LONGEST {
            return Err(SocketError::TooLong);
        }
        // A client of DHCP that asks everybody has no address yet (RFC 2131 section 4.1).
        let asks = port == dhcp::CLIENT_PORT && to == Endpoint::new([255; 4], dhcp::SERVER_PORT);
        let from = Endpoint::new(if asks { [0; 4] } else { self.host.address }, port);
        if udp::HEADERS + bytes.len() > MTU {
            let mut packet = vec![0; udp::HEADERS + bytes.len()];
            udp::emit(&mut packet, from, to, bytes);
            if !self.host.send_long(&mut packet, self.around) {
                self.host.counters.no_memory += 1;
                return Err(SocketError::NoMemory);
            }
            return Ok(());
        }
        let len = udp::emit(&mut self.host.out.bytes, from, to, bytes);
        if self.around.room() == 0 || !self.around.send(&self.host.out.bytes[..len]) {
            self.host.counters.no_memory += 1;
            return Err(SocketError::NoMemory);
        }
        self.host.counters.sent += 1;
        Ok(())
    }

    fn udp_receive(&mut self, socket: SocketId, buf: &mut [u8]) -> Option<ReceivedDatagram> {
        let udp = self.udp(socket)?;
        let before = udp.bytes();
        let datagram = udp.take(buf)?;
        let bytes = before - udp.bytes();
        self.host.released(1, bytes);
        Some(datagram)
    }

    fn tcp_connect(&mut self, to: Endpoint) -> Result<SocketId, SocketError> {
        self.host.connect(self.now, self.program, to, self.around)
    }

    fn tcp_listen(&mut self, port: u16) -> Result<SocketId, SocketError> {
        if port == 0 || self.host.listeners.contains_key(&port) {
            return Err(SocketError::NoSocket);
        }
        let listener = TcpListener { port, waiting: Vec::new() };
        let handle = self.host.slot(self.program, SocketKind::Listener(listener))?;
        self.host.listeners.insert(port, handle);
        Ok(handle)
    }

    fn tcp_accept(&mut self, listener: SocketId) -> Option<(SocketId, Endpoint)> {
        self.host.accept(self.program, listener, self.around)
    }

    fn tcp_stream(&self, socket: SocketId) -> StreamState {
        self.connection(socket).map_or(StreamState::Closed, TcpConnection::stream)
    }

    fn tcp_no_delay(&mut self, socket: SocketId, no_delay: bool) {
        let now = self.now;
        if let Some(id) = self.id(socket) {
            self.host.with(id, self.around, |it, io| {
                it.set_no_delay(no_delay);
                it.output(now, io);
                false
            });
        }
    }

    fn tcp_send(&mut self, socket: SocketId, bytes: &[u8]) -> Result<usize, SocketError> {
        let (now, mut sent) = (self.now, Err(SocketError::NotConnected));
        let id = self.id(socket).ok_or(SocketError::NotConnected)?;
        self.host.with(id, self.around, |it, io| {
            sent = it.write(now, io, bytes);
            false
        });
        sent
    }

    fn tcp_unacknowledged(&self, socket: SocketId) -> usize {
        self.connection(socket).map_or(0, TcpConnection::unacknowledged)
    }

    fn tcp_receive(&mut self, socket: SocketId, buf: &mut [u8]) -> Result<usize, SocketError> {
        let (now, mut read) = (self.now, Err(SocketError::NotConnected));
        let id = self.id(socket).ok_or(SocketError::NotConnected)?;
        self.host.with(id, self.around, |it, io| {
            read = it.read(now, io, buf);
            false
        });
        read
    }

    fn close(&mut self, socket: SocketId) {
        if self.slot(socket).is_none() {
            return;
        }
        let now = self.now;
        match self.host.free_slot(socket) {
            SocketKind::Free => {}
            SocketKind::Udp(udp) => {
                self.host.udp_ports.remove(&udp.port);
                self.host.released(udp.waiting(), udp.bytes());
            }
            SocketKind::Listener(listener) => {
                self.host.listeners.remove(&listener.port);
                for id in listener.waiting {
                    self.host.with(id, self.around, |it, io| {
                        it.owner = ConnectionOwner::Nobody;
                        it.abort(io);
                        false
                    });
                }
            }
            SocketKind::Stream(id) => {
                self.host.with(id, self.around, |it, io| {
                    it.close(now, io);
                    false
                });
            }
        }
    }

    fn spend(&mut self, work: ProgramWork) {
        self.around.spend(work);
    }

    fn print(&mut self, text: &[u8]) {
        self.around.print(text);
    }

    fn sample(&mut self, sample: Sample) {
        self.around.sample(sample);
    }

    fn count(&mut self, name: &'static str, by: u64) {
        self.around.count(name, by);
    }
}

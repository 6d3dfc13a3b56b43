//! The sockets of one program.

use super::host::{Host, Kind, Program, Slot};
use super::lower::Around;
use super::udp;
use espbench_proto::node::app::{Datagram, Endpoint, Handle, SocketError, Sockets, Stream, Work};
use espbench_proto::sample::Sample;
use espbench_proto::time::Instant;

/// What a program is given: [`Host::api`].
pub struct Api<'a> {
    host: &'a mut Host,
    now: Instant,
    program: Program,
    around: &'a mut dyn Around,
}

impl<'a> Api<'a> {
    pub(super) const fn new(
        host: &'a mut Host,
        now: Instant,
        program: Program,
        around: &'a mut dyn Around,
    ) -> Self {
        Self { host, now, program, around }
    }

    fn kind(&mut self, socket: Handle) -> Option<&mut Kind> {
        let slot = self.host.slots.get_mut(usize::from(socket.0))?;
        let Slot { program, kind } = slot;
        (*program == self.program).then_some(kind)
    }

    fn udp(&mut self, socket: Handle) -> Option<&mut udp::Socket> {
        match self.kind(socket)? {
            Kind::Udp(socket) => Some(socket),
            Kind::Free => None,
        }
    }
}

impl Sockets for Api<'_> {
    fn udp_bind(&mut self, port: u16) -> Result<Handle, SocketError> {
        let taken = |host: &Host, port| host.udp_ports.contains_key(&port);
        let port = match port {
            0 => self.host.port(taken).ok_or(SocketError::NoSocket)?,
            port if taken(self.host, port) => return Err(SocketError::NoSocket),
            port => port,
        };
        let handle = self.host.slot(self.program, Kind::Udp(udp::Socket::new(port)))?;
        self.host.udp_ports.insert(port, handle);
        Ok(handle)
    }

    fn udp_send(&mut self, socket: Handle, to: Endpoint, bytes: &[u8]) -> Result<(), SocketError> {
        let port = self.udp(socket).ok_or(SocketError::NotConnected)?.port;
        if bytes.len() > udp::LONGEST {
            return Err(SocketError::TooLong);
        }
        let from = Endpoint::new(self.host.address, port);
        let len = udp::emit(&mut self.host.out.bytes, from, to, bytes);
        if self.around.room() == 0 || !self.around.send(&self.host.out.bytes[..len]) {
            self.host.counters.no_memory += 1;
            return Err(SocketError::NoMemory);
        }
        self.host.counters.sent += 1;
        Ok(())
    }

    fn udp_receive(&mut self, socket: Handle, buf: &mut [u8]) -> Option<Datagram> {
        let (datagram, _) = self.udp(socket)?.take(buf)?;
        Some(datagram)
    }

    fn tcp_connect(&mut self, to: Endpoint) -> Result<Handle, SocketError> {
        let _ = (to, self.now);
        Err(SocketError::NotConnected)
    }

    fn tcp_listen(&mut self, port: u16) -> Result<Handle, SocketError> {
        let _ = port;
        Err(SocketError::NoSocket)
    }

    fn tcp_accept(&mut self, listener: Handle) -> Option<(Handle, Endpoint)> {
        let _ = listener;
        None
    }

    fn tcp_stream(&self, socket: Handle) -> Stream {
        let _ = socket;
        Stream::Closed
    }

    fn tcp_no_delay(&mut self, socket: Handle, no_delay: bool) {
        let _ = (socket, no_delay);
    }

    fn tcp_send(&mut self, socket: Handle, bytes: &[u8]) -> Result<usize, SocketError> {
        let _ = (socket, bytes);
        Err(SocketError::NotConnected)
    }

    fn tcp_unacknowledged(&self, socket: Handle) -> usize {
        let _ = socket;
        0
    }

    fn tcp_receive(&mut self, socket: Handle, buf: &mut [u8]) -> Result<usize, SocketError> {
        let _ = (socket, buf);
        Err(SocketError::NotConnected)
    }

    fn close(&mut self, socket: Handle) {
        let Some(kind) = self.kind(socket) else { return };
        if let Kind::Udp(udp) = core::mem::replace(kind, Kind::Free) {
            self.host.udp_ports.remove(&udp.port);
        }
    }

    fn spend(&mut self, work: Work) {
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

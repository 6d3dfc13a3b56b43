//! The network between the hosts.

use super::host::{Host, Udp};
use crate::node::app::{
    Endpoint, ProgramWork, ReceivedDatagram, SocketError, SocketId, Sockets, StreamState,
};
use espbench_model::sample::Sample;
use espbench_model::time::{Duration, Instant};
use std::collections::{BTreeMap, VecDeque};
use std::vec::Vec;

/// The faults of the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Faults {
    /// From one host to another.
    pub(crate) latency: Duration,
    /// Bytes of a send buffer.
    pub(crate) send_buffer: usize,
    /// Reads and writes take a part, drawn with this; 0: all that fits.
    pub(crate) short: u64,
    /// Every so-manieth datagram is refused with `NoMemory`; 0: none.
    pub(crate) no_memory: u64,
    /// Every so-manieth datagram is lost; 0: none.
    pub(crate) lossy: u64,
    /// From when on the network is gone: connections are reset, nothing is sent.
    pub(crate) cut: Instant,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            latency: Duration::from_millis(1),
            send_buffer: 5760,
            short: 0,
            no_memory: 0,
            lossy: 0,
            cut: Instant::NEVER,
        }
    }
}

#[derive(Debug)]
enum Event {
    Datagram { host: usize, port: u16, from: Endpoint, bytes: Vec<u8> },
    Syn { connection: usize, port: u16 },
    Open { connection: usize },
    Data { connection: usize, side: usize, bytes: Vec<u8> },
    Acked { connection: usize, side: usize, len: usize },
    Fin { connection: usize, side: usize },
    Reset,
}

/// A connection; index 0 is the side that connected.
#[derive(Debug)]
struct Connection {
    hosts: [usize; 2],
    from: Endpoint,
    state: StreamState,
    ready: [VecDeque<u8>; 2],
    unacknowledged: [usize; 2],
    /// Whether each side has closed; the other knows.
    closed: [bool; 2],
    ended: [bool; 2],
    no_delay: [bool; 2],
}

/// Hosts 10.0.0.1, 10.0.0.2 …
#[derive(Debug)]
pub(crate) struct Net {
    pub(crate) now: Instant,
    pub(crate) hosts: Vec<Host>,
    pub(crate) faults: Faults,
    connections: Vec<Connection>,
    events: BTreeMap<(Instant, u64), Event>,
    serial: u64,
    random: u64,
}

impl Net {
    pub(crate) fn new(hosts: usize, faults: Faults) -> Self {
        let mut net = Self {
            now: Instant::ZERO,
            hosts: (0..hosts).map(|_| Host::default()).collect(),
            faults,
            connections: Vec::new(),
            events: BTreeMap::new(),
            serial: 0,
            random: faults.short,
        };
        if faults.cut != Instant::NEVER {
            net.at(faults.cut, Event::Reset);
        }
        net
    }

    pub(crate) fn address(host: usize) -> [u8; 4] {
        [10, 0, 0, host as u8 + 1]
    }

    pub(crate) fn no_delay(&self, connection: usize, side: usize) -> bool {
        self.connections[connection].no_delay[side]
    }

    fn at(&mut self, at: Instant, event: Event) {
        self.serial += 1;
        self.events.insert((at, self.serial), event);
    }

    fn later(&mut self, event: Event) {
        self.at(self.now + self.faults.latency, event);
    }

    pub(crate) fn next_event(&self) -> Instant {
        self.events.first_key_value().map_or(Instant::NEVER, |((at, _), _)| *at)
    }

    pub(crate) fn step(&mut self) {
        let Some(((at, _), event)) = self.events.pop_first() else { return };
        self.now = self.now.max(at);
        match event {
            Event::Datagram { host, port, from, bytes } => {
                let host = &mut self.hosts[host];
                if let Some(udp) = host.udp.values_mut().find(|udp| udp.port == port) {
                    udp.queue.push_back((from, bytes));
                    host.changed = true;
                }
            }
            Event::Syn { connection, port } => self.syn(connection, port),
            Event::Open { connection } => {
                let client = self.connections[connection].hosts[0];
                if self.connections[connection].state == StreamState::Connecting {
                    self.connections[connection].state = StreamState::Open;
                }
                self.hosts[client].changed = true;
            }
            Event::Data { connection, side, bytes } => {
                let len = bytes.len();
                self.connections[connection].ready[side].extend(bytes);
                self.change(connection, side);
                self.later(Event::Acked { connection, side: 1 - side, len });
            }
            Event::Acked { connection, side, len } => {
                self.connections[connection].unacknowledged[side] -= len;
                self.change(connection, side);
            }
            Event::Fin { connection, side } => {
                self.connections[connection].ended[side] = true;
                self.change(connection, side);
            }
            Event::Reset => {
                for connection in &mut self.connections {
                    connection.state = StreamState::Closed;
                }
                self.events.clear();
                self.hosts.iter_mut().for_each(|host| host.changed = true);
            }
        }
    }

    fn change(&mut self, connection: usize, side: usize) {
        let host = self.connections[connection].hosts[side];
        self.hosts[host].changed = true;
    }

    fn syn(&mut self, connection: usize, port: u16) {
        let (server, from) =
            (self.connections[connection].hosts[1], self.connections[connection].from);
        let host = &mut self.hosts[server];
        host.handles += 1;
        let handle = host.handles;
        let Some((_, queue)) = host.listeners.values_mut().find(|(p, _)| *p == port) else {
            self.connections[connection].state = StreamState::Closed;
            return self.change(connection, 0);
        };
        queue.push_back((handle, from));
        host.tcp.insert(handle, (connection, 1));
        host.changed = true;
        self.later(Event::Open { connection });
    }

    pub(crate) fn view(&mut self, host: usize) -> View<'_> {
        View { net: self, host, calls: 0, spent: Duration::ZERO }
    }

    /// Returns a random part of what fits.
    fn part(&mut self, len: usize) -> usize {
        if self.faults.short == 0 || len == 0 {
            return len;
        }
        // xorshift64.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        1 + self.random as usize % len
    }

    fn is_cut(&self) -> bool {
        self.now >= self.faults.cut
    }
}

/// The network as one host sees it during one poll.
#[derive(Debug)]
pub(crate) struct View<'a> {
    net: &'a mut Net,
    host: usize,
    /// Things done that cost time.
    pub(crate) calls: u32,
    pub(crate) spent: Duration,
}

impl View<'_> {
    fn host(&mut self) -> &mut Host {
        &mut self.net.hosts[self.host]
    }

    fn handle(&mut self) -> u16 {
        self.host().handles += 1;
        self.host().handles
    }

    fn connection(&self, socket: SocketId) -> Option<(usize, usize)> {
        self.net.hosts[self.host].tcp.get(&socket.0).copied()
    }
}

impl Sockets for View<'_> {
    fn udp_bind(&mut self, port: u16) -> Result<SocketId, SocketError> {
        if port != 0 && self.host().udp.values().any(|udp| udp.port == port) {
            return Err(SocketError::NoSocket);
        }
        let handle = self.handle();
        let port = if port == 0 { 50_000 + handle } else { port };
        self.host().udp.insert(handle, Udp { port, ..Udp::default() });
        Ok(SocketId(handle))
    }

    fn udp_send(
        &mut self,
        socket: SocketId,
        to: Endpoint,
        bytes: &[u8],
    ) -> Result<(), SocketError> {
        self.calls += 1;
        let port = self.host().udp[&socket.0].port;
        self.host().sends += 1;
        let (nth, faults) = (self.host().sends, self.net.faults);
        if self.net.is_cut() {
            return Err(SocketError::NotConnected);
        }
        if nth.checked_rem(faults.no_memory) == Some(0) {
            return Err(SocketError::NoMemory);
        }
        self.host().sent.push(bytes.to_vec());
        if nth.checked_rem(faults.lossy) == Some(0) {
            return Ok(());
        }
        let from = Endpoint::new(Net::address(self.host), port);
        let host = usize::from(to.address[3]) - 1;
        self.net.later(Event::Datagram { host, port: to.port, from, bytes: bytes.to_vec() });
        Ok(())
    }

    fn udp_receive(&mut self, socket: SocketId, buf: &mut [u8]) -> Option<ReceivedDatagram> {
        let (from, bytes) = self.host().udp.get_mut(&socket.0)?.queue.pop_front()?;
        self.calls += 1;
        let len = bytes.len().min(buf.len());
        buf[..len].copy_from_slice(&bytes[..len]);
        Some(ReceivedDatagram { len, from, stamped: None })
    }

    fn tcp_connect(&mut self, to: Endpoint) -> Result<SocketId, SocketError> {
        if self.net.is_cut() {
            return Err(SocketError::NotConnected);
        }
        let handle = self.handle();
        let connection = self.net.connections.len();
        self.net.connections.push(Connection {
            hosts: [self.host, usize::from(to.address[3]) - 1],
            from: Endpoint::new(Net::address(self.host), 50_000 + handle),
            state: StreamState::Connecting,
            ready: Default::default(),
            unacknowledged: [0; 2],
            closed: [false; 2],
            ended: [false; 2],
            no_delay: [false; 2],
        });
        self.host().tcp.insert(handle, (connection, 0));
        self.net.later(Event::Syn { connection, port: to.port });
        Ok(SocketId(handle))
    }

    fn tcp_listen(&mut self, port: u16) -> Result<SocketId, SocketError> {
        let handle = self.handle();
        self.host().listeners.insert(handle, (port, VecDeque::new()));
        Ok(SocketId(handle))
    }

    fn tcp_accept(&mut self, listener: SocketId) -> Option<(SocketId, Endpoint)> {
        let (handle, from) = self.host().listeners.get_mut(&listener.0)?.1.pop_front()?;
        Some((SocketId(handle), from))
    }

    fn tcp_stream(&self, socket: SocketId) -> StreamState {
        let Some((connection, side)) = self.connection(socket) else { return StreamState::Closed };
        let connection = &self.net.connections[connection];
        match connection.state {
            // The accepting side is open before the connecting one.
            StreamState::Connecting if side == 1 => StreamState::Open,
            StreamState::Open if connection.ended[side] && connection.closed[side] => {
                StreamState::Closed
            }
            StreamState::Open if connection.ended[side] => StreamState::HalfClosed,
            state => state,
        }
    }

    fn tcp_no_delay(&mut self, socket: SocketId, no_delay: bool) {
        if let Some((connection, side)) = self.connection(socket) {
            self.net.connections[connection].no_delay[side] = no_delay;
        }
    }

    fn tcp_send(&mut self, socket: SocketId, bytes: &[u8]) -> Result<usize, SocketError> {
        let gone = matches!(self.tcp_stream(socket), StreamState::Connecting | StreamState::Closed);
        let (connection, side) = self.connection(socket).ok_or(SocketError::NotConnected)?;
        if gone {
            return Err(SocketError::NotConnected);
        }
        let longest = &mut self.net.hosts[self.host].longest_write;
        *longest = bytes.len().max(*longest);
        let waiting = self.net.connections[connection].unacknowledged[side];
        let room = self.net.faults.send_buffer.saturating_sub(waiting).min(bytes.len());
        let len = self.net.part(room);
        if len == 0 {
            return Ok(0);
        }
        self.calls += 1;
        self.net.connections[connection].unacknowledged[side] += len;
        let bytes = bytes[..len].to_vec();
        self.net.later(Event::Data { connection, side: 1 - side, bytes });
        Ok(len)
    }

    fn tcp_unacknowledged(&self, socket: SocketId) -> usize {
        let Some((connection, side)) = self.connection(socket) else { return 0 };
        self.net.connections[connection].unacknowledged[side]
    }

    fn tcp_receive(&mut self, socket: SocketId, buf: &mut [u8]) -> Result<usize, SocketError> {
        let (connection, side) = self.connection(socket).ok_or(SocketError::NotConnected)?;
        if self.net.connections[connection].state == StreamState::Closed {
            return Err(SocketError::NotConnected);
        }
        let fits = self.net.connections[connection].ready[side].len().min(buf.len());
        let len = self.net.part(fits);
        for byte in &mut buf[..len] {
            *byte = self.net.connections[connection].ready[side].pop_front().unwrap_or_default();
        }
        self.calls += u32::from(len > 0);
        Ok(len)
    }

    fn close(&mut self, socket: SocketId) {
        self.host().udp.remove(&socket.0);
        self.host().listeners.remove(&socket.0);
        if let Some((connection, side)) = self.host().tcp.remove(&socket.0) {
            self.net.connections[connection].closed[side] = true;
            self.net.later(Event::Fin { connection, side: 1 - side });
        }
    }

    fn spend(&mut self, work: ProgramWork) {
        self.calls += 1;
        self.spent += match work {
            ProgramWork::Delay(time) => time,
            ProgramWork::Bytewise(n) => Duration::from_micros(u64::from(n) * 3),
            ProgramWork::Copy(n) => Duration::from_nanos(u64::from(n) * 30),
            ProgramWork::Loop(n) => Duration::from_micros(u64::from(n) * 20),
        };
    }

    fn print(&mut self, text: &[u8]) {
        self.calls += 1;
        // As over a serial line of 115200 baud.
        self.spent += Duration::from_micros(text.len() as u64 * 87);
        let text = std::string::String::from_utf8_lossy(text).into_owned();
        self.host().printed += &text;
    }

    fn sample(&mut self, sample: Sample) {
        self.host().samples.push(sample);
    }

    fn count(&mut self, name: &'static str, by: u64) {
        *self.host().counts.entry(name).or_default() += by;
    }
}

//! The tables of a host: handles, ports, connections.

use super::{ConnectionOwner, IpHost, ProgramId, TcpConnection};
use crate::net::lower::NetDriver;
use crate::net::tcp;
use crate::net::udp;
use alloc::boxed::Box;
use alloc::vec::Vec;
use espbench_model::time::Instant;
use espbench_proto::node::app::{Endpoint, SocketError, SocketId};

/// The first ephemeral port (RFC 6335 section 6; lwIP's `TCP_LOCAL_PORT_RANGE_START`).
const FIRST_PORT: u16 = 0xC000;

/// The key by which a connection is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ConnectionKey(u64);

impl ConnectionKey {
    pub(super) fn new(port: u16, remote: Endpoint) -> Self {
        let address = u64::from(u32::from_be_bytes(remote.address));
        Self(address << 32 | u64::from(remote.port) << 16 | u64::from(port))
    }
}

/// The object behind a handle.
#[derive(Debug)]
pub(in super::super) enum SocketKind {
    Free,
    Udp(udp::UdpSocket),
    Listener(TcpListener),
    /// A connection, by its number.
    Stream(u32),
}

/// A port that accepts connections.
#[derive(Debug)]
pub(in super::super) struct TcpListener {
    pub(in super::super) port: u16,
    /// Connections that have not been accepted, from the first SYN on.
    pub(in super::super) waiting: Vec<u32>,
}

#[derive(Debug)]
pub(in super::super) struct SocketSlot {
    pub(in super::super) program: ProgramId,
    pub(in super::super) kind: SocketKind,
}

impl IpHost {
    /// Returns a new handle of a program.
    pub(in super::super) fn slot(
        &mut self,
        program: ProgramId,
        kind: SocketKind,
    ) -> Result<SocketId, SocketError> {
        let free = self.slots.iter().position(|it| matches!(it.kind, SocketKind::Free));
        let at = free.unwrap_or(self.slots.len());
        if at >= usize::from(self.stack.sockets) {
            return Err(SocketError::NoSocket);
        }
        let slot = SocketSlot { program, kind };
        match self.slots.get_mut(at) {
            Some(free) => *free = slot,
            None => self.slots.push(slot),
        }
        self.use_heap(self.stack.heap.socket.cast_signed());
        Ok(SocketId(at as u16))
    }

    /// Frees a handle and returns the object behind it.
    pub(in super::super) fn free_slot(&mut self, handle: SocketId) -> SocketKind {
        let Some(slot) = self.slots.get_mut(usize::from(handle.0)) else { return SocketKind::Free };
        let kind = core::mem::replace(&mut slot.kind, SocketKind::Free);
        if !matches!(kind, SocketKind::Free) {
            self.use_heap(-self.stack.heap.socket.cast_signed());
        }
        kind
    }

    /// Returns a free port, searched from a random one on.
    pub(in super::super) fn port(&mut self, taken: impl Fn(&Self, u16) -> bool) -> Option<u16> {
        let span = u32::from(u16::MAX - FIRST_PORT) + 1;
        let first = (self.random.bits() >> 32) as u32 % span;
        (0..span).map(|n| FIRST_PORT + ((first + n) % span) as u16).find(|&port| !taken(self, port))
    }

    /// Begins a connection of a program.
    pub(in super::super) fn connect(
        &mut self,
        now: Instant,
        program: ProgramId,
        remote: Endpoint,
        lower: &mut dyn NetDriver,
    ) -> Result<SocketId, SocketError> {
        if !tcp::addressable(remote) || (remote.address == self.address && !self.stack.loopback) {
            return Err(SocketError::NotConnected);
        }
        if !self.has_room() {
            return Err(SocketError::NoSocket);
        }
        let taken = |host: &Self, port| {
            host.listeners.contains_key(&port)
                || host.keys.contains_key(&ConnectionKey::new(port, remote))
        };
        let port = self.port(taken).ok_or(SocketError::NoSocket)?;
        let local = Endpoint::new(self.address, port);
        let handle = self.slot(program, SocketKind::Stream(u32::MAX))?;
        let (iss, owner) = (self.initial_sequence(now), ConnectionOwner::Program(program, handle));
        let connection = TcpConnection::connect(&self.stack, local, remote, owner, iss);
        let id = self.keep(connection);
        self.slots[usize::from(handle.0)].kind = SocketKind::Stream(id);
        self.with(id, lower, |it, io| {
            it.output(now, io);
            false
        });
        Ok(handle)
    }

    /// Accepts the oldest connection of a listener whose handshake is over. The connection is reset
    /// if no socket is left for it, as in lwIP.
    pub(in super::super) fn accept(
        &mut self,
        program: ProgramId,
        listener: SocketId,
        lower: &mut dyn NetDriver,
    ) -> Option<(SocketId, Endpoint)> {
        let SocketSlot { program: whose, kind: SocketKind::Listener(it) } =
            self.slots.get(usize::from(listener.0))?
        else {
            return None;
        };
        let open = |id: &u32| self.connection(*id).is_some_and(TcpConnection::is_open);
        let at = it.waiting.iter().position(open).filter(|_| *whose == program)?;
        let SocketKind::Listener(it) = &mut self.slots[usize::from(listener.0)].kind else {
            return None;
        };
        let id = it.waiting.remove(at);
        let Ok(handle) = self.slot(program, SocketKind::Stream(id)) else {
            self.with(id, lower, |it, io| {
                it.owner = ConnectionOwner::Nobody;
                it.abort(io);
                false
            });
            return None;
        };
        let it = self.connections[id as usize].as_mut()?;
        it.owner = ConnectionOwner::Program(program, handle);
        Some((handle, it.remote()))
    }

    /// Returns whether there is room for one more connection; a connection in `TIME-WAIT` makes
    /// room.
    pub(super) fn has_room(&mut self) -> bool {
        if self.keys.len() < usize::from(self.stack.connections) {
            return true;
        }
        let lingers =
            |it: &Option<Box<TcpConnection>>| it.as_ref().is_some_and(|it| it.in_time_wait());
        let Some(at) = self.connections.iter().position(lingers) else { return false };
        if let Some(mut it) = self.connections[at].take() {
            it.forget();
            self.put_back(at as u32, it, false);
        }
        true
    }

    /// Stores a connection and returns its number.
    pub(super) fn keep(&mut self, connection: TcpConnection) -> u32 {
        let key = ConnectionKey::new(connection.local().port, connection.remote());
        self.use_heap(connection.heap(&self.stack).cast_signed());
        let free = self.connections.iter().position(Option::is_none);
        let at = free.unwrap_or(self.connections.len());
        let connection = Some(Box::new(connection));
        match self.connections.get_mut(at) {
            Some(place) => *place = connection,
            None => self.connections.push(connection),
        }
        self.keys.insert(key, at as u32);
        at as u32
    }

    pub(in super::super) fn connection(&self, id: u32) -> Option<&TcpConnection> {
        self.connections.get(id as usize)?.as_deref()
    }

    /// Puts a connection back, or removes it if it is closed.
    pub(super) fn put_back(&mut self, id: u32, mut it: Box<TcpConnection>, changed: bool) {
        let closed = it.is_closed();
        if closed {
            let key = ConnectionKey::new(it.local().port, it.remote());
            if self.keys.get(&key) == Some(&id) {
                self.keys.remove(&key);
            }
            self.last = None;
            if let ConnectionOwner::Listener(_, listener) = it.owner {
                it.owner = ConnectionOwner::Nobody;
                if let Some(SocketKind::Listener(them)) =
                    self.slots.get_mut(usize::from(listener.0)).map(|it| &mut it.kind)
                {
                    them.waiting.retain(|&other| other != id);
                }
            }
        }
        if let (
            true,
            ConnectionOwner::Program(program, _) | ConnectionOwner::Listener(program, _),
        ) = (changed, it.owner)
        {
            self.mark(program);
        }
        let due = it.due_at();
        if closed && it.owner == ConnectionOwner::Nobody {
            self.timers.remove(&(it.listed, id));
            self.blocked.retain(|&other| other != id);
            self.held -= it.held();
            self.heap.received -= it.received(&self.stack);
            self.use_heap(-it.heap(&self.stack).cast_signed());
            return;
        }
        if due < it.listed {
            if it.listed < Instant::NEVER {
                self.timers.remove(&(it.listed, id));
            }
            self.timers.insert((due, id));
            it.listed = due;
        }
        if it.blocked && self.stack.sends_on_room && !self.blocked.contains(&id) {
            self.blocked.push(id);
        }
        self.connections[id as usize] = Some(it);
    }
}

//! A TCP connection: smoltcp's socket, which keeps the bytes in order and the states of the
//! protocol, under decisions made here.
//!
//! smoltcp's clock stands still here, except at the moments when our own timer has expired. It
//! sends when it is asked to, one segment at a time. So everything that shapes throughput and
//! latency is decided in this module: the bytes in flight ([`control`]), retransmission
//! ([`clock`]), acknowledgements and the announced window ([`acks`]).
//!
//! | module | contents |
//! |---|---|
//! | `receive` | handling of incoming segments |
//! | `send` | transmission |
//! | `timers` | expiry of timers |
//! | `acks` | acknowledgements and the announced window |
//! | `clock` | round trips and timeouts |
//! | `control` | congestion control |
//! | `mailbox` | received bytes that have not been read |
//! | `header` | reading and rewriting of headers |

mod acks;
mod clock;
mod control;
mod header;
mod mailbox;
mod receive;
mod send;
mod timers;

pub(super) use clock::TickClock;
pub(super) use header::{SegmentHeader, addressable};

use super::count::{ConnectionInfo, NetCounters};
use super::device::TxBuffer;
use super::host::ProgramId;
use super::lower::NetDriver;
use super::stack::Stack;
use acks::AckState;
use alloc::collections::VecDeque;
use alloc::vec;
use clock::RetransmissionTimeout;
use control::CongestionState;
use core::time::Duration;
use espbench_model::time::Instant;
use espbench_proto::node::app::{Endpoint, SocketError, SocketId, StreamState};
use header::ForgedPacket;
use mailbox::Mailbox;
use smoltcp::iface::{Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::wire::{IpAddress, IpEndpoint, Ipv4Address};

/// Returns whether sequence number `a` comes after `b` (RFC 9293 section 3.4).
const fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// The parts of the host that a connection uses.
pub(super) struct Io<'a> {
    pub(super) interface: &'a mut Interface,
    pub(super) out: &'a mut TxBuffer,
    pub(super) lower: &'a mut dyn NetDriver,
    pub(super) counters: &'a mut NetCounters,
    pub(super) stack: &'a Stack,
    pub(super) clock: &'a TickClock,
}

/// The owner of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionOwner {
    /// A program, with its handle.
    Program(ProgramId, SocketId),
    /// A listener, until the connection is accepted.
    Listener(ProgramId, SocketId),
    /// Nobody: the socket was closed, and the connection ends by itself.
    Nobody,
}

/// A data segment that was sent.
#[derive(Clone, Copy, Debug)]
struct SentSegment {
    end: u32,
    at: Instant,
}

/// A TCP connection.
pub(super) struct TcpConnection {
    pub(super) owner: ConnectionOwner,
    /// The time under which the host's list of timers has the connection.
    pub(super) listed: Instant,
    set: SocketSet<'static>,
    socket: SocketHandle,
    /// The time of smoltcp for this socket, in microseconds.
    time: i64,
    local: Endpoint,
    pub(super) remote: Endpoint,
    forged: ForgedPacket,

    /// The first unacknowledged byte (SND.UNA).
    una: u32,
    /// The next byte to be sent (SND.NXT).
    nxt: u32,
    /// The first byte that was never sent.
    max: u32,
    /// The longest segment that may be sent.
    mss: u32,
    /// The peer's window; `widest` is the largest that it ever was.
    window: u32,
    widest: u32,
    /// The segment that announced the window (`snd_wl1`, `snd_wl2`).
    window_seq: u32,
    window_ack: u32,
    /// The window that smoltcp was last told.
    field: u16,
    /// The window scale of the peer, and our own.
    their_shift: u8,
    our_shift: u8,
    control: CongestionState,
    timeout: RetransmissionTimeout,
    sent: VecDeque<SentSegment>,
    /// The sequence number up to which segments were retransmitted, so that they measure no round
    /// trip.
    retransmitted_to: u32,
    duplicates: u32,
    no_delay: bool,
    /// The time at which the bytes in flight count as lost.
    retransmit_at: Option<Instant>,
    /// The time at which a window that is too small is probed; `probes` counts the probes.
    probe_at: Option<Instant>,
    probes: u8,
    /// Whether the driver had no room.
    pub(super) blocked: bool,
    /// Whether a write found the heap used up.
    starved: bool,
    /// The time at which the driver is asked again.
    unblock_at: Option<Instant>,

    /// The next byte expected (RCV.NXT).
    expected: u32,
    /// Whether the peer has sent FIN.
    finished: bool,
    mailbox: Mailbox,
    ack_state: AckState,
    /// The time at which a refused segment is offered again.
    offer_at: Option<Instant>,

    /// The time at which the connection is removed.
    end_at: Option<Instant>,
    lingered: bool,
    dead: bool,
    /// Whether the connection was reset, or given up.
    broken: bool,
}

impl TcpConnection {
    /// Returns a connection that connects from `local` to `remote`.
    pub(super) fn connect(
        io: &mut Io<'_>,
        local: Endpoint,
        remote: Endpoint,
        owner: ConnectionOwner,
    ) -> Option<Self> {
        let mut it = Self::new(io.stack, local, remote, owner);
        let to = (IpAddress::Ipv4(Ipv4Address::from(remote.address)), remote.port);
        let from = IpEndpoint::new(Ipv4Address::from(local.address).into(), local.port);
        let socket = it.set.get_mut::<Socket<'_>>(it.socket);
        socket.connect(io.interface.context(), to, from).ok()?;
        Some(it)
    }

    /// Returns a connection for a SYN from `remote`; the caller hands it that SYN next.
    pub(super) fn accept(
        stack: &Stack,
        local: Endpoint,
        remote: Endpoint,
        owner: ConnectionOwner,
    ) -> Option<Self> {
        let mut it = Self::new(stack, local, remote, owner);
        let socket = it.set.get_mut::<Socket<'_>>(it.socket);
        socket.listen(local.port).ok()?;
        Some(it)
    }

    fn new(stack: &Stack, local: Endpoint, remote: Endpoint, owner: ConnectionOwner) -> Self {
        let buffer = |len: u32| SocketBuffer::new(vec![0; len as usize]);
        let mut socket = Socket::new(buffer(stack.tcp_window), buffer(stack.tcp_send_buffer));
        socket.set_congestion_control(CongestionControl::None);
        socket.set_ack_delay(None);
        socket.set_nagle_enabled(false);
        let mut set = SocketSet::new(vec![]);
        let socket = set.add(socket);
        let mss = u32::from(stack.mss);
        Self {
            owner,
            listed: Instant::NEVER,
            set,
            socket,
            time: 0,
            local,
            remote,
            forged: ForgedPacket::new(remote, local),
            una: 0,
            nxt: 0,
            max: 0,
            mss,
            window: 0,
            widest: 0,
            window_seq: 0,
            window_ack: 0,
            field: 0,
            their_shift: 0,
            our_shift: 0,
            control: CongestionState::new(stack, mss),
            timeout: RetransmissionTimeout::new(stack),
            sent: VecDeque::new(),
            retransmitted_to: 0,
            duplicates: 0,
            no_delay: !stack.nagle,
            retransmit_at: None,
            probe_at: None,
            probes: 0,
            blocked: false,
            starved: false,
            unblock_at: None,
            expected: 0,
            finished: false,
            mailbox: Mailbox::new(stack.tcp_mailbox),
            ack_state: AckState::new(stack),
            offer_at: None,
            end_at: None,
            lingered: false,
            dead: false,
            broken: false,
        }
    }

    fn tcp(&self) -> &Socket<'static> {
        self.set.get(self.socket)
    }

    fn tcp_mut(&mut self) -> &mut Socket<'static> {
        self.set.get_mut(self.socket)
    }

    /// Returns the peer's end.
    pub(super) const fn remote(&self) -> Endpoint {
        self.remote
    }

    /// Returns the local end.
    pub(super) const fn local(&self) -> Endpoint {
        self.local
    }

    /// Returns whether the handshake is over and went well.
    pub(super) fn is_open(&self) -> bool {
        !matches!(
            self.tcp().state(),
            State::Closed | State::Listen | State::SynSent | State::SynReceived
        )
    }

    /// Returns whether the connection is in `TIME-WAIT`.
    pub(super) fn in_time_wait(&self) -> bool {
        self.tcp().state() == State::TimeWait
    }

    /// Returns whether the connection is closed.
    pub(super) fn is_closed(&self) -> bool {
        self.dead || self.tcp().state() == State::Closed
    }

    /// Returns the state of the stream.
    pub(super) fn stream(&self) -> StreamState {
        if self.dead {
            return StreamState::Closed;
        }
        match self.tcp().state() {
            State::Listen | State::SynSent | State::SynReceived => StreamState::Connecting,
            State::Established => StreamState::Open,
            State::CloseWait => StreamState::HalfClosed,
            _ => StreamState::Closed,
        }
    }

    /// Turns Nagle's algorithm off, or on.
    pub(super) const fn set_no_delay(&mut self, no_delay: bool) {
        self.no_delay = no_delay;
    }

    /// Returns the bytes handed over and not acknowledged.
    pub(super) fn unacknowledged(&self) -> usize {
        self.tcp().send_queue()
    }

    /// Hands bytes over; returns the number that there was room for.
    pub(super) fn write(
        &mut self,
        now: Instant,
        io: &mut Io<'_>,
        bytes: &[u8],
    ) -> Result<usize, SocketError> {
        if self.dead || !self.tcp().may_send() {
            let connecting = self.stream() == StreamState::Connecting;
            return if connecting { Ok(0) } else { Err(SocketError::NotConnected) };
        }
        let queued = self.sent.len() + self.unsent().div_ceil(self.mss) as usize;
        if queued >= usize::from(io.stack.tcp_send_segments) {
            return Ok(0);
        }
        let fits = self.fits(io);
        let taken = self
            .tcp_mut()
            .send_slice(&bytes[..bytes.len().min(fits)])
            .map_err(|_| SocketError::NotConnected)?;
        let segments = (taken as u32).div_ceil(self.mss.max(1));
        io.lower.use_heap(taken as u32 + segments * io.stack.heap.packet);
        self.output(now, io);
        if fits < bytes.len() && taken == fits {
            io.counters.starved += 1;
            self.starved = true;
            // The netconn layer asks again when segments were acknowledged, and every second
            // (NETCONN_TCP_POLL_INTERVAL).
            self.unblock_at.get_or_insert_with(|| io.clock.slow(now, 2));
        }
        Ok(taken)
    }

    /// Returns how many bytes the heap has room for, in segments (`tcp_write`: `ERR_MEM`).
    fn fits(&self, io: &Io<'_>) -> usize {
        let (mss, packet) = (u64::from(self.mss.max(1)), io.stack.heap.packet);
        let heap = u64::from(io.lower.heap().saturating_sub(packet));
        (heap * mss / (mss + u64::from(packet))) as usize
    }

    /// Reads received bytes; returns their number.
    pub(super) fn read(
        &mut self,
        now: Instant,
        io: &mut Io<'_>,
        buf: &mut [u8],
    ) -> Result<usize, SocketError> {
        let most = buf.len().min(self.mailbox.readable() as usize);
        if most == 0 {
            let reset = self.broken && !self.finished;
            return if reset { Err(SocketError::NotConnected) } else { Ok(0) };
        }
        let Ok(len) = self.tcp_mut().recv_slice(&mut buf[..most]) else {
            return Err(SocketError::NotConnected);
        };
        self.mailbox.read(len as u32);
        if !self.finished && !self.dead {
            self.ack_state.read(io.stack, self.expected, self.free());
            self.acknowledge(now, io);
        }
        Ok(len)
    }

    /// Closes the connection for its program. Unread bytes are lost, and the peer is told so with a
    /// reset.
    pub(super) fn close(&mut self, now: Instant, io: &mut Io<'_>) {
        self.owner = ConnectionOwner::Nobody;
        if self.dead {
            return;
        }
        if self.tcp().recv_queue() > 0 {
            self.abort(io);
            return;
        }
        self.tcp_mut().close();
        self.output(now, io);
        self.settle(now, io);
    }

    /// Ends the connection with a reset.
    pub(super) fn abort(&mut self, io: &mut Io<'_>) {
        self.tcp_mut().abort();
        self.egress(io);
        self.transmit(io);
        self.dead = true;
    }

    /// Ends the connection without telling the peer.
    pub(super) const fn forget(&mut self) {
        self.dead = true;
    }

    /// Returns the free bytes of the receive buffer.
    fn free(&self) -> u32 {
        let socket = self.tcp();
        (socket.recv_capacity() - socket.recv_queue()) as u32
    }

    /// Returns the number of packets kept for the reader.
    pub(super) const fn held(&self) -> u32 {
        self.mailbox.packets()
    }

    /// Returns the heap used by received packets until they are read; those out of order count as
    /// full.
    pub(super) fn received(&self, stack: &Stack) -> u32 {
        let apart = self.mailbox.out_of_order() * self.mss;
        stack.heap.received(self.held(), self.tcp().recv_queue() as u32 + apart)
    }

    /// Returns the heap used by the connection.
    pub(super) fn heap(&self, stack: &Stack) -> u32 {
        let costs = &stack.heap;
        let unsent = self.unsent().div_ceil(self.mss.max(1));
        let segments = self.sent.len() as u32 + unsent;
        costs.connection
            + segments * costs.packet
            + u32::from(costs.packet > 0) * self.tcp().send_queue() as u32
            + self.received(stack)
    }

    /// Returns the observable state of the connection.
    pub(super) fn observe(&self, clock: &TickClock) -> ConnectionInfo {
        ConnectionInfo {
            congestion_window: self.control.window(),
            threshold: self.control.threshold(),
            send_window: self.window,
            in_flight: self.in_flight(),
            unsent: self.unsent(),
            receive_queue: self.tcp().recv_queue() as u32,
            receive_window: self.ack_state.window(),
            mailbox: self.mailbox.entries() as u32,
            round_trip: self.timeout.smoothed().map(Duration::from_nanos),
            timeout: self.timeout.length(clock),
        }
    }
}

//! A TCP connection: smoltcp's socket, which keeps the bytes in order and the states of the
//! protocol, under decisions of ours.
//!
//! smoltcp's clock stands still here, but for the moments at which our own timer has expired. It
//! sends when it is asked to, one segment at a time, and so everything that shapes throughput and
//! latency is decided in this module: how much is on its way ([`control`]), when a segment is sent
//! again ([`clock`]), when data is acknowledged and which window is told ([`acks`]).

mod acks;
mod clock;
mod control;
mod header;
mod mailbox;
mod receive;
mod send;
mod timers;

pub(super) use clock::Clock;
pub(super) use header::{Segment, addressable};

use super::count::{Counters, Flow};
use super::device::Out;
use super::host::Program;
use super::lower::Lower;
use super::stack::Stack;
use acks::Owed;
use alloc::collections::VecDeque;
use alloc::vec;
use clock::Timeout;
use control::Control;
use core::time::Duration;
use espbench_proto::node::app::{Endpoint, Handle, SocketError, Stream};
use espbench_proto::time::Instant;
use header::Made;
use mailbox::Mailbox;
use smoltcp::iface::{Interface, SocketHandle, SocketSet};
use smoltcp::socket::tcp::{CongestionControl, Socket, SocketBuffer, State};
use smoltcp::wire::{IpAddress, IpEndpoint, Ipv4Address};

/// Whether sequence number `a` comes after `b` (RFC 9293 section 3.4).
const fn after(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) > 0
}

/// What a connection needs of its host.
pub(super) struct Io<'a> {
    pub(super) interface: &'a mut Interface,
    pub(super) out: &'a mut Out,
    pub(super) lower: &'a mut dyn Lower,
    pub(super) counters: &'a mut Counters,
    pub(super) stack: &'a Stack,
    pub(super) clock: &'a Clock,
}

/// Whose a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A program's, by that handle.
    Program(Program, Handle),
    /// A listener's, until it is accepted.
    Listener(Program, Handle),
    /// Nobody's: it was closed and ends by itself.
    Nobody,
}

/// A segment of data that was sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    end: u32,
    at: Instant,
}

/// A connection.
pub(super) struct Connection {
    pub(super) owner: Owner,
    /// When the host has it in its list of timers.
    pub(super) listed: Instant,
    set: SocketSet<'static>,
    socket: SocketHandle,
    /// smoltcp's time for this socket, microseconds.
    time: i64,
    local: Endpoint,
    pub(super) remote: Endpoint,
    made: Made,

    /// First byte that is not acknowledged.
    una: u32,
    /// First that is to be sent.
    nxt: u32,
    /// First that was never sent.
    max: u32,
    /// The longest segment that may be sent.
    mss: u32,
    /// The peer's window, and the most that it ever was.
    window: u32,
    widest: u32,
    /// The segment that told it (`snd_wl1`, `snd_wl2`).
    window_seq: u32,
    window_ack: u32,
    /// The window as smoltcp was last told it.
    field: u16,
    /// Windows that come are shifted by so much, and those that go.
    their_shift: u8,
    our_shift: u8,
    control: Control,
    timeout: Timeout,
    sent: VecDeque<Sent>,
    /// Segments that end up to there were sent again: they measure nothing.
    again: u32,
    duplicates: u32,
    no_delay: bool,
    /// When what is on its way is taken for lost.
    retransmit_at: Option<Instant>,
    /// When a window that is too small is probed, and how often it was.
    probe_at: Option<Instant>,
    probes: u8,
    /// The driver had no room.
    pub(super) blocked: bool,
    /// A write found the heap used up.
    starved: bool,
    /// When the driver is asked again.
    unblock_at: Option<Instant>,

    /// Next byte that is expected.
    expected: u32,
    /// The peer sends no more.
    finished: bool,
    mailbox: Mailbox,
    owed: Owed,
    /// When what was refused is offered again.
    offer_at: Option<Instant>,

    /// When it is forgotten.
    end_at: Option<Instant>,
    lingered: bool,
    dead: bool,
    /// It was reset, or given up.
    broken: bool,
}

impl Connection {
    /// One that connects from `local` to `remote`.
    pub(super) fn connect(
        io: &mut Io<'_>,
        local: Endpoint,
        remote: Endpoint,
        owner: Owner,
    ) -> Option<Self> {
        let mut it = Self::new(io.stack, local, remote, owner);
        let to = (IpAddress::Ipv4(Ipv4Address::from(remote.address)), remote.port);
        let from = IpEndpoint::new(Ipv4Address::from(local.address).into(), local.port);
        let socket = it.set.get_mut::<Socket<'_>>(it.socket);
        socket.connect(io.interface.context(), to, from).ok()?;
        Some(it)
    }

    /// One for a SYN from `remote`, which it must be given.
    pub(super) fn accept(
        stack: &Stack,
        local: Endpoint,
        remote: Endpoint,
        owner: Owner,
    ) -> Option<Self> {
        let mut it = Self::new(stack, local, remote, owner);
        let socket = it.set.get_mut::<Socket<'_>>(it.socket);
        socket.listen(local.port).ok()?;
        Some(it)
    }

    fn new(stack: &Stack, local: Endpoint, remote: Endpoint, owner: Owner) -> Self {
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
            made: Made::new(remote, local),
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
            control: Control::new(stack, mss),
            timeout: Timeout::new(stack),
            sent: VecDeque::new(),
            again: 0,
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
            owed: Owed::new(stack),
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

    /// Its peer.
    pub(super) const fn remote(&self) -> Endpoint {
        self.remote
    }

    /// Its own end.
    pub(super) const fn local(&self) -> Endpoint {
        self.local
    }

    /// Whether the handshake is over and went well.
    pub(super) fn is_open(&self) -> bool {
        !matches!(
            self.tcp().state(),
            State::Closed | State::Listen | State::SynSent | State::SynReceived
        )
    }

    /// Whether nothing is left to do for it but to remember it.
    pub(super) fn lingers(&self) -> bool {
        self.tcp().state() == State::TimeWait
    }

    /// Whether nothing comes or goes any more.
    pub(super) fn is_closed(&self) -> bool {
        self.dead || self.tcp().state() == State::Closed
    }

    /// How far it has got.
    pub(super) fn stream(&self) -> Stream {
        if self.dead {
            return Stream::Closed;
        }
        match self.tcp().state() {
            State::Listen | State::SynSent | State::SynReceived => Stream::Connecting,
            State::Established => Stream::Open,
            State::CloseWait => Stream::HalfClosed,
            _ => Stream::Closed,
        }
    }

    /// Nagle's algorithm off, or on.
    pub(super) const fn set_no_delay(&mut self, no_delay: bool) {
        self.no_delay = no_delay;
    }

    /// Bytes handed over and not acknowledged.
    pub(super) fn unacknowledged(&self) -> usize {
        self.tcp().send_queue()
    }

    /// Hands bytes over; how many there was room for.
    pub(super) fn write(
        &mut self,
        now: Instant,
        io: &mut Io<'_>,
        bytes: &[u8],
    ) -> Result<usize, SocketError> {
        if self.dead || !self.tcp().may_send() {
            let connecting = self.stream() == Stream::Connecting;
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

    /// How many bytes the heap has room for, in segments (`tcp_write`: `ERR_MEM`).
    fn fits(&self, io: &Io<'_>) -> usize {
        let (mss, packet) = (u64::from(self.mss.max(1)), io.stack.heap.packet);
        let heap = u64::from(io.lower.heap().saturating_sub(packet));
        (heap * mss / (mss + u64::from(packet))) as usize
    }

    /// Takes what has come.
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
            self.owed.read(io.stack, self.expected, self.free());
            self.acknowledge(now, io);
        }
        Ok(len)
    }

    /// Its program has closed it. What it has not read is lost, and the peer is told so.
    pub(super) fn close(&mut self, now: Instant, io: &mut Io<'_>) {
        self.owner = Owner::Nobody;
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

    /// Ends it with a reset.
    pub(super) fn abort(&mut self, io: &mut Io<'_>) {
        self.tcp_mut().abort();
        self.egress(io);
        self.ship(io);
        self.dead = true;
    }

    /// The driver's answer is not asked: it is forgotten.
    pub(super) const fn forget(&mut self) {
        self.dead = true;
    }

    /// Bytes of the receive buffer that are free.
    fn free(&self) -> u32 {
        let socket = self.tcp();
        (socket.recv_capacity() - socket.recv_queue()) as u32
    }

    /// Packets that it keeps for its reader.
    pub(super) const fn held(&self) -> u32 {
        self.mailbox.packets()
    }

    /// What received packets cost in heap until they are read; those out of order count as full.
    pub(super) fn received(&self, stack: &Stack) -> u32 {
        let apart = self.mailbox.out_of_order() * self.mss;
        stack.heap.received(self.held(), self.tcp().recv_queue() as u32 + apart)
    }

    /// What it costs in heap.
    pub(super) fn heap(&self, stack: &Stack) -> u32 {
        let costs = &stack.heap;
        let unsent = self.unsent().div_ceil(self.mss.max(1));
        let segments = self.sent.len() as u32 + unsent;
        costs.connection
            + segments * costs.packet
            + u32::from(costs.packet > 0) * self.tcp().send_queue() as u32
            + self.received(stack)
    }

    /// How it is now.
    pub(super) fn observe(&self, clock: &Clock) -> Flow {
        Flow {
            congestion_window: self.control.window(),
            threshold: self.control.threshold(),
            send_window: self.window,
            in_flight: self.in_flight(),
            unsent: self.unsent(),
            receive_queue: self.tcp().recv_queue() as u32,
            receive_window: self.owed.window(),
            mailbox: self.mailbox.entries() as u32,
            round_trip: self.timeout.smoothed().map(Duration::from_nanos),
            timeout: self.timeout.length(clock),
        }
    }
}

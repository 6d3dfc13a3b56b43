//! A TCP connection: its control block, and the two stacks' decisions about it.
//!
//! A [`TcpConnection`] owns all that there is to know of a connection: the state, the sequence
//! numbers and windows of both directions by the names of RFC 9293, the bytes, and the timers. What
//! lwIP and Linux decide differently is asked of [`Stack`].
//!
//! | module | contents |
//! |---|---|
//! | `state` | states of RFC 9293 |
//! | `sequence` | sequence numbers and windows: SND.UNA, SND.NXT, SND.WND, RCV.NXT, RCV.WND |
//! | `receive` | handling of incoming segments |
//! | `send` | transmission |
//! | `timers` | expiry of timers |
//! | `acks` | when received data is acknowledged |
//! | `clock` | round trips and timeouts |
//! | `control` | congestion control |
//! | `buffer` | received bytes |
//! | `mailbox` | received segments that have not been read |
//! | `segment` | reading and writing of segments |

mod acks;
mod buffer;
mod clock;
mod control;
mod mailbox;
mod receive;
mod segment;
mod send;
mod sequence;
mod state;
mod timers;

pub(super) use clock::TickClock;
pub(super) use segment::{Segment, addressable};

use super::count::{ConnectionInfo, NetCounters};
use super::host::ProgramId;
use super::lower::NetDriver;
use super::stack::Stack;
use acks::AckState;
use alloc::collections::VecDeque;
use alloc::vec;
use buffer::ReceiveBuffer;
use clock::RetransmissionTimeout;
use control::CongestionState;
use core::time::Duration;
use espbench_model::time::Instant;
use espbench_proto::node::app::{Endpoint, SocketError, SocketId, StreamState};
use mailbox::Mailbox;
use sequence::{ReceiveSequence, SendSequence, after};
use smoltcp::storage::RingBuffer;
use state::TcpState;

/// The longest text of a segment: that of a packet of 1500 bytes without options.
const LONGEST: u16 = 1460;
/// The shortest text that an end is asked to send, whatever its peer offers.
const SHORTEST: u16 = 48;

/// The parts of the host that a connection uses.
pub(super) struct Io<'a> {
    /// The buffer in which a packet is written.
    pub(super) out: &'a mut [u8],
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

/// A TCP connection: the transmission control block of RFC 9293, and what a stack keeps beside it.
pub(super) struct TcpConnection {
    pub(super) owner: ConnectionOwner,
    /// The time under which the host's list of timers has the connection.
    pub(super) listed: Instant,
    local: Endpoint,
    pub(super) remote: Endpoint,
    state: TcpState,

    snd: SendSequence,
    /// The bytes from the first unacknowledged one on.
    send_buffer: RingBuffer<'static, u8>,
    /// The longest segment that may be sent.
    mss: u32,
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

    rcv: ReceiveSequence,
    receive_buffer: ReceiveBuffer,
    /// Whether the peer has sent FIN.
    finished: bool,
    mailbox: Mailbox,
    /// The bytes that the program's call in progress has read: the window opens for them when it ends.
    reading: u32,
    ack_state: AckState,
    /// The time of the last answer to a segment that was not acceptable.
    challenged: Option<Instant>,
    /// The time at which a refused segment is offered again.
    offer_at: Option<Instant>,

    /// The time at which the connection is removed.
    end_at: Option<Instant>,
    lingered: bool,
    /// Whether the connection was reset, or given up.
    broken: bool,
}

impl TcpConnection {
    /// Returns a connection that connects from `local` to `remote`, and begins with the sequence
    /// number `iss`.
    pub(super) fn connect(
        stack: &Stack,
        local: Endpoint,
        remote: Endpoint,
        owner: ConnectionOwner,
        iss: u32,
    ) -> Self {
        let mss = u32::from(stack.mss.min(LONGEST));
        Self {
            owner,
            listed: Instant::NEVER,
            local,
            remote,
            state: TcpState::SynSent,
            snd: SendSequence::new(iss),
            send_buffer: RingBuffer::new(vec![0; stack.tcp_send_buffer as usize]),
            mss,
            control: CongestionState::new(stack, mss),
            timeout: RetransmissionTimeout::new(stack),
            sent: VecDeque::new(),
            retransmitted_to: iss,
            duplicates: 0,
            no_delay: !stack.nagle,
            retransmit_at: None,
            probe_at: None,
            probes: 0,
            blocked: false,
            starved: false,
            unblock_at: None,
            rcv: ReceiveSequence::new(stack.tcp_window),
            receive_buffer: ReceiveBuffer::new(stack.tcp_window),
            finished: false,
            mailbox: Mailbox::new(stack.tcp_mailbox),
            reading: 0,
            ack_state: AckState::new(stack),
            challenged: None,
            offer_at: None,
            end_at: None,
            lingered: false,
            broken: false,
        }
    }

    /// Returns a connection for a peer's SYN; the answer is the first output.
    pub(super) fn accept(
        stack: &Stack,
        local: Endpoint,
        syn: &Segment<'_>,
        owner: ConnectionOwner,
        iss: u32,
    ) -> Self {
        let mut it = Self::connect(stack, local, syn.from, owner, iss);
        it.state = TcpState::SynReceived;
        it.synchronize(stack, syn);
        it
    }

    /// Takes over the sequence number, the window and the options of the peer's SYN.
    fn synchronize(&mut self, stack: &Stack, syn: &Segment<'_>) {
        // RFC 9293 section 3.7.1.
        let theirs = syn.mss.filter(|&it| it > 0).unwrap_or(536).max(SHORTEST);
        self.mss = u32::from(theirs.min(stack.mss).min(LONGEST));
        self.control = CongestionState::new(stack, self.mss);
        // Windows are scaled if both ends offer it (RFC 7323 section 2.2).
        let shifts = syn.shift.filter(|_| stack.scales());
        let (theirs, ours) = shifts.map_or((0, 0), |theirs| (theirs, stack.window_shift()));
        self.snd.synchronize(syn, theirs);
        self.rcv.synchronize(syn, ours);
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
    pub(super) const fn is_open(&self) -> bool {
        !self.state.is_handshake() && !self.is_closed()
    }

    /// Returns whether the connection is in `TIME-WAIT`.
    pub(super) fn in_time_wait(&self) -> bool {
        self.state == TcpState::TimeWait
    }

    /// Returns whether the connection is closed.
    pub(super) const fn is_closed(&self) -> bool {
        matches!(self.state, TcpState::Closed)
    }

    /// Returns the state of the stream.
    pub(super) const fn stream(&self) -> StreamState {
        match self.state {
            TcpState::SynSent | TcpState::SynReceived => StreamState::Connecting,
            TcpState::Established => StreamState::Open,
            TcpState::CloseWait => StreamState::HalfClosed,
            _ => StreamState::Closed,
        }
    }

    /// Turns Nagle's algorithm off, or on.
    pub(super) const fn set_no_delay(&mut self, no_delay: bool) {
        self.no_delay = no_delay;
    }

    /// Returns the bytes handed over and not acknowledged.
    pub(super) fn unacknowledged(&self) -> usize {
        self.send_buffer.len()
    }

    /// Hands bytes over; returns the number that there was room for.
    pub(super) fn write(
        &mut self,
        now: Instant,
        io: &mut Io<'_>,
        bytes: &[u8],
    ) -> Result<usize, SocketError> {
        if !self.state.takes_bytes() {
            return if self.state.is_handshake() { Ok(0) } else { Err(SocketError::NotConnected) };
        }
        let queued = self.sent.len() + self.unsent().div_ceil(self.mss) as usize;
        if queued >= usize::from(io.stack.tcp_send_segments) {
            return Ok(0);
        }
        let fits = self.fits(io);
        let taken = self.send_buffer.enqueue_slice(&bytes[..bytes.len().min(fits)]);
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
        let readable = self.mailbox.readable() as usize;
        if readable == 0 || self.reading as usize >= buf.len() {
            self.end_reading(now, io);
        }
        let most = readable.min(buf.len() - self.reading as usize);
        if most == 0 {
            let reset = self.broken && !self.finished;
            return if reset { Err(SocketError::NotConnected) } else { Ok(0) };
        }
        let len = self.receive_buffer.read(&mut buf[..most]);
        self.mailbox.read(len);
        self.reading += len;
        if !io.stack.reads_on || self.reading as usize >= buf.len() {
            self.end_reading(now, io);
        }
        Ok(len as usize)
    }

    /// Ends a program's call that reads: the window opens for what it has read.
    fn end_reading(&mut self, now: Instant, io: &mut Io<'_>) {
        let read = core::mem::take(&mut self.reading);
        if read > 0 && !self.finished && !self.is_closed() {
            self.open_window(io.stack);
            self.acknowledge(now, io);
        }
    }

    /// Returns the room that the peer may be told of.
    fn room(&self) -> u32 {
        self.receive_buffer.free().saturating_sub(self.reading)
    }

    /// Opens the window for what was read, and asks for an update if that is worth one.
    fn open_window(&mut self, stack: &Stack) {
        let free = self.room();
        let grown = self.rcv.open(stack, free);
        self.ack_state.read(stack, grown, free, self.rcv.told());
    }

    /// Closes the connection for its program. Unread bytes are lost, and the peer is told so with a
    /// reset.
    pub(super) fn close(&mut self, now: Instant, io: &mut Io<'_>) {
        self.owner = ConnectionOwner::Nobody;
        if self.is_closed() {
            return;
        }
        if self.receive_buffer.len() > 0 {
            self.abort(io);
            return;
        }
        self.state = self.state.closed();
        self.output(now, io);
        self.settle(now, io);
    }

    /// Ends the connection without telling the peer.
    pub(super) const fn forget(&mut self) {
        self.state = TcpState::Closed;
    }

    /// Returns the number of packets kept for the reader.
    pub(super) const fn held(&self) -> u32 {
        self.mailbox.packets()
    }

    /// Returns the heap used by received packets until they are read; those out of order count as
    /// full.
    pub(super) fn received(&self, stack: &Stack) -> u32 {
        let apart = self.mailbox.out_of_order() * self.mss;
        stack.heap.received(self.held(), self.receive_buffer.len() + apart)
    }

    /// Returns the heap used by the connection.
    pub(super) fn heap(&self, stack: &Stack) -> u32 {
        let costs = &stack.heap;
        let unsent = self.unsent().div_ceil(self.mss.max(1));
        let segments = self.sent.len() as u32 + unsent;
        costs.connection
            + segments * costs.packet
            + u32::from(costs.packet > 0) * self.send_buffer.len() as u32
            + self.received(stack)
    }

    /// Returns the observable state of the connection.
    pub(super) fn observe(&self, clock: &TickClock) -> ConnectionInfo {
        ConnectionInfo {
            congestion_window: self.control.window(),
            threshold: self.control.threshold(),
            send_window: self.snd.wnd,
            in_flight: self.snd.in_flight(),
            unsent: self.unsent(),
            receive_queue: self.receive_buffer.len(),
            receive_window: self.rcv.window(),
            mailbox: self.mailbox.entries() as u32,
            round_trip: self.timeout.smoothed().map(Duration::from_nanos),
            timeout: self.timeout.length(clock),
        }
    }
}

#[cfg(test)]
mod tests;

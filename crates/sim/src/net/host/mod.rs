//! A host: its sockets, and the way of a packet to them.

mod table;

pub(super) use table::{SocketKind, SocketSlot, TcpListener};

use super::api::ProgramSockets;
use super::checksum::fill_checksums;
use super::count::{ConnectionInfo, HeapStats, NetCounters};
use super::device::{MTU, SinglePacketDevice, TxBuffer};
use super::fragments::{self, FragmentFate, Reassembler};
use super::lower::{NetDriver, ProgramEnv};
use super::stack::{AckPolicy, Stack};
use super::tcp::{ConnectionOwner, Io, Segment, TcpConnection, TickClock};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::vec::Vec;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_model::time::Instant;
use espbench_proto::node::app::{Endpoint, SocketId};
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::time::Instant as Smol;
use smoltcp::wire::{
    HardwareAddress, IpCidr, IpProtocol, Ipv4Address, Ipv4Cidr, Ipv4Packet, UdpPacket,
};
use table::ConnectionKey;

/// The number of a program on a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProgramId(pub u16);

/// A reply to an ICMP echo request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EchoReply {
    /// The address that it is from.
    pub from: [u8; 4],
    /// The identifier of the request.
    pub ident: u16,
    /// The sequence number of the request.
    pub seq: u16,
    /// The bytes of its data.
    pub size: usize,
    /// The hops that were left.
    pub hops: u8,
    /// The time at which it came.
    pub at: Instant,
}

/// The echo replies that wait at most.
const ECHO_REPLIES: usize = 16;

/// An IP host.
pub struct IpHost {
    pub(super) stack: Stack,
    pub(super) address: [u8; 4],
    /// Answers pings, and packets that no socket takes.
    interface: Interface,
    pub(super) out: TxBuffer,
    random: RngStream,
    clock: TickClock,
    /// The initial sequence number at the start of time.
    pub(super) first_sequence: u32,
    pub(super) slots: Vec<SocketSlot>,
    pub(super) udp_ports: BTreeMap<u16, SocketId>,
    pub(super) listeners: BTreeMap<u16, SocketId>,
    connections: Vec<Option<Box<TcpConnection>>>,
    keys: BTreeMap<ConnectionKey, u32>,
    /// The connection of the last segment, which is mostly also that of the next one.
    last: Option<(ConnectionKey, u32)>,
    /// The times at which connections must be woken; an entry may be too early, never too late.
    timers: BTreeSet<(Instant, u32)>,
    /// Connections that wait for room in the driver.
    blocked: Vec<u32>,
    changed: Vec<bool>,
    pub(super) counters: NetCounters,
    heap: HeapStats,
    held: u32,
    reassembler: Reassembler,
    /// The identification of the last packet that went in fragments.
    ident: u16,
    echo_replies: VecDeque<EchoReply>,
}

impl core::fmt::Debug for IpHost {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut it = f.debug_struct("IpHost");
        it.field("address", &self.address).field("counters", &self.counters);
        it.finish_non_exhaustive()
    }
}

impl IpHost {
    /// Returns a host with an address in a network of 24 bits.
    #[must_use]
    pub fn new(seed: u64, address: [u8; 4], stack: &Stack) -> Self {
        let mut random = RngStream::stream(seed, u32::from_be_bytes(address), Purpose::Network);
        let mut out = TxBuffer::new();
        let first_sequence = random.bits() as u32;
        let config = Config::new(HardwareAddress::Ip);
        let mut once = SinglePacketDevice { packet: None, out: &mut out };
        let mut interface = Interface::new(config, &mut once, Smol::ZERO);
        let own = Ipv4Address::from(address);
        if !own.is_unspecified() && !own.is_multicast() && !own.is_broadcast() {
            interface.update_ip_addrs(|them| {
                them.push(IpCidr::Ipv4(Ipv4Cidr::new(own, 24))).ok();
            });
        }
        Self {
            stack: *stack,
            address,
            interface,
            out,
            clock: TickClock::new(&stack.timers, random.bits()),
            random,
            first_sequence,
            slots: Vec::new(),
            udp_ports: BTreeMap::new(),
            listeners: BTreeMap::new(),
            connections: Vec::new(),
            keys: BTreeMap::new(),
            last: None,
            timers: BTreeSet::new(),
            blocked: Vec::new(),
            changed: Vec::new(),
            counters: NetCounters::default(),
            heap: HeapStats::default(),
            held: 0,
            reassembler: Reassembler::default(),
            ident: 0,
            echo_replies: VecDeque::new(),
        }
    }

    /// Takes a packet that has come.
    pub fn receive(&mut self, now: Instant, packet: &[u8], lower: &mut dyn NetDriver) {
        self.counters.received += 1;
        let Ok(ip) = Ipv4Packet::new_checked(packet) else {
            self.counters.strange += 1;
            return;
        };
        if ip.more_frags() || ip.frag_offset() != 0 {
            return self.fragment(now, &ip, lower);
        }
        // The bytes after the packet are padding.
        let packet = &packet[..usize::from(ip.total_len())];
        let handled = match ip.next_header() {
            IpProtocol::Udp => self.datagram(now, &ip),
            IpProtocol::Icmp => self.echo_reply(now, &ip),
            IpProtocol::Tcp if ip.dst_addr().octets() == self.address => {
                self.segment(now, &ip, lower)
            }
            _ => false,
        };
        if handled {
            return;
        }
        // smoltcp answers pings, and packets that no socket takes.
        let mut nobody = SocketSet::new(&mut [][..]);
        let mut once = SinglePacketDevice { packet: Some(packet), out: &mut self.out };
        self.interface.poll_ingress_single(Smol::ZERO, &mut once, &mut nobody);
        let len = core::mem::take(&mut self.out.len);
        if len == 0 {
            self.counters.strange += 1;
        } else if lower.send(&self.out.bytes[..len]) {
            self.counters.sent += 1;
        }
    }

    /// Takes a fragment, and the packet that it makes whole.
    fn fragment(&mut self, now: Instant, ip: &Ipv4Packet<&[u8]>, lower: &mut dyn NetDriver) {
        let most = usize::from(self.stack.reassembly);
        let is_own = ip.dst_addr().octets() == self.address && most > 0;
        self.counters.unassembled += self.reassembler.expire(now);
        let fate = match is_own {
            true => self.reassembler.take(now, ip, most, &mut self.counters.unassembled),
            false => FragmentFate::Dropped,
        };
        match fate {
            FragmentFate::Whole(packet) if packet.len() <= MTU => {
                self.receive(now, &packet, lower);
            }
            FragmentFate::Whole(packet) => self.long(now, packet, lower),
            FragmentFate::Waits => {}
            FragmentFate::Dropped => self.counters.fragments_dropped += 1,
        }
    }

    /// Takes a packet that was too long for a frame: a datagram, or a ping.
    fn long(&mut self, now: Instant, packet: Vec<u8>, lower: &mut dyn NetDriver) {
        let ip = Ipv4Packet::new_unchecked(&packet[..]);
        if self.echo_reply(now, &ip)
            || ip.next_header() == IpProtocol::Udp && self.datagram(now, &ip)
        {
            return;
        }
        match fragments::echo_reply(packet, self.address) {
            Some(mut reply) => {
                self.send_long(&mut reply, lower);
            }
            None => self.counters.strange += 1,
        }
    }

    /// Sends a packet that is too long for a frame, in fragments; returns whether the driver took
    /// them. Its checksums are those of the whole.
    pub(super) fn send_long(&mut self, packet: &mut [u8], lower: &mut dyn NetDriver) -> bool {
        fill_checksums(packet);
        self.ident = self.ident.wrapping_add(1);
        let pieces = fragments::pieces(packet.len());
        let taken = lower.room() >= pieces && fragments::send(lower, packet, self.ident);
        self.counters.sent += if taken { pieces as u64 } else { 0 };
        taken
    }

    /// Sends an ICMP echo request with so many bytes, in fragments if need be; returns whether the driver
    /// took it.
    pub fn send_echo(
        &mut self,
        to: [u8; 4],
        (ident, seq): (u16, u16),
        size: usize,
        lower: &mut dyn NetDriver,
    ) -> bool {
        let size = size.min(fragments::LONGEST_PACKET - fragments::ECHO_HEADERS);
        let mut packet = fragments::echo_request(self.address, to, (ident, seq), size);
        if packet.len() > MTU {
            return self.send_long(&mut packet, lower);
        }
        let taken = lower.room() > 0 && lower.send(&packet);
        self.counters.sent += u64::from(taken);
        taken
    }

    /// Takes the next echo reply that has come; of those that nobody takes the oldest are dropped.
    pub fn take_echo_reply(&mut self) -> Option<EchoReply> {
        self.echo_replies.pop_front()
    }

    /// Returns the address.
    #[must_use]
    pub const fn address(&self) -> [u8; 4] {
        self.address
    }

    /// Returns the limits and choices.
    #[must_use]
    pub const fn stack(&self) -> &Stack {
        &self.stack
    }

    /// Keeps an echo reply; returns whether the packet is one.
    fn echo_reply(&mut self, now: Instant, ip: &Ipv4Packet<&[u8]>) -> bool {
        let (own, from) = (ip.dst_addr().octets() == self.address, ip.src_addr().octets());
        let payload = ip.payload();
        let (true, IpProtocol::Icmp, [0, 0, _, _, a, b, c, d, data @ ..]) =
            (own, ip.next_header(), payload)
        else {
            return false;
        };
        if self.echo_replies.len() >= ECHO_REPLIES {
            self.echo_replies.pop_front();
        }
        let (ident, seq) = (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]));
        let (size, hops) = (data.len(), ip.hop_limit());
        self.echo_replies.push_back(EchoReply { from, ident, seq, size, hops, at: now });
        true
    }

    /// Sets how many fragments wait for the others of their packets at most; 0: each is dropped.
    pub const fn set_reassembly(&mut self, most: u16) {
        self.stack.reassembly = most;
    }

    /// Returns whether a socket of the host is there for a packet.
    #[must_use]
    pub fn serves(&self, packet: &[u8]) -> bool {
        let Ok(ip) = Ipv4Packet::new_checked(packet) else { return false };
        match ip.next_header() {
            _ if ip.more_frags() || ip.frag_offset() != 0 => false,
            IpProtocol::Udp => UdpPacket::new_checked(ip.payload())
                .is_ok_and(|udp| self.udp_ports.contains_key(&udp.dst_port())),
            IpProtocol::Tcp => Segment::read(&ip).is_some_and(|segment| {
                self.listeners.contains_key(&segment.port)
                    || self.keys.contains_key(&ConnectionKey::new(segment.port, segment.from))
            }),
            _ => false,
        }
    }

    /// Hands a datagram to a socket; returns false if there is none.
    fn datagram(&mut self, now: Instant, ip: &Ipv4Packet<&[u8]>) -> bool {
        let to = ip.dst_addr().octets();
        let all = to == [255; 4] || to[..3] == self.address[..3] && to[3] == 255;
        if !all && to != self.address {
            return false;
        }
        let Ok(udp) = UdpPacket::new_checked(ip.payload()) else { return false };
        let Some(&handle) = self.udp_ports.get(&udp.dst_port()) else { return false };
        let Some(SocketSlot { program, kind: SocketKind::Udp(socket) }) =
            self.slots.get_mut(usize::from(handle.0))
        else {
            return false;
        };
        let from = Endpoint::new(ip.src_addr().octets(), udp.src_port());
        // The kernel of a PC stamps the arrival of a datagram; lwIP does not.
        let at = matches!(self.stack.acks, AckPolicy::Quick { .. }).then_some(now);
        let before = socket.bytes();
        if socket.put(&self.stack, from, at, udp.payload()) {
            let (program, bytes) = (*program, socket.bytes() - before);
            self.mark(program);
            self.held += 1;
            let cost = self.stack.heap.received(1, bytes);
            self.heap.received += cost;
            self.use_heap(cost.cast_signed());
        } else {
            self.counters.udp_mailbox_full += 1;
        }
        true
    }

    /// Hands a segment to a connection or a listener; returns false if there is none.
    fn segment(&mut self, now: Instant, ip: &Ipv4Packet<&[u8]>, lower: &mut dyn NetDriver) -> bool {
        let Some(segment) = Segment::read(ip) else { return false };
        let key = ConnectionKey::new(segment.port, segment.from);
        let id = match self.last {
            Some((last, id)) if last == key => Some(id),
            _ => self.keys.get(&key).copied(),
        };
        let Some(id) = id else {
            let Some(id) = self.open(now, &segment) else {
                // A SYN that finds the backlog full is dropped: its sender tries again.
                return segment.is_syn() && self.listeners.contains_key(&segment.port);
            };
            self.with(id, lower, |it, io| {
                it.output(now, io);
                true
            });
            return true;
        };
        self.last = Some((key, id));
        self.with(id, lower, |it, io| it.receive(now, io, &segment)).is_some()
    }

    /// Opens a connection for a SYN to a listener with room in its backlog.
    fn open(&mut self, now: Instant, segment: &Segment<'_>) -> Option<u32> {
        if !segment.is_syn() || !self.has_room() {
            return None;
        }
        let &handle = self.listeners.get(&segment.port)?;
        let slot = self.slots.get(usize::from(handle.0))?;
        let SocketKind::Listener(listener) = &slot.kind else { return None };
        if listener.waiting.len() >= usize::from(self.stack.backlog) {
            return None;
        }
        let owner = ConnectionOwner::Listener(slot.program, handle);
        let local = Endpoint::new(self.address, segment.port);
        let iss = self.initial_sequence(now);
        let connection = TcpConnection::accept(&self.stack, local, segment, owner, iss);
        let id = self.keep(connection);
        if let SocketKind::Listener(listener) = &mut self.slots[usize::from(handle.0)].kind {
            listener.waiting.push(id);
        }
        Some(id)
    }

    /// Returns the initial sequence number of a connection that begins now: it grows by one each 4
    /// microseconds (RFC 9293 section 3.4.1).
    const fn initial_sequence(&self, now: Instant) -> u32 {
        self.first_sequence.wrapping_add((now.as_nanos() / 4000) as u32)
    }

    /// Goes on, because it is time or because there is room again.
    pub fn poll(&mut self, now: Instant, lower: &mut dyn NetDriver) {
        while let Some(&(at, id)) = self.timers.first()
            && at <= now
        {
            self.timers.pop_first();
            self.with(id, lower, |it, io| {
                it.listed = Instant::NEVER;
                it.due_at() <= now && it.wake(now, io)
            });
        }
        self.counters.unassembled += self.reassembler.expire(now);
        // Each connection goes on once, in the order in which they were blocked.
        for _ in 0..self.blocked.len() {
            if lower.room() == 0 {
                break;
            }
            let id = self.blocked.remove(0);
            self.with(id, lower, |it, io| {
                it.resume(now, io);
                false
            });
        }
    }

    /// Returns the latest time at which the host must be polled if nothing comes before. With a
    /// driver that had no room, a PC must be polled when there is some again.
    #[must_use]
    pub fn wait(&self) -> Option<Instant> {
        let timer = self.timers.first().map(|&(at, _)| at);
        timer.into_iter().chain(self.reassembler.wait()).min()
    }

    /// Returns whether the host waits for room in the driver, and must be polled when there is
    /// some.
    #[must_use]
    pub fn waits_for_room(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Returns the sockets of a program.
    pub const fn api<'a>(
        &'a mut self,
        now: Instant,
        program: ProgramId,
        around: &'a mut dyn ProgramEnv,
    ) -> ProgramSockets<'a> {
        ProgramSockets::new(self, now, program, around)
    }

    /// Returns whether a program's sockets have changed since the last call.
    pub fn changed(&mut self, program: ProgramId) -> bool {
        self.changed.get_mut(usize::from(program.0)).is_some_and(core::mem::take)
    }

    /// Returns the counters of the host.
    #[must_use]
    pub const fn counters(&self) -> &NetCounters {
        &self.counters
    }

    /// Returns the state of a program's connection.
    #[must_use]
    pub fn observe(&self, program: ProgramId, socket: SocketId) -> Option<ConnectionInfo> {
        let slot = self.slots.get(usize::from(socket.0))?;
        let &SocketKind::Stream(id) = &slot.kind else { return None };
        let connection = self.connections.get(id as usize)?.as_ref()?;
        (slot.program == program).then(|| connection.observe(&self.clock))
    }

    /// Returns the state of the first open connection to another host.
    #[must_use]
    pub fn flow(&self) -> Option<ConnectionInfo> {
        let mut all = self.connections.iter().flatten();
        let first = all.find(|it| it.remote.address != self.address)?;
        Some(first.observe(&self.clock))
    }

    /// Returns the use of the heap.
    #[must_use]
    pub const fn heap(&self) -> HeapStats {
        self.heap
    }

    /// Returns the number of received packets that wait in mailboxes, out of order, or for other
    /// fragments. Each still has its buffer of the driver.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held as usize + self.reassembler.held()
    }

    /// Returns the number of connections, including closing ones and those in `TIME-WAIT`.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections.iter().flatten().count()
    }

    pub(super) fn mark(&mut self, program: ProgramId) {
        let at = usize::from(program.0);
        if self.changed.len() <= at {
            self.changed.resize(at + 1, false);
        }
        self.changed[at] = true;
    }

    /// Takes note that datagrams have been removed from a mailbox.
    pub(super) fn released(&mut self, datagrams: usize, bytes: u32) {
        self.held -= datagrams as u32;
        let cost = self.stack.heap.received(datagrams as u32, bytes);
        self.heap.received -= cost;
        self.use_heap(-cost.cast_signed());
    }

    pub(super) fn use_heap(&mut self, by: i32) {
        self.heap.now = self.heap.now.saturating_add_signed(by);
        self.heap.peak = self.heap.peak.max(self.heap.now);
    }

    /// Calls `f` with a connection that may send, and then updates the host. `f` returns whether
    /// something has changed for the connection's program.
    pub(super) fn with(
        &mut self,
        id: u32,
        lower: &mut dyn NetDriver,
        f: impl FnOnce(&mut TcpConnection, &mut Io<'_>) -> bool,
    ) -> Option<bool> {
        let mut it = self.connections.get_mut(id as usize)?.take()?;
        let (heap, held) = (it.heap(&self.stack), it.held());
        let received = it.received(&self.stack);
        let mut io = Io {
            out: &mut self.out.bytes,
            lower,
            counters: &mut self.counters,
            stack: &self.stack,
            clock: &self.clock,
        };
        let changed = f(&mut it, &mut io);
        self.held = self.held + it.held() - held;
        self.heap.received = self.heap.received + it.received(&self.stack) - received;
        self.use_heap(it.heap(&self.stack).wrapping_sub(heap).cast_signed());
        self.put_back(id, it, changed);
        Some(changed)
    }
}

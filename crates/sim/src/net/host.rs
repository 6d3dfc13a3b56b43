//! A host: its sockets, and the way of a packet to them.

use super::api::Api;
use super::count::{Counters, Flow, Heap};
use super::lower::{Around, Lower};
use super::stack::{Acks, Stack};
use super::udp;
use crate::random::{Purpose, Random};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use espbench_proto::node::app::{Endpoint, Handle, SocketError};
use espbench_proto::time::Instant;
use smoltcp::iface::{Config, Interface, SocketSet};
use smoltcp::phy::{self, ChecksumCapabilities, DeviceCapabilities, Medium};
use smoltcp::time::Instant as Smol;
use smoltcp::wire::{
    HardwareAddress, IpCidr, IpProtocol, Ipv4Address, Ipv4Cidr, Ipv4Packet, UdpPacket,
};

/// The longest packet.
const MTU: usize = 1500;
/// Where ports that nobody chose begin (RFC 6335 section 6; lwIP's `TCP_LOCAL_PORT_RANGE_START`).
const FIRST_PORT: u16 = 0xC000;

/// A program of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Program(pub u16);

/// What a handle stands for.
#[derive(Debug)]
pub(super) enum Kind {
    Free,
    Udp(udp::Socket),
}

#[derive(Debug)]
pub(super) struct Slot {
    pub(super) program: Program,
    pub(super) kind: Kind,
}

/// An IP host.
pub struct Host {
    pub(super) stack: Stack,
    pub(super) address: [u8; 4],
    pub(super) interface: Interface,
    pub(super) out: Out,
    pub(super) random: Random,
    pub(super) slots: Vec<Slot>,
    pub(super) udp_ports: BTreeMap<u16, Handle>,
    pub(super) changed: Vec<bool>,
    pub(super) counters: Counters,
    pub(super) heap: Heap,
}

impl core::fmt::Debug for Host {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let mut it = f.debug_struct("Host");
        it.field("address", &self.address).field("counters", &self.counters);
        it.finish_non_exhaustive()
    }
}

/// The packet that smoltcp has just written.
pub(super) struct Out {
    pub(super) bytes: Vec<u8>,
    pub(super) len: usize,
}

/// One packet in, one out: what smoltcp sees of the world in one call.
pub(super) struct Once<'a> {
    pub(super) packet: Option<&'a [u8]>,
    pub(super) out: &'a mut Out,
}

impl phy::Device for Once<'_> {
    type RxToken<'b>
        = In<'b>
    where
        Self: 'b;
    type TxToken<'b>
        = &'b mut Out
    where
        Self: 'b;

    fn receive(&mut self, _: Smol) -> Option<(In<'_>, &mut Out)> {
        let packet = self.packet.take()?;
        Some((In(packet), self.out))
    }

    fn transmit(&mut self, _: Smol) -> Option<&mut Out> {
        (self.out.len == 0).then_some(&mut *self.out)
    }

    fn capabilities(&self) -> DeviceCapabilities {
        capabilities()
    }
}

pub(super) struct In<'a>(&'a [u8]);

impl phy::RxToken for In<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(self.0)
    }
}

impl phy::TxToken for &mut Out {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        self.len = len;
        f(&mut self.bytes[..len])
    }
}

fn capabilities() -> DeviceCapabilities {
    let mut it = DeviceCapabilities::default();
    it.medium = Medium::Ip;
    it.max_transmission_unit = MTU;
    it.checksum = ChecksumCapabilities::ignored();
    it
}

impl Host {
    /// A host with that address, in a network of 24 bits.
    #[must_use]
    pub fn new(seed: u64, address: [u8; 4], stack: &Stack) -> Self {
        let mut random = Random::stream(seed, u32::from_be_bytes(address), Purpose::Network);
        let mut out = Out { bytes: vec![0; MTU], len: 0 };
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = random.bits();
        let mut once = Once { packet: None, out: &mut out };
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
            random,
            slots: Vec::new(),
            udp_ports: BTreeMap::new(),
            changed: Vec::new(),
            counters: Counters::default(),
            heap: Heap::default(),
        }
    }

    /// A packet has come.
    pub fn receive(&mut self, now: Instant, packet: &[u8], lower: &mut dyn Lower) {
        self.counters.received += 1;
        let Ok(ip) = Ipv4Packet::new_checked(packet) else {
            self.counters.strange += 1;
            return;
        };
        if ip.next_header() == IpProtocol::Udp && self.datagram(now, &ip) {
            return;
        }
        // Pings, and what is for nobody.
        let mut nobody = SocketSet::new(&mut [][..]);
        let mut once = Once { packet: Some(packet), out: &mut self.out };
        self.interface.poll_ingress_single(Smol::ZERO, &mut once, &mut nobody);
        if self.out.len == 0 {
            self.counters.strange += 1;
        }
        self.hand_over(lower);
    }

    /// A datagram for a socket here; false where there is none.
    fn datagram(&mut self, now: Instant, ip: &Ipv4Packet<&[u8]>) -> bool {
        let to = ip.dst_addr().octets();
        let all = to == [255; 4] || to[..3] == self.address[..3] && to[3] == 255;
        if !all && to != self.address {
            return false;
        }
        let Ok(udp) = UdpPacket::new_checked(ip.payload()) else { return false };
        let Some(&handle) = self.udp_ports.get(&udp.dst_port()) else { return false };
        let Some(Slot { program, kind: Kind::Udp(socket) }) =
            self.slots.get_mut(usize::from(handle.0))
        else {
            return false;
        };
        let from = Endpoint::new(ip.src_addr().octets(), udp.src_port());
        // The kernel of a PC says when a datagram came; lwIP does not.
        let at = matches!(self.stack.acks, Acks::Quick { .. }).then_some(now);
        if socket.put(&self.stack, from, at, udp.payload()) {
            let program = *program;
            self.mark(program);
        } else {
            self.counters.udp_mailbox_full += 1;
        }
        true
    }

    /// Goes on: because it is time, or because there is room again.
    pub fn poll(&mut self, now: Instant, lower: &mut dyn Lower) {
        let _ = (now, lower);
    }

    /// When it must be polled at the latest, if nothing comes before.
    #[must_use]
    pub const fn wait(&self) -> Option<Instant> {
        None
    }

    /// The sockets of a program.
    pub const fn api<'a>(
        &'a mut self,
        now: Instant,
        program: Program,
        around: &'a mut dyn Around,
    ) -> Api<'a> {
        Api::new(self, now, program, around)
    }

    /// Whether something has changed at a program's sockets since the last time that this was
    /// asked.
    pub fn changed(&mut self, program: Program) -> bool {
        self.changed.get_mut(usize::from(program.0)).is_some_and(core::mem::take)
    }

    /// What it has counted.
    #[must_use]
    pub const fn counters(&self) -> &Counters {
        &self.counters
    }

    /// How a connection is now.
    #[must_use]
    pub const fn observe(&self, program: Program, socket: Handle) -> Option<Flow> {
        let _ = (program, socket);
        None
    }

    /// Its heap in use.
    #[must_use]
    pub const fn heap(&self) -> Heap {
        self.heap
    }

    /// Received packets that wait in mailboxes or out of order: each still has its buffer of the
    /// driver.
    #[must_use]
    pub fn held(&self) -> usize {
        let held = |slot: &Slot| match &slot.kind {
            Kind::Udp(socket) => socket.waiting(),
            Kind::Free => 0,
        };
        self.slots.iter().map(held).sum()
    }

    pub(super) fn mark(&mut self, program: Program) {
        let at = usize::from(program.0);
        if self.changed.len() <= at {
            self.changed.resize(at + 1, false);
        }
        self.changed[at] = true;
    }

    /// Gives what smoltcp has written to the driver.
    fn hand_over(&mut self, lower: &mut dyn Lower) {
        let len = core::mem::take(&mut self.out.len);
        if len > 0 && lower.send(&self.out.bytes[..len]) {
            self.counters.sent += 1;
        }
    }

    /// A handle for something of a program.
    pub(super) fn slot(&mut self, program: Program, kind: Kind) -> Result<Handle, SocketError> {
        let free = self.slots.iter().position(|it| matches!(it.kind, Kind::Free));
        let at = free.unwrap_or(self.slots.len());
        if at >= usize::from(self.stack.sockets) {
            return Err(SocketError::NoSocket);
        }
        let slot = Slot { program, kind };
        match self.slots.get_mut(at) {
            Some(free) => *free = slot,
            None => self.slots.push(slot),
        }
        Ok(Handle(at as u16))
    }

    /// A port that no socket has, from a random one on.
    pub(super) fn port(&mut self, taken: impl Fn(&Self, u16) -> bool) -> Option<u16> {
        let span = u32::from(u16::MAX - FIRST_PORT) + 1;
        let first = (self.random.bits() >> 32) as u32 % span;
        (0..span).map(|n| FIRST_PORT + ((first + n) % span) as u16).find(|&port| !taken(self, port))
    }
}

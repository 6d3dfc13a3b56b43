//! UDP sockets with a mailbox.

use super::fragments::LONGEST_PACKET;
use super::stack::Stack;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use espbench_model::time::Instant;
use espbench_proto::node::app::{Endpoint, ReceivedDatagram};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{IpAddress, IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, UdpPacket, UdpRepr};

/// The longest payload of a datagram, with the headers of IPv4 and UDP.
pub(super) const LONGEST: usize = LONGEST_PACKET - HEADERS;
/// The bytes of the headers of IPv4 and UDP.
pub(super) const HEADERS: usize = 28;

/// The bytes beyond the payload that Linux charges a socket's buffer for a datagram: the structure
/// and the slack of its page (`SKB_TRUESIZE`).
const CHARGE: u32 = 768;

/// A datagram in the mailbox.
#[derive(Debug)]
struct QueuedDatagram {
    from: Endpoint,
    at: Option<Instant>,
    bytes: Vec<u8>,
}

/// A UDP socket.
#[derive(Debug)]
pub(super) struct UdpSocket {
    pub(super) port: u16,
    queue: VecDeque<QueuedDatagram>,
    /// The bytes charged for the waiting datagrams.
    charged: u32,
    /// Buffers for reuse.
    free: Vec<Vec<u8>>,
}

impl UdpSocket {
    pub(super) const fn new(port: u16) -> Self {
        Self { port, queue: VecDeque::new(), charged: 0, free: Vec::new() }
    }

    /// Puts a datagram into the mailbox; returns false if it is dropped.
    pub(super) fn put(
        &mut self,
        stack: &Stack,
        from: Endpoint,
        at: Option<Instant>,
        payload: &[u8],
    ) -> bool {
        let charge = CHARGE + payload.len() as u32;
        let full = stack.udp_mailbox > 0 && self.queue.len() >= usize::from(stack.udp_mailbox)
            || stack.udp_buffer > 0 && self.charged + charge > stack.udp_buffer;
        if full {
            return false;
        }
        let mut bytes = self.free.pop().unwrap_or_default();
        bytes.clear();
        bytes.extend_from_slice(payload);
        self.charged += charge;
        self.queue.push_back(QueuedDatagram { from, at, bytes });
        true
    }

    /// Takes the oldest datagram, cut to the length of `buf`.
    pub(super) fn take(&mut self, buf: &mut [u8]) -> Option<ReceivedDatagram> {
        let QueuedDatagram { from, at, bytes } = self.queue.pop_front()?;
        let (whole, len) = (bytes.len(), bytes.len().min(buf.len()));
        buf[..len].copy_from_slice(&bytes[..len]);
        self.charged -= CHARGE + whole as u32;
        self.free.push(bytes);
        Some(ReceivedDatagram { len, from, stamped: at })
    }

    /// Returns the number of waiting datagrams.
    pub(super) fn waiting(&self) -> usize {
        self.queue.len()
    }

    /// Returns the bytes of the waiting packets, with their headers.
    pub(super) fn bytes(&self) -> u32 {
        let waiting = self.queue.len() as u32;
        self.charged - CHARGE * waiting + HEADERS as u32 * waiting
    }
}

/// Writes a datagram's packet and returns its length.
pub(super) fn emit(out: &mut [u8], from: Endpoint, to: Endpoint, payload: &[u8]) -> usize {
    let (src, dst) = (Ipv4Address::from(from.address), Ipv4Address::from(to.address));
    let udp = UdpRepr { src_port: from.port, dst_port: to.port };
    let ip = Ipv4Repr {
        src_addr: src,
        dst_addr: dst,
        next_header: IpProtocol::Udp,
        payload_len: 8 + payload.len(),
        hop_limit: 64,
    };
    let len = HEADERS + payload.len();
    let out = &mut out[..len];
    let ignored = ChecksumCapabilities::ignored();
    let mut packet = Ipv4Packet::new_unchecked(&mut *out);
    ip.emit(&mut packet, &ignored);
    udp.emit(
        &mut UdpPacket::new_unchecked(packet.payload_mut()),
        &IpAddress::Ipv4(src),
        &IpAddress::Ipv4(dst),
        payload.len(),
        |to| to.copy_from_slice(payload),
        &ignored,
    );
    len
}

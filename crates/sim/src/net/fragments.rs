//! Fragments of IPv4 (RFC 791 section 3.2): a packet that is longer than a frame goes in pieces, and
//! pieces become a packet again, as lwIP does it (`ip4_frag.c`).

use super::device::MTU;
use super::lower::NetDriver;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::time::Instant;
use smoltcp::wire::Ipv4Packet;

/// The bytes of a header without options.
const HEADER: usize = 20;

/// The bytes of a fragment's payload: as many as fit a frame, a multiple of 8.
const PAYLOAD: usize = (MTU - HEADER) / 8 * 8;

/// The longest packet.
pub(super) const LONGEST_PACKET: usize = 0xFFFF;

/// The time after which an incomplete packet is given up (`IP_REASS_MAXAGE` of lwIP).
pub const REASSEMBLY_AGE: Duration = Duration::from_secs(15);

/// The identity of a packet whose fragments come: source, destination, identification, protocol.
type FragmentKey = ([u8; 4], [u8; 4], u16, u8);

/// A packet of which fragments have come.
#[derive(Debug)]
struct Assembly {
    key: FragmentKey,
    since: Instant,
    /// The header of the first fragment.
    header: Option<[u8; HEADER]>,
    /// Payloads by their offsets, in order.
    parts: Vec<(usize, Vec<u8>)>,
    /// The length of the whole payload, once the last fragment has come.
    whole: Option<usize>,
}

impl Assembly {
    /// Keeps a fragment; returns whether it fits those that are there.
    fn keep(&mut self, offset: usize, payload: &[u8], last: bool) -> bool {
        let end = offset + payload.len();
        let at = self.parts.partition_point(|it| it.0 < offset);
        let after = self.parts.get(at).is_none_or(|it| end <= it.0);
        let before = at == 0 || self.parts[at - 1].0 + self.parts[at - 1].1.len() <= offset;
        let beyond = match self.whole {
            Some(whole) => end > whole || last,
            None => last && self.parts.last().is_some_and(|it| it.0 + it.1.len() > end),
        };
        if !after || !before || beyond {
            return false;
        }
        self.parts.insert(at, (offset, payload.to_vec()));
        self.whole = self.whole.or(last.then_some(end));
        true
    }

    /// Returns the packet, if it is complete.
    fn packet(&self) -> Option<Vec<u8>> {
        let (header, whole) = (self.header?, self.whole?);
        if self.parts.iter().map(|it| it.1.len()).sum::<usize>() != whole {
            return None;
        }
        let mut packet = header.to_vec();
        self.parts.iter().for_each(|it| packet.extend_from_slice(&it.1));
        let total = (HEADER + whole) as u16;
        packet[2..4].copy_from_slice(&total.to_be_bytes());
        packet[6..8].fill(0);
        Some(packet)
    }
}

/// Fragments that wait for the others of their packets.
#[derive(Debug, Default)]
pub(super) struct Reassembler {
    /// The oldest one first.
    open: Vec<Assembly>,
}

/// The fate of a fragment.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FragmentFate {
    /// The fragment was the missing one of this packet.
    Whole(Vec<u8>),
    /// The fragment waits.
    Waits,
    /// The fragment was dropped: there is no room, or it does not fit the others.
    Dropped,
}

impl Reassembler {
    /// Returns the number of fragments that wait.
    pub(super) fn held(&self) -> usize {
        self.open.iter().map(|it| it.parts.len()).sum()
    }

    /// Returns when the oldest packet is given up.
    pub(super) fn wait(&self) -> Option<Instant> {
        self.open.first().map(|it| it.since + REASSEMBLY_AGE)
    }

    /// Gives up packets that are too old; returns how many.
    pub(super) fn expire(&mut self, now: Instant) -> u64 {
        let before = self.open.len();
        self.open.retain(|it| now.since(it.since) < REASSEMBLY_AGE);
        (before - self.open.len()) as u64
    }

    /// Takes a fragment. At most `most` of them wait: for a new one the oldest packets are given up
    /// (`ip_reass_free_complete_datagram`, `IP_REASS_FREE_OLDEST`), which `given_up` counts.
    pub(super) fn take(
        &mut self,
        now: Instant,
        ip: &Ipv4Packet<&[u8]>,
        most: usize,
        given_up: &mut u64,
    ) -> FragmentFate {
        let offset = usize::from(ip.frag_offset());
        let payload = ip.payload();
        let uneven = ip.more_frags() && !payload.len().is_multiple_of(8);
        let is_plain = usize::from(ip.header_len()) == HEADER && !payload.is_empty() && !uneven;
        if !is_plain || HEADER + offset + payload.len() > LONGEST_PACKET {
            return FragmentFate::Dropped;
        }
        let protocol = u8::from(ip.next_header());
        let key = (ip.src_addr().octets(), ip.dst_addr().octets(), ip.ident(), protocol);
        while self.held() >= most {
            let Some(oldest) = self.open.iter().position(|it| it.key != key) else {
                return FragmentFate::Dropped;
            };
            self.open.remove(oldest);
            *given_up += 1;
        }
        let at = self.open.iter().position(|it| it.key == key).unwrap_or_else(|| {
            let (header, parts) = (None, Vec::new());
            self.open.push(Assembly { key, since: now, header, parts, whole: None });
            self.open.len() - 1
        });
        let assembly = &mut self.open[at];
        let kept = assembly.keep(offset, payload, !ip.more_frags());
        if kept && offset == 0 {
            let mut header = [0; HEADER];
            header.copy_from_slice(&ip.as_ref()[..HEADER]);
            assembly.header = Some(header);
        }
        match assembly.packet() {
            Some(packet) => {
                self.open.remove(at);
                FragmentFate::Whole(packet)
            }
            None if kept => FragmentFate::Waits,
            None => {
                if assembly.parts.is_empty() {
                    self.open.remove(at);
                }
                FragmentFate::Dropped
            }
        }
    }
}

/// Returns the number of packets that a packet of so many bytes is sent in.
pub(super) const fn pieces(len: usize) -> usize {
    if len <= MTU { 1 } else { (len - HEADER).div_ceil(PAYLOAD) }
}

/// Sends a packet, in fragments if it is longer than a frame; returns whether the driver took all.
/// Where it takes some only, the others are not sent, as in lwIP (`ip4_frag`).
pub(super) fn send(lower: &mut dyn NetDriver, packet: &[u8], ident: u16) -> bool {
    if packet.len() <= MTU {
        return lower.send(packet);
    }
    let (header, payload) = packet.split_at(HEADER);
    let mut piece = Vec::with_capacity(MTU);
    for (number, part) in payload.chunks(PAYLOAD).enumerate() {
        let offset = number * PAYLOAD / 8;
        let is_last = number * PAYLOAD + part.len() == payload.len();
        let more = if is_last { 0 } else { 0x2000 };
        piece.clear();
        piece.extend_from_slice(header);
        piece.extend_from_slice(part);
        piece[2..4].copy_from_slice(&((HEADER + part.len()) as u16).to_be_bytes());
        piece[4..6].copy_from_slice(&ident.to_be_bytes());
        piece[6..8].copy_from_slice(&(more | offset as u16).to_be_bytes());
        if !lower.send(&piece) {
            return false;
        }
    }
    true
}

/// The bytes of the headers of IPv4 and of an echo message.
pub(super) const ECHO_HEADERS: usize = HEADER + 8;

/// Returns an ICMP echo request (RFC 792) with so many bytes, filled as lwIP's ping has them (`ping_sock.c`:
/// `A` and on).
pub(super) fn echo_request(
    from: [u8; 4],
    to: [u8; 4],
    (ident, seq): (u16, u16),
    size: usize,
) -> Vec<u8> {
    let len = (ECHO_HEADERS + size) as u16;
    let mut packet = Vec::with_capacity(usize::from(len));
    packet.extend_from_slice(&[0x45, 0]);
    packet.extend_from_slice(&len.to_be_bytes());
    packet.extend_from_slice(&[0, 0, 0, 0, 64, 1, 0, 0]);
    packet.extend_from_slice(&from);
    packet.extend_from_slice(&to);
    packet.extend_from_slice(&[8, 0, 0, 0]);
    packet.extend_from_slice(&ident.to_be_bytes());
    packet.extend_from_slice(&seq.to_be_bytes());
    packet.extend((0..size).map(|at| b'A'.wrapping_add(at as u8)));
    packet
}

/// Makes the reply of an ICMP echo request to that address; `None` where the packet is none.
pub(super) fn echo_reply(mut packet: Vec<u8>, own: [u8; 4]) -> Option<Vec<u8>> {
    const ICMP: u8 = 1;
    let is_request = packet.len() >= HEADER + 8
        && packet[0] == 0x45
        && packet[9] == ICMP
        && packet[16..20] == own
        && packet[HEADER..HEADER + 2] == [8, 0];
    if !is_request {
        return None;
    }
    packet.copy_within(12..16, 16);
    packet[12..16].copy_from_slice(&own);
    packet[8] = 64;
    packet[HEADER] = 0;
    Some(packet)
}

//! Reading and rewriting of TCP headers.

use espbench_proto::node::app::Endpoint;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, TcpPacket, TcpSeqNumber};

/// The length of the headers of IPv4 and TCP without options.
pub(super) const HEADERS: usize = 40;
/// The offset of the TCP header in a packet written by smoltcp, which has no IPv4 options.
const TCP: usize = 20;

/// The header of a segment.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct SegmentHeader {
    pub(in super::super) from: Endpoint,
    pub(in super::super) port: u16,
    pub(super) seq: u32,
    pub(super) ack: u32,
    pub(super) window: u16,
    pub(super) syn: bool,
    pub(super) fin: bool,
    pub(super) rst: bool,
    pub(super) has_ack: bool,
    /// The bytes of payload.
    pub(super) len: u32,
}

impl SegmentHeader {
    /// Reads a packet's header; returns `None` if the packet is no valid TCP segment.
    pub(in super::super) fn read(ip: &Ipv4Packet<&[u8]>) -> Option<Self> {
        let tcp = TcpPacket::new_checked(ip.payload()).ok()?;
        let from = Endpoint::new(ip.src_addr().octets(), tcp.src_port());
        let port = tcp.dst_port();
        if from.port == 0 || port == 0 || !ip.src_addr().is_unicast_like() {
            return None;
        }
        Some(Self {
            from,
            port,
            seq: tcp.seq_number().0 as u32,
            ack: tcp.ack_number().0 as u32,
            window: tcp.window_len(),
            syn: tcp.syn(),
            fin: tcp.fin(),
            rst: tcp.rst(),
            has_ack: tcp.ack(),
            len: tcp.payload().len() as u32,
        })
    }

    /// Returns whether the segment opens a connection.
    pub(in super::super) const fn is_syn(&self) -> bool {
        self.syn && !self.has_ack && !self.rst && !self.fin
    }

    /// Returns the number of sequence numbers that the segment occupies.
    pub(super) const fn segment_len(&self) -> u32 {
        self.len + self.syn as u32 + self.fin as u32
    }
}

trait Unicast {
    fn is_unicast_like(&self) -> bool;
}

impl Unicast for Ipv4Address {
    fn is_unicast_like(&self) -> bool {
        !self.is_unspecified() && !self.is_multicast() && !self.is_broadcast()
    }
}

/// Returns whether an endpoint can be connected to.
pub(in super::super) fn addressable(to: Endpoint) -> bool {
    to.port != 0 && Ipv4Address::from(to.address).is_unicast_like()
}

/// The options of a SYN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SynOptions {
    /// The maximum segment size of its sender; RFC 9293 section 3.7.1: 536 if it is missing.
    pub(super) mss: Option<u16>,
    /// The window scale of its sender.
    pub(super) shift: Option<u8>,
}

/// Reads the options of a SYN and rewrites them: the segment size is at most `mss`, selective
/// acknowledgements are removed, and so is the window scale unless `scales`. Padding takes the
/// place of a removed option.
pub(super) fn options(tcp_header: &mut [u8], mss: u16, scales: bool) -> SynOptions {
    let mut offer = SynOptions::default();
    let mut at = 20;
    while at < tcp_header.len() {
        let kind = tcp_header[at];
        match kind {
            0 => break,
            1 => at += 1,
            _ => {
                let Some(&len) = tcp_header.get(at + 1) else { break };
                let Some(option) = tcp_header.get_mut(at..at + usize::from(len)) else { break };
                match (kind, &mut *option) {
                    (_, [] | [_]) => break,
                    (2, [_, _, high, low]) => {
                        let theirs = u16::from_be_bytes([*high, *low]);
                        offer.mss = Some(theirs);
                        [*high, *low] = theirs.min(mss).to_be_bytes();
                    }
                    (3, [_, _, shift]) if scales => offer.shift = Some(*shift),
                    (3 | 4, padding) => padding.fill(1),
                    _ => {}
                }
                at += usize::from(len);
            }
        }
    }
    offer
}

/// Returns the TCP header with its options in a packet written by smoltcp.
pub(super) fn tcp_header_mut(packet: &mut [u8]) -> Option<&mut [u8]> {
    let tcp = packet.get_mut(TCP..)?;
    let len = usize::from(TcpPacket::new_checked(&*tcp).ok()?.header_len());
    tcp.get_mut(..len)
}

/// A forged packet of a connection's peer, which makes smoltcp's socket act.
#[derive(Clone, Debug)]
pub(super) struct ForgedPacket([u8; HEADERS + 1]);

impl ForgedPacket {
    pub(super) fn new(from: Endpoint, to: Endpoint) -> Self {
        let mut bytes = [0; HEADERS + 1];
        let ip = Ipv4Repr {
            src_addr: Ipv4Address::from(from.address),
            dst_addr: Ipv4Address::from(to.address),
            next_header: IpProtocol::Tcp,
            payload_len: 21,
            hop_limit: 64,
        };
        let mut packet = Ipv4Packet::new_unchecked(&mut bytes[..]);
        ip.emit(&mut packet, &ChecksumCapabilities::ignored());
        let mut tcp = TcpPacket::new_unchecked(packet.payload_mut());
        tcp.set_src_port(from.port);
        tcp.set_dst_port(to.port);
        tcp.clear_flags();
        tcp.set_header_len(20);
        tcp.set_ack(true);
        Self(bytes)
    }

    /// Returns an acknowledgement of `ack`.
    pub(super) fn acknowledgement(&mut self, seq: u32, ack: u32, window: u16) -> &[u8] {
        self.fill(seq, ack, window, HEADERS)
    }

    /// Returns a keep-alive, the byte before `seq` once more, which must be answered with an
    /// acknowledgement (RFC 9293 section 3.8.4).
    pub(super) fn keep_alive(&mut self, seq: u32, ack: u32, window: u16) -> &[u8] {
        self.fill(seq.wrapping_sub(1), ack, window, HEADERS + 1)
    }

    fn fill(&mut self, seq: u32, ack: u32, window: u16, len: usize) -> &[u8] {
        let mut packet = Ipv4Packet::new_unchecked(&mut self.0[..]);
        packet.set_total_len(len as u16);
        let mut tcp = TcpPacket::new_unchecked(&mut self.0[TCP..]);
        tcp.set_seq_number(TcpSeqNumber(seq as i32));
        tcp.set_ack_number(TcpSeqNumber(ack as i32));
        tcp.set_window_len(window);
        &self.0[..len]
    }
}

//! Segments: reading those that come, and writing those that go.

use espbench_proto::node::app::Endpoint;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    IpProtocol, Ipv4Address, Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber,
};

/// The length of a header of IPv4 without options.
const IP: usize = 20;
/// The length of a header of TCP without options.
const TCP: usize = 20;
/// The length of a SYN's options.
const OPTIONS: usize = 12;

/// A segment that has come.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Segment<'a> {
    pub(in super::super) from: Endpoint,
    pub(in super::super) port: u16,
    /// The sequence number (SEG.SEQ).
    pub(super) seq: u32,
    /// The acknowledgement number (SEG.ACK), of a segment that has one.
    pub(super) ack: Option<u32>,
    /// The window as in the header (SEG.WND).
    pub(super) window: u16,
    pub(super) syn: bool,
    pub(super) fin: bool,
    pub(super) rst: bool,
    /// The maximum segment size of its sender.
    pub(super) mss: Option<u16>,
    /// The window scale of its sender.
    pub(super) shift: Option<u8>,
    pub(super) text: &'a [u8],
}

impl<'a> Segment<'a> {
    /// Reads a packet; returns `None` if it is no valid TCP segment.
    pub(in super::super) fn read(ip: &Ipv4Packet<&'a [u8]>) -> Option<Self> {
        let tcp = TcpPacket::new_checked(ip.payload()).ok()?;
        let (src, dst) = (ip.src_addr(), ip.dst_addr());
        // Nothing here changes a bit: the lab loses whole packets.
        let unchecked = ChecksumCapabilities::ignored();
        let repr = TcpRepr::parse(&tcp, &src.into(), &dst.into(), &unchecked).ok()?;
        src.is_unicast_like().then_some(Self {
            from: Endpoint::new(src.octets(), repr.src_port),
            port: repr.dst_port,
            seq: repr.seq_number.0 as u32,
            ack: repr.ack_number.map(|it| it.0 as u32),
            window: repr.window_len,
            syn: repr.control == TcpControl::Syn,
            fin: repr.control == TcpControl::Fin,
            rst: repr.control == TcpControl::Rst,
            mss: repr.max_seg_size,
            shift: repr.window_scale,
            text: repr.payload,
        })
    }

    /// Returns whether the segment opens a connection.
    pub(in super::super) const fn is_syn(&self) -> bool {
        self.syn && self.ack.is_none()
    }

    /// Returns the bytes of text.
    pub(super) const fn len(&self) -> u32 {
        self.text.len() as u32
    }

    /// Returns whether the segment occupies no sequence number: a bare acknowledgement.
    pub(super) const fn is_bare(&self) -> bool {
        self.text.is_empty() && !self.syn && !self.fin && !self.rst
    }

    /// Returns the sequence number behind the text.
    pub(super) const fn end(&self) -> u32 {
        self.seq.wrapping_add(self.len())
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

/// The options of a SYN that goes out.
#[derive(Clone, Copy, Debug)]
pub(super) struct SynOptions {
    pub(super) mss: u16,
    pub(super) shift: Option<u8>,
    /// Whether padding takes the place of options that are not offered: as of a SYN, and not of its
    /// answer.
    pub(super) padded: bool,
}

impl SynOptions {
    /// Writes the options; returns their length.
    fn write(&self, out: &mut [u8; OPTIONS]) -> usize {
        *out = [1; OPTIONS];
        let [high, low] = self.mss.to_be_bytes();
        out[..4].copy_from_slice(&[2, 4, high, low]);
        if let Some(shift) = self.shift {
            out[4..7].copy_from_slice(&[3, 3, shift]);
        }
        match self.shift {
            _ if self.padded => OPTIONS,
            Some(_) => 8,
            None => 4,
        }
    }
}

/// The header of a segment that goes out.
#[derive(Clone, Copy, Debug)]
pub(super) struct TcpHeader {
    pub(super) from: Endpoint,
    pub(super) to: Endpoint,
    pub(super) seq: u32,
    pub(super) ack: Option<u32>,
    pub(super) window: u16,
    pub(super) control: TcpControl,
    pub(super) options: Option<SynOptions>,
}

impl TcpHeader {
    /// Writes the headers of IPv4 and TCP before a text of `len` bytes; returns the place of the
    /// text. `out` has room for both.
    pub(super) fn write(&self, out: &mut [u8], len: usize) -> usize {
        let mut options = [0; OPTIONS];
        let options = match &self.options {
            Some(them) => {
                let len = them.write(&mut options);
                &options[..len]
            }
            None => &[],
        };
        let head = TCP + options.len();
        let ip = Ipv4Repr {
            src_addr: Ipv4Address::from(self.from.address),
            dst_addr: Ipv4Address::from(self.to.address),
            next_header: IpProtocol::Tcp,
            payload_len: head + len,
            hop_limit: 64,
        };
        let mut packet = Ipv4Packet::new_unchecked(&mut out[..IP + head + len]);
        ip.emit(&mut packet, &ChecksumCapabilities::ignored());
        out[IP + TCP..IP + head].copy_from_slice(options);
        let mut tcp = TcpPacket::new_unchecked(&mut out[IP..]);
        tcp.set_src_port(self.from.port);
        tcp.set_dst_port(self.to.port);
        tcp.set_seq_number(TcpSeqNumber(self.seq as i32));
        tcp.set_ack_number(TcpSeqNumber(self.ack.unwrap_or(0) as i32));
        tcp.set_window_len(self.window);
        tcp.clear_flags();
        tcp.set_header_len(head as u8);
        tcp.set_ack(self.ack.is_some());
        match self.control {
            TcpControl::None => {}
            TcpControl::Psh => tcp.set_psh(true),
            TcpControl::Syn => tcp.set_syn(true),
            TcpControl::Fin => tcp.set_fin(true),
            TcpControl::Rst => tcp.set_rst(true),
        }
        tcp.set_checksum(0);
        tcp.set_urgent_at(0);
        IP + head
    }
}

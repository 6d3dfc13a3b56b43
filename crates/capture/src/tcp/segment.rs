//! Headers of IP (RFC 791, RFC 8200) and TCP (RFC 9293), as far as an analysis needs them.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Extension headers of IPv6 that are passed over: hop by hop, routing, destination options.
const EXTENSIONS: [u8; 3] = [0, 43, 60];
const FRAGMENT: u8 = 44;

/// The most extension headers.
const MOST_EXTENSIONS: usize = 8;

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpPacket<'a> {
    /// Source.
    pub from: IpAddr,
    /// Destination.
    pub to: IpAddr,
    /// Protocol: 6 is TCP.
    pub protocol: u8,
    /// Octets of the payload that the packet had.
    pub octets: usize,
    /// Whether it is a fragment behind the first.
    pub is_later_fragment: bool,
    /// Octets of the payload that were captured.
    pub payload: &'a [u8],
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_be_bytes)
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_be_bytes)
}

impl<'a> IpPacket<'a> {
    /// Parses a packet; `None` where it is shorter than its header, or of another version.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        match bytes.first()? >> 4 {
            4 => Self::version_4(bytes),
            6 => Self::version_6(bytes),
            _ => None,
        }
    }

    fn version_4(bytes: &'a [u8]) -> Option<Self> {
        let head = usize::from(bytes.first()? & 0x0F) * 4;
        if head < 20 {
            return None;
        }
        let address =
            |at: usize| bytes.get(at..)?.first_chunk().copied().map(Ipv4Addr::from_octets);
        // With segmentation by the card the length is 0.
        let total = match usize::from(half(bytes, 2)?) {
            0 => bytes.len(),
            total => total,
        };
        let octets = total.checked_sub(head)?;
        let captured = bytes.get(head..)?;
        Some(Self {
            from: IpAddr::V4(address(12)?),
            to: IpAddr::V4(address(16)?),
            protocol: *bytes.get(9)?,
            octets,
            is_later_fragment: half(bytes, 6)? & 0x1FFF != 0,
            payload: captured.get(..octets).unwrap_or(captured),
        })
    }

    fn version_6(bytes: &'a [u8]) -> Option<Self> {
        let address =
            |at: usize| bytes.get(at..)?.first_chunk().copied().map(Ipv6Addr::from_octets);
        let mut octets = usize::from(half(bytes, 4)?);
        if octets == 0 {
            octets = bytes.len().saturating_sub(40);
        }
        let captured = bytes.get(40..)?;
        let mut payload = captured.get(..octets).unwrap_or(captured);
        let (mut protocol, mut is_later_fragment) = (*bytes.get(6)?, false);
        for _ in 0..MOST_EXTENSIONS {
            let length = match protocol {
                FRAGMENT => {
                    is_later_fragment |= half(payload, 2)? & 0xFFF8 != 0;
                    8
                }
                it if EXTENSIONS.contains(&it) => (usize::from(*payload.get(1)?) + 1) * 8,
                _ => break,
            };
            protocol = *payload.first()?;
            payload = payload.get(length..)?;
            octets = octets.checked_sub(length)?;
        }
        let (from, to) = (IpAddr::V6(address(8)?), IpAddr::V6(address(24)?));
        Some(Self { from, to, protocol, octets, is_later_fragment, payload })
    }
}

/// Flags of a segment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpFlags(pub u8);

impl TcpFlags {
    /// No more data comes.
    pub const FIN: u8 = 1;
    /// Opens the connection.
    pub const SYN: u8 = 2;
    /// Ends the connection at once.
    pub const RST: u8 = 4;
    /// Acknowledges.
    pub const ACK: u8 = 16;

    /// Returns whether one of these flags is set.
    #[must_use]
    pub const fn has(self, flags: u8) -> bool {
        self.0 & flags != 0
    }
}

/// A segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSegment<'a> {
    /// Port of the sender.
    pub source: u16,
    /// Port of the receiver.
    pub destination: u16,
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgement number; 0 without the flag.
    pub acknowledgement: u32,
    /// Flags.
    pub flags: TcpFlags,
    /// Window, as the header has it.
    pub window: u16,
    /// Octets of data.
    pub length: u32,
    /// Options.
    pub options: &'a [u8],
}

impl<'a> TcpSegment<'a> {
    /// Parses the segment of a packet; `None` where it is shorter than its header.
    #[must_use]
    pub fn parse(packet: &IpPacket<'a>) -> Option<Self> {
        let bytes = packet.payload;
        let flags = TcpFlags(*bytes.get(13)?);
        let head = usize::from(bytes.get(12)? >> 4) * 4;
        let length = packet.octets.checked_sub(head).filter(|_| head >= 20)?;
        let acknowledgement = word(bytes, 8)?;
        let window = half(bytes, 14)?;
        Some(Self {
            source: half(bytes, 0)?,
            destination: half(bytes, 2)?,
            sequence: word(bytes, 4)?,
            acknowledgement: if flags.has(TcpFlags::ACK) { acknowledgement } else { 0 },
            flags,
            window,
            length: length as u32,
            options: bytes.get(20..head.min(bytes.len())).unwrap_or_default(),
        })
    }

    /// Returns the value of an option: 2 is the MSS, 3 the scale of windows, 5 SACK.
    #[must_use]
    pub fn option(&self, wanted: u8) -> Option<&'a [u8]> {
        let mut rest = self.options;
        loop {
            match rest {
                [0, ..] | [] => return None,
                [1, after @ ..] => rest = after,
                [kind, length, ..] => {
                    let option = rest.get(..usize::from(*length))?;
                    let value = option.get(2..)?;
                    if *kind == wanted {
                        return Some(value);
                    }
                    rest = rest.get(option.len()..)?;
                }
                [_] => return None,
            }
        }
    }
}

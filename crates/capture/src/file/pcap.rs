//! The format of libpcap (draft-ietf-opsawg-pcap).
//!
//! | offset | bytes | of the file's header |
//! |---|---|---|
//! | 0 | 4 | magic number: its order of bytes is the file's, its value the resolution of time |
//! | 4 | 4 | version 2.4 |
//! | 8 | 8 | 0 |
//! | 16 | 4 | longest packet |
//! | 20 | 4 | link type in the lower 16 bits; bit 26: the upper four tell the length of the FCS, in units of 16 bits |
//!
//! | offset | bytes | of a packet's record |
//! |---|---|---|
//! | 0 | 4 | seconds since 1970 |
//! | 4 | 4 | micro- or nanoseconds |
//! | 8 | 4 | bytes that follow |
//! | 12 | 4 | octets that the packet had |

use super::{
    CaptureError, CaptureFault, CaptureReader, CapturedPacket, LinkType, MOST_PACKET, Sink, word,
};

pub(super) const HEAD_LEN: usize = 24;
const RECORD_LEN: usize = 16;
const FCS_IS_TOLD: u32 = 1 << 26;

/// Facts in a file's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PcapHead {
    swapped: bool,
    nanoseconds: bool,
    link: LinkType,
    fcs: Option<u8>,
}

/// Returns whether a file with this magic number has the other order of bytes, and counts nanoseconds; `None` for
/// another file.
pub(super) const fn order(magic: u32) -> Option<(bool, bool)> {
    match magic {
        0xA1B2_C3D4 => Some((false, false)),
        0xA1B2_3C4D => Some((false, true)),
        0xD4C3_B2A1 => Some((true, false)),
        0x4D3C_B2A1 => Some((true, true)),
        _ => None,
    }
}

impl PcapHead {
    /// Parses the header; `None` where it is not whole.
    pub(super) fn parse(data: &[u8]) -> Option<Self> {
        let (swapped, nanoseconds) = order(word(data, 0, false)?)?;
        let network = word(data, 20, swapped)?;
        let link = LinkType::of((network & 0xFFFF) as u16);
        let fcs = (network & FCS_IS_TOLD != 0).then_some((network >> 28) as u8 * 2);
        Some(Self { swapped, nanoseconds, link, fcs })
    }
}

impl CaptureReader {
    /// Reads a packet's record, and returns its length; `None` where more bytes are needed.
    pub(super) fn record(
        &mut self,
        data: &[u8],
        head: PcapHead,
        sink: &mut Sink<'_>,
    ) -> Result<Option<usize>, CaptureError> {
        let Some(record) = data.first_chunk::<RECORD_LEN>() else { return Ok(None) };
        let part = |at: usize| word(record, at, head.swapped).unwrap_or_default();
        let kept = part(8) as usize;
        if kept > MOST_PACKET {
            return Err(self.wrong(CaptureFault::Length));
        }
        let Some(bytes) = data.get(RECORD_LEN..RECORD_LEN + kept) else { return Ok(None) };
        let fraction = u64::from(part(4)) * if head.nanoseconds { 1 } else { 1000 };
        let at_ns = u64::from(part(0)) * 1_000_000_000 + fraction;
        self.packets += 1;
        sink(&CapturedPacket {
            number: self.packets,
            at_ns: Some(at_ns),
            interface: 0,
            link: head.link,
            octets: part(12),
            bad: false,
            fcs: head.fcs,
            simulated: false,
            bytes,
        });
        Ok(Some(RECORD_LEN + kept))
    }
}

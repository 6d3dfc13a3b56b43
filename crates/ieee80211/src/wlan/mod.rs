//! Frames of an infrastructure network, as captures show them (IEEE Std 802.11-2020, 9.3): control
//! frames, data frames with LLC and SNAP, and the frames by which a station joins. Beacons are in
//! [`beacon`](super::beacon).
//!
//! | control frame | clause | bytes after frame control and duration, before the FCS |
//! |---|---|---|
//! | RTS | 9.3.1.2 | receiver, transmitter |
//! | CTS | 9.3.1.3 | receiver |
//! | PS-Poll | 9.3.1.5 | BSSID, transmitter; its "duration" is the AID with the two top bits set |
//! | block ack request | 9.3.1.7 | receiver, transmitter, BAR control, starting sequence control |
//! | block ack | 9.3.1.8 | receiver, transmitter, BA control, starting sequence control, bitmap of 8 |
//!
//! A data frame (9.3.2.1) has the header of [`mpdu`](crate::mpdu), QoS Control in QoS
//! frames, LLC and SNAP (`AA AA 03 00 00 00`, RFC 1042), the EtherType, and the packet.

mod join;
#[cfg(test)]
mod tests;

pub use join::{Eapol, ManagementFrame, ManagementKind};

use crate::mac::Mac;
use crate::mpdu::{FCS_LEN, FrameControl, HEADER_LEN, MacHeader, append_fcs};

/// LLC and SNAP of an encapsulated Ethernet packet, before its EtherType.
pub const LLC_SNAP: [u8; 6] = [0xAA, 0xAA, 3, 0, 0, 0];
/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of EAPOL (IEEE Std 802.1X-2020, table 11-1).
pub const EAPOL: u16 = 0x888E;
/// BA control: compressed bitmap, normal ack policy, TID 0 (9.3.1.7.1, 9.3.1.8.1).
const COMPRESSED: u16 = 0x0004;

/// Bits of the frame control field (9.2.4.1).
const TO_DS: u16 = 1 << 8;
const FROM_DS: u16 = 1 << 9;
const POWER_MANAGEMENT: u16 = 1 << 12;
const MORE_DATA: u16 = 1 << 13;
const QOS: u16 = 0x0080;

/// A control frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlFrame {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Block acknowledgement request.
    BlockAckRequest {
        /// Starting sequence number.
        start: u16,
    },
    /// Compressed block acknowledgement.
    BlockAck {
        /// Starting sequence number.
        start: u16,
        /// Bit `n` acknowledges the number `start + n`.
        bitmap: u64,
    },
    /// Power save poll.
    PsPoll {
        /// Association identifier.
        aid: u16,
    },
}

impl ControlFrame {
    /// Length of the longest frame, in bytes with its FCS.
    pub const LONGEST: usize = 32;

    /// Writes the frame with its FCS and returns its length; `None` if `buf` is too short.
    pub fn emit(self, duration: u16, to: Mac, from: Mac, buf: &mut [u8]) -> Option<usize> {
        let (control, duration) = match self {
            Self::Rts => (0x00B4_u16, duration),
            Self::Cts => (0x00C4, duration),
            Self::BlockAckRequest { .. } => (0x0084, duration),
            Self::BlockAck { .. } => (0x0094, duration),
            Self::PsPoll { aid } => (0x00A4 | POWER_MANAGEMENT, 0xC000 | aid),
        };
        let mut out = FrameWriter { buf, at: 0 };
        out.put(&control.to_le_bytes())?;
        out.put(&duration.to_le_bytes())?;
        out.put(&to.0)?;
        if self != Self::Cts {
            out.put(&from.0)?;
        }
        match self {
            Self::BlockAckRequest { start } => {
                out.put(&COMPRESSED.to_le_bytes())?;
                out.put(&(start << 4).to_le_bytes())?;
            }
            Self::BlockAck { start, bitmap } => {
                out.put(&COMPRESSED.to_le_bytes())?;
                out.put(&(start << 4).to_le_bytes())?;
                out.put(&bitmap.to_le_bytes())?;
            }
            Self::Rts | Self::Cts | Self::PsPoll { .. } => {}
        }
        let len = out.at;
        append_fcs(buf, len)
    }
}

/// Writer that appends bytes to a buffer.
struct FrameWriter<'a> {
    buf: &'a mut [u8],
    at: usize,
}

impl FrameWriter<'_> {
    fn put(&mut self, bytes: &[u8]) -> Option<()> {
        let end = self.at.checked_add(bytes.len())?;
        self.buf.get_mut(self.at..end)?.copy_from_slice(bytes);
        self.at = end;
        Some(())
    }
}

/// Direction of a data frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DsDirection {
    /// From a station to its access point ("to DS"): the third address is the destination.
    Up,
    /// From an access point to a station ("from DS"): the third address is the source.
    Down,
}

/// A data frame, or a null frame, which has no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataFrame {
    /// Direction of the frame.
    pub way: DsDirection,
    /// Presence of a QoS Control field, with TID 0 and normal ack policy.
    pub qos: bool,
    /// Retry bit.
    pub retry: bool,
    /// Power management bit.
    pub power_management: bool,
    /// More data bit.
    pub more_data: bool,
    /// Duration in microseconds.
    pub duration: u16,
    /// Receiver, address 1.
    pub receiver: Mac,
    /// Transmitter, address 2.
    pub transmitter: Mac,
    /// Source or destination beyond the access point, address 3.
    pub third: Mac,
    /// Sequence number, 12 bits.
    pub sequence: u16,
}

impl DataFrame {
    /// Writes the frame with its FCS and returns its length; `None` if `buf` is too short. `packet`
    /// is the packet's EtherType and bytes; a null frame has none.
    pub fn emit(&self, packet: Option<(u16, &[u8])>, buf: &mut [u8]) -> Option<usize> {
        let bit = |there: bool, bit: u16| if there { bit } else { 0 };
        let kind = if packet.is_some() { FrameControl::DATA } else { FrameControl::NULL };
        let control = kind.0
            | bit(self.qos, QOS)
            | match self.way {
                DsDirection::Up => TO_DS,
                DsDirection::Down => FROM_DS,
            }
            | bit(self.power_management, POWER_MANAGEMENT)
            | bit(self.more_data, MORE_DATA);
        let header = MacHeader {
            control: FrameControl(control).with_retry(self.retry),
            duration: self.duration,
            receiver: self.receiver,
            transmitter: self.transmitter,
            bssid: self.third,
            sequence: self.sequence & 0x0FFF,
            fragment: 0,
        };
        let mut out = FrameWriter { buf, at: 0 };
        out.put(&header.emit())?;
        if self.qos {
            out.put(&[0, 0])?;
        }
        if let Some((kind, bytes)) = packet {
            out.put(&LLC_SNAP)?;
            out.put(&kind.to_be_bytes())?;
            out.put(bytes)?;
        }
        let len = out.at;
        append_fcs(buf, len)
    }

    /// Returns the octets of header, LLC, SNAP, EtherType and FCS around a packet.
    #[must_use]
    pub const fn overhead(qos: bool) -> usize {
        HEADER_LEN + if qos { 2 } else { 0 } + LLC_SNAP.len() + 2 + FCS_LEN
    }
}

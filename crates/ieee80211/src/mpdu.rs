//! The parts of IEEE 802.11 that an ESP-NOW capture holds: the MAC header of management frames, the
//! acknowledgement, and the frame check sequence.
//!
//! Management frame (IEEE 802.11-2020, 9.3.3.1), little-endian:
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 2 | frame control, see [`FrameControl`] |
//! | 2 | 2 | duration, microseconds |
//! | 4 | 6 | address 1, receiver |
//! | 10 | 6 | address 2, transmitter |
//! | 16 | 6 | address 3, BSSID |
//! | 22 | 2 | sequence control: bits 0-3 fragment, bits 4-15 sequence number |
//! | 24 | … | frame body |
//! | end | 4 | FCS, where it was captured |
//!
//! Acknowledgement (9.3.1.4): frame control, duration, receiver, FCS; 14 bytes in all.

use crate::mac::Mac;

/// Bytes of a management frame's header.
pub const HEADER_LEN: usize = 24;
/// Bytes of the frame check sequence.
pub const FCS_LEN: usize = 4;
/// Bytes of an acknowledgement without its FCS.
pub const ACK_LEN: usize = 10;

/// The frame control field (9.2.4.1).
///
/// | bits | field |
/// |---|---|
/// | 0-1 | protocol version, 0 |
/// | 2-3 | type: 0 management, 1 control, 2 data |
/// | 4-7 | subtype: 13 is "action" of management, and "ack" of control |
/// | 8-9 | to DS, from DS |
/// | 11 | retry |
/// | 14 | protected |
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FrameControl(pub u16);

impl FrameControl {
    /// Management frame, action.
    pub const ACTION: Self = Self(0x00D0);
    /// Control frame, acknowledgement.
    pub const ACK: Self = Self(0x00D4);
    /// Management frame, beacon.
    pub const BEACON: Self = Self(0x0080);
    /// Data frame from station to station within an IBSS ("to DS" and "from DS" clear).
    pub const DATA: Self = Self(0x0008);
    /// Data frame without a body ("null").
    pub const NULL: Self = Self(0x0048);
    const RETRY: u16 = 1 << 11;
    const PROTECTED: u16 = 1 << 14;

    /// Returns whether version, type and subtype are those of `other`.
    #[must_use]
    pub const fn is(self, other: Self) -> bool {
        self.0 & 0x00FF == other.0 & 0x00FF
    }

    /// Returns whether the retry bit is set: the frame is a retransmission.
    #[must_use]
    pub const fn retry(self) -> bool {
        self.0 & Self::RETRY != 0
    }

    /// Returns the field with the retry bit set or cleared.
    #[must_use]
    pub const fn with_retry(self, retry: bool) -> Self {
        Self(if retry { self.0 | Self::RETRY } else { self.0 & !Self::RETRY })
    }

    /// Returns whether the body is encrypted (CCMP).
    #[must_use]
    pub const fn protected(self) -> bool {
        self.0 & Self::PROTECTED != 0
    }

    /// Returns the field with the protected bit set.
    #[must_use]
    pub const fn with_protection(self) -> Self {
        Self(self.0 | Self::PROTECTED)
    }
}

/// Header of a management frame. Data frames from station to station have the same layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MacHeader {
    /// Frame control.
    pub control: FrameControl,
    /// Time in microseconds for which the medium is reserved after this frame.
    pub duration: u16,
    /// Receiver, address 1.
    pub receiver: Mac,
    /// Transmitter, address 2.
    pub transmitter: Mac,
    /// BSSID, address 3.
    pub bssid: Mac,
    /// Sequence number, 12 bits.
    pub sequence: u16,
    /// Fragment number, 4 bits.
    pub fragment: u8,
}

impl MacHeader {
    /// Parses the header and returns it with the bytes behind it; `None` below 24 bytes, and for
    /// frames of another type or protocol version, whose headers differ.
    #[must_use]
    pub fn parse(frame: &[u8]) -> Option<(Self, &[u8])> {
        let (head, body) = frame.split_first_chunk::<HEADER_LEN>()?;
        let word = |at: usize| u16::from_le_bytes([head[at], head[at + 1]]);
        let control = FrameControl(word(0));
        if control.0 & 0x0F != 0 {
            return None;
        }
        let header = Self {
            control,
            duration: word(2),
            receiver: Mac::at(head, 4)?,
            transmitter: Mac::at(head, 10)?,
            bssid: Mac::at(head, 16)?,
            sequence: word(22) >> 4,
            fragment: head[22] & 0x0F,
        };
        Some((header, body))
    }

    /// Returns the 24 bytes; the sequence and fragment numbers are cut to their width.
    #[must_use]
    pub fn emit(&self) -> [u8; HEADER_LEN] {
        let mut out = [0; HEADER_LEN];
        out[0..2].copy_from_slice(&self.control.0.to_le_bytes());
        out[2..4].copy_from_slice(&self.duration.to_le_bytes());
        out[4..10].copy_from_slice(&self.receiver.0);
        out[10..16].copy_from_slice(&self.transmitter.0);
        out[16..22].copy_from_slice(&self.bssid.0);
        let sequence = self.sequence << 4 | u16::from(self.fragment & 0x0F);
        out[22..24].copy_from_slice(&sequence.to_le_bytes());
        out
    }
}

/// An acknowledgement frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckFrame {
    /// Duration in microseconds; 0 unless more fragments follow.
    pub duration: u16,
    /// Transmitter of the frame that is acknowledged.
    pub receiver: Mac,
}

impl AckFrame {
    /// Parses an acknowledgement without its FCS; `None` for other frames.
    #[must_use]
    pub fn parse(frame: &[u8]) -> Option<Self> {
        let [c0, c1, d0, d1, address @ ..] = frame.first_chunk::<ACK_LEN>()?;
        if !FrameControl(u16::from_le_bytes([*c0, *c1])).is(FrameControl::ACK) {
            return None;
        }
        Some(Self { duration: u16::from_le_bytes([*d0, *d1]), receiver: Mac(*address) })
    }

    /// Returns the 14 bytes, FCS included.
    #[must_use]
    pub fn emit(&self) -> [u8; ACK_LEN + FCS_LEN] {
        let mut out = [0; ACK_LEN + FCS_LEN];
        out[0..2].copy_from_slice(&FrameControl::ACK.0.to_le_bytes());
        out[2..4].copy_from_slice(&self.duration.to_le_bytes());
        out[4..10].copy_from_slice(&self.receiver.0);
        let _ = append_fcs(&mut out, ACK_LEN);
        out
    }
}

/// Writes the FCS behind the first `len` bytes and returns the new length; `None` if there is no
/// room.
pub fn append_fcs(buf: &mut [u8], len: usize) -> Option<usize> {
    let end = len.checked_add(FCS_LEN)?;
    let (frame, fcs) = buf.get_mut(..end)?.split_at_mut_checked(len)?;
    fcs.copy_from_slice(&crc32(frame).to_le_bytes());
    Some(end)
}

/// Returns the frame without its FCS; `None` if the FCS is wrong or missing.
#[must_use]
pub fn check_fcs(frame: &[u8]) -> Option<&[u8]> {
    let (frame, fcs) = frame.split_last_chunk::<FCS_LEN>()?;
    (crc32(frame).to_le_bytes() == *fcs).then_some(frame)
}

/// Computes the CRC-32 of the FCS (9.2.4.8): generator 0x04C11DB7, bits of an octet from the
/// lowest, ones at the start, complemented at the end.
#[must_use]
pub fn crc32(bytes: &[u8]) -> u32 {
    const TABLE: [u32; 16] = nibbles();
    let step = |crc: u32, nibble: u32| TABLE[((crc ^ nibble) & 0x0F) as usize] ^ crc >> 4;
    !bytes.iter().fold(!0, |crc, &byte| step(step(crc, byte.into()), u32::from(byte) >> 4))
}

/// Computes the table of the CRC for half octets: 16 entries, two look-ups for each octet.
const fn nibbles() -> [u32; 16] {
    let mut table = [0; 16];
    let mut i = 0;
    while i < 16 {
        let (mut crc, mut bit) = (i as u32, 0);
        while bit < 4 {
            crc = if crc & 1 != 0 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 };
            bit += 1;
        }
        table[i] = crc;
        i += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn crc_check_value() {
        // Catalogues of CRCs give this check value for the generator ("CRC-32/ISO-HDLC").
        assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn an_acknowledgement_is_fourteen_bytes() {
        let ack = AckFrame { duration: 0, receiver: Mac([0x24, 0x0A, 0xC4, 0, 0, 1]) };
        let bytes = ack.emit();
        assert_eq!(bytes[..10], [0xD4, 0, 0, 0, 0x24, 0x0A, 0xC4, 0, 0, 1]);
        assert_eq!(check_fcs(&bytes).and_then(AckFrame::parse), Some(ack));
        let mut flipped = bytes;
        flipped[5] ^= 1;
        assert_eq!(check_fcs(&flipped), None);
        assert_eq!(MacHeader::parse(&[0xD4; 40]), None, "not a management frame");
    }

    #[test]
    fn a_header_by_hand() {
        let control = FrameControl::ACTION.with_retry(true).with_protection();
        let header = MacHeader {
            control,
            duration: 0x013A,
            receiver: Mac([1, 2, 3, 4, 5, 6]),
            transmitter: Mac([7, 8, 9, 10, 11, 12]),
            bssid: Mac([13, 14, 15, 16, 17, 18]),
            sequence: 0xABC,
            fragment: 5,
        };
        let wire = [
            0xD0, 0x48, 0x3A, 0x01, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18,
            0xC5, 0xAB, 0x99,
        ];
        assert_eq!(header.emit(), wire[..24]);
        assert_eq!(MacHeader::parse(&wire), Some((header, &[0x99][..])));
        assert_eq!(MacHeader::parse(&wire[..23]), None);
        let wide = MacHeader { sequence: 0xFABC, fragment: 0xF5, ..header };
        assert_eq!(wide.emit(), wire[..24], "numbers are cut to 12 and 4 bits");
        for other in [0x0001, 0x0004, 0x0008] {
            let frame = MacHeader { control: FrameControl(other), ..header }.emit();
            assert_eq!(MacHeader::parse(&frame), None, "version or type {other}");
        }
    }

    #[test]
    fn bits_of_frame_control() {
        let again = FrameControl::ACTION.with_retry(true);
        assert_eq!(again, FrameControl(0x08D0));
        assert_eq!(again.with_retry(true), again);
        assert_eq!(again.with_retry(false), FrameControl::ACTION);
        assert!(again.retry() && !again.protected());
        let secret = FrameControl::ACTION.with_protection();
        assert_eq!(secret, FrameControl(0x40D0));
        assert_eq!(secret.with_protection(), secret);
        assert!(secret.protected() && !secret.retry());
        assert!(secret.is(FrameControl::ACTION) && FrameControl::ACTION.is(again));
        assert!(
            !FrameControl::ACTION.is(FrameControl::ACK)
                && !FrameControl::NULL.is(FrameControl::DATA)
        );
    }

    #[test]
    fn only_acknowledgements_are_read_as_such() {
        let wire = [0xD4, 0x08, 0x2C, 0x01, 1, 2, 3, 4, 5, 6];
        let ack = AckFrame { duration: 300, receiver: Mac([1, 2, 3, 4, 5, 6]) };
        assert_eq!(AckFrame::parse(&wire), Some(ack), "whatever the second octet says");
        assert_eq!(AckFrame::parse(&wire[..9]), None);
        let clear_to_send = [&[0xC4], &wire[1..]].concat();
        assert_eq!(AckFrame::parse(&clear_to_send), None);
        assert_eq!(ack.emit()[..10], [0xD4, 0, 0x2C, 0x01, 1, 2, 3, 4, 5, 6]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = (AckFrame::parse(&bytes), check_fcs(&bytes));
            if let Some((header, rest)) = MacHeader::parse(&bytes) {
                prop_assert_eq!(&header.emit()[..], &bytes[..HEADER_LEN]);
                prop_assert_eq!(rest, &bytes[HEADER_LEN..]);
            }
        }

        #[test]
        fn a_flipped_bit_is_noticed(
            mut bytes in prop::collection::vec(any::<u8>(), 4..64), bit in any::<u32>(),
        ) {
            let len = bytes.len();
            prop_assert_eq!(append_fcs(&mut bytes, len), None);
            prop_assert_eq!(append_fcs(&mut bytes, len - 4), Some(len));
            prop_assert!(check_fcs(&bytes).is_some());
            let bit = bit as usize % (8 * len);
            bytes[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(check_fcs(&bytes).is_none());
        }
    }
}

//! A PPDU on the air.

use crate::radio::WifiMode;

/// The destination of a broadcast or multicast frame; the MAC treats the two alike.
pub const GROUP: u32 = u32::MAX;

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A data or management frame, or an A-MPDU of them, that a station was asked to send.
    Data,
    /// An acknowledgement.
    Ack,
    /// A compressed block acknowledgement of an A-MPDU (9.3.1.8.2): [`Ppdu::sequence`] is its
    /// starting sequence number, [`Ppdu::bitmap`] its bitmap.
    BlockAck,
    /// A block acknowledgement request (9.3.1.7): MPDUs before [`Ppdu::sequence`] were given up.
    BlockAckRequest,
    /// A request to send.
    Rts,
    /// A clear to send: the answer to an RTS, or, if sender and addressee are the same station, a
    /// CTS-to-self.
    Cts,
    /// No frame: power that nobody can read, from something that does not listen first.
    Noise,
}

/// The fate of an MPDU at its addressee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MpduFate {
    /// Read; will be acknowledged.
    Taken,
    /// Read, and read before; will be acknowledged.
    Repeated,
    /// Read, but there was no buffer for it.
    Refused,
    /// Not read.
    Lost,
}

/// An MPDU of an A-MPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MpduInfo {
    /// The tag by which the user knows the MPDU.
    pub tag: u64,
    /// Octets of the MPDU with its FCS, without delimiter and padding.
    pub octets: u32,
    /// The sequence number.
    pub sequence: u16,
    /// The number of the attempt, from 1.
    pub attempt: u8,
    /// The fate at the addressee.
    pub fate: MpduFate,
}

/// A PPDU on the air. The MAC does not hold the bytes of its frames: the user knows them by `tag`.
#[derive(Clone, Copy, Debug)]
pub struct Ppdu {
    /// The kind of frame.
    pub kind: FrameKind,
    /// The sender.
    pub from: u32,
    /// The destination, a station or [`GROUP`].
    pub to: u32,
    /// The sequence number of a data frame, 12 bits (9.2.4.4.2); of an A-MPDU, that of its first
    /// MPDU; of a block acknowledgement or its request, the starting sequence number.
    pub sequence: u16,
    /// The number of MPDUs: an A-MPDU from 2 on (a single one is sent without a delimiter).
    pub mpdus: u8,
    /// The number of the attempt, from 1; later ones have the Retry bit set (9.2.4.1.6).
    pub attempt: u8,
    /// The channel of the transmission.
    pub channel: u8,
    /// The PHY mode.
    pub mode: WifiMode,
    /// The octets of the MPDU with its FCS, or of the A-MPDU with delimiters and padding.
    pub octets: u32,
    /// The start of the transmission, in nanoseconds.
    pub begin: u64,
    /// The end of the transmission (TXTIME, with the signal extension of OFDM).
    pub end: u64,
    /// The Duration field, in nanoseconds (9.2.5): the time that the exchange goes on afterwards.
    pub duration_ns: u64,
    /// The tag by which the user knows the frame (of an A-MPDU, the first one in it); of a block
    /// acknowledgement, the bitmap.
    pub tag: u64,
    /// Whether the addressee has read the frame and will answer, but has it already, so that it is
    /// not handed up. Set at the end of the frame.
    pub repeated: bool,
}

impl Ppdu {
    /// Returns whether the frame is a group frame, which nobody acknowledges.
    #[must_use]
    pub const fn is_group(&self) -> bool {
        self.to == GROUP
    }

    /// Returns the bitmap of a block acknowledgement: bit `n` is for the sequence number `n` after
    /// the starting one.
    #[must_use]
    pub const fn bitmap(&self) -> u64 {
        if matches!(self.kind, FrameKind::BlockAck) { self.tag } else { 0 }
    }
}

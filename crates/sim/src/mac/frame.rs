//! A frame on the air.

use crate::radio::Mode;

/// The destination of a frame to everybody (and of multicast, which the MAC treats alike).
pub const GROUP: u32 = u32::MAX;

/// What kind of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A data or management frame, or an A-MPDU of them: what a station was asked to send.
    Data,
    /// The acknowledgement of one.
    Ack,
    /// The compressed block acknowledgement of an A-MPDU (9.3.1.8.2): [`OnAir::sequence`] is its
    /// starting sequence number, [`OnAir::bitmap`] its bitmap.
    BlockAck,
    /// A block acknowledgement request (9.3.1.7): what is before [`OnAir::sequence`] was given up.
    BlockAckRequest,
    /// A request to send.
    Rts,
    /// A clear to send: the answer to one, or, where sender and addressee are the same station, a
    /// CTS to itself.
    Cts,
}

/// What became of an MPDU at its addressee.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It has been read, and will be acknowledged.
    Taken,
    /// It has been read, and will be acknowledged, but had been before.
    Repeated,
    /// It has been read, and there was no buffer for it.
    Refused,
    /// It could not be read.
    Lost,
}

/// One of the frames in an A-MPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mpdu {
    /// By what its host knows it.
    pub tag: u64,
    /// Octets of the MPDU with its FCS, without delimiter and padding.
    pub octets: u32,
    /// Its sequence number.
    pub sequence: u16,
    /// Which attempt, from 1.
    pub attempt: u8,
    /// What became of it.
    pub fate: Fate,
}

/// A frame on the air. Its bytes are the host's: the MAC knows them by `tag`.
#[derive(Clone, Copy, Debug)]
pub struct OnAir {
    /// What it is.
    pub kind: Kind,
    /// Who sends it.
    pub from: u32,
    /// To whom: a station, or [`GROUP`].
    pub to: u32,
    /// The sequence number of a data frame, 12 bits (9.2.4.4.2); of an A-MPDU, that of its first
    /// MPDU; the starting sequence number of a block acknowledgement and of the request for one.
    pub sequence: u16,
    /// How many MPDUs it holds: from 2 on, it is an A-MPDU (one alone is sent without a delimiter).
    pub mpdus: u8,
    /// Which attempt, from 1; later ones have the Retry bit set (9.2.4.1.6).
    pub attempt: u8,
    /// The channel it is sent on.
    pub channel: u8,
    /// How it is sent.
    pub mode: Mode,
    /// Octets of the MPDU with its FCS, or of the A-MPDU with delimiters and padding.
    pub octets: u32,
    /// When it began, in nanoseconds.
    pub begin: u64,
    /// When it will end (TXTIME, with the signal extension of OFDM).
    pub end: u64,
    /// Its Duration field, in nanoseconds (9.2.5): how long the exchange goes on after it.
    pub duration_ns: u64,
    /// By what its host knows it (of an A-MPDU, the first one in it); of a block acknowledgement,
    /// its bitmap.
    pub tag: u64,
    /// At its end: its addressee has read it and will answer, but has it already, so that it goes to
    /// nobody.
    pub repeated: bool,
}

impl OnAir {
    /// Whether it is for everybody, so that nobody acknowledges it.
    #[must_use]
    pub const fn is_group(&self) -> bool {
        self.to == GROUP
    }

    /// The bitmap of a block acknowledgement: bit `n` is for the sequence number `n` after the
    /// starting one.
    #[must_use]
    pub const fn bitmap(&self) -> u64 {
        if matches!(self.kind, Kind::BlockAck) { self.tag } else { 0 }
    }
}

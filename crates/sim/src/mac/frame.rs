//! A frame on the air.

use crate::radio::Mode;

/// The destination of a frame to everybody (and of multicast, which the MAC treats alike).
pub const GROUP: u32 = u32::MAX;

/// What kind of frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A data or management frame: what a station was asked to send.
    Data,
    /// The acknowledgement of one.
    Ack,
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
    /// The sequence number of a data frame, 12 bits (9.2.4.4.2).
    pub sequence: u16,
    /// Which attempt, from 1; later ones have the Retry bit set (9.2.4.1.6).
    pub attempt: u8,
    /// The channel it is sent on.
    pub channel: u8,
    /// How it is sent.
    pub mode: Mode,
    /// Octets of the MPDU with its FCS.
    pub octets: u32,
    /// When it began, in nanoseconds.
    pub begin: u64,
    /// When it will end (TXTIME, with the signal extension of OFDM).
    pub end: u64,
    /// Its Duration field, in nanoseconds (9.2.5): how long the exchange goes on after it.
    pub duration_ns: u64,
    /// By what its host knows it.
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
}

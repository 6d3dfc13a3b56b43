//! The states of a connection.

/// The state of a connection (RFC 9293 section 3.3.2). `LISTEN` is no state of a connection here:
/// a listener is a port, and its connections begin with a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TcpState {
    SynSent,
    SynReceived,
    Established,
    FinWait1,
    FinWait2,
    CloseWait,
    Closing,
    LastAck,
    TimeWait,
    Closed,
}

impl TcpState {
    /// Returns whether the handshake is not over.
    pub(super) const fn is_handshake(self) -> bool {
        matches!(self, Self::SynSent | Self::SynReceived)
    }

    /// Returns whether a program may hand over bytes.
    pub(super) const fn takes_bytes(self) -> bool {
        matches!(self, Self::Established | Self::CloseWait)
    }

    /// Returns whether the last byte is followed by a FIN that is not acknowledged.
    pub(super) const fn ends_with_fin(self) -> bool {
        matches!(self, Self::FinWait1 | Self::Closing | Self::LastAck)
    }

    /// Returns whether the peer may send text.
    pub(super) const fn takes_text(self) -> bool {
        matches!(self, Self::Established | Self::FinWait1 | Self::FinWait2)
    }

    /// Returns the state after an acceptable acknowledgement of the SYN, or of the FIN if `of_fin`.
    pub(super) const fn acknowledged(self, of_fin: bool) -> Self {
        match self {
            Self::SynReceived => Self::Established,
            Self::FinWait1 if of_fin => Self::FinWait2,
            Self::Closing if of_fin => Self::TimeWait,
            Self::LastAck if of_fin => Self::Closed,
            other => other,
        }
    }

    /// Returns the state after the peer's FIN.
    pub(super) const fn finished(self) -> Self {
        match self {
            Self::Established => Self::CloseWait,
            Self::FinWait1 => Self::Closing,
            Self::FinWait2 => Self::TimeWait,
            other => other,
        }
    }

    /// Returns the state after the program has closed its socket.
    pub(super) const fn closed(self) -> Self {
        match self {
            Self::SynSent => Self::Closed,
            Self::SynReceived | Self::Established => Self::FinWait1,
            Self::CloseWait => Self::LastAck,
            other => other,
        }
    }
}

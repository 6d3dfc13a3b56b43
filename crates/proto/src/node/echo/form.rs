//! The format of probes on the wire, and the probe that a datagram answers.

use crate::wire::echo::{self, ProbeHeader};
use crate::wire::icmp::{self, Echo, EchoType, IcmpVersion};

/// The form of a prober's probes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeFormat {
    /// UDP: digits and a line feed; the first digit tells a few probes apart.
    Ascii,
    /// UDP: a header with a number, and a pattern.
    Binary {
        /// Marks this run's probes.
        session: u32,
    },
    /// ICMP echo requests.
    Icmp {
        /// Of ICMP.
        version: IcmpVersion,
        /// Marks this program's requests.
        identifier: u16,
    },
}

/// The meaning of a datagram to a prober.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ProbeMatch {
    /// An answer to the probe of that index.
    Reply {
        /// Counted over all probes of the run.
        index: u64,
        /// Whether the content is what was sent.
        whole: bool,
    },
    /// Nothing that any probe of this run can have caused.
    Stray,
    /// Another program's: a raw socket sees all that comes to the host.
    Others,
}

impl ProbeFormat {
    /// Returns the bytes of a datagram that carries `size` bytes of payload.
    pub(super) const fn datagram_len(self, size: usize) -> usize {
        match self {
            Self::Ascii => size + 1,
            Self::Binary { .. } => size,
            Self::Icmp { .. } => size + icmp::HEADER_LEN,
        }
    }

    /// Tells whether probes carry a number that no earlier one has.
    pub(super) const fn is_numbered(self) -> bool {
        !matches!(self, Self::Ascii)
    }

    /// Returns after how many probes one of that size looks the same again; 0 where none does.
    pub(super) const fn period(self, size: u32) -> u64 {
        match self {
            Self::Ascii if size == 0 => 1,
            Self::Ascii => echo::ASCII_PERIOD,
            Self::Binary { .. } | Self::Icmp { .. } => 0,
        }
    }

    /// Writes probe `index`; `None` where it does not fit.
    pub(super) fn emit(self, index: u64, size: usize, buf: &mut [u8]) -> Option<usize> {
        match self {
            Self::Ascii => echo::emit_ascii(index, size, buf),
            Self::Binary { session } => ProbeHeader { session, seq: index }.emit(size, buf),
            Self::Icmp { version, identifier } => {
                Echo { kind: EchoType::Request, identifier, sequence: index as u16 }
                    .emit(version, size, buf)
            }
        }
    }

    /// Tells which probe a datagram answers, when `next` is the index of the next one to be sent.
    pub(super) fn read(self, datagram: &[u8], size: usize, next: u64) -> ProbeMatch {
        match self {
            Self::Ascii => match next.checked_sub(1) {
                Some(last) => {
                    let index = last - echo::ascii_behind(last, size, datagram);
                    ProbeMatch::Reply { index, whole: echo::is_ascii(index, size, datagram) }
                }
                None => ProbeMatch::Stray,
            },
            Self::Binary { session } => match ProbeHeader::parse(datagram) {
                Some(h) if h.session == session => {
                    ProbeMatch::Reply { index: h.seq, whole: h.matches(size, datagram) }
                }
                _ => ProbeMatch::Stray,
            },
            Self::Icmp { version, identifier } => match Echo::parse(version, datagram) {
                Ok((echo, _)) if echo.kind == EchoType::Request => ProbeMatch::Others,
                Ok((echo, _)) if echo.identifier != identifier => ProbeMatch::Others,
                Ok((echo, data)) => match nearest(echo.sequence, next) {
                    Some(index) => ProbeMatch::Reply { index, whole: echo.matches(size, data) },
                    None => ProbeMatch::Stray,
                },
                Err(icmp::IcmpError::Type { .. }) => ProbeMatch::Others,
                Err(icmp::IcmpError::Short | icmp::IcmpError::Checksum) => ProbeMatch::Stray,
            },
        }
    }

    /// Tells which probe an ICMP error quotes.
    pub(super) fn quoted(self, quoted: &[u8], next: u64) -> Option<u64> {
        let Self::Icmp { version, identifier } = self else { return None };
        let echo = Echo::parse_quoted(version, quoted).ok()?;
        let ours = echo.kind == EchoType::Request && echo.identifier == identifier;
        nearest(echo.sequence, next).filter(|_| ours)
    }
}

/// Finds the latest probe before `next` that has this sequence number.
fn nearest(sequence: u16, next: u64) -> Option<u64> {
    let behind = (next as u16).wrapping_sub(1).wrapping_sub(sequence);
    next.checked_sub(1)?.checked_sub(u64::from(behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sequence_number_is_that_of_the_latest_probe_that_has_it() {
        assert_eq!(nearest(0, 0), None, "nothing was sent");
        assert_eq!(nearest(0, 1), Some(0));
        assert_eq!(nearest(1, 1), None, "not sent yet");
        assert_eq!(nearest(65_535, 65_536), Some(65_535));
        assert_eq!(nearest(65_535, 65_537), Some(65_535));
        assert_eq!(nearest(0, 65_537), Some(65_536));
        assert_eq!(nearest(7, 200_000), Some(196_608 + 7 - 65_536 + 65_536));
    }
}

//! ICMP echo (RFC 792; RFC 4443, section 4) and the errors that answer it.
//!
//! An echo message, in both versions. Integers are big-endian.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | type: request 8, reply 0 (ICMPv6: request 128, reply 129) |
//! | 1 | 1 | code, 0 |
//! | 2 | 2 | checksum |
//! | 4 | 2 | identifier |
//! | 6 | 2 | sequence number |
//! | 8 | … | data; ours: byte `i` is `(i + sequence number) mod 251` |
//!
//! The checksum of ICMP is the Internet checksum of the message (RFC 1071). That of ICMPv6 also covers
//! the addresses (RFC 8200, section 8.1), which only the system knows: it fills the field in, and
//! drops what is wrong (RFC 3542, section 3.1). So with ICMPv6 the field is emitted as zero, and
//! not looked at.

use super::pattern;

/// Bytes before the data.
pub const HEADER_LEN: usize = 8;

/// Most bytes of data: 65,535 less 20 (IPv4) and 8 (ICMP) bytes.
pub const MAX_DATA: usize = 65_507;

/// Version of ICMP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IcmpVersion {
    /// ICMP over IPv4 (RFC 792).
    #[default]
    V4,
    /// ICMPv6 (RFC 4443).
    V6,
}

impl IcmpVersion {
    const fn request(self) -> u8 {
        match self {
            Self::V4 => 8,
            Self::V6 => 128,
        }
    }

    const fn reply(self) -> u8 {
        match self {
            Self::V4 => 0,
            Self::V6 => 129,
        }
    }
}

/// Why bytes are no ICMP message that is understood here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpError {
    /// Shorter than the header.
    Short,
    /// The checksum does not hold.
    Checksum,
    /// Of another type than echo, or with a code that is not 0.
    Type {
        /// Type.
        kind: u8,
        /// Code.
        code: u8,
    },
}

/// The direction of an echo message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EchoType {
    /// Asks for the reply.
    Request,
    /// Brings the data back.
    Reply,
}

/// The header of an echo message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// Request or reply.
    pub kind: EchoType,
    /// Tells the programs of a host apart.
    pub identifier: u16,
    /// Number of the request, modulo 65,536.
    pub sequence: u16,
}

impl Echo {
    /// Reads an echo message: its header and its data.
    ///
    /// # Errors
    /// Bytes that are too short or damaged, and messages of other types.
    pub fn parse(version: IcmpVersion, message: &[u8]) -> Result<(Self, &[u8]), IcmpError> {
        let echo = Self::parse_quoted(version, message)?;
        if version == IcmpVersion::V4 && checksum(message) != 0 {
            return Err(IcmpError::Checksum);
        }
        Ok((echo, message.get(HEADER_LEN..).unwrap_or_default()))
    }

    /// Reads the header alone, as an ICMP error quotes it: the quotation may be cut short, so the
    /// checksum cannot be verified (RFC 792: "64 bits of data datagram").
    ///
    /// # Errors
    /// As [`parse`](Self::parse), but for the checksum.
    pub fn parse_quoted(version: IcmpVersion, message: &[u8]) -> Result<Self, IcmpError> {
        let Some(&[kind, code, _, _, id_high, id_low, high, low]) =
            message.first_chunk::<HEADER_LEN>()
        else {
            return Err(IcmpError::Short);
        };
        let direction = match (kind, code) {
            (kind, 0) if kind == version.request() => EchoType::Request,
            (kind, 0) if kind == version.reply() => EchoType::Reply,
            _ => return Err(IcmpError::Type { kind, code }),
        };
        Ok(Self {
            kind: direction,
            identifier: u16::from_be_bytes([id_high, id_low]),
            sequence: u16::from_be_bytes([high, low]),
        })
    }

    /// Writes the message with `data` bytes of the pattern into `buf` and returns its length;
    /// `None` if the buffer is too short.
    pub fn emit(self, version: IcmpVersion, data: usize, buf: &mut [u8]) -> Option<usize> {
        let len = HEADER_LEN.checked_add(data)?;
        let buf = buf.get_mut(..len)?;
        let (head, body) = buf.split_at_mut_checked(HEADER_LEN)?;
        head[0] = match self.kind {
            EchoType::Request => version.request(),
            EchoType::Reply => version.reply(),
        };
        head[1..4].fill(0);
        head[4..6].copy_from_slice(&self.identifier.to_be_bytes());
        head[6..].copy_from_slice(&self.sequence.to_be_bytes());
        pattern::fill(body, self.pattern_start());
        if version == IcmpVersion::V4 {
            let sum = checksum(buf);
            buf[2..4].copy_from_slice(&sum.to_be_bytes());
        }
        Some(len)
    }

    /// Tells whether `data` is the pattern of `len` bytes that a message of this number carries.
    #[must_use]
    pub fn matches(self, len: usize, data: &[u8]) -> bool {
        data.len() == len && pattern::matches(data, self.pattern_start())
    }

    const fn pattern_start(self) -> u8 {
        (self.sequence % pattern::PERIOD) as u8
    }
}

/// Returns the Internet checksum (RFC 1071) of `bytes`: 0 over a message whose own field is right.
#[must_use]
pub fn checksum(bytes: &[u8]) -> u16 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut sum: u64 = pairs.iter().map(|&pair| u64::from(u16::from_be_bytes(pair))).sum();
    if let [last] = rest {
        sum += u64::from(*last) << 8;
    }
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

/// Returns what follows the IPv4 header of a packet as a raw socket gives it; the bytes as they are if
/// they begin with no such header. No ICMP type in use has a first byte of an IPv4 header, 0x45 to
/// 0x4f.
#[must_use]
pub fn after_ipv4_header(packet: &[u8]) -> &[u8] {
    match packet.first() {
        Some(&first) if first >> 4 == 4 && first & 15 >= 5 => {
            packet.get(usize::from(first & 15) * 4..).unwrap_or_default()
        }
        _ => packet,
    }
}

/// The failure that an ICMP error reports of the packet that it quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpFailure {
    /// There is no route to the network.
    NetworkUnreachable,
    /// The host does not answer in its network, or does not speak ICMP.
    HostUnreachable,
    /// A firewall or a policy forbids it.
    Prohibited,
    /// The packet is too big for a link on the way, and must not be fragmented.
    TooBig,
    /// The hop limit (TTL) ran out on the way.
    HopLimit,
}

impl IcmpFailure {
    /// Returns what an ICMP error of that type and code means: RFC 792 with the codes of RFC 1122
    /// (section 3.2.2.1) and RFC 1812 (section 5.2.7.1); RFC 4443, section 3. `None` for types that
    /// are no such error.
    #[must_use]
    pub const fn parse(version: IcmpVersion, kind: u8, code: u8) -> Option<Self> {
        Some(match (version, kind, code) {
            (IcmpVersion::V4, 3, 0 | 5 | 6 | 11) | (IcmpVersion::V6, 1, 0 | 2) => {
                Self::NetworkUnreachable
            }
            (IcmpVersion::V4, 3, 4) | (IcmpVersion::V6, 2, _) => Self::TooBig,
            (IcmpVersion::V4, 3, 9 | 10 | 13..=15) | (IcmpVersion::V6, 1, 1 | 5 | 6) => {
                Self::Prohibited
            }
            (IcmpVersion::V4, 3, _) | (IcmpVersion::V6, 1, _) => Self::HostUnreachable,
            (IcmpVersion::V4, 11, _) | (IcmpVersion::V6, 3, _) => Self::HopLimit,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REQUEST: Echo = Echo { kind: EchoType::Request, identifier: 0x1234, sequence: 1 };

    #[test]
    fn a_request_by_its_bytes() {
        let mut buf = [0xFF; 16];
        assert_eq!(REQUEST.emit(IcmpVersion::V4, 4, &mut buf), Some(12));
        // 0800 + 1234 + 0001 + 0102 + 0304 = 1e3b, and its complement.
        assert_eq!(buf[..12], [8, 0, 0xE1, 0xC4, 0x12, 0x34, 0, 1, 1, 2, 3, 4]);
        assert_eq!(Echo::parse(IcmpVersion::V4, &buf[..12]), Ok((REQUEST, &[1, 2, 3, 4][..])));
        assert!(REQUEST.matches(4, &[1, 2, 3, 4]));
        assert!(!REQUEST.matches(5, &[1, 2, 3, 4]) && !REQUEST.matches(4, &[1, 2, 3, 5]));
    }

    #[test]
    fn the_pattern_begins_at_the_sequence_number_modulo_251() {
        let mut buf = [0; 11];
        for (sequence, data) in [(7, [7, 8, 9]), (250, [250, 0, 1]), (252, [1, 2, 3])] {
            let echo = Echo { sequence, ..REQUEST };
            assert_eq!(echo.emit(IcmpVersion::V4, 3, &mut buf), Some(11));
            assert_eq!(buf[8..], data);
            assert!(echo.matches(3, &data) && !echo.matches(3, &[1, 1, 1]));
        }
    }

    #[test]
    fn icmpv6_leaves_the_checksum_to_the_system() {
        let mut buf = [0xFF; 8];
        let reply = Echo { kind: EchoType::Reply, sequence: 0xFFFF, ..REQUEST };
        assert_eq!(reply.emit(IcmpVersion::V6, 0, &mut buf), Some(8));
        assert_eq!(buf, [129, 0, 0, 0, 0x12, 0x34, 0xFF, 0xFF]);
        buf[2] = 7;
        assert_eq!(Echo::parse(IcmpVersion::V6, &buf), Ok((reply, &[][..])));
    }

    /// Captured: `ping -c 1 -s 8 -p a5` of Debian's iputils, to 127.0.0.1 and ::1.
    #[test]
    fn messages_of_another_ping_read() {
        const DATA: [u8; 8] = [0xA5, 0, 0, 0, 0, 0, 0, 0];
        for (version, kind, head, identifier) in [
            (IcmpVersion::V4, EchoType::Request, [8, 0, 0xDB, 0x1B, 0x77, 0xE2, 0, 1], 0x77E2),
            (IcmpVersion::V4, EchoType::Reply, [0, 0, 0xE3, 0x1B, 0x77, 0xE2, 0, 1], 0x77E2),
            (IcmpVersion::V6, EchoType::Request, [128, 0, 0x62, 0xCC, 0x77, 0xE5, 0, 1], 0x77E5),
            (IcmpVersion::V6, EchoType::Reply, [129, 0, 0x61, 0xCC, 0x77, 0xE5, 0, 1], 0x77E5),
        ] {
            let mut message = [0; 16];
            message[..8].copy_from_slice(&head);
            message[8..].copy_from_slice(&DATA);
            let echo = Echo { kind, identifier, sequence: 1 };
            assert_eq!(Echo::parse(version, &message), Ok((echo, &DATA[..])));
        }
    }

    #[test]
    fn what_is_no_echo_is_named() {
        assert_eq!(Echo::parse(IcmpVersion::V4, &[8, 0, 0, 0]), Err(IcmpError::Short));
        assert_eq!(Echo::parse(IcmpVersion::V4, &[]), Err(IcmpError::Short));
        let unreachable = [3, 1, 0xFC, 0xFE, 0, 0, 0, 0];
        let error = IcmpError::Type { kind: 3, code: 1 };
        assert_eq!(Echo::parse(IcmpVersion::V4, &unreachable), Err(error));
        let mut buf = [0; 8];
        REQUEST.emit(IcmpVersion::V4, 0, &mut buf);
        assert_eq!(Echo::parse(IcmpVersion::V6, &buf), Err(IcmpError::Type { kind: 8, code: 0 }));
        buf[7] ^= 1;
        assert_eq!(Echo::parse(IcmpVersion::V4, &buf), Err(IcmpError::Checksum));
        assert_eq!(REQUEST.emit(IcmpVersion::V4, 1, &mut buf), None, "the buffer is too short");
        assert_eq!(REQUEST.emit(IcmpVersion::V4, usize::MAX, &mut buf), None);
    }

    #[test]
    fn the_example_of_rfc_1071() {
        let sum = checksum(&[0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7]);
        assert_eq!(sum, !0xDDF2);
        assert_eq!(checksum(&[0x12]), !0x1200, "an odd byte counts as the high one");
    }

    #[test]
    fn an_ip_header_is_left_out() {
        let mut packet = [0x45; 28];
        packet[20] = 0;
        assert_eq!(after_ipv4_header(&packet).len(), 8);
        packet[0] = 0x4F;
        assert_eq!(after_ipv4_header(&packet), [], "shorter than it says");
        let mut options = [0x46; 26];
        options[24] = 8;
        assert_eq!(after_ipv4_header(&options), [8, 0x46], "with a word of options");
        for first in [0x44, 0x0B, 0x55] {
            assert_eq!(
                after_ipv4_header(&[first; 40]).len(),
                40,
                "{first:x} begins no such header"
            );
        }
        assert_eq!(after_ipv4_header(&[0, 1, 2]), [0, 1, 2]);
        assert_eq!(after_ipv4_header(&[]), []);
    }

    #[test]
    fn failures_by_type_and_code() {
        use IcmpFailure::{HopLimit, HostUnreachable, NetworkUnreachable, Prohibited, TooBig};
        for (kind, code, failure) in [
            (3, 0, NetworkUnreachable),
            (3, 1, HostUnreachable),
            (3, 2, HostUnreachable),
            (3, 4, TooBig),
            (3, 13, Prohibited),
            (11, 0, HopLimit),
        ] {
            assert_eq!(
                IcmpFailure::parse(IcmpVersion::V4, kind, code),
                Some(failure),
                "{kind} {code}"
            );
        }
        for (kind, code, failure) in [
            (1, 0, NetworkUnreachable),
            (1, 1, Prohibited),
            (1, 3, HostUnreachable),
            (2, 0, TooBig),
            (3, 0, HopLimit),
        ] {
            assert_eq!(
                IcmpFailure::parse(IcmpVersion::V6, kind, code),
                Some(failure),
                "{kind} {code}"
            );
        }
        assert_eq!(IcmpFailure::parse(IcmpVersion::V4, 5, 0), None, "a redirect is no failure");
        assert_eq!(IcmpFailure::parse(IcmpVersion::V6, 129, 0), None);
    }

    proptest! {
        #[test]
        fn emitted_messages_read_back(
            reply: bool, v6: bool, identifier: u16, sequence: u16, data in 0_usize..1500,
        ) {
            let kind = if reply { EchoType::Reply } else { EchoType::Request };
            let version = if v6 { IcmpVersion::V6 } else { IcmpVersion::V4 };
            let echo = Echo { kind, identifier, sequence };
            let mut buf = [0; 1508];
            let len = echo.emit(version, data, &mut buf).unwrap();
            let (read, body) = Echo::parse(version, &buf[..len]).unwrap();
            prop_assert_eq!(read, echo);
            prop_assert!(read.matches(data, body));
        }

        /// A ones' complement sum sees any single changed bit.
        #[test]
        fn one_changed_bit_is_seen(sequence: u16, data in 0_usize..64, bit in 0_usize..576) {
            let echo = Echo { kind: EchoType::Reply, identifier: 77, sequence };
            let mut buf = [0; 72];
            let len = echo.emit(IcmpVersion::V4, data, &mut buf).unwrap();
            prop_assume!(bit / 8 < len);
            buf[bit / 8] ^= 1 << (bit % 8);
            prop_assert!(Echo::parse(IcmpVersion::V4, &buf[..len]).is_err());
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..80), v6: bool) {
            let version = if v6 { IcmpVersion::V6 } else { IcmpVersion::V4 };
            let message = after_ipv4_header(&bytes);
            let _ = Echo::parse_quoted(version, message);
            if let Ok((echo, data)) = Echo::parse(version, message) {
                let _ = echo.matches(data.len(), data);
            }
        }
    }
}

//! Messages of `espnow_iperf` (`cmd_iperf.c` of the component).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | kind of message, see [`IperfKind`] |
//! | 4 | 4 | number, from 0; in a STOP, the messages sent; in its answer, the responder's counter |
//! | 8 | … | filler, zeros |
//!
//! The data type of the frame around it has moved twice: `Compat::iperf_type`. The message holds no
//! time of sending, so a receiver cannot compute the interarrival jitter of RFC 3550.

/// Length of the shortest payload, in bytes: all but the filler.
pub const IPERF_LEN: usize = 8;

/// Kind of a message; a C `enum` of four bytes on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IperfKind {
    /// 0: a message of a throughput test.
    Bandwidth,
    /// 1: the end of a throughput test.
    Stop,
    /// 2: the answer to a STOP.
    StopAck,
    /// 3: a ping, to be answered at the same length.
    Ping,
    /// 4: the answer to a ping.
    PingAck,
    /// Any other number.
    Other(u32),
}

impl IperfKind {
    /// Returns the kind of a number.
    #[must_use]
    pub const fn from_number(number: u32) -> Self {
        match number {
            0 => Self::Bandwidth,
            1 => Self::Stop,
            2 => Self::StopAck,
            3 => Self::Ping,
            4 => Self::PingAck,
            other => Self::Other(other),
        }
    }

    /// Returns the number on the wire.
    #[must_use]
    pub const fn number(self) -> u32 {
        match self {
            Self::Bandwidth => 0,
            Self::Stop => 1,
            Self::StopAck => 2,
            Self::Ping => 3,
            Self::PingAck => 4,
            Self::Other(other) => other,
        }
    }
}

/// Header of a message: the first eight bytes of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IperfHead {
    /// Kind of message.
    pub kind: IperfKind,
    /// Number of the message.
    pub seq: u32,
}

impl IperfHead {
    /// Parses the header; `None` below eight bytes (the component reads beyond them).
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let [k0, k1, k2, k3, s0, s1, s2, s3] = *payload.first_chunk::<IPERF_LEN>()?;
        Some(Self {
            kind: IperfKind::from_number(u32::from_le_bytes([k0, k1, k2, k3])),
            seq: u32::from_le_bytes([s0, s1, s2, s3]),
        })
    }

    /// Writes a payload of `len` bytes, the filler included, and returns `len`. `None` if that is
    /// less than eight or more than `buf` holds.
    pub fn emit(&self, buf: &mut [u8], len: usize) -> Option<usize> {
        let (head, filler) = buf.get_mut(..len)?.split_at_mut_checked(IPERF_LEN)?;
        let (kind, seq) = head.split_at_mut(IPERF_LEN / 2);
        kind.copy_from_slice(&self.kind.number().to_le_bytes());
        seq.copy_from_slice(&self.seq.to_le_bytes());
        filler.fill(0);
        Some(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::header::{DataType, FrameConfig, HEADER_LEN, Header, VERSION};
    use espbench_ieee80211::mac::Mac;

    #[test]
    fn vector_15_of_the_protocol_reference() {
        let wire = [
            0x2F, 0x10, 0x42, 0x42, 0x01, 0x40, 0x00, 0x00, 0x24, 0x0A, 0xC4, 0x00, 0x00, 0x02,
            0x24, 0x0A, 0xC4, 0x00, 0x00, 0x01, 0x03, 0, 0, 0, 0x07, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0,
        ];
        let head = IperfHead { kind: IperfKind::Ping, seq: 7 };
        let mut buf = [0xAA; HEADER_LEN + 16];
        let config = FrameConfig { channel: 1, copies: 1, ..FrameConfig::UNICAST };
        let header = Header {
            data_type: DataType::Reserved,
            version: VERSION,
            size: 16,
            magic: 0x4242,
            config,
            dest: Mac([0x24, 0x0A, 0xC4, 0, 0, 2]),
            src: Mac([0x24, 0x0A, 0xC4, 0, 0, 1]),
        };
        buf[..HEADER_LEN].copy_from_slice(&header.emit());
        assert_eq!(head.emit(&mut buf[HEADER_LEN..], 16), Some(16));
        assert_eq!(buf, wire);
        let (_, payload) = Header::parse(&wire).unwrap();
        assert_eq!(IperfHead::parse(payload), Some(head));
    }

    #[test]
    fn kinds_are_numbered_as_on_the_air() {
        use IperfKind::{Bandwidth, Other, Ping, PingAck, Stop, StopAck};
        let kinds = [Bandwidth, Stop, StopAck, Ping, PingAck, Other(5)];
        for (number, kind) in (0..).zip(kinds) {
            assert_eq!(IperfKind::from_number(number), kind);
            assert_eq!(kind.number(), number);
        }
        let mut buf = [0xEE; 9];
        assert_eq!(IperfHead { kind: Stop, seq: 0x0102_0304 }.emit(&mut buf, 8), Some(8));
        assert_eq!(buf, [1, 0, 0, 0, 4, 3, 2, 1, 0xEE]);
    }

    #[test]
    fn lengths_that_do_not_fit_are_refused() {
        let head = IperfHead { kind: IperfKind::Stop, seq: 1 };
        assert_eq!(head.emit(&mut [0; 16], 7), None, "the component overruns its buffer");
        assert_eq!(head.emit(&mut [0; 16], 17), None);
        assert_eq!(IperfHead::parse(&[0; 7]), None);
    }

    proptest::proptest! {
        #[test]
        fn reads_back(number: u32, seq: u32, len in 8usize..64) {
            let head = IperfHead { kind: IperfKind::from_number(number), seq };
            let mut buf = [0xFF; 64];
            proptest::prop_assert_eq!(head.emit(&mut buf, len), Some(len));
            proptest::prop_assert_eq!(IperfHead::parse(&buf[..len]), Some(head));
            proptest::prop_assert_eq!(head.kind.number(), number);
        }

        #[test]
        fn any_bytes(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..32)) {
            proptest::prop_assert_eq!(IperfHead::parse(&bytes).is_some(), bytes.len() >= 8);
        }
    }
}

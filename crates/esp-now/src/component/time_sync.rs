//! Time synchronization (type 14; esp-now component, `espnow_time.h`, since 2.5.3).
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | version, 1 |
//! | 1 | 1 | 1 the initiator's time, 2 a request for it |
//! | 2 | 8 | microseconds since the sender started, with its offset added; signed |
//! | 10 | 8 | microseconds of UTC since 1970, or 0 where the sender does not know; signed |
//!
//! Longer payloads are taken, for what is behind is ignored.

/// Length of the payload, in bytes.
pub const TIME_SYNC_LEN: usize = 18;
/// Version that every release writes.
pub const TIME_SYNC_VERSION: u8 = 1;

/// Purpose of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeSyncKind {
    /// 1: the initiator announces its time.
    Broadcast,
    /// 2: a responder asks for the time.
    Request,
    /// Another number; ignored.
    Other(u8),
}

impl TimeSyncKind {
    const fn from_byte(byte: u8) -> Self {
        match byte {
            1 => Self::Broadcast,
            2 => Self::Request,
            other => Self::Other(other),
        }
    }

    const fn byte(self) -> u8 {
        match self {
            Self::Broadcast => 1,
            Self::Request => 2,
            Self::Other(other) => other,
        }
    }
}

/// A message of time synchronization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeSyncMessage {
    /// [`TIME_SYNC_VERSION`]; a receiver ignores others.
    pub version: u8,
    /// Purpose of the message.
    pub kind: TimeSyncKind,
    /// Clock of the sender, in microseconds.
    pub timestamp_us: i64,
    /// UTC, in microseconds since 1970; 0 if unknown. No receiver uses it.
    pub utc_us: i64,
}

impl TimeSyncMessage {
    /// Parses a payload; `None` below 18 bytes.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let ([version, kind], rest) = payload.split_first_chunk()?;
        let (timestamp, rest) = rest.split_first_chunk()?;
        Some(Self {
            version: *version,
            kind: TimeSyncKind::from_byte(*kind),
            timestamp_us: i64::from_le_bytes(*timestamp),
            utc_us: i64::from_le_bytes(*rest.first_chunk()?),
        })
    }

    /// Writes the payload and gives its length; `None` if `buf` is too short.
    pub fn emit(&self, buf: &mut [u8]) -> Option<usize> {
        let out = buf.first_chunk_mut::<TIME_SYNC_LEN>()?;
        out[0] = self.version;
        out[1] = self.kind.byte();
        out[2..10].copy_from_slice(&self.timestamp_us.to_le_bytes());
        out[10..].copy_from_slice(&self.utc_us.to_le_bytes());
        Some(TIME_SYNC_LEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::component::{DataType, FrameConfig, Header};
    use proptest::prelude::*;

    #[test]
    fn vector_12_of_the_protocol_reference() {
        let data = [
            0x2E, 0x12, 0x09, 0x09, 0x01, 0xC8, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0x24, 0x0A, 0xC4, 0x00, 0x00, 0x01, 0x01, 0x01, 0x4E, 0x61, 0xBC, 0x00, 0x00, 0x00,
            0x00, 0x00, 0x00, 0x40, 0x1E, 0x18, 0x24, 0x0A, 0x06, 0x00,
        ];
        let (header, payload) = Header::parse(&data).expect("a header");
        let config = FrameConfig { channel: 1, copies: 3, ..FrameConfig::default() };
        assert_eq!((header.data_type, header.config), (DataType::TimeSync, config));
        let time = TimeSyncMessage {
            version: TIME_SYNC_VERSION,
            kind: TimeSyncKind::Broadcast,
            timestamp_us: 12_345_678,
            utc_us: 1_700_000_000_000_000,
        };
        assert_eq!(TimeSyncMessage::parse(payload), Some(time));
        let mut buf = [0; 18];
        assert_eq!(time.emit(&mut buf), Some(18));
        assert_eq!((&buf[..], time.emit(&mut [0; 17])), (payload, None));
        assert_eq!(TimeSyncMessage::parse(&payload[..17]), None);
    }

    #[test]
    fn kinds_are_numbered_as_on_the_air() {
        for (number, kind) in
            [(1, TimeSyncKind::Broadcast), (2, TimeSyncKind::Request), (3, TimeSyncKind::Other(3))]
        {
            let time = TimeSyncMessage { version: 1, kind, timestamp_us: -2, utc_us: 0 };
            let mut buf = [0; 20];
            assert_eq!(time.emit(&mut buf), Some(18));
            assert_eq!(buf[..4], [1, number, 0xFE, 0xFF]);
            assert_eq!(TimeSyncMessage::parse(&buf), Some(time), "bytes behind are ignored");
        }
    }

    proptest! {
        #[test]
        fn bytes_and_values_are_the_same(mut bytes in prop::collection::vec(any::<u8>(), 0..24)) {
            prop_assert_eq!(TimeSyncMessage::parse(&bytes).is_none(), bytes.len() < 18);
            if let Some(time) = TimeSyncMessage::parse(&bytes) {
                let mut buf = [0; 18];
                prop_assert_eq!(time.emit(&mut buf), Some(18));
                bytes.truncate(18);
                prop_assert_eq!(&buf[..], &bytes[..]);
                prop_assert_eq!(TimeSyncMessage::parse(&buf), Some(time));
            }
        }
    }
}

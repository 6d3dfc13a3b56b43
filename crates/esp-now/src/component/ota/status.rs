//! Progress of a device: the initiator asks, and each responder answers.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | 3 |
//! | 1 | 16 | first half of the image's SHA-256 |
//! | 17 | 2 | error code, signed |
//! | 19 | 2 | packets: the image's length over the chunk's, rounded up |
//! | 21 | 4 | the image's length, bytes |
//! | 25 | 4 | bytes written so far; 0 in a question |
//! | 29 | 1 | number of the bitmap row that follows |
//! | 30 | 188 or 200 | that row, in answers of devices that have some packets but not all |
//!
//! Bit `i` of byte `b` of row `n` stands for packet `(n * row + b) * 8 + i`, and is 1 if the device
//! has it (esp-now component, `espnow_ota_status_t`).

use super::OtaType;

/// Length of the message before the row, in bytes.
pub const STATUS_LEN: usize = 30;
/// Length of the image's digest in the message, in bytes.
pub const DIGEST_LEN: usize = 16;

/// Error code in an answer (`ESP_ERR_ESPNOW_OTA_*`, as 16 bits).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum OtaCode {
    /// No error.
    #[default]
    Ok,
    /// 0x1001: the device begins: it erases its flash first, and then answers again.
    NotInit,
    /// 0x1002: no partition can take the image.
    Partition,
    /// 0x1003: the image is not valid.
    Invalid,
    /// 0x1004: packets are missing.
    Incomplete,
    /// 0x1005: flash could not be written.
    Download,
    /// 0x100A: the upgrade was stopped.
    Stop,
    /// 0x100B: the image is the one that is running.
    Finish,
    /// Another value.
    Other(i16),
}

impl OtaCode {
    const KNOWN: [(i16, Self); 8] = [
        (0, Self::Ok),
        (0x1001, Self::NotInit),
        (0x1002, Self::Partition),
        (0x1003, Self::Invalid),
        (0x1004, Self::Incomplete),
        (0x1005, Self::Download),
        (0x100A, Self::Stop),
        (0x100B, Self::Finish),
    ];

    /// Returns the code of a number.
    #[must_use]
    pub fn from_number(number: i16) -> Self {
        let known = Self::KNOWN.iter().find(|(n, _)| *n == number);
        known.map_or(Self::Other(number), |(_, code)| *code)
    }

    /// Returns the number on the air.
    #[must_use]
    pub fn number(self) -> i16 {
        if let Self::Other(number) = self {
            return number;
        }
        Self::KNOWN.iter().find(|(_, code)| *code == self).map_or(0, |(n, _)| *n)
    }
}

/// The message without its row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OtaStatus {
    /// First half of the image's SHA-256.
    pub digest: [u8; DIGEST_LEN],
    /// Error code.
    pub code: OtaCode,
    /// Number of packets of the image.
    pub packets: u16,
    /// Length of the image, in bytes.
    pub total: u32,
    /// Bytes of the image that the device has written.
    pub written: u32,
    /// Number of the row that follows.
    pub index: u8,
}

impl OtaStatus {
    /// Parses the message and returns it with the bytes behind it, which are the row if there is
    /// one.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<(Self, &[u8])> {
        if OtaType::of(payload)? != OtaType::Status {
            return None;
        }
        let (head, row) = payload.split_first_chunk::<STATUS_LEN>()?;
        let (_, rest) = head.split_first()?;
        let (digest, rest) = rest.split_first_chunk()?;
        let [c0, c1, p0, p1, t0, t1, t2, t3, w0, w1, w2, w3, index] = *rest.first_chunk()?;
        let status = Self {
            digest: *digest,
            code: OtaCode::from_number(i16::from_le_bytes([c0, c1])),
            packets: u16::from_le_bytes([p0, p1]),
            total: u32::from_le_bytes([t0, t1, t2, t3]),
            written: u32::from_le_bytes([w0, w1, w2, w3]),
            index,
        };
        Some((status, row))
    }

    /// Returns the 30 bytes.
    #[must_use]
    pub fn bytes(&self) -> [u8; STATUS_LEN] {
        let mut out = [0; STATUS_LEN];
        out[0] = OtaType::Status as u8;
        out[1..17].copy_from_slice(&self.digest);
        out[17..19].copy_from_slice(&self.code.number().to_le_bytes());
        out[19..21].copy_from_slice(&self.packets.to_le_bytes());
        out[21..25].copy_from_slice(&self.total.to_le_bytes());
        out[25..29].copy_from_slice(&self.written.to_le_bytes());
        out[29] = self.index;
        out
    }

    /// Writes the message with a row (which may be empty) behind it and returns the length; `None`
    /// if `buf` is too short.
    #[must_use]
    pub fn emit(&self, row: &[u8], buf: &mut [u8]) -> Option<usize> {
        let (head, rest) = buf.split_first_chunk_mut::<STATUS_LEN>()?;
        *head = self.bytes();
        rest.get_mut(..row.len())?.copy_from_slice(row);
        Some(STATUS_LEN + row.len())
    }

    /// Returns whether another message is about the same image.
    #[must_use]
    pub fn same_image(&self, other: &Self) -> bool {
        self.digest == other.digest && self.total == other.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Compares with vector 9 of the protocol reference, without its header.
    #[test]
    fn a_request_for_an_image_of_100_000_bytes() {
        let bytes = [
            0x03, 0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b, 0x0c,
            0x0d, 0x0e, 0x0f, 0x00, 0x00, 0xe1, 0x01, 0xa0, 0x86, 0x01, 0x00, 0x00, 0x00, 0x00,
            0x00, 0x00,
        ];
        let status = OtaStatus {
            digest: core::array::from_fn(|i| i as u8),
            packets: 481,
            total: 100_000,
            ..OtaStatus::default()
        };
        assert_eq!(status.bytes(), bytes);
        assert_eq!(OtaStatus::parse(&bytes), Some((status, &[][..])));
        assert_eq!(OtaStatus::parse(&bytes[..29]), None);
        assert_eq!(status.emit(&[1, 2], &mut [0; 31]), None, "no room");
    }

    #[test]
    fn codes_keep_their_numbers() {
        for number in [0, 0x1001, 0x1002, 0x1003, 0x1004, 0x1005, 0x100A, 0x100B, -1, 0x1006] {
            assert_eq!(OtaCode::from_number(number).number(), number);
        }
        assert_eq!(OtaCode::from_number(0x100B), OtaCode::Finish);
        assert_eq!(OtaCode::from_number(0x1006), OtaCode::Other(0x1006));
        assert_eq!(OtaCode::Incomplete.number(), 0x1004);
    }

    #[test]
    fn an_answer_with_its_row_by_hand() {
        let answer = OtaStatus {
            digest: [9; DIGEST_LEN],
            code: OtaCode::Incomplete,
            packets: 0x0102,
            total: 0x0A0B_0C0D,
            written: 0x0102_0304,
            index: 5,
        };
        let mut buf = [0xEE; 40];
        assert_eq!(answer.emit(&[0x81, 0x42], &mut buf), Some(32));
        let tail = [4, 0x10, 2, 1, 0x0D, 0x0C, 0x0B, 0x0A, 4, 3, 2, 1, 5, 0x81, 0x42];
        assert_eq!((buf[0], &buf[1..17], &buf[17..32]), (3, &[9; 16][..], &tail[..]));
        assert_eq!(OtaStatus::parse(&buf[..32]), Some((answer, &[0x81, 0x42][..])));
        assert_eq!(OtaStatus::parse(&[2; 40]), None, "a message of data");
        assert!(answer.same_image(&OtaStatus { written: 0, code: OtaCode::Ok, ..answer }));
        assert!(!answer.same_image(&OtaStatus { digest: [8; DIGEST_LEN], ..answer }));
        assert!(!answer.same_image(&OtaStatus { total: 1, ..answer }));
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_back(bytes in prop::collection::vec(any::<u8>(), 0..260)) {
            if let Some((status, row)) = OtaStatus::parse(&bytes) {
                let mut out = [0; 260];
                let len = status.emit(row, &mut out);
                prop_assert_eq!(len, Some(bytes.len()));
                prop_assert_eq!(&out[..bytes.len()], &bytes[..]);
            }
        }

        #[test]
        fn a_status_reads_back(mut bytes in prop::array::uniform30(any::<u8>())) {
            bytes[0] = 3;
            let (status, _) = OtaStatus::parse(&bytes).expect("thirty bytes of the right kind");
            prop_assert_eq!(status.bytes(), bytes);
        }
    }
}

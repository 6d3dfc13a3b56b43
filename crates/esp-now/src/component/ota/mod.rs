//! Upgrade over the air: the payloads of `OtaData` (initiator to responder) and `OtaStatus` (back).
//!
//! The first byte is the kind of message (esp-now component, `espnow_ota.h`; section 4.2 of the
//! protocol reference):
//!
//! | value | message | layout |
//! |---|---|---|
//! | 0 | request: which devices are there? | that byte alone |
//! | 1 | information | [`OtaInfo`] |
//! | 2 | data | [`Chunk`] |
//! | 3 | status, asked and answered | [`OtaStatus`] |
//!
//! No size is negotiated; [`Compat::ota_chunk`] and [`Compat::ota_row`] give them.
//!
//! [`Compat::ota_chunk`]: super::Compat::ota_chunk
//! [`Compat::ota_row`]: super::Compat::ota_row

mod chunk;
mod info;
mod status;

pub use chunk::{CHUNK_HEAD, Chunk};
pub use info::{AppDescription, AsciiText, DESCRIPTION_MAGIC, INFO_LEN, OtaInfo};
pub use status::{DIGEST_LEN, OtaCode, OtaStatus, STATUS_LEN};

/// Kind of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum OtaType {
    /// Request: which devices are there?
    Request = 0,
    /// Description of the firmware that a device runs.
    Info = 1,
    /// A piece of the image.
    Data = 2,
    /// Progress of a device.
    Status = 3,
}

impl OtaType {
    /// Returns the kind of a payload; `None` if it is empty or of another kind.
    #[must_use]
    pub fn of(payload: &[u8]) -> Option<Self> {
        match payload.first()? {
            0 => Some(Self::Request),
            1 => Some(Self::Info),
            2 => Some(Self::Data),
            3 => Some(Self::Status),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with vector 8 of the protocol reference.
    #[test]
    fn the_request_is_one_byte() {
        assert_eq!(OtaType::of(&[0]), Some(OtaType::Request));
        let others = [1, 2, 3].map(|kind| OtaType::of(&[kind, 0xFF]));
        assert_eq!(others, [OtaType::Info, OtaType::Data, OtaType::Status].map(Some));
        assert_eq!(OtaType::of(&[]), None);
        assert_eq!(OtaType::of(&[4]), None);
    }
}

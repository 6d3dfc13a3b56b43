//! The firmware that a device runs: ESP-IDF's application description.
//!
//! | offset | in the description | bytes | field |
//! |---|---|---|---|
//! | 0 | | 1 | 1 |
//! | 1 | | 3 | padding (uninitialised memory on the air, zero here) |
//! | 4 | 0 | 4 | 0xABCD5432 |
//! | 8 | 4 | 4 | secure version |
//! | 12 | 8 | 8 | reserved |
//! | 20 | 16 | 32 | version, NUL-padded text as all below |
//! | 52 | 48 | 32 | project |
//! | 84 | 80 | 16 | time of compilation |
//! | 100 | 96 | 16 | date of compilation |
//! | 116 | 112 | 32 | version of ESP-IDF |
//! | 148 | 144 | 32 | SHA-256 of the ELF file |
//! | 180 | 176 | 28 | the rest, cut after 204 of its 256 bytes |
//!
//! (ESP-IDF, "App Image Format", `esp_app_desc_t`; esp-now component, `espnow_ota_info`.) The
//! component's initiator reads 52 bytes beyond the message (trap 13 of the protocol reference), but
//! uses none of them.

use super::OtaType;
use core::fmt;

/// The first four bytes of every application description.
pub const DESCRIPTION_MAGIC: u32 = 0xABCD_5432;
/// Length of the message, in bytes.
pub const INFO_LEN: usize = 208;

/// The first 204 bytes of an application description.
#[derive(Clone, PartialEq, Eq)]
pub struct AppDescription(pub [u8; Self::LEN]);

impl Default for AppDescription {
    /// Returns a description whose texts are empty.
    fn default() -> Self {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&DESCRIPTION_MAGIC.to_le_bytes());
        Self(bytes)
    }
}

impl fmt::Debug for AppDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "App({} {})", AsciiText(self.project()), AsciiText(self.version()))
    }
}

impl AppDescription {
    /// Number of bytes that are sent.
    pub const LEN: usize = 204;

    /// Parses a description; `None` unless it begins with its magic.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let bytes = bytes.first_chunk::<{ Self::LEN }>()?;
        let magic = bytes.first_chunk()?;
        (u32::from_le_bytes(*magic) == DESCRIPTION_MAGIC).then_some(Self(*bytes))
    }

    /// Builds a description with these texts, each cut to its field.
    #[must_use]
    pub fn new(project: &str, version: &str, idf: &str, date: &str, time: &str) -> Self {
        let mut app = Self::default();
        let places = [(16, 32, version), (48, 32, project), (80, 16, time), (96, 16, date)];
        for (at, room, text) in places.into_iter().chain([(112, 32, idf)]) {
            let text = text.as_bytes();
            let len = text.len().min(room - 1);
            if let (Some(to), Some(from)) = (app.0.get_mut(at..at + len), text.get(..len)) {
                to.copy_from_slice(from);
            }
        }
        app
    }

    /// Returns the secure version, which must not fall (anti-rollback).
    #[must_use]
    pub fn secure_version(&self) -> u32 {
        let [_, _, _, _, a, b, c, d, ..] = self.0;
        u32::from_le_bytes([a, b, c, d])
    }

    /// Returns the version's whole field, as the version check compares it.
    #[must_use]
    pub fn version_field(&self) -> &[u8] {
        self.0.get(16..48).unwrap_or(&[])
    }

    /// Returns the version.
    #[must_use]
    pub fn version(&self) -> &[u8] {
        self.text(16, 32)
    }

    /// Returns the project's name.
    #[must_use]
    pub fn project(&self) -> &[u8] {
        self.text(48, 32)
    }

    /// Returns the time of compilation.
    #[must_use]
    pub fn time(&self) -> &[u8] {
        self.text(80, 16)
    }

    /// Returns the date of compilation.
    #[must_use]
    pub fn date(&self) -> &[u8] {
        self.text(96, 16)
    }

    /// Returns the version of ESP-IDF.
    #[must_use]
    pub fn idf(&self) -> &[u8] {
        self.text(112, 32)
    }

    fn text(&self, at: usize, room: usize) -> &[u8] {
        let field = self.0.get(at..at + room).unwrap_or(&[]);
        let len = field.iter().position(|&b| b == 0).unwrap_or(field.len());
        field.get(..len).unwrap_or(&[])
    }
}

/// Information message: the description of the running application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtaInfo(pub AppDescription);

impl OtaInfo {
    /// Parses a message; `None` if it is of another kind, too short, or without the magic.
    #[must_use]
    pub fn parse(payload: &[u8]) -> Option<Self> {
        if OtaType::of(payload)? != OtaType::Info {
            return None;
        }
        AppDescription::parse(payload.get(4..)?).map(Self)
    }

    /// Writes the message and returns its length; `None` if `buf` is too short.
    #[must_use]
    pub fn emit(&self, buf: &mut [u8]) -> Option<usize> {
        let (head, app) = buf.get_mut(..INFO_LEN)?.split_first_chunk_mut::<4>()?;
        *head = [OtaType::Info as u8, 0, 0, 0];
        app.copy_from_slice(&self.0.0);
        Some(INFO_LEN)
    }
}

/// Text of unknown origin: a question mark replaces each byte that is not printable ASCII. Width
/// pads on the left, as `%12s` does.
#[derive(Clone, Copy, Debug)]
pub struct AsciiText<'a>(pub &'a [u8]);

impl fmt::Display for AsciiText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write;
        for _ in self.0.len()..f.width().unwrap_or(0) {
            f.write_char(' ')?;
        }
        self.0.iter().try_for_each(|&b| {
            f.write_char(if b == b' ' || b.is_ascii_graphic() { char::from(b) } else { '?' })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;

    #[test]
    fn fields_lie_where_the_description_has_them() {
        let app = AppDescription::new("hello", "1.2.3", "v5.1", "Jan  1 2026", "12:00:00");
        let mut buf = [0; 230];
        assert_eq!(OtaInfo(app.clone()).emit(&mut buf), Some(208));
        assert_eq!(&buf[..8], &[1, 0, 0, 0, 0x32, 0x54, 0xCD, 0xAB]);
        assert_eq!(
            (&buf[20..25], &buf[52..57], &buf[116..120]),
            (&b"1.2.3"[..], &b"hello"[..], &b"v5.1"[..])
        );
        assert_eq!((app.time(), app.date()), (&b"12:00:00"[..], &b"Jan  1 2026"[..]));
        assert_eq!(OtaInfo::parse(&buf[..208]), Some(OtaInfo(app)));
        assert_eq!(OtaInfo::parse(&buf[..207]), None);
        buf[4] = 0;
        assert_eq!(OtaInfo::parse(&buf[..208]), None, "no description");
    }

    #[test]
    fn texts_are_cut_to_their_fields() {
        let long = "0123456789012345678901234567890123456789";
        let mut app = AppDescription::new(long, long, long, long, long);
        assert_eq!(
            (app.project(), app.version()),
            (&long.as_bytes()[..31], &long.as_bytes()[..31])
        );
        assert_eq!((app.time(), app.date()), (&long.as_bytes()[..15], &long.as_bytes()[..15]));
        assert_eq!(app.idf(), &long.as_bytes()[..31]);
        assert_eq!((app.version_field().len(), app.version_field()[31]), (32, 0));
        // A text that fills its field has no zero at its end.
        app.0[16..48].fill(b'x');
        assert_eq!(app.version(), [b'x'; 32]);
        app.0[4..8].copy_from_slice(&[4, 3, 2, 1]);
        assert_eq!(app.secure_version(), 0x0102_0304);
        let named = AppDescription::new("hello", "1.2", "v5.1", "", "");
        assert_eq!((named.secure_version(), named.idf()), (0, &b"v5.1"[..]));
        assert_eq!(format!("{named:?}"), "App(hello 1.2)");
        assert_eq!(AppDescription::parse(&named.0), Some(named.clone()));
        assert_eq!(AppDescription::parse(&named.0[..203]), None);
    }

    #[test]
    fn text_is_padded_and_made_harmless() {
        assert_eq!(
            format!("{:>6}|{}", AsciiText(b"ab"), AsciiText(b"a\x1b\xFFb c")),
            "    ab|a??b c"
        );
    }

    proptest! {
        #[test]
        fn what_is_read_is_written_back(mut bytes in prop::collection::vec(any::<u8>(), 0..230)) {
            for (place, byte) in bytes.iter_mut().zip([1, 0, 0, 0, 0x32, 0x54, 0xCD, 0xAB]) {
                *place = byte;
            }
            let info = OtaInfo::parse(&bytes);
            prop_assert_eq!(info.is_some(), bytes.len() >= INFO_LEN);
            if let Some(info) = info {
                let mut out = [0; INFO_LEN];
                prop_assert_eq!(info.emit(&mut out), Some(INFO_LEN));
                prop_assert_eq!(&out[..], &bytes[..INFO_LEN]);
            }
        }

        #[test]
        fn any_bytes_read(bytes in prop::collection::vec(any::<u8>(), 0..230)) {
            let _ = OtaInfo::parse(&bytes);
        }
    }
}

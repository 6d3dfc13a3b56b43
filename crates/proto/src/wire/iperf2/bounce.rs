//! Requests and replies of `--bounceback` (`bounceback_hdr` of `payloads.h`): the reply is the
//! request with the server's times in it.

use super::{MalformedHeader, Stamp, flags, half, put_words, word};

mod field {
    pub(super) const SIZE: usize = 4;
    pub(super) const ID: usize = 8;
    pub(super) const FLAGS: usize = 12;
    pub(super) const TOS: usize = 14;
    pub(super) const SENT: usize = 20;
    pub(super) const READ: usize = 28;
    pub(super) const REPLIED: usize = 36;
    pub(super) const HOLD: usize = 44;
    pub(super) const END: usize = 60;
}

/// Bytes of the header.
pub const BOUNCE_HEADER: usize = field::END;
/// The smallest request: a server of 2.1.8 reads so many bytes of the first one at least.
pub const BOUNCE_SMALLEST: u32 = 64;
/// The length of a request where none is given.
pub const BOUNCE_LENGTH: u32 = 100;

/// Bits of the header's own flags.
pub mod bounce_flags {
    /// Flag: client and server are to acknowledge at once (`TCP_QUICKACK`).
    pub const QUICK_ACK: u16 = 0x8000;
    /// The clocks agree: one-way times mean something.
    pub const CLOCKS_AGREE: u16 = 0x4000;
    /// The header names a type of service.
    pub const TOS: u16 = 0x2000;
    /// The last one: no reply is wanted.
    pub const STOP: u16 = 0x1000;
}

/// The header of a request or of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bounce {
    /// Bytes of request and reply, this header included.
    pub size: u32,
    /// Number of the burst (a period's requests share it), from 1.
    pub id: u32,
    /// See [`bounce_flags`].
    pub flags: u16,
    /// Type of service, where the flags say so.
    pub tos: u16,
    /// When the client wrote the request.
    pub sent: Stamp,
    /// When the server read it.
    pub read: Stamp,
    /// When the server wrote the reply.
    pub replied: Stamp,
    /// Microseconds that the server is to wait between the two.
    pub hold: u32,
}

impl Bounce {
    /// Reads a header.
    ///
    /// # Errors
    /// [`MalformedHeader`] where it is cut short, is none, or names a size that iperf 2.1.8 refuses.
    pub fn parse(bytes: &[u8]) -> Result<Self, MalformedHeader> {
        let bits = word(bytes, 0).unwrap_or_default();
        if bytes.len() < field::END || bits & flags::BOUNCEBACK == 0 {
            return Err(MalformedHeader);
        }
        let at = |offset| word(bytes, offset).unwrap_or_default();
        let stamp = |offset| Stamp { seconds: at(offset), micros: at(offset + 4) };
        let bounce = Self {
            size: at(field::SIZE),
            id: at(field::ID),
            flags: half(bytes, field::FLAGS).unwrap_or_default(),
            tos: half(bytes, field::TOS).unwrap_or_default(),
            sent: stamp(field::SENT),
            read: stamp(field::READ),
            replied: stamp(field::REPLIED),
            hold: at(field::HOLD),
        };
        if bounce.size < BOUNCE_SMALLEST { Err(MalformedHeader) } else { Ok(bounce) }
    }

    /// Writes a header into the first [`BOUNCE_HEADER`] bytes, or as much of it as fits.
    pub fn emit(&self, out: &mut [u8]) {
        put_words(
            out,
            &[
                flags::BOUNCEBACK,
                self.size,
                self.id,
                u32::from(self.flags) << 16 | u32::from(self.tos),
                0, // run time, which 2.1.8 leaves at zero
                self.sent.seconds,
                self.sent.micros,
                self.read.seconds,
                self.read.micros,
                self.replied.seconds,
                self.replied.micros,
                self.hold,
                0, // round trip, which 2.1.8 leaves
                0,
                0,
            ],
        );
    }

    /// Writes the server's times into a request, which becomes the reply.
    pub fn answer(request: &mut [u8], read: Stamp, replied: Stamp) {
        if let Some(times) = request.get_mut(field::READ..field::HOLD) {
            put_words(times, &[read.seconds, read.micros, replied.seconds, replied.micros]);
        }
    }

    /// Returns whether a flag is set.
    #[must_use]
    pub const fn has(&self, flag: u16) -> bool {
        self.flags & flag != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const REQUEST: Bounce = Bounce {
        size: 100,
        id: 3,
        flags: bounce_flags::QUICK_ACK,
        tos: 0,
        sent: Stamp { seconds: 1, micros: 2 },
        read: Stamp { seconds: u32::MAX, micros: u32::MAX },
        replied: Stamp { seconds: u32::MAX, micros: u32::MAX },
        hold: 500,
    };

    #[test]
    fn bytes_of_a_request_and_of_its_reply() {
        let mut out = [b'Z'; 100];
        REQUEST.emit(&mut out);
        assert_eq!(out[..12], [0, 0x80, 0, 0, 0, 0, 0, 100, 0, 0, 0, 3]);
        assert_eq!(out[12..20], [0x80, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(out[20..28], [0, 0, 0, 1, 0, 0, 0, 2]);
        assert_eq!(out[28..44], [0xFF; 16]);
        assert_eq!(out[44..48], [0, 0, 1, 0xF4]);
        assert_eq!(out[60..], [b'Z'; 40], "payload is left alone");
        let (read, replied) = (Stamp { seconds: 4, micros: 5 }, Stamp { seconds: 6, micros: 7 });
        Bounce::answer(&mut out, read, replied);
        assert_eq!(Bounce::parse(&out), Ok(Bounce { read, replied, ..REQUEST }));
    }

    #[test]
    fn what_is_none_or_too_small_is_refused() {
        let mut out = [0; 60];
        REQUEST.emit(&mut out);
        assert_eq!(Bounce::parse(&out[..59]), Err(MalformedHeader));
        Bounce { size: 63, ..REQUEST }.emit(&mut out);
        assert_eq!(Bounce::parse(&out), Err(MalformedHeader));
        assert_eq!(Bounce::parse(&[b'0'; 100]), Err(MalformedHeader), "iperf's pattern");
    }

    #[test]
    fn flags_and_type_of_service() {
        let mut out = [0; 60];
        let asked = Bounce { flags: bounce_flags::TOS | bounce_flags::STOP, tos: 0xB8, ..REQUEST };
        asked.emit(&mut out);
        assert_eq!(out[12..16], [0x30, 0, 0, 0xB8]);
        assert_eq!(Bounce::parse(&out), Ok(asked));
        assert!(asked.has(bounce_flags::STOP) && !asked.has(bounce_flags::QUICK_ACK));
        Bounce { size: 64, ..REQUEST }.emit(&mut out);
        assert_eq!(Bounce::parse(&out).map(|bounce| bounce.size), Ok(64), "the smallest");
    }

    proptest::proptest! {
        #[test]
        fn what_is_written_is_read(
            size in 64u32.., id in 0u32.., flags in 0u16.., hold in 0u32.., seconds in 0u32..,
        ) {
            let bounce = Bounce {
                size, id, flags, hold, sent: Stamp { seconds, micros: 9 }, ..REQUEST
            };
            let mut out = [0; BOUNCE_HEADER];
            bounce.emit(&mut out);
            proptest::prop_assert_eq!(Bounce::parse(&out), Ok(bounce));
        }
    }
}

//! The header of every UDP datagram: its number and when it was sent.

use super::{DATAGRAM_HEADER, MalformedHeader, TRIP_TIMES_LENGTH, flags, word};

mod field {
    pub(super) const ID: usize = 0;
    pub(super) const SECONDS: usize = 4;
    pub(super) const MICROS: usize = 8;
    pub(super) const ID_HIGH: usize = 12;
    pub(super) const CLIENT_FLAGS: usize = 16;
}

/// How wide the datagram numbers of a flow are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Width {
    /// Each datagram's own client header says it.
    #[default]
    Told,
    /// 64 bits: a sender of 2.1 that sends no client header (`-R`, `--full-duplex`).
    Wide,
}

/// A time of day as iperf 2 writes it. Differences are all that is ever computed from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Seconds.
    pub seconds: u32,
    /// Microseconds.
    pub micros: u32,
}

impl Stamp {
    /// Makes the stamp of that many nanoseconds since the epoch.
    #[must_use]
    pub const fn from_nanos(nanos: u64) -> Self {
        let seconds = nanos / 1_000_000_000;
        Self {
            seconds: (seconds & 0xFFFF_FFFF) as u32,
            micros: ((nanos % 1_000_000_000) / 1000) as u32,
        }
    }

    /// Returns nanoseconds since the epoch.
    #[must_use]
    pub const fn as_nanos(self) -> i64 {
        self.seconds as i64 * 1_000_000_000 + self.micros as i64 * 1000
    }

    /// Tells whether the sender wrote no time (ESP-IDF).
    #[must_use]
    pub const fn is_zero(self) -> bool {
        self.seconds == 0 && self.micros == 0
    }
}

/// A view of a received datagram; only the number must be there.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a>(&'a [u8]);

impl<'a> Datagram<'a> {
    /// Checks the length.
    ///
    /// # Errors
    /// [`MalformedHeader`] under four bytes.
    pub const fn new(bytes: &'a [u8]) -> Result<Self, MalformedHeader> {
        if bytes.len() < 4 { Err(MalformedHeader) } else { Ok(Self(bytes)) }
    }

    /// Returns the number. It is negative in the last datagram of a flow.
    #[must_use]
    pub fn id(&self, width: Width) -> i64 {
        let low = word(self.0, field::ID).unwrap_or_default();
        let wide = width == Width::Wide
            || word(self.0, field::CLIENT_FLAGS).is_some_and(|f| f & flags::SEQNO_64 != 0);
        match word(self.0, field::ID_HIGH) {
            Some(high) if wide => (u64::from(high) << 32 | u64::from(low)).cast_signed(),
            _ => i64::from(low.cast_signed()),
        }
    }

    /// Returns when it was sent; zero where it is too short to say.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        Stamp {
            seconds: word(self.0, field::SECONDS).unwrap_or_default(),
            micros: word(self.0, field::MICROS).unwrap_or_default(),
        }
    }

    /// Tells whether it carries the mark of trip times that stands for a client header in short
    /// datagrams.
    #[must_use]
    pub fn small_trip_times(&self) -> bool {
        let mark = [0, (flags::SMALL_TRIP_TIMES >> 16) as u8];
        self.0.len() < TRIP_TIMES_LENGTH as usize && self.body().starts_with(&mark)
    }

    /// Returns the bytes after the datagram header: a client header or a report; may be empty.
    #[must_use]
    pub fn body(&self) -> &'a [u8] {
        self.0.get(DATAGRAM_HEADER..).unwrap_or_default()
    }

    /// Writes a header into the first sixteen bytes. Bytes behind are left alone.
    pub fn emit(out: &mut [u8; DATAGRAM_HEADER], id: i64, stamp: Stamp) {
        let id = id.cast_unsigned();
        out[0..4].copy_from_slice(&((id & 0xFFFF_FFFF) as u32).to_be_bytes());
        out[4..8].copy_from_slice(&stamp.seconds.to_be_bytes());
        out[8..12].copy_from_slice(&stamp.micros.to_be_bytes());
        out[12..16].copy_from_slice(&((id >> 32) as u32).to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_of_the_first_and_of_the_last_datagram() {
        let mut out = [0; DATAGRAM_HEADER];
        Datagram::emit(&mut out, 1, Stamp { seconds: 0x0102_0304, micros: 5 });
        assert_eq!(out, [0, 0, 0, 1, 1, 2, 3, 4, 0, 0, 0, 5, 0, 0, 0, 0]);
        Datagram::emit(&mut out, -3, Stamp::default());
        assert_eq!(out, [255, 255, 255, 253, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255]);
        let view = Datagram::new(&out).unwrap();
        assert_eq!((view.id(Width::Wide), view.id(Width::Told)), (-3, -3));
    }

    #[test]
    fn a_narrow_last_number_is_not_a_large_one() {
        // An old client: 32-bit number, and its own header where the high half is now.
        let bytes = [0xFF, 0xFF, 0xFF, 0x9C, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        assert_eq!(Datagram::new(&bytes).unwrap().id(Width::Told), -100);
    }

    #[test]
    fn numbers_beyond_32_bits() {
        let mut bytes = [0; 20];
        Datagram::emit((&mut bytes[..16]).try_into().unwrap(), 1 << 40, Stamp::default());
        bytes[16..20].copy_from_slice(&flags::SEQNO_64.to_be_bytes());
        assert_eq!(Datagram::new(&bytes).unwrap().id(Width::Told), 1 << 40);
        let bare = Datagram::new(&bytes[..16]).unwrap();
        assert_eq!((bare.id(Width::Wide), bare.id(Width::Told)), (1 << 40, 0), "nothing tells");
    }

    #[test]
    fn stamps_are_whole_microseconds() {
        let stamp = Stamp::from_nanos(1_700_000_000_123_456_789);
        assert_eq!(stamp, Stamp { seconds: 1_700_000_000, micros: 123_456 });
        assert_eq!(stamp.as_nanos(), 1_700_000_000_123_456_000);
        let later = Stamp::from_nanos((5 + (1 << 32)) * 1_000_000_000 + 999);
        assert_eq!(later, Stamp { seconds: 5, micros: 0 }, "seconds have 32 bits");
        assert!(Stamp::default().is_zero());
        assert!(!Stamp { seconds: 1, micros: 0 }.is_zero());
        assert!(!Stamp { seconds: 0, micros: 1 }.is_zero());
    }

    /// Checks the mark of datagrams that are too short for the client header with its start time.
    #[test]
    fn short_datagrams_carry_a_mark_of_trip_times() {
        let mut bytes = [0; 128];
        bytes[17] = 2;
        let marked = |bytes: &[u8]| Datagram::new(bytes).unwrap().small_trip_times();
        assert!(marked(&bytes[..18]) && marked(&bytes[..127]));
        assert!(!marked(&bytes), "a whole header fits");
        assert!(!marked(&bytes[..17]), "the mark does not");
        bytes[16] = 1;
        assert!(!marked(&bytes[..18]));
        assert_eq!(Datagram::new(&bytes[..18]).unwrap().body(), [1, 2]);
    }

    #[test]
    fn the_time_of_sending_is_read() {
        let bytes = [0, 0, 0, 1, 0, 0, 1, 2, 0, 0, 3, 4];
        let view = Datagram::new(&bytes).unwrap();
        assert_eq!(view.stamp(), Stamp { seconds: 0x102, micros: 0x304 });
        assert_eq!(
            Datagram::new(&bytes[..11]).unwrap().stamp(),
            Stamp { seconds: 0x102, micros: 0 }
        );
    }

    #[test]
    fn an_esp_datagram_of_four_bytes() {
        let view = Datagram::new(&[0, 0, 0, 7]).unwrap();
        assert_eq!((view.id(Width::Told), view.id(Width::Wide)), (7, 7));
        assert!(view.stamp().is_zero() && view.body().is_empty());
        assert_eq!(Datagram::new(&[1, 2, 3]).unwrap_err(), MalformedHeader);
    }
}

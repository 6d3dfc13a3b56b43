//! The client's request to the server, in the first bytes of a TCP stream and in every UDP
//! datagram.

use super::{
    CLIENT_HEADER_MAX, CLIENT_HEADER_START, CLIENT_HEADER_V1, DATAGRAM_HEADER, MalformedHeader,
    Stamp, flags, half, put_words, upper, word,
};

mod field {
    pub(super) const FLAGS: usize = 0;
    pub(super) const THREADS: usize = 4;
    pub(super) const PORT: usize = 8;
    pub(super) const LENGTH: usize = 12;
    pub(super) const WINDOW: usize = 16;
    pub(super) const AMOUNT: usize = 20;
    pub(super) const UPPER: usize = 32;
    pub(super) const LOWER: usize = 34;
    pub(super) const VERSION_MAJOR: usize = 36;
    pub(super) const VERSION_MINOR: usize = 40;
    pub(super) const TOS: usize = 46;
    pub(super) const RATE_LOW: usize = 48;
    pub(super) const RATE_HIGH: usize = 52;
    pub(super) const PREFETCH: usize = 56;
    pub(super) const END: usize = 60;
    /// In a TCP stream; in a datagram eight words of isochronous traffic stand before it.
    pub(super) const START: usize = END;
    pub(super) const ISOCHRONOUS: usize = 32;
}

/// Where a client header stands: what follows its extension is elsewhere in a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carrier {
    /// At the beginning of a TCP stream.
    Stream,
    /// Behind the header of a datagram.
    Datagram,
}

impl Carrier {
    /// Returns the bytes before the header, which the length in its flags counts.
    const fn before(self) -> usize {
        match self {
            Self::Stream => 0,
            Self::Datagram => DATAGRAM_HEADER,
        }
    }

    /// Returns the offset of the start time.
    const fn start(self) -> usize {
        match self {
            Self::Stream => field::START,
            Self::Datagram => field::START + field::ISOCHRONOUS,
        }
    }
}

/// The part of the header that `--trip-times`, `--txstart-time` and `--fq-rate` add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// When the client's traffic begins, by its clock.
    pub at: Stamp,
    /// `--fq-rate`, in bytes a second.
    pub fq_rate: u64,
}

/// How much the client sends, and asks the server to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// `-t`, in hundredths of a second.
    Centiseconds(u32),
    /// `-n`, in bytes; the field holds 31 bits.
    Bytes(u32),
}

/// The part that 2.0.10 and later add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// See [`upper`].
    pub upper: u16,
    /// None is known.
    pub lower: u16,
    /// Major and minor version, as `0x0002_0001` and `0x0008_0003` for 2.1.8.
    pub version: (u32, u32),
    /// IP type of service.
    pub tos: u16,
    /// Offered bits a second; 0 is as fast as it goes.
    pub rate: u64,
    /// `TCP_NOTSENT_LOWAT` asked of the server.
    pub prefetch: u32,
}

/// The kind of test that the header asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestMode {
    /// The client sends.
    Forward,
    /// `-R`.
    Reverse,
    /// `--full-duplex`.
    FullDuplex,
    /// `-r`: the server connects to the client's [`port`](ClientHeader::port) afterwards.
    Tradeoff,
    /// `-d`: the same at once.
    Dual,
    /// `--bounceback`: not this protocol.
    Bounceback,
}

/// The header, without what only isochronous traffic and permit keys add.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientHeader {
    /// See [`flags`]. [`emit`](Self::emit) sets the bits that say what follows.
    pub flags: u32,
    /// `-P`.
    pub threads: u32,
    /// Where the client listens for `-r` and `-d`.
    pub port: u32,
    /// `-l`; 0 is the default of the transport.
    pub length: u32,
    /// `-w` of version 1.7; 0 since.
    pub window: u32,
    /// `-t` or `-n`.
    pub amount: Amount,
    /// Absent in clients before 2.0.10 and with `-C`.
    pub extension: Option<Extension>,
    /// Absent without the options that need it.
    pub start: Option<Start>,
}

impl ClientHeader {
    /// Returns the length of the header that begins with these flags: 0 where there is none, and
    /// plain payload follows.
    ///
    /// # Errors
    /// [`MalformedHeader`] where the length makes no sense.
    pub fn length_of(bits: u32) -> Result<usize, MalformedHeader> {
        if bits & flags::BOUNCEBACK != 0 {
            return Ok(4);
        }
        if bits & (flags::VERSION1 | flags::VERSION2 | flags::EXTEND) == 0 {
            return Ok(0);
        }
        let length = if bits & flags::LENGTH != 0 {
            ((bits & flags::LENGTH_MASK) >> 1) as usize
        } else if bits & (flags::VERSION2 | flags::EXTEND) != 0 {
            field::END
        } else {
            CLIENT_HEADER_V1
        };
        let allowed = CLIENT_HEADER_V1..=CLIENT_HEADER_MAX;
        if allowed.contains(&length) { Ok(length) } else { Err(MalformedHeader) }
    }

    /// Reads a header; `None` where the flags say that there is none (plain payload, ESP-IDF).
    ///
    /// # Errors
    /// [`MalformedHeader`] where it ends early.
    pub fn parse(bytes: &[u8], carrier: Carrier) -> Result<Option<Self>, MalformedHeader> {
        let Some(bits) = word(bytes, field::FLAGS) else { return Ok(None) };
        if Self::length_of(bits)? == 0 {
            return Ok(None);
        }
        let at = |offset| word(bytes, offset).unwrap_or_default();
        if bits & flags::BOUNCEBACK == 0 && bytes.len() < CLIENT_HEADER_V1 {
            return Err(MalformedHeader);
        }
        let amount = at(field::AMOUNT).cast_signed();
        let extended = bits & flags::EXTEND != 0 && bits & flags::BOUNCEBACK == 0;
        Ok(Some(Self {
            flags: bits,
            threads: at(field::THREADS),
            port: at(field::PORT),
            length: at(field::LENGTH),
            window: at(field::WINDOW),
            amount: if amount < 0 {
                Amount::Centiseconds(amount.unsigned_abs())
            } else {
                Amount::Bytes(amount.unsigned_abs())
            },
            extension: extended.then(|| Self::extension(bytes)),
            start: if extended { Self::start(bytes, carrier) } else { None },
        }))
    }

    /// Returns the start time, where the flags say that there is one and the bytes reach that far.
    fn start(bytes: &[u8], carrier: Carrier) -> Option<Start> {
        let wanted = upper::TRIP_TIMES | upper::EPOCH_START | upper::FQ_RATE;
        let at = carrier.start();
        half(bytes, field::UPPER).filter(|bits| bits & wanted != 0)?;
        let words = [4, 8, 12, 16].map(|offset| word(bytes, at + offset));
        let [Some(seconds), Some(micros), Some(low), Some(high)] = words else { return None };
        let fq_rate = u64::from(high) << 32 | u64::from(low);
        Some(Start { at: Stamp { seconds, micros }, fq_rate })
    }

    /// Reads the extension. Fields beyond the end of a short datagram read as zero.
    fn extension(bytes: &[u8]) -> Extension {
        let at = |offset| word(bytes, offset).unwrap_or_default();
        Extension {
            upper: half(bytes, field::UPPER).unwrap_or_default(),
            lower: half(bytes, field::LOWER).unwrap_or_default(),
            version: (at(field::VERSION_MAJOR), at(field::VERSION_MINOR)),
            tos: half(bytes, field::TOS).unwrap_or_default(),
            // The high half is shifted by eight bits: 24 bits of it are used.
            rate: u64::from(at(field::RATE_HIGH) >> 8) << 32 | u64::from(at(field::RATE_LOW)),
            prefetch: at(field::PREFETCH),
        }
    }

    /// Returns the kind of test that the header asks for.
    #[must_use]
    pub fn mode(&self) -> TestMode {
        let upper = self.extension.map_or(0, |e| e.upper);
        if self.flags & flags::BOUNCEBACK != 0 {
            TestMode::Bounceback
        } else if self.flags & flags::VERSION2 != 0 && upper & upper::FULL_DUPLEX != 0 {
            TestMode::FullDuplex
        } else if self.flags & flags::VERSION2 != 0 && upper & upper::REVERSE != 0 {
            TestMode::Reverse
        } else if self.flags & flags::VERSION1 != 0 && self.flags & flags::VERSION2 == 0 {
            if self.flags & flags::RUN_NOW != 0 { TestMode::Dual } else { TestMode::Tradeoff }
        } else {
            TestMode::Forward
        }
    }

    /// Tells whether the clocks are said to agree, so that one-way times can be told.
    #[must_use]
    pub fn trip_times(&self) -> bool {
        self.extension.is_some_and(|e| e.upper & upper::TRIP_TIMES != 0)
    }

    /// Returns the name of an option that the header asks for and that is not served here, where
    /// there is one.
    #[must_use]
    pub fn unsupported(&self) -> Option<&'static str> {
        if self.flags & flags::BOUNCEBACK != 0 {
            return None;
        }
        let asked = self.extension.map_or(0, |e| e.upper);
        let sends_back = self.mode() != TestMode::Forward;
        let has = |bit: u16| asked & bit != 0;
        if self.flags & flags::KEY_CHECK != 0 {
            Some("--permit-key")
        } else if has(upper::ISOCHRONOUS) {
            Some("--isochronous")
        } else if has(upper::PERIODIC_BURST) {
            Some("--burst-period")
        } else if has(upper::L2_LENGTH) {
            Some("--l2checks")
        } else if has(upper::EPOCH_START) && sends_back {
            Some("--txstart-time with a server that sends")
        } else if has(upper::FQ_RATE) && sends_back {
            Some("--fq-rate with a server that sends")
        } else {
            None
        }
    }

    /// Tells whether a TCP server answers with a [`HeaderAck`](super::HeaderAck): extended and not version 2,
    /// or asked for (`Listener::apply_client_settings_tcp`).
    #[must_use]
    pub const fn wants_ack(&self) -> bool {
        self.flags & flags::PEER_DETECT != 0
            || (self.flags & flags::EXTEND != 0 && self.flags & flags::VERSION2 == 0)
    }

    /// Tells whether a UDP receiver owes no closing report.
    #[must_use]
    pub fn no_report(&self) -> bool {
        self.extension.is_some_and(|e| e.upper & upper::NO_UDP_FIN != 0)
    }

    /// Returns the bytes that [`emit`](Self::emit) writes.
    #[must_use]
    pub const fn buffer_len(&self, carrier: Carrier) -> usize {
        match (self.extension, self.start) {
            (None, _) => CLIENT_HEADER_V1,
            (Some(_), None) => field::END,
            (Some(_), Some(_)) => carrier.start() + CLIENT_HEADER_START - field::START,
        }
    }

    /// Returns the length that the flags carry. In a datagram with a start time that of 2.1.8 ends
    /// before it.
    const fn told_len(&self, carrier: Carrier) -> usize {
        match (carrier, self.extension, self.start) {
            (Carrier::Datagram, Some(_), Some(_)) => carrier.before() + carrier.start(),
            _ => carrier.before() + self.buffer_len(carrier),
        }
    }

    /// Writes the header, or as much of it as fits.
    pub fn emit(&self, out: &mut [u8], carrier: Carrier) {
        let length = self.told_len(carrier);
        let mut bits = self.flags;
        if self.extension.is_some() {
            bits |= flags::EXTEND | flags::LENGTH;
            bits |= (length as u32) << 1 & flags::LENGTH_MASK;
        }
        let amount = match self.amount {
            Amount::Centiseconds(n) => 0u32.wrapping_sub(n.min(0x8000_0000)),
            Amount::Bytes(n) => n & 0x7FFF_FFFF,
        };
        let v1 = [bits, self.threads, self.port, self.length, self.window, amount];
        put_words(out, &v1);
        let (Some(e), Some(rest)) = (self.extension, out.get_mut(CLIENT_HEADER_V1..)) else {
            return;
        };
        put_words(
            rest,
            &[
                0,
                0,
                u32::from(e.upper) << 16 | u32::from(e.lower),
                e.version.0,
                e.version.1,
                u32::from(e.tos),
                (e.rate & 0xFFFF_FFFF) as u32,
                ((e.rate >> 32) as u32) << 8,
                e.prefetch,
            ],
        );
        let Some(start) = self.start else { return };
        if let Some(gap) = out.get_mut(field::END..carrier.start()) {
            gap.fill(0);
        }
        if let Some(rest) = out.get_mut(carrier.start()..) {
            let (low, high) = ((start.fq_rate & 0xFFFF_FFFF) as u32, (start.fq_rate >> 32) as u32);
            put_words(rest, &[0, start.at.seconds, start.at.micros, low, high]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: ClientHeader = ClientHeader {
        flags: 0,
        threads: 1,
        port: 5001,
        length: 0,
        window: 0,
        amount: Amount::Centiseconds(1000),
        extension: Some(Extension {
            upper: 0,
            lower: 0,
            version: (0x0002_0001, 0x0008_0003),
            tos: 0,
            rate: 0,
            prefetch: 0,
        }),
        start: None,
    };
    const STREAM: Carrier = Carrier::Stream;

    /// The first 60 bytes of `iperf -c 127.0.0.1 -t 10`, Debian's 2.1.8.
    const CAPTURED: [u8; 60] = [
        0x40, 0x01, 0x00, 0x78, 0, 0, 0, 1, 0, 0, 0x13, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF,
        0xFC, 0x18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 8, 0, 3, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    ];

    #[test]
    fn bytes_of_a_plain_tcp_client() {
        let mut out = [0xAA; 60];
        PLAIN.emit(&mut out, STREAM);
        assert_eq!(out, CAPTURED);
        let read = ClientHeader::parse(&CAPTURED, STREAM).unwrap().unwrap();
        assert_eq!(read.mode(), TestMode::Forward);
        assert!(read.wants_ack());
        assert_eq!(read.extension, PLAIN.extension);
        assert_eq!(read.amount, PLAIN.amount);
    }

    #[test]
    fn modes() {
        let with = |bits, upper| ClientHeader {
            flags: bits,
            extension: Some(Extension { upper, ..PLAIN.extension.unwrap() }),
            ..PLAIN
        };
        assert_eq!(with(flags::VERSION2, upper::REVERSE).mode(), TestMode::Reverse);
        assert!(!with(flags::VERSION2 | flags::EXTEND, upper::REVERSE).wants_ack());
        assert_eq!(with(flags::VERSION2, upper::FULL_DUPLEX).mode(), TestMode::FullDuplex);
        assert_eq!(with(flags::VERSION1, 0).mode(), TestMode::Tradeoff);
        assert_eq!(with(flags::VERSION1 | flags::RUN_NOW, 0).mode(), TestMode::Dual);
        // The extension's flags say nothing without version 2, and version 2 rules out the old ones.
        let forward = [
            with(0, upper::REVERSE),
            with(flags::EXTEND, upper::FULL_DUPLEX),
            with(flags::VERSION2, 0),
            with(flags::VERSION2, upper::TRIP_TIMES),
            with(flags::VERSION1 | flags::VERSION2, 0),
        ];
        assert!(forward.iter().all(|header| header.mode() == TestMode::Forward));
    }

    #[test]
    fn plain_payload_has_no_header() {
        assert_eq!(ClientHeader::parse(b"0123456789", STREAM), Ok(None));
        assert_eq!(ClientHeader::parse(&[0; 100], STREAM), Ok(None), "ESP-IDF");
        assert_eq!(ClientHeader::parse(&[], STREAM), Ok(None));
        assert_eq!(ClientHeader::parse(&CAPTURED[..20], STREAM), Err(MalformedHeader));
    }

    #[test]
    fn a_rate_beyond_32_bits() {
        let mut header = PLAIN;
        header.extension.as_mut().unwrap().rate = 10_000_000_000;
        let mut out = [0; 60];
        header.emit(&mut out, STREAM);
        assert_eq!(&out[48..56], &[0x54, 0x0B, 0xE4, 0x00, 0, 0, 2, 0]);
        let read = ClientHeader::parse(&out, STREAM).unwrap().unwrap();
        assert_eq!(read.extension.unwrap().rate, 10_000_000_000);
    }

    #[test]
    fn a_short_datagram_carries_what_fits() {
        let mut out = [0; 48];
        PLAIN.emit(&mut out, Carrier::Datagram);
        let read = ClientHeader::parse(&out, Carrier::Datagram).unwrap().unwrap();
        assert_eq!(read.flags & flags::LENGTH_MASK, 76 << 1);
        assert_eq!(read.extension.unwrap().version, (0x0002_0001, 0x0008_0003));
    }

    /// `iperf -c 127.0.0.1 -t 1 --trip-times` and the same with `-u -b 8M`, Debian's 2.1.8.
    #[test]
    fn a_start_time_in_a_stream_and_in_a_datagram() {
        let at = Stamp { seconds: 0x6921_F84D, micros: 0x0001_D4C0 };
        let extension = Extension { upper: upper::TRIP_TIMES, ..PLAIN.extension.unwrap() };
        let header = ClientHeader {
            extension: Some(extension),
            start: Some(Start { at, fq_rate: 0 }),
            ..PLAIN
        };
        let mut out = [0xFF; 112];
        header.emit(&mut out, STREAM);
        assert_eq!(out[..4], [0x40, 0x01, 0x00, 0xA0], "80 bytes");
        let expected =
            [0, 0, 0, 0, 0x69, 0x21, 0xF8, 0x4D, 0, 1, 0xD4, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!((&out[60..80], out[80]), (&expected[..], 0xFF));
        let read = ClientHeader::parse(&out[..80], STREAM).unwrap().unwrap();
        assert_eq!((read.start, read.trip_times()), (header.start, true));
        header.emit(&mut out, Carrier::Datagram);
        assert_eq!(out[..4], [0x40, 0x01, 0x00, 0xD8], "108 bytes with what is before");
        assert_eq!((&out[60..92], &out[92..112]), (&[0; 32][..], &expected[..]));
        let read = ClientHeader::parse(&out, Carrier::Datagram).unwrap().unwrap();
        assert_eq!(read.start, header.start);
        assert_eq!(
            ClientHeader::parse(&out[..100], Carrier::Datagram).unwrap().unwrap().start,
            None
        );
    }

    /// Checks `--fq-rate` and `--txstart-time`, which have the words of a start time, too.
    #[test]
    fn a_paced_rate_is_64_bits() {
        let start =
            Some(Start { at: Stamp { seconds: 1, micros: 2 }, fq_rate: 0x0102_0304_0506_0708 });
        for bit in [upper::FQ_RATE, upper::EPOCH_START] {
            let extension = Some(Extension { upper: bit, ..PLAIN.extension.unwrap() });
            let header = ClientHeader { extension, start, ..PLAIN };
            let mut out = [0xFF; 80];
            header.emit(&mut out, STREAM);
            assert_eq!(out[64..], [0, 0, 0, 1, 0, 0, 0, 2, 5, 6, 7, 8, 1, 2, 3, 4]);
            let read = ClientHeader::parse(&out, STREAM).unwrap().unwrap();
            assert_eq!((read.start, read.buffer_len(Carrier::Datagram)), (start, 112));
            // Without a flag that asks for it, what follows is payload.
            out[32..34].fill(0);
            assert_eq!(ClientHeader::parse(&out, STREAM).unwrap().unwrap().start, None);
        }
    }

    #[test]
    fn what_is_not_served_is_named() {
        let with = |bits, upper| {
            let extension = Some(Extension { upper, ..PLAIN.extension.unwrap() });
            ClientHeader { flags: bits | flags::EXTEND, extension, ..PLAIN }.unsupported()
        };
        assert_eq!((with(0, 0), with(0, upper::TRIP_TIMES)), (None, None));
        assert_eq!(with(0, upper::ISOCHRONOUS), Some("--isochronous"));
        assert_eq!(with(0, upper::PERIODIC_BURST), Some("--burst-period"));
        assert_eq!(with(flags::KEY_CHECK, 0), Some("--permit-key"));
        assert_eq!((with(0, upper::EPOCH_START), with(0, upper::FQ_RATE)), (None, None));
        let reverse = upper::REVERSE | upper::EPOCH_START;
        assert!(with(flags::VERSION2, reverse).is_some_and(|it| it.starts_with("--txstart-time")));
        let paced = upper::FULL_DUPLEX | upper::FQ_RATE;
        assert!(with(flags::VERSION2, paced).is_some_and(|it| it.starts_with("--fq-rate")));
        assert_eq!(with(0, upper::L2_LENGTH), Some("--l2checks"));
        assert_eq!(with(flags::VERSION2, upper::REVERSE), None);
        assert_eq!(with(flags::BOUNCEBACK, upper::ISOCHRONOUS), None, "another protocol");
        let old = ClientHeader { extension: None, flags: flags::VERSION1, ..PLAIN };
        assert_eq!(old.unsupported(), None);
    }

    #[test]
    fn flags_of_the_extension_by_name() {
        let with = |upper| ClientHeader {
            extension: Some(Extension { upper, ..Extension::default() }),
            ..PLAIN
        };
        assert!(with(upper::TRIP_TIMES | 1).trip_times() && !with(!upper::TRIP_TIMES).trip_times());
        assert!(with(upper::NO_UDP_FIN | 1).no_report() && !with(!upper::NO_UDP_FIN).no_report());
        let none = ClientHeader { extension: None, ..PLAIN };
        assert!(!none.trip_times() && !none.no_report());
    }

    /// Checks the rule of `Listener::apply_client_settings_tcp`.
    #[test]
    fn who_waits_for_an_acknowledgement() {
        let wants = |flags| ClientHeader { flags, ..PLAIN }.wants_ack();
        assert!(wants(flags::PEER_DETECT) && wants(flags::PEER_DETECT | flags::VERSION2));
        assert!(wants(flags::EXTEND) && !wants(flags::EXTEND | flags::VERSION2));
        assert!(!wants(0) && !wants(flags::VERSION1));
    }

    #[test]
    fn a_header_is_as_long_as_its_flags_say() {
        assert_eq!(ClientHeader::length_of(0), Ok(0));
        assert_eq!(ClientHeader::length_of(flags::LENGTH | 60 << 1), Ok(0), "no header at all");
        assert_eq!(ClientHeader::length_of(flags::BOUNCEBACK | flags::VERSION1), Ok(4));
        assert_eq!(ClientHeader::length_of(flags::VERSION1), Ok(24));
        assert_eq!(ClientHeader::length_of(flags::EXTEND), Ok(60));
        assert_eq!(ClientHeader::length_of(flags::VERSION2), Ok(60));
        let told =
            |length: u32| ClientHeader::length_of(flags::EXTEND | flags::LENGTH | length << 1);
        assert_eq!((told(24), told(80), told(255)), (Ok(24), Ok(80), Ok(255)));
        assert_eq!(told(23), Err(MalformedHeader));
        assert_eq!(told(256 + 40), Ok(40), "eight bits of length, whatever is above");
    }

    /// Reads the header of version 1.7: 24 bytes, with the amount in bytes.
    #[test]
    fn an_old_client() {
        let bytes =
            [0x80, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0x13, 0x8A, 0, 0, 5, 0xBE, 0, 1, 0, 0, 0, 0, 4, 0];
        let old = ClientHeader {
            flags: flags::VERSION1 | flags::RUN_NOW,
            threads: 2,
            port: 5002,
            length: 1470,
            window: 0x1_0000,
            amount: Amount::Bytes(1024),
            extension: None,
            start: None,
        };
        assert_eq!(ClientHeader::parse(&bytes, STREAM), Ok(Some(old)));
        assert_eq!(ClientHeader::parse(&bytes[..23], STREAM), Err(MalformedHeader));
        assert_eq!((old.mode(), old.buffer_len(STREAM)), (TestMode::Dual, 24));
        let mut out = [0xEE; 28];
        old.emit(&mut out, STREAM);
        assert_eq!((&out[..24], &out[24..]), (&bytes[..], &[0xEE; 4][..]));
        // A time is negative, and 31 bits are bytes.
        let most = ClientHeader { amount: Amount::Bytes(u32::MAX), ..old };
        most.emit(&mut out, STREAM);
        assert_eq!(out[20..24], [0x7F, 0xFF, 0xFF, 0xFF]);
        let longest = ClientHeader { amount: Amount::Centiseconds(u32::MAX), ..old };
        longest.emit(&mut out, STREAM);
        assert_eq!(out[20..24], [0x80, 0, 0, 0]);
    }

    #[test]
    fn a_request_for_bounce_back_is_four_bytes() {
        let bytes = flags::BOUNCEBACK.to_be_bytes();
        let header = ClientHeader::parse(&bytes, STREAM).unwrap().unwrap();
        assert_eq!((header.mode(), header.extension), (TestMode::Bounceback, None));
        assert_eq!(header.amount, Amount::Bytes(0), "a time is below zero");
        let extended = (flags::BOUNCEBACK | flags::EXTEND).to_be_bytes();
        let header = ClientHeader::parse(&extended, STREAM).unwrap().unwrap();
        assert_eq!(header.extension, None, "its further words are those of another protocol");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(0u8.., 0..300)) {
            if let Ok(Some(header)) = ClientHeader::parse(&bytes, STREAM) {
                let _ = (header.mode(), header.wants_ack(), header.no_report(), header.unsupported());
            }
        }

        #[test]
        fn what_is_written_is_read(
            bits in 0u32.., threads in 0u32.., port in 0u32.., length in 0u32..,
            amount in 0i32.., upper in 0u16.., rate in 0u64..1 << 56, time in proptest::bool::ANY,
        ) {
            let header = ClientHeader {
                flags: bits & !flags::BOUNCEBACK & !flags::LENGTH_MASK,
                threads, port, length, window: 0,
                amount: if time { Amount::Centiseconds(amount.unsigned_abs().max(1)) }
                    else { Amount::Bytes(amount.unsigned_abs()) },
                extension: Some(Extension { upper: upper & !0x1210, rate, ..Extension::default() }),
                start: None,
            };
            let mut out = [0; 60];
            header.emit(&mut out, STREAM);
            let read = ClientHeader::parse(&out, STREAM).unwrap().unwrap();
            let bits = header.flags | flags::EXTEND | flags::LENGTH | 60 << 1;
            proptest::prop_assert_eq!(read, ClientHeader { flags: bits, ..header });
        }
    }
}

//! Headers as Debian's 2.1.8 sends them, and what they ask for.

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
    0x40, 0x01, 0x00, 0x78, 0, 0, 0, 1, 0, 0, 0x13, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFC,
    0x18, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 8, 0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0,
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
    let header =
        ClientHeader { extension: Some(extension), start: Some(Start { at, fq_rate: 0 }), ..PLAIN };
    let mut out = [0xFF; 112];
    header.emit(&mut out, STREAM);
    assert_eq!(out[..4], [0x40, 0x01, 0x00, 0xA0], "80 bytes");
    let expected = [0, 0, 0, 0, 0x69, 0x21, 0xF8, 0x4D, 0, 1, 0xD4, 0xC0, 0, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!((&out[60..80], out[80]), (&expected[..], 0xFF));
    let read = ClientHeader::parse(&out[..80], STREAM).unwrap().unwrap();
    assert_eq!((read.start, read.trip_times()), (header.start, true));
    header.emit(&mut out, Carrier::Datagram);
    assert_eq!(out[..4], [0x40, 0x01, 0x00, 0xD8], "108 bytes with what is before");
    assert_eq!((&out[60..92], &out[92..112]), (&[0; 32][..], &expected[..]));
    let read = ClientHeader::parse(&out, Carrier::Datagram).unwrap().unwrap();
    assert_eq!(read.start, header.start);
    assert_eq!(ClientHeader::parse(&out[..100], Carrier::Datagram).unwrap().unwrap().start, None);
}

/// Checks `--fq-rate` and `--txstart-time`, which have the words of a start time, too.
#[test]
fn a_paced_rate_is_64_bits() {
    let start = Some(Start { at: Stamp { seconds: 1, micros: 2 }, fq_rate: 0x0102_0304_0506_0708 });
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
    let told = |length: u32| ClientHeader::length_of(flags::EXTEND | flags::LENGTH | length << 1);
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

use super::*;
use crate::component::{DataType, Header};
use proptest::prelude::*;
use std::vec;
use std::vec::Vec;

const A: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);

fn mpdu(version: EspNowVersion) -> ActionFrame {
    ActionFrame {
        receiver: Mac::BROADCAST,
        transmitter: A,
        sequence: 0,
        retry: false,
        random: [0xDE, 0xAD, 0xBE, 0xEF],
        version,
    }
}

/// Vector 1 of the protocol reference: "hello" by broadcast.
const HELLO: [u8; 25] = [
    0x2A, 0x05, 0x34, 0x12, 0x01, 0x88, 0x02, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x24, 0x0A,
    0xC4, 0x00, 0x00, 0x01, 0x68, 0x65, 0x6C, 0x6C, 0x6F,
];

#[test]
fn vector_17_of_the_protocol_reference() {
    let head = [
        0xD0, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x24, 0x0A, 0xC4, 0x00, 0x00,
        0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x7F, 0x18, 0xFE, 0x34, 0xDE, 0xAD,
        0xBE, 0xEF, 0xDD, 0x1E, 0x18, 0xFE, 0x34, 0x04, 0x01,
    ];
    let mut buf = [0; 128];
    let len = mpdu(EspNowVersion::V1).emit(&HELLO, &mut buf).expect("it fits");
    assert_eq!((&buf[..head.len()], &buf[head.len()..len]), (&head[..], &HELLO[..]));
    let (read, body) = parse(&buf[..len]).expect("ESP-NOW");
    assert_eq!(read, mpdu(EspNowVersion::V1));
    assert_eq!((body.as_slice(), body.complete()), (Some(&HELLO[..]), true));
    let (header, payload) = Header::parse(&HELLO).expect("the component's");
    assert_eq!((header.data_type, payload), (DataType::Data, &b"hello"[..]));

    let with_fcs = mpdu(EspNowVersion::V1).emit_with_fcs(&HELLO, &mut buf).expect("it fits");
    assert_eq!((with_fcs, with_fcs), (len + 4, mpdu_len(25)));
    assert!(mpdu::check_fcs(&buf[..with_fcs]).and_then(parse).is_some());
}

/// Checks the outer bytes of a retry that an ESP8266 sent (section 1 of the protocol reference):
/// 250 bytes of data, and address 3 repeats address 1.
#[test]
fn captured_from_an_esp8266() {
    let mut frame = vec![0xD0, 0x08, 0x3A, 0x01];
    for address in [[0x30, 0xAE, 0xA4, 0x1E, 0x8D, 0x6C], A.0, [0x30, 0xAE, 0xA4, 0x1E, 0x8D, 0x6C]]
    {
        frame.extend(address);
    }
    frame.extend([0x20, 0x03]);
    frame.extend([0x7F, 0x18, 0xFE, 0x34, 0x17, 0x71, 0x47, 0x8C]);
    frame.extend([0xDD, 0xFF, 0x18, 0xFE, 0x34, 0x04, 0x01]);
    frame.extend((0..250).map(|i| i as u8));
    let (read, body) = parse(&frame).expect("ESP-NOW");
    assert!(read.retry && !read.receiver.is_broadcast());
    assert_eq!((read.sequence, read.random), (0x32, [0x17, 0x71, 0x47, 0x8C]));
    assert_eq!((body.len(), read.version, body.complete()), (250, EspNowVersion::V1, true));
    assert_eq!(mpdu_len(250), frame.len() + 4);
    assert_eq!(read.header().emit()[..4], frame[..4], "with the same duration");
}

#[test]
fn long_data_goes_in_several_elements() {
    let data: Vec<u8> = (0..1470).map(|i| i as u8).collect();
    let mut buf = [0; MPDU_MAX];
    let len = mpdu(EspNowVersion::V2).emit(&data, &mut buf).expect("it fits");
    // 1512 bytes of elements, as the guide counts them.
    assert_eq!((len, mpdu_len(1470)), (32 + 1512, 32 + 1512 + 4));
    let octets: Vec<u8> = (0..6).map(|i| buf[32 + 257 * i + 6]).collect();
    assert_eq!(octets, [0x12, 0x12, 0x12, 0x12, 0x12, 0x02]);
    let (_, body) = parse(&buf[..len]).expect("ESP-NOW");
    let mut out = [0; DATA_MAX];
    assert_eq!(body.gather(&mut out), Some(&data[..]));
    assert_eq!((body.as_slice(), body.gather(&mut out[..1469])), (None, None));
    assert_eq!(mpdu(EspNowVersion::V1).emit(&data, &mut buf), None, "v1.0 has no room for it");
    assert_eq!(mpdu(EspNowVersion::V2).emit(&data, &mut buf[..len - 1]), None);

    // A frame that lost its last element on the way reports so.
    let (_, cut) = parse(&buf[..32 + 5 * 257]).expect("ESP-NOW");
    assert_eq!((cut.len(), cut.complete()), (1250, false));
}

#[test]
fn versions_by_length_and_by_their_octet() {
    assert_eq!([0, 250, 251, 1490].map(EspNowVersion::of_data), {
        use EspNowVersion::{V1, V2};
        [V1, V1, V2, V2]
    });
    let of = |octet: u8| {
        let body = VendorElements::new(&[0xDD, 6, 0x18, 0xFE, 0x34, 4, octet, 0x77])
            .map(|body| (body.version(), body.complete(), body.len(), body.is_empty()));
        body.expect("ESP-NOW")
    };
    // Above 1 the number counts as v2.0, and only there is the bit "more data".
    assert_eq!([0x00, 0x01, 0x11].map(of), [(EspNowVersion::V1, true, 1, false); 3]);
    assert_eq!([0x02, 0x03, 0x2F].map(of), [(EspNowVersion::V2, true, 1, false); 3]);
    assert_eq!([0x12, 0x1F].map(of), [(EspNowVersion::V2, false, 1, false); 2]);
    let nothing = [0xDD, 5, 0x18, 0xFE, 0x34, 4, 1];
    let nothing = VendorElements::new(&nothing).expect("ESP-NOW");
    assert_eq!((nothing.len(), nothing.is_empty(), nothing.as_slice()), (0, true, Some(&[][..])));
    assert_eq!((mpdu_len(0), mpdu_len(250), mpdu_len(251)), (43, 293, 301));
}

#[test]
fn a_retry_to_a_single_receiver_and_the_longest_frame_of_v1() {
    let again =
        ActionFrame { retry: true, sequence: 0x1ABC, receiver: A, ..mpdu(EspNowVersion::V1) };
    let mut buf = [0; 64];
    again.emit(&[], &mut buf).expect("it fits");
    assert_eq!((buf[..4].to_vec(), &buf[22..24]), (vec![0xD0, 8, 0x3A, 1], &[0xC0, 0xAB][..]));
    assert_eq!(buf[32..39], [0xDD, 5, 0x18, 0xFE, 0x34, 4, 1]);
    let longest = [7; 250];
    let mut buf = [0; 300];
    assert_eq!(mpdu(EspNowVersion::V1).emit(&longest, &mut buf), Some(289));
    assert_eq!(mpdu(EspNowVersion::V1).emit(&[7; 251], &mut buf), None);
}

#[test]
fn other_elements_are_skipped_and_malformed_ones_refused() {
    let ours = [0xDD, 6, 0x18, 0xFE, 0x34, 4, 1, 0x77];
    let of = |elements: &[u8]| {
        VendorElements::new(elements).and_then(|body| body.as_slice().map(Vec::from))
    };
    let around = |before: &[u8]| of(&[before, &ours, &[0, 0]].concat());
    assert_eq!(of(&ours), Some(vec![0x77]));
    assert_eq!(around(&[0, 3, b'a', b'b', b'c']), Some(vec![0x77]), "an SSID");
    assert_eq!(around(&[0xDD, 5, 0, 0x50, 0xF2, 2, 1]), Some(vec![0x77]), "another vendor");
    assert_eq!(around(&[0xDD, 5, 0x18, 0xFE, 0x34, 9, 1]), Some(vec![0x77]), "another type");
    assert_eq!(around(&[0xDD, 4, 0x18, 0xFE, 0x34, 4]), None, "too short for a version");
    assert_eq!(of(&ours[..7]), None, "runs over the end");
    assert_eq!(of(&[ours.as_slice(), &[0xDD]].concat()), None, "no length");
    assert_eq!((of(&[]), of(&[0, 0])), (None, None), "none is ours");
}

#[test]
fn what_is_not_esp_now_is_refused() {
    let mut buf = [0; 128];
    let len = mpdu(EspNowVersion::V1).emit(&HELLO, &mut buf).expect("it fits");
    for (at, with) in [(0, 0x80), (0, 0xD4), (1, 0x40), (24, 4), (25, 0x19), (26, 0xFF), (27, 0x35)]
    {
        let mut other = buf;
        other[at] = with;
        assert_eq!(parse(&other[..len]), None, "octet {at} is {with:02x}");
    }
    assert_eq!(parse(&buf[..38]), None);
}

proptest! {
    #[test]
    fn what_is_emitted_reads_back(
        data in prop::collection::vec(any::<u8>(), 0..=DATA_MAX),
        sequence in 0..4096u16, retry: bool, random: [u8; 4], to: [u8; 6], from: [u8; 6],
    ) {
        let version = if retry { EspNowVersion::V2 } else { EspNowVersion::of_data(data.len()) };
        let mpdu =
            ActionFrame { receiver: Mac(to), transmitter: Mac(from), sequence, retry, random, version };
        let mut buf = [0; MPDU_MAX];
        let len = mpdu.emit_with_fcs(&data, &mut buf).expect("it fits");
        prop_assert_eq!(len, mpdu_len(data.len()));
        let (again, body) = mpdu::check_fcs(&buf[..len]).and_then(parse).expect("ESP-NOW");
        let mut out = [0; DATA_MAX];
        prop_assert_eq!(body.gather(&mut out), Some(&data[..]));
        prop_assert_eq!((again, body.complete()), (mpdu, true));
    }

    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(&bytes);
        if let Some(body) = VendorElements::new(&bytes) {
            prop_assert_eq!(body.parts().map(<[u8]>::len).sum::<usize>(), body.len());
        }
        // With a true prefix the elements are reached.
        let mut frame = [0; PREFIX_LEN];
        frame[0] = 0xD0;
        frame[24..28].copy_from_slice(&[CATEGORY, 0x18, 0xFE, 0x34]);
        bytes.splice(..0, frame);
        if let Some((_, body)) = parse(&bytes) {
            prop_assert!(body.len() < bytes.len());
        }
    }
}

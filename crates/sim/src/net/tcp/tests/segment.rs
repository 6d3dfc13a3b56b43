//! Segments byte by byte.

use super::super::segment::{Segment, SynOptions, TcpHeader, addressable};
use espbench_proto::node::app::Endpoint;
use proptest::prelude::*;
use smoltcp::wire::{Ipv4Packet, TcpControl};
use std::vec::Vec;

const HEADER: TcpHeader = TcpHeader {
    from: Endpoint::new([10, 0, 0, 1], 0xC001),
    to: Endpoint::new([10, 0, 0, 2], 5001),
    seq: 0x0102_0304,
    ack: Some(0xA0B0_C0D0),
    window: 5760,
    control: TcpControl::None,
    options: None,
};

fn write(header: &TcpHeader, text: &[u8]) -> Vec<u8> {
    let mut out = [0xEE; 1500];
    let at = header.write(&mut out, text.len());
    out[at..at + text.len()].copy_from_slice(text);
    out[..at + text.len()].to_vec()
}

fn read(packet: &[u8]) -> Option<Segment<'_>> {
    Segment::read(&Ipv4Packet::new_checked(packet).ok()?)
}

#[test]
fn data_with_an_acknowledgement() {
    let bytes = write(&TcpHeader { control: TcpControl::Psh, ..HEADER }, b"text");
    let ip = b"\x45\0\0\x2c\0\0\x40\0\x40\x06\0\0\x0a\0\0\x01\x0a\0\0\x02";
    let tcp = b"\xc0\x01\x13\x89\x01\x02\x03\x04\xa0\xb0\xc0\xd0\x50\x18\x16\x80\0\0\0\0text";
    assert_eq!(bytes, [&ip[..], &tcp[..]].concat());
    let it = read(&bytes).expect("a segment");
    assert_eq!((it.from, it.port, it.seq, it.ack), (HEADER.from, 5001, HEADER.seq, HEADER.ack));
    assert_eq!((it.window, it.len(), it.end(), it.text), (5760, 4, HEADER.seq + 4, &b"text"[..]));
    assert!(!it.is_syn() && !it.is_bare() && !it.fin && !it.rst);
}

#[test]
fn a_syn_has_a_segment_size_and_padding_for_the_rest() {
    let options = Some(SynOptions { mss: 1440, shift: None, padded: true });
    let syn = TcpHeader { ack: None, control: TcpControl::Syn, options, ..HEADER };
    let bytes = write(&syn, &[]);
    assert_eq!(
        bytes[32..],
        *b"\x80\x02\x16\x80\0\0\0\0\x02\x04\x05\xa0\x01\x01\x01\x01\x01\x01\x01\x01"
    );
    let it = read(&bytes).expect("a segment");
    assert_eq!((it.is_syn(), it.mss, it.shift), (true, Some(1440), None));
    // With a scale, and the answer to both.
    let options = Some(SynOptions { mss: 1460, shift: Some(3), padded: true });
    let bytes = write(&TcpHeader { options, ..syn }, &[]);
    assert_eq!(bytes[40..], *b"\x02\x04\x05\xb4\x03\x03\x03\x01\x01\x01\x01\x01");
    assert_eq!(read(&bytes).and_then(|it| it.shift), Some(3));
    for (shift, end) in
        [(Some(3), &b"\x02\x04\x05\xb4\x03\x03\x03\x01"[..]), (None, b"\x02\x04\x05\xb4")]
    {
        let options = Some(SynOptions { mss: 1460, shift, padded: false });
        let answer = TcpHeader { control: TcpControl::Syn, options, ..HEADER };
        let bytes = write(&answer, &[]);
        assert_eq!((&bytes[40..], bytes[33]), (end, 0x12));
        assert!(!read(&bytes).expect("a segment").is_syn(), "it has an acknowledgement");
    }
}

#[test]
fn flags_are_those_of_the_control() {
    let controls = [TcpControl::None, TcpControl::Psh, TcpControl::Fin, TcpControl::Rst];
    let flags = controls.map(|control| write(&TcpHeader { control, ..HEADER }, &[])[33]);
    assert_eq!(flags, [0x10, 0x18, 0x11, 0x14]);
    let bare = TcpHeader { ack: None, control: TcpControl::Rst, ..HEADER };
    assert_eq!(write(&bare, &[])[28..34], [0, 0, 0, 0, 0x50, 0x04]);
}

#[test]
fn what_is_no_segment_is_not_read() {
    let bytes = write(&HEADER, b"text");
    assert!(read(&bytes).is_some_and(|it| it.text == b"text"));
    let with = |change: fn(&mut Vec<u8>)| {
        let mut bytes = bytes.clone();
        change(&mut bytes);
        read(&bytes).is_some()
    };
    assert!(!with(|it| it[33] = 0x03), "SYN and FIN");
    assert!(!with(|it| it[33] = 0x06), "SYN and RST");
    assert!(!with(|it| it[33] = 0x05), "FIN and RST");
    assert!(!with(|it| it[32] = 0x40), "a header of 16 bytes");
    assert!(!with(|it| it[32] = 0xF0), "a header beyond the packet");
    assert!(!with(|it| it[20..22].fill(0)), "no source port");
    assert!(!with(|it| it[22..24].fill(0)), "no destination port");
    assert!(!with(|it| it[12..16].fill(255)), "a broadcast as source");
    assert!(!with(|it| it[12] = 224), "a group as source");
    assert!(!with(|it| it[12..16].fill(0)), "nobody as source");
    assert!(!with(|it| it.truncate(43)), "shorter than it says");
}

#[test]
fn only_a_host_and_a_port_can_be_connected_to() {
    let to = |address, port| addressable(Endpoint::new(address, port));
    assert!(to([10, 0, 0, 1], 1));
    assert!(!to([10, 0, 0, 1], 0) && !to([0; 4], 1) && !to([255; 4], 1) && !to([239, 0, 0, 1], 1));
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        (seq, ack, window) in any::<(u32, Option<u32>, u16)>(),
        (kind, text) in (0_usize..4, prop::collection::vec(any::<u8>(), 0..1460)),
    ) {
        let control = [TcpControl::None, TcpControl::Psh, TcpControl::Fin, TcpControl::Rst][kind];
        let bytes = write(&TcpHeader { seq, ack, window, control, ..HEADER }, &text);
        let it = read(&bytes).expect("a segment");
        prop_assert_eq!((it.seq, it.ack, it.window, it.text), (seq, ack, window, &text[..]));
        prop_assert_eq!((it.fin, it.rst), (kind == 2, kind == 3));
        prop_assert_eq!(it.is_bare(), kind < 2 && text.is_empty());
    }

    #[test]
    fn any_bytes_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 20..120)) {
        // A header of IPv4 that fits, so that TCP's is reached.
        let len = bytes.len() as u16;
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&len.to_be_bytes());
        if let Some(it) = read(&bytes) {
            prop_assert!(it.text.len() <= bytes.len() - 40);
            prop_assert!(u8::from(it.syn) + u8::from(it.fin) + u8::from(it.rst) <= 1);
        }
    }
}

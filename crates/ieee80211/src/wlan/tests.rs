use super::*;
use crate::mpdu::check_fcs;
use proptest::prelude::*;
use std::vec::Vec;

const AP: Mac = Mac([2, 0, 0, 1, 0, 0]);
const STATION: Mac = Mac([0x24, 0x0A, 0xC4, 0, 0, 1]);

fn written(emit: impl Fn(&mut [u8]) -> Option<usize>) -> Vec<u8> {
    let mut buf = [0xEE; 512];
    let len = emit(&mut buf).expect("it fits");
    assert!((0..len).all(|short| emit(&mut buf[..short]).is_none()), "too short a buffer");
    let mut buf = [0xEE; 512];
    emit(&mut buf);
    check_fcs(&buf[..len]).expect("FCS").to_vec()
}

#[test]
fn control_frames() {
    let of = |control: ControlFrame| written(|buf| control.emit(0x0102, AP, STATION, buf));
    let both = [2, 0, 0, 1, 0, 0, 0x24, 0x0A, 0xC4, 0, 0, 1];
    assert_eq!(of(ControlFrame::Rts), [&[0xB4, 0, 2, 1][..], &both].concat());
    assert_eq!(of(ControlFrame::Cts), [&[0xC4, 0, 2, 1][..], &both[..6]].concat());
    assert_eq!(of(ControlFrame::PsPoll { aid: 1 }), [&[0xA4, 0x10, 1, 0xC0][..], &both].concat());
    let request = of(ControlFrame::BlockAckRequest { start: 0x123 });
    assert_eq!(request, [&[0x84, 0, 2, 1][..], &both, &[4, 0, 0x30, 0x12]].concat());
    let answer = of(ControlFrame::BlockAck { start: 0x123, bitmap: 0b101 });
    let tail = [4, 0, 0x30, 0x12, 5, 0, 0, 0, 0, 0, 0, 0];
    assert_eq!(answer, [&[0x94, 0, 2, 1][..], &both, &tail].concat());
    assert_eq!(answer.len() + FCS_LEN, ControlFrame::LONGEST);
}

#[test]
fn data_and_null() {
    let up = DataFrame {
        way: DsDirection::Up,
        qos: true,
        retry: true,
        power_management: false,
        more_data: false,
        duration: 44,
        receiver: AP,
        transmitter: STATION,
        third: AP,
        sequence: 0x123,
    };
    let bytes = written(|buf| up.emit(Some((IPV4, b"packet")), buf));
    let head = [0x88, 0x09, 44, 0, 2, 0, 0, 1, 0, 0, 0x24, 0x0A, 0xC4, 0, 0, 1, 2, 0, 0, 1, 0, 0];
    let tail = [0x30, 0x12, 0, 0, 0xAA, 0xAA, 3, 0, 0, 0, 8, 0];
    assert_eq!(bytes, [&head[..], &tail, b"packet"].concat());
    assert_eq!(bytes.len() + FCS_LEN, DataFrame::overhead(true) + 6);
    let asleep = DataFrame { qos: false, retry: false, power_management: true, ..up };
    let null = written(|buf| asleep.emit(None, buf));
    assert_eq!((&null[..2], null.len()), (&[0x48, 0x11][..], 24));
    let down = DataFrame { way: DsDirection::Down, more_data: true, ..asleep };
    assert_eq!(written(|buf| down.emit(Some((IPV4, &[])), buf))[..2], [0x08, 0x32]);
}

#[test]
fn messages_of_the_handshake_are_as_long_as_in_captures() {
    let of = |message: u8, octets: usize| {
        let mut buf = [0xEE; 200];
        assert_eq!(Eapol { message }.emit(octets, &mut buf), Some(octets));
        buf[..octets].to_vec()
    };
    let first = of(1, 121);
    assert_eq!(first[..9], [2, 3, 0, 117, 2, 0, 0x8A, 0, 16]);
    assert_eq!(first[9..17], [0, 0, 0, 0, 0, 0, 0, 1]);
    assert_eq!(first[97..105], [0, 22, 0xDD, 20, 0, 0x0F, 0xAC, 4]);
    let second = of(2, 121);
    assert_eq!(
        (&second[5..9], &second[97..103]),
        (&[1, 10, 0, 16][..], &[0, 22, 48, 20, 1, 0][..])
    );
    assert_eq!(of(3, 155)[5..17], [0x13, 0xCA, 0, 16, 0, 0, 0, 0, 0, 0, 0, 2]);
    // A key identifier has six octets; fewer are left empty.
    assert_eq!(of(1, 105)[97..], [0, 6, 0xDD, 4, 0, 0x0F, 0xAC, 4]);
    assert_eq!(of(1, 104)[97..], [0, 5, 0, 0, 0, 0, 0]);
    let fourth = of(4, 99);
    assert_eq!((&fourth[5..7], &fourth[97..]), (&[3, 10][..], &[0, 0][..]));
    assert_eq!(Eapol { message: 4 }.emit(98, &mut [0; 200]), None);
}

fn join(what: ManagementKind) -> ManagementFrame<'static> {
    ManagementFrame {
        what,
        retry: false,
        duration: 0,
        receiver: AP,
        transmitter: STATION,
        bssid: AP,
        sequence: 1,
        ssid: "lab",
        protected: true,
    }
}

#[test]
fn management_frames() {
    let of = |what: ManagementKind, octets: usize| {
        let bytes = written(|buf| join(what).emit(octets, buf));
        assert_eq!(bytes.len() + FCS_LEN, octets);
        bytes
    };
    let open =
        of(ManagementKind::Authentication { sae: false, number: 2 }, ManagementFrame::AROUND + 6);
    assert_eq!((open[0], &open[24..]), (0xB0, &[0, 0, 2, 0, 0, 0][..]));
    let commit =
        of(ManagementKind::Authentication { sae: true, number: 1 }, ManagementFrame::AROUND + 104);
    assert_eq!(commit[24..32], [3, 0, 1, 0, 0, 0, 19, 0]);
    let request = of(ManagementKind::AssociationRequest, 120);
    assert_eq!(request[24..33], [0x31, 4, 3, 0, 0, 3, b'l', b'a', b'b']);
    let answer = of(ManagementKind::AssociationResponse { aid: 1 }, 100);
    assert_eq!(answer[24..32], [0x31, 4, 0, 0, 1, 0xC0, 1, 8]);
    assert_eq!(of(ManagementKind::Deauthentication, ManagementFrame::AROUND + 2)[24..], [3, 0]);
}

/// Compares probes octet by octet with ones written by hand from clauses 9.3.3.9 and 9.3.3.10.
#[test]
fn probes_by_hand() {
    let of =
        |what: ManagementKind, octets: usize| written(|buf| join(what).emit(octets + FCS_LEN, buf));
    let addresses = [2, 0, 0, 1, 0, 0, 0x24, 0x0A, 0xC4, 0, 0, 1, 2, 0, 0, 1, 0, 0, 0x10, 0];
    let name = [0, 3, b'l', b'a', b'b', 1, 8, 0x82, 0x84, 0x8B, 0x96, 12, 18, 24, 36];
    let rates = [50, 4, 48, 72, 96, 108];
    let rsn =
        [48, 20, 1, 0, 0, 0x0F, 0xAC, 4, 1, 0, 0, 0x0F, 0xAC, 4, 1, 0, 0, 0x0F, 0xAC, 2, 0, 0];
    let wire = [&[0x40, 0, 0, 0][..], &addresses, &name, &rsn, &rates].concat();
    assert_eq!(of(ManagementKind::ProbeRequest, wire.len()), wire);
    let response = ManagementKind::ProbeResponse { timestamp: 0x0102, interval: 100, channel: 6 };
    let fixed = [2, 1, 0, 0, 0, 0, 0, 0, 100, 0, 0x31, 4];
    let wire = [&[0x50, 0, 0, 0][..], &addresses, &fixed, &name, &[3, 1, 6], &rsn, &rates].concat();
    assert_eq!(of(response, wire.len()), wire);
}

/// Checks the fields of SAE: a commit has the group, a confirm the counter of tries (9.4.1.42).
#[test]
fn authentication_by_its_number() {
    let of = |sae: bool, number: u8| {
        let what = ManagementKind::Authentication { sae, number };
        written(|buf| join(what).emit(0, buf))[24..].to_vec()
    };
    assert_eq!(of(false, 1), [0, 0, 1, 0, 0, 0]);
    assert_eq!(of(true, 1), [3, 0, 1, 0, 0, 0, 19, 0]);
    assert_eq!(of(true, 2), [3, 0, 2, 0, 0, 0, 1, 0]);
}

/// Checks that numbers are cut to their width, and what a network without a password says.
#[test]
fn widths_and_open_networks() {
    let request = ManagementFrame {
        retry: true,
        sequence: 0x1ABC,
        protected: false,
        ..join(ManagementKind::AssociationRequest)
    };
    let bytes = written(|buf| request.emit(28 + 21 + FCS_LEN, buf));
    assert_eq!((&bytes[..2], &bytes[22..28]), (&[0, 8][..], &[0xC0, 0xAB, 0x21, 4, 3, 0][..]));
    let rates = [1, 8, 0x82, 0x84, 0x8B, 0x96, 12, 18, 24, 36, 50, 4, 48, 72, 96, 108];
    assert_eq!(bytes[28..], [&[0, 3, b'l', b'a', b'b'][..], &rates].concat());
    let answer = ManagementFrame {
        protected: false,
        ..join(ManagementKind::AssociationResponse { aid: 0x102 })
    };
    let bytes = written(|buf| answer.emit(30 + 16 + FCS_LEN, buf));
    assert_eq!(bytes[24..], [&[0x21, 4, 0, 0, 2, 0xC1][..], &rates].concat());
    let mut buf = [0; 64];
    let data = DataFrame {
        way: DsDirection::Up,
        qos: false,
        retry: false,
        power_management: false,
        more_data: false,
        duration: 0,
        receiver: AP,
        transmitter: STATION,
        third: AP,
        sequence: 0xFABC,
    };
    assert_eq!(data.emit(None, &mut buf), Some(28));
    assert_eq!((&buf[..2], &buf[22..24]), (&[0x48, 1][..], &[0xC0, 0xAB][..]));
    assert_eq!((DataFrame::overhead(false), DataFrame::overhead(true)), (36, 38));
}

proptest! {
    #[test]
    fn any_length_is_written_or_refused(octets in 0..600_usize, len in 0..600_usize, kind in 0..6_u8) {
        let what = match kind {
            0 => ManagementKind::ProbeRequest,
            1 => ManagementKind::ProbeResponse { timestamp: 1, interval: 100, channel: 6 },
            2 => ManagementKind::Authentication { sae: octets % 2 == 0, number: 1 },
            3 => ManagementKind::AssociationRequest,
            4 => ManagementKind::AssociationResponse { aid: 3 },
            _ => ManagementKind::Deauthentication,
        };
        let mut buf = std::vec![0; len];
        if let Some(written) = join(what).emit(octets, &mut buf) {
            prop_assert!(written <= len && check_fcs(&buf[..written]).is_some());
        }
        let _ = Eapol { message: kind }.emit(octets, &mut buf);
    }
}

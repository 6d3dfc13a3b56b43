//! Frames whose FCS was not found or is wrong, and what several radios make of them.

use super::assumptions::{mpdu, qos};
use super::*;

/// Takes the FCS for a part of the frame, as a header does that denies it.
fn denied(radio: &mut Radiotap) {
    radio.flags = Some(0);
}

/// Returns a frame with other octets in place of its FCS.
fn ending(frame: &[u8], tail: [u8; 4]) -> Vec<u8> {
    [&frame[..frame.len() - 4], &tail].concat()
}

/// Attempts of a message have FCSs of their own, since the retry bit is in them: where none was found they tell nothing.
#[test]
fn an_fcs_that_was_not_found_makes_no_message() {
    let mut air = Monitor::default();
    for (retry, tail) in [(0, [1; 4]), (0x0800, [2; 4])] {
        air.us += 900;
        air.frame(&ending(&mpdu(0x0108 | retry, [AP, A, AP], 5, b"data"), tail), denied);
    }
    let seen = air.seen("");
    let it = link(&seen, A, AP, false);
    assert_eq!((it.messages, it.retries, it.first_unheard), (1, 1, 0));
}

/// Of two radios one finds the FCS: a frame is a copy all the same. Two acknowledgements are none of each other.
#[test]
fn radios_with_and_without_an_fcs_hear_one_frame() {
    let data = mpdu(0x0108, [AP, A, AP], 5, b"data");
    let mut air = Monitor::default();
    air.frame(&data, |_| {});
    air.us -= 192 + 8 * data.len() as u64;
    air.frame(&ending(&data, [7; 4]), denied);
    for to in [A, B] {
        let ack = AckFrame { duration: 0, receiver: to }.emit();
        air.us += 10;
        air.frame(&ack[..10], denied);
    }
    air.interfaces = [0, 1, 0, 1].into();
    let seen = air.seen("");
    assert_eq!((seen.air.copies, seen.air.frames), (1, 3));
    assert_eq!(seen.air.classes[&FrameClass::Ack].frames, 2);
    assert_eq!(link(&seen, A, AP, false).acked, 1);
}

/// A radio that heard a frame badly keeps no other from reading it, whichever wrote it first.
#[test]
fn a_frame_with_a_wrong_fcs_is_no_copy() {
    let data = mpdu(0x0108, [AP, A, AP], 5, b"data");
    for bad in [0, 1] {
        let mut air = Monitor::default();
        for radio in [0, 1] {
            air.us = 5000;
            let flags = if radio == bad { Radiotap::BAD_FCS } else { 0 } | Radiotap::FCS_AT_END;
            air.frame(&data, |it| it.flags = Some(flags));
        }
        air.interfaces = [0, 1].into();
        let seen = air.seen("");
        assert_eq!((seen.air.copies, seen.air.bad.frames), (0, 1), "{bad}");
        assert_eq!(link(&seen, A, AP, false).messages, 1, "{bad}");
    }
}

/// A station with a made-up address that is connected: its probe requests use up numbers like all else that it sends.
#[test]
fn a_probe_request_of_a_station_has_a_number() {
    let phone = Mac([0xDA, 1, 2, 3, 4, 5]);
    let mut air = Monitor::default();
    for number in 10..16 {
        air.us += 5000;
        let (control, to) = match number % 2 {
            0 => (0x0108, AP),
            _ => (0x0040, Mac::BROADCAST),
        };
        air.frame(&mpdu(control, [to, phone, to], number, &[0, 0]), |_| {});
    }
    let seen = air.seen("");
    assert_eq!(link(&seen, phone, AP, false).missing.count, 0);
    assert_eq!((seen.air.randomised, seen.air.stations[&phone].sent.frames), (0, 6));
}

/// The bitmap of a block acknowledgement has as many octets as its fragment number says; others are told of.
#[test]
fn bitmaps_have_their_length() {
    for (fragment, arrived) in [(0, Some(2)), (4, Some(3)), (6, Some(1)), (2, None), (5, None)] {
        let mut air = Monitor::default();
        for number in [10, 10 + 40, 10 + 120] {
            air.us += 5000;
            air.frame(&qos(number, 0, b"data"), |_| {});
        }
        let head = [0x0004_u16.to_le_bytes(), (10_u16 << 4 | fragment).to_le_bytes()].concat();
        let block_ack =
            super::assumptions::control(0x0094, A, AP, &[&head[..], &[0xFF; 32]].concat());
        air.frame(&block_ack, |_| {});
        let seen = air.seen("");
        assert_eq!(link(&seen, A, AP, false).acked, arrived.unwrap_or(0), "{fragment}");
        assert_eq!(seen.air.unread_block_acks, u64::from(arrived.is_none()), "{fragment}");
    }
}

/// How busy a channel was is one rule: the document and the doctor ask the same.
#[test]
fn a_channel_is_as_busy_as_its_frames_say() {
    let mut air = Monitor::default();
    let data = mpdu(0x0108, [AP, A, AP], 5, &[0; 100]);
    air.frame(&data, |_| {});
    air.us += 5000;
    air.frame(&data, |_| {});
    let seen = air.seen("");
    let busy = seen.busy_share();
    assert!(busy.is_some_and(|it| it > 0.2), "{busy:?}");
    assert_eq!(CaptureDocument::of("x", &seen).channels[0].busy, busy);
    // Frames without a rate tell no time.
    let mut air = Monitor::default();
    for _ in 0..2 {
        air.us += 5000;
        air.frame(&data, |it| it.rate = None);
    }
    let seen = air.seen("");
    assert_eq!((seen.busy_share(), CaptureDocument::of("x", &seen).channels[0].busy), (None, None));
}

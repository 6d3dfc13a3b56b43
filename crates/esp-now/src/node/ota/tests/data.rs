//! A responder alone: messages in any order, twice, malformed.

use super::*;
use crate::component::ota::{Chunk, INFO_LEN, STATUS_LEN};
use crate::component::{FrameConfig, Header};
use crate::node::ota::responder::OtaCounters;
use proptest::prelude::*;

const CHUNK: usize = 208;

fn device(size: usize) -> Node<OtaResponder> {
    Node::new(1, Flash::new(3, size, &image(1024, "1.0", 99)), OtaResponder::default())
}

fn announce(new: &[u8]) -> OtaStatus {
    let mut digest = [0; 16];
    digest.copy_from_slice(&new[new.len() - 32..][..16]);
    let (packets, total) = (new.len().div_ceil(CHUNK) as u16, new.len() as u32);
    OtaStatus { digest, packets, total, ..OtaStatus::default() }
}

/// Hands a message over and returns the answers.
fn tell(node: &mut Node<OtaResponder>, payload: &[u8]) -> Vec<(SendRequest, Vec<u8>)> {
    let now = Instant::ZERO + Duration::from_secs(1);
    let frame = Received {
        from: mac(0),
        data_type: DataType::OtaData,
        data: payload,
        rssi: -40,
        channel: 1,
        at: now,
    };
    node.with(now, |part, cx| part.receive(cx, &frame));
    let mut answers = Vec::new();
    loop {
        match node.with(now, |part, cx| part.run(cx)) {
            TaskStep::Idle => return answers,
            TaskStep::Until(_) => {}
            TaskStep::Send => {
                let mut buf = [0xEE; 230];
                let out = node.with(now, |part, cx| part.compose(cx, &mut buf)).expect("a message");
                answers.push((out, buf[..out.len].to_vec()));
                node.with(now, |part, cx| part.sent(cx, TransmitOutcome::Done { attempts: 1 }));
            }
        }
    }
}

fn status(answer: &(SendRequest, Vec<u8>)) -> OtaStatus {
    OtaStatus::parse(&answer.1).expect("a status").0
}

fn chunk(new: &[u8], seq: usize) -> Vec<u8> {
    let part = &new[seq * CHUNK..new.len().min((seq + 1) * CHUNK)];
    let mut buf = vec![0; 4 + CHUNK];
    let fill = |to: &mut [u8]| {
        to.copy_from_slice(part);
        true
    };
    Chunk::emit(seq as u16, part.len() as u8, CHUNK, &mut buf, fill).expect("room");
    buf
}

#[test]
fn a_request_is_answered_with_the_description() {
    let answers = tell(&mut device(4096), &[0]);
    assert_eq!(answers.len(), 1);
    let (out, payload) = &answers[0];
    assert_eq!((out.data_type, out.dest), (DataType::OtaStatus, mac(0)));
    assert_eq!(out.config, FrameConfig { copies: 2, ..FrameConfig::UNICAST });
    assert_eq!(payload.len(), INFO_LEN);
    assert_eq!(OtaInfo::parse(payload).expect("information").0.version(), b"1.0");
}

#[test]
fn a_status_begins_a_session_and_goes_on_with_it() {
    let new = image(100_000, "2.0", 5);
    let mut node = device(new.len());
    let asked = announce(&new);
    let answers = tell(&mut node, &asked.bytes());
    let codes: Vec<_> = answers.iter().map(|a| (status(a).code, a.1.len())).collect();
    assert_eq!(codes, [(OtaCode::NotInit, 30), (OtaCode::Ok, 30)]);
    assert_eq!(node.events, [EspNowEvent::UpgradeStarted]);
    // No packets: thirty bytes to the initiator that asks.
    let answers = tell(&mut node, &asked.bytes());
    assert_eq!(answers[0].1, asked.bytes());
    assert!(!answers[0].0.config.broadcast);
    // Some packets: the row, ten copies, broadcast.
    for seq in [0, 1, 9] {
        assert!(tell(&mut node, &chunk(&new, seq)).is_empty());
    }
    let answers = tell(&mut node, &asked.bytes());
    let (out, payload) = &answers[0];
    assert_eq!((out.config, out.dest), (FrameConfig::default(), mac(0)));
    assert_eq!(payload.len(), STATUS_LEN + 188);
    assert_eq!((payload[30], payload[31], payload[32]), (0b11, 0b10, 0));
    assert_eq!((status(&answers[0]).written, status(&answers[0]).index), (3 * 208, 0));
    assert_eq!(node.board.erased, 1);
}

#[test]
fn what_does_not_belong_is_refused() {
    let new = image(100_000, "2.0", 5);
    let mut node = device(new.len());
    let good = chunk(&new, 3);
    tell(&mut node, &good);
    assert_eq!(node.part.counters().refused, 1, "no session");
    tell(&mut node, &announce(&new).bytes());
    let (mut size, mut beyond, mut far) = (good.clone(), good.clone(), good.clone());
    size[3] = 207;
    beyond[1..3].copy_from_slice(&481u16.to_le_bytes());
    far[1..3].copy_from_slice(&0xFFFFu16.to_le_bytes());
    for bad in [&size[..], &beyond, &far, &good[..200], &[2], &[1], &[9], &[3, 0]] {
        assert!(tell(&mut node, bad).is_empty());
    }
    assert_eq!(node.part.counters(), OtaCounters { refused: 9, ..OtaCounters::default() });
    assert!(node.text.contains("packet seq 65535 exceeds bitmap capacity (max 21048)"));
    assert!(node.text.contains("OTA STATUS frame too short: 2 < 30"));
    let many = OtaStatus { packets: 0xFFFF, ..announce(&new) };
    assert!(tell(&mut node, &many.bytes()).is_empty());
    let other_chunk = OtaStatus { packets: 447, ..announce(&image(100_000, "3", 6)) };
    assert_eq!(status(&tell(&mut node, &other_chunk.bytes())[0]).code, OtaCode::Invalid);
    // Another image was announced: data for the former one are refused.
    tell(&mut node, &good);
    assert_eq!((node.part.counters().written, node.part.counters().refused), (0, 11));
}

#[test]
fn an_answer_that_does_not_get_through_gives_the_session_up() {
    let new = image(1024, "2.0", 5);
    let mut node = device(new.len());
    let now = Instant::ZERO;
    let bytes = announce(&new).bytes();
    let frame = Received {
        from: mac(0),
        data_type: DataType::OtaData,
        data: &bytes,
        rssi: -40,
        channel: 1,
        at: now,
    };
    node.with(now, |part, cx| part.receive(cx, &frame));
    while node.with(now, |part, cx| part.run(cx)) != TaskStep::Send {}
    node.with(now, |part, cx| part.compose(cx, &mut [0; 230]));
    node.with(now, |part, cx| part.sent(cx, TransmitOutcome::Failed));
    assert_eq!(node.with(now, |part, cx| part.run(cx)), TaskStep::Idle);
    assert_eq!(node.board.erased, 0);
    assert_eq!(tell(&mut node, &bytes).len(), 2, "it begins when asked again");
}

#[test]
fn another_digest_than_the_announced_one_is_refused() {
    let new = image(1024, "2.0", 5);
    let mut node = device(new.len());
    let asked = OtaStatus { digest: [1; 16], ..announce(&new) };
    for (round, code) in [(1, OtaCode::Invalid), (2, OtaCode::Stop)] {
        assert_eq!(tell(&mut node, &asked.bytes()).len(), 2);
        let answers: Vec<_> = (0..5).flat_map(|seq| tell(&mut node, &chunk(&new, seq))).collect();
        assert_eq!((answers.len(), status(&answers[0]).code), (1, code));
        assert_eq!(
            node.events.iter().filter(|e| **e == EspNowEvent::UpgradeRefused).count(),
            round
        );
        assert_eq!((node.board.boot, &node.board.upgrade), (Slot::Running, &None));
    }
    assert_eq!(status(&tell(&mut node, &asked.bytes())[0]).code, OtaCode::Stop);
    assert_eq!(node.board.erased, 2);
    // The image under its own name is accepted.
    tell(&mut node, &announce(&new).bytes());
    let answers: Vec<_> = (0..5).flat_map(|seq| tell(&mut node, &chunk(&new, seq))).collect();
    assert_eq!(status(&answers[0]).written, 1024);
    assert_eq!(node.board.boot, Slot::Spare);
}

#[test]
fn an_image_for_another_chip_is_refused() {
    let mut new = image(1024, "2.0", 5);
    new.clear();
    let build = ImageBuilder { len: 1024, chip: 9, app: AppDescription::default(), seed: 1 };
    build.write(&mut |piece| {
        new.extend_from_slice(piece);
        true
    });
    let mut node = device(new.len());
    tell(&mut node, &announce(&new).bytes());
    let answers: Vec<_> = (0..5).flat_map(|seq| tell(&mut node, &chunk(&new, seq))).collect();
    assert_eq!(status(&answers[0]).code, OtaCode::Invalid);
}

/// Checks that after a reset with everything stored, the image in flash is checked before it is
/// called done.
#[test]
fn a_stored_session_that_is_complete_is_checked() {
    let new = image(1024, "2.0", 5);
    for wrong in [false, true] {
        let mut node = device(new.len());
        node.board.slots[1].copy_from_slice(&new);
        node.board.slots[1][500] ^= u8::from(wrong);
        let stored = OtaStatus { written: 1024, ..announce(&new) };
        node.board.upgrade = Some([&stored.bytes()[..], &[0x1F]].concat());
        let answers = tell(&mut node, &announce(&new).bytes());
        assert_eq!(answers.len(), 1);
        let expected = if wrong { (OtaCode::Invalid, 0) } else { (OtaCode::Ok, 1024) };
        assert_eq!((status(&answers[0]).code, status(&answers[0]).written), expected);
        assert_eq!(node.board.boot == Slot::Spare, !wrong);
        assert_eq!((node.board.erased, &node.board.upgrade), (0, &None));
    }
}

/// Checks that the time to hash the running image is spent on every status.
#[test]
fn every_status_costs_a_hash() {
    let new = image(1024, "2.0", 5);
    let mut node = device(new.len());
    tell(&mut node, &announce(&new).bytes());
    for _ in 0..3 {
        let before = node.board.work;
        tell(&mut node, &announce(&new).bytes());
        assert_eq!(node.board.work - before, Duration::from_nanos(2 * 1024 * 100));
    }
}

/// Sends the waiting message, as a frame with this magic on channel 1.
fn frame_of(node: &mut Node<OtaInitiator>, magic: u16) -> Vec<u8> {
    loop {
        node.run(node.wake);
        let now = node.wake;
        let mut buf = [0xEE; 230];
        let Some(out) = node.with(now, |part, cx| part.compose(cx, &mut buf)) else { continue };
        node.with(now, |part, cx| part.sent(cx, TransmitOutcome::Done { attempts: 1 }));
        let header = Header {
            data_type: out.data_type,
            version: 2,
            size: out.len as u8,
            magic,
            config: FrameConfig { channel: 1, ..out.config },
            dest: out.dest,
            src: mac(1),
        };
        return [&header.emit()[..], &buf[..out.len]].concat();
    }
}

/// Compares with vectors 7 to 10 of the protocol reference; the image's digest and bytes differ.
#[test]
fn messages_of_the_initiator_as_frames() {
    use crate::component::tests::vectors::bytes;
    let new = image(100_000, "2.0", 5);
    let mut board = Flash::new(1, new.len(), &image(1024, "1.0", 99));
    board.slots[1].copy_from_slice(&new);
    board.lens[1] = new.len() as u32;
    let mut node = Node::new(1, board, <OtaInitiator>::default());
    let now = Instant::ZERO;
    node.with(now, |part, cx| part.find(cx, 3000)).expect("idle");
    let request = "27 01 55 55 11 88 00 bf ff ff ff ff ff ff 24 0a c4 00 00 01 00";
    assert_eq!(frame_of(&mut node, 0x5555), bytes(request));
    node.part.stop();
    while !node.part.is_idle() {
        node.run(now);
    }
    node.with(now, |part, cx| part.send(cx, &[mac(2), mac(3)])).expect("idle");
    let join = "22 14 02 01 01 88 02 00 ff ff ff ff ff ff 24 0a c4 00 00 01 01 4f 54 41 00 00 00 \
                02 24 0a c4 00 00 02 24 0a c4 00 00 03";
    assert_eq!(frame_of(&mut node, 0x0102), bytes(join));
    let status = frame_of(&mut node, 0x5556);
    let head = "27 1e 56 55 11 98 00 bf 4f 54 41 00 00 00 24 0a c4 00 00 01 03";
    assert_eq!(status[..21], bytes(head));
    assert_eq!(status[37..], bytes("00 00 e1 01 a0 86 01 00 00 00 00 00 00"));
    let frame = Received {
        from: mac(2),
        data_type: DataType::OtaStatus,
        data: &status[20..],
        rssi: -40,
        channel: 1,
        at: now,
    };
    node.with(now, |part, cx| part.receive(cx, &frame));
    // The other device does not answer: after three tries the data go out.
    let mut data = status;
    while data[20] == 3 {
        data = frame_of(&mut node, 0x5557);
    }
    let head = "27 d4 57 55 01 98 00 bf 4f 54 41 00 00 00 24 0a c4 00 00 01 02 00 00 d0";
    assert_eq!(data[..24], bytes(head));
    assert_eq!((data[24..].len(), &data[24..]), (208, &new[..208]));
}

proptest! {
    /// Checks that the image arrives unchanged in any order, with any repetitions.
    #[test]
    fn data_in_any_order_give_the_same_image(
        order in Just((0usize..25).collect::<Vec<_>>()).prop_shuffle(),
        again in prop::collection::vec((0usize..25, 0usize..25), 0..20),
        reset_at in 0usize..40,
    ) {
        let new = image(5152, "2.0", 5);
        let mut seqs = order;
        for (at, seq) in again {
            seqs.insert(at, seq);
        }
        let mut node = device(new.len());
        let asked = announce(&new).bytes();
        tell(&mut node, &asked);
        let mut answers = Vec::new();
        for (n, &seq) in seqs.iter().enumerate() {
            if n == reset_at && answers.is_empty() {
                node.part = OtaResponder::default();
                tell(&mut node, &asked);
            }
            answers.extend(tell(&mut node, &chunk(&new, seq)));
        }
        // Packets that were not stored before the reset come once more.
        for seq in 0..25 {
            if answers.is_empty() {
                answers.extend(tell(&mut node, &chunk(&new, seq)));
            }
        }
        prop_assert_eq!(answers.len(), 1);
        prop_assert_eq!(status(&answers[0]).written, 5152);
        prop_assert!(node.board.slots[1][..5152] == new[..]);
        prop_assert_eq!(node.board.boot, Slot::Spare);
        prop_assert_eq!(node.board.erased, 1);
        prop_assert_eq!(node.events.last(), Some(&EspNowEvent::UpgradeFinished));
    }
}

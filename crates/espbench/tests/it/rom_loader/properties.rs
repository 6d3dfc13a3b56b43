//! Properties of the frames and of the machine, for any bytes.

use super::machine::{ChipModel, Loader, Wrong};
use super::packet::{Refusal, Request, op, response};
use super::slip::{LONGEST, SlipReader, framed};
use proptest::prelude::*;

fn read(bytes: &[u8]) -> (Vec<Vec<u8>>, u64) {
    let mut reader = SlipReader::default();
    let frames = bytes.iter().filter_map(|byte| reader.push(*byte)).collect();
    (frames, reader.dropped)
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    // Bytes with a meaning come often.
    proptest::collection::vec(prop_oneof![Just(0xC0), Just(0xDB), Just(0xDC), any::<u8>()], 0..most)
}

/// Returns a request as a frame.
fn request(op: u8, words: &[u32], block: &[u8]) -> Vec<u8> {
    let sum = block.iter().fold(0xEF, |sum, byte| sum ^ byte);
    let length = (words.len() * 4 + block.len()) as u16;
    let mut frame = vec![0, op];
    frame.extend(length.to_le_bytes());
    frame.extend(u32::from(sum).to_le_bytes());
    frame.extend(words.iter().flat_map(|it| it.to_le_bytes()));
    frame.extend(block);
    frame
}

proptest! {
    #[test]
    fn frames_come_back_whatever_stands_between_them(frames in proptest::collection::vec(bytes(50), 1..5), noise in bytes(40)) {
        let frames: Vec<Vec<u8>> = frames.into_iter().filter(|it| !it.is_empty()).collect();
        let noise: Vec<u8> = noise.into_iter().filter(|it| *it != 0xC0).collect();
        let line: Vec<u8> = frames.iter().flat_map(|it| [noise.clone(), framed(it)].concat()).collect();
        let (found, dropped) = read(&line);
        prop_assert_eq!(dropped, (noise.len() * frames.len()) as u64);
        prop_assert_eq!(found, frames);
    }

    #[test]
    fn any_line_gives_bounded_frames_and_is_accounted_for(line in bytes(500)) {
        let (frames, dropped) = read(&line);
        let kept: usize = frames.iter().map(Vec::len).sum();
        prop_assert!(kept as u64 + dropped <= line.len() as u64);
        prop_assert!(frames.iter().all(|it| !it.is_empty() && it.len() <= LONGEST));
    }

    #[test]
    fn any_frame_is_answered_or_refused(frames in proptest::collection::vec((any::<u8>(), proptest::collection::vec(any::<u32>(), 0..6), bytes(60)), 1..20)) {
        let mut loader = Loader::new(ChipModel::C3, 1 << 16, Wrong::default());
        for (op, words, block) in frames {
            let answers = loader.handle(&request(op, &words, &block));
            prop_assert!(answers.iter().all(|it| it.len() >= 4));
            prop_assert_eq!(loader.flash.len(), 1 << 16);
            prop_assert!(loader.handle(&block).len() <= 8);
        }
    }

    #[test]
    fn what_is_written_is_in_flash(sectors in 0_u32..8, content in proptest::collection::vec(any::<u8>(), 1..9000), is_deflated in any::<bool>()) {
        let at = sectors * 0x1000;
        let mut loader = Loader::new(ChipModel::C3, 1 << 16, Wrong::default());
        let (begin, data, end) = if is_deflated {
            (op::FLASH_DEFL_BEGIN, op::FLASH_DEFL_DATA, op::FLASH_DEFL_END)
        } else {
            (op::FLASH_BEGIN, op::FLASH_DATA, op::FLASH_END)
        };
        let line = if is_deflated { deflated(&content) } else { content.clone() };
        let size = content.len() as u32;
        let mut all = vec![request(begin, &[size, line.len().div_ceil(1024) as u32, 1024, at], &[])];
        for (number, block) in (0..).zip(line.chunks(1024)) {
            all.push(request(data, &[block.len() as u32, number, 0, 0], block));
        }
        all.push(request(end, &[1], &[]));
        for frame in all {
            let op = frame[1];
            prop_assert_eq!(loader.handle(&frame), [response(op, 0, &[], None, false)]);
        }
        let at = at as usize;
        prop_assert_eq!(&loader.flash[at..at + content.len()], &content[..]);
        prop_assert!(loader.flash[..at].iter().chain(&loader.flash[at + content.len()..]).all(|it| *it == 0xFF));
    }
}

fn deflated(plain: &[u8]) -> Vec<u8> {
    use std::io::Write as _;
    let mut writer = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    writer.write_all(plain).unwrap();
    writer.finish().unwrap()
}

#[test]
fn a_changed_byte_fails_the_checksum() {
    let mut loader = Loader::new(ChipModel::C3, 1 << 16, Wrong::default());
    loader.handle(&request(op::FLASH_BEGIN, &[4, 1, 4, 0], &[]));
    let mut frame = request(op::FLASH_DATA, &[4, 0, 0, 0], b"abcd");
    *frame.last_mut().unwrap() = b'e';
    let refused = response(op::FLASH_DATA, 0, &[], Some(Refusal::Checksum), false);
    assert_eq!(loader.handle(&frame), [refused]);
    assert_eq!(loader.flash[..4], [0xFF; 4]);
}

#[test]
fn a_request_as_the_documentation_has_it() {
    let frame = [0, 0x0A, 4, 0, 0, 0, 0, 0, 0x00, 0x10, 0x00, 0x40];
    let request = Request::parse(&frame).unwrap();
    assert_eq!((request.op, request.word(0), request.word(1)), (0x0A, Some(0x4000_1000), None));
    assert_eq!(Request::parse(&frame[..11]), None, "cut");
    let mut loader = Loader::new(ChipModel::C3, 1 << 16, Wrong::default());
    let answer = loader.handle(&frame);
    assert_eq!(answer, [[1, 0x0A, 4, 0, 0x6F, 0x50, 0x31, 0x1B, 0, 0, 0, 0]]);
}

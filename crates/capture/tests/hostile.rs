//! Captures that are cut, damaged and spliced by chance: nothing panics, chunks do not matter, and memory for
//! records is bounded. `ROUNDS=1000000` makes more of them.

use espbench_capture::analysis::CaptureAnalysis;
use espbench_capture::document::CaptureDocument;
use espbench_capture::{answer, report};
use std::path::Path;

/// Numbers by chance: the multiplier of Knuth's MMIX.
struct Chance(u64);

impl Chance {
    fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % bound.max(1)
    }
}

fn told(bytes: &[u8], chunk: usize) -> Option<CaptureDocument> {
    let mut analysis = CaptureAnalysis::default();
    let mut fault = None;
    for part in bytes.chunks(chunk.max(1)) {
        fault = analysis.push(part).err();
        if fault.is_some() {
            break;
        }
    }
    let seen = analysis.finish(fault).ok()?;
    let document = CaptureDocument::of("any", &seen);
    assert!(!answer::answer(&document).is_empty());
    let _ = report::figures(std::slice::from_ref(&document));
    for it in &document.links {
        assert!(it.delivered.is_none_or(|it| (0.0..=1.0).contains(&it)), "{it:?}");
        assert!(it.retries <= it.frames && it.messages <= it.frames, "{it:?}");
    }
    Some(document)
}

#[test]
fn damaged_captures_do_no_harm() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../doctor/tests/cases");
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|it| it == "pcap") {
            let mut bytes = std::fs::read(path).unwrap();
            bytes.truncate(4000);
            cases.push(bytes);
        }
    }
    cases.sort();
    assert!(cases.len() >= 15, "the doctor's cases are there");
    let rounds = std::env::var("ROUNDS").ok().and_then(|it| it.parse().ok()).unwrap_or(400);
    let (mut chance, mut read) = (Chance(1), 0);
    for _ in 0..rounds {
        let mut bytes = cases[chance.below(cases.len())].clone();
        match chance.below(4) {
            // Another link type over the same packets.
            0 => bytes[20] = [105, 127, 192, 1, 101, 113, 0, 20][chance.below(8)],
            1 => bytes.truncate(chance.below(bytes.len())),
            2 => {
                let other = &cases[chance.below(cases.len())];
                bytes.extend(&other[24..24 + chance.below(other.len() - 24)]);
            }
            _ => {}
        }
        for _ in 0..chance.below(8) {
            let at = chance.below(bytes.len());
            if let Some(byte) = bytes.get_mut(at) {
                *byte =
                    [0, 0xFF, 0x7F, byte.wrapping_add(1), chance.below(256) as u8][chance.below(5)];
            }
        }
        let whole = told(&bytes, bytes.len());
        assert_eq!(whole, told(&bytes, 1 + chance.below(700)));
        read += usize::from(whole.is_some_and(|it| it.tells));
    }
    assert!(read * 2 > rounds, "only {read} of {rounds} were read");
}

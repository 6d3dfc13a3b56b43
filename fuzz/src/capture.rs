//! Captures: files, and packets of files that are whole.

use espbench_capture::analysis::CaptureAnalysis;
use espbench_capture::document::CaptureDocument;
use espbench_capture::{answer, report};
use espbench_doctor::captured;

/// Link types of packets, by the lower bits of their first byte.
const LINKS: [u16; 9] = [105, 127, 192, 1, 101, 228, 113, 276, 0];

/// Reads a file in chunks whose length the first byte chooses: it tells the same as in one, and can be drawn.
pub fn capture_file(data: &[u8]) {
    let [chunk, bytes @ ..] = data else { return };
    let whole = told(bytes, bytes.len());
    assert_eq!(whole, told(bytes, usize::from(*chunk) + 1));
}

/// Reads packets, each with a byte for its link type, one for its time and two for its length, as a file of pcapng's
/// predecessor for each link type.
pub fn capture_packets(data: &[u8]) {
    for (number, link) in LINKS.iter().enumerate() {
        let mut file = vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0];
        file.extend(u32::from(*link).to_le_bytes());
        let (mut rest, mut us, mut packets) = (data, 0_u32, 0);
        while let [kind, wait, l0, l1, after @ ..] = rest {
            let length = usize::from(u16::from_le_bytes([*l0, *l1])) % 600;
            let (packet, behind) = after.split_at(length.min(after.len()));
            us = us.wrapping_add(1 << (wait % 24));
            if usize::from(*kind) % LINKS.len() == number {
                packets += 1;
                let length = packet.len() as u32;
                // Some are cut, by up to seven octets.
                let stated = length + u32::from(kind >> 5);
                for word in [us / 1_000_000, us % 1_000_000, length, stated] {
                    file.extend(word.to_le_bytes());
                }
                file.extend(packet);
            }
            rest = behind;
        }
        if packets > 0 {
            assert!(told(&file, file.len()).is_some_and(|it| it.packets == packets));
        }
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
    let found = captured::diagnose(&seen);
    let sum: f64 = found.findings.iter().map(|it| it.share).sum();
    assert!(found.findings.is_empty() || (sum - 1.0).abs() < 1e-6, "{sum}");
    let document = CaptureDocument::of("any", &seen);
    assert!(!answer::answer(&document).is_empty());
    let figures = report::figures(std::slice::from_ref(&document));
    assert!(figures.rows.iter().all(|it| it.len() == figures.columns.len()));
    for it in &document.links {
        assert!(it.delivered.is_none_or(|it| (0.0..=1.0).contains(&it)), "{it:?}");
        assert!(it.retries <= it.frames && it.messages <= it.frames);
    }
    Some(document)
}

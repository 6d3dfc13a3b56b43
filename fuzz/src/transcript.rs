//! The reader of console transcripts.

use esp_now::transcript::{
    LineCounts, LineSplitter, SessionOutput, TranscriptEntry, TranscriptPiece, TranscriptSession,
};
use espbench_model::sample::{Link, Observer, Sample};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Longer inputs say nothing new, and take time.
const LONGEST: usize = 320;

/// Reads bytes of a console in two ways of cutting them into chunks: pieces and counters are the
/// same, nothing is counted twice or not at all, and every probe and interval is told once.
pub fn esp_now_transcript(data: &[u8]) {
    let Some((&chunk, bytes)) = data.split_first() else { return };
    if bytes.len() > LONGEST {
        return;
    }
    let mut session = TranscriptSession::<3>::new();
    let mut told = Vec::new();
    let whole = pieces(bytes, bytes.len().max(1), |piece| {
        let made = session.take(&TranscriptEntry::of(piece));
        keep(&mut told, &made);
    });
    while let Some(made) = session.finish() {
        keep(&mut told, &made);
    }
    assert!(session.finish().is_none(), "the end comes once");
    assert!(session.links().count() <= 3);
    assert_eq!(whole, pieces(bytes, usize::from(chunk % 32) + 1, |_| {}), "chunks matter");
    assert_eq!(whole.1.bytes, bytes.len() as u64);
}

/// Returns a hash over all pieces, and the counters.
fn pieces(
    bytes: &[u8],
    chunk: usize,
    mut each: impl FnMut(TranscriptPiece<'_>),
) -> (u64, LineCounts) {
    let mut lines = LineSplitter::<120>::new();
    let mut hash = DefaultHasher::new();
    let (mut count, mut text_bytes) = (0, 0);
    let mut take = |piece: TranscriptPiece<'_>| {
        match piece {
            TranscriptPiece::Line { text, cut } => {
                (1, text, cut).hash(&mut hash);
                assert!(!text.trim_ascii().is_empty() && !text.contains(['\n', '\x1b', '\0']));
                count += 1;
                text_bytes += text.len();
            }
            TranscriptPiece::Echo(text) => {
                (2, text).hash(&mut hash);
                text_bytes += text.len();
            }
            TranscriptPiece::Prompt => 3.hash(&mut hash),
            TranscriptPiece::Query(query) => (4, query.answer()).hash(&mut hash),
        }
        each(piece);
    };
    for mut chunk in bytes.chunks(chunk) {
        while let Some(piece) = lines.next(&mut chunk) {
            take(piece);
        }
        assert!(chunk.is_empty(), "bytes are left");
    }
    lines.finish();
    while let Some(piece) = lines.next(&mut &[][..]) {
        take(piece);
    }
    let counts = *lines.counts();
    assert_eq!(counts.lines, count);
    assert!(text_bytes + counts.cut_bytes as usize <= bytes.len(), "text from nowhere");
    (hash.finish(), counts)
}

/// Identity of a sample.
type Key = (Link, u64, Option<Observer>);

fn keep(told: &mut Vec<Key>, made: &SessionOutput) {
    for sample in made.samples.iter().flatten() {
        let key = match sample {
            Sample::Probe(p) => {
                assert!(p.sent.is_none() || p.sent <= p.received);
                (p.link, p.seq, None)
            }
            Sample::Interval(i) => {
                assert!(i.start <= i.end && i.jitter_ns.is_none());
                (i.link, i.seq, Some(i.observer))
            }
        };
        assert!(!told.contains(&key), "told twice: {sample:?}");
        told.push(key);
    }
}

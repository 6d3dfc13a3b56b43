//! Transcripts of consoles, written by hand after the component's templates, each with what is read
//! from it beside it.
//!
//! The module `escapes` says how a `.txt` file stands for bytes.
//!
//! `BLESS=1 cargo test -p esp-now --test transcripts` writes the `.expected` files anew.

mod escapes;

use escapes::bytes;
use esp_now::transcript::{
    LineSplitter, SessionOutput, TranscriptEntry, TranscriptItem, TranscriptPiece,
    TranscriptSession,
};
use espbench_model::sample::{Interval, Probe, Sample};
use espbench_model::time::Instant;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transcripts")
}

fn ms(at: Instant) -> String {
    format!("{:.3} ms", at.as_nanos() as f64 / 1e6)
}

fn ms_or(at: Option<Instant>) -> String {
    at.map_or("unknown".into(), ms)
}

fn probe(p: &Probe) -> String {
    let (sent, received) = (ms_or(p.sent), ms_or(p.received));
    assert_eq!((p.queued, p.acked, p.stamped), (None, None, None));
    let (link, seq, bytes, due, fate) = (p.link.0, p.seq, p.bytes, ms(p.due), p.fate);
    format!(
        "probe link {link} seq {seq}, {bytes} B, due {due}, sent {sent}, received {received}: {fate:?}"
    )
}

fn interval(i: &Interval) -> String {
    assert_eq!((i.jitter_ns, i.duplicates, i.out_of_order), (None, None, None));
    let (link, seq, by, total) = (i.link.0, i.seq, i.observer, if i.total { " total" } else { "" });
    let (start, end, bytes) = (ms(i.start), ms(i.end), i.bytes);
    let rest = format!("datagrams {:?}, lost {:?}", i.datagrams, i.lost);
    format!("interval{total} link {link} seq {seq} {by:?} {start} to {end}: {bytes} B, {rest}")
}

fn write_made(out: &mut String, made: &SessionOutput) {
    for sample in made.samples.iter().flatten() {
        let text = match sample {
            Sample::Probe(p) => probe(p),
            Sample::Interval(i) => interval(i),
        };
        writeln!(out, "    + {text}").unwrap();
    }
    for finding in made.findings.iter().flatten() {
        writeln!(out, "    = {finding:?}").unwrap();
    }
}

fn write_entry(out: &mut String, entry: &TranscriptEntry<'_>) {
    let line = &entry.line;
    if let Some(remote) = line.remote {
        write!(out, "{} ch {} {} dBm ", remote.mac, remote.channel, remote.rssi).unwrap();
    }
    if let Some(log) = line.log {
        write!(out, "{:?} {} {}: ", log.level, log.ms, log.tag).unwrap();
    }
    match entry.item {
        TranscriptItem::Echo | TranscriptItem::Other | TranscriptItem::Heading => {
            let cut = if line.cut { " (cut)" } else { "" };
            writeln!(out, "{:?}{cut} {:?}", entry.item, line.text).unwrap();
        }
        TranscriptItem::Devices(list) => {
            let macs: Vec<_> = list.macs().collect();
            writeln!(out, "Devices {} {macs:?}", list.num).unwrap();
        }
        item => writeln!(out, "{item:?}").unwrap(),
    }
}

/// Reads `bytes` in chunks of `chunk`; returns what was read, as text.
fn read(bytes: &[u8], chunk: usize) -> String {
    let mut lines = Box::new(LineSplitter::<512>::new());
    let mut session = Box::new(TranscriptSession::<16>::new());
    let mut out = String::new();
    let mut take = |piece: TranscriptPiece<'_>| {
        let entry = TranscriptEntry::of(piece);
        write_entry(&mut out, &entry);
        write_made(&mut out, &session.take(&entry));
    };
    for mut chunk in bytes.chunks(chunk) {
        while let Some(piece) = lines.next(&mut chunk) {
            take(piece);
        }
    }
    lines.finish();
    while let Some(piece) = lines.next(&mut &[][..]) {
        take(piece);
    }
    while let Some(made) = session.finish() {
        out.push_str("end\n");
        write_made(&mut out, &made);
    }
    for (i, ends) in session.links().enumerate() {
        writeln!(out, "link {i}: {:?} to {:?}", ends.from, ends.to).unwrap();
    }
    writeln!(out, "{:?}\n{:?}", lines.counts(), session.counts()).unwrap();
    out
}

#[test]
fn every_transcript_reads_as_written_beside_it() {
    let mut names: Vec<_> = fs::read_dir(folder())
        .expect("the folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "txt"))
        .collect();
    names.sort();
    assert!(names.len() >= 9, "transcripts are missing: {names:?}");
    let mut wrong = Vec::new();
    for path in names {
        let bytes = bytes(&fs::read_to_string(&path).expect("a readable transcript"));
        let found = read(&bytes, usize::MAX);
        for chunk in [1, 2, 7, 64] {
            assert_eq!(read(&bytes, chunk), found, "{} in chunks of {chunk}", path.display());
        }
        let expected = path.with_extension("expected");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &found).expect("a writable folder");
        }
        if fs::read_to_string(&expected).unwrap_or_default() != found {
            wrong.push(format!("{}:\n{found}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "not as expected:\n{}", wrong.join("\n"));
}

//! The answer of captures that are named: `cargo run --example told FILE`.

use espbench_capture::analysis::CaptureAnalysis;
use espbench_capture::answer::answer;
use espbench_capture::document::CaptureDocument;
use std::io::Read as _;

fn main() {
    for path in std::env::args().skip(1) {
        let mut file = std::fs::File::open(&path).expect("a file");
        let mut buffer = vec![0; 1 << 20];
        let mut analysis = CaptureAnalysis::default();
        let mut fault = None;
        while fault.is_none() {
            match file.read(&mut buffer).expect("bytes") {
                0 => break,
                length => fault = analysis.push(&buffer[..length]).err(),
            }
        }
        match analysis.finish(fault) {
            Ok(seen) => println!("{}\n", answer(&CaptureDocument::of(&path, &seen)).join("\n")),
            Err(wrong) => println!("{path}: {wrong}\n"),
        }
    }
}

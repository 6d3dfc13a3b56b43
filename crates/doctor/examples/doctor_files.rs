//! Prints the causes of console logs, the first one first: a line for each file.

use espbench_doctor::finding::DiagnosisVerdict;
use espbench_doctor::incident::{Incident, diagnose};
use espbench_doctor::log::LogReader;
use std::time::Duration;

fn main() {
    for path in std::env::args().skip(1) {
        let mut reader = LogReader::new();
        match std::fs::read(&path) {
            Ok(bytes) => reader.push(&bytes),
            Err(why) => {
                eprintln!("{path}: {why}");
                continue;
            }
        }
        let log = reader.finish();
        let rtt = Duration::from_millis(5).into();
        let incident = Incident { name: &path, log: Some(&log), config: None, rtt };
        let found = diagnose(&incident).diagnosis;
        let causes: Vec<String> = match found.verdict {
            DiagnosisVerdict::CannotTell => vec!["cannot-tell".into()],
            DiagnosisVerdict::NothingWrong => vec!["nothing-wrong".into()],
            DiagnosisVerdict::Causes => found.findings.iter().map(|it| it.cause.name()).collect(),
        };
        println!("{path} {}", causes.join(" "));
        if std::env::var_os("EVENTS").is_some() {
            for (event, counts) in &log.events {
                let lines: Vec<u64> = counts.places.iter().map(|it| it.line).collect();
                println!("  {event:?} {lines:?}");
            }
        }
    }
}

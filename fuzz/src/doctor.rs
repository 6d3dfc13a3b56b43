//! Crashes that the doctor reads, and rules that others write for it.

use espbench_doctor::crash::core_dump::CoreDump;
use espbench_doctor::crash::report::{CodePlace, CrashReport, ProgramCode, core_entry};
use espbench_doctor::crash::trace::CrashReader;
use espbench_doctor::matcher::RuleBook;

/// Code that has a function at each odd address, and a call in front of each third one.
struct AnyCode;

impl ProgramCode for AnyCode {
    fn functions(&self, address: u32) -> Vec<CodePlace> {
        if address % 2 == 0 { Vec::new() } else { vec![CodePlace::default()] }
    }

    fn is_behind_call(&self, address: u32) -> bool {
        address % 3 == 0
    }
}

/// Reads a core dump, and the same bytes as a console's log in two pieces: it tells the same as in one, in bounded memory.
pub fn doctor_crash(data: &[u8]) {
    if let Ok(dump) = CoreDump::read(data) {
        assert!(!dump.tasks.is_empty() && dump.tasks.len() <= 512);
        let report = CrashReport::of_dump(&dump, None, Some(&AnyCode));
        assert!(report.frames.len() <= 64);
        assert!(
            !core_entry("fuzz".into(), &dump, RuleBook::built_in()).diagnosis.findings.is_empty()
        );
    }
    let read = |at: usize| {
        let mut reader = CrashReader::new();
        reader.push(&data[..at]);
        reader.push(&data[at..]);
        reader.finish()
    };
    let whole = read(data.len());
    assert_eq!(whole, read(data.len() / 2));
    for trace in &whole.traces {
        assert!(!trace.frames.is_empty() && trace.stack.len() <= 1024);
        assert!(CrashReport::of_trace(trace, &AnyCode).frames.len() <= 64);
    }
}

/// Reads a file of rules: it is one, or its fault names the file.
pub fn doctor_rules(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match RuleBook::from_files(&[("fuzz", text)]) {
        Ok(book) => assert!(book.rules().count() >= RuleBook::built_in().rules().count()),
        Err(fault) => assert!(fault.to_string().starts_with("fuzz"), "{fault}"),
    }
}

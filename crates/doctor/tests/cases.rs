//! Labelled cases: files with the cause that people who know it would name first.
//!
//! `cases/cases.csv` has the files of each case and what is expected: the stable name of the first cause, or of the
//! verdict. The table of docs/notes/doctor-cases.md is made here: `BLESS=1 cargo test -p espbench-doctor --test cases`.

use espbench_capture::analysis::CaptureAnalysis;
use espbench_doctor::captured;
use espbench_doctor::finding::DiagnosisVerdict;
use espbench_doctor::incident::{Incident, diagnose};
use espbench_doctor::log::{LogReader, LogSummary};
use espbench_doctor::settings::ConfigFile;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

const CASES: &str = include_str!("cases/cases.csv");

/// A case and its outcome.
struct Outcome {
    name: String,
    expected: String,
    first: String,
    certainty: &'static str,
}

fn outcome(row: &str) -> Outcome {
    let (files, expected) = row.split_once(',').unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let (mut log, mut config): (Option<LogSummary>, Option<ConfigFile>) = (None, None);
    let mut captured = None;
    for file in files.split(' ') {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        if file.ends_with(".sdkconfig") {
            config = Some(ConfigFile::read(std::str::from_utf8(&bytes).unwrap()).unwrap());
        } else if file.ends_with(".pcap") {
            let mut analysis = CaptureAnalysis::default();
            analysis.push(&bytes).unwrap();
            captured = Some(captured::diagnose(&analysis.finish(None).unwrap()));
        } else {
            let mut reader = LogReader::new();
            reader.push(&bytes);
            log = Some(reader.finish());
        }
    }
    let rtt = Duration::from_millis(5).into();
    let incident = Incident { name: files, log: log.as_ref(), config: config.as_ref(), rtt };
    let found = captured.unwrap_or_else(|| diagnose(&incident).diagnosis);
    let (first, certainty) = match (found.verdict, found.findings.first()) {
        (DiagnosisVerdict::CannotTell, _) => ("cannot-tell".into(), ""),
        (_, Some(first)) => (first.cause.name(), first.certainty.word()),
        _ => ("nothing-wrong".into(), ""),
    };
    let name = files.split(['.', ' ']).next().unwrap_or(files).to_string();
    Outcome { name, expected: expected.into(), first, certainty }
}

/// Returns the counts and the table, for docs/notes/doctor-cases.md.
fn table(outcomes: &[Outcome]) -> String {
    let count = |is: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|it| is(it)).count();
    let causes = count(&is_cause);
    let right = count(&|it| is_cause(it) && it.first == it.expected);
    let healthy = count(&|it| it.expected == "nothing-wrong");
    let alarms = count(&|it| it.expected == "nothing-wrong" && it.first != it.expected);
    let silent = count(&|it| it.expected == "cannot-tell");
    let told = count(&|it| it.expected == "cannot-tell" && it.first == it.expected);
    let mut out = format!(
        "{} cases. First cause right: {right} of {causes}. False alarms on healthy ones: {alarms} of {healthy}. \
         \"Cannot tell\" said where nothing can be told: {told} of {silent}.\n\n\
         {}\n\
         | case | expected | found first | certainty |\n|---|---|---|---|\n",
        outcomes.len(),
        calibration(outcomes)
    );
    for it in outcomes {
        let wrong = if it.first == it.expected { "" } else { " (wrong)" };
        let _ = writeln!(
            out,
            "| {} | {} | {}{wrong} | {} |",
            it.name, it.expected, it.first, it.certainty
        );
    }
    out
}

/// Returns how many first causes of each certainty are right: one of a healthy file is wrong.
fn calibration(outcomes: &[Outcome]) -> String {
    let mut out = String::from("| certainty | first causes | right |\n|---|---|---|\n");
    for word in ["high", "medium", "low"] {
        let told: Vec<&Outcome> = outcomes.iter().filter(|it| it.certainty == word).collect();
        let right = told.iter().filter(|it| it.first == it.expected).count();
        let share = 100.0 * right as f64 / told.len().max(1) as f64;
        let _ = writeln!(out, "| {word} | {} | {right} ({share:.0} %) |", told.len());
    }
    out
}

fn is_cause(it: &Outcome) -> bool {
    it.expected != "nothing-wrong" && it.expected != "cannot-tell"
}

#[test]
fn each_case_stands_once_and_each_file_is_of_a_case() {
    let rows = || CASES.lines().skip(1).filter_map(|row| row.split_once(',')).map(|it| it.0);
    let mut seen = BTreeSet::new();
    for files in rows() {
        assert!(seen.insert(files), "{files} stands twice in cases.csv");
    }
    let used: BTreeSet<&str> = rows().flat_map(|files| files.split(' ')).collect();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    for file in std::fs::read_dir(folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        // The list itself, and the script that makes the captures.
        let other = ["cases.csv", "captures.py"].contains(&&*name);
        assert!(other || used.contains(&*name), "{name} is of no case");
    }
}

#[test]
fn first_causes_are_right_and_healthy_files_raise_no_alarm() {
    let outcomes: Vec<Outcome> = CASES.lines().skip(1).map(outcome).collect();
    let text = table(&outcomes);
    println!("{text}");
    let mut of: BTreeMap<bool, (usize, usize)> = BTreeMap::new();
    for it in &outcomes {
        let counts = of.entry(is_cause(it)).or_default();
        counts.0 += usize::from(it.first == it.expected);
        counts.1 += 1;
    }
    // Issue 17, item 9: at least 90 % right, no alarm in 95 %.
    assert!(of[&true].0 * 100 >= of[&true].1 * 90, "{text}");
    assert!(of[&false].0 * 100 >= of[&false].1 * 95, "{text}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/notes/doctor-cases.md");
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let (begin, end) = ("<!-- cases -->\n", "<!-- end of cases -->");
    let at = page.find(begin).expect("the page has a place for the table") + begin.len();
    let until = page[at..].find(end).expect("the page ends the table") + at;
    if std::env::var_os("BLESS").is_some() {
        let page = format!("{}{text}{}", &page[..at], &page[until..]);
        std::fs::write(path, page).unwrap();
    } else {
        assert_eq!(&page[at..until], text, "BLESS=1 cargo test -p espbench-doctor --test cases");
    }
}

//! Results of the ten suites in the built-in labs, each at reduced counts: tables beside the
//! published ones, the limits, and how far they are from the document. Snapshots, so that a change
//! of a constant or of a machine shows in the figures; docs/suites.md says how to make them again.

use crate::util::TestDir;
use espbench::cli::builtin;
use espbench::render::text;
use espbench_measure::report::Report;
use espbench_measure::table::{Table, truth};
use std::fmt::Write as _;

/// Carries out a suite whose plan has these words in place of others.
#[track_caller]
pub(crate) fn carried_out(name: &str, changes: &[(&str, &str)]) -> Report {
    let report = carried_out_of(&builtin::SUITES, name, changes);
    crate::report::assert_known(&report);
    report
}

/// Carries out one of these plans, with these words in place of others.
#[track_caller]
pub(crate) fn carried_out_of(
    plans: &[(&str, &str)],
    name: &str,
    changes: &[(&str, &str)],
) -> Report {
    let (_, plan) = plans.iter().find(|(plan, _)| *plan == name).unwrap();
    let mut plan = (*plan).to_owned();
    for (words, others) in changes {
        assert!(plan.contains(words), "{name} has no `{words}`");
        plan = plan.replace(words, others);
    }
    let bench = TestDir::new();
    bench.write("plan.toml", &plan);
    let json = bench.run(&["run", "plan.toml", "-q", "--format", "json"]).ok();
    let report: Report = serde_json::from_str(&json).unwrap();
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    report
}

/// Carries out a suite, and compares what comes out.
#[track_caller]
fn suite(name: &str, changes: &[(&str, &str)]) {
    let report = carried_out(name, changes);
    let changes: Vec<&str> = changes.iter().map(|(_, others)| *others).collect();
    let mut words = format!("{name} with {}\n", changes.join(", "));
    let sections = report.sections();
    let shown = sections.iter().filter(|s| s.id == "overview" || s.id == name);
    let found: Vec<&Table> = shown.flat_map(|s| &s.tables).map(AsRef::as_ref).collect();
    assert!(found.len() > 1, "a line at the top, and a table beside the published one");
    let truth = report.truth.as_ref().unwrap();
    assert!(truth.rows.iter().all(|row| row.id.table == name));
    let how_true = [truth::groups(truth), truth::cells(truth, usize::MAX)];
    for table in found.into_iter().chain(&how_true) {
        let _ = write!(words, "\n{}\n{}", table.title, text::table(table));
    }
    insta::assert_snapshot!(name, words);
}

#[test]
fn one_way_latency() {
    suite("one-way-latency", &[("repetitions = 20", "repetitions = 4")]);
}

#[test]
fn round_trip() {
    suite("round-trip", &[("count = 10000", "count = 300")]);
}

#[test]
fn throughput() {
    suite("throughput", &[("time = \"60 s\"", "time = \"6 s\"")]);
}

#[test]
fn crypto_time() {
    suite("crypto-time", &[("count = 10000", "count = 500")]);
}

#[test]
fn one_way_latency_secure() {
    suite("one-way-latency-secure", &[("repetitions = 20", "repetitions = 4")]);
}

#[test]
fn round_trip_secure() {
    suite("round-trip-secure", &[("count = 10000", "count = 300")]);
}

#[test]
fn multi_device_round_trip() {
    suite("multi-device-round-trip", &[("count = 100", "count = 10")]);
}

#[test]
fn ota() {
    let devices = ("devices = [1, 10, 20, 30, 40, 50, 60, 70, 80, 100]", "devices = [1, 10]");
    let distance = ("distance = [\"3 m\", \"5 m\", \"10 m\"]", "distance = \"3 m\"");
    suite("ota", &[devices, distance]);
}

/// Of tests that are repeated, with up to 100 devices.
const FEW: [(&str, &str); 2] = [
    ("repetitions = 5", "repetitions = 2"),
    ("devices = [1, 10, 20, 30, 40, 50, 60, 70, 80, 100]", "devices = [1, 10, 100]"),
];

#[test]
fn handshake() {
    suite("handshake", &FEW);
}

#[test]
fn provisioning() {
    suite("provisioning", &FEW);
}

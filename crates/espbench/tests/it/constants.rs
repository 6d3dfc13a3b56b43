//! `espbench lab constants`, and whether it knows all constants of the code.

use crate::util::{Ran, TestDir};
use std::collections::BTreeSet;
use std::path::Path;

fn espbench(args: &[&str]) -> Ran {
    TestDir::new().run(args)
}

#[test]
fn every_constant_has_an_origin_in_csv_and_json() {
    let csv = espbench(&["lab", "constants", "--format", "csv"]);
    let lines: Vec<&str> = csv.out.lines().collect();
    assert!(lines[0].starts_with("file,kind,constant,value,unit,origin,fitted_to_cells,"));
    assert!(lines.len() > 1000, "{}", lines.len());
    let json = espbench(&["lab", "constants", "--format", "json"]);
    let list: Vec<serde_json::Value> = serde_json::from_str(&json.out).unwrap();
    assert!(list.len() < lines.len());
    let origins: BTreeSet<&str> = list.iter().filter_map(|it| it["origin"].as_str()).collect();
    let known = ["assumed", "by-hand", "fitted", "published", "standard"];
    assert_eq!(origins.into_iter().collect::<Vec<_>>(), known);
    let fitted: Vec<_> = list.iter().filter(|it| it["origin"] == "fitted").collect();
    assert!(fitted.len() <= 60, "{} are fitted", fitted.len());
    assert!(list.iter().any(|it| it["elasticity"].as_f64().is_some_and(|it| it.abs() > 0.5)));
    for it in list.iter().filter(|it| it["origin"] == "by-hand") {
        assert!(it["looked_at"].as_str().is_some_and(|it| it.len() > 10), "{it}");
    }
}

/// Stored sensitivities are printed at once, with what it takes to make it again.
#[test]
fn sensitivities_are_told_without_a_simulation() {
    let told = espbench(&["lab", "constants", "--sensitivity"]);
    assert_eq!(told.status, Some(0), "{}", told.err);
    assert!(told.out.contains("processor.coremark_per_mhz"), "{}", told.out);
    assert!(told.out.contains("--compute simulates them anew: some 10 minutes"), "{}", told.out);
    assert_eq!(told.err, "", "no progress");
}

#[test]
fn a_sensitivity_is_measured_and_an_unknown_suite_is_an_error() {
    let found = espbench(&[
        "lab",
        "constants",
        "--sensitivity",
        "--compute",
        "--suite",
        "crypto-time",
        "--format",
        "csv",
        "-q",
    ]);
    let row = found.out.lines().find(|it| it.starts_with("work,profile,seal.per_byte_ns,"));
    assert!(row.is_some_and(|it| it.contains(",crypto-time,")), "{row:?}");
    let wrong = espbench(&["lab", "constants", "--sensitivity", "--compute", "--suite", "ping"]);
    assert_eq!(wrong.status, Some(2));
    assert!(wrong.err.starts_with("espbench: no suite `ping`"), "{}", wrong.err);
    assert_eq!(wrong.err.lines().count(), 3, "{}", wrong.err);
}

/// Constants of floats and times that decide no figure of the lab: how a test is carried out, bounds,
/// arithmetic.
const OTHER: [&str; 47] = [
    // Exact arithmetic.
    "PARTS",
    "ONE",
    "DB_PER_OCTAVE",
    "TWICE_DB",
    "RECIPROCAL_FACTORIALS",
    "TO_WHOLE",
    "STEP",
    "LIGHT",
    "REFERENCE_M",
    "THERMAL_DBM_HZ",
    "UNKNOWN",
    "BARKER_DB",
    "NOISE_FIGURE_DB",
    // Ranges of keys, and bounds of searches.
    "ROOM_M",
    "LONGEST_US",
    "MOST_S",
    "FARTHEST_M",
    "TENTH",
    "HARDLY",
    // RFC 9438 and 9293.
    "BETA",
    "C",
    "ALPHA",
    "BETWEEN_CHALLENGES",
    // IEEE 802.11-2020.
    "TIME_UNIT",
    "BEACON_INTERVAL",
    "FIRST_AGAIN",
    "AGAIN",
    // Curves of error rates, which follow from the modulation (docs/radio.md), and Bianchi's model.
    "PLCP",
    "CCK_SPREAD",
    "MOST_HAZARD",
    "LOWEST_DB",
    "STEPS_PER_DB",
    "NIL",
    "LONGEST_BITS",
    "SHORTEST_BITS",
    "NIL_HAZARD",
    "CERTAIN_HAZARD",
    "NO_ECHO",
    // Where a bisection begins.
    "BUDGET_SPAN",
    // How a test is carried out: what passes before and after it.
    "SETTLE",
    "MARGIN",
    "SLICE",
    "TIMEOUT",
    "PAUSE",
    "WITHIN",
    "LEAST",
    "FRAME_MOST",
];

#[test]
fn no_constant_of_the_code_is_missing_from_the_list() {
    let listed = espbench(&["lab", "constants", "--format", "csv"]).out.to_lowercase();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut missing = Vec::new();
    let mut seen = 0;
    for folder in ["sim/src/lab", "sim/src/net", "sim/src/power", "dot11/src"] {
        read(&crates.join(folder), &mut |name, file| {
            seen += 1;
            let known = listed.contains(&name.to_lowercase());
            if !known && !OTHER.contains(&name) {
                missing.push(format!("{name} in {file}"));
            }
        });
    }
    assert!(seen > 40, "{seen}");
    assert!(missing.is_empty(), "list them in sim/src/lab/constants.rs: {missing:#?}");
}

/// Reports the constants of floats and times of a folder's files. Tests, and modules that carry tests out,
/// may have their own.
fn read(folder: &Path, found: &mut impl FnMut(&str, &str)) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let carries_out = ["suite", "live", "stack.rs", "gateway.rs"];
        if name.contains("test") || carries_out.contains(&name.as_str()) {
            continue;
        }
        if path.is_dir() {
            read(&path, found);
            continue;
        }
        let text = std::fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        for line in code.lines() {
            let Some((_, rest)) = line.split_once("const ") else { continue };
            let Some((constant, of)) = rest.split_once(": ") else { continue };
            if ["f64 =", "f32 =", "Duration ="].iter().any(|it| of.starts_with(it)) {
                found(constant, &name);
            }
        }
    }
}

//! Messages among nodes of ESP-NOW: what the built-in plans find out, and plans that cannot be.

use crate::results::carried_out_of;
use crate::util::{Ran, TestDir};
use espbench::cli::builtin;
use espbench::render::text;
use std::fmt::Write as _;

/// Carries out a built-in plan with fewer messages, and compares its table.
#[track_caller]
fn plan(name: &str, changes: &[(&str, &str)]) {
    let report = carried_out_of(&builtin::PLANS, name, changes);
    let mut words = String::new();
    for section in report.sections() {
        let tables = section.tables.iter().filter(|it| it.id == "esp-now-messages");
        for table in tables {
            let _ = write!(words, "{}\n{}", table.title, text::table(table));
        }
    }
    insta::assert_snapshot!(name, words);
}

#[test]
fn relay_line() {
    plan("relay-line", &[("count = 100", "count = 20"), ("count = 40\n", "count = 3\n")]);
}

#[test]
fn many_to_many() {
    plan("many-to-many", &[("count = 20\n", "count = 4\n"), ("count = 10\n", "count = 4\n")]);
}

#[test]
fn beacon_slots() {
    plan("beacon-slots", &[("count = 40", "count = 10"), ("count = 30", "count = 10")]);
}

#[test]
fn bluetooth_beside() {
    plan(
        "bluetooth-beside",
        &[
            ("count = 100", "count = 20"),
            ("count = 200", "count = 20"),
            ("time = \"10 s\"", "time = \"1 s\""),
        ],
    );
}

/// Says what a plan with these lines is refused for.
fn refused(lines: &str) -> String {
    let bench = TestDir::new();
    let plan = format!("name = \"p\"\n[[measure]]\nkind = \"esp-now-messages\"\n{lines}\n");
    bench.write("plan.toml", &plan);
    failed(bench.run(&["run", "plan.toml", "-q"]))
}

/// Returns what a command said that was not carried out.
fn failed(ran: Ran) -> String {
    assert_eq!(ran.status, Some(2), "{}", ran.err);
    assert!(ran.err.lines().count() <= 3, "{}", ran.err);
    ran.err
}

#[test]
fn what_does_not_go_together_is_told_with_what_to_do() {
    let said = [
        "pattern = \"relay-line\"\ndevices = 5",
        "pattern = \"many-to-one\"\nhops = 5",
        "pattern = \"relay-line\"\nhops = 5\ncast = \"unicast\"",
        "pattern = \"many-to-many\"\ncast = \"unicast\"",
        "pattern = \"many-to-many\"\nack = true",
        "pattern = \"many-to-one\"\ncast = \"unicast\"\ncopies = 3",
        "pattern = \"relay-line\"\nschedule = \"beacon-slots\"",
        "pattern = \"many-to-one\"\nschedule = \"beacon-slots\"\nslot = \"2 ms\"\nguard = \"2 ms\"",
        "pattern = \"many-to-many\"\nradio = \"scheduled\"",
        "pattern = \"many-to-one\"\nschedule = \"beacon-slots\"\ndevices = 200",
        "pattern = \"relay-line\"\nttl = 32",
        "pattern = \"ring\"",
        "size = 1000",
        "bluetooth = \"scanning\"\nprofile = \"esp32s2\"",
        "bluetooth = \"on\"",
    ]
    .map(refused);
    insta::assert_snapshot!("refused_plans", said.join("\n"));
}

/// A chip without Bluetooth, and turns that are given twice.
#[test]
fn a_lab_with_bluetooth_that_cannot_be_is_told() {
    let bench = TestDir::new();
    let lab = |lines: &str| {
        format!(
            "title = \"t\"\nenvironment = \"free-space\"\n[[group]]\nname = \"a\"\nat = [0, 0, 1]\n{lines}\n"
        )
    };
    let mut said = String::new();
    for lines in [
        "profile = \"esp32s2\"\nbluetooth = \"scanning\"",
        "profile = \"esp8266\"\ncoexist_wifi_ms = 50\ncoexist_period_ms = 100",
        "profile = \"esp32\"\nbluetooth = \"sliced\"\ncoexist_wifi_ms = 50\ncoexist_period_ms = 100",
        "profile = \"esp32\"\nbluetooth = \"mesh\"",
    ] {
        bench.write("lab.toml", &lab(lines));
        said.push_str(&failed(bench.run(&["lab", "show", "lab.toml"])));
    }
    insta::assert_snapshot!("refused_labs", said);
}

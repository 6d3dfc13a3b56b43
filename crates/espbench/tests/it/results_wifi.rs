//! Results of the six suites over Wi-Fi in the built-in labs, each at reduced counts: every cell
//! with a published value, and how far it is from that. Snapshots, so that a change of a constant
//! or of a machine shows in the figures; one command keeps new ones, where they are meant:
//! ```text
//! INSTA_UPDATE=always cargo test -p espbench --test it results_wifi
//! ```

use crate::results::carried_out;
use espbench::render::text;
use espbench_measure::table::truth;
use std::fmt::Write as _;

/// Carries out a suite whose plan has these words in place of others, and compares what comes out.
#[track_caller]
fn suite(name: &str, changes: &[(&str, &str)]) {
    let report = carried_out(name, changes);
    let changes: Vec<&str> = changes.iter().map(|(_, others)| *others).collect();
    let mut words = format!("{name} with {}\n", changes.join(", "));
    let truth = report.truth_wifi.as_ref().unwrap();
    let table = name.strip_prefix("wifi-").unwrap_or(name);
    assert!(truth.rows.iter().all(|row| row.id.table == table));
    for table in [truth::groups(truth), truth::cells(truth, usize::MAX)] {
        let _ = write!(words, "\n{}\n{}", table.title, text::table(&table));
    }
    insta::assert_snapshot!(name, words);
}

#[test]
fn wifi_udp_echo() {
    suite("wifi-udp-echo", &[("count = 1000", "count = 100")]);
}

#[test]
fn esp8266_iperf() {
    suite("esp8266-iperf", &[("time = \"10 s\"", "time = \"3 s\"")]);
}

#[test]
fn esp32c3_best() {
    suite("esp32c3-best", &[("time = \"10 s\"", "time = \"3 s\"")]);
}

#[test]
fn esp32c3_rank() {
    suite("esp32c3-rank", &[("time = \"10 s\"", "time = \"3 s\"")]);
}

#[test]
fn wifi_tcp_rate() {
    suite("wifi-tcp-rate", &[("runs = 6", "runs = 2")]);
}

#[test]
fn wifi_mqtt_rate() {
    suite(
        "wifi-mqtt-rate",
        &[("time = \"60 s\"", "time = \"20 s\""), ("time = \"2 s\"", "time = \"200 ms\"")],
    );
}

//! Tables of several stations and of repetitions: what the first screen says is in all of them, once.

use crate::util::TestDir;
use std::collections::BTreeSet;

const PLAN: &str = r#"
name = "fleet"
repetitions = 2
[[measure]]
kind = "udp-echo"
variant = "40-on-1-router"
devices = 3
count = 20
interval = "20 ms"
[[measure]]
kind = "tcp-rate"
variant = "40-on-1-router"
devices = 3
runs = 1
run_time = "200 ms"
[[measure]]
kind = "mqtt-rate"
variant = "40-on-1-router"
devices = 3
offered = "10 /s"
time = "2 s"
"#;

fn measured() -> TestDir {
    let bench = TestDir::new();
    bench.write("fleet.toml", PLAN);
    let answer = bench.run(&["run", "fleet.toml", "--on", "sim:forty-stations", "-q"]).ok();
    assert!(!answer.contains("Nothing came through"), "{answer}");
    bench
}

/// `client_fairness` had no unit, and `compare` refused a table that espbench had written.
#[test]
fn a_table_of_several_clients_is_read_again() {
    let bench = measured();
    bench.run(&["report", "-o", "base.csv"]).ok();
    let gate = ["compare", "last", "base.csv", "--metric", "loss,rtt_p50", "--threshold", "20 %"];
    let gate = bench.run(&gate);
    assert_eq!(gate.status, Some(0), "{}{}", gate.out, gate.err);
}

/// Times from when probes were due stood twice in the table of a device whose current is known.
#[test]
fn no_two_rows_of_a_table_have_one_key() {
    const KEY: [&str; 6] = ["run", "cell", "repetition", "trial", "mode", "metric"];
    let bench = measured();
    bench.run(&["report", "-o", "base.csv"]).ok();
    let mut table = csv::Reader::from_path(bench.path("base.csv")).unwrap();
    let head = table.headers().unwrap().clone();
    let columns = KEY.map(|name| head.iter().position(|it| it == name).expect(name));
    let mut keys = BTreeSet::new();
    for row in table.records() {
        let row = row.unwrap();
        let key = columns.map(|at| row[at].to_owned());
        assert!(keys.insert(key.clone()), "{key:?} stands twice");
    }
    assert!(keys.iter().any(|it| it[5] == "response_avg"), "{keys:?}");
}

/// Stations of `tcp-rate` were called silent, and had no throughput; repetitions had a row each, under one name.
#[test]
fn the_whole_report_has_what_the_first_screen_says() {
    let bench = measured();
    let full = bench.run(&["report", "--full"]).ok();
    let table = full.split("Stations: tcp-rate").nth(1).expect("a table of stations");
    let head = table.lines().take(4).collect::<String>();
    assert!(head.contains("throughput"), "{head}");
    let glance = full.split("At a glance (simulated)").nth(1).expect("the overview");
    let glance = glance.split("A cell without a line for loss").next().unwrap();
    assert_eq!(glance.matches("one station").count(), 1, "{glance}");
}

/// A plan's rates lost a quarter of their messages, and a search beside them took the column that says so.
#[test]
fn what_is_lost_has_a_column_beside_a_search() {
    let bench = TestDir::new();
    let answer = bench.run(&["run", "wifi-mqtt-rate", "-q"]).ok();
    let head = answer.lines().nth(1).unwrap();
    assert!(head.contains("rate without loss") && head.contains("lost (%)"), "{answer}");
}

/// A lab of four nodes along a path.
const PATH: &str = r#"title = "A path"
environment = "office"
initiator = "first"
varied = "relays"
[[group]]
name = "first"
profile = "esp32"
[group.firmware]
services = ["data"]
[[group]]
name = "relays"
profile = "esp32"
count = 3
at = [24, 0, 0]
[group.line]
step_m = 12
angle_deg = 0
[group.firmware]
services = ["data"]
"#;

#[test]
fn places_that_a_flag_sets_are_taken_and_named() {
    let bench = TestDir::new();
    let messages = "name = \"m\"\n[[measure]]\nkind = \"esp-now-messages\"\npattern = \"many-to-one\"\n\
                    devices = 5\ncount = 9\ninterval = \"500 ms\"\n";
    bench.write("messages.toml", messages);
    let three = bench.run(&["run", "messages.toml", "--devices", "3"]);
    assert!(!three.err.contains("does nothing"), "{}", three.err);
    assert!(three.ok().contains("3 devices"));
    let lines = messages.replace("many-to-one", "relay-line").replace("devices = 5", "hops = 2");
    bench.write("line.toml", &lines);
    let refused = bench.run(&["run", "line.toml", "--devices", "3"]);
    assert_eq!(refused.status, Some(2), "{}", refused.err);
    assert!(refused.err.contains("--devices does nothing"), "{}", refused.err);

    let far = bench.run(&["run", "line.toml", "--distance", "30", "-q"]).ok();
    assert!(far.contains(", 30 m"), "{far}");
    let none = bench.run(&["run", "messages.toml", "--distance", "30"]);
    assert_eq!(none.status, Some(2), "{}", none.err);
    assert!(none.err.contains("--distance does nothing"), "{}", none.err);

    // What the plan leaves open is the lab's, and what it says is named beside the lab's own.
    bench.write("open.toml", &messages.replace("devices = 5\n", ""));
    bench.write("path.toml", PATH);
    let open = bench.run(&["run", "open.toml", "--on", "sim:path.toml", "-q"]).ok();
    assert!(open.contains(", 3 devices") && !open.contains("this run sets"), "{open}");
    let said = bench.run(&["run", "messages.toml", "--on", "sim:path.toml", "-q"]).ok();
    assert!(said.contains("this run sets devices 5 (lab: 3)"), "{said}");
    bench.write("hops.toml", &lines.replace("hops = 2\n", ""));
    let hops = bench.run(&["run", "hops.toml", "--on", "sim:path.toml", "-q"]).ok();
    assert!(hops.contains("3 hops, 12 m") && !hops.contains("this run sets"), "{hops}");
    let far = ["run", "hops.toml", "--on", "sim:path.toml", "--distance", "9", "-q"];
    let far = bench.run(&far).ok();
    assert!(far.contains("3 hops, 9 m") && far.contains("sets distance 9 m (lab: 12)"), "{far}");

    bench.write("raw.toml", "name = \"raw\"\n[[measure]]\nkind = \"raw-esp-now\"\ncount = 20\n");
    let far = ["run", "raw.toml", "--on", "sim:raw-esp-now", "--distance", "9", "-q"];
    let far = bench.run(&far).ok();
    assert!(far.contains("this run sets distance 9 m (lab: 1)"), "{far}");
}

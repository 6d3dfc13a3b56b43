//! The report that the engine makes in memory is that of the command, to the byte.

use crate::util::TestDir;
use espbench::render;
use espbench_engine::Simulation;
use espbench_measure::plan::PlanSet;
use espbench_sim::lab::file::{FileKind, Library};

/// Cells of the ESP-NOW report, of several kinds, twice.
const ESP_NOW: &str = r#"
name = "A suite, in short"
repetitions = 2
[[measure]]
kind = "esp-now"
test = "ping"
size = [10, 230]
count = 50
[[measure]]
kind = "esp-now"
test = "throughput"
time = "1 s"
[[measure]]
kind = "esp-now"
test = ["multi-ping", "handshake", "provisioning"]
devices = 3
count = 5
"#;

/// Devices over Wi-Fi, held against their documents.
const WIFI: &str = r#"
name = "wifi-udp-echo"
[[measure]]
kind = "udp-echo"
variant = "arduino"
size = [10, 900]
count = 40
discard = 1
timeout = "1 s"
[[measure]]
kind = "tcp-rate"
variant = "idf-room"
size = 19
runs = 2
run_time = "1 s"
discard = 0
"#;

/// Plan of two cells in one room: one over IP and one over ESP-NOW.
const BOTH: &str = r#"
name = "shared"
[[measure]]
kind = "udp-echo"
variant = ["wifi-beside-esp-now", "esp-now-beside-wifi"]
size = 64
format = "binary"
count = 40
interval = "50 ms"
timeout = "1 s"
[[measure]]
kind = "iperf"
transport = "tcp"
direction = "reverse"
variant = "wifi-beside-esp-now"
time = "2 s"
"#;

/// Limits, one of which is broken, in a lab of the user's.
const LIMITS: &str = r#"
name = "limits"
seed = 9
[[measure]]
kind = "esp-now"
test = "ping"
size = [10, 230]
count = 50
[[threshold]]
metric = "rtt_p99"
payload_bytes = 10
max = "1 us"
[[threshold]]
metric = "loss"
max = "100 %"
"#;
const LAB: &str = "title = \"Two in an office\"\nenvironment = \"office\"\n\
                   [[group]]\nname = \"a\"\nprofile = \"esp32c3\"\n\
                   [[group]]\nname = \"b\"\nprofile = \"esp32c3\"\ndistance_m = 4\n";

/// Compares the report of the command with that of the engine.
#[track_caller]
fn compare(plan: &str, lab: Option<&str>, seed: Option<u64>) {
    let bench = TestDir::new();
    bench.write("plan.toml", plan);
    bench.write("lab.toml", LAB);
    let on = lab.map_or_else(|| "sim".to_owned(), |lab| format!("sim:{lab}"));
    let number = seed.map(|it| it.to_string());
    let mut args = vec!["run", "plan.toml", "--on", &on, "--format", "json", "--quiet"];
    args.extend(number.iter().flat_map(|it| ["--seed", it]));
    let told = bench.run(&args).out;
    let command: serde_json::Value = serde_json::from_str(&told).unwrap();
    let fact = |name: &str| command["run"][name].as_str().unwrap();

    let mut library = Library::built_in();
    library.add(FileKind::Lab, "lab.toml", LAB).unwrap();
    let set = PlanSet::parse(plan).unwrap();
    let simulation = Simulation::new(set, library, lab, seed).unwrap();
    // The store's number stands behind the name.
    assert_eq!(fact("name"), format!("{}-1", simulation.facts().name));
    let simulation = simulation.named(fact("name"), fact("started"));
    let mut report = simulation.run(&mut ());
    report.stored = Some("runs.sqlite".into());
    assert!(!report.incomplete && !report.cells.is_empty());
    let drawn = render::json::render(&report);
    if let Some((ours, its)) = drawn.lines().zip(told.lines()).find(|(a, b)| a != b) {
        panic!("the engine: {ours}\nthe command: {its}");
    }
    assert_eq!(drawn, told);
}

#[test]
fn a_suite_of_esp_now() {
    compare(ESP_NOW, None, None);
}

#[test]
fn devices_over_wifi() {
    compare(WIFI, None, Some(3));
}

#[test]
fn both_in_one_room() {
    compare(BOTH, None, None);
    compare(BOTH, Some("shared-channel"), Some(2));
}

#[test]
fn limits_in_a_lab_of_the_users() {
    compare(LIMITS, Some("lab.toml"), None);
}

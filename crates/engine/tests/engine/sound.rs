//! Figures of every kind of test agree with each other and with physics.

use espbench_engine::Simulation;
use espbench_measure::metric::registry;
use espbench_measure::plan::PlanSet;
use espbench_measure::report::Report;
use espbench_measure::sound::contradictions;
use espbench_measure::units::conversion;
use espbench_sim::lab::file::{FileKind, Library};

/// Tests between nodes of ESP-NOW, with and without the component.
const ESP_NOW: &str = r#"
name = "esp-now"
repetitions = 2
[[measure]]
kind = "esp-now"
test = ["one-way", "ping"]
cast = ["unicast", "broadcast"]
phy_rate = ["1M", "24M"]
size = [10, 230]
count = 30
[[measure]]
kind = "esp-now"
test = "throughput"
cast = ["unicast", "broadcast 3"]
time = "2 s"
[[measure]]
kind = "esp-now"
test = "crypto"
count = 50
[[measure]]
kind = "esp-now"
test = "multi-ping"
cast = ["unicast", "broadcast"]
devices = [2, 8]
count = 20
[[measure]]
kind = "esp-now"
test = "multi-ping"
devices = 6
distance = "100 m to 600 m"
count = 60
[[measure]]
kind = "esp-now"
test = ["handshake", "provisioning"]
devices = 3
[[measure]]
kind = "esp-now"
test = "ota"
devices = 2
size = 50000
[[measure]]
kind = "raw-esp-now"
cast = ["unicast", "broadcast"]
count = 50
"#;

/// Messages over a line of nodes.
const MESSAGES: &str = r#"
name = "messages"
[[measure]]
kind = "esp-now-messages"
pattern = "relay-line"
hops = [1, 3]
size = 64
ttl = 30
count = 30
"#;

/// Joins of a network.
const JOINS: &str = r#"
name = "joins"
[[measure]]
kind = "wifi-join"
variant = ["join-esp32c3-wpa2", "join-esp8266-open"]
count = 4
"#;

/// Tests over Wi-Fi.
const WIFI: &str = r#"
name = "wifi"
[[measure]]
kind = "udp-echo"
variant = "arduino"
size = [1, 900]
count = 60
[[measure]]
kind = "udp-echo"
variant = "arduino"
size = 100
count = 60
interval = "5 ms"
[[measure]]
kind = "tcp-rate"
variant = "idf-room"
size = 19
runs = 2
run_time = "1 s"
discard = 0
[[measure]]
kind = "mqtt-rate"
variant = "well"
offered = "20 /s"
size = 16
time = "3 s"
[[measure]]
kind = "iperf"
variant = "best-shield-box"
transport = ["tcp", "udp"]
direction = ["forward", "reverse"]
bandwidth = "10 Mbit/s"
time = "2 s"
"#;

fn report(text: &str, lab: Option<&str>) -> Report {
    let mut library = Library::built_in();
    if let Some(lab) = lab.filter(|it| it.ends_with(".toml")) {
        let hall = include_str!("../../../../examples/research/hall.toml");
        library.add(FileKind::Lab, lab, hall).unwrap();
    }
    let set = PlanSet::parse(text).unwrap();
    let simulation = Simulation::new(set, library, lab, None).unwrap_or_else(|it| panic!("{it}"));
    let report = simulation.run(&mut ());
    assert!(report.failures.is_empty(), "{:?}", report.failures);
    report
}

/// Asserts that of each cell the least is no more than the mean, quantiles stand in their order, and nothing is beyond its
/// theoretical limit: not in the table of results, and not on the first screen. A metric has the unit that the registry says,
/// or one of its dimension.
#[track_caller]
fn assert_sound(report: &Report) {
    let wrong = contradictions(&report.cells);
    assert!(wrong.is_empty(), "{}: {wrong:#?}", report.run.plan_name);
    let registry = registry();
    for cell in &report.cells {
        let facts = registry.iter().find(|it| it.name == cell.id.metric);
        let known = facts.map_or("", |it| it.unit);
        // Times between two frames are in microseconds, and between two messages in milliseconds.
        let is_known = match conversion(cell.unit.as_str(), known) {
            Some(factor) => factor != 1.0 || cell.unit == known,
            None => cell.unit == known,
        };
        assert!(is_known, "{}: {} in {}", report.run.plan_name, cell.id.metric, cell.unit);
    }
    for group in &report.glance {
        let [low, high] = group.times_limit.unwrap_or([1.0, 1.0]);
        assert!(low > 1.0 - 1e-9 && high >= low, "{}: {low} to {high} times the limit", group.name);
    }
}

#[test]
fn figures_of_esp_now_agree_with_each_other_and_with_physics() {
    assert_sound(&report(ESP_NOW, None));
}

#[test]
fn figures_over_wifi_agree_with_each_other_and_with_physics() {
    assert_sound(&report(WIFI, None));
    assert_sound(&report(MESSAGES, None));
    assert_sound(&report(JOINS, None));
}

/// A plan of one's own leads with the exact mean, and is held against no document.
#[test]
fn a_room_of_ones_own_leads_with_exact_figures() {
    let plan = include_str!("../../../../examples/research/sweep.toml");
    let plan = plan.replace("repetitions = 5", "repetitions = 2");
    let report = report(&plan, Some("hall.toml"));
    assert_sound(&report);
    let group = &report.glance[0];
    assert_eq!(group.metrics[0].metric, "rtt_exact_avg");
    for row in &group.rows {
        let (mean, limit) = (row.values[0].unwrap(), row.limit.unwrap());
        assert!(mean.value > limit && mean.ci_low.unwrap() < mean.value, "{}", row.place);
        assert_eq!((row.published, row.printed), (None, None));
    }
    assert!(report.run.own_lab && report.comparisons.is_empty() && group.published.is_none());
    assert!(report.lab_truth.is_empty());
    assert_eq!(
        report.truths(),
        ["No published counterpart: how true these figures are is not known."]
    );
}

/// Beside a published table the console's figure stands, and the exact one leads.
#[test]
fn a_documents_own_test_keeps_what_its_console_prints_beside_the_exact_figure() {
    let plan = "name = \"round-trip\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\nsize = 10\n\
                cast = \"unicast\"\ncount = 200\n";
    let report = report(plan, None);
    let (group, row) = (&report.glance[0], &report.glance[0].rows[0]);
    assert_eq!(group.metrics[0].metric, "rtt_exact_avg");
    let (exact, printed) = (row.values[0].unwrap().value, row.printed.unwrap());
    assert!(printed < exact && exact - printed < 1.0, "{printed} {exact}");
    assert_eq!(row.published, Some(4.56));
    assert!(!report.lab_truth.is_empty());
}

//! A kind of test has one place: ARCHITECTURE.md, "Add a kind of test".

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Each kind: its name, its words in Rust, and its folder.
const KINDS: [(&str, &[&str], &str); 9] = [
    ("udp-echo", &["UdpEcho"], "udp_echo"),
    ("ping", &["Workload::Ping", "IpTest::Ping"], "ping"),
    ("iperf", &["Workload::Iperf", "IpTest::Iperf"], "iperf"),
    ("tcp-rate", &["TcpRate"], "tcp_rate"),
    ("mqtt-rate", &["MqttRate"], "mqtt_rate"),
    ("wifi-join", &["WifiJoin", "Workload::Join", "IpTest::Join"], "wifi_join"),
    ("esp-now", &["Workload::EspNow"], "esp_now"),
    ("raw-esp-now", &["RawEspNow"], "raw_esp_now"),
    ("esp-now-messages", &["EspNowMessages"], "esp_now_messages"),
];

/// The registry. It and the value of a cell's work (`model::workload`) have lines for each kind.
const REGISTRY: &str = "measure/src/kind/mod.rs";

/// The runner: the targets, and what a cell has the devices of the virtual lab do.
const RUNNER: [&str; 2] = ["espbench/src/target/", "sim/src/lab/suite/"];

/// Files beyond these that name a kind, each for a reason. Take out what no longer does.
const ELSEWHERE: &[(&str, &[&str])] = &[
    // Commands that make a plan of options.
    ("espbench/src/cli/echo.rs", &["udp-echo"]),
    ("espbench/src/cli/espnow/edges.rs", &["esp-now"]),
    ("espbench/src/cli/espnow/single.rs", &["esp-now", "ping"]),
    ("espbench/src/cli/iperf/mod.rs", &["iperf"]),
    ("espbench/src/cli/ping.rs", &["ping"]),
    ("espbench/src/cli/rate.rs", &["mqtt-rate", "tcp-rate"]),
    // Lines, units and rows as iperf prints them.
    ("espbench/src/cli/iperf/options.rs", &["iperf"]),
    ("espbench/src/cli/iperf/printer.rs", &["iperf"]),
    ("espbench/src/cli/iperf/rows.rs", &["iperf"]),
    ("espbench/src/cli/iperf/server.rs", &["iperf"]),
    // What people type that another program has.
    ("espbench/src/cli/told.rs", &["iperf"]),
    // The digits that consoles of the component print.
    ("measure/src/digits.rs", &["esp-now"]),
    // The test of ESP-NOW that a plan's cell is of.
    ("measure/src/plan/places.rs", &["esp-now"]),
    // Plans and labs with the name of what they test.
    (
        "espbench/src/cli/builtin.rs",
        &["iperf", "mqtt-rate", "raw-esp-now", "tcp-rate", "udp-echo", "wifi-join"],
    ),
    ("espbench/src/cli/lab/constants/plans.rs", &["raw-esp-now"]),
    ("sim/src/lab/file/built_in.rs", &["raw-esp-now", "wifi-join"]),
    // The lab in which a log's complaint is set up.
    ("engine/src/proof/scene.rs", &["raw-esp-now"]),
    // Rows that others measured: the table of `esp_now_send`, its lab, and how it is simulated.
    ("engine/src/measured/frames.rs", &["raw-esp-now"]),
    ("engine/src/measured/rows.rs", &["esp-now", "raw-esp-now"]),
    // Work that a search of settings has done.
    ("engine/src/tune/lab.rs", &["iperf", "udp-echo"]),
    // The transport of its cells.
    ("measure/src/kind/raw_esp_now/results.rs", &["esp-now"]),
    ("measure/src/kind/esp_now_messages/results.rs", &["esp-now"]),
    // A command of ESP-IDF's console.
    ("engine/src/boards/learned.rs", &["iperf"]),
    // The transport, the chapter and the words of ESP-NOW beside its kind of test.
    ("engine/src/predict/rooms.rs", &["esp-now"]),
    ("espbench/src/cli/report.rs", &["esp-now"]),
    ("measure/src/compare/join.rs", &["esp-now"]),
    ("measure/src/console/cells.rs", &["esp-now"]),
    ("measure/src/console/mod.rs", &["esp-now", "ping"]),
    ("measure/src/predict/frames.rs", &["esp-now"]),
    ("measure/src/predict/report.rs", &["esp-now"]),
    ("sim/src/lab/file/lab/keys.rs", &["esp-now"]),
    // The ping of ESP-NOW.
    ("measure/src/kind/esp_now/plan.rs", &["ping"]),
    ("measure/src/settings/value.rs", &["ping"]),
    // What a live device is told to publish, and the name of its echo.
    ("espbench/src/cli/live_lab/network/typed.rs", &["mqtt-rate"]),
    ("sim/src/lab/live/console/command.rs", &["iperf", "ping"]),
    ("sim/src/lab/live/services.rs", &["udp-echo"]),
    ("sim/src/lab/live/typed.rs", &["mqtt-rate"]),
    // The name of a thread.
    ("espbench/src/respond/echo.rs", &["udp-echo"]),
];

/// Product files that a kind needs: at least one in its folder, the value, the registry, the runner.
const NEEDED: usize = 6;

#[test]
fn a_kind_is_named_in_its_folder_the_registry_and_the_runner() {
    let found = files_by_kind();
    let elsewhere = |name: &str, folder: &str| -> BTreeSet<String> {
        let folder = format!("measure/src/kind/{folder}/");
        let known = |file: &&String| {
            file.starts_with(&folder)
                || *file == REGISTRY
                || RUNNER.iter().any(|it| file.starts_with(it))
        };
        found[name].iter().filter(|it| !known(it)).cloned().collect()
    };
    let mut named: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (name, _, folder) in KINDS {
        for file in elsewhere(name, folder) {
            named.entry(file).or_default().insert(name);
        }
    }
    let allowed: BTreeMap<String, BTreeSet<&str>> = ELSEWHERE
        .iter()
        .map(|(file, kinds)| (file.to_string(), kinds.iter().copied().collect()))
        .collect();
    assert_eq!(named, allowed, "ask `TestKind`, or put it into the kind's folder");
}

/// Joining a network has all that a kind can have, but a command of its own: keys, settings, cells, a
/// table, a figure, and what the lab does.
#[test]
fn a_kind_needs_six_product_files() {
    let is_allowed = |file: &String| ELSEWHERE.iter().any(|(other, _)| other == file);
    let mut files: BTreeSet<String> = files_by_kind()["wifi-join"].iter().cloned().collect();
    files.retain(|file| !is_allowed(file));
    files.extend([REGISTRY.to_string(), "model/src/workload.rs".to_string()]);
    assert!(files.len() <= NEEDED, "{files:#?}");
}

fn files_by_kind() -> BTreeMap<&'static str, Vec<String>> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap();
    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut read = 0;
    for name in ["espbench", "engine", "measure", "sim"] {
        for file in crate::layers::files(&crates.join(name).join("src")) {
            let path = file.strip_prefix(&crates).unwrap().to_str().unwrap().replace('\\', "/");
            if path.ends_with("tests.rs") || path.contains("/tests/") {
                continue;
            }
            read += 1;
            let text = product(&std::fs::read_to_string(&file).unwrap());
            for (kind, words, folder) in KINDS {
                let quoted = format!("\"{kind}\"");
                let import = format!("kind::{folder}");
                let is_named = text.contains(&quoted)
                    || text.contains(&import)
                    || words.iter().any(|word| has_word(&text, word));
                if is_named {
                    found.entry(kind).or_default().push(path.clone());
                }
            }
        }
    }
    assert!(read > 300, "only {read} files were read");
    found
}

/// Returns the code without comments, up to its tests.
fn product(text: &str) -> String {
    let code = text.split("\n#[cfg(test)]\nmod tests {").next().unwrap_or(text);
    let lines = code.lines().filter(|line| !line.trim_start().starts_with("//"));
    lines.collect::<Vec<_>>().join("\n")
}

fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

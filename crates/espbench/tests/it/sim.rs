//! The virtual lab as a target of commands.

use crate::util::TestDir;
use std::path::Path;

const PING: [&str; 8] = ["espnow", "ping", "-C", "20", "-l", "10,230", "--format", "csv"];

#[test]
fn a_test_in_the_lab_is_simulated_and_repeats_to_the_byte() {
    let bench = TestDir::new();
    let first = bench.run(&PING).ok();
    // In a store of its own, so that it has the same number.
    let second = TestDir::new().run(&PING).ok();
    assert_eq!(first, second);
    assert!(first.contains("simulated") && !first.contains("measured"), "{}", first);
    assert!(!second.contains("loopback"), "{}", second);
    let other = bench.run(&[&PING[..], &["--seed", "2"]].concat()).ok();
    assert_ne!(first, other);
}

/// Cells of each kind, short and long by turns; the pings make several batches of samples.
const MIXED: &str = r#"
name = "mixed"
repetitions = 2
[[measure]]
kind = "esp-now"
test = "ping"
size = [10, 230]
count = 1100
[[measure]]
kind = "esp-now"
test = "multi-ping"
devices = [2, 8]
count = 5
[[measure]]
kind = "esp-now"
test = "throughput"
time = "1 s"
[[measure]]
kind = "esp-now"
test = "handshake"
devices = 3
[[measure]]
kind = "esp-now"
test = "provisioning"
devices = 3
[[measure]]
kind = "esp-now"
test = "ota"
devices = 2
size = 8192
[[measure]]
kind = "esp-now"
test = "one-way"
count = 5
[[measure]]
kind = "esp-now"
test = "crypto"
count = 50
"#;
/// Cells of the mixed plan, and the samples of its pings.
const MIXED_CELLS: usize = 20;
const MIXED_PINGS: i64 = 2 * 2 * 1100;

/// Returns when the run was started, as its facts in the store have it.
fn started(store: &Path) -> String {
    let db = rusqlite::Connection::open(store).unwrap();
    let facts: String = db.query_row("SELECT facts FROM run", [], |row| row.get(0)).unwrap();
    let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
    facts["started"].as_str().unwrap().to_owned()
}

/// Returns a store's bytes without the time at which the run was started, the one thing in it that
/// is not of the simulation: that is blotted out where it stands.
pub(crate) fn without_start(store: &Path) -> Vec<u8> {
    let started = started(store);
    let mut bytes = std::fs::read(store).unwrap();
    let places: Vec<usize> = bytes
        .windows(started.len())
        .enumerate()
        .filter_map(|(at, here)| (here == started.as_bytes()).then_some(at))
        .collect();
    assert_eq!(places.len(), 1, "{started} stands once in the store");
    bytes[places[0]..][..started.len()].fill(b'-');
    bytes
}

fn file_names(folder: &Path) -> Vec<String> {
    let files = std::fs::read_dir(folder).unwrap();
    let name = |file: std::io::Result<std::fs::DirEntry>| file.unwrap().file_name();
    let mut names: Vec<String> = files.map(|it| name(it).into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn the_same_seed_gives_the_same_bytes_twice_and_with_any_number_of_threads() {
    let run = |threads: &str| {
        let bench = TestDir::new();
        bench.write("mixed.toml", MIXED);
        let args =
            ["run", "mixed.toml", "--pcap", "air.pcapng", "--threads", threads, "--format", "csv"];
        let out = bench.run(&args).ok();
        (bench, out)
    };
    let ((one, out), others) = (run("1"), [run("1"), run("4")]);
    let names = file_names(one.dir.path());
    // A capture for each cell, the plan, the store without a log beside it.
    assert_eq!(names.len(), MIXED_CELLS + 2, "{names:?}");
    let db = rusqlite::Connection::open(one.store()).unwrap();
    let count = |what: &str| db.query_row(what, [], |row| row.get::<_, i64>(0)).unwrap();
    assert_eq!(count("SELECT count(*) FROM cell WHERE status = 'done'"), MIXED_CELLS as i64);
    assert!(count("SELECT count(*) FROM probe") > MIXED_PINGS);
    drop(db);
    for (other, text) in &others {
        assert_eq!(&out, text);
        assert_eq!(names, file_names(other.dir.path()));
        for name in &names {
            let (first, second) = (one.path(name), other.path(name));
            let same = match name.as_str() {
                "runs.sqlite" => without_start(&first) == without_start(&second),
                _ => std::fs::read(&first).unwrap() == std::fs::read(&second).unwrap(),
            };
            assert!(same, "{name} differs");
        }
    }
}

#[test]
fn nothing_of_this_host_is_in_a_simulated_run() {
    let bench = TestDir::new();
    let ran = bench.run(&["espnow", "crypto", "-C", "10", "-l", "10", "--format", "json"]).ok();
    let report: serde_json::Value = serde_json::from_str(&ran).expect("a report");
    assert_eq!(report["run"]["origin"], "simulated");
    assert!(report["overhead"].is_null(), "{}", report["overhead"]);
    assert!(report["run"]["host"].as_object().is_none_or(serde_json::Map::is_empty));
}

#[test]
fn a_run_of_the_lab_given_back_is_still_simulated() {
    let bench = TestDir::new();
    bench.write(
        "one.toml",
        "name = \"one\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\nsize = 10\ncount = 5\n",
    );
    let first = bench.run(&["run", "one.toml", "--format", "csv"]).ok();
    let again = bench.run(&["run", "one.toml", "--on", "replay:one-1", "--format", "csv"]).ok();
    // But for the number of the run.
    assert_eq!(first.replace("\none-1,", "\none-2,"), again);
    assert!(again.contains("simulated"), "{}", again);
}

#[test]
fn what_cannot_be_done_is_told_with_what_to_do() {
    let bench = TestDir::new();
    for (args, wanted) in [
        (&["run", "round-trip", "--on", "serial:/dev/no-such-port"][..], "there is no such port"),
        (
            &["espnow", "ping", "--lab", "nowhere"],
            "no lab is called `nowhere`. Known here: esp8266-iperf, forty-stations, handshake",
        ),
        (&["run", "ota", "--chip", "esp32"], "leave out --chip"),
        (&["espnow", "ping", "-l", "231"], "8 to 230 bytes"),
        (&["espnow", "provision", "--lab", "two-boards"], "two-boards"),
        (&["run", "round-trip", "udp-echo"], "these plans are for different targets"),
        (&["run", "round-trip", "--on", "loopback"], "use --on sim"),
        (&["run", "udp-window", "--on", "sim"], "use --on loopback"),
        (&["run", "one-way-latency", "--on", "sim", "--on", "loopback"], "make two runs"),
    ] {
        let ran = bench.run(args);
        assert_eq!(ran.status, Some(2), "{args:?}");
        assert!(ran.err.contains(wanted), "{args:?}: {}", ran.err);
    }
}

/// A lab of the user's, with what lies beside it, wherever a lab is asked for.
#[test]
fn a_lab_is_a_file_too() {
    let bench = TestDir::new();
    bench.write(
        "my-lab.toml",
        "title = \"t\"\nenvironment = \"hall.toml\"\n\
         [[group]]\nname = \"first\"\nprofile = \"esp32c6\"\n\
         [[group]]\nname = \"others\"\nprofile = \"esp32c6\"\n[group.line]\nstep_m = 0.5\n",
    );
    bench.write(
        "hall.toml",
        "title = \"t\"\n[path_loss]\nexponent = 2\nsource = \"s\"\n[carrier_sense]\n\
         energy_dbm = -73\nsource = \"s\"\n[receiver]\ndetect_db = 4\nsource = \"s\"\n",
    );
    let lab = ["--lab", "my-lab.toml", "--format", "csv"];
    let ping = bench.run(&[&["espnow", "ping", "-C", "20", "-l", "10"][..], &lab].concat()).ok();
    assert!(ping.contains("simulated") && ping.contains("hall"), "{ping}");
    let small = ["--rooms", "2", "--messages", "100", "-q", "--format", "json"];
    let ask = ["predict", "fleet", "--lab", "my-lab.toml", "--devices", "3"];
    let answer = bench.run(&[&ask[..], &small].concat()).ok();
    assert!(answer.contains("my-lab.toml") && answer.contains("environment hall"), "{answer}");
    bench.write("hall.toml", "title = \"t\"\n[path_loss]\nsource = \"s\"\nexponent = \"x\"\n");
    for args in [&["espnow", "ping", "--lab", "my-lab.toml"][..], &ask] {
        let ran = bench.run(args);
        assert_eq!(ran.status, Some(2), "{args:?}");
        assert!(ran.err.contains("hall.toml: line 4, column 12"), "{args:?}: {}", ran.err);
    }
}

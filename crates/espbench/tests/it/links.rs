//! Links that fade, antennas, and links as they were measured: whole commands.

use crate::util::{Ran, TestDir};
use serde_json::Value;

/// Two boards, eight metres apart, in the place `hall.toml`.
const LAB: &str = "\
title = \"Two boards\"
environment = \"hall.toml\"
[[group]]
name = \"gateway\"
profile = \"esp32\"
[[group]]
name = \"sensor\"
profile = \"esp32\"
distance_m = 8
";

/// A place without shadowing.
const HALL: &str = "\
title = \"A hall\"
[path_loss]
exponent = 3
source = \"a test\"
[carrier_sense]
energy_dbm = -73
source = \"a test\"
[receiver]
detect_db = 4
source = \"a test\"
";

const TRACE: &str = "time_s,from,to,rssi_dbm,delivery\n";

/// Returns a folder with that lab and place, each with more lines, and a plan of pings.
fn bench(lab: &str, place: &str) -> TestDir {
    let bench = TestDir::new();
    bench.write("room.toml", &format!("{LAB}{lab}"));
    bench.write("hall.toml", &format!("{HALL}{place}"));
    bench.write(
        "pings.toml",
        "name = \"pings\"\n[[measure]]\nkind = \"esp-now\"\ncount = 400\nsize = 100\ndistance = \"8 m\"\n",
    );
    bench
}

fn with_trace(rows: &str) -> TestDir {
    let bench = bench("[link]\ntrace = \"doors.csv\"\n", "");
    bench.write("doors.csv", &format!("{TRACE}{rows}"));
    bench
}

fn check(bench: &TestDir) -> Ran {
    bench.run(&["lab", "check", "room.toml"])
}

/// Returns the value of a metric of the only test.
fn value(bench: &TestDir, metric: &str) -> f64 {
    let ran = bench.run(&["run", "pings.toml", "--on", "sim:room.toml", "--format", "json", "-q"]);
    let report: Value = serde_json::from_str(&ran.ok()).expect("JSON");
    let cells = report["cells"].as_array().expect("cells").clone();
    let cell = cells.iter().find(|it| it["metric"] == metric);
    cell.unwrap_or_else(|| panic!("{metric}: {cells:#?}"))["value"].as_f64().expect("a number")
}

/// Returns the power in dBm at which the sensor's frames arrive, as `lab show` prints it.
fn arrives(bench: &TestDir) -> i32 {
    let shown = bench.run(&["lab", "show", "room.toml"]).ok();
    let row = shown.lines().find(|line| line.starts_with("sensor  ") && line.contains("gateway"));
    let row = row.unwrap_or_else(|| panic!("{shown}"));
    let fields: Vec<&str> = row.split_whitespace().collect();
    fields[2].parse().unwrap_or_else(|_| panic!("{row}"))
}

#[test]
fn a_trace_stands_in_place_of_the_path_loss() {
    let near = bench("", "");
    let far = with_trace("0,node1,node0,-80,\n");
    assert_eq!(arrives(&far), -80);
    assert!(arrives(&near) > -60, "{}", arrives(&near));
    let shown = far.run(&["lab", "show", "room.toml"]).ok();
    assert!(shown.contains("doors.csv drives 1 link;"), "{shown}");
    assert_eq!(value(&far, "loss"), 0.0);
}

#[test]
fn a_link_that_delivered_less_loses_and_repeats_more() {
    let good = with_trace("0,node0,node1,-60,1\n");
    let weak = with_trace("0,node0,node1,-60,0.3\n");
    let [good, weak] = [good, weak].map(|bench| value(&bench, "rtt_avg"));
    assert!(weak > 1.5 * good, "{good} and {weak} ms");
    assert!(value(&with_trace("0,node0,node1,-60,0\n"), "loss") > 99.0);
}

#[test]
fn what_is_wrong_in_a_trace_is_said_with_its_line() {
    let wrong = [
        ("0,node0,node9,-60,\n", "no station of this lab is called `node9`"),
        (
            "0,node0,node1,-60,\n0,node0,node1,,2\n",
            "doors.csv: line 3, column 1: `delivery` is `2`",
        ),
        ("7,node0,node1,-60,\n3,node0,node1,-60,\n", "sort the rows by `time_s`"),
        ("", "no measurements after the first line"),
    ];
    for (rows, words) in wrong {
        let ran = check(&with_trace(rows));
        assert_eq!(ran.status, Some(2), "{rows}");
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
    }
    let bench = bench("[link]\ntrace = \"doors.csv\"\n", "");
    let said = check(&bench).err;
    assert!(said.contains("room.toml: line 11, column 9: cannot read the trace"), "{said}");
    bench.write("room.toml", &format!("{LAB}[link]\ntrace = \"doors.toml\"\n"));
    let said = check(&bench).err;
    assert!(said.contains("a trace is a file whose name ends in .csv"), "{said}");
}

#[test]
fn an_antenna_weakens_what_is_sent_and_what_is_heard() {
    let plain = arrives(&bench("", ""));
    // The last group of the lab is the sensor.
    assert_eq!(plain - arrives(&bench("antenna_dbi = -8\n", "")), 8);
    let both = bench("antenna_dbi = -8\n", "");
    let lab = std::fs::read_to_string(both.path("room.toml")).expect("the lab");
    let first = "name = \"gateway\"\n";
    both.write("room.toml", &lab.replace(first, &format!("{first}antenna_dbi = -2\n")));
    assert_eq!(plain - arrives(&both), 10);
    let said = check(&bench("antenna_dbi = 90\n", "")).err;
    assert!(said.contains("`antenna_dbi`: found 90, use a number from -30 to 20"), "{said}");
}

#[test]
fn a_place_with_people_loses_more_and_says_so() {
    // So far away that a fade of some decibels is too much.
    let steep = "exponent = 8\n";
    let place = |fading: &str| {
        let bench = bench("", "");
        bench.write("hall.toml", &format!("{}{fading}", HALL.replace("exponent = 3\n", steep)));
        bench
    };
    let fading = "[fast_fading]\nnakagami_m = 0.6\ncoherence_ms = 100\nsource = \"a test\"\n\
                  [slow_fading]\ndeviation_db = 4\ncoherence_s = 20\nsource = \"a test\"\n";
    let (still, busy) = (place(""), place(fading));
    assert_eq!(arrives(&still), arrives(&busy), "fading has no mean");
    let [still_rtt, busy_rtt] = [&still, &busy].map(|bench| value(bench, "rtt_max"));
    assert!(busy_rtt > still_rtt, "{still_rtt} and {busy_rtt} ms");
    let shown = busy.run(&["lab", "show", "room.toml"]).ok();
    let words = "Fading: fast m = 0.6 (coherence 100 ms), slow 4 dB (coherence 20 s)";
    assert!(shown.contains(words), "{shown}");
    assert!(!still.run(&["lab", "show", "room.toml"]).ok().contains("Fading"));
}

#[test]
fn half_of_a_fading_is_refused() {
    for (half, missing) in [
        ("[fast_fading]\nnakagami_m = 2\n", "fast_fading.coherence_ms"),
        ("[slow_fading]\ncoherence_s = 2\n", "slow_fading.deviation_db"),
    ] {
        let ran = check(&bench("", &format!("{half}source = \"a test\"\n")));
        assert_eq!(ran.status, Some(2), "{half}");
        assert!(ran.err.contains(&format!("`{missing}` is missing")), "{}", ran.err);
    }
    let ran =
        check(&bench("", "[fast_fading]\nnakagami_m = 0.1\ncoherence_ms = 5\nsource = \"s\"\n"));
    assert!(ran.err.contains("use a number from 0.5 to 1000"), "{}", ran.err);
}

#[test]
fn the_example_of_research_runs() {
    let bench = TestDir::new();
    let from = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/research");
    for name in ["corridor.toml", "corridor.csv"] {
        std::fs::copy(from.join(name), bench.path(name)).expect("an example");
    }
    let plan =
        "name = \"doors\"\n[[measure]]\nkind = \"esp-now\"\ncount = 3000\ndistance = \"8 m\"\n";
    bench.write("doors.toml", plan);
    let ran = bench.run(&["run", "doors.toml", "--on", "sim:corridor.toml", "--format", "json"]);
    let report: Value = serde_json::from_str(&ran.ok()).expect("JSON");
    let sent = report["cells"].as_array().expect("cells").len();
    assert!(sent > 3, "{report}");
}

#[test]
fn walls_are_drawn_weaken_links_and_are_refused_where_they_are_wrong() {
    let wall = "[[wall]]\nfrom = [4, -3, 0]\nto = [4, 3, 2.5]\nloss_db = 15\n";
    assert_eq!(arrives(&bench("", "")) - arrives(&bench(wall, "")), 15);
    let walled = bench(wall, "");
    let shown = walled.run(&["lab", "show", "room.toml"]);
    assert!(shown.out.contains('#') && shown.out.contains("1 wall weaken"), "{}", shown.out);
    let ran = check(&bench("[[wall]]\nfrom = [4, -3, 0]\nto = [4, -3, 1]\n", ""));
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("`to`: both ends are in one place of the plan"), "{}", ran.err);
    assert!(ran.err.lines().count() <= 3, "{}", ran.err);
    let oven = "[[interferer]]\nname = \"oven\"\nat = [2, 2, 1]\nduty = 2\n";
    let said = check(&bench("", oven)).err;
    assert!(said.contains("`duty`: found 2, use a number from 0.001 to 1"), "{said}");
}

/// Returns a pcap file of frames between two stations: microseconds, whether from the first, sequence number,
/// whether it is a retry, and signal.
fn capture(frames: &[(u64, bool, u16, bool, i8)]) -> Vec<u8> {
    let mut file = 0xA1B2_C3D4_u32.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 127, 0, 0, 0]);
    let address = |first: bool| [0x24, 0x0A, 0xC4, 0, 0, if first { 1 } else { 2 }];
    for &(us, from_first, number, retry, signal) in frames {
        // Radiotap: the signal alone; an action frame.
        let mut packet = vec![0, 0, 9, 0, 0x20, 0, 0, 0, signal as u8];
        packet.extend([0xD0, if retry { 8 } else { 0 }, 0, 0]);
        packet.extend(address(!from_first));
        packet.extend(address(from_first));
        packet.extend([0xFF; 6]);
        packet.extend((number << 4).to_le_bytes());
        let length = packet.len() as u32;
        for word in [(us / 1_000_000) as u32, (us % 1_000_000) as u32, length, length] {
            file.extend(word.to_le_bytes());
        }
        file.extend(packet);
    }
    file
}

const NAMES: [&str; 4] =
    ["--station", "24:0a:c4:00:00:01=node0", "--station", "24:0a:c4:00:00:02=node1"];

#[test]
fn a_capture_becomes_a_trace_that_a_lab_replays_in_both_directions() {
    // From the first -61 dBm and nine of ten, from the second -72 dBm and each other one sent twice.
    let mut frames = Vec::new();
    for at in 0..200_u64 {
        let number = (at + at / 9) as u16;
        frames.push((at * 10_000, true, number, false, -61));
        frames.push((at * 10_000 + 3000, false, at as u16, false, -72));
        if at % 2 == 1 {
            frames.push((at * 10_000 + 4000, false, at as u16, true, -72));
        }
    }
    let bench = bench("[link]\ntrace = \"office.csv\"\n", "");
    std::fs::write(bench.path("air.pcap"), capture(&frames)).expect("a capture");
    let mut line = vec!["lab", "trace", "air.pcap", "-o", "there.csv", "--heard-at", "node1"];
    line.extend(NAMES);
    let ran = bench.run(&line);
    assert!(ran.err.contains("capture: 500 frames of 2 links"), "{}", ran.err);
    ran.ok();
    let there = std::fs::read_to_string(bench.path("there.csv")).expect("a trace");
    let row = |from: &str| there.lines().find(|it| it.split(',').nth(1) == Some(from)).unwrap();
    assert!(row("node0").starts_with("0,node0,node1,-61.0,0.9"), "{there}");
    assert!(row("node1").starts_with("0,node1,node0,,0.66"), "{there}");
    // Both directions at their own receivers: the second one's signal is known there.
    let mut line = vec!["lab", "trace", "air.pcap", "-o", "office.csv"];
    line.extend(NAMES);
    bench.run(&line).ok();
    let both = std::fs::read_to_string(bench.path("office.csv")).expect("a trace");
    assert!(both.contains("node0,node1,-61.0,") && both.contains("node1,node0,-72.0,"), "{both}");
    check(&bench).ok();
    assert!(bench.run(&["lab", "show", "room.toml"]).ok().contains("office.csv drives 2 links"));
}

#[test]
fn what_cannot_be_converted_is_said_in_three_lines() {
    let bench = TestDir::new();
    bench.write("notes.txt", "nothing of a console\n");
    bench.write("bad.csv", "time,from,to,rssi\n0,a,b,loud\n");
    for (file, words) in [
        ("notes.txt", "no link was measured in this console log"),
        ("bad.csv", "line 2: `rssi` is `loud`"),
        ("none.csv", "cannot read none.csv"),
    ] {
        let ran = bench.run(&["lab", "trace", file]);
        assert_eq!(ran.status, Some(2), "{file}");
        assert!(ran.err.contains(words), "{words}: {}", ran.err);
        assert!(ran.err.lines().count() <= 4, "{}", ran.err);
    }
    let long = bench.run(&["lab", "trace", "notes.txt", "--station", "a"]);
    assert!(long.err.contains("use ADDRESS=STATION"), "{}", long.err);
}

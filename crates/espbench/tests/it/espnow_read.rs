//! `espbench espnow read`: logs of consoles, and what `espnow talk` writes.

#[path = "../../../esp-now/tests/transcripts/escapes.rs"]
mod escapes;

use crate::util::{Ran, TestDir};
use serde_json::Value;
use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;

fn read(bench: &TestDir, args: &[&str]) -> Ran {
    bench.run(&[&["espnow", "read"], args].concat())
}

/// Returns the bytes that a transcript of `esp-now` stands for.
fn transcript(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../esp-now/tests/transcripts");
    let text = std::fs::read_to_string(folder.join(name)).expect("a transcript");
    escapes::bytes(&text)
}

/// Makes a folder with that transcript as `a.log`.
fn with(name: &str) -> TestDir {
    let bench = TestDir::new();
    std::fs::write(bench.path("a.log"), transcript(name)).expect("a file");
    bench
}

fn json(bench: &TestDir, args: &[&str]) -> Value {
    let text = read(bench, &[args, &["--format", "json"]].concat()).ok();
    serde_json::from_str(&text).expect("JSON")
}

/// Returns the values of all our cells of a metric.
fn values(report: &Value, metric: &str) -> Vec<f64> {
    let cells = report["cells"].as_array().expect("cells");
    let ours = cells.iter().filter(|c| c["metric"] == metric && c["origin"] != "published");
    ours.filter_map(|cell| cell["value"].as_f64()).collect()
}

/// Returns the texts of a table without their line breaks and padding.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A stranger pipes one command into the other: the file holds all consoles, and simulated ones.
#[test]
fn what_talk_prints_is_read_as_its_consoles() {
    let bench = TestDir::new();
    let talk = bench.run(&["espnow", "talk", "--devices", "2", "--console", "node0=node0.log"]);
    let printed = talk.ok();
    bench.write("all.log", &printed);
    let (all, one) = (json(&bench, &["all.log"]), json(&bench, &["node0.log"]));
    assert_eq!(all["run"]["origin"], "simulated");
    for metric in ["rtt_min", "rtt_max", "loss"] {
        assert!(!values(&one, metric).is_empty(), "{metric}");
        assert_eq!(values(&all, metric), values(&one, metric), "{metric}");
    }
}

#[test]
fn pings_have_their_true_loss_and_their_resolution() {
    let bench = with("ping_unicast.txt");
    let report = json(&bench, &["a.log"]);
    assert_eq!(report["run"]["origin"], "measured");
    // 5, 3 and 9 ms; one late, one lost of five. Then 0 and 11 ms, and one without a line.
    assert_eq!(values(&report, "rtt_min"), [3.0, 0.0]);
    assert_eq!(values(&report, "rtt_max"), [9.0, 11.0]);
    assert_eq!(values(&report, "loss"), [20.0, 0.0]);
    assert_eq!(values(&report, "probes_late"), [1.0, 0.0]);
    let screen = read(&bench, &["a.log"]).ok();
    assert!(screen.lines().count() <= 15, "{screen}");
    for told in ["round trip mean (ms)", "lost (%)", "in the log", "--full"] {
        assert!(screen.contains(told), "{told}: {screen}");
    }
    let text = flat(&read(&bench, &["a.log", "--full"]).ok());
    assert!(text.contains("Resolution 1 ms"), "{text}");
    assert!(text.contains("24:0a:c4:00:00:01 to 24:0a:c4:00:00:02"), "{text}");
    assert!(text.contains("1 A ping of which the log has no line"), "{text}");
    assert!(text.contains("measured: read from console log a.log"), "{text}");
    assert!(!text.contains("Draw it again"), "it is in no store: {text}");
}

#[test]
fn throughput_is_put_right_and_says_why() {
    let bench = with("throughput_responder.txt");
    let report = json(&bench, &["a.log"]);
    assert_eq!(values(&report, "packets_lost"), [0.0, 40.0]);
    assert_eq!(values(&report, "packets_total"), [1000.0, 400.0]);
    assert_eq!(values(&report, "loss"), [0.0, 10.0]);
    assert_eq!(values(&report, "throughput").len(), 4, "also without a final report");
    let text = flat(&read(&bench, &["a.log", "--format", "markdown"]).ok());
    for wanted in [
        "1/1001",
        "-499/501",
        "it counts STOP as a message, and one loss too many",
        "Message 0 of a throughput test was lost",
        "has no final report: the log ends",
        "queue of ten was full",
    ] {
        assert!(text.contains(wanted), "{wanted}: {text}");
    }
}

#[test]
fn every_transcript_is_read_in_every_format() {
    let bench = TestDir::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../esp-now/tests/transcripts");
    let mut names = Vec::new();
    for entry in std::fs::read_dir(folder).expect("the folder") {
        let name = entry.expect("an entry").file_name().into_string().expect("a name");
        if name.ends_with(".txt") {
            std::fs::write(bench.path(&name), transcript(&name)).expect("a file");
            names.push(name);
        }
    }
    assert!(names.len() >= 9, "{names:?}");
    names.sort();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for format in ["text", "csv", "markdown", "html"] {
        let full = if format == "text" { &["--full"][..] } else { &[] };
        let out = read(&bench, &[&names[..], &["--format", format], full].concat()).ok();
        assert!(out.contains("esp-now") || out.contains("ESP-NOW"), "{format}: {out}");
        for secret in ["a, token: b", "0123\"", "password: a"] {
            assert!(!out.contains(secret), "{secret} in {format}");
        }
    }
    let screen = read(&bench, &names).ok();
    assert!(screen.lines().count() <= 15 && screen.contains("handshake 3.6 s"), "{screen}");
    let report = json(&bench, &names);
    for metric in ["rtt_avg", "throughput", "throughput_sent", "ota_time", "handshake_time"] {
        assert!(!values(&report, metric).is_empty(), "{metric}");
    }
    assert_eq!(values(&report, "encrypt_time"), [339.0]);
    assert_eq!(values(&report, "decrypt_time"), [341.0]);
    assert!(values(&report, "handshake_time").contains(&3.6));
    assert!(report.to_string().contains("password (not shown), token (not shown)"));
}

/// A log with several kinds of test says which, and each has its leading figure whole.
#[test]
fn a_log_of_several_kinds_says_what_it_holds() {
    let bench = TestDir::new();
    let names = ["ping_unicast.txt", "throughput_initiator.txt", "handshake.txt"];
    let all: Vec<u8> = names.iter().flat_map(|it| transcript(it)).collect();
    std::fs::write(bench.path("a.log"), all).expect("a file");
    let answer = read(&bench, &["a.log"]).ok();
    let title = answer.lines().next().expect("a title");
    assert!(title.starts_with("ping, throughput") && title.contains(" and "), "{answer}");
    assert!(title.ends_with("on console log a.log") && !answer.contains("suite"), "{answer}");
    let row = answer.lines().find(|it| it.starts_with("  throughput ")).expect("a row");
    assert!(row.ends_with("lost 0.6 %"), "{answer}");
}

#[test]
fn a_report_is_held_against_the_published_figures() {
    let bench = with("ping_unicast.txt");
    let site = ["--chip", "esp32", "--mode", "unicast", "--security", "off"];
    let place = ["--environment", "office", "--distance", "3", "-o", "r.json", "-o", "r.html"];
    let ran = read(&bench, &[&["a.log"][..], &site, &place].concat());
    assert!(ran.err.contains("wrote r.html"), "{}", ran.err);
    ran.ok();
    let page = std::fs::read_to_string(bench.path("r.html")).expect("a page");
    assert!(page.contains("Ping: round-trip time"));
    let out = bench.run(&["compare", "r.json", "published", "--metric", "rtt_avg"]).ok();
    assert!(flat(&out).contains("espressif-esp-now-report") || out.contains("4.56"), "{out}");
    let same = bench.run(&["compare", "r.json", "r.json", "--threshold", "5 %"]);
    assert_eq!(same.status, Some(0), "{}", same.err);
}

#[test]
fn a_log_without_a_result_is_told_in_a_few_lines() {
    let bench = TestDir::new();
    let mut log = String::from("I (12) espnow: espnow [version: 1.0] init\n");
    for number in 0..40 {
        log += &format!("I ({}) app: still here\n", 100 * number);
    }
    bench.write("healthy.log", &log);
    let ran = read(&bench, &["healthy.log"]);
    assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{}", ran.err);
    assert!(ran.err.starts_with("espbench: healthy.log has no result of a test"), "{}", ran.err);
    assert!(ran.err.lines().count() <= 3 && ran.err.contains("espbench doctor"), "{}", ran.err);
    let full = read(&bench, &["healthy.log", "--full"]);
    assert!(full.status == Some(2) && full.out.contains("not read"), "{}", full.out);
}

#[test]
fn what_is_no_log_is_refused() {
    let bench = TestDir::new();
    bench.write("empty.log", "");
    bench.write("prose.log", "Once upon a time\nthere was a board.\n");
    let noise: Vec<u8> =
        (0..10_000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    std::fs::write(bench.path("noise.log"), noise).expect("a file");
    for (name, why) in [
        ("empty.log", "the file is empty"),
        ("prose.log", "none of its 2 lines"),
        ("noise.log", "it holds bytes that no text has"),
        ("missing.log", "cannot read missing.log"),
        (".", "cannot read ."),
    ] {
        let ran = read(&bench, &[name]);
        assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{name}: {}", ran.err);
        assert!(ran.err.contains(why), "{name}: {}", ran.err);
        assert!(!why.contains("file") || ran.err.contains("iperf_cmd"), "{}", ran.err);
    }
    let ran = read(&bench, &["empty.log", "-o", "r.pdf"]);
    assert!(ran.status == Some(2) && ran.err.contains("no format has that ending"), "{}", ran.err);
}

#[test]
fn a_conversation_is_read_back() {
    let bench = TestDir::new();
    bench.write(
        "a.talk",
        "wait 200ms
        node1> espnow_iperf -s -i 1
        node0> espnow_iperf -c {node1} -p -C 50 -b 1
        wait until node0 prints \"packets transmitted\" max 10min
        node0> espnow_iperf -c {node1} -t 3 -i 1 -b 0
        wait until node1 prints \"Datagrams\" max 1min
        wait 2s",
    );
    let args = ["espnow", "talk", "--devices", "2", "--script", "a.talk", "--loss", "5%"];
    let consoles = ["--console", "node0=0.log", "--console", "node1=1.log", "--mac-retries", "0"];
    let talk = bench.run(&[&args[..], &consoles].concat()).ok();
    let report = json(&bench, &["0.log", "1.log", "--simulated"]);
    assert_eq!(report["run"]["origin"], "simulated");
    // The same pings as the conversation shows.
    let answers = talk.matches("bytes from 24:0a:c4:00:00:02: seq=").count();
    let lost = talk.matches("Destination Host Unreachable").count();
    assert_eq!(answers + lost, 50, "{talk}");
    let share = 100.0 * lost as f64 / 50.0;
    assert!(lost > 0 && values(&report, "loss").contains(&share), "{lost} {report}");
    // Both ends agree on what was sent and lost.
    let (totals, losses) = (values(&report, "packets_total"), values(&report, "packets_lost"));
    assert!(matches!(&totals[..], [a, b] if a == b && *a > 0.0), "{totals:?}");
    assert!(matches!(&losses[..], [a, b] if a == b && *a > 0.0), "{losses:?}");
    let modes: Vec<&str> =
        report["cells"].as_array().unwrap().iter().filter_map(|c| c["mode"].as_str()).collect();
    assert!(modes.contains(&"broadcast-1") && modes.contains(&"broadcast-0"), "{modes:?}");
    let none = bench.run(&[&args[..], &["--console", "node2=2.log"]].concat());
    assert!(none.status == Some(2) && none.err.contains("there are 2 nodes"), "{}", none.err);
}

#[test]
fn a_log_comes_from_stdin() {
    let bench = TestDir::new();
    let mut command = bench.command(&["espnow", "read", "-", "--format", "csv"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(&transcript("ping_unicast.txt")).unwrap();
    let output = child.wait_with_output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(out.contains("round-trip,unstated,esp-now,unstated,rtt_avg,10,"), "{out}");
}

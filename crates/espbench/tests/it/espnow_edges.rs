//! `espbench espnow edges`: captures with known delays, in every format, by sigrok itself.

use crate::util::{Ran, TestDir, peer};
use serde_json::Value;
use std::fmt::Write as _;
use std::process::Command;

/// Packets of the capture. Packet 7 is lost, packet 11 arrives twice.
const PACKETS: u64 = 20;

/// Returns the delay of a packet, in us.
const fn delay(packet: u64) -> u64 {
    3000 + 50 * (packet % 5)
}

/// Returns the levels of the two pins over time: us, sender, receiver.
fn levels() -> Vec<(u64, u8, u8)> {
    let mut changes = vec![(0, 1, 1)];
    for packet in 0..PACKETS {
        let sent = 10_000 + 100_000 * packet;
        changes.extend([(sent, 0, 1), (sent + 100, 1, 1)]);
        if packet != 7 {
            let at = sent + delay(packet);
            changes.extend([(at, 1, 0), (at + 100, 1, 1)]);
        }
        if packet == 11 {
            let at = sent + 9000;
            changes.extend([(at, 1, 0), (at + 100, 1, 1)]);
        }
    }
    // Longer than the window.
    changes.push((10_000 + 100_000 * PACKETS + 2_000_000, 1, 1));
    changes
}

fn vcd() -> String {
    let mut text = String::from(
        "$timescale 1 us $end\n$scope module top $end\n$var wire 1 ! TX $end\n\
         $var wire 1 \" RX $end\n$upscope $end\n$enddefinitions $end\n",
    );
    for (at, sender, receiver) in levels() {
        let _ = writeln!(text, "#{at} {sender}! {receiver}\"");
    }
    text
}

fn saleae() -> String {
    let mut text = String::from("Time [s],TX,RX\n");
    for (at, sender, receiver) in levels() {
        let _ = writeln!(text, "{}.{:06},{sender},{receiver}", at / 1_000_000, at % 1_000_000);
    }
    text
}

fn edges(bench: &TestDir, args: &[&str]) -> Ran {
    bench.run(&[&["espnow", "edges"], args].concat())
}

fn value(report: &Value, metric: &str) -> f64 {
    let cells = report["cells"].as_array().expect("cells");
    let ours = |c: &&Value| c["metric"] == metric && c["origin"] != "published";
    cells.iter().find(ours).and_then(|cell| cell["value"].as_f64()).expect(metric)
}

/// Checks the figures of the capture in that file.
fn check(bench: &TestDir, file: &str) {
    let ran = edges(bench, &[file, "--from", "TX", "--to", "RX", "-l", "50", "--format", "json"]);
    assert!(
        ran.err.contains("edges of the receiver after another one of the same packet (doubled): 1"),
        "{}",
        ran.err
    );
    let report: Value = serde_json::from_str(&ran.ok()).expect("JSON");
    let delays: Vec<u64> = (0..PACKETS).filter(|&i| i != 7).map(delay).collect();
    let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64 / 1e3;
    assert!((value(&report, "latency_avg") - mean).abs() < 1e-9, "{file}");
    assert_eq!(value(&report, "latency_min"), 3.0, "{file}");
    assert_eq!(value(&report, "latency_max"), 3.2, "{file}");
    assert_eq!(value(&report, "loss"), 5.0, "{file}");
    assert_eq!(report["run"]["origin"], "measured");
}

#[test]
fn a_capture_of_saleae_has_its_delays() {
    let bench = TestDir::new();
    std::fs::write(bench.path("digital.csv"), saleae()).expect("a file");
    check(&bench, "digital.csv");
}

#[test]
fn sigrok_writes_the_same_capture_in_each_of_its_formats() {
    let bench = TestDir::new();
    std::fs::write(bench.path("a.vcd"), vcd()).expect("a file");
    check(&bench, "a.vcd");
    if !peer("sigrok-cli") {
        return;
    }
    let sigrok = |args: &[&str]| {
        let made = Command::new("sigrok-cli").current_dir(bench.path("")).args(args).output();
        let made = made.expect("sigrok-cli");
        assert!(made.status.success(), "{args:?}: {}", String::from_utf8_lossy(&made.stderr));
    };
    sigrok(&["-i", "a.vcd", "-o", "a.sr"]);
    check(&bench, "a.sr");
    for options in ["csv", "csv:label=channel:time=true:dedup=true", "csv:label=off", "vcd"] {
        sigrok(&["-i", "a.sr", "-O", options, "-o", "a.out"]);
        check(&bench, "a.out");
    }
}

#[test]
fn tests_of_ten_are_compared_with_the_published_ones() {
    let bench = TestDir::new();
    std::fs::write(bench.path("digital.csv"), saleae()).expect("a file");
    let args = ["digital.csv", "-b", "1", "-C", "10", "-l", "50", "--chip", "esp32"];
    let report = edges(&bench, &[&args[..], &["--format", "json"]].concat()).ok();
    let report: Value = serde_json::from_str(&report).expect("JSON");
    let n = report["comparisons"].as_array().map_or(0, Vec::len);
    assert!(n > 0, "compared with the report's own cells");
    let text = edges(&bench, &args).ok();
    assert!(text.lines().count() <= 15, "{text}");
}

#[test]
fn wrong_files_and_channels_are_said() {
    let bench = TestDir::new();
    std::fs::write(bench.path("digital.csv"), saleae()).expect("a file");
    std::fs::write(bench.path("rubbish"), b"\x00\x01\x02").expect("a file");
    std::fs::write(bench.path("flat.csv"), "Time [s],TX,RX\n0.0,1,1\n9.0,1,1\n").expect("a file");
    let says = |args: &[&str], words: &str| {
        let ran = edges(&bench, args);
        assert_eq!(ran.status, Some(2), "{args:?}");
        assert!(ran.err.contains(words), "{args:?}: {}", ran.err);
        assert!(ran.err.lines().count() <= 3, "{args:?}: {}", ran.err);
    };
    says(&["nothing.vcd"], "nothing.vcd");
    says(&["rubbish"], "no VCD, no sigrok session");
    says(&["digital.csv", "--from", "D9"], "no channel `D9`");
    says(&["digital.csv", "--from", "TX", "--to", "TX"], "one channel");
    says(&["flat.csv"], "no falling edge");
    says(&["digital.csv", "-l", "9999"], "8 to 230 bytes");
}

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

/// Returns the logs of two boards with that offset and drift of the second's clock: pings at uneven times,
/// whose delays there are [`delay`], and of which the sixth gets no answer and the eighth is lost.
fn logs(offset_us: u64, drift: f64) -> (String, String) {
    let mut sender = String::from(
        "I (900) iperf_cmd: initiator 24:0a:c4:00:00:01 send to 24:0a:c4:00:00:02\r\n",
    );
    let mut receiver = String::from("I (400) iperf_cmd: responder 24:0a:c4:00:00:02 listening\r\n");
    let mut sent = 1_000_000;
    for packet in 0..PACKETS {
        sent += 900_000 + (packet * packet * 7919) % 400_000;
        let there = sent + delay(packet);
        let back = there + 1200 + 90 * (packet % 3);
        let answer =
            if packet == 5 || packet == 7 { String::new() } else { format!(", high={back} us") };
        let _ = write!(
            sender,
            "D ({}) iperf_cmd: edges: seq=0, low={sent} us{answer}\r\n",
            back / 1000
        );
        if packet != 7 {
            let own = there + offset_us + (there as f64 * drift) as u64;
            let line = format!("edges: seq=0, low={own} us, high={} us", own + 700);
            let _ = write!(receiver, "D ({}) iperf_cmd: {line}\r\nesp32c3> ", own / 1000);
        }
    }
    (sender, receiver)
}

#[test]
fn stamps_of_two_consoles_are_delays_within_the_uncertainty() {
    let bench = TestDir::new();
    let (sender, receiver) = logs(734_000_000, 27e-6);
    bench.write("a.log", &sender);
    bench.write("b.log", &receiver);
    let ran = edges(&bench, &["a.log", "b.log", "-l", "50", "--format", "json"]);
    let told = ran.err.lines().find(|line| line.contains("ppm")).expect(&ran.err).to_owned();
    let words: Vec<&str> = told.split(' ').collect();
    let number = |at: usize| words[at].parse::<f64>().unwrap();
    let place = |word: &str| words.iter().position(|it| *it == word).unwrap();
    let (ppm, uncertainty) = (number(place("ppm") - 1), number(place("ms,") - 1));
    assert!((ppm - 27.0).abs() < 60.0 && told.contains("by 18 round trips"), "{told}");
    assert!(
        uncertainty > 2.0 && uncertainty < 4.5,
        "half of a round trip and what drift may add: {told}"
    );
    let report: Value = serde_json::from_str(&ran.ok()).expect("JSON");
    let delays: Vec<u64> = (0..PACKETS).filter(|&i| i != 7).map(delay).collect();
    let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64 / 1e3;
    let read = value(&report, "latency_avg");
    assert!((read - mean).abs() <= uncertainty, "{read} of {mean}");
    assert_eq!(value(&report, "loss"), 5.0);
    let target = report["run"]["target"].as_str().unwrap();
    assert_eq!(target, format!("logs a.log, b.log (clocks within {uncertainty:.3} ms)"));
}

#[test]
fn logs_that_nothing_aligns_are_refused() {
    let bench = TestDir::new();
    let (sender, receiver) = logs(0, 0.0);
    bench.write("a.log", &sender);
    bench.write("b.log", &receiver);
    bench.write("fast.log", &logs(0, 0.002).1);
    bench.write("none.log", "I (1) iperf_cmd: responder 24:0a:c4:00:00:02 listening\r\n");
    bench.write("other.log", &receiver.replace("00:00:02", "00:00:09"));
    bench.write("again.log", &format!("{receiver}{receiver}"));
    let short: String = sender.split_inclusive('\n').take(3).collect();
    bench.write("short.log", &short);
    for (files, what) in [
        (["a.log", "fast.log"], "no offset and drift of two crystals"),
        (["b.log", "a.log"], "b.log is not the sender's log"),
        (["a.log", "none.log"], "none.log has no time stamps"),
        (["a.log", "other.log"], "is of pings to 24:0a:c4:00:00:02"),
        (["a.log", "again.log"], "restart of the board"),
        (["short.log", "b.log"], "2 pings were answered, and three are needed"),
        (["a.log", "missing.log"], "cannot read missing.log"),
    ] {
        let ran = edges(&bench, &files);
        assert_eq!(ran.status, Some(2), "{files:?}: {}", ran.out);
        assert!(ran.err.contains(what) && ran.err.lines().count() <= 3, "{files:?}: {}", ran.err);
    }
}

//! Ctrl-C at whole commands: each answers with what it has, says that it was cut, and keeps it; the other side tells its
//! rates by port.

use crate::util::{ChildProcess, PATIENCE, Ran, TestDir, free_port, missing, processor_ticks};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Signs that a command is at work.
enum Sign {
    /// A line of stdout with this in it.
    Line(&'static str),
    /// So much time of the processor, in its ticks: of one that prints nothing meanwhile.
    Ticks(u64),
}

/// Runs a command, stops it once it is at work, and returns how it ended.
fn interrupted(bench: &TestDir, args: &[&str], sign: &Sign) -> Ran {
    let mut command = bench.command(args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut err = child.stderr.take().unwrap();
    let err = std::thread::spawn(move || {
        let mut text = String::new();
        err.read_to_string(&mut text).map(|_| text)
    });
    let (mut out, mut lines) = (String::new(), BufReader::new(child.stdout.take().unwrap()));
    match sign {
        Sign::Line(word) => {
            while !out.contains(word) {
                assert!(lines.read_line(&mut out).unwrap() > 0, "{args:?} ended: {out}");
            }
        }
        Sign::Ticks(wanted) => {
            let deadline = Instant::now() + PATIENCE;
            while processor_ticks(child.id()) < *wanted {
                assert_eq!(child.try_wait().unwrap(), None, "{args:?} ended");
                assert!(Instant::now() < deadline, "{args:?} does nothing");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
    Ran::of(Command::new("kill").args(["-INT", &child.id().to_string()])).ok();
    lines.read_to_string(&mut out).unwrap();
    let err = err.join().unwrap().unwrap();
    Ran { status: child.wait().unwrap().code(), out, err }
}

/// Waits for the next line of a port that has a word.
#[track_caller]
fn line_of(respond: &ChildProcess, port: u16, word: &str) -> String {
    loop {
        let line = respond.line(&format!(", port {port}: "));
        if line.contains(word) {
            return line;
        }
    }
}

/// Returns the first number of a text.
#[track_caller]
fn number(text: &str) -> f64 {
    let digits = text.split(|c: char| !c.is_ascii_digit() && c != '.').find(|it| !it.is_empty());
    digits.and_then(|it| it.parse().ok()).unwrap_or_else(|| panic!("no number: {text}"))
}

/// Returns the amount and the rate that a service tells, which is the amount over the time beside it, or of all but the
/// first. `each` is what one of the amount counts.
#[track_caller]
fn served(line: &str, each: f64) -> (f64, f64) {
    let told = line.rsplit(": ").nth(1).unwrap_or_default();
    let (amount, time) = told.split_once(" in ").unwrap_or_else(|| panic!("no time: {line}"));
    let (amount, time) = (number(amount), number(time));
    let rate = number(line.rsplit(": ").next().unwrap_or_default());
    let wanted = each * amount / time;
    assert!((0.9..1.1).contains(&(rate / wanted)), "{line}: {wanted}");
    (amount, rate)
}

/// Returns the last line of JSON lines: the report.
#[track_caller]
fn report(out: &str) -> Value {
    let last = out.lines().last().unwrap_or_default();
    let report: Value = serde_json::from_str(last).unwrap_or_else(|e| panic!("{e}: {out}"));
    assert_eq!(report["type"], "report", "{out}");
    report
}

/// Holds a stopped run against what its report, drawn again from the store, says.
#[track_caller]
fn assert_kept(bench: &TestDir, ran: &Ran, metric: &str) {
    assert_eq!(ran.status, Some(130), "{ran:?}");
    let told = report(&ran.out);
    let stopped = &told["stopped"][0];
    let (done, of) = (stopped["done"].as_f64().unwrap(), stopped["of"].as_f64().unwrap());
    assert!(done > 0.0 && done < of, "{stopped}");
    let figure = |report: &Value| {
        let cells = report["cells"].as_array().unwrap();
        let cell = cells.iter().find(|it| it["metric"] == metric);
        cell.and_then(|it| it["value"].as_f64()).unwrap_or_else(|| panic!("{metric}: {report}"))
    };
    assert!(figure(&told) > 0.0, "{told}");
    let stored = bench.run(&["report", "last", "--format", "json"]).ok();
    let stored: Value = serde_json::from_str(&stored).unwrap();
    assert_eq!((figure(&stored), &stored["stopped"]), (figure(&told), &told["stopped"]));
    let text = bench.run(&["report", "last"]).ok();
    assert!(text.contains("✗ Stopped after "), "{text}");
    assert!(bench.run(&["runs"]).ok().contains("stopped"));
}

#[test]
fn a_command_that_is_stopped_answers_and_the_other_side_tells_rates_by_port() {
    let bench = TestDir::new();
    let [echo, iperf, sink, mqtt] = [(); 4].map(|()| free_port());
    let ports = [
        format!("--plain-echo-port={echo}"),
        format!("--iperf-port={iperf}"),
        format!("--sink-port={sink}"),
        format!("--mqtt-port={mqtt}"),
    ];
    let args: Vec<&str> = ["respond", "--for", "900 s", "--echo-port=0", "--source-port=0"]
        .into_iter()
        .chain(ports.iter().map(String::as_str))
        .collect();
    let respond = ChildProcess::start(&mut bench.command(&args), true);
    crate::iperf::wait_for_port(sink, false);
    let at = |port: u16| format!("127.0.0.1:{port}");
    let lines = |args: &[&str], sign: &Sign| {
        interrupted(&bench, &[args, &["--format", "jsonl"]].concat(), sign)
    };

    let echo_at = at(echo);
    let args = ["echo", &echo_at, "--local-port", "0", "-s", "100", "-n", "100000", "-i", "5ms"];
    let ran = lines(&args, &Sign::Line("\"type\":\"probes\""));
    assert_kept(&bench, &ran, "rtt_avg");
    let (amount, rate) = served(&line_of(&respond, echo, " datagrams in "), 1.0);
    // Each probe whose fate is known came there, and perhaps the last one; one is sent every 5 ms at most.
    let done = report(&ran.out)["stopped"][0]["done"].as_f64().unwrap();
    assert!((done..=done + 2.0).contains(&amount) && rate < 220.0, "{done}: {amount}, {rate}/s");

    let sink_at = at(sink);
    let ran = lines(&["rate", "tcp", &sink_at, "-t", "600"], &Sign::Ticks(50));
    assert_kept(&bench, &ran, "message_rate");
    served(&line_of(&respond, sink, " bytes in "), 8e-6);

    let mqtt_at = at(mqtt);
    let args = ["rate", "mqtt", &mqtt_at, "-r", "100", "-t", "600"];
    let ran = lines(&args, &Sign::Line("\"type\":\"interval\""));
    assert_kept(&bench, &ran, "message_rate");
    let (_, rate) = served(&line_of(&respond, mqtt, " messages in "), 1.0);
    assert!(rate < 120.0, "{rate}/s, and 100/s were offered");

    // One that prints lines meanwhile ends with its answer behind them.
    let iperf_port = iperf.to_string();
    let args = ["iperf", "-c", "127.0.0.1", "-p", &iperf_port, "-t", "600"];
    let ran = interrupted(&bench, &args, &Sign::Line("bits/sec"));
    assert_eq!(ran.status, Some(130), "{ran:?}");
    let (_, answer) = ran.out.split_once("  ✗ Stopped after ").unwrap();
    let rate = |line: &str| number(line.rsplit("Bytes").next().unwrap_or_default());
    assert!(number(answer) > 0.0 && answer.contains("of 600 s"), "{ran:?}");
    assert!(bench.run(&["report", "last"]).ok().ends_with(answer), "{answer}");
    let line = line_of(&respond, iperf, "bits/sec");
    assert!(rate(&line) > 0.0, "{line}");
}

#[test]
fn a_ping_that_is_stopped_prints_the_summary_of_ping() {
    let bench = TestDir::new();
    // Where nobody may send ICMP there is nothing to stop.
    if bench.run(&["ping", "-c", "1", "127.0.0.1"]).status != Some(0) {
        missing("the right to send ICMP");
        return;
    }
    let args = ["ping", "-c", "100000", "-i", "0.01", "127.0.0.1"];
    let ran = interrupted(&bench, &args, &Sign::Line("icmp_seq=20 "));
    assert_eq!(ran.status, Some(130), "{ran:?}");
    for text in [ran.out, bench.run(&["report", "last"]).ok()] {
        let (_, answer) = text.split_once("✗ Stopped after ").unwrap_or_else(|| panic!("{text}"));
        let probes = number(answer);
        assert!((19.0..100_000.0).contains(&probes), "{text}");
        let (_, summary) = text.split_once("rtt min/avg/max/mdev = ").unwrap();
        assert!(number(summary) > 0.0, "{text}");
    }
}

#[test]
fn a_prediction_that_is_stopped_says_what_is_whole() {
    let bench = TestDir::new();
    let fleet = ["predict", "fleet", "--devices", "60", "--rooms", "1000"];
    // By then it has simulated some rooms, and is far from all.
    let ran = interrupted(&bench, &fleet, &Sign::Ticks(200));
    assert_eq!(ran.status, Some(130), "{ran:?}");
    let told = ran.out.lines().nth(1).unwrap_or_default();
    let rooms =
        told.strip_prefix("  Stopped: each figure is of ").unwrap_or_else(|| panic!("{ran:?}"));
    assert!(rooms.contains(" of 1000 rooms") && (1.0..1000.0).contains(&number(rooms)), "{told}");
    assert!(ran.out.lines().count() <= 15, "{ran:?}");
    let junit = [&fleet[..], &["--format", "junit"]].concat();
    let ran = interrupted(&bench, &junit, &Sign::Ticks(200));
    let said = "<skipped message=\"The prediction was stopped";
    assert!(ran.status == Some(130) && ran.out.contains(said), "{ran:?}");
    assert!(!ran.out.contains("measured: all cells"), "{ran:?}");
}

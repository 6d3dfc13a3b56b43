//! Output while a run goes: JSON lines, and OpenMetrics as Prometheus' own parser reads it.

use crate::util::{ChildProcess, Ran, TestDir, python_with};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::Duration;

/// A cell of twenty seconds, which the tests stop once they have seen enough.
const LONG: &str = "name = \"long\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 100\ncount = 4000\n\
                    interval = \"5 ms\"\n";

const SHORT: &str = "name = \"short\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [1, 100]\ncount = 50\n\
                     [[measure]]\nkind = \"iperf\"\ntransport = \"udp\"\nbandwidth = \"1 Mbit/s\"\n\
                     time = \"600 ms\"\ninterval = \"200 ms\"\n";

fn interrupt(run: &ChildProcess) {
    Ran::of(Command::new("kill").args(["-INT", &run.id().to_string()])).ok();
}

/// Holds a line against the schema; cells of the result against that of the report.
#[track_caller]
fn valid(line: &str) -> Value {
    let schema = include_str!("../../../../docs/jsonl.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    let value: Value = serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(validator.is_valid(&value), "{line}");
    let report = include_str!("../../../../docs/report.schema.json");
    let mut schema: Value = serde_json::from_str(report).unwrap();
    let defs = schema["$defs"].take();
    for (list, def) in [("cells", "cell"), ("failures", "failure"), ("checks", "check")] {
        let of = serde_json::json!({"$defs": &defs, "$ref": format!("#/$defs/{def}")});
        let of = jsonschema::validator_for(&of).unwrap();
        for it in value[list].as_array().into_iter().flatten() {
            assert!(of.is_valid(it), "{def}: {it}");
        }
    }
    value
}

#[test]
fn every_line_is_of_the_schema_and_the_last_is_the_result() {
    let bench = TestDir::new();
    bench.write("short.toml", SHORT);
    let out = bench.run(&["run", "short.toml", "--format", "jsonl"]).ok();
    let lines: Vec<Value> = out.lines().map(valid).collect();
    let types: Vec<&str> = lines.iter().map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!((types[0], *types.last().unwrap()), ("run", "report"));
    let cell: Vec<&str> =
        lines.iter().filter(|it| it["cell"] == 2).map(|it| it["type"].as_str().unwrap()).collect();
    assert_eq!((cell[0], cell[cell.len() - 1]), ("cell-begin", "cell-end"));
    let probes = &lines.iter().rfind(|it| it["type"] == "probes").unwrap();
    assert_eq!((&probes["cell"], &probes["delivered"]), (&2.into(), &50.into()));
    assert_eq!(probes["settings"]["size_bytes"], 100);
    let times = &probes["times_ms"];
    assert_eq!(times["n"], 50);
    assert!(types.iter().filter(|it| **it == "interval").count() >= 3, "{types:?}");
    // What was told meanwhile is the middle of a bucket.
    let cells = lines.last().unwrap()["cells"].as_array().unwrap();
    let of = |it: &&Value| it["metric"] == "rtt_p50" && it["payload_bytes"] == 100;
    let exact = cells.iter().find(of).unwrap()["value"].as_f64().unwrap();
    let told = times["p50"].as_f64().unwrap();
    assert!((told / exact - 1.0).abs() < 0.001, "{told} {exact}");
    // It can be had again.
    let again = bench.run(&["report", "--format", "jsonl"]).ok();
    assert_eq!(&valid(&again), lines.last().unwrap());
}

#[test]
fn probes_are_told_of_while_the_cell_goes() {
    let bench = TestDir::new();
    bench.write("long.toml", LONG);
    let mut run = ChildProcess::start(
        &mut bench.command(&["run", "long.toml", "--format", "jsonl", "-q"]),
        false,
    );
    let line = valid(&run.line("\"type\":\"probes\""));
    let delivered = line["delivered"].as_u64().unwrap();
    assert!((1..4000).contains(&delivered), "{delivered}");
    assert!(bench.run(&["runs"]).ok().contains("0 of 1"));
    interrupt(&run);
    let last = valid(&run.line("\"type\":\"report\""));
    assert_eq!((&last["incomplete"], &last["missing"]), (&true.into(), &1.into()));
    assert_eq!(run.wait(), Some(130));
    // What was measured until then is the answer, marked as cut, and the store has it.
    let stopped = &last["stopped"][0];
    let done = stopped["done"].as_f64().unwrap() as u64;
    assert!((delivered..4000).contains(&done), "{stopped}");
    assert_eq!((&stopped["of"], &stopped["unit"]), (&4000.0.into(), &"probes".into()));
    assert!(last["failures"].as_array().unwrap().is_empty(), "{last}");
    let answer = bench.run(&["report", "last"]).ok();
    assert!(answer.contains(&format!("✗ Stopped after {done} of 4000 probes")), "{answer}");
    assert!(answer.contains("round trip") && answer.lines().count() <= 15, "{answer}");
    assert!(bench.run(&["runs"]).ok().contains("0 of 1, 1 stopped"));
    let samples = bench.run(&["samples", "last"]).ok();
    assert!(samples.lines().count() > delivered as usize, "{done}");
}

#[test]
fn a_run_that_is_stopped_before_any_sample_says_so_in_a_few_lines() {
    let bench = TestDir::new();
    bench.write("slow.toml", &LONG.replace("5 ms", "60 s").replace("100", "1"));
    // It takes each probe and never answers.
    let silent = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    let target = format!("udp:{}", silent.local_addr().unwrap());
    let args = ["run", "slow.toml", "--on", &target, "--local-port", "0"];
    let mut run = ChildProcess::start(&mut bench.command(&args), true);
    run.line("stored in");
    interrupt(&run);
    assert_eq!(run.wait(), Some(130));
    let answer = bench.run(&["report", "last"]).ok();
    assert!(answer.contains("nothing was measured"), "{answer}");
    assert!(answer.lines().count() <= 15, "{answer}");
}

/// Which is the first of `rate tcp`: it is long, and all that there is.
#[test]
fn a_run_that_is_stopped_while_it_warms_up_has_what_was_measured() {
    let bench = TestDir::new();
    let sink = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let host = sink.local_addr().unwrap().to_string();
    let reader = std::thread::Builder::new().spawn(move || {
        let (mut stream, _) = sink.accept().unwrap();
        let (mut buffer, mut came) = ([0; 65_536], 0);
        while let Ok(octets @ 1..) = stream.read(&mut buffer) {
            came += octets;
        }
        came
    });
    let args = ["rate", "tcp", &host, "-s", "1000", "-t", "60", "--format", "jsonl"];
    let mut run = ChildProcess::start(&mut bench.command(&args), false);
    run.line("cell-begin");
    std::thread::sleep(Duration::from_millis(500));
    interrupt(&run);
    assert_eq!(run.wait(), Some(130));
    assert!(reader.unwrap().join().unwrap() > 0);
    let samples = bench.run(&["samples", "last"]).ok();
    assert!(samples.lines().count() > 1, "{samples}");
    let answer = bench.run(&["report", "last"]).ok();
    assert!(!answer.contains("nothing was measured"), "{answer}");
}

#[test]
fn a_cell_that_fails_says_why() {
    let bench = TestDir::new();
    let host = crate::mqtt::free_address().to_string();
    let ran = bench.run(&["rate", "tcp", &host, "--format", "jsonl", "-q"]);
    assert_eq!(ran.status, Some(2));
    let lines: Vec<Value> = ran.out.lines().map(valid).collect();
    let end = lines.iter().find(|it| it["type"] == "cell-end").unwrap();
    assert!(end["error"].as_str().unwrap().contains("refused"), "{end}");
    assert!(!lines.last().unwrap()["failures"].as_array().unwrap().is_empty());
}

/// Returns the samples of an exposition as Prometheus' own parsers read them: name, labels, value.
#[track_caller]
fn parsed(python: &str, text: &str) -> Vec<(String, Value, f64)> {
    let script = "
import json, sys
from prometheus_client.openmetrics import parser
from prometheus_client import parser as older
text = sys.stdin.read()
list(older.text_string_to_metric_families(text))
print(json.dumps([[s.name, s.labels, s.value] for f in parser.text_string_to_metric_families(text)
                  for s in f.samples]))
";
    let mut python = Command::new(python)
        .args(["-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    python.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{text}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn value(samples: &[(String, Value, f64)], name: &str, label: (&str, &str)) -> Option<f64> {
    let of = |it: &&(String, Value, f64)| it.0 == name && it.1[label.0] == label.1;
    samples.iter().find(of).map(|it| it.2)
}

/// Returns the whole answer to one request; empty where the connection is only closed.
fn ask(address: &str, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(crate::util::PATIENCE)).unwrap();
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn prometheus_scrapes_the_figures_and_hostile_scrapers_change_nothing() {
    let Some(python) = python_with("prometheus_client") else { return };
    let bench = TestDir::new();
    bench.write("long.toml", LONG);
    let args = ["run", "long.toml", "-q", "--openmetrics", ":0"];
    let mut run = ChildProcess::start(&mut bench.command(&args), true);
    let line = run.line("OpenMetrics on http://127.0.0.1:");
    let address = line.rsplit("//").next().unwrap().trim_end_matches("/metrics").to_owned();
    let get = b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: application/openmetrics-text\r\n\r\n";
    let scrape = || {
        let answer = ask(&address, get);
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        assert!(
            head.is_empty() || head.contains("application/openmetrics-text; version=1.0.0"),
            "{head}"
        );
        body.to_owned()
    };
    let delivered = |text: &str| {
        value(&parsed(python, text), "espbench_probes_total", ("fate", "delivered")).unwrap_or(0.0)
    };
    let deadline = std::time::Instant::now() + crate::util::PATIENCE;
    while delivered(&scrape()) == 0.0 {
        assert!(std::time::Instant::now() < deadline, "nothing is delivered");
        std::thread::sleep(Duration::from_millis(20));
    }
    // Nonsense is answered, or not, and that is all.
    for (request, said) in [
        (&b"POST /metrics HTTP/1.1\r\n\r\n"[..], "405"),
        (b"GET /secret HTTP/1.1\r\n\r\n", "404"),
        (b"\x16\x03\x01\r\n\r\n", "400"),
        (&[b'x'; 20_000], ""),
    ] {
        let answer = ask(&address, request);
        assert!(answer.contains(said), "{said}: {answer}");
    }
    // They hold their connections and say nothing, for as long as they are let.
    let silent: Vec<TcpStream> =
        (0..30).filter_map(|_| TcpStream::connect(&address).ok()).collect();
    let mut text = scrape();
    while text.is_empty() {
        assert!(std::time::Instant::now() < deadline, "nobody is answered any more");
        std::thread::sleep(Duration::from_millis(50));
        text = scrape();
    }
    drop(silent);
    let samples = parsed(python, &text);
    assert!(value(&samples, "espbench_latency_seconds", ("quantile", "0.99")).unwrap() > 0.0);
    assert_eq!(value(&samples, "espbench_run_active", ("plan", "long")), Some(1.0));
    assert_eq!(value(&samples, "espbench_cells_planned", ("run", "long-1")), Some(1.0));
    interrupt(&run);
    assert_eq!(run.wait(), Some(130));
}

#[test]
fn the_file_has_the_figures_of_all_cells_at_the_end() {
    let Some(python) = python_with("prometheus_client") else { return };
    let bench = TestDir::new();
    bench.write("short.toml", SHORT);
    bench.run(&["run", "short.toml", "-q", "--openmetrics", "espbench.prom"]).ok();
    let text = std::fs::read_to_string(bench.path("espbench.prom")).unwrap();
    assert!(text.ends_with("# EOF\n"), "{text}");
    let samples = parsed(python, &text);
    let of_run = ("run", "short-1");
    assert_eq!(value(&samples, "espbench_run_active", of_run), Some(0.0));
    assert_eq!(value(&samples, "espbench_cells_done_total", of_run), Some(3.0));
    assert_eq!(value(&samples, "espbench_cells_failed_total", of_run), Some(0.0));
    let second = ("number", "2");
    assert_eq!(value(&samples, "espbench_probes_total", second), Some(50.0));
    assert_eq!(value(&samples, "espbench_latency_seconds_count", second), Some(50.0));
    let streams = ("number", "3");
    assert!(value(&samples, "espbench_payload_bytes_total", streams).unwrap() > 0.0);
    assert!(value(&samples, "espbench_throughput_bytes_per_second", streams).unwrap() > 0.0);
    let others = std::fs::read_dir(bench.dir.path())
        .unwrap()
        .filter(|it| it.as_ref().unwrap().file_name().to_string_lossy().ends_with(".tmp"));
    assert_eq!(others.count(), 0);
}

#[test]
fn a_place_that_cannot_be_had_is_told_before_anything_is_measured() {
    let bench = TestDir::new();
    bench.write("short.toml", SHORT);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    for (place, said) in [
        ("no/where/a.prom", "make the folder no/where first"),
        (&taken, "cannot serve OpenMetrics"),
        (":99999", "99999 is no port"),
    ] {
        let ran = bench.run(&["run", "short.toml", "--openmetrics", place]);
        assert_eq!(ran.status, Some(2), "{place}");
        assert!(ran.err.contains(said), "{}", ran.err);
    }
    assert!(!bench.store().exists());
}

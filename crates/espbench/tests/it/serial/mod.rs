//! `espbench run PLAN --on serial:…` against simulated boards whose consoles are pseudo-terminals.

mod fleet;
mod wifi;

use crate::util::{ChildProcess, TestDir};
use espbench_measure::plan::Plan;
use espbench_model::workload::Workload;
use espbench_sim::lab::file::Library;
use fleet::{Act, PtyFleet, fleet, terminal};

fn plan(test: &str, more: &str) -> String {
    format!(
        "name = \"boards\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"{test}\"\ndistance = \"0.5 m\"\n{more}\n"
    )
}

/// Returns a folder with that plan, and boards for its first cell.
fn boards(text: &str) -> (TestDir, PtyFleet) {
    let bench = TestDir::new();
    bench.write("boards.toml", text);
    let work: Workload = Plan::parse(text).unwrap().workloads[0];
    (bench, fleet(&work, Library::built_in()))
}

fn json(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn round_trips_come_from_consoles_and_are_those_of_the_lab() {
    let (bench, fleet) = boards(&plan("ping", "size = 10\ncount = 200\ncast = \"unicast\""));
    let on = fleet.target();
    let report = json(&bench.run(&["run", "boards.toml", "--on", &on, "--format", "json"]).ok());
    let lab = json(&bench.run(&["run", "boards.toml", "--on", "sim", "--format", "json"]).ok());
    let metrics = |report: &serde_json::Value| -> Vec<String> {
        let cells = report["cells"].as_array().unwrap().iter();
        cells.map(|cell| cell["metric"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(metrics(&report), metrics(&lab));
    let of = |report: &serde_json::Value, metric: &str| {
        let cells = report["cells"].as_array().unwrap().iter();
        let found = cells.filter(|cell| cell["metric"] == metric);
        found.map(|cell| cell["value"].as_f64().unwrap()).next().unwrap()
    };
    assert_eq!(of(&report, "rtt_min"), of(&lab, "rtt_min"));
    assert_eq!(of(&report, "loss"), of(&lab, "loss"));
    // The same plan beside it, in the lab that the boards are of.
    let beside = json(&bench.run(&["report", "boards-1", "--beside", "--format", "json"]).ok());
    let beside = &beside["beside"];
    assert_eq!((&beside["lab"], &beside["run"]), (&"sim".into(), &"boards-1-lab".into()));
    assert_eq!(beside["off"], 0, "{beside}");
    assert!(beside["compared"].as_u64().unwrap() >= 3, "{beside}");
    assert!(beside["unpaired"].is_null(), "{beside}");
    // The consoles are in the store.
    let run = bench.run(&["runs", "--consoles", "last~1"]).ok();
    for port in &fleet.ports {
        assert!(run.contains(&format!("=== {port}, cell 1: ")), "{run}");
    }
    assert!(run.contains("200 packets transmitted") && run.contains("listening"));
}

#[test]
fn a_board_that_is_unplugged_is_a_cause_and_the_run_goes_on_later() {
    let text = plan("ping", "size = 10\ncount = 20000\ncast = \"unicast\"");
    let (bench, first) = boards(&text);
    let on = first.target();
    let mut child =
        ChildProcess::start(&mut bench.command(&["run", "boards.toml", "--on", &on]), true);
    child.line("run boards-1");
    std::thread::sleep(std::time::Duration::from_secs(20));
    first.act(Act::Unplug(0));
    assert_eq!(child.wait(), Some(2));
    let samples = bench.run(&["samples", "last"]).ok();
    let lost = samples.lines().filter(|line| line.contains("device-gone")).count();
    let all = samples.lines().count() - 1;
    assert!(all == 20_000 && lost > 0 && lost < 20_000, "{lost} of {all}");
    let report = bench.run(&["report", "last", "--full"]).ok();
    assert!(report.contains("the board is gone"), "{report}");
}

#[test]
fn a_crash_is_in_the_report_with_its_addresses() {
    let text = plan("ping", "size = 10\ncount = 20000\ncast = \"unicast\"");
    let (bench, boards) = boards(&text);
    let on = boards.target();
    let mut child =
        ChildProcess::start(&mut bench.command(&["run", "boards.toml", "--on", &on]), true);
    child.line("run boards-1");
    std::thread::sleep(std::time::Duration::from_secs(20));
    boards.act(Act::Print(
        1,
        b"\r\nabort() was called at PC 0x42008e2b on core 0\r\nBacktrace: 0x40081f2a:0x3ffb5c80\r\n\
          Rebooting...\r\nrst:0x3 (RTC_SW_SYS_RST),boot:0xc (SPI_FAST_FLASH_BOOT)\r\n",
    ));
    assert_eq!(child.wait(), Some(2));
    let report = bench.run(&["report", "last", "--full"]).ok();
    for part in ["abort() was called at PC 0x42008e2b", "Backtrace: 0x40081f2a:0x3ffb5c80"] {
        assert!(report.contains(part), "{part}: {report}");
    }
    assert!(bench.run(&["samples", "last"]).ok().contains("device-restarted"));
}

/// Runs a command that cannot begin; returns its lines on stderr.
fn refused(bench: &TestDir, on: &str) -> Vec<String> {
    let ran = bench.run(&["run", "boards.toml", "--on", on]);
    assert_eq!(ran.status, Some(2), "{}", ran.err);
    ran.err.lines().map(str::to_owned).collect()
}

#[test]
fn what_cannot_begin_is_told_in_three_lines() {
    let bench = TestDir::new();
    bench.write("boards.toml", &plan("ping", "size = 10\ncount = 5\ncast = \"unicast\""));
    let (_ours, _theirs, name) = terminal();
    let cases = [
        ("serial:/dev/no-such".to_owned(), "cannot open /dev/no-such"),
        (format!("serial:{name},{name}"), "is named twice"),
        (format!("serial:{name}"), "has too few boards for"),
    ];
    for (on, what) in cases {
        let lines = refused(&bench, &on);
        assert!(lines.len() == 3 && lines[0].contains(what), "{lines:#?}");
        assert!(lines[1].starts_with("  why:") && lines[2].starts_with("  do:"), "{lines:#?}");
    }
    // There may be boards where this runs, but hardly so many.
    bench.write("boards.toml", &plan("multi-ping", "size = 10\ncount = 5\ndevices = 100"));
    let lines = refused(&bench, "serial:auto");
    assert_eq!(lines.len(), 3, "{lines:#?}");
}

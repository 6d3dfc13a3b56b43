//! `espbench run PLAN --on serial:…` against simulated boards whose consoles are pseudo-terminals.

mod agreement;
mod fleet;
mod wifi;

use crate::util::{ChildProcess, TestDir};
use espbench_measure::plan::Plan;
use espbench_model::workload::Workload;
use espbench_sim::lab::file::Library;
use fleet::{Act, PtyFleet, fleet, terminal};
use std::collections::BTreeMap;

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
    // With the releases that the boards told.
    let beside = json(&bench.run(&["report", "boards-1-lab", "--format", "json"]).ok());
    for told in ["esp_now_release", "idf_release"] {
        assert!(report["cells"][0][told].is_string(), "{report}");
        assert_eq!(beside["cells"][0][told], report["cells"][0][told], "{told}");
    }
    // The consoles are in the store.
    let run = bench.run(&["runs", "--consoles", "last~1"]).ok();
    for port in &fleet.ports {
        assert!(run.contains(&format!("=== {port}, cell 1: ")), "{run}");
    }
    assert!(run.contains("200 packets transmitted") && run.contains("listening"));
}

#[test]
fn a_board_that_is_unplugged_is_a_cause_and_a_resumed_run_measures_what_is_missing() {
    let ping = |count: u32| {
        format!(
            "[[measure]]\nkind = \"esp-now\"\ntest = \"ping\"\ndistance = \"0.5 m\"\nsize = 10\ncount = {count}\n"
        )
    };
    let text = format!("name = \"boards\"\n{}{}", ping(20), ping(2000));
    let (bench, fleet) = boards(&text);
    let on = fleet.target();
    let mut child =
        ChildProcess::start(&mut bench.command(&["run", "boards.toml", "--on", &on]), true);
    // The first cell is done, and the second one, of more pings, is under way.
    child.line("[1/2]");
    fleet.until_printed(&mut child, 0, "seq=40 ");
    fleet.act(Act::Unplug(1));
    child.line("espbench run --resume boards-1");
    assert_eq!(child.wait(), Some(2));
    let fates = |pings: &str| -> BTreeMap<String, usize> {
        let samples = bench.run(&["samples", "last"]).ok();
        let mut lines = samples.lines().map(|line| line.split(',').collect::<Vec<_>>());
        let head = lines.next().unwrap();
        let at = |name| head.iter().position(|it| *it == name).unwrap();
        let (of, fate, cause) = (at("pings"), at("fate"), at("cause"));
        lines.filter(|line| line[of] == pings).fold(BTreeMap::new(), |mut all, line| {
            *all.entry(format!("{} {}", line[fate], line[cause])).or_default() += 1;
            all
        })
    };
    let first = fates("20");
    assert_eq!(first.values().sum::<usize>(), 20, "{first:?}");
    let cut = fates("2000");
    assert_eq!(cut.values().sum::<usize>(), 2000, "{cut:?}");
    assert!(cut.contains_key("lost device-gone"), "{cut:?}");
    assert!(cut.keys().all(|it| it == "delivered " || it.len() > "lost ".len()), "{cut:?}");
    assert!(bench.run(&["report", "last", "--full"]).ok().contains("the board is gone"));
    // While the board is away, resuming says so and changes nothing.
    let lines = refused(&bench, &["run", "--resume"]);
    assert!(lines[0].contains(&fleet.ports[1]), "{lines:#?}");
    assert_eq!(fates("2000"), cut);
    fleet.act(Act::Plug(1));
    let ran = bench.run(&["run", "--resume"]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.err.contains("1 of 2 cells to do"), "{}", ran.err);
    assert_eq!(fates("20"), first, "what was measured stays");
    let whole = fates("2000");
    assert_eq!(whole.values().sum::<usize>(), 2000, "{whole:?}");
    assert!(!whole.contains_key("lost device-gone") && whole["delivered "] > 1900, "{whole:?}");
    let again = bench.run(&["run", "--resume"]);
    assert!(again.err.contains("there is nothing to resume"), "{}", again.err);
}

#[test]
fn a_crash_is_in_the_report_with_its_addresses() {
    let text = plan("ping", "size = 10\ncount = 20000\ncast = \"unicast\"");
    let (bench, boards) = boards(&text);
    let on = boards.target();
    let mut child =
        ChildProcess::start(&mut bench.command(&["run", "boards.toml", "--on", &on]), true);
    child.line("run boards-1");
    boards.until_printed(&mut child, 0, "seq=40 ");
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
fn refused(bench: &TestDir, args: &[&str]) -> Vec<String> {
    let ran = bench.run(args);
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
        let lines = refused(&bench, &["run", "boards.toml", "--on", &on]);
        assert!(lines.len() == 3 && lines[0].contains(what), "{lines:#?}");
        assert!(lines[1].starts_with("  why:") && lines[2].starts_with("  do:"), "{lines:#?}");
    }
    // There may be boards where this runs, but hardly so many.
    bench.write("boards.toml", &plan("multi-ping", "size = 10\ncount = 5\ndevices = 100"));
    let lines = refused(&bench, &["run", "boards.toml", "--on", "serial:auto"]);
    assert_eq!(lines.len(), 3, "{lines:#?}");
}

//! One store, and several who use it: at the same time, read only, from a spreadsheet.

use crate::util::{ChildProcess, Ran, TestDir, peer};
use std::process::Stdio;

/// Cells of a quarter of a second each.
const SLOW: &str = "name = \"slow\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [1, 2, 3, 4, 5]\n\
                    count = 50\ninterval = \"5 ms\"\n";

const ONE: &str = "name = \"one\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 1\ncount = 20\n";

fn locks(bench: &TestDir) -> usize {
    let names = std::fs::read_dir(bench.dir.path()).unwrap().map(|it| it.unwrap().file_name());
    names.filter(|it| it.to_string_lossy().ends_with(".lock")).count()
}

#[test]
fn a_run_that_still_goes_is_not_resumed() {
    let bench = TestDir::new();
    bench.write("slow.toml", &SLOW.replace("count = 50", "count = 4000"));
    let mut run = ChildProcess::start(&mut bench.command(&["run", "slow.toml"]), true);
    // It is stored, and so can be found, before its first line.
    let deadline = std::time::Instant::now() + crate::util::PATIENCE;
    while !bench.run(&["runs"]).out.contains("slow-1") {
        assert!(std::time::Instant::now() < deadline, "no run");
        run.must_run();
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    for args in
        [&["run", "--resume"][..], &["run", "--resume", "slow-1"], &["runs", "--remove", "last"]]
    {
        let ran = bench.run(args);
        assert_eq!(ran.status, Some(2), "{args:?}");
        let said = format!("slow-1 is being carried out by another process ({})", run.id());
        assert!(ran.err.contains(&said), "{args:?}: {}", ran.err);
    }
    // Reading is no matter.
    assert!(bench.run(&["runs"]).ok().contains("0 of 5"));
    // A lock ends with its process, however that ends.
    run.kill();
    assert_eq!(bench.run(&["runs", "--remove", "slow-1"]).status, Some(0));
    assert_eq!(locks(&bench), 0);
}

#[test]
fn an_empty_store_has_nothing_to_resume_and_says_so() {
    let bench = TestDir::new();
    bench.write("one.toml", ONE);
    bench.run(&["run", "one.toml", "-q"]).ok();
    let whole = bench.run(&["run", "--resume"]);
    assert!(whole.err.contains("is complete: there is nothing to resume"), "{}", whole.err);
    bench.run(&["runs", "--remove", "one-1"]).ok();
    let none = bench.run(&["run", "--resume"]);
    assert_eq!(none.status, Some(2));
    let lines: Vec<&str> = none.err.lines().collect();
    assert!(lines[0].ends_with("has no run yet"), "{}", none.err);
    assert_eq!(lines[1..], ["  do:  `espbench run` makes one"]);
}

#[test]
fn a_threshold_of_an_unknown_metric_is_told_before_anything_is_measured() {
    let bench = TestDir::new();
    let gate = "[[threshold]]\nmetric = \"rtt_p9\"\nmax = \"1 s\"\n";
    bench.write("slow.toml", &format!("{SLOW}\n{gate}"));
    let ran = bench.run(&["run", "slow.toml"]);
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("no metric `rtt_p9`; did you mean `rtt_p90`?"), "{}", ran.err);
    assert!(!bench.store().exists());
}

#[test]
fn compare_offers_what_it_can_draw() {
    let bench = TestDir::new();
    let help = bench.run(&["compare", "--help"]).ok();
    assert!(!help.contains("html"), "{help}");
    let refused = bench.run(&["compare", "last", "--format", "html"]);
    assert_eq!(refused.status, Some(2));
    assert!(
        refused.err.contains("[possible values: text, json, csv, markdown]"),
        "{}",
        refused.err
    );
}

/// In a mount namespace of the test's own, in which nothing there can be written to.
#[cfg(target_os = "linux")]
#[test]
fn a_store_that_can_only_be_read_is_read() {
    if !peer("unshare") {
        return;
    }
    let bench = TestDir::new();
    bench.write("one.toml", ONE);
    let (folder, store) = (bench.path("there #1?"), bench.path("there #1?/runs.sqlite"));
    bench.run(&["run", "one.toml", "-q", "--store", store.to_str().unwrap()]).ok();
    let sealed = |command: &str| {
        let script = format!(
            "mount --bind '{dir}' '{dir}' && mount -o remount,bind,ro '{dir}' && {exe} {command}",
            dir = folder.display(),
            exe = env!("CARGO_BIN_EXE_espbench"),
        );
        let mut unshare = std::process::Command::new("unshare");
        unshare.args(["-r", "-m", "sh", "-c", &script]).env("ESPBENCH_STORE", &store);
        Ran::of(unshare.current_dir(bench.dir.path()))
    };
    assert!(sealed("runs").ok().contains("one-1"));
    assert!(sealed("report last --full").ok().contains("espbench report: one-1"));
    let compared = sealed("compare last published");
    assert_eq!(compared.status, Some(2), "read, and not comparable: {}", compared.err);
    assert!(compared.out.starts_with("Nothing is comparable"), "{}", compared.out);
    let refused = sealed("run one.toml -q");
    assert_eq!(refused.status, Some(2));
    assert!(refused.err.contains("cannot be opened for writing"), "{}", refused.err);
}

#[test]
fn a_spreadsheet_finds_no_formula() {
    let bench = TestDir::new();
    bench.write("one.toml", ONE);
    bench.run(&["run", "one.toml", "-q", "-o", "theirs.csv"]).ok();
    let mut lines = std::fs::read_to_string(bench.path("theirs.csv")).unwrap();
    lines = lines.replace(",loopback,", ",'=1+1,");
    // What is read back is what was meant, and not the apostrophe.
    bench.write("formula.csv", &lines);
    let csv = bench.run(&["compare", "formula.csv", "formula.csv", "--format", "json"]).ok();
    assert!(csv.contains("\"=1+1\"") && !csv.contains("'=1+1"), "{csv}");

    let host = ["echo", "127.0.0.1:9", "--security", "=cmd|' /C calc'!A0", "-n", "1", "-q"];
    let args = [&host[..], &["--local-port", "0", "--format", "csv"]];
    let csv = bench.run(&args.concat()).out;
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let head = rows.next().unwrap();
    let at = |name: &str| head.iter().position(|it| *it == name).unwrap();
    for fields in rows {
        assert_eq!(fields[at("security")], "'=cmd|' /C calc'!A0", "{fields:?}");
    }
    assert!(csv.lines().count() > 1, "{csv}");
}

#[test]
fn a_store_that_another_program_begins_to_make_is_waited_for() {
    let bench = TestDir::new();
    let mut other = rusqlite::Connection::open(bench.store()).unwrap();
    let change = other.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).unwrap();
    bench.write("one.toml", ONE);
    let mut command = bench.command(&["run", "one.toml", "-q"]);
    let run = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
    change.rollback().unwrap();
    let ended = run.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
}

/// All begin with a store that is not there yet.
#[test]
fn many_may_make_the_store_at_once() {
    let bench = TestDir::new();
    bench.write("one.toml", ONE);
    let mut runs: Vec<_> = (0..8)
        .map(|_| {
            let mut command = bench.command(&["run", "one.toml", "-q"]);
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for run in runs.drain(..) {
        let ended = run.wait_with_output().unwrap();
        assert_eq!(ended.status.code(), Some(0), "{}", String::from_utf8_lossy(&ended.stderr));
    }
    assert_eq!(bench.run(&["runs"]).ok().lines().count(), 8);
}

/// Checks a disk that has no room from the start: the store's own files, or its pages.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_from_the_start() {
    if !peer("unshare") {
        return;
    }
    let bench = TestDir::new();
    bench.write("one.toml", ONE);
    let there = bench.path("there");
    std::fs::create_dir(&there).unwrap();
    for left in [0, 4, 16, 40] {
        let script = format!(
            "mount -t tmpfs -o size=256k tmpfs '{dir}' && head -c {used}k /dev/zero > '{dir}/other' && \
             exec {exe} run one.toml -q --store '{dir}/runs.sqlite'",
            dir = there.display(),
            used = 256 - left,
            exe = env!("CARGO_BIN_EXE_espbench"),
        );
        let mut unshare = std::process::Command::new("unshare");
        unshare.args(["-r", "-m", "sh", "-c", &script]);
        let ran = Ran::of(unshare.current_dir(bench.dir.path()));
        assert_eq!(ran.status, Some(2), "{left} KB left: {ran:?}");
        assert!(ran.err.contains("the disk is full"), "{left} KB left: {}", ran.err);
        assert!(ran.err.contains("free some space"), "{left} KB left: {}", ran.err);
    }
}

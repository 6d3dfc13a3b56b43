//! Parts of a run on several machines: together they are the run of one machine, to the byte.

use crate::sim::without_start;
use crate::util::{Ran, TestDir};
use rusqlite::Connection;
use std::path::Path;

/// Cells of several kinds, with samples of both sorts.
const PLAN: &str = r#"
name = "parts"
repetitions = 2
[[measure]]
kind = "esp-now"
test = "ping"
size = [10, 230]
count = 30
[[measure]]
kind = "esp-now"
test = "throughput"
time = "1 s"
[[measure]]
kind = "esp-now"
test = "crypto"
count = 10
"#;
const CELLS: usize = 8;

fn shard(bench: &TestDir, shard: &str, store: &str) -> Ran {
    bench.run(&["run", "parts.toml", "--on", "sim", "-q", "--shard", shard, "--store", store])
}

/// Carries out all shards of three, each in a store of its own.
fn shards() -> TestDir {
    let bench = TestDir::new();
    bench.write("parts.toml", PLAN);
    for number in 1..=3 {
        let ran = shard(&bench, &format!("{number}/3"), &format!("{number}.sqlite"));
        assert_eq!(ran.status, Some(0), "{}", ran.err);
        assert_eq!(ran.out, "", "a part is no result");
        assert!(ran.err.contains("cells are done"), "{}", ran.err);
    }
    bench
}

fn merge(bench: &TestDir, stores: &[&str], into: &str) -> Ran {
    bench.run(&[&["runs", "merge"], stores, &["-o", into]].concat())
}

/// Returns a report as JSON, without the time at which the run was started.
fn report(bench: &TestDir, store: &str, format: &str) -> String {
    let text = bench.run(&["report", "last", "--store", store, "--format", format]).ok();
    let started = text.find("\"started\": \"").map(|at| at + "\"started\": \"".len());
    match started {
        Some(at) => format!("{}{}", &text[..at], &text[at + "2026-11-25T20:00:00Z".len()..]),
        None => text,
    }
}

#[test]
fn shards_that_are_merged_are_the_run_of_one_machine() {
    let bench = shards();
    bench.run(&["run", "parts.toml", "--on", "sim", "-q"]).ok();
    std::fs::create_dir(bench.path("all")).unwrap();
    let ran = merge(&bench, &["1.sqlite", "2.sqlite", "3.sqlite"], "all/runs.sqlite");
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(
        ran.err.contains(&format!("parts-1: {CELLS} of {CELLS} cells, from 3 runs")),
        "{}",
        ran.err
    );
    for format in ["json", "csv"] {
        let whole = report(&bench, "runs.sqlite", format);
        assert_eq!(whole, report(&bench, "all/runs.sqlite", format));
        assert!(whole.contains("rtt"), "{whole}");
    }
    let samples = |store: &str| bench.run(&["samples", "last", "--store", store]).ok();
    assert_eq!(samples("runs.sqlite"), samples("all/runs.sqlite"));
    let bytes = |name: &str| without_start(&bench.path(name));
    assert!(bytes("runs.sqlite") == bytes("all/runs.sqlite"), "the stores differ");
    // Whatever the order of the stores, and where one is named twice.
    let ran = merge(&bench, &["3.sqlite", "1.sqlite", "3.sqlite", "2.sqlite"], "again.sqlite");
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(bytes("again.sqlite") == bytes("runs.sqlite"), "the order of stores is told");
}

#[test]
fn missing_cells_are_told_and_measured_later() {
    let bench = shards();
    let ran = merge(&bench, &["1.sqlite", "3.sqlite"], "part.sqlite");
    assert_eq!(ran.status, Some(2), "{}", ran.err);
    assert!(ran.err.contains(&format!("parts-1: 5 of {CELLS} cells")), "{}", ran.err);
    assert!(ran.err.contains("espbench run --resume parts-1 --store part.sqlite"), "{}", ran.err);
    bench.run(&["run", "--resume", "parts-1", "--store", "part.sqlite", "-q"]).ok();
    let ran = merge(&bench, &["1.sqlite", "2.sqlite", "3.sqlite"], "whole.sqlite");
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert_eq!(samples(&bench, "part.sqlite"), samples(&bench, "whole.sqlite"));
}

fn samples(bench: &TestDir, store: &str) -> String {
    bench.run(&["samples", "last", "--store", store]).ok()
}

#[test]
fn a_shard_that_was_cut_short_goes_on() {
    let bench = shards();
    let whole = samples(&bench, "2.sqlite");
    // What a killed process leaves: cells that are pending.
    let pending =
        "UPDATE cell SET status = 'pending', counters = '{}', facts = '{}' WHERE position = 4";
    let lost = change(&bench.path("2.sqlite"), pending);
    assert_eq!(lost, 1);
    let resume = ["run", "--resume", "--shard", "2/3", "--store", "2.sqlite"];
    let ran = bench.run(&resume);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.err.contains("shard 2/3 of parts-1: 3 of 3 cells are done"), "{}", ran.err);
    assert_eq!(whole, samples(&bench, "2.sqlite"));
    let ran = bench.run(&resume);
    assert!(ran.status == Some(0) && ran.err.contains("0 of 8 cells to do"), "{}", ran.err);
}

/// Changes a store as a hostile or mistaken hand would; returns how many rows.
fn change(store: &Path, what: &str) -> usize {
    Connection::open(store).unwrap().execute(what, []).unwrap()
}

#[test]
fn shards_of_another_tool_library_or_result_are_refused() {
    let bench = shards();
    for (what, wanted) in [
        (
            "UPDATE run SET facts = json_set(facts, '$.tool', 'espbench 9.9.9')",
            "espbench 9.9.9 the other",
        ),
        (
            "UPDATE run SET facts = json_set(facts, '$.library', 'ab')",
            "labs, profiles or environments differ",
        ),
        (
            "UPDATE run SET facts = json_remove(facts, '$.library')",
            "does not say which labs it had",
        ),
        ("UPDATE run SET facts = json_set(facts, '$.origin', 'measured')", "is not of shards"),
    ] {
        std::fs::copy(bench.path("2.sqlite"), bench.path("odd.sqlite")).unwrap();
        assert_eq!(change(&bench.path("odd.sqlite"), what), 1, "{what}");
        let ran = merge(&bench, &["1.sqlite", "odd.sqlite"], "all.sqlite");
        assert_eq!(ran.status, Some(2), "{what}");
        assert!(ran.err.contains(wanted) && ran.err.lines().count() == 3, "{}", ran.err);
    }
    std::fs::copy(bench.path("2.sqlite"), bench.path("odd.sqlite")).unwrap();
    let changed = "UPDATE probe SET received_ns = received_ns + 1 WHERE rowid = 1";
    assert_eq!(change(&bench.path("odd.sqlite"), changed), 1);
    let ran = merge(&bench, &["2.sqlite", "odd.sqlite"], "all.sqlite");
    assert_eq!(ran.status, Some(2));
    assert!(ran.err.contains("the file is damaged"), "{}", ran.err);
    // One that was recorded so, by an espbench that wrote no checksum.
    let older = "UPDATE cell SET facts = json_remove(facts, '$.checksum')";
    assert!(change(&bench.path("odd.sqlite"), older) > 0);
    let ran = merge(&bench, &["2.sqlite", "odd.sqlite"], "all.sqlite");
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.err.contains("cell 2 (esp-now") && ran.err.contains("differs: parts-1 of 2.sqlite"),
        "{}",
        ran.err
    );
    // Nothing is left of what was not finished.
    let left = std::fs::read_dir(bench.dir.path()).unwrap();
    let left: Vec<_> = left.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    assert!(left.iter().all(|it| !it.contains("all.sqlite")), "{left:?}");
}

#[test]
fn other_runs_in_the_stores_stay_runs_of_their_own() {
    let bench = shards();
    let other = ["run", "parts.toml", "--on", "sim", "-q", "--seed", "7", "--shard", "1/1"];
    let ran = bench.run(&[&other[..], &["--store", "seven.sqlite"]].concat());
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    let ran = merge(&bench, &["1.sqlite", "2.sqlite", "3.sqlite", "seven.sqlite"], "all.sqlite");
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.err.contains("parts-1: 8 of 8 cells, from 3 runs"), "{}", ran.err);
    assert!(ran.err.contains("parts-2: 8 of 8 cells, from 1 run"), "{}", ran.err);
}

#[test]
fn what_cannot_be_a_shard_is_told() {
    let bench = TestDir::new();
    bench.write("parts.toml", PLAN);
    bench.write("there.sqlite", "");
    for (args, wanted) in [
        (&["run", "parts.toml", "--shard", "4/3"][..], "they are 1/3 to 3/3"),
        (&["run", "parts.toml", "--shard", "half"], "the third of eight parts"),
        (
            &["run", "udp-echo", "--on", "loopback", "--shard", "1/2"],
            "what is measured is of one place",
        ),
        (
            &["runs", "merge", "nowhere.sqlite", "-o", "a.sqlite"],
            "there is no store nowhere.sqlite",
        ),
        (&["runs", "merge", "parts.toml", "-o", "a.sqlite"], "parts.toml"),
        (&["runs", "merge", "there.sqlite", "-o", "there.sqlite"], "is already there"),
    ] {
        let ran = bench.run(args);
        assert_eq!(ran.status, Some(2), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(wanted), "{args:?}: {}", ran.err);
    }
}

fn example(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cluster").join(name)
}

/// Returns a shell's command with this espbench on its path.
fn shell(bench: &TestDir, args: &[&std::ffi::OsStr], variables: &[(&str, &str)]) -> Ran {
    let bin = Path::new(env!("CARGO_BIN_EXE_espbench")).parent().unwrap();
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let mut command = std::process::Command::new("sh");
    command
        .args(args)
        .current_dir(bench.dir.path())
        .env("PATH", path)
        .envs(variables.iter().copied());
    Ran::of(&mut command)
}

#[test]
fn the_array_of_slurm_makes_one_report() {
    let bench = TestDir::new();
    bench.write("parts.toml", PLAN);
    let script = example("slurm.sh");
    let task = |id: &str, more: &[(&str, &str)]| {
        let own = [("SLURM_ARRAY_TASK_ID", id), ("SLURM_CPUS_PER_TASK", "2")];
        let args = [script.as_os_str(), "parts.toml".as_ref()];
        let ran = shell(&bench, &args, &[&own[..], more].concat());
        assert_eq!(ran.status, Some(0), "{}", ran.err);
    };
    task("1", &[("SLURM_ARRAY_TASK_COUNT", "2")]);
    task("2", &[("SLURM_ARRAY_TASK_COUNT", "2")]);
    // A task that is submitted again is alone in its array.
    task("2", &[("SLURM_ARRAY_TASK_COUNT", "1"), ("ESPBENCH_TASKS", "2")]);
    let ran = shell(&bench, &[script.as_os_str(), "--merge".as_ref()], &[]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(
        bench.path("shards/report.html").is_file() && ran.err.contains("8 of 8 cells"),
        "{}",
        ran.err
    );
}

#[test]
fn the_job_of_kubernetes_carries_out_each_index() {
    let bench = TestDir::new();
    bench.write("sweep.toml", PLAN);
    let text = std::fs::read_to_string(example("kubernetes.yaml")).unwrap();
    // The script of the container, on this folder in place of its volumes.
    let begin = text.find("            - |\n").unwrap() + "            - |\n".len();
    let lines = text[begin..].lines().map_while(|it| it.strip_prefix("              "));
    let folder = bench.dir.path().to_str().unwrap();
    let script: String = lines.map(|it| format!("{it}\n")).collect();
    let script = script.replace("/shards", folder).replace("/plan", folder);
    assert!(script.contains("--shard"), "{script}");
    let pod = |index: &str| {
        let args = ["-euc".as_ref(), script.as_ref()];
        let ran = shell(&bench, &args, &[("JOB_COMPLETION_INDEX", index), ("COMPLETIONS", "2")]);
        assert_eq!(ran.status, Some(0), "{}", ran.err);
    };
    pod("0");
    pod("1");
    // One that is started again.
    pod("1");
    let ran = merge(&bench, &["shard-0.sqlite", "shard-1.sqlite"], "all.sqlite");
    assert_eq!(ran.status, Some(0), "{}", ran.err);
}

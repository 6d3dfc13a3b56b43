//! The record: nothing measured is lost, whatever happens.

use crate::util::{ChildProcess, Ran, TestDir, peer};
use rusqlite::Connection;

/// Sixteen cells of a quarter of a second each: a test that is told of the first has seconds to stop
/// the run, however busy the machine is.
const SLOW: &str = "name = \"slow\"\n[[measure]]\nkind = \"udp-echo\"\n\
                    size = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]\n\
                    count = 50\ninterval = \"5 ms\"\n";

fn rows(bench: &TestDir, query: &str) -> Vec<Vec<i64>> {
    let db = Connection::open(bench.store()).unwrap();
    let mut query = db.prepare(query).unwrap();
    let columns = query.column_count();
    let rows = query.query_map([], |row| (0..columns).map(|i| row.get(i)).collect()).unwrap();
    rows.collect::<Result<_, _>>().unwrap()
}

#[test]
fn a_killed_run_loses_at_most_the_cell_in_progress_and_resumes() {
    let bench = TestDir::new();
    bench.write("slow.toml", SLOW);
    let mut run = ChildProcess::start(&mut bench.command(&["run", "slow.toml"]), true);
    run.line("[2/16]");
    run.kill();

    let done = "SELECT position FROM cell WHERE status = 'done' ORDER BY position";
    let before = rows(&bench, done);
    assert!(before.len() >= 2, "{before:?}");
    let samples = "SELECT cell_id, seq, sent_ns, received_ns FROM probe WHERE cell_id <= 2";
    let kept = rows(&bench, samples);
    assert_eq!(kept.len(), 100);

    let ran = bench.run(&["run", "--resume"]);
    assert_eq!(ran.status, Some(0), "{}", ran.err);
    assert!(ran.err.contains(&format!("{} of 16 cells to do", 16 - before.len())), "{}", ran.err);
    assert_eq!(rows(&bench, samples), kept, "what was measured stays as it was");
    let counts = rows(&bench, "SELECT cell_id, count(*) FROM probe GROUP BY cell_id");
    assert_eq!(counts, (1..=16).map(|id| vec![id, 50]).collect::<Vec<_>>());

    let again = bench.run(&["run", "--resume"]);
    assert_eq!(again.status, Some(2));
    assert!(again.err.contains("is complete: there is nothing to resume"), "{}", again.err);
}

#[test]
fn a_killed_run_of_the_lab_has_a_report_that_says_what_is_missing() {
    let bench = TestDir::new();
    bench.write(
        "keys.toml",
        "name = \"keys\"\nrepetitions = 24\n[[measure]]\nkind = \"esp-now\"\ntest = \"handshake\"\n\
         devices = 10\n",
    );
    let mut run = ChildProcess::start(&mut bench.command(&["run", "keys.toml"]), true);
    run.line("[2/24]");
    run.kill();
    let done = rows(&bench, "SELECT id FROM cell WHERE status = 'done'").len();
    assert!((2..24).contains(&done), "{done}");

    let partial = bench.run(&["report"]).ok();
    let said = format!("cut short: {} repetitions of cells of its plan are missing", 24 - done);
    let words =
        partial.split_whitespace().filter(|word| !matches!(*word, "!" | "✗")).collect::<Vec<_>>();
    assert!(words.join(" ").contains(&said), "{said}: {partial}");
    crate::report::assert_valid(
        &serde_json::from_str(&bench.run(&["report", "--format", "json"]).ok()).unwrap(),
    );

    // What is done later is what would have been done then.
    bench.run(&["run", "--resume", "-q"]).ok();
    let cells = |bench: &TestDir| bench.run(&["report", "--format", "csv"]).ok();
    let whole = TestDir::new();
    whole.write("keys.toml", &std::fs::read_to_string(bench.path("keys.toml")).unwrap());
    whole.run(&["run", "keys.toml", "-q"]).ok();
    assert_eq!(cells(&bench), cells(&whole));
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_measured_and_says_how_to_go_on() {
    let bench = TestDir::new();
    bench.write("slow.toml", SLOW);
    let mut run = ChildProcess::start(&mut bench.command(&["run", "slow.toml"]), true);
    run.line("[1/16]");
    Ran::of(std::process::Command::new("kill").args(["-INT", &run.id().to_string()])).ok();
    assert_eq!(run.wait(), Some(130));
    let answer = bench.run(&["report"]).ok();
    assert!(answer.contains("espbench run --resume slow-1"), "{answer}");
    assert!(!rows(&bench, "SELECT id FROM cell WHERE status = 'done'").is_empty());
}

#[test]
fn a_report_is_a_pure_function_of_the_record() {
    let bench = TestDir::new();
    bench.write(
        "quick.toml",
        "name = \"quick\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [1, 900]\ncount = 100\n",
    );
    let first = bench.run(&["run", "quick.toml", "--format", "json"]).ok();
    let again = bench.run(&["report", "last", "--format", "json"]).ok();
    assert_eq!(first, again);

    // A stored run is a target too: the same samples give the same figures.
    let replayed =
        bench.run(&["run", "quick.toml", "--on", "replay:quick-1", "--format", "json"]).ok();
    let cells = |json: &str| {
        let mut report: serde_json::Value = serde_json::from_str(json).unwrap();
        let mut cells = report["cells"].take();
        for cell in cells.as_array_mut().unwrap() {
            cell["run"].take();
        }
        cells
    };
    assert_eq!(cells(&replayed), cells(&first));
}

#[test]
fn files_that_are_no_store_are_left_alone() {
    let bench = TestDir::new();
    let garbage = "this is a letter to a friend, not a database. ".repeat(100);
    std::fs::write(bench.store(), &garbage).unwrap();
    let ran = bench.run(&["runs"]);
    assert_eq!(ran.status, Some(2));
    assert!(
        ran.err.contains("  why: it is no SQLite database\n  do:  move it away"),
        "{}",
        ran.err
    );
    assert_eq!(std::fs::read_to_string(bench.store()).unwrap(), garbage);

    std::fs::remove_file(bench.store()).unwrap();
    Connection::open(bench.store()).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let ran = bench.run(&["runs"]);
    assert!(ran.err.contains("another program's database"), "{}", ran.err);

    let none = bench.run(&["run", "udp-echo", "--store", "/proc/nowhere/runs.sqlite"]);
    assert_eq!(none.status, Some(2));
    assert!(none.err.contains("choose another with --store"), "{}", none.err);
}

#[test]
fn a_file_that_cannot_be_written_is_told_before_anything_is_measured() {
    let bench = TestDir::new();
    std::fs::create_dir(bench.path("folder.html")).unwrap();
    let kept = bench.write("kept.md", "what was there");
    let kept_too = ["-o", "kept.md", "-o", "new.csv"];
    for (file, said) in [
        ("no/where/x.html", "make the folder no/where first"),
        ("folder.html", "cannot write folder.html"),
    ] {
        let ran = bench.run(&[&["run", "crypto-time", "-o", file][..], &kept_too].concat());
        assert_eq!(ran.status, Some(2));
        assert!(ran.err.contains(said), "{}", ran.err);
    }
    assert!(!bench.store().exists() && !bench.path("new.csv").exists());
    assert_eq!(std::fs::read_to_string(kept).unwrap(), "what was there");
}

#[test]
fn what_only_reads_makes_no_store() {
    let bench = TestDir::new();
    let none = bench.run(&["runs"]);
    assert_eq!((none.status, none.out.as_str()), (Some(0), ""));
    assert!(none.err.contains("no runs yet"), "{}", none.err);
    for args in [["report", "last"], ["compare", "last"], ["run", "--resume"]] {
        let none = bench.run(&args);
        assert_eq!(none.status, Some(2), "{args:?}");
        assert!(none.err.contains("`espbench run` makes one"), "{}", none.err);
    }
    assert!(!bench.store().exists());
}

#[test]
fn a_damaged_store_is_said_to_be_damaged() {
    let bench = TestDir::new();
    let one = "name = \"one\"\n[[measure]]\nkind = \"udp-echo\"\nsize = 1\ncount = 500\n";
    bench.write("one.toml", one);
    bench.run(&["run", "one.toml"]).ok();
    let mut bytes = std::fs::read(bench.store()).unwrap();
    for byte in bytes.iter_mut().skip(100).step_by(3) {
        *byte = !*byte;
    }
    std::fs::write(bench.store(), bytes).unwrap();
    let ran = bench.run(&["report"]);
    assert_eq!(ran.status, Some(2), "{}", ran.out);
    assert!(ran.err.contains("  why: the database is damaged\n  do:  move it away"), "{}", ran.err);
}

/// One bit of a cell's state: the cell would be missing, and every format would say nothing of it.
#[test]
fn a_state_of_a_cell_that_is_none_is_damage_in_every_format() {
    let bench = TestDir::new();
    let plan = "name = \"one\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [1, 2]\ncount = 50\n";
    bench.write("one.toml", plan);
    bench.run(&["run", "one.toml", "-q"]).ok();
    let db = Connection::open(bench.store()).unwrap();
    db.pragma_update(None, "ignore_check_constraints", true).unwrap();
    db.execute("UPDATE cell SET status = '$one' WHERE position = 1", []).unwrap();
    drop(db);
    let formats = ["text", "markdown", "csv", "json", "jsonl", "junit", "html"];
    let reports = formats.map(|it| vec!["report", "last", "--format", it]);
    let others = [
        vec!["runs"],
        vec!["samples", "last"],
        vec!["run", "--resume"],
        vec!["compare", "last", "published"],
        vec!["doctor", "last"],
    ];
    for args in reports.into_iter().chain(others) {
        let ran = bench.run(&args);
        assert_eq!((ran.status, ran.out.as_str()), (Some(2), ""), "{args:?}: {}", ran.err);
        let told = ran.err.contains("damaged") && ran.err.contains("move it away");
        assert!(told && !ran.err.contains("cut short"), "{args:?}: {}", ran.err);
    }
}

#[test]
fn a_locked_store_is_said_to_be_locked() {
    let bench = TestDir::new();
    bench.write(
        "one.toml",
        "name = \"one\"\n[[measure]]\nkind = \"esp-now\"\ntest = \"crypto\"\ncount = 1\n",
    );
    bench.run(&["run", "one.toml", "-q"]).ok();
    let holder = Connection::open(bench.store()).unwrap();
    holder.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let ran = bench.run(&["run", "udp-echo"]);
    assert_eq!(ran.status, Some(2));
    let waits = ran.err.matches("is locked by another program: waiting for it").count();
    assert_eq!(
        (waits, ran.err.matches("is locked by another program").count()),
        (1, 2),
        "{}",
        ran.err
    );
}

/// On a file system of 400 KiB, in a mount namespace of the test's own.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_keeps_the_finished_cells_and_says_how_to_go_on() {
    if !peer("unshare") {
        return;
    }
    let bench = TestDir::new();
    bench.write(
        "big.toml",
        "name = \"big\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [1, 2, 3, 4, 5, 6, 7, 8]\n\
         count = 2000\n",
    );
    let disk = bench.path("disk");
    std::fs::create_dir(&disk).unwrap();
    let script = format!(
        "mount -t tmpfs -o size=1m none {disk} && cd {dir} &&
         {exe} run big.toml --store {disk}/runs.sqlite -q >/dev/null; echo status $? >&2;
         cp {disk}/runs.sqlite* {dir}/",
        disk = disk.display(),
        dir = bench.dir.path().display(),
        exe = env!("CARGO_BIN_EXE_espbench"),
    );
    let ran =
        Ran::of(std::process::Command::new("unshare").args(["-r", "-m", "sh", "-c", &script]));
    assert!(ran.err.contains("the disk is full"), "{}", ran.err);
    assert!(ran.err.contains("status 2"), "{}", ran.err);
    let done = rows(&bench, "SELECT id FROM cell WHERE status = 'done'");
    assert!(!done.is_empty() && done.len() < 8, "{done:?}");
    // With room again, the rest is measured.
    bench.run(&["run", "--resume"]).ok();
    assert_eq!(rows(&bench, "SELECT id FROM cell WHERE status = 'done'").len(), 8);
}

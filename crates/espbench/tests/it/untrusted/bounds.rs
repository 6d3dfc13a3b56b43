//! Readers of files whose length nobody can ask for: devices, sparse files, pipes that nobody writes to.

use super::files::{READERS, TRACED, words};
use crate::util::{PATIENCE, Ran, TestDir};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// Returns a command in so much memory: what reads without a bound is refused more soon, and says so.
fn bounded(bench: &TestDir, words: &[String]) -> Command {
    let mut command = Command::new("sh");
    command
        .args([
            "-c",
            "ulimit -v 1000000; exec env --default-signal=INT \"$0\" \"$@\"",
            env!("CARGO_BIN_EXE_espbench"),
        ])
        .args(words)
        .current_dir(bench.dir.path())
        .env("ESPBENCH_STORE", bench.store())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null());
    command
}

/// Runs each reader on a file that is made anew for it.
fn on_each(make: impl Fn(&Path), check: impl Fn(&TestDir, &[String], &str)) {
    let bench = TestDir::new();
    bench.write("traced.toml", &TRACED.replace("FILE", "endless"));
    for case in READERS.iter().flat_map(|it| it.1) {
        let (words, name) = words(case, "endless");
        make(&bench.path(&name));
        check(&bench, &words, case);
        std::fs::remove_file(bench.path(&name)).unwrap();
    }
}

#[test]
fn no_reader_reads_a_device_without_end() {
    let device = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
    on_each(device, |bench, words, case| {
        let ran = Ran::of(&mut bounded(bench, words));
        assert_eq!(ran.status, Some(2), "{case}: {}", ran.err);
        assert!(!ran.err.contains("memory"), "{case}: {}", ran.err);
    });
}

#[test]
fn no_reader_takes_memory_for_a_sparse_file() {
    let sparse = |path: &Path| std::fs::File::create(path).unwrap().set_len(30 << 30).unwrap();
    on_each(sparse, |bench, words, case| {
        let ran = Ran::of(&mut bounded(bench, words));
        assert_eq!(ran.status, Some(2), "{case}: {}", ran.err);
        assert!(!ran.err.contains("memory"), "{case}: {}", ran.err);
    });
}

/// Ctrl-C ends a command that waits for a pipe which nobody writes to. Whoever does not wait has ended.
#[test]
fn every_reader_of_a_silent_pipe_can_be_stopped() {
    let pipe = |path: &Path| {
        let made = Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    };
    on_each(pipe, |bench, words, case| {
        let mut child =
            bounded(bench, words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let deadline = Instant::now() + PATIENCE;
        // Again and again, since the first may come before the command waits.
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            assert!(Instant::now() < deadline, "{case}: it does not end");
            std::thread::sleep(std::time::Duration::from_millis(20));
        };
        assert!(status.signal() == Some(2) || status.code() != Some(0), "{case}: {status}");
    });
}

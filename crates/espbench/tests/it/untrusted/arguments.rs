//! Words of command lines.

use super::{HOSTILE, shown};
use crate::util::TestDir;
use clap::{Arg, Command};

/// Returns all subcommands, each with the words before it.
fn commands() -> Vec<(Vec<String>, Command)> {
    fn add(command: &Command, path: &[String], found: &mut Vec<(Vec<String>, Command)>) {
        found.push((path.to_vec(), command.clone()));
        for sub in command.get_subcommands().filter(|it| it.get_name() != "help") {
            add(sub, &[path, &[sub.get_name().to_owned()]].concat(), found);
        }
    }
    let mut found = Vec::new();
    add(&espbench::cli::command(), &[], &mut found);
    found
}

/// Each ends while its line is read, so that none measures anything or listens.
#[test]
fn no_argument_reaches_the_terminal_raw() {
    let bench = TestDir::new();
    let unknown = format!("--no-{HOSTILE}");
    let mut tried = 0;
    for (path, command) in commands() {
        let mut lines: Vec<Vec<String>> = vec![vec![unknown.clone()]];
        let takes = |arg: &&Arg| arg.get_action().takes_values();
        for arg in command.get_arguments().filter(takes) {
            if let Some(long) = arg.get_long() {
                lines.push(vec![format!("--{long}={HOSTILE}"), unknown.clone()]);
            } else if !arg.is_trailing_var_arg_set() && !arg.is_last_set() {
                lines.push(vec![HOSTILE.into(), unknown.clone()]);
            }
        }
        for line in lines {
            let words: Vec<&str> = path.iter().chain(&line).map(String::as_str).collect();
            let ran = shown(&bench, &words);
            assert_eq!(ran.status, Some(2), "{words:?}: {}", ran.err);
            tried += 1;
        }
    }
    assert!(tried > 300, "{tried}");
}

/// Names that a command takes as they are and says again: of runs, files, hosts, labs.
#[test]
fn no_name_reaches_the_terminal_raw() {
    let bench = TestDir::new();
    let file = format!("{HOSTILE}.toml");
    let store = format!("{HOSTILE}/runs.sqlite");
    let url = format!("mqtt://{HOSTILE}");
    let on = format!("udp:{HOSTILE}");
    bench.write("plan.toml", "name = \"a\"\n[[measure]]\nkind = \"ping\"\n");
    for line in [
        &["run", HOSTILE][..],
        &["run", &file],
        &["run", "plan.toml", "--on", HOSTILE],
        &["run", "plan.toml", "--on", &on],
        &["run", "plan.toml", "--on", "loopback", "-o", &file],
        &["report", HOSTILE],
        &["report", &file],
        &["samples", HOSTILE],
        &["compare", HOSTILE, "published"],
        &["runs", "--remove", HOSTILE],
        &["runs", "--store", &store],
        &["runs", "merge", &store, "-o", HOSTILE],
        &["lab", "show", HOSTILE],
        &["lab", "check", &file],
        &["tune", "--check", HOSTILE],
        &["doctor", HOSTILE],
        &["capture", HOSTILE],
        &["espnow", "read", HOSTILE],
        &["espnow", "edges", HOSTILE],
        &["espnow", "talk", "--script", HOSTILE],
        &["predict", "fleet", "--profile", HOSTILE, "--devices", "1"],
        &["rate", "mqtt", &url],
        &["ping", HOSTILE],
        &["echo", HOSTILE],
        &["serve", "--page", HOSTILE],
        &["help", HOSTILE],
        &[HOSTILE],
    ] {
        let ran = shown(&bench, line);
        assert_ne!(ran.status, None, "{line:?}");
        assert!(!ran.err.is_empty() || !ran.out.is_empty(), "{line:?}");
    }
}

/// A hostile name of a file in a folder whose files are all named is shown with the evidence.
#[test]
#[cfg(unix)]
fn no_name_of_a_file_that_was_read_is_raw() {
    let bench = TestDir::new();
    let log = format!("{}.log", HOSTILE.replace('/', ""));
    let text =
        format!("I (1) boot: x\nE (22) wifi: {HOSTILE}\nabort() was called at PC 0x40{HOSTILE}\n");
    bench.write(&log, &text);
    for flags in [
        &[][..],
        &["--full"],
        &["--format", "json"],
        &["--format", "markdown"],
        &["--format", "html"],
    ] {
        let line = [&["doctor", &log], flags].concat();
        let ran = shown(&bench, &line);
        assert!(ran.out.contains("abort"), "{}", ran.err);
    }
}

//! Text from outside in the output of whole commands: nothing that a terminal obeys and nothing that draws a line in
//! another order arrives on stdout or stderr, wherever it comes from. The entry points are listed by the code's own
//! registries: commands and flags by clap, keys by their tables, columns by the store's schema, files by their readers.

mod arguments;
mod bounds;
mod endless;
mod files;
mod servers;
mod store;

use crate::util::{Ran, TestDir};
use espbench_model::untrusted::is_unsafe;
use rusqlite::Connection;
use std::path::{Path, PathBuf};

/// A title of the terminal, a colour by C1, a bell, and text from right to left.
const HOSTILE: &str = "a\u{1b}]0;b\u{9b}31m\u{7}c\u{202e}d\u{2066}e\u{61c}";

/// Hostile text in quotes, for TOML and JSON.
const QUOTED: &str = r#""a\u001b]0;b\u009b31m\u0007c\u202ed\u2066e\u061c""#;

/// Checks that nothing of what a command printed is unsafe.
#[track_caller]
fn must_be_shown(ran: &Ran, of: &str) {
    for text in [&ran.out, &ran.err] {
        let wrong = text.find(|it| is_unsafe(it) && !matches!(it, '\n' | '\t'));
        assert!(wrong.is_none(), "{of}: {:?} in {text:?}", &text[wrong.unwrap_or(0)..]);
    }
}

/// Runs a command and checks what it prints.
#[track_caller]
fn shown(bench: &TestDir, line: &[&str]) -> Ran {
    let ran = bench.run(line);
    must_be_shown(&ran, &line.join(" "));
    ran
}

/// Runs a plan, changes the store that it leaves, and returns a whole copy of that, to be damaged again and again.
fn store_of(bench: &TestDir, plan: &str, change: &str) -> PathBuf {
    bench.write("plan.toml", plan);
    bench.run(&["run", "plan.toml", "--on", "loopback", "-q"]).ok();
    let whole = bench.path("whole.sqlite");
    let db = Connection::open(bench.store()).unwrap();
    db.execute_batch(change).unwrap();
    db.execute("VACUUM INTO ?1", [whole.display().to_string()]).unwrap();
    whole
}

/// Returns the source files of the command, by their names within `src`.
pub fn sources() -> Vec<(String, String)> {
    fn add(root: &Path, folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                add(root, &path, found);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                // What is behind it is a test's.
                let own = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
                let name = path.strip_prefix(root).unwrap().display().to_string();
                found.push((name, own.to_owned()));
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    add(&root, &root, &mut found);
    found.sort();
    found
}

/// Whoever writes to a stream of the process makes its text safe; who does it beside `say` is in this list.
#[test]
fn only_one_module_writes_to_the_terminal() {
    let writes = ["io::stdout()", "io::stderr()", " stdout()", " stderr()", "libc::write("];
    let asks = ["is_terminal()", "AutoStream::choice"];
    let mut writers: Vec<String> = Vec::new();
    for (name, text) in sources() {
        let is_writer = |line: &str| {
            writes.iter().any(|it| line.contains(it)) && !asks.iter().any(|it| line.contains(it))
        };
        if text.lines().any(is_writer) {
            writers.push(name);
        }
    }
    let known = [
        // Entries of a conversation and rows of CSV, each made safe; Parquet and Arrow are no text.
        "cli/espnow/talk/shown.rs",
        // Messages of JSON, whose texts are escaped.
        "cli/mcp/lines.rs",
        "cli/samples/mod.rs",
        "say.rs",
    ];
    assert_eq!(writers, known, "print with say!, say::out or output::print");
}

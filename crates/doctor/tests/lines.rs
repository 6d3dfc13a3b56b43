//! Lines of programs of all frameworks, each with the events that its records tell.
//!
//! `lines.txt` has a line, and behind a tabulator what it tells: `BLESS=1 cargo test -p espbench-doctor --test lines` writes it anew,
//! and the difference is to be read.

use espbench_doctor::log::{LogEvent, events, plain, records};
use std::fmt::Write as _;
use std::path::Path;

#[test]
fn lines_tell_what_they_told() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/lines.txt");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut told = String::new();
    for row in text.lines() {
        let line = row.split_once('\t').map_or(row, |it| it.0);
        let plain = plain(line);
        let events: Vec<LogEvent> = records(&plain).iter().flat_map(events).collect();
        let _ = writeln!(told, "{line}\t{events:?}");
    }
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, told).unwrap();
    } else {
        let wrong: Vec<_> = text.lines().zip(told.lines()).filter(|it| it.0 != it.1).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
    }
}

//! Stores of others whose pages are in circles, or have one child many times: a few kilobytes with more rows than can be read.

use super::{must_be_shown, store_of};
use crate::util::{Ran, TestDir};
use rusqlite::Connection;
use std::process::{Command, Stdio};

const PLAN: &str = "name = \"a\"\n[[measure]]\nkind = \"udp-echo\"\nsize = [20, 30]\ncount = 9\n\
                    [[measure]]\nkind = \"iperf\"\ntime = \"400 ms\"\ninterval = \"200 ms\"\n";

/// Questions to a store, each of which reads other tables.
const QUESTIONS: [&[&str]; 10] = [
    &["runs"],
    &["report", "last"],
    &["report", "last", "--format", "csv"],
    &["samples", "last"],
    &["compare", "last", "last"],
    &["doctor", "last"],
    &["runs", "--consoles", "last"],
    &["runs", "merge", "runs.sqlite", "-o", "merged.sqlite"],
    &["run", "--resume", "last", "-q", "--on", "loopback"],
    &["runs", "--remove", "last"],
];

/// A store as bytes.
struct CraftedStore {
    bytes: Vec<u8>,
    page: usize,
}

impl CraftedStore {
    fn of(bytes: &[u8]) -> Self {
        let page = usize::from(u16::from_be_bytes([bytes[16], bytes[17]]));
        Self { bytes: bytes.to_vec(), page }
    }

    /// Adds an empty page; returns its number, from 1.
    fn add(&mut self) -> u32 {
        self.bytes.resize(self.bytes.len() + self.page, 0);
        let pages = u32::try_from(self.bytes.len() / self.page).unwrap();
        self.bytes[28..32].copy_from_slice(&pages.to_be_bytes());
        pages
    }

    fn page(&mut self, number: u32) -> &mut [u8] {
        let at = (number as usize - 1) * self.page;
        &mut self.bytes[at..at + self.page]
    }

    /// Makes a page an inner one, whose children are all the same page. `key` stands behind each child's number.
    fn same_children(&mut self, number: u32, kind: u8, child: u32, key: &[u8]) {
        let page = self.page(number);
        page.fill(0);
        let cell: Vec<u8> = child.to_be_bytes().iter().chain(key).copied().collect();
        let count = (page.len() - 12) / (cell.len() + 2);
        let mut at = page.len();
        for nth in 0..count {
            at -= cell.len();
            page[at..at + cell.len()].copy_from_slice(&cell);
            let pointer = 12 + 2 * nth;
            page[pointer..pointer + 2].copy_from_slice(&u16::try_from(at).unwrap().to_be_bytes());
        }
        page[0] = kind;
        page[3..5].copy_from_slice(&u16::try_from(count).unwrap().to_be_bytes());
        page[5..7].copy_from_slice(&u16::try_from(at).unwrap().to_be_bytes());
        page[8..12].copy_from_slice(&child.to_be_bytes());
    }

    /// Puts so many layers of pages, each with one child many times, above the tree whose root this is.
    fn deepen(&mut self, root: u32, layers: usize, kind: u8, key: &[u8]) {
        let mut child = self.add();
        let was = self.page(root).to_vec();
        self.page(child).copy_from_slice(&was);
        for _ in 1..layers {
            let above = self.add();
            self.same_children(above, kind, child, key);
            child = above;
        }
        self.same_children(root, kind, child, key);
    }
}

/// Runs a question with bounds on memory and on the processor's time, which do not depend on what else the machine does.
fn ask(bench: &TestDir, words: &[&str]) -> Ran {
    let bounded = "ulimit -v 1500000; ulimit -t 100; exec \"$0\" \"$@\"";
    let mut command = Command::new("sh");
    command
        .args(["-c", bounded, env!("CARGO_BIN_EXE_espbench")])
        .args(words)
        .current_dir(bench.dir.path())
        .env("ESPBENCH_STORE", bench.store())
        .env("NO_COLOR", "1")
        .stdin(Stdio::null());
    Ran::of(&mut command)
}

#[test]
fn no_store_is_read_without_end() {
    let bench = TestDir::new();
    // A console is recorded where boards are; the facts of the run need pages of their own.
    let whole = store_of(
        &bench,
        PLAN,
        "CREATE TABLE console (cell_id INTEGER NOT NULL, port TEXT NOT NULL, at_ns INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
         CREATE INDEX console_cell ON console (cell_id);
         INSERT INTO console SELECT 1, 'p', rowid, x'41420a' FROM probe;
         UPDATE run SET facts = json_set(facts, '$.target', hex(zeroblob(9000)));",
    );
    let roots: Vec<(String, String, u32)> = Connection::open(&whole)
        .unwrap()
        .prepare("SELECT type, name, rootpage FROM sqlite_schema")
        .and_then(|mut it| {
            let rows = it.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            rows.collect()
        })
        .unwrap();
    let bytes = std::fs::read(&whole).unwrap();
    let mut told = 0;
    for layers in [1, 3, 12] {
        for (kind, name, root) in &roots {
            let mut store = CraftedStore::of(&bytes);
            // An inner page of a table has numbers of rows as keys, one of an index the entries themselves: cell 1, row 1.
            let (kind, key): (u8, &[u8]) =
                if kind == "table" { (5, &[1]) } else { (2, &[3, 3, 9, 9]) };
            store.deepen(*root, layers, kind, key);
            for words in QUESTIONS {
                std::fs::write(bench.store(), &store.bytes).unwrap();
                let ran = ask(&bench, words);
                let what = format!("{name}, {layers} layers: {words:?}: {ran:?}");
                assert!(matches!(ran.status, Some(0..=2)), "{what}");
                must_be_shown(&ran, &what);
                assert!(!ran.err.contains("panicked"), "{what}");
                if ran.err.contains("gives more than a file of its length") {
                    assert_eq!(ran.status, Some(2), "{what}");
                    told += 1;
                }
                let _ = std::fs::remove_file(bench.path("merged.sqlite"));
                for side in ["-wal", "-shm"] {
                    let _ = std::fs::remove_file(format!("{}{side}", bench.store().display()));
                }
            }
        }
    }
    assert!(told > 20, "{told}");
}

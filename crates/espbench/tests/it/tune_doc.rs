//! Asserts that `docs/tune.md` shows what the commands above it print, to the letter.
//! `UPDATE_DOCS=1` makes it anew:
//!
//! ```console
//! $ UPDATE_DOCS=1 cargo test -p espbench --test it tune_doc
//! ```
//!
//! The page marks what it shows of the last command above: `<!-- prints PART; PART -->`, and then the
//! text. A part is `screen` (what it prints), `findings` (of a check with `--full`), `fragment` (the file
//! that `--fragment` writes) or the id of a table, with the number of its rows that stand there.

use crate::tune::SDKCONFIG;
use crate::util::TestDir;
use espbench::render::text;
use espbench_measure::report::Report;
use std::path::PathBuf;

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/tune.md")
}

/// A command of the page, what is shown of it, and the lines where that stands.
struct Block {
    args: Vec<String>,
    parts: Vec<String>,
    from: usize,
    until: usize,
}

/// Splits a command into words, where quotes keep together what they hold.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            letter => words.last_mut().expect("there is one").push(letter),
        }
    }
    words.retain(|it| !it.is_empty());
    words
}

fn blocks(lines: &[&str]) -> Vec<Block> {
    let marked = lines.iter().enumerate().filter_map(|(at, line)| {
        Some((at, line.strip_prefix("<!-- prints ")?.strip_suffix(" -->")?))
    });
    marked
        .map(|(at, parts)| {
            let command = lines[..at].iter().rev().find_map(|it| it.strip_prefix("$ espbench "));
            assert_eq!(lines[at + 1], "```text");
            let len = lines[at + 2..].iter().position(|it| *it == "```").expect("an end");
            Block {
                args: words(command.expect("a command above")),
                parts: parts.split("; ").map(String::from).collect(),
                from: at + 2,
                until: at + 2 + len,
            }
        })
        .collect()
}

/// A command that was carried out.
struct Done {
    args: Vec<String>,
    screen: String,
    out: String,
    fragment: String,
}

impl Done {
    fn new(args: &[String]) -> Self {
        let bench = TestDir::new();
        bench.write("sdkconfig", SDKCONFIG);
        let words: Vec<&str> = args.iter().map(String::as_str).collect();
        let with = |more: &[&str]| bench.run(&[&words[..], &["-q"], more].concat()).out;
        let searches = words.contains(&"--want");
        let more: &[&str] = if searches { &["--format", "json"] } else { &[] };
        let (screen, out) = (with(&[]), with(more));
        let named = words.iter().skip_while(|it| **it != "--fragment").nth(1);
        let read = |it: &&str| std::fs::read_to_string(bench.path(it)).expect("it was written");
        let fragment = named.map(read).unwrap_or_default();
        Self { args: args.to_vec(), screen, out, fragment }
    }

    /// Returns one part of the command's output.
    fn part(&self, part: &str) -> String {
        match part {
            "fragment" => self.fragment.clone(),
            "screen" => self.screen.clone(),
            "findings" => {
                let end = self.out.find("\nWhat TCP's windows allow").expect("tables come after");
                self.out[..end].to_string()
            }
            table => {
                let (id, rows) = table.split_once(' ').unwrap_or((table, "1000"));
                let report: Report = serde_json::from_str(&self.out).expect("a report");
                let mut table = report.tables.into_iter().find(|it| it.id == id).expect("a table");
                let all = table.rows.len();
                table.rows.truncate(rows.parse().expect("a number of rows"));
                let left = all - table.rows.len();
                let more = if left > 0 { format!("(and {left} more)\n") } else { String::new() };
                text::table(&table) + &more
            }
        }
    }
}

/// Returns the parts of a command's output that the page shows. Each command is carried out once.
fn printed(block: &Block, done: &mut Vec<Done>) -> String {
    if done.iter().all(|it| it.args != block.args) {
        done.push(Done::new(&block.args));
    }
    let of = done.iter().find(|it| it.args == block.args).expect("it is there");
    let parts: Vec<String> = block.parts.iter().map(|it| of.part(it)).collect();
    let lines: Vec<&str> = parts.iter().flat_map(|it| it.trim_end().lines().chain([""])).collect();
    lines.iter().map(|it| it.trim_end()).collect::<Vec<_>>().join("\n").trim_end().to_string()
}

#[test]
fn the_page_shows_what_its_commands_print() {
    let path = page();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let blocks = blocks(&lines);
    assert!(blocks.len() >= 4, "{}", blocks.len());
    let mut done = Vec::new();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let mut new: Vec<String> = lines.iter().map(ToString::to_string).collect();
        for block in blocks.iter().rev() {
            new.splice(block.from..block.until, [printed(block, &mut done)]);
        }
        std::fs::write(path, new.join("\n") + "\n").unwrap();
        return;
    }
    for block in &blocks {
        let shown = lines[block.from..block.until].join("\n");
        let printed = printed(block, &mut done);
        let again = "UPDATE_DOCS=1 cargo test -p espbench --test it tune_doc";
        assert_eq!(shown, printed, "{:?} prints something else: {again}", block.args);
    }
}

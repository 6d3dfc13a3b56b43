//! The tables of `docs/predict.md` are what the commands above them print. With `UPDATE_DOCS=1` they
//! are made anew; otherwise each command is run with little effort, and must give a table with the
//! same columns.

use espbench::render::text;
use espbench_measure::report::Report;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

/// A command of the page, and the table below it.
struct Block {
    args: Vec<String>,
    shows: Vec<Show>,
    /// Lines of the page between its fences.
    from: usize,
    until: usize,
}

/// A table, so many of its columns, and some of its rows.
struct Show {
    table: String,
    columns: usize,
    rows: Vec<String>,
}

fn page() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/predict.md")
}

/// Parses `predict-curve 8; predict-rates; rows 1M 2M`: the rows are those of the table before.
fn shows(text: &str) -> Vec<Show> {
    let mut shows: Vec<Show> = Vec::new();
    for part in text.split(';') {
        let mut words = part.split_whitespace().map(String::from);
        match (words.next(), shows.last_mut()) {
            (Some(word), Some(last)) if word == "rows" => last.rows = words.collect(),
            (Some(table), _) => {
                let columns = words.next().map_or(usize::MAX, |it| it.parse().unwrap());
                shows.push(Show { table, columns, rows: Vec::new() });
            }
            _ => panic!("nothing is named in `{text}`"),
        }
    }
    shows
}

fn blocks(lines: &[&str]) -> Vec<Block> {
    let marked = lines.iter().enumerate().filter_map(|(at, line)| {
        let text = line.strip_prefix("<!-- shows ")?.strip_suffix(" -->")?;
        Some((at, shows(text)))
    });
    marked
        .map(|(at, shows)| {
            let before = lines[..at].iter().rev();
            let command = before.clone().find_map(|it| it.strip_prefix("$ espbench "));
            let args = command.expect("a command above").split_whitespace().map(String::from);
            assert_eq!(lines[at + 1], "```text");
            let len = lines[at + 2..].iter().position(|it| *it == "```").expect("an end");
            Block { args: args.collect(), shows, from: at + 2, until: at + 2 + len }
        })
        .collect()
}

/// Returns the part of the command's output that the page shows.
fn printed(args: &[String], shows: &[Show]) -> String {
    // What takes no time has no progress to be quiet about.
    let quiet = (!is_exact(args)).then_some("-q");
    let output = Command::new(env!("CARGO_BIN_EXE_espbench"))
        .args(args)
        .args(quiet)
        .args(["--format", "json"])
        .output()
        .expect("it runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let report: Report = serde_json::from_slice(&output.stdout).expect("a report");
    let draw = |show: &Show| {
        let table = report.tables.iter().find(|it| it.id == show.table);
        let mut table = table.unwrap_or_else(|| panic!("{args:?}: no {}", show.table)).clone();
        table.columns.truncate(show.columns);
        table.rows.iter_mut().for_each(|row| row.truncate(show.columns));
        let wanted = |row: &Option<String>| {
            show.rows.is_empty() || row.as_ref().is_some_and(|it| show.rows.contains(it))
        };
        table.rows.retain(|row| wanted(&row[0]));
        text::table(&table)
    };
    let drawn: Vec<String> = shows.iter().map(draw).collect();
    let lines: Vec<&str> = drawn.iter().flat_map(|it| it.lines().chain([""])).collect();
    lines.iter().map(|it| it.trim_end()).collect::<Vec<_>>().join("\n").trim_end().to_string()
}

/// Returns whether a question is answered by equations, at once: then its figures are compared as well.
fn is_exact(args: &[String]) -> bool {
    args.get(1).is_some_and(|it| it == "range")
}

/// Returns the words of the heads of tables.
fn heads<'a>(lines: impl Iterator<Item = &'a str>) -> BTreeSet<&'a str> {
    let (mut heads, mut open) = (BTreeSet::new(), true);
    for line in lines {
        let rule = !line.is_empty() && line.chars().all(|c| matches!(c, '-' | ' '));
        open = line.is_empty() || (open && !rule);
        heads.extend(line.split_whitespace().filter(|_| open));
    }
    heads
}

/// Returns the same question with as little effort as the command takes.
fn small(args: &[String]) -> Vec<String> {
    let mut args = args.to_vec();
    for (flag, value) in [("--devices", "2"), ("--most", "2"), ("--phy-rates", "1M,54M")] {
        if let Some(at) = args.iter().position(|it| it == flag) {
            args[at + 1] = value.into();
        }
    }
    args.extend(["--rooms", "2", "--messages", "100"].map(String::from));
    args
}

#[test]
fn tables_of_the_page_are_those_of_the_commands_above_them() {
    let path = page();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let blocks = blocks(&lines);
    assert!(blocks.len() >= 4);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let mut new = lines.iter().map(ToString::to_string).collect::<Vec<_>>();
        for block in blocks.iter().rev() {
            new.splice(block.from..block.until, [printed(&block.args, &block.shows)]);
        }
        std::fs::write(path, new.join("\n") + "\n").unwrap();
        return;
    }
    for block in &blocks {
        let shown = lines[block.from..block.until].iter().copied();
        if is_exact(&block.args) {
            assert_eq!(
                lines[block.from..block.until].join("\n"),
                printed(&block.args, &block.shows)
            );
            continue;
        }
        let print = printed(&small(&block.args), &block.shows);
        assert_eq!(heads(shown), heads(print.lines()), "{:?}: UPDATE_DOCS=1", block.args);
        for row in block.shows.iter().flat_map(|it| &it.rows) {
            let stands = lines[block.from..block.until].iter().any(|it| it.starts_with(row));
            assert!(stands, "no row {row} for {:?}", block.args);
        }
    }
}

//! Which part of an output a page shows, and whether it is that.

use super::run::Done;
use espbench::render::text;
use espbench_measure::report::Report;
use espbench_measure::table::Table;

/// A part of what a command gave, as a note says it: `shows PART; PART`, where a part is `screen` (what it prints),
/// `file NAME` (a file that it wrote), or the id of a table with a number of columns; `rows A B` keeps rows of the
/// part before by their first column, `first N` so many rows or lines, `until TEXT` what stands before a line.
enum Part<'a> {
    Screen,
    File(&'a str),
    Table { id: &'a str, columns: usize },
}

enum Cut<'a> {
    Rows(Vec<&'a str>),
    First(usize),
    Until(&'a str),
}

fn parse(note: &str) -> Vec<(Part<'_>, Vec<Cut<'_>>)> {
    let mut parts: Vec<(Part, Vec<Cut>)> = Vec::new();
    for words in note.split(';').map(str::trim) {
        let (word, rest) = words.split_once(' ').unwrap_or((words, ""));
        let number = || rest.parse().unwrap_or_else(|_| panic!("a number behind `{word}`"));
        let cut = match word {
            "rows" => Cut::Rows(rest.split(' ').collect()),
            "first" => Cut::First(number()),
            "until" => Cut::Until(rest),
            _ => {
                let part = match word {
                    "screen" => Part::Screen,
                    "file" => Part::File(rest),
                    id if rest.is_empty() => Part::Table { id, columns: usize::MAX },
                    id => Part::Table { id, columns: number() },
                };
                parts.push((part, Vec::new()));
                continue;
            }
        };
        parts.last_mut().expect("a part to cut").1.push(cut);
    }
    parts
}

fn cut_table(mut table: Table, columns: usize, cuts: &[Cut<'_>]) -> String {
    table.columns.truncate(columns);
    table.rows.iter_mut().for_each(|row| row.truncate(columns));
    let all = table.rows.len();
    let mut left = None;
    for cut in cuts {
        match cut {
            Cut::Rows(wanted) => table
                .rows
                .retain(|row| row[0].as_ref().is_some_and(|it| wanted.contains(&it.as_str()))),
            Cut::First(count) => {
                table.rows.truncate(*count);
                left = all.checked_sub(*count).filter(|it| *it > 0);
            }
            Cut::Until(_) => panic!("`until` cuts text"),
        }
    }
    let more = left.map_or_else(String::new, |left| format!("(and {left} more)\n"));
    text::table(&table) + &more
}

fn cut_text(text: &str, cuts: &[Cut<'_>]) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    for cut in cuts {
        match cut {
            Cut::First(count) => lines.truncate(*count),
            Cut::Until(text) => {
                let end = lines.iter().position(|it| it.starts_with(text));
                lines.truncate(end.unwrap_or_else(|| panic!("no line begins with `{text}`")));
            }
            Cut::Rows(_) => panic!("`rows` are of a table"),
        }
    }
    lines.join("\n")
}

/// Returns what a note says that the page shows of a command.
pub fn shown(note: &str, done: &Done) -> Vec<String> {
    let mut lines = Vec::new();
    for (part, cuts) in parse(note) {
        let text = match part {
            Part::Screen => cut_text(done.screen(), &cuts),
            Part::File(name) => cut_text(&done.file(name), &cuts),
            Part::Table { id, columns } => {
                let report: Report = serde_json::from_str(done.json()).expect("a report");
                let table = report.tables.into_iter().find(|it| it.id == id);
                let table = table.unwrap_or_else(|| panic!("{}: no table {id}", done.command));
                cut_table(table, columns, &cuts)
            }
        };
        lines.extend(text.trim_end().lines().map(|it| it.trim_end().to_string()));
        lines.push(String::new());
    }
    lines.pop();
    lines
}

/// Stands for lines that are left out.
const LEFT_OUT: &str = "…";

/// Returns the lines as the output has them now: all of it, or, where the page leaves lines out, those that
/// differ from the page's in digits alone. `None` where they are not found.
pub fn renewed(page: &[String], out: &str) -> Option<Vec<String>> {
    let out: Vec<&str> = out.trim_end().lines().map(str::trim_end).collect();
    let is_gap = |line: &String| line.trim() == LEFT_OUT;
    if !page.iter().any(is_gap) {
        return Some(out.iter().map(ToString::to_string).collect());
    }
    let digits = |line: &str| -> String {
        line.chars().map(|it| if it.is_ascii_digit() { '0' } else { it }).collect()
    };
    let mut lines = Vec::new();
    let mut from = 0;
    for part in page.split_inclusive(is_gap) {
        let gap = part.last().filter(|it| is_gap(it));
        let part = &part[..part.len() - usize::from(gap.is_some())];
        let is_there = |at: &usize| {
            out[*at..].len() >= part.len() && part.iter().zip(&out[*at..]).all(|(a, b)| a == b)
        };
        let is_like = |at: &usize| part.first().is_none_or(|it| digits(it) == digits(out[*at]));
        let at = (from..out.len()).find(is_there).or_else(|| (from..out.len()).find(is_like))?;
        let until = at + part.len();
        lines.extend(out.get(at..until)?.iter().map(ToString::to_string));
        lines.extend(gap.cloned());
        from = until;
    }
    Some(lines)
}

#[test]
fn lines_that_a_page_leaves_out_may_change() {
    let page = |text: &str| text.lines().map(String::from).collect::<Vec<_>>();
    let shown = page("head\n…\nloss 5 %\ntime 3\n…");
    assert_eq!(renewed(&shown, "head\nx\nloss 5 %\ntime 3\nend").unwrap(), shown);
    let changed = renewed(&shown, "head\ny\nloss 7 %\ntime 4\nend").unwrap();
    assert_eq!(changed, page("head\n…\nloss 7 %\ntime 4\n…"));
    assert_eq!(renewed(&shown, "head\ny\nlost 7 %\nend"), None);
    assert_eq!(renewed(&page("a"), "b\nc").unwrap(), page("b\nc"));
}

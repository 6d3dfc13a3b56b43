//! Plain text: aligned tables that read without colour.

use super::glance::Screen;
use super::{GAP, blocks, tame, width, wrap};
use espbench_measure::report::Report;
use espbench_measure::table::{Align, Table};
use espbench_model::speech::{self, Asker};
use std::fmt::Write as _;

/// A column of words is not made narrower than this to let the table fit.
const WORDS: usize = 20;

/// Where a table is continued below anyway, its columns of words keep this part of the line.
const WIDE_WORDS: (usize, usize) = (44, 96);

/// Renders the report as text.
#[must_use]
pub fn render(report: &Report) -> String {
    render_on(report, Screen::default())
}

/// Renders the report as text, for a screen. Tables that are wider are continued below, with their first column again.
#[must_use]
pub fn render_on(report: &Report, screen: Screen) -> String {
    let mut out = String::new();
    let paragraph = |out: &mut String, indent: &str, text: &str| {
        for line in wrap(text, screen.width() - indent.len()) {
            let _ = writeln!(out, "{indent}{line}");
        }
    };
    let title = format!("espbench report: {}", tame(&report.run.name));
    let _ = writeln!(out, "{title}\n{}", "=".repeat(width(&title)));
    let summary = tame(&report.run.sentence());
    paragraph(&mut out, "", &summary);
    for line in report.headlines() {
        paragraph(&mut out, "! ", &line);
    }
    // Pages of empty tables say less than the cause alone.
    let sections = if report.has_only_causes() { Vec::new() } else { report.sections() };
    for section in sections {
        let _ =
            writeln!(out, "\n\n{}\n{}", section.title, "-".repeat(section.title.chars().count()));
        for t in &section.tables {
            out.push('\n');
            if t.full_title() != section.title {
                paragraph(&mut out, "", &t.full_title());
            }
            if t.is_folded() {
                let _ = writeln!(out, "  ({} rows: see the page or JSON)", t.rows.len());
            } else {
                out.push_str(&table_on(t, screen));
            }
            for note in &t.notes {
                paragraph(&mut out, "  ", note);
            }
        }
    }
    // What was read from a log is in no store; a caller has the report.
    if !report.run.plan_name.is_empty() && speech::asker() == Asker::Terminal {
        let _ = writeln!(out, "\nDraw it again: espbench report {}", tame(&report.run.name));
    }
    out
}

/// One column, ready to be printed.
struct Column {
    align: Align,
    width: usize,
    head: Vec<String>,
    cells: Vec<Vec<String>>,
}

impl Column {
    /// Returns a column as narrow as its longest head word and its texts, wrapped at `limit`,
    /// allow.
    fn new(table: &Table, at: usize, limit: usize) -> Self {
        let column = &table.columns[at];
        let cells: Vec<Vec<String>> =
            table.rows.iter().map(|row| wrap(row[at].as_deref().unwrap_or("-"), limit)).collect();
        let body = cells.iter().flatten().map(|l| width(l)).max().unwrap_or(0);
        let word = column.head().split(' ').map(width).max().unwrap_or(0);
        let head = wrap(&column.head(), body.max(word));
        let widest = head.iter().map(|l| width(l)).max().unwrap_or(0).max(body);
        Self { align: column.align, width: widest, head, cells }
    }

    fn line(&self, texts: &[String], at: usize) -> String {
        let text = texts.get(at).map_or("", String::as_str);
        let pad = " ".repeat(self.width.saturating_sub(width(text)));
        match self.align {
            Align::Left => format!("{text}{pad}"),
            Align::Right => format!("{pad}{text}"),
        }
    }
}

/// Renders the table as lines of text.
#[must_use]
pub fn table(table: &Table) -> String {
    table_on(table, Screen::default())
}

/// Renders the table as lines of text, for a screen.
#[must_use]
pub fn table_on(table: &Table, screen: Screen) -> String {
    table_within(table, screen.width())
}

/// Renders the table as lines of at most that many characters.
pub(super) fn table_within(table: &Table, most: usize) -> String {
    let mut columns = columns(table, most);
    let used = columns.iter().map(|c| c.width + GAP).sum::<usize>();
    if used > most + GAP {
        let words = most * WIDE_WORDS.0 / WIDE_WORDS.1;
        columns = (0..table.columns.len()).map(|i| Column::new(table, i, words)).collect();
    }
    let mut out = String::new();
    let widths: Vec<usize> = columns.iter().map(|it| it.width).collect();
    for (i, block) in blocks(&widths, 1, most).iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let block: Vec<&Column> = block.iter().map(|at| &columns[*at]).collect();
        draw(&mut out, &block, table.rows.len());
    }
    out
}

/// Returns the columns; those of words are narrowed, the widest first, while the table is too wide.
fn columns(table: &Table, most: usize) -> Vec<Column> {
    let mut columns: Vec<Column> =
        (0..table.columns.len()).map(|i| Column::new(table, i, most)).collect();
    loop {
        let used = columns.iter().map(|c| c.width + GAP).sum::<usize>();
        let words = columns.iter().enumerate().filter(|(_, c)| c.align == Align::Left);
        match words.max_by_key(|(_, c)| c.width).map(|(i, c)| (i, c.width)) {
            Some((i, width)) if used > most + GAP && width > WORDS => {
                let limit = width.saturating_sub(used - most - GAP).max(width * 3 / 4).max(WORDS);
                columns[i] = Column::new(table, i, limit);
                if columns[i].width >= width {
                    return columns;
                }
            }
            _ => return columns,
        }
    }
}

fn draw(out: &mut String, columns: &[&Column], rows: usize) {
    let gap = " ".repeat(GAP);
    let mut line = |texts: Vec<String>| {
        out.push_str(texts.join(&gap).trim_end());
        out.push('\n');
    };
    let heads = columns.iter().map(|c| c.head.len()).max().unwrap_or(0);
    for i in 0..heads {
        // Heads stand on the rule: short ones begin lower.
        let part = |c: &&Column| match (i + c.head.len()).checked_sub(heads) {
            Some(at) => c.line(&c.head, at),
            None => " ".repeat(c.width),
        };
        line(columns.iter().map(part).collect());
    }
    line(columns.iter().map(|c| "-".repeat(c.width)).collect());
    for row in 0..rows {
        let height = columns.iter().map(|c| c.cells[row].len()).max().unwrap_or(0);
        for i in 0..height {
            line(columns.iter().map(|c| c.line(&c.cells[row], i)).collect());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_wrap_and_long_ones_are_cut() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefghij", 4), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("", 4), [""]);
        assert_eq!(wrap("a\u{1b}[2Jb\nc", 40), ["a\u{fffd}[2Jb c"]);
    }
}

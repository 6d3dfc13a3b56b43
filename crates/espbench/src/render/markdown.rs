//! Markdown with GitHub's tables.

use super::tame;
use espbench_measure::report::{Report, TEXT_MARK};
use espbench_measure::table::{Align, Table};
use std::fmt::Write as _;

/// Renders the report as Markdown. Figures stand as their words.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{TEXT_MARK}\n# espbench report: {}\n", escape(&report.run.name));
    let _ = writeln!(out, "{}.\n", escape(&capitalized(&report.run.sentence())));
    for line in report.headlines() {
        let _ = writeln!(out, "> **{}**\n", escape(&line));
    }
    for section in report.sections() {
        let _ = writeln!(out, "## {}\n", section.title);
        for t in &section.tables {
            if t.full_title() != section.title {
                let _ = writeln!(out, "### {}\n", escape(&t.full_title()));
            }
            write_table(&mut out, t);
        }
        for figure in &section.figures {
            let _ = writeln!(out, "- *{}*: {}", escape(&figure.full_title()), escape(&figure.alt));
        }
        if !section.figures.is_empty() {
            out.push('\n');
        }
    }
    out
}

/// Renders one table alone.
#[must_use]
pub fn table(table: &Table) -> String {
    let mut out = String::new();
    write_table(&mut out, table);
    out
}

fn write_table(out: &mut String, table: &Table) {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    out.push_str(&line(table.columns.iter().map(|c| escape(&c.head())).collect()));
    let rule = |align| match align {
        Align::Left => ":---".to_string(),
        Align::Right => "---:".to_string(),
    };
    out.push_str(&line(table.columns.iter().map(|c| rule(c.align)).collect()));
    for row in &table.rows {
        let cell = |c: &Option<String>| c.as_deref().map_or_else(|| "–".to_string(), escape);
        out.push_str(&line(row.iter().map(cell).collect()));
    }
    out.push('\n');
    for note in &table.notes {
        let _ = writeln!(out, "{}\n", escape(note));
    }
}

/// Escapes what Markdown, GitHub's tables or HTML would read as more than text (GitHub Flavored
/// Markdown Spec 2.4: any ASCII punctuation may be escaped with a backslash; 4.10 for the bar).
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in tame(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\\' | '|' | '*' | '_' | '`' | '[' | ']' | '~' | '#' | '!' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn capitalized(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map_or_else(String::new, |c| c.to_uppercase().chain(chars).collect())
}

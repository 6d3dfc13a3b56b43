//! Checks of an sdkconfig, drawn.

use super::{markdown, tame, text, wrap};
use espbench_measure::tune::check::{Checked, Finding, SettingChange};
use std::fmt::Write as _;

/// Most characters of a line.
const WIDTH: usize = 96;

/// Returns the line to write for a change, and a note of the old value and the heap it takes.
fn change(change: &SettingChange) -> (String, String) {
    let SettingChange { name, from, to, heap_bytes } = change;
    let heap = match heap_bytes {
        -511..=511 => String::new(),
        bytes => format!(", {:+.1} KB of heap", *bytes as f64 / 1024.0),
    };
    (format!("{name}={to}"), format!("now {from}{heap}"))
}

/// Returns the sentence that names the chip, the release and the traffic that were checked.
fn head(checked: &Checked) -> String {
    let Checked { chip, release, streams, rtt_ms, .. } = checked;
    let streams = match streams {
        1 => "1 TCP stream".into(),
        n => format!("{n} TCP streams"),
    };
    format!("{chip}, ESP-IDF {release}, {streams}, round trip {rtt_ms} ms. {}", checked.sentence())
}

/// Renders the check as text.
#[must_use]
pub fn check_text(checked: &Checked) -> String {
    let mut out = String::new();
    let title = format!("espbench tune --check {}", tame(&checked.file));
    let _ = writeln!(out, "{title}\n{}", "=".repeat(title.chars().count()));
    let mut paragraph = |indent: &str, text: &str| {
        for line in wrap(text, WIDTH - indent.len()) {
            let _ = writeln!(out, "{indent}{line}");
        }
    };
    paragraph("", &head(checked));
    for Finding { severity, what, why, set, .. } in &checked.findings {
        paragraph("", "");
        paragraph("", &format!("{}: {what}", severity.name().to_uppercase()));
        paragraph("    ", why);
        for (line, note) in set.iter().map(change) {
            paragraph("    ", &format!("-> {line}   ({note})"));
        }
    }
    for table in &checked.tables {
        let _ = write!(out, "\n{}\n{}", table.title, text::table(table));
        for line in table.notes.iter().flat_map(|note| wrap(note, WIDTH - 2)) {
            let _ = writeln!(out, "  {line}");
        }
    }
    out
}

/// Renders the check as Markdown.
#[must_use]
pub fn check_markdown(checked: &Checked) -> String {
    let mut out = String::new();
    let escape = markdown::escape;
    let _ = writeln!(out, "# espbench tune --check {}\n", escape(&checked.file));
    let _ = writeln!(out, "{}\n", escape(&head(checked)));
    for Finding { severity, what, why, set, .. } in &checked.findings {
        let _ = writeln!(out, "- **{}**: {}  ", severity.name(), escape(what));
        let _ = writeln!(out, "  {}", escape(why));
        for (line, note) in set.iter().map(change) {
            let _ = writeln!(out, "  - `{line}` ({note})");
        }
    }
    for table in &checked.tables {
        let _ = write!(out, "\n## {}\n\n{}", escape(&table.title), markdown::table(table));
    }
    out
}

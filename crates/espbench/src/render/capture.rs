//! The answer of a capture, for a terminal.

use super::glance::{Colours, Screen};
use super::{tame, text, wrap};
use espbench_capture::answer::answer;
use espbench_capture::document::CaptureDocument;
use espbench_measure::table::Table;
use espbench_model::text as words;
use std::fmt::Write as _;

/// Most lines without tables, which several captures share.
const LINES: usize = 25;

/// Renders the answer, and these tables behind it; without tables in 25 lines.
#[must_use]
pub fn text(document: &CaptureDocument, tables: &[Table], count: usize, screen: Screen) -> String {
    let Colours { title, faint, .. } = Colours::new(screen.coloured);
    let width = screen.width();
    let room = ((LINES + 1) / count.max(1)).saturating_sub(1).max(2);
    let mut lines = Vec::new();
    for (at, sentence) in answer(document).iter().enumerate() {
        let sentence = tame(sentence);
        if at == 0 {
            lines.extend(wrap(&sentence, width).iter().map(|it| format!("{title}{it}{title:#}")));
            continue;
        }
        for (at, line) in wrap(&sentence, width.saturating_sub(4)).into_iter().enumerate() {
            lines.push(format!("{}{line}", if at == 0 { "  " } else { "    " }));
        }
    }
    if tables.is_empty() && lines.len() > room {
        let hidden = lines.len() + 1 - room;
        lines.truncate(room - 1);
        lines.push(format!("  {faint}{} with --full{faint:#}", words::count(hidden, "more line")));
    }
    let mut out = lines.join("\n") + "\n";
    for it in tables {
        let _ = writeln!(out, "\n{}\n{}", tame(&it.title), text::table_within(it, width));
        for note in &it.notes {
            let _ = writeln!(out, "  {}", wrap(note, width.saturating_sub(2)).join("\n  "));
        }
    }
    out
}

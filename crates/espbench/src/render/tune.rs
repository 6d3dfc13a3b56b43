//! Checks of an sdkconfig and searches of settings, drawn.

use super::glance::{Colours, Screen};
use super::{markdown, tame, text, width, wrap};
use espbench_measure::cell::Origin;
use espbench_measure::report::TEXT_MARK;
use espbench_measure::table::Table;
use espbench_measure::tune::TuneCard;
use espbench_measure::tune::check::{Checked, Finding, LIMITS_TITLE, MENDED, SettingChange};
use espbench_measure::tune::limit;
use espbench_model::text::count;
use std::fmt::Write as _;

/// Returns the line to write for a change, and a note of the old value and the heap it takes.
fn change(change: &SettingChange) -> (String, String) {
    let SettingChange { name, from, to, heap_bytes } = change;
    let heap = match heap_bytes {
        -511..=511 => String::new(),
        bytes => format!(", {:+.1} KB of heap", *bytes as f64 / 1024.0),
    };
    (format!("{name}={to}"), format!("now {from}{heap}"))
}

/// Most lines of a first screen.
const LINES: usize = 25;

/// Warnings of the first screen.
const WARNINGS: usize = 4;

/// Returns the sentence that names the chip, the release and the traffic that were checked.
fn head(checked: &Checked) -> String {
    format!("{}. {}", checked.head(), checked.sentence())
}

/// Renders the first screen of a check or a search: the verdict, what to change, figures with
/// intervals, the limits. `more` says where the rest is.
#[must_use]
pub fn first_screen(card: &TuneCard, origin: Option<Origin>, more: &str, screen: Screen) -> String {
    let (colours, columns) = (Colours::new(screen.coloured), screen.width());
    let mut page = Lines { out: title(&card.verdict, origin, colours, columns), colours, columns };
    page.wrapped("", &card.context);
    page.wrapped("", card.advice.as_deref().unwrap_or_default());
    for change in card.change_sentences() {
        page.wrapped("Change", &change);
    }
    for warning in card.warnings.iter().take(WARNINGS) {
        page.wrapped("!", warning);
    }
    if card.has_wants() {
        for limit in card.limit_sentences() {
            page.wrapped("Limited by", &limit);
        }
    }
    let mut tail = Lines { out: String::from("\n"), colours, columns };
    for note in &card.notes {
        tail.wrapped("", note);
    }
    let faint = colours.faint;
    for line in wrap(more, columns) {
        let _ = writeln!(tail.out, "{faint}{line}{faint:#}");
    }
    fitted(page.out, card.short_table(), &tail.out, columns)
}

/// Lines of a first screen.
struct Lines {
    out: String,
    colours: Colours,
    columns: usize,
}

impl Lines {
    /// Writes a text behind a mark, in as many lines as it takes, the further ones indented.
    fn wrapped(&mut self, mark: &str, text: &str) {
        if text.is_empty() {
            return;
        }
        let room = self.columns - 2 - width(mark);
        for (number, line) in wrap(text, room).into_iter().enumerate() {
            let style = if mark == "!" { self.colours.warning } else { self.colours.faint };
            let _ = match (number, mark) {
                (0, "") => writeln!(self.out, "{line}"),
                (0, mark) => writeln!(self.out, "{style}{mark}{style:#} {line}"),
                _ => writeln!(self.out, "  {line}"),
            };
        }
    }
}

/// Returns the first lines: a title, and whether figures are simulated.
fn title(text: &str, origin: Option<Origin>, colours: Colours, columns: usize) -> String {
    let badge = origin.map_or_else(String::new, |it| it.name().to_uppercase());
    let room = columns - if badge.is_empty() { 0 } else { badge.len() + 2 };
    let lines = wrap(text, room);
    let Colours { title, warning, .. } = colours;
    let mut out = String::new();
    for (number, line) in lines.iter().enumerate() {
        let _ = write!(out, "{title}{line}{title:#}");
        if number == 0 && !badge.is_empty() {
            let pad = " ".repeat(columns - width(line) - badge.len());
            let _ = write!(out, "{pad}{warning}{badge}{warning:#}");
        }
        out.push('\n');
    }
    out
}

/// Returns a screen of [`LINES`] lines at most. A table that does not fit loses its last rows, or is left
/// out.
fn fitted(mut out: String, table: Option<Table>, tail: &str, columns: usize) -> String {
    if let Some(mut table) = table {
        let left = LINES.saturating_sub(out.lines().count() + tail.lines().count() + 1);
        let (all, mut drawn) = (table.rows.len(), text::table_within(&table, columns));
        while drawn.lines().count() > left && !table.rows.is_empty() {
            table.rows.pop();
            drawn = text::table_within(&table, columns)
                + &format!("(and {})\n", count(all - table.rows.len(), "more row"));
        }
        if !table.rows.is_empty() {
            let _ = write!(out, "\n{drawn}");
        }
    }
    trimmed(&(out + tail))
}

/// Returns a text without spaces at the ends of its lines.
fn trimmed(text: &str) -> String {
    text.lines().map(|it| format!("{}\n", it.trim_end())).collect()
}

/// Returns the lines that a check advises, for a file.
#[must_use]
pub fn advice_fragment(checked: &Checked) -> String {
    let mut out = String::new();
    for line in [Some(checked.head()), checked.advised()].into_iter().flatten() {
        let _ = writeln!(out, "# {}", tame(&line));
    }
    for change in checked.advice.iter().flat_map(|it| &it.set) {
        let _ = writeln!(out, "{}", change.line);
    }
    out
}

/// Renders the check as text.
#[must_use]
pub fn check_text(checked: &Checked, screen: Screen) -> String {
    let mut out = String::new();
    let title = format!("espbench tune --check {}", tame(&checked.file));
    let _ = writeln!(out, "{title}\n{}", "=".repeat(title.chars().count()));
    let mut paragraph = |indent: &str, text: &str| {
        for line in wrap(text, screen.width() - indent.len()) {
            let _ = writeln!(out, "{indent}{line}");
        }
    };
    paragraph("", &head(checked));
    for line in core::iter::once(checked.verdict()).chain(checked.advised()) {
        paragraph("", "");
        paragraph("", &line);
    }
    if let Some(table) = limit::table(&checked.limits, LIMITS_TITLE) {
        let _ = write!(out, "\n{}\n{}", table.title, text::table_on(&table, screen));
        for line in table.notes.iter().flat_map(|note| wrap(note, screen.width() - 2)) {
            let _ = writeln!(out, "  {line}");
        }
    }
    let mut paragraph = |indent: &str, text: &str| {
        for line in wrap(text, screen.width() - indent.len()) {
            let _ = writeln!(out, "{indent}{line}");
        }
    };
    for Finding { severity, what, why, set, mended, .. } in &checked.findings {
        paragraph("", "");
        paragraph("", &format!("{}: {what}", severity.name().to_uppercase()));
        paragraph("    ", why);
        for (line, note) in set.iter().map(change) {
            paragraph("    ", &format!("-> {line}   ({note})"));
        }
        if *mended {
            paragraph("    ", &format!("-> or nothing more: {MENDED}"));
        }
    }
    for table in &checked.tables {
        let _ = write!(out, "\n{}\n{}", table.title, text::table_on(table, screen));
        for line in table.notes.iter().flat_map(|note| wrap(note, screen.width() - 2)) {
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
    let _ = writeln!(out, "{TEXT_MARK}\n# espbench tune --check {}\n", escape(&checked.file));
    let _ = writeln!(out, "{}\n", escape(&head(checked)));
    for line in core::iter::once(checked.verdict()).chain(checked.advised()) {
        let _ = writeln!(out, "{}\n", escape(&line));
    }
    if let Some(table) = limit::table(&checked.limits, LIMITS_TITLE) {
        let _ = writeln!(out, "{}", markdown::table(&table));
    }
    for Finding { severity, what, why, set, mended, .. } in &checked.findings {
        let _ = writeln!(out, "- **{}**: {}  ", severity.name(), escape(what));
        let _ = writeln!(out, "  {}", escape(why));
        for (line, note) in set.iter().map(change) {
            let _ = writeln!(out, "  - `{line}` ({note})");
        }
        if *mended {
            let _ = writeln!(out, "  - or nothing more: {MENDED}");
        }
    }
    for table in &checked.tables {
        let _ = write!(out, "\n## {}\n\n{}", escape(&table.title), markdown::table(table));
    }
    out
}

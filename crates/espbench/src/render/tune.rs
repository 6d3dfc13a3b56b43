//! Checks of an sdkconfig and searches of settings, drawn.

use super::{markdown, tame, text, wrap};
use espbench_measure::table::Table;
use espbench_measure::tune::TuneAnswer;
use espbench_measure::tune::answer::power;
use espbench_measure::tune::check::{Checked, Finding, LIMITS_TITLE, SettingChange, Severity};
use espbench_measure::tune::limit;
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

/// Most lines of a first screen.
const LINES: usize = 25;

/// Findings of the first screen, and characters of each.
const FINDINGS: usize = 4;

/// Returns the sentence that names the chip, the release and the traffic that were checked.
fn head(checked: &Checked) -> String {
    format!("{}. {}", checked.head(), checked.sentence())
}

/// Writes a text in as many lines as it takes, the further ones indented.
fn wrapped(out: &mut String, text: &str) {
    for (number, line) in wrap(text, WIDTH - 2).into_iter().enumerate() {
        let indent = if number == 0 { "" } else { "  " };
        let _ = writeln!(out, "{indent}{line}");
    }
}

/// Returns the first line: a title, and that figures are simulated.
fn title(text: &str) -> String {
    let badge = "SIMULATED";
    let room = WIDTH - badge.len() - 2;
    let lines = wrap(text, room);
    let (last, first) = lines.split_last().map_or(("", &[][..]), |it| (it.0, it.1));
    let mut out: String = first.iter().map(|it| format!("{it}\n")).collect();
    let _ = writeln!(out, "{last:room$}  {badge}");
    out
}

/// Renders the first screen of a check: the verdict, the bottleneck, what to change.
#[must_use]
pub fn check_short(checked: &Checked) -> String {
    let file = tame(&checked.file);
    let mut out = match checked.place {
        Some(_) => title(&format!("{file}: {}", checked.verdict())),
        None => format!("{file}: {}\n", checked.verdict()),
    };
    let place = checked.place.as_ref().map(|it| format!("; {it}")).unwrap_or_default();
    wrapped(&mut out, &format!("{}{place}", checked.head()));
    if let Some(advice) = checked.advised() {
        wrapped(&mut out, &advice);
    }
    let wrong: Vec<&Finding> =
        checked.findings.iter().filter(|it| it.severity == Severity::Wrong).collect();
    let mut tail = String::from("\n");
    for Finding { what, set, .. } in wrong.iter().take(FINDINGS) {
        let fix = set.first().map(|it| format!(": {}={}", it.name, it.to)).unwrap_or_default();
        wrapped(&mut tail, &format!("! {what}{fix}"));
    }
    if let Some(left) = &checked.heap_left {
        let [idle, busy, peak] = [left.idle, left.busy, left.peak].map(|it| it as f64 / 1024.0);
        let heap = format!(
            "Heap left (model): {idle:.0} KB idle, {busy:.0} KB at the busiest, {peak:.0} KB with all \
             buffers full"
        );
        wrapped(&mut tail, &heap);
    }
    let more = checked.findings.len() - wrong.len().min(FINDINGS);
    let _ = writeln!(tail, "{more} more findings, ranks and memory: --full, or -o FILE.html");
    fitted(out, limit::table(&checked.limits, LIMITS_TITLE), &tail)
}

/// Returns a screen of [`LINES`] lines at most. A table that does not fit loses its last rows; one
/// without any is left out.
fn fitted(mut out: String, tables: impl IntoIterator<Item = Table>, tail: &str) -> String {
    for mut table in tables {
        let left = LINES.saturating_sub(out.lines().count() + tail.lines().count() + 1);
        let (all, mut drawn) = (table.rows.len(), text::table(&table));
        while drawn.lines().count() > left && !table.rows.is_empty() {
            table.rows.pop();
            drawn = text::table(&table) + &format!("(and {} more)\n", all - table.rows.len());
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

/// Renders the first screen of a search: the verdict, figures with intervals, what to change.
#[must_use]
pub fn answer_text(answer: &TuneAnswer) -> String {
    let mut out = title(&answer.verdict());
    let streams = match answer.streams {
        1 => "1 TCP stream".into(),
        n => format!("{n} TCP streams"),
    };
    let (context, rtt) = (&answer.context, answer.rtt.words());
    wrapped(
        &mut out,
        &format!(
            "{}, ESP-IDF {}, {streams}, {rtt}; {}",
            context.chip, context.release, answer.place
        ),
    );
    for line in answer.shortfalls() {
        wrapped(&mut out, &format!("! {line}"));
    }
    let mut tail = String::from("\n");
    if let Some(best) = &answer.recommended {
        wrapped(&mut tail, power(best.candidate.power));
    }
    let stopped = if answer.stopped { " It was stopped before its end." } else { "" };
    wrapped(&mut tail, &format!("{}{stopped}", answer.effort()));
    let last =
        "All settings that were tried: --full, or -o FILE.html; lines for a file: --fragment FILE";
    let _ = writeln!(tail, "{last}");
    fitted(out, answer.short_tables(), &tail)
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
    for line in core::iter::once(checked.verdict()).chain(checked.advised()) {
        paragraph("", "");
        paragraph("", &line);
    }
    if let Some(table) = limit::table(&checked.limits, LIMITS_TITLE) {
        let _ = write!(out, "\n{}\n{}", table.title, text::table(&table));
        for line in table.notes.iter().flat_map(|note| wrap(note, WIDTH - 2)) {
            let _ = writeln!(out, "  {line}");
        }
    }
    let mut paragraph = |indent: &str, text: &str| {
        for line in wrap(text, WIDTH - indent.len()) {
            let _ = writeln!(out, "{indent}{line}");
        }
    };
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
    for line in core::iter::once(checked.verdict()).chain(checked.advised()) {
        let _ = writeln!(out, "{}\n", escape(&line));
    }
    if let Some(table) = limit::table(&checked.limits, LIMITS_TITLE) {
        let _ = writeln!(out, "{}", markdown::table(&table));
    }
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

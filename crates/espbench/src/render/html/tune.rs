//! The card of an answer about settings: what to change, what it yields, what it costs, and what limits
//! the link.

use super::escape;
use espbench_measure::report::GlanceValue;
use espbench_measure::tune::TuneCard;
use espbench_measure::tune::card::{TuneFigure, parts};
use std::fmt::Write as _;

/// Draws the card.
pub(super) fn draw(out: &mut String, card: &TuneCard) {
    out.push_str("<div class=\"card\">\n<ul class=\"verdict\">");
    let _ = write!(out, "<li class=\"note\">{}</li>", escape(&card.context));
    for warning in &card.warnings {
        let _ = write!(out, "<li><b>!</b> {}</li>", escape(warning));
    }
    match &card.advice {
        Some(advice) => {
            let _ = write!(out, "<li>{}</li>", whole(advice));
        }
        None => {
            for change in card.change_sentences() {
                let _ = write!(out, "<li><b>Change</b> {}</li>", whole(&change));
            }
        }
    }
    for limit in card.limit_sentences() {
        let _ = write!(out, "<li><b>Limited by</b> {}</li>", whole(&limit));
    }
    out.push_str("</ul>\n");
    figures(out, card);
    for note in &card.notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(note));
    }
    out.push_str("</div>\n");
}

/// Escapes a sentence in which no interval breaks: a space after a comma within brackets is one that does not.
fn whole(sentence: &str) -> String {
    let mut inside = false;
    let unbroken = |c: char| {
        inside = (inside || c == '[') && c != ']';
        if inside && c == ' ' { '\u{a0}' } else { c }
    };
    escape(&sentence.chars().map(unbroken).collect::<String>())
}

/// Draws the figures before and after.
fn figures(out: &mut String, card: &TuneCard) {
    if card.figures.is_empty() {
        return;
    }
    let columns = if card.has_wants() { 4 } else { 3 };
    out.push_str(
        "<div class=\"scroll\"><table class=\"glance\" aria-label=\"Before and after\"><thead><tr>",
    );
    for (at, head) in card.heads().into_iter().take(columns).enumerate() {
        let class = if at == 0 { "" } else { " class=\"r\"" };
        let _ = write!(out, "<th scope=\"col\"{class}>{}</th>", escape(head));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in &card.figures {
        figure(out, row, columns);
    }
    out.push_str("</tbody></table></div>\n");
}

fn figure(out: &mut String, row: &TuneFigure, columns: usize) {
    let name = format!("{} ({})", row.metric.words(), row.metric.unit());
    let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape(&name));
    let wanted = row.wanted_words().map(|it| escape(&it));
    let texts = [row.before.as_ref().map(value), row.after.as_ref().map(value), wanted];
    for text in texts.into_iter().take(columns - 1) {
        let _ = write!(out, "<td class=\"r\">{}</td>", text.unwrap_or_else(|| "–".into()));
    }
    out.push_str("</tr>\n");
}

/// Writes a value with its interval below it.
fn value(it: &GlanceValue) -> String {
    match parts(it) {
        (value, Some(interval)) => {
            format!("{} <small>{}</small>", escape(&value), escape(&interval))
        }
        (value, None) => escape(&value),
    }
}

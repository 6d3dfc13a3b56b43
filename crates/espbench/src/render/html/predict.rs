//! The card of a prediction: verdict, figures, what limits them, and what to change.

use super::super::predict::{
    chosen, columns, energy_lines, frame_columns, has_open_interval, limits,
};
use super::escape;
use espbench_measure::digits;
use espbench_measure::predict::Prediction;
use espbench_model::text::count;
use std::fmt::Write as _;

/// Rows of the card at most.
const ROWS: usize = 12;

/// Draws the card.
pub(super) fn draw(out: &mut String, card: &Prediction) {
    out.push_str("<div class=\"card\">\n<ul class=\"verdict\">");
    let mut line = |head: &str, text: &str| {
        let head =
            if head.is_empty() { String::new() } else { format!("<b>{}</b> ", escape(head)) };
        let _ = write!(out, "<li>{head}{}</li>", escape(text));
    };
    if let Some(verdict) = &card.verdict {
        line("", verdict);
    }
    if let Some(energy) = &card.energy {
        for (head, text) in energy_lines(energy) {
            line(head, &text);
        }
    }
    for (head, text) in limits(card) {
        line(head, &text);
    }
    if let Some(next) = &card.next {
        line("Next", next);
    }
    for warning in &card.warnings {
        line("Note", warning);
    }
    out.push_str("</ul>\n");
    rows(out, card);
    out.push_str("</div>\n");
}

fn rows(out: &mut String, card: &Prediction) {
    let shown = chosen(card, ROWS);
    let (heads, texts) = match card.rows.is_empty() {
        true => frame_columns(card),
        false => columns(card, &shown),
    };
    out.push_str(
        "<div class=\"scroll\"><table class=\"glance\" aria-label=\"Leading figures\"><thead><tr>",
    );
    for head in &heads {
        let _ = write!(out, "<th scope=\"col\">{}</th>", escape(head));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in &texts {
        out.push_str("<tr>");
        for (at, (text, interval)) in row.iter().enumerate() {
            let interval = interval.as_ref().map(|it| format!(" <small>{}</small>", escape(it)));
            let text = format!("{}{}", escape(text), interval.unwrap_or_default());
            let _ = match at {
                0 => write!(out, "<th scope=\"row\">{text}</th>"),
                _ => write!(out, "<td class=\"r\">{text}</td>"),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    if has_open_interval(card, &shown) {
        let _ = writeln!(out, "<p class=\"soft\">{}</p>", digits::ONE_END);
    }
    let more = card.rows.len() - shown.len();
    if more > 0 {
        let _ = writeln!(
            out,
            "<p class=\"note\">and {}: see the tables below</p>",
            count(more, "more row")
        );
    }
}

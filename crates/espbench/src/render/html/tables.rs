//! Tables with captions and scopes. Wide ones scroll inside the page; their first column stays.

use super::{escape, origin_class};
use espbench_measure::cell::Origin;
use espbench_measure::table::{Align, Column, Table};
use std::fmt::Write as _;

/// Draws a table; its title as a caption that is seen, or else only heard.
pub(super) fn draw(out: &mut String, table: &Table, seen: bool) {
    let id = escape(&table.id);
    let title = escape(&table.title);
    let caption =
        if seen { format!("<caption><span>{title}</span></caption>") } else { String::new() };
    let prose = is_prose(table);
    let class = if prose { "scroll prose" } else { "scroll" };
    let _ = write!(
        out,
        "<div class=\"{class}\" id=\"t-{id}\" role=\"region\" aria-label=\"{title}\" tabindex=\"0\">\
         <table aria-label=\"{title}\"{}{}>{caption}<thead><tr>",
        if table.row_origins.is_empty() { "" } else { " class=\"of\"" },
        super::origin(table.origin())
    );
    for column in &table.columns {
        let _ = write!(
            out,
            "<th scope=\"col\"{}>{}</th>",
            classes(column),
            escape(&column.short_head())
        );
    }
    out.push_str("</tr></thead><tbody>\n");
    for (number, row) in table.rows.iter().enumerate() {
        // What was published has its colour; what was found begins the lines of a figure.
        out.push_str(match table.row_origins.get(number).copied().flatten() {
            Some(Origin::Published) => "<tr class=\"pub\">",
            Some(Origin::Measured | Origin::Live | Origin::Simulated) => "<tr class=\"lead\">",
            None => "<tr>",
        });
        for (i, (column, text)) in table.columns.iter().zip(row).enumerate() {
            let shown = text.as_deref().map_or_else(unknown, escape);
            // On a phone each row of a table of words becomes a card, whose lines need their heads.
            let head = match text {
                Some(_) if prose => format!(" data-h=\"{}\"", escape(&column.short_head())),
                None if prose => " data-none".into(),
                _ => String::new(),
            };
            let _ = match i {
                0 => write!(out, "<th scope=\"row\"{}>{shown}</th>", classes(column)),
                _ => write!(out, "<td{}{head}>{shown}</td>", classes(column)),
            };
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    for note in &table.notes {
        let _ = writeln!(out, "<p class=\"note\">{}</p>", escape(note));
    }
}

/// Returns the cell of an unknown value: a dash to the eye, a word to a screen reader.
fn unknown() -> String {
    "<span aria-label=\"unknown\">–</span>".into()
}

fn classes(column: &Column) -> String {
    let align = if column.align == Align::Right { "r" } else { "" };
    let words: Vec<&str> =
        [align, origin_class(column.origin)].into_iter().filter(|w| !w.is_empty()).collect();
    if words.is_empty() { String::new() } else { format!(" class=\"{}\"", words.join(" ")) }
}

/// Sentences rather than numbers: such a table wraps instead of scrolling.
fn is_prose(table: &Table) -> bool {
    table.columns.iter().filter(|c| c.align == Align::Left).count() * 2 >= table.columns.len()
}

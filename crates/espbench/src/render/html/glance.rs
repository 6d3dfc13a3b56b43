//! The head of a page: what was found, on one card, with one chart; the rest is folded.

use super::super::figures::{figure, heads, leading, range};
use super::super::glance::{agreement, chosen};
use super::{beside, escape};
use crate::render::parts;
use espbench_measure::digits;
use espbench_measure::report::{GlanceGroup, GlanceRow, Report, Section};
use espbench_measure::table::unit_sign;
use espbench_model::text::count;
use std::fmt::Write as _;

/// Rows of the card at most.
const ROWS: usize = 8;

/// Points of a small chart at most.
const POINTS: usize = 24;

/// Size of a small chart.
const CHART: (f64, f64) = (220.0, 74.0);

/// Size of a row's histogram.
const HISTOGRAM: (f64, f64) = (90.0, 18.0);

/// Draws the card of the answer.
pub(super) fn draw(out: &mut String, report: &Report, sections: &[Section<'_>]) {
    match report.glance.as_slice() {
        [] => {}
        [only] => {
            out.push_str("<div class=\"card\">\n");
            sentences(out, only);
            if !report.beside.as_ref().is_some_and(|it| beside::draw(out, it, only)) {
                rows(out, only);
            }
            out.push_str("</div>\n");
        }
        several => match parts::together(several) {
            Some(one) => {
                out.push_str("<div class=\"card\">\n");
                sentences(out, &one);
                rows(out, &one);
                out.push_str("</div>\n");
            }
            None => suites(out, several, sections),
        },
    }
}

/// Draws the rows of one suite as a table.
fn rows(out: &mut String, group: &GlanceGroup) {
    let shown = chosen(group, ROWS);
    let heads = heads(&group.metrics);
    let alone = group.rows.len() == 1;
    out.push_str(
        "<div class=\"scroll\"><table class=\"glance\" aria-label=\"Leading figures\"><thead><tr>",
    );
    if !alone {
        out.push_str("<th scope=\"col\">cell</th>");
    }
    for head in &heads {
        let _ = write!(out, "<th scope=\"col\" class=\"r\">{}</th>", escape(head));
    }
    if let Some([low, high]) = group.axis_ms {
        let _ = write!(out, "<th scope=\"col\">{} ms</th>", range(low, high));
    }
    out.push_str("</tr></thead><tbody>\n");
    for row in &shown {
        out.push_str("<tr>");
        if !alone {
            let _ = write!(out, "<th scope=\"row\">{}</th>", escape(&row.place));
        }
        for value in &row.values {
            let (number, interval) = value.as_ref().map_or_else(|| ("–".into(), None), figure);
            let interval = interval.map_or_else(String::new, |it| format!(" <small>{it}</small>"));
            let _ = write!(out, "<td class=\"r\"><b>{number}</b>{interval}</td>");
        }
        if group.axis_ms.is_some() {
            let _ = write!(out, "<td>{}</td>", histogram(&row.histogram));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody></table></div>\n");
    let more = group.rows.len() - shown.len();
    if more > 0 {
        let more = count(more, "more cell");
        let _ = writeln!(out, "<p class=\"note\">and {more}: see the tables below</p>");
    }
}

/// Says how the figures stand to published ones, and to the theoretical limit.
fn sentences(out: &mut String, group: &GlanceGroup) {
    out.push_str("<ul class=\"verdict\">");
    if let Some(published) = &group.published {
        let text = agreement(published, group);
        let _ = write!(out, "<li><b>Against published</b> {}</li>", escape(&text));
    }
    for line in parts::battery(group) {
        let (head, text) = line.split_once(": ").unwrap_or(("", &line));
        let _ = write!(out, "<li><b>{}</b> {}</li>", escape(head), escape(text));
    }
    if let (Some(factor), Some(metric)) = (parts::to_limit(group), group.metrics.first()) {
        let _ = write!(
            out,
            "<li><b>Theoretical limit</b> {}: {factor} the limit</li>",
            escape(&metric.quantity),
        );
    }
    out.push_str("</ul>\n");
}

/// Draws a small chart for each suite: ours, published, limit. Each leads to its chapter.
fn suites(out: &mut String, groups: &[GlanceGroup], sections: &[Section<'_>]) {
    out.push_str(
        "<p class=\"key\"><span class=\"k o\">ours</span> <span class=\"k p\">published</span> \
         <span class=\"k l\">theoretical limit</span></p>\n<div class=\"suites\">\n",
    );
    for (group, name) in groups.iter().zip(parts::names(groups)) {
        let id = [&group.name, &group.kind]
            .into_iter()
            .find(|name| sections.iter().any(|section| section.id == name.as_str()));
        let (open, close) = match id {
            Some(id) => (format!("<a class=\"suite\" href=\"#{}\">", escape(id)), "</a>"),
            None => ("<div class=\"suite\">".to_string(), "</div>"),
        };
        let _ = writeln!(
            out,
            "{open}<strong>{}</strong><span>{}</span>{}<small>{}</small>{close}",
            escape(&name),
            escape(&leading(group)),
            chart(group),
            escape(&standing(group))
        );
    }
    out.push_str("</div>\n");
}

/// Says in a few words how a suite stands to published figures and to the limit.
fn standing(group: &GlanceGroup) -> String {
    let mut stands = Vec::new();
    if let Some((ratio, error)) = group.published.as_ref().and_then(|it| it.ratio.zip(it.error)) {
        stands.push(format!(
            "{} x published, median error {:.0} %",
            digits::ratio(ratio),
            100.0 * error
        ));
    }
    stands.extend(parts::to_limit(group).map(|it| format!("{it} the limit")));
    stands.join(" · ")
}

/// Draws the values of the leading metric over the cells, on a logarithmic axis.
fn chart(group: &GlanceGroup) -> String {
    let all: Vec<&GlanceRow> = group.rows.iter().filter(|row| value(row).is_some()).collect();
    let every = all.len().div_ceil(POINTS).max(1);
    let rows: Vec<&GlanceRow> = all.into_iter().step_by(every).collect();
    let numbers = || {
        rows.iter()
            .flat_map(|row| [drawn(row), row.published, row.limit])
            .flatten()
            .filter(|it| *it > 0.0)
    };
    let low = numbers().fold(f64::INFINITY, f64::min);
    let high = numbers().fold(0.0, f64::max);
    if low > high {
        return String::new();
    }
    let (width, height) = CHART;
    let span = (high / low).ln().max(0.2);
    let x = |at: usize| 6.0 + (width - 12.0) * (at as f64 + 0.5) / rows.len() as f64;
    let y = |it: f64| height - 6.0 - (height - 12.0) * ((it.max(low) / low).ln() / span);
    let unit = group.metrics.first().map_or("", |it| unit_sign(&it.unit));
    let label = format!("{}: {} to {} {unit}", group.name, range(low, low), range(high, high));
    let mut out = format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">",
        escape(&label)
    );
    for (at, row) in rows.iter().enumerate() {
        if let Some(limit) = row.limit.filter(|it| *it > 0.0) {
            let (x, y) = (x(at), y(limit));
            let _ = write!(out, "<path class=\"li\" d=\"M{:.1} {y:.1}h6\"/>", x - 3.0);
        }
        if let Some(published) = row.published.filter(|it| *it > 0.0) {
            let _ = write!(
                out,
                "<circle class=\"pu\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"3.4\"/>",
                x(at),
                y(published)
            );
        }
        if let Some(ours) = drawn(row).filter(|it| *it > 0.0) {
            let _ = write!(
                out,
                "<circle class=\"ou\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.4\"/>",
                x(at),
                y(ours)
            );
        }
    }
    out.push_str("</svg>");
    out
}

/// Returns the value of ours that is drawn: beside what a console printed, what ours printed.
fn drawn(row: &GlanceRow) -> Option<f64> {
    row.printed.or_else(|| value(row))
}

fn value(row: &GlanceRow) -> Option<f64> {
    row.values.first()?.as_ref().map(|it| it.value)
}

/// Draws the shares as bars.
fn histogram(shares: &[f64]) -> String {
    let largest = shares.iter().copied().fold(0.0, f64::max);
    if largest <= 0.0 {
        return String::new();
    }
    let (width, height) = HISTOGRAM;
    let bar = width / shares.len() as f64;
    let mut out = format!(
        "<svg class=\"hist\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\" aria-label=\"histogram\">"
    );
    for (at, share) in shares.iter().enumerate().filter(|(_, share)| **share > 0.0) {
        let tall = (height * share / largest).max(0.8);
        let _ = write!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{tall:.1}\"/>",
            at as f64 * bar,
            height - tall,
            bar - 1.0
        );
    }
    out.push_str("</svg>");
    out
}

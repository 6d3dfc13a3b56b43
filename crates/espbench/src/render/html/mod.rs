//! One HTML file that needs nothing else: no font and no picture from anywhere, and no script but
//! ours, which zooms timelines and is in the page only where there is one. A policy in the page
//! forbids the browser to fetch anything, and to run anything else.

mod figures;
mod tables;
mod timelines;

use super::tame;
use espbench_measure::cell::Origin;
use espbench_measure::report::Report;
use std::fmt::Write as _;

pub(super) const STYLE: &str = include_str!("style.css");

/// Content Security Policy Level 3: nothing but the style in the page and the empty icon.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// Returns whether the page has the script.
const fn is_live(report: &Report) -> bool {
    !report.timelines.is_empty()
}

/// Renders the report as one HTML file.
#[must_use]
pub fn render(report: &Report) -> String {
    let sections = report.sections();
    let mut out = String::with_capacity(1 << 18);
    head(&mut out, report);
    out.push_str("<nav aria-label=\"Contents\"><ul>");
    for section in &sections {
        let _ = write!(out, "<li><a href=\"#{0}\">{1}</a></li>", section.id, escape(section.title));
    }
    out.push_str("</ul></nav>\n<main>\n");
    for section in &sections {
        let _ = writeln!(
            out,
            "<section id=\"{0}\" aria-labelledby=\"{0}-h\"><h2 id=\"{0}-h\">{1}</h2>",
            section.id,
            escape(section.title)
        );
        figures::draw(&mut out, &section.figures);
        timelines::draw(&mut out, section.timelines);
        for table in &section.tables {
            if table.is_folded() {
                let (title, rows) = (escape(&table.title), table.rows.len());
                let _ = write!(out, "<details><summary>{title} ({rows} rows)</summary>");
                tables::draw(&mut out, table, false);
                out.push_str("</details>\n");
            } else {
                tables::draw(&mut out, table, table.title != section.title);
            }
        }
        if section.id == "run" {
            plan(&mut out, report);
        }
        out.push_str("</section>\n");
    }
    let _ = write!(
        out,
        "</main>\n<footer>{} · {} · drawn from the run’s raw samples · intervals are at 95 %</footer>\n",
        escape(&report.run.tool),
        escape(&report.schema)
    );
    if is_live(report) {
        let _ = writeln!(out, "<script>{}</script>", timelines::SCRIPT);
    }
    out.push_str("</body>\n</html>\n");
    out
}

/// Returns a page up to its body. `script` extends the usual content security policy.
pub(super) fn begin(title: &str, script: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}{script}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>\n{STYLE}</style>\n</head>\n<body>\n"
    )
}

/// Draws a table with its title.
pub(super) fn table(out: &mut String, table: &espbench_measure::table::Table) {
    tables::draw(out, table, true);
}

fn head(out: &mut String, report: &Report) {
    let run = &report.run;
    let name = escape(&run.name);
    let script =
        if is_live(report) { format!("; script-src '{}'", timelines::HASH) } else { String::new() };
    out.push_str(&begin(&format!("{} – espbench report", run.name), &script));
    let _ = write!(
        out,
        "<header>\n<p class=\"kicker\">espbench report</p>\n<h1>{name}</h1>\n<ul class=\"facts\">"
    );
    let origin = run.origin.name();
    let _ = write!(out, "<li class=\"origin {origin}\">{origin}</li>");
    let device = [&run.site.chip, &run.site.mode].into_iter().filter(|w| !w.is_empty());
    let device: Vec<&str> = device.map(String::as_str).collect();
    let seed = run.seed.to_string();
    for (what, value) in [
        ("plan", run.plan_name.as_str()),
        ("target", &run.target),
        ("device", &device.join(", ")),
        ("started", &run.started),
        ("seed", &seed),
    ] {
        if !value.is_empty() {
            let _ = write!(out, "<li><b>{what}</b> {}</li>", escape(value));
        }
    }
    out.push_str("</ul>\n");
    for line in report.headlines() {
        let _ = writeln!(out, "<p class=\"alert\">{}</p>", escape(&line));
    }
    if !report.warnings.is_empty() {
        out.push_str("<p class=\"alert\">There is advice to read first: <a href=\"#warnings\">warnings</a>.</p>\n");
    }
    out.push_str("</header>\n");
}

fn plan(out: &mut String, report: &Report) {
    if !report.run.plan_text.is_empty() {
        let text = escape_lines(&report.run.plan_text);
        let _ = writeln!(
            out,
            "<details><summary>The plan, verbatim</summary><pre>{text}</pre></details>"
        );
    }
}

/// Returns the CSS class for the origin of a column or series; empty where it is not marked.
fn origin_class(origin: Option<Origin>) -> &'static str {
    match origin {
        Some(Origin::Published) => "pub",
        Some(Origin::Simulated) => "sim",
        Some(Origin::Measured) => "mea",
        None => "",
    }
}

/// Escapes text for HTML text or for a quoted attribute's value (HTML Living Standard 13.1.2.3 and
/// 13.1.4), on one line and without control characters.
#[must_use]
pub fn escape(text: &str) -> String {
    entities(&tame(text))
}

/// Escapes text as [`escape`] does and keeps its line feeds.
fn escape_lines(text: &str) -> String {
    let lines: Vec<String> = text.lines().map(escape).collect();
    lines.join("\n")
}

fn entities(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

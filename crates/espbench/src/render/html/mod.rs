//! One HTML file that needs nothing else: no font and no picture from anywhere, and no script but
//! ours, which opens chapters, sorts tables and zooms timelines. A policy in the page forbids the
//! browser to fetch anything, and to run anything else.
//!
//! The answer stands first, on a card with one chart; chapters are closed until somebody asks.
//!
//! | module | contents |
//! |---|---|
//! | `beside` | the card of a run that has a lab beside it |
//! | `figures` | figures with captions, legends, their words, and the data behind them |
//! | `glance` | the card of the answer, and a small chart for each suite |
//! | `predict` | the card of a prediction |
//! | `tables` | tables with captions and scopes |
//! | `timelines` | timelines of the medium, and the script that zooms them |
//! | `tune` | the card of an answer about settings |

mod beside;
mod figures;
mod glance;
mod predict;
mod tables;
mod timelines;
mod tune;

use super::{palette, tame};
use espbench_measure::cell::Origin;
use espbench_measure::figure::Figure;
use espbench_measure::report::{GlanceGroup, PAGE_MARK, Report, Section};
use espbench_measure::table::Table;
use espbench_model::text::count;
use std::fmt::Write as _;

const STYLE: &str = include_str!("style.css");

/// Returns the style sheet of every page, and of a drawing that stands alone.
pub(super) fn style() -> String {
    format!("{}{STYLE}", palette::css())
}

/// Content Security Policy Level 3: nothing but the style in the page and the empty icon.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The script of every page: it opens chapters, and sorts, filters and copies tables.
const SCRIPT: &str = include_str!("page.js");

/// SHA-256 of [`SCRIPT`] in base64, for the page's policy (Content Security Policy Level 3, 6.7.3.3).
const HASH: &str = "sha256-QLrJ7tWCZlbKizm53kh5mrxqLd1aziIK5WapzbMTNL0=";

/// Renders the report as one HTML file.
#[must_use]
pub fn render(report: &Report) -> String {
    let mut sections = report.sections();
    if report.tuning.is_some() {
        // The card has its sentences.
        sections.retain(|it| it.id != "overview");
    }
    let is_capture = sections.iter().any(|it| it.id == espbench_measure::report::CAPTURE);
    if is_capture {
        // Nothing was run; the timeline comes before the tables.
        sections.retain(|it| it.id != "run");
        sections.sort_by_key(|it| it.id != espbench_measure::air::SECTION);
    }
    // The chart of a single suite stands on the card, not in its chapter.
    let chart = match report.glance.as_slice() {
        [only] => lead(&mut sections, only),
        _ => answered(report).and_then(|id| first_figure(&mut sections, id)),
    };
    let mut out = String::with_capacity(1 << 18);
    head(&mut out, report);
    if !report.has_only_causes() {
        out.push_str(if chart.is_some() { "<div class=\"hero\">\n" } else { "<div>\n" });
        glance::draw(&mut out, report, &sections);
        if let Some(card) = &report.prediction {
            predict::draw(&mut out, card);
        }
        if let Some(card) = &report.tuning {
            tune::draw(&mut out, card);
        }
        figures::draw(&mut out, chart.as_slice());
        out.push_str("</div>\n");
    }
    if !is_capture && !is_diagnosis(report) {
        notes(&mut out, report);
    }
    out.push_str("</header>\n<div class=\"columns\">\n<nav aria-label=\"Contents\"><ul>");
    for section in &sections {
        let _ = write!(out, "<li><a href=\"#{0}\">{1}</a></li>", section.id, escape(section.title));
    }
    out.push_str("</ul></nav>\n<main>\n");
    for section in &sections {
        chapter(&mut out, report, section, is_capture);
    }
    let _ = write!(
        out,
        "</main>\n</div>\n<footer>{} · {} · drawn from {} · intervals are at 95 %</footer>\n",
        escape(&report.run.tool),
        escape(&report.schema),
        if is_capture {
            "the capture"
        } else if is_diagnosis(report) {
            "the files that it names"
        } else {
            "the run’s raw samples"
        }
    );
    let _ = writeln!(out, "<script>{SCRIPT}</script>");
    if has_timelines(report) {
        let _ = writeln!(out, "<script>{}</script>", timelines::SCRIPT);
    }
    out.push_str("</body>\n</html>\n");
    out
}

const fn has_timelines(report: &Report) -> bool {
    !report.timelines.is_empty()
}

/// Returns whether a page is of files that somebody gave, and of no run.
fn is_diagnosis(report: &Report) -> bool {
    let of_files = |it: &Table| it.section == espbench_measure::report::DIAGNOSIS;
    report.cells.is_empty() && report.tables.iter().any(of_files)
}

/// Takes the first figure of a suite out of its chapter.
fn lead<'a>(sections: &mut [Section<'a>], group: &GlanceGroup) -> Option<&'a Figure> {
    let is_own = |it: &&mut Section<'_>| {
        // The chapter of a lab beside the run comes first.
        [espbench_measure::beside::SECTION, &group.name, &group.kind].contains(&it.id)
    };
    let section = sections.iter_mut().filter(|it| !it.figures.is_empty()).find(is_own)?;
    Some(section.figures.remove(0))
}

/// Returns the chapter of a report that answers a question without a run: a prediction, or settings.
fn answered(report: &Report) -> Option<&'static str> {
    let predicted = report.prediction.as_ref().map(|_| espbench_measure::predict::SECTION);
    predicted.or_else(|| report.tuning.as_ref().map(|_| espbench_measure::tune::SECTION))
}

/// Takes the first figure out of a chapter, to stand beside the card.
fn first_figure<'a>(sections: &mut [Section<'a>], id: &str) -> Option<&'a Figure> {
    let section = sections.iter_mut().find(|it| it.id == id && !it.figures.is_empty())?;
    Some(section.figures.remove(0))
}

/// Returns the line that heads the page: the answer, where the report has one, or what was measured.
fn headline(report: &Report) -> String {
    let prediction = || report.prediction.as_ref().map(|it| it.title.clone());
    let tuning = || report.tuning.as_ref().map(|it| it.verdict.clone());
    match report.glance.as_slice() {
        [only] if !only.shared.is_empty() => format!("{}: {}", only.name, only.shared),
        [only] => only.name.clone(),
        [] => prediction().or_else(tuning).unwrap_or_else(|| report.run.name.clone()),
        several => super::parts::title(several, &report.run.plan_name),
    }
}

/// Draws a chapter; it is open where asked, and where it is the only suite's.
fn chapter(out: &mut String, report: &Report, section: &Section<'_>, is_open: bool) {
    let is_open = is_open
        || matches!(report.glance.as_slice(),
        [only] if section.id == only.name || section.id == only.kind)
        || answered(report) == Some(section.id)
        || [espbench_measure::beside::SECTION, espbench_measure::report::DIAGNOSIS]
            .contains(&section.id);
    let _ = writeln!(
        out,
        "<section id=\"{0}\" aria-labelledby=\"{0}-h\"><details{2}><summary><h2 id=\"{0}-h\">{1}</h2></summary>",
        section.id,
        escape(section.title),
        if is_open { " open" } else { "" }
    );
    figures::draw(out, &section.figures);
    timelines::draw(out, section.timelines);
    for table in &section.tables {
        if table.is_folded() {
            let (title, rows) = (escape(&table.title), table.rows.len());
            let _ = write!(out, "<details><summary>{title} ({rows} rows)</summary>");
            tables::draw(out, table, false);
            out.push_str("</details>\n");
        } else {
            tables::draw(out, table, table.title != section.title);
        }
    }
    if section.id == "run" {
        plan(out, report);
    }
    out.push_str("</details></section>\n");
}

/// Returns a page up to its body. `script` extends the usual content security policy.
pub(super) fn begin(title: &str, script: &str) -> String {
    let (title, style) = (escape(title), style());
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n{PAGE_MARK}\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}{script}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<link rel=\"icon\" href=\"data:,\">\n\
         <style>\n{style}</style>\n</head>\n<body>\n"
    )
}

/// Draws a table with its title.
pub(super) fn table(out: &mut String, table: &Table) {
    tables::draw(out, table, true);
}

fn head(out: &mut String, report: &Report) {
    let run = &report.run;
    let timelines =
        if has_timelines(report) { format!(" '{}'", timelines::HASH) } else { String::new() };
    let script = format!("; script-src '{HASH}'{timelines}");
    let title = headline(report);
    // A run is told from others by its name, an answer by what it says.
    let tab = if answered(report).is_some() { &title } else { &run.name };
    out.push_str(&begin(&format!("{tab} – espbench report"), &script));
    let origin = run.origin.name();
    let (kicker, badge) = if is_diagnosis(report) {
        ("espbench doctor", "a proof is simulated, all else is of the files")
    } else {
        ("espbench report", origin)
    };
    let class = if matches!(run.origin, Origin::Simulated | Origin::Live) {
        " class=\"simulated\""
    } else {
        ""
    };
    let _ = writeln!(
        out,
        "<header{class}>\n<p class=\"kicker\">{kicker} <span class=\"origin {origin}\">{badge}</span></p>\n\
         <h1>{}</h1>",
        escape(&title)
    );
    if let Some(it) = &report.beside {
        beside::verdict(out, it);
    }
    for line in report.truths() {
        let _ = writeln!(out, "<p class=\"true\"><a href=\"#truth\">{}</a></p>", escape(&line));
    }
    if let Some(line) = report.fitted() {
        let _ = writeln!(out, "<p class=\"alert\">† {}</p>", escape(&line));
    }
    for line in alerts(report) {
        let _ = writeln!(out, "<p class=\"alert\">{}</p>", escape(&line));
    }
}

/// Returns what was not measured, what failed, and what a sound peer does not send.
fn alerts(report: &Report) -> Vec<String> {
    let mut lines = report.causes();
    lines.extend(report.cut_short());
    let failed = report.worst_checks();
    lines.extend(failed.iter().map(|it| format!("Failed: {}: {}", it.place, it.threshold)));
    let tally = report.thresholds();
    lines.extend(tally.failed_words().filter(|_| tally.results_failed > failed.len()));
    lines.extend(report.doubts());
    lines
}

/// Writes the folded lines below the card: advice, accuracy of the lab, and the run.
fn notes(out: &mut String, report: &Report) {
    if !report.warnings.is_empty() {
        let cells = count(report.warnings.len(), "cell");
        let _ = writeln!(out, "<p class=\"more\"><a href=\"#warnings\">Advice on {cells}</a></p>");
    }
    let run = &report.run;
    let device = [&run.site.chip, &run.site.mode].into_iter().filter(|w| !w.is_empty());
    let device: Vec<&str> = device.map(String::as_str).collect();
    let seed = run.seed.to_string();
    out.push_str("<details class=\"more\"><summary>The run</summary><ul class=\"facts\">");
    for (what, value) in [
        ("name", run.name.as_str()),
        ("plan", &run.plan_name),
        ("target", &run.target),
        ("device", &device.join(", ")),
        ("started", &run.started),
        ("seed", &seed),
    ] {
        if !value.is_empty() {
            let _ = write!(out, "<li><b>{what}</b> {}</li>", escape(value));
        }
    }
    out.push_str("</ul></details>\n");
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

/// Returns the attribute that tells where the values of a table or a figure come from: what is taken out of
/// the page still says it.
fn origin(origin: Option<Origin>) -> String {
    origin.map_or_else(String::new, |it| format!(" data-origin=\"{}\"", it.name()))
}

/// Returns the CSS class for the origin of a column or series; empty where it is not marked.
fn origin_class(origin: Option<Origin>) -> &'static str {
    match origin {
        Some(Origin::Published) => "pub",
        Some(Origin::Simulated | Origin::Live) => "sim",
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

//! Drawings of a report: one file per format. They compute nothing but where things stand.
//!
//! | module | contents |
//! |---|---|
//! | [`bencher`] | the Bencher Metric Format |
//! | [`benchmark`] | JSON of github-action-benchmark |
//! | `beside` | measured, lab, published and limit in rows for a terminal |
//! | [`capture`] | what a capture tells, for a terminal |
//! | [`compare`] | two runs held against each other, in a few lines |
//! | [`csv`] | CSV (RFC 4180): the table of results, one row a figure, and drawn tables |
//! | [`doctor`] | diagnoses for a terminal and as Markdown |
//! | `figures` | figures and small bars as text |
//! | [`glance`] | the answer in a few lines, for a terminal |
//! | [`html`] | one HTML file that needs nothing else: no font, no picture, no script but ours |
//! | [`json`] | JSON: the report as it is (`docs/report.schema.json`) |
//! | [`jsonl`] | JSON lines: what happens, as it happens (`docs/jsonl.schema.json`) |
//! | [`junit`] | JUnit's XML: thresholds as tests |
//! | [`lab`] | drawings of a room: text, SVG, HTML |
//! | [`live`] | the figures of a cell while it is measured, for a line of a terminal |
//! | [`markdown`] | Markdown with GitHub's tables |
//! | [`openmetrics`] | the figures of a run so far in the OpenMetrics text format |
//! | [`predict`] | the answer of a prediction in a few lines, for a terminal |
//! | `palette` | colours of all charts, one meaning each |
//! | `parts` | plans that measure several kinds of test: their names, and one table of all |
//! | `rows` | rows of figures for a terminal: folded, or left out and named |
//! | [`sarif`] | SARIF: findings of a check by line |
//! | [`svg`] | figures as SVG, for use inside HTML |
//! | [`text`] | plain text: aligned tables that read without colour |
//! | [`tune`] | checks of an sdkconfig and searches of settings, drawn |

pub mod bencher;
pub mod benchmark;
mod beside;
pub mod capture;
pub mod compare;
pub mod csv;
pub mod doctor;
mod figures;
pub mod glance;
pub mod html;
pub mod json;
pub mod jsonl;
pub mod junit;
pub mod lab;
pub mod live;
pub mod markdown;
pub mod openmetrics;
mod palette;
mod parts;
pub mod predict;
mod rows;
pub mod sarif;
pub mod svg;
pub mod text;
pub mod tune;

use espbench_model::speech::{self, Asker};
use espbench_model::untrusted::Untrusted;

/// Puts text from outside on one line that a terminal may show.
fn tame(text: &str) -> String {
    Untrusted::line(text).to_string()
}

/// Characters, which for the scripts that occur here are columns of the terminal.
fn width(text: &str) -> usize {
    text.chars().count()
}

/// Returns a line, with its line feed, in as many lines as it takes on a screen of so many columns. The further ones begin
/// where it does.
#[must_use]
pub fn fitting(line: &str, columns: usize) -> String {
    if width(line) <= columns {
        return format!("{line}\n");
    }
    let text = line.trim_start();
    let indent = width(line) - width(text);
    let lines = wrap(text, columns.saturating_sub(indent));
    lines.iter().map(|it| format!("{:indent$}{it}\n", "")).collect()
}

/// Characters between columns.
const GAP: usize = 2;

/// Divides columns of such widths into blocks that fit a line of at most that many characters: places of columns. The first
/// `leads` columns begin each block.
fn blocks(widths: &[usize], leads: usize, most: usize) -> Vec<Vec<usize>> {
    if widths.is_empty() {
        return Vec::new();
    }
    let head: Vec<usize> = (0..leads).collect();
    let first = widths.iter().take(leads).map(|it| it + GAP).sum::<usize>() - GAP;
    let (mut blocks, mut used) = (vec![head.clone()], first);
    for (at, width) in widths.iter().enumerate().skip(leads) {
        let is_alone = blocks.last().is_some_and(|it| it.len() == leads);
        if used + GAP + width > most && !is_alone {
            blocks.push(head.clone());
            used = first;
        }
        used += GAP + width;
        if let Some(block) = blocks.last_mut() {
            block.push(at);
        }
    }
    blocks
}

/// Breaks at spaces; a word longer than the line is cut.
fn wrap(text: &str, limit: usize) -> Vec<String> {
    let limit = limit.max(1);
    let mut lines: Vec<String> = Vec::new();
    for word in tame(text).split(' ') {
        let chars: Vec<char> = word.chars().collect();
        let fits = lines.last().is_some_and(|l| width(l) + 1 + chars.len() <= limit);
        match lines.last_mut() {
            Some(line) if fits => {
                line.push(' ');
                line.push_str(word);
            }
            _ if chars.is_empty() => lines.push(String::new()),
            _ => lines.extend(chars.chunks(limit).map(|c| c.iter().collect::<String>())),
        }
    }
    lines
}

/// Wraps a list at its commas, and at spaces only where an item is longer than the line.
fn wrap_list(text: &str, limit: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for item in tame(text).split_inclusive(", ").map(str::trim_end) {
        match lines.last_mut() {
            Some(line) if width(line) + 1 + width(item) <= limit => {
                line.push(' ');
                line.push_str(item);
            }
            _ => lines.extend(wrap(item, limit)),
        }
    }
    lines
}

/// Returns how whoever asks has all of an answer.
pub(crate) fn whole() -> &'static str {
    match speech::asker() {
        Asker::Terminal => "--full",
        Asker::Caller => "save(\"FILE.txt\")",
    }
}

/// Returns how whoever asks has an answer as a page.
pub(crate) fn as_page() -> &'static str {
    match speech::asker() {
        Asker::Terminal => "-o FILE.html",
        Asker::Caller => "save(\"FILE.html\")",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_breaks_at_its_commas() {
        assert_eq!(wrap_list("one, two, 3 m", 12), ["one, two,", "3 m"]);
        assert_eq!(wrap_list("one, two, 3 m", 13), ["one, two, 3 m"]);
        assert_eq!(wrap_list("no comma at all, 3 m", 8), ["no comma", "at all,", "3 m"]);
        assert!(wrap_list("", 8).is_empty());
    }
}

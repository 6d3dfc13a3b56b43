//! Timelines of the medium, and the script that zooms them.

use super::super::svg::timeline as drawing;
use super::escape;
use espbench_measure::air::Timeline;
use std::fmt::Write as _;

/// The only script of a page: our own, in the page, for timelines. Without it they are pictures.
pub(super) const SCRIPT: &str = include_str!("timeline.js");

/// SHA-256 of [`SCRIPT`] in base64: what the page's policy lets run, and nothing else (Content
/// Security Policy Level 3, 6.7.3.3). A test computes it.
pub(super) const HASH: &str = "sha256-5SXqqIUBZ14RUBNSZP9DJzXnmUb6Kd0jv+mYk58HT2E=";

pub(super) fn draw(out: &mut String, timelines: &[Timeline]) {
    if timelines.is_empty() {
        return;
    }
    out.push_str("<h3 id=\"timelines\">Who sent what, and when</h3>\n");
    out.push_str(&drawing::legend());
    for timeline in timelines {
        for (number, window) in timeline.windows.iter().enumerate() {
            let title = format!("{}: {}", timeline.place, window.why.to_lowercase());
            let _ = writeln!(
                out,
                "<figure class=\"wide\"><figcaption>{}</figcaption>{}<p class=\"alt\" aria-hidden=\"true\">{}</p></figure>",
                escape(&title),
                drawing::draw(timeline, number, &title),
                escape(&window.alt())
            );
        }
    }
}

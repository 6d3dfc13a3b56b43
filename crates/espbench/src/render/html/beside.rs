//! The card of a run that has a lab beside it.

use super::super::{beside, figures};
use super::escape;
use espbench_measure::beside::{LabAgreement, LabComparison, LabPair, SECTION};
use espbench_measure::report::GlanceGroup;
use espbench_model::text::count;
use std::fmt::Write as _;

/// Rows of the card at most.
const ROWS: usize = 8;

/// Writes whether what was measured is as the lab predicts, in a line below the title.
pub(super) fn verdict(out: &mut String, it: &LabComparison) {
    let class = if it.verdict == LabAgreement::Off { "alert" } else { "true" };
    let mut text = it.sentence();
    for more in [it.gap(), it.advice(), it.missing()].into_iter().flatten() {
        text = format!("{text}. {more}");
    }
    let _ = writeln!(out, "<p class=\"{class}\"><a href=\"#{SECTION}\">{}</a></p>", escape(&text));
}

/// Draws the rows of a suite's leading figure; nothing where the lab has none of them.
pub(super) fn draw(out: &mut String, it: &LabComparison, group: &GlanceGroup) -> bool {
    let pairs = beside::leading(it, group);
    let Some(first) = pairs.first() else { return false };
    out.push_str(
        "<div class=\"scroll\"><table class=\"glance\" aria-label=\"Measured and lab\"><thead><tr>\
         <th scope=\"col\">test</th>",
    );
    for (head, class) in beside::heads(first).iter().zip(["r", "r sim", "r", "r pub", "r"]) {
        let _ = write!(out, "<th scope=\"col\" class=\"{class}\">{}</th>", escape(head));
    }
    out.push_str("</tr></thead><tbody>\n");
    let every = pairs.len().div_ceil(ROWS);
    let shown: Vec<&&LabPair> = pairs.iter().step_by(every.max(1)).collect();
    for pair in &shown {
        row(out, pair);
    }
    out.push_str("</tbody></table></div>\n");
    let more = pairs.len() - shown.len();
    if more > 0 {
        let _ = writeln!(
            out,
            "<p class=\"note\">and {}: see <a href=\"#{SECTION}\">all of them</a></p>",
            count(more, "more test")
        );
    }
    true
}

fn row(out: &mut String, pair: &LabPair) {
    let place = if pair.place.is_empty() { &pair.kind } else { &pair.place };
    let verdict = match pair.verdict {
        _ if pair.fitted => "fitted to this run",
        verdict => verdict.map_or("", LabAgreement::words),
    };
    let _ = write!(
        out,
        "<tr><th scope=\"row\"><span title=\"{verdict}\" aria-label=\"{verdict}\">{}</span> {}</th>",
        beside::sign(pair.verdict),
        escape(place)
    );
    for value in [Some(&pair.measured), Some(&pair.simulated), pair.decisive()] {
        let (number, interval) = value.map_or_else(|| ("–".into(), None), figures::figure);
        let interval = interval.map_or_else(String::new, |it| format!(" <small>{it}</small>"));
        let _ = write!(out, "<td class=\"r\"><b>{number}</b>{interval}</td>");
    }
    let [_, _, _, published, limit] = beside::texts(pair);
    let _ = writeln!(
        out,
        "<td class=\"r pub\">{}</td><td class=\"r\">{}</td></tr>",
        escape(&published),
        escape(&limit)
    );
}

//! Figures with captions, legends, their words, and the data behind them.

use super::super::svg;
use super::escape;
use espbench_measure::cell::Origin;
use espbench_measure::figure::{Figure, Scale, Series};
use std::fmt::Write as _;

/// Most rows of a figure's data table for one series; longer ones show every so many points.
const MOST_ROWS: usize = 40;

pub(super) fn draw(out: &mut String, figures: &[&Figure]) {
    if figures.is_empty() {
        return;
    }
    out.push_str("<div class=\"figures\">\n");
    for figure in figures {
        let _ = write!(
            out,
            "<figure id=\"{}-f\"{}><figcaption>{}</figcaption>{}{}<p class=\"alt\" aria-hidden=\"true\">{}</p>",
            escape(&figure.id),
            super::origin(figure.origin()),
            escape(&figure.title),
            svg::draw(figure),
            svg::legend(figure),
            escape(&figure.alt)
        );
        data(out, figure);
        out.push_str("</figure>\n");
    }
    out.push_str("</div>\n");
}

fn data(out: &mut String, figure: &Figure) {
    let (x, y) = (svg::axis_title(&figure.x), svg::axis_title(&figure.y));
    let intervals =
        figure.series.iter().flat_map(|s| &s.points).any(|p| p.low.is_some() || p.high.is_some());
    let _ = writeln!(
        out,
        "<details><summary>Data</summary><div class=\"scroll\" tabindex=\"0\"><table{}><caption class=\"heard\">Data of: {}</caption>\
         <thead><tr><th scope=\"col\">series</th><th scope=\"col\" class=\"r\">{}</th><th scope=\"col\" class=\"r\">{}</th>{}</tr></thead><tbody>",
        super::origin(figure.origin()),
        escape(&figure.title),
        escape(&x),
        escape(&y),
        if intervals {
            "<th scope=\"col\" class=\"r\">95 % from</th><th scope=\"col\" class=\"r\">to</th>"
        } else {
            ""
        }
    );
    for series in &figure.series {
        rows(out, figure, series, intervals);
    }
    out.push_str("</tbody></table></div></details>");
}

fn rows(out: &mut String, figure: &Figure, series: &Series, intervals: bool) {
    let every = series.points.len().div_ceil(MOST_ROWS).max(1);
    let last = series.points.len().saturating_sub(1);
    let shown = series.points.iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last);
    for (_, p) in shown {
        let x = match figure.x.scale {
            Scale::Category => figure.x.categories.get(p.x as usize).cloned().unwrap_or_default(),
            Scale::Linear | Scale::Log => p.x.to_string(),
        };
        let _ = write!(
            out,
            "<tr{}><th scope=\"row\">{}</th><td class=\"r\">{}</td><td class=\"r\">{}</td>",
            if series.origin == Origin::Published { " class=\"pub\"" } else { "" },
            escape(&series.name),
            escape(&x),
            p.y
        );
        if intervals {
            for end in [p.low, p.high] {
                let text = end.map_or_else(|| "–".to_string(), |e| e.to_string());
                let _ = write!(out, "<td class=\"r\">{text}</td>");
            }
        }
        out.push_str("</tr>\n");
    }
}

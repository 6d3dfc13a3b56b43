//! Figures as SVG, for use inside HTML: colours, text sizes and dark mode come from its style sheet.
//!
//! | module | contents |
//! |---|---|
//! | `axis` | axes: from values to places, and the ticks |
//! | `bars` | bars over named positions |
//! | `curves` | curves and points over two axes |
//! | `labels` | names beside points, where there is room for them |
//! | `rows` | histograms in rows over one horizontal axis |
//! | `shape` | markers and swatches |
//! | `timeline` | a stretch of the medium's history: a row for each station, a bar for each frame |
//!
//! Written here and not with a plotting library, because those paint fixed colours and sizes: a
//! figure that follows the reader's dark mode and stays legible on a phone has to leave both to
//! the style sheet.
//!
//! Nothing here depends on colour alone: curves have dashes and markers of their own (the palette
//! is that of Okabe and Ito 2008, "Color Universal Design", darkened for contrast), and published
//! points are hollow.

mod axis;
mod bars;
mod curves;
mod labels;
mod rows;
mod shape;
pub(super) mod timeline;

use super::html::escape;
use espbench_measure::cell::Origin;
use espbench_measure::figure::{Figure, Mark, Scale, Series};
use std::fmt::Write as _;

pub(super) use axis::{step as round_step, title as axis_title};
pub(super) use shape::marker;
use shape::swatch;

/// Width of every figure in its own units; the page scales it.
pub(super) const WIDTH: f64 = 480.0;

/// Styles that are told apart without colour; the seventh curve looks like the first again.
pub(super) const STYLES: usize = 6;

/// The place of the plot within the figure.
#[derive(Clone, Copy, Debug)]
struct Frame {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// Draws the figure as an `svg` element with title and description.
#[must_use]
pub(super) fn draw(figure: &Figure) -> String {
    let (height, body) = if figure.series.iter().any(|s| s.mark == Mark::Row) {
        rows::draw(figure)
    } else if figure.x.scale == Scale::Category {
        bars::draw(figure)
    } else {
        curves::draw(figure)
    };
    let id = escape(&figure.id);
    format!(
        "<svg viewBox=\"0 0 {WIDTH} {height:.0}\" role=\"img\" aria-labelledby=\"{id}-t {id}-d\">\
         <title id=\"{id}-t\">{}</title><desc id=\"{id}-d\">{}</desc>{body}</svg>",
        escape(&figure.title),
        escape(&figure.alt),
    )
}

/// Returns the place of a series among the published, or among the others; rows and labels do not
/// count.
fn place(figure: &Figure, at: usize) -> usize {
    let published = |s: &Series| s.origin == Origin::Published;
    let same = |s: &&Series| is_listed(s) && published(s) == published(&figure.series[at]);
    figure.series[..at].iter().filter(same).count()
}

/// Returns whether a series has a style of its own, and a line in the legend.
fn is_listed(series: &Series) -> bool {
    !matches!(series.mark, Mark::Row | Mark::Label)
}

/// Returns the classes of a series, which set its colour, dashes and filling.
fn class(figure: &Figure, at: usize) -> String {
    if figure.series[at].origin == Origin::Published {
        return "p".into();
    }
    format!("s{}", place(figure, at) % STYLES)
}

/// Draws the legend: a swatch and a name for each series.
#[must_use]
pub(super) fn legend(figure: &Figure) -> String {
    let mut out = String::new();
    let named = figure.series.iter().enumerate().filter(|(_, s)| is_listed(s));
    for (at, series) in named {
        let origin = match series.origin {
            Origin::Measured => String::new(),
            Origin::Published => format!("<b class=\"pub\">{}</b> ", Origin::Published.name()),
            other @ Origin::Simulated => format!("<b>{}</b> ", other.name()),
        };
        let _ = write!(
            out,
            "<li>{} {origin}{}</li>",
            swatch(&class(figure, at), place(figure, at), series.mark),
            escape(&series.name)
        );
    }
    if out.is_empty() { out } else { format!("<ul class=\"legend\">{out}</ul>") }
}

//! Figures as SVG, for use inside HTML: colours, text sizes and dark mode come from its style sheet.
//!
//! | module | contents |
//! |---|---|
//! | `axis` | axes: from values to places, and the ticks |
//! | `bars` | bars over named positions |
//! | `curves` | curves and points over two axes |
//! | `labels` | names beside points, where there is room for them |
//! | `multiples` | a small chart for each series, on the same axes |
//! | `rows` | histograms in rows over one horizontal axis |
//! | `shape` | markers and swatches |
//! | `timeline` | a stretch of the medium's history: a row for each station, a bar for each frame |
//!
//! Written here and not with a plotting library, because those paint fixed colours and sizes: a
//! figure that follows the reader's dark mode and stays legible on a phone has to leave both to
//! the style sheet.
//!
//! Nothing here depends on colour alone: curves have dashes and markers of their own, and published
//! points are hollow. What a colour means is in `render::palette`. Curves and bars stand in a group
//! that tells the page's script how places become values; it shows them under the pointer.

mod axis;
mod bars;
mod curves;
mod labels;
mod multiples;
mod rows;
mod shape;
pub(super) mod timeline;

use super::html::escape;
use espbench_measure::cell::Origin;
use espbench_measure::figure::{Figure, MOST_SERIES, Mark, Scale, Series, SeriesMeaning};
use std::fmt::Write as _;

pub(super) use axis::{step as round_step, title as axis_title};
pub(super) use shape::marker;
use shape::swatch;

/// Width of every figure in its own units; the page scales it.
pub(super) const WIDTH: f64 = 480.0;

/// Styles that are told apart without colour.
pub(super) const STYLES: usize = MOST_SERIES;

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
    } else if is_crowded(figure) {
        multiples::draw(figure)
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

/// Returns whether a figure of curves or points has more series than one chart tells apart.
fn is_crowded(figure: &Figure) -> bool {
    figure.series.iter().filter(|it| is_listed(it)).count() > MOST_SERIES
        && figure.x.scale != Scale::Category
        && figure.series.iter().all(|it| it.mark != Mark::Row)
}

/// Returns the place of a series, which sets its marker: among the published, or among the others that
/// have no meaning of their own; rows and labels do not count.
fn place(figure: &Figure, at: usize) -> usize {
    if let Some(meaning) = figure.series[at].meaning {
        return meaning as usize;
    }
    let published = |s: &Series| s.origin == Origin::Published;
    let same = |s: &&Series| {
        is_listed(s) && s.meaning.is_none() && published(s) == published(&figure.series[at])
    };
    figure.series[..at].iter().filter(same).count()
}

/// Returns whether a series has a style of its own, and a line in the legend: a part of bars that is nothing
/// everywhere has not.
fn is_listed(series: &Series) -> bool {
    let is_nothing = series.mark == Mark::Stacked && series.points.iter().all(|it| it.y == 0.0);
    !matches!(series.mark, Mark::Row | Mark::Label) && !is_nothing
}

/// Returns the classes of a series, which set its colour, dashes and filling.
fn class(figure: &Figure, at: usize) -> String {
    let series = &figure.series[at];
    let meaning = match series.meaning {
        _ if series.origin == Origin::Published => return "p".into(),
        None => return format!("s{}", place(figure, at) % STYLES),
        Some(SeriesMeaning::Limit) => "k-limit",
        Some(SeriesMeaning::Data) => "k-data",
        Some(SeriesMeaning::Control) => "k-control",
        Some(SeriesMeaning::Management) => "k-management",
        Some(SeriesMeaning::Background) => "k-background",
        Some(SeriesMeaning::Collided) => "k-collided",
    };
    meaning.into()
}

/// Draws the legend: a swatch and a name for each series.
#[must_use]
pub(super) fn legend(figure: &Figure) -> String {
    let mut out = String::new();
    if is_crowded(figure) {
        return out;
    }
    // Beside measured values, simulated ones say so.
    let has = |origin| figure.series.iter().any(|it| it.origin == origin);
    let real = has(Origin::Measured) || has(Origin::Live);
    let mixed = real && has(Origin::Simulated) || has(Origin::Measured) && has(Origin::Live);
    let named = figure.series.iter().enumerate().filter(|(_, s)| is_listed(s));
    for (at, series) in named {
        // What is not published is of the run, whose origin stands at its head.
        let origin = match series.origin {
            Origin::Published => "<b class=\"pub\">published</b> ",
            Origin::Simulated if mixed => "<b>simulated</b> ",
            Origin::Live if mixed => "<b>live</b> ",
            Origin::Measured | Origin::Live | Origin::Simulated => "",
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

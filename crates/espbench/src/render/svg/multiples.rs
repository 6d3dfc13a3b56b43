//! A small chart for each series, all on the same axes: more curves than six cannot be told apart in one.
//!
//! Behind each curve stand all others, faint, so that one sees where it lies among them.

use super::super::wrap_list;
use super::axis::title;
use super::curves::{Plot, curve, path};
use super::{Frame, WIDTH, class, escape, is_listed};
use espbench_measure::cell::Origin;
use espbench_measure::figure::{Figure, Mark, Series};
use std::fmt::Write as _;

/// Charts beside each other, and the space between them.
const COLUMNS: usize = 2;
const GAP: f64 = 14.0;

/// Characters of a name that fit a line of a chart at the text size of a phone.
const LINE: usize = 25;

/// Heights: of a line of a name, of a plot, of the ticks below, and of the axes' titles.
const NAME: f64 = 17.0;
const PLOT: f64 = 74.0;
const TICKS: f64 = 24.0;
const TITLE: f64 = 22.0;

/// Room for the ticks of the vertical axis.
const LEFT: f64 = 44.0;

pub(super) fn draw(figure: &Figure) -> (f64, String) {
    let all: Vec<&Series> = figure.series.iter().filter(|it| is_listed(it)).collect();
    let names: Vec<Vec<String>> = all.iter().map(|it| wrap_list(&it.name, LINE)).collect();
    let width = (WIDTH - GAP * (COLUMNS - 1) as f64) / COLUMNS as f64;
    let axes = Plot::of(figure, Frame { left: LEFT, right: width - 4.0, top: 0.0, bottom: PLOT });
    let mut out =
        format!("<text class=\"l\" x=\"2\" y=\"14\">{}</text>", escape(&title(&figure.y)));
    let id = escape(&figure.id);
    let _ = write!(out, "<defs><g id=\"{id}-e\">");
    for series in &all {
        let line = matches!(series.mark, Mark::Line | Mark::Step);
        if line && series.origin != Origin::Published {
            let _ = write!(out, "<path class=\"c e\" d=\"{}\"/>", path(&axes, series));
        }
    }
    out.push_str("</g></defs>");
    let mut top = TITLE;
    for (row, names) in names.chunks(COLUMNS).enumerate() {
        let lines = names.iter().map(Vec::len).max().unwrap_or(1) as f64;
        for (column, name) in names.iter().enumerate() {
            let at = row * COLUMNS + column;
            let left = column as f64 * (width + GAP);
            for (number, line) in name.iter().enumerate() {
                let y = top + (number + 1) as f64 * NAME - 4.0;
                let text = escape(line);
                let _ = write!(
                    out,
                    "<text class=\"n\" x=\"{:.1}\" y=\"{y:.1}\">{text}</text>",
                    left + 2.0
                );
            }
            let plot_top = top + lines * NAME + 4.0;
            let plot = axes.at(Frame {
                left: left + LEFT,
                right: left + width - 4.0,
                top: plot_top,
                bottom: plot_top + PLOT,
            });
            let _ = write!(out, "<use href=\"#{id}-e\" x=\"{left:.1}\" y=\"{plot_top:.1}\"/>");
            ends(&mut out, &plot);
            out.push_str(&plot.open(figure));
            // A chart of one series has the colour of ours, or that of published figures.
            let series = all[at];
            let place = figure.series.iter().position(|it| std::ptr::eq(it, series)).unwrap_or(0);
            let meant = series.meaning.is_some() || series.origin == Origin::Published;
            let class = if meant { class(figure, place) } else { "s0".into() };
            curve(&mut out, &plot, series, &class, 0, &figure.x.unit);
            out.push_str("</g>");
        }
        top += lines * NAME + 4.0 + PLOT + TICKS;
    }
    let _ = write!(
        out,
        "<text class=\"l\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        WIDTH / 2.0,
        top + 12.0,
        escape(&title(&figure.x))
    );
    (top + TITLE, out)
}

/// Draws the frame with the ends of both axes.
fn ends(out: &mut String, plot: &Plot) {
    let Frame { left, right, top, bottom } = plot.frame;
    let _ = write!(out, "<path class=\"g\" d=\"M{left:.1} {top:.1}V{bottom:.1}H{right:.1}\"/>");
    let (x, y) = (plot.x.ticks(), plot.y.ticks());
    let texts = [
        (x.first(), left, bottom + 16.0, "start"),
        (x.last(), right, bottom + 16.0, "end"),
        (y.first(), left - 5.0, bottom, "end"),
        (y.last(), left - 5.0, top + 10.0, "end"),
    ];
    for (tick, x, y, anchor) in texts {
        let text = tick.map_or("", |it| it.1.as_str());
        let _ =
            write!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>");
    }
}

#[cfg(test)]
mod tests {
    use super::super::{draw, legend};
    use espbench_measure::figure::{Figure, FigurePoint, MOST_SERIES, Series};

    fn figure(series: usize) -> Figure {
        let one = |number: usize| Series {
            name: format!("curve {number}"),
            points: vec![FigurePoint::new(0.0, 1.0), FigurePoint::new(9.0, number as f64)],
            ..Series::default()
        };
        Figure {
            id: "crowd".into(),
            section: "s".into(),
            title: "Crowd".into(),
            alt: String::new(),
            x: Default::default(),
            y: Default::default(),
            series: (0..series).map(one).collect(),
        }
    }

    #[test]
    fn the_seventh_series_makes_small_charts() {
        let six = draw(&figure(MOST_SERIES));
        assert_eq!((six.matches("class=\"plot\"").count(), six.matches("<use").count()), (1, 0));
        assert_eq!(legend(&figure(MOST_SERIES)).matches("<li>").count(), MOST_SERIES);
        let many = draw(&figure(26));
        assert_eq!(many.matches("class=\"plot\"").count(), 26);
        // Each has its name, its own curve in one colour, and all others behind it.
        for number in 0..26 {
            assert_eq!(many.matches(&format!(">curve {number}</text>")).count(), 1);
        }
        assert_eq!(many.matches("class=\"c s0\"").count(), 26);
        assert_eq!(many.matches("class=\"c e\"").count(), 26);
        assert!(!many.contains("class=\"c s1\"") && legend(&figure(26)).is_empty());
    }
}

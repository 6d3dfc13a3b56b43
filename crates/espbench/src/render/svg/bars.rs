//! Bars over named positions. They lie, so that long names have a line of their own above them.

use super::super::wrap_list;
use super::axis::{AxisRange, horizontal};
use super::{Frame, WIDTH, class, escape};
use espbench_measure::figure::{Axis, Figure, FigurePoint, Mark, Scale};
use std::fmt::Write as _;

/// Characters of a name that fit a line at the text size of a phone.
const LINE: usize = 50;

/// Height of a name's line, of a bar, and the space below a group.
const NAME: f64 = 18.0;
const BAR: f64 = 11.0;
const SPACE: f64 = 8.0;

pub(super) fn draw(figure: &Figure) -> (f64, String) {
    let stacked = figure.series.iter().any(|s| s.mark == Mark::Stacked);
    let bars = if stacked { 1 } else { figure.series.len() };
    let names: Vec<Vec<String>> = figure.x.categories.iter().map(|n| wrap_list(n, LINE)).collect();
    let lines = names.iter().map(Vec::len).max().unwrap_or(1) as f64;
    let group = lines * NAME + bars as f64 * BAR + SPACE;
    let height = 6.0 + names.len() as f64 * group + 46.0;
    let frame = Frame { left: 14.0, right: WIDTH - 14.0, top: 6.0, bottom: height - 46.0 };
    let span = span(figure, stacked);
    let mut out = horizontal(frame, &span, &figure.y);
    for (row, name) in names.iter().enumerate() {
        // Names stand on their bars: short ones begin lower.
        let bars = frame.top + row as f64 * group + lines * NAME;
        for (i, line) in name.iter().enumerate() {
            let y = bars - (name.len() - i) as f64 * NAME + NAME - 4.0;
            let _ = write!(
                out,
                "<text class=\"n\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
                frame.left + 2.0,
                escape(line)
            );
        }
        let place = Place { frame, span, top: bars };
        out.push_str(&if stacked { stack(figure, row, &place) } else { side(figure, row, &place) });
    }
    (height, out)
}

struct Place {
    frame: Frame,
    span: AxisRange,
    top: f64,
}

impl Place {
    fn x(&self, value: f64) -> f64 {
        self.frame.left + self.span.at(value) * (self.frame.right - self.frame.left)
    }

    fn bar(&self, class: &str, from: f64, to: f64, y: f64, title: &str) -> String {
        format!(
            "<rect class=\"b {class}\" x=\"{from:.1}\" y=\"{y:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
             <title>{title}</title></rect>",
            (to - from).max(0.5),
            BAR - 1.0
        )
    }
}

fn span(figure: &Figure, stacked: bool) -> AxisRange {
    let points = || figure.series.iter().flat_map(|s| &s.points);
    if !stacked {
        // With equal factors there is no zero to begin at: the smallest still needs some length.
        let log = figure.y.scale == Scale::Log;
        let ends = |p: &FigurePoint| [Some(p.y), p.high, Some(p.y / 3.0).filter(|_| log)];
        return AxisRange::of(points().flat_map(ends).flatten(), figure.y.scale);
    }
    let sum = |row: usize| points().filter(|p| p.x as usize == row).map(|p| p.y).sum::<f64>();
    let sums: Vec<f64> = (0..figure.x.categories.len()).map(sum).chain([0.0]).collect();
    AxisRange::of(sums.into_iter(), figure.y.scale)
}

fn title(name: &str, value: f64, axis: &Axis) -> String {
    escape(&format!("{name}: {value} {}", axis.unit))
}

/// Draws one bar for each series, under each other.
fn side(figure: &Figure, row: usize, place: &Place) -> String {
    let mut out = String::new();
    for (at, series) in figure.series.iter().enumerate() {
        let Some(p) = series.points.iter().find(|p| p.x as usize == row) else { continue };
        let y = place.top + at as f64 * BAR;
        let text = title(&series.name, p.y, &figure.y);
        out.push_str(&place.bar(&class(figure, at), place.frame.left, place.x(p.y), y, &text));
        if let (Some(low), Some(high)) = (p.low, p.high) {
            let middle = y + (BAR - 1.0) / 2.0;
            let _ = write!(
                out,
                "<path class=\"w k\" d=\"M{:.1} {middle:.1}H{:.1}\"/>",
                place.x(low),
                place.x(high)
            );
        }
    }
    out
}

/// Draws the series' bars one after the other.
fn stack(figure: &Figure, row: usize, place: &Place) -> String {
    let mut out = String::new();
    let mut sum = 0.0;
    for (at, series) in figure.series.iter().enumerate() {
        let Some(p) = series.points.iter().find(|p| p.x as usize == row && p.y > 0.0) else {
            continue;
        };
        let (from, to) = (place.x(sum), place.x(sum + p.y));
        sum += p.y;
        let text = title(&series.name, p.y, &figure.y);
        out.push_str(&place.bar(&class(figure, at), from, to, place.top, &text));
    }
    out
}

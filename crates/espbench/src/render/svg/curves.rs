//! Curves and points over two axes.

use super::axis::{self, AxisRange, horizontal, vertical};
use super::shape::marker;
use super::{Frame, WIDTH, class, escape, place};
use espbench_measure::figure::{Figure, FigurePoint, Mark, Scale, Series};
use std::fmt::Write as _;

const HEIGHT: f64 = 310.0;
const FRAME: Frame = Frame { left: 56.0, right: WIDTH - 14.0, top: 28.0, bottom: HEIGHT - 46.0 };

/// Markers on one curve; more would hide it.
const MOST_MARKERS: usize = 25;

/// Markers on a cumulative curve, which has hundreds of points.
const STEP_MARKERS: usize = 7;

/// Axes in a frame.
pub(super) struct Plot {
    pub(super) frame: Frame,
    pub(super) x: AxisRange,
    pub(super) y: AxisRange,
}

impl Plot {
    /// Returns the axes that hold all points of a figure.
    pub(super) fn of(figure: &Figure, frame: Frame) -> Self {
        let points = || figure.series.iter().flat_map(|s| &s.points);
        let ends = |p: &FigurePoint| [Some(p.y), p.low, p.high];
        let zero = (figure.y.scale != Scale::Log).then_some(0.0);
        Self {
            frame,
            x: AxisRange::of(points().map(|p| p.x), figure.x.scale),
            // From zero: a small wobble must not look like a fall. Equal factors have no zero.
            y: AxisRange::of(points().flat_map(ends).flatten().chain(zero), figure.y.scale),
        }
    }

    /// Returns the axes in another frame.
    pub(super) const fn at(&self, frame: Frame) -> Self {
        Self { frame, x: self.x, y: self.y }
    }

    /// Opens the group of the plot.
    pub(super) fn open(&self, figure: &Figure) -> String {
        axis::plot(self.frame, (&self.x, &self.y), (&figure.x, &figure.y))
    }

    fn x(&self, value: f64) -> f64 {
        self.frame.left + self.x.at(value) * (self.frame.right - self.frame.left)
    }

    fn y(&self, value: f64) -> f64 {
        self.frame.bottom - self.y.at(value) * (self.frame.bottom - self.frame.top)
    }
}

pub(super) fn draw(figure: &Figure) -> (f64, String) {
    let plot = Plot::of(figure, FRAME);
    let mut out = horizontal(FRAME, &plot.x, &figure.x);
    out.push_str(&vertical(FRAME, &plot.y, &figure.y));
    let labels = figure.series.iter().filter(|it| it.mark == Mark::Label);
    let at = |it: &FigurePoint| (plot.x(it.x), plot.y(it.y));
    let names = labels.flat_map(|it| it.points.iter().map(|p| (it.name.as_str(), at(p))));
    let points = || figure.series.iter().filter(|it| it.mark != Mark::Label);
    let dots = points().flat_map(|it| it.points.iter().map(at));
    out.push_str(&super::labels::draw(FRAME, names, dots));
    out.push_str(&plot.open(figure));
    let drawn = |it: &&Series| it.mark != Mark::Label;
    for (at, series) in figure.series.iter().enumerate().filter(|it| drawn(&it.1)) {
        let class = class(figure, at);
        let place = place(figure, at);
        curve(&mut out, &plot, series, &class, place, &figure.x.unit);
    }
    out.push_str("</g>");
    (HEIGHT, out)
}

/// Draws a curve, its intervals and its markers.
pub(super) fn curve(
    out: &mut String,
    plot: &Plot,
    series: &Series,
    class: &str,
    place: usize,
    x_unit: &str,
) {
    if matches!(series.mark, Mark::Line | Mark::Step) && series.points.len() > 1 {
        let (name, d) = (escape(&series.name), path(plot, series));
        let _ = write!(out, "<path class=\"c {class}\" data-n=\"{name}\" d=\"{d}\"/>");
    }
    whiskers(out, plot, series, class);
    let every = match series.mark {
        Mark::Step => series.points.len() / STEP_MARKERS,
        _ => series.points.len().div_ceil(MOST_MARKERS),
    };
    // Curves start their markers at different points, so that they do not cover each other.
    let offset = if series.mark == Mark::Step { place * every / 4 } else { 0 };
    for p in series.points.iter().skip(offset).step_by(every.max(1)) {
        let title = escape(&format!("{}: {} at {} {x_unit}", series.name, p.y, p.x));
        out.push_str(&marker(place, class, plot.x(p.x), plot.y(p.y), &title));
    }
}

pub(super) fn path(plot: &Plot, series: &Series) -> String {
    let mut d = String::new();
    for (i, p) in series.points.iter().enumerate() {
        let (x, y) = (plot.x(p.x), plot.y(p.y));
        let _ = match (i, series.mark) {
            (0, _) => write!(d, "M{x:.1} {y:.1}"),
            (_, Mark::Step) => write!(d, "H{x:.1}V{y:.1}"),
            _ => write!(d, "L{x:.1} {y:.1}"),
        };
    }
    d
}

/// Intervals; an end that is not known has no cap.
fn whiskers(out: &mut String, plot: &Plot, series: &Series, class: &str) {
    let mut d = String::new();
    for p in series.points.iter().filter(|p| p.low.is_some() || p.high.is_some()) {
        let x = plot.x(p.x);
        let (low, high) = (plot.y(p.low.unwrap_or(p.y)), plot.y(p.high.unwrap_or(p.y)));
        let _ = write!(d, "M{x:.1} {low:.1}V{high:.1}");
        for (_, y) in [(p.low, low), (p.high, high)].into_iter().filter(|e| e.0.is_some()) {
            let _ = write!(d, "M{:.1} {y:.1}h6", x - 3.0);
        }
    }
    if !d.is_empty() {
        let _ = write!(out, "<path class=\"w {class}\" d=\"{d}\"/>");
    }
}

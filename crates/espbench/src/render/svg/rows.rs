//! Histograms in rows over one horizontal axis.

use super::axis::{AxisRange, horizontal};
use super::shape::marker;
use super::{Frame, WIDTH, class, escape, place};
use espbench_measure::digits;
use espbench_measure::figure::{Figure, FigurePoint, Mark, Series};
use std::fmt::Write as _;

/// Height of a row, and of the tallest bar in it.
const ROW: f64 = 46.0;
const BAR: f64 = 38.0;

pub(super) fn draw(figure: &Figure) -> (f64, String) {
    let rows: Vec<&Series> = figure.series.iter().filter(|s| s.mark == Mark::Row).collect();
    let height = 10.0 + rows.len() as f64 * ROW + 46.0;
    let frame = Frame { left: 14.0, right: WIDTH - 14.0, top: 10.0, bottom: height - 46.0 };
    let xs = || figure.series.iter().flat_map(|s| &s.points).map(|p| p.x);
    let span = AxisRange::of(xs(), figure.x.scale);
    let mut out = horizontal(frame, &span, &figure.x);
    let base = |row: usize| frame.top + (row + 1) as f64 * ROW;
    for (row, series) in rows.iter().enumerate() {
        out.push_str(&histogram(frame, &span, series, base(row), &figure.x.unit));
    }
    for (at, series) in figure.series.iter().enumerate().filter(|(_, s)| s.mark != Mark::Row) {
        let place = place(figure, at);
        for p in &series.points {
            let title = escape(&format!("{}: {} {}", series.name, p.x, figure.x.unit));
            let y = base(p.y.max(0.0) as usize) - 5.0;
            out.push_str(&marker(place, &class(figure, at), at_x(frame, &span, p.x), y, &title));
        }
    }
    (height, out)
}

fn at_x(frame: Frame, span: &AxisRange, x: f64) -> f64 {
    frame.left + span.at(x) * (frame.right - frame.left)
}

/// Returns in words where a histogram is highest.
fn most(series: &Series, unit: &str) -> String {
    let bins = series.points.windows(2);
    let Some([bin, next]) = bins.max_by(|a, b| a[0].y.total_cmp(&b[0].y)) else {
        return series.name.clone();
    };
    let (low, high) = (digits::three(bin.x), digits::three(next.x));
    format!("{}: most often {low} to {high} {unit}, {} %", series.name, digits::three(bin.y))
}

fn histogram(frame: Frame, span: &AxisRange, series: &Series, base: f64, unit: &str) -> String {
    let tallest = series.points.iter().map(|p| p.y).fold(0.0, f64::max);
    let top = |p: &FigurePoint| base - if tallest > 0.0 { p.y / tallest * BAR } else { 0.0 };
    let mut d = String::new();
    for (i, p) in series.points.iter().enumerate() {
        let x = at_x(frame, span, p.x);
        if i == 0 {
            let _ = write!(d, "M{x:.1} {base:.1}");
        }
        let _ = write!(d, "H{x:.1}V{:.1}", top(p));
    }
    d.push('z');
    format!(
        "<path class=\"b s0\" d=\"{d}\"><title>{}</title></path><path class=\"a\" d=\"M{:.1} {base:.1}H{:.1}\"/>\
         <text class=\"n\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
        escape(&most(series, unit)),
        frame.left,
        frame.right,
        frame.right,
        base - 22.0,
        escape(&series.name)
    )
}

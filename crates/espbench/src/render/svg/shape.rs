//! Markers and swatches.

use espbench_measure::figure::Mark;

/// Draws a marker of the `place`-th series of its origin, centred at a point.
pub(in crate::render) fn marker(place: usize, class: &str, x: f64, y: f64, title: &str) -> String {
    let d = match place % super::STYLES {
        0 => format!("M{:.1} {y:.1}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z", x - 4.0),
        1 => format!("M{:.1} {:.1}h7v7h-7z", x - 3.5, y - 3.5),
        2 => format!("M{x:.1} {:.1}l4.5 8h-9z", y - 5.0),
        3 => format!("M{x:.1} {:.1}l4.8 4.8l-4.8 4.8l-4.8 -4.8z", y - 4.8),
        4 => format!("M{x:.1} {:.1}l4.5 -8h-9z", y + 5.0),
        _ => format!("M{:.1} {:.1}h10v3h-10z", x - 5.0, y - 1.5),
    };
    if title.is_empty() {
        format!("<path class=\"m {class}\" d=\"{d}\"/>")
    } else {
        format!("<path class=\"m {class}\" d=\"{d}\"><title>{title}</title></path>")
    }
}

/// Draws a small picture of a series for the legend.
pub(super) fn swatch(class: &str, place: usize, mark: Mark) -> String {
    let body = match mark {
        Mark::Bars | Mark::Stacked | Mark::Row => {
            format!("<rect class=\"b {class}\" x=\"6\" y=\"3\" width=\"18\" height=\"12\"/>")
        }
        Mark::Line | Mark::Step => format!(
            "<path class=\"c {class}\" d=\"M0 9H30\"/>{}",
            marker(place, class, 15.0, 9.0, "")
        ),
        Mark::Points | Mark::Label => marker(place, class, 15.0, 9.0, ""),
    };
    format!("<svg class=\"swatch\" viewBox=\"0 0 30 18\" aria-hidden=\"true\">{body}</svg>")
}

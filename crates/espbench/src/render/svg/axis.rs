//! Axes: from values to places, and the ticks.

use super::{Frame, escape};
use espbench_measure::figure::{Axis, Scale};
use std::fmt::Write as _;

/// Tolerance for rounding, in steps of an axis: parts of 100 % that add up to a little more do not
/// ask for another step.
const ROUNDED: f64 = 1e-4;

/// The part of an axis that is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct AxisRange {
    scale: Scale,
    low: f64,
    high: f64,
}

impl AxisRange {
    /// Returns a span that holds the values and ends on round numbers. Linear ones begin at zero
    /// unless the values are far from it.
    pub(super) fn of(values: impl Iterator<Item = f64> + Clone, scale: Scale) -> Self {
        // Beyond these, steps are lost in rounding; nothing that is measured comes near.
        let finite = values.filter(|v| v.abs() < 1e15);
        let positive = finite.clone().filter(|v| *v > 1e-15);
        let (Some(low), Some(high)) = (finite.clone().reduce(f64::min), finite.reduce(f64::max))
        else {
            return Self { scale: Scale::Linear, low: 0.0, high: 1.0 };
        };
        match positive.reduce(f64::min) {
            Some(least) if scale == Scale::Log => Self::log(least, high),
            _ => Self::linear(low, high),
        }
    }

    fn linear(low: f64, high: f64) -> Self {
        let low = if low > 0.0 && low < 0.6 * high { 0.0 } else { low };
        let least = (low.abs().max(high.abs()) * 1e-6).max(1e-12);
        let (low, high) =
            if high - low > least { (low, high) } else { (low - 0.5 - least, high + 0.5 + least) };
        let step = step(low, high);
        Self {
            scale: Scale::Linear,
            low: (low / step + ROUNDED).floor() * step,
            high: (high / step - ROUNDED).ceil() * step,
        }
    }

    fn log(low: f64, high: f64) -> Self {
        let below = |v: f64| round_numbers(v).filter(|r| *r <= v * 1.000_001).last();
        let above = |v: f64| round_numbers(v).find(|r| *r >= v * 0.999_999);
        let low = below(low).unwrap_or(low);
        let high = above(high).unwrap_or(high);
        Self { scale: Scale::Log, low, high: if high > low { high } else { low * 10.0 } }
    }

    /// Returns the place of a value, from 0 to 1; values beyond the ends stay at them.
    pub(super) fn at(&self, value: f64) -> f64 {
        let place = match self.scale {
            Scale::Log => {
                (value.max(f64::MIN_POSITIVE) / self.low).ln() / (self.high / self.low).ln()
            }
            Scale::Linear | Scale::Category => (value - self.low) / (self.high - self.low),
        };
        if place.is_finite() { place.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Returns division and ends as an attribute's value, for the script that shows values.
    pub(super) fn data(&self) -> String {
        let scale = if self.scale == Scale::Log { "log" } else { "linear" };
        format!("{scale} {} {}", self.low, self.high)
    }

    /// Returns values and texts of the ticks.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let values: Vec<f64> = match self.scale {
            Scale::Log => self.log_ticks(),
            Scale::Linear | Scale::Category => {
                let step = step(self.low, self.high);
                let count = ((self.high - self.low) / step).round() as usize;
                (0..=count.min(20)).map(|i| self.low + i as f64 * step).collect()
            }
        };
        values.into_iter().map(|v| (v, label(v))).collect()
    }

    /// Ones, twos and fives over a short way, decades over a long one.
    fn log_ticks(&self) -> Vec<f64> {
        let decades = (self.high / self.low).log10();
        let every = ((decades / 6.0).ceil() as i32).max(1);
        let mut ticks = Vec::new();
        let first = self.low.log10().floor() as i32;
        for decade in first..=self.high.log10().ceil() as i32 {
            let factors: &[f64] = match decades {
                d if d <= 2.0 => &[1.0, 2.0, 5.0],
                d if d <= 3.0 => &[1.0, 3.0],
                _ if (decade - first) % every == 0 => &[1.0],
                _ => &[],
            };
            ticks.extend(factors.iter().map(|f| f * 10_f64.powi(decade)));
        }
        ticks.retain(|t| *t >= self.low * 0.999_999 && *t <= self.high * 1.000_001);
        ticks
    }
}

/// Returns 1, 2 and 5 times powers of ten around a value, ascending.
fn round_numbers(value: f64) -> impl Iterator<Item = f64> {
    let decade = (value.log10().floor() as i32).clamp(-300, 300);
    (decade - 1..=decade + 1).flat_map(|d| [1.0, 2.0, 5.0].map(|f| f * 10_f64.powi(d)))
}

/// Returns the round step that makes about five ticks.
pub(in crate::render) fn step(low: f64, high: f64) -> f64 {
    let rough = (high - low) / 5.0;
    round_numbers(rough).find(|s| *s >= rough * 0.999_999).unwrap_or(rough)
}

/// Returns a tick's text: no more digits than it needs, thousands and millions as `k` and `M`.
fn label(value: f64) -> String {
    let (value, suffix) = match value.abs() {
        v if v >= 1e7 => (value / 1e6, "M"),
        v if v >= 1e4 => (value / 1e3, "k"),
        _ => (value, ""),
    };
    // Six significant digits hide what adding up steps left behind.
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    let rounded = if rounded.abs() < 1e-9 { 0.0 } else { rounded };
    format!("{rounded}{suffix}")
}

/// Draws grid lines and texts of the horizontal axis, with its label below.
pub(super) fn horizontal(frame: Frame, span: &AxisRange, axis: &Axis) -> String {
    let mut out = String::new();
    let ticks = span.ticks();
    let last = ticks.len().saturating_sub(1);
    for (i, (value, text)) in ticks.iter().enumerate() {
        let x = frame.left + span.at(*value) * (frame.right - frame.left);
        // The first and the last text must not leave the figure.
        let (anchor, x_text) = match i {
            0 if x < 24.0 => ("start", 2.0),
            _ if i == last && frame.right - x < 12.0 => ("end", frame.right + 8.0),
            _ => ("middle", x),
        };
        let _ = write!(
            out,
            "<path class=\"g\" d=\"M{x:.1} {:.1}V{:.1}\"/>\
             <text x=\"{x_text:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{text}</text>",
            frame.top,
            frame.bottom,
            frame.bottom + 20.0
        );
    }
    let _ = write!(
        out,
        "<text class=\"l\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>",
        (frame.left + frame.right) / 2.0,
        frame.bottom + 39.0,
        escape(&title(axis))
    );
    out
}

/// Draws grid lines and texts of the vertical axis, with its label on top: upright text reads on a
/// phone.
pub(super) fn vertical(frame: Frame, span: &AxisRange, axis: &Axis) -> String {
    let mut out = String::new();
    for (value, text) in span.ticks() {
        let y = frame.bottom - span.at(value) * (frame.bottom - frame.top);
        let _ = write!(
            out,
            "<path class=\"g\" d=\"M{:.1} {y:.1}H{:.1}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{text}</text>",
            frame.left,
            frame.right,
            frame.left - 6.0,
            y + 4.5
        );
    }
    let _ = write!(out, "<text class=\"l\" x=\"2\" y=\"14\">{}</text>", escape(&title(axis)));
    out
}

/// Returns the opening tag of the group of a plot: its frame, its axes and their units.
pub(super) fn plot(
    frame: Frame,
    (x, y): (&AxisRange, &AxisRange),
    (of_x, of_y): (&Axis, &Axis),
) -> String {
    let Frame { left, right, top, bottom } = frame;
    format!(
        "<g class=\"plot\" data-f=\"{left:.1} {right:.1} {top:.1} {bottom:.1}\" data-x=\"{}\" \
         data-y=\"{}\" data-u=\"{}\" data-v=\"{}\">",
        x.data(),
        y.data(),
        escape(&of_x.unit),
        escape(&of_y.unit)
    )
}

/// Returns the axis's label with its unit.
pub(in crate::render) fn title(axis: &Axis) -> String {
    if axis.unit.is_empty() {
        axis.label.clone()
    } else {
        format!("{} ({})", axis.label, axis.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(values: &[f64], scale: Scale) -> Vec<String> {
        AxisRange::of(values.iter().copied(), scale).ticks().into_iter().map(|t| t.1).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(texts(&[1.0, 900.0], Scale::Linear), ["0", "200", "400", "600", "800", "1000"]);
        assert_eq!(texts(&[97.0, 99.5], Scale::Linear), ["97", "97.5", "98", "98.5", "99", "99.5"]);
        assert_eq!(texts(&[0.012, 0.4], Scale::Log), ["0.01", "0.02", "0.05", "0.1", "0.2", "0.5"]);
        assert_eq!(texts(&[0.01, 80.0], Scale::Log), ["0.01", "0.1", "1", "10", "100"]);
        assert_eq!(texts(&[0.0, 2_000_000.0], Scale::Linear).last().unwrap(), "2000k");
        assert_eq!(texts(&[0.0, 100.0003], Scale::Linear).last().unwrap(), "100", "rounded parts");
        assert_eq!(texts(&[], Scale::Log).len(), 6);
    }

    proptest! {
        #[test]
        fn any_values_have_a_few_ticks_that_hold_them(
            values in proptest::collection::vec(1e-6_f64..1e9, 1..20),
            log in any::<bool>(),
        ) {
            let scale = if log { Scale::Log } else { Scale::Linear };
            let span = AxisRange::of(values.iter().copied(), scale);
            let ticks = span.ticks();
            prop_assert!((2..=12).contains(&ticks.len()), "{:?}", ticks);
            prop_assert!(ticks.windows(2).all(|w| w[0].0 < w[1].0));
            for v in values {
                prop_assert!((0.0..=1.0).contains(&span.at(v)));
                prop_assert!(v >= span.low * 0.99 && v <= span.high * 1.01);
            }
        }

        #[test]
        fn no_number_makes_it_panic(values in proptest::collection::vec(any::<f64>(), 0..5)) {
            for scale in [Scale::Linear, Scale::Log] {
                let span = AxisRange::of(values.iter().copied(), scale);
                let _ = (span.ticks().len(), span.at(f64::NAN));
            }
        }
    }
}

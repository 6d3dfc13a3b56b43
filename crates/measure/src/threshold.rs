//! Limits that a plan sets on its results, and whether they held.
//!
//! A threshold looks at the value, unless it says `by = "interval"`: then the end of the 95 %
//! interval must hold it, so that the result shows that the limit is kept, and not only that it
//! seemed so this time. What is unknown does not hold: a value that could not be determined, an end
//! that the sample was too small for, and a threshold that no cell matches, which most often is a
//! slip of the pen.

use crate::cell::Cell;
use crate::digits;
use crate::kind;
use crate::label;
use crate::report::Check;
use crate::settings::Settings;
use crate::units::{Dimension, conversion};
use crate::wifi;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use espbench_model::workload::Name;

/// A number with its unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The number.
    pub value: f64,
    /// The unit; empty for a count.
    pub unit: String,
}

impl Quantity {
    /// Parses `20 ms`, `1 %`, `40 Mbit/s`.
    ///
    /// # Errors
    /// A sentence that says what would do.
    pub fn parse(text: &str) -> Result<Self, String> {
        let units = Dimension::ALL.into_iter().flat_map(Dimension::units);
        // `20 ms` ends with `s` too, but `20 m` is no number.
        let with = |unit: &str| {
            let number = text.trim().strip_suffix(unit)?.trim().replace('_', "");
            number.parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0)
        };
        units
            .into_iter()
            .find_map(|(unit, _)| Some(Self { value: with(unit)?, unit: (*unit).to_string() }))
            .ok_or_else(|| {
                format!(
                    "`{text}` is no quantity: write a number and a unit, such as `20 ms` or `1 %`"
                )
            })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.value)?;
        if self.unit.is_empty() { Ok(()) } else { write!(f, " {}", self.unit) }
    }
}

/// Part of a result that is compared with the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum By {
    /// The value.
    #[default]
    Value,
    /// The end of the 95 % interval on the limit's side.
    Interval,
}

/// Which cells a limit is for, as a plan says it: by the name of a lab's variant, or by settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// The plan's text.
    text: String,
    name: Option<Name>,
    settings: Option<Settings>,
}

impl Variant {
    /// Reads the name of a variant, or settings as reports tell them: `binary, 8 in flight`.
    ///
    /// # Errors
    /// Words that are neither.
    pub fn parse(text: &str) -> Result<Self, String> {
        let letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        let name = Name::new(text).filter(|_| !text.is_empty() && text.chars().all(letter));
        match (name, label::read(text)) {
            (None, Err(e)) => Err(e.to_string()),
            (name, settings) => Ok(Self { text: text.into(), name, settings: settings.ok() }),
        }
    }

    fn is_of(&self, cell: &Cell) -> bool {
        self.settings.as_ref() == Some(&cell.settings)
            || self.name.is_some() && self.name.as_ref() == cell.settings.lab_variant()
    }
}

/// Metrics of the losses of a test in both directions at once.
const LOSSES: [&str; 2] = ["loss_rx", "loss_tx"];

/// A limit on one metric of all cells that it matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Threshold {
    /// Number among the thresholds of the plans, from 1; 0 where it stands in none.
    pub number: u32,
    /// The metric (`rtt_p99`).
    pub metric: String,
    /// Only cells of this table (`udp-echo`), where given.
    pub table: Option<String>,
    /// Only cells with this payload, where given.
    pub payload_bytes: Option<u32>,
    /// Only cells of this variant of a lab, or with these settings, where given.
    pub variant: Option<Variant>,
    /// The least that holds.
    pub min: Option<Quantity>,
    /// The most that holds.
    pub max: Option<Quantity>,
    /// Part of the result that is compared with the limits.
    pub by: By,
}

impl fmt::Display for Threshold {
    /// Prints `1 ms <= rtt_p99 <= 20 ms at 100 B, by its interval`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(min) = &self.min {
            match self.max {
                Some(_) => write!(f, "{min} <= {}", self.metric)?,
                None => write!(f, "{} >= {min}", self.metric)?,
            }
        } else {
            f.write_str(&self.metric)?;
        }
        if let Some(max) = &self.max {
            write!(f, " <= {max}")?;
        }
        if let Some(table) = &self.table {
            write!(f, " of {table}")?;
        }
        if let Some(bytes) = self.payload_bytes {
            write!(f, " at {bytes} B")?;
        }
        if let Some(variant) = &self.variant {
            write!(f, " with {}", variant.text)?;
        }
        if self.by == By::Interval { f.write_str(", by its interval") } else { Ok(()) }
    }
}

impl Threshold {
    /// Returns whether a cell is one that the threshold limits.
    #[must_use]
    pub fn matches(&self, cell: &Cell) -> bool {
        // A test in both directions at once has a loss of each.
        let is_loss = self.metric == "loss" && LOSSES.contains(&&*cell.id.metric);
        (cell.id.metric == self.metric || is_loss)
            && self.table.as_ref().is_none_or(|table| *table == wifi::kind_of(&cell.id.table))
            && self.payload_bytes.is_none_or(|bytes| cell.id.payload_bytes == Some(bytes))
            && self.variant.as_ref().is_none_or(|variant| variant.is_of(cell))
    }

    /// Returns the figures of one test that the threshold limits: where a console cuts or rounds one, the exact one beside
    /// it.
    pub(crate) fn limited<'a>(&self, cells: &'a [Cell]) -> impl Iterator<Item = &'a Cell> {
        let matching = cells.iter().filter(|it| self.matches(it));
        matching.map(|it| kind::exact_beside(it, &mut cells.iter()).unwrap_or(it))
    }

    /// Returns the outcome for each cell that the threshold limits, of `places`: names of recorded
    /// cells in words, with their result cells. Without any such cell one check that failed.
    pub fn check<'a>(&self, places: impl IntoIterator<Item = (String, &'a [Cell])>) -> Vec<Check> {
        let mut checks = Vec::new();
        for (place, cells) in places {
            checks.extend(self.limited(cells).map(|c| self.one(&place, c)));
        }
        if checks.is_empty() {
            checks.push(Check {
                number: self.number,
                threshold: self.to_string(),
                place: "no cell of that kind was measured".into(),
                value: None,
                unit: String::new(),
                passed: false,
                beyond: 0.0,
            });
        }
        checks
    }

    /// Returns whether a figure keeps the limits.
    pub(crate) fn holds(&self, cell: &Cell) -> bool {
        self.one("", cell).passed
    }

    fn one(&self, place: &str, cell: &Cell) -> Check {
        let limits = || self.min.iter().chain(&self.max);
        let of_cell = Self { metric: cell.id.metric.clone(), ..self.clone() };
        let mut threshold = of_cell.to_string();
        if let Some(other) = limits().find(|q| in_unit_of(q, cell).is_none()) {
            threshold = format!("{threshold} ({} is not {})", other, unit_words(&cell.unit));
        }
        let (low, high) = match self.by {
            By::Value => (cell.value, cell.value),
            By::Interval => (cell.ci_low, cell.ci_high),
        };
        let holds = |limit: &Option<Quantity>, value: Option<f64>, keeps: fn(f64, f64) -> bool| {
            let Some(limit) = limit else { return true };
            value.zip(in_unit_of(limit, cell)).is_some_and(|(v, limit)| keeps(v, limit))
        };
        let (min, max) =
            (holds(&self.min, low, |v, l| v >= l), holds(&self.max, high, |v, l| v <= l));
        // The one that failed is shown; of two that held, the upper.
        let is_low = self.max.is_none() || !min;
        let value = if is_low { low } else { high };
        let broken = if is_low { &self.min } else { &self.max };
        let limit = broken.as_ref().and_then(|it| in_unit_of(it, cell)).filter(|_| !(min && max));
        Check {
            number: self.number,
            threshold,
            place: place.into(),
            value,
            unit: cell.unit.clone(),
            passed: min && max,
            beyond: value.zip(limit).map_or(0.0, |(value, limit)| libm::fabs(value - limit)),
        }
    }
}

fn unit_words(unit: &str) -> String {
    if unit.is_empty() { "a plain number".into() } else { format!("in {unit}") }
}

/// Returns the limit in the cell's unit. A bare number limits a count, whatever is counted.
fn in_unit_of(limit: &Quantity, cell: &Cell) -> Option<f64> {
    if limit.unit.is_empty() && Dimension::of(&cell.unit).is_none() {
        return Some(limit.value);
    }
    // Through six digits: 0.02 s in ms is 20.000000000000004 otherwise.
    conversion(&limit.unit, &cell.unit).map(|factor| exact(limit.value * factor))
}

fn exact(value: f64) -> f64 {
    let rounded = digits::six(value);
    if libm::fabs(rounded - value) <= 1e-12 * libm::fabs(value) { rounded } else { value }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{Identity, Origin};
    use espbench_stats::Estimate;
    use proptest::prelude::*;

    fn cell(metric: &str, bytes: u32, value: f64, half: f64, unit: &str) -> Cell {
        let id = Identity {
            table: "udp-echo".into(),
            metric: metric.into(),
            payload_bytes: Some(bytes),
            ..Identity::default()
        };
        Cell::of(
            Estimate {
                value: Some(value),
                n: 9,
                low: Some(value - half),
                high: Some(value + half),
            },
            id,
            unit,
            Origin::Measured,
        )
    }

    fn limit(metric: &str, min: Option<&str>, max: Option<&str>) -> Threshold {
        let quantity = |text: Option<&str>| text.map(|t| Quantity::parse(t).unwrap());
        Threshold {
            metric: metric.into(),
            min: quantity(min),
            max: quantity(max),
            ..Threshold::default()
        }
    }

    fn outcome(threshold: &Threshold, cell: &Cell) -> bool {
        let checks = threshold.check([("here".into(), core::slice::from_ref(cell))]);
        assert_eq!(checks.len(), 1);
        checks[0].passed
    }

    #[test]
    fn values_hold_up_to_the_limit_in_any_unit() {
        let p99 = |v| cell("rtt_p99", 100, v, 5.0, "ms");
        let max = limit("rtt_p99", None, Some("0.02 s"));
        assert!(outcome(&max, &p99(20.0)));
        assert!(!outcome(&max, &p99(20.1)));
        let min = limit("effective_rate", Some("40 kbit/s"), None);
        assert!(outcome(&min, &cell("effective_rate", 100, 40_000.0, 1.0, "bit/s")));
        assert!(!outcome(&min, &cell("effective_rate", 100, 39_999.0, 1.0, "bit/s")));
        let loss = limit("loss", None, Some("1 %"));
        assert!(outcome(&loss, &cell("loss", 100, 1.0, 0.5, "percent")));
        let both = limit("rtt_p99", Some("1 ms"), Some("20 ms"));
        assert!(
            outcome(&both, &p99(2.0)) && !outcome(&both, &p99(0.5)) && !outcome(&both, &p99(30.0))
        );
    }

    #[test]
    fn the_interval_must_hold_where_it_is_asked() {
        let strict = Threshold { by: By::Interval, ..limit("rtt_p99", None, Some("20 ms")) };
        assert!(outcome(&strict, &cell("rtt_p99", 100, 15.0, 5.0, "ms")));
        assert!(!outcome(&strict, &cell("rtt_p99", 100, 15.1, 5.0, "ms")));
        let open = Cell { ci_high: None, ..cell("rtt_p99", 100, 1.0, 0.5, "ms") };
        assert!(!outcome(&strict, &open), "an end that is not known does not hold");
        assert_eq!(strict.to_string(), "rtt_p99 <= 20 ms, by its interval");
    }

    /// The console's mean is of milliseconds that it has cut, and passes where the exact one does not.
    #[test]
    fn a_figure_that_a_console_cuts_is_judged_by_the_exact_one() {
        let of = |metric: &str, value| {
            let mut cell = cell(metric, 10, value, 0.1, "ms");
            cell.test.kind = Some("esp-now".into());
            cell
        };
        let both = [of("rtt_avg", 2.7), of("rtt_exact_avg", 3.3)];
        let max = limit("rtt_avg", None, Some("3 ms"));
        let checks = max.check([("here".into(), &both[..])]);
        assert_eq!(checks.len(), 1);
        assert_eq!((checks[0].passed, checks[0].value), (false, Some(3.3)));
        assert_eq!(checks[0].threshold, "rtt_exact_avg <= 3 ms");
        // A board's console prints no other.
        assert!(outcome(&max, &both[0]));
    }

    /// A test in both directions at once has two losses, and one that is not known holds nothing.
    #[test]
    fn a_limit_on_loss_is_one_on_both_directions() {
        let loss = |metric: &str, value| cell(metric, 100, value, 0.5, "percent");
        let unknown = Cell { value: None, ..loss("loss_rx", 0.0) };
        let checks = |cells: &[Cell]| -> Vec<(String, bool)> {
            let checks = limit("loss", None, Some("1 %")).check([("here".into(), cells)]);
            checks.into_iter().map(|it| (it.threshold, it.passed)).collect()
        };
        let told =
            |rx, tx| [("loss_rx <= 1 %".to_string(), rx), ("loss_tx <= 1 %".to_string(), tx)];
        assert_eq!(checks(&[loss("loss_rx", 0.5), loss("loss_tx", 2.0)]), told(true, false));
        assert_eq!(checks(&[unknown, loss("loss_tx", 0.5)]), told(false, true));
        assert_eq!(checks(&[loss("loss", 0.5)]), [("loss <= 1 %".to_string(), true)]);
    }

    #[test]
    fn filters_choose_cells_and_no_cell_fails() {
        let cells = [cell("rtt_p99", 10, 5.0, 1.0, "ms"), cell("rtt_p99", 900, 50.0, 1.0, "ms")];
        let all = limit("rtt_p99", None, Some("20 ms"));
        let passed = |t: &Threshold| -> Vec<bool> {
            t.check([("here".into(), &cells[..])]).iter().map(|c| c.passed).collect()
        };
        assert_eq!(passed(&all), [true, false]);
        let small = Threshold { payload_bytes: Some(10), ..all.clone() };
        assert_eq!(passed(&small), [true]);
        let nowhere = Threshold { table: Some("iperf".into()), ..all.clone() };
        let checks = nowhere.check([("here".into(), &cells[..])]);
        assert_eq!((checks.len(), checks[0].passed, checks[0].value), (1, false, None));
        assert_eq!(nowhere.to_string(), "rtt_p99 <= 20 ms of iperf");
        let binary = Variant::parse("binary, 8 in flight").unwrap();
        let variant = Threshold { variant: Some(binary), ..all };
        assert!(!variant.matches(&cells[0]));
        let settings = label::read("8 in flight, binary").unwrap();
        assert!(variant.matches(&Cell { settings, ..cells[0].clone() }), "in any order");
        let device = Threshold { variant: Some(Variant::parse("home").unwrap()), ..variant };
        let settings = label::read("Nagle off, device home").unwrap();
        assert!(device.matches(&Cell { settings, ..cells[0].clone() }));
        assert!(
            Variant::parse("8 in the air").unwrap_err().contains("is no setting that is known")
        );
    }

    #[test]
    fn a_value_that_is_farther_off_is_farther_beyond_the_limit() {
        let beyond = |t: &Threshold, value| {
            let cells = [cell("rtt_p99", 10, value, 1.0, "ms")];
            t.check([("here".into(), &cells[..])])[0].beyond
        };
        let both = limit("rtt_p99", Some("0.01 s"), Some("20 ms"));
        assert_eq!(
            [5.0, 8.0, 15.0, 20.5, 70.0].map(|it| beyond(&both, it)),
            [5.0, 2.0, 0.0, 0.5, 50.0]
        );
        assert_eq!(beyond(&limit("rtt_p99", None, Some("3 Mbit/s")), 5.0), 0.0);
    }

    #[test]
    fn a_wrong_unit_fails_and_says_so() {
        let wrong = limit("rtt_p99", None, Some("3 Mbit/s"));
        let got = &wrong.check([("here".into(), &[cell("rtt_p99", 10, 5.0, 1.0, "ms")][..])])[0];
        assert!(!got.passed);
        assert_eq!(got.threshold, "rtt_p99 <= 3 Mbit/s (3 Mbit/s is not in ms)");
        let bare = |value| {
            let max = Some(Quantity { value, unit: String::new() });
            Threshold { max, ..limit("probes_late", None, None) }
        };
        let late = cell("probes_late", 10, 2.0, 0.0, "probes");
        assert!(outcome(&bare(2.0), &late) && !outcome(&bare(1.0), &late));
    }

    #[test]
    fn quantities_in_words() {
        for (text, value, unit) in [
            ("20 ms", 20.0, "ms"),
            ("1_000us", 1000.0, "us"),
            ("0.5 %", 0.5, "%"),
            ("3 /s", 3.0, "/s"),
        ] {
            let got = Quantity::parse(text).unwrap();
            assert_eq!((got.value, got.unit.as_str()), (value, unit));
        }
        for text in ["20", "ms", "-1 ms", "inf ms", "20 furlongs", ""] {
            assert!(Quantity::parse(text).unwrap_err().contains("is no quantity"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "\\PC{0,12}", value in any::<f64>(), half in any::<f64>()) {
            if let Ok(max) = Quantity::parse(&text) {
                let threshold = Threshold { max: Some(max), ..limit("rtt_p99", None, None) };
                let _ = threshold.check([("here".into(), &[cell("rtt_p99", 1, value, half, "ms")][..])]);
            }
        }

        #[test]
        fn not_a_number_never_holds(max in 0.0..1e9f64) {
            let max = Some(Quantity { value: max, unit: "ms".into() });
            let threshold = Threshold { max, ..limit("rtt_p99", None, None) };
            prop_assert!(!outcome(&threshold, &cell("rtt_p99", 1, f64::NAN, 0.0, "ms")));
        }
    }
}

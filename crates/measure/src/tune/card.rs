//! The answer about settings on one card: what to change, what it yields, what it costs, and what holds
//! the link back.

use super::SECTION;
use super::limit::{self, DirectionLimits};
use super::want::Metric;
use super::words::number;
use crate::cell::Origin;
use crate::digits;
use crate::report::GlanceValue;
use crate::table::{Column, Table, TableRow};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_stats::Estimate;
use serde::{Deserialize, Serialize};

/// Directions whose limits are told in sentences.
const LIMITS: usize = 2;

/// A metric as the firmware is, and with the changes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuneFigure {
    /// The metric.
    pub metric: Metric,
    /// Value of the firmware as it is, in the metric's unit.
    pub before: Option<GlanceValue>,
    /// Value with the changes, in the lab, with five seeds of its own.
    pub after: Option<GlanceValue>,
    /// Value that is wanted: at least, or at most where less is better.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<f64>,
}

/// A difference that one change makes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricGain {
    /// The metric.
    pub metric: Metric,
    /// Value with the change less that without it, in the metric's unit.
    pub by: f64,
}

/// A change of a setting, with what it gives and costs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TuneChange {
    /// Line to write into `sdkconfig.defaults`, or the call in code.
    pub line: String,
    /// Value now.
    pub from: String,
    /// Effect on what is wanted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gives: Vec<MetricGain>,
    /// The next value towards the one now, with which something that is wanted is missed: no smaller change does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed_with: Option<String>,
    /// Effect on the free heap, in KB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heap_kb: Option<f64>,
    /// Effect on the mean current, in mA.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_ma: Option<f64>,
}

impl TuneChange {
    /// Says what the change gives, what it costs, and that less of it is not enough.
    #[must_use]
    pub fn effect(&self) -> String {
        let gain = |it: &MetricGain| {
            format!("{} {} {}", it.metric.words(), signed(it.by), it.metric.unit())
        };
        let cost = |by: Option<f64>| by.map(signed).filter(|it| it != "0");
        let mut parts: Vec<String> = self.gives.iter().map(gain).collect();
        parts.extend(cost(self.heap_kb).map(|by| format!("heap {by} KB")));
        // What is wanted stands among the gains.
        let current = cost(self.current_ma)
            .filter(|_| self.gives.iter().all(|it| it.metric != Metric::Current));
        parts.extend(current.map(|by| format!("current {by} mA")));
        parts.extend(self.missed_with.as_ref().map(|it| format!("{it} is not enough")));
        parts.join(", ")
    }
}

/// The answer on one card.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TuneCard {
    /// The answer in a line.
    pub verdict: String,
    /// The firmware, the traffic and the place that it is about.
    pub context: String,
    /// The change to make, in a sentence, where figures and changes do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// Things that are wrong or missed, the worst first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
    /// Name of the firmware as it is, for heads of columns: `file`, `defaults`.
    pub given: String,
    /// Figures before and after.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub figures: Vec<TuneFigure>,
    /// Changes to make.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<TuneChange>,
    /// Limits of each direction, the worst bottleneck first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub limits: Vec<DirectionLimits>,
    /// Title of the table of limits.
    pub limits_title: String,
    /// Remarks, in sentences.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl TuneCard {
    /// Returns the card as tables: figures before and after, the changes, the limits.
    #[must_use]
    pub fn tables(&self) -> Vec<Table> {
        let all = [self.figures_table(), self.changes_table(), self.limits_table()];
        all.into_iter().flatten().collect()
    }

    /// Returns the table of a first screen, on which sentences say the rest: the figures of what is wanted, or
    /// the limits of a check.
    #[must_use]
    pub fn short_table(&self) -> Option<Table> {
        if self.has_wants() { self.figures_table() } else { self.limits_table() }
    }

    /// Returns what holds the directions back, in sentences, the worst first.
    #[must_use]
    pub fn limit_sentences(&self) -> Vec<String> {
        self.limits.iter().filter_map(DirectionLimits::sentence).take(LIMITS).collect()
    }

    /// Returns the changes as sentences: the line to write, the value now, what it gives and costs. None where
    /// the advice says it.
    #[must_use]
    pub fn change_sentences(&self) -> Vec<String> {
        let changes = self.changes.iter().filter(|_| self.advice.is_none());
        let sentence = |it: &TuneChange| match (it.effect(), &it.line, &it.from) {
            (effect, line, from) if effect.is_empty() => format!("{line} (now {from})"),
            (effect, line, from) => format!("{line} (now {from}): {effect}"),
        };
        changes.map(sentence).collect()
    }

    /// Returns the heads of the figures' columns.
    #[must_use]
    pub fn heads(&self) -> [&str; 4] {
        let after = if self.has_wants() { "recommended" } else { "with the change" };
        ["simulated", &self.given, after, "wanted"]
    }

    /// Returns whether somebody has said what is wanted.
    #[must_use]
    pub fn has_wants(&self) -> bool {
        self.figures.iter().any(|it| it.wanted.is_some())
    }

    fn figures_table(&self) -> Option<Table> {
        let [first, before, after, wanted] = self.heads();
        let mut columns = alloc::vec![
            Column::words(first),
            Column::setting(before, ""),
            Column::setting(after, ""),
        ];
        columns.extend(self.has_wants().then(|| Column::setting(wanted, "")));
        let count = columns.len();
        let row = |it: &TuneFigure| {
            let mut row: TableRow = alloc::vec![
                Some(format!("{} ({})", it.metric.words(), it.metric.unit())),
                it.before.as_ref().map(shown),
                it.after.as_ref().map(shown),
                it.wanted_words(),
            ];
            row.truncate(count);
            row
        };
        let rows: Vec<TableRow> = self.figures.iter().map(row).collect();
        (!rows.is_empty()).then(|| table("tune-figures", "Before and after", columns, rows))
    }

    fn changes_table(&self) -> Option<Table> {
        let gain = |it: &MetricGain| {
            format!("{} {} {}", it.metric.name(), signed(it.by), it.metric.unit())
        };
        let row = |it: &TuneChange| {
            let gives = it.gives.iter().map(gain).collect::<Vec<_>>().join(", ");
            alloc::vec![
                Some(it.line.clone()),
                Some(it.from.clone()),
                Some(gives).filter(|it| !it.is_empty()),
                it.missed_with.clone(),
                it.heap_kb.map(|by| format!("{} KB", signed(by))),
                it.current_ma.map(|by| format!("{} mA", signed(by))),
            ]
        };
        let rows: Vec<TableRow> = self.changes.iter().map(row).collect();
        let columns = alloc::vec![
            Column::words("change"),
            Column::setting("now", ""),
            Column::words("gives"),
            Column::setting("not enough", ""),
            Column::setting("heap", ""),
            Column::setting("current", ""),
        ];
        (!rows.is_empty()).then(|| table("tune-changes", "What to change", columns, rows))
    }

    fn limits_table(&self) -> Option<Table> {
        limit::table(&self.limits, &self.limits_title)
    }
}

impl TuneFigure {
    /// Returns what is wanted with its sign: `>= 20`.
    #[must_use]
    pub fn wanted_words(&self) -> Option<String> {
        let sign = if self.metric.more() { ">=" } else { "<=" };
        self.wanted.map(|it| format!("{sign} {}", number(it)))
    }
}

fn table(id: &str, title: &str, columns: Vec<Column>, rows: Vec<TableRow>) -> Table {
    let (id, section, title) = (id.into(), SECTION.into(), title.into());
    let origin = Some(Origin::Simulated);
    Table { id, section, title, columns, rows, origin, ..Table::default() }
}

/// Returns an estimate as a value with its interval; none where it has no value.
#[must_use]
pub fn value(estimate: &Estimate) -> Option<GlanceValue> {
    let Estimate { value, low, high, .. } = *estimate;
    Some(GlanceValue { value: value?, ci_low: low, ci_high: high, fitted: false, of: None })
}

/// Prints a value with its interval: `27.5 [27.3, 27.7]`.
#[must_use]
pub fn shown(it: &GlanceValue) -> String {
    match parts(it) {
        (value, Some(interval)) => format!("{value} {interval}"),
        (value, None) => value,
    }
}

/// Prints a value, and its interval where it has one that differs: `27.5` and `[27.3, 27.7]`.
#[must_use]
pub fn parts(it: &GlanceValue) -> (String, Option<String>) {
    let value = number(it.value);
    let interval = it.ci_low.zip(it.ci_high).map(|(low, high)| [low, high].map(digits::three));
    let differs = interval.filter(|[low, high]| *low != value || *high != value);
    (value, differs.map(|[low, high]| format!("[{low}, {high}]")))
}

/// Prints a difference with its sign; one that is too small to matter is 0.
fn signed(by: f64) -> String {
    match by {
        by if by.abs() < 0.05 => "0".into(),
        by if by > 0.0 => format!("+{}", number(by)),
        by => number(by),
    }
}

//! Tables in the shape of the documents that they follow: rows and columns of text, made from
//! cells once, so that every drawing shows the same digits.
//!
//! | module | contents |
//! |---|---|
//! | [`compared`] | the comparisons in few lines: one for each metric, verdict and set of reasons |
//! | `findings` | what was found that is not a number: the peer's version, the segmentation that was used |
//! | `heap` | the heap of devices over Wi-Fi: what was in use, and what was left |
//! | `overview` | one line for each question that people ask, with what others published |
//! | `power` | what cells of devices over Wi-Fi cost their battery, beside what they gave for it |
//! | [`repetitions`] | what repetitions of a run can show |
//! | `round_trips` | columns and settings of all kinds of round trips |
//! | `stations` | the stations of tests that several carry out at once: their access points and their figures |
//! | [`status`] | the parts of a report that are not results, as tables |
//! | [`truth`] | how far simulated figures are from the published ones |

pub mod compared;
pub(crate) mod findings;
pub(crate) mod heap;
pub(crate) mod overview;
pub(crate) mod power;
pub mod repetitions;
pub(crate) mod round_trips;
pub(crate) mod stations;
pub mod status;
pub mod truth;

use crate::cell::{Cell, Origin};
use crate::digits;
use crate::kind;
use crate::metric::{self, Statistic};
use crate::report::digest::{Digest, Material};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Alignment of the texts of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Align {
    /// Words.
    #[default]
    Left,
    /// Numbers.
    Right,
}

/// The head of a column.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Column {
    /// Name of the column, without the unit.
    pub name: String,
    /// Unit of all its values; empty where there is none.
    pub unit: String,
    /// Alignment of its texts.
    pub align: Align,
    /// Origin of its values; `None` for words and settings.
    pub origin: Option<Origin>,
}

impl Column {
    /// Makes a column of words or settings.
    #[must_use]
    pub fn words(name: &str) -> Self {
        Self { name: name.into(), ..Self::default() }
    }

    /// Makes a column of settings that are numbers.
    #[must_use]
    pub fn setting(name: &str, unit: &str) -> Self {
        Self { name: name.into(), unit: unit.into(), align: Align::Right, origin: None }
    }

    /// Makes a column of results.
    #[must_use]
    pub fn result(name: &str, unit: &str, origin: Origin) -> Self {
        Self { name: name.into(), unit: unit.into(), align: Align::Right, origin: Some(origin) }
    }

    /// Returns name and unit, with "published" or "simulated" before them where they are. Percent
    /// is written as a sign.
    #[must_use]
    pub fn head(&self) -> String {
        match self.origin {
            Some(Origin::Simulated) => format!("simulated {}", self.short_head()),
            Some(Origin::Live) => format!("live {}", self.short_head()),
            Some(Origin::Published | Origin::Measured) | None => self.short_head(),
        }
    }

    /// Returns name and unit, with "published" before them where they are: for drawings that mark
    /// simulated values in another way.
    #[must_use]
    pub fn short_head(&self) -> String {
        let mut head = match self.origin {
            Some(Origin::Published) => String::from("published "),
            Some(Origin::Simulated | Origin::Live | Origin::Measured) | None => String::new(),
        };
        head.push_str(&self.name);
        if !self.unit.is_empty() {
            head.push_str(" (");
            head.push_str(unit_sign(&self.unit));
            head.push(')');
        }
        head
    }
}

/// Returns the unit as it is shown.
#[must_use]
pub fn unit_sign(unit: &str) -> &str {
    if unit == "percent" { "%" } else { unit }
}

/// Cells of one row; `None` is unknown.
pub type TableRow = Vec<Option<String>>;

/// A table.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    /// Stable name, usable as an anchor.
    pub id: String,
    /// The kind of workload that it belongs to (`udp-echo`), or `overview` or `comparison`.
    pub section: String,
    /// Title.
    pub title: String,
    /// Column heads.
    pub columns: Vec<Column>,
    /// Rows; each as long as `columns`.
    pub rows: Vec<TableRow>,
    /// Where the values of each row come from, in a table of several rows for each figure; `None`
    /// for what is computed of these. Empty where the columns say it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub row_origins: Vec<Option<Origin>>,
    /// Where the figures in words come from, in a table of sentences; `None` where columns or rows say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Notes for the reader of the table.
    pub notes: Vec<String>,
}

/// Tables that are records to look something up in, and not to be read from top to bottom.
const RECORDS: [&str; 5] = ["consoles", "counters", "losses", "occupancy", "findings"];

/// Rows from which on such a table is folded.
const LONG: usize = 40;

impl Table {
    /// Returns where the values come from; that of ours where published ones stand beside them, and
    /// `None` for a table of words and settings.
    #[must_use]
    pub fn origin(&self) -> Option<Origin> {
        let columns = self.columns.iter().filter_map(|it| it.origin);
        let all = || columns.clone().chain(self.row_origins.iter().flatten().copied());
        let said = || all().find(|it| *it != Origin::Published).or_else(|| all().next());
        self.origin.or_else(said)
    }

    /// Returns the title with the word for simulated values, for a drawing that says it nowhere else.
    #[must_use]
    pub fn full_title(&self) -> String {
        crate::figure::titled(&self.title, self.origin())
    }

    /// Returns whether the table is a long record: text leaves it out, and a page shows it when
    /// asked.
    #[must_use]
    pub fn is_folded(&self) -> bool {
        self.rows.len() >= LONG && RECORDS.contains(&self.id.as_str())
    }
}

/// Part of a metric's cell that a column of results shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Show {
    /// The value.
    Value,
    /// 95 % interval of the value.
    Interval,
    /// The published value beside it.
    Published,
}

/// A column of results: the metric, the column's name, and what of it is shown.
pub(crate) type Spec = (&'static str, &'static str, Show);

/// A column of settings: its head, and the setting.
pub(crate) type Lead = (Column, fn(&Digest) -> Option<String>);

/// The frame of a table.
pub(crate) struct TableFrame<'a> {
    pub(crate) id: &'a str,
    pub(crate) section: &'a str,
    pub(crate) title: &'a str,
    pub(crate) notes: &'a [&'a str],
}

/// Makes the tables of a kind of round trips: one for each frame that has results, and the one of
/// further results.
pub(crate) fn of_frames(
    section: &str,
    frames: &[(TableFrame<'_>, &[Spec])],
    material: &Material<'_>,
    digests: &[&Digest],
    leads: &[Lead],
) -> Vec<Table> {
    let of = |(frame, specs): &(TableFrame<'_>, &[Spec])| {
        of_metrics(frame, material, digests, leads, specs)
    };
    let shown: Vec<&[Spec]> = frames.iter().map(|(_, specs)| *specs).collect();
    let further = remaining(section, material, digests, &shown);
    frames.iter().filter_map(of).chain(further).collect()
}

/// Makes a row for each digest: its settings, then its results. Columns without any value are left
/// out; returns `None` if no result is left.
pub(crate) fn of_metrics(
    frame: &TableFrame<'_>,
    material: &Material<'_>,
    digests: &[&Digest],
    leads: &[Lead],
    specs: &[Spec],
) -> Option<Table> {
    let mut columns: Vec<Column> = Vec::new();
    let mut rows: Vec<TableRow> = digests.iter().map(|_| Vec::new()).collect();
    for (column, setting) in leads {
        push(&mut columns, &mut rows, column.clone(), digests.iter().map(|d| setting(d)));
    }
    let settings = columns.len();
    for &(metric, name, show) in specs {
        let unit = digests.iter().find_map(|d| d.cell(metric)).map_or("", |c| c.unit.as_str());
        let origin = if show == Show::Published { Origin::Published } else { material.origin };
        let texts = digests.iter().map(|d| {
            let cell = d.cell(metric)?;
            match show {
                Show::Value => digits::value(cell),
                Show::Interval => digits::interval(cell.ci_low, cell.ci_high),
                Show::Published => material.beside(cell).first().and_then(|p| digits::value(p)),
            }
        });
        let name = match show {
            Show::Published => name.into(),
            Show::Value | Show::Interval => {
                over_repetitions(name, digests.iter().filter_map(|d| d.cell(metric)))
            }
        };
        push(&mut columns, &mut rows, Column::result(&name, unit, origin), texts);
    }
    (columns.len() > settings).then(|| Table {
        id: frame.id.into(),
        section: frame.section.into(),
        title: frame.title.into(),
        columns,
        rows,
        notes: shared(digests)
            .into_iter()
            .chain(frame.notes.iter().map(ToString::to_string))
            .collect(),
        ..Table::default()
    })
}

/// Names an extreme as what it is over repetitions: the mean of one for each of them.
pub(crate) fn over_repetitions<'a>(
    name: &'a str,
    mut cells: impl Iterator<Item = &'a Cell>,
) -> Cow<'a, str> {
    let is_extreme = |it: &Cell| {
        let statistic = metric::parse(&it.id.metric).1;
        it.is_of_repetitions() && matches!(statistic, Statistic::Min | Statistic::Max)
    };
    if cells.any(is_extreme) { format!("mean of {name}").into() } else { name.into() }
}

/// Returns the settings that the cells have in common, where their names leave them out.
fn shared(digests: &[&Digest]) -> Option<String> {
    let digest = digests.first().filter(|d| kind::of(&d.workload).tells_shared())?;
    let common = digest.common();
    (!common.is_empty()).then(|| format!("All cells: {common}."))
}

/// Makes a column for the repetition, where there is more than one.
pub(crate) fn repetition(digests: &[&Digest]) -> Option<Lead> {
    digests.iter().any(|d| d.repetition > 0).then_some((Column::setting("repetition", ""), |d| {
        Some(digits::count(u64::from(d.repetition) + 1))
    }))
}

/// Adds a column unless nothing is known in it.
fn push(
    columns: &mut Vec<Column>,
    rows: &mut [Vec<Option<String>>],
    column: Column,
    texts: impl Iterator<Item = Option<String>>,
) {
    let texts: Vec<Option<String>> = texts.collect();
    if texts.iter().all(Option::is_none) {
        return;
    }
    columns.push(column);
    for (row, text) in rows.iter_mut().zip(texts) {
        row.push(text);
    }
}

/// Makes a table of the results that no table of the kind has a column for, one in a row, so that
/// none is left out.
pub(crate) fn remaining(
    section: &str,
    material: &Material<'_>,
    digests: &[&Digest],
    shown: &[&[Spec]],
) -> Option<Table> {
    let is_shown = |cell: &Cell| {
        shown.iter().any(|specs| specs.iter().any(|s| s.0 == cell.id.metric))
            || crate::wifi::heap::METRICS.contains(&&*cell.id.metric)
    };
    let mut rows = Vec::new();
    for digest in digests {
        for cell in digest.cells.iter().filter(|c| !is_shown(c)) {
            rows.push(alloc::vec![
                Some(digest.place()),
                Some(cell.id.metric.clone()),
                digits::value(cell),
                Some(unit_sign(&cell.unit).into()),
                digits::interval(cell.ci_low, cell.ci_high),
                cell.n.map(digits::count),
            ]);
        }
    }
    (!rows.is_empty()).then(|| Table {
        id: format!("{section}-further"),
        section: section.into(),
        title: "Further results".into(),
        columns: alloc::vec![
            Column::words("cell"),
            Column::words("metric"),
            Column::result("value", "", material.origin),
            Column::words("unit"),
            Column::result("95 % interval", "", material.origin),
            Column::setting("n", ""),
        ],
        rows,
        ..Table::default()
    })
}

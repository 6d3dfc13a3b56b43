//! Columns that stand behind those of a result, where it is held against another or against a document.

use super::value::{ColumnType, ColumnValue};
use crate::cell::{Cell, Origin, PublishedFigure};
use crate::compare::{Comparison, PowerRow, Verdict};
use crate::truth::{CellDeviation, Truth};
use alloc::vec::Vec;

/// A column of rows that are no results alone.
#[derive(Debug)]
pub struct FurtherColumn<T> {
    /// Name in the head.
    pub name: &'static str,
    /// Unit; empty where there is none.
    pub unit: &'static str,
    /// Type of the values.
    pub field_type: ColumnType,
    /// Meaning in a sentence.
    pub doc: &'static str,
    /// Value in a row.
    pub value: fn(&T) -> Option<ColumnValue>,
}

/// Makes the list of columns of a kind of rows: name, unit, type, value, meaning.
macro_rules! further {
    ($list:ident of $row:ty: $($name:literal $unit:literal $type:ident ($value:expr) $doc:literal)*) => {
        /// Columns behind those of the result.
        pub static $list: &[FurtherColumn<$row>] = &[$(FurtherColumn {
            name: $name,
            unit: $unit,
            field_type: ColumnType::$type,
            doc: $doc,
            value: $value,
        },)*];
    };
}

fn number(value: Option<f64>) -> Option<ColumnValue> {
    value.map(ColumnValue::Number)
}

fn text(value: &str) -> Option<ColumnValue> {
    (!value.is_empty()).then(|| ColumnValue::Text(value.into()))
}

further! { COMPARED of Comparison:
    "ratio_low" "" Number (|it| number(it.ratio_low)) "Lower end of the interval of `ratio`, at 95 %."
    "ratio_high" "" Number (|it| number(it.ratio_high)) "Upper end of it."
    "difference" "`unit`" Number (|it| number(it.difference))
        "This value - the other; decides in place of the ratio where values are parts of a whole."
    "difference_low" "`unit`" Number (|it| number(it.difference_low)) "Lower end of its interval."
    "difference_high" "`unit`" Number (|it| number(it.difference_high)) "Upper end of its interval."
    "reason" "" Text (|it| reason(&it.verdict))
        "Why the two are not comparable: `chip`, `mode`, `environment`, `procedure`, …: the first reason."
    "other_source" "" Text (|it| it.other.source.as_deref().and_then(text)) "Run or document of the other value."
    "other_origin" "" Text (|it| text(it.other.origin.name())) "`measured`, `simulated` or `published`."
    "other_value" "`other_unit`" Number (|it| number(it.other.value)) "The other value."
    "other_unit" "" Text (|it| text(&it.other.unit)) "Unit of it and of its interval."
    "other_ci_low" "`other_unit`" Number (|it| number(it.other.ci_low)) "Lower end of its interval."
    "other_ci_high" "`other_unit`" Number (|it| number(it.other.ci_high)) "Upper end of its interval."
    "other_n" "" Count (|it| it.other.n.map(ColumnValue::Count)) "Observations behind it."
}

further! { TRUTH of CellDeviation:
    "published_low" "`unit`" Number (|it| number(Some(it.low)))
        "Smallest value that prints as the published one."
    "published_high" "`unit`" Number (|it| number(Some(it.high))) "Largest value that does."
    "error" "" Number (|it| number(it.error))
        "From the nearest of these to ours, over it; negative where ours is smaller."
    "group" "" Text (|it| text(it.group.name())) "Group of the figure, which sets how true it should be."
    "within" "" Flag (|it| Some(ColumnValue::Flag(it.within))) "Ours meets what is asked of a single figure."
}

further! { POWER of PowerRow:
    "spread" "" Number (|it| number(it.spread))
        "Standard deviation between repetitions, over their mean; empty of fewer than two."
    "shown_change" "" Number (|it| number(it.shown))
        "Least change, over the mean, that so many repetitions in either run show with a probability of 80 %."
    "repetitions_needed" "" Count (|it| it.needed.map(ColumnValue::Count))
        "Repetitions in either run that show the change that was asked for; empty where unknown."
}

/// Makes the rows of what repetitions show.
#[must_use]
pub fn power_rows(rows: &[PowerRow]) -> FurtherRows {
    let row =
        |it: &PowerRow| (it.cell.clone(), POWER.iter().map(|column| (column.value)(it)).collect());
    rows.iter().map(row).collect()
}

/// Returns the first reason of a pair that is not comparable.
fn reason(verdict: &Verdict) -> Option<ColumnValue> {
    let Verdict::NotComparable(reasons) = verdict else { return None };
    text(reasons.first()?.kind.name())
}

/// Rows of results, with values of further columns.
pub type FurtherRows = Vec<(Cell, Vec<Option<ColumnValue>>)>;

/// Makes the rows of comparisons: each is ours, with `ratio` and `verdict` of the pair.
#[must_use]
pub fn compared(all: &[Comparison]) -> FurtherRows {
    let row = |it: &Comparison| {
        let mut cell = it.ours.clone();
        let value = it
            .other
            .value
            .filter(|_| it.other.origin == Origin::Published && it.other.unit == it.ours.unit);
        let verdict = Some(it.verdict.kind());
        cell.test.published = Some(PublishedFigure { value, ratio: it.ratio, verdict });
        (cell, COMPARED.iter().map(|column| (column.value)(it)).collect())
    };
    all.iter().map(row).collect()
}

/// Makes the rows of a simulator's errors.
#[must_use]
pub fn errors(truth: &Truth) -> FurtherRows {
    let row = |it: &CellDeviation| {
        let mut cell = Cell::of(
            espbench_stats::Estimate { value: Some(it.simulated), ..Default::default() },
            it.id.clone(),
            &it.unit,
            Origin::Simulated,
        );
        cell.n = None;
        cell.fitted = it.fitted.is_some();
        cell.fitted_constant = it.fitted.clone();
        cell.standing = Some(it.standing);
        let ratio = (it.published != 0.0).then(|| it.simulated / it.published);
        cell.test.published =
            Some(PublishedFigure { value: Some(it.published), ratio, verdict: None });
        (cell, TRUTH.iter().map(|column| (column.value)(it)).collect())
    };
    truth.rows.iter().map(row).collect()
}

//! CSV (RFC 4180): the table of results, one row a figure.

use espbench_measure::cell::Cell;
use espbench_measure::columns::{ColumnValue, FurtherColumn, FurtherRows, ResultColumn};
use espbench_measure::report::Report;
use espbench_measure::table::{Column, Table};
use espbench_model::untrusted::{Untrusted, is_unsafe};
use std::borrow::Cow;

/// Renders the report's cells as CSV in the columns of [`espbench_measure::columns`]. An unknown value
/// is an empty field.
#[must_use]
pub fn render(report: &Report) -> String {
    let columns = ResultColumn::of(&report.cells);
    let mut writer = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    // Writing to memory cannot fail, and every record has the same length.
    writer.write_record(columns.iter().map(|it| it.name())).expect("in memory");
    for cell in &report.cells {
        writer.write_record(columns.iter().map(|it| field(it.value(cell)))).expect("in memory");
    }
    let bytes = writer.into_inner().expect("in memory");
    String::from_utf8(bytes).expect("made of strings")
}

/// Renders a drawn table: a row of heads, then its rows.
#[must_use]
pub fn of_table(table: &Table) -> String {
    let mut writer = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    // Writing to memory cannot fail, and every record has the same length.
    writer.write_record(table.columns.iter().map(Column::head)).expect("in memory");
    for row in &table.rows {
        let text = |it: &Option<String>| harmless(it.as_deref().unwrap_or_default()).into_owned();
        writer.write_record(row.iter().map(text)).expect("in memory");
    }
    let bytes = writer.into_inner().expect("in memory");
    String::from_utf8(bytes).expect("made of strings")
}

/// Returns the text of a field; an unknown value is an empty one.
#[must_use]
pub fn field(value: Option<ColumnValue>) -> String {
    match value {
        None => String::new(),
        Some(ColumnValue::Flag(flag)) => flag.to_string(),
        Some(ColumnValue::Count(count)) => count.to_string(),
        Some(ColumnValue::Number(number)) => number.to_string(),
        Some(ColumnValue::Text(text)) => harmless(&text).into_owned(),
    }
}

/// Puts an apostrophe before text that a spreadsheet would take for a formula, so that it stays
/// text (OWASP, "CSV Injection"), and replaces what a terminal would obey. Numbers stay numbers.
/// [`espbench_measure::published`] reads both back.
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let quote = if is_formula && text.parse::<f64>().is_err() { "'" } else { "" };
    if quote.is_empty() && !text.contains(is_unsafe) {
        return text.into();
    }
    format!("{quote}{}", Untrusted::lines(text)).into()
}

/// Renders rows of results with further columns behind those of all results.
#[must_use]
pub fn rows<T>(rows: &FurtherRows, further: &[FurtherColumn<T>]) -> String {
    let cells: Vec<Cell> = rows.iter().map(|it| it.0.clone()).collect();
    let columns = ResultColumn::of(&cells);
    let mut writer = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    let heads = columns.iter().map(|it| it.name()).chain(further.iter().map(|it| it.name));
    // Writing to memory cannot fail, and every record has the same length.
    writer.write_record(heads).expect("in memory");
    for (cell, values) in rows {
        let own = columns.iter().map(|it| field(it.value(cell)));
        writer.write_record(own.chain(values.iter().cloned().map(field))).expect("in memory");
    }
    let bytes = writer.into_inner().expect("in memory");
    String::from_utf8(bytes).expect("made of strings")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_stay() {
        for formula in ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "-3.5–2"] {
            assert_eq!(harmless(formula), format!("'{formula}"));
        }
        assert_eq!(harmless("\r=1"), "'\u{fffd}=1");
        assert_eq!(harmless("a\x1b[2J\u{202e}b"), "a\u{fffd}[2J\u{fffd}b");
        for plain in ["-3.5", "+1e3", "-70", "rtt_avg", "", "a=b", "'quoted'"] {
            assert_eq!(harmless(plain), plain);
        }
    }
}

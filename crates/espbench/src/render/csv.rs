//! CSV in the columns of `published.csv`, so that both can be put one after the other.

use espbench_measure::cell::{Cell, Origin};
use espbench_measure::note;
use espbench_measure::published::COLUMNS;
use espbench_measure::report::Report;
use espbench_measure::table::Table;
use std::borrow::Cow;

/// Renders the run's cells as CSV; the published ones are in the product's own table. An unknown
/// value is an empty field. The note holds what no column has a place for: see [`note`].
#[must_use]
pub fn render(report: &Report) -> String {
    let mut writer = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    // Writing to memory cannot fail, and every record has the same length.
    writer.write_record(COLUMNS).expect("in memory");
    for cell in report.cells.iter().filter(|c| c.origin != Origin::Published) {
        let record = record(cell);
        writer.write_record(record.iter().map(|it| harmless(it).into_owned())).expect("in memory");
    }
    let bytes = writer.into_inner().expect("in memory");
    String::from_utf8(bytes).expect("made of strings")
}

/// Puts an apostrophe before text that a spreadsheet would take for a formula, so that it stays
/// text (OWASP, "CSV Injection"). Numbers stay numbers. [`espbench_measure::published`] reads both
/// back.
#[must_use]
pub fn harmless(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    if is_formula && text.parse::<f64>().is_err() { format!("'{text}").into() } else { text.into() }
}

/// Renders one table alone, as reports show it.
#[must_use]
pub fn table(table: &Table) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(table.columns.iter().map(|c| c.head())).expect("in memory");
    for row in &table.rows {
        writer
            .write_record(
                row.iter().map(|t| harmless(t.as_deref().unwrap_or_default()).into_owned()),
            )
            .expect("in memory");
    }
    let bytes = writer.into_inner().expect("in memory");
    String::from_utf8(bytes).expect("made of strings")
}

fn record(cell: &Cell) -> [String; 14] {
    let id = &cell.id;
    let text = |t: &Option<String>| t.clone().unwrap_or_default();
    [
        text(&cell.source),
        id.table.clone(),
        id.chip.clone(),
        id.transport.clone(),
        id.mode.clone(),
        id.metric.clone(),
        number(id.payload_bytes),
        number(id.devices),
        number(id.distance_m),
        text(&id.security),
        text(&id.environment),
        number(cell.value),
        cell.unit.clone(),
        note::write(cell),
    ]
}

fn number<T: ToString>(number: Option<T>) -> String {
    number.map_or_else(String::new, |n| n.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_text_and_numbers_stay() {
        for formula in ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "-3.5–2"]
        {
            assert_eq!(harmless(formula), format!("'{formula}"));
        }
        for plain in ["-3.5", "+1e3", "-70", "rtt_avg", "", "a=b", "'quoted'"] {
            assert_eq!(harmless(plain), plain);
        }
    }
}

//! CSV in the columns of `published.csv`, so that both can be put one after the other.

use espbench_measure::cell::{Cell, Origin};
use espbench_measure::note;
use espbench_measure::published::COLUMNS;
use espbench_measure::report::Report;
use espbench_measure::table::Table;

/// The cells of the run; the published ones are in the product's own table. An unknown value is an
/// empty field. What the columns have no place for stands in the note: see
/// [`note`].
#[must_use]
pub fn render(report: &Report) -> String {
    let mut writer = ::csv::WriterBuilder::new()
        .terminator(::csv::Terminator::Any(b'\n'))
        .from_writer(Vec::new());
    // Writing to memory cannot fail, and every record has the same length.
    writer.write_record(COLUMNS).expect("in memory");
    for cell in report.cells.iter().filter(|c| c.origin != Origin::Published) {
        writer.write_record(record(cell)).expect("in memory");
    }
    let bytes = writer.into_inner().expect("in memory");
    String::from_utf8(bytes).expect("made of strings")
}

/// One table alone, as it is shown.
#[must_use]
pub fn table(table: &Table) -> String {
    let mut writer = ::csv::Writer::from_writer(Vec::new());
    writer.write_record(table.columns.iter().map(|c| c.head())).expect("in memory");
    for row in &table.rows {
        writer
            .write_record(row.iter().map(|t| t.as_deref().unwrap_or_default()))
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

//! Cells in the columns of `published.csv`.
//!
//! The host splits the file into fields; this makes cells of them. A user's own table of results
//! reads the same way, and so does the CSV form of a report: columns may stand in any order, and
//! those of a result that the published file lacks ([`columns`](crate::columns)) are read where they are.

use crate::cell::{Cell, Identity, Origin, print_distances};
use crate::columns::{ColumnType, ResultColumn};
use crate::label;
use crate::settings::{Setting, Settings};
use crate::wifi;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use espbench_stats::Estimate;

/// The columns, in the file's order.
pub const COLUMNS: [&str; 14] = [
    "source",
    "table",
    "chip",
    "transport",
    "mode",
    "metric",
    "payload_bytes",
    "devices",
    "distance_m",
    "security",
    "environment",
    "value",
    "unit",
    "note",
];

/// Column in which people write settings as words, as reports do: `binary, 8 in flight`.
pub const VARIANT: &str = "variant";

/// Column of the figure.
const VALUE: &str = "value";

/// Column of the distance, in which documents give ranges, too.
const DISTANCE: &str = "distance_m";

/// Column of free words; of a document's rows some are settings.
const NOTE: &str = "note";

/// Columns without which a row is no cell.
const NEEDED: [&str; 6] = ["table", "chip", "transport", "metric", "value", "unit"];

/// A field or a head that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    /// The column's name.
    pub column: String,
    /// Description of the fault, with what to do.
    pub message: String,
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "column `{}`: {}", self.column, self.message)
    }
}

impl core::error::Error for FieldError {}

fn wrong(column: &str, message: impl ToString) -> FieldError {
    FieldError { column: column.into(), message: message.to_string() }
}

/// The columns of one file, from its first line.
#[derive(Clone, Debug)]
pub struct CsvColumns {
    names: Vec<String>,
    /// The columns of the table of results; `None` for those of words.
    columns: Vec<Option<ResultColumn>>,
}

impl CsvColumns {
    /// Reads the head.
    ///
    /// # Errors
    /// A column that is not known, that stands twice, or that is needed and missing.
    pub fn new(head: &[&str]) -> Result<Self, FieldError> {
        // Spreadsheets put a byte order mark before the first name.
        let name = |h: &&str| h.trim_start_matches('\u{feff}').trim().to_string();
        let names: Vec<String> = head.iter().map(name).collect();
        for (position, name) in names.iter().enumerate() {
            let is_words = [NOTE, VARIANT].contains(&name.as_str());
            if !is_words && ResultColumn::find(name).is_none() {
                let known = COLUMNS.join(", ");
                return Err(wrong(name, format!("not a column of results; known are {known}")));
            }
            if names[..position].contains(name) {
                return Err(wrong(name, "stands twice in the first line"));
            }
        }
        match NEEDED.into_iter().find(|needed| !names.iter().any(|n| n == needed)) {
            Some(missing) => Err(wrong(missing, "missing in the first line")),
            None => {
                let columns = names.iter().map(|name| ResultColumn::find(name)).collect();
                Ok(Self { names, columns })
            }
        }
    }

    /// Returns the cell of one row. The origin is published where no column says otherwise.
    ///
    /// # Errors
    /// The wrong number of fields, a needed field that is empty, or text that is not a number where
    /// one belongs.
    pub fn cell(&self, fields: &[&str]) -> Result<Cell, FieldError> {
        if fields.len() != self.names.len() {
            let (got, wanted) = (fields.len(), self.names.len());
            let last = self.names.last().map_or("", |n| n.as_str());
            return Err(wrong(
                last,
                format!(
                    "the row has {got} fields and the first line {wanted}; quote fields with commas"
                ),
            ));
        }
        let row = Row { names: &self.names, fields };
        let note = row.text(NOTE);
        row.refuse_before(note.as_deref())?;
        let mut cell = Cell::of(Estimate::default(), Identity::default(), "", Origin::Published);
        cell.n = None;
        for (name, column) in self.names.iter().zip(&self.columns) {
            let Some(column) = column else { continue };
            row.take(name, *column, &mut cell)?;
        }
        // A value may be unknown; what it is of may not.
        let needed = NEEDED.into_iter().filter(|it| *it != VALUE);
        if let Some(empty) = needed.into_iter().find(|it| row.get(it).is_none()) {
            return Err(wrong(empty, "must not be empty"));
        }
        cell.settings.extend(row.settings(note.as_deref())?.iter().cloned());
        if cell.firmware.is_none() {
            cell.firmware = wifi::noted_firmware(&cell.id.table, note.as_deref());
        }
        let range = row.distances();
        cell.test.distances_m = range.or(cell.test.distances_m);
        cell.note = join(range.map(|it| format!("distance {}", print_distances(it))), note);
        Ok(cell)
    }
}

struct Row<'a> {
    names: &'a [String],
    fields: &'a [&'a str],
}

impl Row<'_> {
    /// Returns the field, unless it is empty or the file has no such column.
    fn get(&self, column: &str) -> Option<&str> {
        let position = self.names.iter().position(|n| n == column)?;
        Some(self.fields[position].trim()).filter(|field| !field.is_empty())
    }

    /// Returns text, without the apostrophe that keeps spreadsheets from taking it for a formula.
    fn text(&self, column: &str) -> Option<String> {
        let text = self.get(column)?;
        let bare = text.strip_prefix('\'').filter(|it| it.starts_with(['=', '+', '-', '@']));
        Some(bare.unwrap_or(text).to_string())
    }

    /// Puts a field into the cell.
    fn take(&self, name: &str, column: ResultColumn, cell: &mut Cell) -> Result<(), FieldError> {
        if name == DISTANCE && self.distances().is_some() {
            return Ok(());
        }
        let Some(field) = self.text(name) else { return Ok(()) };
        let value = column.field_type().read(&field).ok_or_else(|| {
            let what = match column.field_type() {
                ColumnType::Flag => "true or false",
                ColumnType::Count => "a whole number",
                ColumnType::Number => "a number; leave it empty where it is not known",
                ColumnType::Text => "text",
            };
            wrong(name, format!("`{field}` is not {what}"))
        })?;
        if column.set(cell, &value) {
            return Ok(());
        }
        Err(wrong(name, format!("`{field}` is none of its words: {}", column.doc())))
    }

    /// Refuses a row that a version before wrote, which put several facts into the note.
    fn refuse_before(&self, note: Option<&str>) -> Result<(), FieldError> {
        let has_origin = self.names.iter().any(|it| it == "origin");
        if has_origin || !note.is_some_and(|it| it.starts_with("origin=")) {
            return Ok(());
        }
        let message = "the table is of an earlier espbench, which wrote several facts into this \
                       column: make it again, `espbench report RUN -o FILE.csv`";
        Err(wrong(NOTE, message))
    }

    /// Returns the range of distances (`0.5-1`) that a document gives for many devices. A range is no one number: the
    /// identity of the cell then states no distance.
    fn distances(&self) -> Option<(f64, f64)> {
        let (low, high) = self.get(DISTANCE)?.split_once('-')?;
        low.parse().ok().zip(high.parse().ok())
    }

    /// Returns the settings of the column `variant`, and those that a document's reader noted.
    fn settings(&self, note: Option<&str>) -> Result<Settings, FieldError> {
        let typed = self.text(VARIANT).unwrap_or_default();
        let mut settings = label::read(&typed).map_err(|e| wrong(VARIANT, e))?;
        settings.extend(note.into_iter().flat_map(noted));
        Ok(settings)
    }
}

/// Reads the settings among the parts of a note that a person typed: `prints on every send`,
/// `discarded`, `offered 20 messages/s (50 ms apart): ...`. The other parts are for people alone.
fn noted(note: &str) -> impl Iterator<Item = Setting> + '_ {
    note.split(';').map(str::trim).filter_map(|part| match part {
        "discarded" => Some(Setting::Discarded(true)),
        "prints on every send" => Some(Setting::Prints(true)),
        _ => {
            let rate = part.strip_prefix("offered ")?.split_once(" messages/s")?.0;
            rate.parse().ok().map(Setting::Offered)
        }
    })
}

fn join(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(a), Some(b)) => Some(format!("{a}; {b}")),
        (a, b) => a.or(b),
    }
}

/// Reads CSV text as RFC 4180 has it, for the tests of this crate; the host has a library for it.
#[cfg(test)]
pub(crate) fn cells_of_csv(text: &str) -> Vec<Cell> {
    let split = |line: &str| -> Vec<String> {
        let (mut fields, mut quoted) = (alloc::vec![String::new()], false);
        for c in line.chars() {
            match c {
                '"' => quoted = !quoted,
                ',' if !quoted => fields.push(String::new()),
                c => fields.last_mut().unwrap().push(c),
            }
        }
        fields
    };
    let mut lines = text.lines();
    let head = split(lines.next().unwrap());
    let columns = CsvColumns::new(&head.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
    lines
        .map(|line| {
            let fields = split(line);
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            columns.cell(&fields).unwrap_or_else(|e| panic!("{line}: {e}"))
        })
        .collect()
}

/// Returns the published cells that the product ships.
#[cfg(test)]
pub(crate) fn shipped() -> Vec<Cell> {
    cells_of_csv(include_str!("../../../reference/published.csv"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shipped_file_reads() {
        let cells = shipped();
        assert_eq!(cells.len(), 514);
        let first = &cells[0];
        assert_eq!(first.id.metric, "latency_min");
        assert_eq!((first.id.payload_bytes, first.value), (Some(10), Some(2.28)));
        assert_eq!((first.origin, first.n, first.ci_low), (Origin::Published, None, None));
        let fleet = cells.iter().find(|c| c.id.table == "ota").unwrap();
        assert_eq!(fleet.id.distance_m, None);
        assert!(fleet.note.as_deref().unwrap().starts_with("distance 0.5-1 m; image "));
        let noted = cells.iter().filter(|c| c.note.as_deref().is_some_and(|n| n.contains(',')));
        assert!(noted.count() > 0, "quoted commas stay in their field");
    }

    #[test]
    fn mistakes_name_the_column() {
        let says = |head: &[&str]| CsvColumns::new(head).unwrap_err().to_string();
        assert!(says(&["table", "valeu"]).starts_with("column `valeu`: not a column of results"));
        assert_eq!(says(&["table", "table"]), "column `table`: stands twice in the first line");
        assert_eq!(says(&["table"]), "column `chip`: missing in the first line");

        let columns = CsvColumns::new(&COLUMNS).unwrap();
        let mut row = ["s", "t", "c", "udp", "", "rtt_avg", "10", "1", "", "", "", "1.5", "ms", ""];
        assert_eq!(columns.cell(&row).unwrap().value, Some(1.5));
        for (position, text, message) in [
            (6, "ten", "column `payload_bytes`: `ten` is not a whole number"),
            (
                11,
                "1,5",
                "column `value`: `1,5` is not a number; leave it empty where it is not known",
            ),
            (
                11,
                "inf",
                "column `value`: `inf` is not a number; leave it empty where it is not known",
            ),
            (12, "", "column `unit`: must not be empty"),
        ] {
            let kept = core::mem::replace(&mut row[position], text);
            assert_eq!(columns.cell(&row).unwrap_err().to_string(), message);
            row[position] = kept;
        }
        let short = columns.cell(&row[..13]).unwrap_err().to_string();
        assert!(short.contains("13 fields and the first line 14"), "{short}");
    }

    #[test]
    fn results_read_back_with_their_intervals() {
        let names =
            ["table", "chip", "transport", "metric", "value", "unit", "n", "ci_low", "origin"];
        let columns = CsvColumns::new(&names).unwrap();
        let cell = columns
            .cell(&["udp-echo", "host", "udp", "rtt_avg", "", "ms", "0", "", "simulated"])
            .unwrap();
        assert_eq!((cell.value, cell.n, cell.ci_low), (None, Some(0), None));
        assert_eq!(cell.origin, Origin::Simulated);
        let bad = ["udp-echo", "host", "udp", "rtt_avg", "", "ms", "0", "", "guessed"];
        assert!(
            columns.cell(&bad).unwrap_err().to_string().contains("`guessed` is none of its words")
        );
    }

    proptest::proptest! {
        #[test]
        fn no_field_panics(fields in proptest::collection::vec("\\PC{0,12}", 0..16)) {
            let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
            let _ = CsvColumns::new(&fields);
            let _ = CsvColumns::new(&COLUMNS).unwrap().cell(&fields);
        }
    }
}

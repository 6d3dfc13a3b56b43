//! The published figures: the product's own copy, or a file of the user's in the same columns.

use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use csv_core::{ReadRecordResult, Reader};
use espbench_measure::cell::Cell;
use espbench_measure::published::{CsvColumns, FieldError};
use espbench_measure::truth::mark_neighbours;

/// Bytes and fields of a usual record; room for longer ones is made when they come.
const LINE_BYTES: usize = 1024;
const LINE_FIELDS: usize = 24;

/// The product's own copy of `reference/published.csv`.
const BUILT_IN: &str = include_str!("../reference/published.csv");

/// Cells of that table that constants of the simulator were fitted on: the same rows, with the name
/// of the constant.
const FITTED: &str = include_str!("../reference/fitted.csv");

/// The reason for which a table of cells could not be read. `file` is its name in messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableError {
    /// A row has more or fewer fields than the first line.
    Length {
        /// The file.
        file: String,
        /// Line, from 1.
        line: u64,
        /// Fields of the row.
        fields: usize,
        /// Fields of the first line.
        columns: usize,
    },
    /// The head or a field cannot be read.
    Field {
        /// The file.
        file: String,
        /// Line, from 1.
        line: u64,
        /// Column of the table, from 1; 0 for one that is missing.
        column: usize,
        /// The column's name.
        name: String,
        /// Description of the fault.
        what: String,
    },
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length { file, line, fields, columns } => write!(
                f,
                "{file}: line {line}: the row has {fields} fields and the first line {columns}; quote \
                 fields with commas"
            ),
            Self::Field { file, line, column, name, what } => {
                write!(f, "{file}: line {line}, column {column} ({name}): {what}")
            }
        }
    }
}

impl core::error::Error for TableError {}

/// Returns the cells that come with the product; those that a constant of the simulator was fitted
/// on say so, with the constant's name.
///
/// # Panics
/// Never: a test reads the same bytes.
#[must_use]
pub fn built_in() -> Vec<Cell> {
    let mut cells = parse("published.csv", BUILT_IN).expect("the built-in table is tested");
    for fitted in fitted() {
        if let Some(cell) = cells.iter_mut().find(|c| is_of(c, &fitted)) {
            cell.fitted = true;
            cell.fitted_constant = fitted.fitted_constant;
        }
    }
    mark_neighbours(&mut cells);
    cells
}

fn fitted() -> Vec<Cell> {
    parse("fitted.csv", FITTED).expect("the built-in table is tested")
}

/// Returns whether a fitted cell is that published one. Several rows of a document may share their
/// columns: their notes are then the same, too.
fn is_of(published: &Cell, fitted: &Cell) -> bool {
    published.id == fitted.id
        && published.source == fitted.source
        && (fitted.note.is_none() || fitted.note == published.note)
}

/// Parses cells from CSV text. CsvColumns may stand in any order; the header may come again, as in
/// concatenated files.
///
/// # Errors
/// Line and column of the first fault; `file` is its name in messages.
pub fn parse(file: &str, text: &str) -> Result<Vec<Cell>, TableError> {
    let mut records = CsvRecords::new(text);
    let head = records.next().unwrap_or_default();
    let field = |line: u64, e: FieldError| TableError::Field {
        file: file.into(),
        line,
        column: head.fields.iter().position(|h| h.trim() == e.column).map_or(0, |at| at + 1),
        name: e.column,
        what: e.message,
    };
    let names: Vec<&str> = head.fields.iter().map(String::as_str).collect();
    let columns = CsvColumns::new(&names).map_err(|e| field(1, e))?;
    let mut cells = Vec::new();
    for CsvRecord { line, fields } in records {
        if fields.len() != names.len() {
            let (fields, columns) = (fields.len(), names.len());
            return Err(TableError::Length { file: file.into(), line, fields, columns });
        }
        if fields == names {
            continue;
        }
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let cell = columns.cell(&fields).map_err(|e| field(line, e))?;
        cells.push(cell);
    }
    Ok(cells)
}

/// A line of CSV, which may have line breaks in its quotes.
#[derive(Debug, Default)]
pub(crate) struct CsvRecord {
    /// Line where it begins, from 1.
    pub(crate) line: u64,
    pub(crate) fields: Vec<String>,
}

impl CsvRecord {
    /// Returns the text of a column, counted from 0; empty where the record is shorter.
    pub(crate) fn text(&self, column: usize) -> &str {
        self.fields.get(column).map_or("", String::as_str)
    }

    /// Says the line and the column of a field that is no value of its column.
    pub(crate) fn wrong(&self, columns: &[&str], column: usize) -> String {
        let text = self.text(column);
        format!("line {}, {}: `{text}` is no value of it", self.line, columns[column])
    }
}

/// Reads a table whose first line names these columns, one value a record.
///
/// # Errors
/// Line and column of the first fault.
pub(crate) fn read_table<T>(
    text: &str,
    columns: &[&str],
    one: impl Fn(&CsvRecord) -> Result<T, String>,
) -> Result<Vec<T>, String> {
    let mut records = CsvRecords::new(text);
    if records.next().unwrap_or_default().fields != columns {
        return Err(format!("line 1: the columns are {}", columns.join(",")));
    }
    records.map(|record| one(&record)).collect()
}

/// Splits CSV text into records (RFC 4180). Empty lines are none.
pub(crate) struct CsvRecords<'a> {
    reader: Reader,
    left: &'a [u8],
    /// The unquoted fields of a record one after the other, and where each ends.
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl<'a> CsvRecords<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let (buffer, ends) = (vec![0; LINE_BYTES], vec![0; LINE_FIELDS]);
        Self { reader: Reader::new(), left: text.as_bytes(), text: buffer, ends }
    }
}

impl Iterator for CsvRecords<'_> {
    type Item = CsvRecord;

    fn next(&mut self) -> Option<CsvRecord> {
        // Empty lines are no records, and the rest of a CRLF is of the line before.
        let breaks = self.left.iter().take_while(|it| matches!(it, b'\r' | b'\n')).count();
        let (skipped, left) = self.left.split_at(breaks);
        let lines = skipped.iter().filter(|it| **it == b'\n').count();
        let line = self.reader.line() + lines as u64;
        self.reader.set_line(line);
        self.left = left;
        let (mut bytes, mut count) = (0, 0);
        loop {
            let (text, ends) = (&mut self.text[bytes..], &mut self.ends[count..]);
            let (result, read, written, ended) = self.reader.read_record(self.left, text, ends);
            self.left = &self.left[read..];
            (bytes, count) = (bytes + written, count + ended);
            match result {
                // Asked again, the reader sees that there is no more.
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.text.resize(2 * self.text.len(), 0),
                ReadRecordResult::OutputEndsFull => self.ends.resize(2 * self.ends.len(), 0),
                ReadRecordResult::Record => break,
                ReadRecordResult::End => return None,
            }
        }
        let mut begin = 0;
        let field = |&end: &usize| {
            let field = String::from_utf8_lossy(&self.text[begin..end]).into_owned();
            begin = end;
            field
        };
        Some(CsvRecord { line, fields: self.ends[..count].iter().map(field).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_measure::cell::Origin;
    use espbench_measure::published::COLUMNS;
    use espbench_measure::truth::CellStanding;
    use proptest::prelude::*;
    use std::format;
    use std::string::ToString as _;

    #[test]
    fn the_built_in_table_reads_whole() {
        let cells = built_in();
        assert_eq!(cells.len(), 514);
        let first = cells.iter().find(|c| c.id.table == "udp-echo").unwrap();
        assert_eq!(first.id.metric, "rtt_avg");
        assert_eq!((first.value, first.id.payload_bytes), (Some(6.728), Some(1)));
        assert_eq!(first.id.distance_m, None);
        assert_eq!(first.source.as_deref(), Some("smellbomb-udp"));
        assert!(cells.iter().all(|c| c.origin == Origin::Published));
        let room = cells.iter().filter(|c| c.id.environment.as_deref() == Some("2 m, no obstacle"));
        assert_eq!(room.count(), 6);
        let mut ota = cells.iter().filter(|c| c.id.table == "ota" && c.id.distance_m.is_none());
        assert!(ota.all(|c| c.note.as_deref().is_some_and(|n| n.contains("distance 0.5-1 m"))));
    }

    /// The bounds of each of the two labs, ESP-NOW's and that over Wi-Fi: 15 constants on 40 cells.
    #[test]
    fn fitted_cells_are_published_ones_and_few() {
        let (fitted, cells) = (fitted(), built_in());
        let over_wifi = |it: &&Cell| it.id.transport != "esp-now";
        for wifi in [false, true] {
            let of_lab = fitted.iter().filter(|it| over_wifi(it) == wifi);
            let mut constants: Vec<&str> =
                of_lab.clone().filter_map(|it| it.fitted_constant.as_deref()).collect();
            assert!(of_lab.count() <= 40, "{} fitted cells", constants.len());
            constants.sort_unstable();
            constants.dedup();
            assert!(constants.len() <= 15, "{constants:?}");
        }
        for one in &fitted {
            let there: Vec<&Cell> = cells.iter().filter(|c| is_of(c, one)).collect();
            assert_eq!(there.len(), 1, "{:?}", one.id);
            assert!(there[0].fitted && there[0].value == one.value, "{:?}", one.id);
            assert!(one.fitted_constant.is_some(), "the constant's name: {:?}", one.id);
            assert_eq!(there[0].fitted_constant, one.fitted_constant);
        }
        assert_eq!(cells.iter().filter(|c| c.fitted).count(), fitted.len());
    }

    #[test]
    fn cells_next_to_fitted_ones_are_neighbours() {
        let cells = built_in();
        let standing = |table: &str, mode: &str, metric: &str, bytes: Option<u32>| {
            let is = |it: &&Cell| {
                (&*it.id.table, &*it.id.mode, &*it.id.metric) == (table, mode, metric)
                    && it.id.payload_bytes == bytes
                    && it.id.environment.as_deref() != Some("lab-air")
            };
            cells.iter().find(is).unwrap().standing.unwrap()
        };
        use CellStanding::{Fitted, Independent, Neighbour};
        // 10, 100 and 230 bytes were fitted.
        let unicast = |bytes| standing("round-trip", "unicast", "rtt_avg", Some(bytes));
        assert_eq!(
            [10, 50, 100, 150, 200, 230].map(unicast),
            [Fitted, Neighbour, Fitted, Neighbour, Neighbour, Fitted]
        );
        // 10 and 226 bytes were fitted, and the best rows have the buffers of a fitted rank.
        let crypto = |bytes| standing("crypto-time", "cpu", "encrypt_time", Some(bytes));
        assert_eq!(
            [50, 100, 150, 200].map(crypto),
            [Neighbour, Independent, Independent, Neighbour]
        );
        let rank = |mode| standing("esp32c3-rank", mode, "throughput_rx", None);
        assert_eq!(["rank-iperf", "rank-default"].map(rank), [Fitted, Neighbour]);
        assert_eq!(standing("esp32c3-best", "station", "throughput_rx", None), Neighbour);
        let ota = cells.iter().filter(|it| it.id.table == "ota");
        assert!(ota.clone().all(|it| it.standing == Some(Independent)) && ota.count() > 0);
        let count = |of| cells.iter().filter(|it| it.standing == Some(of)).count();
        assert_eq!(count(Fitted) + count(Neighbour) + count(Independent), cells.len());
        assert!(
            count(Independent) > count(Neighbour),
            "{} {}",
            count(Independent),
            count(Neighbour)
        );
    }

    #[test]
    fn a_fitted_row_that_shares_its_columns_is_told_by_its_note() {
        let cells = built_in();
        let mut rows = cells.iter().filter(|c| c.id.table == "esp8266-iperf");
        let published = rows.next().unwrap();
        let noted = |note: &str| Cell { note: Some(note.into()), ..published.clone() };
        let fitted = noted("RTOS SDK 2.2; direction as seen by the device; iperf2 -b 40M");
        let found: Vec<&Cell> = cells.iter().filter(|c| is_of(c, &fitted)).collect();
        assert_eq!(found.iter().map(|c| c.value).collect::<Vec<_>>(), [Some(14.9)]);
        assert_eq!(
            found[0].fitted_constant.as_deref(),
            Some("esp8266-sdk22.software.work_percent")
        );
        assert!(found[0].note.as_deref().unwrap().starts_with("RTOS SDK 2.2; "));
    }

    fn error(text: &str) -> String {
        parse("mine.csv", text).unwrap_err().to_string()
    }

    #[test]
    fn faults_name_line_and_column() {
        let header = COLUMNS.join(",");
        let row = |value: &str| format!("{header}\ns,t,c,udp,m,rtt_avg,1,1,,,,{value},ms,\n");
        assert_eq!(parse("mine.csv", &row("2.5")).unwrap()[0].value, Some(2.5));
        assert_eq!(
            error(&row("fast")),
            "mine.csv: line 2, column 12 (value): `fast` is not a number; leave it empty where it is not known"
        );
        assert!(error(&row("nan")).contains("`nan` is not a number"));
        assert_eq!(
            error(&format!("{header}\na,b\n")),
            "mine.csv: line 2: the row has 2 fields and the first line 14; quote fields with commas"
        );
        assert!(error("source,table\n").contains("(chip): missing in the first line"));
        assert!(error("").contains("missing in the first line"));
    }

    #[test]
    fn lines_are_counted_through_quotes_and_empty_lines() {
        let records: Vec<CsvRecord> =
            CsvRecords::new("a,\"b\nc\"\n\nd,e\r\n\"f\"\"g\",\u{fc}").collect();
        let seen: Vec<(u64, &[String])> = records.iter().map(|it| (it.line, &*it.fields)).collect();
        let fields = |fields: [&str; 2]| fields.map(String::from);
        assert_eq!(
            seen,
            [
                (1, &fields(["a", "b\nc"])[..]),
                (4, &fields(["d", "e"])[..]),
                (5, &fields(["f\"g", "\u{fc}"])[..]),
            ]
        );
    }

    #[test]
    fn a_long_field_is_whole() {
        let long = "x".repeat(5000);
        let text = format!("{long},{}", "y,".repeat(100));
        let records: Vec<CsvRecord> = CsvRecords::new(&text).collect();
        assert_eq!((records.len(), records[0].fields.len()), (1, 102));
        assert_eq!(records[0].fields[0], long);
    }

    #[test]
    fn concatenated_files_read_as_one() {
        let twice = format!("{BUILT_IN}{BUILT_IN}");
        assert_eq!(parse("both.csv", &twice).unwrap().len(), 2 * 514);
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "\\PC{0,200}", rows in "[a-z0-9,\"\n.;=-]{0,200}") {
            let _ = parse("any.csv", &text);
            let _ = parse("any.csv", &format!("{}\n{rows}", COLUMNS.join(",")));
        }
    }
}

//! The published figures: the product's own copy, or a file of the user's in the same columns.

use espbench_measure::cell::Cell;
use espbench_measure::note;
use espbench_measure::published::{CsvColumns, FieldError};
use espbench_measure::wifi::noted_firmware;
use std::path::Path;

/// The product's own copy of `reference/published.csv`.
const BUILT_IN: &str = include_str!("../../../reference/published.csv");

/// Cells of that table that constants of the simulator were fitted on: the same rows, with the name
/// of the constant.
const FITTED: &str = include_str!("../../../reference/fitted.csv");

/// Why a file of cells could not be read.
#[derive(Debug, thiserror::Error)]
pub enum PublishedError {
    /// The file cannot be opened or read.
    #[error("{file}: {source}; give the path of a CSV file in the columns of published.csv")]
    Io {
        /// The file.
        file: String,
        /// The system's error.
        source: std::io::Error,
    },
    /// The text is no CSV, or its rows have different lengths.
    #[error("{file}: line {line}: {what}; each row has the 14 fields of published.csv")]
    Csv {
        /// The file.
        file: String,
        /// Line, from 1.
        line: u64,
        /// Description of the fault.
        what: String,
    },
    /// The head or a field cannot be read.
    #[error("{file}: line {line}, column {column} ({name}): {what}")]
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

/// Reads the cells of a user's file: published ones, or those of a report in CSV.
///
/// # Errors
/// File, line and column of the first fault.
pub fn read(path: &Path) -> Result<Vec<Cell>, PublishedError> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path)
        .map_err(|source| PublishedError::Io { file: file.clone(), source })?;
    parse(&file, &text)
}

/// Parses cells from CSV text. Columns may stand in any order; the header may come again, as in
/// concatenated files.
///
/// # Errors
/// Line and column of the first fault; `file` is its name in messages.
pub fn parse(file: &str, text: &str) -> Result<Vec<Cell>, PublishedError> {
    let mut reader = csv::ReaderBuilder::new().has_headers(true).from_reader(text.as_bytes());
    let fault = |e: csv::Error| PublishedError::Csv {
        file: file.into(),
        line: e.position().map_or(1, csv::Position::line),
        what: e.to_string(),
    };
    let head = reader.headers().map_err(fault)?.clone();
    let field = |line: u64, e: FieldError| PublishedError::Field {
        file: file.into(),
        line,
        column: head.iter().position(|h| h.trim() == e.column).map_or(0, |at| at + 1),
        name: e.column,
        what: e.message,
    };
    let columns = CsvColumns::new(&head.iter().collect::<Vec<&str>>()).map_err(|e| field(1, e))?;
    let mut cells = Vec::new();
    for record in reader.records() {
        let record = record.map_err(fault)?;
        if record == head {
            continue;
        }
        let line = record.position().map_or(0, csv::Position::line);
        let fields: Vec<&str> = record.iter().collect();
        let mut cell = columns.cell(&fields).map_err(|e| field(line, e))?;
        if let Some(note) = cell.note.take() {
            note::read(&note, &mut cell).map_err(|e| {
                let (column, message) = ("note".into(), e.to_string());
                field(line, FieldError { column, message })
            })?;
            cell.firmware = noted_firmware(&cell.id.table, cell.note.as_deref());
        }
        cells.push(cell);
    }
    Ok(cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_measure::cell::Origin;
    use espbench_measure::published::COLUMNS;
    use proptest::prelude::*;

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
    fn a_fitted_row_that_shares_its_columns_is_told_by_its_note() {
        let cells = built_in();
        let mut rows = cells.iter().filter(|c| c.id.table == "esp8266-iperf");
        let published = rows.next().unwrap();
        let noted = |note: &str| Cell { note: Some(note.into()), ..published.clone() };
        let fitted = noted("RTOS SDK 1.4.x; direction as seen by the device; iperf2 -b 40M");
        let found: Vec<&Cell> = cells.iter().filter(|c| is_of(c, &fitted)).collect();
        assert_eq!(found.iter().map(|c| c.value).collect::<Vec<_>>(), [Some(27.6)]);
        assert_eq!(found[0].fitted_constant.as_deref(), Some("esp8266.socket_receive.fixed_us"));
        assert!(found[0].note.as_deref().unwrap().starts_with("RTOS SDK 1.4.x; "));
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
        assert!(error(&format!("{header}\na,b\n")).starts_with("mine.csv: line 2: "));
        assert!(error("source,table\n").contains("(chip): missing in the first line"));
        assert!(error("").contains("missing in the first line"));
        let missing = read(Path::new("/nonexistent/mine.csv")).unwrap_err().to_string();
        assert!(missing.starts_with("/nonexistent/mine.csv: "), "{missing}");
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

//! Errors of the lab over ten seeds, as `espbench lab truth` found them: the table that comes with the
//! product, its reader and its writer.

use crate::published::{CsvRecord, CsvRecords};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_measure::truth::{
    CellGroup, CellStanding, Documents, SeedErrors, SeedGroup, over_seeds,
};

/// The product's own copy of `reference/truth.csv`.
const BUILT_IN: &str = include_str!("../reference/truth.csv");

/// Columns of the table.
const COLUMNS: [&str; 7] =
    ["documents", "group", "standing", "seed", "cells", "median_error_percent", "within_percent"];

/// Word of the first column for all documents together.
const ALL_DOCUMENTS: &str = "all-documents";

/// Returns the groups of the table that comes with the product.
///
/// # Panics
/// Never: a test reads the same bytes.
#[must_use]
pub fn built_in() -> Vec<SeedGroup> {
    over_seeds(&parse(BUILT_IN).expect("the built-in table is tested"))
}

/// Parses the table.
///
/// # Errors
/// Line and column of the first fault.
pub fn parse(text: &str) -> Result<Vec<SeedErrors>, String> {
    let mut records = CsvRecords::new(text);
    let head = records.next().unwrap_or_default();
    if head.fields != COLUMNS {
        return Err(format!("line 1: the columns are {}", COLUMNS.join(",")));
    }
    records.map(|record| row(&record)).collect()
}

fn row(record: &CsvRecord) -> Result<SeedErrors, String> {
    let wrong = |column: usize| {
        let text = record.fields.get(column).map_or("", String::as_str);
        format!("line {}, {}: `{text}` is no value of it", record.line, COLUMNS[column])
    };
    let field = |column: usize| record.fields.get(column).map(String::as_str);
    let percent = |column: usize| match field(column) {
        Some("") => Ok(None),
        text => match text.and_then(|it| it.parse::<f64>().ok()).filter(|it| it.is_finite()) {
            Some(percent) => Ok(Some(percent)),
            None => Err(wrong(column)),
        },
    };
    Ok(SeedErrors {
        documents: match field(0) {
            Some(ALL_DOCUMENTS) => None,
            word => Some(word.and_then(Documents::from_name).ok_or_else(|| wrong(0))?),
        },
        group: field(1).and_then(CellGroup::from_key).ok_or_else(|| wrong(1))?,
        standing: match field(2) {
            Some("") => None,
            word => Some(word.and_then(CellStanding::from_name).ok_or_else(|| wrong(2))?),
        },
        seed: field(3).and_then(|it| it.parse().ok()).ok_or_else(|| wrong(3))?,
        cells: field(4).and_then(|it| it.parse().ok()).ok_or_else(|| wrong(4))?,
        median_percent: percent(5)?,
        within_percent: percent(6)?,
    })
}

/// Writes the table; no field needs quotes.
#[must_use]
pub fn csv(rows: &[SeedErrors]) -> String {
    let percent = |it: Option<f64>| it.map_or_else(String::new, |it| format!("{it:.2}"));
    let mut lines = alloc::vec![COLUMNS.join(",")];
    lines.extend(rows.iter().map(|it| {
        let (seed, cells) = (it.seed.to_string(), it.cells.to_string());
        let (median, within) = (percent(it.median_percent), percent(it.within_percent));
        let standing = it.standing.map_or("", CellStanding::name);
        let documents = it.documents.map_or(ALL_DOCUMENTS, Documents::name);
        [documents, it.group.key(), standing, &seed, &cells, &median, &within].join(",")
    }));
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_built_in_table_has_ten_seeds_of_each_group_and_is_written_as_it_was_read() {
        let rows = parse(BUILT_IN).unwrap();
        assert_eq!(csv(&rows), BUILT_IN);
        let groups = built_in();
        assert!(groups.iter().all(|it| it.seeds == 10), "{groups:?}");
        for documents in [Some(Documents::EspNow), Some(Documents::Wifi), None] {
            let middle =
                groups.iter().find(|it| it.documents == documents && it.group == CellGroup::Middle);
            let within = middle.unwrap().within_percent.unwrap();
            assert!(within.low <= within.mean && within.mean <= within.high);
        }
    }

    #[test]
    fn faults_name_line_and_column() {
        let said = |row: &str| parse(&format!("{}\n{row}\n", COLUMNS.join(","))).unwrap_err();
        assert_eq!(said("wi-fi,middle,,1,2,3,4"), "line 2, documents: `wi-fi` is no value of it");
        assert_eq!(
            said("wifi-documents,middle,,1,2,nan,4"),
            "line 2, median_error_percent: `nan` is no value of it"
        );
        assert_eq!(said("wifi-documents,middle,,1"), "line 2, cells: `` is no value of it");
        assert!(parse("group\n").unwrap_err().starts_with("line 1: the columns are documents,"));
        let empty =
            parse(&format!("{}\nwifi-documents,others,,1,2,,50\n", COLUMNS.join(","))).unwrap();
        assert_eq!((empty[0].median_percent, empty[0].within_percent), (None, Some(50.0)));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[a-z0-9,\"\n.-]{0,80}") {
            let _ = parse(&text);
            let _ = parse(&format!("{}\n{text}", COLUMNS.join(",")));
        }
    }
}

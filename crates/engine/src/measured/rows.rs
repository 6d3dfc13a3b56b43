//! The table `reference/measured.csv`, and its reader.

use crate::published::{CsvRecord, read_table};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;
use espbench_model::sdkconfig::{self, Chip, ParsedSdkConfig, Rank};

/// The product's own copy of the table.
const BUILT_IN: &str = include_str!("../../reference/measured.csv");

/// Columns of the table.
const COLUMNS: [&str; 11] = [
    "id", "table", "chip", "profile", "variant", "settings", "metric", "value", "unit", "source",
    "trust",
];

/// Table of documents that a row is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MeasuredTable {
    /// Espressif's guide: throughput of recommended settings.
    Rank,
    /// Espressif's guide: throughput with buffers in PSRAM.
    RankPsram,
    /// Espressif's guide: best throughput, with the settings of the example iperf.
    Best,
    /// Espressif's guide: mean currents of a station that sleeps.
    Sleep,
    /// Two measurements of `esp_now_send` alone, by PHY rate.
    EspNow,
}

impl MeasuredTable {
    /// All tables.
    pub const ALL: [Self; 5] = [Self::Rank, Self::RankPsram, Self::Best, Self::Sleep, Self::EspNow];

    /// Returns the name in the column `table`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rank => "rank",
            Self::RankPsram => "rank-psram",
            Self::Best => "best",
            Self::Sleep => "sleep",
            Self::EspNow => "esp-now",
        }
    }

    /// Returns the lab in which its rows are simulated.
    #[must_use]
    pub const fn lab(self) -> &'static str {
        match self {
            Self::Rank | Self::RankPsram | Self::Best => "shield-box",
            Self::Sleep => "power-save",
            Self::EspNow => "raw-esp-now",
        }
    }

    /// Returns the table of that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// A value that somebody measured.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRow {
    /// Name of the row.
    pub id: String,
    /// Table that it is of.
    pub table: MeasuredTable,
    /// The chip.
    pub chip: Chip,
    /// Profile of the chip with the firmware that was measured.
    pub profile: String,
    /// Row of the document's table: the rank, the way of sleeping, addressing and rate.
    pub variant: String,
    /// Settings of the firmware: in the file options of sdkconfig without `CONFIG_`, with blanks between them.
    pub firmware: ParsedSdkConfig,
    /// Figure that was measured.
    pub metric: String,
    /// Value.
    pub value: f64,
    /// Unit of the value.
    pub unit: String,
    /// Document and its version.
    pub source: String,
    /// Worth of the value, where that is little.
    pub trust: String,
}

impl MeasuredRow {
    /// Returns whether it is a throughput of that rank.
    #[must_use]
    pub fn is_of(&self, rank: &Rank) -> bool {
        let words = self.variant.split('-').eq(rank.name.split([' ', '-']));
        self.table == MeasuredTable::Rank && self.chip == rank.chip && words
    }
}

/// Reads the options of a row.
fn firmware(words: &str) -> Option<ParsedSdkConfig> {
    let options = words.split(' ').filter(|it| !it.is_empty());
    let text: String = options.map(|it| format!("CONFIG_{it}\n")).collect();
    sdkconfig::read(&text).ok()
}

/// Returns the rows that come with the product.
///
/// # Panics
/// Never: a test reads the same bytes.
#[must_use]
pub fn built_in() -> Vec<MeasuredRow> {
    parse(BUILT_IN).expect("the built-in table is tested")
}

/// Parses the table.
///
/// # Errors
/// Line and column of the first fault.
pub fn parse(text: &str) -> Result<Vec<MeasuredRow>, String> {
    read_table(text, &COLUMNS, row)
}

fn row(record: &CsvRecord) -> Result<MeasuredRow, String> {
    let field = |column: usize| record.text(column);
    let wrong = |column: usize| record.wrong(&COLUMNS, column);
    let text = |column: usize| field(column).to_string();
    Ok(MeasuredRow {
        id: text(0),
        table: MeasuredTable::from_name(field(1)).ok_or_else(|| wrong(1))?,
        chip: field(2).parse().map_err(|_| wrong(2))?,
        profile: text(3),
        variant: text(4),
        firmware: firmware(field(5)).ok_or_else(|| wrong(5))?,
        metric: text(6),
        value: field(7).parse().ok().filter(|it: &f64| *it > 0.0).ok_or_else(|| wrong(7))?,
        unit: text(8),
        source: text(9),
        trust: text(10),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::sdkconfig::RANKS;
    use std::collections::BTreeSet;

    #[test]
    fn the_built_in_table_reads_whole() {
        let rows = built_in();
        let ids: BTreeSet<&str> = rows.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids.len(), rows.len(), "each row has a name of its own");
        assert!(rows.iter().all(|it| !it.source.is_empty()));
        for table in MeasuredTable::ALL {
            assert!(rows.iter().any(|it| it.table == table), "{table:?}");
        }
    }

    /// The ranks that `espbench tune` knows are these, too.
    #[test]
    fn ranks_have_the_throughput_of_the_table() {
        let rows = built_in();
        let metrics = ["tcp-tx", "tcp-rx", "udp-tx", "udp-rx"];
        for rank in RANKS {
            for (metric, value) in metrics.into_iter().zip(rank.mbit_s) {
                let row = rows.iter().find(|it| it.is_of(rank) && it.metric == metric);
                assert_eq!(row.map(|it| it.value), Some(value), "{} {metric}", rank.name);
            }
        }
        let of_ranks = rows.iter().filter(|it| it.table == MeasuredTable::Rank);
        assert_eq!(of_ranks.count(), 4 * RANKS.len());
    }

    #[test]
    fn faults_name_line_and_column() {
        let said = |row: &str| parse(&format!("{}\n{row}\n", COLUMNS.join(","))).unwrap_err();
        assert_eq!(said("a,b,esp32,p,,,m,1,u,s,"), "line 2, table: `b` is no value of it");
        assert_eq!(said("a,rank,esp99,p,,,m,1,u,s,"), "line 2, chip: `esp99` is no value of it");
        assert_eq!(said("a,rank,esp32,p,,,m,0,u,s,"), "line 2, value: `0` is no value of it");
        assert!(parse("id\n").unwrap_err().starts_with("line 1: the columns are id,"));
    }
}

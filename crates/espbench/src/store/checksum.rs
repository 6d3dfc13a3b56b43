//! Checksums of what a cell recorded, so that a damaged file shows no figure that was never measured: SQLite finds damage
//! of its own structure, and none of a value.
//!
//! A cell's checksum stands among its facts. An older espbench that measures the cell again writes facts without one, and what
//! has none is read as it is.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};
use std::collections::BTreeMap;

/// Name of the checksum among the facts of a cell.
const FACT: &str = "checksum";

/// Digits of each of its numbers: a form by which it is found under a damaged name.
const DIGITS: usize = 16;

/// A checksum of values in their order. Each step is a bijection of what came before, so that no single changed value goes
/// unseen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct RowSum(u64);

impl RowSum {
    fn word(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    /// Adds bytes and their number.
    fn bytes(&mut self, bytes: &[u8]) {
        self.word(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.word(u64::from_le_bytes(word));
        }
    }

    /// Adds a value as SQLite holds it.
    pub(super) fn value(&mut self, value: ValueRef<'_>) {
        match value {
            ValueRef::Null => self.word(0),
            ValueRef::Integer(it) => {
                self.word(1);
                self.word(it.cast_unsigned());
            }
            // SQLite stores NULL in place of what is no number.
            ValueRef::Real(it) if it.is_nan() => self.word(0),
            ValueRef::Real(it) => {
                self.word(2);
                self.word(it.to_bits());
            }
            ValueRef::Text(it) => {
                self.word(3);
                self.bytes(it);
            }
            ValueRef::Blob(it) => {
                self.word(4);
                self.bytes(it);
            }
        }
    }

    /// Adds the values of a row that is written.
    pub(super) fn row(&mut self, values: &[&dyn ToSql]) -> rusqlite::Result<()> {
        for value in values {
            match value.to_sql()? {
                ToSqlOutput::Borrowed(it) => self.value(it),
                ToSqlOutput::Owned(it) => self.value((&it).into()),
                _ => {}
            }
        }
        Ok(())
    }
}

/// Checksums of a cell: of its two tables of samples, and of the run's and its own facts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CellSums {
    pub(super) probes: RowSum,
    pub(super) intervals: RowSum,
    pub(super) outcome: RowSum,
}

impl CellSums {
    /// Returns the checksum that a cell's facts have; none of what an older espbench recorded.
    ///
    /// # Errors
    /// It is there and is none, or stands under another name.
    pub(super) fn take(facts: &mut BTreeMap<String, String>) -> Result<Option<Self>, String> {
        let Some(text) = facts.remove(FACT) else {
            let is_whole = |text: &str| text.split(' ').all(|it| it.len() == DIGITS);
            let is_one = |text: &str| is_whole(text) && Self::read(text).is_some();
            let renamed = facts.iter().find(|it| is_one(it.1));
            return renamed.map_or(Ok(None), |it| Err(format!("its checksum is named {:?}", it.0)));
        };
        Self::read(&text).map(Some).ok_or_else(|| format!("its checksum is {text:?}"))
    }

    /// Reads three numbers.
    fn read(text: &str) -> Option<Self> {
        let number = |it| u64::from_str_radix(it, 16).ok().map(RowSum);
        let sums: Option<Vec<RowSum>> = text.split(' ').map(number).collect();
        let &[probes, intervals, outcome] = sums?.as_slice() else { return None };
        Some(Self { probes, intervals, outcome })
    }

    /// Adds the checksum to a cell's facts.
    pub(super) fn put(&self, facts: &mut BTreeMap<String, String>) {
        let Self { probes, intervals, outcome } = self;
        facts.insert(
            FACT.into(),
            format!("{:016x} {:016x} {:016x}", probes.0, intervals.0, outcome.0),
        );
    }
}

/// Returns the checksum of what is told about a cell and its run, beside samples: but for the time of day, since the same
/// simulation makes the same store. `facts` are without the checksum.
pub(super) fn outcome(
    db: &Connection,
    cell: i64,
    status: &str,
    error: Option<&str>,
    counters: &str,
    facts: &str,
) -> rusqlite::Result<RowSum> {
    let mut sum = RowSum::default();
    for text in [status, error.unwrap_or_default(), counters, facts] {
        sum.bytes(text.as_bytes());
    }
    let mut query = db.prepare_cached(
        "SELECT cell.position, run.name, json_remove(run.facts, '$.started'), run.overhead
         FROM cell JOIN run ON run.id = cell.run_id WHERE cell.id = ?1",
    )?;
    query.query_row([cell], |row| {
        (0..4).try_for_each(|column| {
            sum.value(row.get_ref(column)?);
            Ok(())
        })
    })?;
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_and_its_place_count() {
        let sum = |values: &[ValueRef<'_>]| {
            let mut sum = RowSum::default();
            values.iter().for_each(|it| sum.value(*it));
            sum
        };
        let (one, two) = (ValueRef::Integer(1), ValueRef::Integer(2));
        let all = [
            sum(&[one, two]),
            sum(&[two, one]),
            sum(&[one, two, ValueRef::Null]),
            sum(&[one, ValueRef::Real(2.0)]),
            sum(&[one, ValueRef::Integer(2 | i64::MIN)]),
            sum(&[ValueRef::Text(b"ab"), ValueRef::Text(b"c")]),
            sum(&[ValueRef::Text(b"a"), ValueRef::Text(b"bc")]),
            sum(&[ValueRef::Text(b"a"), ValueRef::Blob(b"bc")]),
            sum(&[ValueRef::Text(b"a\\0"), ValueRef::Text(b"bc")]),
        ];
        for (nth, one) in all.iter().enumerate() {
            assert!(!all[..nth].contains(one), "{nth}");
        }
        assert_eq!(sum(&[ValueRef::Real(f64::NAN)]), sum(&[ValueRef::Null]));
    }

    #[test]
    fn a_checksum_stands_among_the_facts_and_is_none_of_them() {
        let mut facts = BTreeMap::from([("tcp".to_owned(), "1".to_owned())]);
        let sums = CellSums { probes: RowSum(7), ..CellSums::default() };
        sums.put(&mut facts);
        assert_eq!(CellSums::take(&mut facts), Ok(Some(sums)));
        assert_eq!((facts.len(), CellSums::take(&mut facts)), (1, Ok(None)));
        // One octet of its name is another: it is no fact.
        sums.put(&mut facts);
        let text = facts.remove(FACT).unwrap();
        facts.insert("(hecksum".into(), text);
        assert!(CellSums::take(&mut facts).unwrap_err().contains("(hecksum"));
        facts.clear();
        facts.insert(FACT.into(), "7 7".into());
        assert!(CellSums::take(&mut facts).is_err());
    }
}

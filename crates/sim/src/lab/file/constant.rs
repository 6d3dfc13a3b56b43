//! Constants with their sources: tables of numbers, each table with `source` and, where its
//! numbers were fitted, `fitted`.

use super::block::{Keys, TomlTable};
use super::key::{KeySpec, KeyType, key};
use super::wrong::FileError;
use crate::lab::profile::{Confidence, ConstantOrigin, Source};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// One number of a file.
pub(super) struct ConstantKey<T: 'static> {
    /// The key in its table.
    pub(super) key: KeySpec,
    /// Reads it from what the file describes; nothing where that has none.
    pub(super) get: fn(&T) -> Option<f64>,
    /// Sets it, in range.
    pub(super) set: fn(&mut T, f64),
}

/// Constants with one source.
pub(super) struct ConstantGroup<T: 'static> {
    /// The table's name.
    pub(super) table: &'static str,
    /// Subject of the constants, for the documentation.
    pub(super) about: &'static str,
    /// The constants.
    pub(super) constants: &'static [ConstantKey<T>],
    /// Their keys, and those of the source.
    pub(super) keys: Keys,
}

impl<T> Clone for ConstantGroup<T> {
    fn clone(&self) -> Self {
        *self
    }
}

// All of it is static, whatever it describes.
impl<T> Copy for ConstantGroup<T> {}

/// A table of constants of which each is a field: its key, then how the field holds the number.
macro_rules! group {
    ($table:literal, $about:literal, $(($key:expr, $($how:tt)+)),+ $(,)?) => {
        ConstantGroup {
            table: $table,
            about: $about,
            keys: &[$($key,)+ SOURCE, CONFIDENCE, FITTED, ORIGIN, ASSUMED, BY_HAND, LOOKED_AT],
            constants: &[$(constant!($key, $($how)+)),+],
        }
    };
}
pub(super) use group;

/// A constant: `float`, `option` of one, `whole` of a type, or `time` in so many nanoseconds.
macro_rules! constant {
    ($key:expr, float $($field:tt)+) => {
        ConstantKey {
            key: $key,
            get: |it| Some(it.$($field)+),
            set: |it, number| it.$($field)+ = number,
        }
    };
    ($key:expr, option $($field:tt)+) => {
        ConstantKey {
            key: $key,
            get: |it| it.$($field)+,
            set: |it, number| it.$($field)+ = Some(number),
        }
    };
    ($key:expr, whole $type:ident $($field:tt)+) => {
        ConstantKey {
            key: $key,
            get: |it| Some(f64::from(it.$($field)+)),
            set: |it, number| it.$($field)+ = number as $type,
        }
    };
    ($key:expr, time $ns:literal $($field:tt)+) => {
        ConstantKey {
            key: $key,
            get: |it| Some(it.$($field)+.as_nanos() as f64 / $ns),
            set: |it, number| it.$($field)+ = Duration::from_nanos(rounded(number * $ns)),
        }
    };
    // 0 or 1.
    ($key:expr, switch $($field:tt)+) => {
        ConstantKey {
            key: $key,
            get: |it| Some(f64::from(u8::from(it.$($field)+))),
            set: |it, number| it.$($field)+ = number != 0.0,
        }
    };
    // A whole number in smaller units; 0, which is not told, if it is left out.
    ($key:expr, scaled $type:ident $scale:literal $($field:tt)+) => {
        ConstantKey {
            key: $key,
            get: |it| Some(f64::from(it.$($field)+) / $scale).filter(|&it| it > 0.0),
            set: |it, number| it.$($field)+ = rounded(number * $scale) as $type,
        }
    };
    // 0, which is not told, if it is left out.
    ($key:expr, spare $scale:literal $($field:tt)+) => {
        ConstantKey {
            key: $key,
            get: |it| Some(it.$($field)+ as f64 / $scale).filter(|&it| it > 0.0),
            set: |it, number| it.$($field)+ = rounded(number * $scale),
        }
    };
}
pub(super) use constant;

/// Rounds to the whole number that a time or a size is kept in. Casts from floats saturate.
pub(super) fn rounded(number: f64) -> u64 {
    libm::rint(number) as u64
}

/// Key of the source of a table's numbers.
pub(super) const SOURCE: KeySpec = key(
    "source",
    KeyType::Text,
    "",
    "where the numbers come from: standard and clause, datasheet, measurement, or the cells they were fitted on",
);
/// Key of the confidence in them.
pub(super) const CONFIDENCE: KeySpec = key(
    "confidence",
    KeyType::Word(&["high", "medium", "low"]),
    "not said",
    "how far they can be trusted: a document's figure for this chip, computed from such figures, or a guess. What comes from another chip's profile counts one step less",
);
/// Key of the list of those that were fitted.
pub(super) const FITTED: KeySpec =
    key("fitted", KeyType::Texts, "[]", "keys of this table that were fitted to published cells");
/// Key of the origin of what no other list names.
pub(super) const ORIGIN: KeySpec = key(
    "origin",
    KeyType::Word(&["published", "standard", "by-hand", "assumed"]),
    "not said",
    "where the numbers are from that no list below names: a document, a standard, a choice after a look at published figures, or nowhere",
);
/// Key of the list of those that nobody knows.
pub(super) const ASSUMED: KeySpec =
    key("assumed", KeyType::Texts, "[]", "keys of this table that are guesses");
/// Key of the list of those that a person chose.
pub(super) const BY_HAND: KeySpec = key(
    "by_hand",
    KeyType::Texts,
    "[]",
    "keys of this table that were set by hand after a look at published figures",
);
/// Key of what was looked at.
pub(super) const LOOKED_AT: KeySpec = key(
    "looked_at",
    KeyType::Text,
    "must be given with what was set by hand",
    "figures that were looked at before numbers were set by hand",
);
/// Keys of notes on a table's numbers.
pub(super) const NOTES: [KeySpec; 7] =
    [SOURCE, CONFIDENCE, FITTED, ORIGIN, ASSUMED, BY_HAND, LOOKED_AT];

/// Notes on a table's numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Notes {
    pub(super) source: String,
    confidence: Option<Confidence>,
    origin: Option<ConstantOrigin>,
    lists: Vec<(String, ConstantOrigin)>,
    looked_at: Option<String>,
}

impl Notes {
    /// Reads the notes of a table that has these numbers.
    pub(super) fn read(
        table: &TomlTable<'_>,
        known: impl Iterator<Item = &'static str> + Clone,
    ) -> Result<Self, FileError> {
        let mut notes = Self {
            source: table.text(SOURCE.name)?.unwrap_or_default(),
            confidence: table.word(CONFIDENCE.name)?.map(|at| Confidence::NAMED[at].1),
            origin: table.word(ORIGIN.name)?.map(|at| ConstantOrigin::NAMED[at].1),
            lists: Vec::new(),
            looked_at: table.text(LOOKED_AT.name)?,
        };
        for (key, origin) in [
            (&FITTED, ConstantOrigin::Fitted),
            (&ASSUMED, ConstantOrigin::Assumed),
            (&BY_HAND, ConstantOrigin::ByHand),
        ] {
            // At the top of a lab, `[[fitted]]` are blocks about whole runs.
            let is_list = |it: &KeySpec| matches!(it.is, KeyType::Texts);
            if !table.key(key.name).is_some_and(is_list) {
                continue;
            }
            for (name, at) in table.texts(key.name)?.unwrap_or_default() {
                if !known.clone().any(|it| it == name) || !table.has(&name) {
                    let message = format!("`{}`: this table has no number `{name}`", key.name);
                    return Err(table.source.wrong(at, message));
                }
                if notes.lists.iter().any(|it| it.0 == name) {
                    let message = format!("`{}`: `{name}` has another origin already", key.name);
                    return Err(table.source.wrong(at, message));
                }
                notes.lists.push((name, origin));
            }
        }
        let by_hand = core::iter::once(notes.origin).chain(notes.lists.iter().map(|it| Some(it.1)));
        if by_hand.into_iter().any(|it| it == Some(ConstantOrigin::ByHand)) {
            table.must(LOOKED_AT.name, notes.looked_at.clone())?;
        }
        Ok(notes)
    }

    /// Returns the source of a number of the table, under its whole key.
    pub(super) fn of(&self, name: &str, key: String) -> Source {
        let listed = self.lists.iter().find(|it| it.0 == name).map(|it| it.1);
        let origin = listed.or(self.origin);
        let by_hand = origin == Some(ConstantOrigin::ByHand);
        let looked_at = self.looked_at.clone().filter(|_| by_hand);
        Source { key, text: self.source.clone(), origin, looked_at, confidence: self.confidence }
    }
}

/// Constants that a file states.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Values {
    /// Table, key, number.
    pub(super) numbers: Vec<(&'static str, &'static str, f64)>,
    pub(super) sources: Vec<Source>,
}

impl Values {
    /// Sets one number.
    pub(super) fn set(&mut self, table: &'static str, key: &'static str, number: f64) {
        match self.numbers.iter_mut().find(|it| (it.0, it.1) == (table, key)) {
            Some(it) => it.2 = number,
            None => self.numbers.push((table, key, number)),
        }
    }

    /// Returns a number, if it is stated.
    pub(super) fn number(&self, table: &str, key: &str) -> Option<f64> {
        self.numbers.iter().find(|it| (it.0, it.1) == (table, key)).map(|it| it.2)
    }

    /// Makes the times in these tables so many times as long.
    pub(super) fn scale(&mut self, tables: &[&str], by: f64) {
        for (table, key, number) in &mut self.numbers {
            if tables.contains(table) && (key.ends_with("_us") || key.ends_with("_ns")) {
                *number *= by;
            }
        }
    }

    /// Takes over everything that `other` states: it goes before the earlier values.
    pub(super) fn overlay(&mut self, other: &Self) {
        for &(table, key, number) in &other.numbers {
            self.set(table, key, number);
        }
        for source in &other.sources {
            self.sources.retain(|it| it.key != source.key);
            self.sources.push(source.clone());
        }
    }

    /// Reads the constants of a file.
    pub(super) fn read<T>(
        block: &TomlTable<'_>,
        groups: &'static [ConstantGroup<T>],
    ) -> Result<Self, FileError> {
        let mut values = Self::default();
        for group in groups {
            let Some(table) = block.table(group.table, group.keys)? else { continue };
            table.must(SOURCE.name, table.text(SOURCE.name)?)?;
            let notes = Notes::read(&table, group.constants.iter().map(|it| it.key.name))?;
            for constant in group.constants {
                let name = constant.key.name;
                let Some(number) = table.number(name)? else { continue };
                values.numbers.push((group.table, name, number));
                values.sources.push(notes.of(name, format!("{}.{name}", group.table)));
            }
        }
        Ok(values)
    }

    /// Returns the key of a constant that is not stated and must be.
    pub(super) fn missing<T>(&self, groups: &'static [ConstantGroup<T>]) -> Option<String> {
        for group in groups {
            for constant in group.constants.iter().filter(|it| it.key.usual.is_empty()) {
                let name = constant.key.name;
                if !self.numbers.iter().any(|it| (it.0, it.1) == (group.table, name)) {
                    return Some(format!("{}.{name}", group.table));
                }
            }
        }
        None
    }

    /// Sets them all.
    pub(super) fn apply<T>(&self, to: &mut T, groups: &'static [ConstantGroup<T>]) {
        for &(table, key, number) in &self.numbers {
            if let Some((_, constant)) = find(groups, table, key) {
                (constant.set)(to, number);
            }
        }
    }
}

/// Finds a constant by table and key, with the table's name.
pub(super) fn find<T>(
    groups: &'static [ConstantGroup<T>],
    table: &str,
    key: &str,
) -> Option<(&'static str, &'static ConstantKey<T>)> {
    let group = groups.iter().find(|it| it.table == table)?;
    Some((group.table, group.constants.iter().find(|it| it.key.name == key)?))
}

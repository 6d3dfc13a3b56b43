//! Tables of a TOML text, read by the list of their keys.

use super::key::{KeySpec, KeyType, ROOM_M};
use super::wrong::{FileError, hint};
use crate::lab::scene::Point;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use espbench_dot11::radio::WifiMode;
use espbench_model::sdkconfig::ChipWithoutWifi;
use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue};

/// A file that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct TomlText<'t> {
    pub(super) file: &'t str,
    pub(super) text: &'t str,
}

impl<'t> TomlText<'t> {
    pub(super) fn wrong(self, offset: usize, message: impl Into<String>) -> FileError {
        FileError::at(self.file, self.text, offset, message)
    }

    /// Parses the whole file as one block.
    pub(super) fn block(self, keys: Keys) -> Result<TomlTable<'t>, FileError> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let span = error.span().unwrap_or_default();
            let message = match (error.message(), self.text.get(span.clone())) {
                ("duplicate key", Some(key)) => format!("`{key}` is here for the second time"),
                (message, _) => format!("not TOML: {}", message.replace('\n', ", ")),
            };
            self.wrong(span.start, message)
        })?;
        TomlTable::new(self, table.into_inner(), 0, keys)
    }
}

/// The keys of a table.
pub(super) type Keys = &'static [KeySpec];

/// A table, whose values are taken by their keys. Its keys are all known.
#[derive(Clone, Debug)]
pub(super) struct TomlTable<'t> {
    pub(super) source: TomlText<'t>,
    pub(super) start: usize,
    keys: Keys,
    values: Vec<(String, Range<usize>, Spanned<DeValue<'t>>)>,
}

/// An entry of a table whose keys are not known here.
#[derive(Clone, Debug)]
pub(super) struct TableEntry {
    pub(super) name: String,
    pub(super) at: usize,
    pub(super) value_at: usize,
    /// Nothing where it is something else.
    pub(super) value: Option<Plain>,
}

/// A plain value.
#[derive(Clone, Debug)]
pub(super) enum Plain {
    Flag(bool),
    Number(u32),
    Word(String),
}

fn plain(value: &DeValue<'_>) -> Option<Plain> {
    match value {
        DeValue::Boolean(flag) => Some(Plain::Flag(*flag)),
        DeValue::String(word) => Some(Plain::Word(word.to_string())),
        value => u32::try_from(integer(value)?).ok().map(Plain::Number),
    }
}

/// A value of a list, and where it is.
pub(super) type Item<T> = (T, usize);

impl<'t> TomlTable<'t> {
    fn new(
        source: TomlText<'t>,
        table: DeTable<'t>,
        start: usize,
        keys: Keys,
    ) -> Result<Self, FileError> {
        let mut values = Vec::new();
        for (name, value) in table {
            values.push((name.get_ref().to_string(), name.span(), value));
        }
        values.sort_by_key(|(_, span, _)| span.start);
        let block = Self { source, start, keys, values };
        for (name, span, _) in &block.values {
            if block.key(name).is_none() {
                let known: Vec<&str> = keys.iter().map(|key| key.name).collect();
                let hint = hint(name, &known);
                return Err(source.wrong(span.start, format!("unknown key `{name}`{hint}")));
            }
        }
        Ok(block)
    }

    pub(super) fn key(&self, name: &str) -> Option<&'static KeySpec> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Makes an error about the block.
    pub(super) fn wrong(&self, message: impl Into<String>) -> FileError {
        self.source.wrong(self.start, message)
    }

    /// Makes an error about the value of a key.
    pub(super) fn wrong_value(&self, name: &str, message: impl core::fmt::Display) -> FileError {
        let at = self.find(name).map_or(self.start, |value| value.span().start);
        self.source.wrong(at, format!("`{name}`: {message}"))
    }

    fn find(&self, name: &str) -> Option<&Spanned<DeValue<'t>>> {
        self.values.iter().find(|(key, ..)| key == name).map(|(_, _, value)| value)
    }

    /// Returns whether the block has a key.
    pub(super) fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// Returns the place of a key's value; the block's place if it has none.
    pub(super) fn place_of(&self, name: &str) -> usize {
        self.find(name).map_or(self.start, |value| value.span().start)
    }

    /// Returns a value that must not be left out.
    pub(super) fn must<T>(&self, name: &str, value: Option<T>) -> Result<T, FileError> {
        value.ok_or_else(|| {
            let is =
                self.key(name).map(|key| format!(": give {}", wanted(key))).unwrap_or_default();
            self.wrong(format!("`{name}` is missing here{is}"))
        })
    }

    /// Takes the value of a key; where it is of another type, the error says which one is wanted.
    fn take<T>(
        &self,
        name: &str,
        read: impl FnOnce(KeyType, &DeValue<'t>) -> Option<T>,
    ) -> Result<Option<T>, FileError> {
        let Some((key, value)) = self.key(name).zip(self.find(name)) else { return Ok(None) };
        read(key.is, value.get_ref()).map(Some).ok_or_else(|| self.unlike(key, value, ""))
    }

    /// Takes a list. An error about an item is shown at the item.
    fn list<T>(
        &self,
        name: &str,
        read: impl Fn(KeyType, &DeValue<'t>) -> Option<T>,
    ) -> Result<Option<Vec<Item<T>>>, FileError> {
        let Some((key, value)) = self.key(name).zip(self.find(name)) else { return Ok(None) };
        let DeValue::Array(items) = value.get_ref() else {
            return Err(self.unlike(key, value, ""));
        };
        let read = |item: &Spanned<DeValue<'t>>| match read(key.is, item.get_ref()) {
            Some(it) => Ok((it, item.span().start)),
            None => Err(self.unlike(key, item, " in the list")),
        };
        items.iter().map(read).collect::<Result<_, _>>().map(Some)
    }

    fn unlike(&self, key: &KeySpec, value: &Spanned<DeValue<'t>>, where_: &str) -> FileError {
        let no_wifi = || text(value.get_ref()).and_then(ChipWithoutWifi::of);
        if let ("chip", Some(chip)) = (key.name, no_wifi()) {
            return self.source.wrong(value.span().start, format!("`chip`: {chip}"));
        }
        let (name, found, wanted) = (key.name, found(value.get_ref()), wanted(key));
        let message = format!("`{name}`: found {found}{where_}, use {wanted}");
        self.source.wrong(value.span().start, message)
    }

    pub(super) fn number(&self, name: &str) -> Result<Option<f64>, FileError> {
        self.take(name, |is, value| {
            let number = number(value)?;
            match is {
                KeyType::Number(least, most) => (least..=most).contains(&number).then_some(number),
                KeyType::Whole(least, most) => {
                    let whole = matches!(value, DeValue::Integer(_));
                    (whole && (least as f64..=most as f64).contains(&number)).then_some(number)
                }
                _ => None,
            }
        })
    }

    /// Returns a whole number; its key's range fits the type.
    pub(super) fn whole<T: TryFrom<i64>>(&self, name: &str) -> Result<Option<T>, FileError> {
        self.take(name, |is, value| {
            let KeyType::Whole(least, most) = is else { return None };
            let number = integer(value).filter(|it| (least..=most).contains(it))?;
            T::try_from(number).ok()
        })
    }

    pub(super) fn switch(&self, name: &str) -> Result<Option<bool>, FileError> {
        self.take(name, |_, value| match value {
            DeValue::Boolean(switch) => Some(*switch),
            _ => None,
        })
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>, FileError> {
        self.take(name, |is, value| {
            let text = text(value)?;
            match is {
                KeyType::Word(words) if !words.contains(&text) => None,
                _ if text.trim().is_empty() => None,
                _ => Some(text.to_string()),
            }
        })
    }

    /// Returns one of the key's words, by its place among them.
    pub(super) fn word(&self, name: &str) -> Result<Option<usize>, FileError> {
        self.take(name, |is, value| {
            let KeyType::Word(words) = is else { return None };
            let text = text(value)?;
            words.iter().position(|&word| word == text)
        })
    }

    /// Returns a list of texts or words.
    pub(super) fn texts(&self, name: &str) -> Result<Option<Vec<Item<String>>>, FileError> {
        self.list(name, |is, value| match (is, text(value)?) {
            (KeyType::Words(words), text) if !words.contains(&text) => None,
            (_, text) => Some(text.to_string()),
        })
    }

    pub(super) fn place(&self, name: &str) -> Result<Option<Point>, FileError> {
        let metres =
            |_, value: &_| number(value).filter(|metres| (-ROOM_M..=ROOM_M).contains(metres));
        let Some(numbers) = self.list(name, metres)? else { return Ok(None) };
        match numbers[..] {
            [(x, _), (y, _), (z, _)] => Ok(Some(Point { x, y, z })),
            _ => {
                let found = numbers.len();
                Err(self.wrong_value(
                    name,
                    format_args!("found {found} numbers, use {}", KeyType::Place),
                ))
            }
        }
    }

    pub(super) fn mode(&self, name: &str) -> Result<Option<WifiMode>, FileError> {
        self.take(name, |_, value| text(value)?.parse().ok())
    }

    /// Returns a list of modes; empty where it is left out.
    pub(super) fn modes(&self, name: &str) -> Result<Vec<WifiMode>, FileError> {
        let modes = self.list(name, |_, value| text(value)?.parse().ok())?;
        Ok(modes.unwrap_or_default().into_iter().map(|(mode, _)| mode).collect())
    }

    /// Returns the table of this name as a block.
    pub(super) fn table(&self, name: &str, keys: Keys) -> Result<Option<Self>, FileError> {
        let table = self.take(name, |_, value| match value {
            DeValue::Table(table) => Some(table.clone()),
            _ => None,
        })?;
        let start = self.heading(name);
        table.map(|table| Self::new(self.source, table, start, keys)).transpose()
    }

    /// Returns the entries of a table whose keys are not known here, in the order of the file.
    pub(super) fn settings(&self, name: &str) -> Result<Vec<TableEntry>, FileError> {
        let entries = self.take(name, |_, value| {
            let DeValue::Table(table) = value else { return None };
            let one = |(name, value): (&Spanned<DeString<'_>>, &Spanned<DeValue<'_>>)| TableEntry {
                name: name.get_ref().to_string(),
                at: name.span().start,
                value_at: value.span().start,
                value: plain(value.get_ref()),
            };
            Some(table.iter().map(one).collect::<Vec<_>>())
        })?;
        let mut entries = entries.unwrap_or_default();
        entries.sort_by_key(|it| it.at);
        Ok(entries)
    }

    /// Blocks `[[name]]`.
    pub(super) fn blocks(&self, name: &str, keys: Keys) -> Result<Vec<Self>, FileError> {
        let tables = self.list(name, |_, value| match value {
            DeValue::Table(table) => Some(table.clone()),
            _ => None,
        })?;
        let tables = tables.unwrap_or_default().into_iter();
        tables.map(|(table, start)| Self::new(self.source, table, start, keys)).collect()
    }

    /// Returns the place of a key's name.
    fn heading(&self, name: &str) -> usize {
        let key = self.values.iter().find(|(key, ..)| key == name);
        key.map_or(self.start, |(_, span, _)| span.start)
    }
}

fn integer(value: &DeValue<'_>) -> Option<i64> {
    match value {
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).ok(),
        _ => None,
    }
}

fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(number) => number.as_str().parse().ok().filter(|it: &f64| it.is_finite()),
        value => integer(value).map(|number| number as f64),
    }
}

fn text<'v>(value: &'v DeValue<'_>) -> Option<&'v str> {
    match value {
        DeValue::String(text) => Some(text),
        _ => None,
    }
}

/// Returns the words for the type of a key's value, for an error.
fn wanted(key: &KeySpec) -> String {
    match key.is {
        KeyType::Blocks => format!("blocks [[{}]]", key.name),
        is => is.to_string(),
    }
}

/// Returns the words for a value that was found, for an error.
fn found(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) if text.trim().is_empty() => "an empty text".into(),
        DeValue::String(text) if text.chars().count() <= 40 => format!("the text \"{text}\""),
        DeValue::String(_) => "a long text".into(),
        DeValue::Integer(number) => number.as_str().to_string(),
        DeValue::Float(number) => number.as_str().to_string(),
        DeValue::Boolean(switch) => switch.to_string(),
        DeValue::Array(_) => "a list".into(),
        DeValue::Table(_) => "a table".into(),
        DeValue::Datetime(_) => "a date".into(),
    }
}

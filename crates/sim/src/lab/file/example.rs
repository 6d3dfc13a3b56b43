//! Examples of keys, for the documentation: values of the built-in files, and typical ones of keys that none
//! of them has.

use super::FileKind;
use super::built_in::FILES;
use super::key::{KeySpec, KeyType};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Longest value that is shown.
const LONGEST: usize = 60;

/// Values of the built-in files of a kind: name of the table (empty at the top), key, value as it is
/// written.
pub(super) struct Examples(Vec<(String, String, String)>);

impl Examples {
    /// Collects the values of all built-in files of a kind.
    pub(super) fn of(kind: FileKind) -> Self {
        let mut found = Self(Vec::new());
        for (_, _, text) in FILES.iter().filter(|(of, ..)| *of == kind) {
            if let Ok(table) = DeTable::parse(text) {
                found.collect(text, "", table.get_ref());
            }
        }
        found
    }

    fn collect(&mut self, text: &str, name: &str, table: &DeTable<'_>) {
        for (key, value) in table {
            let key = key.get_ref();
            match value.get_ref() {
                DeValue::Table(inner) => self.collect(text, key, inner),
                DeValue::Array(items) if items.iter().any(is_table) => {
                    for item in items.iter() {
                        if let DeValue::Table(inner) = item.get_ref() {
                            self.collect(text, key, inner);
                        }
                    }
                }
                _ => {
                    let written = text.get(value.span()).unwrap_or_default();
                    let shown = written.len() <= LONGEST && !written.contains(['\n', '|']);
                    if shown && !written.is_empty() {
                        self.0.push((name.to_string(), key.to_string(), written.to_string()));
                    }
                }
            }
        }
    }

    /// Returns the value that a key has in the first built-in file where a table of one of these names has
    /// it.
    pub(super) fn of_key(&self, tables: &[&str], key: &str) -> Option<String> {
        let is = |it: &&(String, String, String)| tables.contains(&&*it.0) && it.1 == key;
        self.0.iter().find(is).map(|it| it.2.clone())
    }
}

fn is_table(value: &Spanned<DeValue<'_>>) -> bool {
    matches!(value.get_ref(), DeValue::Table(_))
}

/// Returns a value that a key takes.
pub(super) fn typical(key: &KeySpec) -> String {
    match key.is {
        KeyType::Number(least, most) => match key.usual.parse::<f64>() {
            Ok(usual) => usual.to_string(),
            Err(_) => 1.0_f64.clamp(least, most).to_string(),
        },
        KeyType::Whole(least, most) => match key.usual.parse::<i64>() {
            Ok(usual) => usual.to_string(),
            Err(_) => 1.clamp(least, most).to_string(),
        },
        KeyType::Text => format!("\"my-{}\"", key.name),
        KeyType::Switch => "true".to_string(),
        KeyType::Word(words) => format!("\"{}\"", words.last().copied().unwrap_or_default()),
        KeyType::Words(words) => format!("[\"{}\"]", words.last().copied().unwrap_or_default()),
        KeyType::Texts => "[\"a text\"]".to_string(),
        KeyType::Place => "[0, 0, 1.2]".to_string(),
        KeyType::Mode => "\"HT20-MCS7\"".to_string(),
        KeyType::Modes => "[\"1M\", \"6M\"]".to_string(),
        KeyType::Table | KeyType::Blocks => String::new(),
    }
}

//! Keys of a file, with the type of their values: one table for reading, for errors and for the
//! documentation.

/// The values that a key takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyType {
    /// A number from the first to the second.
    Number(f64, f64),
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// A text that is not empty.
    Text,
    /// True or false.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of these words.
    Words(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// Three numbers in metres: to the right, away, above the floor.
    Place,
    /// A Wi-Fi mode, as `1M` or `HT20-MCS7`.
    Mode,
    /// A list of Wi-Fi modes.
    Modes,
    /// A table of its own, with keys of its own.
    Table,
    /// Blocks `[[name]]`, each with keys of its own.
    Blocks,
}

/// The specification of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeySpec {
    /// The name, with the unit.
    pub name: &'static str,
    /// The values that it takes.
    pub is: KeyType,
    /// The value where it is left out; empty where it must not be.
    pub usual: &'static str,
    /// The meaning.
    pub about: &'static str,
}

/// Makes a key in one line of a list.
pub(super) const fn key(
    name: &'static str,
    is: KeyType,
    usual: &'static str,
    about: &'static str,
) -> KeySpec {
    KeySpec { name, is, usual, about }
}

/// Metres that a room may measure in each direction.
pub(super) const ROOM_M: f64 = 10_000.0;

impl core::fmt::Display for KeyType {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Number(least, most) => write!(f, "a number from {least} to {most}"),
            Self::Whole(least, most) => write!(f, "a whole number from {least} to {most}"),
            Self::Text => f.write_str("a text in quotes"),
            Self::Switch => f.write_str("true or false"),
            Self::Word(words) => write!(f, "one of {}", Quoted(words)),
            Self::Words(words) => write!(f, "a list of {}", Quoted(words)),
            Self::Texts => f.write_str("a list of texts in quotes"),
            Self::Place => {
                f.write_str("three numbers in metres, such as [0, 0, 1.2], up to 10000 each way")
            }
            Self::Mode => f.write_str("a Wi-Fi mode, such as \"1M\" or \"HT20-MCS7\""),
            Self::Modes => f.write_str("a list of Wi-Fi modes, such as [\"6M\", \"1M\"]"),
            Self::Table => f.write_str("a table"),
            Self::Blocks => f.write_str("blocks [[…]]"),
        }
    }
}

struct Quoted<'w>(&'w [&'w str]);

impl core::fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        for (number, word) in self.0.iter().enumerate() {
            let comma = if number == 0 { "" } else { ", " };
            write!(f, "{comma}\"{word}\"")?;
        }
        Ok(())
    }
}

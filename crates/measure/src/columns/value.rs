//! Values of fields, in JSON and in CSV, and the types that they are made of.

use crate::beside::LabAgreement;
use crate::cell::Origin;
use crate::compare::VerdictKind;
use crate::truth::CellStanding;
use alloc::string::{String, ToString};
use core::fmt;
use espbench_dot11::radio::WifiMode;
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum ColumnValue {
    /// True or false.
    Flag(bool),
    /// Whole number from 0.
    Count(u64),
    /// Finite number.
    Number(f64),
    /// Text: a name, or a word of a closed list.
    Text(String),
}

/// The type of a field, the same in each row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// True or false.
    Flag,
    /// Whole number from 0.
    Count,
    /// Finite number.
    Number,
    /// Text.
    Text,
}

impl ColumnValue {
    /// Returns the value as a number, where it is one.
    pub(crate) const fn number(&self) -> Option<f64> {
        match self {
            Self::Count(it) => Some(*it as f64),
            Self::Number(it) => Some(*it),
            Self::Flag(_) | Self::Text(_) => None,
        }
    }
}

impl ColumnType {
    /// Returns the word for the type in JSON's own terms.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Flag => "boolean",
            Self::Count => "integer",
            Self::Number => "number",
            Self::Text => "string",
        }
    }

    /// Reads a field of CSV; `None` where the text is not of the type, or a number is not finite.
    #[must_use]
    pub fn read(self, text: &str) -> Option<ColumnValue> {
        match self {
            Self::Flag => text.parse().ok().map(ColumnValue::Flag),
            Self::Count => text.parse().ok().map(ColumnValue::Count),
            Self::Number => {
                text.parse().ok().filter(|it: &f64| it.is_finite()).map(ColumnValue::Number)
            }
            Self::Text => Some(ColumnValue::Text(text.into())),
        }
    }
}

/// A Rust type whose values are values of fields.
pub(crate) trait ColumnContent: Sized {
    /// Type of the field.
    const TYPE: ColumnType;

    fn to_value(&self) -> ColumnValue;
    fn from_value(value: &ColumnValue) -> Option<Self>;
}

impl ColumnContent for bool {
    const TYPE: ColumnType = ColumnType::Flag;

    fn to_value(&self) -> ColumnValue {
        ColumnValue::Flag(*self)
    }

    fn from_value(value: &ColumnValue) -> Option<Self> {
        if let ColumnValue::Flag(flag) = value { Some(*flag) } else { None }
    }
}

/// Has whole numbers as fields.
macro_rules! counts {
    ($($type:ty)*) => {
        $(impl ColumnContent for $type {
            const TYPE: ColumnType = ColumnType::Count;

            fn to_value(&self) -> ColumnValue {
                ColumnValue::Count((*self).into())
            }

            fn from_value(value: &ColumnValue) -> Option<Self> {
                if let ColumnValue::Count(count) = value { (*count).try_into().ok() } else { None }
            }
        })*
    };
}

counts! { u8 u16 u32 u64 }

impl ColumnContent for f64 {
    const TYPE: ColumnType = ColumnType::Number;

    fn to_value(&self) -> ColumnValue {
        ColumnValue::Number(*self)
    }

    fn from_value(value: &ColumnValue) -> Option<Self> {
        match value {
            ColumnValue::Number(number) => Some(*number),
            ColumnValue::Count(count) => Some(*count as f64),
            _ => None,
        }
    }
}

impl ColumnContent for String {
    const TYPE: ColumnType = ColumnType::Text;

    fn to_value(&self) -> ColumnValue {
        ColumnValue::Text(self.clone())
    }

    fn from_value(value: &ColumnValue) -> Option<Self> {
        if let ColumnValue::Text(text) = value { Some(text.clone()) } else { None }
    }
}

/// Makes content of enums whose values have names, all of which `ALL` lists.
macro_rules! named {
    ($($enum:ty)*) => {
        $(impl ColumnContent for $enum {
            const TYPE: ColumnType = ColumnType::Text;

            fn to_value(&self) -> ColumnValue {
                ColumnValue::Text(self.name().into())
            }

            fn from_value(value: &ColumnValue) -> Option<Self> {
                let ColumnValue::Text(text) = value else { return None };
                Self::ALL.into_iter().find(|it| it.name() == text)
            }
        })*
    };
}

named! { CellStanding Origin VerdictKind LabAgreement }

impl ColumnContent for WifiMode {
    const TYPE: ColumnType = ColumnType::Text;

    fn to_value(&self) -> ColumnValue {
        ColumnValue::Text(self.to_string())
    }

    fn from_value(value: &ColumnValue) -> Option<Self> {
        if let ColumnValue::Text(text) = value { text.parse().ok() } else { None }
    }
}

impl Serialize for ColumnValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Flag(flag) => serializer.serialize_bool(*flag),
            Self::Count(count) => serializer.serialize_u64(*count),
            Self::Number(number) => serializer.serialize_f64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

impl fmt::Display for ColumnValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => flag.fmt(f),
            Self::Count(count) => count.fmt(f),
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => write!(f, "`{text}`"),
        }
    }
}

struct AnyValue;

impl Visitor<'_> for AnyValue {
    type Value = ColumnValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, a number or a text")
    }

    fn visit_bool<E: de::Error>(self, flag: bool) -> Result<ColumnValue, E> {
        Ok(ColumnValue::Flag(flag))
    }

    fn visit_u64<E: de::Error>(self, count: u64) -> Result<ColumnValue, E> {
        Ok(ColumnValue::Count(count))
    }

    fn visit_i64<E: de::Error>(self, count: i64) -> Result<ColumnValue, E> {
        Ok(u64::try_from(count).map_or(ColumnValue::Number(count as f64), ColumnValue::Count))
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<ColumnValue, E> {
        Ok(ColumnValue::Number(number))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<ColumnValue, E> {
        Ok(ColumnValue::Text(text.into()))
    }
}

impl<'de> Deserialize<'de> for ColumnValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

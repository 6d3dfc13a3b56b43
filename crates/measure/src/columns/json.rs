//! Cells in JSON: an object whose fields are the columns. What is not known is left out, or null in
//! the fields that are always there.

use super::ResultColumn;
use crate::cell::{Cell, Identity, Origin};
use crate::columns::ColumnValue;
use alloc::format;
use alloc::string::String;
use core::fmt;
use espbench_stats::Estimate;
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Field of the words about a value, which are for people and no column of CSV.
const NOTE: &str = "note";

impl Serialize for Cell {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for column in ResultColumn::usual().chain(ResultColumn::further()) {
            match column.value(self) {
                None if !column.is_required() => {}
                value => map.serialize_entry(column.name(), &value)?,
            }
        }
        if let Some(note) = &self.note {
            map.serialize_entry(NOTE, note)?;
        }
        map.end()
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = Cell;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of a cell's fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Cell, A::Error> {
        let mut cell = Cell::of(Estimate::default(), Identity::default(), "", Origin::Measured);
        cell.n = None;
        while let Some(name) = map.next_key::<String>()? {
            if name == NOTE {
                cell.note = map.next_value()?;
                continue;
            }
            let column = ResultColumn::find(&name)
                .ok_or_else(|| de::Error::custom(format!("no field `{name}` of a cell")))?;
            let value: Option<ColumnValue> = map.next_value()?;
            let taken = value.as_ref().is_none_or(|value| column.set(&mut cell, value));
            if let (false, Some(value)) = (taken, value) {
                return Err(de::Error::custom(format!("the field `{name}` cannot be {value}")));
            }
        }
        Ok(cell)
    }
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CellVisitor)
    }
}

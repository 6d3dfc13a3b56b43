//! The tables of `docs/data.md`.

use super::{ColumnType, FurtherColumn, ResultColumn, SampleTable};
use crate::settings::SettingKey;
use alloc::format;
use alloc::string::String;

/// Returns the table of the columns that every file has.
#[must_use]
pub fn fixed() -> String {
    table(ResultColumn::usual())
}

/// Returns the table of the columns of further settings, without the options of sdkconfig.
#[must_use]
pub fn settings() -> String {
    let is_option =
        |it: &ResultColumn| matches!(it, ResultColumn::Setting(SettingKey::Sdkconfig(_)));
    table(ResultColumn::further().filter(|it| !is_option(it)))
}

/// Returns the table of the columns of raw samples, without those of their test.
#[must_use]
pub fn samples(of: SampleTable) -> String {
    let columns = of.columns().iter();
    rows(columns.map(|it| (it.name, it.field_type, it.unit, it.doc)))
}

/// Returns the table of columns that stand behind those of results.
#[must_use]
pub fn further<T>(columns: &[FurtherColumn<T>]) -> String {
    rows(columns.iter().map(|it| (it.name, it.field_type, it.unit, it.doc)))
}

fn table(columns: impl Iterator<Item = ResultColumn>) -> String {
    rows(columns.map(|it| (it.name(), it.field_type(), it.unit(), it.doc())))
}

/// Returns the table of columns by name, type, unit and meaning.
fn rows(
    columns: impl Iterator<Item = (&'static str, ColumnType, &'static str, &'static str)>,
) -> String {
    let mut text = String::from("| column | type | unit | meaning |\n|---|---|---|---|\n");
    for (name, field_type, unit, doc) in columns {
        let field_type = match field_type {
            ColumnType::Flag => "true or false",
            ColumnType::Count => "whole number",
            ColumnType::Number => "number",
            ColumnType::Text => "text",
        };
        text += &format!("| `{name}` | {field_type} | {unit} | {doc} |\n");
    }
    text
}

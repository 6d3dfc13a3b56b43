//! The table of sensitivities that comes with the product, its reader and its writer.

use super::ConstantEffect;
use crate::constants::LabConstant;
use crate::published::{CsvRecord, read_table};
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

/// The product's own copy of `reference/sensitivity.csv`.
const BUILT_IN: &str = include_str!("../../reference/sensitivity.csv");

/// Columns of the table.
const COLUMNS: [&str; 8] =
    ["file", "constant", "value", "unit", "elasticity", "suite", "figure", "told_from_chance"];

/// A constant with its largest effect.
#[derive(Clone, Debug, PartialEq)]
pub struct SensitivityRow {
    /// Name of the file that states the constant.
    pub file: String,
    /// Key of the constant.
    pub key: String,
    /// Value of the constant.
    pub value: f64,
    /// Unit of the value.
    pub unit: String,
    /// The largest effect; `None` where no figure of the suites changes.
    pub effect: Option<ConstantEffect>,
}

impl SensitivityRow {
    /// Makes the row of a constant.
    #[must_use]
    pub fn new(constant: &LabConstant, effect: Option<ConstantEffect>) -> Self {
        Self {
            file: constant.file.clone(),
            key: constant.constant.key.clone(),
            value: constant.constant.value.unwrap_or_default(),
            unit: constant.constant.unit().to_string(),
            effect,
        }
    }

    /// Returns whether the row is of that constant, with the value that it has.
    #[must_use]
    pub fn is_of(&self, constant: &LabConstant) -> bool {
        let value = constant.constant.value;
        self.file == constant.file
            && self.key == constant.constant.key
            && value.is_some_and(|it| (it - self.value).abs() <= 1e-9 * it.abs())
    }
}

/// Returns the table that comes with the product.
///
/// # Panics
/// Never: a test reads the same bytes.
#[must_use]
pub fn built_in() -> Vec<SensitivityRow> {
    parse(BUILT_IN).expect("the built-in table is tested")
}

/// Parses the table.
///
/// # Errors
/// Line and column of the first fault.
pub fn parse(text: &str) -> Result<Vec<SensitivityRow>, String> {
    read_table(text, &COLUMNS, row)
}

fn row(record: &CsvRecord) -> Result<SensitivityRow, String> {
    let text = |column: usize| record.text(column);
    let wrong = |column: usize| record.wrong(&COLUMNS, column);
    let number = |column: usize| {
        let number = text(column).parse::<f64>().ok().filter(|it| it.is_finite());
        number.ok_or_else(|| wrong(column))
    };
    let effect = match text(4) {
        "" => None,
        _ => Some(ConstantEffect {
            elasticity: number(4)?,
            suite: text(5).into(),
            figure: text(6).into(),
            told: match text(7) {
                "yes" => true,
                "no" => false,
                _ => return Err(wrong(7)),
            },
        }),
    };
    Ok(SensitivityRow {
        file: text(0).into(),
        key: text(1).into(),
        value: number(2)?,
        unit: text(3).into(),
        effect,
    })
}

/// Writes the table.
#[must_use]
pub fn csv(rows: &[SensitivityRow]) -> String {
    let mut lines = alloc::vec![COLUMNS.join(",")];
    lines.extend(rows.iter().map(|it| {
        let value = it.value.to_string();
        let effect = it.effect.as_ref().map(|it| {
            let told = if it.told { "yes" } else { "no" };
            [format!("{:.3}", it.elasticity), quoted(&it.suite), quoted(&it.figure), told.into()]
        });
        let effect = effect.unwrap_or_default().join(",");
        [quoted(&it.file), quoted(&it.key), value, quoted(&it.unit), effect].join(",")
    }));
    lines.join("\n") + "\n"
}

/// Returns a field of CSV (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into()
    }
}

//! Joins two lists of cells: ratio, interval, verdict.

use crate::cell::Cell;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// What a comparison shows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", content = "why", rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval of the ratio lies wholly on the good side of 1.
    Better,
    /// The interval of the ratio lies wholly on the bad side of 1.
    Worse,
    /// The interval of the ratio holds 1, or there is none.
    NoDifferenceShown,
    /// The two are not of the same thing; the reasons.
    NotComparable(Vec<String>),
}

/// Two cells side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The cell in question.
    pub ours: Cell,
    /// What it is held against.
    pub other: Cell,
    /// `ours / other`.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's 95 % interval.
    pub ratio_low: Option<f64>,
    /// Upper end of the ratio's 95 % interval.
    pub ratio_high: Option<f64>,
    /// What that shows.
    #[serde(flatten)]
    pub verdict: Verdict,
}

/// Joins `ours` with `others` and compares each pair.
#[must_use]
pub fn compare(ours: &[Cell], others: &[Cell]) -> Vec<Comparison> {
    let _ = (ours, others);
    Vec::new()
}

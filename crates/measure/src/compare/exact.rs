//! Figures that must be equal to the bit: of one seed, one lab and one tool, nothing else is right.

use super::join::groups;
use crate::cell::Cell;
use alloc::vec::Vec;

/// A figure that is not the same on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct CellDifference {
    /// The cell of the one side; `None` where it has none.
    pub ours: Option<Cell>,
    /// The cell of the other side.
    pub other: Option<Cell>,
}

/// Outcome of an exact comparison.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ExactlyCompared {
    /// Figures that are there on both sides.
    pub compared: usize,
    /// Figures that differ, or are there on one side only, in the order of ours.
    pub differences: Vec<CellDifference>,
}

/// Compares figures by their bits: value, interval, unit and number of observations, of the same test, metric and
/// repetition. Names of runs and notes are not compared.
#[must_use]
pub fn exactly(ours: &[Cell], others: &[Cell]) -> ExactlyCompared {
    let mut theirs = groups(others);
    let mut result = ExactlyCompared::default();
    for own in groups(ours) {
        let is_same = |group: &&mut Vec<&Cell>| {
            group
                .first()
                .zip(own.first())
                .is_some_and(|(a, b)| a.id == b.id && a.settings == b.settings)
        };
        let other = theirs.iter_mut().find(is_same).map(core::mem::take).unwrap_or_default();
        for at in 0..own.len().max(other.len()) {
            let (a, b) = (own.get(at).copied(), other.get(at).copied());
            result.compared += usize::from(a.is_some() && b.is_some());
            if !a.zip(b).is_some_and(|(a, b)| is_equal(a, b)) {
                result.differences.push(CellDifference { ours: a.cloned(), other: b.cloned() });
            }
        }
    }
    let rest = theirs.into_iter().flatten();
    result
        .differences
        .extend(rest.map(|it| CellDifference { ours: None, other: Some(it.clone()) }));
    result
}

fn is_equal(a: &Cell, b: &Cell) -> bool {
    let values = |it: &Cell| [it.value, it.ci_low, it.ci_high].map(|it| it.map(f64::to_bits));
    values(a) == values(b) && a.unit == b.unit && a.n == b.n
}

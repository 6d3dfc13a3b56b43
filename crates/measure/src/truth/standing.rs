//! Standing of published cells: whether constants were fitted to them, to a neighbour, or to neither.

use crate::cell::Cell;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Standing of a published cell towards the constants of the lab: how much agreement with it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellStanding {
    /// A constant was fitted to it.
    Fitted,
    /// A constant was fitted to a neighbour: a cell of its table with the next size, number of devices or
    /// distance, or of the next row. A law that is smooth carries over from there.
    Neighbour,
    /// Neither: it is a test of the lab.
    Independent,
}

impl CellStanding {
    /// All, the strictest test last.
    pub const ALL: [Self; 3] = [Self::Fitted, Self::Neighbour, Self::Independent];

    /// Returns the name in tables, CSV and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fitted => "fitted",
            Self::Neighbour => "neighbour",
            Self::Independent => "independent",
        }
    }

    /// Returns the standing with that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.name() == name)
    }
}

/// Marks the published cells that are next to fitted ones; all others are independent.
pub fn mark_neighbours(cells: &mut [Cell]) {
    let standings: Vec<CellStanding> = (0..cells.len()).map(|at| standing(cells, at)).collect();
    for (cell, standing) in cells.iter_mut().zip(standings) {
        cell.standing = Some(standing);
    }
}

fn standing(cells: &[Cell], at: usize) -> CellStanding {
    if cells[at].fitted {
        return CellStanding::Fitted;
    }
    let fitted = cells.iter().enumerate().filter(|(_, it)| it.fitted);
    let mut near = fitted.filter(|(other, _)| is_next(cells, at, *other));
    if near.next().is_some() { CellStanding::Neighbour } else { CellStanding::Independent }
}

/// Sizes by which cells of a table are told apart.
fn sizes(cell: &Cell) -> [Option<f64>; 3] {
    [cell.id.payload_bytes.map(f64::from), cell.id.devices.map(f64::from), cell.id.distance_m]
}

/// Returns whether two cells of one document have the same figure, of one chip and transport.
fn same_figure(a: &Cell, b: &Cell) -> bool {
    a.source == b.source
        && (&a.id.chip, &a.id.transport, &a.id.metric)
            == (&b.id.chip, &b.id.transport, &b.id.metric)
}

/// Returns whether only the mode tells two cells apart; rows of other tables may have the same settings.
fn is_other_row(a: &Cell, b: &Cell) -> bool {
    same_figure(a, b)
        && sizes(a) == sizes(b)
        && (&a.id.security, &a.id.environment) == (&b.id.security, &b.id.environment)
}

fn is_next(cells: &[Cell], at: usize, fitted: usize) -> bool {
    let (own, other) = (&cells[at], &cells[fitted]);
    if !same_figure(own, other) {
        return false;
    }
    let differ: Vec<usize> = (0..3).filter(|it| sizes(own)[*it] != sizes(other)[*it]).collect();
    match differ[..] {
        [] if is_other_row(own, other) => is_next_row(cells, at, fitted),
        [column] => is_next_size(cells, (own, other), column),
        _ => false,
    }
}

/// Returns whether no row of the same figure lies between two in the order of the document. A row of
/// another table is next to those that have its sizes.
fn is_next_row(cells: &[Cell], at: usize, fitted: usize) -> bool {
    if cells[at].id.table != cells[fitted].id.table {
        return true;
    }
    let between = at.min(fitted) + 1..at.max(fitted);
    let is_between = |it: &Cell| it.id.table == cells[at].id.table && is_other_row(it, &cells[at]);
    !cells[between].iter().any(is_between)
}

/// Returns whether no size of the table lies between those of two cells.
fn is_next_size(cells: &[Cell], (own, other): (&Cell, &Cell), column: usize) -> bool {
    let row = |it: &Cell| {
        let mut id = it.id.clone();
        match column {
            0 => id.payload_bytes = None,
            1 => id.devices = None,
            _ => id.distance_m = None,
        }
        id
    };
    if row(own) != row(other) {
        return false;
    }
    let (Some(a), Some(b)) = (sizes(own)[column], sizes(other)[column]) else { return false };
    let inside = |size: f64| size > a.min(b) && size < a.max(b);
    let same_row = |it: &&Cell| it.source == own.source && row(it) == row(own);
    !cells.iter().filter(same_row).any(|it| sizes(it)[column].is_some_and(inside))
}

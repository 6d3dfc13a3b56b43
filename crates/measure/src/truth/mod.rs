//! Errors of the virtual lab: its figures against the cells of Espressif's ESP-NOW test report.
//!
//! Cells on which a constant was fitted say nothing of that and are counted apart. The others fall
//! into groups, each with what is asked of it.
//!
//! | group | metrics | asked |
//! |---|---|---|
//! | middle | means, throughput, times of encryption, durations, rates, loss of many devices | median error at most 10 %, nine in ten within 30 % |
//! | minima | `*_min` | all within 25 % |
//! | maxima | `*_max` | four in five within a factor of two |
//! | others | counts of packets, loss with one device | nothing: a few lost packets in thousands |
//! | spreads | `*_3sigma`, `*_6sigma`, `*_stddev`; runs of a second, of which two can lie apart by half | nothing |
//!
//! A kind of test says which published cells are of its documents, in which group a cell is, and what prints
//! alike (`crate::kind`). A figure that a document gives as the best second is held against our best second.
//! Rows that only tell a configuration are no results.
//!
//! # What a printed figure says
//!
//! A printed value stands for all values that print so: 0.01 Mbit/s for 0.005 to 0.015, 2 ms that
//! the console cut for 2 to 3 ms. The error is the distance to the nearest of them,
//! over that; within them it is 0. Ours is taken without such rounding where there is such a figure
//! (`rtt_exact_min` for `rtt_min`), or rounding would be forgiven twice. Means of round trips are of
//! times that the console had cut, and so are ours.

mod group;
mod seeds;
mod standing;

pub use group::{AccuracyTarget, CellGroup, GroupErrors};
pub use seeds::{SeedErrors, SeedGroup, SeedRange, of_report, over_seeds};
pub use standing::{CellStanding, mark_neighbours};

use crate::cell::{Cell, Identity, Origin};
use crate::kind::{self, TestKind};
use crate::wifi;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// One published cell beside ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellDeviation {
    /// Cell that it was of.
    #[serde(flatten)]
    pub id: Identity,
    /// Number of our test in the run's plans, from 1, while the report is made.
    #[serde(skip)]
    pub number: Option<u32>,
    /// Unit of all its values.
    pub unit: String,
    /// The published value as printed.
    pub published: f64,
    /// The smallest value that prints so.
    pub low: f64,
    /// The largest value that prints so.
    pub high: f64,
    /// The simulated value, without rounding where there is such a figure.
    pub simulated: f64,
    /// From the nearest value that prints as the published one, over that; negative where ours is
    /// smaller. `None` where that is zero and ours is not.
    pub error: Option<f64>,
    /// Group of the cell, which sets its accuracy target.
    pub group: CellGroup,
    /// Whether ours meets what is asked of a single cell.
    pub within: bool,
    /// Standing of the cell towards fitted constants.
    pub standing: CellStanding,
    /// The constant that was fitted to this cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<String>,
}

/// Errors of a report's simulated figures.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Truth {
    /// The groups, over cells that were not fitted.
    pub groups: Vec<GroupErrors>,
    /// The cells that constants were fitted on.
    pub fitted: GroupErrors,
    /// Errors by standing, of means, throughput and durations: cells next to fitted ones, and those that
    /// are independent.
    pub standings: Vec<StandingErrors>,
    /// Published cells of the document that the report has no figure for.
    pub missing: u32,
    /// Cells of ours that were not taken by the document's own procedure (fewer pings, say).
    pub other_procedure: u32,
    /// Each cell: those not fitted first, and of these the farthest off first.
    pub rows: Vec<CellDeviation>,
}

/// Errors of the cells of one standing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StandingErrors {
    /// Standing of the cells.
    pub standing: CellStanding,
    /// Their errors.
    #[serde(flatten)]
    pub errors: GroupErrors,
}

/// Documents that simulated cells are held against.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Documents {
    /// Espressif's ESP-NOW test report.
    #[serde(rename = "esp-now-report")]
    EspNow,
    /// Documents of tests over Wi-Fi.
    #[serde(rename = "wifi-documents")]
    Wifi,
}

/// A published result, the kind of test that it is of, and ours.
type Pair<'a> = (&'a Cell, &'static dyn TestKind, &'a Cell);

/// Compares simulated cells with those of documents; `None` where none is of both. A published
/// cell says by `fitted` and `fitted_constant` which constant was fitted to it.
#[must_use]
pub fn truth(ours: &[Cell], published: &[Cell], documents: Documents) -> Option<Truth> {
    // A plan that sets something of the lab is not of the documents' rooms.
    let is_of_lab = |c: &&Cell| c.origin == Origin::Simulated && !c.settings.override_lab();
    let simulated: Vec<&Cell> = ours.iter().filter(is_of_lab).collect();
    let results: Vec<(&Cell, &dyn TestKind)> =
        published.iter().filter_map(|cell| Some((cell, documents.kind_of(cell)?))).collect();
    let pairs = match documents {
        Documents::EspNow => by_columns(&simulated, &results),
        Documents::Wifi => by_variant(&simulated, &results),
    };
    let found: Vec<(CellDeviation, &Cell)> =
        pairs.iter().filter_map(|it| row(&simulated, it)).collect();
    if found.is_empty() {
        return None;
    }
    // Over Wi-Fi only the documents' own procedures are beside theirs.
    let other =
        |it: &&(CellDeviation, &Cell)| documents == Documents::EspNow && !it.1.settings.is_empty();
    let other_procedure = count(found.iter().filter(other));
    let missing = count(results.iter()) - count(found.iter());
    let fair = found
        .into_iter()
        .filter(|(_, ours)| documents == Documents::Wifi || !ours.counts_another_test());
    Some(Truth::of(fair.map(|(row, _)| row).collect(), missing, other_procedure))
}

impl Documents {
    /// Returns the name in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::EspNow => "esp-now-report",
            Self::Wifi => "wifi-documents",
        }
    }

    /// Returns the documents of that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::EspNow, Self::Wifi].into_iter().find(|it| it.name() == name)
    }

    /// Returns the tests of these documents in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::EspNow => "ESP-NOW",
            Self::Wifi => "Wi-Fi",
        }
    }

    /// Returns the kind of test that a published cell is a result of, where it is of these documents.
    fn kind_of(self, cell: &Cell) -> Option<&'static dyn TestKind> {
        let publishes = |it: &&'static dyn TestKind| it.publishes(cell);
        match self {
            Self::EspNow => kind::others().find(publishes),
            Self::Wifi => kind::over_ip().find(publishes),
        }
    }
}

/// Returns the published results of which one of ours has the columns.
fn by_columns<'a>(
    simulated: &[&'a Cell],
    results: &[(&'a Cell, &'static dyn TestKind)],
) -> Vec<Pair<'a>> {
    let ours = |id: &Identity| simulated.iter().find(|c| c.id == *id).copied();
    results.iter().filter_map(|(it, kind)| Some((*it, *kind, ours(&it.id)?))).collect()
}

/// Returns the published results of which one of ours is a test of the same device: see
/// [`wifi::same`].
fn by_variant<'a>(
    simulated: &[&'a Cell],
    results: &[(&'a Cell, &'static dyn TestKind)],
) -> Vec<Pair<'a>> {
    let document: Vec<&Cell> = results.iter().map(|it| it.0).collect();
    let mut numbers: Vec<(&Cell, usize)> = Vec::new();
    let mut pairs: Vec<Pair<'a>> = Vec::new();
    for &cell in simulated.iter().filter(|it| wifi::device(it).is_some()) {
        let before = match numbers.iter_mut().find(|(other, _)| are_alike(other, cell)) {
            Some((_, number)) => core::mem::replace(number, *number + 1),
            None => {
                numbers.push((cell, 1));
                0
            }
        };
        let Some(own) = wifi::same(cell, before, &document).flatten() else { continue };
        let is_own = |it: &&Cell| core::ptr::eq(*it, own);
        let found = results.iter().find(|it| is_own(&it.0));
        // One without a figure stands beside nothing.
        if cell.value.is_some() && !pairs.iter().any(|it| is_own(&it.0)) {
            pairs.extend(found.map(|(own, kind)| (*own, *kind, cell)));
        }
    }
    pairs
}

/// Returns whether only their order tells two cells apart.
fn are_alike(a: &Cell, b: &Cell) -> bool {
    let columns = |id: &Identity| {
        (id.table.clone(), id.mode.clone(), id.metric.clone(), id.environment.clone())
    };
    columns(&a.id) == columns(&b.id) && a.settings == b.settings
}

impl Truth {
    pub(crate) fn of(mut rows: Vec<CellDeviation>, missing: u32, other_procedure: u32) -> Self {
        rows.sort_by(|a, b| {
            let key = |r: &CellDeviation| (r.fitted.is_some(), -r.distance());
            let ((f, d), (g, e)) = (key(a), key(b));
            f.cmp(&g).then(d.total_cmp(&e))
        });
        let of = |kind| {
            GroupErrors::of(kind, rows.iter().filter(|r| r.group == kind && r.fitted.is_none()))
        };
        let standings = CellStanding::ALL.map(|standing| {
            let is_of = |r: &&CellDeviation| r.group == CellGroup::Middle && r.standing == standing;
            let errors = GroupErrors::of(CellGroup::Middle, rows.iter().filter(is_of));
            StandingErrors { standing, errors: GroupErrors { target: None, held: None, ..errors } }
        });
        Self {
            standings: standings.into_iter().filter(|it| it.errors.cells > 0).collect(),
            groups: CellGroup::ALL.map(of).into_iter().filter(|g| g.cells > 0).collect(),
            fitted: GroupErrors::of(CellGroup::Middle, rows.iter().filter(|r| r.fitted.is_some())),
            missing,
            other_procedure,
            rows,
        }
    }

    /// Returns whether every group meets its accuracy target.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.groups.iter().all(|g| g.held != Some(false))
    }
}

impl CellDeviation {
    /// Computes the error of ours against all values that print as the published one.
    fn between(simulated: f64, (low, high): (f64, f64), group: CellGroup) -> Self {
        let nearest = simulated.clamp(low, high);
        let error = if nearest == simulated {
            Some(0.0)
        } else {
            (nearest != 0.0).then(|| simulated / nearest - 1.0)
        };
        Self {
            number: None,
            id: Identity::default(),
            unit: String::new(),
            published: 0.0,
            low,
            high,
            simulated,
            error,
            group,
            within: error.is_some_and(|e| group.within(e)),
            standing: CellStanding::Independent,
            fitted: None,
        }
    }

    /// Returns how far off ours is, whichever side: the logarithm of the factor. A cell whose error
    /// has no number is the farthest of all.
    fn distance(&self) -> f64 {
        match self.error {
            Some(error) if error > -1.0 => libm::log1p(error).abs(),
            _ => f64::INFINITY,
        }
    }
}

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}

/// Returns the constant that was fitted to a published cell; empty where its name is not known.
fn constant(published: &Cell) -> Option<String> {
    published.fitted.then(|| published.fitted_constant.clone().unwrap_or_default())
}

/// Returns the row of a published cell, and ours.
fn row<'a>(simulated: &[&'a Cell], pair: &Pair<'a>) -> Option<(CellDeviation, &'a Cell)> {
    let &(published, kind, ours) = pair;
    let value = published.value?;
    let whole = |metric: &str| {
        let id = Identity { metric: metric.into(), ..published.id.clone() };
        simulated.iter().find(|c| c.id == id).copied()
    };
    let figure = kind.unrounded(&published.id.metric).and_then(whole).unwrap_or(ours);
    let group = kind.group(published);
    let row = CellDeviation {
        id: published.id.clone(),
        number: ours.test.number,
        unit: published.unit.clone(),
        published: value,
        fitted: constant(published),
        standing: match (published.fitted, published.standing) {
            (true, _) => CellStanding::Fitted,
            (false, standing) => standing.unwrap_or(CellStanding::Independent),
        },
        ..CellDeviation::between(figure.value?, kind.printed(&published.id, value), group)
    };
    Some((row, ours))
}

#[cfg(test)]
mod tests;

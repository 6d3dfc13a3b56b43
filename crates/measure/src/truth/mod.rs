//! Errors of the virtual lab: its figures against the cells of Espressif's ESP-NOW test report.
//!
//! Cells on which a constant was fitted say nothing of that and are counted apart. The others fall
//! into groups, each with what is asked of it.
//!
//! | group | metrics | asked |
//! |---|---|---|
//! | middle | means, throughput, times of encryption, durations, loss of many devices | median error at most 10 %, nine in ten within 30 % |
//! | minima | `*_min` | all within 25 % |
//! | maxima | `*_max` | four in five within a factor of two |
//! | others | counts of packets, loss with one device | nothing: a few lost packets in thousands |
//!
//! # What a printed figure says
//!
//! A printed value stands for all values that print so: 0.01 Mbit/s for 0.005 to 0.015, 2 ms that
//! the console cut for 2 to 3 ms ([`printed`]). The error is the distance to the nearest of them,
//! over that; within them it is 0. Ours is taken without such rounding where there is such a figure
//! (`rtt_exact_min` for `rtt_min`), or rounding would be forgiven twice. Means of round trips are of
//! times that the console had cut, and so are ours.

mod group;
pub mod wifi;

pub use group::{AccuracyTarget, CellGroup, GroupErrors};

use crate::cell::{Cell, Identity, Origin};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// The document.
pub const SOURCE: &str = "espressif-esp-now-report";

/// One published cell beside ours.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CellDeviation {
    /// Cell that it was of.
    #[serde(flatten)]
    pub id: Identity,
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
    /// Published cells of the document that the report has no figure for.
    pub missing: u32,
    /// Cells of ours that were not taken by the document's own procedure (fewer pings, say).
    pub other_procedure: u32,
    /// Each cell: those not fitted first, and of these the farthest off first.
    pub rows: Vec<CellDeviation>,
}

/// Compares simulated cells with those of the document; `None` where none is of both. A published
/// cell says by `fitted` and `fitted_constant` which constant was fitted to it.
#[must_use]
pub fn truth(ours: &[Cell], published: &[Cell]) -> Option<Truth> {
    let simulated: Vec<&Cell> = ours.iter().filter(|c| c.origin == Origin::Simulated).collect();
    let document: Vec<&Cell> =
        published.iter().filter(|c| c.source.as_deref() == Some(SOURCE)).collect();
    let found: Vec<(CellDeviation, &Cell)> =
        document.iter().filter_map(|p| row(&simulated, p)).collect();
    if found.is_empty() {
        return None;
    }
    let other_procedure = count(found.iter().filter(|(_, ours)| !ours.settings.is_empty()));
    let missing = count(document.iter()) - count(found.iter());
    let fair = found.into_iter().filter(|(_, ours)| !ours.counts_another_test());
    Some(Truth::of(fair.map(|(row, _)| row).collect(), missing, other_procedure))
}

impl Truth {
    fn of(mut rows: Vec<CellDeviation>, missing: u32, other_procedure: u32) -> Self {
        rows.sort_by(|a, b| {
            let key = |r: &CellDeviation| (r.fitted.is_some(), -r.distance());
            let ((f, d), (g, e)) = (key(a), key(b));
            f.cmp(&g).then(d.total_cmp(&e))
        });
        let of = |kind| {
            GroupErrors::of(kind, rows.iter().filter(|r| r.group == kind && r.fitted.is_none()))
        };
        Self {
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
            id: Identity::default(),
            unit: String::new(),
            published: 0.0,
            low,
            high,
            simulated,
            error,
            group,
            within: error.is_some_and(|e| group.within(e)),
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
fn row<'a>(simulated: &[&'a Cell], published: &Cell) -> Option<(CellDeviation, &'a Cell)> {
    let value = published.value?;
    let ours = simulated.iter().find(|c| c.id == published.id)?;
    let whole = |metric: &str| {
        let id = Identity { metric: metric.into(), ..published.id.clone() };
        simulated.iter().find(|c| c.id == id)
    };
    let figure = unrounded(&published.id.metric).and_then(whole).unwrap_or(ours);
    let simulated = figure.value?;
    let row = CellDeviation {
        id: published.id.clone(),
        unit: published.unit.clone(),
        published: value,
        group: CellGroup::of(&published.id),
        fitted: constant(published),
        ..CellDeviation::between(
            simulated,
            printed(&published.id.metric, value),
            CellGroup::of(&published.id),
        )
    };
    Some((row, ours))
}

/// Returns the metric of ours that has not the console's rounding.
fn unrounded(metric: &str) -> Option<&'static str> {
    Some(match metric {
        "rtt_min" => "rtt_exact_min",
        "rtt_max" => "rtt_exact_max",
        "throughput" => "throughput_sent",
        "encrypt_time" => "encrypt_time_exact",
        "decrypt_time" => "decrypt_time_exact",
        "ota_time" => "ota_time_exact",
        _ => return None,
    })
}

/// Returns the smallest and the largest value that the document prints as `value`.
///
/// Extremes of round trips, times of encryption and of updates are whole numbers that the console
/// cut. What it prints with two decimals, it rounds; the oscilloscope's readings have two, too.
/// Handshakes are given to 0.1 s, and the authors timed provisioning by eye, to the second.
#[must_use]
pub fn printed(metric: &str, value: f64) -> (f64, f64) {
    let around = |half: f64| ((value - half).max(0.0), value + half);
    match metric {
        "rtt_min" | "rtt_max" | "encrypt_time" | "decrypt_time" | "ota_time" => {
            (value, value + 1.0)
        }
        "packets_lost" | "packets_total" => (value, value),
        "handshake_time" => around(0.05),
        "provisioning_time" => around(0.5),
        _ => around(0.005),
    }
}

#[cfg(test)]
mod tests;

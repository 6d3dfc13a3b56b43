//! Accuracy targets of groups of cells, and whether they are met.

use super::CellDeviation;
use crate::metric::Statistic;
use alloc::vec::Vec;
use espbench_stats::quantile::Sorted;
use serde::{Deserialize, Serialize};

/// Group of a cell, which sets its accuracy target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellGroup {
    /// Means, throughput, durations, loss of many devices.
    Middle,
    /// Smallest values.
    Minima,
    /// Largest values.
    Maxima,
    /// The rest, of which nothing is asked.
    Others,
    /// Statistics of scatter, and single runs, of tests over Wi-Fi. They have no target.
    Spreads,
}

/// Errors that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccuracyTarget {
    /// Largest median of the errors' sizes.
    pub median: Option<f64>,
    /// Smallest share of cells within the limit.
    pub share: f64,
}

/// The cells of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupErrors {
    /// Kind of cells in the group.
    pub kind: CellGroup,
    /// Number of cells.
    pub cells: u32,
    /// Median of the errors' sizes.
    pub median: Option<f64>,
    /// Share of the cells that are within the group's limit.
    pub share: Option<f64>,
    /// Accuracy target of the group.
    pub target: Option<AccuracyTarget>,
    /// Outcome: whether the cells reach the target.
    pub held: Option<bool>,
}

impl CellGroup {
    /// All groups, in the order in which they are read.
    pub const ALL: [Self; 5] =
        [Self::Middle, Self::Minima, Self::Maxima, Self::Others, Self::Spreads];

    /// Returns the group of figures with that statistic, where a kind of test has no other for them.
    #[must_use]
    pub const fn of(statistic: Statistic) -> Self {
        match statistic {
            Statistic::Min => Self::Minima,
            Statistic::Max => Self::Maxima,
            Statistic::Deviation | Statistic::Deviation3 | Statistic::Deviation6 => Self::Spreads,
            _ => Self::Middle,
        }
    }

    /// Returns the name in tables and JSON.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Middle => "middle",
            Self::Minima => "minima",
            Self::Maxima => "maxima",
            Self::Others => "others",
            Self::Spreads => "spreads",
        }
    }

    /// Returns the group of that [`key`](Self::key).
    #[must_use]
    pub fn from_key(key: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.key() == key)
    }

    /// Returns the group in words.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Middle => "means, throughput, durations, loss of many devices",
            Self::Minima => "minima",
            Self::Maxima => "maxima",
            Self::Others => "packet counts, loss with one device",
            Self::Spreads => "standard deviations, single runs of a second",
        }
    }

    /// Returns the limit for one cell, in words.
    #[must_use]
    pub const fn limit(self) -> &'static str {
        match self {
            Self::Middle | Self::Others | Self::Spreads => "30 %",
            Self::Minima => "25 %",
            Self::Maxima => "a factor of 2",
        }
    }

    /// Returns whether an error is within the limit.
    #[must_use]
    pub fn within(self, error: f64) -> bool {
        match self {
            Self::Middle | Self::Others | Self::Spreads => error.abs() <= 0.3,
            Self::Minima => error.abs() <= 0.25,
            Self::Maxima => (-0.5..=1.0).contains(&error),
        }
    }

    /// Returns between which factors of the lab's figure a measured one is as the lab predicts.
    #[must_use]
    pub const fn ratios(self) -> (f64, f64) {
        match self {
            Self::Middle | Self::Others | Self::Spreads => (0.7, 1.3),
            Self::Minima => (0.75, 1.25),
            Self::Maxima => (0.5, 2.0),
        }
    }

    /// Returns the target of all its cells together.
    #[must_use]
    pub const fn target(self) -> Option<AccuracyTarget> {
        match self {
            Self::Middle => Some(AccuracyTarget { median: Some(0.1), share: 0.9 }),
            Self::Minima => Some(AccuracyTarget { median: None, share: 1.0 }),
            Self::Maxima => Some(AccuracyTarget { median: None, share: 0.8 }),
            Self::Others | Self::Spreads => None,
        }
    }
}

impl GroupErrors {
    pub(super) fn of<'a>(kind: CellGroup, rows: impl Iterator<Item = &'a CellDeviation>) -> Self {
        let rows: Vec<&CellDeviation> = rows.collect();
        let size = |r: &&CellDeviation| r.error.map_or(f64::INFINITY, f64::abs);
        let errors = Sorted::new(rows.iter().map(size).collect());
        let cells = super::count(rows.iter());
        let within = super::count(rows.iter().filter(|r| r.within));
        let share = (cells > 0).then(|| f64::from(within) / f64::from(cells));
        // An error without a number is no number in JSON either.
        let median = errors.quantile(0.5).value.filter(|m| m.is_finite());
        let target = kind.target();
        let held = target.filter(|_| cells > 0).map(|target| {
            let small = target.median.is_none_or(|most| median.is_some_and(|m| m <= most));
            small && share.is_some_and(|s| s >= target.share)
        });
        Self { kind, cells, median, share, target, held }
    }
}

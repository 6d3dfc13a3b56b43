//! Errors of the lab over several seeds: each draws other places and other chance, so one run says little
//! of how true the lab is.

use super::{CellDeviation, CellGroup, CellStanding, Documents, GroupErrors, Truth};
use crate::report::Report;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Errors of one group of cells in the run of one seed.
#[derive(Clone, Debug, PartialEq)]
pub struct SeedErrors {
    /// Documents that published the cells; `None`: all of them, with the cells that constants were fitted on.
    pub documents: Option<Documents>,
    /// The group.
    pub group: CellGroup,
    /// Standing of the cells towards fitted constants; `None`: all that were not fitted.
    pub standing: Option<CellStanding>,
    /// Seed of the run.
    pub seed: u64,
    /// Number of cells.
    pub cells: u32,
    /// Median of the errors' sizes, in percent.
    pub median_percent: Option<f64>,
    /// Share of the cells within the group's limit, in percent.
    pub within_percent: Option<f64>,
}

/// Errors of one group of cells over several seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedGroup {
    /// Documents that published the cells; `None`: all of them, with the cells that constants were fitted on.
    pub documents: Option<Documents>,
    /// The group.
    pub group: CellGroup,
    /// Standing of the cells towards fitted constants; `None`: all that were not fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub standing: Option<CellStanding>,
    /// Number of seeds.
    pub seeds: u32,
    /// Largest number of cells in one run.
    pub cells: u32,
    /// Median of the errors' sizes, in percent.
    pub median_percent: Option<SeedRange>,
    /// Share of the cells within the group's limit, in percent.
    pub within_percent: Option<SeedRange>,
}

/// A figure over several seeds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SeedRange {
    /// Mean.
    pub mean: f64,
    /// Smallest.
    pub low: f64,
    /// Largest.
    pub high: f64,
}

impl SeedErrors {
    /// Returns the errors of all groups in a run of all suites, and those of all cells together.
    #[must_use]
    pub fn of(report: &Report) -> Vec<Self> {
        let seed = report.run.seed;
        let of = |documents, truth: &Option<Truth>| -> Vec<Self> {
            let groups = truth.iter().flat_map(|it| &it.groups).map(|it| (it, None));
            let standings = truth.iter().flat_map(|it| &it.standings);
            let all = groups.chain(standings.map(|it| (&it.errors, Some(it.standing))));
            all.map(|(errors, of)| Self::of_group(Some(documents), seed, errors, of)).collect()
        };
        let mut rows = of(Documents::EspNow, &report.truth);
        rows.extend(of(Documents::Wifi, &report.truth_wifi));
        let both = report.truth.iter().chain(&report.truth_wifi);
        let is_middle = |it: &&CellDeviation| it.group == CellGroup::Middle;
        let every =
            GroupErrors::of(CellGroup::Middle, both.flat_map(|it| &it.rows).filter(is_middle));
        if every.cells > 0 {
            rows.push(Self::of_group(None, seed, &every, None));
        }
        rows
    }

    fn of_group(
        documents: Option<Documents>,
        seed: u64,
        errors: &GroupErrors,
        standing: Option<CellStanding>,
    ) -> Self {
        // A hundredth of a percent is more than anybody asks for, and the same on every machine.
        let percent = |part: f64| libm::round(part * 1e4) / 100.0;
        Self {
            documents,
            group: errors.kind,
            standing,
            seed,
            cells: errors.cells,
            median_percent: errors.median.map(percent),
            within_percent: errors.share.map(percent),
        }
    }
}

impl SeedRange {
    fn of(values: impl Iterator<Item = f64> + Clone) -> Option<Self> {
        let n = values.clone().count();
        let low = values.clone().reduce(f64::min)?;
        let high = values.clone().reduce(f64::max)?;
        // The sum of equal values is rounded, and their mean would lie beside them.
        Some(Self { mean: (values.sum::<f64>() / n as f64).clamp(low, high), low, high })
    }
}

/// Returns the groups of all seeds, those of each document in the order of [`CellGroup::ALL`], all together last.
#[must_use]
pub fn over_seeds(rows: &[SeedErrors]) -> Vec<SeedGroup> {
    let mut groups: BTreeMap<_, Vec<&SeedErrors>> = BTreeMap::new();
    for row in rows {
        let group = CellGroup::ALL.iter().position(|it| *it == row.group).unwrap_or_default();
        let documents = row.documents.map_or(usize::MAX, |it| it as usize);
        groups.entry((documents, row.standing, group)).or_default().push(row);
    }
    let group = |rows: Vec<&SeedErrors>| SeedGroup {
        documents: rows[0].documents,
        group: rows[0].group,
        standing: rows[0].standing,
        seeds: super::count(rows.iter()),
        cells: rows.iter().map(|it| it.cells).max().unwrap_or_default(),
        median_percent: SeedRange::of(rows.iter().filter_map(|it| it.median_percent)),
        within_percent: SeedRange::of(rows.iter().filter_map(|it| it.within_percent)),
    };
    groups.into_values().map(group).collect()
}

/// Returns the groups of the documents that have figures of a report's simulated tests.
#[must_use]
pub fn of_report(groups: Vec<SeedGroup>, report: &Report) -> Vec<SeedGroup> {
    let has = |documents| match documents {
        Documents::EspNow => report.truth.is_some(),
        Documents::Wifi => report.truth_wifi.is_some(),
    };
    groups.into_iter().filter(|it| it.documents.is_some_and(has)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_of_equal_values_is_that_value() {
        let range = SeedRange::of([98.84; 10].into_iter()).unwrap();
        assert_eq!(range, SeedRange { mean: 98.84, low: 98.84, high: 98.84 });
    }

    fn row(seed: u64, group: CellGroup, median: f64, within: f64) -> SeedErrors {
        SeedErrors {
            documents: Some(Documents::EspNow),
            group,
            standing: None,
            seed,
            cells: 100 + seed as u32,
            median_percent: Some(median),
            within_percent: Some(within),
        }
    }

    #[test]
    fn seeds_become_a_mean_and_a_range() {
        let rows = [
            row(1, CellGroup::Others, 50.0, 40.0),
            row(1, CellGroup::Middle, 9.0, 91.0),
            row(2, CellGroup::Middle, 8.0, 90.0),
            row(3, CellGroup::Middle, 10.0, 86.0),
        ];
        let groups = over_seeds(&rows);
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].group, CellGroup::Middle);
        assert_eq!((groups[0].seeds, groups[0].cells), (3, 103));
        assert_eq!(groups[0].median_percent, Some(SeedRange { mean: 9.0, low: 8.0, high: 10.0 }));
        assert_eq!(groups[0].within_percent, Some(SeedRange { mean: 89.0, low: 86.0, high: 91.0 }));
        assert_eq!(groups[1].median_percent.map(|it| it.mean), Some(50.0));
    }

    #[test]
    fn a_group_without_a_median_has_none() {
        let none = SeedErrors { median_percent: None, ..row(1, CellGroup::Others, 0.0, 0.0) };
        assert_eq!(over_seeds(&[none])[0].median_percent, None);
        assert!(over_seeds(&[]).is_empty());
    }
}

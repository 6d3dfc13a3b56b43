//! Agreement of leading figures with published ones, or why they cannot be compared.

use super::digest::Digest;
use crate::cell::{Cell, Origin};
use crate::compare::{self, Comparison, ReasonKind, Verdict, is_fitted};
use crate::truth::{CellDeviation, CellGroup, Truth};
use alloc::string::String;
use alloc::vec::Vec;
use espbench_stats::quantile::Sorted;
use serde::{Deserialize, Serialize};

/// Deviation from a published figure up to which a figure counts as near it.
const NEAR: f64 = 0.3;

/// Agreement of a group's leading figures with published ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Agreement {
    /// Pairs of which the ratio says something: neither was fitted to the other.
    pub pairs: usize,
    /// Median of ours over published.
    pub ratio: Option<f64>,
    /// Median of the deviations from 1 of these ratios.
    pub error: Option<f64>,
    /// Pairs whose ratio is within 30 % of 1.
    pub near: usize,
    /// Pairs without an interval: whether they differ is not known.
    #[serde(default, skip_serializing_if = "is_none")]
    pub unjudged: usize,
    /// Pairs of which ours is better.
    pub better: usize,
    /// Pairs of which ours is worse.
    pub worse: usize,
    /// Pairs that a constant of the simulator was fitted to.
    pub fitted: usize,
    /// Pairs that cannot be compared.
    pub not_comparable: usize,
    /// Properties in which the nearest published figure differs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ReasonKind>,
    /// Words for these reasons, with what would make the two comparable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub why: Vec<String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Compares the leading figures of a simulated suite with those of its document; none where it is of no
/// document.
pub(super) fn agreement_with_document(cells: &[Digest], truths: &[&Truth]) -> Option<Agreement> {
    let is_of_table = |row: &&CellDeviation| {
        let mut all = cells.iter().flat_map(|it| &it.cells);
        row.group == CellGroup::Middle && all.any(|cell| cell.id.table == row.id.table)
    };
    let rows: Vec<&CellDeviation> =
        truths.iter().flat_map(|it| &it.rows).filter(is_of_table).collect();
    let (fitted, others): (Vec<&CellDeviation>, Vec<&CellDeviation>) =
        rows.into_iter().partition(|row| row.fitted.is_some());
    if fitted.is_empty() && others.is_empty() {
        return None;
    }
    let errors: Vec<f64> = others.iter().filter_map(|row| row.error).map(f64::abs).collect();
    let ratio =
        |row: &&CellDeviation| Some(row.simulated / row.published).filter(|it| it.is_finite());
    Some(Agreement {
        pairs: others.len(),
        // A document's figures and the lab's beside them are single ones.
        unjudged: others.len(),
        ratio: median(others.iter().filter_map(ratio).collect()),
        near: errors.iter().filter(|it| **it <= NEAR).count(),
        error: median(errors),
        fitted: fitted.len(),
        ..Agreement::default()
    })
}

/// Compares values of one metric with the published ones beside them.
pub(crate) fn agreement(ours: &[&Cell], comparisons: &[Comparison]) -> Option<Agreement> {
    let is_ours = |it: &&Comparison| {
        it.other.origin == Origin::Published
            && ours.iter().any(|cell| cell.id == it.ours.id && cell.settings == it.ours.settings)
    };
    let mut agreement = Agreement::default();
    let mut ratios = Vec::new();
    for pair in comparisons.iter().filter(is_ours) {
        match &pair.verdict {
            Verdict::NotComparable(_) => {
                agreement.not_comparable += 1;
                continue;
            }
            _ if is_fitted(&pair.ours, &pair.other) => {
                agreement.fitted += 1;
                continue;
            }
            Verdict::Better => agreement.better += 1,
            Verdict::Worse => agreement.worse += 1,
            Verdict::NoDifferenceShown if pair.has_no_end() => agreement.unjudged += 1,
            Verdict::Differs | Verdict::NoDifferenceShown => {}
        }
        agreement.pairs += 1;
        ratios.extend(pair.ratio);
    }
    let errors: Vec<f64> = ratios.iter().map(|it| (it - 1.0).abs()).collect();
    agreement.near = errors.iter().filter(|it| **it <= NEAR).count();
    agreement.ratio = median(ratios);
    agreement.error = median(errors);
    if let Some(pair) = compare::nearest(comparisons.iter().filter(is_ours)) {
        agreement.reasons = pair.verdict.reasons().iter().map(|it| it.kind).collect();
        agreement.why = compare::why(pair);
    }
    let any = agreement.pairs + agreement.fitted + agreement.not_comparable > 0;
    any.then_some(agreement)
}

/// Returns the median of a few figures: of an even number the mean of the two in the middle.
fn median(values: Vec<f64>) -> Option<f64> {
    let sorted = Sorted::new(values);
    let (all, n) = (sorted.values(), sorted.values().len());
    let upper = all.get(n / 2)?;
    Some((all[(n - 1) / 2] + upper) / 2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Identity;
    use core::slice::from_ref;
    use espbench_stats::Estimate;

    #[test]
    fn the_median_of_two_figures_is_between_them() {
        let of = |values: &[f64]| median(values.into());
        assert_eq!((of(&[]), of(&[3.0])), (None, Some(3.0)));
        assert_eq!((of(&[2.0, 1.0]), of(&[9.0, 1.0, 2.0])), (Some(1.5), Some(2.0)));
        assert_eq!(of(&[4.0, 1.0, 2.0, 9.0]), Some(3.0));
    }

    /// One figure that no interval stands by is not compared: it is no figure of which no difference was shown.
    #[test]
    fn a_pair_without_an_interval_is_not_judged() {
        let cell = |value, half: Option<f64>, origin| {
            let ends = |sign: f64| half.map(|half| value + sign * half);
            let estimate = Estimate { value: Some(value), n: 9, low: ends(-1.0), high: ends(1.0) };
            let id = Identity {
                metric: "throughput_rx".into(),
                environment: Some("home".into()),
                security: Some("off".into()),
                ..Identity::default()
            };
            Cell::of(estimate, id, "Mbit/s", origin)
        };
        let published = cell(37.7, None, Origin::Published);
        let of = |ours: Cell| {
            let pairs = compare::compare(from_ref(&ours), from_ref(&published));
            agreement(&[&ours], &pairs).expect("a pair")
        };
        let alone = of(cell(23_100.0, None, Origin::Measured));
        assert_eq!((alone.pairs, alone.unjudged), (1, 1), "{alone:?}");
        let near = of(cell(37.0, Some(2.0), Origin::Measured));
        assert_eq!((near.pairs, near.unjudged), (1, 0), "{near:?}");
    }
}

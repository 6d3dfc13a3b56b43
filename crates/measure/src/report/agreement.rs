//! Agreement of leading figures with published ones, or why they cannot be compared.

use super::digest::Digest;
use crate::cell::{Cell, Identity, Origin};
use crate::compare::{self, Comparison, Reason, ReasonKind, Verdict, is_fitted};
use crate::quantile::Sorted;
use crate::truth::{CellDeviation, CellGroup, Truth};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
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
    let mut nearest: Option<(&Comparison, &[Reason])> = None;
    for pair in comparisons.iter().filter(is_ours) {
        match &pair.verdict {
            Verdict::NotComparable(reasons) => {
                agreement.not_comparable += 1;
                if nearest.is_none_or(|it| distance(reasons) < distance(it.1)) {
                    nearest = Some((pair, reasons));
                }
                continue;
            }
            _ if is_fitted(&pair.ours, &pair.other) => {
                agreement.fitted += 1;
                continue;
            }
            Verdict::Better => agreement.better += 1,
            Verdict::Worse => agreement.worse += 1,
            Verdict::Differs | Verdict::NoDifferenceShown => {}
        }
        agreement.pairs += 1;
        ratios.extend(pair.ratio);
    }
    let errors: Vec<f64> = ratios.iter().map(|it| (it - 1.0).abs()).collect();
    agreement.near = errors.iter().filter(|it| **it <= NEAR).count();
    agreement.ratio = median(ratios);
    agreement.error = median(errors);
    if let Some((pair, reasons)) = nearest {
        agreement.reasons = reasons.iter().map(|it| it.kind).collect();
        agreement.why = why(pair, reasons);
    }
    let any = agreement.pairs + agreement.fitted + agreement.not_comparable > 0;
    any.then_some(agreement)
}

/// Returns how far a published figure is from being comparable: what a user can state is nearer than what a
/// document leaves open.
fn distance(reasons: &[Reason]) -> (usize, bool) {
    (reasons.len(), reasons.iter().any(|it| it.kind == ReasonKind::DocumentUnstated))
}

/// Says why a pair cannot be compared, and what would change that.
fn why(pair: &Comparison, reasons: &[Reason]) -> Vec<String> {
    let flags = flags(pair);
    let is_told = |it: &&Reason| flags.is_empty() || it.kind != ReasonKind::OursUnstated;
    let others = reasons.iter().filter(is_told).map(|it| it.text.clone());
    let to_state = format!("say which device and place yours are, such as {}", flags.join(" "));
    Some(to_state).filter(|_| !flags.is_empty()).into_iter().chain(others).collect()
}

/// Returns the flags that state of a measured figure what is not stated yet, with the values of the published
/// one beside it.
fn flags(pair: &Comparison) -> Vec<String> {
    let (ours, theirs) = (&pair.ours.id, &pair.other.id);
    if !pair.ours.origin.is_real_time() {
        return Vec::new();
    }
    let environment =
        |id: &Identity| compare::stated(id.environment.as_deref().unwrap_or_default());
    let chip = |id: &Identity| compare::stated(&id.chip);
    let mode = |id: &Identity| compare::stated(&id.mode);
    let flag = |name: &str, of: &dyn Fn(&Identity) -> Option<String>| match (of(ours), of(theirs)) {
        (None, Some(theirs)) => Some(format!("{name} {theirs}")),
        _ => None,
    };
    let all = [flag("--chip", &chip), flag("--mode", &mode), flag("--environment", &environment)];
    all.into_iter().flatten().collect()
}

fn median(values: Vec<f64>) -> Option<f64> {
    Sorted::new(values).quantile(0.5).value
}

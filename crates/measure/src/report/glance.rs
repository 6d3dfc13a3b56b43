//! The answer of a report: the figures that lead, in few rows, and their agreement with published ones.

use super::digest::Digest;
use super::pool;
use crate::cell::{Cell, Origin};
use crate::compare::{Comparison, ReasonKind, Verdict, is_fitted};
use crate::figure::FigurePoint;
use crate::kind;
use crate::kind::headline::{BATTERY, Headline};
use crate::label;
use crate::plan::Goal;
use crate::predict::battery::Battery;
use crate::quantile::Sorted;
use crate::settings::Settings;
use crate::truth::{CellDeviation, CellGroup, Truth};
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use serde::{Deserialize, Serialize};

/// Bars of a row's histogram.
pub const BARS: usize = 10;

/// Metrics of a group at most.
const METRICS: usize = 4;

/// Deviation from a published figure up to which a figure counts as near it.
const NEAR: f64 = 0.3;

/// The figures of one plan and kind of test: a suite.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GlanceGroup {
    /// Name of the plan; that of the kind of test where there is no plan.
    pub name: String,
    /// The kind of test.
    pub kind: String,
    /// The goal of the plan, which put its metrics first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// The battery that a battery life among the metrics is of, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub battery: Option<String>,
    /// Columns of the rows.
    pub metrics: Vec<GlanceMetric>,
    /// One row for each cell, with its repetitions in one.
    pub rows: Vec<GlanceRow>,
    /// Settings that all cells share, in words; empty for none.
    pub shared: String,
    /// Lower and upper end of the histograms' axis, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub axis_ms: Option<[f64; 2]>,
    /// Agreement with published figures; none where nothing was published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Agreement>,
    /// Smallest and largest factor between the leading figures and their theoretical limits, 1 or more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times_limit: Option<[f64; 2]>,
}

/// A metric of a group.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GlanceMetric {
    /// Name of the metric in a cell.
    pub metric: String,
    /// Quantity, such as `round trip`.
    pub quantity: String,
    /// Statistic, such as `p99`; empty where the quantity says it all.
    pub statistic: String,
    /// Unit.
    pub unit: String,
}

/// The leading figures of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GlanceRow {
    /// The cell, by the settings that not all cells share.
    pub place: String,
    /// These settings, each on its own.
    #[serde(skip)]
    pub words: Vec<String>,
    /// One value for each metric of the group; none where the cell has no such metric.
    pub values: Vec<Option<GlanceValue>>,
    /// The published value beside that of the first metric, where one belongs to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// The theoretical limit of the first metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Shares of the times in equal steps (equal factors, where the axis begins above 0) of the group's axis; empty where there are no times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<f64>,
    /// True where the row stands for others, too.
    pub leads: bool,
}

/// A value with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct GlanceValue {
    /// The value, in the metric's unit.
    pub value: f64,
    /// Lower end of the interval.
    pub ci_low: Option<f64>,
    /// Upper end of the interval.
    pub ci_high: Option<f64>,
    /// Whether the lab was fitted to a measurement of it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fitted: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

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
    /// Properties in which these differ.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<ReasonKind>,
}

/// Positions, name and goal of a plan of the run.
#[derive(Clone, Debug)]
pub(super) struct PlanPart {
    pub(super) cells: Range<u32>,
    pub(super) name: String,
    pub(super) goal: Option<Goal>,
    pub(super) battery: Battery,
}

/// Published figures beside those of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Evidence<'a> {
    /// Those of a document that a simulated suite carries out.
    pub(super) truths: &'a [&'a Truth],
    /// All others.
    pub(super) comparisons: &'a [Comparison],
}

impl Evidence<'_> {
    /// Returns the published value of the same cell: that of its document, or one that it is compared with.
    fn beside(&self, cell: &Cell) -> Option<f64> {
        // Rows of a document may share their columns, and differ by the firmware: a comparison knows.
        let is_pair = |it: &&Comparison| {
            it.other.origin == Origin::Published
                && it.other.unit == cell.unit
                && it.other.id.metric == cell.id.metric
                && it.ours.id == cell.id
                && it.ours.settings == cell.settings
                && (!self.truths.is_empty() || !matches!(it.verdict, Verdict::NotComparable(_)))
        };
        let pair = self.comparisons.iter().find(is_pair).and_then(|it| it.other.value);
        let row = || self.truths.iter().flat_map(|it| &it.rows).find(|row| row.id == cell.id);
        pair.or_else(|| row().map(|row| row.published))
    }
}

/// Makes the groups, in the order of the plans. The digests stand in that order.
pub(super) fn groups(
    plans: &[PlanPart],
    digests: &[Digest],
    evidence: Evidence<'_>,
) -> Vec<GlanceGroup> {
    let plan_of = |it: &Digest| plans.iter().position(|plan| plan.cells.contains(&it.ordinal));
    let mut parts: BTreeMap<(Option<usize>, usize), Vec<&Digest>> = BTreeMap::new();
    let mut kinds: Vec<&str> = Vec::new();
    for digest in digests {
        let name = digest.workload.kind();
        let kind = kinds.iter().position(|it| *it == name).unwrap_or_else(|| {
            kinds.push(name);
            kinds.len() - 1
        });
        parts.entry((plan_of(digest), kind)).or_default().push(digest);
    }
    let group = |((plan, kind), digests): ((Option<usize>, usize), Vec<&Digest>)| {
        let plan = plan.and_then(|at| plans.get(at));
        group(plan, kinds[kind], &digests, evidence)
    };
    parts.into_iter().filter_map(group).collect()
}

fn group(
    plan: Option<&PlanPart>,
    kind: &str,
    digests: &[&Digest],
    evidence: Evidence<'_>,
) -> Option<GlanceGroup> {
    let repetitions: Vec<&[&Digest]> = digests.chunk_by(|a, b| a.ordinal == b.ordinal).collect();
    let cells: Vec<Digest> = repetitions.iter().map(|same| pool::one(same)).collect();
    let goal = plan.and_then(|it| it.goal);
    let headlines = headlines(kind, goal, &cells);
    let first = headlines.first()?;
    let leading: Vec<&Cell> = cells.iter().filter_map(|it| it.cell(first.metric)).collect();
    let axis = axis(digests);
    let shared = Settings::shared(cells.iter().map(|it| &it.settings));
    // Where none stands for the others, each stands for itself.
    let none_leads = (0..cells.len()).all(|at| !leads(at, &cells));
    let words = |digest: &Digest| {
        label::each(kind, &digest.settings, |word| !word.is_of(&digest.settings, &shared))
    };
    let row = |(at, digest): (usize, &Digest)| GlanceRow {
        place: words(digest).join(", "),
        words: words(digest),
        values: headlines.iter().map(|it| digest.cell(it.metric).and_then(value)).collect(),
        published: digest.cell(first.metric).and_then(|it| evidence.beside(it)),
        limit: digest.cell(first.metric).and_then(|it| it.limit),
        histogram: axis.map_or_else(Vec::new, |axis| histogram(repetitions[at], axis)),
        leads: leads(at, &cells) || none_leads,
    };
    Some(GlanceGroup {
        name: plan.map_or_else(|| kind.to_string(), |it| it.name.clone()),
        kind: kind.to_string(),
        goal,
        battery: plan
            .filter(|_| headlines.iter().any(|it| it.metric == "battery_life"))
            .map(|it| it.battery.words()),
        rows: cells.iter().enumerate().map(row).collect(),
        shared: if cells.len() > 1 {
            label::plan(kind, &shared, |_| true)
        } else {
            cells.first().map_or_else(String::new, Digest::words)
        },
        axis_ms: axis,
        published: agreement_with_document(&cells, evidence.truths)
            .or_else(|| agreement(first, &leading, evidence.comparisons)),
        times_limit: times_limit(first, &cells),
        metrics: headlines.iter().filter_map(|it| metric(it, &cells)).collect(),
    })
}

/// Returns the metrics that some cell has a value of: those of the goal first.
fn headlines(kind: &str, goal: Option<Goal>, cells: &[Digest]) -> Vec<Headline> {
    let of_kind = kind::named(kind).map_or(&[][..], kind::TestKind::headlines);
    let is_known = |it: &&Headline| {
        cells.iter().any(|digest| digest.cell(it.metric).and_then(value).is_some())
    };
    let is_wanted = |it: &&Headline| it.goal != Goal::Battery || goal == Some(Goal::Battery);
    let mut all: Vec<Headline> =
        of_kind.iter().chain(&BATTERY).filter(is_known).filter(is_wanted).copied().collect();
    all.sort_by_key(|it| goal.is_some_and(|goal| it.goal != goal));
    let mut seen: Vec<&str> = Vec::new();
    all.retain(|it| {
        let is_new = !seen.contains(&it.metric);
        seen.push(it.metric);
        is_new
    });
    if all.is_empty() {
        let less = kind::named(kind).map_or(&[][..], kind::TestKind::headlines_without);
        all.extend(less.iter().filter(is_known).copied());
    }
    all.truncate(METRICS);
    all
}

fn metric(headline: &Headline, cells: &[Digest]) -> Option<GlanceMetric> {
    let cell = cells.iter().find_map(|it| it.cell(headline.metric))?;
    Some(GlanceMetric {
        metric: headline.metric.into(),
        quantity: headline.quantity.into(),
        statistic: headline.statistic.into(),
        unit: cell.unit.clone(),
    })
}

fn value(cell: &Cell) -> Option<GlanceValue> {
    let fitted = cell.test.fitted_run.is_some();
    Some(GlanceValue { value: cell.value?, ci_low: cell.ci_low, ci_high: cell.ci_high, fitted })
}

/// Returns whether a cell stands for others: the kind says which.
fn leads(at: usize, cells: &[Digest]) -> bool {
    let digest = &cells[at];
    let is_end = at == 0 || at + 1 == cells.len();
    kind::of(&digest.workload).leads(&digest.settings, is_end)
}

/// Returns the range of all distributions, for histograms on one axis.
fn axis(digests: &[&Digest]) -> Option<[f64; 2]> {
    let edges = || {
        let all = digests.iter().filter_map(|it| it.distribution.as_ref());
        all.filter_map(|it| Some((it.histogram.first()?.x, it.histogram.last()?.x)))
    };
    let low = edges().map(|it| it.0).reduce(f64::min)?;
    let high = edges().map(|it| it.1).reduce(f64::max)?;
    (low < high).then_some([low, high])
}

/// Counts the distributions of a cell's repetitions into bars on that axis: on a logarithmic one,
/// where it begins above 0. Empty where there are none.
fn histogram(repetitions: &[&Digest], [low, high]: [f64; 2]) -> Vec<f64> {
    let log = low > 0.0;
    let to = |x: f64| if log { libm::log(x.max(low)) } else { x };
    let (start, width) = (to(low), (to(high) - to(low)) / BARS as f64);
    let mut bars = alloc::vec![0.0; BARS];
    for distribution in repetitions.iter().filter_map(|it| it.distribution.as_ref()) {
        for edges in distribution.histogram.windows(2) {
            let [a, b] = edges else { continue };
            spread(&mut bars, (to(a.x) - start) / width, (to(b.x) - start) / width, a);
        }
    }
    let sum: f64 = bars.iter().sum();
    if sum > 0.0 { bars.iter().map(|bar| bar / sum).collect() } else { Vec::new() }
}

/// Adds a bin, from one position to another in bars, to the bars that it covers.
fn spread(bars: &mut [f64], from: f64, to: f64, bin: &FigurePoint) {
    let last = bars.len() - 1;
    let bar = |at: f64| (libm::floor(at.max(0.0)) as usize).min(last);
    if to <= from {
        bars[bar(from)] += bin.y;
        return;
    }
    for (at, sum) in bars.iter_mut().enumerate().take(bar(to) + 1).skip(bar(from)) {
        let covered = (to.min(at as f64 + 1.0) - from.max(at as f64)).max(0.0);
        *sum += bin.y * covered / (to - from);
    }
}

/// Compares the leading figures of a simulated suite with those of its document; none where it is of no
/// document.
fn agreement_with_document(cells: &[Digest], truths: &[&Truth]) -> Option<Agreement> {
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

/// Compares the values of the leading metric with the published ones beside them.
pub(crate) fn agreement(
    first: &Headline,
    ours: &[&Cell],
    comparisons: &[Comparison],
) -> Option<Agreement> {
    let is_ours = |it: &&Comparison| {
        it.other.origin == Origin::Published
            && it.ours.id.metric == first.metric
            && ours.iter().any(|cell| cell.id == it.ours.id && cell.settings == it.ours.settings)
    };
    let mut agreement = Agreement::default();
    let mut ratios = Vec::new();
    for pair in comparisons.iter().filter(is_ours) {
        match &pair.verdict {
            Verdict::NotComparable(reasons) => {
                agreement.not_comparable += 1;
                for kind in reasons.iter().map(|it| it.kind) {
                    if !agreement.reasons.contains(&kind) {
                        agreement.reasons.push(kind);
                    }
                }
                continue;
            }
            _ if is_fitted(&pair.ours, &pair.other) => {
                agreement.fitted += 1;
                continue;
            }
            Verdict::Better => agreement.better += 1,
            Verdict::Worse => agreement.worse += 1,
            Verdict::NoDifferenceShown => {}
        }
        agreement.pairs += 1;
        ratios.extend(pair.ratio);
    }
    let errors: Vec<f64> = ratios.iter().map(|it| (it - 1.0).abs()).collect();
    agreement.near = errors.iter().filter(|it| **it <= NEAR).count();
    agreement.ratio = median(ratios);
    agreement.error = median(errors);
    let any = agreement.pairs + agreement.fitted + agreement.not_comparable > 0;
    any.then_some(agreement)
}

/// Returns the smallest and the largest factor between values and their theoretical limits.
fn times_limit(first: &Headline, cells: &[Digest]) -> Option<[f64; 2]> {
    let factor = |digest: &Digest| digest.cell(first.metric)?.times_limit();
    let factors = || cells.iter().filter_map(factor);
    Some([factors().reduce(f64::min)?, factors().reduce(f64::max)?])
}

fn median(values: Vec<f64>) -> Option<f64> {
    Sorted::new(values).quantile(0.5).value
}

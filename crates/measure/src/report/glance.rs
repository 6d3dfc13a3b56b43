//! The answer of a report: the figures that lead, in few rows, and their agreement with published ones.

use super::agreement::{Agreement, agreement, agreement_with_document};
use super::digest::Digest;
use super::pool;
use crate::bounds;
use crate::cell::{Cell, Origin};
use crate::compare::{Comparison, Verdict};
use crate::figure::FigurePoint;
use crate::kind;
use crate::kind::headline::{BATTERY, Headline};
use crate::label;
use crate::metric::{self, Statistic};
use crate::plan::Goal;
use crate::predict::battery::Battery;
use crate::settings::Settings;
use crate::truth::Truth;
use crate::warning::{self, Advice, Warning};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::ops::Range;
use serde::{Deserialize, Serialize};

/// Bars of a row's histogram.
pub const BARS: usize = 10;

/// Metrics of a group at most.
const METRICS: usize = 4;

/// The figures of one plan and kind of test: a suite, or a part of one whose cells share no figure with the others.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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

/// Name of the largest value of a cell that was repeated.
const MEAN_OF_MAX: &str = "mean of max";

/// Name of the smallest value of a cell that was repeated.
const MEAN_OF_MIN: &str = "mean of min";

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
    /// The first metric as a console prints it, cut or rounded, where the published value was printed so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<f64>,
    /// The theoretical limit of the first metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Shares of the times in equal steps (equal factors, where the axis begins above 0) of the group's axis; empty where there are no times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub histogram: Vec<f64>,
    /// The result in the line of the program that people know for the test, such as ping's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usual_line: Option<String>,
    /// True where the row stands for others, too.
    pub leads: bool,
    /// Whether a threshold of the cell failed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub failed: bool,
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
    /// All of which it counts a part, such as the devices that were to be served.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<f64>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_false(flag: &bool) -> bool {
    !*flag
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

/// The first look, and the advice on what it shows.
#[derive(Default)]
pub(super) struct FirstLook {
    pub(super) groups: Vec<GlanceGroup>,
    pub(super) advice: Vec<Warning>,
}

/// Makes the groups, in the order of the plans. The digests stand in that order. `step_ns` is the step of the
/// host's clock, where it is known; `failed` are the cells of which a threshold failed.
pub(super) fn first_look(
    plans: &[PlanPart],
    digests: &[Digest],
    evidence: Evidence<'_>,
    step_ns: Option<u64>,
    failed: &BTreeSet<u32>,
) -> FirstLook {
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
    let pooled = |((plan, kind), digests): (&(Option<usize>, usize), &Vec<&Digest>)| {
        let repetitions = digests.chunk_by(|a, b| a.ordinal == b.ordinal);
        (*plan, *kind, repetitions.map(pool::one).collect::<Vec<Digest>>())
    };
    let pooled: Vec<(Option<usize>, usize, Vec<Digest>)> = parts.iter().map(pooled).collect();
    let mut look = FirstLook::default();
    for ((at, kind, cells), digests) in pooled.iter().zip(parts.values()) {
        let plan = at.and_then(|at| plans.get(at));
        // The parts of a plan are one answer: the same statistic leads in each.
        let whole: Vec<&Digest> =
            pooled.iter().filter(|it| it.0 == *at).flat_map(|it| &it.2).collect();
        let goal = plan.and_then(|it| it.goal);
        let repetitions: Vec<&[&Digest]> =
            digests.chunk_by(|a, b| a.ordinal == b.ordinal).collect();
        for part in parts_of(kinds[*kind], goal, cells, &whole) {
            let cells: Vec<Digest> = part.iter().map(|at| cells[*at].clone()).collect();
            let repetitions: Vec<&[&Digest]> = part.iter().map(|at| repetitions[*at]).collect();
            let headlines = headlines(kinds[*kind], goal, &cells, &whole);
            look.advice.extend(advice(&headlines, &cells, step_ns));
            let refused = cells.iter().zip(&repetitions).filter_map(|(cell, same)| {
                let advice = warning::sends_refused(same.iter().map(|it| it.cells.as_slice()))?;
                Some(warning_on(cell, advice))
            });
            look.advice.extend(refused);
            let parts =
                GroupParts { plan, kind: kinds[*kind], repetitions, cells: &cells, headlines };
            look.groups.extend(group(&parts, evidence, failed));
        }
    }
    look
}

/// Returns the advice on figures that are shown.
fn advice(headlines: &[Headline], cells: &[Digest], step_ns: Option<u64>) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for digest in cells {
        let judged = headlines.iter().filter(|it| it.goal != Goal::Battery);
        let shown = judged.filter_map(|it| Some((it.name(), digest.cell(it.metric)?)));
        for (name, cell) in shown {
            let coarse = step_ns.and_then(|step| warning::clock(&name, cell, step));
            let found = warning::few_samples(&name, cell).into_iter().chain(coarse);
            warnings.extend(found.map(|advice| warning_on(digest, advice)));
        }
    }
    warnings
}

fn warning_on(digest: &Digest, advice: Advice) -> Warning {
    let (place, workload) = (digest.place(), digest.workload.kind().into());
    Warning { place, cell: digest.ordinal + 1, workload, advice }
}

/// Cells of a group, and what leads among their figures.
struct GroupParts<'a> {
    plan: Option<&'a PlanPart>,
    kind: &'a str,
    repetitions: Vec<&'a [&'a Digest]>,
    cells: &'a [Digest],
    headlines: Vec<Headline>,
}

fn group(
    parts: &GroupParts<'_>,
    evidence: Evidence<'_>,
    failed: &BTreeSet<u32>,
) -> Option<GlanceGroup> {
    let GroupParts { plan, kind, repetitions, cells, headlines } = parts;
    let first = headlines.first()?;
    let compared: Vec<&Cell> = cells
        .iter()
        .filter_map(|it| printed(it, first).or_else(|| it.cell(first.metric)))
        .collect();
    let axis = axis(repetitions);
    let is_repeated = cells.iter().any(|it| it.repetitions > 1);
    let shared = Settings::shared(cells.iter().map(|it| &it.settings));
    // Where none stands for the others, each stands for itself.
    let none_leads = (0..cells.len()).all(|at| !leads(at, cells));
    let words = |digest: &Digest| {
        label::each(kind, &digest.settings, |word| !word.is_of(&digest.settings, &shared))
    };
    let row = |(at, digest): (usize, &Digest)| {
        let as_printed = printed(digest, first);
        let beside = as_printed.or_else(|| digest.cell(first.metric));
        let published = beside.and_then(|it| evidence.beside(it));
        GlanceRow {
            place: words(digest).join(", "),
            words: words(digest),
            values: headlines.iter().map(|it| digest.cell(it.metric).and_then(value)).collect(),
            printed: as_printed.filter(|_| published.is_some()).and_then(|it| it.value),
            published,
            limit: digest.cell(first.metric).and_then(|it| it.limit),
            histogram: axis.map_or_else(Vec::new, |axis| histogram(repetitions[at], axis)),
            usual_line: digest.usual_line.clone(),
            leads: leads(at, cells) || none_leads,
            failed: failed.contains(&digest.ordinal),
        }
    };
    Some(GlanceGroup {
        name: plan.map_or_else(|| (*kind).to_string(), |it| it.name.clone()),
        kind: (*kind).to_string(),
        goal: plan.and_then(|it| it.goal),
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
        published: agreement_with_document(cells, evidence.truths)
            .or_else(|| agreement(&compared, evidence.comparisons)),
        times_limit: times_limit(first, cells),
        metrics: headlines.iter().filter_map(|it| metric(it, cells, is_repeated)).collect(),
    })
}

/// Returns the cell of a leading figure as a console prints it, where it cuts or rounds it.
fn printed<'a>(digest: &'a Digest, headline: &Headline) -> Option<&'a Cell> {
    let kind = kind::of(&digest.workload);
    digest.cells.iter().find(|it| kind.exact(&it.id.metric) == Some(headline.metric))
}

/// Divides the cells of one kind by the figure that leads in each, where some cell would have none in the columns of all.
fn parts_of(kind: &str, goal: Option<Goal>, cells: &[Digest], plan: &[&Digest]) -> Vec<Vec<usize>> {
    let all = candidates(kind, goal, cells, plan);
    let leading = |digest: &Digest| {
        all.iter().position(|it| digest.cell(it.metric).and_then(value).is_some())
    };
    if cells.iter().filter_map(leading).all(|it| it < METRICS) {
        return alloc::vec![(0..cells.len()).collect()];
    }
    let mut parts: Vec<(usize, Vec<usize>)> = Vec::new();
    // A cell without any figure stands with the one before it.
    let mut lead = cells.iter().find_map(leading).unwrap_or_default();
    for (at, digest) in cells.iter().enumerate() {
        lead = leading(digest).unwrap_or(lead);
        match parts.iter_mut().find(|it| it.0 == lead) {
            Some((_, part)) => part.push(at),
            None => parts.push((lead, alloc::vec![at])),
        }
    }
    parts.into_iter().map(|it| it.1).collect()
}

/// Returns the metrics that lead: those of the goal first.
fn headlines(kind: &str, goal: Option<Goal>, cells: &[Digest], plan: &[&Digest]) -> Vec<Headline> {
    let mut all = candidates(kind, goal, cells, plan);
    // What is lost is not left out for want of a column.
    let lost = all.iter().skip(METRICS).copied().find(|it| tells_of_loss(it, cells));
    all.truncate(if lost.is_some() { METRICS - 1 } else { METRICS });
    all.extend(lost);
    all
}

/// Returns whether a figure says of some cell that something was lost.
fn tells_of_loss(headline: &Headline, cells: &[Digest]) -> bool {
    let lost = |digest: &Digest| digest.cell(headline.metric).and_then(|it| it.value);
    headline.goal == Goal::Loss && cells.iter().any(|digest| lost(digest) > Some(0.0))
}

/// Returns the metrics that some cell has a value of, in the order in which they lead.
fn candidates(kind: &str, goal: Option<Goal>, cells: &[Digest], plan: &[&Digest]) -> Vec<Headline> {
    let of_kind = kind::named(kind).map_or(&[][..], kind::TestKind::headlines);
    let is_known = |it: &&Headline| {
        cells.iter().any(|digest| digest.cell(it.metric).and_then(value).is_some())
    };
    let is_wanted = |it: &&Headline| it.goal != Goal::Battery || goal == Some(Goal::Battery);
    let mut all: Vec<Headline> =
        of_kind.iter().chain(&BATTERY).filter(is_known).filter(is_wanted).copied().collect();
    all.sort_by_key(|it| goal.is_some_and(|goal| it.goal != goal));
    retain_sound(&mut all, plan);
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
    all
}

/// Returns whether a figure tells of the upper tail of its quantity.
fn is_tail(headline: &Headline) -> bool {
    matches!(
        metric::parse(headline.metric).1,
        Statistic::P90 | Statistic::P95 | Statistic::P99 | Statistic::P999 | Statistic::Max
    )
}

/// Keeps one figure of each quantity's upper tail: the first that all cells have which have the largest, and that
/// most of them have samples enough for. The largest of all samples needs none.
pub(crate) fn retain_sound(all: &mut Vec<Headline>, cells: &[&Digest]) {
    let is_sound = |it: &Headline| {
        let of = || cells.iter().filter_map(|digest| digest.cell(it.metric));
        let open = of().filter(|cell| warning::few_samples("", cell).is_some()).count();
        let largest = format!("{}_max", metric::parse(it.metric).0);
        let lack =
            |digest: &&&Digest| digest.cell(&largest).is_some() && digest.cell(it.metric).is_none();
        // The price of a battery's life is the same statistic in all parts of a plan.
        it.goal == Goal::Battery
            || 2 * open <= of().filter(|cell| cell.value.is_some()).count()
                && !cells.iter().any(|digest| lack(&digest))
    };
    let mut shown: Vec<Headline> = Vec::new();
    for it in all.iter().filter(|it| is_tail(it)) {
        let quantity = |of: &Headline| metric::parse(of.metric).0;
        if !shown.iter().any(|other| quantity(other) == quantity(it)) && is_sound(it) {
            shown.push(*it);
        }
    }
    all.retain(|it| !is_tail(it) || shown.iter().any(|other| other.metric == it.metric));
}

/// Returns a metric of a group; that of repeated cells is the mean of the repetitions' figures, which a largest value does
/// not say by itself.
fn metric(headline: &Headline, cells: &[Digest], is_repeated: bool) -> Option<GlanceMetric> {
    let cell = cells.iter().find_map(|it| it.cell(headline.metric))?;
    let statistic = match metric::parse(headline.metric).1 {
        Statistic::Max if is_repeated => MEAN_OF_MAX,
        Statistic::Min if is_repeated => MEAN_OF_MIN,
        _ => headline.statistic,
    };
    Some(GlanceMetric {
        metric: headline.metric.into(),
        quantity: headline.quantity.into(),
        statistic: statistic.into(),
        unit: cell.unit.clone(),
    })
}

fn value(cell: &Cell) -> Option<GlanceValue> {
    let fitted = cell.test.fitted_run.is_some();
    let of = bounds::devices(cell);
    Some(GlanceValue { value: cell.value?, ci_low: cell.ci_low, ci_high: cell.ci_high, fitted, of })
}

/// Returns whether a cell stands for others: the kind says which.
fn leads(at: usize, cells: &[Digest]) -> bool {
    let digest = &cells[at];
    let is_end = at == 0 || at + 1 == cells.len();
    kind::of(&digest.workload).leads(&digest.settings, is_end)
}

/// Returns the range of all distributions, for histograms on one axis.
fn axis(repetitions: &[&[&Digest]]) -> Option<[f64; 2]> {
    let edges = || {
        let all = repetitions.iter().copied().flatten().filter_map(|it| it.distribution.as_ref());
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

/// Returns the smallest and the largest factor between values and their theoretical limits.
fn times_limit(first: &Headline, cells: &[Digest]) -> Option<[f64; 2]> {
    let factor = |digest: &Digest| digest.cell(first.metric)?.times_limit();
    let factors = || cells.iter().filter_map(factor);
    Some([factors().reduce(f64::min)?, factors().reduce(f64::max)?])
}

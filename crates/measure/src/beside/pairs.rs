//! Which figures stand side by side, and what each pair shows.

use super::{GapHint, LabAgreement, LabComparison, LabPair, Unpaired, UnpairedTest, hint};
use crate::cell::{Cell, LabFigure, Origin};
use crate::compare::{self, Comparison};
use crate::kind;
use crate::label;
use crate::metric::{self, Better};
use crate::plan::PlanSet;
use crate::report::{GlanceGroup, GlanceValue, Report};
use crate::settings::Settings;
use crate::truth::CellGroup;
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_model::workload::Workload;
use espbench_stats::quantile::Sorted;

/// Part of the lab's value by which a share may be off.
const SHARE: f64 = 0.3;

/// Percentage points by which a share may be off whatever it is.
const POINTS: f64 = 1.0;

/// A test of the plan.
pub(super) struct PlannedTest {
    /// Number, from 1.
    pub(super) number: u32,
    pub(super) workload: Workload,
    pub(super) settings: Settings,
    /// Settings that tell it from the others of its plan and kind.
    place: String,
}

/// Returns the tests of a plan; none of a text that a later version has written.
pub(super) fn tests(plan_text: &str) -> Vec<PlannedTest> {
    let Ok(set) = PlanSet::parse(plan_text) else { return Vec::new() };
    let mut tests = Vec::new();
    for plan in &set.plans {
        for workload in &plan.workloads {
            let kind = workload.kind();
            let of_kind = plan.workloads.iter().filter(|it| it.kind() == kind);
            let all: Vec<Settings> = of_kind.map(Settings::of).collect();
            let settings = Settings::of(workload);
            let shared =
                if all.len() > 1 { Settings::shared(all.iter()) } else { Settings::default() };
            let place = label::plan(kind, &settings, |word| !word.is_of(&settings, &shared));
            let number = u32::try_from(tests.len() + 1).unwrap_or(u32::MAX);
            tests.push(PlannedTest { number, workload: *workload, settings, place });
        }
    }
    tests
}

/// Returns whether two cells are of the same test and metric, whatever the repetition.
fn is_same(a: &Cell, b: &Cell) -> bool {
    a.test.number == b.test.number && a.id.metric == b.id.metric && a.test.trial == b.test.trial
}

/// Returns the cells of a run, one for all repetitions of a figure.
fn pooled(report: &Report) -> Vec<Cow<'_, Cell>> {
    let own = |it: &&Cell| it.origin != Origin::Published && it.test.number.is_some();
    let cells: Vec<&Cell> = report.cells.iter().filter(own).collect();
    let mut all = Vec::new();
    for (at, cell) in cells.iter().enumerate() {
        if cells[..at].iter().any(|it| is_same(it, cell)) {
            continue;
        }
        let same: Vec<&Cell> = cells.iter().filter(|it| is_same(it, cell)).copied().collect();
        all.push(compare::pool(&same).map_or(Cow::Borrowed(*cell), Cow::Owned));
    }
    all
}

pub(super) fn comparison(report: &Report, lab: &Report) -> LabComparison {
    let tests = tests(&report.run.plan_text);
    let (ours, theirs) = (pooled(report), pooled(lab));
    let pair = |cell: &Cow<'_, Cell>| {
        let other = theirs.iter().find(|it| is_same(it, cell) && it.unit == cell.unit)?;
        let test = tests.iter().find(|it| Some(it.number) == cell.test.number)?;
        pair(report, lab, test, (cell, other))
    };
    let pairs: Vec<LabPair> = ours.iter().filter_map(pair).collect();
    let unpaired = tests.iter().filter_map(|test| unpaired(test, &pairs, &ours, &theirs));
    let unpaired = unpaired.collect();
    let leading = || pairs.iter().filter(|it| it.leads && it.verdict.is_some());
    let count = |verdict| leading().filter(|it| it.verdict == Some(verdict)).count();
    let (as_predicted, off) = (count(LabAgreement::AsPredicted), count(LabAgreement::Off));
    let compared = leading().count();
    let verdict = match (compared, as_predicted, off) {
        (0, ..) => LabAgreement::NotCompared,
        (_, _, 1..) => LabAgreement::Off,
        (_, 0, 0) => LabAgreement::Unsure,
        _ => LabAgreement::AsPredicted,
    };
    let ratios = leading().filter_map(|it| it.ratio).map(|it| it.value).collect();
    let largest = pairs.iter().enumerate().filter(|(_, it)| it.leads && it.verdict.is_some());
    let largest = largest.max_by(|a, b| gap(a.1).total_cmp(&gap(b.1))).map(|(at, _)| at);
    let hint = (verdict == LabAgreement::Off).then(|| hint::hint(&tests, &pairs));
    LabComparison {
        run: lab.run.name.clone(),
        lab: lab.run.target.clone(),
        seed: lab.run.seed,
        verdict,
        compared,
        as_predicted,
        off,
        fitted: pairs.iter().filter(|it| it.leads && it.fitted).count(),
        ratio: Sorted::new(ratios).quantile(0.5).value,
        largest_gap: largest,
        hint,
        cause: hint.map(GapHint::cause),
        unpaired,
        lab_causes: causes(lab),
        pairs,
    }
}

/// Returns why the lab did not carry out tests: each reason once.
fn causes(lab: &Report) -> Vec<String> {
    let mut causes: Vec<String> = Vec::new();
    for failure in &lab.failures {
        if !causes.contains(&failure.error) {
            causes.push(failure.error.clone());
        }
    }
    causes
}

/// Returns why a test has no counterpart; `None` where it has one.
fn unpaired(
    test: &PlannedTest,
    pairs: &[LabPair],
    ours: &[Cow<'_, Cell>],
    theirs: &[Cow<'_, Cell>],
) -> Option<UnpairedTest> {
    if pairs.iter().any(|it| it.cell == test.number) {
        return None;
    }
    let has = |cells: &[Cow<'_, Cell>]| {
        cells.iter().any(|it| it.test.number == Some(test.number) && it.value.is_some())
    };
    let why = match (has(ours), has(theirs)) {
        (_, false) => Unpaired::NotSimulated,
        (false, true) => Unpaired::NotMeasured,
        (true, true) => Unpaired::OtherFigures,
    };
    let place = label::place(test.workload.kind(), &test.settings, 0);
    Some(UnpairedTest { cell: test.number, place, why })
}

/// Returns a pair; `None` where one of the two has no value.
fn pair(
    report: &Report,
    lab: &Report,
    test: &PlannedTest,
    (ours, theirs): (&Cell, &Cell),
) -> Option<LabPair> {
    let value = |value: Option<f64>, ci_low, ci_high| {
        Some(GlanceValue { value: value?, ci_low, ci_high, fitted: false, of: None })
    };
    let kind = test.workload.kind();
    let of_kind = || report.glance.iter().filter(|it| it.kind == kind);
    let is_of_suite = |it: &&GlanceGroup| Some(&it.name) == ours.test.suite.as_ref();
    let shows = |it: &GlanceGroup| it.metrics.iter().any(|it| it.metric == ours.id.metric);
    let leads = match of_kind().any(|it| is_of_suite(&it)) {
        true => of_kind().filter(is_of_suite).any(shows),
        false => of_kind().any(shows),
    };
    let found = compare::pair(&scattered(ours, theirs), theirs);
    // Held against another run, a fitted lab is tested.
    let fitted = theirs.test.fitted_run.as_deref() == Some(report.run.name.as_str());
    let is_published = |it: &&Comparison| {
        it.other.fitted
            && it.ours.test.number == theirs.test.number
            && it.ours.id.metric == theirs.id.metric
    };
    Some(LabPair {
        cell: test.number,
        suite: ours.test.suite.clone(),
        kind: kind.into(),
        place: test.place.clone(),
        metric: ours.id.metric.clone(),
        figure: figure(kind, &ours.id.metric),
        unit: ours.unit.clone(),
        leads,
        measured: value(ours.value, ours.ci_low, ours.ci_high)?,
        simulated: value(theirs.value, theirs.ci_low, theirs.ci_high)?,
        ratio: value(found.ratio, found.ratio_low, found.ratio_high),
        difference: value(found.difference, found.difference_low, found.difference_high),
        published: ours.test.published.and_then(|it| it.value),
        published_fitted: lab.comparisons.iter().any(|it| is_published(&it)),
        fitted,
        limit: ours.limit,
        verdict: verdict(ours, &found).filter(|_| !fitted),
    })
}

/// Returns a figure of one run with the scatter from run to run, which its own interval does not hold: that of
/// the lab's repetitions. Their mean is surer than one of them by the root of their number.
fn scattered(ours: &Cell, theirs: &Cell) -> Cell {
    let mut cell = ours.clone();
    let repetitions = |it: &Cell| it.test.repetitions.unwrap_or(1);
    let (Some(value), Some(mean), Some(high)) = (ours.value, theirs.value, theirs.ci_high) else {
        return cell;
    };
    if repetitions(ours) > 1 || repetitions(theirs) < 2 {
        return cell;
    }
    let one = (high - mean) * libm::sqrt(f64::from(repetitions(theirs)));
    let is_share = metric::is_proportion(&ours.unit);
    let half = if is_share || mean <= 0.0 { one } else { one * value / mean };
    cell.ci_low = Some(ours.ci_low.map_or(value, |it| it.min(value)).min(value - half).max(0.0));
    cell.ci_high = Some(ours.ci_high.map_or(value, |it| it.max(value)).max(value + half));
    cell
}

/// Returns a metric in words: those of a headline, or its quantity and statistic.
fn figure(kind: &str, metric: &str) -> String {
    let headlines = kind::named(kind).map_or(&[][..], kind::TestKind::headlines);
    if let Some(it) = headlines.iter().find(|it| it.metric == metric) {
        return it.name();
    }
    metric.replace('_', " ")
}

/// Returns what a pair shows; `None` of a count.
fn verdict(ours: &Cell, found: &Comparison) -> Option<LabAgreement> {
    if metric::better(&ours.id.metric, &ours.unit) == Better::Neither {
        return None;
    }
    let by_difference = metric::is_proportion(&ours.unit) || found.ratio.is_none();
    let (value, low, high, band) = if by_difference {
        let most = allowed(&ours.unit, found.other.value?);
        (found.difference?, found.difference_low, found.difference_high, (-most, most))
    } else {
        let band = CellGroup::of(metric::of(ours).1).ratios();
        (found.ratio?, found.ratio_low, found.ratio_high, band)
    };
    Some(within(value, (low, high), band))
}

/// Returns by how much a share may be off.
fn allowed(unit: &str, simulated: f64) -> f64 {
    let points = if unit == "percent" { POINTS } else { POINTS / 100.0 };
    (SHARE * simulated.abs()).max(points)
}

/// Returns whether an interval lies within a band. A value without an interval never is wholly outside.
pub(super) fn within(
    value: f64,
    (low, high): (Option<f64>, Option<f64>),
    (least, most): (f64, f64),
) -> LabAgreement {
    let inside = |it: f64| (least..=most).contains(&it);
    match (low, high) {
        (None, None) if inside(value) => LabAgreement::AsPredicted,
        (None, None) => LabAgreement::Unsure,
        (Some(low), Some(high)) if inside(low) && inside(high) => LabAgreement::AsPredicted,
        (Some(low), _) if low > most => LabAgreement::Off,
        (_, Some(high)) if high < least => LabAgreement::Off,
        _ => LabAgreement::Unsure,
    }
}

/// Returns how far a pair is apart: 1 at the end of what the lab is worth.
pub(super) fn gap(pair: &LabPair) -> f64 {
    if metric::is_proportion(&pair.unit) {
        let apart = pair.difference.map_or(0.0, |it| it.value.abs());
        return apart / allowed(&pair.unit, pair.simulated.value);
    }
    let (_, statistic) = metric::parse(&pair.metric);
    let (least, most) = CellGroup::of(statistic).ratios();
    match pair.ratio.map(|it| it.value) {
        Some(ratio) if ratio >= 1.0 => libm::log(ratio) / libm::log(most),
        Some(ratio) if ratio > 0.0 => libm::log(ratio) / libm::log(least),
        _ => 0.0,
    }
}

/// Puts the lab's value beside each measured one, in its row of results.
pub(super) fn add_to_cells(report: &mut Report, comparison: &LabComparison) {
    for cell in report.cells.iter_mut().filter(|it| it.origin != Origin::Published) {
        let is_own =
            |it: &&LabPair| Some(it.cell) == cell.test.number && it.metric == cell.id.metric;
        let mut own = comparison.pairs.iter().filter(is_own);
        let Some(pair) = own.next().filter(|_| own.next().is_none()) else { continue };
        cell.test.lab = Some(LabFigure {
            value: Some(pair.simulated.value),
            ci_low: pair.simulated.ci_low,
            ci_high: pair.simulated.ci_high,
            ratio: pair.ratio.map(|it| it.value),
            ratio_low: pair.ratio.and_then(|it| it.ci_low),
            ratio_high: pair.ratio.and_then(|it| it.ci_high),
            verdict: pair.verdict,
        });
    }
}

impl LabPair {
    /// Names the pair: the figure, and of which test.
    pub(super) fn name(&self) -> String {
        let parts = [self.figure.as_str(), &self.place];
        parts
            .iter()
            .filter(|it| !it.is_empty())
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    }
}

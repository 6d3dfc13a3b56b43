//! Answers with results: those that lead, as far as they fit, or what the caller names.

use super::told::{Answer, Four, SHORT, bytes, parsed};
use espbench_measure::cell::{Cell, PublishedFigure};
use espbench_measure::compare::{Comparison, VerdictKind, remedy};
use espbench_measure::label;
use espbench_measure::report::Report;
use espbench_measure::table::compared::excluded;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;

/// Results that an answer has at most.
const RESULTS: usize = 200;

/// Remarks of a short answer.
const REMARKS: usize = 4;

/// Results that the caller wants.
#[derive(Clone, Debug, Default)]
pub(super) struct ResultsWanted {
    /// Metrics in place of those that lead.
    pub(super) metrics: Vec<String>,
    /// All of them.
    pub(super) full: bool,
}

/// A metric that results have.
#[derive(Debug, Serialize, JsonSchema)]
struct MetricTold {
    metric: String,
    /// The metric in words.
    words: String,
}

/// A result.
#[derive(Debug, Serialize, JsonSchema)]
struct ResultTold {
    metric: String,
    /// null where it could not be determined.
    value: Option<Four>,
    unit: String,
    /// Lower end of the 95 % interval; null where there is none.
    ci_low: Option<Four>,
    /// Upper end of it.
    ci_high: Option<Four>,
    /// Observations behind it.
    n: Option<u64>,
    /// Repetitions behind it, of which it is the mean.
    #[serde(skip_serializing_if = "Option::is_none")]
    repetitions: Option<u32>,
    /// Published value of the same figure, in the same unit; only where the two can be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<Four>,
    /// Theoretical limit, in the same unit: the least time, or the greatest rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<Four>,
}

/// Results of a test.
#[derive(Debug, Serialize, JsonSchema)]
struct TestTold {
    /// The test, by all that tells it from another.
    test: String,
    figures: Vec<ResultTold>,
}

/// A threshold of the plan.
#[derive(Debug, Serialize, JsonSchema)]
struct ThresholdTold {
    threshold: String,
    place: String,
    /// null where there is none; then it has not passed.
    value: Option<Four>,
    unit: String,
    passed: bool,
}

/// Answer of `run` and of `read`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ResultsTold {
    /// Name of the run, for `read`.
    run: String,
    /// measured or simulated: of all results.
    origin: &'static str,
    target: String,
    plan: String,
    seed: u64,
    /// Version of espbench that measured.
    tool: String,
    /// Some of the plan was not measured.
    incomplete: bool,
    /// Metrics of the list that lead, in words.
    leading: Vec<MetricTold>,
    /// Results by their test, repetitions as their mean.
    results: Vec<TestTold>,
    /// Results that are not in the list: `metrics` names others, and `full` gives all of those that are asked for.
    left_out: usize,
    /// Thresholds, those that failed first.
    thresholds: Vec<ThresholdTold>,
    /// Thresholds that are not in the list: `full` gives them.
    thresholds_left_out: usize,
    /// Cells that could not be measured, and why.
    failures: Vec<String>,
    /// Failures that are not in the list: `full` gives them.
    failures_left_out: usize,
    /// Warnings that a reader must know before the first number.
    remarks: Vec<String>,
}

fn result(it: &Cell) -> ResultTold {
    ResultTold {
        metric: it.id.metric.clone(),
        value: it.value.map(Four),
        unit: it.unit.clone(),
        ci_low: it.ci_low.map(Four),
        ci_high: it.ci_high.map(Four),
        n: it.n,
        repetitions: it.test.repetitions,
        published: it.test.published.and_then(as_published).map(Four),
        // A limit of zero says nothing.
        limit: it.limit.filter(|it| *it > 0.0).map(Four),
    }
}

/// Returns the published value of the same figure; `None` where it is of another statistic, place or device.
fn as_published(it: PublishedFigure) -> Option<f64> {
    it.value.filter(|_| it.verdict.is_some_and(|it| it != VerdictKind::NotComparable))
}

/// Returns results under their tests, in the order of the first of each.
fn by_test<'a>(cells: impl Iterator<Item = &'a Cell>) -> Vec<TestTold> {
    let mut tests: Vec<TestTold> = Vec::new();
    for cell in cells {
        let test = label::test(cell);
        match tests.iter_mut().find(|it| it.test == test) {
            Some(known) => known.figures.push(result(cell)),
            None => tests.push(TestTold { test, figures: vec![result(cell)] }),
        }
    }
    tests
}

/// Returns the metrics that lead, in words.
fn leading(report: &Report) -> Vec<MetricTold> {
    let mut seen = BTreeSet::new();
    let all = report.glance.iter().flat_map(|it| &it.metrics);
    let new = all.filter(|it| seen.insert(it.metric.clone()));
    let told = |it: &espbench_measure::report::GlanceMetric| MetricTold {
        metric: it.metric.clone(),
        words: format!("{} {}", it.quantity, it.statistic).trim().to_owned(),
    };
    new.map(told).collect()
}

impl Answer for ResultsTold {
    type Wanted = ResultsWanted;

    fn read(json: &str, errors: String, wanted: &ResultsWanted) -> Result<Self, String> {
        let report: Report = parsed(json, &errors)?;
        let figures = report.figures_of_tests();
        if figures.is_empty() && !errors.is_empty() {
            // Nothing was measured: the error says why.
            return Err(errors);
        }
        let leading = leading(&report);
        if let Some(unknown) =
            wanted.metrics.iter().find(|it| !figures.iter().any(|cell| cell.id.metric == **it))
        {
            let there: BTreeSet<&str> = figures.iter().map(|it| it.id.metric.as_str()).collect();
            let there: Vec<&str> = there.into_iter().collect();
            return Err(format!(
                "the run has no metric `{unknown}`\n  do: name one of {}",
                there.join(", ")
            ));
        }
        let is_shown = |it: &&Cell| match &wanted.metrics[..] {
            [] if wanted.full => true,
            [] => leading.is_empty() || leading.iter().any(|known| known.metric == it.id.metric),
            named => named.contains(&it.id.metric),
        };
        let threshold = |it: &espbench_measure::report::Check| ThresholdTold {
            threshold: it.threshold.clone(),
            place: it.place.clone(),
            value: it.value.map(Four),
            unit: it.unit.clone(),
            passed: it.passed,
        };
        let failure =
            |it: &espbench_measure::report::CellFailure| format!("{}: {}", it.place, it.error);
        let mut told = Self {
            run: report.run.name.clone(),
            origin: report.run.origin.name(),
            target: report.run.target.clone(),
            plan: report.run.plan_name.clone(),
            seed: report.run.seed,
            tool: report.run.tool.clone(),
            incomplete: report.incomplete,
            results: by_test(figures.iter().filter(is_shown).take(RESULTS)),
            leading: Vec::new(),
            left_out: 0,
            thresholds: failed_first(report.checks.iter().map(threshold).collect()),
            thresholds_left_out: 0,
            failures_left_out: 0,
            failures: report.failures.iter().map(failure).collect(),
            remarks: report.headlines(),
        };
        told.leading = leading;
        if let [_, ..] = &wanted.metrics[..] {
            told.leading.retain(|it| wanted.metrics.contains(&it.metric));
        }
        if !wanted.full {
            told.shorten();
        }
        let shown: usize = told.results.iter().map(|it| it.figures.len()).sum();
        told.left_out = figures.len() - shown;
        told.thresholds_left_out = report.checks.len() - told.thresholds.len();
        told.failures_left_out = report.failures.len() - told.failures.len();
        Ok(told)
    }
}

impl ResultsTold {
    /// Leaves out what makes it longer than a conversation bears: further remarks, then thresholds that passed, then the last
    /// of what is most, and thresholds that failed at the end.
    fn shorten(&mut self) {
        self.remarks.truncate(REMARKS);
        let mut over = bytes(self).saturating_sub(SHORT);
        let failed = self.thresholds.iter().filter(|it| !it.passed).count();
        drop_last(&mut self.thresholds, failed, &mut over);
        while over > 0 && !(self.results.is_empty() && self.failures.is_empty()) {
            let (results, failures) = (self.results.len(), self.failures.len());
            if results >= failures {
                drop_last(&mut self.results, results - 1, &mut over);
            } else {
                drop_last(&mut self.failures, failures - 1, &mut over);
            }
        }
        drop_last(&mut self.thresholds, 0, &mut over);
    }
}

/// Drops the last of a list, as long as more than so many are left and the answer is so many bytes too long.
fn drop_last<T: Serialize>(list: &mut Vec<T>, least: usize, over: &mut usize) {
    while *over > 0 && list.len() > least {
        let Some(last) = list.pop() else { return };
        // With the comma before it.
        *over = over.saturating_sub(bytes(&last) + 1);
    }
}

/// Puts thresholds that failed before those that passed.
fn failed_first(mut thresholds: Vec<ThresholdTold>) -> Vec<ThresholdTold> {
    thresholds.sort_by_key(|it| it.passed);
    thresholds
}

/// A pair of figures.
#[derive(Debug, Serialize, JsonSchema)]
struct PairTold {
    /// The test, by all that tells it from another.
    test: String,
    metric: String,
    unit: String,
    /// Value of the run.
    value: Option<Four>,
    /// Value of the other, in its own unit.
    other: Option<Four>,
    /// Unit of the other, where it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_unit: Option<String>,
    /// The run's value over the other's.
    ratio: Option<Four>,
    /// Lower end of its 95 % interval; null where there is none.
    ratio_low: Option<Four>,
    /// Upper end of it.
    ratio_high: Option<Four>,
    /// Verdict on the run: better, worse, differs (neither is better) or no-difference-shown.
    verdict: String,
}

/// Pairs that are not comparable for the same reasons.
#[derive(Debug, Serialize, JsonSchema)]
struct ExcludedTold {
    /// How many these are.
    pairs: usize,
    why: String,
}

/// Answer of `compare`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ComparedTold {
    /// Pairs of figures whose verdict is this, by verdict.
    verdicts: std::collections::BTreeMap<String, usize>,
    /// Pairs with a verdict, those first that differ most by what their intervals show.
    pairs: Vec<PairTold>,
    /// Pairs with a verdict that are not in the list: `full` or `metrics` gives them.
    left_out: usize,
    /// Pairs that are not comparable, by their reasons; of many reasons the first, and `full` gives all.
    not_comparable: Vec<ExcludedTold>,
    /// Change that would make a pair comparable, where none is.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_compare: Option<String>,
}

impl Answer for ComparedTold {
    /// Whether all pairs are wanted.
    type Wanted = bool;

    fn read(json: &str, errors: String, full: &bool) -> Result<Self, String> {
        let all: Vec<Comparison> = parsed(json, &errors)?;
        let mut judged: Vec<&Comparison> =
            all.iter().filter(|it| it.verdict.reasons().is_empty()).collect();
        judged.sort_by(|a, b| b.shown_change().total_cmp(&a.shown_change()));
        let mut verdicts = std::collections::BTreeMap::new();
        for it in &all {
            *verdicts.entry(it.verdict.kind().name().to_owned()).or_default() += 1;
        }
        let pairs = judged.iter().take(RESULTS).map(|it| pair(it)).collect();
        let not_comparable =
            excluded(&all).into_iter().map(|(pairs, why)| ExcludedTold { pairs, why }).collect();
        let to_compare = remedy(&all);
        let mut told = Self { verdicts, pairs, left_out: 0, not_comparable, to_compare };
        let mut over = if *full { 0 } else { bytes(&told).saturating_sub(SHORT) };
        drop_last(&mut told.pairs, 0, &mut over);
        // How many are not comparable, `verdicts` says.
        drop_last(&mut told.not_comparable, 1, &mut over);
        told.left_out = judged.len() - told.pairs.len();
        Ok(told)
    }
}

fn pair(it: &Comparison) -> PairTold {
    PairTold {
        test: label::test(&it.ours),
        metric: it.ours.id.metric.clone(),
        unit: it.ours.unit.clone(),
        value: it.ours.value.map(Four),
        other: it.other.value.map(Four),
        other_unit: (it.other.unit != it.ours.unit).then(|| it.other.unit.clone()),
        ratio: it.ratio.map(Four),
        ratio_low: it.ratio_low.map(Four),
        ratio_high: it.ratio_high.map(Four),
        verdict: it.verdict.kind().name().into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(thresholds: &[bool], failures: usize) -> ResultsTold {
        let threshold = |passed: &bool| ThresholdTold {
            threshold: "loss at most 1 %".into(),
            place: "udp-echo, 100 B".into(),
            value: None,
            unit: "percent".into(),
            passed: *passed,
        };
        ResultsTold {
            run: "mine-1".into(),
            origin: "measured",
            target: "udp:192.0.2.7".into(),
            plan: "mine".into(),
            seed: 1,
            tool: String::new(),
            incomplete: false,
            leading: Vec::new(),
            results: (0..50)
                .map(|n| TestTold { test: format!("udp-echo, {n} B, binary"), figures: Vec::new() })
                .collect(),
            left_out: 0,
            thresholds: failed_first(thresholds.iter().map(threshold).collect()),
            thresholds_left_out: 0,
            failures: vec!["udp-echo, 100 B: no answer".into(); failures],
            failures_left_out: 0,
            remarks: Vec::new(),
        }
    }

    #[test]
    fn thresholds_that_failed_are_kept_longest() {
        let mut mixed: Vec<bool> = vec![true; 200];
        mixed.extend([false; 3]);
        let mut told = told(&mixed, 100);
        told.shorten();
        assert!(bytes(&told) <= SHORT, "{}", bytes(&told));
        assert_eq!(told.thresholds.len(), 3, "{told:?}");
        assert!(told.thresholds.iter().all(|it| !it.passed));
        assert!(!told.results.is_empty() && !told.failures.is_empty());
        // Nothing is left out that fits.
        assert!(bytes(&told) + 200 > SHORT, "{}", bytes(&told));
    }

    #[test]
    fn even_those_that_failed_are_cut_where_they_are_too_many() {
        let mut told = told(&[false; 300], 0);
        told.shorten();
        assert!(bytes(&told) <= SHORT && told.results.is_empty());
        assert!(!told.thresholds.is_empty());
    }
}

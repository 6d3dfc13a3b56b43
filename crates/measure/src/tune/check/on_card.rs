//! The answer of a check on a card.

use super::super::card::{TuneCard, TuneChange, TuneFigure};
use super::super::want::Metric;
use super::{CheckAdvice, Checked, Finding, LIMITS_TITLE, MENDED, Severity};
use crate::report::GlanceValue;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Returns a mean with its interval.
const fn interval([mean, low, high]: [f64; 3]) -> GlanceValue {
    GlanceValue { value: mean, ci_low: Some(low), ci_high: Some(high), fitted: false, of: None }
}

const fn alone(value: f64) -> GlanceValue {
    GlanceValue { value, ci_low: None, ci_high: None, fitted: false, of: None }
}

/// Returns the figures of the advice: throughput, heap and current, before and after.
fn figures(advice: &CheckAdvice) -> Vec<TuneFigure> {
    let figure = |metric, [before, after]: [GlanceValue; 2]| TuneFigure {
        metric,
        before: Some(before),
        after: Some(after),
        wanted: None,
    };
    let mut all = alloc::vec![
        figure(advice.metric, [advice.before, advice.after].map(interval)),
        figure(Metric::Heap, advice.free_heap_bytes.map(|it| alone(it as f64 / 1024.0))),
    ];
    all.extend(advice.current_ma.map(|it| figure(Metric::Current, it.map(alone))));
    all
}

impl Checked {
    /// Returns the answer in a line: what is wrong, and what the change gives that gives most.
    #[must_use]
    pub fn title(&self) -> String {
        let (file, wrong) = (&self.file, self.wrong());
        match &self.advice {
            Some(advice) => {
                let times = advice.after[0] / advice.before[0].max(1e-3);
                let metric = advice.metric.words();
                let changes = match advice.set.len() {
                    0 | 1 => "one change makes".into(),
                    2 => "two changes make".into(),
                    more => format!("{more} changes make"),
                };
                format!("{file}: {wrong}; {changes} {metric} {times:.1} times as fast")
            }
            None if self.place.is_some() => {
                format!("{file}: {wrong}; no single setting makes TCP faster")
            }
            None => format!("{file}: {wrong}"),
        }
    }

    /// Returns the answer's card.
    #[must_use]
    pub fn card(&self) -> TuneCard {
        let place = self.place.as_ref().map(|it| format!("; {it}")).unwrap_or_default();
        let wrong = self.findings.iter().filter(|it| it.severity == Severity::Wrong);
        let warning = |Finding { what, set, mended, .. }: &Finding| match set.first() {
            Some(_) if *mended => format!("{what}: {MENDED}"),
            Some(it) => format!("{what}: {}={}", it.name, it.to),
            None => what.clone(),
        };
        let heap = self.heap_left.as_ref().map(|left| {
            let [idle, busy, peak] =
                [left.idle, left.busy, left.peak].map(|it| it as f64 / 1024.0);
            format!(
                "Heap left (model): {idle:.0} KB idle, {busy:.0} KB at the busiest, {peak:.0} KB with \
                 all buffers full"
            )
        });
        let set = self.advice.iter().flat_map(|it| &it.set);
        let change = |it: &super::AdvisedChange| TuneChange {
            line: it.line.clone(),
            from: it.from.clone(),
            gives: Vec::new(),
            missed_with: None,
            heap_kb: None,
            current_ma: None,
        };
        TuneCard {
            verdict: self.title(),
            context: format!("{}{place}", self.head()),
            advice: self.advised(),
            warnings: wrong.map(warning).collect(),
            given: "file".into(),
            figures: self.advice.as_ref().map(figures).unwrap_or_default(),
            changes: set.map(change).collect(),
            limits: self.limits.clone(),
            limits_title: LIMITS_TITLE.into(),
            notes: heap.into_iter().collect(),
        }
    }
}

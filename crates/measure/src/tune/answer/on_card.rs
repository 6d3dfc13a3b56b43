//! The answer of a search on a card.

use super::super::card::{MetricGain, TuneCard, TuneChange, TuneFigure, value};
use super::super::want::Metric;
use super::super::words::count;
use super::{Recommendation, RecommendedChange, TuneAnswer, estimate};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

impl TuneAnswer {
    /// Returns the answer's card.
    #[must_use]
    pub fn card(&self) -> TuneCard {
        let streams = count(self.streams.into(), "TCP stream");
        let super::SdkContext { chip, release, .. } = &self.context;
        let rtt = self.rtt.words();
        let mut notes: Vec<String> = self.sleep().map(String::from).into_iter().collect();
        let stopped = if self.stopped { " It was stopped before its end." } else { "" };
        notes.push(format!("{}{stopped}", self.effort()));
        let changes =
            |it: &Recommendation| it.changes.iter().map(|change| self.change(it, change)).collect();
        TuneCard {
            verdict: self.verdict(),
            context: format!("{chip}, ESP-IDF {release}, {streams}, {rtt}; {}", self.place),
            advice: None,
            warnings: self.shortfalls(),
            given: String::from(if self.file.is_some() { "file" } else { "defaults" }),
            figures: self.figures(),
            changes: self.recommended.as_ref().map(changes).unwrap_or_default(),
            limits: self.recommended.as_ref().map(|it| it.limits.clone()).unwrap_or_default(),
            limits_title: "What limits it then".into(),
            notes,
        }
    }

    /// Returns the figures before and after the change: what is wanted, and what it costs.
    fn figures(&self) -> Vec<TuneFigure> {
        let then = self.recommended.as_ref().map_or(&[][..], |it| &it.outcomes);
        let wanted = self.wants.iter().map(|it| it.metric);
        let mut metrics: Vec<Metric> = wanted.chain([Metric::Heap, Metric::Current]).collect();
        metrics.sort_unstable();
        metrics.dedup();
        let figure = |metric: Metric| TuneFigure {
            metric,
            before: value(&estimate(&self.before, metric)),
            after: value(&estimate(then, metric)),
            wanted: self.wants.iter().find(|it| it.metric == metric).map(|it| it.value),
        };
        metrics.into_iter().map(figure).filter(|it| it.after.is_some()).collect()
    }

    /// Returns a change: what it gives, what it costs, and with how much less of it something is missed.
    fn change(&self, best: &Recommendation, it: &RecommendedChange) -> TuneChange {
        let pair = best.with.as_ref().zip(it.without.as_ref());
        let of = |metric: Metric| {
            let (with, without) = pair?;
            Some(with.value(metric)? - without.value(metric)?)
        };
        let now =
            |want: &super::Want| pair.and_then(|it| it.0.value(want.metric)).unwrap_or(want.value);
        let wants = self.wants.iter().filter(|want| want.metric != Metric::Heap);
        TuneChange {
            line: it.setting.line(&best.candidate, &self.context, self.static_tx),
            from: it.setting.shown(&self.base),
            gives: wants
                .filter_map(|want| Some((want, of(want.metric)?)))
                .filter(|(want, by)| by.abs() > 0.01 * now(want))
                .map(|(want, by)| MetricGain { metric: want.metric, by })
                .collect(),
            missed_with: it.missed.as_ref().map(|missed| it.setting.shown(missed)),
            heap_kb: of(Metric::Heap).map(|by| libm::round(by * 10.0) / 10.0),
            current_ma: of(Metric::Current),
        }
    }
}

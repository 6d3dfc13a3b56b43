//! Result of a search: in sentences, tables, figures, and as lines for `sdkconfig.defaults`.

mod figures;
mod fragment;
mod tables;
#[cfg(test)]
mod tests;

pub use fragment::fragment;

use super::outcome::Evaluation;
use super::pareto::dominates;
use super::search::Search;
use super::space::{Candidate, Power};
use super::want::{Metric, Want, said};
use super::words::{count, number};
use crate::cell::{Cell, Estimate, Identity, Origin};
use crate::report::{Report, add_run, known};
use crate::run::RunFacts;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sdkconfig::{ConfigOption, SdkContext};

/// A candidate with what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TestedCandidate {
    /// The candidate.
    pub candidate: Candidate,
    /// The mean of what it did.
    pub mean: Evaluation,
    /// Outcomes of the candidate, by seed.
    pub outcomes: Vec<Evaluation>,
    /// Part of the wish that it misses; 0: nothing.
    pub missing: f64,
    /// True where no other candidate is better in everything.
    pub front: bool,
}

/// The recommended candidate with one setting as the build has it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Without {
    /// Which setting.
    pub key: ConfigOption,
    /// Value that the recommended candidate has.
    pub value: u32,
    /// Outcome of the candidate without the setting, with the first seed.
    pub outcome: Option<Evaluation>,
}

/// The answer of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct TuneAnswer {
    /// Goals of the user.
    pub wants: Vec<Want>,
    /// Metrics that candidates were compared by.
    pub objectives: Vec<Metric>,
    /// The chip and the release.
    pub context: SdkContext,
    /// TCP streams.
    pub streams: u16,
    /// Candidates, in the order in which they were tried.
    pub tried: Vec<TestedCandidate>,
    /// The best of them.
    pub recommended: Option<usize>,
    /// The recommended candidate without each of its settings.
    pub without: Vec<Without>,
    /// Evaluations that were made.
    pub spent: usize,
    /// The search was stopped before its end.
    pub stopped: bool,
    /// Remarks on the lab that matter for reading the figures, in sentences.
    pub notes: Vec<String>,
}

impl TuneAnswer {
    /// Makes the answer of a search.
    #[must_use]
    pub fn of(search: &Search, context: SdkContext, streams: u16) -> Self {
        let best = search.best();
        let tested = |(index, it): (usize, &super::search::TriedCandidate)| TestedCandidate {
            candidate: it.candidate,
            mean: it.mean(),
            outcomes: it.outcomes.clone(),
            missing: search.missing(index),
            front: best.contains(&index),
        };
        Self {
            wants: search.wants().into(),
            objectives: search.objectives().into(),
            context,
            streams,
            tried: search.tried().iter().enumerate().map(tested).collect(),
            recommended: search.recommended(),
            without: Vec::new(),
            spent: search.spent(),
            stopped: false,
            notes: Vec::new(),
        }
    }

    /// Returns the recommended candidate.
    #[must_use]
    pub fn best(&self) -> Option<&TestedCandidate> {
        self.tried.get(self.recommended?)
    }

    /// Returns the candidates that no other beats in everything, the recommended one first.
    #[must_use]
    pub fn front(&self) -> Vec<&TestedCandidate> {
        let mut front: Vec<&TestedCandidate> = self.tried.iter().filter(|it| it.front).collect();
        let heap = |it: &TestedCandidate| it.mean.free_heap.unwrap_or(i64::MIN);
        front.sort_by(|a, b| a.missing.total_cmp(&b.missing).then(heap(b).cmp(&heap(a))));
        let best = self.best().map(|it| it.candidate);
        front.sort_by_key(|it| Some(it.candidate) != best);
        front
    }

    /// Returns the recommended candidate with those of its settings as the build has them that
    /// change nothing by themselves, or nothing for the better, if there are any: lines that need
    /// not be written.
    #[must_use]
    pub fn plain(&self) -> Option<Candidate> {
        let best = self.best()?;
        let with = best.outcomes.first()?;
        let mut plain = best.candidate;
        for it in &self.without {
            let same = it.outcome.is_some_and(|alone| {
                let goods = alone.goods(&self.objectives).into_iter();
                let no_worse = goods.zip(with.goods(&self.objectives)).all(|(a, b)| a >= b);
                no_worse || fragment::differences(&self.objectives, with, &alone).is_empty()
            });
            let next = plain.without(it.key, &self.context);
            if same && (next.fits(self.streams) || !plain.fits(self.streams)) {
                plain = next;
            }
        }
        (plain != best.candidate).then_some(plain)
    }

    /// Recommends another candidate, if it misses no more and leaves as much heap, but for 1 KB;
    /// whether it does.
    pub fn prefer(&mut self, candidate: Candidate, outcomes: Vec<Evaluation>) -> bool {
        let mean = Evaluation::mean(&outcomes);
        let missing = self.wants.iter().map(|it| it.shortfall(&mean)).sum();
        let Some(best) = self.best() else { return false };
        let heap = |it: &Evaluation| it.free_heap.unwrap_or(i64::MIN / 2);
        if outcomes.is_empty() || missing > best.missing || heap(&mean) + 1024 < heap(&best.mean) {
            return false;
        }
        let goods = |it: &TestedCandidate| it.mean.goods(&self.objectives);
        let new = TestedCandidate { candidate, mean, outcomes, missing, front: true };
        let own = goods(&new);
        // It is as good as the one before, of which one is enough; what it is better than goes, too.
        let behind: Vec<usize> = (0..self.tried.len())
            .filter(|it| {
                let other = goods(&self.tried[*it]);
                other == own || dominates(&own, &other)
            })
            .collect();
        for it in behind.into_iter().chain(self.recommended) {
            self.tried[it].front = false;
        }
        self.recommended = Some(self.tried.len());
        self.tried.push(new);
        self.without.clear();
        true
    }

    /// Describes the outcome of a candidate: `TCP sending 27.1 Mbit/s, free heap 120 KB`.
    fn does(&self, outcome: &Evaluation) -> String {
        let part = |metric: &Metric| {
            let value = outcome.value(*metric)?;
            Some(format!("{} {} {}", metric.words(), number(value), metric.unit()))
        };
        let told = |it: &Metric| {
            self.objectives.contains(it) || self.wants.iter().any(|want| want.metric == *it)
        };
        Metric::ALL.iter().filter(|it| told(it)).filter_map(part).collect::<Vec<_>>().join(", ")
    }

    /// Returns the answer in sentences, the most important first.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let Some(best) = self.best() else {
            lines.push("Simulated: nothing could be found out of any setting.".into());
            return lines;
        };
        let wanted = said(&self.wants);
        let does = self.does(&best.mean);
        lines.push(match best.missing <= 0.0 {
            true => format!("Simulated: {wanted} can be had, with {does}."),
            false => format!(
                "Simulated: nothing that was tried has all of {wanted}; the nearest has {does}."
            ),
        });
        for want in self.wants.iter().filter(|it| it.shortfall(&best.mean) > 0.0) {
            let values = self.tried.iter().filter_map(|it| it.mean.value(want.metric));
            let most = values.reduce(if want.metric.more() { f64::max } else { f64::min });
            lines.push(match most {
                Some(most) => format!(
                    "{want} is missed; the best of {} by itself was {} {}.",
                    want.metric.words(),
                    number(most),
                    want.metric.unit()
                ),
                None => format!("{want} could not be found out."),
            });
        }
        lines.push(power(best.candidate.power).into());
        lines.push(format!(
            "{} candidates were tried in {} evaluations; {} on the Pareto front. The recommended \
             one ran with {}.",
            self.tried.len(),
            self.spent,
            match self.tried.iter().filter(|it| it.front).count() {
                1 => "1 is".into(),
                n => format!("{n} are"),
            },
            count(u32::try_from(best.outcomes.len()).unwrap_or(u32::MAX), "seed")
        ));
        if self.stopped {
            lines.push("The search was stopped: what was done by then stands here.".into());
        }
        lines
    }
}

/// Returns how sleep is set in code; no sdkconfig does it.
fn power(power: Power) -> &'static str {
    match power {
        Power::Awake => "In code: esp_wifi_set_ps(WIFI_PS_NONE).",
        Power::MinModem => "In code: esp_wifi_set_ps(WIFI_PS_MIN_MODEM), which is the default.",
        Power::MaxModem(3) => {
            "In code: esp_wifi_set_ps(WIFI_PS_MAX_MODEM), with listen_interval 3 in wifi_config_t, \
             which is the default."
        }
        Power::MaxModem(_) => {
            "In code: esp_wifi_set_ps(WIFI_PS_MAX_MODEM), with listen_interval 10 in wifi_config_t."
        }
    }
}

/// Returns transport and metric of a metric's cells.
const fn cell_name(metric: Metric) -> (&'static str, &'static str) {
    match metric {
        Metric::TcpTx => ("tcp", "throughput_tx"),
        Metric::TcpRx => ("tcp", "throughput_rx"),
        Metric::UdpTx => ("udp", "throughput_tx"),
        Metric::UdpRx => ("udp", "throughput_rx"),
        Metric::UdpLatency => ("udp", "rtt_avg"),
        Metric::UdpLatencyP99 => ("udp", "rtt_p99"),
        Metric::Heap => ("", "free_heap_min"),
        Metric::Current => ("", "current_avg"),
        Metric::Battery => ("", "battery_life"),
    }
}

/// Returns the cells of the front.
fn cells(facts: &RunFacts, answer: &TuneAnswer) -> Vec<Cell> {
    let mut cells = Vec::new();
    for tested in answer.front() {
        for metric in &answer.objectives {
            let (transport, name) = cell_name(*metric);
            let id = Identity {
                table: "tune".into(),
                chip: facts.site.chip.clone(),
                transport: transport.into(),
                mode: facts.site.mode.clone(),
                metric: name.into(),
                devices: Some(answer.streams.into()),
                distance_m: facts.site.distance_m,
                security: facts.site.security.clone(),
                environment: facts.site.environment.clone(),
                ..Identity::default()
            };
            let estimate = Estimate {
                value: tested.mean.value(*metric),
                n: tested.outcomes.len() as u64,
                ..Estimate::default()
            };
            let mut cell = estimate.into_cell(id, metric.unit(), Origin::Simulated);
            cell.settings = tested.candidate.settings();
            known(&mut cell);
            cells.push(cell);
        }
    }
    add_run(&mut cells, facts);
    cells
}

/// Returns the report of an answer: a pure function of it and the facts.
#[must_use]
pub fn report(facts: &RunFacts, answer: &TuneAnswer) -> Report {
    Report {
        cells: cells(facts, answer),
        tables: tables::of(answer),
        figures: figures::of(answer),
        ..Report::empty(facts.clone())
    }
}

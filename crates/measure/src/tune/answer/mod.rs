//! Result of a search: in sentences, tables, figures, and as lines for `sdkconfig.defaults`.
//!
//! | module | contents |
//! |---|---|
//! | `figures` | what is wanted over the heap that it costs |
//! | `fragment` | lines for `sdkconfig.defaults`, each with its effect |
//! | `on_card` | the answer on a card |
//! | `tables` | the front, and the lines with their effects |

mod figures;
mod fragment;
mod on_card;
mod tables;
#[cfg(test)]
mod tests;

pub use fragment::fragment;

use super::card;
use super::limit::{BeyondReach, DirectionLimits, RoundTrip};
use super::outcome::Evaluation;
use super::search::Search;
use super::space::{Candidate, Power, TunedSetting};
use super::want::{Metric, Want, said};
use super::words::{count, number};
use crate::cell::{Cell, Identity, Origin};
use crate::report::{Report, add_run, known};
use crate::run::RunFacts;
use crate::settings::Setting;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::sdkconfig::{MEMORY_OPTIONS, SdkContext};
use espbench_stats::Estimate;
use espbench_stats::interval::mean_t;

/// Confidence in what memories and the compiler give, in words.
pub const OF_MEMORIES: &str = "What flash, caches and PSRAM give is computed from clocks and sizes; what the \
                               compiler's optimization gives is an assumption (docs/lab.md).";

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

/// A setting that the recommended candidate changes.
#[derive(Clone, Debug, PartialEq)]
pub struct RecommendedChange {
    /// Which setting.
    pub setting: TunedSetting,
    /// Outcome of the candidate with this setting as the firmware had it, with the seed of
    /// [`Recommendation::with`].
    pub without: Option<Evaluation>,
    /// The recommended candidate with the next value towards the firmware's own, with which it misses what is
    /// wanted, by the seeds of [`Recommendation::outcomes`].
    pub missed: Option<Candidate>,
}

/// The settings that are recommended, and what became of them when they were tried again.
#[derive(Clone, Debug, PartialEq)]
pub struct Recommendation {
    /// The settings.
    pub candidate: Candidate,
    /// Outcomes with seeds that the search had not used.
    pub outcomes: Vec<Evaluation>,
    /// Part of the wish that they miss in the mean of these outcomes; 0: nothing.
    pub missing: f64,
    /// Settings that differ from the firmware's.
    pub changes: Vec<RecommendedChange>,
    /// Outcome with the seed that each setting was left out with.
    pub with: Option<Evaluation>,
    /// Limit that holds it back now.
    pub limits: Vec<DirectionLimits>,
}

impl Recommendation {
    /// Returns whether all that is wanted was there again.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        !self.outcomes.is_empty() && self.missing <= 0.0
    }

    /// Returns the mean of the outcomes.
    #[must_use]
    pub fn mean(&self) -> Evaluation {
        Evaluation::mean(&self.outcomes)
    }
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
    /// Name of the file that the firmware is of; without, it has the build's defaults.
    pub file: Option<String>,
    /// Send buffers of the driver are static.
    pub static_tx: bool,
    /// The firmware that the search began with.
    pub base: Candidate,
    /// Outcomes of that firmware, with the seeds of the recommendation.
    pub before: Vec<Evaluation>,
    /// The lab, in words.
    pub place: String,
    /// Round trip to the other side.
    pub rtt: RoundTrip,
    /// Candidates, in the order in which they were tried.
    pub tried: Vec<TestedCandidate>,
    /// The best of them, tried again.
    pub recommended: Option<Recommendation>,
    /// Wants that no setting can reach.
    pub beyond: Vec<BeyondReach>,
    /// Reason for which the battery cannot give the pulses of the radio, in words.
    pub weak_battery: Option<String>,
    /// Evaluations that were made.
    pub spent: usize,
    /// The search was stopped before its end.
    pub stopped: bool,
    /// Remarks on the lab that matter for reading the figures, in sentences.
    pub notes: Vec<String>,
}

/// Returns the mean of a metric over outcomes, with its interval.
#[must_use]
pub fn estimate(outcomes: &[Evaluation], metric: Metric) -> Estimate {
    let values: Vec<f64> = outcomes.iter().filter_map(|it| it.value(metric)).collect();
    // Of memory it is the least that counts.
    match (metric, values.iter().copied().reduce(f64::min)) {
        (Metric::Heap, Some(least)) => {
            Estimate { value: Some(least), n: values.len() as u64, ..Estimate::default() }
        }
        _ => mean_t(&values),
    }
}

/// Says that the firmware as it is is as near to what is wanted as all that was tried.
const NO_NEARER: &str =
    "No change that was tried brings it nearer; a search with a larger budget tries more.";

/// Prints an estimate: `27.5 [27.3, 27.7]`.
#[must_use]
pub fn estimated(estimate: &Estimate) -> String {
    card::value(estimate).as_ref().map_or_else(|| "-".into(), card::shown)
}

impl TuneAnswer {
    /// Takes over what a search has tried.
    #[must_use]
    pub fn of(search: &Search, streams: u16, rtt: RoundTrip) -> Self {
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
            context: *search.space().context(),
            streams,
            file: None,
            static_tx: false,
            base: *search.space().base(),
            before: Vec::new(),
            place: String::new(),
            rtt,
            tried: search.tried().iter().enumerate().map(tested).collect(),
            recommended: None,
            beyond: Vec::new(),
            weak_battery: None,
            spent: search.spent(),
            stopped: false,
            notes: Vec::new(),
        }
    }

    /// Returns the part of the wants that outcomes miss in the mean.
    #[must_use]
    pub fn missing(&self, outcomes: &[Evaluation]) -> f64 {
        let mean = Evaluation::mean(outcomes);
        self.wants.iter().map(|it| it.shortfall(&mean)).sum()
    }

    /// Returns the candidates that no other beats in everything, the nearest to what is wanted first.
    #[must_use]
    pub fn front(&self) -> Vec<&TestedCandidate> {
        let mut front: Vec<&TestedCandidate> = self.tried.iter().filter(|it| it.front).collect();
        let changes = |it: &TestedCandidate| it.candidate.changes(&self.base).len();
        front.sort_by(|a, b| {
            a.missing.total_cmp(&b.missing).then_with(|| changes(a).cmp(&changes(b)))
        });
        front
    }

    /// Describes the outcome of a candidate: `TCP sending 27.1 Mbit/s, free heap 120 KB`.
    fn does(&self, outcomes: &[Evaluation]) -> String {
        let part = |metric: &Metric| {
            let it = estimate(outcomes, *metric);
            it.value?;
            Some(format!("{} {} {}", metric.words(), estimated(&it), metric.unit()))
        };
        let told = |it: &Metric| {
            self.objectives.contains(it) || self.wants.iter().any(|want| want.metric == *it)
        };
        Metric::ALL.iter().filter(|it| told(it)).filter_map(part).collect::<Vec<_>>().join(", ")
    }

    /// Returns the verdict in a line.
    #[must_use]
    pub fn verdict(&self) -> String {
        let wanted = said(&self.wants);
        let from = self.file.as_deref().unwrap_or("the build's defaults");
        let Some(best) = &self.recommended else {
            let why = if self.stopped {
                "stopped before the first round was over"
            } else {
                "nothing could be found out of any setting"
            };
            return format!("{wanted}: {why}");
        };
        let n = u32::try_from(best.changes.len()).unwrap_or(u32::MAX);
        match (best.is_reached(), n) {
            (true, 0) => format!("{wanted}: reached by {from}, with no change"),
            (true, n) => format!("{wanted}: reached with {} to {from}", count(n, "change")),
            (false, _) if self.beyond.is_empty() => {
                format!("{wanted}: not reached by any setting that was tried")
            }
            (false, _) => format!("{wanted}: cannot be met"),
        }
    }

    /// Returns why the figures cannot be had, why wants are not reached, and how near the nearest is.
    #[must_use]
    pub fn shortfalls(&self) -> Vec<String> {
        let mut lines: Vec<String> = self.weak_battery.iter().map(|it| format!("{it}.")).collect();
        lines.extend(self.beyond.iter().map(BeyondReach::sentence));
        let Some(best) = &self.recommended else { return lines };
        let mean = best.mean();
        let beyond = |want: &&Want| self.beyond.iter().any(|it| it.want == **want);
        let missed = self.wants.iter().filter(|it| it.shortfall(&mean) > 0.0);
        lines.extend(missed.filter(|it| !beyond(it)).map(|it| self.shortfall(it, &mean)));
        if !best.is_reached() && best.changes.is_empty() && self.beyond.is_empty() {
            lines.push(NO_NEARER.into());
        }
        lines
    }

    /// Returns how near the tried ones come to a want that the recommended one misses, what it misses that meets the want,
    /// and whether the firmware as it is meets it.
    fn shortfall(&self, want: &Want, best: &Evaluation) -> String {
        let shown = |want: &Want, of: &Evaluation| {
            let value = of.value(want.metric).map_or_else(|| "not known".into(), number);
            format!("{value} {}", want.metric.unit())
        };
        let meets = |it: &&TestedCandidate| want.shortfall(&it.mean) <= 0.0;
        let met = self.tried.iter().filter(meets).min_by(|a, b| a.missing.total_cmp(&b.missing));
        let mut line = if let Some(met) = met {
            let others = self.wants.iter().filter(|it| it.shortfall(&met.mean) > 0.0);
            let others: Vec<String> = others
                .map(|it| format!("{} is {}", it.metric.words(), shown(it, &met.mean)))
                .collect();
            match others.is_empty() {
                true => format!("{want} is missed with new seeds: {}.", shown(want, best)),
                false => format!(
                    "{want} is missed: of the settings that were tried and reach it, the nearest has {}, and its {}.",
                    shown(want, &met.mean),
                    others.join(", ")
                ),
            }
        } else {
            let values = self.tried.iter().map(|it| &it.mean).chain([best]);
            let values = values.filter_map(|it| it.value(want.metric));
            let Some(most) = values.reduce(if want.metric.more() { f64::max } else { f64::min })
            else {
                return format!("{want} could not be found out.");
            };
            let (words, unit) = (want.metric.words(), want.metric.unit());
            format!("{want} is missed; the best {words} that was tried is {} {unit}.", number(most))
        };
        if !self.before.is_empty() && want.shortfall(&Evaluation::mean(&self.before)) <= 0.0 {
            line += " Without the changes it is met.";
        }
        line
    }

    /// Returns the answer in sentences, the most important first.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let mut lines = alloc::vec![format!("Simulated: {}.", self.verdict())];
        lines.extend(self.shortfalls());
        let Some(best) = &self.recommended else { return lines };
        let name = if best.is_reached() { "With it" } else { "The nearest has" };
        lines.push(format!("{name}: {}.", self.does(&best.outcomes)));
        lines.extend(self.sleep().map(String::from));
        lines.push(self.effort());
        if self.stopped {
            lines.push("The search was stopped: what was done by then stands here.".into());
        }
        lines
    }

    /// Returns how the recommended sleep is set in code, where something is wanted that sleep acts on. Throughput and heap
    /// are those of a station that is awake while it sends.
    #[must_use]
    pub fn sleep(&self) -> Option<&'static str> {
        let best = self.recommended.as_ref()?;
        let acts = self.wants.iter().any(|it| it.metric.depends_on_sleep());
        acts.then(|| power(best.candidate.power))
    }

    /// Describes how much was tried.
    #[must_use]
    pub fn effort(&self) -> String {
        let tried =
            format!("{} candidates were tried in {} evaluations", self.tried.len(), self.spent);
        match &self.recommended {
            Some(best) => format!(
                "{tried}, the recommended one again with {}.",
                count(u32::try_from(best.outcomes.len()).unwrap_or(u32::MAX), "new seed")
            ),
            None => format!("{tried}; none is recommended."),
        }
    }
}

/// Returns how sleep is set in code; no sdkconfig does it.
const fn power(power: Power) -> &'static str {
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

/// Returns the cells of the recommendation and of the front.
fn cells(facts: &RunFacts, answer: &TuneAnswer) -> Vec<Cell> {
    let mut cells = Vec::new();
    let recommended = answer.recommended.iter().map(|it| (&it.candidate, &it.outcomes));
    let front = answer.front();
    let front = front.iter().map(|it| (&it.candidate, &it.outcomes));
    let first = answer.recommended.as_ref().map(|it| it.candidate);
    let others = front.filter(|it| Some(*it.0) != first);
    for (candidate, outcomes) in recommended.chain(others) {
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
            let estimate = estimate(outcomes, *metric);
            let mut cell = Cell::of(estimate, id, metric.unit(), Origin::Simulated);
            cell.settings = candidate.settings();
            cell.settings.extend(memories(candidate, &answer.base));
            known(&mut cell);
            cells.push(cell);
        }
    }
    add_run(&mut cells, facts);
    cells
}

/// Returns the settings of memories and compiler in which a candidate differs from the firmware.
fn memories(candidate: &Candidate, base: &Candidate) -> Vec<Setting> {
    let of = |it: TunedSetting| match it {
        TunedSetting::Option(key) if MEMORY_OPTIONS.contains(&key) => {
            it.number(candidate).map(|value| Setting::Sdkconfig(key, value))
        }
        _ => None,
    };
    candidate.changes(base).into_iter().filter_map(of).collect()
}

/// Returns the report of an answer: a pure function of it and the facts.
#[must_use]
pub fn report(facts: &RunFacts, answer: &TuneAnswer) -> Report {
    Report {
        tuning: Some(answer.card()),
        cells: cells(facts, answer),
        tables: tables::of(answer),
        figures: figures::of(answer),
        ..Report::empty(facts.clone())
    }
}

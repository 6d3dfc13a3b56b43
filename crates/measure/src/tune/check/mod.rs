//! Check of an sdkconfig without a run: values that do not fit each other, bounds that follow from
//! them, the heap that they take, and which of Espressif's ranks they are nearest to.
//!
//! | module | contents |
//! |---|---|
//! | `bounds` | what follows from the values: most throughput over a round trip, bursts that do not fit, heap |
//! | `figure` | throughput and its limits as bars |
//! | `fit` | values that do not fit each other |
//! | `hosted` | a host whose radio is on a chip beside it, and that chip |
//! | `known` | the values themselves: the file's oddities, ranges, defaults, ranks, flags |
//! | `on_card` | the answer on a card |
//! | `tables` | the tables of a check |
//!
//! Every rule names its source. The rules are in `fit` (values against each other), `bounds` (what
//! follows from them) and `known` (ranks, defaults, the file itself).

mod bounds;
mod figure;
mod fit;
mod hosted;
mod known;
mod on_card;
mod tables;
#[cfg(test)]
mod tests;

pub use hosted::{CoProcessorConfig, check_pair};

use super::limit::{self, DirectionLimits, RoundTrip, RoundTripSource, over_round_trip};
use super::want::Metric;
use super::words::{bytes, number};
use crate::report::Report;
use crate::run::RunFacts;
use crate::table::Table;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sdkconfig::memory::{HeapDemand, Traffic, heap};
use espbench_model::sdkconfig::{
    Chip, ConfigOption, OptionValues, ParsedSdkConfig, Rank, SdkConfig, SdkContext,
};
use espbench_model::speech::FlagName;
use serde::Serialize;

/// Version of the JSON form.
pub const SCHEMA: &str = "espbench-check/1";

/// Input of a check: the settings, and the traffic that they have to carry.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckInput {
    /// Name of the file, for people.
    pub file: String,
    /// The file as it was read.
    pub reading: ParsedSdkConfig,
    /// The chip, the release, and whether there is PSRAM.
    pub context: SdkContext,
    /// Whether somebody said the chip, in place of the file.
    pub chip_is_said: bool,
    /// Connections and sockets that are open at a time.
    pub traffic: Traffic,
    /// Round trip to the other side.
    pub rtt: RoundTrip,
    /// Datagrams that come back to back, where somebody said.
    pub burst: Option<u32>,
    /// Heap before Wi-Fi starts, where somebody said; otherwise that of a firmware as small as the
    /// iperf example.
    pub heap: Option<u64>,
}

/// Severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The setting does not work as it says: the build takes another value, packets are lost,
    /// memory runs out.
    Wrong,
    /// The setting works, and holds throughput down.
    Limits,
    /// Worth knowing.
    Note,
}

impl Severity {
    /// Returns the word for the severity.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Limits => "limits",
            Self::Note => "note",
        }
    }
}

/// A setting that would help.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SettingChange {
    /// Name of the option in the file's release.
    pub name: String,
    /// Value in the file, or the default.
    pub from: String,
    /// Value to write instead.
    pub to: String,
    /// Bytes of heap that it takes when traffic is at its busiest; negative where it gives some.
    pub heap_bytes: i64,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Stable name of the rule.
    pub rule: &'static str,
    /// Severity.
    pub severity: Severity,
    /// Description of the finding, in one line with its numbers.
    pub what: String,
    /// Reason, and its source.
    pub why: String,
    /// Settings to change; empty where nothing in the file helps.
    pub set: Vec<SettingChange>,
    /// Whether the advised change mends it, too.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub mended: bool,
    /// Line of the file, from 1, where it is about one.
    #[serde(skip)]
    pub line: Option<usize>,
}

/// Words for a finding that the advised change mends, too; on the first screen in place of its own, so that an option has one value there.
pub const MENDED: &str = "the advised change mends it";

/// A setting as the build takes it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EffectiveOption {
    /// Name of the option.
    pub name: String,
    /// The value in use.
    pub value: String,
    /// True where the file gives the value; otherwise it is the default.
    pub given: bool,
}

/// The nearest rank.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Nearest {
    /// Name of the rank.
    pub name: String,
    /// Distance in doublings for each value.
    pub doublings: f64,
    /// Throughput that Espressif measured of the rank, in Mbit/s: TCP sending and receiving, UDP
    /// sending and receiving.
    pub published_mbit_s: [f64; 4],
}

/// Heap that is left, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Left {
    /// Before Wi-Fi starts.
    pub heap: u64,
    /// Without traffic.
    pub idle: i64,
    /// At the busiest of TCP and UDP, sending and receiving.
    pub busy: i64,
    /// With every buffer full at once.
    pub peak: i64,
}

/// A line of an advice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AdvisedChange {
    /// Line to write.
    pub line: String,
    /// Value now.
    pub from: String,
}

/// The one setting that gives most, as the lab has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckAdvice {
    /// Lines to write: the setting, and what has to follow it.
    pub set: Vec<AdvisedChange>,
    /// Throughput that it raises most.
    pub metric: Metric,
    /// Throughput of the file in Mbit/s: mean and interval over seeds of its own.
    pub before: [f64; 3],
    /// Throughput with the setting.
    pub after: [f64; 3],
    /// Least free heap with it less that of the file, in bytes, in the lab.
    pub heap_bytes: i64,
    /// Least free heap in bytes: of the file, and with it.
    pub free_heap_bytes: [i64; 2],
    /// Mean current in mA while a message is sent now and then: of the file, and with it.
    pub current_ma: Option<[f64; 2]>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Checked {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The file.
    pub file: String,
    /// The chip.
    pub chip: String,
    /// Whether nobody names the chip, which is then a guess.
    pub chip_assumed: bool,
    /// The release of ESP-IDF whose ranges and defaults hold.
    pub release: String,
    /// TCP streams.
    pub streams: u16,
    /// Round trip in milliseconds.
    pub rtt_ms: f64,
    /// Source of the round trip.
    pub rtt_source: RoundTripSource,
    /// The lab that the file was tried in.
    pub place: Option<String>,
    /// Limits of each direction.
    pub limits: Vec<DirectionLimits>,
    /// The one setting that gives most in the lab.
    pub advice: Option<CheckAdvice>,
    /// Settings in use.
    pub settings: Vec<EffectiveOption>,
    /// Findings, the worst first.
    pub findings: Vec<Finding>,
    /// The nearest rank of the chip's document.
    pub nearest: Option<Nearest>,
    /// Most that TCP can receive and send over that round trip, in Mbit/s.
    pub bound_mbit_s: [f64; 2],
    /// Heap that the settings leave: a model, not a measurement.
    pub heap_left: Option<Left>,
    /// The document's p = b_rx m_rx + b_tx m_tx, in bytes.
    pub driver_peak_bytes: u64,
    /// Settings of the file that do not concern links.
    pub others: u32,
    /// All of it to look up, for drawings.
    #[serde(skip)]
    pub tables: Vec<Table>,
}

impl Checked {
    /// Notes what is not found of a file any more that has the advised settings.
    pub fn mend(&mut self, with: &Self) {
        for it in &mut self.findings {
            it.mended = !it.set.is_empty() && with.findings.iter().all(|left| left.rule != it.rule);
        }
    }

    /// Returns how many findings there are of a severity.
    #[must_use]
    pub fn count(&self, severity: Severity) -> usize {
        self.findings.iter().filter(|it| it.severity == severity).count()
    }

    /// Returns the outcome in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let count = |severity, one: &str, more: &str| match self.count(severity) {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {more}")),
        };
        let parts: Vec<String> = [
            count(Severity::Wrong, "thing is wrong", "things are wrong"),
            count(Severity::Limits, "thing limits it", "things limit it"),
            count(Severity::Note, "note", "notes"),
        ]
        .into_iter()
        .flatten()
        .collect();
        match parts.is_empty() {
            true => "Nothing was found.".into(),
            false => format!("{}.", parts.join(", ")),
        }
    }
}

impl Checked {
    /// Describes what was checked: the chip, the release, the traffic, the round trip.
    #[must_use]
    pub fn head(&self) -> String {
        let Self { chip, release, streams, .. } = self;
        let time = Duration::from_secs_f64(self.rtt_ms / 1e3);
        let rtt = RoundTrip { time, source: self.rtt_source.clone() };
        let streams = super::words::count((*streams).into(), "TCP stream");
        let chip = match self.chip_assumed {
            true => format!(
                "the file names no chip (CONFIG_IDF_TARGET): taken as {chip}; {} names another; ESP-IDF {release}",
                FlagName("--chip")
            ),
            false => format!("{chip}, ESP-IDF {release}"),
        };
        format!("{chip}, {streams}, {}", rtt.words())
    }

    /// Says how many things are wrong.
    fn wrong(&self) -> String {
        match self.count(Severity::Wrong) {
            0 => "nothing is wrong".into(),
            1 => "1 thing is wrong".into(),
            n => format!("{n} things are wrong"),
        }
    }

    /// Returns the verdict: what is wrong, and the bottleneck with its figure.
    #[must_use]
    pub fn verdict(&self) -> String {
        let wrong = self.wrong();
        let wrong = format!("{}{}.", wrong[..1].to_uppercase(), &wrong[1..]);
        let Some((direction, limit)) =
            self.limits.first().and_then(|it| Some((it, it.bottleneck()?)))
        else {
            return wrong;
        };
        let most = limit.at_most_mbit_s.map(|it| format!(", at most {} Mbit/s", number(it)));
        let now = direction.simulated_mbit_s.map(|it| format!(", {} Mbit/s", number(it)));
        format!(
            "{wrong} Bottleneck of {}{}: {} ({}){}.",
            direction.metric.words(),
            now.unwrap_or_default(),
            limit.cause.words(),
            limit.what,
            most.unwrap_or_default()
        )
    }

    /// Returns the one change that gives most, with what it costs, in a sentence; none without a lab.
    #[must_use]
    pub fn advised(&self) -> Option<String> {
        self.place.as_ref()?;
        let Some(advice) = &self.advice else {
            return Some("No single setting makes TCP faster in the lab by 2 %.".into());
        };
        let interval = |[mean, low, high]: [f64; 3]| {
            format!("{} [{}, {}]", number(mean), number(low), number(high))
        };
        let heap = match advice.heap_bytes {
            less @ ..0 => format!("{} less free heap", super::words::kb(-less as f64)),
            more => format!("{} more free heap", super::words::kb(more as f64)),
        };
        let current = match advice.current_ma {
            Some([was, is]) if (is - was).abs() >= 0.005 * was => {
                format!(", {} mA instead of {}", number(is), number(was))
            }
            Some(_) => ", the same current".into(),
            None => String::new(),
        };
        let lines: Vec<String> =
            advice.set.iter().map(|it| format!("{} (now {})", it.line, it.from)).collect();
        Some(format!(
            "Change {}: {} {} Mbit/s instead of {}, simulated with five new seeds; {heap}{current}.",
            lines.join(" and "),
            advice.metric.words(),
            interval(advice.after),
            interval(advice.before),
        ))
    }
}

/// Returns the report of a check, for a page.
#[must_use]
pub fn report(facts: RunFacts, checked: &Checked) -> Report {
    let card = checked.card();
    let mut tables = alloc::vec![tables::answer(checked)];
    tables.extend(card.tables());
    tables.push(tables::findings(checked));
    tables.extend(checked.tables.iter().cloned());
    let figures = figure::of(checked).into_iter().collect();
    Report { tuning: Some(card), tables, figures, ..Report::empty(facts) }
}

/// Title of the table of limits.
pub const LIMITS_TITLE: &str = "What limits it";

/// Values that the rules look at.
struct Material<'q> {
    question: &'q CheckInput,
    settings: &'q OptionValues,
    context: SdkContext,
    config: SdkConfig,
    memory: HeapDemand,
}

impl<'q> Material<'q> {
    fn of(question: &'q CheckInput) -> Self {
        let settings = &question.reading.settings;
        let context = settings.context(question.context);
        Self {
            question,
            settings,
            context,
            config: settings.config(&context),
            memory: HeapDemand::of(settings, &context, question.traffic),
        }
    }

    fn value(&self, key: ConfigOption) -> u32 {
        self.settings.value(key, &self.context)
    }

    /// Returns whether the radio is on a chip beside the one that the file is of.
    const fn is_host(&self) -> bool {
        self.question.reading.hosted.is_host
    }

    fn name(&self, key: ConfigOption) -> &'static str {
        if self.is_host()
            && let Some(name) = key.remote_name()
        {
            return name;
        }
        key.name_for(self.context.chip, self.context.release)
    }

    fn streams(&self) -> u32 {
        self.question.traffic.streams.into()
    }

    fn mss(&self) -> u32 {
        u32::from(self.config.tcp_mss).max(1)
    }

    /// Segments in so many bytes of each stream.
    fn segments(&self, bytes: u32) -> u32 {
        self.streams() * bytes.div_ceil(self.mss())
    }

    /// Returns a change that would help, within the option's range; `None` where it is so already.
    fn change(&self, key: ConfigOption, to: u32) -> Option<SettingChange> {
        let range = key.range(&self.context);
        let to = to.clamp(*range.start(), *range.end());
        let from = self.value(key);
        if to == from && self.settings.get(key).is_none_or(|it| it == to) {
            return None;
        }
        let mut changed = *self.settings;
        changed.set(key, to);
        let memory = HeapDemand::of(&changed, &self.context, self.question.traffic);
        Some(SettingChange {
            name: self.name(key).into(),
            from: shown(key, self.settings.get(key).unwrap_or(from)),
            to: shown(key, to),
            heap_bytes: memory.busy() as i64 - self.memory.busy() as i64,
        })
    }

    fn changes(&self, all: &[(ConfigOption, u32)]) -> Vec<SettingChange> {
        all.iter().filter_map(|(key, to)| self.change(*key, *to)).collect()
    }

    /// Returns the most that TCP can carry with so many bytes on the way, for all streams, in
    /// Mbit/s.
    fn bound(&self, bytes: u32, rtt: Duration) -> f64 {
        over_round_trip(self.question.traffic.streams, bytes, rtt)
    }

    fn left(&self) -> Option<Left> {
        // What is free on a host depends on its own chip.
        let usual = || heap(self.context.chip).filter(|_| !self.is_host());
        let heap = self.question.heap.or_else(usual)?;
        let left = |taken: u64| heap as i64 - taken as i64;
        Some(Left {
            heap,
            idle: left(self.memory.idle()),
            busy: left(self.memory.busy()),
            peak: left(self.memory.peak()),
        })
    }
}

/// Returns a value as a file has it.
fn shown(key: ConfigOption, value: u32) -> String {
    key.text(value).to_string()
}

fn finding(
    rule: &'static str,
    severity: Severity,
    what: String,
    why: impl Into<String>,
    set: Vec<SettingChange>,
) -> Finding {
    Finding { rule, severity, what, why: why.into(), set, mended: false, line: None }
}

/// Removes changes that a finding before has asked for already: a later one stays only where it
/// asks for more.
fn once(findings: &mut [Finding]) {
    let mut asked: Vec<(String, u64)> = Vec::new();
    for finding in findings {
        finding.set.retain(|change| {
            let to = change.to.parse().unwrap_or(0);
            let more = asked.iter().filter(|it| it.0 == change.name).all(|it| it.1 < to);
            if more {
                asked.push((change.name.clone(), to));
            }
            more
        });
    }
}

/// Returns what a window or a send buffer allows in one direction.
fn in_flight(metric: Metric, question: &CheckInput, size: u32) -> DirectionLimits {
    let limit = limit::in_flight(metric, question.traffic.streams, size, &question.rtt);
    DirectionLimits { metric, simulated_mbit_s: None, limits: alloc::vec![limit] }
}

/// Holds a file against what is known.
#[must_use]
pub fn check(question: &CheckInput) -> Checked {
    let material = Material::of(question);
    let mut findings: Vec<Finding> = Vec::new();
    known::file(&material, &mut findings);
    fit::all(&material, &mut findings);
    bounds::all(&material, &mut findings);
    hosted::host(&material, &mut findings);
    known::all(&material, &mut findings);
    findings.sort_by_key(|it| it.severity);
    once(&mut findings);
    // Ranks are of a chip that runs the program, too.
    let nearest = Rank::nearest(material.context.chip, &material.config);
    let nearest = nearest.filter(|_| !material.is_host());
    let mut limits = alloc::vec![
        in_flight(Metric::TcpTx, question, material.config.tcp_send_buffer),
        in_flight(Metric::TcpRx, question, material.config.tcp_window),
    ];
    limit::rank(&mut limits);
    let setting = |key: ConfigOption| EffectiveOption {
        name: material.name(key).into(),
        value: shown(key, material.value(key)),
        given: material.settings.get(key).is_some(),
    };
    Checked {
        schema: SCHEMA,
        file: question.file.clone(),
        chip: material.context.chip.name().into(),
        chip_assumed: question.reading.chip.is_none() && !question.chip_is_said,
        release: material.context.release.to_string(),
        streams: question.traffic.streams,
        rtt_ms: crate::digits::six(question.rtt.ms()),
        rtt_source: question.rtt.source.clone(),
        limits,
        advice: None,
        place: None,
        settings: ConfigOption::all().map(setting).collect(),
        findings,
        nearest: nearest.map(|(rank, doublings)| Nearest {
            name: rank.name.into(),
            doublings: crate::digits::six(doublings),
            published_mbit_s: rank.mbit_s,
        }),
        bound_mbit_s: [material.config.tcp_window, material.config.tcp_send_buffer]
            .map(|it| crate::digits::six(material.bound(it, question.rtt.time))),
        heap_left: material.left(),
        driver_peak_bytes: material.memory.driver_peak,
        others: question.reading.others,
        tables: tables::all(&material),
    }
}

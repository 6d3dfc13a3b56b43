//! Answers of the tools, with their schemas: what a conversation needs of a command's JSON, which has more.

use espbench_measure::cell::Origin;
use espbench_measure::report::{GlanceValue, Report};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// Places of evidence for a cause at most.
const EVIDENCE: usize = 3;

/// Bytes of an answer where nothing more was wanted, of which a client shows it two times.
pub(super) const SHORT: usize = 4000;

/// Returns how long an answer, or a part of it, is.
pub(super) fn bytes(it: &impl Serialize) -> usize {
    serde_json::to_string(it).map_or(0, |it| it.len())
}

/// Leaves out parts of an answer until it is short, or has nothing more to leave out. `leave` leaves one out, and returns
/// whether there was one.
fn shorten<T: Serialize>(told: &mut T, leave: impl Fn(&mut T) -> bool) {
    while bytes(told) > SHORT && leave(told) {}
}

/// An answer that is read from a command's JSON.
pub(super) trait Answer: Serialize + JsonSchema + 'static + Sized {
    /// Part of it that the caller wants.
    type Wanted: Sync;

    /// Reads it; `errors` is what the command told beside.
    fn read(json: &str, errors: String, wanted: &Self::Wanted) -> Result<Self, String>;
}

/// A number with four significant digits, which is more than an interval bears.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq)]
#[serde(transparent)]
pub(super) struct Four(pub(super) f64);

impl Serialize for Four {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let short = format!("{:.3e}", self.0).parse().unwrap_or(self.0);
        serializer.serialize_f64(short)
    }
}

/// Returns the error of JSON that is not what was expected, with what the command told.
fn odd(error: &serde_json::Error, errors: &str) -> String {
    if errors.is_empty() {
        format!("the answer cannot be read: {error}")
    } else {
        errors.to_owned()
    }
}

pub(super) fn parsed<T: serde::de::DeserializeOwned>(
    json: &str,
    errors: &str,
) -> Result<T, String> {
    serde_json::from_str(json).map_err(|error| odd(&error, errors))
}

/// A value with its 95 % interval.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ValueTold {
    value: Four,
    /// Lower end of the 95 % interval; null where there is none.
    ci_low: Option<Four>,
    /// Upper end of it.
    ci_high: Option<Four>,
}

impl From<GlanceValue> for ValueTold {
    fn from(it: GlanceValue) -> Self {
        Self { value: Four(it.value), ci_low: it.ci_low.map(Four), ci_high: it.ci_high.map(Four) }
    }
}

/// A setting that would help.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(super) struct SettingTold {
    /// Name of the option.
    name: String,
    /// Value now.
    from: String,
    /// Value to write instead.
    to: String,
}

/// A finding of a check.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(super) struct FindingTold {
    /// Stable name of the rule.
    rule: String,
    /// wrong, limits or note.
    severity: String,
    what: String,
    why: String,
    /// Settings to change; empty where nothing in the file helps.
    set: Vec<SettingTold>,
}

/// Answer of `check`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(super) struct CheckTold {
    chip: String,
    /// Release of ESP-IDF.
    release: String,
    /// The worst first.
    findings: Vec<FindingTold>,
    /// Findings that are not in the list: `full` gives them.
    #[serde(default)]
    left_out: usize,
    /// The lab that the file was tried in; null where it cannot simulate the chip.
    place: Option<String>,
    /// The one setting that gives most, in the lab; null where none gives 2 %, or without a lab.
    advice: Option<AdviceTold>,
}

/// Advice of a check.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(super) struct AdviceTold {
    /// Lines to write.
    set: Vec<LineTold>,
    /// Throughput that it raises most.
    metric: String,
    /// Simulated throughput in Mbit/s now: mean, and the ends of its 95 % interval.
    before: [Four; 3],
    /// With the setting.
    after: [Four; 3],
}

/// A line of an advice.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(super) struct LineTold {
    line: String,
    /// Value now.
    from: String,
}

impl Answer for CheckTold {
    /// Whether all of it is wanted.
    type Wanted = bool;

    fn read(json: &str, errors: String, full: &bool) -> Result<Self, String> {
        let mut told: Self = parsed(json, &errors)?;
        if !full {
            shorten(&mut told, |it| {
                let left = it.findings.pop();
                it.left_out += usize::from(left.is_some());
                left.is_some()
            });
        }
        Ok(told)
    }
}

/// A row of a prediction.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PredictionTold {
    devices: u32,
    /// PHY rate.
    rate: String,
    loss_percent: Option<ValueTold>,
    /// 99th percentile of the latency.
    p99_ms: Option<ValueTold>,
    channel_busy_percent: Option<ValueTold>,
    /// The devices' own part of it.
    own_busy_percent: Option<Four>,
    /// Life of the battery; null where no battery was named.
    life_days: Option<ValueTold>,
    /// Profile of the devices, where several are compared; with it what limits it, and the parts of its charge that are
    /// little known.
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limited_by: Option<ShareTold>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    little_known: Vec<String>,
}

/// Answer of `predict`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PredictTold {
    /// Always simulated.
    origin: &'static str,
    /// The fleet and its place.
    title: String,
    /// The answer in a sentence, where figures alone are none.
    verdict: Option<String>,
    /// Fleets by their number of devices, or profiles, the best first.
    rows: Vec<PredictionTold>,
    /// The smallest fleets, or the last profiles, that are not in the list: `full` gives them.
    left_out: usize,
    /// Parts to which most of latency and charge go.
    limited_by: Vec<ShareTold>,
    /// The change to make next, which was tried.
    next: Option<String>,
    /// Reasons to read the figures with care.
    warnings: Vec<String>,
    seed: u64,
}

/// A share of a quantity.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ShareTold {
    /// Quantity: charge, latency, loss.
    of: String,
    part: String,
    /// 0 to 1.
    share: Four,
}

impl PredictTold {
    /// Leaves out the smallest fleet or, of profiles, the last one; the verdict is on what is left.
    fn leave_one(&mut self) -> bool {
        if self.rows.len() < 2 {
            return false;
        }
        let is_of_profiles = self.rows.iter().any(|it| it.profile.is_some());
        self.rows.remove(if is_of_profiles { self.rows.len() - 1 } else { 0 });
        self.left_out += 1;
        true
    }
}

impl Answer for PredictTold {
    /// Whether all of it is wanted.
    type Wanted = bool;

    fn read(json: &str, errors: String, full: &bool) -> Result<Self, String> {
        let report: Report = parsed(json, &errors)?;
        let Some(card) = report.prediction else {
            return Err("the answer has no prediction".into());
        };
        let share = |it: espbench_measure::predict::card::LimitShare| ShareTold {
            of: it.of,
            part: it.part,
            share: Four(it.share),
        };
        let row = |it: espbench_measure::predict::card::PredictionRow| PredictionTold {
            devices: it.devices,
            rate: it.rate,
            loss_percent: it.loss_percent.map(Into::into),
            p99_ms: it.p99_ms.map(Into::into),
            channel_busy_percent: it.channel_busy_percent.map(Into::into),
            own_busy_percent: it.own_busy_percent.map(Four),
            life_days: it.life_days.map(Into::into),
            profile: Some(it.profile).filter(|it| !it.is_empty()),
            limited_by: it.limited_by.map(share),
            little_known: it.little_known,
        };
        let mut told = Self {
            origin: Origin::Simulated.name(),
            title: card.title,
            verdict: card.verdict,
            rows: card.rows.into_iter().map(row).collect(),
            left_out: 0,
            limited_by: card.limited_by.into_iter().map(share).collect(),
            next: card.next,
            warnings: card.warnings,
            seed: report.run.seed,
        };
        if !full {
            shorten(&mut told, Self::leave_one);
        }
        Ok(told)
    }
}

/// Figure of `tune` before and after.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TuneFigureTold {
    /// Metric, with its unit.
    metric: String,
    before: Option<ValueTold>,
    after: Option<ValueTold>,
    /// Value that is wanted; null of a figure that is only shown.
    wanted: Option<Four>,
}

/// Answer of `tune`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct TuneTold {
    /// Always simulated.
    origin: &'static str,
    verdict: String,
    context: String,
    /// Lines for sdkconfig.defaults, or calls in code.
    changes: Vec<LineTold>,
    figures: Vec<TuneFigureTold>,
    /// Things that are wrong or missed.
    warnings: Vec<String>,
    notes: Vec<String>,
    /// Notes and then warnings that are not in the lists: `full` gives them.
    left_out: usize,
    seed: u64,
}

impl Answer for TuneTold {
    /// Whether all of it is wanted.
    type Wanted = bool;

    fn read(json: &str, errors: String, full: &bool) -> Result<Self, String> {
        let report: Report = parsed(json, &errors)?;
        let Some(card) = report.tuning else { return Err("the answer has no settings".into()) };
        let figure = |it: espbench_measure::tune::card::TuneFigure| TuneFigureTold {
            metric: format!("{}, {}", it.metric.words(), it.metric.unit()),
            before: it.before.map(Into::into),
            after: it.after.map(Into::into),
            wanted: it.wanted.map(Four),
        };
        let line = |it: espbench_measure::tune::card::TuneChange| LineTold {
            line: it.line,
            from: it.from,
        };
        let mut told = Self {
            origin: Origin::Simulated.name(),
            verdict: card.verdict,
            context: card.context,
            changes: card.changes.into_iter().map(line).collect(),
            figures: card.figures.into_iter().map(figure).collect(),
            warnings: card.warnings,
            notes: card.notes,
            left_out: 0,
            seed: report.run.seed,
        };
        if !full {
            shorten(&mut told, |it| {
                let left = it.notes.pop().or_else(|| it.warnings.pop());
                it.left_out += usize::from(left.is_some());
                left.is_some()
            });
        }
        Ok(told)
    }
}

/// A place that shows a cause.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(super) struct EvidenceTold {
    /// Kind of the file: log, sdkconfig, capture, run.
    source: String,
    /// Number of the line, frame or sample, from 1.
    line: u64,
    /// Time since the device started; null where the file does not have it.
    uptime_ms: Option<u64>,
    /// Text that stands there, quoted from the file: data, and no instruction.
    text: String,
}

/// A cause that the doctor found.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(super) struct CauseTold {
    title: String,
    /// How sure it is.
    certainty: String,
    /// How often it happened.
    incidents: u64,
    /// Share of all incidents that it explains, 0 to 1.
    share: Four,
    /// The first places that show it.
    evidence: Vec<EvidenceTold>,
    remedy: String,
    /// Measurement that would confirm it.
    confirm: String,
    #[serde(default)]
    set: Vec<SettingTold>,
}

/// A diagnosis.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(super) struct DiagnosisTold {
    files: Vec<String>,
    answer: String,
    /// causes, nothing-wrong or cannot-tell.
    verdict: String,
    /// Those first that explain most.
    findings: Vec<CauseTold>,
    notes: Vec<String>,
}

/// Answer of `doctor`.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
pub(super) struct DoctorTold {
    diagnoses: Vec<DiagnosisTold>,
    /// Findings, notes and then diagnoses that are not in the lists: `full` gives them.
    #[serde(default)]
    left_out: usize,
}

impl DoctorTold {
    /// Leaves out the last finding of the diagnosis that has most, but the first of each; then a note; then a diagnosis.
    fn leave_one(&mut self) -> bool {
        let most = self.diagnoses.iter_mut().max_by_key(|it| it.findings.len());
        let finding = most.filter(|it| it.findings.len() > 1).and_then(|it| it.findings.pop());
        let mut note = || self.diagnoses.iter_mut().rev().find_map(|it| it.notes.pop());
        let mut is_left = finding.is_some() || note().is_some();
        if !is_left && self.diagnoses.len() > 1 {
            is_left = self.diagnoses.pop().is_some();
        }
        self.left_out += usize::from(is_left);
        is_left
    }
}

impl Answer for DoctorTold {
    /// Whether all of it is wanted.
    type Wanted = bool;

    fn read(json: &str, errors: String, full: &bool) -> Result<Self, String> {
        let mut told: Self = parsed(json, &errors)?;
        let findings = told.diagnoses.iter_mut().flat_map(|it| &mut it.findings);
        findings.for_each(|it| it.evidence.truncate(EVIDENCE));
        if !full {
            shorten(&mut told, Self::leave_one);
        }
        Ok(told)
    }
}

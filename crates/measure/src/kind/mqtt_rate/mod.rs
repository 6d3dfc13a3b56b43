//! Numbered messages through an MQTT broker.

mod figure;
mod summary;
mod table;

use crate::cell::{Cell, Identity};
use crate::figure::Figure;
use crate::kind::headline::Headline;
use crate::kind::{Observations, SenderPace, TestKind, around};
use crate::live::figures::{LiveFigures, LiveRate, LiveTimes, QUANTILES, response};
use crate::plan::{DAY, Goal, PlanKey, PlanValue, Scalar, quoted, word_of, words};
use crate::report::digest::Material;
use crate::run::Recorded;
use crate::series::{self, SentRate};
use crate::settings::{Setting, SettingKey, Settings};
use crate::summary::SummaryContext;
use crate::table::Table;
use crate::units::{self, Dimension, print_duration};
use crate::wifi::{Document, ModeColumn};
use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::Sample;
use espbench_model::workload::{MqttMode, MqttRate, MqttVersion};

const KIND: &str = "mqtt-rate";

/// A hundred messages a second for five seconds.
pub(super) const DEFAULT: MqttRate = MqttRate {
    version: MqttVersion::V311,
    qos: 0,
    size: 64,
    mode: MqttMode::Offered(100.0),
    in_flight: 20,
    time: Duration::from_secs(5),
    count: None,
    queue: 1000,
    clients: 1,
    retain: false,
    clean_start: true,
    session_expiry: None,
};

/// Lowest and highest rate that can be offered, in messages a second.
const OFFERED: (f64, f64) = (0.001, 1e8);

/// Steps that a search for the highest rate usually takes.
const SEARCH_STEPS: u32 = 14;

const DOCUMENT: Document = Document {
    table: "mqtt-rate",
    source: "smooth-mqtt-benchmark",
    kind: KIND,
    payload: false,
    devices: false,
    open: "off",
    mode: ModeColumn::Same,
    firmware: false,
    ordered: false,
};

/// The metrics that lead, the most telling first.
const HEADLINES: &[Headline] = &[
    Headline::new(Goal::Throughput, "message_rate_reliable", "rate without loss", ""),
    Headline::new(Goal::Throughput, "message_rate", "delivered", ""),
    Headline::new(Goal::Latency, "latency_p50", "latency", "p50"),
    Headline::new(Goal::Latency, "latency_p99", "latency", "p99"),
    Headline::new(Goal::Latency, "latency_p90", "latency", "p90"),
    Headline::new(Goal::Latency, "latency_max", "latency", "max"),
    Headline::new(Goal::Loss, "loss", "lost", ""),
];

/// Keys of a plan.
const KEYS: [PlanKey; 12] = [
    PlanKey::new("version", PlanValue::Word(&words(&VERSIONS)), "\"5\"", "version of MQTT"),
    PlanKey::new("qos", PlanValue::Whole(0, 2), "1", "quality of service"),
    PlanKey::new(
        "size",
        PlanValue::Bytes(16, 1 << 20),
        "64",
        "bytes of a message: sequence number and time are in them",
    ),
    PlanKey::new(
        "offered",
        PlanValue::Form(
            "`\"saturate\"`, `\"200 /s\"`, `\"search 10 /s to 5000 /s\"` or `\"listen\"`; rates from 0.001 /s to 100000000 /s",
        ),
        "\"search 10 /s to 5000 /s\"",
        "messages a second that are offered: as many as go, so many, or looking for the most without loss; or listening to a device that publishes",
    ),
    PlanKey::new(
        "in_flight",
        PlanValue::Whole(1, 65_535),
        "20",
        "most messages without an acknowledgement; QoS 1 and 2 have them",
    ),
    PlanKey::new(
        "time",
        PlanValue::Time(Duration::from_millis(10), DAY),
        "\"5 s\"",
        "length of a cell, or of a try of a search",
    ),
    PlanKey::new(
        "count",
        PlanValue::Whole(1, 100_000_000),
        "1000",
        "messages after which a cell ends before its time",
    )
    .or("none"),
    PlanKey::new(
        "queue",
        PlanValue::Whole(1, 10_000_000),
        "1000",
        "messages that the client's own queue holds before it drops further ones",
    ),
    PlanKey::new(
        "clients",
        PlanValue::Whole(1, 10_000),
        "10",
        "publishers, which share rate and count",
    ),
    PlanKey::new(
        "retain",
        PlanValue::Switch,
        "true",
        "whether the broker keeps the last message of each topic",
    ),
    PlanKey::new(
        "clean_start",
        PlanValue::Switch,
        "false",
        "whether to start without what the broker has of an earlier session",
    )
    .or("true"),
    PlanKey::new(
        "session_expiry",
        PlanValue::Form("whole seconds up to 365 days, or `\"never\"`"),
        "\"60 s\"",
        "MQTT 5: how long the broker keeps the session after the connection",
    )
    .or("0 s"),
];

impl TestKind for MqttRate {
    fn name(&self) -> &'static str {
        KIND
    }

    fn keys(&self) -> &'static [PlanKey] {
        &KEYS
    }

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "version" => self.version = value.word(&VERSIONS)?,
            "qos" => self.qos = value.int()? as u8,
            "size" => self.size = value.bytes()? as u32,
            "offered" => self.mode = offered(value.text()?)?,
            "in_flight" => self.in_flight = value.int()? as u16,
            "time" => self.time = value.duration()?,
            "count" => self.count = Some(value.int()? as u32),
            "queue" => self.queue = value.int()? as u32,
            "clients" => self.clients = value.int()? as u16,
            "retain" => self.retain = value.bool()?,
            "clean_start" => self.clean_start = value.bool()?,
            _ => self.session_expiry = Some(session_expiry(value)?),
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "version" => quoted(word_of(&VERSIONS, self.version)),
            "qos" => self.qos.to_string(),
            "size" => self.size.to_string(),
            "offered" => quoted(&match self.mode {
                MqttMode::Saturate => "saturate".to_string(),
                MqttMode::Listen => "listen".to_string(),
                MqttMode::Offered(rate) => format!("{rate} /s"),
                MqttMode::Search { low, high } => format!("search {low} /s to {high} /s"),
            }),
            "in_flight" => self.in_flight.to_string(),
            "time" => quoted(&print_duration(self.time)),
            "count" => self.count?.to_string(),
            "queue" => self.queue.to_string(),
            "clients" => self.clients.to_string(),
            "retain" => self.retain.to_string(),
            // What every earlier plan left out is left out here, too.
            "clean_start" if self.clean_start => return None,
            "clean_start" => "false".to_string(),
            _ => quoted(&match self.session_expiry? {
                u32::MAX => NEVER.to_string(),
                seconds => print_duration(Duration::from_secs(seconds.into())),
            }),
        })
    }

    fn check(&self) -> Result<(), String> {
        if self.mode == MqttMode::Listen && (self.clients > 1 || self.retain) {
            return Err("listening publishes nothing: leave out `clients` and `retain`".into());
        }
        if self.mode == MqttMode::Listen && self.count.is_some() {
            return Err("listening goes by time: leave out `count`, and set `time`".into());
        }
        if self.session_expiry.is_some() && self.version == MqttVersion::V311 {
            return Err("MQTT 3.1.1 has no session expiry: set the version to 5, or leave out \
                        `session_expiry`"
                .into());
        }
        Ok(())
    }

    fn expected(&self) -> Duration {
        match self.mode {
            MqttMode::Search { .. } => self.time.saturating_mul(SEARCH_STEPS),
            MqttMode::Saturate | MqttMode::Offered(_) | MqttMode::Listen => self.time,
        }
    }

    fn ends_by_plan(&self) -> bool {
        !searches(self.mode)
    }

    fn length(&self) -> Option<Setting> {
        Some(Setting::Time(self.time))
    }

    fn settings(&self) -> Settings {
        let mut settings: Settings =
            [Setting::MqttVersion(self.version), Setting::Qos(self.qos)].into_iter().collect();
        match self.mode {
            MqttMode::Saturate => settings.set(Setting::Saturated(true)),
            MqttMode::Offered(rate) => settings.set(Setting::Offered(rate)),
            MqttMode::Search { low, high } => {
                settings.extend([Setting::SearchLow(low), Setting::SearchHigh(high)]);
            }
            MqttMode::Listen => settings.set(Setting::Listening(true)),
        }
        // What a device publishes, and with what window, is its own affair.
        let ours = self.mode != MqttMode::Listen;
        settings.extend(ours.then_some(Setting::Size(self.size)));
        settings.extend((ours && self.qos > 0).then_some(Setting::InFlight(self.in_flight)));
        settings.extend((self.clients > 1).then_some(Setting::Clients(self.clients)));
        settings.extend(self.retain.then_some(Setting::Retained(true)));
        settings.extend((!self.clean_start).then_some(Setting::CleanStart(false)));
        settings.extend(self.session_expiry.map(Setting::SessionExpiry));
        settings
    }

    fn summarize(&self, recorded: &Recorded, context: &SummaryContext<'_>) -> Vec<Cell> {
        summary::summarize(self, recorded, context)
    }

    fn caveats(&self, recorded: &Recorded) -> Vec<String> {
        match self.mode {
            MqttMode::Listen => summary::HeardMessages::of(recorded).caveats(recorded),
            MqttMode::Search { .. } => summary::end_of_range(self, recorded).into_iter().collect(),
            MqttMode::Saturate | MqttMode::Offered(_) => Vec::new(),
        }
    }

    fn tries(&self, recorded: &Recorded) -> Option<usize> {
        summary::tries(self, recorded)
    }

    fn told_losses<'a>(&self, recorded: &'a Recorded) -> Option<Cow<'a, [Sample]>> {
        if self.mode != MqttMode::Listen {
            return Some(Cow::Borrowed(&recorded.samples));
        }
        let heard = summary::HeardMessages::of(recorded);
        let is_counted = |it: &&Sample| matches!(it, Sample::Probe(probe) if heard.counts(probe));
        let counted: Vec<Sample> = recorded.samples.iter().filter(is_counted).copied().collect();
        (!counted.is_empty()).then_some(Cow::Owned(counted))
    }

    fn times(&self, recorded: &Recorded) -> Vec<f64> {
        match self.mode {
            // When a device's own message was due is not known.
            MqttMode::Listen => Vec::new(),
            // A message is a probe too, due at its rate: from then to the subscriber.
            _ => series::responses_ms(recorded),
        }
    }

    fn is_late_after_lost(&self) -> bool {
        true
    }

    fn latencies(&self, recorded: &Recorded) -> Option<Observations> {
        // A sender without a pace fills the queue before it: its latency says nothing of the link.
        let is_paced = matches!(self.mode, MqttMode::Offered(_) | MqttMode::Listen);
        let values = self.times(recorded);
        is_paced.then_some(Observations { quantity: "latency", unit: "ms", values })
    }

    fn pace(&self, recorded: &Recorded) -> Option<SenderPace> {
        let MqttMode::Offered(rate) = self.mode else { return None };
        let SentRate { per_second, links } = series::sent_rate(recorded)?;
        let asked = if self.shares_rate() { rate } else { rate * f64::from(links) };
        Some(SenderPace { asked, kept: per_second, unit: "messages/s" })
    }

    fn is_periodic(&self) -> Option<bool> {
        Some(matches!(self.mode, MqttMode::Offered(_)))
    }

    fn chapters(&self, _documented: bool) -> Vec<(&'static str, &'static str)> {
        alloc::vec![(KIND, "MQTT message rate")]
    }

    fn offering(&self, due: u64) -> Option<f64> {
        let MqttMode::Offered(rate) = self.mode else { return None };
        Some(due as f64 / rate)
    }

    fn shares_rate(&self) -> bool {
        self.clients > 1
    }

    fn is_heard(&self) -> bool {
        matches!(self.mode, MqttMode::Listen)
    }

    fn live(&self) -> LiveFigures {
        let times = LiveTimes { base: "latency", statistics: QUANTILES, of: response };
        match self.mode {
            MqttMode::Search { .. } => LiveFigures::default(),
            // What was due, and when, only the device knows.
            MqttMode::Listen => LiveFigures { rate: LiveRate::Heard, ..LiveFigures::default() },
            MqttMode::Offered(_) | MqttMode::Saturate => {
                LiveFigures { times: Some(times), rate: LiveRate::Delivered, tells_loss: true }
            }
        }
    }

    fn headlines(&self) -> &'static [Headline] {
        HEADLINES
    }

    fn tells_shared(&self) -> bool {
        true
    }

    fn tables(&self, material: &Material<'_>) -> Vec<Table> {
        table::tables(material)
    }

    fn figures(&self, material: &Material<'_>) -> Vec<Figure> {
        figure::figures(material)
    }

    fn documents(&self) -> &'static [Document] {
        &[DOCUMENT]
    }

    fn is_procedure(&self, ours: &Settings, published: &Settings) -> bool {
        published.get(SettingKey::Offered).is_none_or(|offered| ours.has(offered))
    }

    /// Returns a range for the highest rate without loss, 12: it comes from 80 ms between messages, which
    /// is 12.5 a second, and the document has 70 to 80 ms.
    fn printed(&self, id: &Identity, value: f64) -> (f64, f64) {
        if id.metric == "message_rate_reliable" {
            return (value, 1000.0 / 70.0);
        }
        around(value, 0.5)
    }
}

const fn searches(mode: MqttMode) -> bool {
    matches!(mode, MqttMode::Search { .. })
}

/// The word for a session that the broker keeps for ever.
const NEVER: &str = "never";

/// Reads whole seconds, as they are on the wire (5: 3.1.2.11.2), or [`NEVER`].
fn session_expiry(value: &Scalar) -> Result<u32, String> {
    if value.text() == Ok(NEVER) {
        return Ok(u32::MAX);
    }
    let time = value.duration_in(Duration::ZERO..=365 * DAY)?;
    match (time.subsec_nanos(), u32::try_from(time.as_secs())) {
        (0, Ok(seconds)) => Ok(seconds),
        _ => Err("a session expires after whole seconds".into()),
    }
}

const VERSIONS: [(&str, MqttVersion); 2] = [("3.1.1", MqttVersion::V311), ("5", MqttVersion::V5)];

/// Reads `saturate`, `listen`, `200 /s` or `search 10 /s to 5000 /s`.
fn offered(text: &str) -> Result<MqttMode, String> {
    if text == "saturate" {
        return Ok(MqttMode::Saturate);
    }
    if text == "listen" {
        return Ok(MqttMode::Listen);
    }
    let rate = |text: &str| {
        let rate = units::parse(text, Dimension::Rate)?;
        if (OFFERED.0..=OFFERED.1).contains(&rate) {
            Ok(rate)
        } else {
            Err(format!("`{text}` is out of range: use 0.001 /s to 100000000 /s"))
        }
    };
    let Some(range) = text.strip_prefix("search ") else {
        return rate(text).map(MqttMode::Offered).map_err(|e| {
            format!("{e}; or \"saturate\", \"listen\" or \"search 10 /s to 5000 /s\"")
        });
    };
    let (low, high) = range
        .split_once(" to ")
        .ok_or_else(|| "write a search as \"search 10 /s to 5000 /s\"".to_string())?;
    let (low, high) = (rate(low)?, rate(high)?);
    if low >= high {
        return Err(format!("the search's low end {low} /s is not below its high end {high} /s"));
    }
    Ok(MqttMode::Search { low, high })
}

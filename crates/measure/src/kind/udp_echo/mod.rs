//! UDP round trips.

mod limit;
mod summary;
mod table;

use crate::cell::{Cell, Identity};
use crate::figure::{Figure, round_trips};
use crate::kind::headline::Headline;
use crate::kind::{Observations, SenderPace, SettingWords, TestKind, around};
use crate::limit::TheoreticalLimit;
use crate::limit::wifi::DataFrames;
use crate::live::figures::{LiveFigures, LiveTimes, QUANTILES, round_trip};
use crate::plan::{
    DAY, Goal, MILLISECOND, PlanKey, PlanValue, Scalar, UDP_MAX, quoted, word_of, words,
};
use crate::report::digest::Material;
use crate::run::Recorded;
use crate::series::{self, SentRate};
use crate::settings::{Setting, SettingKey, Settings};
use crate::summary::SummaryContext;
use crate::table::Table;
use crate::units::print_duration;
use crate::wifi::{Document, ModeColumn};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::workload::{EchoFormat, UdpEcho};
use espbench_proto::wire::echo::HEADER_LEN;

pub(super) const KIND: &str = "udp-echo";

/// A hundred bytes a thousand times, one after the other, as the published benchmark sends them.
pub(super) const DEFAULT: UdpEcho = UdpEcho {
    size: 100,
    count: 1000,
    discard: 1,
    format: EchoFormat::Ascii,
    in_flight: 1,
    interval: None,
    timeout: Duration::from_secs(1),
};

/// The 23 sizes in bytes of the published UDP echo benchmark (smellbomb-udp, table 1).
pub const ECHO_SIZES: [u32; 23] = [
    1, 2, 3, 4, 5, 10, 20, 30, 40, 50, 100, 150, 200, 250, 300, 350, 400, 450, 500, 600, 700, 800,
    900,
];

/// The groups of sizes of the document's figures 1 to 4; neighbours share a size, as there.
const GROUPS: [(u32, u32); 4] = [(1, 10), (10, 100), (100, 500), (500, 900)];

/// Sizes of the sweep that stand for all: where the published figures change their course.
const SIZES: [u32; 3] = [1, 100, 900];

/// Round trip assumed where nothing is known: that of the published ESP32 benchmark.
const ROUND_TRIP: Duration = Duration::from_millis(7);

const FORMATS: [(&str, EchoFormat); 2] =
    [("ascii", EchoFormat::Ascii), ("binary", EchoFormat::Binary)];

const DOCUMENT: Document = Document {
    table: "udp-echo",
    source: "smellbomb-udp",
    kind: KIND,
    payload: true,
    devices: true,
    open: "open",
    mode: ModeColumn::Station("station-echo"),
    firmware: false,
    ordered: false,
};

/// The metrics that lead, the most telling first.
const HEADLINES: &[Headline] = &[
    Headline::new(Goal::Latency, "rtt_avg", "round trip", "mean"),
    Headline::new(Goal::Latency, "rtt_p50", "round trip", "p50"),
    Headline::new(Goal::Latency, "rtt_p99", "round trip", "p99"),
    Headline::new(Goal::Latency, "rtt_p90", "round trip", "p90"),
    Headline::new(Goal::Latency, "rtt_max", "round trip", "max"),
    Headline::new(Goal::Loss, "loss", "lost", ""),
];

/// Keys of a plan.
const KEYS: [PlanKey; 7] = [
    PlanKey::new(
        "size",
        PlanValue::Bytes(1, UDP_MAX),
        "200",
        "bytes of a datagram; ASCII probes have a line feed more",
    ),
    PlanKey::new("count", PlanValue::Whole(1, 100_000_000), "1000", "probes that count"),
    PlanKey::new(
        "discard",
        PlanValue::Whole(0, 1_000_000),
        "1",
        "probes sent first and not counted: the first one may wait for ARP",
    ),
    PlanKey::new(
        "format",
        PlanValue::Word(&words(&FORMATS)),
        "\"binary\"",
        "ASCII digits and a line feed, as the published client sends them, each probe one digit further, or a header with sequence number and time",
    ),
    PlanKey::new(
        "in_flight",
        PlanValue::Whole(1, 1024),
        "4",
        "most probes without a reply; more than one needs `format = \"binary\"`",
    ),
    PlanKey::new(
        "interval",
        PlanValue::Time(Duration::from_micros(1), DAY),
        "\"10 ms\"",
        "time from one probe to the next",
    )
    .or("as soon as answered"),
    PlanKey::new(
        "timeout",
        PlanValue::Time(MILLISECOND, Duration::from_secs(3600)),
        "\"1 s\"",
        "time after which a probe is lost, or late if it still comes",
    ),
];

impl TestKind for UdpEcho {
    fn name(&self) -> &'static str {
        KIND
    }

    /// Names the transport, since an echo may go over ESP-NOW as well.
    fn name_over(&self, transport: Option<&str>) -> String {
        transport.map_or_else(|| KIND.into(), |transport| format!("echo over {transport}"))
    }

    fn keys(&self) -> &'static [PlanKey] {
        &KEYS
    }

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "size" => self.size = value.bytes()? as u32,
            "count" => self.count = value.int()? as u32,
            "discard" => self.discard = value.int()? as u32,
            "format" => self.format = value.word(&FORMATS)?,
            "in_flight" => self.in_flight = value.int()? as u16,
            "interval" => {
                self.interval = Some(value.duration()?);
            }
            _ => self.timeout = value.duration()?,
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "size" => self.size.to_string(),
            "count" => self.count.to_string(),
            "discard" => self.discard.to_string(),
            "format" => quoted(word_of(&FORMATS, self.format)),
            "in_flight" => self.in_flight.to_string(),
            "interval" => quoted(&print_duration(self.interval?)),
            _ => quoted(&print_duration(self.timeout)),
        })
    }

    fn check(&self) -> Result<(), String> {
        match self.format {
            EchoFormat::Ascii if self.in_flight > 1 => Err("ASCII probes carry no sequence \
                number, so only one can be in flight: set format = \"binary\" or in_flight = 1"
                .into()),
            EchoFormat::Ascii if u64::from(self.size) >= UDP_MAX => Err(format!(
                "with its line feed the datagram is too long: size up to {}",
                UDP_MAX - 1
            )),
            EchoFormat::Binary if (self.size as usize) < HEADER_LEN => Err(format!(
                "a binary probe has a header of {HEADER_LEN} bytes: set size to {HEADER_LEN} or \
                 more, or format = \"ascii\""
            )),
            _ => Ok(()),
        }
    }

    fn expected(&self) -> Duration {
        let each = self.interval.unwrap_or(ROUND_TRIP / u32::from(self.in_flight.max(1)));
        each.saturating_mul(self.count.saturating_add(self.discard))
    }

    fn ends_by_plan(&self) -> bool {
        // The next probe goes when the last is answered, unless an interval says when.
        self.interval.is_some()
    }

    fn probes(&self) -> Option<u64> {
        Some(self.count.into())
    }

    fn length(&self) -> Option<Setting> {
        Some(Setting::Packets(self.count))
    }

    fn settings(&self) -> Settings {
        let mut settings: Settings = [Setting::Size(self.size)].into_iter().collect();
        let one_by_one = self.in_flight <= 1;
        if self.format == EchoFormat::Ascii && one_by_one && self.interval.is_none() {
            return settings;
        }
        settings.set(Setting::Format(self.format));
        if self.format == EchoFormat::Binary || !one_by_one {
            settings.set(Setting::InFlight(self.in_flight));
        }
        settings.extend(self.interval.map(Setting::Interval));
        settings
    }

    fn word(&self, setting: &Setting) -> Option<SettingWords> {
        match setting {
            Setting::InFlight(..=1) => Some(SettingWords::Unsaid),
            Setting::Interval(interval) => {
                Some(SettingWords::Said(format!("every {}", print_duration(*interval))))
            }
            _ => None,
        }
    }

    fn summarize(&self, recorded: &Recorded, context: &SummaryContext<'_>) -> Vec<Cell> {
        summary::summarize(self, recorded, context)
    }

    fn times(&self, recorded: &Recorded) -> Vec<f64> {
        series::round_trips_ms(recorded)
    }

    fn is_echo(&self) -> bool {
        true
    }

    fn latencies(&self, recorded: &Recorded) -> Option<Observations> {
        let values = series::round_trips_ms(recorded);
        Some(Observations { quantity: "round trip", unit: "ms", values })
    }

    fn pace(&self, recorded: &Recorded) -> Option<SenderPace> {
        let interval = self.interval?.as_secs_f64();
        let SentRate { per_second, links } = series::sent_rate(recorded)?;
        Some(SenderPace { asked: f64::from(links) / interval, kept: per_second, unit: "probes/s" })
    }

    fn is_periodic(&self) -> Option<bool> {
        Some(self.interval.is_some())
    }

    fn limits(&self, recorded: &Recorded) -> Vec<TheoreticalLimit> {
        let frames = DataFrames::from_facts(&recorded.facts);
        frames.map_or_else(Vec::new, |it| limit::limits(self, it))
    }

    fn chapters(&self, _documented: bool) -> Vec<(&'static str, &'static str)> {
        alloc::vec![(KIND, "UDP echo")]
    }

    fn live(&self) -> LiveFigures {
        let times = LiveTimes { base: "rtt", statistics: QUANTILES, of: round_trip };
        LiveFigures { times: Some(times), tells_loss: true, ..LiveFigures::default() }
    }

    fn headlines(&self) -> &'static [Headline] {
        HEADLINES
    }

    /// Lets the first, the last and the well-known sizes of a sweep stand for all.
    fn leads(&self, settings: &Settings, is_end: bool) -> bool {
        if !settings.without(&[SettingKey::Size]).is_empty() {
            return self.size == SIZES[1];
        }
        is_end || SIZES.contains(&self.size)
    }

    fn tables(&self, material: &Material<'_>) -> Vec<Table> {
        table::tables(material)
    }

    fn figures(&self, material: &Material<'_>) -> Vec<Figure> {
        round_trips::figures(KIND, Some(&GROUPS), material)
    }

    fn documents(&self) -> &'static [Document] {
        &[DOCUMENT]
    }

    fn is_procedure(&self, ours: &Settings, _published: &Settings) -> bool {
        ours.is_empty()
    }

    fn is_plain(&self) -> bool {
        true
    }

    fn printed(&self, id: &Identity, value: f64) -> (f64, f64) {
        around(value, if id.metric == "effective_rate" { 0.5 } else { 0.0005 })
    }
}

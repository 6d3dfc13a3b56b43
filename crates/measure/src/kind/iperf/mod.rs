//! Tests of iperf 2, and echo probes beside them.
//!
//! | module | contents |
//! |---|---|
//! | `document` | Espressif's tables of throughput |
//! | `figure` | throughput over time, one figure for each test case |
//! | [`latency`] | echo probes around an iperf test: their keys, and what is made of them |
//! | [`lines`] | the lines that iperf 2 users know, one for each interval and total as it comes |
//! | `keys` | the keys of a block, with ranges and examples |
//! | `sent` | datagrams of senders that count what they sent, and what was refused |
//! | `plan` | the keys that only some tests need: marks on packets, settings of TCP, one-way times |
//! | `summary` | result cells of the `iperf` workload |
//! | `table` | test cases as the published tables name them, the published figures, the intervals |
//! | `limit` | the theoretical limits of a cell's figures |

mod document;
mod figure;
mod keys;
pub mod latency;
mod limit;
pub mod lines;
mod plan;
pub use plan::congestion;
pub(crate) use sent::SentDatagrams;
mod sent;
mod summary;
mod table;

use crate::cell::{Cell, Identity};
use crate::figure::Figure;
use crate::kind::headline::Headline;
use crate::kind::{Observations, SenderPace, TestKind};
use crate::label;
use crate::limit::TheoreticalLimit;
use crate::limit::wifi::{DataFrames, channels};
use crate::live::figures::{LiveFigures, LiveRate, LiveTimes, QUANTILES, SeenRate, round_trip};
use crate::plan::{Goal, PlanKey, Scalar, UDP_MAX, quoted, word_of};
use crate::report::digest::{Material, RateCurve};
use crate::run::Recorded;
use crate::series::{self, IntervalPlace};
use crate::settings::{Setting, Settings};
use crate::summary::SummaryContext;
use crate::table::Table;
use crate::units::{Dimension, print_duration};
use crate::wifi::Document;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::{Interval, Observer};
use espbench_model::time::Instant;
use espbench_model::workload::{Direction, Iperf, Transport};
use espbench_proto::wire::iperf2;

const KIND: &str = "iperf";

pub(super) const DEFAULT: Iperf = Iperf::DEFAULT;

const TRANSPORTS: [(&str, Transport); 2] = [("tcp", Transport::Tcp), ("udp", Transport::Udp)];
const DIRECTIONS: [(&str, Direction); 5] = [
    ("forward", Direction::Forward),
    ("reverse", Direction::Reverse),
    ("full-duplex", Direction::FullDuplex),
    ("tradeoff", Direction::Tradeoff),
    ("dual", Direction::Dual),
];

/// Names the test case as the published tables do: transport and direction as the device sees it, so
/// that what this host sends is the device's RX.
fn test_case(w: &Iperf) -> String {
    label::test_case(w.transport, w.direction, w.bounceback.is_some())
}

/// The metrics that lead, the most telling first.
const HEADLINES: &[Headline] = &[
    Headline::new(Goal::Throughput, "throughput_rx", "device receives", ""),
    Headline::new(Goal::Throughput, "throughput_tx", "device delivers", ""),
    // Of `--bounceback`.
    Headline::new(Goal::Latency, "rtt_avg", "round trip", "mean"),
    Headline::new(Goal::Latency, "rtt_p50", "round trip", "p50"),
    Headline::new(Goal::Latency, "rtt_p99", "round trip", "p99"),
    Headline::new(Goal::Loss, "loss", "lost", ""),
    // Of both directions at once.
    Headline::new(Goal::Loss, "loss_rx", "lost to the device", ""),
    Headline::new(Goal::Loss, "loss_tx", "lost from the device", ""),
    Headline::new(Goal::Loss, "loss_of_offered", "lost of offer", ""),
    Headline::new(Goal::Loss, "packets_refused", "refused: no memory", ""),
    Headline::new(Goal::Throughput, "fairness", "fairness", "Jain"),
    Headline::new(Goal::Latency, "rtt_idle_p50", "idle round trip", "p50"),
    Headline::new(Goal::Latency, "rtt_loaded_p50", "loaded round trip", "p50"),
];

/// Where nothing tells what the device received.
const SENT_ONLY: &[Headline] =
    &[Headline::new(Goal::Throughput, "throughput_sent", "this host sends", "")];

impl TestKind for Iperf {
    fn name(&self) -> &'static str {
        KIND
    }

    fn keys(&self) -> &'static [PlanKey] {
        &keys::KEYS
    }

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "transport" => self.transport = value.word(&TRANSPORTS)?,
            "direction" => self.direction = value.word(&DIRECTIONS)?,
            "time" => self.time = value.duration()?,
            "bytes" => self.bytes = Some(value.bytes()?),
            "interval" => self.interval = value.duration()?,
            "length" => self.length = value.bytes()? as u32,
            "bandwidth" => {
                let rate = value.quantity(Dimension::BitRate, "\"40 Mbit/s\"")?;
                if !(1.0..=1e13).contains(&rate) {
                    return Err("out of range: use 1 bit/s to 10000 Gbit/s".into());
                }
                self.bandwidth = Some(rate as u64);
            }
            "parallel" => self.parallel = value.int()? as u16,
            "window" => self.window = Some(value.bytes()? as u32),
            "no_delay" => self.no_delay = value.bool()?,
            "latency" | "latency_idle" | "latency_interval" => {
                latency::set(&mut self.latency, key, value)?;
            }
            _ => return plan::set(self, key, value),
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "transport" => quoted(word_of(&TRANSPORTS, self.transport)),
            "direction" => quoted(word_of(&DIRECTIONS, self.direction)),
            "time" => quoted(&print_duration(self.time)),
            "bytes" => self.bytes?.to_string(),
            "interval" => quoted(&print_duration(self.interval)),
            "length" => self.length.to_string(),
            "bandwidth" => quoted(&format!("{} bit/s", self.bandwidth?)),
            "parallel" => self.parallel.to_string(),
            "window" => self.window?.to_string(),
            "no_delay" => self.no_delay.to_string(),
            "latency" | "latency_idle" | "latency_interval" => latency::get(self.latency?, key),
            _ => return plan::get(self, key),
        })
    }

    fn complete(&mut self, named: &[&str]) {
        if named.contains(&"length") {
            return;
        }
        if self.transport == Transport::Udp {
            self.length = iperf2::UDP_LENGTH;
        } else if self.bounceback.is_some() {
            self.length = iperf2::BOUNCE_LENGTH;
        }
    }

    fn check(&self) -> Result<(), String> {
        // A datagram must hold iperf 2's header: 64-bit number, seconds and microseconds.
        if self.transport == Transport::Udp && !(16..=UDP_MAX).contains(&u64::from(self.length)) {
            return Err(format!("a UDP `length` is 16 to {UDP_MAX} bytes"));
        }
        plan::check(self)
    }

    fn expected(&self) -> Duration {
        let one = match (self.bytes, self.bandwidth) {
            (Some(bytes), Some(rate)) => Duration::from_secs(bytes.saturating_mul(8) / rate.max(1)),
            (Some(_), None) => Duration::from_secs(1),
            (None, _) => self.time,
        };
        let both = self.direction == Direction::Tradeoff;
        let load = if both { one.saturating_mul(2) } else { one };
        load + self.latency.map_or(Duration::ZERO, |probes| probes.idle)
    }

    fn made_of(&self) -> Option<String> {
        let idle = self.latency.map(|it| format!("{} idle", print_duration(it.idle)));
        let one = print_duration(self.time);
        let load = match self.direction {
            Direction::Tradeoff => format!("{one} each way"),
            _ => one,
        };
        let is_plain = idle.is_none() && self.direction != Direction::Tradeoff;
        (!is_plain).then(|| idle.into_iter().chain([load]).collect::<Vec<_>>().join(" and "))
    }

    fn ends_by_plan(&self) -> bool {
        self.bytes.is_none()
    }

    fn length(&self) -> Option<Setting> {
        self.bytes.is_none().then_some(Setting::Time(self.time))
    }

    fn settings(&self) -> Settings {
        let mut settings: Settings = [
            Setting::Transport(self.transport),
            Setting::Direction(self.direction),
            Setting::Bounceback(self.bounceback.is_some()),
            Setting::Size(self.length),
        ]
        .into_iter()
        .collect();
        settings.extend(self.bandwidth.map(Setting::OfferedBits));
        settings.extend((self.parallel > 1).then_some(Setting::Streams(self.parallel)));
        settings.extend(self.window.map(Setting::Window));
        settings.extend(self.no_delay.then_some(Setting::Nagle(false)));
        settings.extend((self.tos != 0).then_some(Setting::Tos(self.tos)));
        settings.extend(self.mss.map(Setting::Mss));
        settings.extend(self.congestion.map(Setting::Congestion));
        settings.extend(self.trip_times.then_some(Setting::TripTimes(true)));
        settings.extend(self.latency.map(|probes| Setting::Echoes(probes.by)));
        let Some(bounceback) = self.bounceback else { return settings };
        settings.set(Setting::RequestPeriod(bounceback.period));
        if !bounceback.period.is_zero() {
            settings.set(Setting::RequestBurst(bounceback.burst));
        }
        settings.extend((!bounceback.hold.is_zero()).then_some(Setting::Hold(bounceback.hold)));
        settings.extend((!bounceback.quick_ack).then_some(Setting::QuickAck(false)));
        settings
    }

    fn on_air(&self) -> Option<String> {
        Some(test_case(self))
    }

    fn summarize(&self, recorded: &Recorded, context: &SummaryContext<'_>) -> Vec<Cell> {
        let mut cells = summary::summarize(self, recorded, context);
        let place = summary::place(self);
        cells.extend(latency::summary::summarize(&place, &recorded.samples, context));
        cells
    }

    fn without_network(&self, cells: &[Cell], facts: &BTreeMap<String, String>) -> Option<Cell> {
        DataFrames::from_facts(facts)?;
        document::raw(self, cells, limit::raw())
    }

    fn rates(&self, recorded: &Recorded) -> Vec<RateCurve> {
        series::megabits(recorded)
    }

    fn course(&self, recorded: &Recorded) -> Option<Observations> {
        // One direction after the other, or each end's: their order is not that of time.
        if self.direction == Direction::Tradeoff {
            return None;
        }
        let values = series::seen(&series::megabits(recorded));
        Some(Observations { quantity: "throughput", unit: "Mbit/s", values })
    }

    fn caveats(&self, recorded: &Recorded) -> Vec<String> {
        summary::part_of_time(self, recorded).into_iter().collect()
    }

    fn pace(&self, recorded: &Recorded) -> Option<SenderPace> {
        // Over TCP a rate is no more than a limit: what was sent is the result.
        let each = self.bandwidth.filter(|_| self.transport == Transport::Udp)? as f64 / 1e6;
        let (streams, kept) = summary::sent_by_all(self, recorded)?;
        Some(SenderPace { asked: each * streams as f64, kept, unit: "Mbit/s" })
    }

    fn sent(&self, recorded: &Recorded) -> Option<SentDatagrams> {
        SentDatagrams::of_recorded(self, recorded)
    }

    fn limits(&self, recorded: &Recorded) -> Vec<TheoreticalLimit> {
        let facts = &recorded.facts;
        let frames = DataFrames::from_facts(facts);
        frames.map_or_else(Vec::new, |it| limit::limits(self, it, channels(facts)))
    }

    fn chapters(&self, _documented: bool) -> Vec<(&'static str, &'static str)> {
        alloc::vec![(KIND, "iperf")]
    }

    fn placed(&self, begin: Instant, part: &Interval) -> (usize, IntervalPlace) {
        (usize::from(self.parallel), summary::place_of(self, begin, part))
    }

    fn slots(&self, sending: Duration) -> (usize, Duration) {
        (summary::slots(self, sending), self.interval)
    }

    fn seen(&self, own_count: bool, told: &dyn Fn(Observer) -> bool) -> Vec<SeenRate> {
        summary::seen(self, own_count, told)
    }

    fn live(&self) -> LiveFigures {
        if self.bounceback.is_none() {
            return LiveFigures { rate: LiveRate::Streams, ..LiveFigures::default() };
        }
        let times = LiveTimes { base: "rtt", statistics: QUANTILES, of: round_trip };
        LiveFigures { times: Some(times), tells_loss: true, ..LiveFigures::default() }
    }

    fn usual_line(&self, recorded: &Recorded) -> Option<String> {
        summary::usual_line(self, recorded)
    }

    fn headlines(&self) -> &'static [Headline] {
        HEADLINES
    }

    fn headlines_without(&self) -> &'static [Headline] {
        SENT_ONLY
    }

    fn tables(&self, material: &Material<'_>) -> Vec<Table> {
        table::tables(material)
    }

    fn figures(&self, material: &Material<'_>) -> Vec<Figure> {
        let mut figures = figure::figures(material);
        figures.extend(latency::figure::figures(material));
        figures
    }

    fn documents(&self) -> &'static [Document] {
        &document::DOCUMENTS
    }

    fn is_procedure(&self, ours: &Settings, _published: &Settings) -> bool {
        let asked = |it: &Setting| {
            matches!(it, Setting::Direction(Direction::Reverse) | Setting::OfferedBits(_))
        };
        ours.iter().all(asked)
    }

    fn printed(&self, id: &Identity, value: f64) -> (f64, f64) {
        document::printed(id, value)
    }

    fn published_words(&self, id: &Identity) -> Vec<String> {
        document::words(id)
    }
}

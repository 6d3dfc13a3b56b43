//! ICMP round trips.

mod summary;
mod table;

use crate::cell::Cell;
use crate::figure::{Figure, round_trips};
use crate::kind::headline::Headline;
use crate::kind::{Observations, SenderPace, TestKind};
use crate::live::figures::{LiveFigures, LiveTimes, QUANTILES, round_trip};
use crate::plan::{DAY, Goal, MILLISECOND, PlanKey, PlanValue, Scalar, quoted};
use crate::report::digest::Material;
use crate::run::Recorded;
use crate::series;
use crate::settings::{Setting, Settings};
use crate::summary::SummaryContext;
use crate::table::Table;
use crate::units::print_duration;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::workload::Ping;
use espbench_proto::wire::icmp::MAX_DATA;

pub(super) const KIND: &str = "ping";

/// The size is that of every ping. A device that sleeps until the beacon of every tenth 102.4 ms still
/// answers within the time-out.
pub(super) const DEFAULT: Ping = Ping {
    size: 56,
    count: 100,
    discard: 0,
    interval: Duration::from_millis(100),
    timeout: Duration::from_secs(2),
    tos: None,
    ttl: None,
};

/// The metrics that lead, the most telling first.
const HEADLINES: &[Headline] = &[
    Headline::new(Goal::Latency, "rtt_p50", "round trip", "p50"),
    Headline::new(Goal::Latency, "rtt_p99", "round trip", "p99"),
    Headline::new(Goal::Latency, "rtt_p90", "round trip", "p90"),
    Headline::new(Goal::Latency, "rtt_max", "round trip", "max"),
    Headline::new(Goal::Loss, "loss", "lost", ""),
];

/// Keys of a plan.
const KEYS: [PlanKey; 7] = [
    PlanKey::new("size", PlanValue::Bytes(0, MAX_DATA as u64), "56", "bytes of data"),
    PlanKey::new("count", PlanValue::Whole(1, 100_000_000), "100", "requests that count"),
    PlanKey::new(
        "discard",
        PlanValue::Whole(0, 1_000_000),
        "1",
        "requests sent first and not counted",
    ),
    PlanKey::new(
        "interval",
        PlanValue::Time(MILLISECOND, DAY),
        "\"100 ms\"",
        "time from one request to the next",
    ),
    PlanKey::new(
        "timeout",
        PlanValue::Time(MILLISECOND, Duration::from_secs(3600)),
        "\"2 s\"",
        "time after which a request is lost, or late if its reply still comes",
    ),
    PlanKey::new("tos", PlanValue::Whole(0, 255), "184", "type of service, or traffic class")
        .or("the system's"),
    PlanKey::new("ttl", PlanValue::Whole(1, 255), "64", "time to live, or hop limit")
        .or("the system's"),
];

impl TestKind for Ping {
    fn name(&self) -> &'static str {
        KIND
    }

    fn keys(&self) -> &'static [PlanKey] {
        &KEYS
    }

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "size" => self.size = value.bytes()? as u32,
            "count" => self.count = value.int()? as u32,
            "discard" => self.discard = value.int()? as u32,
            "interval" => self.interval = value.duration()?,
            "timeout" => self.timeout = value.duration()?,
            "tos" => self.tos = Some(value.int()? as u8),
            _ => self.ttl = Some(value.int()? as u8),
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "size" => self.size.to_string(),
            "count" => self.count.to_string(),
            "discard" => self.discard.to_string(),
            "interval" => quoted(&print_duration(self.interval)),
            "timeout" => quoted(&print_duration(self.timeout)),
            "tos" => self.tos?.to_string(),
            _ => self.ttl?.to_string(),
        })
    }

    fn expected(&self) -> Duration {
        self.interval.saturating_mul(self.count.saturating_add(self.discard))
    }

    fn ends_by_plan(&self) -> bool {
        true
    }

    fn probes(&self) -> Option<u64> {
        Some(self.count.into())
    }

    fn length(&self) -> Option<Setting> {
        Some(Setting::Pings(self.count))
    }

    fn settings(&self) -> Settings {
        let mut settings: Settings =
            [Setting::Size(self.size), Setting::Interval(self.interval)].into_iter().collect();
        settings.extend(self.tos.map(Setting::Tos));
        settings.extend(self.ttl.map(Setting::Ttl));
        settings
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
        let kept = series::sent_rate(recorded)?.per_second;
        Some(SenderPace { asked: 1.0 / self.interval.as_secs_f64(), kept, unit: "probes/s" })
    }

    fn is_periodic(&self) -> Option<bool> {
        Some(true)
    }

    fn chapters(&self, _documented: bool) -> Vec<(&'static str, &'static str)> {
        alloc::vec![(KIND, "Ping")]
    }

    fn live(&self) -> LiveFigures {
        let times = LiveTimes { base: "rtt", statistics: QUANTILES, of: round_trip };
        LiveFigures { times: Some(times), tells_loss: true, ..LiveFigures::default() }
    }

    fn usual_line(&self, recorded: &Recorded) -> Option<String> {
        summary::usual_line(recorded)
    }

    fn headlines(&self) -> &'static [Headline] {
        HEADLINES
    }

    fn tables(&self, material: &Material<'_>) -> Vec<Table> {
        table::tables(material)
    }

    fn figures(&self, material: &Material<'_>) -> Vec<Figure> {
        round_trips::figures(KIND, None, material)
    }
}

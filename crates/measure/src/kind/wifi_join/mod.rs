//! Joining a network, over and over.

mod limit;
mod results;

use crate::cell::Cell;
use crate::figure::Figure;
use crate::kind::TestKind;
use crate::kind::headline::Headline;
use crate::limit::TheoreticalLimit;
use crate::limit::wifi::DataFrames;
use crate::live::figures::{LiveFigures, LiveTimes, QUANTILES, response};
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
use espbench_model::workload::WifiJoin;

const KIND: &str = "wifi-join";

/// A join every five seconds, each as after a start. ESP-IDF waits 10 s for the keys alone.
pub(super) const DEFAULT: WifiJoin = WifiJoin {
    count: 20,
    discard: 0,
    interval: Duration::from_secs(5),
    timeout: Duration::from_secs(20),
    cold: true,
};

/// The metrics that lead, the most telling first.
const HEADLINES: &[Headline] = &[
    Headline::new(Goal::Latency, "join_time_avg", "time to join", "mean"),
    Headline::new(Goal::Latency, "join_time_p99", "time to join", "p99"),
    Headline::new(Goal::Latency, "join_time_max", "time to join", "max"),
    Headline::new(Goal::Loss, "loss", "not joined", ""),
];

/// Keys of a plan.
const KEYS: [PlanKey; 5] = [
    PlanKey::new("count", PlanValue::Whole(1, 1_000_000), "20", "joins that count"),
    PlanKey::new(
        "discard",
        PlanValue::Whole(0, 1_000_000),
        "1",
        "joins made first and not counted",
    ),
    PlanKey::new(
        "interval",
        PlanValue::Time(MILLISECOND, DAY),
        "\"5 s\"",
        "time from one join to the next",
    ),
    PlanKey::new(
        "timeout",
        PlanValue::Time(MILLISECOND, Duration::from_secs(3600)),
        "\"20 s\"",
        "time after which a join has failed",
    ),
    PlanKey::new(
        "cold",
        PlanValue::Switch,
        "false",
        "whether each join is as after a start, or the key is known",
    ),
];

impl TestKind for WifiJoin {
    fn name(&self) -> &'static str {
        KIND
    }

    fn keys(&self) -> &'static [PlanKey] {
        &KEYS
    }

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "count" => self.count = value.int()? as u32,
            "discard" => self.discard = value.int()? as u32,
            "interval" => self.interval = value.duration()?,
            "timeout" => self.timeout = value.duration()?,
            _ => self.cold = value.bool()?,
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "count" => self.count.to_string(),
            "discard" => self.discard.to_string(),
            "interval" => quoted(&print_duration(self.interval)),
            "timeout" => quoted(&print_duration(self.timeout)),
            _ => self.cold.to_string(),
        })
    }

    fn expected(&self) -> Duration {
        self.interval.saturating_mul(self.count.saturating_add(self.discard))
    }

    fn probes(&self) -> Option<u64> {
        Some(self.count.into())
    }

    fn settings(&self) -> Settings {
        [Setting::KeyKnown(!self.cold)].into_iter().collect()
    }

    fn summarize(&self, recorded: &Recorded, context: &SummaryContext<'_>) -> Vec<Cell> {
        results::summarize(self, recorded, context)
    }

    fn times(&self, recorded: &Recorded) -> Vec<f64> {
        series::responses_ms(recorded)
    }

    fn is_lasting(&self) -> bool {
        // Nobody joins all the time.
        false
    }

    fn limits(&self, recorded: &Recorded) -> Vec<TheoreticalLimit> {
        let frames = DataFrames::from_facts(&recorded.facts);
        frames.map_or_else(Vec::new, limit::limits)
    }

    fn chapters(&self, _documented: bool) -> Vec<(&'static str, &'static str)> {
        alloc::vec![(KIND, "Joining a network")]
    }

    fn live(&self) -> LiveFigures {
        let times = LiveTimes { base: "join_time", statistics: QUANTILES, of: response };
        LiveFigures { times: Some(times), tells_loss: true, ..LiveFigures::default() }
    }

    fn headlines(&self) -> &'static [Headline] {
        HEADLINES
    }

    fn tables(&self, material: &Material<'_>) -> Vec<Table> {
        results::tables(material)
    }

    fn figures(&self, material: &Material<'_>) -> Vec<Figure> {
        results::figure(material).into_iter().collect()
    }
}

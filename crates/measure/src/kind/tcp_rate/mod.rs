//! Short messages over TCP, counted for a second at a time.
//!
//! | module | contents |
//! |---|---|
//! | `figure` | the message rate of each run, and the published runs |
//! | `rooms` | statistics over runs in two places, a closed room and in sight of the router |
//! | `summary` | result cells of the `tcp-rate` workload |
//! | `table` | tables 1 and 2 of the published benchmark, one column for each setting |
//! | `limit` | the theoretical limits of a cell's figures |

mod figure;
mod limit;
mod rooms;
mod summary;
mod table;

use crate::cell::{Cell, Identity};
use crate::figure::Figure;
use crate::kind::headline::Headline;
use crate::kind::{Observations, TestKind};
use crate::limit::TheoreticalLimit;
use crate::limit::wifi::{DataFrames, channels};
use crate::live::figures::{LiveFigures, LiveRate};
use crate::metric;
use crate::plan::{DAY, Goal, PlanKey, PlanValue, Scalar, quoted};
use crate::report::digest::{Material, RateCurve};
use crate::run::Recorded;
use crate::series;
use crate::settings::{Setting, Settings};
use crate::summary::SummaryContext;
use crate::table::Table;
use crate::truth::CellGroup;
use crate::units::print_duration;
use crate::wifi::{Document, ModeColumn};
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::text::count;
use espbench_model::workload::TcpRate;

const KIND: &str = "tcp-rate";

/// The published benchmark's messages; its first two runs were left out.
pub(super) const DEFAULT: TcpRate =
    TcpRate { size: 64, runs: 10, discard: 2, run_time: USUAL_RUN, no_delay: false };

/// Length of a run of the published benchmark of message rates.
const USUAL_RUN: Duration = Duration::from_secs(1);

const DOCUMENT: Document = Document {
    table: "tcp-rate",
    source: "smooth-mqtt-benchmark",
    kind: KIND,
    payload: false,
    devices: false,
    open: "off",
    mode: ModeColumn::Same,
    firmware: false,
    ordered: true,
};

/// The metrics that lead, the most telling first.
const HEADLINES: &[Headline] = &[
    Headline::new(Goal::Throughput, "message_rate_avg", "rate", "mean"),
    Headline::new(Goal::Throughput, "message_rate_station", "one station", "mean"),
    Headline::new(Goal::Throughput, "fairness", "fairness", "Jain"),
];

/// Keys of a plan.
const KEYS: [PlanKey; 5] = [
    PlanKey::new("size", PlanValue::Bytes(1, 1 << 20), "64", "bytes of a message"),
    PlanKey::new("runs", PlanValue::Whole(1, 10_000), "10", "runs that count"),
    PlanKey::new("discard", PlanValue::Whole(0, 1000), "2", "runs made first and not counted"),
    PlanKey::new(
        "run_time",
        PlanValue::Time(Duration::from_millis(10), DAY),
        "\"1 s\"",
        "length of a run",
    ),
    PlanKey::new("no_delay", PlanValue::Switch, "true", "whether Nagle's algorithm is off"),
];

impl TestKind for TcpRate {
    fn name(&self) -> &'static str {
        KIND
    }

    fn keys(&self) -> &'static [PlanKey] {
        &KEYS
    }

    fn set(&mut self, key: &str, value: &Scalar) -> Result<(), String> {
        match key {
            "size" => self.size = value.bytes()? as u32,
            "runs" => self.runs = value.int()? as u16,
            "discard" => self.discard = value.int()? as u16,
            "run_time" => self.run_time = value.duration()?,
            _ => self.no_delay = value.bool()?,
        }
        Ok(())
    }

    fn get(&self, key: &str) -> Option<String> {
        Some(match key {
            "size" => self.size.to_string(),
            "runs" => self.runs.to_string(),
            "discard" => self.discard.to_string(),
            "run_time" => quoted(&print_duration(self.run_time)),
            _ => self.no_delay.to_string(),
        })
    }

    fn expected(&self) -> Duration {
        self.run_time * (u32::from(self.runs) + u32::from(self.discard))
    }

    fn made_of(&self) -> Option<String> {
        let runs = count(usize::from(self.runs) + usize::from(self.discard), "run");
        Some(format!("{runs} of {}", print_duration(self.run_time)))
    }

    fn ends_by_plan(&self) -> bool {
        true
    }

    fn settings(&self) -> Settings {
        let mut settings: Settings =
            [Setting::Size(self.size), Setting::Nagle(!self.no_delay)].into_iter().collect();
        settings.extend((self.run_time != USUAL_RUN).then_some(Setting::RunTime(self.run_time)));
        settings
    }

    fn summarize(&self, recorded: &Recorded, context: &SummaryContext<'_>) -> Vec<Cell> {
        summary::summarize(self, recorded, context)
    }

    fn over_cells(&self, ours: &[Cell]) -> Vec<Cell> {
        rooms::over_rooms(ours)
    }

    fn rates(&self, recorded: &Recorded) -> Vec<RateCurve> {
        series::messages(recorded)
    }

    fn course(&self, recorded: &Recorded) -> Option<Observations> {
        let values = series::seen(&series::messages(recorded));
        Some(Observations { quantity: "rate", unit: "messages/s", values })
    }

    fn limits(&self, recorded: &Recorded) -> Vec<TheoreticalLimit> {
        let frames = DataFrames::from_facts(&recorded.facts);
        frames.map_or_else(Vec::new, |it| limit::limits(self, it, channels(&recorded.facts)))
    }

    fn chapters(&self, _documented: bool) -> Vec<(&'static str, &'static str)> {
        alloc::vec![(KIND, "TCP message rate")]
    }

    fn live(&self) -> LiveFigures {
        LiveFigures { rate: LiveRate::Runs, ..LiveFigures::default() }
    }

    fn headlines(&self) -> &'static [Headline] {
        HEADLINES
    }

    fn tables(&self, material: &Material<'_>) -> Vec<Table> {
        table::tables(material)
    }

    fn figures(&self, material: &Material<'_>) -> Vec<Figure> {
        figure::figures(material).into_iter().collect()
    }

    fn documents(&self) -> &'static [Document] {
        &[DOCUMENT]
    }

    fn is_procedure(&self, ours: &Settings, _published: &Settings) -> bool {
        ours.iter().all(|it| *it == Setting::Nagle(true))
    }

    fn group(&self, published: &Cell) -> CellGroup {
        // A run of several has an order, and is not the mean of them; what prints waits for its console: run
        // by run the same.
        let single = published.id.metric == "message_rate";
        if single && !published.settings.has(&Setting::Prints(true)) {
            return CellGroup::Spreads;
        }
        CellGroup::of(metric::parse(&published.id.metric).1)
    }

    fn published_words(&self, id: &Identity) -> Vec<String> {
        id.environment.clone().filter(|it| it != "unstated").into_iter().collect()
    }
}

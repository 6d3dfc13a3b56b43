//! Recorded cells to a report, beside the published figures and the least that each test can take.

use crate::published;
use alloc::vec::Vec;
use espbench_measure::report::{Builder, Floor, Overhead, Report};
use espbench_measure::run::{Recorded, RunFacts};
use espbench_measure::wifi::RAW;
use espbench_model::workload::{Wifi, Workload};
use espbench_sim::floor::{self, EspNowParams};

/// Makes the report of a run of any target, one recorded cell at a time: only one cell's samples
/// need to be in memory.
#[derive(Debug)]
pub struct ReportBuilder(Builder);

impl ReportBuilder {
    /// Creates a builder for the run of these facts.
    #[must_use]
    pub fn new(facts: &RunFacts) -> Self {
        Self(Builder::new(facts).floors(floors))
    }

    /// Adds a recorded cell; cells may come in any order. Its samples are not needed afterwards.
    pub fn add(&mut self, recorded: &Recorded) {
        self.0.add(recorded);
    }

    /// Returns the report, beside the published figures that come with the product. `planned` is the
    /// number of cells that the plan has.
    #[must_use]
    pub fn finish(self, overhead: Option<Overhead>, planned: usize) -> Report {
        self.0.finish(overhead, planned, &published::built_in())
    }
}

/// Returns the least that a test of the ESP-NOW report can take: ours with the settings that the
/// cell's facts name, the published with those of the report.
#[must_use]
pub fn floors(recorded: &Recorded) -> Vec<Floor> {
    let told = |name: &str| recorded.facts.get(name).map(|it| it.as_str());
    let work = match recorded.workload {
        Workload::EspNow(work) => work,
        Workload::Wifi(work) => return over_wifi(&work, floor::wifi::WifiParams::from_facts(told)),
        _ => return Vec::new(),
    };
    let means = EspNowParams::from_facts(told);
    let pairs = floor::of(&work, means).into_iter().zip(floor::of(&work, EspNowParams::REPORT));
    pairs.map(|((metric, ours), (_, published))| Floor { metric, ours, published }).collect()
}

/// Returns the least that a test over Wi-Fi can take. The documents do not describe their networks,
/// so the published cell has our floor.
fn over_wifi(work: &Wifi, means: Option<floor::wifi::WifiParams>) -> Vec<Floor> {
    let Some(means) = means else { return Vec::new() };
    let both = |(metric, floor): floor::PhyBound| Floor { metric, ours: floor, published: floor };
    let raw = Floor { metric: RAW, ours: floor::wifi::raw(), published: floor::wifi::raw() };
    floor::wifi::of(work, means).into_iter().map(both).chain([raw]).collect()
}

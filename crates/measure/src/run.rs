//! The immutable facts of a run and of its cells, with the samples that were recorded.

use crate::cell::Origin;
use crate::plan::placed;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::str::FromStr;
use espbench_model::fact::{self, TypedFact};
use espbench_model::sample::Sample;
use espbench_model::workload::Workload;
use serde::{Deserialize, Serialize};

/// Device and place: the identity columns that a workload cannot know.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Site {
    /// Device under test.
    pub chip: String,
    /// Mode of attachment (`station`, `softap`, `loopback`).
    pub mode: String,
    /// Distance in metres.
    pub distance_m: Option<f64>,
    /// Security of the link.
    pub security: Option<String>,
    /// The place.
    pub environment: Option<String>,
}

/// Measurements that a lab was fitted to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabFit {
    /// Name of the run.
    pub run: String,
    /// Plan of the run.
    pub plan_text: String,
    /// Constants that were fitted, each with its file.
    pub constants: Vec<String>,
    /// Figures: number of the test in that plan, from 1, and metric.
    pub cells: Vec<(u32, String)>,
}

/// Everything that was known when a run began. Never changed afterwards.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFacts {
    /// Name of the run, as the store and the command line know it.
    pub name: String,
    /// Version of espbench, and of the build.
    pub tool: String,
    /// Start in UTC, RFC 3339. For people; no duration is computed from it.
    pub started: String,
    /// The target as typed (`loopback`, `udp:192.0.2.7:10000`).
    pub target: String,
    /// Measured on something real, or simulated in the virtual lab: the target knows.
    #[serde(default)]
    pub origin: Origin,
    /// Seed of everything random in the run and in its statistics.
    pub seed: u64,
    /// The plan's name.
    pub plan_name: String,
    /// The plan, verbatim.
    pub plan_text: String,
    /// The device and the place.
    pub site: Site,
    /// Name of the measured run that this one was simulated to stand beside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beside: Option<String>,
    /// Runs that the lab of a simulated run was fitted to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fitted: Vec<LabFit>,
    /// SHA-256 of the lab's library, of a run in the virtual lab.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub library: Option<String>,
    /// Whether the lab is a file of the user's: no published figure is of that room.
    #[serde(default, skip_serializing_if = "is_false")]
    pub own_lab: bool,
    /// Host name is not among them: operating system, kernel, CPU, clock source, socket limits.
    pub host: BTreeMap<String, String>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

impl RunFacts {
    /// Describes the run in a sentence without its full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { origin, target, started, seed, plan_name, .. } = self;
        let origin = origin.name();
        // A prediction has no plan, and nothing is stored of it.
        if plan_name.is_empty() && target.starts_with("sim:") {
            return format!("{origin}: in {target}, seed {seed}");
        }
        if plan_name.is_empty() {
            return format!("{origin}: read from {target}, seed {seed}");
        }
        format!("{origin}: plan {plan_name} on {target}, started {started}, seed {seed}")
    }
}

/// One cell of the plan as it was carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Position in the plan, from 0.
    pub ordinal: u32,
    /// Repetition, from 0.
    pub repetition: u32,
    /// Work of the cell, as the plan asked for it.
    pub workload: Workload,
    /// Samples in the order in which they were recorded.
    pub samples: Vec<Sample>,
    /// Counters of the target: drops, stalls, overflows, by name.
    pub counters: BTreeMap<String, u64>,
    /// Findings that are not numbers (the peer's version, the segmentation that was used).
    pub facts: BTreeMap<String, String>,
    /// Reason why the cell could not be measured, or not to its end.
    pub error: Option<String>,
}

impl Recorded {
    /// Returns whether the user stopped the cell before its end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.facts.contains_key(fact::STOPPED)
    }

    /// Returns the work as it was carried out, where its plan leaves the devices or their distance to the lab, and
    /// the lab has told them.
    #[must_use]
    pub fn placed(&self) -> Workload {
        let devices = self.told(fact::LAB_DEVICES);
        let distance = self.told(fact::LAB_NEAREST_M).zip(self.told(fact::LAB_FARTHEST_M));
        placed(self.workload, devices, distance)
    }

    /// Returns the value of a fact; `None` where the target did not tell it.
    #[must_use]
    pub fn told<T: FromStr>(&self, fact: TypedFact<T>) -> Option<T> {
        told(&self.facts, fact)
    }
}

/// Returns the value of a fact among those of a cell.
pub(crate) fn told<T: FromStr>(facts: &BTreeMap<String, String>, fact: TypedFact<T>) -> Option<T> {
    fact.read(facts.get(fact.name())?)
}

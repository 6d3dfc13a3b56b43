//! Figures that a lab was fitted to: of them it knows the answer, and so reports mark them.

use super::Report;
use crate::cell::Origin;
use crate::plan::PlanSet;
use crate::run::{LabFit, RunFacts};
use crate::settings::{SettingKey, Settings};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::workload::Workload;

/// Settings of how long a test is.
const LENGTHS: [SettingKey; 5] = [
    SettingKey::Time,
    SettingKey::Packets,
    SettingKey::Pings,
    SettingKey::Encryptions,
    SettingKey::RunTime,
];

/// Figures of one test that a lab was fitted to.
#[derive(Debug)]
struct FittedTest {
    kind: &'static str,
    /// Settings that tell tests apart, whatever their length.
    settings: Settings,
    metrics: Vec<String>,
    run: String,
}

/// Figures that the lab of a run was fitted to, by their tests.
#[derive(Debug)]
pub(super) struct FittedFigures(Vec<FittedTest>);

impl FittedFigures {
    /// Returns those of a run; none of a plan that cannot be read.
    pub(super) fn of(facts: &RunFacts) -> Self {
        Self(facts.fitted.iter().flat_map(tests).collect())
    }

    /// Returns the run to whose measurement of that figure the lab was fitted.
    pub(super) fn run(&self, workload: &Workload, metric: &str) -> Option<&str> {
        if self.0.is_empty() {
            return None;
        }
        let (kind, settings) = (workload.kind(), settings(workload));
        let is_own = |it: &&FittedTest| {
            it.kind == kind && it.settings == settings && it.metrics.iter().any(|it| it == metric)
        };
        self.0.iter().find(is_own).map(|it| it.run.as_str())
    }
}

/// Returns what tells a test apart: a longer one of the same thing is the same, and so is one whose places the plan
/// leaves to the lab.
fn settings(workload: &Workload) -> Settings {
    let (all, open) = (Settings::of(workload).without(&LENGTHS), workload.lab().open);
    let all = if open.devices { all.without(&[SettingKey::Devices]) } else { all };
    if open.distance { all.without(&[SettingKey::Nearest, SettingKey::Farthest]) } else { all }
}

fn tests(fit: &LabFit) -> Vec<FittedTest> {
    let Ok(set) = PlanSet::parse(&fit.plan_text) else { return Vec::new() };
    let works = set.plans.iter().flat_map(|plan| &plan.workloads);
    let of = |(number, workload): (u32, &Workload)| {
        let own = fit.cells.iter().filter(|it| it.0 == number);
        let metrics = own.map(|it| it.1.clone()).collect();
        let (kind, settings) = (workload.kind(), settings(workload));
        FittedTest { kind, settings, metrics, run: fit.run.clone() }
    };
    (1..).zip(works).map(of).collect()
}

impl Report {
    /// Returns which figures the lab was fitted to, in a sentence; `None` where none is here.
    #[must_use]
    pub fn fitted(&self) -> Option<String> {
        let own = self.cells.iter().filter(|it| it.origin != Origin::Published);
        let (marked, all) = own.fold((0, 0), |(marked, all), it| {
            (marked + usize::from(it.test.fitted_run.is_some()), all + 1)
        });
        let runs: Vec<&str> = self.run.fitted.iter().map(|it| it.run.as_str()).collect();
        let constants: Vec<&str> =
            self.run.fitted.iter().flat_map(|it| &it.constants).map(String::as_str).collect();
        (marked > 0).then(|| {
            format!(
                "{marked} of {all} figures are those that the lab was fitted to ({}, of {}): they are no \
                 test of it",
                constants.join(", "),
                runs.join(", ")
            )
        })
    }
}

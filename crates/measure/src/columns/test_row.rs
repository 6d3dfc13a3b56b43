//! Columns that tell of which test a sample is: its run, its place in the run, and its settings.

use super::value::{ColumnType, ColumnValue};
use crate::plan::PlanSet;
use crate::run::RunFacts;
use crate::settings::{SettingKey, Settings};
use alloc::collections::BTreeSet;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::workload::Workload;

/// A column of the run or of the test's place in it, with the name that results have for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunColumn {
    /// Name of the run.
    Run,
    /// Name of the plan.
    Suite,
    /// Kind of test.
    Kind,
    /// Number of the test in the run, from 1.
    Cell,
    /// Number of the repetition, from 1.
    Repetition,
}

impl RunColumn {
    /// Every column, in order.
    pub const ALL: [Self; 5] = [Self::Run, Self::Suite, Self::Kind, Self::Cell, Self::Repetition];

    /// Returns the name in the head.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Suite => "suite",
            Self::Kind => "kind",
            Self::Cell => "cell",
            Self::Repetition => "repetition",
        }
    }

    /// Returns the type of the values.
    #[must_use]
    pub const fn field_type(self) -> ColumnType {
        match self {
            Self::Run | Self::Suite | Self::Kind => ColumnType::Text,
            Self::Cell | Self::Repetition => ColumnType::Count,
        }
    }
}

/// The part of a sample's row that all samples of a test share.
#[derive(Clone, Debug, PartialEq)]
pub struct TestRow {
    run: String,
    suite: Option<String>,
    kind: &'static str,
    cell: u32,
    repetition: u32,
    settings: Settings,
}

impl TestRow {
    /// Returns the tests of a run, given as position in the plan and repetition, both from 0, and work.
    #[must_use]
    pub fn all<'a>(
        run: &RunFacts,
        tests: impl Iterator<Item = (u32, u32, &'a Workload)>,
    ) -> Vec<Self> {
        let suites = suites(&run.plan_text);
        let row = |(ordinal, repetition, work): (u32, u32, &Workload)| Self {
            run: run.name.clone(),
            suite: suites.get(ordinal as usize).cloned(),
            kind: work.kind(),
            cell: ordinal + 1,
            repetition: repetition + 1,
            settings: Settings::of(work),
        };
        tests.map(row).collect()
    }

    /// Returns the settings that some of the tests have, in the order of their columns.
    #[must_use]
    pub fn settings(tests: &[Self]) -> Vec<SettingKey> {
        let keys: BTreeSet<SettingKey> =
            tests.iter().flat_map(|it| it.settings.iter().map(|it| it.key())).collect();
        keys.into_iter().collect()
    }

    /// Returns the values of the columns of the run, then of those of the settings.
    #[must_use]
    pub fn values(&self, settings: &[SettingKey]) -> Vec<Option<ColumnValue>> {
        let of_run = RunColumn::ALL.map(|column| match column {
            RunColumn::Run => Some(ColumnValue::Text(self.run.clone())),
            RunColumn::Suite => self.suite.clone().map(ColumnValue::Text),
            RunColumn::Kind => Some(ColumnValue::Text(self.kind.into())),
            RunColumn::Cell => Some(ColumnValue::Count(self.cell.into())),
            RunColumn::Repetition => Some(ColumnValue::Count(self.repetition.into())),
        });
        let of_test = settings.iter().map(|key| self.settings.get(*key).map(|it| it.value()));
        of_run.into_iter().chain(of_test).collect()
    }
}

/// Returns the name of the plan of each position; none for a text of a later version.
fn suites(plan_text: &str) -> Vec<String> {
    let Ok(set) = PlanSet::parse(plan_text) else { return Vec::new() };
    let names = |plan: &crate::plan::Plan| {
        core::iter::repeat_n(plan.name.clone(), plan.workloads.len()).collect::<Vec<String>>()
    };
    set.plans.iter().flat_map(names).collect()
}

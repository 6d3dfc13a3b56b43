//! Expected time of a cell: for progress only.

use crate::kind;
use crate::live::WorkTime;
use core::time::Duration;
use espbench_model::workload::Workload;

/// Opening and closing connections.
const SET_UP: Duration = Duration::from_millis(200);

/// Makes a rough guess at the time that a cell takes.
#[must_use]
pub fn expected(workload: &Workload) -> Duration {
    SET_UP + kind::of(workload).expected()
}

/// Returns how long a cell of a real target takes: told, where the plan says when it ends.
#[must_use]
pub fn span(workload: &Workload) -> WorkTime {
    let time = expected(workload);
    if kind::of(workload).ends_by_plan() { WorkTime::Told(time) } else { WorkTime::Guessed(time) }
}

/// Returns how many probes a cell sends and records, where the plan says that.
#[must_use]
pub fn probes(workload: &Workload) -> Option<u64> {
    kind::of(workload).probes()
}

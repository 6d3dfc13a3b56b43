//! Cells that the user stopped, and how far they had come.

use super::Report;
use crate::digits;
use crate::kind;
use crate::label;
use crate::live::FateCounts;
use crate::run::Recorded;
use alloc::format;
use alloc::string::{String, ToString as _};
use espbench_model::sample::Sample;
use espbench_model::text::count;
use espbench_model::time::Instant;
use serde::{Deserialize, Serialize};

/// A cell that the user stopped before its end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoppedCell {
    /// Name of the cell, in words.
    pub place: String,
    /// Amount that was done: probes whose fate is known, or seconds.
    pub done: f64,
    /// Amount that the plan asked for; none where it is not known before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<f64>,
    /// Unit of both: `probes` or `s`.
    pub unit: String,
}

impl StoppedCell {
    /// Tells how far a cell had come; `None` of one that was not stopped.
    pub(super) fn of(recorded: &Recorded) -> Option<Self> {
        if !recorded.is_stopped() {
            return None;
        }
        let kind = kind::of(&recorded.workload);
        let (done, of, unit) = match kind.probes() {
            Some(probes) => {
                (FateCounts::of(&recorded.samples).known() as f64, Some(probes as f64), "probes")
            }
            None => {
                let all = kind.ends_by_plan().then(|| kind.expected().as_secs_f64());
                (last(&recorded.samples).since(Instant::default()).as_secs_f64(), all, "s")
            }
        };
        Some(Self { place: label::of(recorded), done, of, unit: unit.into() })
    }

    /// Says how far it had come, such as `20 of 1000 probes`.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { done, of, unit, .. } = self;
        // Probes are whole; of seconds three digits are enough.
        let done =
            if libm::floor(*done) == *done { done.to_string() } else { digits::three(*done) };
        match of {
            Some(of) => format!("{done} of {of} {unit}"),
            None => format!("{done} {unit}"),
        }
    }
}

/// Returns when the last sample was taken, on the clock that started with the cell.
fn last(samples: &[Sample]) -> Instant {
    let at = |sample: &Sample| match sample {
        // That a connection opened measures nothing.
        Sample::Probe(probe) if probe.link.is_beside() => None,
        Sample::Probe(probe) => Some(probe.received.or(probe.sent).unwrap_or(probe.due)),
        Sample::Interval(interval) => Some(interval.end),
    };
    samples.iter().filter_map(at).max().unwrap_or_default()
}

impl Report {
    /// Says that the run was cut short, and how to complete it; `None` of a run that was not.
    #[must_use]
    pub fn cut_short(&self) -> Option<String> {
        if !self.incomplete {
            return None;
        }
        let resume = format!("espbench run --resume {}", self.run.name);
        let not_begun = self.missing.saturating_sub(self.stopped.len());
        let cells = |n| count(n, "cell");
        let Some(first) = self.stopped.first() else {
            let are = if not_begun == 1 { "is" } else { "are" };
            return Some(format!(
                "The run was cut short: {} of its plan {are} missing. Complete it with {resume}",
                cells(not_begun)
            ));
        };
        let place =
            if self.losses.len() > 1 { format!(" in {}", first.place) } else { String::new() };
        let none = if first.done > 0.0 { "" } else { ": nothing was measured" };
        let further = match not_begun {
            0 => String::new(),
            n => format!("; {} not begun", cells(n)),
        };
        Some(format!("Stopped after {}{place}{none}{further}. All of it: {resume}", first.words()))
    }
}

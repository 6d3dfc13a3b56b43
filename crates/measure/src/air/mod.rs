//! The medium's history as the virtual lab stored it with a cell: as data for a report.
//!
//! | module | what |
//! |---|---|
//! | [`timeline`] | who sent what in a stretch of time, from the fact [`FACT`] |
//! | `read` | a stored excerpt to a timeline |
//! | [`occupancy`] | what a channel's time went to, from the counters `air-ns-chCHANNEL-KIND` |

pub mod occupancy;
mod read;
#[cfg(test)]
mod tests;
pub mod timeline;

pub use espbench_model::excerpt::FACT;
pub use occupancy::ChannelOccupancy;
pub use timeline::Timeline;

use crate::kind;
use crate::report::Losses;
use crate::run::Recorded;
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::workload::Workload;

/// The chapter of a report.
pub const SECTION: &str = "air";

/// The air of all cells, for a report: shares of the channels' time, and one timeline for each
/// test: that of the cell that lost most, or else of the first.
#[derive(Clone, Debug, Default)]
pub(crate) struct AirChapter {
    occupancy: Vec<(u32, ChannelOccupancy)>,
    chosen: Vec<Chosen>,
}

#[derive(Clone, Debug)]
struct Chosen {
    test: String,
    /// Position in the plan, and repetition.
    cell: (u32, u32),
    share: f64,
    timeline: Timeline,
}

/// Returns the facts of a cell that are shown as they are: all but its excerpt.
pub(crate) fn other_facts(facts: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    let other = facts.iter().filter(|(name, _)| *name != FACT);
    other.map(|(name, value)| (name.clone(), value.clone())).collect()
}

/// Returns the counters of a cell that are shown as such: all but those of the channels' time.
pub(crate) fn other_counters(counters: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let other = counters.iter().filter(|(name, _)| !occupancy::is_counter(name));
    other.map(|(name, value)| (name.clone(), *value)).collect()
}

/// Returns the test that a timeline is of; `None` where nothing is sent.
fn test(workload: &Workload) -> Option<String> {
    let told = workload.variant().is_some() || workload.ip().is_none();
    kind::of(workload).on_air().filter(|_| told)
}

impl AirChapter {
    /// Adds a recorded cell.
    pub(crate) fn add(&mut self, recorded: &Recorded, losses: &Losses) {
        for new in occupancy::of(recorded) {
            let key = (recorded.ordinal, new.channel);
            let known = self.occupancy.iter_mut().find(|(at, it)| (*at, it.channel) == key);
            match known {
                Some((_, sum)) => sum.add(&new),
                None => self.occupancy.push((recorded.ordinal, new)),
            }
        }
        let (Some(test), Some(text)) = (test(&recorded.workload), recorded.facts.get(FACT)) else {
            return;
        };
        let share = losses.share();
        let cell = (recorded.ordinal, recorded.repetition);
        let better = |it: &Chosen| share > it.share || (share >= it.share && cell < it.cell);
        let there = self.chosen.iter().position(|it| it.test == test);
        if there.is_some_and(|at| !better(&self.chosen[at])) {
            return;
        }
        let timeline = Timeline::read(&crate::label::of(recorded), text);
        if timeline.windows.is_empty() {
            return;
        }
        let chosen = Chosen { test, cell, share, timeline };
        match there {
            Some(at) => self.chosen[at] = chosen,
            None => self.chosen.push(chosen),
        }
    }

    /// Returns occupancies and timelines, in the order of the plan.
    pub(crate) fn finish(mut self) -> (Vec<ChannelOccupancy>, Vec<Timeline>) {
        self.chosen.sort_by_key(|it| it.cell);
        let timelines = self.chosen.into_iter().enumerate().map(|(number, it)| Timeline {
            id: alloc::format!("air-{}", number + 1),
            ..it.timeline
        });
        self.occupancy.sort_by_key(|(ordinal, it)| (*ordinal, it.channel));
        (self.occupancy.into_iter().map(|(_, it)| it).collect(), timelines.collect())
    }
}

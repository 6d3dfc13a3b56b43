//! Goals of a plan: which figures its reader wants first.

use super::word_of;
use serde::{Deserialize, Serialize};

/// A goal of a plan, which its key `goal` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// Round trips, one-way times, times to join: their means and tails.
    Latency,
    /// Losses, and devices that were not served.
    Loss,
    /// Bits, messages or packets a second.
    Throughput,
    /// Current, charge and battery life.
    Battery,
}

/// The goals, by the words of a plan.
pub(crate) const GOALS: [(&str, Goal); 4] = [
    ("latency", Goal::Latency),
    ("loss", Goal::Loss),
    ("throughput", Goal::Throughput),
    ("battery", Goal::Battery),
];

impl Goal {
    /// Returns the word of a plan.
    #[must_use]
    pub fn name(self) -> &'static str {
        word_of(&GOALS, self)
    }
}

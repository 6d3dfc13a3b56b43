//! Warnings are a closed set of advice: what was seen, why it matters, what to try.
//!
//! The rules are in the module `rules`; the words are here, so that every drawing has the same.

mod comb;
mod rules;
mod words;

pub use comb::{BEACON_PERIOD, BeaconPhase, in_phase};
pub use rules::advise;
pub(crate) use rules::{clock, few_samples, sends_refused};

use crate::cell::Origin;
use crate::plan::Goal;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Observation that a reader should know of, with its numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Advice {
    /// Too few samples to enclose a quantile from both sides.
    FewSamples {
        /// The quantile, as it is named where it is shown.
        #[serde(alias = "metrics")]
        metric: String,
        /// Value of the quantile.
        #[serde(default)]
        value: f64,
        /// Unit of the value.
        #[serde(default)]
        unit: String,
        /// Number of samples.
        n: u64,
        /// Number of samples that it needs.
        needed: u64,
    },
    /// Two populations in one distribution.
    Bimodal {
        /// Quantity that has them, such as `round trip`.
        #[serde(default)]
        metric: String,
        /// Centre of the lower mode.
        low: f64,
        /// Centre of the upper mode.
        high: f64,
        /// Unit of both.
        unit: String,
    },
    /// The values grow or fall during the cell.
    Drifting {
        /// Quantity that grows or falls, such as `round trip`.
        #[serde(default)]
        metric: String,
        /// Median of the cell's first part.
        #[serde(default)]
        first: f64,
        /// Median of its last one.
        #[serde(default)]
        last: f64,
        /// Unit of both.
        #[serde(default)]
        unit: String,
    },
    /// The clock's step is not small against what is measured.
    ClockTooCoarse {
        /// The time, as it is named where it is shown.
        #[serde(default)]
        metric: String,
        /// Step of the clock in nanoseconds.
        step_ns: u64,
        /// The time in nanoseconds.
        #[serde(alias = "median_ns")]
        value_ns: u64,
    },
    /// The receiving socket's buffer overflowed: loss on this host, not on the link.
    SocketBufferOverflow {
        /// Datagrams that the kernel dropped.
        dropped: u64,
    },
    /// The sender fell behind the offered rate.
    SenderBehind {
        /// Rate asked.
        asked: f64,
        /// Rate kept.
        kept: f64,
        /// Unit of both.
        unit: String,
        /// Mean time in milliseconds from when a probe was due until its reply came, where there are replies: round trips
        /// leave out how long it waited to be sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        response_ms: Option<f64>,
        /// Whether the sender is a lab's, which no other load holds up.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        simulated: bool,
    },
    /// A console lost characters of commands that were typed at it.
    CommandCut {
        /// Number of characters lost.
        characters: u64,
    },
    /// Datagrams of an offered rate that the driver refused for want of memory.
    SendsRefused {
        /// Datagrams refused.
        refused: u64,
        /// Datagrams of the offer.
        offered: u64,
    },
    /// Replies arrive in phase with an access point's beacons: the station sleeps between them.
    BeaconComb {
        /// Median of the round trips in milliseconds; a report of an older espbench does not tell it.
        #[serde(default)]
        median_ms: Option<f64>,
        /// Period of the beacons in milliseconds.
        period_ms: f64,
        /// How closely the arrivals keep one phase of it, from 0 (not at all) to 1 (exactly).
        strength: f64,
    },
    /// The server's certificate was not checked (TLS).
    CertificateNotVerified,
    /// A device of the lab is farther away than the model of the place holds.
    BeyondModel {
        /// Distance of the farthest device, in metres.
        farthest_m: f64,
        /// Distance at which the model ends, in metres.
        valid_m: f64,
    },
}

impl Advice {
    /// Returns whether the advice is of no use: that replies wait for beacons, to who measures what a battery gives or
    /// wrote the station's sleep into a lab's file; that they have two groups, to who measures what a battery gives.
    #[must_use]
    pub fn is_idle(&self, goal: Option<Goal>, origin: Origin) -> bool {
        let is_of_battery = goal == Some(Goal::Battery);
        match self {
            Self::BeaconComb { .. } => is_of_battery || origin == Origin::Simulated,
            // Neither is its mean or median on the screen.
            Self::Bimodal { .. } => is_of_battery,
            _ => false,
        }
    }

    /// Returns whether the advice is of one figure, beside which alone it tells something.
    #[must_use]
    pub const fn is_of_figure(&self) -> bool {
        matches!(self, Self::FewSamples { .. } | Self::ClockTooCoarse { .. })
    }

    /// Returns how much the advice matters: the largest is to be read first. Each kind has its own.
    #[must_use]
    pub const fn weight(&self) -> u8 {
        match self {
            Self::CommandCut { .. } => 10,
            Self::SendsRefused { .. } => 9,
            // What was measured is of another load than the one that was asked for.
            Self::SenderBehind { .. } => 8,
            Self::BeyondModel { .. } => 7,
            Self::SocketBufferOverflow { .. } => 6,
            Self::BeaconComb { .. } => 5,
            Self::Drifting { .. } => 4,
            Self::Bimodal { .. } => 3,
            Self::CertificateNotVerified => 2,
            Self::ClockTooCoarse { .. } => 1,
            Self::FewSamples { .. } => 0,
        }
    }

    /// Returns how bad it is, beside other advice of its kind alone: the largest is the worst.
    #[must_use]
    pub fn degree(&self) -> f64 {
        let over = |a: f64, b: f64| match b > 0.0 {
            true => a / b,
            false if a > 0.0 => f64::INFINITY,
            false => 0.0,
        };
        match self {
            Self::FewSamples { n, needed, .. } => over(*needed as f64, *n as f64),
            Self::Bimodal { low, high, .. } => over(*high, *low),
            Self::Drifting { first, last, .. } => over(libm::fabs(last - first), *first),
            Self::ClockTooCoarse { step_ns, value_ns, .. } => {
                over(*step_ns as f64, *value_ns as f64)
            }
            Self::SocketBufferOverflow { dropped } => *dropped as f64,
            Self::SenderBehind { asked, kept, .. } => over(asked - kept, *asked),
            Self::CommandCut { characters } => *characters as f64,
            Self::SendsRefused { refused, offered } => over(*refused as f64, *offered as f64),
            Self::BeaconComb { strength, .. } => *strength,
            Self::CertificateNotVerified => 0.0,
            Self::BeyondModel { farthest_m, valid_m } => over(*farthest_m, *valid_m),
        }
    }
}

/// Advice about one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// Which cell, in words (`udp-echo, 100 B`).
    pub place: String,
    /// Number of the cell in the plan, from 1: repetitions share it.
    #[serde(default)]
    pub cell: u32,
    /// Kind of the cell's workload.
    pub workload: String,
    /// The observation.
    #[serde(flatten)]
    pub advice: Advice,
}

impl Warning {
    /// Sorts advice by kinds, that which matters most first.
    #[must_use]
    pub fn by_kind(all: &[Self]) -> Vec<Vec<&Self>> {
        let mut kinds: BTreeMap<u8, Vec<&Self>> = BTreeMap::new();
        all.iter().for_each(|it| kinds.entry(it.advice.weight()).or_default().push(it));
        kinds.into_values().rev().collect()
    }

    /// Returns the worst of one kind: of equal ones the first.
    ///
    /// # Panics
    /// Where there is none.
    #[must_use]
    pub fn worst<'a>(kind: &[&'a Self]) -> &'a Self {
        let worse = |a: &'a Self, b: &'a Self| {
            if b.advice.degree() > a.advice.degree() { b } else { a }
        };
        kind.iter().copied().reduce(worse).expect("a kind has a warning")
    }

    /// Returns whether all of one kind are as bad.
    #[must_use]
    pub fn are_alike(kind: &[&Self]) -> bool {
        kind.iter().all(|it| it.advice.degree() == kind[0].advice.degree())
    }

    /// Counts the cells that advice is about, each once.
    #[must_use]
    pub fn cells(all: &[&Self]) -> usize {
        all.iter().map(|it| it.cell).collect::<BTreeSet<u32>>().len()
    }

    /// Returns one paragraph: the cell, then [`Advice::text`].
    #[must_use]
    pub fn text(&self) -> String {
        format!("{}: {}", self.place, self.advice.text())
    }
}

#[cfg(test)]
mod tests;

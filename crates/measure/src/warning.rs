//! Warnings are a closed set of advice: what was seen, why it matters, what to try.

use alloc::string::String;
use serde::{Deserialize, Serialize};

/// What was noticed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Advice {
    /// Too few samples for the quantile asked.
    FewSamples {
        /// How many there are.
        n: u64,
        /// How many the statistic needs.
        needed: u64,
    },
    /// Two populations in one distribution.
    Bimodal {
        /// Centre of the lower mode.
        low: f64,
        /// Centre of the upper mode.
        high: f64,
        /// Unit of both.
        unit: String,
    },
    /// The values grow or fall during the cell.
    Drifting {
        /// Change from the cell's first to its last tenth, as a ratio.
        ratio: f64,
    },
    /// The clock's step is not small against what is measured.
    ClockTooCoarse {
        /// Step of the clock in nanoseconds.
        step_ns: u64,
    },
    /// The receiving socket's buffer overflowed: loss on this host, not on the link.
    SocketBufferOverflow {
        /// Datagrams that the kernel dropped.
        dropped: u64,
    },
    /// The sender fell behind the offered rate: latency is counted from the due time.
    SenderBehind {
        /// Rate asked, per second.
        asked: f64,
        /// Rate kept, per second.
        kept: f64,
    },
}

/// Advice about one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warning {
    /// Which cell, in words (`udp-echo, 100 B`).
    pub place: String,
    /// What was noticed.
    #[serde(flatten)]
    pub advice: Advice,
}

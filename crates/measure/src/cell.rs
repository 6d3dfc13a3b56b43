//! The result cell: identity columns, value, unit, n, interval, origin.

pub use crate::estimate::Estimate;
use crate::settings::Settings;
use alloc::string::String;
use serde::{Deserialize, Serialize};

/// Where a value comes from. A simulated number is never shown without that word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Taken on real sockets, boards or captures.
    #[default]
    Measured,
    /// Taken in the virtual lab.
    Simulated,
    /// Typed from a public document.
    Published,
}

impl Origin {
    /// Returns the word shown beside the value.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Simulated => "simulated",
            Self::Published => "published",
        }
    }

    /// Returns a title that says where the numbers come from, where that is not from measuring.
    pub(crate) fn titled(self, title: &str) -> String {
        match self {
            Self::Simulated => alloc::format!("{title} (simulated)"),
            Self::Measured | Self::Published => title.into(),
        }
    }
}

/// The identity columns, those of `reference/published.csv`. `None` is "does not say" or "does not
/// apply".
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// The table that the cell belongs to (`udp-echo`, `tcp-rate`, …).
    pub table: String,
    /// Device under test (`esp32`, `esp32c3`, `host`, …).
    pub chip: String,
    /// `udp`, `tcp`, `mqtt`, `esp-now`.
    pub transport: String,
    /// How the device is attached or driven (`station`, `softap`, `unicast`, `loopback`, …).
    pub mode: String,
    /// Name of the value (`rtt_avg`, `loss`, `throughput_rx`, …).
    pub metric: String,
    /// Payload in bytes.
    pub payload_bytes: Option<u32>,
    /// Number of devices, or of parallel streams.
    pub devices: Option<u32>,
    /// Distance in metres.
    pub distance_m: Option<f64>,
    /// `off`, `open`, `wpa2`, `app-data`, ….
    pub security: Option<String>,
    /// `office`, `shield-box`, `home`, `loopback`, ….
    pub environment: Option<String>,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cell {
    /// Identity columns: the test and the metric of the value.
    #[serde(flatten)]
    pub id: Identity,
    /// The value; `None` where it could not be determined.
    pub value: Option<f64>,
    /// Unit of value and interval.
    pub unit: String,
    /// Number of observations behind the value; `None` where the source does not say.
    pub n: Option<u64>,
    /// Lower end of the 95 % confidence interval.
    pub ci_low: Option<f64>,
    /// Upper end of the 95 % confidence interval.
    pub ci_high: Option<f64>,
    /// Theoretical limit, in the unit of the value, where it is known: the air time of the frames
    /// that must be sent or, for a rate, the maximum that this air time allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Measured, simulated or published.
    pub origin: Origin,
    /// True where a constant of the simulator was fitted to that published cell.
    pub fitted: bool,
    /// Name of the constant that was fitted to that published cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted_constant: Option<String>,
    /// Settings that distinguish the cell beyond the identity columns. Two measured cells are the
    /// same cell only if these agree too.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub settings: Settings,
    /// The device's firmware, where a document's rows are told apart by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firmware: Option<String>,
    /// Where it comes from, and what to know about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The document (published) or the run (measured, simulated).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

impl Cell {
    /// Returns whether the cell counts the packets of a test of another length than the document's:
    /// such a count is compared with none.
    pub(crate) fn counts_another_test(&self) -> bool {
        self.unit == "packets" && !self.settings.is_empty()
    }
}

impl Estimate {
    /// Makes a cell of this estimate.
    #[must_use]
    pub fn into_cell(self, id: Identity, unit: &str, origin: Origin) -> Cell {
        Cell {
            id,
            value: self.value,
            unit: unit.into(),
            n: Some(self.n),
            ci_low: self.low,
            ci_high: self.high,
            limit: None,
            origin,
            fitted: false,
            fitted_constant: None,
            settings: Settings::default(),
            firmware: None,
            note: None,
            source: None,
        }
    }
}

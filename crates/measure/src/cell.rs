//! The result cell: identity columns, value, unit, n, interval, origin.

use crate::beside::LabAgreement;
use crate::compare::VerdictKind;
use crate::metric;
use crate::settings::{Setting, SettingKey, Settings};
use crate::truth::CellStanding;
use alloc::format;
use alloc::string::String;
use espbench_dot11::radio::WifiMode;
use espbench_stats::Estimate;
use serde::{Deserialize, Serialize};

/// Where a value comes from. Every table and figure knows it of its values: a page says it once and marks
/// simulated ones by a texture, what is taken out of it bears the word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Taken on real sockets, boards or captures.
    #[default]
    Measured,
    /// Taken on real sockets or consoles, of devices that are simulated in real time.
    Live,
    /// Taken in the virtual lab.
    Simulated,
    /// Typed from a public document.
    Published,
}

impl Origin {
    /// Every origin.
    pub const ALL: [Self; 4] = [Self::Measured, Self::Live, Self::Simulated, Self::Published];

    /// Returns whether it was taken in real time, by this host's own clock and sockets.
    #[must_use]
    pub const fn is_real_time(self) -> bool {
        matches!(self, Self::Measured | Self::Live)
    }

    /// Returns the word shown beside the value.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Measured => "measured",
            Self::Live => "live",
            Self::Simulated => "simulated",
            Self::Published => "published",
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

/// The test that a value was taken in, and how it was taken, beyond identity and settings. `None` is
/// unknown, or does not apply.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TestFacts {
    /// Name of the plan.
    pub suite: Option<String>,
    /// Kind of the test.
    pub kind: Option<String>,
    /// Number of the test in the run's plans, from 1.
    pub number: Option<u32>,
    /// Number of the repetition, from 1; `None` where the value is of several.
    pub repetition: Option<u32>,
    /// Repetitions behind the value.
    pub repetitions: Option<u32>,
    /// Number of the trial within the test, from 1, where each has a figure of its own.
    pub trial: Option<u32>,
    /// Seed of the run.
    pub seed: Option<u64>,
    /// Probes or messages sent or due in the test.
    pub probes: Option<u64>,
    /// Those of them that were lost.
    pub lost: Option<u64>,
    /// Nearest and farthest of several devices, in metres; `None` where all have the distance of the identity.
    pub distances_m: Option<(f64, f64)>,
    /// PHY mode of the frames that carried the payload, where all had one.
    pub phy_rate: Option<WifiMode>,
    /// Release of the esp-now component.
    pub esp_now_release: Option<String>,
    /// Release of ESP-IDF.
    pub idf_release: Option<String>,
    /// Published value that stands beside ours.
    pub published: Option<PublishedFigure>,
    /// The lab's value of the same test that stands beside a measured one.
    pub lab: Option<LabFigure>,
    /// Run to whose measurement of this figure a constant of the lab was fitted.
    pub fitted_run: Option<String>,
}

/// A lab's value beside a measured one, and what their comparison shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LabFigure {
    /// The value, in the unit of ours.
    pub value: Option<f64>,
    /// Lower end of its 95 % confidence interval.
    pub ci_low: Option<f64>,
    /// Upper end of it.
    pub ci_high: Option<f64>,
    /// Ours / the lab's.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's 95 % interval.
    pub ratio_low: Option<f64>,
    /// Upper end of it.
    pub ratio_high: Option<f64>,
    /// Verdict on the pair.
    pub verdict: Option<LabAgreement>,
}

/// A published value beside one of ours, and what their comparison shows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PublishedFigure {
    /// The value, in the unit of ours.
    pub value: Option<f64>,
    /// Ours / published.
    pub ratio: Option<f64>,
    /// Verdict of the comparison.
    pub verdict: Option<VerdictKind>,
}

/// One result. In JSON and in CSV its fields are those of [`columns`](crate::columns).
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Identity columns: the test and the metric of the value.
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
    pub limit: Option<f64>,
    /// Measured, simulated or published.
    pub origin: Origin,
    /// True where a constant of the simulator was fitted to that published cell.
    pub fitted: bool,
    /// Name of the constant that was fitted to that published cell.
    pub fitted_constant: Option<String>,
    /// Standing of a published cell towards fitted constants; `None` of others.
    pub standing: Option<CellStanding>,
    /// Settings that distinguish the cell beyond the identity columns. Two measured cells are the
    /// same cell only if these agree too.
    pub settings: Settings,
    /// The test, and how the value was taken.
    pub test: TestFacts,
    /// The device's firmware, where a document's rows are told apart by it.
    pub firmware: Option<String>,
    /// Where it comes from, and what to know about it.
    pub note: Option<String>,
    /// The document (published) or the run (measured, simulated).
    pub source: Option<String>,
}

/// Returns the words for a distance, or for the nearest and the farthest of several devices.
pub(crate) fn print_distances((nearest, farthest): (f64, f64)) -> String {
    if nearest == farthest { format!("{nearest} m") } else { format!("{nearest}-{farthest} m") }
}

impl Cell {
    /// Returns whether the value is that of several repetitions together.
    pub(crate) fn is_of_repetitions(&self) -> bool {
        self.test.repetition.is_none() && self.test.repetitions.is_some_and(|n| n > 1)
    }

    /// Returns the nearest and the farthest device in metres, where they are known.
    pub(crate) fn distances_m(&self) -> Option<(f64, f64)> {
        self.id.distance_m.map(|it| (it, it)).or(self.test.distances_m)
    }

    /// Returns how many times the theoretical limit the value is; of a rate, how many times the value
    /// the limit is.
    pub(crate) fn times_limit(&self) -> Option<f64> {
        let (value, limit) = (self.value?, self.limit?);
        let factor = if metric::is_rate(&self.unit) { limit / value } else { value / limit };
        factor.is_finite().then_some(factor)
    }

    /// Returns whether the cell is of other work than the document's, with which it is not compared: packets of a test
    /// of another length, or an image of another size.
    pub(crate) fn counts_another_test(&self) -> bool {
        let is_image = |it: &Setting| it.key() == SettingKey::Image;
        self.unit == "packets" && !self.settings.is_empty() || self.settings.iter().any(is_image)
    }

    /// Makes a cell of an estimate.
    #[must_use]
    pub fn of(estimate: Estimate, id: Identity, unit: &str, origin: Origin) -> Self {
        Self {
            id,
            value: estimate.value,
            unit: unit.into(),
            n: Some(estimate.n),
            ci_low: estimate.low,
            ci_high: estimate.high,
            limit: None,
            origin,
            fitted: false,
            fitted_constant: None,
            standing: None,
            settings: Settings::default(),
            test: TestFacts::default(),
            firmware: None,
            note: None,
            source: None,
        }
    }
}

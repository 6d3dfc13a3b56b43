//! Shape of the gaps between measured and simulated figures, and where to look for their cause.

use super::pairs::PlannedTest;
use super::{LabAgreement, LabPair};
use crate::metric::{self, Better, Statistic};
use crate::settings::SettingKey;
use crate::units::Dimension;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Sizes from which on it can be told whether a gap grows with them.
const SIZES: usize = 3;

/// Part of a gap by which it may change from the smallest to the largest payload and still count as constant.
const CONSTANT: f64 = 0.5;

/// Cause of a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GapCause {
    /// Firmware or application.
    Firmware,
    /// Radio and place.
    Radio,
    /// How it was measured.
    Measurement,
    /// The lab's description of the place or the chip.
    Lab,
}

/// Shape of the gaps.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "shape", rename_all = "kebab-case")]
pub enum GapHint {
    /// Figures are better than the theoretical limit.
    BeyondLimit,
    /// All that is off is better than in the lab.
    Better,
    /// More is lost.
    Loss,
    /// Times are longer by as much for every payload.
    Constant {
        /// Mean of the gaps, in milliseconds.
        ms: f64,
    },
    /// Times are the longer, the longer the payload.
    PerByte {
        /// Slope of the gap, in microseconds a byte.
        us_per_byte: f64,
    },
    /// Only the slowest are slower.
    Tail,
    /// Times are longer.
    Slower,
    /// Rates are lower, and not more is lost.
    Rate,
    /// None of these.
    Mixed,
}

impl GapCause {
    /// Returns the cause in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Firmware => "the firmware",
            Self::Radio => "the radio",
            Self::Measurement => "the measurement",
            Self::Lab => "the lab",
        }
    }
}

impl GapHint {
    /// Returns what kind of thing causes such a gap, the likeliest first.
    #[must_use]
    pub const fn cause(self) -> GapCause {
        match self {
            Self::BeyondLimit => GapCause::Measurement,
            Self::Better => GapCause::Lab,
            Self::Loss | Self::PerByte { .. } | Self::Tail => GapCause::Radio,
            Self::Constant { .. } | Self::Slower | Self::Rate | Self::Mixed => GapCause::Firmware,
        }
    }
}

/// Finds the shape of the gaps among leading figures that are off.
pub(super) fn hint(tests: &[PlannedTest], pairs: &[LabPair]) -> GapHint {
    let is_off = |it: &&LabPair| it.leads && it.verdict == Some(LabAgreement::Off);
    let off: Vec<&LabPair> = pairs.iter().filter(is_off).collect();
    if off.iter().any(|it| is_beyond_limit(it)) {
        return GapHint::BeyondLimit;
    }
    if off.iter().all(|it| is_better(it)) {
        return GapHint::Better;
    }
    let worse: Vec<&LabPair> = off.into_iter().filter(|it| !is_better(it)).collect();
    if worse.iter().any(|it| metric::is_proportion(&it.unit)) {
        return GapHint::Loss;
    }
    let times: Vec<&LabPair> = worse.iter().filter(|it| is_time(it)).copied().collect();
    if times.is_empty() {
        return if worse.is_empty() { GapHint::Mixed } else { GapHint::Rate };
    }
    if !times.iter().any(|it| is_middle(it)) {
        return GapHint::Tail;
    }
    by_size(tests, &times).unwrap_or(GapHint::Slower)
}

fn is_time(pair: &LabPair) -> bool {
    matches!(Dimension::of(&pair.unit), Some((Dimension::Time, _)))
}

/// Returns whether a figure is a mean, a median or a minimum.
fn is_middle(pair: &LabPair) -> bool {
    let (_, statistic) = metric::parse(&pair.metric);
    matches!(statistic, Statistic::Min | Statistic::P50 | Statistic::Mean)
}

fn is_better(pair: &LabPair) -> bool {
    let (measured, simulated) = (pair.measured.value, pair.simulated.value);
    match metric::better(&pair.metric, &pair.unit) {
        Better::Lower => measured < simulated,
        Better::Higher => measured > simulated,
        Better::Neither => false,
    }
}

/// Returns whether the whole interval is on the far side of the theoretical limit.
fn is_beyond_limit(pair: &LabPair) -> bool {
    let Some(limit) = pair.limit.filter(|it| *it > 0.0) else { return false };
    let it = pair.measured;
    match metric::better(&pair.metric, &pair.unit) {
        Better::Lower => it.ci_high.unwrap_or(it.value) < limit,
        Better::Higher => it.ci_low.unwrap_or(it.value) > limit,
        Better::Neither => false,
    }
}

/// Returns how the gap of the metric that is off at most payloads depends on them: a straight line by least
/// squares.
fn by_size(tests: &[PlannedTest], times: &[&LabPair]) -> Option<GapHint> {
    let size = |pair: &LabPair| {
        let test = tests.iter().find(|it| it.number == pair.cell)?;
        test.settings.get(SettingKey::Size)?.value().number()
    };
    let to_ms = |pair: &LabPair| Some(Dimension::of(&pair.unit)?.1 * 1e3);
    let metric = times.iter().find(|it| is_middle(it)).map(|it| it.metric.as_str())?;
    let point = |pair: &&LabPair| {
        Some((size(pair)?, (pair.measured.value - pair.simulated.value) * to_ms(pair)?))
    };
    let points: Vec<(f64, f64)> =
        times.iter().filter(|it| it.metric == metric).filter_map(point).collect();
    let mut sizes: Vec<f64> = points.iter().map(|it| it.0).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    if sizes.len() < SIZES {
        return None;
    }
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|it| it.0), mean(|it| it.1));
    let (mut covered, mut spread) = (0.0, 0.0);
    for (size, gap) in &points {
        covered += (size - x) * (gap - y);
        spread += (size - x) * (size - x);
    }
    let slope = covered / spread;
    let change = slope * (sizes[sizes.len() - 1] - sizes[0]);
    Some(if change.abs() <= CONSTANT * y.abs() {
        GapHint::Constant { ms: y }
    } else if slope > 0.0 {
        GapHint::PerByte { us_per_byte: 1e3 * slope }
    } else {
        GapHint::Slower
    })
}

/// Returns one sentence on a shape, and one on where to look.
pub(super) fn words(hint: GapHint) -> (String, String) {
    use alloc::format;
    let number = crate::digits::three;
    let (seen, look) = match hint {
        GapHint::BeyondLimit => (
            "figures are better than the frames on the air allow".into(),
            "is the PHY rate, the payload or the count another one than the plan says?",
        ),
        GapHint::Better => (
            "what is off is better than in the lab".into(),
            "its place has other people's traffic, or its chip is slower: choose another lab, or fit it",
        ),
        GapHint::Loss => (
            "more is lost than in the lab".into(),
            "distance, antenna, a busy channel; then buffers (counters of drops)",
        ),
        GapHint::Constant { ms } => (
            format!("each takes {} ms longer, whatever its payload", number(ms)),
            "a task that waits (a tick is 10 ms at 100 Hz), log output, power save; not the air",
        ),
        GapHint::PerByte { us_per_byte } => (
            format!("the gap grows with the payload, by {} us a byte", number(us_per_byte)),
            "a lower PHY rate than the lab's, or frames that are sent again",
        ),
        GapHint::Tail => (
            "only the slowest are slower".into(),
            "others on the channel, retries; or a task that blocks now and then",
        ),
        GapHint::Slower => (
            "times are longer than in the lab".into(),
            "measure three payloads or more, and the gap tells processor from radio",
        ),
        GapHint::Rate => (
            "rates are lower, and not more is lost".into(),
            "processor, windows and buffers (espbench tune --check), or who shares the channel",
        ),
        GapHint::Mixed => (
            "the gaps have no one shape".into(),
            "begin at the largest gap; espbench fit tells which constant would explain it",
        ),
    };
    (seen, look.into())
}

//! Joins two lists of cells: ratio, interval, verdict.
//!
//! | module | contents |
//! |---|---|
//! | `baseline` | a run against figures that were kept by name |
//! | `exact` | figures that must be equal to the bit |
//! | `gate` | a limit on how much worse a run may be |
//! | `join` | which cells stand side by side; repetitions as their mean |
//! | `judge` | the verdict on a pair |
//! | `missing` | what keeps pairs from being compared, and what would change that |
//! | `sides` | what differs between two runs, beside their results |
//! | `power` | how many repetitions show a change |
//!
//! # Which pairs
//!
//! Run against run: cells of equal identity and settings; where there are none, cells of the same
//! workload elsewhere, which are then shown as not comparable, with the reason. Against published
//! cells: the same transport, metric and payload, in the same table and mode where there are such.
//! The module `join` has the rules.
//!
//! # What is shown
//!
//! 1. *The reasons against it first.* Another chip, mode, place, security, distance, number of devices,
//!    unit, statistic or procedure: not comparable, whatever the numbers say. Between runs the ratio is given
//!    nevertheless where both are numbers of one dimension; a published figure of something else has none.
//!    So are simulated runs of different seeds where one has a single repetition: shadowing and places are drawn by
//!    seed, and its interval is of one place alone.
//! 2. *Then the interval.* The ratio's 95 % interval follows from those of the two values (see
//!    [`interval::ratio`](espbench_stats::interval::ratio)). Wholly on the good side of 1: better; wholly on the bad side: worse; else no
//!    difference is shown, which does not mean that there is none. Parts of a whole (loss) go by
//!    the difference and 0 instead, as one of them often is zero.
//! 3. *A published value without an interval counts as a known number*, and a note says so: the verdict
//!    is about that printed number, and its own scatter is not in it. A value of ours without an
//!    interval (an extreme, or too few observations) is not treated so: then nothing is shown, and
//!    a note says why. So two values without intervals never differ by verdict, only by ratio.
//! 4. *Counts and settings* have no better direction: where their intervals differ, they differ, and neither
//!    is better.
//!
//! 5. *Runs scatter.* An interval of one repetition holds the scatter within it, not that from one
//!    run to the next, which often is the larger. Where both runs have repetitions, their means are
//!    compared with the scatter between repetitions, and shares of what was counted with that of all repetitions together,
//!    unless these differ by more than chance; where not, a note says what is missing.
//!
//! Each verdict is for one pair. Of many pairs with 95 % intervals one in twenty differs by chance.

mod baseline;
mod exact;
mod gate;
mod join;
mod judge;
mod missing;
mod power;
mod sides;

pub use baseline::{BaselineRow, BaselineVerdict, FigureKey, KeptFigure, baseline, to_keep};
pub use exact::{CellDifference, ExactlyCompared, exactly};
pub use gate::{Gated, Tolerance, gate};
pub(crate) use join::{facts_of_all, pool};
pub use join::{pool_all, vanished};
pub(crate) use judge::stated;
pub use missing::remedy;
pub(crate) use missing::{briefly, nearest, why};
pub use power::{PowerRow, power};
pub use sides::sides;

use crate::cell::{Cell, Origin};
use crate::metric::{self, Better};
use crate::units::Dimension;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Verdict of a comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "verdict", content = "why", rename_all = "kebab-case")]
pub enum Verdict {
    /// The interval of the ratio lies wholly on the good side of 1.
    Better,
    /// The interval of the ratio lies wholly on the bad side of 1.
    Worse,
    /// The interval of the ratio lies wholly on one side of 1, and no side is the better one.
    Differs,
    /// The interval of the ratio holds 1, or there is none.
    NoDifferenceShown,
    /// The two are not of the same thing; the reasons.
    NotComparable(Vec<Reason>),
}

/// Which verdict it is, without its reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerdictKind {
    /// [`Verdict::Better`].
    Better,
    /// [`Verdict::Worse`].
    Worse,
    /// [`Verdict::Differs`].
    Differs,
    /// [`Verdict::NoDifferenceShown`].
    NoDifferenceShown,
    /// [`Verdict::NotComparable`].
    NotComparable,
}

impl VerdictKind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Better, Self::Worse, Self::Differs, Self::NoDifferenceShown, Self::NotComparable];

    /// Returns the word of JSON and CSV.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Differs => "differs",
            Self::NoDifferenceShown => "no-difference-shown",
            Self::NotComparable => "not-comparable",
        }
    }

    /// Returns whether the verdict is that the two differ, whichever is better.
    #[must_use]
    pub const fn is_difference(self) -> bool {
        matches!(self, Self::Better | Self::Worse | Self::Differs)
    }
}

impl Verdict {
    /// Returns which verdict it is.
    #[must_use]
    pub const fn kind(&self) -> VerdictKind {
        match self {
            Self::Better => VerdictKind::Better,
            Self::Worse => VerdictKind::Worse,
            Self::Differs => VerdictKind::Differs,
            Self::NoDifferenceShown => VerdictKind::NoDifferenceShown,
            Self::NotComparable(_) => VerdictKind::NotComparable,
        }
    }

    /// Returns the reasons against a comparison; none where there is a verdict.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        match self {
            Self::NotComparable(reasons) => reasons,
            _ => &[],
        }
    }
}

/// Reason why two cells are not of the same thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// Which kind of reason.
    pub kind: ReasonKind,
    /// The reason in words, with what differs.
    pub text: String,
}

/// Kinds of [`Reason`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReasonKind {
    /// Another chip.
    Chip,
    /// Another mode.
    Mode,
    /// Another environment.
    Environment,
    /// The environment of ours is not stated.
    OursUnstated,
    /// The environment of the other run is not stated.
    OtherUnstated,
    /// The document does not state its environment.
    DocumentUnstated,
    /// Another security.
    Security,
    /// Another distance.
    Distance,
    /// Another number of devices.
    Devices,
    /// Another unit, of another dimension.
    Unit,
    /// Another statistic.
    Statistic,
    /// Another procedure: other settings.
    Procedure,
    /// Ours has no value.
    OursUnknown,
    /// The other has no value.
    OtherUnknown,
    /// Simulated runs of different seeds, of which one has a single repetition: each interval is of one place.
    Places,
}

impl ReasonKind {
    /// Returns the word of JSON and CSV.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Chip => "chip",
            Self::Mode => "mode",
            Self::Environment => "environment",
            Self::OursUnstated => "ours-unstated",
            Self::OtherUnstated => "other-unstated",
            Self::DocumentUnstated => "document-unstated",
            Self::Security => "security",
            Self::Distance => "distance",
            Self::Devices => "devices",
            Self::Unit => "unit",
            Self::Statistic => "statistic",
            Self::Procedure => "procedure",
            Self::OursUnknown => "ours-unknown",
            Self::OtherUnknown => "other-unknown",
            Self::Places => "places",
        }
    }

    /// Returns what is another one, in words; `None` where nothing is, but something is not known.
    #[must_use]
    pub const fn another(self) -> Option<&'static str> {
        Some(match self {
            Self::Chip => "chip",
            Self::Mode => "mode",
            Self::Environment => "environment",
            Self::Security => "security",
            Self::Distance => "distance",
            Self::Devices => "number of devices",
            Self::Unit => "unit",
            Self::Statistic => "statistic",
            Self::Procedure => "procedure",
            Self::OursUnstated
            | Self::OtherUnstated
            | Self::DocumentUnstated
            | Self::OursUnknown
            | Self::OtherUnknown
            | Self::Places => return None,
        })
    }
}

/// Two cells side by side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The cell in question.
    pub ours: Cell,
    /// Cell that ours is compared with.
    pub other: Cell,
    /// `ours / other`, both in one unit.
    pub ratio: Option<f64>,
    /// Lower end of the ratio's 95 % interval.
    pub ratio_low: Option<f64>,
    /// Upper end of the ratio's 95 % interval.
    pub ratio_high: Option<f64>,
    /// `ours - other`, in the unit of ours. For parts of a whole this decides, in place of the ratio.
    #[serde(default)]
    pub difference: Option<f64>,
    /// Lower end of the difference's 95 % interval.
    #[serde(default)]
    pub difference_low: Option<f64>,
    /// Upper end of the difference's 95 % interval.
    #[serde(default)]
    pub difference_high: Option<f64>,
    /// Verdict that the interval of the ratio gives.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Whether the two differ and nothing is shown of it, since there is no interval.
    #[serde(default)]
    pub lacks_interval: bool,
    /// Remarks beside the verdict: an unstated setting, a value taken as known, simulated against
    /// measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Returns whether a verdict goes by the difference: of shares, and where there is no ratio, as of what was zero.
fn by_difference(unit: &str, ratio: Option<f64>) -> bool {
    metric::is_proportion(unit) || ratio.is_none()
}

impl Comparison {
    /// Returns whether the two differ, and the end of the interval is missing that could show that ours is worse.
    #[must_use]
    pub fn is_open(&self) -> bool {
        let (low, high, differs) = if by_difference(&self.ours.unit, self.ratio) {
            let differs = self.difference.is_some_and(|it| it != 0.0);
            (self.difference_low, self.difference_high, differs)
        } else {
            (self.ratio_low, self.ratio_high, self.ratio.is_some_and(|it| it != 1.0))
        };
        let end = match metric::better(&self.ours.id.metric, &self.ours.unit) {
            Better::Lower => low,
            Better::Higher => high,
            Better::Neither => low.or(high),
        };
        self.verdict == Verdict::NoDifferenceShown && differs && end.is_none()
    }

    /// Returns whether there is no end of an interval.
    pub(crate) const fn has_no_end(&self) -> bool {
        self.ratio_low.is_none()
            && self.ratio_high.is_none()
            && self.difference_low.is_none()
            && self.difference_high.is_none()
    }

    /// Returns the least change that the interval shows, whichever way: of a ratio its logarithm, so that the
    /// double counts as the half; of parts of a whole their difference. 0 where none is shown.
    #[must_use]
    pub fn shown_change(&self) -> f64 {
        let least =
            |low: f64, high: f64| if low * high > 0.0 { low.abs().min(high.abs()) } else { 0.0 };
        let parts = Dimension::of(&self.ours.unit).filter(|it| it.0 == Dimension::Proportion);
        let change = match parts {
            Some((_, part)) => self
                .difference_low
                .zip(self.difference_high)
                .map(|(low, high)| libm::log1p(part * least(low, high))),
            None => self
                .ratio_low
                .zip(self.ratio_high)
                .filter(|it| it.0 > 0.0)
                .map(|(low, high)| least(libm::log(low), libm::log(high))),
        };
        change.unwrap_or_default()
    }
}

/// Joins `ours` with `others` and compares each pair, in the order of `ours`.
#[must_use]
pub fn compare(ours: &[Cell], others: &[Cell]) -> Vec<Comparison> {
    join::pairs(ours, others).iter().map(judge::judge).collect()
}

/// Compares two cells of one test, of which the caller has pooled the repetitions.
#[must_use]
pub(crate) fn pair(ours: &Cell, other: &Cell) -> Comparison {
    judge::judge(&join::CellPair { ours: ours.clone(), other: other.clone(), pooled: true })
}

/// Returns whether a pair is no test of the simulator, since a constant of it was fitted to one of
/// them. A real board was fitted to nothing.
pub(crate) fn is_fitted(ours: &Cell, other: &Cell) -> bool {
    let any = |is: fn(&Cell) -> bool| is(ours) || is(other);
    any(|it| it.origin == Origin::Simulated) && any(|it| it.fitted)
}

#[cfg(test)]
mod tests;

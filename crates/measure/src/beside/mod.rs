//! A run's figures beside those of the same plan in a lab: is the board as the lab predicts?
//!
//! The two are joined by the place of a test in the plan, by metric and by trial; repetitions are pooled
//! on both sides. Each pair has the ratio with its 95 % interval (see
//! [`compare`](crate::compare)), or the difference where values are parts of a whole. A figure is *as
//! predicted* where that interval lies wholly within what a lab is worth ([`CellGroup::ratios`], which
//! truth asks of the lab, too), *off* where it lies wholly outside, and *unsure* where it holds an end.
//! Runs scatter more than the interval of one of them says. A run without repetitions is judged with the
//! scatter of the lab's repetitions, as far as the lab has any.
//!
//! | module | contents |
//! |---|---|
//! | `chart` | measured, lab, published and limit in one figure |
//! | `hint` | what the gaps look like, and where to look |
//! | `pairs` | which figures stand side by side, and what each pair shows |
//! | `tables` | the same as tables |
//! | `words` | sentences of the answer |
//!
//! [`CellGroup::ratios`]: crate::truth::CellGroup::ratios

mod chart;
mod hint;
mod pairs;
mod tables;
#[cfg(test)]
mod tests;
mod words;

pub use hint::{GapCause, GapHint};

use crate::report::{GlanceValue, Report};
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Name of the chapter.
pub const SECTION: &str = "beside";

/// Verdict on a pair of figures, or on all leading ones together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LabAgreement {
    /// The measured figures are as the lab predicts.
    AsPredicted,
    /// At least one is not, and neither chance nor the lab's usual error explains it.
    Off,
    /// Too little was measured to tell.
    Unsure,
    /// Nothing stands beside each other.
    NotCompared,
}

impl LabAgreement {
    /// Every value.
    pub const ALL: [Self; 4] = [Self::AsPredicted, Self::Off, Self::Unsure, Self::NotCompared];

    /// Returns the word of JSON and CSV.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AsPredicted => "as-predicted",
            Self::Off => "off",
            Self::Unsure => "unsure",
            Self::NotCompared => "not-compared",
        }
    }

    /// Returns the verdict in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::AsPredicted => "as predicted",
            Self::Off => "off",
            Self::Unsure => "too few to tell",
            Self::NotCompared => "not compared",
        }
    }
}

/// A measured figure and the lab's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabPair {
    /// Number of the test in the plan, from 1.
    pub cell: u32,
    /// Name of the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suite: Option<String>,
    /// Kind of test.
    pub kind: String,
    /// Settings that tell the test from the others of its plan, in words.
    pub place: String,
    /// Name of the metric.
    pub metric: String,
    /// Metric in words.
    pub figure: String,
    /// Unit of all values.
    pub unit: String,
    /// Whether the metric is one of those that a report shows first.
    pub leads: bool,
    /// Measured value.
    pub measured: GlanceValue,
    /// Simulated value.
    pub simulated: GlanceValue,
    /// Measured / simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<GlanceValue>,
    /// Measured - simulated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub difference: Option<GlanceValue>,
    /// Published value of the same thing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// Whether a constant of the lab was fitted to that published value.
    #[serde(default, skip_serializing_if = "is_false")]
    pub published_fitted: bool,
    /// Whether a constant of the lab was fitted to measurements of this figure.
    #[serde(default, skip_serializing_if = "is_false")]
    pub fitted: bool,
    /// Theoretical limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Verdict on the pair; `None` of a count, which has no better direction, or of a figure that the lab
    /// was fitted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<LabAgreement>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Reason why a test has no counterpart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unpaired {
    /// The lab did not carry out the test.
    NotSimulated,
    /// Nothing was measured.
    NotMeasured,
    /// Results of other figures: the run and the lab have none in common.
    OtherFigures,
}

impl Unpaired {
    /// Returns the reason in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotSimulated => "the lab did not carry out this test",
            Self::NotMeasured => "nothing was measured",
            Self::OtherFigures => "the lab has other figures",
        }
    }
}

/// A test that has no counterpart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnpairedTest {
    /// Number of the test in the plan, from 1.
    pub cell: u32,
    /// Name of the test, in words.
    pub place: String,
    /// Reason.
    pub why: Unpaired,
}

/// A run beside the same plan in a lab.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LabComparison {
    /// Name of the lab's run; its own report has all of it.
    pub run: String,
    /// The lab, as a target.
    pub lab: String,
    /// Seed of the lab's run.
    pub seed: u64,
    /// Verdict on the leading figures together.
    pub verdict: LabAgreement,
    /// Leading figures with a verdict.
    pub compared: usize,
    /// Those of them that are as predicted.
    pub as_predicted: usize,
    /// Those of them that are off.
    pub off: usize,
    /// Figures that the lab was fitted to, of which a verdict would say nothing.
    #[serde(default)]
    pub fitted: usize,
    /// Median of measured / simulated over them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Position in `pairs` of the leading figure that is farthest off.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub largest_gap: Option<usize>,
    /// Shape of the gaps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<GapHint>,
    /// Likeliest cause of gaps of that shape.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<GapCause>,
    /// Every figure that both have.
    pub pairs: Vec<LabPair>,
    /// Tests without a counterpart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unpaired: Vec<UnpairedTest>,
    /// Why the lab did not carry out tests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lab_causes: Vec<String>,
}

/// Sets the figures of the same plan in a lab beside those of a report: as a chapter with a chart of each
/// plan's leading figure, as tables, and as fields of its cells.
pub fn add_lab(report: &mut Report, lab: &Report) {
    let comparison = pairs::comparison(report, lab);
    pairs::add_to_cells(report, &comparison);
    let figures = chart::figures(report, &comparison);
    report.figures.splice(0..0, figures);
    report.tables.splice(0..0, tables::tables(&comparison));
    report.beside = Some(comparison);
}

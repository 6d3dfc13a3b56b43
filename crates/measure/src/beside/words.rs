//! Sentences of the answer, the same on a terminal and on a page.

use super::{LabAgreement, LabComparison, LabPair, Unpaired, hint};
use crate::digits;
use crate::report::GlanceValue;
use crate::table::unit_sign;
use alloc::format;
use alloc::string::{String, ToString};

impl LabComparison {
    /// Returns the verdict in a sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { lab, compared, as_predicted, off, .. } = self;
        let figures = |n: usize| if n == 1 { "figure".to_string() } else { "figures".to_string() };
        let unsure = compared - as_predicted - off;
        let open = match unsure {
            0 => String::new(),
            n => format!(", {n} too few to tell"),
        };
        let ratio =
            self.ratio.map(|it| format!(" (median {} x)", digits::ratio(it))).unwrap_or_default();
        match self.verdict {
            LabAgreement::AsPredicted => format!(
                "As the lab predicts: {as_predicted} of {compared} {} agree with {lab}{ratio}{open}",
                figures(*compared)
            ),
            LabAgreement::Off => format!(
                "Not as the lab predicts: {off} of {compared} {} are off against {lab}{ratio}{open}",
                figures(*compared)
            ),
            LabAgreement::Unsure => format!(
                "Too little to tell whether it is as {lab} predicts: measure longer, or repeat{ratio}"
            ),
            LabAgreement::NotCompared if self.fitted > 0 => {
                format!(
                    "Nothing to compare: {lab} was fitted to this run; hold it against another one"
                )
            }
            LabAgreement::NotCompared => format!("Nothing stands beside it in {lab}"),
        }
    }

    /// Returns the figure that is farthest off, with both values; `None` where none is off.
    #[must_use]
    pub fn gap(&self) -> Option<String> {
        let pair = self.pairs.get(self.largest_gap?)?;
        (self.verdict == LabAgreement::Off).then(|| {
            format!(
                "Largest gap: {}: measured {}, lab {} {} ({})",
                pair.name(),
                value(&pair.measured),
                value(&pair.simulated),
                unit_sign(&pair.unit),
                pair.apart()
            )
        })
    }

    /// Returns what the gaps look like, and where to look; `None` where none is off.
    #[must_use]
    pub fn advice(&self) -> Option<String> {
        let hint = self.hint?;
        let (seen, look) = hint::words(hint);
        Some(format!("Look at {}: {seen}; {look}", hint.cause().words()))
    }

    /// Returns which tests have no counterpart, in a sentence; `None` where all have one.
    #[must_use]
    pub fn missing(&self) -> Option<String> {
        let first = self.unpaired.first()?;
        let cause = self.lab_causes.first().filter(|_| first.why == Unpaired::NotSimulated);
        let why = cause.map_or_else(|| first.why.words(), String::as_str);
        Some(match self.unpaired.len() {
            1 => format!("{} has no counterpart: {why}", first.place),
            n => format!("{n} tests have no counterpart, the first {}: {why}", first.place),
        })
    }
}

impl LabPair {
    /// Returns the value that decides: the ratio or, of parts of a whole, the difference.
    #[must_use]
    pub fn decisive(&self) -> Option<&GlanceValue> {
        let is_share = crate::metric::is_proportion(&self.unit);
        if is_share || self.ratio.is_none() {
            self.difference.as_ref()
        } else {
            self.ratio.as_ref()
        }
    }

    /// Returns the head of the column of that value.
    #[must_use]
    pub fn decisive_head(&self) -> &'static str {
        if crate::metric::is_proportion(&self.unit) { "measured - lab" } else { "measured / lab" }
    }

    /// Returns how far the two are apart: the ratio or, of parts of a whole, the difference; with its
    /// interval.
    #[must_use]
    pub fn apart(&self) -> String {
        match (&self.ratio, &self.difference) {
            (Some(ratio), _) if !crate::metric::is_proportion(&self.unit) => {
                format!("{} x", value(ratio))
            }
            (_, Some(it)) => {
                let sign = if it.value > 0.0 { "+" } else { "" };
                format!("{sign}{} {}", value(it), unit_sign(&self.unit))
            }
            _ => "–".into(),
        }
    }
}

/// Prints a value with its interval: `6.1 [5.9–6.4]`.
pub(super) fn value(it: &GlanceValue) -> String {
    let number = digits::worth(it.value, it.ci_low, it.ci_high);
    match digits::interval(it.ci_low, it.ci_high) {
        Some(interval) if it.ci_low != it.ci_high => format!("{number} [{interval}]"),
        _ => number,
    }
}

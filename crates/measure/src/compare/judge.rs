//! Verdicts: what a comparison of two cells side by side shows.

use super::join::CellPair;
use super::{Comparison, Reason, ReasonKind, Verdict, is_fitted, missing};
use crate::cell::{Cell, Identity, Origin, print_distances};
use crate::kind::{self, TestKind};
use crate::label;
use crate::metric::{self, Better};
use crate::units::conversion;
use crate::wifi;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use espbench_stats::Estimate;
use espbench_stats::interval;

pub(super) fn judge(pair: &CellPair) -> Comparison {
    let (ours, other) = (&pair.ours, &pair.other);
    let mut found = ComparisonNotes::default();
    found.place(ours, other);
    found.procedure(ours, other);
    let factor = conversion(&other.unit, &ours.unit);
    if factor.is_none() {
        found.another(ReasonKind::Unit, format!("{} against {}", ours.unit, other.unit));
    }
    let a = estimate(ours);
    let b = factor.map_or_else(Estimate::default, |f| estimate(other).scaled(f));
    found.values(ours, other);
    found.seeds(ours, other);
    let (ratio, difference) = (interval::ratio(&a, &b), interval::difference(&a, &b));
    let known = found.intervals(ours, other);
    let reasons = core::mem::take(&mut found.reasons);
    // What a document has of something else is no counterpart: a number over it says nothing.
    let is_counterpart = reasons.is_empty() || other.origin != Origin::Published;
    let verdict = if reasons.is_empty() {
        let is_difference = super::by_difference(&ours.unit, ratio.value);
        let by = if is_difference { (&difference, 0.0) } else { (&ratio, 1.0) };
        found.verdict(ours, known, by)
    } else {
        Verdict::NotComparable(reasons)
    };
    if !pair.pooled {
        found.single(other, &verdict);
    }
    // Ends that come from a value taken as known without being published would mislead.
    let ends = |e: &Estimate| if known { (e.low, e.high) } else { (None, None) };
    let ((ratio_low, ratio_high), (difference_low, difference_high)) =
        (ends(&ratio), ends(&difference));
    let told = |it: Option<f64>| it.filter(|_| is_counterpart);
    let mut judged = Comparison {
        ours: ours.clone(),
        other: other.clone(),
        ratio: told(ratio.value),
        ratio_low: told(ratio_low),
        ratio_high: told(ratio_high),
        difference: told(difference.value),
        difference_low: told(difference_low),
        difference_high: told(difference_high),
        verdict,
        lacks_interval: false,
        notes: found.notes,
    };
    judged.lacks_interval = judged.is_open() && judged.has_no_end();
    judged
}

fn estimate(cell: &Cell) -> Estimate {
    let finite = |v: Option<f64>| v.filter(|v| v.is_finite());
    Estimate {
        value: finite(cell.value),
        n: cell.n.unwrap_or(0),
        low: finite(cell.ci_low),
        high: finite(cell.ci_high),
    }
}

/// Findings of a comparison: reasons against it, and notes beside it.
#[derive(Default)]
struct ComparisonNotes {
    reasons: Vec<Reason>,
    notes: Vec<String>,
}

impl ComparisonNotes {
    fn against(&mut self, kind: ReasonKind, text: impl ToString) {
        self.reasons.push(Reason { kind, text: text.to_string() });
    }

    /// Adds that something is another one.
    fn another(&mut self, kind: ReasonKind, both: String) {
        let what = kind.another().unwrap_or_default();
        self.against(kind, format!("another {what}: {both}"));
    }

    fn note(&mut self, note: impl ToString) {
        self.notes.push(note.to_string());
    }

    /// Compares where and on what the two cells were taken. Only values that both cells state can
    /// differ. A value that one of them does not state becomes a note, except for the environment,
    /// without which a radio figure cannot be compared.
    fn place(&mut self, ours: &Cell, other: &Cell) {
        let (a, b) = (&ours.id, &other.id);
        self.differ(ReasonKind::Chip, stated(&a.chip), stated(&b.chip));
        self.differ(ReasonKind::Mode, stated(&a.mode), stated(&b.mode));
        self.environment(ours, other);
        let security = |id: &Identity| id.security.clone().and_then(|s| stated(&s));
        self.differ(ReasonKind::Security, security(a), security(b));
        self.distance(ours.distances_m(), other.distances_m());
        let devices = |id: &Identity| id.devices.map(|d| d.to_string());
        self.differ(ReasonKind::Devices, devices(a), devices(b));
    }

    /// Compares the distances: ours must lie where the other's are.
    fn distance(&mut self, ours: Option<(f64, f64)>, other: Option<(f64, f64)>) {
        let is_within = ours.zip(other).is_some_and(|(a, b)| b.0 <= a.0 && a.1 <= b.1);
        let of = |it: Option<(f64, f64)>| it.map(print_distances);
        let other = if is_within { ours } else { other };
        self.differ(ReasonKind::Distance, of(ours), of(other));
    }

    fn differ(&mut self, kind: ReasonKind, ours: Option<String>, other: Option<String>) {
        let what = kind.another().unwrap_or_default();
        match (ours, other) {
            (Some(a), Some(b)) if a != b => self.another(kind, format!("{a} against {b}")),
            (Some(_), Some(_)) | (None, None) => {}
            (Some(_), None) => self.note(format!("the other does not state its {what}")),
            (None, Some(_)) => self.note(format!("ours does not state its {what}")),
        }
    }

    /// Compares the environments. Two runs that both leave it open are of one user, who knows where
    /// they were taken; a document that leaves it open was made elsewhere.
    fn environment(&mut self, ours: &Cell, other: &Cell) {
        let of = |cell: &Cell| cell.id.environment.clone().and_then(|e| stated(&e));
        let against_document = other.origin == Origin::Published;
        match (of(ours), of(other)) {
            (Some(a), Some(b)) if a != b => {
                self.another(ReasonKind::Environment, format!("{a} against {b}"));
            }
            (Some(_), Some(_)) => {}
            (None, Some(_)) => {
                self.against(ReasonKind::OursUnstated, "the environment of ours is not stated");
            }
            (_, None) if against_document => {
                self.against(
                    ReasonKind::DocumentUnstated,
                    "the document does not state its environment",
                );
            }
            (Some(_), None) => {
                self.against(
                    ReasonKind::OtherUnstated,
                    "the environment of the other is not stated",
                );
            }
            (None, None) => self.note("neither states its environment: taken as the same"),
        }
    }

    /// Compares how the two cells were made: statistic, settings, payload, and whether they are
    /// measured, simulated or fitted.
    fn procedure(&mut self, ours: &Cell, other: &Cell) {
        let ((_, mine), (_, theirs)) = (metric::of(ours), metric::of(other));
        if mine != theirs {
            let (a, b) = (mine.name(), theirs.name());
            let whose = if other.origin == Origin::Published { "published" } else { "the other" };
            self.another(ReasonKind::Statistic, format!("ours is {a}, {whose} is {b}"));
        }
        if ours.settings != other.settings {
            self.settings(ours, other);
        }
        if ours.id.payload_bytes != other.id.payload_bytes {
            self.note("the other does not state its payload");
        }
        match (ours.origin, other.origin) {
            (a, b) if a == b => {}
            (a @ (Origin::Simulated | Origin::Live), b)
            | (a, b @ (Origin::Simulated | Origin::Live)) => {
                self.note(format!("{} against {}", a.name(), b.name()));
            }
            _ => {}
        }
        if is_fitted(ours, other) {
            self.note("a constant of the simulator was fitted to the published value");
        }
    }

    /// Compares the settings. Between runs, other settings are another procedure. A document states
    /// few settings, and in a note only: against a document they are a reason only where its table
    /// has a plain procedure.
    fn settings(&mut self, ours: &Cell, other: &Cell) {
        // A lab's variant names the document's device: that is a setting of ours alone.
        if wifi::device(ours).is_some() && wifi::is_procedure(ours, other) {
            return;
        }
        let say = |cell: &Cell| {
            label::result(&cell.settings).unwrap_or_else(|| "the plain procedure".to_string())
        };
        let (a, b) = (say(ours), say(other));
        let is_plain = kind::named(&other.id.table).is_some_and(TestKind::is_plain);
        let is_other = ours.settings.override_lab() || ours.settings.is_of_another_image();
        if other.origin == Origin::Published && (is_plain || is_other) {
            self.another(
                ReasonKind::Procedure,
                format!("ours with {a}; without that it is the document's"),
            );
        } else if other.origin != Origin::Published {
            self.another(ReasonKind::Procedure, format!("{a} against {b}"));
        } else {
            self.note(format!("ours with {a}; the document's settings are in its note"));
        }
    }

    fn values(&mut self, ours: &Cell, other: &Cell) {
        for (cell, kind, whose) in [
            (ours, ReasonKind::OursUnknown, "ours"),
            (other, ReasonKind::OtherUnknown, "the other"),
        ] {
            if estimate(cell).value.is_none() {
                self.against(kind, format!("{whose} has no value"));
            }
        }
    }

    /// Refuses simulated figures of different places, of which nothing else keeps them apart: a seed draws the shadowing,
    /// and a single repetition holds no scatter between places. What is no test of a run says no repetitions.
    fn seeds(&mut self, ours: &Cell, other: &Cell) {
        let is_single = |cell: &Cell| cell.test.repetitions == Some(1);
        let is_simulated = |cell: &Cell| cell.origin == Origin::Simulated;
        let differ = ours.test.seed.zip(other.test.seed).is_some_and(|(a, b)| a != b);
        if self.reasons.is_empty()
            && differ
            && [ours, other].into_iter().all(is_simulated)
            && [ours, other].into_iter().any(is_single)
        {
            self.against(ReasonKind::Places, missing::places());
        }
    }

    /// Returns whether the ratio has an interval, and notes what the interval rests on.
    fn intervals(&mut self, ours: &Cell, other: &Cell) -> bool {
        let has = |cell: &Cell| cell.ci_low.is_some() || cell.ci_high.is_some();
        let (mine, theirs) = (has(ours), has(other));
        if !mine && !theirs {
            self.note("neither has an interval: the ratio alone shows no difference");
            return false;
        }
        for (cell, has, whose) in [(ours, mine, "ours"), (other, theirs, "the other")] {
            if has {
                continue;
            }
            if cell.origin != Origin::Published {
                self.note(format!(
                    "{whose} has no interval (an extreme, or too few observations): nothing is shown"
                ));
                return false;
            }
            self.note("the published value has no interval, so it is taken as exact");
        }
        true
    }

    /// Notes that a difference between two single runs may be the usual scatter between runs.
    fn single(&mut self, other: &Cell, verdict: &Verdict) {
        if verdict.kind().is_difference() && other.origin != Origin::Published {
            self.note(
                "one repetition each: how runs scatter is not in the interval; repeat both five \
                 times or more (`repetitions`)",
            );
        }
    }

    fn verdict(&mut self, ours: &Cell, known: bool, (by, even): (&Estimate, f64)) -> Verdict {
        let better = metric::better(&ours.id.metric, &ours.unit);
        let above = known && by.low.is_some_and(|low| low > even);
        let below = known && by.high.is_some_and(|high| high < even);
        match (better, above, below) {
            (Better::Lower, _, true) | (Better::Higher, true, _) => Verdict::Better,
            (Better::Lower, true, _) | (Better::Higher, _, true) => Verdict::Worse,
            (Better::Neither, true, _) | (Better::Neither, _, true) => Verdict::Differs,
            _ => Verdict::NoDifferenceShown,
        }
    }
}

/// Returns the text if it says something: the published file writes "unstated" where its document
/// is silent.
pub(crate) fn stated(text: &str) -> Option<String> {
    (!text.is_empty() && text != "unstated").then(|| text.to_string())
}

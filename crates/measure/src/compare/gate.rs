//! A limit on how much worse a run may be.

use super::{Comparison, Verdict};
use crate::metric::{self, Better};
use alloc::vec::Vec;

/// Allowance of a gate: what may be worse and still passes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    /// Part of the other's value: 0.1 is 10 %.
    pub part: f64,
    /// Percentage points, for shares of a whole; `None` where they go by the part, too.
    pub points: Option<f64>,
}

impl Tolerance {
    /// Creates the tolerance of a part of the other's value, for shares as well.
    #[must_use]
    pub const fn of_part(part: f64) -> Self {
        Self { part, points: None }
    }

    /// Returns the worst value that passes, in the unit of ours; `None` where neither direction is worse, or where a
    /// value is not known. A share may be worse by the points, and where nothing was, what its interval held.
    #[must_use]
    pub fn worst(&self, c: &Comparison) -> Option<f64> {
        let (unit, value) = (&c.ours.unit, c.ours.value? - c.difference?);
        let sign = match metric::better(&c.ours.id.metric, unit) {
            Better::Lower => 1.0,
            Better::Higher => -1.0,
            Better::Neither => return None,
        };
        let points = self.points.filter(|_| metric::is_proportion(unit));
        let end = if sign > 0.0 { c.other.ci_high } else { c.other.ci_low };
        // Of another unit the end says nothing here: then nothing may be worse.
        let held = end.filter(|_| value == 0.0 && c.other.unit == *unit).unwrap_or_default();
        let part = points.unwrap_or_else(|| (self.part * value.abs()).max(held.abs()));
        Some(value + sign * part)
    }

    /// Returns whether the value is worse than the worst that passes.
    #[must_use]
    pub fn is_exceeded(&self, c: &Comparison) -> bool {
        let is_lower_better = metric::better(&c.ours.id.metric, &c.ours.unit) == Better::Lower;
        // A difference of one digit in the last place is none.
        let beyond = |(worst, value): (f64, f64)| {
            let by = if is_lower_better { value - worst } else { worst - value };
            by > 1e-9 * worst.abs()
        };
        self.worst(c).zip(c.ours.value).is_some_and(beyond)
    }
}

/// Decision of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Gated<'a> {
    /// Comparisons that could have failed. A gate that could judge none has shown nothing: say so.
    pub judged: usize,
    /// Comparisons that are worse by more than the limit, and of which an interval could not show it.
    pub open: usize,
    /// Comparisons that are worse by more than the limit.
    pub failed: Vec<&'a Comparison>,
}

impl Gated<'_> {
    /// Returns whether something was judged and nothing failed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.judged > 0 && self.failed.is_empty()
    }
}

/// Returns the comparisons that are worse, and by more than the tolerance.
///
/// Both must hold: the interval shows that it is worse, so chance alone seldom fails a gate; and
/// the value itself is beyond the limit, so a tiny but certain change passes. A loss
/// where there was none is beyond every part, unless it is within the interval of what was none. What could never fail is
/// not judged: pairs that are not comparable, those that are [open](Comparison::is_open), and figures of which neither
/// direction is worse.
#[must_use]
pub fn gate<'a>(comparisons: &'a [Comparison], tolerance: &Tolerance) -> Gated<'a> {
    let judged = |c: &&Comparison| {
        !matches!(c.verdict, Verdict::NotComparable(_))
            && metric::better(&c.ours.id.metric, &c.ours.unit) != Better::Neither
            && !c.is_open()
    };
    let open = |c: &&Comparison| c.is_open() && tolerance.is_exceeded(c);
    let failed = comparisons.iter().filter(|c| is_shown(c, tolerance));
    Gated {
        judged: comparisons.iter().filter(judged).count(),
        open: comparisons.iter().filter(open).count(),
        failed: failed.collect(),
    }
}

/// Returns whether the intervals show that it is worse, and the value is beyond the tolerance.
pub(super) fn is_shown(c: &Comparison, tolerance: &Tolerance) -> bool {
    c.verdict == Verdict::Worse && tolerance.is_exceeded(c)
}

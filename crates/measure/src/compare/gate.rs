//! A limit on how much worse a run may be.

use super::{Comparison, Verdict};
use crate::metric::{self, Better};
use alloc::vec::Vec;

/// Decision of a gate.
#[derive(Clone, Debug, PartialEq)]
pub struct Gated<'a> {
    /// Comparisons with a verdict. A gate that could judge none has shown nothing: say so.
    pub judged: usize,
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

/// Returns the comparisons that are worse, and by more than `limit`, a part of the other's value
/// (0.1 is 10 %).
///
/// Both must hold: the interval shows that it is worse, so chance alone seldom fails a gate; and
/// the value itself is beyond the limit, so a tiny but certain change passes. A loss
/// where there was none is beyond every limit. Pairs that are not comparable are not judged.
#[must_use]
pub fn gate(comparisons: &[Comparison], limit: f64) -> Gated<'_> {
    let judged = |c: &&Comparison| !matches!(c.verdict, Verdict::NotComparable(_));
    let failed = comparisons.iter().filter(|c| c.verdict == Verdict::Worse && beyond(c, limit));
    Gated { judged: comparisons.iter().filter(judged).count(), failed: failed.collect() }
}

fn beyond(c: &Comparison, limit: f64) -> bool {
    // Worse without a ratio is a difference from zero.
    let Some(ratio) = c.ratio else { return true };
    match metric::better(&c.ours.id.metric, &c.ours.unit) {
        Better::Lower => ratio > 1.0 + limit,
        Better::Higher => ratio < 1.0 - limit,
        Better::Neither => false,
    }
}

//! Findings that follow from others: they stay, and are believed less.

use crate::finding::{CauseFinding, Certainty, TroubleCause};
use alloc::vec::Vec;

/// Returns whether a cause follows from a finding, by the finding's record or by the first one of its cause.
fn makes(root: &CauseFinding, other: TroubleCause) -> bool {
    let records = [root.record(), root.cause.record()];
    records.into_iter().flatten().any(|it| it.makes(&other.name()))
}

/// Lowers the certainty of findings that follow from one that came before them in the log, and is no guess itself.
pub(super) fn lower(findings: &mut [CauseFinding]) {
    for at in 0..findings.len() {
        if findings.iter().any(|root| follows(&findings[at], root)) {
            findings[at].certainty = Certainty::Low;
        }
    }
}

/// Names the cause that each finding follows from.
pub(super) fn name(findings: &mut [CauseFinding]) {
    for at in 0..findings.len() {
        let root = findings.iter().find(|root| follows(&findings[at], root));
        findings[at].follows_from = root.map(|it| it.cause);
    }
}

/// Puts what findings follow from in front of them, however often they came: a program tries again and again.
pub(super) fn order(findings: &mut Vec<CauseFinding>) {
    for at in 0..findings.len() {
        let behind = at + 1..findings.len();
        if let Some(root) = behind.into_iter().find(|it| follows(&findings[at], &findings[*it])) {
            let root = findings.remove(root);
            findings.insert(at, root);
        }
    }
}

/// Returns whether a finding follows from another one.
fn follows(finding: &CauseFinding, root: &CauseFinding) -> bool {
    let first = |it: &CauseFinding| it.evidence.iter().map(|it| it.line).min();
    root.certainty > Certainty::Low && makes(root, finding.cause) && first(root) <= first(finding)
}

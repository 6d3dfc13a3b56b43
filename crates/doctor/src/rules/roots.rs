//! Findings that follow from others: they stay, and are believed less.

use crate::finding::{CauseFinding, Certainty, TroubleCause};
use crate::reason::ReasonGroup;
use alloc::vec::Vec;

/// Returns whether one cause makes another.
const fn makes(root: TroubleCause, other: TroubleCause) -> bool {
    use TroubleCause as It;
    match root {
        It::Brownout => matches!(
            other,
            It::Panic | It::Watchdog | It::Flash | It::MemoryCorrupted | It::Disconnections(_)
        ),
        It::ExternalMemory => matches!(other, It::Heap | It::Panic),
        It::Storage => matches!(other, It::WifiCalls | It::Panic),
        It::NoAddress => matches!(other, It::Names | It::Tls | It::Connections | It::BrokerRefused),
        It::Disconnections(ReasonGroup::Beacons) => {
            matches!(other, It::Names | It::Tls | It::Connections)
        }
        It::Heap => matches!(other, It::Tls | It::Connections | It::SendBuffers | It::WifiCalls),
        _ => false,
    }
}

/// Lowers the certainty of findings that follow from one that came before them in the log, and is no guess itself.
pub(super) fn lower(findings: &mut [CauseFinding]) {
    for at in 0..findings.len() {
        if findings.iter().any(|root| follows(&findings[at], root)) {
            findings[at].certainty = Certainty::Low;
        }
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
    root.certainty > Certainty::Low
        && makes(root.cause, finding.cause)
        && first(root) <= first(finding)
}

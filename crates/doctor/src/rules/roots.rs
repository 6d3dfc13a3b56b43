//! Findings that follow from others: they stay, and are believed less.

use crate::finding::{CauseFinding, Certainty, TroubleCause};

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
        It::Heap => matches!(other, It::Tls | It::Connections | It::SendBuffers | It::WifiCalls),
        _ => false,
    }
}

/// Lowers the certainty of findings that follow from one that came before them in the log, and is no guess itself.
pub(super) fn lower(findings: &mut [CauseFinding]) {
    let first = |it: &CauseFinding| it.evidence.iter().map(|it| it.line).min();
    for at in 0..findings.len() {
        let (cause, line) = (findings[at].cause, first(&findings[at]));
        let follows = findings.iter().any(|root| {
            root.certainty > Certainty::Low && makes(root.cause, cause) && first(root) <= line
        });
        if follows {
            findings[at].certainty = Certainty::Low;
        }
    }
}

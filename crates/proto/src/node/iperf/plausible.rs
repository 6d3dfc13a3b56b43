//! Whether a server's closing report can be true.

use crate::wire::iperf2::ServerReport;
use core::fmt;
use espbench_model::time::Duration;

/// Bytes of a datagram that iperf counts: its number at least.
const SMALLEST: u64 = 4;
/// Datagrams by which counts may differ: the first and the last one, and one sent again.
const SLACK: u64 = 3;

/// The reason for which a report cannot be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contradiction {
    /// More datagrams than were sent.
    Datagrams {
        /// Number in the report.
        reported: u64,
        /// The highest number that was sent.
        sent: u64,
    },
    /// More lost than there were.
    Lost {
        /// Lost ones.
        lost: u64,
        /// All.
        of: u64,
    },
    /// More bytes than were sent, or another number than its own datagrams have.
    Bytes {
        /// Number in the report.
        reported: u64,
        /// Least and most that it could be.
        can_be: (u64, u64),
    },
    /// Longer than the test took.
    Time {
        /// Duration in the report.
        reported: Duration,
        /// Time from the first datagram to the report.
        took: Duration,
    },
}

impl fmt::Display for Contradiction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Datagrams { reported, sent } => {
                write!(f, "it counts {reported} datagrams, and {sent} were sent")
            }
            Self::Lost { lost, of } => write!(f, "it counts {lost} lost of {of} datagrams"),
            Self::Bytes { reported, can_be: (least, most) } => write!(
                f,
                "it counts {reported} bytes, and the datagrams that it counts have {least} to {most}"
            ),
            Self::Time { reported, took } => write!(
                f,
                "it says {:.3} s, and the test took {:.3} s",
                reported.as_secs_f64(),
                took.as_secs_f64()
            ),
        }
    }
}

impl Contradiction {
    /// Returns what is wrong with a report on `sent` datagrams of `length` bytes (the highest number
    /// counts), of which the first was sent `took` ago; `None` where it can be true.
    ///
    /// iperf 2 counts duplicates as out of order and takes them off the lost ones, and a server that
    /// reads less than a whole datagram counts what it reads. Both are allowed for.
    #[must_use]
    pub fn of(report: &ServerReport, sent: u64, length: u32, took: Duration) -> Option<Self> {
        let length = u64::from(length);
        if report.datagrams > sent {
            return Some(Self::Datagrams { reported: report.datagrams, sent });
        }
        if report.lost > report.datagrams {
            return Some(Self::Lost { lost: report.lost, of: report.datagrams });
        }
        let received = report.datagrams - report.lost;
        let extra = report.out_of_order.min(sent).saturating_add(SLACK);
        let least = received.saturating_sub(extra) * SMALLEST;
        let most = received.saturating_add(extra).min(sent.saturating_add(SLACK)) * length;
        if !(least..=most).contains(&report.bytes) {
            return Some(Self::Bytes { reported: report.bytes, can_be: (least, most) });
        }
        // Clocks differ by parts in a thousand at most; a second is for what stood in queues.
        let longest = took + took / 100 + Duration::from_secs(1);
        (report.time > longest).then_some(Self::Time { reported: report.time, took })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: ServerReport = ServerReport {
        bytes: 99_000,
        time: Duration::from_secs(10),
        lost: 10,
        out_of_order: 0,
        datagrams: 1000,
        jitter: Duration::ZERO,
        transit: None,
    };

    fn judged(report: ServerReport) -> Option<Contradiction> {
        Contradiction::of(&report, 1000, 100, Duration::from_secs(10))
    }

    #[test]
    fn true_reports_pass() {
        assert_eq!(judged(GOOD), None);
        assert_eq!(judged(ServerReport { datagrams: 0, lost: 0, bytes: 0, ..GOOD }), None);
        // A hundred duplicates hide the losses: iperf counts so.
        let doubled = ServerReport { out_of_order: 100, lost: 0, bytes: 99_000 + 10_000, ..GOOD };
        assert!(matches!(judged(doubled), Some(Contradiction::Bytes { .. })), "more than was sent");
        assert_eq!(judged(ServerReport { bytes: 100_000, ..doubled }), None);
        // A server whose buffer holds 16 bytes of each.
        assert_eq!(judged(ServerReport { bytes: 990 * 16, ..GOOD }), None);
    }

    #[test]
    fn each_contradiction_is_named() {
        let minus_one = ServerReport { datagrams: u64::MAX, lost: u64::MAX, ..GOOD };
        assert_eq!(
            judged(minus_one),
            Some(Contradiction::Datagrams { reported: u64::MAX, sent: 1000 })
        );
        let lost = ServerReport { lost: 4_294_967_295, ..GOOD };
        let lost = judged(lost).unwrap();
        assert_eq!(lost, Contradiction::Lost { lost: 4_294_967_295, of: 1000 });
        assert_eq!(std::format!("{lost}"), "it counts 4294967295 lost of 1000 datagrams");
        let bytes = ServerReport { bytes: u64::MAX, ..GOOD };
        assert!(matches!(judged(bytes), Some(Contradiction::Bytes { reported: u64::MAX, .. })));
        let none = ServerReport { bytes: 0, ..GOOD };
        assert!(matches!(judged(none), Some(Contradiction::Bytes { reported: 0, .. })));
        let long = ServerReport { time: Duration::from_secs(4_294_967_295), ..GOOD };
        assert!(matches!(judged(long), Some(Contradiction::Time { .. })));
    }

    proptest::proptest! {
        #[test]
        fn what_passes_is_within_what_was_sent(
            bytes in 0u64.., lost in 0u64.., datagrams in 0u64.., out_of_order in 0u64..,
        ) {
            let report = ServerReport { bytes, lost, datagrams, out_of_order, ..GOOD };
            if judged(report).is_none() {
                assert!(datagrams <= 1000 && lost <= datagrams && bytes <= 100_300);
            }
        }
    }
}

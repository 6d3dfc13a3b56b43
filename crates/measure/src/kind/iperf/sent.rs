//! Datagrams of senders that count what they sent, and what their driver refused.

use crate::run::Recorded;
use alloc::vec::Vec;
use espbench_model::sample::{Interval, Observer, Sample};
use espbench_model::workload::{Direction, Iperf, Transport};

/// Datagrams of all streams of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SentDatagrams {
    /// Datagrams that the senders' drivers took.
    pub(crate) sent: u64,
    /// Calls of `sendto` that failed for want of memory.
    pub(crate) refused: u64,
    /// Datagrams that arrived.
    pub(crate) received: u64,
}

impl SentDatagrams {
    /// Sums totals of senders and receivers; `None` where an end does not tell them.
    pub(super) fn of(senders: &[Interval], receivers: &[Interval]) -> Option<Self> {
        let sum = |all: &[Interval], of: fn(&Interval) -> Option<u64>| -> Option<u64> {
            all.iter().map(of).sum()
        };
        if senders.is_empty() {
            return None;
        }
        Some(Self {
            sent: sum(senders, |it| it.datagrams)?,
            refused: sum(senders, |it| it.errors.map(u64::from))?,
            // Where numbers are not followed, copies are not known.
            received: sum(receivers, |it| it.lost.and(it.arrived()))?,
        })
    }

    /// Returns the counts of a recorded test, where devices send and both ends count.
    pub(super) fn of_recorded(w: &Iperf, recorded: &Recorded) -> Option<Self> {
        if w.transport != Transport::Udp || w.direction != Direction::Reverse {
            return None;
        }
        recorded.workload.variant()?;
        let totals = |observer| -> Vec<Interval> {
            let total = |sample: &Sample| match sample {
                Sample::Interval(it) if it.total && it.observer == observer => Some(*it),
                _ => None,
            };
            recorded.samples.iter().filter_map(total).collect()
        };
        Self::of(&totals(Observer::Peer), &totals(Observer::Receiver))
    }

    /// Returns how many were lost on the way.
    pub(crate) const fn lost(&self) -> u64 {
        self.sent.saturating_sub(self.received)
    }

    /// Returns how many were to be sent by that many streams; `None` where as many as go were. A program that
    /// has no time to ask for each offers less than its rate.
    pub(super) fn offered(&self, w: &Iperf, streams: usize) -> Option<u64> {
        let rate = u128::from(w.bandwidth?) * streams as u128;
        let asked = self.sent + self.refused;
        if w.bytes.is_some() || w.length == 0 {
            return Some(asked);
        }
        let by_rate = rate * w.time.as_nanos() / (8_000_000_000 * u128::from(w.length));
        Some(asked.max(u64::try_from(by_rate).unwrap_or(u64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::time::Duration;
    use proptest::prelude::*;

    const WORK: Iperf = Iperf {
        transport: Transport::Udp,
        direction: Direction::Reverse,
        time: Duration::from_secs(5),
        length: 1470,
        bandwidth: Some(1_000_000),
        ..Iperf::DEFAULT
    };

    #[test]
    fn the_offer_is_the_rate_and_what_was_asked_for_at_least() {
        let of = |sent, refused| SentDatagrams { sent, refused, received: 0 };
        // 1 Mbit/s for 5 s are 425 datagrams of 1470 octets.
        assert_eq!(of(400, 10).offered(&WORK, 1), Some(425));
        assert_eq!(of(400, 26).offered(&WORK, 1), Some(426), "the first leaves at once");
        assert_eq!(of(800, 10).offered(&WORK, 2), Some(850));
        assert_eq!(of(80, 10).offered(&Iperf { bytes: Some(99), ..WORK }, 2), Some(90));
        assert_eq!(of(80, 10).offered(&Iperf { bandwidth: None, ..WORK }, 2), None);
    }

    proptest! {
        /// Refusals are never losses, whatever the numbers of the datagrams say.
        #[test]
        fn refusals_are_no_losses(
            stations in prop::collection::vec((0u32..1000, 0u32..5000, 0u32..1000), 1..40),
        ) {
            let (mut senders, mut receivers) = (Vec::new(), Vec::new());
            for (sent, refused, on_way) in &stations {
                let on_way = on_way.min(sent);
                let count = |n: u32| Some(u64::from(n));
                let total = Interval { total: true, ..Interval::default() };
                senders.push(Interval { datagrams: count(*sent), errors: Some(*refused), ..total });
                // Each refusal used up a number.
                let (datagrams, lost) = (count(sent - on_way), count(on_way + refused));
                receivers.push(Interval { datagrams, lost, ..total });
            }
            let sum = |of: fn(&(u32, u32, u32)) -> u32| -> u64 {
                stations.iter().map(|it| u64::from(of(it))).sum()
            };
            let it = SentDatagrams::of(&senders, &receivers).unwrap();
            prop_assert_eq!((it.sent, it.refused), (sum(|it| it.0), sum(|it| it.1)));
            prop_assert_eq!(it.lost(), sum(|it| it.2.min(it.0)));
            prop_assert!(it.received + it.lost() == it.sent);
        }
    }
}

//! Why a probe was lost: what the lab saw of the frames that it went by.
//!
//! A broadcast may be meant for one device, which the component's header names. That others missed
//! it is no reason for anything: in a room of many, such losses would soon be all that is remembered.

use crate::lab::nodes::NodeId;
use core::time::Duration;
use esp_now::component::header::Header;
use espbench_model::sample::{Cause, Fate, Sample};
use espbench_model::time::Instant;

/// Losses that are remembered of a device.
const LOSSES: usize = 32;

/// A probe whose frame, or whose answer, was lost within this time of its being sent has that
/// cause: the time for which `espnow_iperf` waits for an answer.
const WITHIN: Duration = Duration::from_secs(3);

/// Returns the device that a frame is meant for; `None` where it is for all, or for a group.
pub(super) fn meant_for(data: &[u8]) -> Option<NodeId> {
    let (header, _) = Header::parse(data)?;
    NodeId::of(header.dest)
}

/// The last losses of frames from or to a device.
#[derive(Debug)]
pub(super) struct RecentLosses {
    losses: [(Instant, Cause); LOSSES],
    next: u8,
}

impl Default for RecentLosses {
    fn default() -> Self {
        // Nothing is sent before the end of time.
        Self { losses: [(Instant::NEVER, Cause::Unknown); LOSSES], next: 0 }
    }
}

impl RecentLosses {
    /// Notes the loss of a frame from or to the device.
    #[inline]
    pub(super) fn note(&mut self, at: Instant, cause: Cause) {
        self.losses[usize::from(self.next)] = (at, cause);
        self.next = (self.next + 1) % LOSSES as u8;
    }

    /// Returns the cause of the first loss after `sent`, if it is remembered.
    fn since(&self, sent: Instant) -> Option<Cause> {
        let until = sent + WITHIN;
        let (newer, older) = self.losses.split_at(usize::from(self.next));
        let found = older.iter().chain(newer).find(|(at, _)| *at >= sent && *at < until);
        found.map(|(_, cause)| *cause)
    }

    /// Gives a lost probe its cause. `zero` is when the device's clock was zero.
    pub(super) fn explain(&self, zero: Instant, sample: &mut Sample) {
        let Sample::Probe(probe) = sample else { return };
        let Fate::Lost(cause @ (Cause::Unknown | Cause::RetryLimit)) = &mut probe.fate else {
            return;
        };
        let sent = probe.sent.unwrap_or(probe.due);
        if let Some(found) = self.since(zero + sent.since(Instant::ZERO)) {
            *cause = found;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::sample::Probe;

    fn explained(losses: &RecentLosses, sent_ms: u64, cause: Cause) -> Fate {
        let sent = Some(Instant::from_nanos(sent_ms * 1_000_000));
        let mut sample = Sample::Probe(Probe { sent, fate: Fate::Lost(cause), ..Probe::default() });
        // The device's clock began at 1 s.
        losses.explain(Instant::from_nanos(1_000_000_000), &mut sample);
        let Sample::Probe(probe) = sample else { unreachable!() };
        probe.fate
    }

    #[test]
    fn a_lost_probe_has_the_cause_of_the_first_loss_after_it() {
        let mut losses = RecentLosses::default();
        let at = |ms: u64| Instant::from_nanos((1000 + ms) * 1_000_000);
        for i in 0..40 {
            losses.note(at(10 * i), if i % 2 == 0 { Cause::Noise } else { Cause::Collision });
        }
        assert_eq!(explained(&losses, 100, Cause::Unknown), Fate::Lost(Cause::Noise));
        assert_eq!(explained(&losses, 101, Cause::RetryLimit), Fate::Lost(Cause::Collision));
        assert_eq!(explained(&losses, 391, Cause::RetryLimit), Fate::Lost(Cause::RetryLimit));
        assert_eq!(explained(&losses, 100, Cause::NoBuffers), Fate::Lost(Cause::NoBuffers));
    }

    #[test]
    fn the_header_names_whom_a_broadcast_is_meant_for() {
        let mut data = [0; 24];
        data[8..14].copy_from_slice(&NodeId(300).mac().0);
        assert_eq!(meant_for(&data), Some(NodeId(300)));
        data[8..14].fill(0xFF);
        assert_eq!((meant_for(&data), meant_for(&data[..10])), (None, None));
    }
}

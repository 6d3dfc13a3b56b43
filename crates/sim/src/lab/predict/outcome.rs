//! Fates of the messages of a run.

use super::sleep::EnergyUse;
use crate::lab::trace::Flight;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::sample::Sample;
use espbench_model::time::Instant;

/// Times of the delivered messages by stage: sums over them, from when each was due until the
/// listener's application had it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stages {
    /// Messages behind the sums.
    pub messages: u64,
    /// In the application's queue, until the node took it.
    pub queue: Duration,
    /// Waking, booting and starting Wi-Fi, until the application could send.
    pub start: Duration,
    /// In the sender's processor, until it was in the driver.
    pub sender: Duration,
    /// In the driver, until its first attempt began: waiting for the medium, and for the frames
    /// before it.
    pub medium: Duration,
    /// Time from the begin of the first attempt to that of the one that arrived.
    pub retries: Duration,
    /// Time of the successful attempt on the air.
    pub air: Duration,
    /// Time from its end until the listener's application had it.
    pub receiver: Duration,
    /// No part of the latency, and of lost messages, too: from the end of the last frame of a message
    /// until its sender was told of its end and could take the next one.
    pub held: Duration,
}

/// Use of the listener's channel while messages were recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Air {
    /// Time for which it was watched.
    pub window: Duration,
    /// Somebody was sending.
    pub busy: Duration,
    /// One of the devices, or the listener that acknowledges, was sending: a part of `busy`.
    pub own: Duration,
    /// First attempts of the devices' frames; what overlaps counts twice, here and below.
    pub data: Duration,
    /// Later attempts.
    pub retries: Duration,
    /// Acknowledgements.
    pub acks: Duration,
    /// Beacons and other people's frames.
    pub others: Duration,
    /// Frames of the devices, with repetitions.
    pub frames: u64,
    /// Frames of these that the listener should have read and could not.
    pub missed: u64,
}

/// A run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// A [`Probe`](espbench_model::sample::Probe) for each recorded message, in the order in which
    /// they were due. Its link is the sender. `sent`: the driver had it; `stamped`: the listener's
    /// radio; `received`: the listener's application; `acked`: the sender was told that it arrived,
    /// which nobody tells for a broadcast without acknowledgement. What the listener's filter of repetitions took for one is lost for an unknown cause.
    pub samples: Vec<Sample>,
    /// Times by stage.
    pub stages: Stages,
    /// The channel.
    pub air: Air,
    /// Time and charge of each device that sleeps between its messages, while messages were recorded.
    pub energy: Vec<EnergyUse>,
    /// Time at which the applications began.
    pub begun: Instant,
    /// Frames on the air from then on, in the order of their ends, as far as they were asked for.
    pub flights: Vec<Flight>,
    /// Frames beyond these.
    pub flights_dropped: u64,
}

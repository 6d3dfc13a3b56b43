//! One simulated room.

use super::energy::DeviceCharge;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use espbench_model::sample::{Cause, Fate, Sample};
use espbench_model::time::Instant;
use espbench_stats::trend;

/// A part of a message's way from when it was due until the other application had it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum MessageStage {
    /// In the application's queue.
    Queue,
    /// Waking, booting and starting Wi-Fi, of a device that slept.
    Start,
    /// In the sender's processor.
    Sender,
    /// In the driver, waiting for the medium.
    Medium,
    /// Attempts and copies before the one that arrived.
    Retries,
    /// Transmission that was read.
    Air,
    /// In the listener's processor.
    Receiver,
}

impl MessageStage {
    /// All stages, in the order of the way.
    pub const ALL: [Self; 7] = [
        Self::Queue,
        Self::Start,
        Self::Sender,
        Self::Medium,
        Self::Retries,
        Self::Air,
        Self::Receiver,
    ];

    /// Returns the stage's name for tables and legends.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queue => "application's queue",
            Self::Start => "waking and starting Wi-Fi",
            Self::Sender => "sender's processor",
            Self::Medium => "waiting for the medium",
            Self::Retries => "repetitions",
            Self::Air => "on the air",
            Self::Receiver => "listener's processor",
        }
    }
}

/// Uses of a channel, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChannelUse {
    /// Time for which the channel was watched.
    pub window_ns: u64,
    /// Somebody was sending.
    pub busy_ns: u64,
    /// One of the devices, or the listener that acknowledges, was sending: a part of that.
    pub own_ns: u64,
    /// Frames of the devices; what overlaps counts twice, here and below.
    pub data_ns: u64,
    /// Repetitions of them.
    pub retries_ns: u64,
    /// Acknowledgements.
    pub acks_ns: u64,
    /// Other people's frames, and beacons.
    pub others_ns: u64,
}

/// One simulated room, without its samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RoomTrial {
    /// Messages that were due.
    pub messages: u64,
    /// Lost messages by cause. A message that was on its way when the run ended is lost,
    /// too ([`Cause::Stopped`]).
    pub lost: BTreeMap<Cause, u64>,
    /// Latencies of the delivered messages in milliseconds, in the order in which they were due.
    pub latency_ms: Vec<f64>,
    /// Sums over the delivered ones in nanoseconds, in the order of [`MessageStage::ALL`].
    pub stages_ns: [u64; 7],
    /// Times until the sender was told that a message had arrived, in milliseconds, for each message
    /// that it was told of.
    pub told_ms: Vec<f64>,
    /// Time from the ends of the last frames until the senders could go on, summed over all messages, in
    /// nanoseconds.
    pub held_ns: u64,
    /// The channel.
    pub air: ChannelUse,
    /// Time and charge of each device that sleeps between its messages.
    pub energy: Vec<DeviceCharge>,
}

impl RoomTrial {
    /// Makes the trial of a room's messages.
    #[must_use]
    pub fn of(samples: &[Sample], stages_ns: [u64; 7], held_ns: u64, air: ChannelUse) -> Self {
        let mut trial = Self { stages_ns, held_ns, air, ..Self::default() };
        for sample in samples {
            let Sample::Probe(probe) = sample else { continue };
            let took_ms = |until: Instant| until.since(probe.due).as_nanos() as f64 / 1e6;
            match (probe.fate, probe.received) {
                (Fate::Lost(cause), _) => *trial.lost.entry(cause).or_default() += 1,
                (Fate::Delivered | Fate::Late, Some(received)) => {
                    trial.latency_ms.push(took_ms(received));
                }
                // A second copy is no message of its own.
                _ => continue,
            }
            trial.messages += 1;
            trial.told_ms.extend(probe.acked.map(took_ms));
        }
        trial
    }

    /// Returns how many messages were lost.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.values().sum()
    }

    /// Returns whether messages take longer and longer in the course of the room: a queue fills.
    #[must_use]
    pub fn grows(&self) -> bool {
        trend::drift(&self.latency_ms).is_some_and(|it| it.ratio() > 1.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use espbench_model::sample::Probe;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn message(fate: Fate, due: u64, received: Option<u64>, acked: Option<u64>) -> Sample {
        Sample::Probe(Probe {
            fate,
            due: at(due),
            received: received.map(at),
            acked: acked.map(at),
            ..Probe::default()
        })
    }

    /// Each message is counted once: delivered or late with its latency, or lost by its cause. Copies
    /// and what is no message are not counted.
    #[test]
    fn messages_are_counted_once() {
        let samples = [
            message(Fate::Delivered, 100, Some(103), Some(104)),
            message(Fate::Duplicate, 100, Some(109), Some(109)),
            message(Fate::Delivered, 200, Some(250), None),
            message(Fate::Late, 300, Some(900), Some(901)),
            message(Fate::Lost(Cause::Collision), 400, None, None),
            message(Fate::Lost(Cause::Collision), 500, None, None),
            message(Fate::Lost(Cause::Stopped), 600, None, None),
            // It came, but its sender was told that it had not.
            message(Fate::Lost(Cause::Noise), 700, Some(701), Some(705)),
            message(Fate::Corrupt, 800, Some(801), None),
        ];
        let air = ChannelUse { window_ns: 5, busy_ns: 4, ..ChannelUse::default() };
        let trial = RoomTrial::of(&samples, [1, 2, 3, 4, 5, 6, 7], 8, air);
        assert_eq!(trial.messages, 7);
        assert_eq!(trial.latency_ms, [3.0, 50.0, 600.0]);
        assert_eq!(trial.told_ms, [4.0, 601.0, 5.0]);
        assert_eq!(trial.lost(), 4);
        let lost = [(Cause::Noise, 1), (Cause::Collision, 2), (Cause::Stopped, 1)];
        assert_eq!(trial.lost, BTreeMap::from(lost));
        assert_eq!((trial.stages_ns, trial.held_ns, trial.air), ([1, 2, 3, 4, 5, 6, 7], 8, air));
        assert!(trial.energy.is_empty());
        assert_eq!(RoomTrial::of(&[], [0; 7], 0, ChannelUse::default()), RoomTrial::default());
    }

    /// A queue that fills makes each message later than the one before; spread alone does not.
    #[test]
    fn latencies_that_grow_are_told_from_those_that_scatter() {
        let trial = |latency_ms| RoomTrial { latency_ms, ..RoomTrial::default() };
        let scattered = (0..400).map(|n: u32| 10.0 + f64::from(n * 7919 % 101) / 10.0);
        assert!(!trial(scattered.clone().collect()).grows());
        let growing = scattered.zip(0..400).map(|(ms, n)| ms + f64::from(n) * 0.5);
        assert!(trial(growing.collect()).grows());
        assert!(!trial(vec![10.0; 400]).grows());
        assert!(!trial(vec![]).grows());
    }

    #[test]
    fn stages_have_names_of_their_own_in_the_order_of_the_way() {
        let names: alloc::collections::BTreeSet<_> =
            MessageStage::ALL.iter().map(|it| it.name()).collect();
        assert_eq!(names.len(), 7);
        assert!(MessageStage::ALL.is_sorted());
        assert!(MessageStage::ALL.iter().enumerate().all(|(at, it)| *it as usize == at));
    }
}

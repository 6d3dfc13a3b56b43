//! Random numbers for simulation: one stream for each node and purpose, so that one more node, or
//! one more kind of fault, does not change the draws of the others.

use core::time::Duration;
use espbench_model::random::{Xoshiro256PlusPlus, split_mix};

/// The purpose of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Purpose {
    /// The loss of frames on their way to this node.
    Loss = 1,
    /// The loss of MAC acknowledgements on their way to this node.
    Ack = 2,
    /// The shadowing of a link.
    Shadow = 16,
    /// The duplication of frames that reach this node.
    Duplicate = 3,
    /// The delay of frames that reach this node.
    Delay = 4,
    /// The board's own random numbers: keys, magic, back-off.
    Board = 5,
    /// The time at which this node is switched on.
    Start = 6,
    /// The access of this node to the medium, and the reception of doubtful frames.
    BackOff = 7,
    /// The times at which this node has something to send.
    Arrival = 8,
    /// Draws of this node's application: receivers of messages, the drift of its clock, its task's jitter.
    Application = 11,
    /// The phase of Bluetooth's turns on this node.
    Bluetooth = 12,
    /// Delays of the task of this node's driver.
    Driver = 9,
    /// The fading of a link within a second.
    FastFading = 18,
    /// The fading of a link over minutes.
    SlowFading = 19,
    /// The position of this node.
    Place = 17,
    /// An IP host: ports, sequence numbers, the phase of its timers.
    Network = 40,
    /// The times at which the person at a console types.
    Person = 10,
}

/// Random numbers of one node for one purpose.
#[derive(Clone, Debug)]
pub struct RngStream(Xoshiro256PlusPlus);

impl RngStream {
    /// Returns the stream of a node for a purpose.
    #[must_use]
    pub fn stream(seed: u64, node: u32, purpose: Purpose) -> Self {
        let mut state = seed;
        let own = split_mix(&mut state) ^ ((u64::from(node) << 8) | purpose as u64);
        Self(Xoshiro256PlusPlus::new(own))
    }

    /// Returns 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0.bits()
    }

    /// Fills a buffer with random bytes.
    pub fn fill(&mut self, out: &mut [u8]) {
        for part in out.chunks_mut(8) {
            let bytes = self.bits().to_le_bytes();
            part.copy_from_slice(&bytes[..part.len()]);
        }
    }

    /// Returns a number from 0 to below 1, uniformly, in steps of 2^-53.
    pub const fn unit(&mut self) -> f64 {
        self.0.unit()
    }

    /// Returns a number from 2^-53 to 1, uniformly, in steps of 2^-53, so that its logarithm is
    /// finite.
    pub const fn positive(&mut self) -> f64 {
        self.0.positive()
    }

    /// Returns a number from the exponential distribution with mean 1: the time to the next event
    /// of a Poisson process, or a wait of which only the mean is known.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.positive())
    }

    /// Returns a time below `most`, uniformly; draws nothing if `most` is zero. The method is
    /// multiplication and shift (Lemire 2019), with a bias under a nanosecond in 2^64.
    pub fn time_below(&mut self, most: Duration) -> Duration {
        let nanos = most.as_nanos().min(u128::from(u64::MAX));
        if nanos == 0 {
            return Duration::ZERO;
        }
        Duration::from_nanos(((u128::from(self.bits()) * nanos) >> 64) as u64)
    }
}

/// A probability, in steps of 2^-64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Chance(u64);

impl Chance {
    /// The impossible event.
    pub const NEVER: Self = Self(0);
    /// The certain event.
    pub const ALWAYS: Self = Self(u64::MAX);

    /// Returns a probability from 0 to 1; other values are clamped, and NaN is 0.
    #[must_use]
    pub fn of(probability: f64) -> Self {
        // Casts from floats saturate: 2^64 and above become `ALWAYS`.
        Self((probability * 18_446_744_073_709_551_616.0) as u64)
    }

    /// Returns a probability in per cent.
    #[must_use]
    pub fn percent(percent: u32) -> Self {
        Self::of(f64::from(percent) / 100.0)
    }

    /// Draws whether the event happens. Draws nothing if the outcome is certain.
    pub const fn hit(self, random: &mut RngStream) -> bool {
        match self {
            Self::NEVER => false,
            Self::ALWAYS => true,
            Self(below) => random.bits() < below,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_node_and_by_purpose() {
        let first = |seed, node, purpose| RngStream::stream(seed, node, purpose).bits();
        let one = first(1, 0, Purpose::Loss);
        assert_eq!(one, first(1, 0, Purpose::Loss));
        assert_ne!(one, first(2, 0, Purpose::Loss));
        assert_ne!(one, first(1, 1, Purpose::Loss));
        assert_ne!(one, first(1, 0, Purpose::Delay));
    }

    #[test]
    fn chances_come_out_as_often_as_they_say() {
        let mut random = RngStream::stream(1, 0, Purpose::Loss);
        let third = Chance::of(0.3);
        let hits = (0..10_000).filter(|_| third.hit(&mut random)).count();
        // 3000 are expected; the standard deviation is 46.
        assert!((2800..3200).contains(&hits), "{hits}");
        for (text, chance) in [("above 1", 2.0), ("1", 1.0)] {
            assert_eq!(Chance::of(chance), Chance::ALWAYS, "{text}");
        }
        for chance in [0.0, -1.0, f64::NAN] {
            assert_eq!(Chance::of(chance), Chance::NEVER, "{chance}");
        }
        let before = random.clone().bits();
        assert!(Chance::ALWAYS.hit(&mut random) && !Chance::NEVER.hit(&mut random));
        assert_eq!(random.time_below(Duration::ZERO), Duration::ZERO);
        assert_eq!(random.bits(), before, "what is certain draws nothing");
    }

    #[test]
    fn waits_are_finite_and_as_long_as_their_mean() {
        let mut random = RngStream::stream(1, 0, Purpose::Arrival);
        let drawn: [f64; 10_000] = core::array::from_fn(|_| random.exponential());
        assert!(drawn.iter().all(|it| it.is_finite() && *it >= 0.0));
        // The deviation of the mean is 1/100. A share of exp(-1) is longer than it, of deviation
        // 0.5/100.
        let mean = drawn.iter().sum::<f64>() / 10_000.0;
        let longer = drawn.iter().filter(|it| **it > 1.0).count() as f64 / 10_000.0;
        assert!((mean - 1.0).abs() < 0.04 && (longer - 0.368).abs() < 0.02, "{mean} {longer}");
    }

    #[test]
    fn times_stay_below_their_limit() {
        let mut random = RngStream::stream(1, 0, Purpose::Delay);
        let most = Duration::from_millis(3);
        let longest = (0..1000).map(|_| random.time_below(most)).max();
        assert!(longest.is_some_and(|t| t < most && t > most / 2), "{longest:?}");
    }
}

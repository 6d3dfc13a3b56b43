//! Doubt about what the charge of a device depends on, beside the chance of its rooms.
//!
//! Each constant lies within a factor of its value, at 95 %: a logarithmic normal distribution. The factors
//! follow from the constant's confidence, and are themselves assumptions. They are drawn some thousand times,
//! and nothing is simulated for it.

use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::energy::EnergyPart;
use espbench_model::random::Xoshiro256PlusPlus;

/// Draws of an interval.
pub(super) const DRAWS: usize = 2000;

/// Seed of the draws: an interval is that of its figures alone.
const SEED: u64 = 0x5eed_0d0b;

/// Deviations of the normal distribution from its mean, between which 95 % lie.
pub(super) const WITHIN: f64 = 1.959_964;

/// Factors by which what the charge of a device depends on may be larger or smaller, at 95 %.
#[derive(Clone, Debug, PartialEq)]
pub struct ChargeDoubts {
    /// Times of wake, boot and the radio's start.
    pub wake_times: f64,
    /// Current of the processor.
    pub awake_current: f64,
    /// Current of the radio.
    pub radio_current: f64,
    /// Current between two messages.
    pub sleep_current: f64,
    /// Load of other people, by which frames are repeated.
    pub foreign_load: f64,
    /// Constants that are known least, where somebody should know.
    pub remarks: Vec<DoubtRemark>,
}

/// Remark on constants that are known least.
#[derive(Clone, Debug, PartialEq)]
pub struct DoubtRemark {
    /// Parts of the charge that depend on them.
    pub parts: Vec<EnergyPart>,
    /// The remark in a sentence without its full stop.
    pub text: String,
}

impl Default for ChargeDoubts {
    fn default() -> Self {
        Self {
            wake_times: 1.0,
            awake_current: 1.0,
            radio_current: 1.0,
            sleep_current: 1.0,
            foreign_load: 1.0,
            remarks: Vec::new(),
        }
    }
}

impl ChargeDoubts {
    /// Draws factors of the parts of a device's charge, in the order of `EnergyPart::ALL`.
    pub(super) fn factors(&self, normal: &mut NormalDraws) -> [f64; 6] {
        let mut by = |it: f64| factor(it, normal.next());
        let wake_times = by(self.wake_times);
        let awake = by(self.awake_current);
        let radio = by(self.radio_current);
        let (sleep, load) = (by(self.sleep_current), by(self.foreign_load));
        [wake_times * awake, wake_times * awake, wake_times * radio, radio, radio * load, sleep]
    }
}

/// Returns a factor within which 95 % lie, to the power of so many deviations.
pub(super) fn factor(within: f64, deviations: f64) -> f64 {
    libm::exp(libm::log(within.max(1.0)) * deviations / WITHIN)
}

/// Values of the normal distribution, the same in each run.
pub(super) struct NormalDraws(Xoshiro256PlusPlus);

impl NormalDraws {
    /// Begins.
    pub(super) fn new() -> Self {
        Self(Xoshiro256PlusPlus::new(SEED))
    }

    /// Returns the next one (Box and Muller 1958).
    pub(super) fn next(&mut self) -> f64 {
        let (radius, angle) = (1.0 - self.0.unit(), self.0.unit());
        libm::sqrt(-2.0 * libm::log(radius)) * libm::cos(core::f64::consts::TAU * angle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ninety_five_in_a_hundred_lie_within_the_factor() {
        let mut normal = NormalDraws::new();
        let all: Vec<f64> = (0..DRAWS).map(|_| factor(1.4, normal.next())).collect();
        let within = all.iter().filter(|it| (1.0 / 1.4..=1.4).contains(*it)).count();
        let share = within as f64 / DRAWS as f64;
        assert!((0.935..=0.965).contains(&share), "{share}");
        assert_eq!(factor(1.0, 2.0), 1.0);
    }
}

//! Doubt about what a prediction depends on, beside the chance of its rooms.
//!
//! Each constant lies within a factor of its value, at 95 %: a logarithmic normal distribution. The factors
//! follow from the constant's confidence, and are themselves assumptions. They are drawn some thousand times,
//! and nothing is simulated for it.

use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::energy::EnergyPart;
use espbench_model::random::Xoshiro256PlusPlus;
use espbench_stats::Estimate;
use espbench_stats::quantile::Sorted;

/// Draws of an interval.
const DRAWS: usize = 2000;

/// Seed of the draws: an interval is that of its figures alone.
const SEED: u64 = 0x5eed_0d0b;

/// Deviations of the normal distribution from its mean, between which 95 % lie.
pub const WITHIN: f64 = 1.959_964;

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
#[must_use]
pub fn factor(within: f64, deviations: f64) -> f64 {
    libm::exp(libm::log(within.max(1.0)) * deviations / WITHIN)
}

/// Returns the ends between which 95 % of the draws of a figure lie; none at an end beyond all bounds.
#[must_use]
pub fn interval(mut of: impl FnMut(&mut NormalDraws) -> f64) -> [Option<f64>; 2] {
    let mut normal = NormalDraws::new();
    let drawn = Sorted::new((0..DRAWS).map(|_| of(&mut normal)).collect());
    [0.025, 0.975].map(|share| drawn.quantile(share).value.filter(|it| it.is_finite()))
}

/// Returns an estimate with an interval from draws of its chance and of what else is in doubt: `of` makes a
/// drawn value the figure. An end that the sample cannot give stays open.
pub(super) fn widened(estimate: &Estimate, of: impl Fn(f64, &mut NormalDraws) -> f64) -> Estimate {
    let Estimate { value, n, low, high } = *estimate;
    let Some(mean) = value.filter(|_| low.is_some() || high.is_some()) else { return *estimate };
    let [drawn_low, drawn_high] = interval(|normal| {
        let chance = normal.next();
        // An interval of few rooms need not be even about the mean.
        let end = match chance < 0.0 {
            true => low.map_or(0.0, |low| mean - low),
            false => high.map_or(0.0, |high| high - mean),
        };
        of(mean + chance / WITHIN * end, normal)
    });
    // Latencies, currents and lives are none of them below zero.
    Estimate { value, n, low: low.and(drawn_low), high: high.and(drawn_high) }.not_negative()
}

/// Values of the normal distribution, the same in each run.
#[derive(Debug)]
pub struct NormalDraws(Xoshiro256PlusPlus);

impl NormalDraws {
    /// Begins.
    fn new() -> Self {
        Self(Xoshiro256PlusPlus::new(SEED))
    }

    /// Returns the next one (Box and Muller 1958).
    #[expect(clippy::should_implement_trait, reason = "there is always a next one")]
    pub fn next(&mut self) -> f64 {
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

    #[test]
    fn an_end_that_is_open_stays_open_and_the_other_is_widened() {
        let at_least = Estimate { value: Some(100.0), n: 4, low: Some(99.0), high: None };
        let wider = widened(&at_least, |it, normal| it * factor(1.4, normal.next()));
        assert_eq!((wider.value, wider.high), (Some(100.0), None));
        assert!((70.0..74.0).contains(&wider.low.unwrap()), "{wider:?}");
        let unknown = Estimate { low: None, ..at_least };
        assert_eq!(widened(&unknown, |it, _| 2.0 * it), unknown);
    }
}

//! Path loss and shadowing.
//!
//! The loss grows with the logarithm of distance (Rappaport 2002, "Wireless Communications", 2nd
//! ed., 4.9.1) from the free-space loss at 1 m, and beyond a breakpoint with another exponent. The effect of walls, furniture and bodies on a link
//! is drawn once from the normal distribution of its decibels (4.9.2). It is equal in both
//! directions, and depends on the seed and the two nodes only.

use core::f64::consts::PI;

use super::chance::{normal, of_pair};
use crate::random::Purpose;

/// The speed of light in metres a microsecond, which is metres times megahertz.
const LIGHT: f64 = 299.792_458;

/// The distance at which the log-distance law begins.
const REFERENCE_M: f64 = 1.0;

/// Returns the free-space loss in dB (Friis 1946), 20 log10(4 pi d f / c), not below 0.
#[must_use]
pub fn free_space_db(distance_m: f64, mhz: u32) -> f64 {
    let waves = distance_m * f64::from(mhz) / LIGHT;
    (20.0 * libm::log10((4.0 * PI * waves).max(1.0))).max(0.0)
}

/// Returns the loss in dB over flat ground that reflects everything, with antennas at two heights
/// (Rappaport 2002, 4.6). The direct and the reflected wave add with their phases; far away the
/// loss grows with the fourth power of distance.
#[must_use]
pub fn two_ray_db(distance_m: f64, heights_m: [f64; 2], mhz: u32) -> f64 {
    let [low, high] = heights_m;
    let direct = libm::hypot(distance_m, high - low);
    let reflected = libm::hypot(distance_m, high + low);
    let phase = 2.0 * PI * f64::from(mhz) / LIGHT * (reflected - direct);
    // The reflected wave is inverted: 1 - (d / r) e^(-i phase).
    let ratio = direct / reflected;
    let gain = 1.0 - 2.0 * ratio * libm::cos(phase) + ratio * ratio;
    (free_space_db(direct, mhz) - 10.0 * libm::log10(gain.max(1e-9))).max(0.0)
}

/// Returns the distance in metres beyond which the ground's reflection makes the loss grow with the
/// fourth power of distance: 4 h1 h2 / wavelength (Recommendation ITU-R P.1411, section 4.1.1).
#[must_use]
pub fn breakpoint_m(heights_m: [f64; 2], mhz: u32) -> f64 {
    4.0 * heights_m[0] * heights_m[1] * f64::from(mhz) / LIGHT
}

/// Returns the propagation delay in nanoseconds.
#[must_use]
pub fn delay_ns(distance_m: f64) -> u64 {
    libm::rint(distance_m.max(0.0) * 1e3 / LIGHT) as u64
}

/// Log-distance path loss with log-normal shadowing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PathLossModel {
    /// The path loss exponent: 2 in free space, 1.6 to 1.8 in line of sight in a building, 4 to 6
    /// behind walls (Rappaport 2002, Table 4.2).
    pub exponent: f64,
    /// The distance in metres beyond which another exponent holds, and that exponent.
    pub beyond: Option<(f64, f64)>,
    /// The standard deviation of the shadowing, in dB.
    pub shadow_db: f64,
    /// The seed of the shadowing.
    pub seed: u64,
}

impl PathLossModel {
    /// Free space, without shadowing.
    pub const FREE: Self = Self { exponent: 2.0, beyond: None, shadow_db: 0.0, seed: 0 };

    /// Returns the loss in dB by distance alone. Free space is assumed nearer than 1 m, because
    /// walls and furniture are farther away.
    #[must_use]
    pub fn distance_db(&self, distance_m: f64, mhz: u32) -> f64 {
        if distance_m <= REFERENCE_M {
            return free_space_db(distance_m, mhz);
        }
        let slope = |exponent: f64, factor: f64| 10.0 * exponent * libm::log10(factor);
        let near = free_space_db(REFERENCE_M, mhz);
        match self.beyond {
            Some((breakpoint_m, far)) if distance_m > breakpoint_m => {
                near + slope(self.exponent, breakpoint_m) + slope(far, distance_m / breakpoint_m)
            }
            _ => near + slope(self.exponent, distance_m),
        }
    }

    /// Returns the distance in metres at which the loss by distance alone is so many dB: the inverse of
    /// [`distance_db`](Self::distance_db).
    #[must_use]
    pub fn distance_m(&self, loss_db: f64, mhz: u32) -> f64 {
        let factor = |exponent: f64, db: f64| libm::pow(10.0, db / (10.0 * exponent));
        let left_db = loss_db - free_space_db(REFERENCE_M, mhz);
        if left_db <= 0.0 {
            return REFERENCE_M * factor(2.0, left_db);
        }
        let near_m = REFERENCE_M * factor(self.exponent, left_db);
        match self.beyond {
            Some((breakpoint_m, far)) if near_m > breakpoint_m => {
                let before_db = 10.0 * self.exponent * libm::log10(breakpoint_m);
                breakpoint_m * factor(far, left_db - before_db)
            }
            _ => near_m,
        }
    }

    /// Returns the shadowing between two nodes in dB; it may be a gain (negative).
    #[must_use]
    pub fn shadowing_db(&self, one: u32, other: u32) -> f64 {
        if self.shadow_db == 0.0 {
            return 0.0;
        }
        self.shadow_db * normal(of_pair(self.seed, one, other, Purpose::Shadow))
    }

    /// Returns the loss in dB between two nodes, not below 0.
    #[must_use]
    pub fn loss_db(&self, one: u32, other: u32, distance_m: f64, mhz: u32) -> f64 {
        (self.distance_db(distance_m, mhz) + self.shadowing_db(one, other)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn close(a: f64, b: f64, by: f64) -> bool {
        (a - b).abs() < by
    }

    #[test]
    fn free_space_as_textbooks_have_it() {
        // 20 log10(d km) + 20 log10(f MHz) + 32.45.
        assert!(close(free_space_db(1000.0, 2400), 100.05, 0.01));
        assert!(close(free_space_db(1.0, 2412), 40.09, 0.01));
        assert!(close(free_space_db(1.0, 2484), 40.35, 0.01));
        assert_eq!(free_space_db(0.0, 2412), 0.0);
    }

    proptest! {
        #[test]
        fn a_loss_is_that_of_its_distance(
            metres in 0.05_f64..50_000.0,
            exponent in 1.5_f64..5.0,
            beyond in proptest::option::of((1.0_f64..300.0, 2.0_f64..5.0)),
        ) {
            let model = PathLossModel { exponent, beyond, ..PathLossModel::FREE };
            let back = model.distance_m(model.distance_db(metres, 2437), 2437);
            prop_assert!((back / metres - 1.0).abs() < 1e-9, "{} for {}", back, metres);
        }
    }

    #[test]
    fn two_rays_fall_with_the_fourth_power() {
        // Far away: 40 log10(d) - 20 log10(h1 h2).
        let far = 20_000.0;
        assert!(close(two_ray_db(far, [1.5, 1.5], 2437), 40.0 * libm::log10(far) - 7.04, 0.05));
        // Near the antenna the two waves oscillate around free space.
        let near = two_ray_db(5.0, [1.0, 1.0], 2437);
        assert!(close(near, free_space_db(5.0, 2437), 15.0));
    }

    #[test]
    fn the_breakpoint_is_where_two_rays_begin_to_fall() {
        let heights = [1.2, 1.2];
        let at = breakpoint_m(heights, 2437);
        assert!(close(at, 46.8, 0.1), "{at}");
        // Far beyond it the two rays over a mirror, 40 log10(d) - 20 log10(h1 h2), are the law of the
        // fourth power less 20 log10(pi): P.1411 has its lower bound 6 dB below, and 20 dB of spread.
        let law = PathLossModel { beyond: Some((at, 4.0)), ..PathLossModel::FREE };
        let less =
            |times: f64| law.distance_db(times * at, 2437) - two_ray_db(times * at, heights, 2437);
        assert!(close(less(100.0), 20.0 * libm::log10(PI), 0.1), "{}", less(100.0));
    }

    #[test]
    fn beyond_the_breakpoint_another_exponent_holds() {
        let free = PathLossModel::FREE;
        let ground = PathLossModel { beyond: Some((50.0, 4.0)), ..free };
        let by = |metres| ground.distance_db(metres, 2437) - free.distance_db(metres, 2437);
        assert_eq!([1.0, 10.0, 50.0].map(by), [0.0; 3]);
        // Ten times the distance: 40 dB in place of 20.
        assert!(close(by(500.0), 20.0, 1e-9), "{}", by(500.0));
    }

    #[test]
    fn light_takes_its_time() {
        assert_eq!([0.0, 1.0, 3.0, 299.792_458].map(delay_ns), [0, 3, 10, 1000]);
        assert_eq!(delay_ns(-1.0), 0);
    }

    #[test]
    fn shadowing_has_its_deviation() {
        let room = PathLossModel { exponent: 3.0, shadow_db: 4.0, seed: 7, beyond: None };
        let all: std::vec::Vec<f64> = (1..2000).map(|other| room.shadowing_db(0, other)).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let square = all.iter().map(|db| db * db).sum::<f64>() / all.len() as f64;
        // Deviations 0.09 and 0.5.
        assert!(mean.abs() < 0.35 && close(square, 16.0, 2.0), "{mean} {square}");
        assert_eq!(PathLossModel { shadow_db: 0.0, ..room }.shadowing_db(0, 1), 0.0);
    }

    proptest! {
        #[test]
        fn links_are_symmetric(a: u32, b: u32, seed: u64, metres in 0.01..1000.0_f64) {
            let room = PathLossModel { exponent: 3.0, shadow_db: 6.0, seed, beyond: None };
            let there = room.loss_db(a, b, metres, 2437);
            prop_assert_eq!(there.to_bits(), room.loss_db(b, a, metres, 2437).to_bits());
            prop_assert!(there.is_finite() && there >= 0.0);
        }

        #[test]
        fn farther_is_weaker(near in 0.001..1000.0_f64, more in 1e-6..100.0_f64, exponent in 1.5..6.0_f64) {
            let room = PathLossModel { exponent, ..PathLossModel::FREE };
            let (here, there) = (room.distance_db(near, 2437), room.distance_db(near + more, 2437));
            prop_assert!(there >= here && free_space_db(near + more, 2437) >= free_space_db(near, 2437));
        }
    }
}

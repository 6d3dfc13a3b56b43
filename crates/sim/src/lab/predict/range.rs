//! Range of a mode.

use crate::lab::profile::Profile;
use crate::lab::scene::Environment;
use espbench_dot11::radio::error::Curve;
use espbench_dot11::radio::power::{factor, milliwatts};
use espbench_dot11::radio::receiver::Receiver;
use espbench_dot11::radio::{Channel, WifiMode};

/// Farther than this nobody looks, in metres.
const FARTHEST_M: f64 = 100_000.0;

/// Returns the distance in metres up to which a frame of so many octets still arrives with at least
/// this chance, by distance and walls alone: without shadowing and without interference.
#[must_use]
pub fn range_m(
    profile: &Profile,
    environment: &Environment,
    (mode, octets): (WifiMode, u32),
    walls_db: f64,
    chance: f64,
) -> f64 {
    let receiver = Receiver::of(profile.chip);
    let room = environment.room(0);
    let mhz = Channel::of(6).map_or(2437, Channel::centre_mhz);
    let power_dbm = profile.tx_power_dbm.min(profile.chip.power_dbm(mode));
    let arrives = |metres: f64| {
        let dbm = power_dbm - room.distance_db(metres, mhz) - walls_db;
        let sinr_db = receiver.sinr_db(mode, milliwatts(dbm), 0.0);
        1.0 - Curve::of(mode).frame_loss(factor(sinr_db), octets) >= chance
    };
    // Bisection by factors: 60 halvings of five decades leave less than a micrometre.
    let (mut near, mut far) = (0.01, FARTHEST_M);
    if !arrives(near) {
        return 0.0;
    }
    for _ in 0..60 {
        let middle = libm::sqrt(near * far);
        *if arrives(middle) { &mut near } else { &mut far } = middle;
    }
    near
}

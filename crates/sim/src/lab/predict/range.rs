//! Range of a mode.

use crate::lab::profile::Profile;
use crate::lab::scene::Environment;
use espbench_dot11::radio::error::Curve;
use espbench_dot11::radio::power::{factor, milliwatts};
use espbench_dot11::radio::receiver::Receiver;
use espbench_dot11::radio::{Channel, WifiMode};

/// Farther than this nobody looks, in metres.
const FARTHEST_M: f64 = 100_000.0;

/// A message whose range is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangedMessage {
    /// PHY rate.
    pub mode: WifiMode,
    /// Octets of its frame.
    pub octets: u32,
    /// Frames that carry it at most: attempts of unicast, copies of a broadcast.
    pub frames: u16,
    /// Loss in the walls between less the gains of both antennas, in dB.
    pub path_db: f64,
}

/// Returns the distance in metres up to which a frame of so many octets still arrives with at least
/// this chance, by distance and walls alone: without shadowing and without interference.
#[must_use]
pub fn range_m(
    profile: &Profile,
    environment: &Environment,
    (mode, octets): (WifiMode, u32),
    path_db: f64,
    chance: f64,
) -> f64 {
    let loss = frame_loss(profile, environment, mode, octets);
    farthest(|metres| 1.0 - loss(metres, path_db) >= chance)
}

/// Returns the distance in metres up to which no more than this share of messages is lost, over all places
/// at that distance and over all times: with shadowing and fading, and without interference.
#[must_use]
pub fn reach_m(
    profile: &Profile,
    environment: &Environment,
    message: &RangedMessage,
    share: f64,
) -> f64 {
    let loss = frame_loss(profile, environment, message.mode, message.octets);
    let lost = |metres: f64, fade_db: f64| {
        // In one place all frames of a message come through as weak, and a fade outlasts them.
        libm::pow(loss(metres, message.path_db + fade_db), f64::from(message.frames.max(1)))
    };
    let slow_db = environment.slow_fading().map_or(0.0, |it| it.deviation_db);
    let deviation_db = libm::hypot(environment.shadow_db, slow_db);
    let gains_db =
        environment.fast_fading().map_or_else(|| [0.0].into(), |it| it.quantiles_db(FADES));
    farthest(|metres| {
        let here = |place_db: f64| {
            let all = gains_db.iter().map(|gain_db| lost(metres, place_db - gain_db));
            all.sum::<f64>() / gains_db.len() as f64
        };
        over_places(deviation_db, here) <= share
    })
}

/// Fades of a mean over times.
const FADES: usize = 64;

/// Returns the mean of a quantity over the shadowing of places: normal, with this deviation.
fn over_places(deviation_db: f64, of: impl Fn(f64) -> f64) -> f64 {
    let (mut sum, mut weights) = (0.0, 0.0);
    for step in -STEPS..=STEPS {
        let z = 4.0 * f64::from(step) / f64::from(STEPS);
        let weight = libm::exp(-z * z / 2.0);
        sum += weight * of(z * deviation_db);
        weights += weight;
    }
    sum / weights
}

/// Half of the points of a mean over places.
const STEPS: i32 = 60;

/// Returns the loss of a frame by distance and further loss in dB.
fn frame_loss(
    profile: &Profile,
    environment: &Environment,
    mode: WifiMode,
    octets: u32,
) -> impl Fn(f64, f64) -> f64 {
    let receiver = Receiver::of(profile.chip);
    let room = environment.room(0);
    let mhz = Channel::of(6).map_or(2437, Channel::centre_mhz);
    let power_dbm = profile.tx_power_dbm.min(profile.chip.power_dbm(mode));
    let curve = Curve::of(mode);
    move |metres, further_db| {
        let dbm = power_dbm - room.distance_db(metres, mhz) - further_db;
        let sinr_db = receiver.sinr_db(mode, milliwatts(dbm), 0.0);
        curve.frame_loss(factor(sinr_db), octets)
    }
}

/// Returns the farthest distance at which something still holds that holds nearer.
fn farthest(holds: impl Fn(f64) -> bool) -> f64 {
    // Bisection by factors: 60 halvings of five decades leave less than a micrometre.
    let (mut near, mut far) = (0.01, FARTHEST_M);
    if !holds(near) {
        return 0.0;
    }
    for _ in 0..60 {
        let middle = libm::sqrt(near * far);
        *if holds(middle) { &mut near } else { &mut far } = middle;
    }
    near
}

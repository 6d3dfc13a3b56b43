//! Range of a case's messages, and the walls in between.

use super::doubts::RangeDoubts;
use super::rooms::{Predictor, RoomCase};
use super::setup::PredictSetup;
use alloc::vec::Vec;
use espbench_dot11::radio::WifiMode;
use espbench_measure::predict::RANGE_LOSS;
use espbench_measure::predict::doubt;
use espbench_measure::predict::point::OperatingPoint;
use espbench_model::workload::EspNowCast;
use espbench_sim::lab::predict::range::{
    DistanceProspects, PathDeviation, RangeLaw, RangedMessage, prospects, range_m, reach_m,
};
use espbench_sim::lab::scene::{Device, Environment, Scene};

/// Octets of a short frame: a mode that the chip reads at any distance is read with these.
const SHORT: u32 = 50;

/// Chance with which it is read then.
const READABLE: f64 = 0.9;

/// Range of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct MessageReach {
    /// Distance, in metres: over all places so far away.
    pub(super) metres: f64,
    /// Distance if the model of the place held at any.
    all_m: f64,
    /// The model of the place ends there.
    pub(super) is_bounded: bool,
    /// Distance without shadowing: that of the place in the middle.
    pub(super) median_m: f64,
    /// The model of the place ends there.
    pub(super) median_is_bounded: bool,
}

impl Predictor {
    /// Returns a setting with its range.
    pub(super) fn with_range(&self, case: &RoomCase, setting: OperatingPoint) -> OperatingPoint {
        let allowed = self.setup.limits.loss.filter(|it| *it > 0.0 && *it < 1.0);
        let share = allowed.unwrap_or(RANGE_LOSS);
        let Some(reach) = self.reach_of(case, share) else {
            return setting;
        };
        let [low, high] = self.range_interval(case, (share, reach.all_m), setting.is_inferred);
        OperatingPoint {
            range_m: Some(reach.metres),
            range_low_m: low,
            range_high_m: high,
            range_is_bounded: reach.is_bounded,
            range_median_m: Some(reach.median_m),
            range_median_is_bounded: reach.median_is_bounded,
            ..setting
        }
    }

    /// Returns how far a case's messages reach where no more than this share is lost, in metres, and
    /// whether the model of the place ends there; without shadowing and fading, too.
    pub(super) fn reach_of(&self, case: &RoomCase, share: f64) -> Option<MessageReach> {
        let profile = &self.scene.nodes.first()?.profile;
        let place = &self.scene.environment;
        let message = self.message(case)?;
        let even =
            Environment { shadow_db: 0.0, nakagami_m: None, slow_fading_db: None, ..place.clone() };
        let valid = place.valid_m.unwrap_or(f64::INFINITY);
        let all = reach_m(profile, place, &message, share);
        let median = reach_m(profile, &even, &message, share);
        Some(MessageReach {
            metres: all.min(valid),
            all_m: all,
            is_bounded: all > valid,
            median_m: median.min(valid),
            median_is_bounded: median > valid,
        })
    }

    /// Returns the ends of a range's interval, by what is not known of the place, the walls and the boards: what is
    /// drawn is the way, and nothing is simulated. None at an end beyond the model of the place.
    fn range_interval(
        &self,
        case: &RoomCase,
        reach: (f64, f64),
        is_inferred: bool,
    ) -> [Option<f64>; 2] {
        let law = self.scene.nodes.first().zip(self.message(case)).and_then(|(node, message)| {
            let shadowing = self.range_doubts(is_inferred).shadowing;
            RangeLaw::of(&node.profile, &self.scene.environment, &message, reach, shadowing)
        });
        let Some(law) = law else { return [None; 2] };
        let (doubts, walls_db) =
            (self.range_doubts(is_inferred), walls_db(&self.scene, &self.setup));
        let [low, high] = doubt::interval(|normal| {
            let exponent = doubt::factor(doubts.exponent, normal.next());
            let shadowing = normal.next() / doubt::WITHIN;
            let walls_db = walls_db * (doubt::factor(doubts.walls, normal.next()) - 1.0);
            let further_db = walls_db + doubts.boards_db * normal.next() / doubt::WITHIN;
            law.metres(&PathDeviation { exponent, shadowing, further_db })
        });
        let valid = self.valid_m();
        [low.map(|it| it.min(valid)), high.filter(|it| *it <= valid)]
    }

    /// Returns what is not known of ranges here.
    pub(super) fn range_doubts(&self, is_inferred: bool) -> RangeDoubts {
        let PredictSetup { walls, wall_is_said, .. } = self.setup;
        RangeDoubts::of(&self.scene.environment, walls, wall_is_said, is_inferred)
    }

    /// Returns a case's message, whose range is asked for.
    fn message(&self, case: &RoomCase) -> Option<RangedMessage> {
        let profile = &self.scene.nodes.first()?.profile;
        Some(RangedMessage {
            mode: case.mode,
            channel: self.channel(),
            octets: case.load.octets(&self.scene),
            payload: case.load.payload,
            frames: case.load.frames(profile.attempts),
            is_broadcast: matches!(case.load.cast, EspNowCast::Broadcast { .. }),
            path_db: self.path_db(),
        })
    }

    /// Returns the prospects of a case's messages at these distances.
    pub(super) fn prospects_of(&self, case: &RoomCase, metres: &[f64]) -> Vec<DistanceProspects> {
        let Some((node, message)) = self.scene.nodes.first().zip(self.message(case)) else {
            return Vec::new();
        };
        let at =
            |metres: &f64| prospects(&node.profile, &self.scene.environment, &message, *metres);
        metres.iter().map(at).collect()
    }

    /// Returns the farthest distance for which the model of the place holds.
    pub(super) fn valid_m(&self) -> f64 {
        self.scene.environment.valid_m.unwrap_or(f64::INFINITY)
    }

    /// Returns the loss in the walls less the gains of the antennas of node 0 and of a device, in dB.
    fn path_db(&self) -> f64 {
        let ends = [self.scene.nodes.first(), self.scene.nodes.last()];
        let antennas_db: f64 = ends.into_iter().flatten().map(Device::antenna_dbi).sum();
        walls_db(&self.scene, &self.setup) - antennas_db
    }

    /// Returns whether the devices send a mode, and read it at all.
    #[must_use]
    pub fn reads(&self, mode: WifiMode) -> bool {
        let Some(node) = self.scene.nodes.first().filter(|_| self.sends(mode)) else {
            return false;
        };
        let frame = (mode, SHORT, self.channel());
        let metres =
            range_m(&node.profile, &self.scene.environment, frame, self.path_db(), READABLE);
        metres.is_finite() && metres > 0.0
    }
}

/// Returns the loss in all walls between, in dB.
pub(super) fn walls_db(scene: &Scene, setup: &PredictSetup) -> f64 {
    let each = setup.wall_db.unwrap_or_else(|| scene.environment.one_wall_db());
    f64::from(setup.walls) * each
}

/// Puts the walls between the listener and the devices, which do not see each other then.
pub(super) fn put_walls(scene: &mut Scene, setup: &PredictSetup) {
    if setup.walls == 0 {
        return;
    }
    scene.environment = scene.environment.behind_walls();
    let walls_db = walls_db(scene, setup);
    for device in scene.nodes.iter_mut().skip(1) {
        device.walls_db = walls_db;
    }
}

//! One room of a case, simulated, and what was on the air of it.

use super::error::PredictError;
use super::rooms::{Predictor, RoomCase};
use super::trials::trial;
use alloc::boxed::Box;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_measure::predict::RoomTrial;
use espbench_sim::lab::predict::{self, Fidelity, Outcome, RoomWatch};
use espbench_sim::lab::scene::Scene;

/// A room as it was simulated, with what was on the air.
#[derive(Clone, Debug)]
pub struct WatchedRoom {
    /// Stations with their places.
    pub scene: Scene,
    /// Fates of the messages, and frames.
    pub outcome: Outcome,
}

impl Predictor {
    /// Simulates a room of a case: the same for the same number.
    ///
    /// # Errors
    /// The mistake in the lab; [`PredictError::Livelock`].
    pub fn trial(&self, case: &RoomCase, room: u32) -> Result<RoomTrial, PredictError> {
        self.trial_until(case, room, &|| false)
    }

    /// Simulates that room unless somebody wants to stop, who is asked often.
    ///
    /// # Errors
    /// As [`Predictor::trial`]; [`PredictError::Stopped`].
    pub fn trial_until(
        &self,
        case: &RoomCase,
        room: u32,
        stop: &dyn Fn() -> bool,
    ) -> Result<RoomTrial, PredictError> {
        let watched = self.watched(case, room, RoomWatch { flights: 0, stop })?;
        Ok(trial(&watched.outcome))
    }

    /// Simulates that room, and keeps so many frames that were on the air.
    ///
    /// # Errors
    /// As [`Predictor::trial`].
    pub fn watch(
        &self,
        case: &RoomCase,
        room: u32,
        flights: usize,
    ) -> Result<WatchedRoom, PredictError> {
        self.watched(case, room, RoomWatch { flights, stop: &|| false })
    }

    fn watched(
        &self,
        case: &RoomCase,
        room: u32,
        watch: RoomWatch<'_>,
    ) -> Result<WatchedRoom, PredictError> {
        let seed = RngStream::stream(self.setup.seed, room, Purpose::Start).bits();
        let scene = self.scene(case, seed)?;
        let fidelity = if self.setup.bare { Fidelity::MacOnly } else { Fidelity::FullStack };
        let outcome = predict::watched(&scene, &case.load, fidelity, seed, watch);
        let RoomCase { devices, mode, .. } = *case;
        let livelock = |why| PredictError::Livelock { devices, mode, seed, why: Box::new(why) };
        let outcome = outcome.map_err(livelock)?.ok_or(PredictError::Stopped)?;
        Ok(WatchedRoom { scene, outcome })
    }
}

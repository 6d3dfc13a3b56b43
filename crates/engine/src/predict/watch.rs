//! One room of a case, simulated, and what was on the air of it.

use super::error::PredictError;
use super::rooms::{Predictor, RoomCase};
use super::trials::trial;
use alloc::boxed::Box;
use espbench_dot11::random::{Purpose, RngStream};
use espbench_measure::predict::RoomTrial;
use espbench_sim::lab::predict::{self, Fidelity, Outcome};
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
        self.watch(case, room, 0).map(|watched| trial(&watched.outcome))
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
        let seed = RngStream::stream(self.setup.seed, room, Purpose::Start).bits();
        let scene = self.scene(case, seed)?;
        let fidelity = if self.setup.bare { Fidelity::MacOnly } else { Fidelity::FullStack };
        let outcome = predict::watched(&scene, &case.load, fidelity, seed, flights);
        let RoomCase { devices, mode, .. } = *case;
        let livelock = |why| PredictError::Livelock { devices, mode, seed, why: Box::new(why) };
        let outcome = outcome.map_err(livelock)?;
        Ok(WatchedRoom { scene, outcome })
    }
}

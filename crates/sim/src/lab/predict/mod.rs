//! Predictions: many devices whose applications send by a schedule to one that listens, and the
//! fate of each message.
//!
//! | module | content |
//! |---|---|
//! | [`load`] | the schedule of the applications, and the form of their messages |
//! | [`outcome`] | fates of the messages, times of their stages, use of the channel |
//! | [`range`] | the range of a mode |
//! | `ledger` | the messages of a run |
//! | `whole` | the devices of a lab, each a whole node |
//! | `bare` | radios without nodes, and nobody else on the air: the limit that physics sets |
//!
//! Device 0 of a scene listens and never sends; all others send to it, or to everybody. A message
//! is recorded if it was due after the warm-up and before the end of the run's time. After that the
//! applications go on, so that the last messages meet the same traffic as the first ones.

mod bare;
mod ledger;
pub mod load;
pub mod outcome;
pub mod range;
mod whole;

pub use load::{Arrival, Load};
pub use outcome::{Air, Outcome, Stages};

use super::run::Stuck;
use super::scene::Scene;
use alloc::sync::Arc;
use alloc::vec::Vec;
use esp_now::node::print::LogLevel;

/// Returns the longest payload that the firmware of all devices can send, in bytes.
#[must_use]
pub fn payload_max(scene: &Scene) -> u32 {
    let most = scene.nodes.iter().map(|it| it.settings.compat.data_max() as u32).min();
    most.unwrap_or(load::PAYLOAD_MAX).min(load::PAYLOAD_MAX)
}

/// Carries a load out on the devices of a scene. The same seed gives the same outcome.
///
/// # Errors
/// [`Stuck`].
pub fn run(scene: &Scene, load: &Load, seed: u64) -> Result<Outcome, Stuck> {
    whole::run(scene, load, seed)
}

/// Runs radios alone: processors take no time, and nobody else is on the air. Where messages are
/// acknowledged there are nodes behind the radios, since nodes send the acknowledgements.
///
/// # Errors
/// [`Stuck`].
pub fn run_bare(scene: &Scene, load: &Load, seed: u64) -> Result<Outcome, Stuck> {
    let mut scene = Scene { routers: Vec::new(), background: Vec::new(), ..scene.clone() };
    if !load.ack() {
        return Ok(bare::run(&scene, load, seed));
    }
    for device in &mut scene.nodes {
        device.profile = Arc::new(device.profile.at_once());
        device.remote_log = LogLevel::None;
    }
    whole::run(&scene, load, seed)
}

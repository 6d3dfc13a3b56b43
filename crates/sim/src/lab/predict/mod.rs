//! Predictions: many devices whose applications send by a schedule to one that listens, and the
//! fate of each message.
//!
//! | module | content |
//! |---|---|
//! | [`mod@burst`] | messages in one frame or in several, by `esp_now_send` alone |
//! | [`load`] | the schedule of the applications, and the form of their messages |
//! | [`outcome`] | fates of the messages, times of their stages, use of the channel |
//! | [`range`] | the range of a mode |
//! | [`sleep`] | the firmware of a battery's device, and what its parts draw |
//! | `sensors` | frames of devices that sleep between their messages |
//! | `sensor` | a device of these: the steps of its firmware |
//! | `gateway` | the device that listens to those |
//! | `ledger` | the messages of a run |
//! | `stack` | frames of a lab's devices, each a whole node |
//! | `mac` | frames of radios without nodes |
//!
//! Device 0 of a scene listens and never sends; all others send to it, or to everybody. A message
//! is recorded if it was due after the warm-up and before the end of the run's time. After that the
//! applications go on, so that the last messages meet the same traffic as the first ones.

pub mod burst;
mod gateway;
mod ledger;
pub mod load;
mod mac;
pub mod outcome;
pub mod range;
mod sensor;
mod sensors;
pub mod sleep;
mod stack;

pub use load::{Arrival, Load};
pub(in crate::lab) use load::{CRYSTAL_PPM, RTC_PPM};
pub use outcome::{Air, Outcome, Stages};
pub(in crate::lab) use sensors::AHEAD;

use super::run::Livelock;
use super::scene::Scene;
use alloc::sync::Arc;
use alloc::vec::Vec;
use esp_now::node::print::LogLevel;
use espbench_model::time::{Duration, Instant};
use ledger::MessageLog;

/// Returns the longest payload that the firmware of all devices can send, in bytes.
#[must_use]
pub fn payload_max(scene: &Scene) -> u32 {
    let most = scene.nodes.iter().map(|it| it.settings.compat.data_max() as u32).min();
    most.unwrap_or(load::PAYLOAD_MAX).min(load::PAYLOAD_MAX)
}

/// Part of the devices that is simulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fidelity {
    /// Devices with their firmware, in the lab with all that is on the air.
    #[default]
    FullStack,
    /// PHY and MAC of the devices: processors take no time, and nobody else is on the air. Where
    /// messages are acknowledged there are nodes behind the radios, since it is they who do that.
    MacOnly,
}

/// Maker of the frames of messages: what tells one fidelity from another.
trait FrameSource {
    /// Returns the virtual time.
    fn now(&self) -> Instant;
    /// Returns the messages.
    fn ledger(&self) -> &MessageLog;
    /// Lets time go on to `until`, with all messages that are due.
    fn go_on(&mut self, until: Instant) -> Result<(), Livelock>;
    /// Keeps so many frames for the outcome.
    fn watch(&mut self, most: usize);
    /// Ends the run.
    fn close(self) -> Outcome;
}

/// Carries a load out on the devices of a scene. The same seed gives the same outcome.
///
/// # Errors
/// [`Livelock`].
pub fn run(scene: &Scene, load: &Load, fidelity: Fidelity, seed: u64) -> Result<Outcome, Livelock> {
    let watch = RoomWatch { flights: 0, stop: &|| false };
    // Nobody stops it.
    watched(scene, load, fidelity, seed, watch).map(Option::unwrap_or_default)
}

/// Frames that are kept of a load that is carried out, and what stops it.
#[derive(Clone, Copy)]
pub struct RoomWatch<'a> {
    /// Frames on the air that the outcome keeps, at most.
    pub flights: usize,
    /// Returns whether to stop; asked every ten seconds of virtual time.
    pub stop: &'a dyn Fn() -> bool,
}

/// Carries a load out as [`run`] does; `None` where it was stopped.
///
/// # Errors
/// [`Livelock`].
pub fn watched(
    scene: &Scene,
    load: &Load,
    fidelity: Fidelity,
    seed: u64,
    watch: RoomWatch<'_>,
) -> Result<Option<Outcome>, Livelock> {
    let is_full = fidelity == Fidelity::FullStack;
    let mut scene = match is_full {
        true => scene.clone(),
        false => Scene { routers: Vec::new(), background: Vec::new(), ..scene.clone() },
    };
    let at_once = |scene: &mut Scene| {
        for device in &mut scene.nodes {
            device.profile = Arc::new(device.profile.at_once());
            device.remote_log = LogLevel::None;
        }
    };
    if let Some(plan) = load.sleep {
        // What wakes, boots and starts Wi-Fi takes its time all the same.
        if !is_full {
            at_once(&mut scene);
        }
        return carry_out(sensors::Sensors::new(&scene, load, plan, seed), load, watch);
    }
    if is_full {
        return carry_out(stack::Nodes::new(scene, load, seed)?, load, watch);
    }
    if !load.ack() {
        return carry_out(mac::Radios::new(&scene, load, seed), load, watch);
    }
    at_once(&mut scene);
    carry_out(stack::Nodes::new(scene, load, seed)?, load, watch)
}

/// Lets the applications send for the load's time, and waits for what is still under way.
fn carry_out(
    mut frames: impl FrameSource,
    load: &Load,
    watch: RoomWatch<'_>,
) -> Result<Option<Outcome>, Livelock> {
    frames.watch(watch.flights);
    let until = frames.ledger().until();
    let mut at = frames.now();
    while at < until {
        if (watch.stop)() {
            return Ok(None);
        }
        at = until.min(at + SLICE);
        frames.go_on(at)?;
    }
    let last = until + load.drain;
    while !frames.ledger().is_settled() && frames.now() < last {
        let next = (frames.now() + load.drain / 16).min(last);
        frames.go_on(next)?;
    }
    Ok(Some(frames.close()))
}

/// Virtual time after which it is asked again whether to stop.
const SLICE: Duration = Duration::from_secs(10);

//! Rooms of a lab, made and run for one setting after the other.

use super::options::Common;
use crate::cli::flow;
use crate::cli::pool;
use crate::cli::progress::ProgressLine;
use anyhow::{Context as _, bail};
use espbench_dot11::radio::{Airtime, WifiMode};
use espbench_dot11::random::{Purpose, RngStream};
use espbench_measure::predict::point::OperatingPoint;
use espbench_measure::predict::{ChannelUse, PointEstimates, RoomTrial};
use espbench_sim::lab::file::{FileKind, Library, Overrides};
use espbench_sim::lab::predict::{self, Arrival, Fidelity, Load, Outcome};
use espbench_sim::lab::scene::Scene;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Where rooms come from, and what they share.
pub(super) struct RoomFactory {
    common: Common,
    library: Library,
    cancel: Arc<AtomicBool>,
    /// Properties that all rooms of the lab have in common.
    pub(super) sample: LabFacts,
}

/// Properties of a lab, from one of its rooms.
pub(super) struct LabFacts {
    pub(super) chip: String,
    pub(super) profile: String,
    pub(super) environment: String,
    pub(super) scene: Scene,
}

/// One setting: so many devices, sending so.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoomCase {
    pub(super) devices: u32,
    pub(super) mode: WifiMode,
    pub(super) load: Load,
}

impl RoomFactory {
    /// Loads the lab.
    pub(super) fn new(common: &Common) -> anyhow::Result<Self> {
        common.check()?;
        let library = crate::labs::library(FileKind::Lab, &common.lab)?;
        let scene = library.scene(&common.lab, &change(common, 1), common.seed)?;
        let first = scene.nodes.first().context("the lab has no devices")?;
        let most = predict::payload_max(&scene);
        if common.payload > most {
            let sealed = if common.encrypt { ", encrypted" } else { "" };
            bail!(
                "--payload {}: the firmware of lab {} sends at most {most} bytes{sealed}",
                common.payload,
                common.lab
            );
        }
        let sample = LabFacts {
            chip: first.profile.chip_name.clone(),
            profile: first.profile.name.clone(),
            environment: scene.environment.name.clone(),
            scene,
        };
        let cancel = flow::on_interrupt()?;
        Ok(Self { common: common.clone(), library, cancel, sample })
    }

    /// Returns a case with the common load.
    pub(super) fn case(&self, devices: u32, mode: WifiMode) -> RoomCase {
        RoomCase { devices, mode, load: self.common.load(devices) }
    }

    /// Returns whether the user wants to stop.
    pub(super) fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::Relaxed)
    }

    /// Returns the settings of the prediction, for the report.
    pub(super) fn facts(&self, common: &Common) -> BTreeMap<String, String> {
        let (rooms, messages) = (common.rooms, common.messages);
        [
            ("lab", common.lab.clone()),
            ("profile", self.sample.profile.clone()),
            ("message", common.shared()),
            ("application's queue", format!("{} messages", common.queue)),
            ("effort", format!("{rooms} rooms and {messages} messages a figure")),
        ]
        .map(|(name, value)| (name.to_string(), value))
        .into()
    }

    /// Returns remarks on the lab that matter for reading the figures.
    pub(super) fn notes(&self) -> Vec<String> {
        let scene = &self.sample.scene;
        let place = &scene.environment;
        let mut text = format!(
            "Lab {} ({}): profile {}, environment {} (path loss exponent {}, shadowing {} dB",
            scene.name,
            scene.title,
            self.sample.profile,
            place.name,
            place.exponent,
            place.shadow_db,
        );
        let others = scene.background.len() + scene.routers.len();
        text.push_str(&if self.common.bare {
            "); radios alone: processors take no time, nobody else is on the air.".to_string()
        } else {
            format!(", {others} stations of other people).")
        });
        vec![text]
    }

    /// Progress over the rooms of so many cases.
    pub(super) fn progress(&self, cases: &[RoomCase]) -> ProgressLine {
        let times: Vec<Duration> =
            cases.iter().map(|case| weight(case) * self.common.rooms).collect();
        ProgressLine::guessed(&times, self.common.quiet)
    }

    /// Simulates the trials of some cases, a list for each: shorter, or empty, where the user
    /// stopped it.
    pub(super) fn trials(
        &self,
        cases: &[RoomCase],
        rooms: std::ops::Range<u32>,
        progress: &mut ProgressLine,
        label: impl Fn(&RoomCase) -> String,
    ) -> anyhow::Result<Vec<Vec<RoomTrial>>> {
        let each = rooms.len();
        let mut left: Vec<usize> = vec![each; cases.len()];
        let mut shown = None;
        let job = |at: usize| self.trial(&cases[at / each], rooms.start + (at % each) as u32);
        let done = |at: usize| {
            let case = at / each;
            if shown.replace(case) != Some(case) {
                progress.begin(&label(&cases[case]));
            }
            progress.advance(weight(&cases[case]));
            left[case] -= 1;
            if left[case] == 0 {
                progress.end(None);
            }
        };
        let results =
            pool::each(cases.len() * each, self.common.threads(), &self.cancel, job, done);
        let mut trials: Vec<Vec<RoomTrial>> = vec![Vec::new(); cases.len()];
        for (at, result) in results.into_iter().enumerate() {
            trials[at / each].extend(result.transpose()?);
        }
        Ok(trials)
    }

    /// Returns the point of a case.
    pub(super) fn point(&self, case: &RoomCase, trials: &[RoomTrial]) -> PointEstimates {
        PointEstimates::of(self.setting(case), trials)
    }

    /// Describes a case for the report.
    pub(super) fn setting(&self, case: &RoomCase) -> OperatingPoint {
        let octets = case.load.octets(&self.sample.scene);
        OperatingPoint {
            devices: case.devices,
            rate: case.mode.to_string(),
            kbit_s: case.mode.kbit_s(),
            acknowledged: case.load.ack(),
            air_us: Airtime::of(case.mode, octets).total_ns() as f64 / 1000.0,
            ..OperatingPoint::default()
        }
    }

    fn trial(&self, case: &RoomCase, room: u32) -> anyhow::Result<RoomTrial> {
        let seed = RngStream::stream(self.common.seed, room, Purpose::Start).bits();
        let scene = self.scene(case, seed)?;
        let fidelity = match self.common.bare {
            true => Fidelity::MacOnly,
            false => Fidelity::FullStack,
        };
        let outcome = predict::run(&scene, &case.load, fidelity, seed);
        let outcome = outcome.with_context(|| {
            format!("with {} devices at {}, in the room of seed {seed}", case.devices, case.mode)
        })?;
        Ok(trial(&outcome))
    }

    /// Returns the room of a case.
    fn scene(&self, case: &RoomCase, seed: u64) -> anyhow::Result<Scene> {
        let change = change(&self.common, case.devices);
        let mut scene = self.library.scene(&self.common.lab, &change, seed)?;
        for device in &mut scene.nodes {
            device.mode = case.mode;
        }
        Ok(scene)
    }
}

fn change(common: &Common, devices: u32) -> Overrides {
    Overrides {
        devices: Some(u16::try_from(devices).unwrap_or(u16::MAX)),
        distance_m: common.distance,
        encrypted: Some(common.encrypt),
        profile: common.profile.clone(),
        ..Overrides::default()
    }
}

/// Returns how long a room of a case takes, compared with others: frames times hearers. The unit is
/// arbitrary, but large enough to be counted in whole milliseconds.
pub(super) fn weight(case: &RoomCase) -> Duration {
    let load = &case.load;
    let watched = load.warm_up + load.time;
    // One that always sends has sent a frame in some 2 ms.
    let every = if load.arrival == Arrival::Always { 2e-3 } else { load.every.as_secs_f64() };
    let each = watched.as_secs_f64() / every.max(1e-4);
    let hearers = 4.0 + f64::from(case.devices);
    Duration::from_secs_f64(1e-3 * each * f64::from(case.devices) * hearers)
}

/// Converts an outcome of the lab to a trial of `measure`.
fn trial(outcome: &Outcome) -> RoomTrial {
    let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let (it, air) = (&outcome.stages, &outcome.air);
    let stages = [it.queue, it.sender, it.medium, it.retries, it.air, it.receiver].map(nanos);
    let air = ChannelUse {
        window_ns: nanos(air.window),
        busy_ns: nanos(air.busy),
        data_ns: nanos(air.data),
        retries_ns: nanos(air.retries),
        acks_ns: nanos(air.acks),
        others_ns: nanos(air.others),
    };
    RoomTrial::of(&outcome.samples, stages, nanos(it.held), air)
}

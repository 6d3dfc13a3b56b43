//! A conversation in a room of the virtual lab.

use super::Args;
use crate::capture::{AirCapture, CaptureOrigin};
use crate::labs;
use espbench_dot11::mac::MacCounters;
use espbench_model::time::Instant;
use espbench_sim::lab::file::{FileKind, Overrides};
use espbench_sim::lab::nodes::Conversation as _;
use espbench_sim::lab::run::{Lab, Tap};
use espbench_sim::lab::scene::Scene;
use std::fs::File;
use std::io::{self, BufWriter};

/// A monitor stands where the first device does.
const OBSERVER: u32 = 0;

/// Reads the room, with `--nodes` devices in all if that is given.
pub(super) fn scene(args: &Args, lab: &str) -> anyhow::Result<Scene> {
    let library = labs::library(FileKind::Lab, lab)?;
    let devices = args.devices.map(|nodes| nodes - 1);
    Ok(library.scene(lab, &Overrides { devices, ..Overrides::default() }, args.seed)?)
}

pub(super) fn capture(
    scene: &Scene,
    args: &Args,
    out: BufWriter<File>,
) -> io::Result<AirCapture<BufWriter<File>>> {
    AirCapture::new(
        out,
        &CaptureOrigin { scene, seed: args.seed, observer: OBSERVER, what: "espnow talk" },
    )
}

/// Creates the lab with the devices in their room.
pub(super) fn lab<W: Tap>(scene: &Scene, args: &Args, watch: W) -> Lab<'static, W> {
    let mut lab = Lab::new(scene, args.seed, watch);
    // Nobody asks for them.
    lab.keep_data(false);
    lab.keep_samples(false);
    lab
}

/// Sums up what was on the air, in one line.
pub(super) fn summary<W: Tap>(scene: &Scene, lab: &Lab<W>) -> String {
    let sum = |of: fn(&MacCounters) -> u64| -> u64 {
        lab.nodes().map(|node| of(&lab.mac_counters(node.0.into()))).sum()
    };
    let refused: u64 = lab.nodes().map(|node| lab.drops(node).refused).sum();
    format!(
        "{} devices in {}, {:.3} s: {} frames sent, {} of them again, {refused} refused by the driver, \
         {} given up by the MAC; with those of others {} received, {} collided, {} too weak",
        lab.count(),
        scene.name,
        lab.now().since(Instant::ZERO).as_secs_f64(),
        sum(|it| it.sent),
        sum(|it| it.retries),
        sum(|it| it.given_up),
        sum(|it| it.received),
        sum(|it| it.collided),
        sum(|it| it.noise),
    )
}

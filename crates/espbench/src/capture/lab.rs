//! The capture of a cell in a lab, whatever its devices run.

use super::air::{AirCapture, CaptureOrigin};
use super::wlan::Wlan;
use espbench_model::sample::Cause;
use espbench_model::time::Instant;
use espbench_sim::lab::nodes::note::{Note, Watch};
use espbench_sim::lab::run::{Content, Tap};
use espbench_sim::lab::scene::Scene;
use espbench_sim::lab::trace::Flight;
use espbench_sim::lab::wifi::watch::{ObservedPpdu, Watcher};
use std::io::{self, Write};

/// Devices are numbered from the initiator on: a capture of nodes is made at its place.
const INITIATOR: u32 = 0;

/// Writes a capture of a lab: of nodes alone, or of machines with whatever is beside them.
#[derive(Debug)]
pub enum LabCapture<W> {
    /// Frames of nodes that run the esp-now component.
    Nodes(AirCapture<W>),
    /// Frames of machines, with the packets in them.
    Machines(Wlan<W>),
}

impl<W: Write> LabCapture<W> {
    /// Begins a capture at the place of the scene's first device. `what` is done there, in words.
    ///
    /// # Errors
    /// The writer's.
    pub fn new(out: W, scene: &Scene, seed: u64, what: &str) -> io::Result<Self> {
        if scene.devices.is_empty() {
            let origin = CaptureOrigin { scene, seed, observer: INITIATOR, what };
            return AirCapture::new(out, &origin).map(Self::Nodes);
        }
        Wlan::new(out, scene, seed, what).map(Self::Machines)
    }

    /// Ends it and gives the number of packets.
    ///
    /// # Errors
    /// The first that the writer had.
    pub fn finish(self) -> io::Result<u64> {
        match self {
            Self::Nodes(air) => air.finish(),
            Self::Machines(wlan) => wlan.finish(),
        }
    }
}

impl<W: Write> Watch for LabCapture<W> {
    fn note(&mut self, _: Instant, _: &Note<'_>) {}
}

impl<W: Write> Tap for LabCapture<W> {
    fn wants_notes(&self) -> bool {
        false
    }

    fn flight(&mut self, flight: &Flight, content: Option<Content<'_>>) {
        if let Self::Nodes(air) = self {
            air.flight(flight, content);
        }
    }

    fn lost(&mut self, _: Instant, _: u32, _: Cause) {}
}

impl<W: Write> Watcher for LabCapture<W> {
    fn frame(&mut self, seen: &ObservedPpdu<'_>) {
        if let Self::Machines(wlan) = self {
            wlan.frame(seen);
        }
    }

    fn gain(&mut self, station: u32, gain_db: f64) {
        if let Self::Machines(wlan) = self {
            wlan.gain(station, gain_db);
        }
    }
}

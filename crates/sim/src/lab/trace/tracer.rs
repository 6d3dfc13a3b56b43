//! Watches a lab.

use super::occupancy::Occupancy;
use super::windows::{Limits, QueuedFlight, TracedProbe, Windows};
use super::{AirtimeKind, Flight, Trace};
use crate::lab::nodes::note::{Note, Watch};
use crate::lab::run::{Content, Tap};
use crate::lab::scene::Scene;
use crate::lab::wifi::watch::{ObservedPpdu, Watcher};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use espbench_model::excerpt::StationLevel;
use espbench_model::sample::{self, Cause, Sample};
use espbench_model::time::Instant;

/// Keeps what a report shows of a lab: in bounded memory, whatever happens and for however long.
#[derive(Debug)]
pub struct Tracer {
    names: Vec<String>,
    devices: usize,
    begin: Instant,
    last: Instant,
    /// Since when each station has nothing on the air that it waits for.
    free: Vec<Instant>,
    /// Times at which the devices were started: their clocks began.
    started: Vec<Instant>,
    windows: Windows,
    occupancy: Occupancy,
}

impl Tracer {
    /// Watches the lab of that scene: its nodes or, where machines are in it, all stations.
    #[must_use]
    pub fn new(scene: &Scene, limits: Limits) -> Self {
        if scene.devices.is_empty() {
            return Self::named(names(scene), scene.nodes.len(), limits);
        }
        let names = scene.names();
        let stations = names.len();
        Self::named(names, stations, limits)
    }

    /// Watches a lab of stations with these names, the first `devices` of which are devices.
    #[must_use]
    pub fn named(names: Vec<String>, devices: usize, limits: Limits) -> Self {
        Self {
            free: alloc::vec![Instant::ZERO; names.len()],
            started: alloc::vec![Instant::ZERO; devices],
            devices,
            names,
            begin: Instant::ZERO,
            last: Instant::ZERO,
            windows: Windows::new(limits),
            occupancy: Occupancy::default(),
        }
    }

    /// Forgets what was before that instant: the measurement begins.
    pub fn restart(&mut self, at: Instant, limits: Limits) {
        (self.begin, self.last) = (at, at);
        self.windows = Windows::new(limits);
        self.occupancy = Occupancy::since(at);
    }

    /// Sets a level of a station. Only changes within the excerpt are kept.
    pub fn level(&mut self, at: Instant, station: u32, level: StationLevel, value: u64) {
        if at >= self.begin {
            self.windows.level(at, station, level, value);
        }
    }

    /// Returns the trace, once the test is over.
    #[must_use]
    pub fn ended(self) -> Trace {
        let end = self.last;
        self.finish(end)
    }

    /// Returns the trace, when the lab's clock says `now`.
    #[must_use]
    pub fn finish(self, now: Instant) -> Trace {
        Trace {
            stations: self.names,
            windows: self.windows.finish(),
            channels: self.occupancy.finish(),
            time: now.max(self.last).since(self.begin),
        }
    }

    /// Records a probe of a device whose clock began at `started`.
    fn sampled(&mut self, station: u32, started: Instant, at: Instant, it: &sample::Probe) {
        let lab = |time: Instant| started + time.since(Instant::ZERO);
        let begin = lab(it.sent.unwrap_or(it.due));
        if begin < self.begin {
            return;
        }
        let end = it.received.or(it.acked).map_or(at, lab).max(begin);
        let (sequence, fate) = (it.seq, it.fate);
        self.windows.probe(TracedProbe { station, sequence, begin, end, fate });
    }

    /// Records a frame that has ended.
    fn flown(&mut self, flight: &Flight) {
        if flight.begin < self.begin {
            return;
        }
        self.last = flight.end;
        self.occupancy.flight(flight);
        let first = if matches!(flight.what, AirtimeKind::Ack | AirtimeKind::BlockAck) {
            // Whoever it is for can go on.
            if let Some(free) = flight.to.and_then(|to| self.free.get_mut(to as usize)) {
                *free = flight.end;
            }
            flight.begin
        } else {
            self.first(flight)
        };
        self.windows.flight(QueuedFlight { flight: *flight, first });
    }

    fn loss(&mut self, at: Instant, node: u32, cause: Cause) {
        if at >= self.begin && (node as usize) < self.devices {
            self.windows.loss((at, node, cause));
        }
    }

    /// Returns the time since which a flight's sender has tried to send it.
    fn first(&mut self, flight: &Flight) -> Instant {
        let Some(free) = self.free.get_mut(flight.from as usize) else { return flight.begin };
        let first = flight.queued.max(*free).min(flight.begin);
        *free = flight.end;
        first
    }
}

/// Stations of a scene, devices with their groups.
fn names(scene: &Scene) -> Vec<String> {
    let mut names = scene.names();
    for (name, device) in names.iter_mut().zip(&scene.nodes) {
        if !device.group.is_empty() {
            *name = format!("{name} ({})", device.group);
        }
    }
    names
}

impl Watch for Tracer {
    fn note(&mut self, at: Instant, note: &Note<'_>) {
        match note {
            Note::Started { node, .. } => {
                if let Some(started) = self.started.get_mut(node.index()) {
                    *started = at;
                }
            }
            Note::Sample { node, sample: Sample::Probe(probe) } => {
                let Some(&started) = self.started.get(node.index()) else { return };
                self.sampled(node.index() as u32, started, at, probe);
            }
            _ => {}
        }
    }
}

impl Tap for Tracer {
    fn wants_notes(&self) -> bool {
        false
    }

    fn flight(&mut self, flight: &Flight, _: Option<Content<'_>>) {
        self.flown(flight);
    }

    fn lost(&mut self, at: Instant, node: u32, cause: Cause) {
        self.loss(at, node, cause);
    }
}

/// Watches a lab over Wi-Fi, where the clocks of the machines began with the lab.
impl Watcher for Tracer {
    fn begin(&mut self, at: Instant) {
        let limits = self.windows.limits();
        self.restart(at, limits);
    }

    fn end(&mut self, at: Instant) {
        self.last = self.last.max(at);
    }

    fn frame(&mut self, seen: &ObservedPpdu<'_>) {
        self.flown(&seen.flight);
    }

    fn lost(&mut self, at: Instant, station: u32, cause: Cause) {
        self.loss(at, station, cause);
    }

    fn probe(&mut self, at: Instant, station: u32, probe: &sample::Probe) {
        self.sampled(station, Instant::ZERO, at, probe);
    }

    fn wants_levels(&self) -> bool {
        true
    }

    fn level(&mut self, at: Instant, station: u32, level: StationLevel, value: u64) {
        Self::level(self, at, station, level, value);
    }
}

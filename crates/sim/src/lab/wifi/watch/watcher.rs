//! Watchers of the machines of a lab and of the air.

use super::ObservedPpdu;
use espbench_model::excerpt::StationLevel;
use espbench_model::sample::{Cause, Probe};
use espbench_model::time::Instant;

/// Observer of the machines and of the air. Stations are those of its room; machines on a wire have the
/// numbers after them.
pub trait Watcher {
    /// Begins the measurement.
    fn begin(&mut self, at: Instant) {
        let _ = at;
    }

    /// Ends the measurement.
    fn end(&mut self, at: Instant) {
        let _ = at;
    }

    /// Takes a PPDU that has ended; PPDUs come in the order of their ends.
    fn frame(&mut self, seen: &ObservedPpdu<'_>) {
        let _ = seen;
    }

    /// Takes a packet's loss at that station, with its cause.
    fn lost(&mut self, at: Instant, station: u32, cause: Cause) {
        let _ = (at, station, cause);
    }

    /// Takes note that all links of a station have a gain in dB from now on, beside those of the room.
    fn gain(&mut self, station: u32, gain_db: f64) {
        let _ = (station, gain_db);
    }

    /// Takes a probe that a machine has recorded.
    fn probe(&mut self, at: Instant, station: u32, probe: &Probe) {
        let _ = (at, station, probe);
    }

    /// Returns whether [`Watcher::level`] is wanted.
    fn wants_levels(&self) -> bool {
        false
    }

    /// Takes a level, as a frame begins or ends: mostly it has not changed.
    fn level(&mut self, at: Instant, station: u32, level: StationLevel, value: u64) {
        let _ = (at, station, level, value);
    }
}

/// Nobody watches.
impl Watcher for () {}

impl<T: Watcher + ?Sized> Watcher for &mut T {
    fn begin(&mut self, at: Instant) {
        (**self).begin(at);
    }

    fn end(&mut self, at: Instant) {
        (**self).end(at);
    }

    fn frame(&mut self, seen: &ObservedPpdu<'_>) {
        (**self).frame(seen);
    }

    fn lost(&mut self, at: Instant, station: u32, cause: Cause) {
        (**self).lost(at, station, cause);
    }

    fn gain(&mut self, station: u32, gain_db: f64) {
        (**self).gain(station, gain_db);
    }

    fn probe(&mut self, at: Instant, station: u32, probe: &Probe) {
        (**self).probe(at, station, probe);
    }

    fn wants_levels(&self) -> bool {
        (**self).wants_levels()
    }

    fn level(&mut self, at: Instant, station: u32, level: StationLevel, value: u64) {
        (**self).level(at, station, level, value);
    }
}

impl<T: Watcher> Watcher for Option<T> {
    fn begin(&mut self, at: Instant) {
        self.iter_mut().for_each(|it| it.begin(at));
    }

    fn end(&mut self, at: Instant) {
        self.iter_mut().for_each(|it| it.end(at));
    }

    fn frame(&mut self, seen: &ObservedPpdu<'_>) {
        self.iter_mut().for_each(|it| it.frame(seen));
    }

    fn lost(&mut self, at: Instant, station: u32, cause: Cause) {
        self.iter_mut().for_each(|it| it.lost(at, station, cause));
    }

    fn gain(&mut self, station: u32, gain_db: f64) {
        self.iter_mut().for_each(|it| it.gain(station, gain_db));
    }

    fn probe(&mut self, at: Instant, station: u32, probe: &Probe) {
        self.iter_mut().for_each(|it| it.probe(at, station, probe));
    }

    fn wants_levels(&self) -> bool {
        self.as_ref().is_some_and(T::wants_levels)
    }

    fn level(&mut self, at: Instant, station: u32, level: StationLevel, value: u64) {
        self.iter_mut().for_each(|it| it.level(at, station, level, value));
    }
}

impl<A: Watcher, B: Watcher> Watcher for (A, B) {
    fn begin(&mut self, at: Instant) {
        self.0.begin(at);
        self.1.begin(at);
    }

    fn end(&mut self, at: Instant) {
        self.0.end(at);
        self.1.end(at);
    }

    fn frame(&mut self, seen: &ObservedPpdu<'_>) {
        self.0.frame(seen);
        self.1.frame(seen);
    }

    fn lost(&mut self, at: Instant, station: u32, cause: Cause) {
        self.0.lost(at, station, cause);
        self.1.lost(at, station, cause);
    }

    fn gain(&mut self, station: u32, gain_db: f64) {
        self.0.gain(station, gain_db);
        self.1.gain(station, gain_db);
    }

    fn probe(&mut self, at: Instant, station: u32, probe: &Probe) {
        self.0.probe(at, station, probe);
        self.1.probe(at, station, probe);
    }

    fn wants_levels(&self) -> bool {
        self.0.wants_levels() || self.1.wants_levels()
    }

    fn level(&mut self, at: Instant, station: u32, level: StationLevel, value: u64) {
        self.0.level(at, station, level, value);
        self.1.level(at, station, level, value);
    }
}

//! Stretches of a lab's history that are kept: the first probe (without probes the first frame),
//! and the time around the worst moment. A ring remembers the recent past, so that the moments
//! before can be kept too.

use super::levels::{Courses, Levels};
use super::{AirtimeKind, Flight};
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;
use espbench_model::excerpt::StationLevel;
use espbench_model::sample::{Cause, Fate};
use espbench_model::time::Instant;

/// Limits on the part that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most frames of the start.
    pub first: usize,
    /// Most frames around the worst moment.
    pub around: usize,
    /// Longest stretch of the start.
    pub span: Duration,
    /// Time that is shown before the worst moment begins, and after it ends.
    pub margin: Duration,
}

impl Default for Limits {
    /// Limits a cell's excerpt to about 40 KB of text.
    fn default() -> Self {
        Self {
            first: 200,
            around: 240,
            span: Duration::from_millis(500),
            margin: Duration::from_millis(3),
        }
    }
}

/// Flights that are remembered, so that the moments before something are known: at 1 Mbit/s those of
/// the 3 s after which a ping is given up, and more.
const RING: usize = 8192;
/// Probes and losses that are remembered.
const MARKS: usize = 256;
/// Something is worse only if it is so by that much: a queue that fills would else be copied with
/// every frame.
const WORSE_PERCENT: u64 = 110;

/// A flight and since when it was first in its sender's queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueuedFlight {
    /// The flight.
    pub flight: Flight,
    /// Since when its sender has tried to send it.
    pub first: Instant,
}

/// A probe of a device, on the lab's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracedProbe {
    /// Number of the station.
    pub station: u32,
    /// Sequence number.
    pub sequence: u64,
    /// Time at which it was sent.
    pub begin: Instant,
    /// Time at which it was answered, or given up.
    pub end: Instant,
    /// Fate of the probe.
    pub fate: Fate,
}

/// A stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Window {
    /// Reason why the window is shown.
    pub why: String,
    /// Begin of the stretch.
    pub begin: Instant,
    /// End of the stretch.
    pub end: Instant,
    /// Frames, in the order of their ends.
    pub flights: Vec<QueuedFlight>,
    /// Probes that were under way.
    pub probes: Vec<TracedProbe>,
    /// Losses, each with its time, node and cause.
    pub losses: Vec<(Instant, u32, Cause)>,
    /// Courses of windows, queues and memory.
    pub levels: Courses,
    /// Frames that found no room.
    pub missing: u64,
}

impl Window {
    fn takes(&self, begin: Instant, end: Instant) -> bool {
        begin <= self.end && end >= self.begin
    }

    /// Keeps a flight if there are fewer than so many, and ends before it else.
    fn begins_with(&mut self, shown: QueuedFlight, most: usize) {
        if self.flights.len() < most {
            self.flights.push(shown);
        } else {
            self.end = self.end.min(shown.flight.begin);
        }
    }

    fn probe(&mut self, probe: &TracedProbe) {
        if self.takes(probe.begin, probe.end) && self.probes.len() < MARKS {
            self.probes.push(*probe);
        }
    }

    fn loss(&mut self, loss: &(Instant, u32, Cause)) {
        if self.takes(loss.0, loss.0) && self.losses.len() < MARKS {
            self.losses.push(*loss);
        }
    }
}

/// The windows of a lab, as time goes by.
#[derive(Debug, Default)]
pub(super) struct Windows {
    limits: Limits,
    first: Option<Window>,
    /// True once a probe was seen.
    probed: bool,
    worst: Option<Window>,
    /// Severity of the worst moment so far; one of a probe comes before all others.
    badness: (bool, u64),
    /// In the order of their ends.
    flights: VecDeque<QueuedFlight>,
    probes: VecDeque<TracedProbe>,
    losses: VecDeque<(Instant, u32, Cause)>,
    levels: Levels,
}

/// Part of a long moment that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MomentPart {
    /// Begin of the moment: of a lost probe, the fates of its frames.
    Begin,
    /// End of the moment: of a frame that waited, its transmission at last.
    End,
}

fn push<T>(ring: &mut VecDeque<T>, most: usize, it: T) {
    if ring.len() == most {
        ring.pop_front();
    }
    ring.push_back(it);
}

fn before(at: Instant, by: Duration) -> Instant {
    Instant::from_nanos(at.as_nanos().saturating_sub(by.as_nanos() as u64))
}

impl Windows {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, ..Self::default() }
    }

    pub(super) fn flight(&mut self, shown: QueuedFlight) {
        let Limits { first, span, around, .. } = self.limits;
        let flight = &shown.flight;
        if self.first.is_none() && flight.what == AirtimeKind::Data {
            let (begin, end) = (shown.first, shown.first + span);
            let (why, levels) = ("The start".into(), self.levels.since(begin, end));
            self.first = Some(Window { why, begin, end, levels, ..Window::default() });
        }
        if let Some(window) = &mut self.first
            && window.takes(flight.begin, flight.end)
        {
            window.begins_with(shown, first);
        }
        if let Some(window) = &mut self.worst
            && window.takes(flight.begin, flight.end)
        {
            if window.flights.len() < around {
                window.flights.push(shown);
            } else {
                window.missing += 1;
            }
        }
        push(&mut self.flights, RING, shown);
        if flight.what == AirtimeKind::Data {
            let took = flight.end.since(flight.queued).as_nanos() as u64;
            let moment = (flight.queued, flight.end, MomentPart::End);
            self.bad((false, took), moment, "The frame that took longest");
        }
    }

    pub(super) fn probe(&mut self, probe: TracedProbe) {
        if !core::mem::replace(&mut self.probed, true) {
            self.first = self.start(&probe).or(self.first.take());
        }
        for window in self.first.iter_mut().chain(&mut self.worst) {
            window.probe(&probe);
        }
        push(&mut self.probes, MARKS, probe);
        let (took, why) = match probe.fate {
            Fate::Lost(_) => (u64::MAX, "The first probe that was lost"),
            _ => (probe.end.since(probe.begin).as_nanos() as u64, "The probe that took longest"),
        };
        self.bad((true, took), (probe.begin, probe.end, MomentPart::Begin), why);
    }

    pub(super) fn loss(&mut self, loss: (Instant, u32, Cause)) {
        for window in self.first.iter_mut().chain(&mut self.worst) {
            window.loss(&loss);
        }
        push(&mut self.losses, MARKS, loss);
    }

    pub(super) fn level(&mut self, at: Instant, station: u32, level: StationLevel, value: u64) {
        let key = (station, level);
        if !self.levels.set(at, key, value) {
            return;
        }
        for window in self.first.iter_mut().chain(&mut self.worst) {
            if window.takes(at, at) {
                window.levels.change(at, key, value);
            }
        }
    }

    pub(super) const fn limits(&self) -> Limits {
        self.limits
    }

    /// Returns whether all flights since then are in the ring.
    fn remembers(&self, at: Instant) -> bool {
        let first = self.flights.front();
        self.flights.len() < RING || first.is_some_and(|it| it.flight.begin <= at)
    }

    /// Returns the window in which a probe began, if the ring reaches back to it.
    fn start(&self, probe: &TracedProbe) -> Option<Window> {
        let Limits { first, span, margin, .. } = self.limits;
        if !self.remembers(probe.begin) {
            return None;
        }
        let (begin, end) = (before(probe.begin, margin), probe.begin + span);
        let mut window = Window { why: "The first probe".into(), begin, end, ..Window::default() };
        for shown in &self.flights {
            if window.takes(shown.flight.begin, shown.flight.end) {
                window.begins_with(*shown, first);
            }
        }
        self.losses.iter().for_each(|loss| window.loss(loss));
        window.levels = self.levels.since(window.begin, window.end);
        Some(window)
    }

    /// Keeps that moment if none was as bad.
    fn bad(&mut self, badness: (bool, u64), moment: (Instant, Instant, MomentPart), why: &str) {
        let (probe, took) = badness;
        let least = if probe == self.badness.0 {
            (u128::from(self.badness.1) * u128::from(WORSE_PERCENT) / 100) as u64
        } else {
            0
        };
        if (!probe && self.badness.0) || took <= least {
            return;
        }
        self.badness = badness;
        let Limits { span, margin, around, .. } = self.limits;
        let (begin, end, part) = moment;
        // The span bounds how much of a long wait is shown; how it began may be forgotten.
        let part = if self.remembers(begin) { part } else { MomentPart::End };
        let (begin, end) = match part {
            MomentPart::Begin => (begin, end.min(begin + span)),
            MomentPart::End => (begin.max(before(end, span)), end),
        };
        let (begin, end) = (before(begin, margin), end + margin);
        let mut window = Window { why: why.into(), begin, end, ..Window::default() };
        let within = |it: &&QueuedFlight| window.takes(it.flight.begin, it.flight.end);
        // Of all that are remembered, most ended long before.
        let ended = self.flights.partition_point(|it| it.flight.end < window.begin);
        let there = self.flights.range(ended..).filter(within).count();
        let missing = there.saturating_sub(around);
        let skipped = if part == MomentPart::End { missing } else { 0 };
        let kept = self.flights.range(ended..).filter(within).skip(skipped).take(around);
        window.flights = kept.copied().collect();
        window.missing = missing as u64;
        if let Some(first) = window.flights.first().filter(|_| skipped > 0) {
            window.begin = window.begin.max(first.flight.begin);
        }
        self.probes.iter().for_each(|probe| window.probe(probe));
        self.losses.iter().for_each(|loss| window.loss(loss));
        window.levels = self.levels.since(window.begin, window.end);
        self.worst = Some(window);
    }

    pub(super) fn finish(self) -> Vec<Window> {
        let mut windows: Vec<Window> = self.first.into_iter().chain(self.worst).collect();
        for window in &mut windows {
            // No longer than there is something to see.
            let ends = window.flights.iter().map(|it| it.flight.end);
            let ends = ends.chain(window.probes.iter().map(|it| it.end));
            let last = ends.max().unwrap_or(window.begin) + self.limits.margin;
            window.end = window.end.min(last);
            if window.missing > 0
                && let Some(last) = window.flights.last()
            {
                window.end = window.end.min(last.flight.end);
            }
            let end = window.end;
            window.probes.retain(|it| it.begin <= end);
            window.losses.retain(|it| it.0 <= end);
            window.levels.end(end);
        }
        windows.retain(|it| !it.flights.is_empty());
        windows
    }
}

//! Arrivals of each second, as intervals of the receiver.

use espbench_model::sample::{Interval, Link, Observer};
use espbench_model::time::{Duration, Instant};

/// Length of the intervals that the receiver reports.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

/// Time between a message and the edge before it where messages are rare: periods of whole, half and quarter seconds
/// stay away from edges by an eighth or more.
const APART: Duration = Duration::from_millis(375);

/// A counter of arrivals in each second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ArrivalMeter {
    running: bool,
    seq: u64,
    from: Instant,
    count: u64,
    bytes: u64,
    total_bytes: u64,
    last: Instant,
}

impl ArrivalMeter {
    pub(super) const fn begin(&mut self, now: Instant) {
        self.running = true;
        self.from = now;
    }

    /// Begins between two messages, so that a message that comes at its usual time is on no edge of a second: in the
    /// middle, or, where a middle may lie whole seconds from the messages, [`APART`] before the second.
    pub(super) fn begin_between(&mut self, first: Instant, second: Instant) {
        let half = second.since(first) / 2;
        let before = if half < INTERVAL - INTERVAL / 4 { half } else { APART };
        self.begin(Instant::from_nanos(second.as_nanos() - before.as_nanos() as u64));
    }

    /// Counts a message that is in no interval.
    pub(super) const fn count_before(&mut self, now: Instant, bytes: u64) {
        self.total_bytes += bytes;
        self.last = now;
    }

    pub(super) const fn is_running(&self) -> bool {
        self.running
    }

    /// Returns when the last message came.
    pub(super) const fn last(&self) -> Instant {
        self.last
    }

    pub(super) const fn count(&mut self, now: Instant, came: u64, bytes: u64) {
        self.count += came;
        self.bytes += bytes;
        self.total_bytes += bytes;
        self.last = now;
    }

    pub(super) const fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    pub(super) fn wake(&self) -> Instant {
        if self.running && self.count > 0 { self.from + INTERVAL } else { Instant::NEVER }
    }

    /// Returns the interval that was cut short by the last arrival.
    pub(super) fn rest(&mut self, link: Link) -> Option<Interval> {
        let end = self.last.max(self.from);
        (self.count > 0).then(|| self.done(link, end))
    }

    pub(super) fn poll(&mut self, now: Instant, link: Link) -> Option<Interval> {
        let end = self.from + INTERVAL;
        (self.running && now >= end).then(|| self.done(link, end))
    }

    fn done(&mut self, link: Link, end: Instant) -> Interval {
        let interval = Interval {
            link,
            seq: self.seq,
            observer: Observer::Receiver,
            start: self.from,
            end,
            bytes: self.bytes,
            datagrams: Some(self.count),
            ..Interval::default()
        };
        (self.seq, self.from, self.count, self.bytes) = (self.seq + 1, end, 0, 0);
        interval
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_at_their_usual_time_are_on_no_edge_of_a_second() {
        for period_ms in [20, 100, 250, 1000, 1500, 1990, 2000, 2010, 2500, 3000, 4000, 10_000] {
            let period = Duration::from_millis(period_ms);
            let at = |n: u32| Instant::from_nanos(7_000_000) + period * n;
            let mut meter = ArrivalMeter::default();
            meter.begin_between(at(0), at(1));
            let least = (period / 4).min(Duration::from_millis(10));
            for n in 1..10 {
                let after = at(n).since(meter.from).as_nanos() % INTERVAL.as_nanos();
                let apart = after.min(INTERVAL.as_nanos() - after);
                assert!(apart >= least.as_nanos(), "{period_ms} ms, message {n}: {apart} ns");
            }
        }
    }
}

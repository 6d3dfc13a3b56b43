//! Arrivals of each second, as intervals of the receiver.

use espbench_model::sample::{Interval, Link, Observer};
use espbench_model::time::{Duration, Instant};

/// Length of the intervals that the receiver reports.
pub(super) const INTERVAL: Duration = Duration::from_secs(1);

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
    /// middle, or whole seconds after that.
    pub(super) fn begin_between(&mut self, first: Instant, second: Instant) {
        let half = second.since(first).as_nanos() / 2 % INTERVAL.as_nanos();
        self.begin(Instant::from_nanos(second.as_nanos() - half as u64));
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

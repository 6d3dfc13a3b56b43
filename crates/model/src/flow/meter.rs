//! Cuts what one observer counts on one stream into intervals and a total.

use crate::sample::{Interval, Link, Observer};
use crate::time::{Duration, Instant};

/// Running counts of one stream. What a stream cannot count stays `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCounts {
    /// Payload bytes.
    pub bytes: u64,
    /// Datagrams, writes or reads.
    pub datagrams: Option<u64>,
    /// Datagrams missing now; a late one takes its loss back.
    pub lost: Option<u64>,
    /// Datagrams that came after a later one.
    pub out_of_order: Option<u64>,
    /// Further copies.
    pub duplicates: Option<u64>,
    /// TCP segments sent again.
    pub retransmits: Option<u64>,
    /// Jitter now; not a count, copied as it stands.
    pub jitter_ns: Option<u64>,
    /// TCP round-trip time now; not a count, copied as it stands.
    pub tcp_rtt_ns: Option<u64>,
}

/// The place of a stream in its intervals.
#[derive(Clone, Copy, Debug)]
pub struct FlowMeter {
    link: Link,
    observer: Observer,
    length: Duration,
    start: Instant,
    from: Instant,
    next: Instant,
    seq: u64,
    before: FlowCounts,
}

impl FlowMeter {
    /// Creates a meter for a stream that begins at `start`; a `length` of zero makes no intervals,
    /// only the total.
    #[must_use]
    pub fn new(link: Link, observer: Observer, length: Duration, start: Instant) -> Self {
        let next = if length.is_zero() { Instant::NEVER } else { start + length };
        let before = FlowCounts::default();
        Self { link, observer, length, start, from: start, next, seq: 0, before }
    }

    /// Returns the stream's link.
    #[must_use]
    pub const fn link(&self) -> Link {
        self.link
    }

    /// Returns when the stream began.
    #[must_use]
    pub const fn start(&self) -> Instant {
        self.start
    }

    /// Returns when the current interval ends.
    #[must_use]
    pub const fn next(&self) -> Instant {
        self.next
    }

    /// Returns the interval that has ended by `now`, if one has. `counts` are the stream's running
    /// counts; all that is new in them belongs to this interval, and none of it to a further one
    /// that has also passed. Call until `None`.
    pub fn ended(&mut self, now: Instant, counts: &FlowCounts) -> Option<Interval> {
        if now < self.next {
            return None;
        }
        let interval = self.interval(self.next, counts);
        self.next = self.next + self.length;
        Some(interval)
    }

    /// Returns the same for counts that are exact at certain moments only, the newest of which is `exact`:
    /// an interval ends there where that is within its last twentieth, so that it is as good as
    /// whole. Call until `None`.
    pub fn ended_at(
        &mut self,
        now: Instant,
        exact: Instant,
        counts: &FlowCounts,
    ) -> Option<Interval> {
        if now < self.next {
            return None;
        }
        let end = if self.next.since(exact) * 20 <= self.length && exact > self.from {
            exact.min(self.next)
        } else {
            self.next
        };
        let interval = self.interval(end, counts);
        self.next = self.next + self.length;
        Some(interval)
    }

    /// Returns the interval that has ended by `now` and in which nothing was counted. Call until
    /// `None`.
    pub fn empty(&mut self, now: Instant) -> Option<Interval> {
        let before = self.before;
        self.ended(now, &before)
    }

    /// Tells whether bytes came since the last interval was closed.
    #[must_use]
    pub const fn has_new(&self, bytes: u64) -> bool {
        bytes != self.before.bytes
    }

    /// Returns the part of an interval in which the stream ended; `None` where nothing moved since,
    /// or where the part is less than a hundredth of an interval: its rate would say nothing, and
    /// the total has its bytes.
    pub fn rest(&mut self, end: Instant, counts: &FlowCounts) -> Option<Interval> {
        let moved = counts.bytes != self.before.bytes || counts.lost != self.before.lost;
        let partial = !self.length.is_zero() && end.since(self.from) * 100 >= self.length && moved;
        partial.then(|| self.interval(end, counts))
    }

    /// Returns the total up to `end`.
    #[must_use]
    pub fn total(&self, end: Instant, counts: &FlowCounts) -> Interval {
        let mut meter = *self;
        meter.from = self.start;
        meter.before = FlowCounts::default();
        Interval { seq: self.seq, total: true, ..meter.interval(end, counts) }
    }

    fn interval(&mut self, end: Instant, counts: &FlowCounts) -> Interval {
        let before = core::mem::replace(&mut self.before, *counts);
        let start = core::mem::replace(&mut self.from, end);
        let seq = self.seq;
        self.seq += 1;
        // A count can fall (a late datagram is no longer lost): the total is right, the interval
        // says zero, as in iperf 2.
        let new = |now: Option<u64>, before: Option<u64>| {
            now.map(|n| n.saturating_sub(before.unwrap_or_default()))
        };
        Interval {
            link: self.link,
            seq,
            total: false,
            observer: self.observer,
            start,
            end,
            bytes: counts.bytes.saturating_sub(before.bytes),
            datagrams: new(counts.datagrams, before.datagrams),
            lost: new(counts.lost, before.lost),
            out_of_order: new(counts.out_of_order, before.out_of_order),
            duplicates: new(counts.duplicates, before.duplicates),
            jitter_ns: counts.jitter_ns,
            retransmits: new(counts.retransmits, before.retransmits),
            tcp_rtt_ns: counts.tcp_rtt_ns,
            // What only a host sees, it adds itself: a device has no room for it.
            tcp_rtt_var_us: None,
            tcp_cwnd: None,
            errors: None,
            read_sizes: None,
            transit: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    #[test]
    fn intervals_are_contiguous_and_sum_to_the_total() {
        let mut meter =
            FlowMeter::new(Link(3), Observer::Sender, Duration::from_millis(100), ms(1000));
        let mut counts = FlowCounts { bytes: 500, lost: Some(4), ..FlowCounts::default() };
        assert_eq!(meter.ended(ms(1099), &counts), None);
        let first = meter.ended(ms(1250), &counts).unwrap();
        let second = meter.ended(ms(1250), &counts).unwrap();
        assert_eq!(meter.ended(ms(1250), &counts), None);
        assert_eq!(
            (first.start, first.end, first.bytes, first.lost),
            (ms(1000), ms(1100), 500, Some(4))
        );
        assert_eq!((second.seq, second.bytes, second.end), (1, 0, ms(1200)));
        counts.bytes = 700;
        counts.lost = Some(1);
        let rest = meter.rest(ms(1275), &counts).unwrap();
        assert_eq!((rest.seq, rest.start, rest.end, rest.bytes), (2, ms(1200), ms(1275), 200));
        assert_eq!(rest.lost, Some(0), "late datagrams are not negative losses");
        let total = meter.total(ms(1275), &counts);
        assert_eq!((total.seq, total.total, total.start), (3, true, ms(1000)));
        assert_eq!((total.bytes, total.lost, total.retransmits), (700, Some(1), None));
    }

    #[test]
    fn an_interval_ends_where_its_count_is_exact() {
        let mut meter = FlowMeter::new(Link(0), Observer::Peer, Duration::from_millis(100), ms(0));
        let counts = |bytes| FlowCounts { bytes, ..FlowCounts::default() };
        assert_eq!(meter.ended_at(ms(99), ms(98), &counts(9)), None);
        let spans: [_; 4] = [(101, 97, 970), (202, 150, 1500), (303, 150, 1500), (404, 403, 4030)]
            .map(|(now, exact, bytes)| {
                let it = meter.ended_at(ms(now), ms(exact), &counts(bytes)).unwrap();
                (it.start, it.end, it.bytes)
            });
        assert_eq!(
            spans,
            [
                (ms(0), ms(97), 970),
                // Too early to be the end of a whole interval.
                (ms(97), ms(200), 530),
                (ms(200), ms(300), 0),
                (ms(300), ms(400), 2530),
            ]
        );
    }

    #[test]
    fn no_interval_length_means_the_total_only() {
        let mut meter = FlowMeter::new(Link(0), Observer::Receiver, Duration::ZERO, ms(0));
        let counts = FlowCounts { bytes: 9, ..FlowCounts::default() };
        assert_eq!(meter.ended(ms(1_000_000), &counts), None);
        assert_eq!(meter.rest(ms(1_000_000), &counts), None);
        assert_eq!(meter.total(ms(10), &counts).bytes, 9);
    }
}

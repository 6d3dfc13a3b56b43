//! The client of a bounce-back test: requests, one after the other's reply, over TCP.

use crate::wire::iperf2::{Bounce, Stamp, bounce_flags};
use espbench_model::flow::{FlowCounts, FlowMeter};
use espbench_model::sample::{Cause, Fate, Interval, Link, Observer, Probe, Sample, Spread};
use espbench_model::time::Instant;
use espbench_model::workload::{Bounceback, Iperf};

/// The next action of the client.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "there is no heap to put the large one on")]
pub enum BounceStep {
    /// Record it, and ask again.
    Sample(Sample),
    /// Wait until this instant.
    Wait(Instant),
    /// [`request`](Bouncer::request) writes one, to be sent now.
    Request,
    /// The reply to the last request is awaited.
    Reply,
    /// All is sent and recorded.
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum BounceState {
    Idle,
    Waiting(Probe),
    Closing,
    Done,
}

/// Requests by schedule, and the record of their replies.
///
/// A burst begins each period; within it the next request follows the last reply. A burst that takes
/// longer than its period is not caught up: the next one begins with the next period, as in iperf 2.
/// The record has a probe for each request, and intervals whose one-way times are round trips and
/// whose bytes are those of requests and replies.
#[derive(Clone, Debug)]
pub struct Bouncer {
    how: Bounceback,
    size: u32,
    tos: u8,
    until: Instant,
    epoch_ns: u64,
    meter: FlowMeter,
    spread: [Spread; 2],
    /// When the burst in progress was due, or the next one is.
    due: Instant,
    burst: u32,
    left: u16,
    probes: u64,
    replies: u64,
    state: BounceState,
    kept: Option<Probe>,
}

impl Bouncer {
    /// Creates a test that starts at `now`; `epoch_ns` is the time of day at the clock's zero.
    #[must_use]
    pub fn new(work: &Iperf, how: Bounceback, link: Link, now: Instant, epoch_ns: u64) -> Self {
        Self {
            how,
            size: work.length,
            tos: work.tos,
            until: now + work.time,
            epoch_ns,
            meter: FlowMeter::new(link, Observer::Sender, work.interval, now),
            spread: [Spread::default(); 2],
            due: now,
            burst: 0,
            left: 0,
            probes: 0,
            replies: 0,
            state: BounceState::Idle,
            kept: None,
        }
    }

    /// Says what to do next.
    pub fn poll(&mut self, now: Instant) -> BounceStep {
        if let Some(probe) = self.kept.take() {
            return BounceStep::Sample(Sample::Probe(probe));
        }
        if matches!(self.state, BounceState::Idle | BounceState::Waiting(_)) {
            let counts = self.counts();
            if let Some(interval) = self.meter.ended(now.min(self.until), &counts) {
                return self.sample(interval);
            }
        }
        match self.state {
            BounceState::Waiting(_) => BounceStep::Reply,
            BounceState::Idle if now >= self.until => {
                self.state = BounceState::Closing;
                let counts = self.counts();
                match self.meter.rest(now, &counts) {
                    Some(interval) => self.sample(interval),
                    None => self.poll(now),
                }
            }
            BounceState::Idle if self.left > 0 || now >= self.due => BounceStep::Request,
            BounceState::Idle => BounceStep::Wait(self.due.min(self.meter.next()).min(self.until)),
            BounceState::Closing => {
                self.state = BounceState::Done;
                let total = self.meter.total(now, &self.counts());
                self.sample(total)
            }
            BounceState::Done => BounceStep::Done,
        }
    }

    /// Writes the next request into `out`, which is as long as a request is; only its header changes.
    pub fn request(&mut self, now: Instant, out: &mut [u8]) {
        let begins = self.left == 0;
        let due = if begins { self.due } else { now };
        if begins {
            self.left = self.how.burst.max(1);
            self.burst = self.burst.wrapping_add(1);
        }
        self.left -= 1;
        if self.left == 0 {
            self.due = self.next_due(now);
        }
        let unset = Stamp { seconds: u32::MAX, micros: u32::MAX };
        let quick = if self.how.quick_ack { bounce_flags::QUICK_ACK } else { 0 };
        let marked = if self.tos == 0 { 0 } else { bounce_flags::TOS };
        Bounce {
            size: self.size,
            id: self.burst,
            flags: quick | marked,
            tos: u16::from(self.tos),
            sent: self.stamp(now),
            read: unset,
            replied: unset,
            hold: u32::try_from(self.how.hold.as_micros()).unwrap_or(u32::MAX),
        }
        .emit(out);
        self.state = BounceState::Waiting(Probe {
            link: self.meter.link(),
            seq: self.probes,
            bytes: self.size,
            due,
            sent: Some(now),
            ..Probe::default()
        });
        self.probes += 1;
    }

    /// Returns the first period that has not begun at `now`; with no period, `now`.
    fn next_due(&self, now: Instant) -> Instant {
        if self.how.period.is_zero() {
            return now;
        }
        let late = now.since(self.due).as_nanos() / self.how.period.as_nanos();
        let periods = u32::try_from(late).unwrap_or(u32::MAX).saturating_add(1);
        self.due + self.how.period.saturating_mul(periods)
    }

    /// Takes the whole reply, whose last byte came at `now`. True where it is one: the request with
    /// times of the server in it.
    pub fn reply(&mut self, now: Instant, reply: &[u8]) -> bool {
        let BounceState::Waiting(mut probe) = self.state else { return false };
        self.state = BounceState::Idle;
        let sent = probe.sent.unwrap_or(probe.due);
        let fits = Bounce::parse(reply).is_ok_and(|it| {
            it.size == self.size && it.id == self.burst && it.sent == self.stamp(sent)
        });
        if fits {
            probe.received = Some(now);
            self.replies += 1;
            let time = i64::try_from(now.since(sent).as_nanos()).unwrap_or(i64::MAX);
            self.spread.iter_mut().for_each(|spread| spread.take(time));
        } else {
            probe.fate = Fate::Corrupt;
        }
        self.kept = Some(probe);
        fits
    }

    /// Ends the test: by this side, or because the connection is gone. A request without a reply is
    /// lost.
    pub fn stop(&mut self, cause: Cause) {
        if let BounceState::Waiting(probe) = self.state {
            self.kept = Some(Probe { fate: Fate::Lost(cause), ..probe });
        }
        if matches!(self.state, BounceState::Idle | BounceState::Waiting(_)) {
            self.state = BounceState::Closing;
        }
    }

    /// Replies taken so far.
    #[must_use]
    pub const fn replies(&self) -> u64 {
        self.replies
    }

    fn sample(&mut self, interval: Interval) -> BounceStep {
        let spread =
            if interval.total { self.spread[1] } else { core::mem::take(&mut self.spread[0]) };
        BounceStep::Sample(Sample::Interval(Interval { transit: spread.known(), ..interval }))
    }

    fn counts(&self) -> FlowCounts {
        FlowCounts {
            bytes: self.replies * 2 * u64::from(self.size),
            datagrams: Some(self.replies),
            ..FlowCounts::default()
        }
    }

    fn stamp(&self, at: Instant) -> Stamp {
        Stamp::from_nanos(self.epoch_ns.saturating_add(at.as_nanos()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use espbench_model::time::Duration;
    use std::vec;
    use std::vec::Vec;

    const fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    fn work(time_ms: u64) -> Iperf {
        Iperf { length: 100, time: Duration::from_millis(time_ms), ..Iperf::DEFAULT }
    }

    /// Plays a server that answers each request after `answer` milliseconds.
    fn play(mut bouncer: Bouncer, answer: u64) -> (Vec<Probe>, Vec<Interval>) {
        let (mut now, mut bytes) = (ms(0), vec![0; 100]);
        let (mut probes, mut intervals) = (Vec::new(), Vec::new());
        loop {
            match bouncer.poll(now) {
                BounceStep::Sample(Sample::Probe(probe)) => probes.push(probe),
                BounceStep::Sample(Sample::Interval(interval)) => intervals.push(interval),
                BounceStep::Wait(at) => now = at,
                BounceStep::Request => bouncer.request(now, &mut bytes),
                BounceStep::Reply => {
                    now = now + Duration::from_millis(answer);
                    Bounce::answer(&mut bytes, Stamp::default(), Stamp::default());
                    assert!(bouncer.reply(now, &bytes));
                }
                BounceStep::Done => return (probes, intervals),
            }
        }
    }

    #[test]
    fn bursts_by_the_second_and_their_figures() {
        let how = Bounceback { burst: 3, ..Bounceback::DEFAULT };
        let (probes, intervals) = play(Bouncer::new(&work(2500), how, Link(0), ms(0), 7), 10);
        let sent: Vec<u64> =
            probes.iter().map(|p| p.sent.unwrap().as_nanos() / 1_000_000).collect();
        assert_eq!(sent, [0, 10, 20, 1000, 1010, 1020, 2000, 2010, 2020]);
        let seconds: Vec<_> = intervals.iter().map(|i| (i.total, i.bytes, i.datagrams)).collect();
        assert_eq!(
            seconds,
            [
                (false, 600, Some(3)),
                (false, 600, Some(3)),
                (false, 600, Some(3)),
                (true, 1800, Some(9))
            ]
        );
        let total = intervals[3].transit.unwrap();
        assert_eq!((total.count, total.min_ns, total.max_ns), (9, 10_000_000, 10_000_000));
    }

    #[test]
    fn back_to_back_and_slow_bursts() {
        let how = Bounceback { burst: 1, period: Duration::ZERO, ..Bounceback::DEFAULT };
        let (probes, _) = play(Bouncer::new(&work(100), how, Link(0), ms(0), 7), 10);
        assert_eq!(probes.len(), 10);
        // Each burst takes 2.5 periods: the periods that it covers have none of their own.
        let period = Duration::from_millis(20);
        let how = Bounceback { burst: 5, period, ..Bounceback::DEFAULT };
        let (probes, _) = play(Bouncer::new(&work(125), how, Link(0), ms(0), 7), 10);
        let due: Vec<u64> =
            probes.iter().step_by(5).map(|p| p.due.as_nanos() / 1_000_000).collect();
        assert_eq!(due, [0, 60, 120]);
    }

    #[test]
    fn a_changed_reply_is_none_and_a_request_without_one_is_lost() {
        let mut bouncer = Bouncer::new(&work(1000), Bounceback::DEFAULT, Link(0), ms(0), 7);
        let mut bytes = vec![0; 100];
        assert_eq!(bouncer.poll(ms(0)), BounceStep::Request);
        bouncer.request(ms(0), &mut bytes);
        bytes[9] ^= 1;
        assert!(!bouncer.reply(ms(1), &bytes));
        let BounceStep::Sample(Sample::Probe(probe)) = bouncer.poll(ms(1)) else { panic!() };
        assert_eq!((probe.fate, probe.received), (Fate::Corrupt, None));
        assert_eq!(bouncer.poll(ms(1)), BounceStep::Request);
        bouncer.request(ms(1), &mut bytes);
        bouncer.stop(Cause::Disconnected);
        let BounceStep::Sample(Sample::Probe(probe)) = bouncer.poll(ms(2)) else { panic!() };
        assert_eq!(probe.fate, Fate::Lost(Cause::Disconnected));
        let BounceStep::Sample(Sample::Interval(total)) = bouncer.poll(ms(2)) else { panic!() };
        assert_eq!((total.total, total.bytes, total.transit), (true, 0, None));
        assert_eq!((bouncer.poll(ms(2)), bouncer.replies()), (BounceStep::Done, 0));
    }
}

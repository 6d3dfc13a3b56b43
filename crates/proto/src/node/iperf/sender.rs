//! The sending end of a UDP flow.

use super::{Contradiction, Limit, Pacer};
use crate::node::Output;
use crate::wire::iperf2::{
    Carrier, ClientHeader, DATAGRAM_HEADER, Datagram, ServerReport, Stamp, TRIP_TIMES_LENGTH, flags,
};
use espbench_model::flow::{FlowCounts, FlowMeter};
use espbench_model::sample::{Interval, Link, Observer, Sample, Spread};
use espbench_model::time::{Duration, Instant};

/// Longest wait for the report (2 s, as iperf 2).
const PATIENCE: Duration = Duration::from_secs(2);
/// The first wait before the last datagram is repeated (10 ms, as iperf 2), and the longest, which must
/// stay under the 250 ms of silence that end an iperf 2 server's wait.
const REPEAT: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(240));
/// Most repeats of the last datagram. An iperf 2 receiver that comes late to its report writes it nine
/// times at most, once for each repeat that waits for it, and then says that its report failed.
const REPEATS: u8 = 8;

/// The end of a flow, after the last datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The last datagram is repeated until the receiver's report comes, for two seconds.
    AwaitReport,
    /// The last datagram is sent once, as by an iperf 2 server that sends (`-R`, `--full-duplex`).
    Once,
}

/// The settings of a sender.
#[derive(Clone, Copy, Debug)]
pub struct SenderSetup {
    /// The stream.
    pub link: Link,
    /// Length of a reported interval; zero for none.
    pub interval: Duration,
    /// Bytes of a datagram; at least 16.
    pub length: u32,
    /// Offered bits of payload a second; `None` is as fast as it goes.
    pub rate: Option<u64>,
    /// When it stops.
    pub limit: Limit,
    /// The header that each datagram carries; a server that sends has none.
    pub header: Option<ClientHeader>,
    /// End of the flow.
    pub finish: Finish,
    /// Nanoseconds since the epoch at this clock's zero; only for the receiver's eyes.
    pub epoch_ns: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UdpSenderState {
    Sending,
    Closing(SenderClosing),
    Awaiting { until: Instant, wait: Duration, next: Instant, left: u8 },
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SenderClosing {
    Last,
    Rest,
    Total,
}

/// The sending end of a UDP flow: numbers, paces, closes, takes the report.
#[derive(Clone, Debug)]
pub struct UdpSender {
    setup: SenderSetup,
    meter: FlowMeter,
    pacer: Pacer,
    next_id: i64,
    datagrams: u64,
    end: Instant,
    state: UdpSenderState,
    report: Option<ServerReport>,
    reported: bool,
    refused: Option<Contradiction>,
    /// Batches that the system refused, in the interval and in the flow.
    errors: [u32; 2],
}

impl UdpSender {
    /// Creates a sender that starts at `now` with number 1.
    #[must_use]
    pub fn new(mut setup: SenderSetup, now: Instant) -> Self {
        setup.length = setup.length.max(DATAGRAM_HEADER as u32);
        let slack = slack(setup.interval);
        Self {
            setup,
            meter: FlowMeter::new(setup.link, Observer::Sender, setup.interval, now),
            pacer: Pacer::new(now, setup.length, setup.rate, slack),
            next_id: 1,
            datagrams: 0,
            end: now,
            state: UdpSenderState::Sending,
            report: None,
            reported: false,
            refused: None,
            errors: [0; 2],
        }
    }

    /// Begins the time of the flow anew: its first datagrams went before, to open the way.
    pub fn restart(&mut self, now: Instant) {
        let SenderSetup { link, interval, length, rate, .. } = self.setup;
        self.meter = FlowMeter::new(link, Observer::Sender, interval, now);
        self.pacer = Pacer::new(now, length, rate, slack(interval));
    }

    /// Fills a buffer with datagrams as they stay for the whole flow: the client header and a
    /// pattern of digits. [`fill`](Self::fill) then writes numbers and times only.
    pub fn prepare(&self, buf: &mut [u8]) {
        for datagram in buf.chunks_mut(self.setup.length as usize) {
            prepare_one(self.setup.header, datagram);
        }
    }

    /// Fills a buffer of any length with the flow's first datagram; the flow does not count it. A
    /// UDP client that only receives (`-R`) asks with it.
    pub fn ask(&self, now: Instant, buf: &mut [u8]) {
        prepare_one(self.setup.header, buf);
        if let Some(head) = buf.first_chunk_mut() {
            Datagram::emit(head, 1, self.stamp(now));
        }
    }

    /// Writes the datagrams that are due now into a prepared buffer, one behind the other, as many
    /// as it holds. Answers their number; [`sent`](Self::sent) says how many were accepted. Poll
    /// before, so that an interval that has ended is closed, and after a zero.
    pub fn fill(&mut self, now: Instant, buf: &mut [u8]) -> usize {
        if self.state != UdpSenderState::Sending {
            return 0;
        }
        let length = u64::from(self.setup.length);
        let left = match self.setup.limit {
            Limit::Time(time) if now.since(self.meter.start()) >= time => 0,
            Limit::Time(_) => u64::MAX,
            Limit::Bytes(all) => all.saturating_sub(self.bytes()).div_ceil(length),
        };
        if left == 0 {
            self.end = now;
            self.state = UdpSenderState::Closing(SenderClosing::Last);
            return 0;
        }
        let count = self.pacer.due(now).min(left);
        let stamp = self.stamp(now);
        let mut written = 0;
        for datagram in buf.chunks_exact_mut(length as usize) {
            if written as u64 >= count {
                break;
            }
            if let Some(head) = datagram.first_chunk_mut() {
                Datagram::emit(head, self.next_id + written, stamp);
            }
            written += 1;
        }
        written as usize
    }

    /// Notes that the system accepted the first `count` datagrams of the last [`fill`](Self::fill);
    /// the others are numbered again.
    pub fn sent(&mut self, count: usize) {
        self.next_id += count as i64;
        self.datagrams += count as u64;
        self.pacer.sent(count as u64);
    }

    /// Notes that the system refused a batch for want of buffers.
    pub fn refused(&mut self) {
        self.errors = self.errors.map(|count| count.saturating_add(1));
    }

    fn with_errors(&mut self, interval: Interval) -> Output {
        let count =
            if interval.total { self.errors[1] } else { core::mem::take(&mut self.errors[0]) };
        Output::Sample(Sample::Interval(Interval { errors: Some(count), ..interval }))
    }

    /// Ends the flow from this side; the last datagram and the report follow as always.
    pub fn stop(&mut self, now: Instant) {
        if self.state == UdpSenderState::Sending {
            self.end = now;
            self.state = UdpSenderState::Closing(SenderClosing::Last);
        }
    }

    /// Gives up at once, without a last datagram: the receiver is gone.
    pub fn abandon(&mut self, now: Instant) {
        if self.state == UdpSenderState::Sending {
            self.end = now;
        }
        match self.state {
            UdpSenderState::Sending | UdpSenderState::Closing(SenderClosing::Last) => {
                self.state = UdpSenderState::Closing(SenderClosing::Rest)
            }
            UdpSenderState::Awaiting { .. } => self.state = UdpSenderState::Done,
            UdpSenderState::Closing(_) | UdpSenderState::Done => {}
        }
        self.setup.finish = Finish::Once;
    }

    /// Takes a datagram from the receiver; true where it was the report.
    pub fn handle(&mut self, datagram: &[u8]) -> bool {
        if self.report.is_none() {
            self.report = ServerReport::parse(datagram).ok();
            return self.report.is_some();
        }
        false
    }

    /// Returns the next request to the driver. `out` must hold a prepared datagram for
    /// [`Output::Send`]: the last one and its repetitions. While the flow runs,
    /// [`Output::WaitUntil`] says when the next datagram is due (in the past where it is due now).
    pub fn poll(&mut self, now: Instant, out: &mut [u8]) -> Output {
        loop {
            match self.state {
                UdpSenderState::Sending => {
                    let counts = self.counts();
                    if let Some(interval) = self.meter.ended(now, &counts) {
                        return self.with_errors(interval);
                    }
                    return Output::WaitUntil(self.wake());
                }
                UdpSenderState::Closing(SenderClosing::Last) => {
                    self.state = UdpSenderState::Closing(SenderClosing::Rest);
                    // Receiver and sender both count the last datagram (iperf 2 does).
                    self.datagrams += 1;
                    return self.last(now, out);
                }
                UdpSenderState::Closing(SenderClosing::Rest) => {
                    self.state = UdpSenderState::Closing(SenderClosing::Total);
                    let counts = self.counts();
                    if let Some(interval) = self.meter.rest(self.end, &counts) {
                        return self.with_errors(interval);
                    }
                }
                UdpSenderState::Closing(SenderClosing::Total) => {
                    self.state = match self.setup.finish {
                        Finish::Once => UdpSenderState::Done,
                        Finish::AwaitReport => {
                            let (wait, until) = (REPEAT.0, now + PATIENCE);
                            UdpSenderState::Awaiting {
                                until,
                                wait,
                                next: now + wait,
                                left: REPEATS,
                            }
                        }
                    };
                    let total = self.meter.total(self.end, &self.counts());
                    return self.with_errors(total);
                }
                UdpSenderState::Awaiting { until, wait, next, left } => {
                    if let Some(sample) = self.reported(now, until) {
                        return sample;
                    }
                    if self.state == UdpSenderState::Done {
                        continue;
                    }
                    if now < next {
                        return Output::WaitUntil(next);
                    }
                    let (wait, left) = ((wait * 2).min(REPEAT.1), left.saturating_sub(1));
                    let next = if left > 0 { now + wait } else { until };
                    self.state = UdpSenderState::Awaiting { until, wait, next, left };
                    return self.last(now, out);
                }
                UdpSenderState::Done => return Output::Done,
            }
        }
    }

    fn wake(&self) -> Instant {
        let wake = self.pacer.next().min(self.meter.next());
        match self.setup.limit {
            Limit::Time(time) => wake.min(self.meter.start() + time),
            Limit::Bytes(_) => wake,
        }
    }

    /// Writes the last datagram: its number is negative, and one lower each time, so that the
    /// receiver does not take repetitions for duplicates.
    fn last(&mut self, now: Instant, out: &mut [u8]) -> Output {
        let length = self.setup.length as usize;
        let stamp = self.stamp(now);
        let Some(head) = out.first_chunk_mut() else { return Output::Done };
        Datagram::emit(head, -self.next_id, stamp);
        self.next_id += 1;
        Output::Send { len: length.min(out.len()) }
    }

    fn reported(&mut self, now: Instant, until: Instant) -> Option<Output> {
        if let Some(report) = self.report {
            self.state = UdpSenderState::Done;
            self.reported = true;
            let took = now.since(self.meter.start());
            let sent = self.next_id.saturating_sub(1).unsigned_abs();
            self.refused = Contradiction::of(&report, sent, self.setup.length, took);
            if self.refused.is_some() {
                return None;
            }
            return Some(Output::Sample(Sample::Interval(self.peer_total(&report))));
        }
        if now >= until {
            self.state = UdpSenderState::Done;
        }
        None
    }

    /// Returns the receiver's total. Its clock is another: the start is put at this side's.
    fn peer_total(&self, report: &ServerReport) -> Interval {
        Interval {
            link: self.setup.link,
            total: true,
            observer: Observer::Peer,
            start: self.meter.start(),
            end: self.meter.start() + report.time,
            bytes: report.bytes,
            datagrams: Some(report.datagrams.saturating_sub(report.lost)),
            lost: Some(report.lost),
            out_of_order: Some(report.out_of_order),
            jitter_ns: u64::try_from(report.jitter.as_nanos()).ok(),
            transit: report.transit.and_then(Spread::known),
            ..Interval::default()
        }
    }

    fn stamp(&self, now: Instant) -> Stamp {
        Stamp::from_nanos(self.setup.epoch_ns.saturating_add(now.as_nanos()))
    }

    const fn bytes(&self) -> u64 {
        self.datagrams * self.setup.length as u64
    }

    fn counts(&self) -> FlowCounts {
        FlowCounts { bytes: self.bytes(), datagrams: Some(self.datagrams), ..FlowCounts::default() }
    }

    /// Tells whether all but the last datagram is sent.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.state != UdpSenderState::Sending
    }

    /// Returns the reason for which the receiver's report is not believed, where it came and cannot
    /// be true.
    #[must_use]
    pub const fn implausible(&self) -> Option<Contradiction> {
        self.refused
    }

    /// Tells whether the receiver's report came.
    #[must_use]
    pub const fn has_report(&self) -> bool {
        self.reported
    }

    /// Datagrams that the offered rate asked for and that were not sent, because the sender was
    /// late by more than half an interval.
    #[must_use]
    pub const fn skipped(&self) -> u64 {
        self.pacer.skipped()
    }
}

/// Returns the delay that is made up for: iperf 2 forgives half an interval, or half the test.
fn slack(interval: Duration) -> Duration {
    if interval.is_zero() { PATIENCE } else { interval / 2 }
}

fn prepare_one(header: Option<ClientHeader>, datagram: &mut [u8]) {
    for (at, byte) in datagram.iter_mut().enumerate() {
        *byte = b'0' + (at % 10) as u8;
    }
    if let (Some(header), Some(body)) = (header, datagram.get_mut(DATAGRAM_HEADER..)) {
        if header.trip_times() && body.len() + DATAGRAM_HEADER < TRIP_TIMES_LENGTH as usize {
            // There is no room for the header: a mark stands for it.
            put_mark(body);
        } else {
            header.emit(body, Carrier::Datagram);
        }
    }
}

fn put_mark(body: &mut [u8]) {
    if let Some(mark) = body.first_chunk_mut() {
        *mark = ((flags::SMALL_TRIP_TIMES >> 16) as u16).to_be_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::iperf2::{REPORT, Width};
    use std::vec;
    use std::vec::Vec;

    const SETUP: SenderSetup = SenderSetup {
        link: Link(0),
        interval: Duration::from_secs(1),
        length: 100,
        rate: Some(80_000),
        limit: Limit::Time(Duration::from_millis(2500)),
        header: None,
        finish: Finish::AwaitReport,
        epoch_ns: 1_700_000_000_000_000_000,
    };

    const fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    /// Runs until the machine waits for a report or is done; what it sent, by number.
    fn run(sender: &mut UdpSender) -> (Vec<i64>, Vec<Interval>, Instant, Output) {
        let (mut ids, mut samples, mut now) = (Vec::new(), Vec::new(), ms(0));
        let mut buf = vec![0; 1000];
        sender.prepare(&mut buf);
        loop {
            match sender.poll(now, &mut buf) {
                Output::Sample(Sample::Interval(i)) => samples.push(i),
                Output::Send { len } => {
                    assert_eq!(len, 100);
                    ids.push(Datagram::new(&buf).unwrap().id(Width::Wide));
                }
                Output::WaitUntil(at) if sender.state == UdpSenderState::Sending => {
                    let count = sender.fill(now, &mut buf);
                    for datagram in buf.chunks(100).take(count) {
                        ids.push(Datagram::new(datagram).unwrap().id(Width::Wide));
                    }
                    sender.sent(count);
                    if count == 0 {
                        now = now.max(at);
                    }
                }
                other => return (ids, samples, now, other),
            }
        }
    }

    #[test]
    fn numbers_rate_intervals_and_the_last_datagram() {
        let mut sender = UdpSender::new(SETUP, ms(0));
        let (ids, samples, end, next) = run(&mut sender);
        // 100 B at 80 kbit/s: one each 10 ms, from 0 to 2490 ms.
        assert_eq!(ids, (1..=250).chain([-251]).collect::<Vec<_>>());
        assert_eq!((end, next), (ms(2500), Output::WaitUntil(ms(2510))));
        let bytes: Vec<_> = samples.iter().map(|i| (i.total, i.bytes)).collect();
        assert_eq!(bytes, [(false, 10_000), (false, 10_000), (false, 5_100), (true, 25_100)]);
    }

    #[test]
    fn a_first_datagram_that_opened_the_way_is_no_lateness() {
        let mut sender = UdpSender::new(SETUP, ms(0));
        let mut buf = vec![0; 1000];
        assert_eq!(sender.fill(ms(0), &mut buf), 1);
        sender.sent(1);
        sender.restart(ms(900));
        assert_eq!(sender.fill(ms(900), &mut buf), 1, "one is due, and not the 90 of the wait");
        assert_eq!(Datagram::new(&buf).unwrap().id(Width::Wide), 2);
        sender.sent(1);
        assert!(sender.fill(ms(900 + 2490), &mut buf) > 0, "the whole time is sent");
        assert_eq!(sender.fill(ms(900 + 2500), &mut buf), 0);
    }

    #[test]
    fn the_report_ends_it() {
        let mut sender = UdpSender::new(SETUP, ms(0));
        run(&mut sender);
        let mut wire = [0; REPORT];
        let report = ServerReport {
            bytes: 25_000,
            time: Duration::from_millis(2490),
            lost: 1,
            datagrams: 251,
            jitter: Duration::from_micros(40),
            ..ServerReport::default()
        };
        report.emit(&mut wire);
        assert!(!sender.handle(b"something else"));
        assert!(sender.handle(&wire));
        let Output::Sample(Sample::Interval(total)) = sender.poll(ms(2505), &mut [0; 100]) else {
            panic!("no total of the peer")
        };
        assert_eq!((total.observer, total.bytes, total.lost), (Observer::Peer, 25_000, Some(1)));
        assert_eq!((total.datagrams, total.jitter_ns), (Some(250), Some(40_000)));
        assert_eq!(sender.poll(ms(2505), &mut []), Output::Done);
        assert!(sender.has_report());
    }

    #[test]
    fn a_silent_receiver_is_asked_more_and_more_slowly_for_two_seconds() {
        let mut sender = UdpSender::new(SETUP, ms(0));
        let (_, _, mut now, _) = run(&mut sender);
        let (mut buf, mut repeats, mut last) = (vec![0; 100], 0u32, -251);
        loop {
            match sender.poll(now, &mut buf) {
                Output::Send { .. } => {
                    let id = Datagram::new(&buf).unwrap().id(Width::Wide);
                    assert_eq!(id, last - 1);
                    (last, repeats) = (id, repeats + 1);
                }
                Output::WaitUntil(at) => now = at,
                other => break assert_eq!(other, Output::Done),
            }
        }
        assert!(now.since(ms(4500)) <= REPEAT.1);
        assert_eq!(repeats, u32::from(REPEATS));
        assert!(!sender.has_report());
    }

    #[test]
    fn an_amount_is_sent_whole_and_refused_datagrams_keep_their_numbers() {
        let limit = Limit::Bytes(450);
        let mut sender = UdpSender::new(SenderSetup { limit, rate: None, ..SETUP }, ms(0));
        let mut buf = vec![0; 1000];
        sender.prepare(&mut buf);
        assert_eq!(sender.fill(ms(0), &mut buf), 5);
        sender.sent(2);
        assert_eq!(sender.fill(ms(0), &mut buf), 3);
        assert_eq!(Datagram::new(&buf).unwrap().id(Width::Wide), 3);
        sender.sent(3);
        assert_eq!(sender.fill(ms(1), &mut buf), 0);
        assert_eq!(sender.poll(ms(1), &mut buf), Output::Send { len: 100 });
        assert_eq!(Datagram::new(&buf).unwrap().id(Width::Wide), -6);
    }

    #[test]
    fn the_receiver_is_gone() {
        let mut sender = UdpSender::new(SETUP, ms(0));
        let mut buf = vec![0; 1000];
        assert_eq!(sender.fill(ms(5), &mut buf), 1);
        sender.abandon(ms(5));
        assert!(matches!(sender.poll(ms(5), &mut buf), Output::Sample(_)));
        assert_eq!(sender.poll(ms(5), &mut buf), Output::Done);
    }
}

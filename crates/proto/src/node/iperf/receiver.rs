//! The receiving end of a UDP flow.

use super::Jitter;
use crate::node::Output;
use crate::wire::iperf2::{Datagram, REPORT, ServerReport, Stamp, Width};
use espbench_model::flow::{DatagramOrder, FlowCounts, FlowMeter, Tracker};
use espbench_model::sample::{Interval, Link, Observer, Sample, Spread};
use espbench_model::time::{Duration, Instant};

/// Silence after which the sender is taken to have the report. iperf 2 takes 250 ms and repeats
/// its last datagram every 10 ms; this leaves room for senders that repeat more slowly.
const SILENCE: Duration = Duration::from_millis(500);
/// Reports sent at most (`TRYCOUNT` of iperf 2).
const REPORTS: u32 = 10;
/// Greatest number that a sender reaches: twelve million datagrams a second for a day.
const ID_MOST: u64 = 1 << 40;

/// The settings of a receiver.
#[derive(Clone, Copy, Debug)]
pub struct ReceiverSetup {
    /// The stream.
    pub link: Link,
    /// Length of a reported interval; zero for none.
    pub interval: Duration,
    /// Whether the sender is owed a closing report.
    pub answer: bool,
    /// Silence after which the flow is over without a last datagram (ESP-IDF sends none).
    pub idle: Duration,
    /// Width of the numbers.
    pub width: Width,
    /// When the flow is over at the latest.
    pub until: Instant,
    /// When the flow began, where that is known better than by its first datagram: with trip times.
    pub began: Option<Instant>,
    /// Nanoseconds since the epoch at this clock's zero, where one-way times are wanted: with trip
    /// times, or for the report of a server with `-e`.
    pub epoch_ns: Option<u64>,
}

/// The kind of a datagram that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatagramKind {
    /// Payload.
    Data,
    /// The last one (its number is negative); payload too.
    Last,
    /// Not counted: too short for a number, or its number makes no sense here.
    Stray,
    /// After the end.
    Closed,
}

/// The end of a flow, by its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The sender's last datagram.
    Last,
    /// Silence: the sender vanished, or sends no last datagram.
    Silence,
    /// A stop by this side.
    Stopped,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum UdpReceiverState {
    Running,
    /// Samples are due: the rest of the interval first, then the total.
    Closing(ReceiverClosing),
    /// The report was sent `reports` times; `heard` is when the sender was last heard.
    Reporting {
        reports: u32,
        pending: bool,
    },
    Done,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReceiverClosing {
    Rest,
    Total,
}

/// Counts of an interval that waits for what comes next.
#[derive(Clone, Copy, Debug)]
struct HeldInterval {
    counts: FlowCounts,
    transit: Option<Spread>,
}

/// The receiving end of a UDP flow: counts, closes, reports.
#[derive(Clone, Debug)]
pub struct UdpReceiver {
    setup: ReceiverSetup,
    meter: FlowMeter,
    tracker: Tracker,
    jitter: Jitter,
    /// One-way times of the interval, and of the flow.
    transit: [Spread; 2],
    bytes: u64,
    /// Bytes of the last datagram that was far ahead: they count once the next one confirms the jump.
    doubtful_bytes: u64,
    heard: Instant,
    /// The last poll since which nothing was heard, in an interval that is over: silence before
    /// more data is part of the record, silence after the end is not, and only what comes next
    /// tells them apart.
    silent: Option<Instant>,
    /// Counts of an interval that is over and at whose end nothing was heard: whether it is a whole one,
    /// or the flow's end is in it, only what comes next tells.
    held: Option<HeldInterval>,
    strays: u64,
    ending: Option<Ending>,
    total: Option<Interval>,
    state: UdpReceiverState,
}

impl UdpReceiver {
    /// Creates a receiver whose flow begins at `now`: on the first datagram, or when it was asked
    /// for.
    #[must_use]
    pub fn new(setup: ReceiverSetup, now: Instant) -> Self {
        Self {
            setup,
            meter: FlowMeter::new(
                setup.link,
                Observer::Receiver,
                setup.interval,
                setup.began.unwrap_or(now),
            ),
            tracker: Tracker::default(),
            jitter: Jitter::default(),
            transit: [Spread::default(); 2],
            bytes: 0,
            doubtful_bytes: 0,
            heard: now,
            silent: None,
            held: None,
            strays: 0,
            ending: None,
            total: None,
            state: UdpReceiverState::Running,
        }
    }

    /// Takes a datagram: `head` is its beginning (its first 20 bytes, or all of it), `length` its
    /// length. It counts in the interval that was open at the last poll.
    #[inline]
    pub fn datagram(&mut self, arrived: Instant, head: &[u8], length: usize) -> DatagramKind {
        if self.state != UdpReceiverState::Running {
            return self.after_the_end(arrived, head);
        }
        let Ok(datagram) = Datagram::new(head) else {
            self.strays += 1;
            return DatagramKind::Stray;
        };
        let id = datagram.id(self.setup.width);
        // The last datagram's number is above all others: a lower one is noise, not an end.
        if id.unsigned_abs() > ID_MOST || id < 0 && id.unsigned_abs() < self.tracker.next() {
            self.strays += 1;
            return DatagramKind::Stray;
        }
        let received = self.tracker.received();
        match self.tracker.take(id.saturating_abs()) {
            order @ (DatagramOrder::Doubtful | DatagramOrder::Invalid) => {
                if order == DatagramOrder::Doubtful {
                    self.doubtful_bytes = length as u64;
                }
                self.strays += 1;
                return DatagramKind::Stray;
            }
            DatagramOrder::Ahead | DatagramOrder::Late | DatagramOrder::Duplicate => {}
        }
        if self.tracker.received() > received + 1 {
            // This one confirms the jump of the one before, which is no stray then.
            self.bytes += self.doubtful_bytes;
            self.strays -= 1;
        }
        self.heard = arrived;
        self.bytes += length as u64;
        self.jitter.take(datagram.stamp(), arrived);
        if let Some(epoch_ns) = self.setup.epoch_ns {
            self.transit(epoch_ns, datagram.stamp(), arrived);
        }
        if id < 0 {
            self.end(Ending::Last);
            return DatagramKind::Last;
        }
        DatagramKind::Data
    }

    fn transit(&mut self, epoch_ns: u64, sent: Stamp, arrived: Instant) {
        if sent.is_zero() {
            return;
        }
        let arrived = epoch_ns.saturating_add(arrived.as_nanos()).cast_signed();
        let time = arrived.saturating_sub(sent.as_nanos());
        self.transit.iter_mut().for_each(|spread| spread.take(time));
    }

    /// Takes the one-way times since the last call.
    fn taken(&mut self) -> Option<Spread> {
        core::mem::take(&mut self.transit[0]).known()
    }

    #[cold]
    fn after_the_end(&mut self, arrived: Instant, head: &[u8]) -> DatagramKind {
        let last = Datagram::new(head).is_ok_and(|d| d.id(self.setup.width) < 0);
        if let UdpReceiverState::Reporting { pending, .. } = &mut self.state {
            self.heard = arrived;
            // The sender repeats its last datagram: it has no report yet.
            *pending |= last;
        }
        DatagramKind::Closed
    }

    /// Ends the flow from this side.
    pub fn stop(&mut self) {
        if self.state == UdpReceiverState::Running {
            self.end(Ending::Stopped);
        }
    }

    fn end(&mut self, ending: Ending) {
        self.ending = Some(ending);
        self.state = UdpReceiverState::Closing(ReceiverClosing::Rest);
    }

    /// Returns the next request to the driver. [`Output::Send`] is the closing report; `out` must
    /// hold [`REPORT`] bytes.
    pub fn poll(&mut self, now: Instant, out: &mut [u8]) -> Output {
        loop {
            match self.state {
                UdpReceiverState::Running => {
                    let deadline = (self.heard + self.setup.idle).min(self.setup.until);
                    if let Some(interval) = self.interval(now.min(deadline)) {
                        return Output::Sample(Sample::Interval(interval));
                    }
                    if now < deadline {
                        let next = self.meter.next();
                        // After an interval that ended in silence it is asked again and again: what comes
                        // next belongs to the intervals behind it.
                        let soon = now + self.setup.interval / 20;
                        let next = if next > now { next } else { soon };
                        return Output::WaitUntil(deadline.min(next));
                    }
                    self.end(Ending::Silence);
                }
                UdpReceiverState::Closing(ReceiverClosing::Rest) => {
                    if let Some(interval) = self.silence() {
                        return Output::Sample(Sample::Interval(interval));
                    }
                    self.state = UdpReceiverState::Closing(ReceiverClosing::Total);
                    let counts = self.counts();
                    if let Some(mut interval) = self.meter.rest(self.heard, &counts) {
                        let held = self.held.take().and_then(|it| it.transit);
                        interval.transit = self.taken().or(held);
                        return Output::Sample(Sample::Interval(interval));
                    }
                }
                UdpReceiverState::Closing(ReceiverClosing::Total) => return self.close(),
                UdpReceiverState::Reporting { reports, pending } => {
                    if pending && reports < REPORTS {
                        self.state =
                            UdpReceiverState::Reporting { reports: reports + 1, pending: false };
                        return self.report(out);
                    }
                    let deadline = self.heard + SILENCE;
                    if now < deadline && reports < REPORTS {
                        return Output::WaitUntil(deadline);
                    }
                    self.state = UdpReceiverState::Done;
                }
                UdpReceiverState::Done => return Output::Done,
            }
        }
    }

    /// Returns an interval that is over, where it had data up to its end or is followed by data.
    fn interval(&mut self, now: Instant) -> Option<Interval> {
        if let Some(interval) = self.silence() {
            return Some(interval);
        }
        if now < self.meter.next() {
            return None;
        }
        if self.held.is_some() || !self.meter.has_new(self.bytes) {
            self.silent = Some(now);
            return None;
        }
        let counts = self.counts();
        if self.meter.next().since(self.heard) * 20 > self.setup.interval {
            self.held = Some(HeldInterval { counts, transit: self.taken() });
            self.silent = Some(now);
            return None;
        }
        let ended = self.meter.ended(now, &counts)?;
        Some(Interval { transit: self.taken(), ..ended })
    }

    /// Returns an interval at whose end there was silence, and that turned out to have data behind it.
    fn silence(&mut self) -> Option<Interval> {
        if let Some(held) = self.held {
            if held.counts.bytes == self.bytes {
                return None;
            }
            self.held = None;
            let ended = self.meter.ended(self.meter.next(), &held.counts)?;
            return Some(Interval { transit: held.transit, ..ended });
        }
        let until = self.silent.filter(|_| self.meter.has_new(self.bytes))?;
        let interval = self.meter.empty(until);
        if interval.is_none() {
            self.silent = None;
        }
        interval
    }

    fn close(&mut self) -> Output {
        let total = self.meter.total(self.heard, &self.counts());
        let total = Interval { transit: self.transit[1].known(), ..total };
        self.total = Some(total);
        let report = self.setup.answer && self.ending == Some(Ending::Last);
        self.state = if report {
            UdpReceiverState::Reporting { reports: 0, pending: true }
        } else {
            UdpReceiverState::Done
        };
        Output::Sample(Sample::Interval(total))
    }

    fn report(&self, out: &mut [u8]) -> Output {
        let Some(slot) = out.first_chunk_mut::<REPORT>() else { return Output::Done };
        let (received, lost) = (self.tracker.received(), self.tracker.lost());
        ServerReport {
            bytes: self.bytes,
            time: self.total.map_or(Duration::ZERO, |t| t.end.since(t.start)),
            lost,
            out_of_order: self.tracker.out_of_order(),
            datagrams: received + lost,
            jitter: Duration::from_nanos(self.jitter.nanos().unwrap_or_default()),
            transit: self.setup.epoch_ns.map(|_| self.transit[1]),
        }
        .emit(slot);
        Output::Send { len: REPORT }
    }

    fn counts(&self) -> FlowCounts {
        FlowCounts {
            bytes: self.bytes,
            datagrams: Some(self.tracker.received()),
            lost: Some(self.tracker.lost()),
            out_of_order: Some(self.tracker.out_of_order()),
            duplicates: Some(self.tracker.duplicates()),
            jitter_ns: self.jitter.nanos(),
            ..FlowCounts::default()
        }
    }

    /// Datagrams counted so far.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.tracker.received()
    }

    /// Datagrams that were not counted.
    #[must_use]
    pub const fn strays(&self) -> u64 {
        self.strays
    }

    /// Returns the highest number heard.
    #[must_use]
    pub const fn highest(&self) -> u64 {
        self.tracker.next().saturating_sub(1)
    }

    /// Returns the time from the flow's beginning to its last datagram.
    #[must_use]
    pub fn span(&self) -> Duration {
        self.heard.since(self.meter.start())
    }

    /// Returns how the flow ended; `None` while it runs.
    #[must_use]
    pub const fn ending(&self) -> Option<Ending> {
        self.ending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    const SETUP: ReceiverSetup = ReceiverSetup {
        link: Link(1),
        interval: Duration::from_secs(1),
        answer: true,
        idle: Duration::from_secs(5),
        width: Width::Wide,
        until: Instant::NEVER,
        began: None,
        epoch_ns: None,
    };

    const fn ms(n: u64) -> Instant {
        Instant::from_nanos(n * 1_000_000)
    }

    fn head(id: i64, at: Instant) -> [u8; 16] {
        let mut out = [0; 16];
        Datagram::emit(&mut out, id, Stamp::from_nanos(at.as_nanos() + 5_000_000_000));
        out
    }

    fn drain(receiver: &mut UdpReceiver, now: Instant) -> (Vec<Interval>, Vec<Vec<u8>>, Output) {
        let (mut samples, mut sent, mut out) = (Vec::new(), Vec::new(), [0; REPORT]);
        loop {
            match receiver.poll(now, &mut out) {
                Output::Sample(Sample::Interval(i)) => samples.push(i),
                Output::Send { len } => sent.push(out[..len].to_vec()),
                other => return (samples, sent, other),
            }
        }
    }

    #[test]
    fn a_datagram_far_ahead_counts_with_its_bytes_once_the_next_one_confirms_it() {
        let mut receiver = UdpReceiver::new(SETUP, ms(0));
        let far: i64 = 3_000_000;
        for (id, kind) in [
            (1, DatagramKind::Data),
            (far, DatagramKind::Stray),
            (far + 1, DatagramKind::Data),
            (-far - 2, DatagramKind::Last),
        ] {
            let now = ms(id.unsigned_abs() % 100);
            assert_eq!(receiver.datagram(now, &head(id, now), 64), kind, "{id}");
        }
        let total = drain(&mut receiver, ms(500)).0.pop().unwrap();
        assert_eq!((total.datagrams, total.bytes), (Some(4), 4 * 64));
        assert_eq!((total.lost, receiver.strays()), (Some(far.unsigned_abs() - 2), 0));
    }

    #[test]
    fn a_flow_from_the_first_datagram_to_the_silence_after_the_report() {
        let mut receiver = UdpReceiver::new(SETUP, ms(0));
        let mut all = Vec::new();
        for i in 1..=25u64 {
            let now = ms(i * 100);
            all.extend(drain(&mut receiver, now).0);
            if i != 7 {
                assert_eq!(receiver.datagram(now, &head(i as i64, now), 1000), DatagramKind::Data);
            }
        }
        assert_eq!(receiver.datagram(ms(2600), &head(-26, ms(2600)), 1000), DatagramKind::Last);
        let (samples, sent, next) = drain(&mut receiver, ms(2600));
        all.extend(samples);
        assert_eq!(next, Output::WaitUntil(ms(3100)));
        let bytes: Vec<_> = all.iter().map(|i| (i.total, i.bytes, i.lost)).collect();
        assert_eq!(
            bytes,
            [
                (false, 8000, Some(1)),
                (false, 10_000, Some(0)),
                (false, 7000, Some(0)),
                (true, 25_000, Some(1)),
            ]
        );
        let report = ServerReport::parse(&sent[0]).unwrap();
        assert_eq!((report.bytes, report.lost, report.datagrams), (25_000, 1, 26));
        assert_eq!((report.time, report.jitter), (Duration::from_millis(2600), Duration::ZERO));
        // The sender did not hear it and repeats its last datagram under a lower number.
        assert_eq!(receiver.datagram(ms(2700), &head(-27, ms(2700)), 1000), DatagramKind::Closed);
        let (samples, again, next) = drain(&mut receiver, ms(2700));
        assert!(samples.is_empty() && again == sent);
        assert_eq!(next, Output::WaitUntil(ms(3200)));
        assert_eq!(drain(&mut receiver, ms(3200)).2, Output::Done);
        assert_eq!(receiver.ending(), Some(Ending::Last));
    }

    #[test]
    fn an_esp_that_stops_without_a_last_datagram() {
        let mut receiver = UdpReceiver::new(ReceiverSetup { width: Width::Told, ..SETUP }, ms(0));
        for id in 0..4u32 {
            let mut bytes = [0; 20];
            bytes[..4].copy_from_slice(&id.to_be_bytes());
            receiver.datagram(ms(u64::from(id) * 10), &bytes, 1460);
        }
        let (samples, sent, next) = drain(&mut receiver, ms(6000));
        assert!(sent.is_empty() && next == Output::Done);
        let total = samples.last().unwrap();
        assert_eq!((total.total, total.end, total.datagrams), (true, ms(30), Some(4)));
        assert_eq!(total.jitter_ns, None, "there is no time in its datagrams");
        assert_eq!(receiver.ending(), Some(Ending::Silence));
    }

    #[test]
    fn silence_counts_where_data_follows_it_and_not_at_the_end() {
        let mut receiver = UdpReceiver::new(ReceiverSetup { answer: false, ..SETUP }, ms(0));
        let mut all = Vec::new();
        for at in (100..=9500).step_by(100) {
            all.extend(drain(&mut receiver, ms(at)).0);
            if at <= 500 || at == 3700 {
                let id = receiver.received() as i64 + 1;
                receiver.datagram(ms(at), &head(id, ms(at)), 100);
            }
        }
        let bytes: Vec<_> = all.iter().map(|i| (i.total, i.seq, i.bytes)).collect();
        assert_eq!(
            bytes,
            [(false, 0, 500), (false, 1, 0), (false, 2, 0), (false, 3, 100), (true, 4, 600),]
        );
        assert_eq!(all[4].end, ms(3700));
    }

    #[test]
    fn reports_are_bounded() {
        let mut receiver = UdpReceiver::new(SETUP, ms(0));
        let mut sent = 0;
        for i in 0..100 {
            receiver.datagram(ms(i), &head(-1, ms(i)), 16);
            sent += drain(&mut receiver, ms(i)).1.len();
        }
        assert_eq!(sent, REPORTS as usize);
        assert_eq!(drain(&mut receiver, ms(100)).2, Output::Done);
    }

    #[test]
    fn no_answer_where_none_is_owed() {
        let mut receiver = UdpReceiver::new(ReceiverSetup { answer: false, ..SETUP }, ms(0));
        receiver.datagram(ms(100), &head(-1, ms(100)), 16);
        let (samples, sent, next) = drain(&mut receiver, ms(100));
        assert_eq!((samples.len(), sent.len(), next), (2, 0, Output::Done));
    }

    #[test]
    fn the_deadline_ends_a_flow_that_goes_on() {
        let mut receiver = UdpReceiver::new(ReceiverSetup { until: ms(1500), ..SETUP }, ms(0));
        receiver.datagram(ms(1400), &head(1, ms(1400)), 16);
        let (samples, _, next) = drain(&mut receiver, ms(1500));
        assert_eq!((samples.len(), next), (2, Output::Done));
    }

    #[test]
    fn garbage_is_counted_as_such() {
        let mut receiver = UdpReceiver::new(SETUP, ms(0));
        assert_eq!(receiver.datagram(ms(0), &[1, 2], 2), DatagramKind::Stray);
        assert_eq!(receiver.datagram(ms(0), &head(i64::MIN, ms(0)), 16), DatagramKind::Stray);
        assert_eq!(receiver.datagram(ms(0), &head(2, ms(0)), 16), DatagramKind::Data);
        assert_eq!(receiver.datagram(ms(0), &[0xFF; 20], 40), DatagramKind::Stray);
        assert_eq!((receiver.received(), receiver.strays()), (1, 3));
    }

    proptest::proptest! {
        /// A flow that just stops, as ESP-IDF's does, whatever its length and pace: no interval that looks
        /// whole has its end in it.
        #[test]
        fn an_interval_with_the_flow_s_end_in_it_is_never_a_whole_one(
            count in 2u64..3000,
            gap_us in 100u64..20_000,
            poll_ms in 1u64..400,
        ) {
            let setup = ReceiverSetup { answer: false, ..SETUP };
            let mut receiver = UdpReceiver::new(setup, ms(0));
            let at = |number: u64| Instant::from_nanos(number * gap_us * 1000);
            let end = at(count - 1);
            let (mut all, mut polled) = (Vec::new(), ms(0));
            for number in 0..count {
                let now = at(number);
                while polled + Duration::from_millis(poll_ms) < now {
                    polled = polled + Duration::from_millis(poll_ms);
                    all.extend(drain(&mut receiver, polled).0);
                }
                all.extend(drain(&mut receiver, now).0);
                receiver.datagram(now, &head(number as i64, now), 1000);
            }
            while polled < end + Duration::from_secs(6) {
                polled = polled + Duration::from_millis(poll_ms);
                all.extend(drain(&mut receiver, polled.max(end)).0);
            }
            let total = all.pop().unwrap();
            proptest::prop_assert!(total.total && total.bytes == count * 1000 && total.end == end);
            let bytes: u64 = all.iter().map(|it| it.bytes).sum();
            // A rest shorter than a hundredth is in the total alone.
            proptest::prop_assert!(total.bytes - bytes <= 10_000_000 / gap_us + 1000);
            for part in all {
                let span = part.end.since(part.start);
                if span.as_millis() >= 950 {
                    let due = span.as_micros() as u64 / gap_us * 1000;
                    let least = due * 94 / 100;
                    proptest::prop_assert!(part.bytes + 1000 >= least, "{part:?}: {due}");
                }
            }
        }
    }
}

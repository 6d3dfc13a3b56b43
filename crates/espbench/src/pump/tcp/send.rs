//! The sending end: what the kernel takes, and what the peer does.

use super::{Ended, Listen, SendPlan, finish};
use crate::pump::peer::{LOOK, Peer};
use crate::pump::{PumpContext, is_pause};
use crate::sys;
use espbench_model::flow::{FlowCounts, FlowMeter};
use espbench_model::sample::{Observer, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_proto::node::iperf::{BurstWriter, Limit, Pacer};
use espbench_proto::wire::iperf2::Stamp;
use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::net::{Shutdown, TcpStream};

/// Longest time for the peer to acknowledge the rest, and to close, when the time is up.
const CLOSING: Duration = Duration::from_secs(2);
/// Time without a further octet taken after which the peer is given up, where a number of them is
/// to come.
const STUCK: Duration = Duration::from_secs(5);
/// Longest wait for the close of a silent peer once it has acknowledged everything: ESP-IDF's server
/// closes at the end of its own time only. A peer that answered gets [`CLOSING`], as iperf's client
/// gives it: its server closes once its report is printed, which takes up to a second, and the server
/// of iperf 2.1.8 breaks down when the next client connects before.
const LINGER: Duration = Duration::from_millis(200);
/// Writes as fast as it goes are handed to the kernel together, up to so many bytes a call: on loopback
/// that is a third faster than one call for each 128 KiB.
const TOGETHER: usize = 512 * 1024;
/// Shorter writes go one by one: they may be shorter than a segment, and then the peer sees the
/// difference.
const LONG: usize = 32 * 1024;
/// When a sender first looks at what the peer answered.
const FIRST_CHECK: Duration = Duration::from_millis(20);

/// Sends until the limit, then closes this direction and waits a little for the peer to have it all.
///
/// Each interval and the total are told twice: first what the peer's application took (observer
/// peer, where the system tells), then what this host's kernel took (observer sender). Both totals
/// end when the sending does: what is in flight then is in the latter alone. Only where the limit is
/// a number of octets, the peer's intervals and total go on until it has them.
///
/// Bytes that the peer sends meanwhile go to `listen`, where the stream is not a duplex one; an answer
/// of false stops the stream.
pub fn send(
    stream: &TcpStream,
    plan: &SendPlan,
    control: &mut PumpContext<'_>,
    listen: Listen<'_>,
) -> TcpSendResult {
    let mut answers = Answers { listen, any: false };
    let mut meters = SenderMeters::new(stream, plan);
    let mut ended = match stream.set_write_timeout(Some(LOOK)) {
        Ok(()) => write(stream, plan, &mut meters, control, &mut answers),
        Err(error) => Ended::Broken(error),
    };
    let end = control.clock.now();
    meters.look(stream, end);
    let goes_on = !matches!(ended, Ended::Broken(_)) && stream.shutdown(Shutdown::Write).is_ok();
    let unread;
    if goes_on && matches!((plan.limit, &ended), (Limit::Bytes(_), Ended::Normally)) {
        if let Err(error) = drain(stream, plan, &mut meters, control, &mut answers) {
            ended = Ended::Broken(error);
        }
        meters.finish(control.clock.now(), end, control);
        unread = meters.unread();
    } else {
        unread = meters.unread();
        if meters.peer.has_all(meters.counts.bytes) {
            meters.peer.taken.all(end, meters.counts.bytes);
        }
        meters.finish(end, end, control);
        if goes_on {
            // The test is over: what goes wrong now is none of it.
            let _ = drain(stream, plan, &mut meters, control, &mut answers);
        }
    }
    answers.take_now(stream, plan);
    if let (Ended::Normally, Some(octets)) = (&ended, unread) {
        ended = Ended::Unread(octets);
    }
    TcpSendResult { ended, in_flight: meters.in_flight }
}

/// The end of a sending stream.
#[derive(Debug)]
pub struct TcpSendResult {
    /// End of the stream.
    pub ended: Ended,
    /// Octets that were written, and that the peer had not taken when the total ended; `None` where
    /// the system does not tell.
    pub in_flight: Option<u64>,
}

/// The meters of a sending stream: one for what the kernel took, one for what the peer did.
struct SenderMeters {
    counts: FlowCounts,
    kernel: FlowMeter,
    /// Of the peer.
    taken: FlowMeter,
    peer: Peer,
    in_flight: Option<u64>,
}

impl SenderMeters {
    fn new(stream: &TcpStream, plan: &SendPlan) -> Self {
        let meter = |observer| FlowMeter::new(plan.link, observer, plan.interval, plan.start);
        Self {
            counts: FlowCounts { bytes: plan.before, datagrams: Some(0), ..FlowCounts::default() },
            kernel: meter(Observer::Sender),
            taken: meter(Observer::Peer),
            peer: Peer::new(stream, plan.start, plan.before),
            in_flight: None,
        }
    }

    fn look(&mut self, stream: &TcpStream, now: Instant) {
        if let Some(info) = self.peer.look(stream, now, self.counts.bytes) {
            self.counts.retransmits = Some(info.retransmits);
            self.counts.tcp_rtt_ns = Some(info.rtt_ns);
        }
    }

    /// Returns the counts of what the peer took, up to its last whole step.
    fn step(&self, now: Instant) -> (Instant, FlowCounts) {
        let step = self.peer.taken.step(now);
        (step.at, FlowCounts { bytes: step.octets, datagrams: None, ..self.counts })
    }

    /// Looks, and tells the intervals that are over.
    fn interval(&mut self, stream: &TcpStream, now: Instant, control: &mut PumpContext<'_>) {
        self.look(stream, now);
        self.taken(now, control);
        while let Some(interval) = self.kernel.ended(now, &self.counts) {
            (control.emit)(Sample::Interval(interval));
        }
    }

    /// Tells the intervals that are over of what the peer took.
    fn taken(&mut self, now: Instant, control: &mut PumpContext<'_>) {
        let (at, counts) = self.step(now);
        while let Some(interval) = self.taken.ended_at(now, at, &counts).filter(|_| self.peer.known)
        {
            (control.emit)(Sample::Interval(interval));
        }
    }

    /// Tells what is left, and the totals: the peer's up to `now`, the kernel's up to `end`.
    fn finish(&mut self, now: Instant, end: Instant, control: &mut PumpContext<'_>) {
        let (at, counts) = self.step(now);
        // What had all by then has no interval afterwards, however late it closes.
        let last = if counts.bytes >= self.counts.bytes { at } else { now };
        self.taken(last, control);
        if self.peer.known {
            let rest = self.taken.rest(at, &counts);
            for interval in rest.into_iter().chain([self.taken.total(at, &counts)]) {
                (control.emit)(Sample::Interval(interval));
            }
            self.in_flight = Some(self.counts.bytes - self.peer.taken.octets());
        }
        finish(&mut self.kernel, end, &self.counts, control.emit);
    }

    /// Returns the octets that the peer acknowledged without reading any; `None` where it reads, or
    /// where its buffer has room.
    fn unread(&self) -> Option<u64> {
        let taken = &self.peer.taken;
        let none = self.peer.known && taken.closed().is_some() && taken.octets() == 0;
        none.then(|| taken.acknowledged())
    }
}

/// Writes until the limit.
fn write(
    stream: &TcpStream,
    plan: &SendPlan,
    meters: &mut SenderMeters,
    control: &mut PumpContext<'_>,
    answers: &mut Answers<'_>,
) -> Ended {
    let mut pacer = Pacer::new(plan.start, plan.length, plan.rate, plan.interval / 2);
    let length = plan.length.max(1) as usize;
    let (mut bursts, mut burst) = (plan.bursts, 0);
    let mut pattern: Vec<u8> = (0..length).map(|at| b'0' + (at % 10) as u8).collect();
    let alone = plan.rate.is_some() || bursts.is_some() || length < LONG || has_no_delay(stream);
    let mut check = PeerCheck { next: plan.start + FIRST_CHECK, every: FIRST_CHECK };
    // A write cut short by its time-out is continued, so that the stream's pattern holds.
    let mut offset: usize = 0;
    loop {
        let now = control.clock.now();
        if now >= meters.kernel.next() {
            meters.interval(stream, now, control);
        } else if meters.peer.is_due(now) {
            meters.look(stream, now);
        }
        if check.is_due(now) && !answers.take_now(stream, plan) {
            return Ended::Stopped;
        }
        let left = match plan.limit {
            Limit::Time(time) if now.since(plan.start) >= time => 0,
            Limit::Time(_) => usize::MAX,
            Limit::Bytes(all) => {
                usize::try_from(all.saturating_sub(meters.counts.bytes)).unwrap_or(length)
            }
        };
        if left == 0 {
            return Ended::Normally;
        }
        if control.stopped() {
            return Ended::Stopped;
        }
        if offset == 0 && pacer.due(now) == 0 {
            std::thread::sleep(pacer.next().since(now).min(LOOK));
            continue;
        }
        let whole = match &mut bursts {
            None => length,
            Some(bursts) => {
                if offset == 0 {
                    burst = BurstWriter::size(length, left);
                    let now = Stamp::from_nanos(bursts.epoch_ns.saturating_add(now.as_nanos()));
                    bursts.writer.head(&mut pattern[..burst], now);
                }
                burst
            }
        };
        let most = if alone { whole - offset } else { TOGETHER };
        match write_together(stream, &pattern[..whole], offset, left.min(most)) {
            Ok(0) => return Ended::Broken(ErrorKind::WriteZero.into()),
            Ok(written) => {
                meters.counts.bytes += written as u64;
                let writes = (offset + written) / whole;
                offset = (offset + written) % whole;
                meters.counts.datagrams = meters.counts.datagrams.map(|n| n + writes as u64);
                pacer.sent(writes as u64);
            }
            Err(error) if is_pause(&error) => {}
            Err(error) => return Ended::Broken(error),
        }
    }
}

fn has_no_delay(stream: &TcpStream) -> bool {
    stream.nodelay().unwrap_or(true)
}

/// Writes at most `most` bytes of the repeated pattern, which begins at `offset`; returns how many the
/// kernel took.
fn write_together(
    mut stream: &TcpStream,
    pattern: &[u8],
    offset: usize,
    most: usize,
) -> io::Result<usize> {
    let mut slices = [IoSlice::new(&[]); TOGETHER / LONG];
    let (mut count, mut from, mut left) = (0, offset, most);
    while left > 0 && count < slices.len() {
        let slice = &pattern[from..pattern.len().min(from.saturating_add(left))];
        slices[count] = IoSlice::new(slice);
        (count, from, left) = (count + 1, 0, left - slice.len());
    }
    stream.write_vectored(&slices[..count])
}

/// When to look at what the peer sends: soon after the start, then less and less often.
struct PeerCheck {
    next: Instant,
    every: Duration,
}

impl PeerCheck {
    fn is_due(&mut self, now: Instant) -> bool {
        let due = now >= self.next;
        if due {
            self.every = (self.every * 2).min(Duration::from_secs(1));
            self.next = now + self.every;
        }
        due
    }
}

/// The bytes that the peer sends while this end writes.
struct Answers<'a> {
    listen: Listen<'a>,
    /// True once the peer has sent any.
    any: bool,
}

impl Answers<'_> {
    /// Hands bytes on; returns false where they end the stream.
    fn take(&mut self, bytes: &[u8]) -> bool {
        self.any = true;
        (self.listen)(bytes)
    }

    /// Reads what has come, without waiting; returns false where it ends the stream.
    fn take_now(&mut self, mut stream: &TcpStream, plan: &SendPlan) -> bool {
        if plan.duplex || stream.set_nonblocking(true).is_err() {
            return true;
        }
        let mut bytes = [0; 4096];
        let mut go_on = true;
        while let Ok(count @ 1..) = stream.read(&mut bytes) {
            go_on &= self.take(&bytes[..count]);
        }
        let _ = stream.set_nonblocking(false);
        go_on
    }
}

/// Waits until the peer has everything: it has closed, or acknowledged all and keeps up. Where a
/// number of octets is to come, that is part of the test, and intervals go on; where the time is up,
/// nothing depends on it. An error is that of a connection that broke before.
///
/// The acknowledgement of the last two segments may be held back (RFC 1122 section 4.2.3.2; Linux
/// does so by 40 ms), so it is not waited for to tell the time of a peer that keeps up.
fn drain(
    mut stream: &TcpStream,
    plan: &SendPlan,
    meters: &mut SenderMeters,
    control: &mut PumpContext<'_>,
    answers: &mut Answers<'_>,
) -> io::Result<()> {
    let counts = matches!(plan.limit, Limit::Bytes(_));
    let (all, patience) = (meters.counts.bytes, if counts { STUCK } else { CLOSING });
    let held_back = 2 * sys::tcp::info(stream).map_or(0, |info| info.segment) + 1;
    let (mut delivered, mut acknowledged) = (None, None);
    let (mut taken, mut moved) = (0, control.clock.now());
    let _ = stream.set_read_timeout(Some(Duration::from_millis(1)));
    let mut bytes = [0; 4096];
    loop {
        let now = control.clock.now();
        meters.look(stream, now);
        // The kernel took all of it before, and a peer that has all of it may keep the connection.
        if counts && delivered.is_none() {
            meters.taken(now, control);
        }
        if counts && meters.peer.taken.octets() > taken {
            (taken, moved) = (meters.peer.taken.octets(), now);
        }
        let left = sys::tcp::unacknowledged(stream);
        let open = meters.peer.taken.is_open(meters.peer.window);
        if open && left.is_some_and(|left| left <= held_back) {
            delivered.get_or_insert(now);
        }
        if left == Some(0) {
            acknowledged.get_or_insert(now);
        }
        let linger = if answers.any { CLOSING } else { LINGER };
        let over = acknowledged.is_some_and(|at| open && (plan.duplex || now.since(at) >= linger));
        let mut closed = false;
        if !plan.duplex {
            match stream.read(&mut bytes) {
                Ok(0) => closed = true,
                Ok(count) => {
                    answers.take(&bytes[..count]);
                }
                Err(error) if is_pause(&error) => {}
                Err(error) => return if left == Some(0) { Ok(()) } else { Err(error) },
            }
        }
        // The close acknowledges what was still open before it was waited for.
        let left = if closed { sys::tcp::unacknowledged(stream) } else { left };
        if over || closed && left == Some(0) {
            meters.peer.taken.all(delivered.unwrap_or(now), all);
        }
        if over || closed || now.since(moved) >= patience || control.stopped() {
            return Ok(());
        }
        if plan.duplex {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

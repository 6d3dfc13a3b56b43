//! Short messages over TCP, counted for a second at a time: the procedure of the published benchmark
//! of Smooth's MQTT, part two.
//!
//! # What is counted
//!
//! Messages that the peer's application took, over the time until it had (observer peer): see
//! [`pump::peer`](crate::pump::peer). The document's loop counts send calls that took a whole
//! message. On an ESP32, whose send buffer is a few messages long, the two are nearly the same; on a
//! PC such a call says only that the kernel has taken the bytes, and the peer may have seen none of
//! them. That count is an interval of its own (observer sender), for the length of the run.
//!
//! A peer that is slower than this host takes octets in steps of its window. Its interval goes from
//! the end of one step to the end of another, both within the run: from the first one after a tenth
//! of it (or from the start, where there is no further one) to the last one. A run in whose second
//! half the peer took nothing is counted as `stalled-runs` and has no such interval, since nobody
//! can tell its rate; the cell then fails.
//!
//! # How it is sent
//!
//! Each run has a connection of its own and ends at its time. The kernel is told to hold little that
//! it has not sent (`TCP_NOTSENT_LOWAT`), so that a peer that serves one connection after the other
//! is not busy with the last run's backlog in the next one; and the next run waits until the peer
//! has what is left. Runs that the workload discards are made and not recorded.

use super::{Sink, Target, TargetError, noted};
use crate::clock::Clock;
use crate::live_mark::LiveMark;
use crate::pump::is_pause;
use crate::pump::peer::{LOOK, Peer};
use crate::sys::{ready, tcp};
use espbench_measure::run::Site;
use espbench_measure::summary::IN_FLIGHT;
use espbench_model::sample::{Interval, Link, Observer, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{TcpRate, Workload};
use espbench_proto::node::peer_reads::PeerReadStep;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};

/// Longest time for a connection to open.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest time for the peer to take the rest when a run is over, before the next one.
const DRAIN: Duration = Duration::from_secs(5);
/// Longest time for a peer that lags behind to close once it has acknowledged everything.
const CLOSE: Duration = Duration::from_secs(1);
/// The kernel holds at least this much that it has not sent.
const UNSENT: u64 = 16 << 10;

/// A program or device that takes bytes over TCP.
#[derive(Clone, Debug)]
pub struct TcpRateTarget {
    /// Address of the sink.
    pub peer: SocketAddr,
    /// Facts about the device and the place.
    pub site: Site,
}

impl TcpRateTarget {
    /// Creates the target of the sink at that address.
    #[must_use]
    pub fn new(peer: SocketAddr, site: Site) -> Self {
        Self { peer, site }
    }

    fn failed(&self, what: &'static str, source: io::Error) -> TargetError {
        let hint = match source.kind() {
            ErrorKind::ConnectionRefused => {
                "start a TCP sink there (`espbench respond` has one), or name another port"
            }
            ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => {
                "the peer closed the connection: check that it reads until the end"
            }
            _ => "check the address and the network",
        };
        TargetError::Peer { peer: format!("tcp:{}", self.peer), what, source, hint: hint.into() }
    }

    fn connect(&self, work: &TcpRate) -> io::Result<TcpStream> {
        let stream = TcpStream::connect_timeout(&self.peer, PATIENCE)?;
        stream.set_nodelay(work.no_delay)?;
        stream.set_nonblocking(true)?;
        // Room for Nagle's algorithm to fill segments, and for two messages.
        let segment = tcp::info(&stream).map_or(0, |info| info.segment);
        let unsent = UNSENT.max(4 * segment).max(2 * u64::from(work.size));
        tcp::limit_unsent(&stream, u32::try_from(unsent).unwrap_or(u32::MAX))?;
        Ok(stream)
    }

    /// Makes the error of a cell in which the peer took nothing.
    fn stalled(&self, work: &TcpRate, stalled: u16) -> TargetError {
        let time = work.run_time.as_secs_f64();
        TargetError::Protocol {
            peer: format!("tcp:{}", self.peer),
            what: format!(
                "the peer took nothing in the second half of {stalled} of {} runs of {time} s, so \
                 their rate is unknown",
                work.runs
            ),
            hint:
                "check that it reads what it gets; if it reads slowly, take runs so long that it \
                   reads its receive buffer many times over (--time 10s)"
                    .into(),
        }
    }
}

impl Target for TcpRateTarget {
    fn site(&self) -> Site {
        self.site.clone()
    }

    fn live_lab(&self) -> Option<LiveMark> {
        LiveMark::of_peer(self.peer.ip())
    }

    fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        let unsupported = |hint: &str| TargetError::Unsupported {
            target: format!("tcp:{}", self.peer),
            kind: workload.kind(),
            hint: hint.into(),
        };
        match workload.plain() {
            Workload::TcpRate(w) if w.size == 0 => {
                Err(unsupported("a message has at least one byte"))
            }
            Workload::TcpRate(_) => Ok(()),
            _ => Err(unsupported(
                "this target takes bytes over TCP; use --on udp:, iperf: or mqtt: for other plans",
            )),
        }
    }

    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.check(workload)?;
        let Workload::TcpRate(work) = &noted(workload, sink) else { return Ok(()) };
        let clock = Clock::start();
        let mut stalled = 0;
        for number in 0..work.discard + work.runs {
            let stream = self.connect(work).map_err(|e| self.failed("connecting", e))?;
            let run = RateRun::new(work, clock, stream);
            let recorded = number.checked_sub(work.discard);
            let took = run.run(sink, recorded.map(u64::from)).map_err(|e| match e {
                Stop::Cancelled => TargetError::Cancelled,
                Stop::Failed(e) => self.failed("sending", e),
            })?;
            stalled += u16::from(recorded.is_some() && !took);
        }
        if stalled > 0 { Err(self.stalled(work, stalled)) } else { Ok(()) }
    }
}

enum Stop {
    Cancelled,
    Failed(io::Error),
}

/// One run on one connection.
struct RateRun<'a> {
    work: &'a TcpRate,
    clock: Clock,
    stream: TcpStream,
    start: Instant,
    until: Instant,
    /// Octets written, and when the kernel last took a message.
    written: u64,
    wrote: Instant,
    peer: Peer,
    /// The first step of a peer that lags behind, after a tenth of the run.
    first: Option<PeerReadStep>,
}

impl<'a> RateRun<'a> {
    fn new(work: &'a TcpRate, clock: Clock, stream: TcpStream) -> Self {
        let start = clock.now();
        let until = start + work.run_time;
        let peer = Peer::new(&stream, start, 0);
        Self { work, clock, stream, start, until, written: 0, wrote: start, peer, first: None }
    }

    /// Sends for the length of the run; records it as number `seq`, where it has one. False where
    /// the peer took nothing in its second half.
    fn run(mut self, sink: &mut dyn Sink, seq: Option<u64>) -> Result<bool, Stop> {
        let message: Vec<u8> = (0..self.work.size).map(|at| b'0' + (at % 10) as u8).collect();
        let (mut sent, mut now) = (0_u64, self.start);
        while now < self.until && self.send(&message, sink)? {
            sent += 1;
            now = self.clock.now();
            self.wrote = now;
            if self.peer.is_due(now) {
                self.look(now);
                if sink.cancelled() {
                    self.until = now;
                }
            }
        }
        let is_stopped = sink.cancelled();
        let end = self.clock.now();
        self.look(end);
        let in_flight = self.written - self.peer.taken.octets();
        let span = self.span(end);
        // Where the user stops in a run that was to be discarded, it is all that there is.
        if let Some(seq) = seq.or(is_stopped.then_some(0)) {
            let bytes = sent * u64::from(self.work.size);
            self.record(sink, seq, (self.start, end), bytes, Observer::Sender);
            if let Some((from, to)) = span {
                self.record(sink, seq, (from.at, to.at), to.octets - from.octets, Observer::Peer);
            }
            if self.peer.known {
                sink.count(IN_FLIGHT, in_flight);
            }
        }
        // A run that the user stops is recorded as far as it went.
        if is_stopped {
            return Err(Stop::Cancelled);
        }
        let half = self.half();
        let stalled = if self.peer.known { span.is_none() } else { self.wrote < half };
        if stalled && seq.is_some() {
            sink.count("stalled-runs", 1);
        }
        if !stalled {
            self.drain(sink)?;
        }
        Ok(!stalled)
    }

    fn look(&mut self, now: Instant) {
        self.peer.look(&self.stream, now, self.written);
        let step = self.peer.taken.step(now);
        if self.first.is_none() && step.at >= self.start + self.work.run_time / 10 {
            self.first = Some(step);
        }
    }

    /// Returns the steps between which the peer's rate is told; `None` where the last one is in the
    /// first half of the run, or the system does not tell.
    fn span(&mut self, end: Instant) -> Option<(PeerReadStep, PeerReadStep)> {
        let mut now = end;
        // The last step may not be over.
        while !self.peer.taken.is_at_rest(now) && now < end + self.work.run_time / 4 {
            std::thread::sleep(LOOK);
            now = self.clock.now();
            self.look(now);
        }
        let beginning = PeerReadStep { at: self.start, octets: 0 };
        let last = self.peer.taken.step(now);
        let lags = self.peer.taken.closed().is_some();
        let first = self.first.filter(|first| lags && first.octets < last.octets);
        let tells = self.peer.known && last.octets > 0;
        (tells && last.at >= self.half()).then_some((first.unwrap_or(beginning), last))
    }

    /// Returns the middle of the run.
    fn half(&self) -> Instant {
        self.start + self.until.since(self.start) / 2
    }

    fn record(
        &self,
        sink: &mut dyn Sink,
        seq: u64,
        (start, end): (Instant, Instant),
        bytes: u64,
        observer: Observer,
    ) {
        sink.sample(Sample::Interval(Interval {
            link: Link(0),
            seq,
            observer,
            start,
            end,
            bytes,
            datagrams: Some(bytes / u64::from(self.work.size)),
            ..Interval::default()
        }));
    }

    /// Sends one message whole; false where the run ended first.
    fn send(&mut self, message: &[u8], sink: &mut dyn Sink) -> Result<bool, Stop> {
        let mut rest = message;
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(0) => return Err(Stop::Failed(ErrorKind::WriteZero.into())),
                Ok(len) => {
                    rest = &rest[len..];
                    self.written += len as u64;
                }
                Err(e) if is_pause(&e) => {
                    let now = self.clock.now();
                    if sink.cancelled() {
                        self.until = now;
                    }
                    if now >= self.until {
                        return Ok(false);
                    }
                    self.look(now);
                    self.wait(false, LOOK.min(self.until.since(now)))?;
                }
                Err(e) => return Err(Stop::Failed(e)),
            }
        }
        Ok(true)
    }

    fn wait(&self, read: bool, time: Duration) -> Result<(), Stop> {
        let interest = ready::Interest { socket: &self.stream, read, write: !read };
        ready::wait([interest], time).map_err(Stop::Failed)?;
        Ok(())
    }

    /// Closes, and waits until the peer has what was written: it closes too, or it has acknowledged
    /// everything and keeps up. What goes wrong here is after the run.
    fn drain(&mut self, sink: &mut dyn Sink) -> Result<(), Stop> {
        let closed = self.clock.now();
        let mut acknowledged = None;
        if self.stream.shutdown(Shutdown::Write).is_err() {
            return Ok(());
        }
        loop {
            if sink.cancelled() {
                return Err(Stop::Cancelled);
            }
            let now = self.clock.now();
            self.peer.look(&self.stream, now, self.written);
            if tcp::unacknowledged(&self.stream).is_none_or(|left| left == 0) {
                acknowledged.get_or_insert(now);
            }
            let has_all = !self.peer.known || self.peer.has_all(self.written);
            let silent = acknowledged.is_some_and(|at| has_all || now.since(at) >= CLOSE);
            if silent || now.since(closed) >= DRAIN {
                return Ok(());
            }
            match self.stream.read(&mut [0; 1024]) {
                Ok(0) => return Ok(()),
                Ok(_) => {}
                Err(e) if is_pause(&e) => self.wait(true, LOOK)?,
                Err(_) => return Ok(()),
            }
        }
    }
}

//! Short messages over TCP, counted for a second at a time: the procedure of the published benchmark
//! of Smooth's MQTT, part two.
//!
//! # What is counted
//!
//! Send calls that took a whole message, one after the other, for the length of a run, as the
//! document's loop counts them. On a PC such a call says only that the kernel has taken the bytes:
//! with Nagle's algorithm or without, they may wait in the send buffer, and the peer may have seen
//! none of them. So a run's interval says what the kernel took (observer sender), and, where the
//! system tells how much of it the peer has acknowledged, a second interval of the same number says
//! that (observer peer). On an ESP32 the send buffer is a few messages long, and the two are nearly
//! the same.
//!
//! Each run has a connection of its own and ends at its time: a message that the kernel has not
//! taken by then is not counted. A run in whose second half the kernel took nothing is counted as
//! `stalled-runs`: the peer hangs, or is gone without a word. Runs that the workload discards are
//! made and not recorded.

use super::{Sink, Target, TargetError, noted};
use crate::clock::Clock;
use crate::sys::tcp;
use espbench_measure::run::Site;
use espbench_proto::sample::{Interval, Link, Observer, Sample};
use espbench_proto::time::{Duration, Instant};
use espbench_proto::workload::{TcpRate, Workload};
use std::io::{self, ErrorKind, Write as _};
use std::net::{SocketAddr, TcpStream};

/// How long a connection may take to open.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest wait without a look at the stop flag.
const LOOK: Duration = Duration::from_millis(50);

/// A program or device that takes bytes over TCP.
#[derive(Clone, Debug)]
pub struct TcpRateTarget {
    /// Where it listens.
    pub peer: SocketAddr,
    /// What is known of the device and the place.
    pub site: Site,
}

impl TcpRateTarget {
    /// The sink at that address.
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
        stream.set_write_timeout(Some(LOOK))?;
        Ok(stream)
    }
}

impl Target for TcpRateTarget {
    fn site(&self) -> Site {
        self.site.clone()
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
        for number in 0..u32::from(work.discard) + u32::from(work.runs) {
            let stream = self.connect(work).map_err(|e| self.failed("connecting", e))?;
            let run = Run { work, clock, stream };
            let recorded = number.checked_sub(work.discard.into());
            run.run(sink, recorded.map(u64::from)).map_err(|e| match e {
                Stop::Cancelled => TargetError::Cancelled,
                Stop::Failed(e) => self.failed("sending", e),
            })?;
        }
        Ok(())
    }
}

enum Stop {
    Cancelled,
    Failed(io::Error),
}

/// One run on one connection.
struct Run<'a> {
    work: &'a TcpRate,
    clock: Clock,
    stream: TcpStream,
}

impl Run<'_> {
    /// Sends for the length of the run; records it as number `seq`, where it has one.
    fn run(mut self, sink: &mut dyn Sink, seq: Option<u64>) -> Result<(), Stop> {
        let message: Vec<u8> = (0..self.work.size).map(|at| b'0' + (at % 10) as u8).collect();
        let start = self.clock.now();
        let until = start + self.work.run_time;
        let (mut sent, mut now) = (0_u64, start);
        while now < until {
            if !self.send(&message, until, sink)? {
                break;
            }
            sent += 1;
            now = self.clock.now();
            // A look at the stop flag costs, so not at every message.
            if sent % 256 == 0 && sink.cancelled() {
                return Err(Stop::Cancelled);
            }
        }
        let end = self.clock.now();
        let bytes = sent * u64::from(self.work.size);
        let acknowledged =
            tcp::unacknowledged(&self.stream).map(|waiting| bytes.saturating_sub(waiting));
        if let Some(seq) = seq {
            self.record(sink, seq, (start, end), bytes, Observer::Sender);
            if let Some(bytes) = acknowledged {
                self.record(sink, seq, (start, end), bytes, Observer::Peer);
            }
        }
        Ok(())
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
    fn send(&mut self, message: &[u8], until: Instant, sink: &mut dyn Sink) -> Result<bool, Stop> {
        let mut rest = message;
        let mut blocked = None;
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(0) => return Err(Stop::Failed(ErrorKind::WriteZero.into())),
                Ok(len) => {
                    rest = &rest[len..];
                    blocked = None;
                }
                Err(e) if is_pause(&e) => {
                    if sink.cancelled() {
                        return Err(Stop::Cancelled);
                    }
                    let now = self.clock.now();
                    let since = *blocked.get_or_insert(now);
                    if now >= until {
                        let stalled = now.since(since) >= self.work.run_time / 2;
                        sink.count("stalled-runs", stalled.into());
                        return Ok(false);
                    }
                }
                Err(e) => return Err(Stop::Failed(e)),
            }
        }
        Ok(true)
    }
}

/// Time-outs are told apart differently on each system.
fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

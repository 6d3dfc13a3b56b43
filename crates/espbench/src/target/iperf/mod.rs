//! An iperf 2 client: `iperf:HOST[:PORT]`.
//!
//! | module | contents |
//! |---|---|
//! | `tcp`, `udp` | the streams, over either transport |
//! | `back` | the address at which the server's own connections are awaited (`-r`, `-d`) |
//! | `bounce` | the client of `--bounceback` |
//! | `latency` | echo probes around a test |
//! | `ends` | addresses of the streams, for the lines that name them |

mod back;
mod bounce;
mod ends;
mod latency;
mod tcp;
mod udp;

use super::{Sink, Target, TargetError, noted};
use crate::clock::Clock;
use crate::live_mark::LiveMark;
use crate::pump::epoch_ns;
use crate::sys;
use crate::sys::options::SocketOptions;
pub use ends::{StreamAddresses, StreamDirection};
use espbench_measure::run::Site;
use espbench_model::sample::{Observer, Sample};
use espbench_model::time::{Duration, Instant};
use espbench_model::workload::{Iperf, Transport, Workload};
use espbench_proto::node::iperf::{Limit, client_header};
use espbench_proto::wire::iperf2::{ClientHeader, Stamp};
use socket2::Domain;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{Scope, ScopedJoinHandle};

/// Longest time for a connection to open.
const CONNECT: Duration = Duration::from_secs(5);
/// Silence after which a sending peer is taken to have vanished.
const IDLE: Duration = Duration::from_secs(5);
/// Time by which a peer that sends for a time may be late, as in iperf 2 (`SLOPSECS`).
const SLOP: Duration = Duration::from_secs(2);
/// Longest wait for the server's connection back (`-r`, `-d`).
const BACK: Duration = Duration::from_secs(5);
/// The longest by which the server's start time may differ from this side's clock
/// (`MAXDIFFTIMESTAMPSECS` of iperf 2).
const CLOCKS_APART: Duration = Duration::from_secs(600);
/// The smallest datagram: its header.
const SMALLEST: u32 = 16;
/// The largest payload of a UDP datagram over IPv4.
const LARGEST: u32 = 65_507;

/// An iperf 2 server, as the target of a client in this process.
#[derive(Clone, Debug)]
pub struct IperfTarget {
    /// The server.
    pub peer: SocketAddr,
    /// Address to send from (`-B`).
    pub bind: Option<SocketAddr>,
    /// The device and the place.
    pub site: Site,
    /// Addresses of each stream, for the printer.
    pub ends: StreamAddresses,
}

impl IperfTarget {
    /// Creates a client of that server, from an address of the system's choice.
    #[must_use]
    pub fn new(peer: SocketAddr, site: Site) -> Self {
        Self { peer, bind: None, site, ends: StreamAddresses::default() }
    }
}

/// An event that a stream's thread tells the thread of the sink.
enum StreamEvent {
    Sample(Sample),
    Count(&'static str, u64),
    Fact(&'static str, String),
    Failed(TargetError),
}

/// The context that the threads of one cell share.
struct IperfCell<'a> {
    target: &'a IperfTarget,
    work: &'a Iperf,
    clock: Clock,
    stop: AtomicBool,
    /// The peer does not speak iperf 2: nothing that was counted of it is a figure.
    is_foreign: AtomicBool,
    limit: Limit,
    /// Nanoseconds since the epoch at the clock's zero.
    epoch_ns: u64,
}

impl IperfCell<'_> {
    fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Returns the header of each stream. `listen` is where `-r` and `-d` are awaited.
    fn header(&self, listen: Option<u16>, start: Instant) -> ClientHeader {
        client_header(self.work, listen.unwrap_or(self.target.peer.port()), self.stamp(start))
    }

    /// Returns the time of day at that instant.
    fn stamp(&self, at: Instant) -> Stamp {
        Stamp::from_nanos(self.epoch_ns.saturating_add(at.as_nanos()))
    }

    /// Returns when a sender's stream began, and nanoseconds since the epoch at the clock's zero,
    /// where both clocks agree.
    fn began(&self, sent: Option<Stamp>, now: Instant) -> Option<(Instant, u64)> {
        let sent = sent.filter(|_| self.work.trip_times)?.as_nanos();
        let here = self.epoch_ns.saturating_add(now.as_nanos()).cast_signed();
        if Duration::from_nanos(here.abs_diff(sent)) > CLOCKS_APART {
            return None;
        }
        let began = sent.saturating_sub(self.epoch_ns.cast_signed());
        Some((
            Instant::from_nanos(u64::try_from(began).unwrap_or_default()).min(now),
            self.epoch_ns,
        ))
    }

    fn socket_options(&self) -> SocketOptions {
        socket_options(self.work)
    }

    /// Returns when a sending peer is to be done at the latest, counted from its start.
    fn latest(&self) -> Duration {
        match self.limit {
            Limit::Time(time) => time + SLOP,
            Limit::Bytes(_) => Duration::MAX,
        }
    }

    fn peer_error(
        &self,
        what: &'static str,
        source: std::io::Error,
        hint: impl Into<String>,
    ) -> TargetError {
        TargetError::Peer { peer: self.target.peer.to_string(), what, source, hint: hint.into() }
    }

    fn protocol_error(&self, what: impl Into<String>, hint: impl Into<String>) -> TargetError {
        TargetError::Protocol {
            peer: self.target.peer.to_string(),
            what: what.into(),
            hint: hint.into(),
        }
    }
}

fn socket_options(work: &Iperf) -> SocketOptions {
    let Iperf { window, tos, mss, congestion, .. } = *work;
    SocketOptions { window, tos, mss, congestion }
}

impl Target for IperfTarget {
    fn site(&self) -> Site {
        self.site.clone()
    }

    fn live_lab(&self) -> Option<LiveMark> {
        LiveMark::of_peer(self.peer.ip())
    }

    fn check(&self, workload: &Workload) -> Result<(), TargetError> {
        let unsupported = |hint: String| TargetError::Unsupported {
            target: format!("iperf:{}", self.peer),
            kind: workload.kind(),
            hint,
        };
        let Workload::Iperf(work) = workload.plain() else {
            return Err(unsupported("use udp:, tcp: or mqtt: for that".into()));
        };
        let udp = work.transport == Transport::Udp;
        if udp && !(SMALLEST..=LARGEST).contains(&work.length) {
            return Err(unsupported(format!(
                "a datagram of {} B cannot be: choose {SMALLEST} to {LARGEST} B",
                work.length
            )));
        }
        socket_options(&work).explain(Domain::for_address(self.peer)).map_err(&unsupported)?;
        if work.parallel == 0 || work.length == 0 {
            return Err(unsupported("there must be at least one stream of one byte".into()));
        }
        Ok(())
    }

    fn run(&mut self, workload: &Workload, sink: &mut dyn Sink) -> Result<(), TargetError> {
        self.check(workload)?;
        let Workload::Iperf(work) = &noted(workload, sink) else { return Ok(()) };
        let clock = Clock::start();
        self.ends.clear();
        let cell = IperfCell {
            target: self,
            work,
            epoch_ns: epoch_ns(&clock),
            clock,
            stop: AtomicBool::new(false),
            is_foreign: AtomicBool::new(false),
            limit: work.bytes.map_or(Limit::Time(work.time), Limit::Bytes),
        };
        let cpu = sys::cpu::process_time();
        let (sender, receiver) = sync_channel(256);
        let result = std::thread::scope(|scope| {
            let cell = &cell;
            beside(scope, move || {
                let result =
                    latency::around(cell, &sender, || match (work.transport, work.bounceback) {
                        (Transport::Tcp, Some(how)) => bounce::run(cell, how, &sender),
                        (Transport::Tcp, None) => tcp::run(cell, &sender),
                        (Transport::Udp, _) => udp::run(cell, &sender),
                    });
                if let Err(error) = result {
                    let _ = sender.send(StreamEvent::Failed(error));
                }
            })?;
            pass_on(cell, &receiver, sink)
        });
        if let (Some(before), Some(after)) = (cpu, sys::cpu::process_time()) {
            sink.fact("cpu-time", format!("{:.3} s", (after - before).as_secs_f64()));
        }
        result
    }
}

/// Starts a thread of a cell; one that cannot be had fails the cell, and not the process.
fn beside<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, TargetError> {
    let named = std::thread::Builder::new().name("iperf".into());
    named.spawn_scoped(scope, work).map_err(|source| TargetError::Local {
        what: "starting a thread".into(),
        source,
        hint: "take fewer streams (-P), or let this user have more threads (ulimit -u)".into(),
    })
}

/// Gives everything to the sink until the threads are done; the first failure is the cell's.
fn pass_on(
    cell: &IperfCell<'_>,
    events: &Receiver<StreamEvent>,
    sink: &mut dyn Sink,
) -> Result<(), TargetError> {
    let mut result = Ok(());
    loop {
        match events.recv_timeout(crate::pump::SLICE) {
            Ok(StreamEvent::Sample(_)) if cell.is_foreign.load(Ordering::Relaxed) => {}
            Ok(StreamEvent::Sample(sample)) => sink.sample(sample),
            Ok(StreamEvent::Count(name, by)) => sink.count(name, by),
            Ok(StreamEvent::Fact(name, value)) => sink.fact(name, value),
            Ok(StreamEvent::Failed(error)) => {
                cell.stop.store(true, Ordering::Relaxed);
                result = result.and(Err(error));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if sink.cancelled() {
            cell.stop.store(true, Ordering::Relaxed);
            result = result.and(Err(TargetError::Cancelled));
        }
    }
    result
}

/// A stream's way to the sink.
#[derive(Clone)]
struct StreamOutbox(SyncSender<StreamEvent>);

impl StreamOutbox {
    fn sample(&self, sample: Sample) {
        let _ = self.0.send(StreamEvent::Sample(sample));
    }

    fn count(&self, name: &'static str, by: u64) {
        if by > 0 {
            let _ = self.0.send(StreamEvent::Count(name, by));
        }
    }

    fn fact(&self, name: &'static str, value: impl Into<String>) {
        let _ = self.0.send(StreamEvent::Fact(name, value.into()));
    }

    /// Fails the cell where a thread of it could not be had.
    fn needs<T>(&self, thread: Result<T, TargetError>) {
        if let Err(error) = thread {
            self.failed(error);
        }
    }

    fn failed(&self, error: TargetError) {
        let _ = self.0.send(StreamEvent::Failed(error));
    }
}

/// Tells whether a sample is the total of what this end received.
fn is_received_total(sample: &Sample) -> bool {
    matches!(sample, Sample::Interval(i) if i.total && i.observer == Observer::Receiver)
}

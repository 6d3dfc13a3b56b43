//! Echo probes around an iperf test: first over the idle link, then beside the streams, by a thread of
//! their own.

use super::{IperfCell, StreamEvent, StreamOutbox, beside};
use crate::clock::Clock;
use crate::sys::icmp::IpFields;
use crate::sys::stamp::StampedSocket;
use crate::target::ping::{self, Icmp};
use crate::target::round_trips::ProbeExchange;
use crate::target::udp_echo::UdpCarrier;
use crate::target::{Sink, TargetError};
use espbench_measure::plan::ECHO_PORT;
use espbench_model::sample::{Fate, Link, Sample};
use espbench_model::time::Duration;
use espbench_model::workload::{EchoFormat, Latency, LatencyBy, Ping, UdpEcho};
use espbench_proto::node::echo::{Prober, SLOTS};
use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;

/// When a probe counts as lost: a queue of two seconds is not rare under load.
const TIMEOUT: Duration = Duration::from_secs(3);
/// Port that the published sketch sends its replies to, whatever port a datagram came from.
const REPLY_PORT: u16 = 10_001;
/// Bytes of data, as ping has them.
const SIZE: u32 = 56;

/// Runs the streams, with the probes that the plan wants before and beside them.
pub(super) fn around(
    cell: &IperfCell<'_>,
    events: &SyncSender<StreamEvent>,
    streams: impl FnOnce() -> Result<(), TargetError>,
) -> Result<(), TargetError> {
    let Some(latency) = cell.work.latency else { return streams() };
    let outbox = StreamOutbox(events.clone());
    let by = usable(cell, latency.by, &outbox)?;
    let count = latency.idle.as_nanos().div_ceil(latency.interval.as_nanos().max(1));
    let count = u32::try_from(count).unwrap_or(u32::MAX).max(1);
    let over = AtomicBool::new(false);
    let (outbox, link) = (outbox.clone(), Link::IDLE);
    let mut idle = ProbeSink { cell, outbox, link, has_reply: false };
    probe(&mut idle, latency, by, count, None)?;
    if !idle.has_reply && !cell.stopped() {
        return Err(cell.protocol_error(
            "none of the echoes over the idle link came back as it was sent",
            "check that an echo answers there (--latency udp:PORT), or leave --latency out",
        ));
    }
    let mut loaded = ProbeSink { link: Link::LOADED, ..idle };
    std::thread::scope(|scope| {
        let probes = beside(scope, || probe(&mut loaded, latency, by, u32::MAX, Some(&over)))?;
        let result = streams();
        over.store(true, Ordering::Relaxed);
        let probed = probes.join().unwrap_or(Ok(()));
        result.and(probed)
    })
}

/// Chooses ICMP, unless this user may not send it: then UDP, which is said.
fn usable(
    cell: &IperfCell<'_>,
    by: LatencyBy,
    outbox: &StreamOutbox,
) -> Result<LatencyBy, TargetError> {
    if by != LatencyBy::Icmp {
        return Ok(by);
    }
    match ping::open(cell.target.peer, IpFields::default(), cell.clock) {
        Ok(_) => Ok(by),
        Err(error) if error.is_permission() => {
            let instead =
                format!("UDP echo, port {ECHO_PORT}, since ICMP is not permitted: {error}");
            outbox.fact("latency_probes", instead);
            Ok(LatencyBy::Udp(ECHO_PORT))
        }
        Err(error) => Err(error),
    }
}

/// Sends probes: so many, or until `over` is set.
fn probe(
    phase: &mut ProbeSink<'_>,
    Latency { interval, .. }: Latency,
    by: LatencyBy,
    count: u32,
    over: Option<&AtomicBool>,
) -> Result<(), TargetError> {
    let (clock, peer) = (phase.cell.clock, phase.cell.target.peer);
    let now = clock.now();
    match by {
        LatencyBy::Icmp => {
            let socket = ping::open(peer, IpFields::default(), clock)?;
            let work = Ping {
                size: SIZE,
                count,
                discard: 0,
                interval,
                timeout: TIMEOUT,
                tos: None,
                ttl: None,
            };
            let prober = Prober::ping(work, socket.version(), socket.identifier(), now);
            let peer = format!("icmp:{}", peer.ip());
            ProbeExchange::new(peer, prober, TIMEOUT, Icmp(socket), clock).until(over).run(phase)
        }
        LatencyBy::Udp(port) => {
            let peer = SocketAddr::new(peer.ip(), port);
            let socket = udp(peer, clock)?;
            let work = UdpEcho {
                size: SIZE,
                count,
                discard: 0,
                format: EchoFormat::Binary,
                in_flight: SLOTS as u16,
                interval: Some(interval),
                timeout: TIMEOUT,
            };
            let session = RandomState::new().hash_one(std::process::id()) as u32;
            let prober = Prober::new(work, session, now);
            let name = format!("udp:{peer}");
            ProbeExchange::new(name, prober, TIMEOUT, UdpCarrier(socket), clock)
                .until(over)
                .run(phase)
        }
    }
}

/// Opens a socket on the port of the sketch's replies; on any where that is taken, for echoes to
/// the sender.
fn udp(peer: SocketAddr, clock: Clock) -> Result<StampedSocket, TargetError> {
    let socket = StampedSocket::udp(peer, REPLY_PORT, clock);
    socket.or_else(|_| StampedSocket::udp(peer, 0, clock)).map_err(|source| TargetError::Local {
        what: format!("UDP socket to {peer}"),
        source,
        hint: "check the address and the network".into(),
    })
}

/// Takes the samples of a phase on its link.
struct ProbeSink<'a> {
    cell: &'a IperfCell<'a>,
    outbox: StreamOutbox,
    link: Link,
    /// Whether a probe has come back as it was sent.
    has_reply: bool,
}

impl Sink for ProbeSink<'_> {
    fn sample(&mut self, sample: Sample) {
        if let Sample::Probe(probe) = sample {
            self.has_reply |= matches!(probe.fate, Fate::Delivered | Fate::Late);
            self.outbox
                .sample(Sample::Probe(espbench_model::sample::Probe { link: self.link, ..probe }));
        }
    }

    fn count(&mut self, name: &str, by: u64) {
        let name = match name {
            "socket-overflow" => "latency-socket-overflow",
            "stray-datagrams" => "latency-stray-datagrams",
            _ => return,
        };
        self.outbox.count(name, by);
    }

    fn fact(&mut self, _: &str, _: String) {}

    fn cancelled(&self) -> bool {
        self.cell.stopped()
    }
}
